/**
 * The rows of a view that remembers, on one state, and those that have left it. What reads may miss. Keys are arrays. A group is all
 * rows whose keys are equal up to their last element.
 */
import type { Key } from '../base/brand.ts'
import { numberKey, prefixUpperBound } from '../codec/key-encoding.ts'
import { encodeViewKey } from '../codec/view-entry.ts'
import type { Cursor, KeyRange, Snapshot, TreeReader } from '../kv/key-value-store.ts'
import {
  groupKey,
  departedRow,
  numberOf,
  rememberedRow,
  valueOf,
  type DepartedRow,
  type RememberedRow,
} from './remembered-changes.ts'
import { departedTrees, rowsTree, type ViewState } from './view-catalog.ts'

/** Which rows of a group, by the last element of their keys. */
export interface LastRange {
  /** The lower bound, included (`gte`). */
  readonly gte?: unknown
  /** The lower bound, excluded (`gt`). */
  readonly gt?: unknown
  /** The upper bound, included (`lte`). */
  readonly lte?: unknown
  /** The upper bound, excluded (`lt`). */
  readonly lt?: unknown
}

/** Continues a walk behind a row. */
type RowPosition = string

/** Continues a walk behind a document. */
type IdPosition = string

/** A row and where it stands. */
export type Positioned<Row> = Row & { readonly position: RowPosition }

/** The rows of a view that remembers, on one state of the database. What reads may miss. */
export class RememberedRows {
  /** The sequence whose state the rows are. */
  readonly builtTo: number
  /** Rows that left up to this sequence are forgotten. */
  readonly forgottenTo: number
  readonly #rows: TreeReader
  readonly #byGroup: TreeReader
  readonly #byTime: TreeReader

  constructor(snapshot: Snapshot, collectionNumber: number, state: ViewState) {
    this.builtTo = state.builtTo
    this.forgottenTo = state.forgottenTo ?? 0
    const { byGroup, byTime } = departedTrees(collectionNumber, state.number)
    this.#rows = snapshot.tree(rowsTree(collectionNumber, state.number))!
    this.#byGroup = snapshot.tree(byGroup)!
    this.#byTime = snapshot.tree(byTime)!
  }

  /** The rows of a group in their order. */
  *rows(group: readonly unknown[], range: LastRange, after?: RowPosition): Generator<Positioned<RememberedRow>> {
    const cursor = this.#rows.cursor(behind(this.#rangeOf(group, range), after))
    while (cursor.next()) yield { ...rememberedRow(cursor.key, cursor.value), position: cursor.key }
  }

  /** The rows of one key, by the ids of their documents. */
  byId(key: readonly unknown[], after: IdPosition | undefined): RowsById {
    const prefix = encodeViewKey(key, undefined).bytes as Key
    // Ordinals come behind ids.
    const gte = after === undefined ? prefix : (`${prefix}${after}\0\xff` as Key)
    return new RowsById(this.#rows.cursor({ gte, lt: prefixUpperBound(prefix) }), prefix.length)
  }

  /** How many rows of a group there are. */
  count(group: readonly unknown[], range: LastRange): number {
    return this.#rows.count(this.#rangeOf(group, range))
  }

  /** The rows of a group that have departed after a sequence, in the order in which they did. */
  *departed(group: readonly unknown[], since: number, after?: RowPosition): Generator<Positioned<DepartedRow>> {
    const prefix = groupKey(group)
    const range = { gte: (prefix + numberKey(since + 1)) as Key, lt: prefixUpperBound(prefix) }
    yield* walkDeparted(this.#byGroup, behind(range, after), prefix.length)
  }

  /** All rows that have departed after a sequence, in the order in which they did. */
  *departedSince(since: number, after?: RowPosition): Generator<Positioned<DepartedRow>> {
    yield* walkDeparted(this.#byTime, behind({ gte: numberKey(since + 1) }, after), 0)
  }

  /** How many rows have departed after a sequence. */
  countDepartedSince(since: number): number {
    return this.#byTime.count({ gte: numberKey(since + 1) })
  }

  #rangeOf(group: readonly unknown[], { gte, gt, lte, lt }: LastRange): KeyRange {
    const bound = (last: unknown): Key => encodeViewKey([...group, last], undefined).bytes as Key
    const behindOf = (last: unknown): Key => prefixUpperBound(bound(last))!
    return {
      gte: gt === undefined ? bound(gte ?? null) : behindOf(gt),
      // Objects come behind all that keys end with.
      lt: lt !== undefined ? bound(lt) : lte === undefined ? bound({}) : behindOf(lte),
    }
  }
}

/** A walk over the rows of one key. It starts before the first one. */
export class RowsById {
  /** The id of the document at the row, as positions have it: in their order, and the same in all walks. */
  position: IdPosition = ''
  readonly #cursor: Cursor
  readonly #from: number

  constructor(cursor: Cursor, from: number) {
    this.#cursor = cursor
    this.#from = from
  }

  /** The next row; false at the end. After a miss it stands where it was. */
  next(): boolean {
    if (!this.#cursor.next()) return false
    const { key } = this.#cursor
    this.position = key.slice(this.#from, key.indexOf('\0', this.#from))
    return true
  }

  /** The number of the document at the row. */
  get number(): number {
    return numberOf(this.#cursor.value)
  }

  /** The value of the row. */
  get value(): unknown {
    return valueOf(this.#cursor.value)
  }
}

function* walkDeparted(tree: TreeReader, range: KeyRange, prefixLength: number): Generator<Positioned<DepartedRow>> {
  const cursor = tree.cursor(range)
  while (cursor.next())
    yield { ...departedRow(cursor.key.slice(prefixLength) as Key, cursor.value), position: cursor.key }
}

function behind(range: KeyRange, after: RowPosition | undefined): KeyRange {
  return after === undefined ? range : { ...range, gte: `${after}\0` as Key }
}
