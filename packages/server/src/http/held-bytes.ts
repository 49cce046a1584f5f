/**
 * Bounds the memory of answers in progress. An answer holds the piece that its client is taking: mostly little, but one
 * document may have tens of megabytes. All large pieces share one bound. An answer that would exceed it is refused, or
 * cut off if it has begun. An answer whose client takes nothing for a while is cut off if another needs the room. Small
 * answers never wait and are never refused.
 */
import { getHeapStatistics } from 'node:v8'
import { HttpError } from './http-error.ts'

/** Pieces that are not counted. */
const SMALL_BYTES_MAX: number = 1024 * 1024
/** A client that takes so long for one piece may be cut off. */
const PIECE_MS_MAX = 5000
/** A piece of text comes from a document, which takes more than the text: so this is a quarter of the heap. */
const HEAP_SHARE = 1 / 16

export interface Holder {
  bytes: number
  sinceMs: number
  /** The clock of the holder. */
  readonly now: () => number
  /** Releases everything. */
  readonly cut: () => void
}

export class HeldBytes {
  readonly #bytesMax: number
  readonly #holders = new Set<Holder>()
  #bytes = 0

  constructor(bytesMax: number = getHeapStatistics().heap_size_limit * HEAP_SHARE) {
    this.#bytesMax = bytesMax
  }

  /** The holder's piece is now this one. One answer alone may have a piece of any size. @throws HttpError 503 */
  hold(holder: Holder, bytes: number): void {
    this.release(holder)
    if (bytes <= SMALL_BYTES_MAX) return
    if (!this.#hasRoom(bytes)) this.#cutSlowest()
    if (!this.#hasRoom(bytes))
      throw new HttpError(503, 'service_unavailable', 'Too many large answers are being sent. Try again later.')
    holder.bytes = bytes
    holder.sinceMs = holder.now()
    this.#holders.add(holder)
    this.#bytes += bytes
  }

  release(holder: Holder): void {
    if (this.#holders.delete(holder)) this.#bytes -= holder.bytes
  }

  #hasRoom(bytes: number): boolean {
    return this.#holders.size === 0 || this.#bytes + bytes <= this.#bytesMax
  }

  #cutSlowest(): void {
    // Oldest piece first.
    for (const holder of this.#holders) {
      if (holder.now() - holder.sinceMs < PIECE_MS_MAX) return
      this.release(holder)
      holder.cut()
    }
  }
}
