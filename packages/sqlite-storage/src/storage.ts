/** Databases in an SQLite whose calls are synchronous. */
import { handleOn, type DatabaseStorage, type PageStore, type SharingScope } from 'pannier/storage'
import type { SqliteDriver, SqlitePlace } from './connection.ts'
import { convert } from './errors.ts'
import { FileConnection } from './schema.ts'
import { SqliteDatabase } from './sqlite-database.ts'

/**
 * Databases in files of an SQLite that you bring: a driver is an object of a few short functions.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite'
 * import { rmSync } from 'node:fs'
 *
 * const storage = sqliteStorage({
 *   kind: 'node:sqlite',
 *   open(path) {
 *     const file = new DatabaseSync(path)
 *     return {
 *       all: (sql, parameters) => file.prepare(sql).all(...parameters),
 *       run: (sql, parameters) => Number(file.prepare(sql).run(...parameters).changes),
 *       close: () => file.close(),
 *     }
 *   },
 *   destroy: (path) => rmSync(path, { force: true }),
 * })
 */
export function sqliteStorage(driver: SqliteDriver): DatabaseStorage {
  return filesOf(driver, driver)
}

/** `owner`: two storages with the same one have the same databases. */
export function filesOf(driver: SqliteDriver, owner: object): DatabaseStorage {
  return new SqliteStorage({
    kind: driver.kind,
    owner,
    connect: (name) => new FileConnection(driver.open(name), name),
    has: (name) => driver.has?.(name),
    destroy: (name) => driver.destroy(name),
  })
}

/** The databases of an owner that are open, by name. */
interface Opened {
  readonly number: number
  readonly databases: Map<string, SqliteDatabase>
}

const owners = new WeakMap<object, Opened>()
let ownersSeen = 0

export class SqliteStorage implements DatabaseStorage {
  readonly kind: string
  readonly scope: SharingScope = 'process'
  readonly #place: SqlitePlace
  readonly #opened: Opened

  constructor(place: SqlitePlace) {
    this.kind = place.kind
    this.#place = place
    let opened = owners.get(place.owner)
    if (!opened) owners.set(place.owner, (opened = { number: ++ownersSeen, databases: new Map() }))
    this.#opened = opened
  }

  identify(name: string): string {
    return `${this.kind} ${this.#opened.number} ${name}`
  }

  async has(name: string): Promise<boolean | undefined> {
    return this.#place.has(name)
  }

  async open(name: string): Promise<PageStore> {
    const { databases } = this.#opened
    let database = databases.get(name)
    if (!database) {
      const connection = this.#converted(name, () => this.#place.connect(name))
      databases.set(name, (database = new SqliteDatabase(connection, name)))
    }
    database.users++
    return handleOn(database, () => this.#leave(database, name))
  }

  async destroy(name: string): Promise<void> {
    const database = this.#opened.databases.get(name)
    this.#opened.databases.delete(name)
    this.#converted(name, () => {
      database?.close()
      this.#place.destroy(name)
    })
  }

  #leave(database: SqliteDatabase, name: string): void {
    if (--database.users > 0 || database.closed) return
    this.#opened.databases.delete(name)
    database.close()
  }

  #converted<T>(name: string, body: () => T): T {
    try {
      return body()
    } catch (error) {
      throw convert(error, name, 'PANNIER_OPEN_FAILED')
    }
  }
}
