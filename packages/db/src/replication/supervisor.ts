/**
 * Keeps one direction of a replication running. Attempts follow one another as long as there is a reason. In between it
 * waits: paused, offline, or backing off after a failure. Back-off has jitter, so that the clients of a server that
 * comes back do not all come at once.
 *
 * Guarantees: cancelling never waits for a connection.
 */
import type { PannierError } from '../base/errors.ts'
import { Attempt, type AttemptWatcher, type ReachedPlace } from './attempt.ts'
import { A_BOOLEAN, A_FUNCTION, callUser, type Expected } from '../base/callback.ts'
import { asksForRestart, finalError, isContested, isMissing, isTransient } from './errors.ts'
import type { ReplicationPeer } from './peer.ts'
import {
  BACK_OFF_MS_MAX,
  BACK_OFF_MS_MIN,
  CALL,
  type NetworkStatus,
  type RunOptions,
  type ReplicationStatus,
} from './types.ts'
import { FailingDocuments } from './failing-documents.ts'

/** Attempts in a row that begin again without a replication checkpoint, although failures are not retried. */
const RESTARTS_MAX = 3
/** How often in a row it silently continues from the replication checkpoints of others. */
const CONTESTS_MAX = 10

/** Below it, devices would keep a server that is back from answering. */
const OWN_BACK_OFF_MS_MIN = 200
/** The most milliseconds of a timer: timers take no more. */
const TIMER_MS_MAX: number = 2 ** 31 - 1

/** The wishes of a replication's users. */
export interface Control {
  readonly paused: boolean
  readonly cancelled: boolean
  /** Calls back when one of them changes. */
  subscribe(listener: () => void): () => void
}

export interface Supervised extends Omit<AttemptWatcher, 'triedSnapshot'> {
  /** `waitMs`: until the next try. */
  status(status: ReplicationStatus, error?: PannierError, waitMs?: number): void
}

/** Shared state of the directions of one collection. */
export class Siblings {
  readonly #restarts = new Set<() => void>()

  /** `restart` is called when one of the others finds that a store has been wiped or replaced: none may trust in it. */
  onStoreLost(restart: () => void): () => void {
    this.#restarts.add(restart)
    return () => void this.#restarts.delete(restart)
  }

