/**
 * The rows of a view by position, from 0. Positions follow the exact order of keys, ids and ordinals, even where the
 * tree does not (runs of cut keys: codec/view-entry.ts). Synchronous, may miss.
 */
import type { Key } from '../base/brand.ts'
import { compareStrings, compareValues } from '../codec/collation.ts'
import type { Collation } from '../codec/registered-collation.ts'
import { prefixUpperBound } from '../codec/key-encoding.ts'
import {
  decodeViewKey,
  documentIdOf,
  emittedKeyEnd,
  encodeViewId,
  encodeViewKey,
  isKeyCut,
  runOf,
} from '../codec/view-entry.ts'
import type { Cursor, TreeReader } from '../kv/key-value-store.ts'

/** A place between rows. */
export interface RowBound {
  readonly key: unknown
  /** Among the rows with that key, those of this document. */
  readonly id?: string | undefined
  /** Behind these rows, not before them. */
  readonly after: boolean
}

/** Entries that are equal up to a cut, in the order of their keys. */
export interface Run {
  /** Position of the first. */
  readonly from: number
  readonly entries: readonly RunEntry[]
}

interface RunEntry {
  readonly entryKey: Key
  readonly value: Uint8Array
  readonly key: unknown
  readonly id: string
}

/** How many rows stand before the bound. */
export function positionOf(rows: TreeReader, { key, id, after }: RowBound, collation: Collation | undefined): number {
  const { bytes, run } = encodeViewKey(key, collation)
  if (run === undefined) {
    const prefix = (id === undefined ? bytes : bytes + encodeViewId(id)) as Key
    const bound = after ? prefixUpperBound(prefix) : prefix
    return bound === undefined ? rows.count() : rows.rank(bound)
  }
  const { from, entries } = readRun(rows, run)
  const isBefore = (entry: RunEntry): boolean => {
    const order = compareValues(entry.key, key) || (id === undefined ? 0 : compareStrings(entry.id, id))
    return order < 0 || (after && order === 0)
  }
  return from + entries.filter(isBefore).length
}

export function readRun(rows: TreeReader, run: string): Run {
  const range = { gte: run as Key, lt: prefixUpperBound(run) }
  const from = rows.rank(range.gte)
  const entries: RunEntry[] = []
  const cursor = rows.cursor(range)
  while (cursor.next()) {
    const { key: entryKey, value } = cursor
    const id = documentIdOf(entryKey, emittedKeyEnd(entryKey))
    entries.push({ entryKey, value, key: decodeViewKey(entryKey, value), id })
  }
  entries.sort(
    (left, right) =>
      compareValues(left.key, right.key) ||
      compareStrings(left.id, right.id) ||
      (left.entryKey < right.entryKey ? -1 : 1),
  )
  return { from, entries }
}

/** Walks the positions `from <= position < to`, either way. A `next` that misses has not moved it. */
export class RowCursor {
  readonly #rows: TreeReader
  readonly #from: number
  readonly #to: number
  readonly #descending: boolean
  #next: number
  #cursor: Cursor | undefined
  #run: Run | undefined
  /** The cursor stands at an entry of a run that is not read yet. */
  #cutAt: string | undefined
  /** The position at the cursor. */
  position = -1
  entryKey = '' as Key
  value: Uint8Array = NOTHING

  constructor(rows: TreeReader, from: number, to: number, descending: boolean) {
    this.#rows = rows
    this.#from = from
    this.#to = to
    this.#descending = descending
    this.#next = descending ? to - 1 : from
  }

  next(): boolean {
    const at = this.#next
    if (at < this.#from || at >= this.#to) return false
    if (!this.#fromRun(at)) {
      if (this.#cutAt === undefined) this.#walk(at)
      if (this.#cutAt !== undefined) {
        this.#run = readRun(this.#rows, this.#cutAt)
        this.#cutAt = undefined
        this.#cursor = undefined
        this.#fromRun(at)
      }
    }
    this.position = at
    this.#next = at + (this.#descending ? -1 : 1)
    return true
  }

  #walk(at: number): void {
    const rows = this.#rows
    const skip = this.#descending ? rows.count() - 1 - at : at
    const cursor = (this.#cursor ??= rows.cursor({}, { reverse: this.#descending, skip }))
    cursor.next()
    this.entryKey = cursor.key
    this.value = cursor.value
    if (isKeyCut(this.entryKey, this.value)) this.#cutAt = runOf(this.entryKey)
  }

  #fromRun(at: number): boolean {
    const entry = this.#run?.entries[at - this.#run.from]
    if (entry === undefined) return false
    this.entryKey = entry.entryKey
    this.value = entry.value
    return true
  }
}

const NOTHING: Uint8Array = new Uint8Array(0)
