/** What a watcher sees, as of a moment. */
import { RuleError } from '@pannier/rules'
import type { Holdings } from '@pannier/rules/cut'
import { isPannierError } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { KnownDefinitions } from '../access/rule-records.ts'
import { holdingsIn, type Holder } from './held-now.ts'
import { Reads } from './noted-reads.ts'
import { heldAt, type AllHeldAt } from './spans.ts'
import type { AccountRules } from './sync-rules.ts'

/** What is known of a watcher as of the commits that were looked at. */
export interface Watching {
  readonly rules: AccountRules
  readonly holder: Holder
  readonly holdings: Holdings
  readonly held: AllHeldAt
  /** As of when. */
  readonly ms: number
  /** What was read for it. */
  readonly reads: ReadonlySet<string>
}

/** Computes what an account holds in one state, and notes what is read for it. */
export function watchingIn(
  guard: GuardReader,
  definitions: KnownDefinitions,
  rules: AccountRules,
  holder: Holder,
  ms: number,
): Watching {
  const reads = new Reads()
  const asking = { ...holder, now: new Date(ms) }
  const compute = (): Holdings => holdingsIn(guard, definitions, rules, asking, (records) => reads.of(records))
  // An account that holds too much to be computed can't pull either. What was read says when to try again.
  const holdings = withinLimits(compute) ?? rules.alternatives.map(() => null)
  return { rules, holder, holdings, held: heldAt(rules, holdings, ms), ms, reads: reads.noted }
}

function withinLimits<T>(compute: () => T): T | undefined {
  try {
    return compute()
  } catch (error) {
    if (error instanceof RuleError || isPannierError(error, 'PANNIER_LIMIT')) return undefined
    throw error
  }
}
