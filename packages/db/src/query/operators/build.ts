/**
 * Puts together the operators of a plan:
 *
 *   scan of all documents -> [sort -> fetch] -> limit
 *   scan of keys -> [filter, sort or project by the entries] -> [fetch: filter, project or sort -> fetch] -> limit
 *
 * Testing, skipping and projecting a row is one function that a scan or fetch applies while the row is at hand.
 */
import type { BodyView } from '../../document/body.ts'
import { isAlways, type Condition } from '../ast/normalise.ts'
import { compileCondition, pathsOf, type ReadField } from '../match.ts'
import type { AccessPath } from '../planner/access-path.ts'
import type { Plan, QuerySpecification, Reads, SortField } from '../planner/plan.ts'
import type { QuerySource } from '../query-source.ts'
import type { EntryRow } from './entry-row.ts'
import { fetchRows } from './fetch.ts'
import { fullScan } from './full-scan.ts'
import { idScan } from './id-scan.ts'
import { indexScan } from './index-scan.ts'
import { limitRows } from './limit.ts'
import type { Operator } from './operator.ts'
import { bodyFields, compileProjection, entryFields } from './project.ts'
import { compileSortKey, sortRows, type SortRow } from './sort.ts'
import { unionScan } from './union.ts'

export function buildOperators(source: QuerySource, plan: Plan, query: QuerySpecification): Operator<object> {
  if (query.limit === 0) return NOTHING
  const rows = plan.access.kind === 'scan' ? scanDocuments(source, plan, query) : scanKeys(source, plan, query)
  return query.limit === Infinity ? rows : limitRows(rows, query.limit)
}

const NOTHING: Operator<object> = { next: () => undefined }

function scanDocuments(source: QuerySource, plan: Plan, query: QuerySpecification): Operator<object> {
  const { documents } = source
  const fields = bodyFields(documents)
  const test = compileTest(plan.residual, fields)
  if (plan.sort === undefined) {
    const keep = skipRows(query.skip)
    const project = bodyProjection(source, query)
    return fullScan(documents, (body) => (test(body) && keep() ? project(body) : undefined))
  }
  const toSort = compileSortRow(query.sort, fields, toNumber)
  const unsorted = fullScan(documents, (body) => (test(body) ? toSort(body) : undefined))
  return fetchDocuments(source, query, sortRows(unsorted, query.skip, query.limit))
}

function scanKeys(source: QuerySource, plan: Plan, query: QuerySpecification): Operator<object> {
  const { access, filter, sort, project, reverse, residual } = plan
  const skip = sort === undefined ? query.skip : 0
  const skipByRank = plan.byRank ? skip : 0
  const keep = skipRows(skip - skipByRank)
  const filtersEntries = filter === 'entries' && (!isAlways(residual) || skip > skipByRank)
  const readsEntries = filtersEntries || sort === 'entries' || project === 'entries'
  const fieldCount = readsEntries ? heldFields(plan, query) : undefined
  let entries = scanEntries(source, access, { reverse, skip: skipByRank, fieldCount })

  if (readsEntries) {
    const rows = readEntries(source, plan, query, entries, keep)
    const ordered = sort === 'entries' ? sortRows(rows as Operator<SortRow<object>>, query.skip, query.limit) : rows
    if (project === 'entries') return ordered
    entries = ordered as Operator<EntryRow>
  }
  if (filter === 'entries' && sort !== 'documents') return fetchDocuments(source, query, entries)

  const fields = bodyFields(source.documents)
  const test = filter === 'documents' ? compileTest(residual, fields) : isTrue
  if (sort !== 'documents') {
    const output = bodyProjection(source, query)
    return fetchBodies(source, entries, (body) => (test(body) && keep() ? output(body) : undefined), true)
  }
  const toSort = compileSortRow(query.sort, fields, toNumber)
  const unsorted = fetchBodies(
    source,
    entries,
    (body) => (test(body) ? toSort(body) : undefined),
    filter === 'documents',
  )
  return fetchDocuments(source, query, sortRows(unsorted, query.skip, query.limit))
}

