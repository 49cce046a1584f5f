/** Runs one query of a view on one snapshot. */
import { andThen, type MaybePromise } from '../base/async.ts'
import { reducerOf, type DistinctKeys } from './reducers.ts'
import { decodeViewKey, decodeViewValue, documentIdOf, emittedKeyEnd } from '../codec/view-entry.ts'
import { isPlainObject } from '../codec/collation.ts'
import type { Collation } from '../codec/registered-collation.ts'
import type { DocumentReader } from '../document/document-reader.ts'
import { RevisionReader } from '../document/revision-reads.ts'
import { conflictsOf } from '../document/stored-revisions.ts'
import type { TreeReader } from '../kv/key-value-store.ts'
import { reducePositions, type RowReducer, customReducer } from './row-reducer.ts'
import { GroupCursor } from './group-cursor.ts'
import { positionOf, RowCursor, type RowBound } from './row-cursor.ts'
import type { BuiltInReduce, ReduceFunction } from './view-definition.ts'
import type { ReducedRow, ViewRow, ViewOptions } from './view-options.ts'

/** The source of a query. */
export interface ViewSource {
  /** Undefined: there is no such view yet. */
  readonly rows: TreeReader | undefined
  readonly documents: DocumentReader | undefined
  /** The order of strings in its keys. */
  readonly collation: Collation | undefined
  attempt<T>(step: () => T): MaybePromise<T>
}

/** Rows found at a time. */
const BATCH_ROWS = 256
/** Rows that a custom reducer is given the pages of at a time, so that they need not all be in memory. */
const REDUCED_ROWS_AT_ONCE = 50_000

type AnyRow = ViewRow | ReducedRow

interface Positions {
  readonly from: number
  readonly to: number
}

export function rowReducer(reduce: BuiltInReduce | ReduceFunction): RowReducer {
  const same = (result: unknown): unknown => result
  if (typeof reduce === 'function') return { reducer: customReducer(reduce), finish: same }
  if (reduce === '_count') return { reducer: undefined, finish: same }
  const reducer = reducerOf(reduce)
  if (reduce !== '_approx_count_distinct') return { reducer, finish: same }
  return { reducer, finish: (result) => (result as DistinctKeys).count }
}

/** Rows that stand before the first one that the query gives. May miss. */
export function offsetOf(source: ViewSource, rows: TreeReader, options: ViewOptions): number {
  const { skip = 0, descending = false, keys } = options
  const { from, to } = positionsOf(rows, keys === undefined ? options : { key: keys[0] }, source)
  return Math.min(rows.count(), (descending ? rows.count() - to : from) + skip)
}

/** The rows and their offset in one step, if they are few: most are. Undefined if they are many. */
export function fewRows(
  source: ViewSource,
  rows: TreeReader,
  options: ViewOptions,
): MaybePromise<{ readonly offset: number; readonly rows: ViewRow[] } | undefined> {
  const { keys, skip = 0, limit = Infinity, descending = false, docs = false } = options
  if (keys !== undefined) return undefined
  const found = source.attempt(() => {
    const positions = positionsOf(rows, options, source)
    const { from, to } = cut(positions, skip, limit, descending)
    if (to - from > BATCH_ROWS) return undefined
    const batch: ViewRow[] = []
    const cursor = new RowCursor(rows, from, to, descending)
    while (cursor.next()) batch.push(rowAt(cursor))
    const offset = Math.min(rows.count(), (descending ? rows.count() - positions.to : positions.from) + skip)
    return { offset, rows: batch }
  })
  if (!docs) return found
  return andThen(found, (few) => few && andThen(allDocuments(source, few.rows, options), (rows) => ({ ...few, rows })))
}

/** The rows that were asked for, some at a time. `reducer`: results are asked for. */
export async function* viewRows(
  source: ViewSource,
  options: ViewOptions,
  reducer: RowReducer | undefined,
): AsyncGenerator<AnyRow[], void, undefined> {
  const { rows } = source
  const { keys, limit = Infinity } = options
  if (rows === undefined || limit === 0) return
  let { skip = 0 } = options
  let left = limit
  for (const part of keys === undefined ? [options] : keys.map((key) => ({ ...options, key, keys: undefined }))) {
    const positions = await source.attempt(() => positionsOf(rows, part as ViewOptions, source))
    if (positions.from >= positions.to) continue
    const found =
      reducer === undefined
        ? plainRows(source, rows, cut(positions, skip, left, options.descending === true), options)
        : reducedRows(source, rows, positions, options, reducer, { skip, limit: left })
    for await (const batch of found) {
      left -= batch.length
      yield batch
    }
    skip = Math.max(0, skip - (reducer === undefined ? positions.to - positions.from : 1))
    if (left <= 0) return
  }
}

/** A range without its skipped rows. */
function cut({ from, to }: Positions, skip: number, limit: number, descending: boolean): Positions {
  if (!descending) return { from: from + skip, to: Math.min(to, from + skip + limit) }
  return { from: Math.max(from, to - skip - limit), to: to - skip }
}

