/** Groups of records and what is computed of them: `group` and `aggregate` of a list. docs/internals/backend-reads.md is normative. */
import { sortPaths, type SortPath } from '@pannier/rules/compile'
import { invalid } from '../../gateway/service-error.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { ListOptions, RecordJson } from '../record-types.ts'
import { queryOf, type WantedRecords } from './select-records.ts'
import type { RecordSnapshot } from './record-snapshot.ts'

const GROUPS_MAX = 8
const AGGREGATES_MAX = 16
const SORTS_MAX = 8

type Operator = 'count' | 'sum' | 'avg' | 'min' | 'max'

/** A result that is wanted: `count`, or `sum:votes`. */
interface Wanted {
  readonly operator: Operator
  /** The path; the empty text for `count`. */
  readonly path: string
}

export interface AggregateRequest {
  readonly group: readonly string[]
  readonly wanted: readonly Wanted[]
  /** The sort: `-count`, `sum.votes`, `group.author` */
  readonly sort: readonly string[]
}

/** Undefined if the list is one of records. @throws ServiceError INVALID */
export function readAggregate({ group, aggregate, sort = '', after }: ListOptions): AggregateRequest | undefined {
  if (group === undefined && aggregate === undefined) return undefined
  if (after !== undefined) throw invalid('Groups have no cursors. Leave out "after", or "group" and "aggregate".')
  const paths = [...new Set(textsIn(group ?? ''))]
  const wanted = textsIn(aggregate ?? 'count').map(readWanted)
  checkMost('group', paths, GROUPS_MAX)
  checkMost('aggregate', wanted, AGGREGATES_MAX)
  checkMost('sort', textsIn(sort), SORTS_MAX)
  return { group: paths, wanted, sort: textsIn(sort) }
}

function textsIn(list: string): string[] {
  return list
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
}

function checkMost(name: string, list: readonly unknown[], most: number): void {
  if (list.length > most) throw invalid(`"${name}" must have at most ${most} parts, got ${list.length}.`)
}

function readWanted(text: string): Wanted {
  const [, operator, path = ''] = /^(count|(?:sum|avg|min|max)(?=:))(?::(\w+))?$/.exec(text) ?? []
  if (operator === undefined || (operator === 'count') !== (path === ''))
    throw invalid(
      `"aggregate" must have "count", or "sum", "avg", "min" or "max" with a field ("sum:votes"), got "${text}".`,
    )
  return { operator: operator as Operator, path }
}

/** The paths that have to be resolved: those of groups first, then one for each result but a count. */
export function pathsRead({ group, wanted }: AggregateRequest): readonly string[] {
  return [...group, ...wanted.flatMap(({ path }) => (path === '' ? [] : [path]))]
}

interface FoundGroups {
  readonly items: readonly RecordJson[]
  /** Undefined if it is not wanted. */
  readonly total: number | undefined
}

/** `list.bound` was made with the paths of `pathsRead` as its sort. @throws ServiceError INVALID */
export async function aggregateRecords(
  snapshot: RecordSnapshot,
  list: WantedRecords,
  { group, wanted, sort }: AggregateRequest,
): Promise<FoundGroups> {
  if (list.definition.type === 'view')
    throw invalid('The rows of a view are not grouped here. Write GROUP BY into the query of the view.')
  const paths = sortPaths(list.bound)
  if (paths === undefined || paths.some(({ path }) => path.includes('.')))
    throw invalid(
      'Groups and aggregates must be of fields of the record with one value: no lists, JSON, points or relations of it.',
    )
  const groups = paths.slice(0, group.length)
  const read = paths.slice(group.length)
  const results = wanted.map((one) => ({ ...one, of: one.path === '' ? undefined : read.shift()! }))
  for (const { operator, path, of } of results)
    if ((operator === 'sum' || operator === 'avg') && of!.empty !== 0)
      throw invalid(`"${operator}" must be of a number field, got "${path}".`)
  await snapshot.prepare(list.bound)
  const { query } = await queryOf(snapshot, { ...list, sort: [] })
  const order = sort.map((key) => sortField(key, group, groups, wanted))
  const steps = Object.fromEntries(results.map(({ operator, of }, at) => [nameOf(at), stepOf(operator, of)]))
  const itemsOf = (rows: readonly JsonObject[]): RecordJson[] => rows.map((row) => itemOf(row, group, groups, wanted))
  if (group.length === 0) {
    const items = itemsOf([await query.aggregate(steps)]).slice(list.skip, list.skip + list.limit)
    return { items, total: list.withTotal ? 1 : undefined }
  }
  const rows = query.groupBy(...groups.map(documentPath)).aggregate(steps)
  const page = rows
    .sort(...(order as never[]))
    .skip(list.skip)
    .limit(list.limit)
  const items = itemsOf((await page.toArray()) as JsonObject[])
  return { items, total: list.withTotal ? await rows.count() : undefined }
}

/** As the library names it in its rows. No field of a record has such a name. */
function nameOf(place: number): string {
  return `:${place}`
}

function documentPath({ path }: SortPath): string {
  return path === 'id' ? '_id' : path
}

function stepOf(operator: Operator, of: SortPath | undefined): { readonly $count: true } {
  const step = of === undefined ? { $count: true } : { [`$${operator}`]: documentPath(of) }
  return step as { readonly $count: true }
}

/** @throws ServiceError INVALID */
function sortField(
  key: string,
  group: readonly string[],
  groups: readonly SortPath[],
  wanted: readonly Wanted[],
): string {
  const name = key.replace(/^[-+]/, '')
  const sign = key.startsWith('-') ? '-' : ''
  const place = group.findIndex((path) => `group.${path}` === name)
  if (place >= 0) return sign + documentPath(groups[place]!)
  const result = wanted.findIndex(({ operator, path }) => (path === '' ? operator : `${operator}.${path}`) === name)
  if (result < 0)
    throw invalid(`"sort" of groups must have "group.FIELD", "count" or "sum.FIELD" as asked for, got "${name}".`)
  return sign + nameOf(result)
}

/** `{ group: { author }, count, sum: { votes } }` */
function itemOf(
  row: JsonObject,
  group: readonly string[],
  groups: readonly SortPath[],
  wanted: readonly Wanted[],
): RecordJson {
  const item: Record<string, unknown> = {
    group: Object.fromEntries(group.map((path, at) => [path, row[documentPath(groups[at]!)]])),
  }
  for (const [at, { operator, path }] of wanted.entries()) {
    // There is no average, no least and no greatest of nothing.
    const value = row[nameOf(at)] ?? null
    if (path === '') item[operator] = value
    else item[operator] = { ...(item[operator] as object | undefined), [path]: value }
  }
  return item
}
