/** What an account holds in one state of the database. */
import type { RuleRecords } from '@pannier/rules'
import { holdingsOf, type Cut, type Holdings } from '@pannier/rules/cut'
import type { GuardReader } from 'pannier/internal'
import { ruleRecords, type KnownDefinitions } from '../access/rule-records.ts'
import type { FeedToken } from './feed-token.ts'

interface Holder {
  readonly rule: Cut
  readonly account: FeedToken['account']
  readonly now: Date
}

/** `reads` stands between the rule and the records, and may note what is read. */
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
