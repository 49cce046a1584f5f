/**
 * Leaf pages: sorted entries, read in place.
 *
 *     0  header (pager/page.ts), level 0
 *     8  u16 length of the prefix that all keys share, then the prefix
 *        u16 position of each entry
 *        entries: varint length of the rest of the key, that rest,
 *                 varint (length of the value << 1 | 1 if it is an overflow reference), the value
 *
 * A value too large for a leaf is in overflow pages with consecutive ids. The leaf holds a reference: varint length of
 * the value, varint id of the first page.
 */
import type { Key, PageId } from '../base/brand.ts'
import {
  ByteReader,
  corruptBytes,
  type Bytes,
  readByteString,
  varintBytes,
  ByteWriter,
  writeVarint,
} from '../codec/bytes.ts'
import { PAGE_HEADER_BYTES, PAGE_OVERFLOW, sealPage } from '../pager/page.ts'
import { PAGE_BYTES_MAX } from '../storage/page-store.ts'

/** Keys may not be longer: a page has to hold several. */
export const KEY_BYTES_MAX: number = 8 * 1024

/** Where a large value is stored. */
export interface OverflowReference {
  readonly length: number
  readonly first: PageId
}

/** The value to write under a key: its bytes, or the reference to pages that hold them already. */
export type LeafValue = Bytes | OverflowReference

/** Memory of a parsed leaf in addition to its bytes. */
const LEAF_OVERHEAD_BYTES = 200

export class Leaf {
  readonly level = 0
  readonly id: PageId
  readonly bytes: Uint8Array
  readonly count: number
  readonly prefix: string
  readonly memoryBytes: number
  readonly #offsetsAt: number

  constructor(id: PageId, bytes: Uint8Array) {
    this.id = id
    this.bytes = bytes
    this.count = bytes[6]! | (bytes[7]! << 8)
    const prefixBytes = bytes[PAGE_HEADER_BYTES]! | (bytes[PAGE_HEADER_BYTES + 1]! << 8)
    const prefixAt = PAGE_HEADER_BYTES + 2
    this.#offsetsAt = prefixAt + prefixBytes
    if (this.#offsetsAt + 2 * this.count > bytes.length) throw corruptBytes(`page ${id} ends too early`)
    this.prefix = readByteString(bytes, prefixAt, this.#offsetsAt)
    this.memoryBytes = bytes.length + LEAF_OVERHEAD_BYTES
  }

  /** The first entry whose key is not lower than `key`, else `count`. With `from`: it is likely near that, and not before it. */
  search(key: string, from = 0): number {
    const { prefix, count } = this
    if (!key.startsWith(prefix)) return key < prefix ? 0 : count
    let low = from
    let high = from || count
    for (let step = 1; high < count && this.#compareRest(high, key, prefix.length) < 0; step *= 2) {
      low = high + 1
      high += step
    }
    high = Math.min(high, count)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compareRest(middle, key, prefix.length) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The entry with exactly that key, or -1. */
  find(key: string): number {
    const index = this.search(key)
    return index < this.count && this.compare(index, key) === 0 ? index : -1
  }

  key(index: number): Key {
    const at = this.start(index)
    const length = this.#varint(at)
    const start = at + varintBytes(length)
    return (this.prefix + readByteString(this.bytes, start, start + length)) as Key
  }

  /** The last six bytes of the key as a number. */
  keyNumber(index: number): number {
    const at = this.start(index)
    const length = this.#varint(at)
    const end = at + varintBytes(length) + length
    if (length < 6) return this.#keyNumberOverPrefix(end, length)
    const { bytes } = this
    const high = (bytes[end - 6]! << 16) | (bytes[end - 5]! << 8) | bytes[end - 4]!
    const low = (bytes[end - 3]! << 16) | (bytes[end - 2]! << 8) | bytes[end - 1]!
    return high * 0x1000000 + low
  }

  /** The sign of (entry's key - key). */
  compare(index: number, key: string): number {
    const { prefix } = this
    if (key.startsWith(prefix)) return this.#compareRest(index, key, prefix.length)
    return prefix < key ? -1 : 1
  }

  /** A view of the bytes, or the reference to an overflowing value. */
  value(index: number): Uint8Array | OverflowReference {
    const { bytes } = this
    let at = this.#headerAt(index)
    const header = this.#varint(at)
    at += varintBytes(header)
    const valueBytes = Math.floor(header / 2)
    if (at + valueBytes > bytes.length) throw corruptBytes(`an entry of page ${this.id} ends too early`)
    if (header % 2 === 0) return bytes.subarray(at, at + valueBytes)
    const reader = new ByteReader(bytes, at, at + valueBytes)
    return { length: reader.varint(), first: reader.varint() as PageId }
  }

  /**
   * The result of `read` for a value. Makes no subarray, because reductions read very many values. Undefined for an
   * overflow value.
   */
  read<T>(index: number, read: (bytes: Uint8Array, start: number, end: number) => T): T | undefined {
    const { bytes } = this
    let at = this.#headerAt(index)
    const header = this.#varint(at)
    at += varintBytes(header)
    const end = at + Math.floor(header / 2)
    if (end > bytes.length) throw corruptBytes(`an entry of page ${this.id} ends too early`)
    return header % 2 === 0 ? read(bytes, at, end) : undefined
  }

  /** As `leafEntryBytes`. */
  entryBytes(index: number): number {
    const start = this.start(index)
    const end = this.#end(index)
    if (end <= start || end > this.bytes.length) throw corruptBytes(`an entry of page ${this.id} ends too early`)
    const rest = this.#varint(start)
    const keyBytes = rest + this.prefix.length
    return 2 + end - start + keyBytes - rest + varintBytes(keyBytes) - varintBytes(rest)
  }

  /** The bytes of the entries `from <= i < to`. */
  raw(from: number, to: number): Uint8Array {
    return this.bytes.subarray(this.start(from), this.#end(to - 1))
  }

  /** Entries stand one after another, in order. */
  #end(index: number): number {
    return index + 1 < this.count ? this.start(index + 1) : this.bytes.length
  }

  /** Where an entry begins. */
  start(index: number): number {
    const at = this.#offsetsAt + 2 * index
    return this.bytes[at]! | (this.bytes[at + 1]! << 8)
  }

  /** Where the value begins, with its length. */
  #headerAt(index: number): number {
    const at = this.start(index)
    const length = this.#varint(at)
    return at + varintBytes(length) + length
  }

  #varint(at: number): number {
    const { bytes } = this
    const first = bytes[at]!
    if (first < 128) return first
    const second = bytes[at + 1]!
    if (second < 128) return (first & 127) | (second << 7)
    return new ByteReader(bytes, at).varint()
  }

  #keyNumberOverPrefix(end: number, length: number): number {
    const { prefix, bytes } = this
    let value = 0
    for (let i = prefix.length - (6 - length); i < prefix.length; i++) value = value * 256 + prefix.charCodeAt(i)
    for (let i = end - length; i < end; i++) value = value * 256 + bytes[i]!
    return value
  }

