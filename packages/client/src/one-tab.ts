/** One tab syncs; the others show its state. What is right does not depend on it: pages and outcomes of two tabs are applied once. */
import { WebLeader } from 'pannier/internal'
import type { Environment } from 'pannier/types'

interface OneTab {
  readonly environment: Environment
  /** The name of the database. */
  readonly name: string
  /** The signal that ends it. */
  readonly signal: AbortSignal
  /** Works until `signal` is aborted: of this tab's end, or as another tab works. */
  readonly work: (signal: AbortSignal) => Promise<void>
  /** Tells other tabs this message. */
  readonly tell: () => unknown
  readonly onTold: (told: unknown) => void
}

/** Works in one tab. Returns what tells the others a new state. Without Web Locks each one works. */
export function inOneTab({ environment, name, signal, work, tell, onTold }: OneTab): () => void {
  if ((globalThis.navigator?.locks as LockManager | undefined) === undefined) {
    void work(signal)
    return () => {}
  }
  let working: AbortController | undefined
  const onChange = (): void => {
    if (!leader.leads) {
      working?.abort()
      working = undefined
      if (leader.news !== undefined) onTold(leader.news)
    } else if (working === undefined) {
      working = new AbortController()
      void work(AbortSignal.any([signal, working.signal]))
    }
  }
  const leader: WebLeader = new WebLeader({ name, environment, tell, onChange })
  signal.addEventListener('abort', () => leader.close())
  void leader.want()
  return () => leader.changed()
}
