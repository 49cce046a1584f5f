/** The content of pages under construction: the entries of leaves, or the children of branches, not yet cut into pages. */
import { firstWhere } from '../base/binary-search.ts'
import type { Key, PageId } from '../base/brand.ts'
import { assert } from '../base/errors.ts'
import { sharedPrefixLength, varintBytes, writeVarint } from '../codec/bytes.ts'
import { PAGE_HEADER_BYTES, PAGE_LEAF, sealPage } from '../pager/page.ts'
import { PAGE_BYTES_MAX } from '../storage/page-store.ts'
import { isOverflow, leafEntryBytes, putByteString, putValue, type Leaf, type LeafValue } from './leaf.ts'
import type { Child } from './branch.ts'

/**
 * How content is cut into pages.
 * - 'full' fills one page after another, for content that grows only at the end.
 * - 'roomy' does the same, with some room left for entries in between.
 * - 'even' spreads content over the pages, so that a page that grew a little leaves no tiny page behind.
 */
export type Fill = 'full' | 'roomy' | 'even'

/** How full pages are made that will take more entries in between. */
const ROOMY = 0.9

/** Pages emptier than this share of the target are joined with a neighbour. */
export const UNDERFULL = 0.25

/**
 * Ascending entries in columns. An entry that a leaf has already is that leaf and its index there: its bytes are copied, unless the prefix
 * of its page changes.
 */
export class LeafContent {
  readonly #sources: (Key | Leaf)[] = []
  /** The value of each entry, or its index in its leaf. */
  readonly #values: (LeafValue | number)[] = []
  /** `ends[i]`: bytes of the first `i` entries, as long as keys share no prefix. */
  readonly #ends: number[] = [0]
  size = 0
  /** Whether a value may be in overflow pages. */
  overflow = false

  get length(): number {
    return this.#ends.length - 1
  }

  key(index: number): Key {
    const source = this.#sources[index]!
    return typeof source === 'string' ? source : source.key(this.#values[index] as number)
  }

  value(index: number): LeafValue {
    const source = this.#sources[index]!
    return typeof source === 'string' ? (this.#values[index] as LeafValue) : source.value(this.#values[index] as number)
  }

  push(key: Key, value: LeafValue): void {
    this.overflow ||= isOverflow(value)
    this.#push(key, value, leafEntryBytes(key, value))
  }

  /** An entry of a leaf, as it is. */
  keep(leaf: Leaf, index: number): void {
    this.#push(leaf, index, leaf.entryBytes(index))
  }

  #push(source: Key | Leaf, value: LeafValue | number, bytes: number): void {
    this.#sources.push(source)
    this.#values.push(value)
    this.#ends.push((this.size += bytes))
  }

  append(other: LeafContent): void {
    this.overflow ||= other.overflow
    for (let i = 0; i < other.length; i++) this.#push(other.#sources[i]!, other.#values[i]!, other.#entryBytes(i))
  }

  #entryBytes(index: number): number {
    return this.#ends[index + 1]! - this.#ends[index]!
  }

