/**
 * Definitions in the database, and what follows from them there: records, indexes, relations. A change is one transaction, so it
 * is whole or not at all. What can't be in it is made before, or put right at the next start.
 */
import { createSchema, type Schema } from '@pannier/rules'
import { isPannierError, type Collection, type Database, type Transaction, type TransactionCollection } from 'pannier'
import { followCommits, pause, relateRecords, type RecordRelation } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { dateText } from '../fields/date-text.ts'
import { fieldError } from '../fields/field-errors.ts'
import { isMany, isRenewed } from '../fields/field-definition.ts'
import { holdsRecords } from '../fields/field-types.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { FieldError } from '../gateway/service-error.ts'
import { withChanged } from './check-definition.ts'
import { indexError } from './check-indexes.ts'
import { recordsName, RECORDS_PREFIX, type Definition } from './definition.ts'
import { statementsOf } from './index-statement.ts'
import { libraryIndexesOf, libraryIndexOf, type LibraryIndex } from './library-index.ts'
import { changedNames, migrationOf, type Migration } from './migration.ts'
import { documentKey } from './unique-key.ts'
import { OF_ACCOUNTS, UNDEFINED_OF_ACCOUNTS } from './system-collections.ts'

/** The collection of definitions: no CouchDB database can have this name. */
export const DEFINITIONS_COLLECTION = '$definitions'
/** The document that every change of a definition writes. */
const VERSION = 'version'
const STEP_DOCUMENTS = 200
/** From one try to read definitions to the next, while the storage can't be reached. */
const RETRY_MS = 100

/** All definitions at one moment. */
export interface DefinitionState {
  readonly version: number
  /** All definitions, in the order in which they were made. */
  readonly all: readonly Definition[]
  /** Definitions that can be found by name and id, in lower case. */
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

const NAME_OF_DATABASE: FieldError = fieldError(
  'validation_collection_name_invalid',
  "The name shouldn't match with an existing internal table.",
)

export class DefinitionStore {
  readonly #database: Database
  readonly #environment: Environment
  #state: DefinitionState = stateOf(0, [])
  /** Definitions whose unique indexes are being made. Writes of their records wait. */
  readonly #closed = new Set<string>()
  /** A change may be stored that is not in the state yet. */
  #isCommitting = false
  /** Another server has changed definitions, and they are read again. */
  #reading: Promise<void> | undefined
  readonly #stopFollowing: () => void
  /** Is called when another server has changed definitions. */
  onReload: () => void = () => {}

  /** Reads what is stored, and puts right what a crash has left. */
  static async open(database: Database, environment: Environment): Promise<DefinitionStore> {
    const store = new DefinitionStore(database, environment)
    await store.#load()
    await store.#settle(store.#state.all)
    return store
  }

