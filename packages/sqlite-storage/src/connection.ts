/** The calls of SQLite that the page store makes: three in files, a few more where SQLite takes no `BEGIN`. */
import type { Durability, MaybePromise } from 'pannier/storage'

/** A parameter of a statement. */
export type SqliteValue = string | number | null | Uint8Array

/** A row. A blob is a `Uint8Array` or an `ArrayBuffer`. */
export type SqliteRow = Readonly<Record<string, unknown>>

/** An open database file of an SQLite whose calls are synchronous. Each call throws where the statement fails. */
export interface SqliteFile {
  /** Runs a statement that gives rows. */
  all(sql: string, parameters: readonly SqliteValue[]): readonly SqliteRow[]
  /** Runs a statement that gives no rows, and says how many it has written. */
  run(sql: string, parameters: readonly SqliteValue[]): number
  /** Closes the file. */
  close(): void
}

/** An SQLite whose calls are synchronous: makes and deletes files. */
export interface SqliteDriver {
  /** The kind of storage, for people: `database.storage` gives it. */
  readonly kind: string
  /** Opens the file of a database, or makes it. */
  open(name: string): SqliteFile
  /** Deletes the file of a database, which nobody has open. A missing file is no error. */
  destroy(name: string): void
  /** Whether the file is there, where the driver can know without making it. */
  has?(name: string): boolean
}

/** An open database, of whatever kind. */
export interface SqliteConnection extends SqliteFile {
  /** Put before the names of tables. */
  readonly prefix: string
  /** Runs `body` as one transaction. What it throws undoes everything. */
  transaction(body: () => void): void
  /** Called before each write. */
  beforeWrite(durability: Durability): void
  /** Called after each write; what it returns resolves when the write is durable. */
  afterWrite(durability: Durability): MaybePromise<void>
  usedBytes(): number
}

/** A place of databases. */
export interface SqlitePlace {
  readonly kind: string
  /** Databases of one name and one owner are the same database. */
  readonly owner: object
  connect(name: string): SqliteConnection
  has(name: string): boolean | undefined
  /** Deletes a database that nobody has open. */
  destroy(name: string): void
}