  #prefixBytes(from: number, to: number): number {
    return sharedPrefixLength(this.key(from), this.key(to - 1))
  }

  /** The bytes of a page of these entries: keys lose the prefix that all of their page share. */
  bytesOf(from: number, to: number): number {
    return this.#ends[to]! - this.#ends[from]! - this.#prefixBytes(from, to) * (to - from)
  }

  /** Bytes of the leaf that `build` gives. */
  leafBytes(from: number, to: number): number {
    const prefixBytes = this.#prefixBytes(from, to)
    let size = PAGE_HEADER_BYTES + 2 + prefixBytes + this.bytesOf(from, to)
    // The length of what is left of a long key may be shorter, too.
    for (let i = from; i < to; i++) {
      if (this.#entryBytes(i) < 128) continue
      const { length } = this.key(i)
      size -= varintBytes(length) - varintBytes(length - prefixBytes)
    }
    return size
  }

  /** The leaf that holds the entries `from <= i < to`. */
  build(id: PageId, from: number, to: number): Uint8Array {
    const count = to - from
    assert(count > 0, 'a leaf is never empty')
    const prefixBytes = this.#prefixBytes(from, to)
    const bytes = new Uint8Array(this.leafBytes(from, to))
    let at = PAGE_HEADER_BYTES
    bytes[at++] = prefixBytes & 255
    bytes[at++] = prefixBytes >>> 8
    at = putByteString(bytes, at, this.key(from), 0, prefixBytes)
    let startAt = at
    at += 2 * count
    const begin = (start: number): void => {
      bytes[startAt++] = start & 255
      bytes[startAt++] = start >>> 8
    }
    for (let i = from; i < to;) {
      const source = this.#sources[i]!
      if (typeof source !== 'string' && source.prefix.length === prefixBytes) {
        // Entries that stand one after another in their leaf are copied together.
        const first = this.#values[i] as number
        const moved = at - source.start(first)
        let next = first
        while (i < to && this.#sources[i] === source && this.#values[i] === next) {
          begin(source.start(next++) + moved)
          i++
        }
        const run = source.raw(first, next)
        bytes.set(run, at)
        at += run.length
      } else {
        begin(at)
        const key = this.key(i)
        at = writeVarint(bytes, at, key.length - prefixBytes)
        at = putByteString(bytes, at, key, prefixBytes, key.length)
        at = putValue(bytes, at, this.value(i++))
      }
    }
    assert(at === bytes.length && at <= PAGE_BYTES_MAX, 'leaf page of another length')
    sealPage(id, bytes, PAGE_LEAF, 0, count)
    return bytes
  }
}

export class BranchContent {
  readonly children: Child[] = []
  readonly #ends: number[] = [0]
  size = 0

  get length(): number {
    return this.children.length
  }

  push(child: Child): void {
    this.children.push(child)
    this.size += childBytes(child)
    this.#ends.push(this.size)
  }

  bytesOf(from: number, to: number): number {
    return this.#ends[to]! - this.#ends[from]!
  }

  append(other: BranchContent): void {
    for (const child of other.children) this.push(child)
  }
}

type Content = LeafContent | BranchContent

/** Cuts content into pages: gives the end of each. */
export function cutIntoPages(content: Content, targetBytes: number, fill: Fill): number[] {
  if (content.size <= targetBytes) return [content.length]
  const cut = cutAt(content, fill === 'full' ? targetBytes : targetBytes * ROOMY)
  if (fill !== 'even' || cut.ends.length === 1) return cut.ends
  // A little more than the share of each, so that the last one is not followed by a sliver.
  return cutAt(content, (cut.bytes / cut.ends.length) * 1.03).ends
}

/**
 * Each page takes as much as `quota` allows, and at least one entry. The size of a page grows with its entries, so a
 * search finds the cut.
 */
function cutAt(content: Content, quota: number): { readonly ends: number[]; readonly bytes: number } {
  const { length } = content
  const ends: number[] = []
  let bytes = 0
  let step = 1
  for (let start = 0; start < length; start = ends.at(-1)!) {
    // `low` entries fit. `high` are too many, or one more than there are.
    let low = start + 1
    let high = Math.min(length + 1, start + step + 1)
    while (high <= length && content.bytesOf(start, high) <= quota) {
      low = high
      high = Math.min(length + 1, high + (high - start))
    }
    const end = firstWhere(low + 1, high, (to) => content.bytesOf(start, to) > quota) - 1
    ends.push(end)
    bytes += content.bytesOf(start, end)
    step = end - start
  }
  return { ends, bytes }
}

/** The shortest key that is greater than `left` and not greater than `right`. */
export function separate(left: string, right: string): string {
  return right.slice(0, sharedPrefixLength(left, right) + 1)
}

function childBytes(child: Child): number {
  const garbage = child.garbage === undefined ? 0 : 8 + child.garbage.numbers.length * 2
  return (
    4 +
    child.separator.length +
    varintBytes(child.id) +
    varintBytes(child.count) +
    varintBytes(child.bytes * 4) +
    garbage +
    (child.reduction === undefined ? 0 : child.reduction.length + 1)
  )
}
