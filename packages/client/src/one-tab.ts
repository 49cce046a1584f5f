/**
 * One tab syncs; the others show its state. What is right does not depend on it: pages and outcomes of two tabs are applied once.
 * A frozen tab keeps its lock, so one that hears nothing takes it.
 */
import { every, type Environment } from 'pannier/internal'

const ALIVE_MS = 4000
const SILENCE_MS_MAX = 15_000

interface OneTab {
  readonly environment: Environment
  /** The name of the database. */
  readonly name: string
  /** Ends it. */
  readonly signal: AbortSignal
  /** Works until `signal` is aborted: of this tab's end, or as another tab works. */
  readonly work: (signal: AbortSignal) => Promise<void>
  /** What the others are shown. */
  readonly tell: () => unknown
  readonly onTold: (told: unknown) => void
}

/** Works in one tab. Returns what tells the others a new state. Without Web Locks each one works. */
export function inOneTab({ environment, name, signal, work, tell, onTold }: OneTab): () => void {
  const locks = globalThis.navigator?.locks as LockManager | undefined
  if (locks === undefined) {
    void work(signal)
    return () => {}
  }
  const channel: BroadcastChannel & { unref?(): void } = new BroadcastChannel(name)
  // It would keep a Node process alive.
  channel.unref?.()
  let leads = false
  let heardAt = environment.now()
  const post = (): void => {
    if (leads && !signal.aborted) channel.postMessage(tell())
  }
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    heardAt = environment.now()
    if (!leads) onTold(data)
  }
  const lead = async (lock: Lock | null): Promise<void> => {
    if (lock === null || signal.aborted) return
    leads = true
    const ended = new AbortController()
    stopLeading = () => ended.abort()
    post()
    await work(AbortSignal.any([signal, ended.signal]))
    leads = false
  }
  let stopLeading = (): void => {}
  const request = (options: LockOptions): void => {
    // Rejects when another tab takes the lock, or this one ends.
    locks.request(name, options, lead).catch(() => {
      const led = leads
      leads = false
      heardAt = environment.now()
      stopLeading()
      if (led && !signal.aborted) request({ signal })
    })
  }
  request({ signal })
  const stopTimer = every(environment, ALIVE_MS, () => {
    post()
    if (leads || environment.now() - heardAt < SILENCE_MS_MAX) return
    heardAt = environment.now()
    request({ steal: true })
  })
  signal.addEventListener('abort', () => {
    stopTimer()
    channel.close()
  })
  return post
}
