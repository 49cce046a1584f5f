/**
 * The lease and news among the tabs and workers of an origin, by Web Locks and a BroadcastChannel.
 *
 * The right to write is an exclusive lock that its holder keeps from write to write, so that a single tab never waits
 * for it. Another handle that wants it says `want`; the holder answers `busy`, as a sign of life, and lets go soon. A
 * holder that gives no sign is frozen, and its lock is stolen; the fences of the page store then refuse what it may
 * still try. A handle that gets the lock says `held`, so that others send their `want` again: it may have come before
 * the lock.
 *
 * Posting a message costs a fifth of a durable put, so commits are only announced once another handle is known. A new
 * one says `hello`, and the others answer `here`. Then the new one looks for what it may have missed.
 *
 * A pin is a shared lock whose name says which generation; `navigator.locks.query` lists them. Locks end with their tab.
 */
import { assert, PannierError } from '../../base/errors.ts'
import type { Generation } from '../../base/brand.ts'
import type { Environment } from '../../base/environment.ts'
import { WRITER_SILENCE_MS_MAX, type Coordinator, type Hint, type WriterLease } from '../../storage/coordinator.ts'
import { Lease } from './lease.ts'

interface WebCoordinatorOptions {
  /** Handles with the same name are handles of the same database. */
  readonly name: string
  readonly environment: Environment
}

/** Handles that wait for the same silent holder lose patience one after another: the first who steals says `held`. */
const PATIENCE_SPREAD_MS = 500

/** Undefined where there are no locks (a page that is not secure). */
export function webCoordinator({ name, environment }: WebCoordinatorOptions): Coordinator | undefined {
  const { locks } = navigator as { locks?: LockManager }
  return locks && new WebCoordinator(`pannier:${name}`, environment, locks)
}

type Message = 'hello' | 'here' | 'want' | 'busy' | 'held' | Hint

class WebCoordinator implements Coordinator {
  readonly realm: string
  readonly #name: string
  readonly #environment: Environment
  readonly #locks: LockManager
  readonly #channel: BroadcastChannel
  readonly #patienceMs: number
  /** Ends what waits or listens when the handle is closed. */
  readonly #closing = new AbortController()
  #listener: (hint: Hint | undefined) => void = () => (this.#missed = true)
  /** Whether something was missed: it came before there was a listener. */
  #missed = false
  #lease: Lease | undefined
  #waiting = false
  /** No other handle was heard of yet: there is nobody to tell. */
  #alone = true
  /** The newest hint that nobody was there for: another handle may be there already, and not have been heard yet. */
  #unsaid: Hint | undefined
  /** A holder has given a sign of life since it was last asked for one. */
  #heard = false
  #pinned: Generation | undefined
  #pinning: Promise<void> = Promise.resolve()
  #unpin: () => void = () => {}

