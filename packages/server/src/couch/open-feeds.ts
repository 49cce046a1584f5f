/** Counts feeds that are being sent, and refuses more than are allowed. */
import { HttpError } from '../http/http-error.ts'
import type { Metrics } from '../http/metrics.ts'

export class OpenFeeds {
  readonly #metrics: Metrics
  readonly #most: number
  #count = 0

  constructor(metrics: Metrics, most: number) {
    this.#metrics = metrics
    this.#most = most
  }

  get count(): number {
    return this.#count
  }

  /** The function returned tells that it has ended. @throws HttpError 503 */
  enter(feed: string): () => void {
    if (this.#count >= this.#most) throw new HttpError(503, 'too_many_feeds', 'Too many change feeds are open.')
    this.#count++
    this.#metrics.openFeeds.inc({ feed })
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#count--
      this.#metrics.openFeeds.dec({ feed })
    }
  }
}
