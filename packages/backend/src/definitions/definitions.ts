/** The definitions of all collections: kept in the database, and in memory for those who ask. */
import type { Schema } from '@pannier/rules'
import { isPannierError, type Collection, type Database, type Transaction } from 'pannier'
import { environmentOf, pause, truncate } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { dateText } from '../fields/date-text.ts'
import { DIFFERENT } from '../fields/field-errors.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import { holdsRecords } from '../fields/field-types.ts'
import { aloneIn, type Fleet } from '../fleet/fleet.ts'
import type { Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { Listeners, type ReportFailure } from '../gateway/listeners.ts'
import { type ErrorData, forbidden, missing, ServiceError } from '../gateway/service-error.ts'
import { checkChange, viewQueryError, type ProposedChange, type WrongDefinition } from './check-change.ts'
import { ID_TAKEN, withChanged } from './check-definition.ts'
import { completeDefinition, mergeDefinition, newDefinition } from './complete-definition.ts'
import { recordsName, type Definition, type ViewDefinition } from './definition.ts'
import { importedChange, importError } from './import.ts'
import { hookDeclarations } from './hook-declarations.ts'
import { uniqueErrors } from './library-index.ts'
import { listDefinitions, type DefinitionListOptions, type DefinitionPage } from './list-definitions.ts'
import { MisfitCounter, type Misfit } from './misfits.ts'
import { presentScaffolds } from './present-definition.ts'
import { idOf, newSecret } from './scaffolds.ts'
import { DefinitionStore, freeze, type DefinitionChange, type DefinitionReader } from './store.ts'
import { SUPERUSERS, SYSTEM_COLLECTIONS } from './system-collections.ts'
import { typeDeclarations, type TypesFor } from './type-declarations.ts'
import { idsError, sampleOf, type ViewSample } from './views/view-sample.ts'
import type { ViewQueries } from './views/view-queries.ts'

/** A definition before and after a change; undefined where no definition is. */
export interface DefinitionPair {
  readonly before: Definition | undefined
  readonly after: Definition | undefined
}

/** The journal's note of a change that is about to be stored. */
export interface JournalEntry {
  /** Stores more with it. */
  note(transaction: Transaction): Promise<void>
  /** The change was not stored. */
  undo(): Promise<void>
}

/** Writes changes of single definitions down. */
export interface DefinitionJournal {
  /** Undefined: nothing to keep. @throws ServiceError, which keeps the change from happening */
  begin(pair: DefinitionPair): Promise<JournalEntry | undefined>
}

/** The parts that an import stores with the definitions. */
export interface ImportedBeside {
  /** `all`: the definitions that there will be. @throws ServiceError, which keeps the import from happening */
  check(all: readonly Definition[]): Promise<void>
  store(transaction: Transaction): Promise<void>
}

/** Runs code of the operator around changes. `check` throws if they are wrong. */
type AroundDefinitions = (
  pairs: readonly DefinitionPair[],
  check: () => Promise<void>,
  write: () => Promise<void>,
) => Promise<void>

interface DefinitionsOptions {
  readonly journal?: DefinitionJournal | undefined
  /** The fleet; the server is alone when it is left out. */
  readonly fleet?: Fleet
  /** The environment of the database when it is left out. */
  readonly environment?: Environment
  /** Reports what a listener of `subscribe` throws. */
  readonly report?: ReportFailure | undefined
  /** Is asked about the queries of views. Without it there are no views. */
  readonly queries?: ViewQueries
}

const NO_QUERIES: ViewQueries = {
  describe: async (views) => {
    if (views.length > 0) throw new Error('These definitions were opened without what reads views.')
    return []
  },
  indexErrors: async (programs) => {
    if (programs.length > 0) throw new Error('These definitions were opened without what reads indexes.')
    return []
  },
  sample: async () => ({ columns: [], rows: [] }),
}

const CREATE_FAILED = 'Failed to create collection.'
const UPDATE_FAILED = 'Failed to update collection.'

/**
 * The definitions of the application's collections. Only admins change it.
 *
 * @example
 * const definitions = await Definitions.open(database)
 * await definitions.create(SYSTEM, { name: 'posts', fields: [{ name: 'title', type: 'text' }] })
 * definitions.find('Posts')?.fields
 */
export class Definitions {
  readonly #database: Database
  readonly #store: DefinitionStore
  readonly #journal: DefinitionJournal | undefined
  readonly #fleet: Fleet
  readonly #environment: Environment
  readonly #queries: ViewQueries
  readonly #listeners: Listeners
  /** Changes come one after another. */
  #last: Promise<unknown> = Promise.resolve()
  /** @internal Runs hooks. */
  around: AroundDefinitions = async (_, check, write) => {
    await check()
    await write()
  }

  /** Makes the system collections of a new database. */
  static async open(database: Database, options: DefinitionsOptions = {}): Promise<Definitions> {
    const {
      environment = environmentOf(database),
      fleet = aloneIn(environment),
      queries = NO_QUERIES,
      journal,
      report,
    } = options
    return fleet.exclusively('definitions', async () => {
      await database.refresh()
      const store = await DefinitionStore.open(database, environment)
      const definitions = new Definitions(store, { database, environment, journal, fleet, report, queries })
      if (definitions.all().length === 0) await definitions.#addSystemCollections()
      return definitions
    })
  }

  private constructor(
    store: DefinitionStore,
    {
      database,
      environment,
      journal,
      fleet,
      report,
      queries,
    }: Required<DefinitionsOptions> & {
      readonly database: Database
    },
  ) {
    this.#database = database
    this.#store = store
    this.#journal = journal
    this.#fleet = fleet
    this.#environment = environment
    this.#queries = queries
    this.#listeners = new Listeners(report)
    store.onReload = () => this.#listeners.call()
  }

  /** By name in any case, or by id. */
  find(nameOrId: string): Definition | undefined {
    return this.#store.state.found.get(nameOrId.toLowerCase())
  }

  /** @throws ServiceError NOT_FOUND */
  get(nameOrId: string): Definition {
    const definition = this.find(nameOrId)
    if (definition === undefined) throw missing('')
    return definition
  }

  /** All definitions, in the order in which they were made. */
  all(): readonly Definition[] {
    return this.#store.state.all
  }

  /** The names that rules may use, from all definitions. Another one after every change. */
  get schema(): Schema {
    return this.#store.state.schema
  }

  /** The library's collection that has the records. */
  records(definition: Definition): Collection<JsonObject> {
    return this.#store.records(definition)
  }

  /** Whether `definition` is what the reader sees. A write that was prepared with an older one is prepared again. */
  isCurrent(definition: Definition, reader: DefinitionReader): boolean {
    return this.#store.isCurrent(definition, reader)
  }

  /** Runs what reads records, again if definitions have changed meanwhile: rules of one state never meet records of another one. */
  async steadily<T>(read: () => Promise<T>): Promise<T> {
    for (let round = 1; round <= READ_ROUNDS_MAX; round++) {
      const { state } = this.#store
      try {
        const value = await read()
        if (this.#store.isStill(state)) return value
      } catch (error) {
        if (this.#store.isStill(state)) throw error
      }
      await pause(this.#environment, round)
    }
    throw new ServiceError('UNAVAILABLE', 'The collections keep changing. Try again later.')
  }

  /** A page of them, as the API shows them. @throws ServiceError FORBIDDEN, INVALID */
  list(principal: Principal, options: DefinitionListOptions): DefinitionPage {
    checkAdmin(principal)
    return listDefinitions(this.all(), options, this.#environment)
  }

  /** The definitions with which new collections of each type begin, as the API shows them. @throws ServiceError FORBIDDEN */
  scaffolds(principal: Principal): JsonObject {
    checkAdmin(principal)
    return presentScaffolds(this.#environment)
  }

  /** @throws ServiceError FORBIDDEN, INVALID with data */
  async create(principal: Principal, input: unknown): Promise<Definition> {
    checkAdmin(principal)
    const given = newDefinition(input, this.#environment)
    return this.#afterLast(async () => {
      const definition = this.#completed(given)
      const isTaken = this.all().some(({ id }) => id === definition.id)
      if (isTaken) throw new ServiceError('INVALID', CREATE_FAILED, { data: { id: ID_TAKEN } })
      const change = await this.#checked({ changed: [definition], removed: [] })
      const written = await this.#write(change, CREATE_FAILED, definition.id)
      return written.changed.find(({ id }) => id === definition.id)!
    })
  }

  /**
   * Changes a definition; parts that are left out stay. Fields are known by their ids. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID
   * with data
   */
  async update(principal: Principal, nameOrId: string, input: unknown): Promise<Definition> {
    checkAdmin(principal)
    return this.#afterLast(async () => {
      const { definition, change } = await this.#updated(this.get(nameOrId), input)
      const written = await this.#write(change, UPDATE_FAILED, definition.id)
      return written.changed.find(({ id }) => id === definition.id)!
    })
  }

  /**
   * Finds the effects of `update` on records, without doing it: which values would be lost, and which would no longer be right. They may
   * stay: PocketBase keeps them too.
   *
   * @throws ServiceError FORBIDDEN, NOT_FOUND, and INVALID with data where `update` does
   */
  async check(principal: Principal, nameOrId: string, input: unknown): Promise<readonly Misfit[]> {
    checkAdmin(principal)
    const old = this.get(nameOrId)
    const { definition, change } = await this.#updated(old, input)
    const [wrong] = change.wrong
    if (wrong !== undefined) throw new ServiceError('INVALID', UPDATE_FAILED, { data: wrong.errors })
    if (old.type === 'view') return []
    const counter = new MisfitCounter(old, definition)
    for await (const document of this.records(old).find({})) counter.add(document)
    return counter.misfits
  }

  /** A definition, and what `update` would make of it. @throws ServiceError as `update` */
  async proposed(principal: Principal, nameOrId: string, input: unknown): Promise<DefinitionPair> {
    checkAdmin(principal)
    const before = this.get(nameOrId)
    const { definition, change } = await this.#updated(before, input)
    return { before, after: change.changed.find(({ id }) => id === definition.id) }
  }

  /** With its records. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID */
  async delete(principal: Principal, nameOrId: string): Promise<void> {
    checkAdmin(principal)
    await this.#afterLast(async () => {
      const definition = this.get(nameOrId)
      const message = 'Failed to delete collection'
      if (definition.system) throw new ServiceError('INVALID', `${message}.`)
      const change = await this.#checked({ changed: [], removed: [definition] })
      const others = this.all().filter((other) => other.id !== definition.id && refersTo(other, definition))
      const needing = others.map(({ name }) => name).join(', ')
      const isRead = change.brokenViews.some((view) => names(view, definition))
      const reason = needing !== '' ? ` probably due to existing reference in ${needing}.` : isRead ? '.' : undefined
      const refusal = reason === undefined ? undefined : new ServiceError('INVALID', message + reason)
      await this.#write({ ...change, refusal }, `${message}.`, definition.id)
    })
  }

  /** Deletes all records. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID if records of others need them */
  async truncate(principal: Principal, nameOrId: string): Promise<void> {
    checkAdmin(principal)
    const definition = this.get(nameOrId)
    if (definition.type === 'view') {
      const message = "View collections cannot be truncated since they don't store their own records."
      throw new ServiceError('INVALID', message)
    }
    const message = 'Failed to truncate collection (most likely due to required cascade delete record references).'
    // The last one stays.
    if (definition.name === SUPERUSERS) throw new ServiceError('INVALID', message)
    try {
      if (this.mayTakeSuperusers(definition)) await this.#truncateAtOnce(definition)
      else await truncate(this.#database, recordsName(definition))
    } catch (error) {
      if (isPannierError(error, 'PANNIER_NOT_UNIQUE'))
        throw new ServiceError('INVALID', message, { cause: error, data: uniqueErrors(error, this.all()) })
      if (!isPannierError(error, 'PANNIER_RELATION_BROKEN') && error !== LAST_SUPERUSER) throw error
      throw new ServiceError('INVALID', message, { cause: error })
    }
  }

  /** Whether a delete in another collection may take superusers along. */
  mayTakeSuperusers(definition: Definition): boolean {
    const reached = new Set([definition])
    for (const one of reached)
      for (const other of this.all()) if (other.fields.some((field) => isCascade(field, one))) reached.add(other)
    return definition.name !== SUPERUSERS && Array.from(reached).some(({ name }) => name === SUPERUSERS)
  }

  /** Whether there is a superuser, as a transaction sees it. */
  async hasSuperuser(place: Pick<Transaction, 'collection'>): Promise<boolean> {
    const superusers = place.collection<JsonObject>(recordsName(this.get(SUPERUSERS)))
    return (await superusers.find({}).first()) !== undefined
  }

  /** In one step, as what went has to be looked at before it is done. @throws LAST_SUPERUSER */
  async #truncateAtOnce(definition: Definition): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      const hadSuperuser = await this.hasSuperuser(transaction)
      const records = transaction.collection<JsonObject>(recordsName(definition))
      await records.delete((await records.find({}).fields('_id').toArray()).map(({ _id }) => String(_id)))
      if (hadSuperuser && !(await this.hasSuperuser(transaction))) throw LAST_SUPERUSER
    })
  }

  /**
   * Makes and changes all that the list has, or nothing. Fields that it lacks stay, unless `deleteMissing`, which also deletes
   * collections.
   *
   * @throws ServiceError FORBIDDEN, INVALID with data
   */
  async import(principal: Principal, list: unknown, deleteMissing: boolean, beside?: ImportedBeside): Promise<void> {
    checkAdmin(principal)
    await this.#afterLast(async () => {
      const change = await this.#imported(list, deleteMissing)
      const [wrong] = change.wrong
      if (wrong !== undefined) throw importError(wrong)
      const gone = new Set(change.removed.map(({ id }) => id))
      await beside?.check(withChanged(this.all(), change.changed).filter(({ id }) => !gone.has(id)))
      await this.#write(change, 'Failed to import collections.', undefined, beside)
    })
  }

  /** The errors that stop an import of this list, in any of its collections. @throws ServiceError FORBIDDEN, INVALID with data */
  async checkImport(principal: Principal, list: unknown): Promise<readonly WrongDefinition[]> {
    checkAdmin(principal)
    return (await this.#imported(list, false)).wrong
  }

  /** The fields and the first rows that a view of this query would have. @throws ServiceError FORBIDDEN, INVALID */
  async dryRunView(principal: Principal, query: string): Promise<ViewSample> {
    checkAdmin(principal)
    return sampleOf(query, this.all(), this.#sampleSource())
  }

  /** TypeScript types of all collections, for PocketBase's SDK or for `@pannier/client`. @throws ServiceError FORBIDDEN */
  typeDeclarations(principal: Principal, app: TypesFor = 'pocketbase'): string {
    checkAdmin(principal)
    return typeDeclarations(this.all(), this.schema, app)
  }

  /** TypeScript types of all collections, for hooks. */
  hookDeclarations(): string {
    return hookDeclarations(this.all())
  }

  /** Calls the listener after each change, until the function that it gives is called. What it throws is logged. */
  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Resolves when changes of other servers that this one has seen are known. */
  settled(): Promise<void> {
    return this.#store.settled()
  }

  /** Ends when the changes have ended that were asked for. */
  async close(): Promise<void> {
    await this.#last
    this.#store.close()
    this.#listeners.clear()
  }

  #imported(list: unknown, deleteMissing: boolean): Promise<ProposedChange> {
    const making = { environment: this.#environment, complete: (given: Definition) => this.#completed(given) }
    return this.#checked(importedChange(this.all(), list, deleteMissing, making))
  }

  async #updated(
    old: Definition,
    input: unknown,
  ): Promise<{ readonly definition: Definition; readonly change: ProposedChange }> {
    const merged = completeDefinition(mergeDefinition(old, input, this.#environment))
    const definition = { ...merged, updated: dateText(this.#environment.wallClock()) }
    if (definition.id !== old.id) throw new ServiceError('INVALID', UPDATE_FAILED, { data: { id: DIFFERENT } })
    const changed = [withNewSecret(definition, old, this.#environment)]
    return { definition, change: await this.#checked({ changed, removed: [] }) }
  }

  #checked(change: DefinitionChange): Promise<ProposedChange> {
    return checkChange(this.#store.state, change, this.#queries, this.#environment)
  }

  async #write(change: ProposedChange, message: string, id?: string, beside?: ImportedBeside): Promise<ProposedChange> {
    const { changed, removed, refusal } = change
    const check = async (): Promise<void> => {
      if (refusal !== undefined) throw refusal
      const data = await this.#errorsOf(
        change,
        changed.find((definition) => definition.id === id),
      )
      if (data !== undefined) throw new ServiceError('INVALID', message, { data })
    }
    const known = new Map(this.all().map((definition) => [definition.id, definition]))
    const pairs = [
      ...changed.map((after) => ({ before: known.get(after.id), after })),
      ...removed.map((before) => ({ before, after: undefined })),
    ].filter(({ before, after }) => id === undefined || (after ?? before)!.id === id)
    freeze(pairs)
    let isWritten = false
    await this.around(pairs, check, async () => {
      const entry = id === undefined ? undefined : await this.#journal?.begin(pairs[0]!)
      await this.#writeNow(change, message, entry, beside)
      isWritten = true
    })
    if (!isWritten) throw new ServiceError('INVALID', 'A hook has stopped the change: it has not called next().')
    return change
  }

  async #writeNow(
    change: ProposedChange,
    message: string,
    entry: JournalEntry | undefined,
    beside: ImportedBeside | undefined,
  ): Promise<void> {
    try {
      await this.#store.write(change, entry?.note ?? beside?.store)
    } catch (error) {
      await entry?.undo()
      if (error instanceof ServiceError && error.data !== undefined)
        throw new ServiceError('INVALID', message, { data: error.data, cause: error })
      throw error
    }
    this.#listeners.call()
  }

  /** With what only the rows of a view tell. `meant`: the definition that was sent. */
  async #errorsOf(change: ProposedChange, meant: Definition | undefined): Promise<ErrorData | undefined> {
    const errors = change.wrong[0]?.errors
    if (meant?.type !== 'view' || errors?.['viewQuery'] !== undefined) return errors
    const all = withChanged(this.all(), change.changed)
    const reason = await idsError(meant, all, this.#sampleSource())
    return reason === undefined ? errors : { ...errors, viewQuery: viewQueryError(reason) }
  }

  #sampleSource(): Parameters<typeof sampleOf>[2] {
    return { queries: this.#queries, environment: this.#environment }
  }

  /** A new one, with id and times. */
  #completed(given: Definition): Definition {
    const id = given.id === '' ? this.#freeId(given) : given.id
    const created = dateText(this.#environment.wallClock())
    return completeDefinition({ ...given, id, created, updated: created })
  }

  #freeId({ type, name }: Definition): string {
    const base = idOf(type, name)
    let id = base
    for (let next = 2; this.find(id) !== undefined; next++) id = base + String(next)
    return id
  }

  async #addSystemCollections(): Promise<void> {
    const all = SYSTEM_COLLECTIONS.map((input) => this.#completed(newDefinition(input, this.#environment)))
    // Anybody may sign up for `users`: not where databases were served before.
    const changed = (await this.#store.hasDatabases()) ? all.filter(({ system }) => system) : all
    await this.#write(await this.#checked({ changed, removed: [] }), '')
  }

  /** Runs changes one after another at all servers, each with the changes of other servers. */
  #afterLast<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#last.then(() =>
      this.#fleet.exclusively('definitions', async () => {
        await this.#store.catchUp()
        return run()
      }),
    )
    this.#last = done.catch(() => undefined)
    return done
  }
}

/** Another rule of who may log in ends all logins. */
function withNewSecret(definition: Definition, old: Definition, chance: Chance): Definition {
  if (definition.type !== 'auth' || old.type !== 'auth' || (definition.authRule ?? '') === (old.authRule ?? ''))
    return definition
  return { ...definition, authToken: { ...definition.authToken, secret: newSecret(chance) } }
}

const READ_ROUNDS_MAX = 100

export const LAST_SUPERUSER: ServiceError = new ServiceError('INVALID', "You can't delete the only existing superuser.")

/** Whether a view reads a collection, without another view between them. */
function names({ viewQuery }: ViewDefinition, { name }: Definition): boolean {
  return new RegExp(`\\b${name}\\b`, 'i').test(viewQuery)
}

function isCascade(field: FieldDefinition, { id }: Definition): boolean {
  return holdsRecords(field) && field.cascadeDelete && field.collectionId === id
}

function refersTo({ fields }: Definition, { id }: Definition): boolean {
  return fields.some((field) => holdsRecords(field) && field.collectionId === id)
}

function checkAdmin({ isAdmin, name }: Principal): void {
  if (isAdmin) return
  if (name === null) throw new ServiceError('UNAUTHENTICATED', '')
  throw forbidden('')
}
