/**
 * The content of pages under construction: the entries of leaves, or the children of branches, not yet cut into pages.
 */
import type { Key } from '../base/brand.ts'
import { sharedPrefixLength, varintBytes } from '../codec/bytes.ts'
import { type LeafValue } from './leaf.ts'
import { leafEntryBytes } from './build-leaf.ts'
import type { Child } from './branch.ts'

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
  if (content.size <= targetBytes) return [content.length]
  const cut = cutAt(content, fill === 'full' ? targetBytes : targetBytes * ROOMY)
  if (fill !== 'even' || cut.ends.length === 1) return cut.ends
  // A little more than the share of each, so that the last one is not followed by a sliver.
  return cutAt(content, (cut.bytes / cut.ends.length) * 1.03).ends
}

/** Starts a page whenever the one before would exceed `quota`. Keys lose the prefix that all of their page share. */
function cutAt(content: Content, quota: number): { readonly ends: number[]; readonly bytes: number } {
  const keys = content instanceof LeafContent ? content.keys : undefined
  const ends: number[] = []
  let bytes = 0
  let start = 0
  let plain = 0
  let filled = 0
  let prefix = 0
  for (let i = 0; i < content.length; i++) {
    const size = content.sizeAt(i)
    const shared =
      keys === undefined ? 0 : i === start ? keys[i]!.length : sharedPrefixLength(keys[start]!, keys[i]!, prefix)
    const next = plain + size - shared * (i + 1 - start)
    if (i > start && next > quota) {
      ends.push(i)
      bytes += filled
      start = i
      plain = 0
      prefix = keys?.[i]!.length ?? 0
    } else {
      prefix = shared
    }
    plain += size
    filled = plain - prefix * (i + 1 - start)
  }
  ends.push(content.length)
  return { ends, bytes: bytes + filled }
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
