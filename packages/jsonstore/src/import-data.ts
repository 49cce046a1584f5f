/** Takes over what an app has exported from the JSONStore that it used before. docs/internals/jsonstore.md describes the format. */
import { isObject } from 'pannier/internal'
import type { JSONStoreCollection } from './collection.ts'
import { failure, toJSONStoreError } from './errors.ts'
import { VALUES_SEPARATOR } from './search-fields.ts'
import type { Access } from './session.ts'
import type { JSONStoreApi } from './store.ts'
import { idKey, isId, removedName } from './stored-document.ts'
import type { Operation, StoredDocument } from './stored-document.ts'
import { storedOf, takeIds, toJson } from './writes.ts'
import type { Target } from './writes.ts'

/** The content of one collection, as the functions of the old app gave it. */
export interface ExportedCollection {
  /** The result of `findAll()`. */
  readonly documents: readonly object[]
  /** The result of `getAllDirty()`, removed documents included. */
  readonly dirty?: readonly object[] | undefined
  /** The result of `findAll({ filter: ['_id', …] })`, with the additional search fields. */
  readonly additional?: readonly object[] | undefined
}

/** The content of an export. */
export interface ExportedData {
  /** The documents of each collection. */
  readonly collections: Readonly<Record<string, ExportedCollection>>
}

/** The result of an import into one collection. */
export interface ImportedCollection {
  /** How many documents were imported. */
  readonly imported: number
  /** The number of documents whose ids were in use: the stored documents stay as they are. */
  readonly skipped: number
}

/**
 * Imports into collections that `init` has opened, each all or nothing. Ids and what is to be pushed stay as they were.
 * Existing documents stay, so an interrupted import can be repeated.
 *
 * @param exported Also as JSON text.
 * @throws JSONStoreError -20 for what is no JSON, 5, 7 or 30 for what is not of the format, -50 for a collection that is not open.
 * @example
 * const { people } = await importJSONStore(JSONStore, await (await fetch('/export.json')).json())
 */
export async function importJSONStore(
  store: JSONStoreApi,
  exported: ExportedData | string,
): Promise<Record<string, ImportedCollection>> {
  const src = 'importJSONStore'
  try {
    const { collections } = parseExport(exported)
    const results: Record<string, ImportedCollection> = {}
    for (const [name, data] of Object.entries(collections)) {
      const collection = store.get(name)
      if (collection === undefined) throw failure('PERSISTENT_STORE_NOT_OPEN', { col: name })
      results[name] = await importCollection(store, collection, data)
    }
    return results
  } catch (error) {
    throw toJSONStoreError(error, { src }, 'PERSISTENT_STORE_FAILURE')
  }
}

function parseExport(exported: unknown): { readonly collections: Readonly<Record<string, unknown>> } {
  let data = exported
  try {
    if (typeof exported === 'string') data = JSON.parse(exported)
  } catch (cause) {
    throw failure('JSON_STORE_INVALID_JSON_STRUCTURE', { cause })
  }
  const collections = isObject(data) ? data['collections'] : undefined
  if (!isObject(collections)) throw failure('BAD_PARAMETER_EXPECTED_OBJECT')
  return { collections }
}

interface Imported extends StoredDocument {
  readonly _id: string
}

async function importCollection(
  store: JSONStoreApi,
  collection: JSONStoreCollection,
  data: unknown,
): Promise<ImportedCollection> {
  const { session } = store
  const { name, searchFields, additionalSearchFields } = collection
  const schema = { searchFields, additionalSearchFields }
  const target: Target = { name, schema, dirtyNow: () => session.dirtyNow() }
  const documents = parseDocuments(target, data)
  const ids = documents.map(({ _id }) => Number(_id.slice(1)))
  return await session.write(async (access) => {
    const live = await missing(
      access,
      name,
      documents.filter(({ o }) => o !== 'remove'),
    )
    const removed = await missing(
      access,
      name,
      documents.filter(({ o }) => o === 'remove'),
    )
    if (live.length > 0) await access(name).insert(live)
    if (removed.length > 0) await access(removedName(name)).insert(removed)
    await takeIds(access, name, 0, ids.reduce((max, id) => Math.max(max, id), 0) + 1)
    const imported = live.length + removed.length
    return { imported, skipped: documents.length - imported }
  })
}

async function missing(access: Access, name: string, documents: readonly Imported[]): Promise<Imported[]> {
  const keys = documents.map(({ _id }) => _id)
  const [live, removed] = [await access(name).get(keys), await access(removedName(name)).get(keys)]
  return documents.filter((_, at) => live[at] === undefined && removed[at] === undefined)
}

function parseDocuments(target: Target, data: unknown): readonly Imported[] {
  const { documents, dirty = [], additional = [] } = isObject(data) ? data : {}
  for (const list of [documents, dirty, additional])
    if (!Array.isArray(list)) throw failure('BAD_PARAMETER_EXPECTED_ARRAY_OF_OBJECTS', { col: target.name })
  const additionalById = new Map<unknown, Readonly<Record<string, unknown>>>()
  for (const one of (additional as unknown[]).filter(isObject)) additionalById.set(one['_id'], lowerCased(one))
  const byKey = new Map<string, Imported>()
  // Dirty ones in their order, which is that of pushing them.
  const inOrder = (dirty as unknown[]).toSorted((left, right) => dirtyAt(left) - dirtyAt(right))
  for (const [list, isDirty] of [
    [documents as unknown[], false],
    [inOrder, true],
  ] as const)
    for (const one of list) {
      if (!isObject(one) || !isId(one['_id']) || !isObject(one['json']))
        throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT', { col: target.name, doc: one })
      const operation = isDirty ? dirtyOperation(one) : 'store'
      const stored = storedOf(target, toJson(one['json']), additionalById.get(one['_id']) ?? {})
      byKey.set(idKey(one['_id']), {
        _id: idKey(one['_id']),
        ...stored,
        ...(operation === 'remove' && { s: {} }),
        o: operation,
        ...(isDirty && { d: target.dirtyNow() }),
      })
    }
  return [...byKey.values()]
}

function dirtyAt(document: unknown): number {
  return isObject(document) ? Number(document['_dirty'] ?? 0) : 0
}

function dirtyOperation({ _operation, _deleted }: Readonly<Record<string, unknown>>): Operation {
  if (_operation === 'remove' || _deleted === true || _deleted === 1) return 'remove'
  return _operation === 'add' ? 'add' : 'replace'
}

/** Several values come as one text. */
function lowerCased(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === 'string' && value.includes(VALUES_SEPARATOR) ? value.split(VALUES_SEPARATOR) : value,
    ]),
  )
}
