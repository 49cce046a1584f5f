/**
 * How documents are stored. A collection of JSONStore is two of Pannier's: one of that name with the live documents, and
 * `NAME.removed` with those that were removed and not pushed yet. docs/internals/jsonstore.md describes the layout.
 */
import type { IndexInput, Stored } from 'pannier'
import type { SearchSchema, SearchValue } from './search-fields.ts'

/** An object that an app stores. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The change of a dirty document. */
export type Operation = 'add' | 'store' | 'replace' | 'refresh' | 'remove'

export interface StoredDocument {
  readonly json: JsonObject
  /** Values of search fields. */
  readonly s: Readonly<Record<string, SearchValue>>
  /** Tags of fields with several values. */
  readonly m?: readonly string[]
  /** The operation that was last. */
  readonly o: Operation
  /** When the document became dirty, in milliseconds since 1970, no two the same; missing: it is clean. */
  readonly d?: number
  /** For documents that are in step with a remote database: the id there. */
  readonly r?: string
}

/** A document as apps see it. */
export interface JSONStoreDocument<T extends object = JsonObject> {
  /** The id of the document. */
  readonly _id: number
  /** The content of the document. */
  readonly json: T
}

/** A document with changes that were not pushed yet. */
export interface DirtyDocument<T extends object = JsonObject> extends JSONStoreDocument<T> {
  /** The last change of the document. */
  readonly _operation: Operation
  /** When it became dirty, in milliseconds since 1970. */
  readonly _dirty: number
  /** Whether it was deleted. */
  readonly _deleted?: boolean
}

/** Ids of documents that sort as their numbers do: the number of digits goes first. */
export function idKey(id: number): string {
  const digits = String(id)
  return digits.length.toString(36) + digits
}

export function idOf(key: string): number {
  return Number(key.slice(1))
}

/** Also of what a remote app may send: ids are whole numbers from 1. */
export function isId(id: unknown): id is number {
  return Number.isSafeInteger(id) && (id as number) > 0
}

export function removedName(collection: string): string {
  return `${collection}.removed`
}

/** The replica that `sync` makes. */
export function remoteName(collection: string): string {
  return `${collection}.remote`
}

/** The path of a search field's value. */
export function searchPath(name: string): string {
  return `s.${name.replaceAll(/[\\.]/g, String.raw`\$&`)}`
}

/** A partial index answers only queries that imply its condition. */
export const IS_DIRTY = { d: { $exists: true } } as const
export const HAS_TAGS = { m: { $exists: true } } as const
const IS_REMOTE = { r: { $exists: true } } as const
/** Fields beyond these are not indexed: Pannier has at most 64 indexes in a collection. */
const INDEXED_FIELDS_MAX = 56

/** With the id in the entries of a search field, ids and order come from the index alone. */
export function indexesOf(schema: SearchSchema, synced: boolean): IndexInput[] {
  const names = [...Object.keys(schema.searchFields), ...Object.keys(schema.additionalSearchFields)]
  return [
    ...names.slice(0, INDEXED_FIELDS_MAX).map((name) => [searchPath(name), '_id']),
    { on: 'm', multi: true, where: HAS_TAGS },
    // Tells how many documents have tags.
    { on: '_id', where: HAS_TAGS },
    { on: 'd', where: IS_DIRTY },
    ...(synced ? [{ on: 'r', where: IS_REMOTE }] : []),
  ]
}

export function toDocument({ _id, json }: Stored<StoredDocument>): JSONStoreDocument {
  return { _id: idOf(_id), json }
}

export function toDirtyDocument({ _id, json, o, d }: Stored<StoredDocument>): DirtyDocument {
  return { _id: idOf(_id), json, _operation: o, _dirty: d ?? 0, ...(o === 'remove' && { _deleted: true }) }
}
