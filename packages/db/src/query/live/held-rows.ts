/**
 * The rows that a live query holds: from the first one to a horizon, in a total order. So each changed document is put
 * in its place without a read. Beyond the visible window there is a reserve, from which rows move up when others leave.
 */
import { isSame } from '../../codec/collation.ts'
import { encodeIdKey } from '../../codec/key-encoding.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import { compileProjection } from '../operators/project.ts'
import { compileSortKey } from '../operators/sort.ts'
import type { QuerySpecification } from '../planner/plan.ts'
import { documentFields } from '../match.ts'
import type { LiveView } from './live-types.ts'

const RESERVE_MIN = 16
const RESERVE_MAX = 256
/** With fewer rows for each change, all rows are sorted again. Above, each change is put in its place. */
const ROWS_PER_CHANGE = 16

export interface HeldRow {
  /** Orders rows: the values of the sort, then the id. */
  readonly key: string
  readonly id: string
  readonly revision: string
  readonly row: object
}

/** Makes the row of what was read; the held one if nothing of it has changed. */
type RowOf<Item> = (item: Item, held: HeldRow | undefined) => HeldRow

/** The documents that queries hold. */
export interface DocumentHolds {
  hold(id: string): void
  release(id: string): void
}

export class HeldRows<Item extends { readonly _id: string }> {
  readonly #holds: DocumentHolds
  readonly #rowOf: RowOf<Item>
  readonly #skip: number
  readonly #end: number
  readonly #reserve: number
  readonly #byId = new Map<string, HeldRow>()
  /** The keys of the rows, their ids and their content, at the same places: a view copies them as they are. */
  #keys: string[] = []
  #ids: string[] = []
  #contents: object[] = []
  /** Rows up to this key are all held; undefined: there are no others. */
  #horizon: string | undefined

  /** `skip`: of the rows that are held. */
  constructor(skip: number, limit: number, holds: DocumentHolds, rowOf: RowOf<Item>) {
    this.#holds = holds
    this.#rowOf = rowOf
    this.#skip = skip
    this.#end = skip + limit
    this.#reserve = Math.min(Math.max(limit, RESERVE_MIN), RESERVE_MAX)
  }

  /** The number of rows to read; Infinity: all. */
  get wanted(): number {
    return this.#end + this.#reserve
  }

  /** Replaces all rows, in any order. `complete`: there are no others. */
  reset(items: readonly Item[], complete: boolean): void {
    const former = new Map(this.#byId)
    this.#byId.clear()
    for (const item of items) {
      const row = this.#rowOf(item, former.get(item._id))
      this.#byId.set(row.id, row)
      if (!former.delete(row.id)) this.#holds.hold(row.id)
    }
    this.#sort()
    for (const id of former.keys()) this.#holds.release(id)
    this.#horizon = complete ? undefined : this.#keys.at(-1)
  }

  /** Forgets what is known of the documents: they are others now. */
  forget(): void {
    for (const id of this.#byId.keys()) this.#holds.release(id)
    this.#byId.clear()
    this.#sort()
    this.#horizon = ''
  }

  /**
   * Applies changes: the matching items as they are now, undefined for documents that are gone or no longer match. False if rows have to
   * be read: more have left than the reserve had.
   */
  apply(changes: ReadonlyMap<string, Item | undefined>): boolean {
    const [gone, come]: [HeldRow[], HeldRow[]] = [[], []]
    for (const [id, item] of changes) {
      const held = this.#byId.get(id)
      const next = item && this.#rowOf(item, held)
      if (held !== undefined && held === next) continue
      const isKnown = next !== undefined && (this.#horizon === undefined || next.key <= this.#horizon)
      if (held !== undefined) gone.push(held)
      if (!isKnown && this.#byId.delete(id)) this.#holds.release(id)
      if (!isKnown) continue
      come.push(next)
      this.#byId.set(id, next)
      if (held === undefined) this.#holds.hold(id)
    }
    if ((gone.length + come.length) * ROWS_PER_CHANGE > this.#keys.length) this.#sort()
    else {
      for (const { key } of gone) this.#splice(key, 1)
      for (const row of come) this.#splice(row.key, 0, row)
    }
    this.#trim()
    return this.#horizon === undefined || this.#keys.length >= this.#end
  }

  /** The visible rows. */
  view(): LiveView {
    return { ids: this.#ids.slice(this.#skip, this.#end), rows: this.#contents.slice(this.#skip, this.#end) }
  }

  /** The reserve must not grow without end. */
  #trim(): void {
    if (this.#keys.length <= this.wanted + this.#reserve) return
    for (const id of this.#ids.slice(this.wanted)) if (this.#byId.delete(id)) this.#holds.release(id)
    this.#sort()
    this.#horizon = this.#keys.at(-1)
  }

  #sort(): void {
    const rows = [...this.#byId.values()].sort((left, right) => (left.key < right.key ? -1 : 1))
    this.#keys = rows.map(({ key }) => key)
    this.#ids = rows.map(({ id }) => id)
    this.#contents = rows.map(({ row }) => row)
  }

  #splice(key: string, count: number, ...come: HeldRow[]): void {
    let [at, end] = [0, this.#keys.length]
    for (let middle = end >>> 1; at < end; middle = (at + end) >>> 1)
      if (this.#keys[middle]! < key) at = middle + 1
      else end = middle
    this.#keys.splice(at, count, ...come.map((row) => row.key))
    this.#ids.splice(at, count, ...come.map(({ id }) => id))
    this.#contents.splice(at, count, ...come.map(({ row }) => row))
  }
}

/** Rows of documents that follow no relations: a revision has one row. */
export function documentRows({ sort, fields, collation }: QuerySpecification): RowOf<StoredDocument> {
  const sortKey = compileSortKey(sort, documentFields, collation)
  const project = fields && compileProjection(fields, documentFields)
  return (document, held) => {
    const { _id: id, _rev: revision } = document
    if (held?.revision === revision) return held
    const projected = project === undefined ? document : project(document)
    const row = held !== undefined && project !== undefined && isSame(held.row, projected) ? held.row : projected
    return { key: sortKey(document) + encodeIdKey(id), id, revision, row }
  }
}
