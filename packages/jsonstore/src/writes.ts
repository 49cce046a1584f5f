/**
 * Changes of documents. Each function runs inside a transaction and checks everything before its first write, so that a failure leaves
 * the transaction of an app as it was.
 */
import { isObject } from 'pannier/internal'
import type { Stored } from 'pannier'
import type { SearchPart } from './conditions.ts'
import { failure } from './errors.ts'
import { findKeys } from './find.ts'
import { DOCUMENT_FIELDS, isTagOf, searchValuesOf, typeOfField } from './search-fields.ts'
import type { SearchSchema } from './search-fields.ts'
import type { Access } from './session.ts'
import { idKey, removedName } from './stored-document.ts'
import type { JsonObject, Operation, StoredDocument } from './stored-document.ts'

/** The collection that is written to. */
export interface Target {
  readonly name: string
  readonly schema: SearchSchema
  /** When a document becomes dirty: never the same twice. */
  readonly dirtyNow: () => number
}

export interface NewDocument {
  readonly json: JsonObject
  /** Additional fields by lower-case names. */
  readonly additional: Readonly<Record<string, unknown>>
  /** The id in a remote database, for documents that come from there. */
  readonly remoteId?: string
}

/** A document as an app gives it: its id may be a number in a text. */
export interface Replacement {
  readonly _id: number | string
  readonly json: JsonObject
}

/** The ids of documents are given in turn, and none twice. */
const NEXT_ID = 'next'

export async function addDocuments(
  access: Access,
  target: Target,
  added: readonly NewDocument[],
  markDirty: boolean,
): Promise<number> {
  if (added.length === 0) return 0
  const first = await takeIds(access, target.name, added.length)
  const documents = added.map(({ json, additional, remoteId }, at) => ({
    _id: idKey(first + at),
    ...storedOf(target, json, additional),
    ...(remoteId !== undefined && { r: remoteId }),
    ...operation('add', 'store', target, markDirty),
  }))
  await access(target.name).insert(documents)
  return documents.length
}

/** The first of `count` ids that nobody has had; at least `min`. */
export async function takeIds(access: Access, name: string, count: number, min = 1): Promise<number> {
  const { local } = access(name)
  const stored = await local.get(NEXT_ID)
  const first = Math.max(min, (stored?.['next'] as number | undefined) ?? 1)
  await local.put({ ...stored, _id: NEXT_ID, next: first + count })
  return first
}

/** Replaces all of the documents, or none: then the failure has the missing ones. */
export async function replaceDocuments(
  access: Access,
  target: Target,
  replacements: readonly Replacement[],
  markDirty: boolean,
): Promise<number> {
  // Of several with one id the last one counts.
  const byKey = new Map(replacements.map((one) => [idKey(Number(one._id)), one]))
  const collection = access(target.name)
  const stored = await collection.get([...byKey.keys()])
  const missing = [...byKey.values()].filter((_, at) => stored[at] === undefined)
  if (missing.length > 0) throw failure('OPERATION_FAILED_ON_SPECIFIC_DOCUMENT', { doc: missing })
  const documents = [...byKey.values()].map(({ json }, at) => replacedBy(target, stored[at]!, json, markDirty))
  await collection.put(documents)
  return replacements.length
}

/** Gives the number of those that were there. */
export async function removeDocuments(
  access: Access,
  target: Target,
  keys: readonly string[],
  markDirty: boolean,
): Promise<number> {
  const collection = access(target.name)
  const found = (await collection.get([...new Set(keys)])).filter((one) => one !== undefined)
  const pushed = found.filter((one) => markDirty && !isNew(one))
  await collection.delete(found)
  const tombstones = pushed.map(({ _id, json, r }) => ({
    _id,
    json,
    s: {},
    o: 'remove' as const,
    d: target.dirtyNow(),
    ...(r !== undefined && { r }),
  }))
  if (tombstones.length > 0) await access(removedName(target.name)).upsert(tombstones)
  return found.length
}

interface ChangeRequest {
  readonly addNew: boolean
  readonly markDirty: boolean
  /** The criteria: search fields, in which what is replaced equals what replaces it. */
  readonly criteria: readonly string[]
}

