/** Finds the records of a list: by a query of the library, or one by one where no query can say what is wanted. */
import { evaluate, type BoundRule } from '@pannier/rules'
import { compareSortValues, compile, sortPaths, sortValues, type Compiled } from '@pannier/rules/compile'
import type { Query } from 'pannier'
import { selectionQuery } from 'pannier/internal'
import { ruleRecord, type KnownDefinitions } from '../../access/rule-records.ts'
import { recordsName, type Definition } from '../../definitions/definition.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { invalid } from '../../gateway/service-error.ts'
import { meeting } from './admitted.ts'
import { CREATION, isPath, RANDOM, type SortKey } from './list-request.ts'
import type { RecordSnapshot } from './record-snapshot.ts'

export interface WantedRecords {
  readonly definition: Definition
  readonly definitions: KnownDefinitions
  /** The rule, the filter, and the paths of the sort. */
  readonly bound: BoundRule
  readonly sort: readonly SortKey[]
  readonly skip: number
  readonly limit: number
  readonly withTotal: boolean
}

interface FoundPage {
  readonly documents: readonly JsonObject[]
  /** Undefined if it is not wanted. */
  readonly total: number | undefined
}

export async function selectRecords(snapshot: RecordSnapshot, wanted: WantedRecords): Promise<FoundPage> {
  const { definition, bound, sort, skip, limit, withTotal } = wanted
  await snapshot.prepare(bound)
  if (definition.type === 'view') {
    if (sort.some(({ by }) => by === CREATION)) throw invalid('')
    const rows = await snapshot.rows(definition)
    return pageOf(await sorted(snapshot, await meeting(snapshot, bound, rows), wanted), wanted)
  }
  const { query, order } = await queryOf(snapshot, wanted)
  if (order !== undefined) {
    const page = query
      .sort(...order)
      .skip(skip)
      .limit(limit)
    if (!withTotal) return { documents: await page.toArray(), total: undefined }
    const { rows, total } = await page.page()
    return { documents: rows, total }
  }
  if (sort[0]!.by === RANDOM) {
    const { documents, total } = pageOf(shuffled(await query.fields('_id').toArray()), wanted)
    const found = await snapshot.get(
      definition,
      documents.map(({ _id }) => _id as string),
    )
    return { documents: found as JsonObject[], total }
  }
  const all = await query.sort('$created').toArray()
  return pageOf(await sorted(snapshot, all, wanted), wanted)
}

/** All records that are meant, and the order in which the library can give them, if it can. */
export async function queryOf(
  snapshot: RecordSnapshot,
  { definition, definitions, bound, sort }: WantedRecords,
): Promise<{ query: Query<JsonObject>; order: readonly string[] | undefined; isExact: boolean }> {
  const readsViews = bound.collections.some(({ id }) => definitions.find(id)?.type === 'view')
  const { selection, isExact } = readsViews
    ? EVERY
    : await snapshot.read((records): Compiled => compile(bound, records))
  const paths = sortPaths(bound)
  const query = selectionQuery(snapshot.reader.collection(recordsName(definition)), selection, {
    nameOf: (name) => recordsName(definitions.find(name)!),
    empty: Object.fromEntries((paths ?? []).map(({ path, empty }) => [path, empty])),
    ...(isExact
      ? {}
      : { residual: (document, guard) => evaluate(bound, ruleRecord(document), snapshot.rules(guard)) === true }),
  })
  if (paths === undefined || sort.some(({ by }) => by === RANDOM)) return { query, order: undefined, isExact }
  const left = [...paths]
  const order = sort.map(({ by, descending }) => {
    const path = by === CREATION ? '$created' : left.shift()!.path
    return `${descending ? '-' : ''}${path === 'id' ? '_id' : path}`
  })
  return { query, order: withoutRepeats([...order, tieOf(bound, sort)]), isExact }
}

const EVERY: Compiled = { selection: { kind: 'and', of: [] }, isExact: false }

/** PocketBase's order of rows that agree in the sort: that of creation. Without a sort, a query that joins gives them by id. */
function tieOf({ isJoined }: BoundRule, sort: readonly SortKey[]): string {
  return isJoined && sort.length === 0 ? '_id' : '$created'
}

/** A path that comes again decides nothing. Nor does what comes after a unique one. */
function withoutRepeats(order: readonly string[]): string[] {
  const paths = order.map((path) => path.replace(/^-/, ''))
  const unique = paths.findIndex((path) => path === '_id' || path === '$created')
  return order.filter((_, index) => index <= unique && paths.indexOf(paths[index]!) === index)
}

function pageOf(documents: readonly JsonObject[], { skip, limit, withTotal }: WantedRecords): FoundPage {
  return { documents: documents.slice(skip, skip + limit), total: withTotal ? documents.length : undefined }
}

/** By values that are computed for each of them. Ties stay as they are. */
async function sorted(
  snapshot: RecordSnapshot,
  documents: readonly JsonObject[],
  { bound, sort }: WantedRecords,
): Promise<readonly JsonObject[]> {
  if (sort.length === 0) return documents
  const computed = await snapshot.readEach(documents, (document, records) =>
    sortValues(bound, ruleRecord(document), records),
  )
  const rows = documents.map((document, position) => {
    const values = [...computed[position]!]
    const keys = sort.map(({ by }) => (isPath(by) ? values.shift() : by === RANDOM ? Math.random() : position))
    return { document, keys }
  })
  const descending = sort.map((key) => key.descending)
  return rows
    .toSorted((one, other) => compareSortValues(one.keys, other.keys, descending))
    .map(({ document }) => document)
}

function shuffled<T>(items: readonly T[]): T[] {
  const all = [...items]
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[all[i], all[j]] = [all[j]!, all[i]!]
  }
  return all
}
