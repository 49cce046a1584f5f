/** Chooses the cheapest plan for a query. docs/internals/query-planner.md has the rules and costs. */
import { lazyModule } from '../../base/lazy-module.ts'
import { combine, conjuncts, isAlways, isNever, pathsOf, type Condition } from '../ast/normalise.ts'
import type { Collation } from '../../codec/registered-collation.ts'
import type { PlanSource } from '../query-source.ts'
import { accessPaths, CREATED, NO_ROWS, type AccessPath } from './access-path.ts'
import type { SkipScanLimits } from './skip-scan.ts'

const SET_KINDS: ReadonlySet<Condition['kind']> = new Set(['or', 'numbers', 'complement'])
/** Needed where sets serve the query. */
const sets = lazyModule(() => import('./set-paths.ts'))

export interface SortField {
  readonly path: string
  readonly descending: boolean
  /** Rows are sorted by the value of a related document; `path` is the field that holds its id. */
  readonly through?: RelatedValues
}

interface RelatedValues {
  /** The path as it was asked for. */
  readonly path: string
  readonly values: ValuesById
}

/** By the ids of the documents to which a field leads. */
export interface ValuesById {
  /** Undefined for what is no such id. May throw a Miss. */
  get(id: unknown): unknown
}

/** The query to plan. */
export interface QuerySpecification {
  readonly condition: Condition
  readonly sort: readonly SortField[]
  readonly skip: number
  /** The limit; Infinity: all. */
  readonly limit: number
  /** The order of strings in `sort`; undefined: by code point. */
  readonly collation?: Collation | undefined
  /** Paths of relations whose documents rows get in place of ids. */
  readonly populate?: readonly string[]
  /** Paths of the fields that are wanted; undefined: whole documents; none: rows are only counted. */
  readonly fields: readonly string[] | undefined
}

/** The source of the fields that a step needs. */
export type Reads = 'entries' | 'documents'

export interface Plan {
  readonly access: AccessPath
  /** Walks from the last entry to the first. */
  readonly reverse: boolean
  /** The condition that remains to be tested. */
  readonly residual: Condition
  readonly filter: Reads
  /** Undefined: rows come in the order asked for. */
  readonly sort: Reads | undefined
  /** 'entries': no document is read. */
  readonly project: Reads
  /** Every entry is a row, each document's once: counting and skipping need no walk. */
  readonly byRank: boolean
  /** Every row of the walk is one, so skipping needs no walk. */
  readonly skips: boolean
  /** Rows before skip and limit; exact where `byRank`, else at most. */
  readonly rows: number
  readonly cost: number
}

/** A query, and the plan for it if there is one. */
export interface Planned {
  readonly query: QuerySpecification
  readonly plan?: Plan
  /** Gives a query for the same rows of fewer documents. */
  readonly narrow?: ((query: QuerySpecification) => Promise<QuerySpecification>) | undefined
}

/** Costs of handling one document, in units of testing one document in a scan. */
const COST_SCANNED = 1
const COST_ENTRY = 0.2
/** Cost of testing values of an entry, which must be decoded from its key, in addition to walking to it. */
const COST_ENTRY_TESTED = 1.3
const COST_FETCHED = 4
const COST_SORTED = 1
/** Cost of taking the number of an entry into a set. */
const COST_COLLECTED = 0.3
/** Cost of looking up the number of an entry in a set, in addition to walking to it. */
const COST_INTERSECTED = 0.1
/** Cost of an entry if skip and limit need no walk: decides only between such plans. */
const COST_BY_RANK = 1e-6
/** The number of rows among which one is assumed to meet a condition that no path covers. */
const ROWS_PER_MATCH = 10

/** May throw a Miss. */
export function planQuery(source: PlanSource, query: QuerySpecification): Plan {
  return candidatePlans(source, query).reduce((best, plan) => (plan.cost < best.cost ? plan : best))
}

/** One plan for each access path. All give the same rows. */
export function candidatePlans(source: PlanSource, query: QuerySpecification, skipLimits?: SkipScanLimits): Plan[] {
  const { condition } = query
  const paths = isNever(condition)
    ? [{ ...NO_ROWS, met: new Set([condition]) }]
    : pathsOfAllKinds(source, condition, skipLimits)
  if (query.sort.some(isCreation))
    paths.push(...paths.filter(({ kind }) => kind !== 'scan').map((path) => sets().inCreationOrder(path)))
  const matchesMax = Math.min(...paths.map(({ rows }) => rows))
  const expected = Math.min(...paths.map((path) => path.expected))
  const isKnown = conjuncts(condition).every((part) => paths.some(({ met }) => met.has(part)))
  const matches = isKnown ? expected : Math.ceil(expected / ROWS_PER_MATCH)
  return paths.map((access) => planWith(access, query, matchesMax, matches))
}

