/**
 * The declarations of code about a collection (indexes, settings, a schema), and the work that makes the stored
 * collection match: migrations, then builds. Declarations add up; only a drop through this handle removes one. The work
 * continues where an earlier run ended.
 *
 * An object that another handle drops stays dropped until code here declares it again or waits for `ready()`. Both read
 * the newest catalog. This read waits for earlier writes; otherwise it would find what they drop.
 */
import { loadedModule } from '../../base/lazy-module.ts'
import { isPannierError } from '../../base/errors.ts'
import { checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import type { CollectionState } from '../../document/catalog.ts'
import { indexMismatch, parseIndexInput, sameIndex } from '../../index/index-definition.ts'
import type { IndexDeclaration, IndexInput } from '../../index/index-definition.ts'
import type { FieldPath } from '../../query/field-types.ts'
import { checkIndexSelector } from '../../query/selector-test.ts'
import { chooseSettings, hasSettings, type ChosenSettings } from './collection-settings.ts'
import type { RelationInputs } from '../../relations/relation-graph.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { Identified, JsonObject } from './document-types.ts'
import { CollectionSchema, type SchemaOptions } from '../schema/collection-schema.ts'
import { MigrationRunner } from '../schema/migration-runner.ts'
import { StoreAccess, type Declared } from './store-access.ts'

/** The declaration of a collection: its indexes, its schema and its settings. */
export interface CollectionOptions<T extends object = JsonObject, Schema = unknown> extends SchemaOptions<Schema> {
  /**
   * Indexes that the collection is to have, beside those that it has. They are built in the background: `ready()` waits for
   * them; until then queries do without them.
   */
  readonly indexes?: readonly IndexInput<FieldPath<Identified<T>>>[]
  /** Keeps the content of revisions that were replaced, until `compact()`. Persisted; false at first. */
  readonly history?: boolean
  /**
   * The number of revisions that a document remembers, from each leaf up, each in some 45 bytes. Persisted; 200 at
   * first. A change takes effect as documents change. More edits of a document than this between two replications are a
   * conflict on the other side.
   */
  readonly revisionsLimit?: number
  /** Cancels migrating and building. They continue when the database is opened next. */
  readonly signal?: AbortSignal
  /** Called while documents are migrated, and again while indexes are built, with the part that is done, 0 to 1. */
  readonly onProgress?: (done: number) => void
}

/** A collection as `open` declares it. */
export interface DeclaredCollection<T extends object = JsonObject, Schema = unknown> extends CollectionOptions<
  T,
  Schema
> {
  /**
   * Fields that hold ids, each with the collection to which they lead. Queries follow them: `author.name`. Each has an
   * index by itself. docs/internals/relations.md is the contract.
   */
  readonly relations?: RelationInputs
}

const COLLECTION_OPTIONS: OptionNames<CollectionOptions> = {
  indexes: true,
  schema: true,
  version: true,
  migrations: true,
  history: true,
  revisionsLimit: true,
  signal: true,
  onProgress: true,
}

export class Declarations implements Declared {
  readonly indexes: Map<string, IndexDeclaration> = new Map()
  readonly settings: ChosenSettings = {}
  readonly schema: CollectionSchema = new CollectionSchema()
  readonly access: StoreAccess
  readonly migrations: MigrationRunner
  readonly #name: string
  readonly #context: DatabaseContext
  /** The collection (by number) in which there was everything that had been declared, when this handle last looked. */
  #settledNumber: number | undefined
  /** Documents that share a key keep a unique index from being built; not tried again before something changes. */
  #refused: { readonly number: number; readonly error: unknown } | undefined
  #building: Promise<void> = Promise.resolve()
  /** A look that has not begun takes in whatever is declared until then; with 'newest' the store is asked for what is new. */
  #lookAsked: 'newest' | 'known' | undefined

  constructor(name: string, context: DatabaseContext) {
    this.#name = name
    this.#context = context
    this.access = new StoreAccess(name, context, this, () => this.migrations.migrate())
    this.migrations = new MigrationRunner(context, this.schema, this.access.writing)
  }

  /** Resolves when what was declared is there; rejects with what stood in its way. */
  ready(): Promise<void> {
    if (this.#declares) this.#look('newest')
    return this.#building
  }

  declare(options: CollectionOptions): void {
    if ('relations' in options) throw badArgument('collection()', 'relations must be declared in open()', this.#name)
    checkOptions('collection()', options, COLLECTION_OPTIONS)
    const { indexes = [] } = options
    if (!Array.isArray(indexes)) throw badArgument('collection()', 'indexes must be an array', indexes)
    const declarations = indexes.map(parseIndexInput)
    for (const declaration of declarations) {
      if (declaration.where !== undefined) checkIndexSelector(declaration)
      this.access.relations?.checkIndex(declaration)
    }
    for (const declaration of declarations) {
      const known = this.indexes.get(declaration.name) ?? declarations.find(({ name }) => name === declaration.name)
      if (known !== undefined && !sameIndex(known, declaration)) throw indexMismatch(declaration.name)
    }
    const newSchema = this.schema.declare(options)
    if (options.version !== undefined) this.migrations.options = options
    const news = declarations.filter(({ name }) => !this.indexes.has(name))
    for (const declaration of news) this.indexes.set(declaration.name, declaration)
    const newSettings = chooseSettings(this.settings, options)
    // Under way from now on, so that transactions wait for it.
    if (newSchema) this.migrations.migrate().catch(() => {})
    if (news.length > 0) this.#refused = undefined
    if (newSchema || newSettings || news.length > 0) this.build(options)
    else if (declarations.length > 0) this.#look('newest')
  }

  /** The index is no longer declared. */
  forget(name: string): void {
    this.indexes.delete(name)
    this.#refused = undefined
  }

  /** Also continues builds that an earlier run has left. */
  build(options: CollectionOptions = {}, look: 'newest' | 'known' = 'newest'): void {
    // Nothing is newer than what was just opened, and no write came before.
    if (this.#lookAsked !== 'newest') this.#lookAsked = this.#context.opening ? 'known' : look
    const work = this.#building.then(
      () => this.#buildMissing(options),
      () => this.#buildMissing(options),
    )
    // `ready` reports a failure.
    work.catch(() => {})
    this.#building = work
  }

  /** Resolves when it is idle: nothing is being built, whether that succeeded or not. */
  async idle(): Promise<void> {
    await this.#building.catch(() => {})
    await this.migrations.idle()
  }

  /** Resolves when writes need not wait for anything to be loaded. */
  async loaded(): Promise<void> {
    await this.schema.validator
  }

  /** After a write into the collection with this number. */
  afterWrite(number: number | undefined): void {
    if (number !== undefined && number !== this.#settledNumber && this.#declares) this.#look('known')
  }

  get #declares(): boolean {
    return this.indexes.size > 0 || Object.keys(this.settings).length > 0
  }

  #look(look: 'newest' | 'known'): void {
    if (this.#lookAsked === undefined) this.build({}, look)
    else if (look === 'newest') this.#lookAsked = look
  }

  async #buildMissing(options: CollectionOptions): Promise<void> {
    const look = this.#lookAsked
    this.#lookAsked = undefined
    const name = this.#name
    const { store, catalog } = this.#context
    if (look === 'newest') await store.refresh()
    let state = await store.read((snapshot) => catalog.collection(snapshot, name))
    if (state === undefined) return
    if (this.#refused?.number === state.number) throw this.#refused.error
    const declared = (): IndexDeclaration[] => [...this.indexes.values()]
    // Most runs of an application find everything as it was declared.
    if (isComplete(state, declared(), this.settings)) await this.migrations.migrate()
    else {
      const { number } = state
      const { completeCollection } = await loadedModule(import('./complete-collection.ts'))
      const migrate = (): Promise<void> => this.migrations.migrate()
      try {
        state = await completeCollection(name, this.#context, declared, this.settings, migrate, options)
      } catch (error) {
        if (isPannierError(error, 'PANNIER_NOT_UNIQUE')) {
          this.#refused = { number, error }
          this.#settledNumber = number
        }
        throw error
      }
    }
    this.#settledNumber = state?.number
  }
}

/** Whether it has all that was declared. */
function isComplete(
  state: CollectionState,
  declarations: readonly IndexDeclaration[],
  chosen: Readonly<ChosenSettings>,
): boolean {
  const { indexes } = state
  return (
    hasSettings(state, chosen) &&
    declarations.every((declared) => indexes.some((one) => one.name === declared.name && sameIndex(one, declared))) &&
    indexes.every(({ builtTo }) => builtTo === undefined)
  )
}