  constructor(name: string, environment: Environment, locks: LockManager) {
    this.#name = name
    this.realm = `web:${name}`
    this.#environment = environment
    this.#locks = locks
    const share = Number.parseInt(environment.randomId().slice(0, 4), 16) / 0x10000
    this.#patienceMs = WRITER_SILENCE_MS_MAX + share * PATIENCE_SPREAD_MS
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#receive(data)
    listenForWaking(() => this.#listener(undefined), this.#closing.signal)
    this.#send('hello')
  }

  async acquireWriter(): Promise<WriterLease> {
    assert(!this.#waiting && !this.#lease, 'one lease or request a handle')
    this.#waiting = true
    try {
      const lease = (await this.#request({ ifAvailable: true })) ?? (await this.#waitForLease())
      if (lease) {
        if (!this.#alone) this.#send('held')
        return lease
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) throw unavailable(error)
    } finally {
      this.#waiting = false
    }
    throw new PannierError('PANNIER_CLOSED', 'The handle is closed.')
  }

  announce(hint: Hint): void {
    if (this.#alone) this.#unsaid = hint
    else this.#send(hint)
  }

  onHint(listener: (hint: Hint | undefined) => void): void {
    this.#listener = listener
    if (this.#missed) listener(undefined)
    this.#missed = false
  }

  pin(generation: Generation): Promise<void> {
    const pinning = this.#pinning.then(() => this.#replacePin(generation))
    this.#pinning = pinning.catch(() => {})
    return pinning
  }

  async oldestPinned(): Promise<Generation | undefined> {
    const { held = [], pending = [] } = await this.#locks.query()
    const prefix = `${this.#name}:pin:`
    const pins = [...held, ...pending].flatMap(({ name = '' }) => {
      const generation = name.startsWith(prefix) ? name.slice(prefix.length) : ''
      return /^\d+$/.test(generation) ? [Number(generation)] : []
    })
    return pins.length > 0 ? (Math.min(...pins) as Generation) : undefined
  }

  close(): void {
    this.#closing.abort()
    this.#lease?.release()
    this.#unpin()
    this.#channel.close()
  }

  /** Resolves when the lock is held; with undefined if it is not available (and not waited for), or of no use any more. */
  #request(options: LockOptions): Promise<Lease | undefined> {
    return new Promise((resolve, reject) => {
      let lease: Lease | undefined
      const hold = (lock: Lock | null): Promise<void> | undefined => {
        if (!lock || this.#closing.signal.aborted) {
          resolve(undefined)
          return undefined
        }
        return new Promise((letGo) => {
          this.#lease = lease = new Lease(() => {
            this.#lease = undefined
            letGo()
          })
          resolve(lease)
        })
      }
      this.#locks.request(`${this.#name}:writer`, options, hold).catch((error: unknown) => {
        // The lock was stolen, if it was held; else the request was given up.
        if (this.#lease === lease) this.#lease = undefined
        lease?.lose()
        reject(error as Error)
      })
    })
  }

  /** Stands in the queue and asks the holder to let go, again and again; steals the lock when it gives no sign of life. */
  async #waitForLease(): Promise<Lease | undefined> {
    const giveUp = new AbortController()
    const stolen = Promise.withResolvers<Lease | undefined>()
    let cancel = (): void => {}
    const ask = (): void => {
      this.#heard = false
      this.#send('want')
      cancel = this.#environment.after(this.#patienceMs, () => {
        if (this.#heard) return ask()
        giveUp.abort()
        stolen.resolve(this.#request({ steal: true }))
      })
    }
    ask()
    const signal = AbortSignal.any([giveUp.signal, this.#closing.signal])
    const queued = this.#request({ signal }).catch((error: unknown) => {
      if (giveUp.signal.aborted) return stolen.promise
      throw error
    })
    try {
      return await queued
    } finally {
      cancel()
    }
  }

  #receive(message: Message): void {
    if (this.#alone && this.#unsaid) this.#send(this.#unsaid)
    this.#alone = false
    if (message === 'hello') this.#send('here')
    else if (message === 'here') this.#tell(undefined)
    else if (message === 'want') {
      this.#answerWant()
    } else if (message === 'busy') this.#heard = true
    else if (message === 'held') {
      this.#heard = true
      if (this.#waiting) this.#send('want')
    } else this.#tell(message)
  }

  /**
   * In a later task: Chromium hands messages to a frozen page, but runs no other task of it. A read that began there would have no end, and
   * what others write would wait for it.
   */
  #tell(hint: Hint | undefined): void {
    void this.#environment.yield().then(() => this.#closing.signal.aborted || this.#listener(hint))
  }

  /** In a later task: Chromium hands messages to a frozen page, but runs no other task of it. */
  #answerWant(): void {
    if (!this.#lease) return
    this.#lease.want()
    void this.#environment.yield().then(() => this.#lease && this.#send('busy'))
  }

  #send(message: Message): void {
    if (!this.#closing.signal.aborted) this.#channel.postMessage(message)
  }

  /** The new lock is held before the old one is released: in between, both are. */
  async #replacePin(generation: Generation): Promise<void> {
    if (generation === this.#pinned || this.#closing.signal.aborted) return
    const unpin = await new Promise<() => void>((resolve, reject) => {
      const hold = (): Promise<void> => new Promise((letGo) => resolve(letGo))
      this.#locks.request(`${this.#name}:pin:${generation}`, { mode: 'shared' }, hold).catch((error: unknown) => {
        reject(unavailable(error))
      })
    })
    this.#unpin()
    this.#unpin = unpin
    this.#pinned = generation
    if (this.#closing.signal.aborted) unpin()
  }
}

/** A page that was hidden, frozen or kept for going back may have missed messages. */
export function listenForWaking(wake: () => void, signal: AbortSignal): void {
  globalThis.addEventListener?.('pageshow', (event) => event.persisted && wake(), { signal })
  const { document } = globalThis as { document?: Document }
  document?.addEventListener('resume', wake, { signal })
  document?.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && wake(), { signal })
}

function unavailable(cause: unknown): PannierError {
  return new PannierError('PANNIER_UNAVAILABLE', 'The browser denies this page the lock of its tabs.', {
    cause,
  })
}
