/**
 * Order-preserving keys of values, document ids and numbers: comparing encodings as byte strings compares the values
 * (collation.ts).
 *
 * A component is self-delimiting, and no encoding is a prefix of another. So concatenated components compare like
 * tuples. Complementing every byte of a component reverses its order.
 *
 *   missing, null, false, true    their tag
 *   number    tag of its sign, then the magnitude's 63 bits of IEEE 754, high first, seven to a byte. The lowest bit of a
 *             byte is 1 if a later bit is set; if it is 0, the rest is left out. Complemented when negative.
 *   string    tag, WTF-8 with 00 as 01 01 and 01 as 01 02, then 00. Text beyond KEY_STRING_BYTES_MAX is cut off, and FF
 *             replaces the 00.
 *   array     tag, components, 00
 *   object    tag, (name as a string, component) pairs, 00
 *
 * A component of KEY_COMPONENT_BYTES_MAX bytes may have been cut off there, without any mark. An array or object below
 * KEY_DEPTH_MAX others is only its tag. Values that differ only in what was cut off have equal keys. Then `exact` is
 * false, and only the document decides.
 */
import { corruptBytes, shortString } from './bytes.ts'
import { isArrayLike } from './collation.ts'
import { defineField } from './field-path.ts'
import { byteStringToText, textToByteString } from './text.ts'
import type { Key } from '../base/brand.ts'
import { PannierError, assert } from '../base/errors.ts'
import { ArgumentError } from '../base/options.ts'

/** Encoded bytes of a string; the rest is cut off. */
export const KEY_STRING_BYTES_MAX = 1000
/** Encoded bytes of a whole component; the rest is cut off. */
export const KEY_COMPONENT_BYTES_MAX = 2000
/** The greatest depth of a key: arrays and objects inside one another; what lies deeper is cut off. */
export const KEY_DEPTH_MAX = 16

const END = '\x00'
const CUT = '\xff'
const MISSING = 0x08
const NULL = 0x10
const FALSE = 0x18
const TRUE = 0x20
const NEGATIVE = 0x28
const POSITIVE = 0x30
const STRING = 0x38
const ARRAY = 0x40
const OBJECT = 0x48
const [MISSING_KEY, NULL_KEY, FALSE_KEY, TRUE_KEY, STRING_TAG, ARRAY_TAG, OBJECT_TAG] = [
  MISSING,
  NULL,
  FALSE,
  TRUE,
  STRING,
  ARRAY,
  OBJECT,
].map((tag) => String.fromCharCode(tag)) as [string, string, string, string, string, string, string]

/** Text that is its own encoding. */
// oxlint-disable-next-line no-control-regex
const PLAIN = /^[\x02-\x7f]*$/
/** The escapes of 00 and 01, also one that was cut in two. */
// oxlint-disable-next-line no-control-regex
const ESCAPE = /\x01[^]?/g

/**
 * One component: a JSON value, undefined (a missing field), an infinity, or a typed array, which is an array here. Anything
 * else is a TypeError.
 */
export function encodeKey(value: unknown): string {
  if (typeof value === 'string') return encodeString(value)
  if (typeof value === 'number') return encodeNumber(value)
  const key = encodeOther(value, 0, KEY_COMPONENT_BYTES_MAX)
  return key.length <= KEY_COMPONENT_BYTES_MAX ? key : key.slice(0, KEY_COMPONENT_BYTES_MAX)
}

/** As `encodeKey`, in reverse order. */
export function encodeKeyDescending(value: unknown): string {
  return complement(encodeKey(value))
}

interface DecodedKey {
  readonly value: unknown
  /** Where the next component starts. */
  readonly next: number
  /** Whether it is exact. False if something was cut off. */
  readonly exact: boolean
}

/** The component that starts at `at`. Arrays come back as arrays, also where a typed array went in. */
export function decodeKey(key: string, at: number, descending: boolean): DecodedKey {
  const decoder = new KeyDecoder(key, at, descending ? 255 : 0)
  const value = decoder.component(0)
  return { value, next: decoder.at, exact: decoder.exact }
}

/**
 * The end of the component at `at`, if it is whole. Otherwise the negated position of its first cut: what comes after a
 * cut is not in the order of values. A component of KEY_COMPONENT_BYTES_MAX bytes counts as cut.
 */
export function componentEnd(key: string, at: number): number {
  const limit = at + KEY_COMPONENT_BYTES_MAX
  const end = endOf(key, at, 0, limit)
  return end >= limit || end <= -limit ? -limit : end
}

function endOf(key: string, at: number, depth: number, limit: number): number {
  if (at >= limit) return -limit
  const tag = key.charCodeAt(at)
  if (tag === STRING) {
    const end = key.indexOf(END, at + 1)
    return end < 0 || end - at - 1 > KEY_STRING_BYTES_MAX ? -(at + 2 + KEY_STRING_BYTES_MAX) : end + 1
  }
  if (tag < NEGATIVE) return at + 1
  if (tag < STRING) {
    const last = tag === NEGATIVE ? 1 : 0
    while (++at < key.length && (key.charCodeAt(at) & 1) !== last);
    return at + 1
  }
  if (depth === KEY_DEPTH_MAX) return -(at + 1)
  let next = at + 1
  while (next < limit && key.charCodeAt(next) !== 0) {
    if (tag === OBJECT) next = endOf(key, next, depth, limit)
    if (next > 0) next = endOf(key, next, depth + 1, limit)
    if (next < 0) return next
  }
  return next + 1
}

