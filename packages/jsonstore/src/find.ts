/**
 * Finds documents. What an index can look up or put into order is a query of Pannier's. All else is tested on the entries of a search
 * field's index, which hold the value and the id: only documents that match are read.
 */
import type { Query } from 'pannier'
import type { SearchCondition, SearchQuery } from './conditions.ts'
import { compareBy } from './find-options.ts'
import type { ParsedOptions, SortField } from './find-options.ts'
import { matchesQuery, meetsAlone } from './match.ts'
import { planQuery } from './plan-query.ts'
import type { Documents, FoundDocument, PartPlan, QueryPlan } from './plan-query.ts'
import type { SearchValue } from './search-fields.ts'
import { searchPath } from './stored-document.ts'

/** If what can be looked up leaves no more, these are read and tested. */
const READ_MAX = 200

export async function findDocuments(
  documents: Documents,
  query: SearchQuery,
  options: ParsedOptions,
): Promise<FoundDocument[]> {
  const { skip, limit, newest, sort } = options
  if (limit === 0) return []
  const order = newest ? NEWEST : sort
  const plan = await planQuery(documents, query)
  let found: FoundDocument[]
  if (plan.selector !== undefined) {
    const paths = order.map(sortPath) as '_id'[]
    const ordered = documents
      .find(plan.selector)
      .sort(...paths)
      .skip(skip)
    found = await (limit === Infinity ? ordered : ordered.limit(limit)).toArray()
  } else found = await findCandidates(documents, query, plan, { order, skip, limit })
  return newest && sort[0]!.field !== '_id' ? found.sort(compareBy(sort)) : found
}

async function findCandidates(
  documents: Documents,
  query: SearchQuery,
  plan: QueryPlan,
  { order, skip, limit }: { readonly order: readonly SortField[]; readonly skip: number; readonly limit: number },
): Promise<FoundDocument[]> {
  const { keys, isExact } = await candidates(documents, plan)
  const sorted = [...keys].sort()
  const [{ field, descending }] = order as readonly [SortField]
  if (field !== '_id') {
    const all = await matching(documents, query, sorted)
    return all.sort(compareBy(order)).slice(skip, skip + limit)
  }
  if (descending) sorted.reverse()
  if (isExact) return await matching(documents, query, sorted.slice(skip, skip + limit))
  return (await firstMatching(documents, query, sorted, skip + limit)).slice(skip, skip + limit)
}

export async function countDocuments(documents: Documents, query: SearchQuery): Promise<number> {
  const plan = await planQuery(documents, query)
  if (plan.selector !== undefined) return await documents.find(plan.selector).count()
  const { keys, isExact } = await candidates(documents, plan)
  return isExact ? keys.size : (await matching(documents, query, [...keys])).length
}

/** For what removes and replaces: in the order of ids. */
export async function findKeys(documents: Documents, query: SearchQuery): Promise<string[]> {
  const plan = await planQuery(documents, query)
  if (plan.selector !== undefined) return (await keysOf(documents.find(plan.selector))).sort()
  const { keys, isExact } = await candidates(documents, plan)
  const sorted = [...keys].sort()
  return isExact ? sorted : (await matching(documents, query, sorted)).map(({ _id }) => _id)
}

const NEWEST: readonly SortField[] = [{ field: '_id', descending: true }]

function sortPath({ field, descending }: SortField): string {
  return (descending ? '-' : '') + (field === '_id' ? field : searchPath(field))
}

interface Candidates {
  readonly keys: ReadonlySet<string>
  /** Whether it is exact: all candidates match. */
  readonly isExact: boolean
}

/** Keys of the candidates of each part. */
async function candidates(documents: Documents, { parts }: QueryPlan): Promise<Candidates> {
  const keys = new Set<string>()
  let isExact = true
  for (const part of parts) {
    const found = await partCandidates(documents, part)
    for (const key of found.keys) keys.add(key)
    isExact &&= found.isExact
  }
  return { keys, isExact }
}

async function partCandidates(documents: Documents, { part, selector, others }: PartPlan): Promise<Candidates> {
  let keys: ReadonlySet<string> | undefined
  if (others.length < part.length) {
    keys = new Set(await keysOf(documents.find(selector)))
    if (keys.size <= READ_MAX && others.length > 0) return { keys, isExact: false }
  }
  let isExact = true
  for (const [field, conditions] of Map.groupBy(others, (condition) => condition.field)) {
    const walked = await walk(documents, field, conditions, keys)
    keys = walked.keys
    isExact &&= walked.isExact
  }
  return { keys: keys!, isExact }
}

/** Tests every entry of the field's index; only documents of `among` count. */
async function walk(
  documents: Documents,
  field: string,
  conditions: readonly SearchCondition[],
  among: ReadonlySet<string> | undefined,
): Promise<Candidates> {
  const keys = new Set<string>()
  let isExact = true
  const test = (key: string, value: SearchValue | undefined): void => {
    if (among !== undefined && !among.has(key)) return
    let meets: boolean | undefined = true
    for (const condition of conditions) {
      const one = meetsAlone(condition, value)
      if (one === false) return
      meets &&= one
    }
    if (meets === undefined) isExact = false
    keys.add(key)
  }
  if (field === '_id') {
    for (const key of await keysOf(documents.find())) test(key, Number(key.slice(1)))
    return { keys, isExact }
  }
  const rows = await documents
    .find()
    .fields(searchPath(field) as 's', '_id')
    .toArray()
  for (const { s, _id } of rows) test(_id, s !== undefined && Object.hasOwn(s, field) ? s[field] : undefined)
  return { keys, isExact }
}

async function keysOf(query: Query<FoundDocument, FoundDocument>): Promise<string[]> {
  const rows = await query.fields('_id').toArray()
  return rows.map(({ _id }) => _id)
}

/** Documents with these keys that match; some may have changed since the index was read. */
async function matching(documents: Documents, query: SearchQuery, keys: readonly string[]): Promise<FoundDocument[]> {
  const found = await documents.get(keys)
  return found.filter((document) => document !== undefined && matchesQuery(query, document)) as FoundDocument[]
}

/** As many as are wanted, and not many more are read. */
async function firstMatching(
  documents: Documents,
  query: SearchQuery,
  keys: readonly string[],
  wanted: number,
): Promise<FoundDocument[]> {
  if (wanted >= keys.length) return await matching(documents, query, keys)
  const found: FoundDocument[] = []
  for (let at = 0; at < keys.length && found.length < wanted;) {
    const count = Math.max(wanted - found.length, BATCH_MIN)
    found.push(...(await matching(documents, query, keys.slice(at, at + count))))
    at += count
  }
  return found
}

const BATCH_MIN = 32
