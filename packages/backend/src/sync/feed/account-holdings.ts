/**
 * Current holdings of accounts, for pulls and for signals. It is computed again only after a write of the account, or of a collection
 * that the rule leads to. So a pull with nothing new costs the same with one ground and with 10,000.
 */
import type { RuleRecords } from '@pannier/rules'
import { holdingsOf, type Holdings } from '@pannier/rules/cut'
import { LruMap, type GuardReader } from 'pannier/internal'
import { ruleRecords, type KnownDefinitions } from '../../access/rule-records.ts'
import { recordsName } from '../../definitions/definition.ts'
import type { Principal } from '../../gateway/principal.ts'
import type { SyncedAccount } from '../rules/ruled-fields.ts'
import { weightOf } from './holdings-store.ts'
import { Reads } from './noted-reads.ts'
import type { AccountRules } from '../rules/sync-rules.ts'

/** The holdings of an account, and the collections that were read to compute them. */
interface Computed {
  readonly holdings: Holdings
  readonly reads: ReadonlySet<string>
}

interface Known extends Computed {
  /** The stamp of the state that they were computed from. */
  readonly stamp: string
}

/** Values that are kept. */
const VALUES_MAX = 1_000_000

export class AccountHoldings {
  readonly #definitions: KnownDefinitions
  readonly #known = new LruMap<string, Known>(VALUES_MAX)

  constructor(definitions: KnownDefinitions) {
    this.#definitions = definitions
  }

  /**
   * The holdings of an account by the rules of a collection on one state. It may miss. `version`: that of the rules. `reads` notes what
   * is read if it is computed, also if that fails.
   */
  of(
    guard: GuardReader,
    rules: AccountRules,
    version: string,
    { account, isManager }: Holder,
    nowMs: number,
    reads: Reads = new Reads(),
  ): Computed {
    const stored = account === null ? undefined : guard.get(recordsName({ id: account[0] }), account[1])
    const key = JSON.stringify([version, account, isManager])
    const stamp = JSON.stringify([stored?.['_rev'], this.#written(guard, rules), isTimed(rules) && nowMs])
    const known = this.#known.get(key)
    if (known?.stamp === stamp) return known
    const asking = { account, isManager, now: new Date(nowMs) }
    const holdings = holdingsIn(guard, this.#definitions, rules, asking, (records) => reads.of(records))
    const found = { stamp, holdings, reads: reads.noted }
    this.#known.set(key, found, weightOf(holdings) + found.reads.size)
    return found
  }

  /** The last writes of the collections that the rules lead to. A purge has no sequence, and leaves fewer documents. */
  #written(guard: GuardReader, { list, fields }: AccountRules): unknown {
    return [list, ...fields].flatMap(({ rule }) =>
      rule.collections.map(({ id }) => guard.lastWrite(recordsName({ id }))),
    )
  }
}

function isTimed({ alternatives }: AccountRules): boolean {
  return alternatives.some((each) => each.isTimed)
}

/** The account that holds. */
export interface Holder {
  readonly account: SyncedAccount
  /** Whether the manage rule is asked. It admits no API token. */
  readonly isManager: boolean
}

/** A principal as a holder. */
export function holderOf({ account, apiToken }: Principal): Holder {
  return {
    account: account === undefined ? null : [account.collection, String(account.record['_id'])],
    isManager: apiToken === undefined,
  }
}

/** The holdings of an account in one state of the database. `reads` stands between the rule and the records, and notes what is read. */
function holdingsIn(
  guard: GuardReader,
  definitions: KnownDefinitions,
  { list, fields, ruled, alternatives }: AccountRules,
  { account, isManager, now }: Holder & { readonly now: Date },
  reads: (records: RuleRecords) => RuleRecords,
): Holdings {
  const records = reads(ruleRecords(definitions, guard, () => []))
  const [collection, id] = account ?? []
  const definition = collection === undefined ? undefined : definitions.find(collection)
  const record = definition && records.get(definition.name, id!)
  // An account that was deleted after its request came in. Rules would take it for one without fields.
  if (account !== null && !record) return alternatives.map(() => null)
  return [list, ...fields].flatMap(({ rule }, index): Holdings => {
    // The list rule is the first.
    const isAsked = isManager || ruled.rules[index - 1]?.isManage !== true
    return isAsked ? holdingsOf(rule, record ?? null, records, now) : rule.alternatives.map(() => null)
  })
}
