/**
 * Waits for a migration that another handle (a tab, a worker) is at. There is no lock that a handle could take along when it
 * freezes or goes: as long as the other one gets on it is waited for, and when it does not, this one goes on in its place.
 */
import type { Environment } from '../../base/environment.ts'
import type { KeyValueStore } from '../../kv/key-value-store.ts'

/** Without progress for so long the other handle is given up. */
const SILENCE_MS_MAX = 1000

/** Resolves when it is done, stands still or is no longer waited for. `position`: where it is, undefined when it is done. */
export async function followMigration(
  store: KeyValueStore,
  environment: Environment,
  signal: AbortSignal,
  position: () => Promise<string | undefined>,
): Promise<void> {
  let last = await position()
  let lastMs = environment.now()
  while (last !== undefined && !signal.aborted) {
    await nextCommit(store, environment, signal)
    await store.refresh()
    const now = await position()
    if (now !== last) {
      last = now
      lastMs = environment.now()
    } else if (environment.now() - lastMs >= SILENCE_MS_MAX) return
  }
}

/** Resolves after a commit, the abortion or a while. */
function nextCommit(store: KeyValueStore, environment: Environment, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stopListening()
      stopTimer()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const stopListening = store.onCommit(done)
    const stopTimer = environment.after(SILENCE_MS_MAX, done)
    signal.addEventListener('abort', done)
  })
}