function complement(key: string): string {
  let result = ''
  for (let i = 0; i < key.length; i++) result += String.fromCharCode(key.charCodeAt(i) ^ 255)
  return result
}

function encodeString(text: string): string {
  if (text.length <= KEY_STRING_BYTES_MAX && PLAIN.test(text)) return STRING_TAG + text + END
  const bytes = textToByteString(text.slice(0, KEY_STRING_BYTES_MAX + 1))
  // oxlint-disable-next-line no-control-regex
  const escaped = bytes.replace(/[\0\x01]/g, (char) => (char === '\0' ? '\x01\x01' : '\x01\x02'))
  return escaped.length <= KEY_STRING_BYTES_MAX
    ? STRING_TAG + escaped + END
    : STRING_TAG + escaped.slice(0, KEY_STRING_BYTES_MAX) + CUT
}

const double = new Float64Array(1)
/** Low word first: every engine that runs JavaScript today is little-endian. */
const words = new Uint32Array(double.buffer)

function encodeNumber(value: number): string {
  if (value !== value) throw new ArgumentError('a key must be a JSON value', value)
  double[0] = value
  const negative = value < 0
  const mask = negative ? 255 : 0
  const tag = negative ? NEGATIVE : POSITIVE
  let high = words[1]! & 0x7fffffff
  let low = words[0]!
  if (low === 0 && (high & 0x3ff) === 0) {
    const first = high >>> 24
    const second = (high >>> 17) & 127
    const third = (high >>> 10) & 127
    if (third !== 0)
      return String.fromCharCode(tag, ((first << 1) | 1) ^ mask, ((second << 1) | 1) ^ mask, (third << 1) ^ mask)
  }
  let length = 0
  numberCodes[length++] = tag
  do {
    const group = high >>> 24
    high = ((high << 7) | (low >>> 25)) & 0x7fffffff
    low <<= 7
    numberCodes[length++] = ((group << 1) | ((high | low) === 0 ? 0 : 1)) ^ mask
  } while ((high | low) !== 0)
  return shortString(numberCodes, 0, length)
}

/** A tag and nine groups of seven bits. */
const numberCodes = new Uint8Array(10)

/** May give more than `budget` bytes, but not without end: the caller cuts it off. */
function encodeComponent(value: unknown, depth: number, budget: number): string {
  if (typeof value === 'string') return encodeString(value)
  if (typeof value === 'number') return encodeNumber(value)
  return encodeOther(value, depth, budget)
}

function encodeOther(value: unknown, depth: number, budget: number): string {
  if (value === undefined) return MISSING_KEY
  if (value === null) return NULL_KEY
  if (value === false) return FALSE_KEY
  if (value === true) return TRUE_KEY
  if (typeof value !== 'object') throw new ArgumentError('a key must be a JSON value', value)
  if (isArrayLike(value)) {
    if (depth === KEY_DEPTH_MAX) return ARRAY_TAG
    let key = ARRAY_TAG
    for (let i = 0; i < value.length && key.length <= budget; i++) {
      key += encodeComponent(value[i], depth + 1, budget - key.length)
    }
    return key + END
  }
  if (depth === KEY_DEPTH_MAX) return OBJECT_TAG
  let key = OBJECT_TAG
  for (const name of Object.keys(value)) {
    key += encodeString(name)
    if (key.length > budget) break
    key += encodeComponent((value as Record<string, unknown>)[name], depth + 1, budget - key.length)
  }
  return key + END
}

class KeyDecoder {
  readonly key: string
  readonly mask: number
  /** The limit: a component that reaches this position is cut off there. */
  readonly limit: number
  readonly end: string
  at: number
  exact = true

  constructor(key: string, at: number, mask: number) {
    this.key = key
    this.at = at
    this.mask = mask
    this.limit = at + KEY_COMPONENT_BYTES_MAX
    this.end = mask === 0 ? END : CUT
  }

  /** Undefined also when the component is cut off right here. */
  component(depth: number): unknown {
    const tag = this.byte()
    switch (tag) {
      case MISSING:
        return undefined
      case NULL:
        return null
      case FALSE:
        return false
      case TRUE:
        return true
      case NEGATIVE:
        return -this.magnitude(this.mask ^ 255)
      case POSITIVE:
        return this.magnitude(this.mask)
      case STRING:
        return this.string()
      case ARRAY:
        return this.array(depth)
      case OBJECT:
        return this.object(depth)
    }
    if (this.exact) throw corruptBytes('a key has an unknown tag')
    return undefined
  }

