/**
 * Syncs a copy with the server, in one tab at a time (a Web Lock). That tab tells the others its state; when it is
 * closed, the next one takes over. The copy stores the switch to offline, so it holds for all tabs and after a reload.
 * The copy also stores how much of its changes the server has, so unsent changes can be counted offline.
 */
import type { Collection, Database, Replication, ReplicationEvent } from 'pannier'
import { COLLECTION } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { COPY_NAME, NOTES, SERVER_URL } from './copy.ts'
import type { SentNote } from './copy.ts'

export interface SyncState {
  readonly phase: 'starting' | 'syncing' | 'in-sync' | 'off' | 'no-network' | 'retrying' | 'stopped'
  /** Cities changed here that the server may not have. */
  readonly unsent: number
  /** Since the tab that replicates began to. */
  readonly sent: number
  readonly received: number
  /** With 'retrying': the latest time of the next try, by Date.now(); undefined during a try. */
  readonly retryAtMs: number | undefined
  /** Why it is 'retrying' or 'stopped'. */
  readonly reason: string
}

type TabMessage = 'tell' | 'again' | SyncState

interface OfflineNote {
  readonly _id: 'offline'
  readonly offline: boolean
}

const STARTING: SyncState = {
  phase: 'starting',
  unsent: 0,
  sent: 0,
  received: 0,
  retryAtMs: undefined,
  reason: '',
}
const TELL_PAUSE_MS = 60
const RETRY_MS_MIN = 500
/** Shorter than the library's default: nobody waits long for a server on the same machine. */
const RETRY_MS_MAX = 8_000

export class Sync {
  readonly #onState: (state: SyncState, offline: boolean) => void
  readonly #channel: BroadcastChannel = new BroadcastChannel(`${COPY_NAME}-sync`)
  #db: Database | undefined
  #cities: Collection<City> | undefined
  #stop: AbortController = new AbortController()
  #ended: Promise<unknown> = Promise.resolve()
  #offline = false
  #state: SyncState = STARTING
  /** The replication. This field and all below exist only in the tab that replicates. */
  #replication: Replication | undefined
  #retryAtMs: number | undefined
  /** The reason why the last try failed, until one has not. */
  #reason = ''
  #stopped = false
  #again: () => void = () => undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(onState: (state: SyncState, offline: boolean) => void) {
    this.#onState = onState
    this.#channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      if (data === 'tell') this.#tellSoon()
      else if (data === 'again') this.#again()
      else this.#show(data)
    }
  }

  start(db: Database): void {
    const stop = new AbortController()
    this.#stop = stop
    this.#db = db
    this.#cities = db.collection<City>(COLLECTION)
    const unlisten = db.subscribe(({ collections }) => {
      if (collections.has(NOTES)) void this.#readWish()
      if (collections.has(COLLECTION)) this.#tellSoon()
    })
    stop.signal.addEventListener('abort', unlisten)
    this.#show(STARTING)
    this.#ended = this.#run(stop.signal).catch(() => undefined)
    this.#channel.postMessage('tell')
  }

  /** Resolves when nothing of it is under way any more. */
  async stop(): Promise<void> {
    this.#stop.abort()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#db = undefined
    await this.#ended
  }

  async setOffline(offline: boolean): Promise<void> {
    await this.#db?.collection<OfflineNote>(NOTES).upsert({ _id: 'offline', offline })
  }

  /** Tries again after it has stopped. */
  tryAgain(): void {
    this.#again()
    this.#channel.postMessage('again')
  }

  async #run(signal: AbortSignal): Promise<void> {
    await this.#readWish()
    if (navigator.locks === undefined) return await this.#lead(signal)
    await navigator.locks.request(`${COPY_NAME}-sync`, { signal }, () => this.#lead(signal))
  }

  async #lead(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#cities !== undefined) {
      this.#stopped = false
      this.#retryAtMs = undefined
      const replication = this.#cities.sync(SERVER_URL, {
        live: true,
        create: false,
        signal,
        backOff: (delayMs) => this.#backOff(delayMs),
      })
      this.#replication = replication
      if (this.#offline) replication.pause()
      replication.subscribe((event) => this.#onEvent(event))
      this.#tellSoon()
      try {
        await replication
      } catch (error) {
        this.#reason = error instanceof Error ? error.message : String(error)
      }
      if (signal.aborted) break
      this.#stopped = true
      this.#tellSoon()
      await new Promise<void>((resolve) => {
        this.#again = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      this.#reason = ''
    }
    this.#replication = undefined
  }

  #backOff(delayMs: number): number {
    const nextMs = Math.min(RETRY_MS_MAX, Math.max(RETRY_MS_MIN, 2 * delayMs))
    this.#retryAtMs = Date.now() + nextMs
    return nextMs
  }

  #onEvent(event: ReplicationEvent): void {
    if (event.type === 'status' && event.status === 'backing-off') this.#reason = event.error?.message ?? ''
    if (event.type === 'status' && event.status === 'active') this.#retryAtMs = undefined
    // It has got through.
    if (event.type === 'change' || (event.type === 'status' && event.status === 'paused')) this.#reason = ''
    if (event.type === 'checkpoint' && event.direction === 'push' && typeof event.lastSeq === 'string')
      void this.#db
        ?.collection<SentNote>(NOTES)
        .upsert({ _id: 'sent', seq: event.lastSeq })
        .catch(() => undefined)
    this.#tellSoon()
  }

  async #readWish(): Promise<void> {
    const note = await this.#db
      ?.collection<OfflineNote>(NOTES)
      .get('offline')
      .catch(() => undefined)
    const offline = note?.offline === true
    if (offline !== this.#offline) {
      this.#offline = offline
      if (offline) this.#replication?.pause()
      else this.#replication?.resume()
    }
    this.#show(this.#state)
    this.#tellSoon()
  }

  /** Many events are one message. */
  #tellSoon(): void {
    if (this.#replication === undefined || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#tell().catch(() => undefined)
    }, TELL_PAUSE_MS)
  }

  async #tell(): Promise<void> {
    const replication = this.#replication
    if (replication === undefined || this.#db === undefined) return
    const of = (direction: 'push' | 'pull'): Replication['parts'][number] | undefined =>
      replication.parts.find((part) => part.direction === direction)
    const unsent = await this.#countUnsent(of('push')?.progress.lastSeq)
    if (replication !== this.#replication) return
    const state: SyncState = {
      phase: this.#phase(replication, unsent),
      unsent,
      sent: of('push')?.progress.docsWritten ?? 0,
      received: of('pull')?.progress.docsWritten ?? 0,
      retryAtMs: this.#retryAtMs,
      reason: this.#reason,
    }
    this.#channel.postMessage(state)
    this.#show(state)
  }

  #phase({ status }: Replication, unsent: number): SyncState['phase'] {
    if (this.#stopped) return 'stopped'
    if (this.#offline) return 'off'
    if (status === 'offline') return 'no-network'
    if (this.#reason !== '') return 'retrying'
    return status === 'paused' && unsent === 0 ? 'in-sync' : 'syncing'
  }

  /** `pushed`: how far the replication under way is; undefined before it has begun. */
  async #countUnsent(pushed: unknown): Promise<number> {
    const noted = await this.#db?.collection<SentNote>(NOTES).get('sent')
    const since = Math.max(...[noted?.seq, pushed].map((seq) => Number.parseInt(String(seq), 10) || 0))
    const page = await this.#cities?.changes({ since, limit: 1 }).page()
    return (page?.changes.length ?? 0) + (page?.pending ?? 0)
  }

  #show(state: SyncState): void {
    this.#state = state
    this.#onState(state, this.#offline)
  }
}
