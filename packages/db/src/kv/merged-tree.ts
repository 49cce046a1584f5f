/** Reads of one tree: its pages with the overlay of recent changes over them. */
import { firstWhere } from '../base/binary-search.ts'
import type { Key } from '../base/brand.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { together } from '../base/miss.ts'
import { asArray } from '../codec/bytes.ts'
import { keyNumber } from '../codec/key-encoding.ts'
import type { Reducer } from '../btree/reducer.ts'
import { TreeCursor } from '../btree/cursor.ts'
import { liveEntries } from '../btree/branch.ts'
import type { NodeCache } from '../btree/node.ts'
import { countBetween, descendToRank, get, locateMany, rank, resolveSome } from '../btree/search.ts'
import type { Cursor, CursorOptions, Entry, KeyRange, TreeReader } from './key-value-store.ts'
import type * as ReduceRange from './reduce-range.ts'
import {
  OverlayCursor,
  overlayDelta,
  overlayDeltaBefore,
  overlayDeltaBetween,
  overlayGet,
  type Change,
} from './overlay.ts'
import type { TreeState } from './state.ts'

/** Only views and aggregates reduce, so it is loaded like a page: when it is missed, or by those who know that they will. */
export const reducing: () => typeof ReduceRange = lazyModule(() => import('./reduce-range.ts'))

/** A tree whose newest state may change between calls (inside a write transaction). */
export abstract class MergedTree implements TreeReader {
  protected readonly cache: NodeCache

  constructor(cache: NodeCache) {
    this.cache = cache
  }

  protected abstract get state(): TreeState

  get(key: Key): Uint8Array | undefined {
    const { overlay, tree } = this.state
    const change = overlayGet(overlay, key)
    if (change !== undefined) return valueOf(change)
    return get(this.cache, tree, key)
  }

  getSome(keys: readonly Key[], bytesMax: number): (Uint8Array | undefined)[] {
    const { overlay, tree } = this.state
    const changes = keys.map((key) => overlayGet(overlay, key))
    const below = locateMany(
      this.cache,
      tree,
      keys.filter((_key, at) => changes[at] === undefined),
    )
    let next = 0
    const found = changes.map((change) => (change === undefined ? below[next++] : valueOf(change)))
    return resolveSome(this.cache, found, bytesMax)
  }

  getMany(keys: readonly Key[]): (Uint8Array | undefined)[] {
    const { overlay, tree } = this.state
    return together(keys, (key) => {
      const change = overlayGet(overlay, key)
      return change === undefined ? get(this.cache, tree, key) : valueOf(change)
    })
  }

  count({ gte, lt }: KeyRange = {}): number {
    const { overlay, tree } = this.state
    if (gte === undefined) return lt === undefined ? (tree?.count ?? 0) + overlayDelta(overlay) : this.rank(lt)
    if (lt === undefined) return this.count() - this.rank(gte)
    if (gte >= lt) return 0
    return countBetween(this.cache, tree, gte, lt) + overlayDeltaBetween(overlay, gte, lt)
  }

  rank(key: Key): number {
    const { overlay, tree } = this.state
    return rank(this.cache, tree, key) + overlayDeltaBefore(overlay, key)
  }

  select(index: number): Entry | undefined {
    if (index < 0 || index >= this.count()) return undefined
    const cursor = new MergedCursor(this.cache, this.state, { gte: this.#keyAt(index) }, false)
    return cursor.next() ? { key: cursor.key, value: cursor.value } : undefined
  }

  get lastNumber(): number {
    return this.state.nextNumber - 1
  }

  get storedBytes(): number {
    return this.state.tree?.bytes ?? 0
  }

  prefetch(): void {
    const { tree } = this.state
    if (tree !== undefined) this.cache.note(tree.id)
  }

  cursor(range: KeyRange = {}, options: CursorOptions = {}): Cursor {
    const { reverse = false, skip = 0, expected = 0 } = options
    const { state, cache } = this
    if (skip === 0) return new MergedCursor(cache, state, range, reverse, expected)
    return new SkippingCursor(() => {
      const left = this.#skipped(range, reverse, skip)
      return left === undefined ? undefined : new MergedCursor(cache, state, left, reverse, expected)
    })
  }

  reduce<Result>(range: KeyRange, reducer: Reducer<Result>): Result | undefined {
    return reducing().reduceRange(this.cache, this.state, range, reducer, (part) => this.cursor(part))
  }

  #start(range: KeyRange): number {
    return range.gte === undefined ? 0 : this.rank(range.gte)
  }

  #end(range: KeyRange): number {
    return range.lt === undefined ? this.count() : this.rank(range.lt)
  }

