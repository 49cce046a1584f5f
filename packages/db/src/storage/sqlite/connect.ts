/**
 * Opens the file of a database for this process alone, or creates it. A file that is not ours is not touched.
 *
 * The lock is SQLite's own (`locking_mode=EXCLUSIVE`): it ends with the process, however that ends, and with it the
 * write-ahead log needs no shared memory.
 */
import type * as Files from 'node:fs'
import type * as Paths from 'node:path'
import type * as Sqlite from 'node:sqlite'
import { PannierError } from '../../base/errors.ts'
import { openError, operationError, wrongFormatError } from './errors.ts'

/** 'Pann' in ASCII, in the header of each file: says whose it is, also to the `file` command. */
const APPLICATION_ID = 0x50616e6e

/** The version of the tables; their content has versions of its own. */
const SCHEMA_VERSION = 1

/**
 * 4 KiB: each append writes a whole page of SQLite's to its write-ahead log. Measured with 2 / 4 / 8 /
 * 16 / 32 KiB: an append of 450 bytes to the log takes 7 / 8 / 16 / 21 / 36 µs. A bulk write of 1,000 blobs of 30 KiB takes
 * 61 / 36 / 31 / 24 / 20 ms. A file keeps the size that it was made with.
 */
const SQLITE_PAGE_BYTES = 4096

/**
 * An append makes SQLite copy its write-ahead log into the file when that has this many pages (8 MiB). Copying 32 MiB
 * would hold the thread for 42 instead of 27 ms, and after a kill the next opening would read it all.
 */
export const WAL_PAGES_APPEND = 2048

/**
 * A transaction of pages leaves more of them in the write-ahead log (32 MiB). Else SQLite would copy within every bulk
 * write, which then takes 100 instead of 37 ms for 30 MB.
 */
export const WAL_PAGES_TRANSACTION = 8192

/**
 * Staged pages come some 4 MiB at a time, from work that releases the thread between them. Each time SQLite copies that
 * much (4 MiB), which holds the thread for 20 to 30 ms. Copying 32 MiB now and then would hold it for 80 to 120.
 */
export const WAL_PAGES_STAGED = 1024

/** The write-ahead log keeps up to that much room, so that small writes go on when the disk is full. */
const WAL_BYTES_KEPT = 64 << 20

/** A new file is for its owner alone; SQLite gives the files beside it the same rights. */
const PRIVATE_FILE = 0o600

/** The row 1 of `meta` is there always. `generation` 0: nothing was committed yet. Row 2, where there is one, is the keyring. */
const SCHEMA = `
  CREATE TABLE pages (id INTEGER PRIMARY KEY, bytes BLOB);
  CREATE TABLE log (sequence INTEGER PRIMARY KEY, bytes BLOB);
  CREATE TABLE meta (id INTEGER PRIMARY KEY, generation INTEGER, sequence INTEGER, claim TEXT, bytes BLOB);
  INSERT INTO meta VALUES (1, 0, 0, NULL, NULL);
`

/** Modules of Node that the storage needs. */
interface NodeModules {
  'node:fs': typeof Files
  'node:path': typeof Paths
  'node:sqlite': typeof Sqlite
}

/**
 * A module of Node, found when it is needed: the library loads in an older Node, too, where other storages work. An
 * `import` of `node:fs` and `node:path` would take a process 4 ms more: an export is made for each function.
 */
function moduleOfNode<Name extends keyof NodeModules>(name: Name): NodeModules[Name] {
  const found = process.getBuiltinModule?.(name) as NodeModules[Name] | undefined
  if (found !== undefined) return found
  const message = `SQLite files need Node 22.13 or newer (24 is best); this is ${process.version}. Update Node, or pass another storage to open().`
  throw new PannierError('PANNIER_UNAVAILABLE', message)
}

export const files = (): typeof Files => moduleOfNode('node:fs')

export const paths = (): typeof Paths => moduleOfNode('node:path')

export function connect(path: string): Sqlite.DatabaseSync {
  const connection = lock(path)
  try {
    if (applicationId(connection) !== APPLICATION_ID) create(connection, path)
    const version = pragma(connection, 'user_version')
    if (version > SCHEMA_VERSION) {
      const message = `The database file ${path} was written by a newer version of Pannier (schema ${version}).`
      throw new PannierError('PANNIER_FORMAT_NEWER', message)
    }
    connection.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA wal_autocheckpoint = ${WAL_PAGES_APPEND};
      PRAGMA journal_size_limit = ${WAL_BYTES_KEPT};
      PRAGMA synchronous = NORMAL;
      PRAGMA secure_delete = OFF;
      BEGIN IMMEDIATE;
      COMMIT;
    `)
    return connection
  } catch (error) {
    connection.close()
    throw openError(error, path)
  }
}

/** A failure to close becomes a typed error; the lock is gone all the same. */
export function closeConnection(connection: Sqlite.DatabaseSync, path: string): void {
  try {
    connection.close()
  } catch (error) {
    throw operationError(error, path)
  }
}

/** Fails unless the file is a database of ours (or there is no telling, because it is damaged) that no process has open. */
export function checkDestroyable(path: string): void {
  const connection = lock(path)
  try {
    if (applicationId(connection) !== APPLICATION_ID && !isBlank(connection)) throw wrongFormatError(path)
  } catch (error) {
    const failure = openError(error, path)
    if (!(failure instanceof PannierError && failure.code === 'PANNIER_CORRUPT')) throw failure
  } finally {
    connection.close()
  }
}

function lock(path: string): Sqlite.DatabaseSync {
  const { closeSync, existsSync, openSync, statSync } = files()
  const folder = paths().dirname(path)
  if (!existsSync(folder)) {
    const message = `The folder ${folder} does not exist, so the database file ${path} can't be opened.`
    throw new PannierError('PANNIER_OPEN_FAILED', message)
  }
  if (existsSync(path) && statSync(path).isDirectory()) {
    const message = `The path of a database must be that of a file, got the folder ${path}. Name a file in it, as in ${paths().join(path, 'app.db')}.`
    throw new PannierError('PANNIER_OPEN_FAILED', message)
  }
  try {
    if (!existsSync(path)) closeSync(openSync(path, 'a', PRIVATE_FILE))
    const connection = new (moduleOfNode('node:sqlite').DatabaseSync)(path)
    connection.exec('PRAGMA locking_mode = EXCLUSIVE')
    return connection
  } catch (error) {
    throw openError(error, path)
  }
}

/** Creates the tables in one transaction, so that a process which dies here leaves a blank file or a complete one. */
function create(connection: Sqlite.DatabaseSync, path: string): void {
  if (!isBlank(connection)) throw wrongFormatError(path)
  connection.exec(`
    PRAGMA page_size = ${SQLITE_PAGE_BYTES};
    BEGIN EXCLUSIVE;
    ${SCHEMA}
    PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${SCHEMA_VERSION};
    COMMIT;
  `)
}

function isBlank(connection: Sqlite.DatabaseSync): boolean {
  return applicationId(connection) === 0 && connection.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
}

function applicationId(connection: Sqlite.DatabaseSync): number {
  return pragma(connection, 'application_id')
}

function pragma(connection: Sqlite.DatabaseSync, name: string): number {
  return connection.prepare(`PRAGMA ${name}`).get()![name] as number
}
