/** Builds leaf pages and overflow pages; leaf.ts has their format. */
import { assert } from '../base/assert.ts'
import type { Key, PageId } from '../base/brand.ts'
import { ByteWriter, sharedPrefixLength, varintBytes, writeVarint } from '../codec/bytes.ts'
import { PAGE_HEADER_BYTES, PAGE_LEAF, PAGE_OVERFLOW, sealPage } from '../pager/page.ts'
import { PAGE_BYTES_MAX } from '../storage/page-store.ts'
import { isOverflow, type LeafValue } from './leaf.ts'

/** Bytes that an entry takes in a leaf whose prefix is empty. */
export function leafEntryBytes(key: Key, value: LeafValue): number {
  const valueBytes = inLeafBytes(value)
  return 2 + varintBytes(key.length) + key.length + varintBytes(valueBytes * 2 + 1) + valueBytes
}

function inLeafBytes(value: LeafValue): number {
  return isOverflow(value) ? varintBytes(value.length) + varintBytes(value.first) : value.length
}

/** Ascending entries in columns; `ends[i]` is the sum of the `leafEntryBytes` of the first `i`. */
export interface LeafColumns {
  readonly keys: readonly Key[]
  readonly values: readonly LeafValue[]
  readonly ends: readonly number[]
}

/** Bytes of the leaf that `buildLeaf` builds. */
export function leafBytes({ keys, ends }: LeafColumns, from: number, to: number): number {
  const prefixBytes = sharedPrefixLength(keys[from]!, keys[to - 1]!)
  let size = PAGE_HEADER_BYTES + 2 + prefixBytes + ends[to]! - ends[from]! - (to - from) * prefixBytes
  // The length of what is left of a key may be shorter, too.
  for (let i = from; i < to; i++) {
    const { length } = keys[i]!
    if (length >= 128) size -= varintBytes(length) - varintBytes(length - prefixBytes)
  }
  return size
}

/** Builds the leaf that holds the entries `from <= i < to`. */
export function buildLeaf(id: PageId, columns: LeafColumns, from: number, to: number): Uint8Array {
  const { keys, values } = columns
  const count = to - from
  assert(count > 0, 'a leaf is never empty')
  const prefixBytes = sharedPrefixLength(keys[from]!, keys[to - 1]!)
  const bytes = new Uint8Array(leafBytes(columns, from, to))
  let at = PAGE_HEADER_BYTES
  bytes[at++] = prefixBytes & 255
  bytes[at++] = prefixBytes >>> 8
  at = putByteString(bytes, at, keys[from]!, 0, prefixBytes)
  let offsetAt = at
  at += 2 * count
  for (let i = from; i < to; i++) {
    bytes[offsetAt++] = at & 255
    bytes[offsetAt++] = at >>> 8
    const key = keys[i]!
    at = writeVarint(bytes, at, key.length - prefixBytes)
    at = putByteString(bytes, at, key, prefixBytes, key.length)
    at = putValue(bytes, at, values[i]!)
  }
  assert(at === bytes.length && at <= PAGE_BYTES_MAX, 'leaf page of another length')
  sealPage(id, bytes, PAGE_LEAF, 0, count)
  return bytes
}

function putValue(bytes: Uint8Array, at: number, value: LeafValue): number {
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

function putByteString(bytes: Uint8Array, at: number, text: string, from: number, to: number): number {
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
