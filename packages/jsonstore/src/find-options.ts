/** How results are asked for: which of them, in which order, and what of each. */
import { isObject } from 'pannier/internal'
import type { Stored } from 'pannier'
import { failure } from './errors.ts'
import type { CallbackOptions } from './call.ts'
import { compareText } from './match.ts'
import { DOCUMENT_FIELDS, typeOfField } from './search-fields.ts'
import type { SearchSchema, SearchValue } from './search-fields.ts'
import { idOf, toDocument } from './stored-document.ts'
import type { StoredDocument } from './stored-document.ts'

/** Options of `find` and its kin. */
export interface FindOptions extends CallbackOptions {
  /** Values are equal, case and all, instead of containing what is looked for. */
  readonly exact?: boolean | undefined
  /** The highest number of results; a negative number means that many of the newest, newest first. */
  readonly limit?: number | undefined
  /** Skips this number at the start; needs a limit. */
  readonly offset?: number | undefined
  /**
   * Gives these alone: search fields, `_id`, `json`, `_operation`, `_dirty`, `_deleted`. As in JSONStore's tables all are text but `_id` (a number)
   * and `json` (an object): `'38'`, and `'1'` for true.
   */
  readonly filter?: readonly string[] | undefined
  /** The sort by search fields, the first one first; else by `_id`. */
  readonly sort?: readonly Readonly<Record<string, string>>[] | undefined
}

export interface SortField {
  /** A search field, or `_id`. */
  readonly field: string
  readonly descending: boolean
}

export interface ParsedOptions {
  readonly exact: boolean
  readonly skip: number
  readonly limit: number
  /** The newest `limit`. */
  readonly newest: boolean
  /** `_id` is the last of them. */
  readonly sort: readonly SortField[]
  readonly filter: readonly string[] | undefined
}

export function parseFindOptions(schema: SearchSchema, options: unknown): ParsedOptions {
  if (!isObject(options ?? {})) throw failure('BAD_PARAMETER_EXPECTED_OBJECT')
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== null)
  const { exact = false, limit, offset, filter, sort } = Object.fromEntries(given) as FindOptions
  if (limit === undefined && offset !== undefined) throw failure('OFFSET_WITHOUT_LIMIT')
  if (limit !== undefined && !Number.isSafeInteger(limit)) throw failure('INVALID_LIMIT_OR_OFFSET')
  if (offset !== undefined && (!Number.isSafeInteger(offset) || offset < 0 || limit! < 0))
    throw failure('INVALID_LIMIT_OR_OFFSET')
  return {
    exact: exact === true,
    skip: offset ?? 0,
    limit: limit === undefined ? Infinity : Math.abs(limit),
    newest: limit !== undefined && limit < 0,
    sort: parseSort(schema, sort),
    filter: parseFilter(schema, filter),
  }
}

/** The document as the app gets it. */
export function resultOf({ filter }: ParsedOptions, document: Stored<StoredDocument>): object {
  if (filter === undefined) return toDocument(document)
  const { _id, json, s, o, d = 0 } = document
  const fields = Object.entries(s).map(([name, value]) => [name, String(value)])
  const all: Readonly<Record<string, unknown>> = {
    ...(Object.fromEntries(fields) as Record<string, string>),
    _id: idOf(_id),
    json,
    _operation: o,
    _dirty: String(d),
    _deleted: '0',
  }
  return Object.fromEntries(filter.filter((name) => Object.hasOwn(all, name)).map((name) => [name, all[name]]))
}

/** The order of documents. */
export function compareBy(
  sort: readonly SortField[],
): (left: Stored<StoredDocument>, right: Stored<StoredDocument>) => number {
  const valueOf = (document: Stored<StoredDocument>, field: string): SearchValue | undefined =>
    field === '_id' ? idOf(document._id) : Object.hasOwn(document.s, field) ? document.s[field] : undefined
  return (left, right) => {
    for (const { field, descending } of sort) {
      const order = compareValues(valueOf(left, field), valueOf(right, field))
      if (order !== 0) return descending ? -order : order
    }
    return 0
  }
}

/** Nothing, numbers, texts. */
function compareValues(left: SearchValue | undefined, right: SearchValue | undefined): number {
  const rank = rankOf(left) - rankOf(right)
  if (rank !== 0 || left === undefined) return rank
  return typeof left === 'number' ? left - (right as number) : compareText(left, right as string)
}

function rankOf(value: SearchValue | undefined): number {
  return value === undefined ? 0 : typeof value === 'number' ? 1 : 2
}

function parseSort(schema: SearchSchema, sort: unknown): readonly SortField[] {
  if (sort === undefined) return [{ field: '_id', descending: false }]
  if (!Array.isArray(sort)) throw failure('INVALID_SORT_OBJECT', { given: sort })
  const fields = sort.map((one: unknown): SortField => {
    const [[name, direction] = [], ...others] = isObject(one) ? Object.entries(one) : []
    const order = typeof direction === 'string' ? direction.toLowerCase() : undefined
    const field = name?.toLowerCase()
    if (field === undefined || others.length > 0 || (order !== 'asc' && order !== 'desc'))
      throw failure('INVALID_SORT_OBJECT', { given: one })
    if (field !== '_id' && typeOfField(schema, field) === undefined)
      throw failure('INVALID_SORT_OBJECT', { given: one })
    return { field, descending: order === 'desc' }
  })
  const named = fields.filter(({ field }, at) => fields.findIndex((one) => one.field === field) === at)
  if (named.some(({ field }) => field === '_id')) return named
  // In the direction of the first, so that the index of that field has the order.
  return [...named, { field: '_id', descending: named[0]?.descending === true }]
}

function parseFilter(schema: SearchSchema, filter: unknown): readonly string[] | undefined {
  if (filter === undefined) return undefined
  if (!Array.isArray(filter)) throw failure('INVALID_FILTER_ARRAY', { given: filter })
  return filter.map((name: unknown) => {
    const field = typeof name === 'string' ? name.toLowerCase() : ''
    if (!DOCUMENT_FIELDS.includes(field) && typeOfField(schema, field) === undefined)
      throw failure('INVALID_FILTER_ARRAY', { given: name })
    return field
  })
}
