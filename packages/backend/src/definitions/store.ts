/**
 * Definitions in the database, and what follows from them there: records, indexes, relations. A change is one transaction, so it
 * is whole or not at all. What can't be in it is made before, or put right at the next start.
 */
import { createSchema, type Schema } from '@pannier/rules'
import { isPannierError, type Collection, type Database, type Transaction, type TransactionCollection } from 'pannier'
import { relateRecords, type RecordRelation } from 'pannier/internal'
import { isMany } from '../fields/field-definition.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { withChanged } from './check-definition.ts'
import { indexError } from './check-indexes.ts'
import { recordsName, type Definition } from './definition.ts'
import { parseIndex } from './index-statement.ts'
import { libraryIndexesOf, libraryIndexOf } from './library-index.ts'
import { migrationOf } from './migration.ts'

/** No CouchDB database can have this name. */
const COLLECTION = '$definitions'
/** The document that every change of a definition writes. */
const VERSION = 'version'
const RECORDS_PREFIX = recordsName({ id: '' })
const STEP_DOCUMENTS = 200

/** All definitions at one moment. */
export interface DefinitionState {
  readonly version: number
  /** In the order in which they were made. */
  readonly all: readonly Definition[]
  /** By name and id, in lower case. */
  readonly found: ReadonlyMap<string, Definition>
  readonly schema: Schema
}

/** Reads one state of the database: that of a guard, of a snapshot. */
export interface DefinitionReader {
  get(collection: string, id: string): Readonly<Record<string, unknown>> | undefined
}

export interface DefinitionChange {
  readonly changed: readonly Definition[]
  readonly removed: readonly Definition[]
}

export class DefinitionStore {
  readonly #database: Database
  #state: DefinitionState = stateOf(0, [])

  /** Reads what is stored, and puts right what a crash has left. */
  static async open(database: Database): Promise<DefinitionStore> {
    const store = new DefinitionStore(database)
    await store.#load()
    await store.#settle(store.#state.all)
    return store
  }

  private constructor(database: Database) {
    this.#database = database
  }

  get state(): DefinitionState {
    return this.#state
  }

  records(definition: Definition): Collection<JsonObject> {
    return this.#database.collection<JsonObject>(recordsName(definition))
  }

  isCurrent(definition: Definition, reader: DefinitionReader): boolean {
    const { version, found } = this.#state
    const stored = reader.get(COLLECTION, VERSION)?.['version']
    return stored === version && found.get(definition.id.toLowerCase()) === definition
  }

