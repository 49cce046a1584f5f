/**
 * Handles of one database in one realm (a page, a worker, a process). A commit of one is visible to the others when it
 * is acknowledged. Between realms messages do that a moment later (coordinator.ts).
 */
import type { MaybePromise } from '../base/async.ts'
import type { Core, TailCommit } from './core.ts'

const realms = new Map<string, Set<Core>>()

/** The function returned leaves it. */
export function joinRealm(key: string, core: Core): () => void {
  let cores = realms.get(key)
  if (cores === undefined) realms.set(key, (cores = new Set()))
  cores.add(core)
  return () => {
    cores.delete(core)
    if (cores.size === 0 && realms.get(key) === cores) realms.delete(key)
  }
}

/** Called while the handle that has committed holds the lease. `commit`: undefined if it went to pages, so that they have to look. */
export function tellRealm(core: Core, commit: TailCommit | undefined): MaybePromise<void> {
  const cores = realms.get(core.options.coordinator.realm ?? '')
  if (cores === undefined || cores.size === 1) return
  const looking: Promise<void>[] = []
  for (const other of cores) {
    if (other === core || other.closed || (commit !== undefined && other.follow(commit, core.state.generation)))
      continue
    // One that can't look now hears of it again, by the hint.
    looking.push(other.refresh().catch(() => {}))
  }
  if (looking.length > 0) return Promise.all(looking).then(() => {})
}
