/**
 * Reduces a range of a tree. Whole subtrees count by their stored or remembered reduction. Entries are read only where
 * the range cuts a page or the overlay changes it.
 *
 * Reductions are remembered by page. Pages never change and ids are never reused, so they are never stale.
 */
import type { Key, PageId } from '../base/brand.ts'
import { assert } from '../base/errors.ts'
import { LruMap } from '../base/lru-map.ts'
import { Miss } from '../base/miss.ts'
import type { Child } from '../btree/branch.ts'
import type { Leaf } from '../btree/leaf.ts'
import { branchAt, leafAt, type NodeCache } from '../btree/node.ts'
import type { ReducedEntries, Reducer, StoredReducer } from '../btree/reducer.ts'
import { resolveValue } from '../btree/search.ts'
import type { Cursor, KeyRange } from './key-value-store.ts'
import { OverlayCursor } from './overlay.ts'
import type { TreeState } from './state.ts'

/** Pages whose reduction is remembered, for each reducer. */
const REMEMBERED_PAGES_MAX = 16_384
/** Pages asked for at once. */
const MISSES_MAX = 64

type Remembered = LruMap<PageId, unknown>

const rememberedBy = new WeakMap<NodeCache, WeakMap<Reducer<unknown>, Remembered>>()

export function reduceRange<Result>(
  cache: NodeCache,
  state: TreeState,
  range: KeyRange,
  reducer: Reducer<Result>,
  walk: (range: KeyRange) => Cursor,
): Result | undefined {
  assert(state.kind !== 'sequence', 'sequence trees are not reduced')
  return new RangeReduction(cache, state, range, reducer, walk).result()
}

class RangeReduction<Result> {
  readonly #cache: NodeCache
  readonly #state: TreeState
  readonly #gte: string
  readonly #lt: string | undefined
  readonly #reducer: Reducer<Result>
  readonly #walk: (range: KeyRange) => Cursor
  readonly #parts: Result[] = []
  #misses = 0

  constructor(
    cache: NodeCache,
    state: TreeState,
    range: KeyRange,
    reducer: Reducer<Result>,
    walk: (range: KeyRange) => Cursor,
  ) {
    this.#cache = cache
    this.#state = state
    this.#gte = range.gte ?? ''
    this.#lt = range.lt
    this.#reducer = reducer
    this.#walk = walk
  }

  result(): Result | undefined {
    const { tree } = this.#state
    const parts = this.#parts
    if (this.#lt !== undefined && this.#gte >= this.#lt) return undefined
    if (tree === undefined) this.#addEntries('', undefined)
    else {
      const root = { ...tree, separator: '', garbage: undefined, reduction: undefined }
      this.#add(root, tree.height - 1, '', undefined)
    }
    return parts.length < 2 ? parts[0] : this.#reducer.combine(parts)
  }

  /** Adds what is below a child, whose keys are `lower <= key < upper`. */
  #add(child: Child, level: number, lower: string, upper: string | undefined): void {
    const whole = this.#gte <= lower && (this.#lt === undefined || (upper !== undefined && upper <= this.#lt))
    if (whole && !this.#isTouched(lower, upper)) {
      this.#parts.push(this.#whole(child, level))
      return
    }
    if (level === 0) {
      if (this.#isTouched(lower, upper)) this.#addEntries(lower, upper)
      else this.#addPartOfLeaf(leafAt(this.#cache, child.id))
      return
    }
    const branch = branchAt(this.#cache, child.id)
    const { children } = branch
    const from = this.#gte <= lower ? 0 : branch.search(this.#gte)
    const to = this.#lt === undefined ? children.length - 1 : branch.search(this.#lt)
    this.#each(from, to, (index) => {
      const below = children[index]!
      this.#add(below, level - 1, index === 0 ? lower : below.separator, children[index + 1]?.separator ?? upper)
    })
  }

  #isTouched(lower: string, upper: string | undefined): boolean {
    const { overlay } = this.#state
    if (overlay.root === undefined) return false
    return new OverlayCursor(overlay, lower as Key, upper as Key | undefined, false).next()
  }

  /** Adds a part of a leaf that the overlay does not touch. */
  #addPartOfLeaf(leaf: Leaf): void {
    const from = leaf.search(this.#gte)
    const to = this.#lt === undefined ? leaf.count : leaf.search(this.#lt)
    if (from < to) this.#parts.push(this.#reducedLeaf(leaf, from, to))
  }

  /** Adds the entries that the overlay touches. */
  #addEntries(lower: string, upper: string | undefined): void {
    const gte = (lower > this.#gte ? lower : this.#gte) as Key
    const lt = (this.#lt === undefined || (upper !== undefined && upper < this.#lt) ? upper : this.#lt) as Key
    const cursor = this.#walk({ gte, lt })
    const keys: Key[] = []
    const values: Uint8Array[] = []
    while (cursor.next()) {
      keys.push(cursor.key)
      values.push(cursor.value)
    }
    if (keys.length === 0) return
    this.#parts.push(
      this.#reduced({ count: keys.length, key: (index) => keys[index]!, value: (index) => values[index]! }),
    )
  }

  /** The result of everything below a child that the overlay does not touch. */
  #whole(child: Child, level: number): Result {
    const reducer = this.#reducer
    if (child.reduction !== undefined && isStored(reducer) && reducer.id === this.#state.reducer)
      return reducer.decode(child.reduction)
    const remembered = this.#remembered()
    const known = remembered.get(child.id)
    if (known !== undefined) return known as Result
    const result = level === 0 ? this.#wholeLeaf(child) : this.#wholeBranch(child, level)
    remembered.set(child.id, result)
    return result
  }

  #wholeLeaf(child: Child): Result {
    const leaf = leafAt(this.#cache, child.id)
    return this.#reducedLeaf(leaf, 0, leaf.count)
  }

  #reducedLeaf(leaf: Leaf, from: number, to: number): Result {
    return this.#reduced({
      count: to - from,
      key: (index) => leaf.key(from + index),
      value: (index) => resolveValue(this.#cache, leaf.value(from + index)),
      read: (index, read) => leaf.read(from + index, read),
    })
  }

  #wholeBranch(child: Child, level: number): Result {
    const { children } = branchAt(this.#cache, child.id)
    const parts: Result[] = []
    this.#each(0, children.length - 1, (index) => parts.push(this.#whole(children[index]!, level - 1)))
    return parts.length === 1 ? parts[0]! : this.#reducer.combine(parts)
  }

  /** Continues after a miss, so that the pages which others miss are fetched with it. */
  #each(from: number, to: number, visit: (index: number) => void): void {
    let missed: Miss | undefined
    for (let index = from; index <= to && this.#misses < MISSES_MAX; index++) {
      try {
        visit(index)
      } catch (thrown) {
        if (!(thrown instanceof Miss)) throw thrown
        missed = thrown
        this.#misses++
      }
    }
    if (missed !== undefined) throw missed
  }

  #reduced(entries: ReducedEntries): Result {
    const result = this.#reducer.reduce(entries)
    assert(result !== undefined, 'every value is at hand')
    return result
  }

  #remembered(): Remembered {
    let byReducer = rememberedBy.get(this.#cache)
    if (byReducer === undefined) rememberedBy.set(this.#cache, (byReducer = new WeakMap()))
    let remembered = byReducer.get(this.#reducer)
    if (remembered === undefined) byReducer.set(this.#reducer, (remembered = new LruMap(REMEMBERED_PAGES_MAX)))
    return remembered
  }
}

function isStored<Result>(reducer: Reducer<Result>): reducer is StoredReducer<Result> {
  return 'id' in reducer
}
