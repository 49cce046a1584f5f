/**
 * Bounds the JSON of requests in memory, from its arrival until its use. All requests share one limit, and one user has
 * a quarter of it; a request beyond it is refused. Bodies up to 64 KiB and bodies in files do not count.
 */
import type { FastifyRequest } from 'fastify'
import { getHeapStatistics } from 'node:v8'
import { HttpError } from './http-error.ts'

/** Values take several times the bytes of their text. */
const HEAP_SHARE = 1 / 16
const USER_SHARE = 1 / 4

/** The bytes that one request holds. */
export interface Hold {
  /** Changes the number of bytes that are held. @throws HttpError 503 */
  to(bytes: number): void
  release(): void
}

export class HeldBodies {
  readonly #bytesMax: number
  readonly #byReader = new Map<string, number>()
  #bytes = 0

  constructor(bytesMax: number = getHeapStatistics().heap_size_limit * HEAP_SHARE) {
    this.#bytesMax = bytesMax
  }

  /** Release it when the request is answered. */
  hold(request: Pick<FastifyRequest, 'principal' | 'ip'>): Hold {
    const reader = readerOf(request)
    let own = 0
    const set = (bytes: number): void => {
      const others = (this.#byReader.get(reader) ?? 0) - own
      this.#bytes += bytes - own
      own = bytes
      if (others + bytes === 0) this.#byReader.delete(reader)
      else this.#byReader.set(reader, others + bytes)
    }
    return {
      to: (bytes) => {
        if (bytes > own && !this.#hasRoom(reader, own, bytes)) {
          throw new HttpError(
            503,
            'service_unavailable',
            `Too much JSON is being read: at most ${Math.floor(this.#bytesMax)} bytes at a time, a quarter of it from one user. Try again later.`,
          )
        }
        set(bytes)
      },
      release: () => set(0),
    }
  }

  /** One body alone may have any size that its own limit allows. */
  #hasRoom(reader: string, own: number, bytes: number): boolean {
    const all = this.#bytes - own
    const ofReader = (this.#byReader.get(reader) ?? 0) - own
    if (all === 0) return true
    return all + bytes <= this.#bytesMax && (ofReader === 0 || ofReader + bytes <= this.#bytesMax * USER_SHARE)
  }
}

/** The counted one: a user, or an address without a login. */
export function readerOf({ principal, ip }: Pick<FastifyRequest, 'principal' | 'ip'>): string {
  return principal.name === null ? `at ${ip}` : `is ${principal.name}`
}

/** The bytes of all servers of this process, which share one memory. */
export const heldBodies: HeldBodies = new HeldBodies()