export interface ScanOptions {
  readonly reverse: boolean
  readonly skip: number
  readonly fieldCount: number | undefined
}

/** The entries of an access path. */
export function scanEntries(source: QuerySource, access: AccessPath, options: ScanOptions): Operator<EntryRow> {
  switch (access.kind) {
    case 'ids':
      return idScan(source.documents, access, { ...options, withId: options.fieldCount !== undefined })
    case 'index':
      return indexScan(source.index(access.index!), access, options)
    default:
      return unionScan(access.branches.map((branch) => scanEntries(source, branch, options)))
  }
}

/** How many of the index's fields the entries have to be decoded for. */
function heldFields({ access, residual, filter, sort, project }: Plan, query: QuerySpecification): number {
  const needed: string[] = []
  const need = (where: Reads | undefined, paths: readonly string[]): void => {
    if (where === 'entries') needed.push(...paths)
  }
  need(filter, pathsOf(residual))
  need(
    sort,
    query.sort.map(({ path }) => path),
  )
  need(project, query.fields ?? [])
  return 1 + Math.max(-1, ...needed.map((needed) => access.fields.findIndex(({ path }) => path === needed)))
}

/** What the entries alone decide; the few that do not hold their values whole are answered from their documents. */
function readEntries(
  source: QuerySource,
  { access, residual, filter, sort, project }: Plan,
  query: QuerySpecification,
  entries: Operator<EntryRow>,
  keep: () => boolean,
): Operator<object> {
  const compile = <Row extends Numbered>(fields: FieldReader<Row>): ((row: Row) => object | undefined) => {
    const test = filter === 'entries' ? compileTest(residual, fields) : isTrue
    const output = project === 'entries' ? compileProjection(query.fields!, fields) : toNumber
    const make = sort === 'entries' ? compileSortRow(query.sort, fields, output) : output
    return (row) => (test(row) && keep() ? make(row) : undefined)
  }
  const readers = { ofEntry: compile(entryFields(access)), ofBody: compile(bodyFields(source.documents)) }
  return fetchRows(entries, source.documents, readers, !isAlways(residual))
}

function fetchDocuments(source: QuerySource, query: QuerySpecification, entries: Operator<EntryRow>): Operator<object> {
  return fetchBodies(source, entries, bodyProjection(source, query), false)
}

function fetchBodies<Row>(
  source: QuerySource,
  entries: Operator<EntryRow>,
  ofBody: (body: BodyView) => Row | undefined,
  isSelective: boolean,
): Operator<Row> {
  return fetchRows(entries, source.documents, { ofBody, ofEntry: () => undefined }, isSelective)
}

function bodyProjection({ documents }: QuerySource, { fields }: QuerySpecification): (body: BodyView) => object {
  return fields === undefined ? (body) => documents.decode(body) : compileProjection(fields, bodyFields(documents))
}

type FieldReader<Row> = (path: string) => ReadField<Row>

function compileTest<Row>(condition: Condition, fields: FieldReader<Row>): (row: Row) => boolean {
  return isAlways(condition) ? isTrue : compileCondition(condition, fields)
}

function compileSortRow<Source, Row>(
  sort: readonly SortField[],
  fields: FieldReader<Source>,
  output: (row: Source) => Row,
): (row: Source) => SortRow<Row> {
  const key = compileSortKey(sort, fields)
  return (row) => ({ key: key(row), row: output(row) })
}

/** Says no to the first `skip` rows. */
function skipRows(skip: number): () => boolean {
  return () => {
    if (skip === 0) return true
    skip--
    return false
  }
}

function isTrue(): boolean {
  return true
}

interface Numbered {
  readonly number: number
}

/** What remains of a row whose document will be read later. */
function toNumber({ number }: Numbered): EntryRow {
  return { number, values: undefined }
}