function positionsOf(rows: TreeReader, options: ViewOptions, { collation }: ViewSource): Positions {
  const place = (bound: RowBound): number => positionOf(rows, bound, collation)
  const { key, gte = key, gt, lte = key, lt, fromId, toId } = options
  const from =
    gt !== undefined
      ? place({ key: gt, id: fromId, after: true })
      : gte !== undefined
        ? place({ key: gte, id: fromId, after: false })
        : 0
  const to =
    lt !== undefined
      ? place({ key: lt, id: toId, after: false })
      : lte !== undefined
        ? place({ key: lte, id: toId, after: true })
        : rows.count()
  return { from, to }
}

async function* plainRows(
  source: ViewSource,
  rows: TreeReader,
  { from, to }: Positions,
  options: ViewOptions,
): AsyncGenerator<ViewRow[], void, undefined> {
  const cursor = new RowCursor(rows, from, to, options.descending === true)
  for (let going = true; going;) {
    const batch: ViewRow[] = []
    await source.attempt(() => {
      while (batch.length < BATCH_ROWS && (going = cursor.next())) batch.push(rowAt(cursor))
    })
    if (options.docs !== true) {
      if (batch.length > 0) yield batch
      continue
    }
    for (let at = 0; at < batch.length;) {
      const some = await withDocuments(source, batch.slice(at), options)
      at += some.length
      yield some
    }
  }
}

function rowAt({ entryKey, value }: RowCursor): ViewRow {
  const id = documentIdOf(entryKey, emittedKeyEnd(entryKey))
  return { id, key: decodeViewKey(entryKey, value), value: decodeViewValue(value) }
}

/** All documents of a result that its caller wants whole. */
function allDocuments(source: ViewSource, rows: readonly ViewRow[], options: ViewOptions): MaybePromise<ViewRow[]> {
  return andThen(withDocuments(source, rows, options), (some) =>
    some.length === rows.length
      ? some
      : andThen(allDocuments(source, rows.slice(some.length), options), (rest) => [...some, ...rest]),
  )
}

/** The first rows with their documents: as many as take no more memory than a batch may, and one at least. */
function withDocuments(
  source: ViewSource,
  batch: readonly ViewRow[],
  { conflicts }: ViewOptions,
): MaybePromise<ViewRow[]> {
  const reader = source.documents!
  // A row that names a revision is read alone: nothing is known of how large that is.
  const named = batch.findIndex(({ value }) => isPlainObject(value) && typeof value['_rev'] === 'string')
  const wanted = batch
    .slice(0, named === -1 ? undefined : Math.max(1, named))
    .map(({ id, value }) => (isPlainObject(value) && typeof value['_id'] === 'string' ? value['_id'] : id))
  return source.attempt(() => {
    const bodies = reader.getSome(wanted)
    return batch.slice(0, bodies.length).map((row, at): ViewRow => {
      const body = bodies[at]
      const revision = isPlainObject(row.value) ? row.value['_rev'] : undefined
      if (typeof revision === 'string' && revision !== body?.revision)
        return { ...row, doc: new RevisionReader(reader).read(wanted[at]!, { rev: revision }) ?? null }
      if (body === undefined) return { ...row, doc: null }
      const doc = reader.decode(body)
      const others = conflicts === true ? conflictsOf(reader, body) : undefined
      if (others !== undefined) doc['_conflicts'] = others
      return { ...row, doc }
    })
  })
}

async function* reducedRows(
  source: ViewSource,
  rows: TreeReader,
  { from, to }: Positions,
  options: ViewOptions,
  reducer: RowReducer,
  { skip, limit }: { readonly skip: number; readonly limit: number },
): AsyncGenerator<ReducedRow[], void, undefined> {
  const { group = false, descending = false } = options
  await readAhead(source, rows, reducer, from, to)
  const level = group === true ? Infinity : Number(group)
  if (level === 0) {
    if (skip > 0) return
    const value = await source.attempt(() => reducePositions(rows, reducer, from, to))
    yield [{ key: null, value: reducer.finish(value) }]
    return
  }
  const cursor = new GroupCursor({ rows, reducer, level, from, to, descending, collation: source.collation })
  let seen = 0
  for (let going = true; going && seen < skip + limit;) {
    const batch: ReducedRow[] = []
    await source.attempt(() => {
      while (batch.length < BATCH_ROWS && seen < skip + limit && (going = cursor.next(seen >= skip))) {
        if (seen++ >= skip) batch.push({ key: cursor.key, value: reducer.finish(cursor.value) })
      }
    })
    if (batch.length > 0) yield batch
  }
}

/** A user's reducer must see every page once, but not all at the same time. Its results are remembered. */
async function readAhead(
  source: ViewSource,
  rows: TreeReader,
  reducer: RowReducer,
  from: number,
  to: number,
): Promise<void> {
  if (reducer.reducer === undefined || 'name' in reducer.reducer) return
  for (let at = from; to - at > REDUCED_ROWS_AT_ONCE; at += REDUCED_ROWS_AT_ONCE)
    await source.attempt(() => reducePositions(rows, reducer, at, at + REDUCED_ROWS_AT_ONCE))
}