  /** The next byte; -1 where the component was cut off. */
  private byte(): number {
    if (this.at >= this.limit) {
      this.exact = false
      return -1
    }
    if (this.at >= this.key.length) throw corruptBytes('a key ends too early')
    return this.key.charCodeAt(this.at++) ^ this.mask
  }

  private magnitude(mask: number): number {
    let high = 0
    let low = 0
    for (let shift = 56; shift >= 0; shift -= 7) {
      const raw = this.byte()
      if (raw < 0) break
      const byte = raw ^ this.mask ^ mask
      const group = byte >>> 1
      if (shift >= 32) high |= group << (shift - 32)
      else {
        low |= group << shift
        if (shift > 25) high |= group >>> (32 - shift)
      }
      if ((byte & 1) === 0) break
    }
    words[1] = high
    words[0] = low
    return double[0]!
  }

  private string(): string {
    const start = this.at
    let end = this.key.indexOf(this.end, start)
    if (end < 0 || end - start > KEY_STRING_BYTES_MAX) {
      end = start + KEY_STRING_BYTES_MAX
      this.exact = false
    }
    this.at = end + 1
    if (this.at > this.limit) {
      this.exact = false
      this.at = this.limit
    }
    if (this.at > this.key.length) throw corruptBytes('a key ends too early')
    let bytes = this.key.slice(start, Math.min(end, this.limit))
    if (this.mask !== 0) bytes = complement(bytes)
    if (PLAIN.test(bytes)) return bytes
    return byteStringToText(
      bytes.replace(ESCAPE, (escape) => (escape === '\x01\x01' ? '\0' : escape === '\x01\x02' ? '\x01' : '')),
    )
  }

  /** True at the mark that ends an array or object, and where the component is cut off. */
  private ended(): boolean {
    if (this.byte() <= 0) return true
    this.at--
    return false
  }

  private array(depth: number): unknown[] {
    const array: unknown[] = []
    if (depth === KEY_DEPTH_MAX) this.exact = false
    else while (!this.ended()) array.push(this.component(depth + 1))
    return array
  }

  private object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    if (depth === KEY_DEPTH_MAX) this.exact = false
    else {
      while (!this.ended()) {
        if (this.byte() !== STRING) throw corruptBytes('a key has a name that is no string')
        const name = this.string()
        const value = this.component(depth + 1)
        defineField(object, name, value)
      }
    }
    return object
  }
}

/** Encoded bytes of a document's id. Keys must stay well below the size of a page. */
export const ID_BYTES_MAX = 4096

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/

/** An id that is looked up: WTF-8 and nothing else. Ids compare by code point. One that is too long is in no tree. */
export function idKey(id: string): Key {
  return (ASCII.test(id) ? id : textToByteString(id)) as Key
}

/** The id of a document that is written. */
export function encodeIdKey(id: string): Key {
  const key = idKey(id)
  if (key.length > ID_BYTES_MAX) {
    throw new PannierError('PANNIER_KEY_TOO_LARGE', `An id takes ${key.length} bytes; ${ID_BYTES_MAX} are allowed.`)
  }
  return key
}

export function decodeIdKey(key: Key): string {
  return ASCII.test(key) ? key : byteStringToText(key)
}

/** The smallest key above every key that starts with `prefix`; undefined if no key is. */
export function prefixUpperBound(prefix: string): Key | undefined {
  let end = prefix.length
  while (end > 0 && prefix.charCodeAt(end - 1) === 255) end--
  if (end === 0) return undefined
  return (prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1)) as Key
}

// Numbers: fixed width, 6 bytes, big-endian.

export const KEY_NUMBER_BYTES = 6
export const KEY_NUMBER_MAX: number = 2 ** 48 - 1

/** 0 <= n <= KEY_NUMBER_MAX. */
export function numberKey(n: number): Key {
  assert(n >= 0 && n <= KEY_NUMBER_MAX, 'number key out of range')
  const high = Math.floor(n / 0x1000000)
  const low = n % 0x1000000
  return String.fromCharCode(
    (high >>> 16) & 255,
    (high >>> 8) & 255,
    high & 255,
    (low >>> 16) & 255,
    (low >>> 8) & 255,
    low & 255,
  ) as Key
}

/** As `numberKey`, as char codes at a place of a longer key. */
export function putNumber(codes: number[], at: number, n: number): void {
  const high = Math.floor(n / 0x1000000)
  const low = n % 0x1000000
  codes[at] = (high >>> 16) & 255
  codes[at + 1] = (high >>> 8) & 255
  codes[at + 2] = high & 255
  codes[at + 3] = (low >>> 16) & 255
  codes[at + 4] = (low >>> 8) & 255
  codes[at + 5] = low & 255
}

/** The number in the last six bytes of a key. */
export function keyNumber(key: Key): number {
  const end = key.length
  const high = (key.charCodeAt(end - 6) << 16) | (key.charCodeAt(end - 5) << 8) | key.charCodeAt(end - 4)
  const low = (key.charCodeAt(end - 3) << 16) | (key.charCodeAt(end - 2) << 8) | key.charCodeAt(end - 1)
  return high * 0x1000000 + low
}
