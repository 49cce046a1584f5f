/**
 * Elects a leader among the tabs and workers of an origin, for work that only one of them must do. The leader holds a
 * Web Lock as long as it wants to lead. The others get its news through a BroadcastChannel, and the next one leads when
 * it ends.
 *
 * A frozen leader keeps its lock. So the waiting ones ask it for a sign of life now and then, and steal the lock if
 * none comes. The old leader learns this when it wakes up.
 *
 * Guarantees: somebody leads as long as anybody wants to. For a moment two may lead.
 */
import { pause, type Environment } from '../../base/environment.ts'

interface WebLeaderOptions {
  /** Name of the led work, the same in all tabs. */
  readonly name: string
  readonly environment: Environment
  /** Called when `leads` or `news` is another one. */
  readonly onChange: () => void
  /** The leader's answer to a question. */
  readonly tell: () => unknown
}

/** How often a leader is asked for a sign of life, and how long it has for that. */
const LEADER_ASKED_MS = 4000
const LEADER_SILENCE_MS_MAX = 3000
/** Staggers the time-outs of waiting tabs, so that they do not all steal the lock at once. */
const PATIENCE_SPREAD_MS = 500
/** From the end of one wait for the lock to the next. A browser refuses every lock at once to a page that goes away, which would else ask without end. */
const WAIT_PAUSE_MS = 1000
/** Events that follow one another sooner are sent together. */
const NEWS_MS_MIN = 100

type Message = 'ask' | { readonly news: unknown }

/** One tab's part in the election. */
export class WebLeader {
  readonly #name: string
  readonly #environment: Environment
  readonly #onChange: () => void
  readonly #tell: () => unknown
  readonly #channel: BroadcastChannel & { unref?(): void }
  readonly #patienceMs: number
  #leads = false
  #news: unknown
  /** Ends the wish to lead. */
  #wish: AbortController | undefined
  #heard = (): void => {}
  #toTell = false
  #closed = false

  constructor({ name, environment, onChange, tell }: WebLeaderOptions) {
    this.#name = name
    this.#environment = environment
    this.#onChange = onChange
    this.#tell = tell
    const share = Number.parseInt(environment.randomId().slice(0, 4), 16) / 0x10000
    this.#patienceMs = LEADER_SILENCE_MS_MAX + share * PATIENCE_SPREAD_MS
    this.#channel = new BroadcastChannel(name)
    // It would keep a Node process alive.
    this.#channel.unref?.()
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#receive(data)
  }

  /** Whether this tab leads. */
  get leads(): boolean {
    return this.#leads
  }

  /** The last message of the leader; undefined: no message yet, or this one leads. */
  get news(): unknown {
    return this.#leads ? undefined : this.#news
  }

  /** Wants to lead. Resolves when it does, or another one is known to. */
  async want(): Promise<void> {
    if (this.#wish !== undefined || this.#closed) return
    const wish = new AbortController()
    this.#wish = wish
    await new Promise<void>((decided) => {
      void this.#hold({ ifAvailable: true }, wish.signal, decided).then(async () => {
        decided()
        while (!wish.signal.aborted) {
          await this.#waitToLead(wish.signal)
          await pause(this.#environment, WAIT_PAUSE_MS, wish.signal)
        }
      })
    })
  }

  /** Lets another one lead. */
  leave(): void {
    this.#wish?.abort()
    this.#wish = undefined
  }

  /** There is news for the others. */
  changed(): void {
    if (this.#toTell || !this.#leads) return
    this.#toTell = true
    this.#environment.after(NEWS_MS_MIN, () => {
      this.#toTell = false
      this.#sendNews()
    })
  }

  /** Ends the wish to lead, and all messages. */
  close(): void {
    this.leave()
    this.#closed = true
    this.#channel.close()
  }

  /** Stands in the queue for the lock, and takes it from a leader that is silent. */
  async #waitToLead(wish: AbortSignal): Promise<void> {
    const silent = new AbortController()
    const stop = this.#watchLeader(() => silent.abort())
    await this.#hold({ signal: AbortSignal.any([wish, silent.signal]) }, wish, stop)
    stop()
    if (silent.signal.aborted) await this.#hold({ steal: true }, wish, () => {})
  }

  /** As long as it is wished and the lock is not taken away. Never rejects. */
  async #hold(options: LockOptions, wish: AbortSignal, held: () => void): Promise<void> {
    try {
      await navigator.locks.request(this.#name, options, async (lock) => {
        if (lock === null || wish.aborted) return
        held()
        this.#become(true)
        await new Promise<void>((resolve) => wish.addEventListener('abort', () => resolve()))
      })
    } catch {
      // Given up, or the lock was taken away.
    }
    this.#become(false)
  }

  #become(leads: boolean): void {
    if (this.#leads === leads) return
    this.#leads = leads
    this.#news = undefined
    if (!this.#closed) this.#onChange()
    if (leads) this.changed()
  }

  /** Asks now, and again and again; calls back when no answer has come. */
  #watchLeader(silent: () => void): () => void {
    let cancel = (): void => {}
    const ask = (): void => {
      this.#heard = () => {
        this.#heard = () => {}
        cancel()
        cancel = this.#environment.after(LEADER_ASKED_MS, ask)
      }
      cancel = this.#environment.after(this.#patienceMs, silent)
      this.#send('ask')
    }
    ask()
    return () => {
      this.#heard = () => {}
      cancel()
    }
  }

  #receive(message: Message): void {
    if (message === 'ask') {
      // In a later task: Chromium hands messages to a frozen page, but runs no other task of it.
      if (this.#leads) void this.#environment.yield().then(() => this.#sendNews())
    } else if (!this.#leads) {
      this.#heard()
      this.#news = message.news
      this.#onChange()
    }
  }

  #sendNews(): void {
    if (this.#leads) this.#send({ news: this.#tell() })
  }

  #send(message: Message): void {
    if (!this.#closed) this.#channel.postMessage(message)
  }
}