/** Every access path for documents that meet the condition, full scan last. May throw a Miss. */
export function pathsOfAllKinds(source: PlanSource, condition: Condition, skipLimits?: SkipScanLimits): AccessPath[] {
  const needsSets = conjuncts(condition).some((part) =>
    part.kind === 'within' ? part.every && source.indexes.some(({ multi }) => multi) : SET_KINDS.has(part.kind),
  )
  return accessPaths(source, condition, skipLimits, needsSets ? sets().setPaths : undefined)
}

function planWith(access: AccessPath, query: QuerySpecification, matchesMax: number, matches: number): Plan {
  const residual = combine(
    'and',
    conjuncts(query.condition).filter((part) => !access.met.has(part)),
  )
  const isOneOrder = access.collation === query.collation?.name || query.sort.every(({ path }) => path === '_id')
  const direction = isOneOrder ? sortDirection(access, query.sort) : undefined
  // Entries hold only the keys of collated strings.
  const held = new Set([CREATED, ...(access.collation === undefined ? access.fields.map(({ path }) => path) : [])])
  const readsFor = (paths: readonly string[] | undefined): Reads =>
    access.kind !== 'scan' && paths !== undefined && paths.every((path) => held.has(path)) ? 'entries' : 'documents'
  const filter = readsFor(pathsOf(residual))
  const sortReads = filter === 'entries' ? readsFor(query.sort.map(({ path }) => path)) : filter
  const sort = direction === undefined ? sortReads : undefined
  const plan = {
    access,
    reverse: direction === 'reverse',
    residual,
    filter,
    sort,
    project: (sort ?? filter) === 'entries' ? readsFor(query.fields) : 'documents',
    byRank: isAlways(residual) && access.distinct && access.kind !== 'scan',
    skips: isAlways(residual) && (access.distinct || access.kind === 'set') && access.kind !== 'scan',
    rows: isAlways(residual) ? access.rows : matchesMax,
  } as const
  return { ...plan, cost: costOf(plan, query, isAlways(residual) ? access.expected : matches) }
}

export function isCreation({ path }: SortField): boolean {
  return path === CREATED
}

/** `rows`: how many are expected. */
function costOf(
  { access, filter, sort, project, byRank, skips, residual }: Omit<Plan, 'cost'>,
  { sort: order, skip, limit, fields }: QuerySpecification,
  rows: number,
): number {
  const isSorted = sort === undefined && order.length > 0
  // The pages of one unsorted query must come in one order, so the choice does not depend on how much is skipped.
  const wanted = order.length === 0 ? rows : Math.min(rows, skip + limit)
  const isPaged = skip > 0 || limit < Infinity || fields?.length === 0
  if (order.length === 0 && byRank && isPaged) return access.rows * COST_BY_RANK
  if (fields?.length === 0 && isAlways(residual) && access.kind !== 'scan') return access.toCount * COST_COLLECTED

  const [first = access, ...others] = access.kind === 'intersection' ? access.branches : []
  let walked = first.rows
  // Where no row is expected, all entries are walked to find that out.
  if (isSorted && (skips || rows > 0))
    walked = skips ? wanted - Math.min(rows, skip) : Math.ceil((walked * wanted) / rows)
  const sorted = sort === undefined ? 0 : rows * COST_SORTED
  if (access.kind === 'scan') return walked * COST_SCANNED + sorted + (sort === undefined ? 0 : wanted * COST_FETCHED)

  const isTested = filter === 'entries' && !isAlways(residual)
  let cost = walked * COST_ENTRY + sorted
  if (access.kind === 'set') cost += access.toCollect * COST_COLLECTED
  let passing = walked
  if (others.length > 0) {
    cost += (access.toCollect - first.toCollect) * COST_COLLECTED + walked * COST_INTERSECTED
    passing = (walked * access.expected) / Math.max(first.rows, 1)
  }
  if (isTested) cost += passing * COST_ENTRY_TESTED
  const passesEntries = isTested ? Math.min(passing, rows) : passing
  let fetched = 0
  if (filter === 'documents') fetched += passing
  else if (sort === 'documents') fetched += passesEntries
  if (sort === 'documents') fetched += wanted
  else if (filter === 'entries' && project === 'documents') fetched += Math.min(passesEntries, wanted)
  return cost + fetched * COST_FETCHED
}

/**
 * How the entries have to be walked to come in the order asked for: those of an index are sorted by the fields after the
 * fixed ones. Undefined if neither way does it.
 */
function sortDirection({ fields, fixed }: AccessPath, sort: readonly SortField[]): 'forward' | 'reverse' | undefined {
  const constant = new Set(fields.slice(0, fixed).map(({ path }) => path))
  const needed = sort.filter(({ path }) => !constant.has(path))
  const rest = fields.slice(fixed)
  if (
    needed.length > rest.length ||
    !needed.every(({ path, through }, at) => path === rest[at]!.path && through === undefined)
  )
    return undefined
  const reversed = needed.filter(({ descending }, at) => descending !== rest[at]!.descending)
  return reversed.length === 0 ? 'forward' : reversed.length === needed.length ? 'reverse' : undefined
}
