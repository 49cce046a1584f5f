/**
 * Databases on PostgreSQL, which several servers share: `open('shop', { storage: postgres(url) })`.
 *
 * @module
 */
import type { Coordinator, DatabaseStorage, PageStore, SharingScope } from 'pannier/storage'
import type { LongWork } from 'pannier'
import type { Environment } from 'pannier/types'
import { badArgument, checkOptions, systemEnvironment, type OptionNames } from 'pannier/internal'
import { handleOn } from 'pannier/storage'
import { openError } from './errors.ts'
import { FollowingCoordinator } from './following-coordinator.ts'
import { moveDatabase } from './move.ts'
import { OnePostgres } from './one-postgres.ts'
import { allSettings, type PostgresOptions } from './options.ts'
import { Places } from './places.ts'
import { PostgresCoordinator } from './postgres-coordinator.ts'
import { PostgresDatabase } from './postgres-database.ts'

export type { PostgresOptions } from './options.ts'

/** A storage on PostgreSQL, and what it has cost. */
export interface PostgresStorage extends DatabaseStorage {
  /** Statements and round trips of this process so far. */
  readonly counts: { readonly statements: number; readonly trips: number }
  /** The host, port and database of the PostgreSQL that has a database, without a password. Undefined: there is no such database. */
  placeOf(name: string): Promise<string | undefined>
  /**
   * Moves a database to another PostgreSQL of this storage while servers use it. Their writes wait at the end, for less than a second
   * as a rule and for at most five. Whatever is killed meanwhile, the database is at one of both, whole. Call it again to finish.
   *
   * @param to The URL of the other PostgreSQL, as `postgres` has it.
   * @throws TypeError for a URL that is not one of this storage; PANNIER_NOT_FOUND, PANNIER_ABORTED, PANNIER_IO_FAILED. PANNIER_STALE if another
   *   move of the database has begun, or this one has stopped the writers for too long. Then nothing has happened.
   * @example
   * const storage = postgres(['postgres://app:secret@one/app', 'postgres://app:secret@two/app'])
   * await storage.move('shop', 'postgres://app:secret@two/app', { onProgress: (done) => console.log(done) })
   */
  move(name: string, to: string, options?: LongWork): Promise<void>
}

/**
 * Keeps databases in PostgreSQL 14 or newer. Any number of processes on any machines may open one at the same time.
 *
 * The tables are made when the first database is opened. 'relaxed' commits survive the end of the process, not a crash of PostgreSQL.
 * What 'strict' survives, `synchronous_commit` of PostgreSQL says.
 *
 * @param url `postgres://user:password@host:5432/database?sslmode=require`. Several hosts are separated by commas: the first that takes
 *   writes is used. A list of URLs spreads databases over several PostgreSQLs by name. The first one knows where each database is.
 * @throws TypeError for a URL or options that are not as described. Opening fails with PANNIER_OPEN_FAILED where PostgreSQL can't be used.
 *   The message says what to do. It fails with PANNIER_FORMAT_NEWER or PANNIER_FORMAT_WRONG where the tables are not of this version.
 * @example
 * import { open } from 'pannier'
 * import { postgres } from '@pannier/postgres'
 *
 * const db = await open('shop', { storage: postgres('postgres://app:secret@127.0.0.1/app') })
 */
export function postgres(url: string | readonly string[], options: PostgresOptions = {}): PostgresStorage {
  const environment = systemEnvironment()
  const all = allSettings(url, options).map((settings) => new OnePostgres(settings, environment))
  return new StorageOnPostgres(new Places(all))
}

class StorageOnPostgres implements PostgresStorage {
  readonly kind: string = 'postgres'
  readonly scope: SharingScope = 'servers'
  readonly #places: Places

  constructor(places: Places) {
    this.#places = places
  }

  get counts(): { readonly statements: number; readonly trips: number } {
    const counts = { statements: 0, trips: 0 }
    for (const { connections } of this.#places.all) {
      counts.statements += connections.counts.statements
      counts.trips += connections.counts.trips
    }
    return counts
  }

  identify(name: string): string {
    const { place, settings } = this.#places.home
    return `postgres://${place}/${settings.schema}/${name}`
  }

  async has(name: string): Promise<boolean> {
    return this.#using(async () => {
      if (!(await this.#places.home.schema.isThere())) return false
      const spot = await this.#places.find(name)
      if (spot === undefined) return false
      await this.#places.idOf(spot.postgres)
      const { connections, settings } = spot.postgres
      const { schema } = settings
      const text = `select exists (select from ${schema}.database d join ${schema}.fence f on f.database = d.id
        where d.name = $1 and f.sequence + f.generation > 0)`
      const { rows } = await connections.patiently(() => connections.one({ text, values: [name] }))
      return rows[0]![0] === true
    })
  }

  async open(name: string): Promise<PageStore> {
    const places = this.#places
    places.join()
    try {
      const database = await PostgresDatabase.open(places, name)
      return handleOn(database, () => {
        database.close()
        places.leave()
      })
    } catch (error) {
      places.leave()
      throw this.#openError(error)
    }
  }

  destroy(name: string): Promise<void> {
    return this.#using(async () => {
      if (await this.#places.home.schema.isThere()) await this.#places.destroy(name)
    })
  }

  coordinator(name: string, environment: Environment): Coordinator {
    const { all, home } = this.#places
    const handle = { name, realm: this.identify(name), environment }
    return all.length > 1 ? new FollowingCoordinator(this.#places, handle) : new PostgresCoordinator(home, handle)
  }

  placeOf(name: string): Promise<string | undefined> {
    return this.#using(async () =>
      (await this.has(name)) ? (await this.#places.find(name))!.postgres.place : undefined,
    )
  }

  move(name: string, to: string, options: LongWork = {}): Promise<void> {
    checkOptions('move()', options, MOVE_OPTIONS)
    const { place } = allSettings(to, {})[0]!
    const target = this.#places.all.find((postgres) => postgres.place === place)
    if (target === undefined) {
      const places = this.#places.all.map((postgres) => postgres.place)
      throw badArgument('move()', `to must be the URL of a PostgreSQL of this storage (${places.join(', ')})`, place)
    }
    return this.#using(() => moveDatabase(this.#places, name, target, options))
  }

  async #using<T>(work: () => Promise<T>): Promise<T> {
    this.#places.join()
    try {
      return await work()
    } catch (error) {
      throw this.#openError(error)
    } finally {
      this.#places.leave()
    }
  }

  #openError(error: unknown): unknown {
    const { place, settings } = this.#places.home
    return openError(error, place, settings.schema)
  }
}

const MOVE_OPTIONS: OptionNames<LongWork> = { signal: true, onProgress: true }
