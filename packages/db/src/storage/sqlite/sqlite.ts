/**
 * Databases in SQLite files, by Node's own SQLite. The name of a database is the path of its file.
 *
 * One process at a time has a file open; a second one is told so (PANNIER_LOCKED). Handles within the process share one
 * connection. Every call is synchronous, its failures included. The memory SQLite uses is small (its cache of 2 MB):
 * pages are cached by the layer above.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Generation, PageId } from '../../base/brand.ts'
import { PannierError } from '../../base/errors.ts'
import type {
  Commit,
  Durability,
  KnownState,
  LogRecord,
  Page,
  PageStore,
  SharingScope,
  Storage,
  StoreState,
} from '../page-store.ts'
import { checkDestroyable, connect } from './connect.ts'
import { openError } from './errors.ts'
import { SqliteDatabase, deleteFiles } from './sqlite-database.ts'

export function sqlite(): Storage {
  return new SqliteStorage()
}

/** What this process has open, by absolute path: a second connection would find the file locked. */
const databases = new Map<string, SqliteDatabase>()

class SqliteStorage implements Storage {
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
    return new SqlitePageStore(database)
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

class SqlitePageStore implements PageStore {
  private readonly database: SqliteDatabase
  private closed = false

  constructor(database: SqliteDatabase) {
    this.database = database
  }

  read(known?: KnownState): StoreState {
    return this.use().read(known)
  }

  readPages(ids: readonly PageId[]): (Uint8Array | undefined)[] {
    return this.use().readPages(ids)
  }

  append(record: LogRecord, durability: Durability, head?: Uint8Array): void {
    this.use().append(record, durability, head)
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): void {
    this.use().claim(token, expectedGeneration, firstNewPageId)
  }

  stage(token: string, pages: readonly Page[]): void {
    this.use().stage(token, pages)
  }

  commit(commit: Commit): void {
    this.use().commit(commit)
  }

  putHeader(expected: Uint8Array | undefined, header: Uint8Array, durability: Durability): void {
    this.use().putHeader(expected, header, durability)
  }

  replacePages(pages: readonly Page[]): void {
    this.use().replacePages(pages)
  }

  listPages(): PageId[] {
    return this.use().listPages()
  }

  usedBytes(): number {
    return this.use().usedBytes()
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    const { database } = this
    if (--database.users > 0 || database.closed) return
    databases.delete(database.path)
    database.close()
  }

  private use(): SqliteDatabase {
    if (this.closed) throw new PannierError('PANNIER_CLOSED', 'This handle is closed.')
    return this.database
  }
}
