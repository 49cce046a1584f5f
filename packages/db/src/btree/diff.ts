/**
 * What differs between two trees that share pages (versions of one tree): subtrees with the same page are skipped unread, so
 * the cost is that of the difference.
 */
import type { Key, PageId } from '../base/brand.ts'
import { Branch, type Garbage } from './branch.ts'
import { liveEntries } from './garbage.ts'
import { Leaf } from './leaf.ts'
import type { NodeCache, Tree } from './node.ts'
import { resolveValue } from './search.ts'

/** A key whose entry differs; undefined where a tree has none. */
export interface Difference {
  readonly key: Key
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/** A subtree, seen through a window of keys. */
interface Part {
  readonly id: PageId
  readonly garbage: Garbage | undefined
}

/** The differences in key order. Synchronous: a page that is not in memory throws a Miss. */
export function diffTrees(cache: NodeCache, before: Tree, after: Tree): Difference[] {
  const out: Difference[] = []
  diff(cache, part(before), part(after), '', undefined, out)
  return out
}

function part(tree: Tree): Part | undefined {
  return tree === undefined ? undefined : { id: tree.id, garbage: undefined }
}

function diff(
  cache: NodeCache,
  a: Part | undefined,
  b: Part | undefined,
  lower: string,
  upper: string | undefined,
  out: Difference[],
): void {
  if (a?.id === b?.id && sameGarbage(a?.garbage, b?.garbage)) return
  const left = a === undefined ? undefined : cache.get(a.id)
  const right = b === undefined ? undefined : cache.get(b.id)
  const splitLeft = left instanceof Branch && (!(right instanceof Branch) || left.level >= right.level)
  const splitRight = right instanceof Branch && (!(left instanceof Branch) || right.level >= left.level)
  if (!splitLeft && !splitRight) {
    diffLeaves(
      cache,
      left instanceof Leaf ? { leaf: left, ...a! } : undefined,
      right instanceof Leaf ? { leaf: right, ...b! } : undefined,
      lower,
      upper,
      out,
    )
    return
  }
  const bounds = new Set<string>()
  if (splitLeft) boundsInside(left, lower, upper, bounds)
  if (splitRight) boundsInside(right, lower, upper, bounds)
  const sorted = [lower, ...[...bounds].sort()]
  for (let i = 0; i < sorted.length; i++) {
    const from = sorted[i]!
    const childLeft = splitLeft ? left.children[left.search(from)] : a
    const childRight = splitRight ? right.children[right.search(from)] : b
    diff(cache, childLeft, childRight, from, sorted[i + 1] ?? upper, out)
  }
}

function boundsInside(branch: Branch, lower: string, upper: string | undefined, bounds: Set<string>): void {
  for (const { separator } of branch.children) {
    if (separator > lower && (upper === undefined || separator < upper)) bounds.add(separator)
  }
}

interface LeafPart extends Part {
  readonly leaf: Leaf
}

function diffLeaves(
  cache: NodeCache,
  a: LeafPart | undefined,
  b: LeafPart | undefined,
  lower: string,
  upper: string | undefined,
  out: Difference[],
): void {
  const left = entries(a, lower, upper)
  const right = entries(b, lower, upper)
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    const x = left[i]
    const y = right[j]
    const inLeft = x !== undefined && (y === undefined || x.key <= y.key)
    const inRight = y !== undefined && (x === undefined || y.key <= x.key)
    const before = inLeft ? resolveValue(cache, a!.leaf.value(x.index)) : undefined
    const after = inRight ? resolveValue(cache, b!.leaf.value(y.index)) : undefined
    if (before === undefined || after === undefined || !sameBytes(before, after)) {
      out.push({ key: (inLeft ? x : y!).key, before, after })
    }
    if (inLeft) i++
    if (inRight) j++
  }
}

function entries(part: LeafPart | undefined, lower: string, upper: string | undefined): { key: Key; index: number }[] {
  if (part === undefined) return []
  const { leaf } = part
  const live = part.garbage === undefined ? undefined : new Set(liveEntries(leaf, part.garbage))
  const out: { key: Key; index: number }[] = []
  const end = upper === undefined ? leaf.count : leaf.search(upper)
  for (let i = leaf.search(lower); i < end; i++) {
    if (live === undefined || live.has(i)) out.push({ key: leaf.key(i), index: i })
  }
  return out
}

function sameGarbage(a: Garbage | undefined, b: Garbage | undefined): boolean {
  if (a === b) return true
  const left = a?.numbers ?? []
  const right = b?.numbers ?? []
  return left.length === right.length && left.every((number, i) => number === right[i])
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
