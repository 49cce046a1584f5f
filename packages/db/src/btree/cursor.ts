/**
 * Walks a tree in key order, in both directions.
 *
 * Guarantees: a `next()` that throws a Miss has not moved the cursor. Once it has moved, neither key nor value can
 * miss.
 *
 * A walk that misses also asks for the leaves (or overflow values) after it: first for as many entries as its caller
 * expects, then for more each time. So a long scan reads large batches, and a short one does not.
 */
import type { Key, PageId } from '../base/brand.ts'
import { Miss } from '../base/miss.ts'
import { type Branch, liveEntries, liveLowerBound } from './branch.ts'
import { isOverflow, overflowPageCount, type Leaf } from './leaf.ts'
import { branchAt, leafAt, type NodeCache, type Tree } from './node.ts'
import { resolveValue } from './search.ts'

/** Leaves, or values of one leaf, asked for ahead of a scan, at the most. */
const READ_AHEAD_MAX = 64
/** The overflowing values, except the last one. */
const VALUES_AHEAD_BYTES_MAX: number = 1024 * 1024

/** The way from the root to a leaf: a branch and the index of the child taken, per level, top first. */
interface Step {
  readonly branch: Branch
  readonly index: number
}

interface CursorPosition {
  readonly path: readonly Step[]
  readonly leaf: Leaf
  readonly live: Uint16Array | undefined
  /** Values may stand in overflow pages. */
  readonly overflow: boolean
}

export class TreeCursor {
  readonly #cache: NodeCache
  readonly #tree: Tree
  readonly #lower: string | undefined
  readonly #upper: string | undefined
  readonly #reverse: boolean
  #place: CursorPosition | undefined
  /** Position among the live entries of the leaf, and the bounds of those in the range. */
  #at = 0
  #from = 0
  #to = 0
  #entry = 0
  /** The value at the cursor, if it stands in overflow pages. */
  #overflowing: Uint8Array | undefined
  #done: boolean
  #readAhead = 1
  /** Entries that will be looked at, as far as they stand in leaves that were not asked for. */
  #expected: number

  /** The entries with `lower <= key < upper`. */
  constructor(
    cache: NodeCache,
    tree: Tree,
    lower: Key | undefined,
    upper: Key | undefined,
    reverse: boolean,
    expected = 0,
  ) {
    this.#cache = cache
    this.#tree = tree
    this.#lower = lower
    this.#upper = upper
    this.#reverse = reverse
    this.#expected = expected
    this.#done = tree === undefined || (lower !== undefined && upper !== undefined && lower >= upper)
  }

  next(): boolean {
    if (this.#place !== undefined) {
      if (this.#reverse ? this.#at > this.#from : this.#at + 1 < this.#to) {
        this.#moveTo(this.#place, this.#at + (this.#reverse ? -1 : 1), this.#from, this.#to)
        return true
      }
    }
    return this.#done ? false : this.#nextLeaf()
  }

  get key(): Key {
    return this.#place!.leaf.key(this.#entry)
  }

  get keyNumber(): number {
    return this.#place!.leaf.keyNumber(this.#entry)
  }

  /** The sign of (key at the cursor - key), without making the key. */
  compareKey(key: string): number {
    return this.#place!.leaf.compare(this.#entry, key)
  }

  get value(): Uint8Array {
    return this.#overflowing ?? resolveValue(this.#cache, this.#place!.leaf.value(this.#entry))
  }

