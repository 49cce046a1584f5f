/**
 * The state of a live count. If ranges of keys give the count, it holds only these, and counts by rank again when an
 * entry in them changes. Otherwise it holds the ids of all matching documents, so that a commit changes the count
 * without a read.
 */
import type { Key } from '../../base/brand.ts'
import type { Condition } from '../ast/normalise.ts'
import type { AccessPath } from '../planner/access-path.ts'
import { planQuery, type QuerySpecification } from '../planner/plan.ts'
import type { QuerySource } from '../query-source.ts'
import type { DocumentHolds } from './held-rows.ts'
import type { LiveView } from './live-types.ts'
import { batches } from './read-rows.ts'

/** The only row that a live count shows, and its id. */
export interface CountRow {
  readonly count: number
}

const ROW_ID = ''

/** The keys of the ids tree, or of the entries of an index (its number), that have changed; undefined: it is not known which. */
export type ChangedEntries = (index: number | undefined) => readonly Key[] | undefined

export class HeldCount {
  readonly #specification: QuerySpecification
  readonly #holds: DocumentHolds
  #ids: ReadonlySet<string> = new Set()
  /** The ranges that are counted; undefined: the ids are held. */
  #ranges: AccessPath | undefined
  #view: LiveView = viewOf(0)

  constructor({ condition }: QuerySpecification, holds: DocumentHolds) {
    this.#specification = { condition, sort: [], skip: 0, limit: Infinity, fields: [] }
    this.#holds = holds
  }

  get isByRank(): boolean {
    return this.#ranges !== undefined
  }

  /** Counts; the function returned takes in what was found. */
  async read(source: QuerySource, condition: Condition): Promise<() => void> {
    const counted = { ...this.#specification, condition }
    const plan = await source.attempt(() => planQuery(source, counted))
    if (plan.byRank) return () => this.#reset(plan.rows, new Set(), plan.access)
    const withIds = { ...counted, fields: ['_id'] }
    const ids = new Set<string>()
    for await (const batch of batches(source, await source.attempt(() => planQuery(source, withIds)), withIds))
      for (const { _id } of batch) ids.add(_id)
    return () => this.#reset(ids.size, ids, undefined)
  }

  forget(): void {
    this.#reset(0, new Set(), undefined)
  }

  /** By rank: whether the count may be another now. */
  isChangedBy(entries: ChangedEntries): boolean {
    const path = this.#ranges
    if (path === undefined || path.ranges.length === 0) return false
    const keys = entries(path.index?.number)
    if (keys === undefined) return true
    return keys.some((key) => path.ranges.some(({ gte, lt }) => (gte ?? '') <= key && (lt === undefined || key < lt)))
  }

  /** As `apply` of rows; false: it has to be counted again. */
  apply(changes: ReadonlyMap<string, unknown>): boolean {
    if (this.isByRank) return changes.size === 0
    const ids = this.#ids as Set<string>
    for (const [id, document] of changes) {
      if (document !== undefined && !ids.has(id)) {
        ids.add(id)
        this.#holds.hold(id)
      } else if (document === undefined && ids.delete(id)) this.#holds.release(id)
    }
    this.#show(ids.size)
    return true
  }

  view(): LiveView {
    return this.#view
  }

  #reset(count: number, ids: ReadonlySet<string>, ranges: AccessPath | undefined): void {
    for (const id of this.#ids) if (!ids.has(id)) this.#holds.release(id)
    for (const id of ids) if (!this.#ids.has(id)) this.#holds.hold(id)
    this.#ids = ids
    this.#ranges = ranges
    this.#show(count)
  }

  #show(count: number): void {
    if ((this.#view.rows[0] as CountRow).count !== count) this.#view = viewOf(count)
  }
}

function viewOf(count: number): LiveView {
  const row: CountRow = { count }
  return { ids: [ROW_ID], rows: [row] }
}
