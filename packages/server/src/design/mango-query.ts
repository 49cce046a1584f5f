/** A body of `_find` as a query of the library. */
import type { Collection, Query } from 'pannier'
import { badRequest, HttpError } from '../http/http-error.ts'
import { isJsonObject } from '../http/request-body.ts'
import type { JsonObject } from '../http/request-body.ts'
import { parseJsonText } from '../http/strict-json.ts'
import { parseFields } from './mango-definition.ts'
import type { MangoField } from './mango-definition.ts'

export interface MangoQuery {
  readonly selector: JsonObject
  readonly sort: readonly MangoField[]
  /** Empty: all. */
  readonly fields: readonly string[]
  readonly limit: number
  /** With what the bookmark says. */
  readonly skip: number
  readonly useIndex: readonly string[]
  readonly executionStats: boolean
  /** Documents have `_conflicts`; with `fields` they do not. */
  readonly conflicts: boolean
}

const LIMIT_DEFAULT = 25
/** No answer of Mango's has design documents. */
const NO_DESIGN = { _id: { $not: { $beginsWith: '_design/' } } }

/** @throws HttpError 400 */
export function parseQuery(body: JsonObject): MangoQuery {
  const { selector, sort = [], fields = [], use_index = [], bookmark } = body
  if (selector === undefined) throw new HttpError(400, 'missing_required_key', 'Missing required key: selector')
  if (!isJsonObject(selector)) throw new HttpError(400, 'invalid_selector_json', 'Selector must be a JSON object')
  if (!Array.isArray(fields) || fields.some((field) => typeof field !== 'string' || field === ''))
    throw new HttpError(400, 'invalid_fields_json', 'Fields must be an array of strings')
  if (!Array.isArray(sort)) throw new HttpError(400, 'invalid_sort_json', 'Sort must be an array of sort values')
  const useIndex = typeof use_index === 'string' ? [use_index] : use_index
  if (!Array.isArray(useIndex) || useIndex.some((name) => typeof name !== 'string'))
    throw badRequest('use_index must be a string or an array of strings')
  return {
    selector,
    sort: sort.length === 0 ? [] : parseFields(sort),
    fields: fields as string[],
    limit: count(body, 'limit', LIMIT_DEFAULT),
    skip: count(body, 'skip', 0) + bookmarkedRows(bookmark),
    useIndex: useIndex as string[],
    executionStats: body['execution_stats'] === true,
    conflicts: body['conflicts'] === true && fields.length === 0,
  }
}

/** @throws TypeError for a selector that is none */
export function libraryQuery(
  collection: Collection<JsonObject>,
  { selector, sort, fields, limit, skip }: MangoQuery,
): Query<JsonObject, JsonObject> {
  const query = collection.find({ $and: [selector, NO_DESIGN] })
  const sorted =
    sort.length === 0 ? query : query.sort(...sort.map(({ path, descending }) => (descending ? `-${path}` : path)))
  const part = sorted.skip(skip).limit(limit)
  return (fields.length === 0 ? part : part.fields(...fields)) as unknown as Query<JsonObject, JsonObject>
}

/** Where the next page begins. */
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
    return isJsonObject(value) ? value['skip'] : undefined
  } catch (error) {
    if (error instanceof HttpError) return undefined
    throw error
  }
}

function count(body: JsonObject, name: string, otherwise: number): number {
  const value = body[name] ?? otherwise
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw badRequest(`${name} must be a whole number, 0 or more`)
  return value
}
