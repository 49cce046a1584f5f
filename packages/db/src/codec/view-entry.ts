/**
 * The entries of a view's tree: one for each `emit`.
 *
 *   key     the emitted key (key-encoding.ts), or, if a part of it is cut off, what is before the first cut and a hash of
 *           the whole key as JSON (8 bytes); the document's id as WTF-8 with 00 as 01 01 and 01 as 01 02,
 *           then 00; the ordinal among the document's entries with that key: its length in bytes, then these, high first
 *   value   nothing if the emitted value is null and the key is whole, else
 *             u8   kind of the value below; + 80 (hex) if the key is not enough: it was cut, or its strings are sort keys
 *             in that case the whole key as JSON, after its length as a varint
 *             the value: nothing (0 null, 1 false, 2 true), varint (3; 4 negated), float64 (5), JSON (6)
 *
 * So entries are in the order of keys and then of ids, and entries with equal keys are neighbours. Only keys that are
 * equal up to a cut are not in order. They are a run without other entries; its reader sorts it.
 *
 * A view with a collation has sort keys instead of strings. Even so, the order inside a run is that of code points.
 */
import type { Key } from '../base/brand.ts'
import { byteStringOf, asArray, ByteReader, corruptBytes, readByteString, varintBytes, writeVarint } from './bytes.ts'
import { collate, holdsText, type Collation } from './registered-collation.ts'
import { hash128 } from './hash.ts'
import { decodeIdKey, encodeIdKey, componentEnd, decodeKey, encodeKey } from './key-encoding.ts'
import { byteStringToText, textToByteString } from './text.ts'

const HAS_WHOLE_KEY = 0x80
const NULL = 0
const FALSE = 1
const TRUE = 2
const POSITIVE = 3
const NEGATIVE = 4
const FLOAT = 5
const JSON_TEXT = 6

/** Whole strings: up to this length they are never cut, whatever they contain. */
const WHOLE_CHARS_MAX = 300

interface EncodedViewKey {
  readonly bytes: string
  /** The key can't be read from the bytes. */
  readonly isPartial: boolean
  /** The prefix of the run of keys that are equal up to the cut; undefined if the key is whole. */
  readonly run: string | undefined
}

const KEY_HASH_BYTES = 8

/** A JSON value as the key of entries. */
export function encodeViewKey(key: unknown, collation: Collation | undefined): EncodedViewKey {
  const isCollated = collation !== undefined && holdsText(key)
  const bytes = encodeKey(isCollated ? collate(key, collation) : key)
  const isShort = typeof key === 'string' ? key.length <= WHOLE_CHARS_MAX && !isCollated : typeof key !== 'object'
  if (isShort) return { bytes, isPartial: false, run: undefined }
  const end = componentEnd(bytes, 0)
  if (end >= 0) return { bytes, isPartial: isCollated, run: undefined }
  const run = bytes.slice(0, -end)
  return {
    isPartial: true,
    bytes: run + readByteString(hash128(utf8.encode(JSON.stringify(key))), 0, KEY_HASH_BYTES),
    run,
  }
}

/** The part after the emitted key in the keys of a document's entries. */
export function encodeViewId(id: string): string {
  const bytes = encodeIdKey(id)
  // oxlint-disable-next-line no-control-regex
  const escaped = bytes.replace(/[\0\x01]/g, (char) => (char === '\0' ? '\x01\x01' : '\x01\x02'))
  return `${escaped}\0`
}

export function viewEntryKey(key: string, id: string, ordinal: number): Key {
  let digits = ''
  for (let rest = ordinal; rest > 0; rest = Math.floor(rest / 256)) digits = String.fromCharCode(rest % 256) + digits
  return (key + id + String.fromCharCode(digits.length) + digits) as Key
}

/** End of the emitted key in the key of an entry. */
export function emittedKeyEnd(entryKey: string): number {
  const end = componentEnd(entryKey, 0)
  return end >= 0 ? end : KEY_HASH_BYTES - end
}

/** The prefix of the run of an entry whose key is cut. */
export function runOf(entryKey: string): string {
  return entryKey.slice(0, -componentEnd(entryKey, 0))
}

