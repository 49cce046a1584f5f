/** Mango indexes as CouchDB stores them: views of design documents with the language "query". */
import { isObject } from 'pannier/internal'
import { createHash } from 'node:crypto'
import type { IndexInput } from 'pannier'
import { COUCHDB_MEANING } from '../../design/collation/root-collation.ts'
import { badRequest, HttpError } from '../../http/http-error.ts'
import type { JsonObject } from '@pannier/backend/internal'
import { checkDocumentId } from '../document-input.ts'
import { checkSelector } from './selector-errors.ts'

export interface MangoField {
  readonly path: string
  readonly descending: boolean
}

export interface MangoIndex {
  /** `_design/…` */
  readonly designId: string
  readonly name: string
  readonly fields: readonly MangoField[]
  readonly partialFilter: JsonObject | undefined
}

/**
 * A limit of the library. Further fields of an index only order ties, so an index on the first ones finds the same
 * documents.
 */
const FIELDS_MAX = 4
const QUERY_LANGUAGE = 'query'

/** The body of `POST _index`. @throws HttpError 400 */
export function parseIndexRequest(body: JsonObject): MangoIndex {
  const { index, ddoc, name, type: kind = 'json' } = body
  if (kind !== 'json')
    throw new HttpError(400, 'invalid_index', `Indexes of the type ${JSON.stringify(kind)} are not known.`)
  if (!isObject(index)) throw new HttpError(400, 'missing_required_key', 'Missing required key: index')
  if (index['selector'] !== undefined)
    throw new HttpError(400, 'invalid_key', 'Invalid key selector for this request: name it partial_filter_selector.')
  for (const text of [ddoc, name])
    if (text !== undefined && (typeof text !== 'string' || text === ''))
      throw badRequest('Invalid index name or ddoc: a text that is not empty')
  const fields = indexFields(index['fields'])
  const partialFilter = index['partial_filter_selector'] ?? body['partial_filter_selector']
  if (partialFilter !== undefined && !isObject(partialFilter)) throw badRequest('Invalid partial_filter_selector')
  if (partialFilter !== undefined) checkSelector(partialFilter)
  const given = name === undefined ? [] : [name]
  const hash = createHash('sha1')
    .update(JSON.stringify([fields, partialFilter ?? null, ...given]))
    .digest('hex')
  const designName = ddoc === undefined ? hash : (ddoc as string)
  return {
    designId: checkDocumentId(designIdOf(designName)),
    name: (given[0] as string | undefined) ?? hash,
    fields,
    partialFilter: partialFilter !== undefined && Object.keys(partialFilter).length > 0 ? partialFilter : undefined,
  }
}

/** The fields that the library can index. */
function indexFields(given: unknown): MangoField[] {
  const fields = parseFields(given)
  for (const { path } of fields)
    if (path === '' || (path.startsWith('_') && path !== '_id'))
      throw new HttpError(400, 'invalid_index_field', `An index can't have the field ${JSON.stringify(path)}.`)
  return fields
}

export function designIdOf(name: string): string {
  return name.startsWith('_design/') ? name : `_design/${name}`
}

/**
 * Parses `fields` or `sort`: `"a"`, or `{ "a": "desc" }`.
 *
 * @throws HttpError 400
 */
export function parseFields(fields: unknown): MangoField[] {
  if (!Array.isArray(fields) || fields.length === 0) throw badRequest('Index fields must be a non-empty array')
  return fields.map((field): MangoField => {
    if (typeof field === 'string') return { path: field, descending: false }
    const [entry, ...more] = isObject(field) ? Object.entries(field) : []
    if (entry === undefined || more.length > 0 || (entry[1] !== 'asc' && entry[1] !== 'desc'))
      throw new HttpError(
        400,
        'invalid_sort_field',
        `Invalid sort field: ${JSON.stringify(field)}. Write a name, or {"name": "asc"}.`,
      )
    return { path: entry[0], descending: entry[1] === 'desc' }
  })
}

export function isQueryDesign(document: JsonObject): boolean {
  return document['language'] === QUERY_LANGUAGE
}

/** The Mango indexes of a design document, without malformed ones. */
export function indexesOf(document: JsonObject): MangoIndex[] {
  const { _id, views } = document
  if (!isQueryDesign(document) || !isObject(views)) return []
  return Object.entries(views).flatMap(([name, view]) => {
    const found = indexOfView(_id as string, name, view)
    return found === undefined ? [] : [found]
  })
}

/** The design document with this index among its views. */
export function withIndex(document: JsonObject | undefined, index: MangoIndex): JsonObject {
  const { designId, name, fields, partialFilter } = index
  const wire = fields.map(wireField)
  const view = {
    map: { fields: Object.assign({}, ...wire), partial_filter_selector: partialFilter ?? {} },
    reduce: '_count',
    options: { def: { fields: wire, ...(partialFilter && { partial_filter_selector: partialFilter }) } },
  }
  const views = isObject(document?.['views']) ? document['views'] : {}
  return { ...document, _id: designId, language: QUERY_LANGUAGE, views: { ...views, [name]: view } }
}

/** The same without it; undefined if there is no such index, or it was the last one, when the document is to be deleted. */
export function withoutIndex(document: JsonObject, name: string): JsonObject | 'last' | undefined {
  const { views } = document
  if (!isObject(views) || !Object.hasOwn(views, name)) return undefined
  const { [name]: _, ...rest } = views
  return Object.keys(rest).length === 0 ? 'last' : { ...document, views: rest }
}

/** As `GET _index` lists it. */
export function wireIndex({ designId, name, fields, partialFilter }: MangoIndex): JsonObject {
  const def = { fields: fields.map(wireField), ...(partialFilter && { partial_filter_selector: partialFilter }) }
  return { ddoc: designId, name, type: 'json', partitioned: false, def }
}

export const ALL_DOCS_INDEX: JsonObject = {
  ddoc: null,
  name: '_all_docs',
  type: 'special',
  def: { fields: [{ _id: 'asc' }] },
}

/** The index's name among the collection's indexes. */
export function libraryName({ designId, name }: MangoIndex): string {
  return `${designId}/${name}`
}

/** Ids come after the fields, so that the index gives the order of ties too. */
export function libraryIndex(index: MangoIndex): IndexInput {
  const paths = new Set([...index.fields.map(({ path }) => path), '_id'])
  const on = [...paths].slice(0, FIELDS_MAX)
  return {
    on,
    name: libraryName(index),
    ...COUCHDB_MEANING,
    ...(index.partialFilter && { where: index.partialFilter }),
  }
}

function indexOfView(designId: string, name: string, view: unknown): MangoIndex | undefined {
  const { map, options } = isObject(view) ? view : {}
  const def = isObject(options) && isObject(options['def']) ? options['def'] : {}
  const filter = (isObject(map) ? map['partial_filter_selector'] : undefined) ?? def['partial_filter_selector']
  try {
    const partialFilter = isObject(filter) && Object.keys(filter).length > 0 ? filter : undefined
    return { designId, name, fields: parseFields(def['fields']), partialFilter }
  } catch (error) {
    if (error instanceof HttpError) return undefined
    throw error
  }
}

function wireField({ path, descending }: MangoField): Record<string, 'asc' | 'desc'> {
  return { [path]: descending ? 'desc' : 'asc' }
}
