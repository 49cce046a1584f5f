/**
 * Builds the operators of a plan:
 *
 *   scan of all documents -> [sort -> fetch] -> limit
 *   scan of keys -> [filter, sort or project by the entries] -> [fetch: filter, project or sort -> fetch] -> limit
 *
 * One function tests, skips and projects a row; a scan or fetch calls it while the row is at hand.
 */
import { lazyModule } from '../../base/lazy-module.ts'
import type { BodyView } from '../../document/body.ts'
import { isAlways, pathsOf } from '../ast/normalise.ts'
import { compileCondition, type ReadField } from '../match.ts'
import type { AccessPath } from '../planner/access-path.ts'
import type { Plan, QuerySpecification, Reads } from '../planner/plan.ts'
import type { QuerySource } from '../query-source.ts'
import { limitRows, type EntryRow, tallied, type Operator, type Tally } from './operator.ts'
import { fetchRows, fullScan, idScan, indexScan, type RowReaders, type ScanOptions } from './scans.ts'
import { bodyFields, compileProjection, entryFields } from './project.ts'
import type { SortLimits, SortPass, SortRow } from './sort.ts'

interface BuildOptions {
  /** Counts the rows of each step. */
  readonly tally?: Tally
  readonly sortLimits?: SortLimits
}

/** Loaded where a plan joins paths or walks a set. */
const setOperators = lazyModule(() => import('./set-operators.ts'))
/** Loaded only if no index gives the order. */
const sorting = lazyModule(() => import('./sort.ts'))

/** May throw a Miss. */
export function buildOperators(
  source: QuerySource,
  plan: Plan,
  query: QuerySpecification,
  { tally, sortLimits }: BuildOptions = {},
): Operator<object> {
  if (query.limit === 0) return NOTHING
  const parts: Parts = { source, plan, query, tally, sortLimits, keep: skipRows(plan, query) }
  const rows = plan.access.kind === 'scan' ? scanDocuments(parts) : scanKeys(parts)
  return tallied(query.limit === Infinity ? rows : limitRows(rows, query.limit), tally, 'result')
}

const NOTHING: Operator<never> = { next: () => undefined }

interface Parts {
  readonly source: QuerySource
  readonly plan: Plan
  readonly query: QuerySpecification
  readonly tally: Tally | undefined
  readonly sortLimits: SortLimits | undefined
  /** Says no to the rows that are skipped, unless that is done by rank or by the sort. */
  readonly keep: () => boolean
}

function scanDocuments(parts: Parts): Operator<object> {
  const { source, plan, query, tally, keep } = parts
  const { documents } = source
  const fields = bodyFields(documents)
  const test = compileTest(plan, fields, tally)
  const scan = <Row>(read: (body: BodyView) => Row | undefined): Operator<Row> =>
    fullScan(source, tallyOf(tally, plan.access), (body) => (test(body) ? read(body) : undefined))
  if (plan.sort === undefined) {
    const project = bodyProjection(source, query)
    return scan((body) => (keep() ? project(body) : undefined))
  }
  const rows = sorted(parts, (pass) => scan(sorting().compileSortRow(query, fields, isNothing, pass)))
  return fetchDocuments(source, query, rows, tally)
}

function scanKeys(parts: Parts): Operator<object> {
  const { source, plan, query, tally, keep } = parts
  const { filter, sort, project } = plan
  const isTested = !isAlways(plan.residual)
  if (plan.access.rows > 0 && project !== 'entries') source.documents.prefetch()
  const readsEntries =
    (filter === 'entries' && (isTested || (sort === undefined && query.skip > 0 && !plan.skips))) ||
    sort === 'entries' ||
    project === 'entries'
  const fieldCount = readsEntries ? heldFields(plan, query) : undefined
  const skip = plan.skips && sort === undefined ? query.skip : 0
  const scan = (): Operator<EntryRow> =>
    scanEntries(source, plan.access, { reverse: plan.reverse, skip, fieldCount }, tally)

  if (sort === 'entries') {
    const carried = project === 'entries' ? ({ values }: EntryRow): EntryRow['values'] => values : isNothing
    const { compileSortRow } = sorting()
    const rows = sorted(parts, (pass) =>
      readEntries(parts, scan(), {
        ofEntry: compileSortRow(query, entryFields(plan.access), carried, pass),
        ofBody: compileSortRow(query, bodyFields(source.documents), isNothing, pass),
      }),
    )
    return project === 'entries' ? projectEntries(parts, rows) : fetchDocuments(source, query, rows, tally)
  }
  if (sort === undefined && project === 'entries') return readEntries(parts, scan(), projections(parts))
  const entries = (): Operator<EntryRow> =>
    readsEntries ? readEntries(parts, scan(), { ofEntry: toNumber, ofBody: toNumber }) : scan()
  if (sort === undefined && filter === 'entries') return fetchDocuments(source, query, entries(), tally)

  const fields = bodyFields(source.documents)
  const test = filter === 'documents' ? compileTest(plan, fields, tally) : isTrue
  if (sort === undefined) {
    const output = bodyProjection(source, query)
    const read = (body: BodyView): object | undefined => (test(body) && keep() ? output(body) : undefined)
    return fetchBodies(source, entries(), read, true, tally, 'fetch')
  }
  const rows = sorted(parts, (pass) => {
    const toSort = sorting().compileSortRow(query, fields, isNothing, pass)
    return fetchBodies(source, entries(), (body) => (test(body) ? toSort(body) : undefined), true, tally, 'fetch')
  })
  return fetchDocuments(source, query, rows, tally)
}

