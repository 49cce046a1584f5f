/** A watcher's view, as of a moment. */
import { RuleError } from '@pannier/rules'
import type { Holdings } from '@pannier/rules/cut'
import { isPannierError } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { AccountHoldings, Holder } from '../feed/account-holdings.ts'
import { Reads } from '../feed/noted-reads.ts'
import { holdingsAt, type AllHoldingsAt } from '../feed/spans.ts'
import type { AccountRules } from '../rules/sync-rules.ts'

/** The state of a watcher as of the commits that were looked at. */
export interface Watching {
  readonly rules: AccountRules
  readonly holder: Holder
  readonly holdings: Holdings
  readonly at: AllHoldingsAt
  /** As of when. */
  readonly ms: number
  /** Collections that were read for it. */
  readonly reads: ReadonlySet<string>
}

/** The holdings of an account in one state, and the collections that were read for them. */
export function watchingIn(
  guard: GuardReader,
  accountHoldings: AccountHoldings,
  { rules, version }: { readonly rules: AccountRules; readonly version: string },
  holder: Holder,
  ms: number,
): Watching {
  const noted = new Reads()
  // An account that holds too much to be computed can't pull either. What was read says when to try again.
  const { holdings, reads } = withinLimits(() => accountHoldings.of(guard, rules, version, holder, ms, noted)) ?? {
    holdings: rules.alternatives.map(() => null),
    reads: noted.noted,
  }
  return { rules, holder, holdings, at: holdingsAt(rules, holdings, ms), ms, reads }
}

function withinLimits<T>(compute: () => T): T | undefined {
  try {
    return compute()
  } catch (error) {
    if (error instanceof RuleError || isPannierError(error, 'PANNIER_LIMIT_EXCEEDED')) return undefined
    throw error
  }
}