  private constructor(database: Database, environment: Environment) {
    this.#database = database
    this.#environment = environment
    // At once: nobody reads a state of the database by definitions of another one.
    this.#stopFollowing = followCommits(database, (collections, isLocal) => {
      if (!isLocal && collections.has(DEFINITIONS_COLLECTION)) void this.#reload().catch(() => {})
    })
  }

  close(): void {
    this.#stopFollowing()
  }

  /** Resolves when the state is that of the database, as far as this server has seen it. */
  async settled(): Promise<void> {
    await this.#reading
  }

  /** Resolves when the state is the newest one that any server has stored. */
  async catchUp(): Promise<void> {
    await this.#database.refresh()
    await this.#reading
  }

  /** Until it succeeds nothing is read or written by the old ones. */
  async #reload(): Promise<void> {
    const before = this.#reading ?? Promise.resolve()
    const reading = before.then(() => this.#readAgain())
    this.#reading = reading
    await reading
    if (this.#reading === reading) this.#reading = undefined
    this.onReload()
  }

  async #readAgain(): Promise<void> {
    const before = this.#state
    const { version, all } = await this.#patiently(() => this.#stored())
    if (version === before.version) return
    await this.#relate(all)
    this.#state = stateOf(version, all)
    // Indexes that this server has declared, and the other one has dropped.
    for (const definition of all) {
      const old = before.found.get(definition.id.toLowerCase())
      if (old !== undefined) await this.#dropIndexes(definition, libraryIndexesOf(old))
    }
  }

  get state(): DefinitionState {
    return this.#state
  }

  /** Whether the state was that of all that was read since it was `state`. */
  isStill(state: DefinitionState): boolean {
    return this.#state === state && !this.#isCommitting && this.#reading === undefined
  }

  records(definition: Definition): Collection<JsonObject> {
    return this.#database.collection<JsonObject>(recordsName(definition))
  }

  isCurrent(definition: Definition, reader: DefinitionReader): boolean {
    const { version, found } = this.#state
    const stored = reader.get(DEFINITIONS_COLLECTION, VERSION)?.['version']
    return (
      !this.#closed.has(definition.id) && stored === version && found.get(definition.id.toLowerCase()) === definition
    )
  }

  /** Whether CouchDB's door serves a database of that name, in any case of its letters. */
  async #isDatabase(name: string): Promise<boolean> {
    return (await this.#database.collections()).includes(name.toLowerCase())
  }

  /** Whether CouchDB's door serves databases of users. */
  async hasDatabases(): Promise<boolean> {
    return (await this.#database.collections()).some((name) => !name.startsWith('$'))
  }

  /**
   * Changes come one after another. `more` is stored with this one.
   *
   * @throws ServiceError INVALID with data if a unique index finds the same values twice, or a database has the name
   */
  async write(
    { changed, removed }: DefinitionChange,
    more?: (transaction: Transaction) => Promise<void>,
  ): Promise<void> {
    const before = this.#state
    for (const { id, name } of changed) {
      const isOld = before.all.some((old) => old.id === id && old.name === name)
      if (!isOld && (await this.#isDatabase(name)))
        throw new ServiceError('INVALID', '', { data: { name: NAME_OF_DATABASE } })
    }
    const gone = new Set(removed.map(({ id }) => id))
    const all = withChanged(before.all, changed).filter(({ id }) => !gone.has(id))
    const steps = changed.filter(({ type }) => type !== 'view').map((definition) => stepOf(definition, before))
    try {
      for (const step of steps) await this.#prepare(step)
      await this.#database.transaction(async (transaction) => {
        await this.#writeAll(transaction, before, steps, { changed, removed })
        await more?.(transaction)
        this.#isCommitting = true
      })
    } catch (error) {
      this.#isCommitting = false
      await this.#undo(steps, before)
      throw error
    }
    const related = this.#relate(all)
    this.#state = stateOf(before.version + 1, all)
    this.#isCommitting = false
    await related
    for (const { definition } of steps) await this.#index(definition, libraryIndexesOf(definition))
    this.#closed.clear()
    await this.#settle(all)
  }

  async #patiently<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await read()
      } catch (error) {
        if (!isPannierError(error, 'PANNIER_IO_FAILED')) throw error
        await pause(this.#environment, RETRY_MS)
      }
    }
  }

  /** Makes changes that can't be in the transaction: indexes. Those of values that move are dropped, and built after it. */
  async #prepare({ definition, old, moving }: ChangeStep): Promise<void> {
    if (old === undefined) await this.#makeEmpty(definition)
    else if (moving.some(({ unique }) => unique)) {
      // Nothing keeps values apart until they are built.
      this.#closed.add(definition.id)
      for (const { name } of moving) await this.records(definition).dropIndex(name)
    }
    const staying = libraryIndexesOf(definition).filter(({ name }) => !moving.some((index) => index.name === name))
    await this.#index(definition, staying)
  }

  /** Undoes the changes of indexes. Indexes that were declared and not built are dropped too: they would be built with the next ones. */
  async #undo(steps: readonly ChangeStep[], { all }: DefinitionState): Promise<void> {
    for (const { definition, old } of steps) {
      const kept = old ?? { ...definition, indexes: [] }
      await this.#dropIndexes(kept, libraryIndexesOf(definition))
      await this.#index(kept, libraryIndexesOf(kept))
    }
    this.#closed.clear()
    await this.#settle(all)
  }

  /** A collection of that id may have been left by a delete that has failed. */
  async #makeEmpty(definition: Definition): Promise<void> {
    await this.#database.dropCollection(recordsName(definition))
    await this.#database.createCollection(recordsName(definition))
  }

  /** Writes all steps of a change, or nothing. */
  async #writeAll(
    transaction: Transaction,
    before: DefinitionState,
    steps: readonly ChangeStep[],
    { changed, removed }: DefinitionChange,
  ): Promise<void> {
    const documents = transaction.collection<JsonObject>(DEFINITIONS_COLLECTION)
    const version = (await documents.get(VERSION))?.['version'] ?? 0
    if (version !== before.version) throw new ServiceError('CONFLICT', 'Somebody else has changed collections.')
    for (const { definition, migration, moving } of steps) {
      if (migration === undefined) continue
      const records = transaction.collection<JsonObject>(recordsName(definition))
      try {
        await this.#inSteps(records, (ids) => records.update(ids, migration))
        const wanted = new Set(libraryIndexesOf(definition).map(({ name }) => name))
        for (const index of moving)
          if (index.unique && wanted.has(index.name)) await checkUnique(records, index, definition)
      } catch (error) {
        throw asIndexError(error, definition)
      }
    }
    await documents.upsert([
      { _id: VERSION, version: before.version + 1 },
      ...changed.map((definition) => ({ ...definition, _id: documentId(definition) })),
    ])
    await documents.delete(removed.map(documentId))
    for (const { id, type } of removed) if (type === 'auth') await deleteOfAccounts(transaction, id)
  }

  /** Runs `step` for all ids. Others may use the thread between the steps. */
  async #inSteps(
    records: TransactionCollection<JsonObject>,
    step: (ids: readonly string[]) => Promise<unknown>,
  ): Promise<void> {
    const ids: string[] = []
    for await (const { _id } of records.find({}).fields('_id')) ids.push(_id as string)
    for (let at = 0; at < ids.length; at += STEP_DOCUMENTS) {
      await step(ids.slice(at, at + STEP_DOCUMENTS))
      await this.#environment.yield()
    }
  }

  #relate(all: readonly Definition[]): Promise<void> {
    return relateRecords(
      this.#database,
      relationsOf(all, () => this.#environment.wallClock()),
    )
  }

  /** Declares indexes; resolves when they are built. @throws ServiceError INVALID if values are not unique */
  async #index(definition: Definition, indexes: readonly LibraryIndex[]): Promise<void> {
    if (indexes.length === 0) return
    const inputs = indexes.map(({ input }) => input)
    try {
      await this.#database.collection<JsonObject>(recordsName(definition), { indexes: inputs }).ready()
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

  /** Drops those of ours among `indexes` that the definition does not have. */
  async #dropIndexes(definition: Definition, indexes: readonly { readonly name: string }[]): Promise<void> {
    const wanted = new Set(libraryIndexesOf(definition).map(({ name }) => name))
    for (const { name } of indexes)
      if (OWN_INDEX.test(name) && !wanted.has(name)) await this.records(definition).dropIndex(name)
  }

  async #load(): Promise<void> {
    const { version, all } = await this.#stored()
    for (const definition of all)
      if (definition.type !== 'view') await this.#index(definition, libraryIndexesOf(definition))
    await this.#relate(all)
    this.#state = stateOf(version, all)
  }

  async #stored(): Promise<Pick<DefinitionState, 'version' | 'all'>> {
    const rows = await this.#database.collection<JsonObject>(DEFINITIONS_COLLECTION).find({}).sort('$created').toArray()
    const version = (rows.find(({ _id }) => _id === VERSION)?.['version'] ?? 0) as number
    const all = rows.flatMap(({ _id, _rev, ...definition }) =>
      _id === VERSION ? [] : [definition as unknown as Definition],
    )
    return { version, all }
  }
}

