/**
 * Search fields: what a collection can be asked by. Their values are taken from a document when it is written, as the columns of
 * JSONStore's tables were, and stored beside it, where indexes hold them:
 *
 * - a value has the type of its field as far as that is possible: a 'string' field holds text, the others hold numbers (booleans
 *   1 and 0) and, of what is no number, text;
 * - null, a missing value and an object are no value;
 * - several values, met where a path leads through arrays, are one text, joined with `-@-`, and each is stored as a tag besides.
 */
import { isObject } from 'pannier/internal'
import { failure } from './errors.ts'

/** The type of a search field. */
export type SearchFieldType = 'string' | 'integer' | 'number' | 'boolean'

/** By their names, dotted paths for what is inside. */
export type SearchFields = Readonly<Record<string, SearchFieldType>>

export type SearchValue = string | number

/** The part of a document that indexes hold. */
interface SearchValues {
  /** By the names of search fields. */
  readonly values: Readonly<Record<string, SearchValue>>
  /** `tagOf` each of several values. */
  readonly tags: readonly string[]
}

/** The search fields of a collection, by lower-case names. */
export interface SearchSchema {
  readonly searchFields: SearchFields
  readonly additionalSearchFields: SearchFields
}

/** The text between several values. */
export const VALUES_SEPARATOR = '-@-'
/** Fields that every document has; no search field has such a name. */
export const DOCUMENT_FIELDS: readonly string[] = ['_id', 'json', '_operation', '_deleted', '_dirty']

const TYPES: readonly unknown[] = ['string', 'integer', 'number', 'boolean']

/** Checks what an app declares. */
export function parseSearchSchema(searchFields: unknown = {}, additionalSearchFields: unknown = {}): SearchSchema {
  const own = parseFields(searchFields)
  const additional = parseFields(additionalSearchFields)
  const both = Object.keys(own).filter((name) => Object.hasOwn(additional, name))
  if (both.length > 0) throw failure('INVALID_SEARCH_FIELD', { given: both })
  return { searchFields: own, additionalSearchFields: additional }
}

function parseFields(fields: unknown): SearchFields {
  if (!isObject(fields) || Object.values(fields).some((type) => typeof type === 'object'))
    throw failure('BAD_PARAMETER_EXPECTED_SIMPLE_OBJECT', { given: fields })
  const parsed = new Map<string, SearchFieldType>()
  for (const [name, type] of Object.entries(fields)) {
    const lower = name.toLowerCase()
    if (lower === '' || lower === '__proto__') throw failure('INVALID_SEARCH_FIELD', { given: name })
    if (parsed.has(lower)) throw failure('BAD_PARAMETER_EXPECTED_SIMPLE_OBJECT', { given: name })
    if (!TYPES.includes(type) || DOCUMENT_FIELDS.includes(lower))
      throw failure('INVALID_SEARCH_FIELD_TYPES', { given: name })
    parsed.set(lower, type as SearchFieldType)
  }
  return Object.fromEntries([...parsed].sort(([left], [right]) => (left < right ? -1 : 1)))
}

export function sameSchema(left: SearchSchema, right: SearchSchema): boolean {
  return (
    JSON.stringify([left.searchFields, left.additionalSearchFields]) ===
    JSON.stringify([right.searchFields, right.additionalSearchFields])
  )
}

/** The type of a field; undefined if it is no search field. */
export function typeOfField(schema: SearchSchema, name: string): SearchFieldType | undefined {
  for (const fields of [schema.searchFields, schema.additionalSearchFields])
    if (Object.hasOwn(fields, name)) return fields[name]
  return undefined
}

/** `additional`: the values that the app gives for additional search fields, by their lower-case names. */
export function searchValuesOf(
  schema: SearchSchema,
  json: unknown,
  additional: Readonly<Record<string, unknown>>,
): SearchValues {
  const values: Record<string, SearchValue> = {}
  const tags: string[] = []
  const add = (name: string, type: SearchFieldType, found: readonly unknown[]): void => {
    const stored = found.flatMap((value) => toSearchValue(type, value) ?? [])
    if (stored.length === 1) values[name] = stored[0]!
    if (stored.length < 2) return
    values[name] = stored.join(VALUES_SEPARATOR)
    tags.push(...stored.map((value) => tagOf(name, value)))
  }
  for (const [name, type] of Object.entries(schema.searchFields)) add(name, type, valuesAt(json, name.split('.'), 0))
  for (const [name, type] of Object.entries(schema.additionalSearchFields)) {
    if (Object.hasOwn(additional, name)) add(name, type, [additional[name]].flat())
  }
  return { values, tags: [...new Set(tags)] }
}

/** A value as it is stored in, and looked for in, a field of that type; undefined: not a value of the type. */
export function toSearchValue(type: SearchFieldType, value: unknown): SearchValue | undefined {
  if (typeof value === 'boolean') return type === 'string' ? String(Number(value)) : Number(value)
  if (typeof value === 'number') return type === 'string' ? String(value) : value
  if (typeof value !== 'string') return undefined
  if (type === 'string') return value
  if (type === 'boolean' && /^(true|false)$/i.test(value)) return Number(value.toLowerCase() === 'true')
  return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value
}

/** The tag of one of several values of a field, exactly. */
export function tagOf(name: string, value: SearchValue): string {
  return `${name}\u0000${typeof value === 'number' ? 'n' : 's'}${value}`
}

export function isTagOf(tag: string, name: string): boolean {
  return tag.startsWith(`${name}\u0000`)
}

export function textOfTag(tag: string, name: string): string {
  return tag.slice(name.length + 2)
}

/**
 * Everything at the end of the path, through arrays. A property's name may have dots itself, and so be several names of the path. Names are
 * compared without case, as search fields have lost theirs.
 */
function valuesAt(value: unknown, names: readonly string[], at: number): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((element) => valuesAt(element, names, at))
  if (at === names.length) return [value]
  if (!isObject(value)) return []
  const found: unknown[] = []
  for (let end = at + 1; end <= names.length; end++) {
    const name = names.slice(at, end).join('.')
    const own = Object.hasOwn(value, name) ? name : Object.keys(value).find((key) => key.toLowerCase() === name)
    if (own !== undefined) found.push(...valuesAt(value[own], names, end))
  }
  return found
}
