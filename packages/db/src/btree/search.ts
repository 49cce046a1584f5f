/**
 * Point reads of a tree: by key, by rank, and the rank of a key. Each reads one page a level. Synchronous; a page that
 * is not in memory throws a Miss.
 */
import { firstWhere } from '../base/binary-search.ts'
import type { Key, PageId } from '../base/brand.ts'
import { Miss, together } from '../base/miss.ts'
import { asArray, corruptBytes } from '../codec/bytes.ts'
import { keyNumber } from '../codec/key-encoding.ts'
import { type Garbage, garbageBefore, isGarbage } from './branch.ts'
import {
  isOverflow,
  overflowPageCount,
  OverflowPage,
  type Leaf,
  type LeafValue,
  type OverflowReference,
} from './leaf.ts'
import { branchAt, leafAt, type NodeCache, type Root, type Tree } from './node.ts'

/** The leaf in whose span a key falls, and how many entries stand before that leaf. */
interface LeafPosition {
  readonly leaf: Leaf
  readonly garbage: Garbage | undefined
  readonly before: number
  /** Lower bound of the leaf's span. */
  readonly separator: string
  /** The upper bound of the range; undefined: none. */
  readonly end: string | undefined
}

/** The value under the key. */
export function get(cache: NodeCache, tree: Tree, key: Key): Uint8Array | undefined {
  const value = locate(cache, tree, key)
  return value === undefined ? undefined : resolveValue(cache, value)
}

/** The value as the leaf has it: its pages are not read yet. */
function locate(cache: NodeCache, tree: Tree, key: Key): Uint8Array | OverflowReference | undefined {
  if (tree === undefined) return undefined
  let id = tree.id
  let garbage: Garbage | undefined
  for (let level = tree.height; level > 1; level--) {
    const branch = branchAt(cache, id)
    const child = branch.children[branch.search(key)]!
    id = child.id
    garbage = child.garbage
  }
  if (isGarbage(garbage, key)) return undefined
  const leaf = leafAt(cache, id)
  const index = leaf.find(key)
  return index < 0 ? undefined : leaf.value(index)
}

/** The values under the keys, those in overflow pages not read. Misses of all of them are fetched together. */
export function locateMany(cache: NodeCache, tree: Tree, keys: readonly Key[]): (LeafValue | undefined)[] {
  return together(keys, (key) => locate(cache, tree, key))
}

/** The first of the values: as many as have at most `bytesMax` bytes together, and one at least. No page of the others is read. */
export function resolveSome(
  cache: NodeCache,
  values: readonly (LeafValue | undefined)[],
  bytesMax: number,
): (Uint8Array | undefined)[] {
  let end = 0
  for (let bytes = 0; end < values.length; end++) {
    bytes += values[end]?.length ?? 0
    if (end > 0 && bytes > bytesMax) break
  }
  return together(values.slice(0, end), (value) => {
    if (value === undefined) return undefined
    return typeof value === 'string' ? asArray(value) : resolveValue(cache, value)
  })
}

/** How many entries have a lower key. */
export function rank(cache: NodeCache, tree: Tree, key: Key): number {
  if (tree === undefined) return 0
  const { leaf, garbage, before } = descend(cache, tree, key)
  const index = leaf.search(key)
  return before + index - (garbage === undefined ? 0 : garbageBefore(garbage, keyNumber(key)))
}

/** How many entries are in the range. Most ranges end in the leaf where they begin, and soon. */
export function countBetween(cache: NodeCache, tree: Tree, gte: Key, lt: Key): number {
  if (tree === undefined) return 0
  let start: LeafPosition
  try {
    start = descend(cache, tree, gte)
  } catch (thrown) {
    // The pages of both ends are fetched together. A page that is lost is reported once, and would then be asked for again.
    if (thrown instanceof Miss) descend(cache, tree, lt)
    throw thrown
  }
  const { leaf, garbage, before, end } = start
  const from = leaf.search(gte)
  const garbageTo = (key: Key): number => (garbage === undefined ? 0 : garbageBefore(garbage, keyNumber(key)))
  if (end !== undefined && lt > end) return rank(cache, tree, lt) - (before + from - garbageTo(gte))
  return leaf.search(lt, from) - from - garbageTo(lt) + garbageTo(gte)
}

/** The leaf in whose span the key falls. */
function descend(cache: NodeCache, tree: Root, key: string): LeafPosition {
  return walkDown(cache, tree, (children) => children.search(key))
}

/**
 * The leaf that holds the entry of that rank. `shift(separator)` is the number of entries before each separator that
 * the tree does not know (those of an overlay above it).
 */
export function descendToRank(
  cache: NodeCache,
  tree: Root,
  rank: number,
  shift: (separator: string) => number,
): LeafPosition {
  return walkDown(cache, tree, (branch, before) => {
    const rankOf = (index: number): number => before + branch.before(index) + shift(branch.children[index]!.separator)
    return firstWhere(1, branch.children.length, (index) => rankOf(index) > rank) - 1
  })
}

function walkDown(
  cache: NodeCache,
  tree: Root,
  choose: (branch: ReturnType<typeof branchAt>, before: number) => number,
): LeafPosition {
  let id = tree.id
  let before = 0
  let separator = ''
  let end: string | undefined
  let garbage: Garbage | undefined
  for (let level = tree.height; level > 1; level--) {
    const branch = branchAt(cache, id)
    const index = choose(branch, before)
    const child = branch.children[index]!
    before += branch.before(index)
    if (index > 0) separator = child.separator
    end = branch.children[index + 1]?.separator ?? end
    id = child.id
    garbage = child.garbage
  }
  return { leaf: leafAt(cache, id), garbage, before, separator, end }
}

/** The bytes of a value, put together from its overflow pages where it has some. */
export function resolveValue(cache: NodeCache, value: Uint8Array | OverflowReference): Uint8Array {
  return isOverflow(value) ? readOverflow(cache, value) : value
}

function readOverflow(cache: NodeCache, reference: OverflowReference): Uint8Array {
  const pages = overflowPageCount(reference.length)
  for (let i = 0; i < pages; i++) cache.note((reference.first + i) as PageId)
  cache.throwIfNoted()
  const bytes = new Uint8Array(reference.length)
  let at = 0
  for (let i = 0; i < pages; i++) {
    const page = cache.get((reference.first + i) as PageId)
    if (!(page instanceof OverflowPage) || at + page.payload.length > bytes.length) {
      throw corruptBytes(`the overflow page ${reference.first + i} does not fit`)
    }
    bytes.set(page.payload, at)
    at += page.payload.length
  }
  return bytes
}
