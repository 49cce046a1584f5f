/** Sends what waits and pulls what is new, again and again. docs/internals/client.md is the contract. */
import type { Database } from 'pannier'
import { pause } from 'pannier/internal'
import { ClientError } from './client-error.ts'
import type { Declared } from './declaration.ts'
import type { WriteMeans } from './local-transaction.ts'
import type { PushAnswer } from './outcomes.ts'
import {
  answerTo,
  applyPull,
  nextPull,
  requestAfter,
  type Has,
  type PullAnswer,
  type Pulled,
  type PullRequest,
} from './pull.ts'
import { isFinal, type Server } from './server.ts'
import { QUEUE, Store, type Device, type Queued, type Sendable } from './store.ts'
import { hasFiles } from './writes.ts'

/** The part of a client's state that its sync knows. */
export interface SyncState {
  /**
   * - `starting`: it has not asked the server yet.
   * - `syncing`: it sends or pulls.
   * - `synced`: what is shown is what the server had a moment ago.
   * - `offline`: the server does not answer. It tries again.
   * - `signedOut`: the session has ended, or nobody is signed in and guests may not list some collection. What waits is kept.
   * - `failed`: the server refuses what is asked, see `error`. It tries again.
   */
  readonly status: 'starting' | 'syncing' | 'synced' | 'offline' | 'signedOut' | 'failed'
  /** The error of the last try; undefined after a success. */
  readonly error: ClientError | undefined
  /** Rows of the first sync until now. */
  readonly received: number
}

export interface LoopHost {
  readonly db: Database
  readonly server: Server
  readonly declared: Declared
  readonly means: WriteMeans
  /** The token of the session; undefined for guests. It may refresh it before. */
  readonly token: () => Promise<string | undefined>
  readonly onState: (state: SyncState) => void
  /** The server has answered to the session. */
  readonly synced: () => Promise<void>
}

/** A page that is under way. */
interface PendingPage {
  readonly request: PullRequest
  readonly answering: Promise<PullAnswer>
}

/** Work that is under way when a round has ended. */
interface Round {
  readonly upload: Promise<void> | undefined
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
/** Signals that come together are one pull. */
const SIGNAL_MS = 20

export class SyncLoop {
  readonly #host: LoopHost
  readonly #ended = new AbortController()
  #round: Promise<Round | void> = Promise.resolve()
  /** The round after the one that is under way. */
  #next: Promise<Round> | undefined
  /** A transaction with files, which is sent beside the rounds. */
  #upload: Promise<void> | undefined
  #wake: () => void = () => {}
  #isWoken = false
  #state: SyncState = { status: 'starting', error: undefined, received: 0 }

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
    const wakeIfWaiting = ({ length }: readonly Queued[]): void => {
      if (length > 0) this.wake()
    }
    const stop = db.subscribe(({ collections }) => {
      // A database that is closed meanwhile has nothing to send.
      if (collections.has(QUEUE)) new Store(db).waiting(1).then(wakeIfWaiting, () => {})
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
      await this.#pause(failures === 0 ? POLL_MS : retryMs(failures - 1))
    }
    stop()
    globalThis.removeEventListener?.('online', this.wake)
  }

  /** Syncs again soon. */
  readonly wake = (): void => {
    this.#isWoken = true
    this.#wake()
  }

