/**
 * Runs a map function over documents and encodes what it emits. Also encodes, for each document, the list of its
 * emitted keys: with it the rows are found when the document is gone.
 *
 * A key list: for each row in order, varint length of the emitted key as in codec/view-entry.ts, that key.
 */
import type { Key } from '../base/brand.ts'
import { badArgument } from '../base/options.ts'
import { KEY_BYTES_MAX } from '../btree/leaf.ts'
import { byteStringOf, ByteReader, ByteWriter, holdsTypedArray, readByteString, type Bytes } from '../codec/bytes.ts'
import { compareValues, isArrayLike } from '../codec/collation.ts'
import type { Collation } from '../codec/registered-collation.ts'
import { defineField } from '../codec/field-path.ts'
import { decodeViewValue, encodeViewId, encodeViewKey, encodeViewValue, viewEntryKey } from '../codec/view-entry.ts'
import type { Emit } from './view-definition.ts'

/** The rows of one document, in their order. */
export interface MappedRows {
  readonly entryKeys: Key[]
  readonly values: string[]
  /** Empty if there are no rows. */
  readonly keyList: Bytes
}

/** The highest number of rows of one document. */
export const ROWS_MAX = 100_000

/** Lists of one key below this length are the length in one byte, and the key. */
const LISTED_KEY_BYTES_MAX = 128

export const NO_ROWS: MappedRows = { entryKeys: [], values: [], keyList: '' }

/** Throws what `map` throws, and a TypeError for rows that can't be stored. */
export function mapDocument(
  map: (document: object, emit: Emit) => unknown,
  document: { readonly _id: string },
  collation: Collation | undefined,
): MappedRows {
  const emitted: { bytes: string; value: string; key: unknown }[] = []
  map(document, (key, value) => {
    if (emitted.length === ROWS_MAX)
      throw new TypeError(`emit(): rows of a document must be at most ${ROWS_MAX}, got more`)
    const plain = jsonKey(key)
    const { bytes, isPartial } = encodeViewKey(plain, collation)
    emitted.push({
      bytes,
      value: encodeViewValue(jsonValue(value), isPartial ? { key: plain } : undefined),
      key: plain,
    })
  })
  if (emitted.length === 0) return NO_ROWS
  // Mostly there is one.
  const [only] = emitted
  if (emitted.length === 1 && only!.bytes.length < LISTED_KEY_BYTES_MAX) {
    const { bytes, value } = only!
    const entryKey = viewEntryKey(bytes, encodeViewId(document._id), 0)
    if (entryKey.length <= KEY_BYTES_MAX)
      return { entryKeys: [entryKey], values: [value], keyList: String.fromCharCode(bytes.length) + bytes }
  }
  emitted.sort(compareEmitted)
  const keys = emitted.map(({ bytes }) => bytes)
  const entryKeys = entryKeysOf(keys, document._id)
  if (entryKeys.some((entryKey) => entryKey.length > KEY_BYTES_MAX))
    throw badArgument('emit()', `a key with its id must have at most ${KEY_BYTES_MAX} bytes`, document._id)
  return { entryKeys, values: emitted.map(({ value }) => value), keyList: listOf(keys) }
}

/** The keys of the entries that a list stands for. */
export function entryKeysOfList(list: Uint8Array, id: string): Key[] {
  const reader = new ByteReader(list)
  const keys: string[] = []
  while (!reader.done) keys.push(byteStringOf(reader, reader.varint()))
  return entryKeysOf(keys, id)
}

/** Equal keys are neighbours: each but the first gets an ordinal. */
function entryKeysOf(keys: readonly string[], id: string): Key[] {
  const suffix = encodeViewId(id)
  let ordinal = 0
  return keys.map((key, at) => {
    ordinal = at > 0 && key === keys[at - 1] ? ordinal + 1 : 0
    return viewEntryKey(key, suffix, ordinal)
  })
}

const writer = new ByteWriter(1024)

function listOf(keys: readonly string[]): Bytes {
  writer.length = 0
  for (const key of keys) {
    writer.varint(key.length)
    writer.byteString(key)
  }
  return writer.length <= 256 ? readByteString(writer.bytes, 0, writer.length) : writer.finish()
}

/** By key; equal keys by value, so that the order does not depend on the order in which they were emitted. */
function compareEmitted(left: { bytes: string; value: string }, right: { bytes: string; value: string }): number {
  if (left.bytes !== right.bytes) return left.bytes < right.bytes ? -1 : 1
  if (left.value === right.value) return 0
  return compareValues(decodeText(left.value), decodeText(right.value))
}

function decodeText(value: string): unknown {
  return decodeViewValue(Uint8Array.from(value, (char) => char.charCodeAt(0)))
}

/** As JSON.parse(JSON.stringify(key)); typed arrays are arrays. */
function jsonKey(key: unknown): unknown {
  if (typeof key === 'string' || typeof key === 'boolean') return key
  if (typeof key === 'number') return Number.isFinite(key) ? key + 0 : null
  if (typeof key === 'bigint') throw badArgument('emit()', 'a key must be a JSON value', key)
  if (typeof key !== 'object' || key === null) return null
  if ('toJSON' in key && typeof key.toJSON === 'function') return jsonKey((key.toJSON as (name: string) => unknown)(''))
  if (isArrayLike(key)) return Array.from(key).map(jsonKey)
  const object = {}
  for (const [name, value] of Object.entries(key))
    if (value !== undefined && typeof value !== 'function' && typeof value !== 'symbol')
      defineField(object, name, jsonKey(value))
  return object
}

/** Something that JSON.stringify writes as it should: typed arrays are the only thing that it would not. */
function jsonValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return null
  if (typeof value === 'bigint') throw badArgument('emit()', 'a value must be a JSON value', value)
  if (typeof value !== 'object' || value === null) return value
  if (holdsTypedArray(value)) return jsonKey(value)
  // A date, say, becomes a string.
  return 'toJSON' in value ? jsonKey(value) : value
}
