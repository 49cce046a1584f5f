/**
 * Databases in SQLite files, by Node's own SQLite. The name of a database is the path of its file.
 *
 * One process at a time has a file open; a second one is told so (PANNIER_LOCKED). Handles within the process share one
 * connection. Every call is synchronous, its failures included. The memory SQLite uses is small (its cache of 2 MB):
 * pages are cached by the layer above.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Handle } from '../handle.ts'
import type { PageStore, SharingScope, DatabaseStorage } from '../page-store.ts'
import { checkDestroyable, connect } from './connect.ts'
import { openError } from './errors.ts'
import { SqliteDatabase, deleteFiles } from './sqlite-database.ts'

export function sqlite(): DatabaseStorage {
  return new SqliteStorage()
}

/** What this process has open, by absolute path: a second connection would find the file locked. */
const databases = new Map<string, SqliteDatabase>()

class SqliteStorage implements DatabaseStorage {
  readonly kind: string = 'sqlite'
  readonly scope: SharingScope = 'process'

  identify(name: string): string {
    return resolve(name)
  }

  async open(name: string): Promise<PageStore> {
    const path = resolve(name)
    let database = databases.get(path)
    if (!database) databases.set(path, (database = new SqliteDatabase(connect(path), path)))
    database.users++
    return new Handle(database, () => leave(database))
  }

  async destroy(name: string): Promise<void> {
    const path = resolve(name)
    const database = databases.get(path)
    databases.delete(path)
    try {
      if (database) return database.destroy()
      if (existsSync(path)) checkDestroyable(path)
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
