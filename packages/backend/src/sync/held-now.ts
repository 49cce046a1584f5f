/**
 * What accounts hold now. It is computed again only after a write of the account, or of a collection that the rule leads to. So a pull
 * with nothing new costs the same with one ground and with 10,000.
 */
import type { RuleRecords } from '@pannier/rules'
import { holdingsOf, type Cut, type Holdings } from '@pannier/rules/cut'
import type { GuardReader } from 'pannier/internal'
import { ruleRecords, type KnownDefinitions } from '../access/rule-records.ts'
import { recordsName } from '../definitions/definition.ts'
import type { FeedToken } from './feed-token.ts'
import { weightOf } from './holdings-store.ts'
import { WeighedCache } from './weighed-cache.ts'

interface Known {
  /** What it was computed from. */
  readonly stamp: string
  readonly holdings: Holdings
}

/** Values that are kept. */
const VALUES_MAX = 1_000_000

export class HeldNow {
  readonly #definitions: KnownDefinitions
  readonly #known = new WeighedCache<Known>(VALUES_MAX)

  constructor(definitions: KnownDefinitions) {
    this.#definitions = definitions
  }

  /** What an account holds of a rule on one state. It may miss. `version`: that of the rule. */
  of(guard: GuardReader, rule: Cut, version: string, account: FeedToken['account'], nowMs: number): Holdings {
    const stored = account === null ? undefined : guard.get(recordsName({ id: account[0] }), account[1])
    const key = JSON.stringify([version, account])
    const stamp = JSON.stringify([stored?.['_rev'], this.#written(guard, rule), isTimed(rule) && nowMs])
    const known = this.#known.get(key)
    if (known?.stamp === stamp) return known.holdings
    const holdings = holdingsIn(guard, this.#definitions, { rule, account, now: new Date(nowMs) })
    this.#known.set(key, { stamp, holdings }, weightOf(holdings))
    return holdings
  }

  /** The last writes of the collections that a rule leads to. A purge has no sequence, and leaves fewer documents. */
  #written(guard: GuardReader, { collections }: Cut): unknown {
    return collections.map(({ id }) => guard.lastWrite(recordsName({ id })))
  }
}

function isTimed({ alternatives }: Cut): boolean {
  return alternatives.some((alternative) => alternative.isTimed)
}

interface Holder {
  readonly rule: Cut
  readonly account: FeedToken['account']
  readonly now: Date
}

/** What an account holds in one state of the database. `reads` stands between the rule and the records, and may note what is read. */
export function holdingsIn(
  guard: GuardReader,
  definitions: KnownDefinitions,
  { rule, account, now }: Holder,
  reads: (records: RuleRecords) => RuleRecords = (records) => records,
): Holdings {
  const records = reads(ruleRecords(definitions, guard, () => []))
  const [collection, id] = account ?? []
  const definition = collection === undefined ? undefined : definitions.find(collection)
  const record = definition && records.get(definition.name, id!)
  // An account that was deleted after its request came in. Rules would take it for one without fields.
  if (account !== null && !record) return rule.alternatives.map(() => null)
  return holdingsOf(rule, record ?? null, records, now)
}
