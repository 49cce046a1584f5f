/**
 * The part of a query that an index can look up, as selectors. An index can't say which texts contain another. But where a search
 * field has few different values, its index has them, and those that match can be looked up.
 */
import type { TransactionCollection, Selector, Stored } from 'pannier'
import type { SearchCondition, SearchPart, SearchQuery } from './conditions.ts'
import { meetsAlone } from './match.ts'
import { tagOf } from './search-fields.ts'
import type { SearchValue } from './search-fields.ts'
import { HAS_TAGS, idKey, isId, searchPath } from './stored-document.ts'
import type { StoredDocument } from './stored-document.ts'

export type Documents = TransactionCollection<StoredDocument>
export type FoundDocument = Stored<StoredDocument>

export interface PartPlan {
  readonly part: SearchPart
  readonly selector: Selector<FoundDocument>
  /** Conditions that the selector does not express. */
  readonly others: SearchPart
}

export interface QueryPlan {
  readonly parts: readonly PartPlan[]
  /** Says all of the query; undefined if no selector does. */
  readonly selector: Selector<FoundDocument> | undefined
}

/** A field with more different values is walked instead. */
const VALUES_MAX = 1_000

export async function planQuery(documents: Documents, query: SearchQuery): Promise<QueryPlan> {
  if (query.length === 0 || query.some((part) => part.length === 0)) return { parts: [], selector: {} }
  const hasTags = await hasSeveralValues(documents, query)
  const known = new Map<string, Promise<readonly SearchValue[] | undefined>>()
  const valuesOf = (field: string): Promise<readonly SearchValue[] | undefined> => {
    const values = known.get(field) ?? differentValues(documents, field)
    known.set(field, values)
    return values
  }
  const parts: PartPlan[] = []
  for (const part of query) parts.push(await planPart(part, hasTags, valuesOf))
  if (parts.some(({ others }) => others.length > 0)) return { parts, selector: undefined }
  return { parts, selector: parts.length === 1 ? parts[0]!.selector : { $or: parts.map(({ selector }) => selector) } }
}

/** Whether any field of any document has several values: mostly none has, and look-ups are simpler then. */
async function hasSeveralValues(documents: Documents, query: SearchQuery): Promise<boolean> {
  const asks = query.flat().some(({ comparison, field }) => field !== '_id' && EQUALITIES.has(comparison))
  return asks && (await documents.find(HAS_TAGS).count()) > 0
}

const EQUALITIES: ReadonlySet<string> = new Set(['equal', 'inside'])

async function planPart(
  part: SearchPart,
  hasTags: boolean,
  valuesOf: (field: string) => Promise<readonly SearchValue[] | undefined>,
): Promise<PartPlan> {
  const selectors: object[] = []
  const others: SearchCondition[] = []
  for (const condition of part) {
    const selector =
      condition.field === '_id'
        ? idSelector(condition)
        : (conditionSelector(condition, hasTags) ?? valuesSelector(condition, await valuesOf(condition.field)))
    if (selector === undefined) others.push(condition)
    else selectors.push(selector)
  }
  const selector = selectors.length === 1 ? selectors[0]! : { $and: selectors }
  return { part, selector: selector as Selector<FoundDocument>, others }
}

/** The values, by counts of the index's entries; undefined if there are too many. */
async function differentValues(documents: Documents, field: string): Promise<readonly SearchValue[] | undefined> {
  const path = searchPath(field) as 's'
  const rows = await documents
    .find()
    .groupBy(path)
    .aggregate({ documents: { $count: true } })
    .limit(VALUES_MAX + 1)
    .toArray()
  if (rows.length > VALUES_MAX) return undefined
  return rows.flatMap(({ s }) => (s !== undefined && Object.hasOwn(s, field) ? s[field]! : []))
}

/** The values that meet the condition; undefined if for one of them the documents have to be asked. */
function valuesSelector(condition: SearchCondition, values: readonly SearchValue[] | undefined): object | undefined {
  const found: SearchValue[] = []
  for (const value of values ?? []) {
    const meets = meetsAlone(condition, value)
    if (meets === undefined) return undefined
    if (meets) found.push(value)
  }
  return values && { [searchPath(condition.field)]: { $in: found } }
}

function idSelector({ comparison, negated, values }: SearchCondition): object | undefined {
  if (negated || !EQUALITIES.has(comparison)) return undefined
  return { _id: { $in: values.filter(isId).map(idKey) } }
}

function conditionSelector(condition: SearchCondition, hasTags: boolean): object | undefined {
  const { field, comparison, negated, values } = condition
  const path = searchPath(field)
  const [first, second] = values as [SearchValue, SearchValue]
  switch (comparison) {
    case 'equal':
    case 'inside': {
      if (negated) return hasTags ? undefined : { [path]: { $nin: values } }
      const is = { [path]: { $in: values } }
      return hasTags ? { $or: [is, { m: { $in: values.map((value) => tagOf(field, value)) } }] } : is
    }
    case 'lessThan':
      return { [path]: { $gte: lowestLike(first), $lt: first } }
    case 'lessOrEqualThan':
      return { [path]: { $gte: lowestLike(first), $lte: first } }
    case 'greaterThan':
      return { [path]: { $gt: first, ...belowOthers(first) } }
    case 'greaterOrEqualThan':
      return { [path]: { $gte: first, ...belowOthers(first) } }
    case 'between':
      if (negated || typeof first !== typeof second) return undefined
      return { [path]: { $gte: first, $lte: second } }
    default:
      return undefined
  }
}

/** The lowest value like this one. Numbers come before texts; fields hold nothing else. */
function lowestLike(value: SearchValue): SearchValue {
  return typeof value === 'number' ? -Number.MAX_VALUE : ''
}

function belowOthers(value: SearchValue): { readonly $lt?: string } {
  return typeof value === 'number' ? { $lt: '' } : {}
}