/** The document's id; `from`: where the emitted key ends. */
export function documentIdOf(entryKey: string, from: number): string {
  const bytes = entryKey.slice(from, entryKey.indexOf('\0', from))
  if (!bytes.includes('\x01')) return decodeIdKey(bytes as Key)
  // oxlint-disable-next-line no-control-regex
  return decodeIdKey(bytes.replace(/\x01[^]/g, (pair) => (pair === '\x01\x01' ? '\0' : '\x01')) as Key)
}

/** `wholeKey`: only if it can't be read from the entry's key. */
export function encodeViewValue(value: unknown, wholeKey?: { readonly key: unknown }): string {
  if (wholeKey === undefined) return value === null ? '' : encodeAfter('', 0, value)
  const json = textToByteString(JSON.stringify(wholeKey.key))
  return encodeAfter(varintText(json.length) + json, HAS_WHOLE_KEY, value)
}

function hasWholeKey(value: Uint8Array): boolean {
  return value.length > 0 && value[0]! >= HAS_WHOLE_KEY
}

export function isKeyCut(entryKey: string, value: Uint8Array): boolean {
  return hasWholeKey(value) && componentEnd(entryKey, 0) < 0
}

function wholeKeyOf(value: Uint8Array): unknown {
  const reader = new ByteReader(value, 1)
  return parseJson(byteStringOf(reader, reader.varint()))
}

/** The key of an entry. */
export function decodeViewKey(entryKey: string, value: Uint8Array): unknown {
  return hasWholeKey(value) ? wholeKeyOf(value) : decodeKey(entryKey, 0, false).value
}

/** As `decodeViewValue` of the bytes from `start` to `end`; made for whole numbers. */
export function decodeViewValueAt(bytes: Uint8Array, start: number, end: number): unknown {
  if (start === end) return null
  if (bytes[start] !== POSITIVE) return decodeViewValue(bytes.subarray(start, end))
  let value = 0
  for (let at = start + 1, scale = 1; at < end; at++, scale *= 128) value += (bytes[at]! & 127) * scale
  return value
}

export function decodeViewValue(value: Uint8Array): unknown {
  if (value.length === 0) return null
  const reader = new ByteReader(value, 1)
  if (hasWholeKey(value)) reader.raw(reader.varint())
  switch (value[0]! & 127) {
    case NULL:
      return null
    case FALSE:
      return false
    case TRUE:
      return true
    case POSITIVE:
      return reader.varint()
    case NEGATIVE:
      return -reader.varint()
    case FLOAT:
      for (let i = 0; i < 8; i++) doubleBytes[i] = reader.u8()
      return double[0]
    case JSON_TEXT:
      return parseJson(byteStringOf(reader, reader.end - reader.at))
    default:
      throw corruptBytes('an entry of a view is of an unknown kind')
  }
}

const utf8 = new TextEncoder()
const double = new Float64Array(1)
/** Low byte first: every engine that runs JavaScript today is little-endian. */
const doubleBytes = new Uint8Array(double.buffer)

function encodeAfter(wholeKey: string, flag: number, value: unknown): string {
  const head = (kind: number): string => String.fromCharCode(kind | flag) + wholeKey
  if (value === null) return head(NULL)
  if (value === false) return head(FALSE)
  if (value === true) return head(TRUE)
  if (typeof value !== 'number') return head(JSON_TEXT) + textToByteString(JSON.stringify(value))
  if (Number.isSafeInteger(value)) return head(value < 0 ? NEGATIVE : POSITIVE) + varintText(Math.abs(value))
  double[0] = value
  return head(FLOAT) + readByteString(doubleBytes, 0, 8)
}

function varintText(value: number): string {
  const bytes = new Uint8Array(varintBytes(value))
  writeVarint(bytes, 0, value)
  return readByteString(bytes, 0, bytes.length)
}

function parseJson(bytes: string): unknown {
  return JSON.parse(ASCII.test(bytes) ? bytes : byteStringToText(bytes))
}

/** ASCII text that is its own encoding: JSON has no control characters. */
const ASCII = /^[ -\x7e]*$/

/** As an array of bytes: for values that are kept elsewhere than in entries. */
export function viewValueArray(value: unknown): Uint8Array {
  return asArray(encodeViewValue(value))
}