  /** The rest of the range without its first entries; undefined if it is empty. */
  #skipped(range: KeyRange, reverse: boolean, skip: number): KeyRange | undefined {
    const start = this.#start(range)
    const end = this.#end(range)
    if (start + skip >= end) return undefined
    if (!reverse) return { gte: this.#keyAt(start + skip), lt: range.lt }
    return { gte: range.gte, lt: `${this.#keyAt(end - 1 - skip)}\0` as Key }
  }

  /** The key with exactly `index` entries before it; there are more than that. */
  #keyAt(index: number): Key {
    const { overlay, tree } = this.state
    if (tree === undefined) return this.#walk(undefined, index)
    const shift = (separator: string): number => overlayDeltaBefore(overlay, separator)
    const { leaf, garbage, before, separator } = descendToRank(this.cache, tree, index, shift)
    if (overlay.root === undefined) {
      const live = liveEntries(leaf, garbage)
      return leaf.key(live === undefined ? index - before : live[index - before]!)
    }
    // The last entry of the leaf that has no more than that many before it; what follows it is only in the overlay.
    const live = liveEntries(leaf, garbage)
    const keyOf = (at: number): Key => leaf.key(live === undefined ? at : live[at]!)
    const rankOf = (at: number): number => before + at + shift(keyOf(at))
    const next = firstWhere(0, live?.length ?? leaf.count, (at) => rankOf(at) > index)
    if (next === 0) return this.#walk(separator as Key, index - before - shift(separator))
    return this.#walk(keyOf(next - 1), index - rankOf(next - 1))
  }

  #walk(from: Key | undefined, steps: number): Key {
    const cursor = new MergedCursor(this.cache, this.state, { gte: from }, false)
    for (let i = 0; i <= steps; i++) cursor.next()
    return cursor.key
  }
}

function valueOf(change: Change): Uint8Array | undefined {
  return typeof change === 'number' ? undefined : asArray(change)
}

/** A tree as of a snapshot. */
export class SnapshotTree extends MergedTree {
  protected override readonly state: TreeState

  constructor(cache: NodeCache, state: TreeState) {
    super(cache)
    this.state = state
  }
}

/** Walks pages and overlay side by side. A change hides the entry of the pages that has the same key. */
class MergedCursor implements Cursor {
  readonly #pages: TreeCursor
  readonly #changes: OverlayCursor
  readonly #reverse: boolean
  /** Where each side stands: at an entry not given yet, past its end, or at one to be left behind. */
  #pagesAt: Position = 'behind'
  #changesAt: Position = 'behind'
  #fromPages = false

  constructor(cache: NodeCache, state: TreeState, range: KeyRange, reverse: boolean, expected = 0) {
    this.#pages = new TreeCursor(cache, state.tree, range.gte, range.lt, reverse, expected)
    this.#changes = new OverlayCursor(state.overlay, range.gte, range.lt, reverse)
    this.#reverse = reverse
  }

  next(): boolean {
    for (;;) {
      // The pages first: only they can miss, and then nothing has moved.
      if (this.#pagesAt === 'behind') this.#pagesAt = this.#pages.next() ? 'entry' : 'end'
      if (this.#changesAt === 'behind') this.#changesAt = this.#changes.next() ? 'entry' : 'end'
      const order = this.#order()
      if (order === undefined) return false
      if (order <= 0) this.#pagesAt = 'behind'
      if (order >= 0) this.#changesAt = 'behind'
      this.#fromPages = order < 0
      if (this.#fromPages || typeof this.#changes.change !== 'number') return true
    }
  }

  get key(): Key {
    return this.#fromPages ? this.#pages.key : this.#changes.key
  }

  get keyNumber(): number {
    return this.#fromPages ? this.#pages.keyNumber : keyNumber(this.#changes.key)
  }

  get value(): Uint8Array {
    return this.#fromPages ? this.#pages.value : valueOf(this.#changes.change)!
  }

  /** Which side comes next: negative the pages, positive the changes, 0 both at once; undefined: neither. */
  #order(): number | undefined {
    if (this.#changesAt === 'end') return this.#pagesAt === 'end' ? undefined : -1
    if (this.#pagesAt === 'end') return 1
    const order = this.#pages.compareKey(this.#changes.key)
    return this.#reverse ? -order : order
  }
}

type Position = 'entry' | 'end' | 'behind'

/** Finds its start when it is first moved, because that may miss. */
class SkippingCursor implements Cursor {
  readonly #start: () => MergedCursor | undefined
  #cursor: MergedCursor | undefined
  #started = false

  constructor(start: () => MergedCursor | undefined) {
    this.#start = start
  }

  next(): boolean {
    if (!this.#started) {
      this.#cursor = this.#start()
      this.#started = true
    }
    return this.#cursor?.next() ?? false
  }

  get key(): Key {
    return this.#cursor!.key
  }

  get keyNumber(): number {
    return this.#cursor!.keyNumber
  }

  get value(): Uint8Array {
    return this.#cursor!.value
  }
}