  /** Moves only if the value there does not miss. */
  #moveTo(place: CursorPosition, at: number, from: number, to: number): void {
    const entry = entryAt(place, at)
    this.#overflowing = place.overflow ? this.#overflowingValue(place, at, from, to) : undefined
    this.#place = place
    this.#at = at
    this.#from = from
    this.#to = to
    this.#entry = entry
  }

  #overflowingValue(place: CursorPosition, at: number, from: number, to: number): Uint8Array | undefined {
    const value = place.leaf.value(entryAt(place, at))
    if (!isOverflow(value)) return undefined
    try {
      return resolveValue(this.#cache, value)
    } catch (thrown) {
      if (thrown instanceof Miss) this.#noteValuesAhead(place, at, this.#reverse ? from : to - 1)
      throw thrown
    }
  }

  #nextLeaf(): boolean {
    let place = this.#place
    for (;;) {
      const found: CursorPosition | undefined = place === undefined ? this.#first() : this.#sibling(place.path)
      if (found === undefined) {
        this.#done = true
        return false
      }
      place = found
      const { leaf, live } = found
      const count = live?.length ?? leaf.count
      const from = this.#lower === undefined ? 0 : liveLowerBound(leaf, live, this.#lower)
      const to = this.#upper === undefined ? count : liveLowerBound(leaf, live, this.#upper)
      if (from < to) {
        this.#moveTo(found, this.#reverse ? to - 1 : from, from, to)
        return true
      }
    }
  }

  #first(): CursorPosition {
    const key = this.#reverse ? this.#upper : this.#lower
    return this.#descend([], (branch) => {
      if (key === undefined) return this.#reverse ? branch.children.length - 1 : 0
      return branch.search(key)
    })
  }

  /** The place after (before) the last one in the walk; undefined when the range or the tree ends. */
  #sibling(path: readonly Step[]): CursorPosition | undefined {
    for (let depth = path.length - 1; depth >= 0; depth--) {
      const { branch } = path[depth]!
      const index = path[depth]!.index + (this.#reverse ? -1 : 1)
      if (index < 0 || index >= branch.children.length) continue
      if (!this.#inRange(branch, index)) return undefined
      const steps = [...path.slice(0, depth), { branch, index }]
      return this.#descend(steps, (below) => (this.#reverse ? below.children.length - 1 : 0))
    }
    return undefined
  }

  /** Whether a child can hold keys of the range, for a cursor that comes from inside the range. */
  #inRange(branch: Branch, index: number): boolean {
    if (!this.#reverse) return this.#upper === undefined || branch.children[index]!.separator < this.#upper
    // Everything in this child is lower than the separator of the one after it.
    return this.#lower === undefined || branch.children[index + 1]!.separator > this.#lower
  }

  #descend(steps: Step[], choose: (branch: Branch) => number): CursorPosition {
    const tree = this.#tree!
    const path = [...steps]
    for (;;) {
      const last = path.at(-1)
      const child = last?.branch.children[last.index]
      const id = child?.id ?? tree.id
      if (path.length === tree.height - 1) {
        const leaf = this.#leaf(id, last)
        return { path, leaf, live: liveEntries(leaf, child?.garbage), overflow: (child ?? tree).overflow }
      }
      const branch = branchAt(this.#cache, id)
      path.push({ branch, index: choose(branch) })
    }
  }

  #leaf(id: Leaf['id'], step: Step | undefined): Leaf {
    try {
      return leafAt(this.#cache, id)
    } catch (thrown) {
      if (thrown instanceof Miss && step !== undefined) this.#noteAhead(step)
      throw thrown
    }
  }

  #noteAhead({ branch, index }: Step): void {
    const direction = this.#reverse ? -1 : 1
    this.#expected -= branch.children[index]!.count
    for (let i = 1; i < this.#readAhead || (this.#expected > 0 && i < READ_AHEAD_MAX); i++) {
      const ahead = index + i * direction
      if (ahead < 0 || ahead >= branch.children.length || !this.#inRange(branch, ahead)) break
      this.#cache.note(branch.children[ahead]!.id)
      this.#expected -= branch.children[ahead]!.count
    }
    this.#readAhead = Math.min(this.#readAhead * 4, READ_AHEAD_MAX)
  }

  #noteValuesAhead(place: CursorPosition, at: number, last: number): void {
    const direction = this.#reverse ? -1 : 1
    let bytes = 0
    for (let i = 1; i < this.#readAhead && at !== last && bytes < VALUES_AHEAD_BYTES_MAX; i++) {
      at += direction
      const value = place.leaf.value(entryAt(place, at))
      if (!isOverflow(value)) continue
      bytes += value.length
      for (let page = 0; page < overflowPageCount(value.length); page++)
        this.#cache.note((value.first + page) as PageId)
    }
    this.#readAhead = Math.min(this.#readAhead * 4, READ_AHEAD_MAX)
  }
}

function entryAt({ live }: CursorPosition, at: number): number {
  return live === undefined ? at : live[at]!
}