  /**
   * Resolves when everything that waits at the call is answered, and everything that the server has then is here. Files, and what has to do
   * with them, may be under way.
   */
  once(): Promise<Round> {
    this.#next ??= this.#round
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        const round = this.#sync()
        this.#round = round
        return round
      })
    return this.#next
  }

  /** Ends it, and resolves when nothing of it is under way. */
  async end(): Promise<void> {
    this.#ended.abort()
    this.#wake()
    await (this.#next ?? this.#round).catch(() => {})
    await this.#upload?.catch(() => {})
  }

  async #sync(): Promise<Round> {
    this.#ended.signal.throwIfAborted()
    this.state = { ...this.#state, status: 'syncing', error: undefined }
    let token: string | undefined
    try {
      token = await this.#host.token()
      let waiting = await this.#sendable(1)
      let rounds = 0
      do {
        const first = waiting.ready[0]?.n
        await this.#push(token)
        await this.#pull(token)
        waiting = await this.#sendable(1)
        rounds = waiting.ready[0]?.n === first ? rounds + 1 : 0
        // A server that has started again takes nothing before a pull. One that was restored may not know what it has taken.
      } while (waiting.ready.length > 0 && rounds < IDLE_ROUNDS_MAX)
      if (waiting.ready.length > 0)
        throw new ClientError('PANNIER_PEER_UNREACHABLE', 'The server gave no outcome of a write.')
      if (waiting.upload !== undefined) this.#upload ??= this.#sendFiles(waiting.upload, token)
      const upload = this.#upload
      await this.#host.synced()
      this.state = { ...this.#state, status: 'synced' }
      return { upload }
    } catch (error) {
      this.#failed(error, token === undefined)
      throw error
    }
  }

  #failed(error: unknown, isGuest: boolean): void {
    if (this.#ended.signal.aborted) return
    const known =
      error instanceof ClientError ? error : new ClientError('PANNIER_PEER_REFUSED', String(error), { cause: error })
    const isSignedOut = known.code === 'PANNIER_SIGNED_OUT' || (isGuest && known.status === FORBIDDEN)
    const status = isSignedOut ? 'signedOut' : known.code === 'PANNIER_PEER_UNREACHABLE' ? 'offline' : 'failed'
    this.state = { ...this.#state, status, error: known }
  }

  /** Pushes what waits, in its order. The queue never blocks: what the server does not take by itself is refused. */
  async #push(token: string | undefined): Promise<void> {
    const { db, means } = this.#host
    let limit = TRANSACTIONS_PER_PUSH
    for (;;) {
      const { ready } = await this.#sendable(limit)
      if (ready.length === 0) return
      // A module that can't be loaded fails before anything is sent.
      const { applyOutcomes } = await import('./outcomes.ts')
      const answer = await this.#answerTo(ready, token)
      limit = answer === undefined ? Math.ceil(ready.length / 2) : TRANSACTIONS_PER_PUSH
      if (answer === undefined) continue
      // It has started again, or may have.
      const outcomes = answer.outcomes.filter(({ n }) => ready.some((sent) => sent.n === n))
      if (outcomes.length === 0) return
      await applyOutcomes(db, { ...answer, outcomes }, means)
    }
  }

  /** Sendable transactions, which may be sent now. Files may take long, and what has nothing to do with them goes past them. */
  async #sendable(limit: number): Promise<Sendable> {
    const store = new Store(this.#host.db)
    const ready = await store.waiting(limit)
    if (!ready.some(({ writes }) => writes.some(hasFiles))) return { ready, upload: undefined }
    return (await import('./files.ts')).besideFiles(await store.waiting(), limit)
  }

  /** The server's answer to transactions. Undefined: they are too much together. No outcomes: a pull has to come before them. */
  async #answerTo(waiting: readonly Queued[], token: string | undefined): Promise<PushAnswer | undefined> {
    const store = new Store(this.#host.db)
    const { device, boot } = (await store.state<Device>('$device'))!
    // The server may be restored: a pull says what it has lost, and that is sent before what builds on it.
    if ((await store.unasked(boot)) !== undefined) return { boot: '', outcomes: [] }
    const transactions = waiting.map(({ n, writes }) => ({ n, writes }))
    try {
      return await this.#send({ device, boot: boot ?? undefined, transactions }, token)
    } catch (error) {
      if (!isFinal(error)) throw error
      if (waiting.length > 1) return undefined
      const { message, details } = error as ClientError
      return { boot: '', outcomes: [{ n: waiting[0]!.n, status: 'rejected', code: 'INVALID', message, data: details }] }
    }
  }

  /** Sends a transaction with files. A later round brings the resulting records. */
  #sendFiles(upload: Queued, token: string | undefined): Promise<void> {
    const { db, means } = this.#host
    const sent = this.#answerTo([upload], token)
      .then(async (answer) => (await import('./outcomes.ts')).applyOutcomes(db, answer!, means))
      .finally(() => (this.#upload = undefined))
    sent.then(this.wake, (error: unknown) => this.#failed(error, token === undefined))
    return sent
  }

  async #send(push: PushRequest, token: string | undefined): Promise<PushAnswer> {
    const { db, server } = this.#host
    const writes = push.transactions.flatMap((transaction) => transaction.writes)
    const isForm = writes.some(hasFiles)
    const [body, moreMs] = isForm ? await (await import('./files.ts')).formOf(db, push, writes) : [push, 0]
    return await server.send('POST /api/sync/push', body, { token, signal: this.#ended.signal, moreMs })
  }

  /** The next page is asked for while one is applied, by the token that comes with it. */
  async #pull(token: string | undefined): Promise<void> {
    const { db, declared } = this.#host
    let has: Has | undefined
    let ahead: PendingPage | undefined
    for (;;) {
      const { request, answering } = ahead ?? this.#ask(await nextPull(db, declared, has), token)
      const answer = answerTo(request, await answering)
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

  #ask(request: PullRequest, token: string | undefined): PendingPage {
    const { signal } = this.#ended
    const answering = this.#host.server.send<PullAnswer>('POST /api/sync/pull', request, { token, signal })
    // Nobody waits for it, if the page before it is not applied.
    answering.catch(() => {})
    return { request, answering }
  }

  /** Follows the stream of the server, and opens it again when it ends. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { server, declared, token } = this.#host
    const { environment } = server
    let cancel = (): void => {}
    const onSignal = (): void => {
      cancel()
      cancel = environment.after(SIGNAL_MS, this.wake)
    }
    for (let failures = 0; !signal.aborted; failures++) {
      const options = { collections: declared.names, signal, onSignal: () => ((failures = 0), onSignal()) }
      await Promise.all([import('./signals.ts'), token()])
        .then(([{ followSignals }, current]) => followSignals(server, { ...options, token: current }))
        .catch(() => {})
      await pause(environment, retryMs(failures), signal, false)
    }
    cancel()
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isWoken || this.#ended.signal.aborted) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await pause(this.#host.server.environment, ms, woken.signal, false)
  }
}

/** Rounds in which the first write that waits is sent, and has no answer. */
const IDLE_ROUNDS_MAX = 5

function retryMs(failures: number): number {
  return Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX)
}
