/**
 * The content of pages under construction: the entries of leaves, or the children of branches, not yet cut into pages.
 */
import type { Key } from '../base/brand.ts'
import { varintBytes } from '../codec/bytes.ts'
import { sharedPrefix, leafEntryBytes, type LeafValue } from './leaf.ts'
import type { Child } from './branch.ts'

export type SizeClass = 'ordered' | 'sequence'

/** What a page is filled to. Bodies are read one at a time or all in a row: larger pages; the rest: EVIDENCE in docs/performance.md. */
export const LEAF_BYTES_TARGET: Readonly<Record<SizeClass, number>> = { ordered: 16 * 1024, sequence: 30 * 1024 }
export const BRANCH_BYTES_TARGET: number = 16 * 1024

/** Larger values stand in overflow pages. */
export const INLINE_VALUE_BYTES_MAX: Readonly<Record<SizeClass, number>> = { ordered: 2 * 1024, sequence: 8 * 1024 }

/**
 * How content is cut into pages. 'full': one page after another is filled, for what only grows at the end. 'roomy': likewise,
 * with some room left for entries in between. 'even': spread over the pages, so that a page that grew a little does not
 * leave a sliver behind.
 */
export type Fill = 'full' | 'roomy' | 'even'

/** How full pages are made that will take more entries in between. */
const ROOMY = 0.9

/** Pages emptier than this share of the target are joined with a neighbour. */
export const UNDERFULL = 0.25

export class LeafContent {
  readonly keys: Key[] = []
  readonly values: LeafValue[] = []
  /** Of each entry, as long as its key shares no prefix. */
  readonly sizes: number[] = []
  size = 0

  get length(): number {
    return this.keys.length
  }

  push(key: Key, value: LeafValue): void {
    this.keys.push(key)
    this.values.push(value)
    const size = leafEntryBytes(key, value)
    this.sizes.push(size)
    this.size += size
  }

  sizeAt(index: number): number {
    return this.sizes[index]!
  }

  append(other: LeafContent): void {
    for (let i = 0; i < other.length; i++) this.push(other.keys[i]!, other.values[i]!)
  }
}

export class BranchContent {
  readonly children: Child[] = []
  size = 0

  get length(): number {
    return this.children.length
  }

  push(child: Child): void {
    this.children.push(child)
    this.size += childBytes(child)
  }

  sizeAt(index: number): number {
    return childBytes(this.children[index]!)
  }

  append(other: BranchContent): void {
    for (const child of other.children) this.push(child)
  }
}

export type Content = LeafContent | BranchContent

/** Cuts content into pages: gives the end of each. */
export function cutIntoPages(content: Content, targetBytes: number, fill: Fill): number[] {
  const { length } = content
  if (content.size <= targetBytes) return [length]
  const roomy = targetBytes * ROOMY
  const even = fill === 'even'
  const quota = fill === 'full' ? targetBytes : even ? content.size / Math.ceil(content.size / roomy) : roomy
  const ends: number[] = []
  let filled = 0
  for (let i = 0; i < length; i++) {
    const size = content.sizeAt(i)
    if (filled > 0 && filled + (even ? size / 2 : size) > quota) {
      ends.push(i)
      filled = 0
    }
    filled += size
  }
  ends.push(length)
  return ends
}

/** The shortest key that is greater than `left` and not greater than `right`. */
export function separate(left: string, right: string): string {
  return right.slice(0, sharedPrefix(left, right) + 1)
}

function childBytes(child: Child): number {
  const garbage = child.garbage === undefined ? 0 : 8 + child.garbage.numbers.length * 2
  return 4 + child.separator.length + varintBytes(child.id) + varintBytes(child.count) + varintBytes(child.bytes * 4) + garbage
}