  storeLost(own: () => void): void {
    for (const restart of this.#restarts) if (restart !== own) restart()
  }
}

/** Supervises it. Resolves with how it ended. */
export async function supervise(
  source: ReplicationPeer,
  target: ReplicationPeer,
  options: RunOptions,
  control: Control,
  watcher: Supervised,
  siblings: Siblings,
): Promise<'complete' | 'cancelled'> {
  const { network, retry, environment } = options
  const isOffline = (): boolean => (source.remote || target.remote) && network !== undefined && !isOnline(network)
  let delayMs = 0
  let restarts = 0
  let contests = 0
  const failing = { read: new FailingDocuments(retry), written: new FailingDocuments(retry) }
  let { snapshot } = options
  let place: ReachedPlace = {}
  for (;;) {
    if (control.cancelled) return 'cancelled'
    if (control.paused) {
      watcher.status('paused')
      await change(options, control, undefined)
      continue
    }
    if (retry && isOffline()) {
      watcher.status('offline')
      await change(options, control, undefined)
      continue
    }
    watcher.status('active')
    const stop = new AbortController()
    // Its next turn finds out why, or meets an error of the caller's again.
    const interrupt = (): void => stopIf(() => control.paused || control.cancelled || (retry && isOffline()), stop)
    const restart = (): void => {
      place = {}
      stop.abort()
    }
    const unlisten = [control.subscribe(interrupt), onNetworkChange(options, interrupt), siblings.onStoreLost(restart)]
    const done: Done = { progressed: false, recorded: false }
    try {
      const noting = { ...noted(watcher, done), triedSnapshot: () => void (snapshot = false) }
      await new Attempt(source, target, { ...options, snapshot }, noting, failing, place, stop.signal).run()
      return 'complete'
    } catch (error) {
      if (stop.signal.aborted) continue
      if (done.progressed) delayMs = contests = 0
      // A server that forgets each replication checkpoint would cause endless restarts.
      if (done.recorded) restarts = 0
      if (isContested(error) && ++contests <= CONTESTS_MAX) {
        // The store may be one that was put back, which then is found out at what both know.
        siblings.storeLost(restart)
        continue
      }
      const beginsAnew = asksForRestart(error) && ++restarts <= RESTARTS_MAX
      if (asksForRestart(error)) place = {}
      if (!beginsAnew && (!retry || !isTransient(error))) throw finalError(error)
      if (asksForRestart(error) && !isMissing(error as PannierError)) siblings.storeLost(restart)
      delayMs = nextDelayMs(options, delayMs)
      const { details } = error as PannierError
      const waitMs = Math.max(delayMs, typeof details['retryAfterMs'] === 'number' ? details['retryAfterMs'] : 0)
      const ownMs = jittered(waitMs, environment.randomId())
      watcher.status('backing-off', error as PannierError, ownMs)
      await change(options, control, ownMs)
    } finally {
      for (const end of unlisten) end()
    }
  }
}

const A_DELAY: Expected<number> = {
  what: 'a number of milliseconds',
  is: (value): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0,
}

/** The next time in a row: given by the user, within what a server can bear and a timer takes, or twice as long. */
function nextDelayMs({ backOff }: RunOptions, delayMs: number): number {
  if (backOff !== undefined)
    return Math.min(
      TIMER_MS_MAX,
      Math.max(
        OWN_BACK_OFF_MS_MIN,
        callUser(CALL, 'backOff', () => backOff(delayMs), A_DELAY),
      ),
    )
  return Math.min(BACK_OFF_MS_MAX, Math.max(BACK_OFF_MS_MIN, 2 * delayMs))
}

/** Half of the delay to all of it. */
function jittered(delayMs: number, randomId: string): number {
  return (delayMs * (1 + Number.parseInt(randomId.slice(0, 8), 16) / 0xffffffff)) / 2
}

/** Waits until something of the control or the network changes, or the time is over. */
async function change(options: RunOptions, control: Control, waitMs: number | undefined): Promise<void> {
  const ends: (() => void)[] = []
  await new Promise<void>((resolve) => {
    ends.push(control.subscribe(resolve), onNetworkChange(options, resolve))
    if (waitMs !== undefined) ends.push(options.environment.after(waitMs, resolve, true))
  })
  for (const end of ends) end()
}

function stopIf(condition: () => boolean, stop: AbortController): void {
  try {
    if (condition()) stop.abort()
  } catch {
    stop.abort()
  }
}

function isOnline(network: NetworkStatus): boolean {
  return callUser(CALL, 'network.isOnline', () => network.isOnline(), A_BOOLEAN)
}

function onNetworkChange({ network }: RunOptions, listener: () => void): () => void {
  if (network === undefined) return () => {}
  return callUser(CALL, 'network.subscribe', () => network.subscribe(listener), A_FUNCTION)
}

/** The outcome of one attempt. */
interface Done {
  progressed: boolean
  recorded: boolean
}

/** Tells the watcher, and notes what was done. */
function noted(watcher: Supervised, done: Done): Omit<AttemptWatcher, 'triedSnapshot'> {
  return {
    began: (since) => watcher.began(since),
    page: (changes, pending) => watcher.page(changes, pending),
    written: (documents, read, failures) => watcher.written(documents, read, failures),
    conflict: (id) => watcher.conflict(id),
    reached: (sequence, caughtUp) => {
      done.progressed = true
      watcher.reached(sequence, caughtUp)
    },
    checkpoint: (sequence) => {
      done.recorded = true
      watcher.checkpoint(sequence)
    },
  }
}
