/**
 * Databases in SQLite files, by Node's own SQLite. The name of a database is the path of its file.
 *
 * One process at a time has a file open; a second one gets PANNIER_LOCKED. Handles within the process share one
 * connection. Every call is synchronous, its failures included. The memory SQLite uses is small (its cache of 2 MB):
 * pages are cached by the layer above.
 */
import { Handle, tellDestroyed } from '../handle.ts'
import type { PageStore, SharingScope, DatabaseStorage } from '../page-store.ts'
import { checkDestroyable, connect, files, paths } from './connect.ts'
import { openError } from './errors.ts'
import { SqliteDatabase, deleteFiles } from './sqlite-database.ts'
import { PannierError } from '../../base/errors.ts'

export function sqlite(): DatabaseStorage {
  return new SqliteStorage()
}

/** The databases that this process has open, by absolute path: a second connection would find the file locked. */
const databases = new Map<string, SqliteDatabase>()

const NOT_THERE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR'])

class SqliteStorage implements DatabaseStorage {
  readonly kind: string = 'sqlite'
  readonly scope: SharingScope = 'process'

  identify(name: string): string {
    return paths().resolve(name)
  }

  /** A folder that may not be looked into may have it. */
  async has(name: string): Promise<boolean | undefined> {
    try {
      files().statSync(paths().resolve(name))
      return true
    } catch (error) {
      return NOT_THERE.has((error as NodeJS.ErrnoException).code) ? false : undefined
    }
  }

  async open(name: string): Promise<PageStore> {
    const path = paths().resolve(name)
    let database = databases.get(path)
    if (!database) databases.set(path, (database = new SqliteDatabase(connect(path), path)))
    database.users++
    return new Handle(database, () => leave(database))
  }

  async destroy(name: string): Promise<void> {
    const path = paths().resolve(name)
    const database = databases.get(path)
    databases.delete(path)
    try {
      if (database) {
        database.destroy()
        return tellDestroyed(database)
      }
      if (files().existsSync(path)) checkDestroyable(path)
      deleteFiles(path)
    } catch (error) {
      throw openError(error, path)
    }
  }
}

function leave(database: SqliteDatabase): void {
  if (--database.users > 0 || database.closed) return
  databases.delete(database.path)
  database.close()
}

const CACHE_BYTES_MIN: number = 64 * 1024 * 1024
const CACHE_SHARE = 1 / 16

/** Memory for the pages of one of `databases` that are open: they share a 16th of what the process may take. */
export function defaultCacheBytes(databases: number): number {
  return Math.max(CACHE_BYTES_MIN, (memoryBytes() * CACHE_SHARE) / databases)
}

let memory: number | undefined

/** The memory of the machine, or of the container. 0 in a runtime without the modules of Node. */
function memoryBytes(): number {
  // Where there is no constraint, it is 0 or a number beyond any memory.
  return (memory ??= Math.min(
    process.getBuiltinModule?.('node:os')?.totalmem() ?? 0,
    process.constrainedMemory?.() || Infinity,
  ))
}

/**
 * Where `open` puts a database in Node by default (`#default-storage` of package.json): in a file, but not where the
 * code was meant for a browser.
 *
 * @throws PannierError PANNIER_UNAVAILABLE in a page that Next.js renders on its server, and beside a document that a test has made (jsdom,
 *   happy-dom).
 */
export function defaultStorage(): DatabaseStorage {
  const place = pageInNode()
  if (place === undefined) return sqlite()
  const message =
    `open() is called in ${place}, where it would make a file on this machine. Call it in the browser only, as in an effect; ` +
    `or pass a storage: \`memory()\` of pannier/memory in tests, \`sqlite()\` of pannier/sqlite to keep a file on a server.`
  throw new PannierError('PANNIER_UNAVAILABLE', message)
}

/** A page that runs in Node, in words; undefined elsewhere. */
function pageInNode(): string | undefined {
  if ('document' in globalThis) return 'a document that is simulated in Node (jsdom, happy-dom)'
  if (process.env['NEXT_RUNTIME'] !== undefined || process.env['NEXT_PHASE'] !== undefined)
    return 'a page that Next.js renders on its server'
  return undefined
}
