/** A watcher's view, as of a moment. */
import { RuleError } from '@pannier/rules'
import type { Holdings } from '@pannier/rules/cut'
import { isPannierError } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { HeldNow, Holder } from '../feed/held-now.ts'
import { Reads } from '../feed/noted-reads.ts'
import { heldAt, type AllHeldAt } from '../feed/spans.ts'
import type { AccountRules } from '../rules/sync-rules.ts'

/** The state of a watcher as of the commits that were looked at. */
export interface Watching {
  readonly rules: AccountRules
  readonly holder: Holder
  readonly holdings: Holdings
  readonly held: AllHeldAt
  /** As of when. */
  readonly ms: number
  /** Collections that were read for it. */
  readonly reads: ReadonlySet<string>
}

/** The holdings of an account in one state, and the collections that were read for them. */
export function watchingIn(
  guard: GuardReader,
  heldNow: HeldNow,
  { rules, version }: { readonly rules: AccountRules; readonly version: string },
  holder: Holder,
  ms: number,
): Watching {
  const noted = new Reads()
  // An account that holds too much to be computed can't pull either. What was read says when to try again.
  const { holdings, reads } = withinLimits(() => heldNow.of(guard, rules, version, holder, ms, noted)) ?? {
    holdings: rules.alternatives.map(() => null),
    reads: noted.noted,
  }
  return { rules, holder, holdings, held: heldAt(rules, holdings, ms), ms, reads }
}

function withinLimits<T>(compute: () => T): T | undefined {
  try {
    return compute()
  } catch (error) {
    if (error instanceof RuleError || isPannierError(error, 'PANNIER_LIMIT_EXCEEDED')) return undefined
    throw error
  }
}
