/** Ranges of ids as callers name them, as ranges of keys: by code point. */
import type { Key } from '../base/brand.ts'
import { ID_BYTES_MAX, prefixUpperBound } from '../codec/key-encoding.ts'
import { textToByteString } from '../codec/text.ts'
import type { KeyRange } from '../kv/key-value-store.ts'

export interface IdRange {
  readonly gte?: string
  readonly gt?: string
  readonly lte?: string
  readonly lt?: string
  /** Only ids that begin with it, by code points. */
  readonly prefix?: string
}

/** All bounds hold together. They may be longer than any id. */
export function idKeyRange({ gte, gt, lte, lt, prefix }: IdRange): KeyRange {
  const lower: Key[] = []
  const upper: Key[] = []
  if (gte !== undefined) lower.push(boundKey(gte))
  if (gt !== undefined) lower.push(keyAfter(boundKey(gt)))
  if (lt !== undefined) upper.push(boundKey(lt))
  if (lte !== undefined) upper.push(keyAfter(boundKey(lte)))
  if (prefix !== undefined && prefix !== '') {
    lower.push(boundKey(prefix))
    const end = prefixUpperBound(boundKey(prefix))
    if (end !== undefined) upper.push(end)
  }
  return { gte: lower.sort().at(-1), lt: upper.sort()[0] }
}

/** The key of an id; undefined for one that is too long to be there. */
export function possibleIdKey(id: string): Key | undefined {
  const key = boundKey(id)
  return key.length > ID_BYTES_MAX ? undefined : key
}

function boundKey(id: string): Key {
  return textToByteString(id) as Key
}

function keyAfter(key: Key): Key {
  return (key + '\0') as Key
}