  /**
   * Changes come one after another.
   *
   * @throws ServiceError INVALID with data if a unique index finds the same values twice
   */
  async write({ changed, removed }: DefinitionChange): Promise<void> {
    const before = this.#state
    const gone = new Set(removed.map(({ id }) => id))
    const all = withChanged(before.all, changed).filter(({ id }) => !gone.has(id))
    try {
      for (const definition of changed) {
        if (definition.type === 'view') continue
        if (!before.found.has(definition.id.toLowerCase())) await this.#makeEmpty(definition)
        await this.#index(definition)
      }
      await this.#database.transaction((transaction) => this.#writeAll(transaction, before, changed, removed))
    } catch (error) {
      for (const definition of changed)
        if (definition.type !== 'view') await this.#dropIndexesExcept(definition, before)
      await this.#settle(before.all)
      throw error
    }
    const related = relateRecords(this.#database, relationsOf(all))
    this.#state = stateOf(before.version + 1, all)
    await related
    await this.#settle(all)
  }

  /** Deletes all records, in one transaction. @throws PANNIER_RELATION */
  async truncate(definition: Definition): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      const records = transaction.collection<JsonObject>(recordsName(definition))
      await inSteps(records, (ids) => records.delete(ids))
    })
  }

  /** A collection of that id may have been left by a delete that has failed. */
  async #makeEmpty(definition: Definition): Promise<void> {
    await this.#database.dropCollection(recordsName(definition))
    await this.#database.createCollection(recordsName(definition))
  }

  /** All or nothing. */
  async #writeAll(
    transaction: Transaction,
    before: DefinitionState,
    changed: readonly Definition[],
    removed: readonly Definition[],
  ): Promise<void> {
    const documents = transaction.collection<JsonObject>(COLLECTION)
    const version = (await documents.get(VERSION))?.['version'] ?? 0
    if (version !== before.version) throw new ServiceError('CONFLICT', 'Somebody else has changed collections.')
    for (const definition of changed) {
      const old = before.found.get(definition.id.toLowerCase())
      const migration = old && migrationOf(old, definition)
      if (migration === undefined) continue
      try {
        const records = transaction.collection<JsonObject>(recordsName(definition))
        await inSteps(records, (ids) => records.update(ids, migration))
      } catch (error) {
        throw asIndexError(error, definition)
      }
    }
    await documents.upsert([
      { _id: VERSION, version: before.version + 1 },
      ...changed.map((definition) => ({ ...definition, _id: documentId(definition) })),
    ])
    await documents.delete(removed.map(documentId))
  }

  /** Declares the indexes; resolves when they are built. @throws ServiceError INVALID if values are not unique */
  async #index(definition: Definition): Promise<void> {
    if (definition.type === 'view') return
    const indexes = libraryIndexesOf(definition).map(({ input }) => input)
    if (indexes.length === 0) return
    try {
      await this.#database.collection<JsonObject>(recordsName(definition), { indexes }).ready()
    } catch (error) {
      throw asIndexError(error, definition)
    }
  }

  /** Makes the database as definitions say: no other indexes, and no records without a definition. */
  async #settle(all: readonly Definition[]): Promise<void> {
    const kept = new Map(all.map((definition) => [recordsName(definition), definition]))
    for (const name of await this.#database.collections()) {
      if (!name.startsWith(RECORDS_PREFIX)) continue
      const definition = kept.get(name)
      if (definition === undefined) await this.#database.dropCollection(name)
      else await this.#dropIndexes(definition, await this.records(definition).indexes())
    }
  }

  /** Those that were declared and not built too: they would be built with the next ones. */
  #dropIndexesExcept(definition: Definition, before: DefinitionState): Promise<void> {
    const old = before.found.get(definition.id.toLowerCase()) ?? { ...definition, indexes: [] }
    return this.#dropIndexes(old, libraryIndexesOf(definition))
  }

  /** Drops those of ours among `indexes` that the definition does not have. */
  async #dropIndexes(definition: Definition, indexes: readonly { readonly name: string }[]): Promise<void> {
    const wanted = new Set(libraryIndexesOf(definition).map(({ name }) => name))
    for (const { name } of indexes)
      if (OWN_INDEX.test(name) && !wanted.has(name)) await this.records(definition).dropIndex(name)
  }

  async #load(): Promise<void> {
    const rows = await this.#database.collection<JsonObject>(COLLECTION).find({}).sort('$created').toArray()
    const version = (rows.find(({ _id }) => _id === VERSION)?.['version'] ?? 0) as number
    const all = rows.flatMap(({ _id, _rev, ...definition }) =>
      _id === VERSION ? [] : [definition as unknown as Definition],
    )
    for (const definition of all) await this.#index(definition)
    await relateRecords(this.#database, relationsOf(all))
    this.#state = stateOf(version, all)
  }
}

/** As `libraryIndexOf` names them. */
const OWN_INDEX = / \d+$/

/** Ids of definitions may begin with `_`, those of documents may not. */
function documentId({ id }: Definition): string {
  return `definition/${id}`
}

function stateOf(version: number, all: readonly Definition[]): DefinitionState {
  const found = new Map<string, Definition>()
  for (const definition of all) found.set(definition.id.toLowerCase(), definition)
  for (const definition of all) found.set(definition.name.toLowerCase(), definition)
  return { version, all, found, schema: createSchema(all) }
}

/** Others may use the thread between the steps. */
async function inSteps(
  records: TransactionCollection<JsonObject>,
  step: (ids: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const ids: string[] = []
  for await (const { _id } of records.find({}).fields('_id')) ids.push(_id as string)
  for (let at = 0; at < ids.length; at += STEP_DOCUMENTS) {
    await step(ids.slice(at, at + STEP_DOCUMENTS))
    await new Promise(setImmediate)
  }
}

function relationsOf(all: readonly Definition[]): Record<string, Record<string, RecordRelation>> {
  return Object.fromEntries(
    all.flatMap((definition) => {
      const fields = definition.type === 'view' ? [] : definition.fields.filter(({ type }) => type === 'relation')
      if (fields.length === 0) return []
      const relations = fields.flatMap((field) => {
        if (field.type !== 'relation') return []
        const { name, collectionId, cascadeDelete, required } = field
        const to = recordsName({ id: collectionId })
        return [[name, { to, many: isMany(field), cascade: cascadeDelete, required }] as const]
      })
      return [[recordsName(definition), Object.fromEntries(relations)] as const]
    }),
  )
}

/** In SQLite's words, at the statement that it is about. */
function asIndexError(error: unknown, definition: Definition): unknown {
  if (!isPannierError(error, 'PANNIER_UNIQUE')) return error
  const { index: name } = error.details as { readonly index?: string }
  for (const [place, text] of definition.indexes.entries()) {
    const statement = parseIndex(text)
    const index = statement && libraryIndexOf(statement, definition)
    if (index === undefined || index.name !== name) continue
    const columns = index.fields.map((field) => `${definition.name}.${field}`).join(', ')
    const reason = `constraint failed: UNIQUE constraint failed: ${columns} (2067)`
    return new ServiceError('INVALID', '', {
      data: { indexes: { [place]: indexError(statement!.name, reason) } },
      cause: error,
    })
  }
  return error
}
