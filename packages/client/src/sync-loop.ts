/** Sends what waits and pulls what is new, again and again. docs/internals/client.md is the contract. */
import type { Database } from 'pannier'
import { ClientError } from './client-error.ts'
import type { Declared } from './declaration.ts'
import { applyOutcomes, type PushAnswer } from './outcomes.ts'
import { applyPull, nextPull, requestAfter, type Has, type PullAnswer, type Pulled, type PullRequest } from './pull.ts'
import { isFinal, type Server } from './server.ts'
import { followSignals } from './signals.ts'
import { QUEUE, Store, type Device, type Queued } from './store.ts'
import type { SentWrite } from './writes.ts'

/** What of a status the loop knows. */
export interface SyncState {
  /**
   * - `starting`: it has not asked the server yet.
   * - `syncing`: it sends or pulls.
   * - `synced`: what is shown is what the server had a moment ago.
   * - `offline`: the server does not answer. It tries again.
   * - `signedOut`: the session has ended, or nobody is signed in and guests may not list some collection. What waits is kept.
   * - `failed`: the server refuses what is asked, see `error`. It tries again.
   */
  readonly state: 'starting' | 'syncing' | 'synced' | 'offline' | 'signedOut' | 'failed'
  /** What the last try failed with; undefined: it did not fail. */
  readonly error: ClientError | undefined
  /** Rows of the first sync until now. */
  readonly received: number
}

export interface LoopHost {
  readonly db: Database
  readonly server: Server
  readonly declared: Declared
  /** The token of the session; undefined for guests. It may refresh it before. */
  readonly token: () => Promise<string | undefined>
  readonly onState: (state: SyncState) => void
  /** The server has answered to the session. */
  readonly synced: () => Promise<void>
}

/** A page that is under way. */
interface Asked {
  readonly request: PullRequest
  readonly answering: Promise<PullAnswer>
}

interface PushRequest {
  readonly device: string
  readonly boot: string | undefined
  readonly transactions: readonly Pick<Queued, 'n' | 'writes'>[]
}

const FORBIDDEN = 403
const TRANSACTIONS_PER_PUSH = 50
const RETRY_MS = 1000
const RETRY_MS_MAX = 30_000
/** Pulled all the same, as a stream may be silent for other reasons. */
const POLL_MS = 60_000
/** An upload that is slower than 16 KiB a second has failed. */
const SLOWEST_BYTES_PER_MS = 16
/** Signals that come together are one pull. */
const SIGNAL_MS = 20

export class SyncLoop {
  readonly #host: LoopHost
  readonly #ended = new AbortController()
  #round: Promise<void> = Promise.resolve()
  /** The round after the one that is under way. */
  #next: Promise<void> | undefined
  #wake: () => void = () => {}
  #isWoken = false
  #state: SyncState = { state: 'starting', error: undefined, received: 0 }

  constructor(host: LoopHost) {
    this.#host = host
  }

  get state(): SyncState {
    return this.#state
  }

  /** Another tab's, which syncs. */
  set state(state: SyncState) {
    this.#state = state
    this.#host.onState(state)
  }

  /** Syncs until `end`, or until the signal is aborted. */
  async run(until: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([until, this.#ended.signal])
    signal.addEventListener('abort', this.wake)
    const { db } = this.#host
    const stop = db.onChange(({ collections }) => {
      if (collections.has(QUEUE)) void this.#wakeIfWaiting()
    })
    globalThis.addEventListener?.('online', this.wake)
    void this.#follow(signal)
    let failures = 0
    while (!signal.aborted) {
      this.#isWoken = false
      failures = await this.once().then(
        () => 0,
        () => failures + 1,
      )
      await this.#pause(failures === 0 ? POLL_MS : Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MS_MAX))
    }
    stop()
    globalThis.removeEventListener?.('online', this.wake)
  }

  /** Syncs again soon. */
  readonly wake = (): void => {
    this.#isWoken = true
    this.#wake()
  }

  /** Resolves when everything that waits at the call is answered, and everything that the server has then is here. */
  once(): Promise<void> {
    this.#next ??= this.#round
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        this.#round = this.#sync()
        return this.#round
      })
    return this.#next
  }

