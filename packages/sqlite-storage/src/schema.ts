/** The tables of a database: those of `sqlite()` of `pannier/sqlite`, so that either opens the files of the other. */
import { PannierError } from 'pannier'
import type { Durability } from 'pannier/storage'
import type { SqliteConnection, SqliteFile, SqliteValue } from './connection.ts'
import { notOurs } from './errors.ts'

/** 'Pann' in ASCII, in the header of each file. */
const APPLICATION_ID = 0x50616e6e
const SCHEMA_VERSION = 1

/** `meta` has the row 1 always. `generation` 0: nothing was committed yet. Its row 2, where there is one, is the keyring. */
export function createTables(run: (sql: string) => void, prefix: string): void {
  run(`CREATE TABLE "${prefix}pages" (id INTEGER PRIMARY KEY, bytes BLOB)`)
  run(`CREATE TABLE "${prefix}log" (sequence INTEGER PRIMARY KEY, bytes BLOB)`)
  run(
    `CREATE TABLE "${prefix}meta" (id INTEGER PRIMARY KEY, generation INTEGER, sequence INTEGER, claim TEXT, bytes BLOB)`,
  )
  run(`INSERT INTO "${prefix}meta" VALUES (1, 0, 0, NULL, NULL)`)
}

/** A database in a file of its own. The lock is SQLite's: a second process, or a second connection, finds the file locked. */
export class FileConnection implements SqliteConnection {
  readonly prefix = ''
  readonly #file: SqliteFile
  #durability: Durability = 'relaxed'

  /** @throws PANNIER_FORMAT_WRONG for a file that is not ours: it is left as it is. */
  constructor(file: SqliteFile, name: string) {
    this.#file = file
    try {
      file.all('PRAGMA locking_mode = EXCLUSIVE', [])
      if (this.#pragma('application_id') !== APPLICATION_ID) this.#create(name)
      const version = this.#pragma('user_version')
      if (version > SCHEMA_VERSION) {
        const message = `The database ${name} was written by a newer version of Pannier (schema ${version}). Update the package.`
        throw new PannierError('PANNIER_FORMAT_NEWER', message)
      }
      file.all('PRAGMA journal_mode = WAL', [])
      file.run('PRAGMA synchronous = NORMAL', [])
      // Takes the lock.
      this.transaction(() => {})
    } catch (error) {
      file.close()
      throw error
    }
  }

  all(sql: string, parameters: readonly SqliteValue[]): ReturnType<SqliteFile['all']> {
    return this.#file.all(sql, parameters)
  }

  run(sql: string, parameters: readonly SqliteValue[]): number {
    return this.#file.run(sql, parameters)
  }

  transaction(body: () => void): void {
    this.#file.run('BEGIN IMMEDIATE', [])
    try {
      body()
      this.#file.run('COMMIT', [])
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  /** FULL syncs the write-ahead log with each commit, and with it everything that was written before. */
  beforeWrite(durability: Durability): void {
    if (durability === this.#durability) return
    this.#file.run(`PRAGMA synchronous = ${durability === 'strict' ? 'FULL' : 'NORMAL'}`, [])
    this.#durability = durability
  }

  afterWrite(): void {}

  usedBytes(): number {
    return (this.#pragma('page_count') - this.#pragma('freelist_count')) * this.#pragma('page_size')
  }

  close(): void {
    this.#file.close()
  }

  /** In one transaction: a process that dies here leaves a blank file or a complete one. */
  #create(name: string): void {
    const isBlank = this.#pragma('application_id') === 0 && this.#pragma('schema_version') === 0
    if (!isBlank) throw new PannierError('PANNIER_FORMAT_WRONG', notOurs(name))
    this.transaction(() => {
      createTables((sql) => this.#file.run(sql, []), '')
      this.#file.run(`PRAGMA application_id = ${APPLICATION_ID}`, [])
      this.#file.run(`PRAGMA user_version = ${SCHEMA_VERSION}`, [])
    })
  }

  /** SQLite has rolled back by itself after some failures, and then refuses to do it again. */
  #rollBack(): void {
    try {
      this.#file.run('ROLLBACK', [])
    } catch {}
  }

  #pragma(name: string): number {
    return this.#file.all(`PRAGMA ${name}`, [])[0]![name] as number
  }
}