/** The effect of a change on the records of one definition. */
interface ChangeStep {
  readonly definition: Definition
  readonly old: Definition | undefined
  readonly migration: Migration | undefined
  /** Indexes, old and new ones, of values that the migration moves. */
  readonly moving: readonly LibraryIndex[]
}

function stepOf(definition: Definition, { found }: DefinitionState): ChangeStep {
  const old = found.get(definition.id.toLowerCase())
  const migration = old && migrationOf(old, definition)
  if (old === undefined || migration === undefined) return { definition, old, migration: undefined, moving: [] }
  const names = changedNames(old, definition)
  const indexes = new Map(
    [...libraryIndexesOf(old), ...libraryIndexesOf(definition)].map((index) => [index.name, index]),
  )
  const moving = [...indexes.values()].filter(({ reads }) => reads.some((name) => names.has(name)))
  return { definition, old, migration, moving }
}

/** @throws ServiceError INVALID if two documents have the same values */
async function checkUnique(
  records: TransactionCollection<JsonObject>,
  index: LibraryIndex,
  definition: Definition,
): Promise<void> {
  const met = new Map<string, string>()
  for await (const document of records.find({})) {
    const key = documentKey(index.key!, document)
    if (key === undefined) continue
    const [id, other] = [document['_id'] as string, met.get(key)]
    if (other !== undefined) throw indexFailure(definition, index.name, [other, id])
    met.set(key, id)
  }
}