/** Gives the number of documents that were replaced or added. */
export async function changeDocuments(
  access: Access,
  target: Target,
  data: readonly JsonObject[],
  { addNew, markDirty, criteria }: ChangeRequest,
): Promise<number> {
  let changed = 0
  for (const json of data) {
    const part = criteriaOf(target.schema, json, criteria)
    const keys = part === undefined ? [] : await findKeys(access(target.name), [part])
    if (keys.length > 0) {
      const replacements = keys.map((key) => ({ _id: Number(key.slice(1)), json }))
      changed += await replaceDocuments(access, target, replacements, markDirty)
    } else if (addNew) changed += await addDocuments(access, target, [{ json, additional: {} }], markDirty)
  }
  return changed
}

export function parseCriteria(schema: SearchSchema, criteria: unknown): readonly string[] {
  if (criteria === undefined) return []
  if (!Array.isArray(criteria)) throw failure('BAD_PARAMETER_WRONG_SEARCH_CRITERIA', { given: criteria })
  return criteria.map((name: unknown) => {
    const field = typeof name === 'string' ? name.toLowerCase() : ''
    if (DOCUMENT_FIELDS.includes(field)) throw failure('BAD_PARAMETER_WRONG_SEARCH_CRITERIA', { given: name })
    if (typeOfField(schema, field) === undefined) throw failure('INVALID_SEARCH_FIELD', { given: name })
    return field
  })
}

/** As JSON has it: what is no JSON is left out or fails. */
export function toJson(data: unknown): JsonObject {
  try {
    const json: unknown = JSON.parse(JSON.stringify(data))
    if (isObject(json)) return json
  } catch (cause) {
    throw failure('JSON_STORE_INVALID_JSON_STRUCTURE', { cause })
  }
  throw failure('JSON_STORE_INVALID_JSON_STRUCTURE')
}

/** Search values and document as they are stored. */
export function storedOf(
  { schema }: Pick<Target, 'schema'>,
  json: JsonObject,
  additional: Readonly<Record<string, unknown>>,
): Pick<StoredDocument, 'json' | 's' | 'm'> {
  const { values, tags } = searchValuesOf(schema, json, additional)
  return { json, s: values, ...(tags.length > 0 && { m: tags }) }
}

/** Whether the document was added here and never pushed. */
function isNew({ o, d }: StoredDocument): boolean {
  return o === 'add' && d !== undefined
}

/** The stored form of a document's replacement. */
export function replacedBy(
  target: Target,
  stored: Stored<StoredDocument>,
  json: JsonObject,
  markDirty: boolean,
): Stored<StoredDocument> {
  const { schema } = target
  const { json: _json, s, m = [], o: _o, d: _d, ...kept } = stored
  const { values, tags } = searchValuesOf(schema, json, {})
  // Additional search fields keep their values.
  const additional = Object.keys(schema.additionalSearchFields)
  const all = {
    ...Object.fromEntries(additional.flatMap((name) => (Object.hasOwn(s, name) ? [[name, s[name]!]] : []))),
    ...values,
  }
  const allTags = [...m.filter((tag) => additional.some((name) => isTagOf(tag, name))), ...tags]
  return {
    ...kept,
    json,
    s: all,
    ...(allTags.length > 0 && { m: allTags }),
    ...operation(isNew(stored) ? 'add' : 'replace', 'refresh', target, markDirty),
  }
}

function operation(
  dirty: Operation,
  clean: Operation,
  { dirtyNow }: Target,
  markDirty: boolean,
): { readonly o: Operation; readonly d?: number } {
  return markDirty ? { o: dirty, d: dirtyNow() } : { o: clean }
}

/** Undefined if the document lacks one of the values. */
function criteriaOf(schema: SearchSchema, json: JsonObject, criteria: readonly string[]): SearchPart | undefined {
  if (criteria.length === 0) return undefined
  const { values } = searchValuesOf(schema, json, {})
  if (!criteria.every((field) => Object.hasOwn(values, field))) return undefined
  return criteria.map((field) => ({ field, comparison: 'equal', negated: false, values: [values[field]!] }))
}
