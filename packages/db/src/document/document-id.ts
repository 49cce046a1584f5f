/** Ids of documents: which ones are allowed, and how new ones are made. */
import { ID_BYTES_MAX, encodeIdKey } from '../codec/key-encoding.ts'
import type { Key } from '../base/brand.ts'

export { ID_BYTES_MAX }

/** Any text but '' and what is reserved: names that start with '_', other than '_design/…'. */
export function checkId(id: unknown): Key {
  if (typeof id !== 'string') throw new TypeError(`an id is a string, not ${id === null ? 'null' : typeof id}`)
  if (id === '') throw new TypeError('an id must not be empty')
  if (id.charCodeAt(0) === UNDERSCORE && !id.startsWith('_design/')) {
    throw new TypeError(`ids that start with '_' are reserved: '${id.slice(0, 50)}'`)
  }
  return encodeIdKey(id)
}

const UNDERSCORE = 95
const TIME_DIGITS = 12
const COUNTER_DIGITS = 4
const COUNTER_END: number = 16 ** COUNTER_DIGITS
const RANDOM_DIGITS = 16

/**
 * Makes ids that sort by the time they were made at: 48 bits of milliseconds, 16 bits that count within one, 64 random bits,
 * as 32 hex digits. Ids that are made together share the random bits.
 */
export class IdGenerator {
  private readonly wallClock: () => number
  private readonly randomId: () => string
  private time = 0
  private counter = 0

  /** `wallClock`: milliseconds since 1970. `randomId` as in base/environment.ts. */
  constructor(wallClock: () => number, randomId: () => string) {
    this.wallClock = wallClock
    this.randomId = randomId
  }

  /** For the documents of one batch. */
  batch(): () => string {
    const now = Math.floor(this.wallClock())
    // Never back, even if the clock goes back.
    if (now > this.time) this.start(now)
    let random: string | undefined
    return () => {
      random ??= this.randomId().slice(0, RANDOM_DIGITS)
      if (this.counter === COUNTER_END) this.start(this.time + 1)
      const counter = this.counter++
      return hex(this.time, TIME_DIGITS) + hex(counter, COUNTER_DIGITS) + random
    }
  }

  private start(time: number): void {
    this.time = time
    this.counter = 0
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}
