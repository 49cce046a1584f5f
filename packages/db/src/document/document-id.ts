/** Ids of documents: which are allowed, how new ones are made, and ranges of ids as ranges of keys. */
import { encodeIdKey, idKey, prefixUpperBound } from '../codec/key-encoding.ts'
import type { Key } from '../base/brand.ts'
import { ArgumentError, badArgument } from '../base/options.ts'
import type { KeyRange } from '../kv/key-value-store.ts'

/** Begins the ids of documents that belong to one copy of a collection, such as replication checkpoints. */
export const LOCAL_PREFIX = '_local/'

/** Any text but '' and what is reserved: names that start with '_', other than '_design/…'. */
export function checkId(id: unknown): Key {
  if (typeof id !== 'string') throw new ArgumentError('_id must be a string', id)
  if (id === '') throw new ArgumentError('_id must not be empty', id)
  if (id.charCodeAt(0) === UNDERSCORE && !id.startsWith('_design/')) {
    throw new ArgumentError(`_id must not start with '_'`, id)
  }
  return encodeIdKey(id)
}

/** A copy: what the caller does to the array meanwhile changes nothing. */
export function checkedIds(ids: unknown, call: string): string[] {
  if (!Array.isArray(ids)) throw badArgument(call, 'the id must be a string or an array of strings', ids)
  for (const id of ids) if (typeof id !== 'string') throw badArgument(call, 'ids must be strings', id)
  return [...(ids as string[])]
}

const UNDERSCORE = 95
const TIME_DIGITS = 12
const COUNTER_DIGITS = 4
const COUNTER_END: number = 16 ** COUNTER_DIGITS
const RANDOM_DIGITS = 16

/**
 * Makes ids that sort by their time: 48 bits of milliseconds, a counter of 16 bits, 64 random bits, as 32 hex digits.
 * Ids that are made together share the random bits.
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

/** Ranges of ids as callers name them, as ranges of keys: by code point. */
export interface IdRange {
  readonly gte?: string
  readonly gt?: string
  readonly lte?: string
  readonly lt?: string
  /** The prefix: only ids that begin with it, by code points. */
  readonly prefix?: string
}

/** The keys of a range of ids. All its bounds hold together, and may be longer than any id. */
export function idKeyRange({ gte, gt, lte, lt, prefix }: IdRange): KeyRange {
  const lower: Key[] = []
  const upper: Key[] = []
  if (gte !== undefined) lower.push(idKey(gte))
  if (gt !== undefined) lower.push(keyAfter(idKey(gt)))
  if (lt !== undefined) upper.push(idKey(lt))
  if (lte !== undefined) upper.push(keyAfter(idKey(lte)))
  if (prefix !== undefined && prefix !== '') {
    lower.push(idKey(prefix))
    const end = prefixUpperBound(idKey(prefix))
    if (end !== undefined) upper.push(end)
  }
  return { gte: lower.sort().at(-1), lt: upper.sort()[0] }
}

export function keyAfter(key: Key): Key {
  return (key + '\0') as Key
}
