/** Translates a body of `_find` into a query of the library. The selector keeps CouchDB's meaning. */
import { isObject } from 'pannier/internal'
import type { Query } from 'pannier'
import { COUCHDB_MEANING } from '../../design/collation/root-collation.ts'
import { HttpError } from '../../http/http-error.ts'
import { parseJsonText } from '../../http/strict-json.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import type { MangoChoice } from './mango-choice.ts'
import { parseFields } from './mango-definition.ts'
import type { MangoField } from './mango-definition.ts'
import { checkSelector } from './selector-errors.ts'

export interface MangoQuery {
  readonly selector: JsonObject
  readonly sort: readonly MangoField[]
  /** The fields; empty: all. */
  readonly fields: readonly string[]
  readonly limit: number
  /** Includes the rows that the bookmark skips. */
  readonly skip: number
  readonly useIndex: readonly string[]
  /** The bookmark as it was given; 'nil' if it was not. */
  readonly bookmark: string
  /** False: a query for which there is no index is an error. */
  readonly allowFallback: boolean
  readonly executionStats: boolean
  /** Documents have `_conflicts`; with `fields` they do not. */
  readonly conflicts: boolean
}

const LIMIT_DEFAULT = 25
/** No answer of Mango's has design documents. */
const NO_DESIGN = { _id: { $not: { $beginsWith: '_design/' } } }

/** @throws HttpError 400 */
export function parseQuery(body: JsonObject): MangoQuery {
  for (const name of Object.keys(body))
    if (!MEMBERS.has(name)) throw new HttpError(400, 'invalid_key', `Invalid key ${name} for this request.`)
  const { selector, sort = [], fields = [], bookmark } = body
  if (selector === undefined) throw new HttpError(400, 'missing_required_key', 'Missing required key: selector')
  if (!isObject(selector)) throw new HttpError(400, 'invalid_selector_json', 'Selector must be a JSON object')
  if (!Array.isArray(fields) || fields.some((field) => typeof field !== 'string' || field === ''))
    throw new HttpError(400, 'invalid_fields_json', 'Fields must be an array of strings')
  if (!Array.isArray(sort)) throw new HttpError(400, 'invalid_sort_json', 'Sort must be an array of sort values')
  checkSelector(selector)
  count(body, 'r', 1)
  return {
    selector,
    sort: sort.length === 0 ? [] : sortFields(sort),
    fields: fields as string[],
    limit: count(body, 'limit', LIMIT_DEFAULT),
    skip: count(body, 'skip', 0) + bookmarkedRows(bookmark),
    useIndex: indexName(body['use_index']),
    bookmark: typeof bookmark === 'string' && bookmark !== '' ? bookmark : 'nil',
    allowFallback: flag(body, 'allow_fallback', true),
    executionStats: flag(body, 'execution_stats', false),
    conflicts: flag(body, 'conflicts', false) && fields.length === 0,
  }
}

const MEMBERS: ReadonlySet<string> = new Set([
  'selector',
  'sort',
  'fields',
  'limit',
  'skip',
  'bookmark',
  'use_index',
  'allow_fallback',
  'execution_stats',
  'conflicts',
  // Ignored.
  'r',
  'partition',
  'stable',
  'stale',
  'update',
])

/** A design document, and perhaps the name of an index: `"a"`, `"_design/a"`, `"a/b"`, `["a", "b"]`. */
function indexName(given: unknown): string[] {
  if (given === undefined || given === null) return []
  const names: unknown = typeof given === 'string' ? given.replace(/^_design\//, '').split('/') : given
  if (Array.isArray(names) && names.length <= 2 && names.every((name) => typeof name === 'string')) return names
  throw new HttpError(400, 'invalid_index_name', `Invalid index name: ${JSON.stringify(given)}`)
}

function sortFields(sort: readonly unknown[]): MangoField[] {
  try {
    return parseFields(sort)
  } catch (error) {
    if (error instanceof HttpError) throw new HttpError(400, 'invalid_sort_json', error.reason, { cause: error })
    throw error
  }
}

/** @throws TypeError for a malformed selector */
export function libraryQuery(
  collection: GuardedCollection,
  { selector, fields, limit, skip }: MangoQuery,
  { index, order }: MangoChoice,
): Query<JsonObject, JsonObject> {
  const restriction = index?.partialFilter === undefined ? [] : [index.partialFilter]
  const query = collection.find({ $and: [selector, ...restriction, NO_DESIGN] }, COUCHDB_MEANING)
  const part = query
    .sort(...order.map(({ path, descending }) => (descending ? `-${path}` : path)))
    .skip(skip)
    .limit(limit)
  return (fields.length === 0 ? part : part.fields(...fields)) as unknown as Query<JsonObject, JsonObject>
}

/** The bookmark of the next page. */
export function bookmarkOf(rows: number): string {
  return Buffer.from(JSON.stringify({ skip: rows })).toString('base64url')
}

function bookmarkedRows(bookmark: unknown): number {
  if (bookmark === undefined || bookmark === null || bookmark === '' || bookmark === 'nil') return 0
  const skip = typeof bookmark === 'string' ? skipOf(bookmark) : undefined
  if (typeof skip === 'number' && Number.isSafeInteger(skip) && skip >= 0) return skip
  throw new HttpError(400, 'invalid_bookmark', 'Invalid bookmark value')
}

function skipOf(bookmark: string): unknown {
  try {
    const value = parseJsonText(Buffer.from(bookmark, 'base64url').toString())
    return isObject(value) ? value['skip'] : undefined
  } catch (error) {
    if (error instanceof HttpError) return undefined
    throw error
  }
}

function count(body: JsonObject, name: string, otherwise: number): number {
  const { [name]: value = otherwise } = body
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new HttpError(
    400,
    'invalid_non_neg_integer',
    `Invalid value for non-negative integer ${name}: ${JSON.stringify(value)}`,
  )
}

function flag(body: JsonObject, name: string, otherwise: boolean): boolean {
  const { [name]: value = otherwise } = body
  if (typeof value === 'boolean') return value
  throw new HttpError(400, 'invalid_boolean', `Invalid boolean value for ${name}: ${JSON.stringify(value)}`)
}
