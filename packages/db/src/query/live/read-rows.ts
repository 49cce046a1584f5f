/** Reads the first rows of a live query, and the next ones when its reserve is used up. */
import { isPromise } from '../../base/async.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import { documentFields } from '../match.ts'
import { buildOperators } from '../operators/build.ts'
import { BATCH_ROWS_WHOLE } from '../operators/operator.ts'
import { compileSortKey } from '../operators/sort.ts'
import { planQuery, type Plan, type QuerySpecification } from '../planner/plan.ts'
import type { QuerySource } from '../query-source.ts'

/** Rows that are read beyond those wanted because their sort values are the same as those of the last one. */
const TIES_MAX = 1024

interface ReadRows {
  readonly documents: readonly StoredDocument[]
  /** Whether the rows are complete: there are no others. */
  readonly complete: boolean
}

/**
 * At least the first `wanted` rows in the total order: that of the query, then by id. Where an index gives the order of
 * the query, rows are read until the values after the last wanted one change. So no tie is missed.
 */
export async function readRows(source: QuerySource, query: QuerySpecification, wanted: number): Promise<ReadRows> {
  const whole: QuerySpecification = { ...query, skip: 0, limit: wanted, fields: undefined }
  const total = { ...whole, sort: totalSort(query.sort) }
  if (wanted < Infinity && query.sort.length > 0 && total.sort !== query.sort) {
    const plan = await source.attempt(() => planQuery(source, whole))
    if (plan.sort === undefined) {
      const found = await readWithTies(source, whole, plan)
      if (found !== undefined) return found
    }
  }
  const documents = await readExactly(source, total)
  return { documents, complete: documents.length < wanted }
}

/** Rows from `skip` to `skip + limit` in the total order. */
export function readWindow(source: QuerySource, query: QuerySpecification): Promise<StoredDocument[]> {
  return readExactly(source, { ...query, sort: totalSort(query.sort), fields: undefined })
}

function totalSort(sort: QuerySpecification['sort']): QuerySpecification['sort'] {
  return sort.some(({ path }) => path === '_id') ? sort : [...sort, { path: '_id', descending: false }]
}

async function readExactly(source: QuerySource, query: QuerySpecification): Promise<StoredDocument[]> {
  const documents: StoredDocument[] = []
  const plan = await source.attempt(() => planQuery(source, query))
  for await (const batch of batches(source, plan, query)) for (const document of batch) documents.push(document)
  return documents
}

/** Undefined: there are too many ties. */
async function readWithTies(source: QuerySource, query: QuerySpecification, plan: Plan): Promise<ReadRows | undefined> {
  const wanted = query.limit
  const sortKey = compileSortKey(query.sort, documentFields, query.collation)
  const documents: StoredDocument[] = []
  let lastKey: string | undefined
  for await (const batch of batches(
    source,
    plan,
    { ...query, limit: Infinity },
    Math.min(wanted + 1, BATCH_ROWS_WHOLE),
  )) {
    for (const document of batch) {
      if (documents.length >= wanted) {
        lastKey ??= sortKey(documents[wanted - 1]!)
        if (sortKey(document) !== lastKey) return { documents, complete: false }
        if (documents.length >= wanted + TIES_MAX) return undefined
      }
      documents.push(document)
    }
  }
  return { documents, complete: true }
}

export async function* batches(
  source: QuerySource,
  plan: Plan,
  query: QuerySpecification,
  batchRows: number = BATCH_ROWS_WHOLE,
): AsyncGenerator<StoredDocument[], void, undefined> {
  const rows = await source.attempt(() => buildOperators(source, plan, query))
  for (;;) {
    const attempted = source.attempt(() => rows.next(batchRows))
    const batch = isPromise(attempted) ? await attempted : attempted
    if (batch === undefined) return
    if (batch.length > 0) yield batch as StoredDocument[]
    const paused = source.pause()
    if (isPromise(paused)) await paused
  }
}
