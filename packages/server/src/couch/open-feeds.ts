/** Counts open feeds, and refuses more than the limits allow. */
import type { FastifyRequest } from 'fastify'
import { readerOf } from '../http/held-bodies.ts'
import { HttpError } from '../http/http-error.ts'
import type { Metrics } from '../http/metrics.ts'

export class OpenFeeds {
  readonly #metrics: Metrics
  readonly #most: number
  readonly #mostOfUser: number
  readonly #byUser = new Map<string, number>()
  #count = 0

  constructor(metrics: Metrics, most: number, mostOfUser: number) {
    this.#metrics = metrics
    this.#most = most
    this.#mostOfUser = mostOfUser
  }

  get count(): number {
    return this.#count
  }

  /**
   * Returns the function to call when the feed has ended.
   *
   * @throws HttpError 503
   */
  enter(feed: string, request: Pick<FastifyRequest, 'principal' | 'ip'>): () => void {
    if (this.#count >= this.#most) throw new HttpError(503, 'too_many_feeds', 'Too many change feeds are open.')
    const reader = readerOf(request)
    const own = this.#byUser.get(reader) ?? 0
    if (own >= this.#mostOfUser) throw new HttpError(429, 'too_many_feeds', `You have ${own} change feeds open.`)
    this.#byUser.set(reader, own + 1)
    this.#count++
    this.#metrics.openFeeds.inc({ feed })
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#count--
      const remaining = this.#byUser.get(reader)! - 1
      if (remaining === 0) this.#byUser.delete(reader)
      else this.#byUser.set(reader, remaining)
      this.#metrics.openFeeds.dec({ feed })
    }
  }
}