  /** Ends it, and resolves when nothing of it is under way. */
  async end(): Promise<void> {
    this.#ended.abort()
    this.#wake()
    await (this.#next ?? this.#round).catch(() => {})
  }

  async #sync(): Promise<void> {
    this.#ended.signal.throwIfAborted()
    this.state = { ...this.#state, state: 'syncing', error: undefined }
    let token: string | undefined
    try {
      token = await this.#host.token()
      do {
        await this.#push(token)
        await this.#pull(token)
        // A server that has started again takes nothing before a pull. One that was restored may not know what it has taken.
      } while ((await this.#waiting(1)) > 0)
      await this.#host.synced()
      this.state = { ...this.#state, state: 'synced' }
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#failed(error, token === undefined)
      throw error
    }
  }

  #failed(error: unknown, isGuest: boolean): void {
    const known = error instanceof ClientError ? error : new ClientError('REFUSED', String(error), { cause: error })
    const isSignedOut = known.code === 'SIGNED_OUT' || (isGuest && known.status === FORBIDDEN)
    const state = isSignedOut ? 'signedOut' : known.code === 'UNREACHABLE' ? 'offline' : 'failed'
    this.state = { ...this.#state, state, error: known }
  }

  /** Sends what waits, in its order. The queue never blocks: what the server does not take by itself is refused. */
  async #push(token: string | undefined): Promise<void> {
    const { db, declared } = this.#host
    let limit = TRANSACTIONS_PER_PUSH
    for (;;) {
      const store = new Store(db)
      const waiting = upToFiles(await store.waiting(limit))
      if (waiting.length === 0) return
      const { device, boot } = (await store.state<Device>('$device'))!
      // The server may be restored: a pull says what it has lost, and that is sent before what builds on it.
      if ((await store.unasked(boot)) !== undefined) return
      const transactions = waiting.map(({ n, writes }) => ({ n, writes }))
      const answer = await this.#send({ device, boot: boot ?? undefined, transactions }, token).catch(
        (error: unknown): PushAnswer | undefined => {
          if (!isFinal(error)) throw error
          if (waiting.length > 1) return undefined
          const { message, data } = error as ClientError
          return { boot: '', outcomes: [{ n: waiting[0]!.n, status: 'rejected', code: 'INVALID', message, data }] }
        },
      )
      limit = answer === undefined ? Math.ceil(waiting.length / 2) : TRANSACTIONS_PER_PUSH
      if (answer === undefined) continue
      // It has started again.
      if (answer.outcomes.length === 0) return
      await applyOutcomes(db, answer, declared.merges)
    }
  }

  async #send(push: PushRequest, token: string | undefined): Promise<PushAnswer> {
    const { db, server } = this.#host
    const options = { token, signal: this.#ended.signal }
    const path = 'POST /api/sync/push'
    const writes = push.transactions.flatMap((transaction) => transaction.writes)
    if (!writes.some(hasFiles)) return await server.send<PushAnswer>(path, push, options)
    const { formOf } = await import('./files.ts')
    const [form, bytes] = await formOf(db, push, writes)
    return await server.send<PushAnswer>(path, form, { ...options, moreMs: Math.ceil(bytes / SLOWEST_BYTES_PER_MS) })
  }

  /** The next page is asked for while one is applied, by the token that comes with it. */
  async #pull(token: string | undefined): Promise<void> {
    const { db, declared } = this.#host
    let has: Has | undefined
    let ahead: Asked | undefined
    for (;;) {
      const { request, answering } = ahead ?? this.#ask(await nextPull(db, declared, has), token)
      const answer = await answering
      const next = requestAfter(request, answer)
      ahead = next && this.#ask(next, token)
      const pulled: Pulled = await applyPull(db, request, answer)
      has = pulled.isApplied ? undefined : pulled.has
      if (!pulled.isApplied) {
        ahead = undefined
        continue
      }
      this.state = { ...this.#state, received: this.#state.received + pulled.rows }
      if (pulled.isComplete) return
    }
  }

  #ask(request: PullRequest, token: string | undefined): Asked {
    const { signal } = this.#ended
    const answering = this.#host.server.send<PullAnswer>('POST /api/sync/pull', request, { token, signal })
    // Nobody waits for it, if the page before it is not applied.
    answering.catch(() => {})
    return { request, answering }
  }

  async #waiting(limit: number): Promise<number> {
    return (await new Store(this.#host.db).waiting(limit)).length
  }

  async #wakeIfWaiting(): Promise<void> {
    // A database that is closed meanwhile has nothing to send.
    if ((await this.#waiting(1).catch(() => 0)) > 0) this.wake()
  }

  /** Follows the stream of the server, and opens it again when it ends. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { server, declared, token } = this.#host
    let timer: ReturnType<typeof setTimeout> | undefined
    const onSignal = (): void => {
      clearTimeout(timer)
      timer = setTimeout(this.wake, SIGNAL_MS)
    }
    for (let failures = 0; !signal.aborted; failures++) {
      const options = { collections: declared.names, signal, onSignal: () => ((failures = 0), onSignal()) }
      await token()
        .then((held) => followSignals(server, { ...options, token: held }))
        .catch(() => {})
      await wait(Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX), signal)
    }
    clearTimeout(timer)
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isWoken || this.#ended.signal.aborted) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await wait(ms, woken.signal)
  }
}

/** A transaction with files is sent alone, as it may take long and be refused for its size. */
function upToFiles(waiting: readonly Queued[]): readonly Queued[] {
  const at = waiting.findIndex(({ writes }) => writes.some(hasFiles))
  return at < 0 ? waiting : waiting.slice(0, Math.max(at, 1))
}

function hasFiles(write: SentWrite): boolean {
  return 'files' in write
}

/** Resolves after a time, or when it is aborted. Keeps no process alive. */
async function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const timer: unknown = setTimeout(resolve, ms)
    if (typeof timer === 'object') (timer as { unref(): void }).unref()
    signal.addEventListener('abort', () => {
      clearTimeout(timer as number)
      resolve()
    })
  })
}
