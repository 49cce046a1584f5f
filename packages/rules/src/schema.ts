/** Collections and fields as rules see them, made from definitions in PocketBase's form. */
import { kindOf } from './kinds.ts'
import type { Affinity } from './values.ts'

/** A collection in the form of PocketBase's API. Keys that rules do not need are ignored. */
export interface CollectionDefinition {
  /** The id of the collection; the name by default. Relations refer to it. */
  readonly id?: string
  /** As in a path: `@collection.NAME`, `NAME_via_field`. Upper and lower case are the same. */
  readonly name: string
  /** `auth`, `base` or `view`. */
  readonly type?: string
  /** The fields of the collection. `id` is there anyway. */
  readonly fields: readonly FieldDefinition[]
  /** `null` keeps it from filters of those who are not trusted; a rule is added to their filters. */
  readonly listRule?: string | null
  /** The statements that create its indexes. Only unique ones of a single relation field matter. */
  readonly indexes?: readonly string[]
}

/** A field in the form of PocketBase's API. Keys that rules do not need are ignored. */
export interface FieldDefinition {
  /** As in a path. */
  readonly name: string
  /** A name of one of PocketBase's 14 types. */
  readonly type: string
  /** Kept from filters of those who are not trusted. */
  readonly hidden?: boolean
  /** If it is there and not empty, `sees` of `bind` tells who may filter by the field. */
  readonly viewRule?: string | null
  /** Whether `search()` looks for words in it. */
  readonly searchable?: boolean
  /** The value of a select, file or relation is a list if this is more than 1. */
  readonly maxSelect?: number
  /** Id or name of the collection that a relation leads to. */
  readonly collectionId?: string
}

/** Made by `createSchema`. */
export interface Schema {
  /** Finds a collection by its name, in any case, or by its id. */
  find(nameOrId: string): Collection | undefined
  /** All collections. */
  readonly collections: readonly Collection[]
}

/** A collection of a schema. */
export interface Collection {
  /** The id that relations refer to. */
  readonly id: string
  /** The name in paths. */
  readonly name: string
  /** Whether its records are accounts, whose `email` has a visibility. */
  readonly isAuth: boolean
  /** Whether a field is searchable. */
  readonly isSearchable: boolean
  /** The fields by name. */
  readonly fields: ReadonlyMap<string, Field>
  /** `''` admits all, `null` only those who are trusted. */
  readonly listRule: string | null
}

/** A field of a collection. */
export interface Field {
  /** The name in paths. */
  readonly name: string
  /** PocketBase's name of the type. */
  readonly type: string
  /** Whether only those who are trusted may filter by it. */
  readonly isHidden: boolean
  /** Whether those who are not trusted have to be asked about, as a rule says who sees it. */
  readonly isRuled: boolean
  /** Whether it is a select, file or relation, for `:each` and `:length`. */
  readonly isListable: boolean
  /** Whether its value is a list. */
  readonly isMany: boolean
  /** Whether at most one record has a value: a back-relation then leads to one record. */
  readonly isUnique: boolean
  /** Id or name of the collection that a relation leads to. */
  readonly to: string
}

const UNIQUE_INDEX =
  /^\s*create\s+unique\s+index\b[^(]*\(\s*[`"'[]?(\w+)[`"'\]]?(?:\s+collate\s+\w+)?(?:\s+(?:asc|desc))?\s*\)/i

/**
 * Reads definitions of collections, as PocketBase exports them.
 *
 * @example
 * const schema = createSchema([{ name: 'posts', fields: [{ name: 'title', type: 'text' }] }])
 * check("titel = 'a'", schema, 'posts') // [RuleError: Unknown field "titel". Write "title".]
 */
export function createSchema(definitions: readonly CollectionDefinition[]): Schema {
  const collections = definitions.map(collectionOf)
  const byName = new Map<string, Collection>()
  for (const collection of collections) byName.set(collection.id.toLowerCase(), collection)
  for (const collection of collections) byName.set(collection.name.toLowerCase(), collection)
  return { collections, find: (nameOrId) => byName.get(nameOrId.toLowerCase()) }
}

function collectionOf({ id, name, type, fields, listRule, indexes = [] }: CollectionDefinition): Collection {
  const unique = new Set(indexes.map((index) => UNIQUE_INDEX.exec(index)?.[1]?.toLowerCase()))
  const all = fields.some((field) => field.name === 'id') ? fields : [{ name: 'id', type: 'text' }, ...fields]
  const byName = new Map(all.map((field) => [field.name, fieldOf(field, unique.has(field.name.toLowerCase()))]))
  const isSearchable = fields.some(({ searchable }) => searchable)
  return { id: id ?? name, name, isAuth: type === 'auth', isSearchable, fields: byName, listRule: listRule ?? null }
}

function fieldOf({ name, type, hidden, viewRule, maxSelect, collectionId }: FieldDefinition, isUnique: boolean): Field {
  const isListable = kindOf({ type }).isListable === true
  const isMany = isListable && (maxSelect ?? 0) > 1
  const isRuled = viewRule !== undefined && viewRule !== ''
  return { name, type, isHidden: hidden === true, isRuled, isListable, isMany, isUnique, to: collectionId ?? '' }
}

/** The type of the values of a field. An object, and a list, has a column of JSON. */
export function valueType(field: Field): 'string' | 'number' | 'boolean' | 'object' {
  return typeof (field.isMany ? [] : kindOf(field).empty) as 'object'
}

/** PocketBase keeps a list in a column of JSON, whose affinity is that of numbers. */
export function affinityOf(field: Field): Affinity {
  return !field.isMany && kindOf(field).empty === '' ? 'text' : 'number'
}
