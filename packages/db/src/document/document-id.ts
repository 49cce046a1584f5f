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
export type IdGenerator = () => () => string

/** Each call gives a function that makes the ids of one batch. `wallClock`: milliseconds since 1970. */
export function idGenerator(wallClock: () => number, randomId: () => string): IdGenerator {
  let time = 0
  let counter = 0
  const start = (at: number): void => {
    time = at
    counter = 0
  }
  return () => {
    const now = Math.floor(wallClock())
    // Never back, even if the clock goes back.
    if (now > time) start(now)
    let random: string | undefined
    return () => {
      random ??= randomId().slice(0, RANDOM_DIGITS)
      if (counter === COUNTER_END) start(time + 1)
      return hex(time, TIME_DIGITS) + hex(counter++, COUNTER_DIGITS) + random
    }
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}