  /** The sign of (entry's key - key), both without the shared prefix. */
  #compareRest(index: number, key: string, from: number): number {
    const { bytes } = this
    const at = this.start(index)
    const length = this.#varint(at)
    const start = at + varintBytes(length)
    const rest = key.length - from
    const shared = length < rest ? length : rest
    for (let i = 0; i < shared; i++) {
      const difference = bytes[start + i]! - key.charCodeAt(from + i)
      if (difference !== 0) return difference
    }
    return length - rest
  }
}

export function isOverflow(value: LeafValue): value is OverflowReference {
  return typeof value === 'object' && 'first' in value
}

/** Value bytes that one overflow page carries. */
export const OVERFLOW_PAYLOAD_BYTES: number = PAGE_BYTES_MAX - PAGE_HEADER_BYTES

export function overflowPageCount(length: number): number {
  return Math.ceil(length / OVERFLOW_PAYLOAD_BYTES)
}

/** One piece of a large value. */
export class OverflowPage {
  readonly level = 0
  readonly payload: Uint8Array
  readonly memoryBytes: number

  constructor(bytes: Uint8Array) {
    this.payload = bytes.subarray(PAGE_HEADER_BYTES)
    this.memoryBytes = bytes.length
  }
}

/** Bytes that an entry takes in a leaf whose prefix is empty. */
export function leafEntryBytes(key: Key, value: LeafValue): number {
  const valueBytes = inLeafBytes(value)
  return 2 + varintBytes(key.length) + key.length + varintBytes(valueBytes * 2 + 1) + valueBytes
}

function inLeafBytes(value: LeafValue): number {
  return isOverflow(value) ? varintBytes(value.length) + varintBytes(value.first) : value.length
}

export function putValue(bytes: Uint8Array, at: number, value: LeafValue): number {
  if (isOverflow(value)) {
    at = writeVarint(bytes, at, inLeafBytes(value) * 2 + 1)
    at = writeVarint(bytes, at, value.length)
    return writeVarint(bytes, at, value.first)
  }
  at = writeVarint(bytes, at, value.length * 2)
  if (typeof value === 'string') return putByteString(bytes, at, value, 0, value.length)
  bytes.set(value, at)
  return at + value.length
}

export function putByteString(bytes: Uint8Array, at: number, text: string, from: number, to: number): number {
  for (let i = from; i < to; i++) bytes[at++] = text.charCodeAt(i)
  return at
}

export function buildOverflowPage(id: PageId, payload: Uint8Array): Uint8Array {
  const bytes = new ByteWriter(PAGE_HEADER_BYTES + payload.length)
  bytes.length = PAGE_HEADER_BYTES
  bytes.raw(payload)
  sealPage(id, bytes.bytes, PAGE_OVERFLOW, 0, 0)
  return bytes.bytes
}

export type SizeClass = 'ordered' | 'sequence'

/**
 * Bytes to which a page is filled. Bodies are read one at a time or all in order, so their pages are larger. Figures:
 * docs/notes/2026-11-21-speed-lessons.md.
 */
export const LEAF_BYTES_TARGET: Readonly<Record<SizeClass, number>> = { ordered: 16 * 1024, sequence: 30 * 1024 }
export const BRANCH_BYTES_TARGET: number = 16 * 1024

/** Larger values stand in overflow pages. */
export const INLINE_VALUE_BYTES_MAX: Readonly<Record<SizeClass, number>> = { ordered: 2 * 1024, sequence: 8 * 1024 }
