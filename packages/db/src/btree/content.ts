/** The content of pages under construction: the entries of leaves, or the children of branches, not yet cut into pages. */
import type { Key } from '../base/brand.ts'
import { sharedPrefixLength, varintBytes } from '../codec/bytes.ts'
import { type LeafValue, leafEntryBytes } from './leaf.ts'
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

export class LeafContent {
  readonly keys: Key[]
  readonly values: LeafValue[]
  /** `ends[i]`: bytes of the first `i` entries, as long as keys share no prefix. */
  readonly ends: number[] = [0]
  size = 0

  /** Call `measure` for each given entry. */
  constructor(keys: Key[] = [], values: LeafValue[] = []) {
    this.keys = keys
    this.values = values
  }

  get length(): number {
    return this.ends.length - 1
  }

  push(key: Key, value: LeafValue): void {
    this.keys.push(key)
    this.values.push(value)
    this.measure(key, value)
  }

  measure(key: Key, value: LeafValue): void {
    this.size += leafEntryBytes(key, value)
    this.ends.push(this.size)
  }

  /** The bytes of a page of these entries: keys lose the prefix that all of their page share. */
  bytesOf(from: number, to: number): number {
    const shared = sharedPrefixLength(this.keys[from]!, this.keys[to - 1]!)
    return this.ends[to]! - this.ends[from]! - shared * (to - from)
  }

  append(other: LeafContent): void {
    for (let i = 0; i < other.length; i++) this.push(other.keys[i]!, other.values[i]!)
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
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (content.bytesOf(start, middle) <= quota) low = middle
      else high = middle
    }
    ends.push(low)
    bytes += content.bytesOf(start, low)
    step = low - start
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