/** The entries of an access path. */
export function scanEntries(
  source: QuerySource,
  access: AccessPath,
  options: ScanOptions,
  tally?: Tally,
): Operator<EntryRow> {
  return tallied(scanOf(source, access, options, tally), tally, access)
}

function scanOf(
  source: QuerySource,
  access: AccessPath,
  options: ScanOptions,
  tally: Tally | undefined,
): Operator<EntryRow> {
  switch (access.kind) {
    case 'ids':
      return idScan(source.documents, access, { ...options, withId: options.fieldCount !== undefined })
    case 'index':
      return indexScan(source.index(access.index!), access, options)
    default:
      return setOperators().scanOfSets(source, access, options, scanEntries, tally)
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

/** Answers from the entries alone. The few entries without whole values are answered from their documents. */
function readEntries<Row>(parts: Parts, entries: Operator<EntryRow>, output: Outputs<Row>): Operator<Row> {
  const { source, plan, tally, keep } = parts
  const isTested = plan.filter === 'entries' && !isAlways(plan.residual)
  const compile = <Read extends Numbered>(fields: FieldReader<Read>, make: (row: Read) => Row | undefined) => {
    const test = isTested ? compileTest(plan, fields, tally) : isTrue
    return (row: Read): Row | undefined => (test(row) && keep() ? make(row) : undefined)
  }
  const readers = {
    ofEntry: compile(entryFields(plan.access), output.ofEntry),
    ofBody: compile(bodyFields(source.documents), output.ofBody),
  }
  return fetchRows(entries, source, readers, isTested, tallyOf(tally, 'fetch'))
}

/** Rows that have been sorted by their entries. */
function projectEntries(parts: Parts, rows: Operator<EntryRow>): Operator<object> {
  return fetchRows(rows, parts.source, projections(parts), false, tallyOf(parts.tally, 'last fetch'))
}

interface Outputs<Row> {
  readonly ofEntry: (entry: EntryRow) => Row | undefined
  readonly ofBody: (body: BodyView) => Row | undefined
}

function projections({ source, plan, query }: Parts): Outputs<object> {
  return {
    ofEntry: compileProjection(query.fields!, entryFields(plan.access)),
    ofBody: compileProjection(query.fields!, bodyFields(source.documents)),
  }
}

function fetchDocuments(
  source: QuerySource,
  query: QuerySpecification,
  entries: Operator<EntryRow>,
  tally: Tally | undefined,
): Operator<object> {
  return fetchBodies(source, entries, bodyProjection(source, query), false, tally, 'last fetch')
}

function fetchBodies<Row>(
  source: QuerySource,
  entries: Operator<EntryRow>,
  ofBody: (body: BodyView) => Row | undefined,
  isSelective: boolean,
  tally: Tally | undefined,
  step: string,
): Operator<Row> {
  const readers: RowReaders<Row> = { ofBody, ofEntry: () => undefined }
  return fetchRows(entries, source, readers, isSelective, tallyOf(tally, step))
}

function sorted({ query, tally, sortLimits }: Parts, open: (pass: SortPass) => Operator<SortRow>): Operator<SortRow> {
  const pass = (of: SortPass): Operator<SortRow> => {
    tally?.add('sort passes', 1)
    return open(of)
  }
  return tallied(sorting().sortRows(pass, query.skip, query.limit, sortLimits), tally, 'sort')
}

function bodyProjection({ documents }: QuerySource, { fields }: QuerySpecification): (body: BodyView) => object {
  return fields === undefined ? (body) => documents.decode(body) : compileProjection(fields, bodyFields(documents))
}

type FieldReader<Row> = (path: string) => ReadField<Row>

function compileTest<Row extends Numbered>(
  { residual }: Plan,
  fields: FieldReader<Row>,
  tally: Tally | undefined,
): (row: Row) => boolean {
  if (isAlways(residual)) return isTrue
  const test = compileCondition(residual, fields, ({ number }) => number)
  if (tally === undefined) return test
  return (row) => {
    const passes = test(row)
    tally.add('filter', Number(passes))
    return passes
  }
}

/** Says no to the first rows; a scan by rank and a sort skip by themselves. */
function skipRows({ skips, sort }: Plan, { skip }: QuerySpecification): () => boolean {
  if (skips || sort !== undefined) return isTrue
  let left = skip
  return () => {
    if (left === 0) return true
    left--
    return false
  }
}

function tallyOf(tally: Tally | undefined, step: AccessPath | string): ((rows: number) => void) | undefined {
  return tally && ((rows) => tally.add(step, rows))
}

function isTrue(): boolean {
  return true
}

function isNothing(): undefined {
  return undefined
}

interface Numbered {
  readonly number: number
}

/** The reduced row of a document that is read later. */
function toNumber({ number }: Numbered): EntryRow {
  return { number, values: undefined }
}