/** As `libraryIndexOf` names them. */
const OWN_INDEX = / \d+$/

/** Ids of definitions may begin with `_`, those of documents may not. */
function documentId({ id }: Definition): string {
  return `definition/${id}`
}

function stateOf(version: number, all: readonly Definition[]): DefinitionState {
  freeze(all)
  const found = new Map<string, Definition>()
  for (const definition of all) found.set(definition.id.toLowerCase(), definition)
  for (const definition of all) found.set(definition.name.toLowerCase(), definition)
  return { version, all, found, schema: createSchema(all) }
}

/** Freezes definitions, which code of the operator gets: to set a rule in one throws, and puts in force nothing that is not stored. */
export function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner)
}

/** Deletes documents that name accounts of a collection: another collection may get its id. */
async function deleteOfAccounts(transaction: Transaction, collectionRef: string): Promise<void> {
  for (const name of UNDEFINED_OF_ACCOUNTS) {
    const documents = transaction.collection<JsonObject>(name)
    const found = await documents.find({ collectionRef }).fields('_id').toArray()
    if (found.length > 0) await documents.delete(found.map(({ _id }) => String(_id)))
  }
}

function relationsOf(all: readonly Definition[], now: () => number): Record<string, Record<string, RecordRelation>> {
  const accounts = all.filter(({ type }) => type === 'auth').map(recordsName)
  const ofAccount = { to: accounts, many: false, cascade: true, required: false }
  const undefinedOnes = UNDEFINED_OF_ACCOUNTS.map((name) => [name, { recordRef: ofAccount }] as const)
  const defined = all.flatMap((definition) => {
    const { type, name, fields } = definition
    if (type === 'view') return []
    const touch = touching(definition, now)
    const relations = fields.flatMap((field): [string, RecordRelation][] => {
      if (!holdsRecords(field)) return []
      const { collectionId, cascadeDelete, required } = field
      const to = recordsName({ id: collectionId })
      return [[field.name, { to, many: isMany(field), cascade: cascadeDelete, required, touch }]]
    })
    if (OF_ACCOUNTS.includes(name)) relations.push(['recordRef', ofAccount])
    return relations.length === 0 ? [] : [[recordsName(definition), Object.fromEntries(relations)] as const]
  })
  return Object.fromEntries([...defined, ...undefinedOnes])
}

/** Moves the dates of a record that changes. */
function touching({ fields }: Definition, now: () => number): (record: JsonObject) => void {
  const names = fields.flatMap((field) => (isRenewed(field) ? [field.name] : []))
  return (record) => {
    for (const name of names) record[name] = dateText(now())
  }
}

function asIndexError(error: unknown, definition: Definition): unknown {
  if (isPannierError(error, 'PANNIER_NOT_UNIQUE')) {
    const { index, duplicates } = error.details as { index: string; duplicates?: readonly { ids: readonly string[] }[] }
    const { id, other } = error.details as { id?: string; other?: string }
    return indexFailure(definition, index, duplicates?.[0]?.ids.slice(0, 2) ?? [other!, id!], error)
  }
  if (!isPannierError(error, 'PANNIER_DOCUMENT_INVALID')) return error
  const { statement, reason } = error.details as { statement: string; reason: string }
  const place = statementsOf(definition).findIndex(({ name }) => name === statement)
  return invalidIndex(place, indexError(statement, reason), error)
}

/** In SQLite's words, at the statement that it is about, with the two records that are in its way. */
function indexFailure(definition: Definition, name: string, records: readonly string[], cause?: unknown): unknown {
  for (const [place, statement] of statementsOf(definition).entries()) {
    const index = libraryIndexOf(statement, definition)
    if (index?.name !== name) continue
    const columns = index.fields.map((field) => `${definition.name}.${field}`).join(', ')
    const what = columns === '' ? `index '${statement.name}'` : columns
    const reason = `constraint failed: UNIQUE constraint failed: ${what} (2067)`
    return invalidIndex(place, indexError(statement.name, reason, { records }), cause)
  }
  return cause
}

function invalidIndex(place: number, error: FieldError, cause: unknown): ServiceError {
  return new ServiceError('INVALID', '', { data: { indexes: { [place]: error } }, cause })
}
