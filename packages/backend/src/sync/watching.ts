/** What a watcher sees, as of a moment. */
import type { Holdings } from '@pannier/rules/cut'
import { heldAt, type HeldAt } from './spans.ts'
import type { AccountRules } from './sync-rules.ts'

/** What is known of a watcher as of the commits that were looked at. */
export interface Watching {
  readonly rules: AccountRules
  readonly held: HeldAt
  /** As of when. */
  readonly ms: number
  /** What was read for it. */
  readonly reads: ReadonlySet<string>
}

export function watchingOf(rules: AccountRules, held: Holdings, ms: number, reads: ReadonlySet<string>): Watching {
  return { rules, held: heldAt(rules.rule, held, ms), ms, reads }
}
