/**
 * Challenges that a device answers once. They are signed, so that nothing is kept of those that nobody answers. They end with the
 * process.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const VALID_MS: number = 5 * 60 * 1000
const RANDOM_BYTES = 16
const TIME_BYTES = 6
const SIGNATURE_BYTES = 32

export class Challenges {
  readonly validMs: number = VALID_MS
  readonly #key = randomBytes(SIGNATURE_BYTES)
  readonly #now: () => number
  /** Those that were answered, with a time after which they are over; the oldest are first. */
  readonly #used = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** `about`: what it is good for, and nothing else. */
  make(about: string): Uint8Array<ArrayBuffer> {
    const payload = Buffer.alloc(RANDOM_BYTES + TIME_BYTES)
    randomBytes(RANDOM_BYTES).copy(payload)
    payload.writeUIntBE(this.#now() + VALID_MS, RANDOM_BYTES, TIME_BYTES)
    return new Uint8Array(Buffer.concat([payload, this.#sign(payload, about)]))
  }

  /** Whether it was made for this, and was not answered. `challenge`: as base64url. */
  isOpen(challenge: string, about: string): boolean {
    const bytes = Buffer.from(challenge, 'base64url')
    // Another text of the same bytes would be another challenge.
    if (bytes.length !== RANDOM_BYTES + TIME_BYTES + SIGNATURE_BYTES || bytes.toString('base64url') !== challenge)
      return false
    const payload = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES)
    const isOurs = timingSafeEqual(bytes.subarray(payload.length), this.#sign(payload, about))
    return isOurs && this.#now() < endOf(bytes) && !this.#used.has(challenge)
  }

  /** False: somebody has used it meanwhile. */
  use(challenge: string): boolean {
    if (this.#used.has(challenge)) return false
    for (const [used, untilMs] of this.#used) {
      if (this.#now() < untilMs) break
      this.#used.delete(used)
    }
    this.#used.set(challenge, this.#now() + VALID_MS)
    return true
  }

  #sign(payload: Uint8Array, about: string): Buffer {
    return createHmac('sha256', this.#key).update(payload).update(about).digest()
  }
}

function endOf(bytes: Buffer): number {
  return bytes.readUIntBE(RANDOM_BYTES, TIME_BYTES)
}
