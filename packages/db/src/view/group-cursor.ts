/**
 * The groups of a reduced view, one after another: rows with the same key, or with the same first elements of their
 * keys.
 *
 * A group with few rows is reduced from the rows that the cursor walks to find the group's end. The end of a larger
 * group is found by rank, and the group is reduced from stored reductions. So a group costs O(height), and never more
 * than a walk.
 */
import type { Key } from '../base/brand.ts'
import type { Reducer } from '../btree/reducer.ts'
import { compareValues } from '../codec/collation.ts'
import type { Collation } from '../codec/registered-collation.ts'
import { prefixUpperBound } from '../codec/key-encoding.ts'
import { decodeViewKey, encodeViewKey, isKeyCut } from '../codec/view-entry.ts'
import type { TreeReader } from '../kv/key-value-store.ts'
import { reducePositions, type RowReducer } from './row-reducer.ts'
import { RowCursor } from './row-cursor.ts'

/** Rows of a group that are walked before its end is looked for by rank. */
const WALKED_ROWS_MAX = 24

interface GroupOptions {
  readonly rows: TreeReader
  readonly reducer: RowReducer
  /** Elements of an array that make a group; Infinity: whole keys. */
  readonly level: number
  readonly from: number
  readonly to: number
  readonly descending: boolean
  readonly collation: Collation | undefined
}

interface Group {
  readonly key: unknown
  /** The prefix of the keys of the group's entries, and of no others; undefined if a cut makes this impossible. */
  readonly prefix: Key | undefined
}

interface Walked {
  readonly keys: Key[]
  readonly values: Uint8Array[]
}

export class GroupCursor {
  readonly #options: GroupOptions
  #cursor: RowCursor
  /** The row at the cursor belongs to the next group. */
  #hasRow = false
  #group: Group | undefined
  #walked: Walked = { keys: [], values: [] }
  /** Positions of a group that is too large to be walked. */
  #large: { readonly from: number; readonly to: number } | undefined
  /** The group at the cursor. */
  key: unknown
  value: unknown

  constructor(options: GroupOptions) {
    this.#options = options
    this.#cursor = new RowCursor(options.rows, options.from, options.to, options.descending)
  }

  /** Moves on; with `reduced` false the group gets no value. A `next` that misses continues when it is called again. */
  next(reduced: boolean): boolean {
    if (this.#group === undefined) {
      if (!this.#hasRow && !this.#cursor.next()) return false
      this.#group = this.#groupAt()
      this.#hasRow = false
      this.#take()
    }
    if (this.#large === undefined) this.#walk()
    this.key = this.#group.key
    if (this.#large !== undefined) this.#jump(this.#large, reduced)
    else this.value = reduced ? this.#reduceWalked(this.#options.reducer.reducer) : undefined
    this.#group = undefined
    this.#walked = { keys: [], values: [] }
    return true
  }

  #walk(): void {
    const { prefix } = this.#group!
    while (!this.#hasRow) {
      if (prefix !== undefined && this.#walked.keys.length >= WALKED_ROWS_MAX) {
        this.#large = this.#positionsOf(prefix)
        return
      }
      if (!this.#cursor.next()) return
      if (this.#isInGroup()) this.#take()
      else this.#hasRow = true
    }
  }

  #take(): void {
    this.#walked.keys.push(this.#cursor.entryKey)
    this.#walked.values.push(this.#cursor.value)
  }

  #positionsOf(prefix: Key): { from: number; to: number } {
    const { rows, from, to } = this.#options
    const end = prefixUpperBound(prefix)
    return {
      from: Math.max(from, rows.rank(prefix)),
      to: Math.min(to, end === undefined ? rows.count() : rows.rank(end)),
    }
  }

  #jump(large: { readonly from: number; readonly to: number }, reduced: boolean): void {
    const { rows, reducer, from, to, descending } = this.#options
    this.value = reduced ? reducePositions(rows, reducer, large.from, large.to) : undefined
    this.#cursor = descending ? new RowCursor(rows, from, large.from, true) : new RowCursor(rows, large.to, to, false)
    this.#large = undefined
  }

  #reduceWalked(reducer: Reducer<unknown> | undefined): unknown {
    const { keys, values } = this.#walked
    if (reducer === undefined) return keys.length
    if (this.#options.descending) {
      keys.reverse()
      values.reverse()
    }
    return reducer.reduce({ count: keys.length, key: (at) => keys[at]!, value: (at) => values[at]! })
  }

  #groupAt(): Group {
    const { entryKey, value } = this.#cursor
    const whole = decodeViewKey(entryKey, value)
    const key = this.#groupKey(whole)
    const { bytes, run } = encodeViewKey(key, this.#options.collation)
    if (run !== undefined) return { key, prefix: undefined }
    const isStart = Array.isArray(key) && key.length === this.#options.level
    // Without the mark that ends the array: longer arrays are in the group too.
    return { key, prefix: (isStart ? bytes.slice(0, -1) : bytes) as Key }
  }

  #isInGroup(): boolean {
    const { entryKey, value } = this.#cursor
    const { key, prefix } = this.#group!
    if (prefix !== undefined) return entryKey.startsWith(prefix)
    return isKeyCut(entryKey, value) && compareValues(this.#groupKey(decodeViewKey(entryKey, value)), key) === 0
  }

  #groupKey(key: unknown): unknown {
    return Array.isArray(key) ? key.slice(0, this.#options.level) : key
  }
}
