/**
 * The declared schema of a collection: its validator, its version, and the migrations from older versions.
 * docs/internals/schemas.md is normative.
 */
import { PannierError } from '../../base/errors.ts'
import type { MaybePromise } from '../../base/async.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { badArgument } from '../../base/options.ts'
import { type Catalog, SCHEMA_VERSION_FIRST, type CollectionState } from '../../document/catalog.ts'
import type { WriteTransaction } from '../../kv/key-value-store.ts'
import type { JsonObject } from '../collection/document-types.ts'
import { isStandardSchema, type StandardSchema } from './standard-schema.ts'
import type { DocumentValidator } from './validator.ts'

/**
 * Makes a document of one version from one of the version before. It gets a copy with its `_id`, which must stay the
 * same. `{ _deleted: true }` deletes the document. An exception or undefined is a failure: the document stays as it is.
 */
export type Migration = (document: JsonObject & { readonly _id: string }) => JsonObject | Promise<JsonObject>

/** The schema of a collection, its version, and how older documents get there. */
export interface SchemaOptions<Schema = unknown> {
  /** Any Standard Schema (zod, valibot, arktype, …): it checks and types what is written, and what it gives is stored. */
  readonly schema?: Schema
  /** The version of the schema; 1 by default. Raise it when stored documents have to change. */
  readonly version?: number
  /** By the version that they lead to: one for each version from 2 on. */
  readonly migrations?: Readonly<Record<number, Migration>>
}

export class CollectionSchema {
  /** Loaded for collections that have a schema only. */
  validator: MaybePromise<DocumentValidator> | undefined
  /** Undefined: nothing was declared; whatever is there is read as it is. */
  version: number | undefined
  migrations: Readonly<Record<number, Migration>> = {}
  #schema: StandardSchema | undefined

  /** True if that is news. Wrong options, and others than before, are a TypeError. */
  declare({ schema, version, migrations }: SchemaOptions): boolean {
    if (schema === undefined && version === undefined) {
      if (migrations !== undefined) throw badArgument('collection()', 'version must be given with migrations', version)
      return false
    }
    if (schema !== undefined && !isStandardSchema(schema))
      throw badArgument('collection()', 'schema must be a Standard Schema (standardschema.dev)', schema)
    checkMigrations(version ?? SCHEMA_VERSION_FIRST, migrations ?? {})
    const news = this.version === undefined
    if (!news && (schema !== this.#schema || (version ?? SCHEMA_VERSION_FIRST) !== this.version))
      throw badArgument(
        'collection()',
        `schema and version must stay as declared, with version ${this.version}`,
        version,
      )
    this.#schema = schema
    this.version = version ?? SCHEMA_VERSION_FIRST
    this.migrations = migrations ?? {}
    if (news && schema !== undefined) this.#load(schema)
    return news
  }

  /**
   * Whether documents have to be migrated before anybody reads or writes them.
   *
   * @throws PANNIER_SCHEMA_NEWER if the collection has a version that this code does not know. Code that declares none may
   *   read whatever is there; it writes documents of the first version.
   */
  needsMigration(state: CollectionState | undefined, writes: boolean): boolean {
    if (state === undefined) return false
    const { version = SCHEMA_VERSION_FIRST, pending = [] } = state.schema ?? {}
    const known = this.version
    if (version > (known ?? SCHEMA_VERSION_FIRST) && (known !== undefined || writes)) {
      throw new PannierError(
        'PANNIER_SCHEMA_NEWER',
        `The collection '${state.name}' has the version ${version}; this code knows ${known ?? 'none'}. Load the newer code.`,
        { details: { collection: state.name, version, known } },
      )
    }
    return known !== undefined && (version < known || pending.length > 0)
  }

  #load(schema: StandardSchema): void {
    const loading = loadedModule(import('./validator.ts')).then(
      (loaded) => (this.validator = new loaded.DocumentValidator(schema)),
    )
    // A write reports the failure.
    loading.catch(() => {})
    this.validator = loading
  }

  /** For a collection that was made just now. */
  markNew(transaction: WriteTransaction, catalog: Catalog, state: CollectionState): CollectionState {
    const { version = SCHEMA_VERSION_FIRST } = this
    return version === SCHEMA_VERSION_FIRST
      ? state
      : catalog.change(transaction, state, { schema: { version, pending: [] } })
  }
}

function checkMigrations(version: number, migrations: Readonly<Record<number, Migration>>): void {
  if (!Number.isSafeInteger(version) || version < SCHEMA_VERSION_FIRST)
    throw badArgument('collection()', 'version must be a whole number from 1', version)
  for (let to = SCHEMA_VERSION_FIRST + 1; to <= version; to++) {
    if (typeof migrations[to] !== 'function')
      throw badArgument('collection()', `migrations[${to}] must be a function`, migrations[to])
  }
  const count = Object.keys(migrations).length
  if (count !== version - SCHEMA_VERSION_FIRST)
    throw badArgument(
      'collection()',
      `migrations must have the versions 2 to ${version} only`,
      Object.keys(migrations).join(),
    )
}
