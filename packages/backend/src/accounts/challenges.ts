/**
 * Challenges that a device answers once, at any server. They are signed, so that nothing is kept of those that nobody answers. Where one
 * server is alone they end with its process.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Environment } from 'pannier/types'
import type { Fleet } from '../fleet/fleet.ts'
import { ageMs, CLOCK_MS_MAX } from '../gateway/seen-clock.ts'

const VALID_MS: number = 5 * 60 * 1000
const RANDOM_BYTES = 16
const TIME_BYTES = 6
const SIGNATURE_BYTES = 32

export class Challenges {
  readonly validMs: number = VALID_MS
  readonly #fleet: Fleet
  #key: Promise<Buffer> | undefined
  readonly #environment: Environment
  /** Challenges that were used, with a time after which they are over; the oldest are first. */
  readonly #used = new Map<string, number>()

  constructor(environment: Environment, fleet: Fleet) {
    this.#environment = environment
    this.#fleet = fleet
  }

  /** `about`: what it is good for, and nothing else. */
  async make(about: string): Promise<Uint8Array<ArrayBuffer>> {
    const payload = Buffer.alloc(RANDOM_BYTES + TIME_BYTES)
    payload.set(this.#environment.randomBytes(RANDOM_BYTES))
    payload.writeUIntBE(this.#environment.wallClock() + VALID_MS, RANDOM_BYTES, TIME_BYTES)
    return new Uint8Array(Buffer.concat([payload, await this.#sign(payload, about)]))
  }

  /** Whether it was made for this, and was not answered. `challenge`: as base64url. */
  async isOpen(challenge: string, about: string): Promise<boolean> {
    const bytes = Buffer.from(challenge, 'base64url')
    // Another text of the same bytes would be another challenge.
    if (bytes.length !== RANDOM_BYTES + TIME_BYTES + SIGNATURE_BYTES || bytes.toString('base64url') !== challenge)
      return false
    const payload = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES)
    const isOurs = timingSafeEqual(bytes.subarray(payload.length), await this.#sign(payload, about))
    return (
      isOurs && ageMs(this.#environment.wallClock(), endOf(bytes) - VALID_MS) < VALID_MS && !this.#used.has(challenge)
    )
  }

  /** False: somebody has used it meanwhile. */
  async use(challenge: string): Promise<boolean> {
    if (this.#used.has(challenge)) return false
    for (const [used, untilMs] of this.#used) {
      if (this.#environment.now() < untilMs) break
      this.#used.delete(used)
    }
    this.#used.set(challenge, this.#environment.now() + VALID_MS + CLOCK_MS_MAX)
    return this.#fleet.claim(`challenge ${createHash('sha256').update(challenge).digest('base64url')}`)
  }

  async #sign(payload: Uint8Array, about: string): Promise<Buffer> {
    this.#key ??= this.#fleet.secret('challenges')
    const key = await this.#key.catch((error: unknown) => {
      this.#key = undefined
      throw error
    })
    return createHmac('sha256', key).update(payload).update(about).digest()
  }
}

function endOf(bytes: Buffer): number {
  return bytes.readUIntBE(RANDOM_BYTES, TIME_BYTES)
}
