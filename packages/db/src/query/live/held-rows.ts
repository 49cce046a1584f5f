/**
 * The rows that a live query holds: from the first one to a horizon, in a total order. So each changed document is put
 * in its place without a read. Beyond the visible window there is a reserve, from which rows move up when others leave.
 */
import { encodeIdKey } from '../../codec/key-encoding.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import { compileProjection } from '../operators/project.ts'
import { compileSortKey } from '../operators/sort.ts'
import type { QuerySpecification } from '../planner/plan.ts'
import { documentFields } from '../match.ts'
import type { LiveView } from './live-types.ts'

const RESERVE_MIN = 16
const RESERVE_MAX = 256

interface HeldRow {
  /** Orders rows: the values of the sort, then the id. */
  readonly key: string
  readonly id: string
  readonly revision: string
  readonly row: object
}

/** The documents that queries hold. */
export interface Holding {
  hold(id: string): void
  release(id: string): void
}

export class HeldRows {
  readonly #holding: Holding
  readonly #sortKey: (document: StoredDocument) => string
  readonly #project: ((document: StoredDocument) => object) | undefined
  readonly #skip: number
  readonly #end: number
  readonly #reserve: number
  readonly #byId = new Map<string, HeldRow>()
  #rows: HeldRow[] = []
  /** Rows up to this key are all held; undefined: there are no others. */
  #horizon: string | undefined

  /** `skip`: of the rows that are held. */
  constructor({ sort, limit, fields, collation }: QuerySpecification, skip: number, holding: Holding) {
    this.#holding = holding
    this.#sortKey = compileSortKey(sort, documentFields, collation)
    this.#project = fields && compileProjection(fields, documentFields)
    this.#skip = skip
    this.#end = skip + limit
    this.#reserve = Math.min(Math.max(limit, RESERVE_MIN), RESERVE_MAX)
  }

  /** The number of rows to read; Infinity: all. */
  get wanted(): number {
    return this.#end + this.#reserve
  }

  sortKey(document: StoredDocument): string {
    return this.#sortKey(document)
  }

  /** The documents that were read, in any order. `complete`: there are no others. */
  reset(documents: readonly StoredDocument[], complete: boolean): void {
    const former = new Map(this.#byId)
    this.#byId.clear()
    this.#rows = documents.map((document) => this.#rowOf(document, former.get(document._id))).sort(byKey)
    for (const row of this.#rows) {
      this.#byId.set(row.id, row)
      if (!former.delete(row.id)) this.#holding.hold(row.id)
    }
    for (const id of former.keys()) this.#holding.release(id)
    this.#horizon = complete ? undefined : this.#rows.at(-1)?.key
  }

  /** Forgets what is known of the documents: they are others now. */
  forget(): void {
    for (const id of this.#byId.keys()) this.#holding.release(id)
    this.#byId.clear()
    this.#rows = []
    this.#horizon = ''
  }

  /**
   * Documents as they are now, undefined for those that are gone or no longer match. False if rows have to be read:
   * more have left than the reserve had.
   */
  apply(changes: ReadonlyMap<string, StoredDocument | undefined>): boolean {
    const gone = new Set<HeldRow>()
    const come: HeldRow[] = []
    for (const [id, document] of changes) {
      const held = this.#byId.get(id)
      if (held !== undefined && held.revision === document?._rev) continue
      const next = document && this.#rowOf(document, held)
      const isKnown = next !== undefined && (this.#horizon === undefined || next.key <= this.#horizon)
      if (held !== undefined) {
        gone.add(held)
        if (!isKnown) {
          this.#byId.delete(id)
          this.#holding.release(id)
        }
      }
      if (!isKnown) continue
      come.push(next)
      this.#byId.set(id, next)
      if (held === undefined) this.#holding.hold(id)
    }
    if (gone.size > 0 || come.length > 0) {
      this.#rows = merged(gone.size === 0 ? this.#rows : this.#rows.filter((row) => !gone.has(row)), come.sort(byKey))
      this.#trim()
    }
    return this.#horizon === undefined || this.#rows.length >= this.#end
  }

  /** The visible rows. */
  view(): LiveView {
    const shown = this.#rows.slice(this.#skip, this.#end)
    return { ids: shown.map(({ id }) => id), rows: shown.map(({ row }) => row) }
  }

  #rowOf(document: StoredDocument, held: HeldRow | undefined): HeldRow {
    const { _id: id, _rev: revision } = document
    if (held?.revision === revision) return held
    const projected = this.#project === undefined ? document : this.#project(document)
    const row = held !== undefined && this.#project !== undefined && isSame(held.row, projected) ? held.row : projected
    return { key: this.#sortKey(document) + encodeIdKey(id), id, revision, row }
  }

  /** The reserve must not grow without end. */
  #trim(): void {
    if (this.#rows.length <= this.wanted + this.#reserve) return
    for (const { id } of this.#rows.splice(this.wanted)) {
      this.#byId.delete(id)
      this.#holding.release(id)
    }
    this.#horizon = this.#rows.at(-1)!.key
  }
}

function byKey(left: HeldRow, right: HeldRow): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0
}

/** Both ascending. */
function merged(rows: readonly HeldRow[], come: readonly HeldRow[]): HeldRow[] {
  const all: HeldRow[] = []
  let at = 0
  for (const row of rows) {
    while (at < come.length && come[at]!.key < row.key) all.push(come[at++]!)
    all.push(row)
  }
  while (at < come.length) all.push(come[at++]!)
  return all
}

/** Whether two values are equal, including the order of names: then their JSON is equal. */
export function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false
  const [leftEntries, rightEntries] = [Object.entries(left), Object.entries(right)]
  return (
    leftEntries.length === rightEntries.length &&
    leftEntries.every(([name, value], at) => name === rightEntries[at]![0] && isSame(value, rightEntries[at]![1]))
  )
}
