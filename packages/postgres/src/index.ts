/**
 * Databases on PostgreSQL, which several servers share: `open('shop', { storage: postgres(url) })`.
 *
 * @module
 */
import type { Coordinator, DatabaseStorage, Environment, PageStore, SharingScope } from 'pannier/internal'
import { handleOn } from 'pannier/internal'
import { Connections } from './connections.ts'
import { openError } from './errors.ts'
import { Hub } from './hub.ts'
import { settingsOf, type PostgresOptions, type Settings } from './options.ts'
import { PostgresCoordinator } from './postgres-coordinator.ts'
import { destroyDatabase, PostgresDatabase } from './postgres-database.ts'
import { Schema } from './schema.ts'

export type { PostgresOptions } from './options.ts'

/** A storage on PostgreSQL, and what it has cost. */
export interface PostgresStorage extends DatabaseStorage {
  /** Statements and round trips of this process so far. */
  readonly counts: { readonly statements: number; readonly trips: number }
}

/**
 * Keeps databases in PostgreSQL 14 or newer. Any number of processes on any machines may open one at the same time.
 *
 * The tables are made when the first database is opened. 'relaxed' commits survive the end of the process, not a crash of PostgreSQL.
 * What 'strict' survives, `synchronous_commit` of PostgreSQL says.
 *
 * @param url `postgres://user:password@host:5432/database?sslmode=require`. Several hosts are separated by commas: the first that takes
 *   writes is used.
 * @throws TypeError for a URL or options that are not as described. Opening fails with PANNIER_OPEN_FAILED where PostgreSQL can't be used.
 *   The message says what to do. It fails with PANNIER_NEWER_FORMAT or PANNIER_WRONG_FORMAT where the tables are not of this version.
 * @example
 * import { open } from 'pannier'
 * import { postgres } from '@pannier/postgres'
 *
 * const db = await open('shop', { storage: postgres('postgres://app:secret@127.0.0.1/app') })
 */
export function postgres(url: string, options: PostgresOptions = {}): PostgresStorage {
  return new StorageOnPostgres(settingsOf(url, options))
}

class StorageOnPostgres implements PostgresStorage {
  readonly kind: string = 'postgres'
  readonly scope: SharingScope = 'servers'
  readonly #settings: Settings
  readonly #connections: Connections
  readonly #schema: Schema
  readonly #hub: Hub

  constructor(settings: Settings) {
    this.#settings = settings
    this.#connections = new Connections(settings)
    this.#schema = new Schema(this.#connections, settings.schema, settings.place)
    this.#hub = new Hub(this.#connections, this.#schema, settings)
  }

  get counts(): { readonly statements: number; readonly trips: number } {
    return this.#connections.counts
  }

  identify(name: string): string {
    const { place, schema } = this.#settings
    return `postgres://${place}/${schema}/${name}`
  }

  async has(name: string): Promise<boolean> {
    const { schema } = this.#settings
    return this.#using(async () => {
      if (!(await this.#schema.isThere())) return false
      const text = `select exists (select from ${schema}.database d join ${schema}.fence f on f.database = d.id
        where d.name = $1 and f.sequence + f.generation > 0)`
      const { rows } = await this.#connections.patiently(() => this.#connections.one({ text, values: [name] }))
      return rows[0]![0] === true
    })
  }

  async open(name: string): Promise<PageStore> {
    const { schema, place } = this.#settings
    this.#connections.join()
    try {
      await this.#schema.ready()
      const database = await PostgresDatabase.open(this.#connections, schema, name, place)
      return handleOn(database, () => {
        database.close()
        this.#connections.leave()
      })
    } catch (error) {
      this.#connections.leave()
      throw openError(error, place, schema)
    }
  }

  destroy(name: string): Promise<void> {
    return this.#using(async () => {
      if (await this.#schema.isThere()) await destroyDatabase(this.#connections, this.#settings.schema, name)
    })
  }

  coordinator(name: string, _environment: Environment): Coordinator {
    return new PostgresCoordinator(this.#hub, name, this.identify(name), this.#settings.place)
  }

  async #using<T>(work: () => Promise<T>): Promise<T> {
    const { place, schema } = this.#settings
    this.#connections.join()
    try {
      return await work()
    } catch (error) {
      throw openError(error, place, schema)
    } finally {
      this.#connections.leave()
    }
  }
}
