/** Changes as they happen: one stream for the page, whatever it follows. */
import { apiUrl, hostEnvironment, isNoAnswer, request } from './request.ts'
import type { Row } from './records.ts'

interface RecordEvent {
  readonly action: 'create' | 'update' | 'delete'
  readonly record: Row
}

type Listener = (event: RecordEvent) => void

const RETRY_MS = 3000

/**
 * Follows topics: `posts/*`. `onGap` says that changes may have been missed: those before the stream was there, and those of a gap. The
 * stream lives as long as there are listeners.
 */
class Realtime {
  private source: EventSource | undefined
  private clientId: string | undefined
  private cancelRetry: (() => void) | undefined
  private cancelReopening: (() => void) | undefined
  private readonly topics = new Map<string, Set<Listener>>()
  private readonly onGaps = new Set<() => void>()

  /** Follows a topic. Returns a function that ends that. */
  follow(topic: string, listener: Listener, onGap: () => void): () => void {
    const listeners = this.topics.get(topic) ?? new Set()
    const isNew = !this.topics.has(topic)
    this.topics.set(topic, listeners.add(listener))
    this.onGaps.add(onGap)
    if (this.source === undefined) this.open()
    else if (isNew) {
      this.source.addEventListener(topic, this.receive)
      this.subscribe(true)
    }
    return () => {
      listeners.delete(listener)
      this.onGaps.delete(onGap)
      if (listeners.size > 0) return
      this.topics.delete(topic)
      this.source?.removeEventListener(topic, this.receive)
      if (this.topics.size > 0) this.subscribe(false)
      else this.close()
    }
  }

  /** For another account: the stream of the one before belongs to that one. */
  restart(): void {
    this.close()
    if (this.topics.size > 0) this.open()
  }

  /** The server is back. */
  reopen(): void {
    if (this.source === undefined && this.topics.size > 0) this.open()
  }

  close(): void {
    this.source?.close()
    this.source = undefined
    this.clientId = undefined
  }

  private open(): void {
    const source = new EventSource(apiUrl('/realtime'))
    this.source = source
    source.addEventListener('PB_CONNECT', ({ data }: MessageEvent<string>) => {
      this.clientId = (JSON.parse(data) as { clientId: string }).clientId
      this.subscribe(true)
    })
    source.addEventListener('error', () => this.broken(source))
    for (const topic of this.topics.keys()) source.addEventListener(topic, this.receive)
  }

  /**
   * Closes a broken source. Browsers would connect again every few seconds, also to a server that is away. A request says whether it is;
   * then `reopen` continues.
   */
  private broken(source: EventSource): void {
    if (source !== this.source) return
    this.close()
    const later = (): void => {
      this.cancelReopening?.()
      this.cancelReopening = hostEnvironment().after(RETRY_MS, () => this.reopen())
    }
    request('GET', '/health').then(later, (error: unknown) => {
      if (!isNoAnswer(error)) later()
    })
  }

  private readonly receive = ({ type, data }: MessageEvent<string>): void => {
    const event = JSON.parse(data) as RecordEvent
    for (const listener of this.topics.get(type) ?? []) listener(event)
  }

  /** The set of topics is sent whole each time. */
  private subscribe(isAfterGap: boolean): void {
    const { clientId } = this
    if (clientId === undefined) return
    const body = { clientId, subscriptions: [...this.topics.keys()] }
    request('POST', '/realtime', { body }).then(
      () => {
        if (isAfterGap) for (const onGap of this.onGaps) onGap()
      },
      () => {
        // The stream may break too, and connect again by itself. If it lives, the topics are still to be sent.
        this.cancelRetry?.()
        this.cancelRetry = hostEnvironment().after(RETRY_MS, () => {
          if (this.clientId === clientId) this.subscribe(true)
        })
      },
    )
  }
}

export const realtime: Realtime = new Realtime()
