/**
 * Databases in memory: for tests, caches and everything that may be forgotten when the process ends.
 *
 * One `memory()` holds any number of named databases. Handles on the same name share their data; a database lives as long as
 * the storage object does, or until it is destroyed. Every call is synchronous, its failures included.
 */
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
import { MemoryDatabase } from './memory-database.ts'

/** A storage of its own: its databases are not those of any other `memory()`. */
export function memory(): Storage {
  return new MemoryStorage()
}

let storagesMade = 0

class MemoryStorage implements Storage {
  readonly kind: string = 'memory'
  readonly scope: SharingScope = 'process'
  private readonly databases = new Map<string, MemoryDatabase>()
  private readonly number = ++storagesMade

  identify(name: string): string {
    return `memory:${this.number}:${name}`
  }

  async open(name: string): Promise<PageStore> {
    let database = this.databases.get(name)
    if (!database) this.databases.set(name, (database = new MemoryDatabase()))
    return new MemoryPageStore(database)
  }

  async destroy(name: string): Promise<void> {
    const database = this.databases.get(name)
    if (database) database.destroyed = true
    this.databases.delete(name)
  }
}

class MemoryPageStore implements PageStore {
  private readonly database: MemoryDatabase
  private closed = false

  constructor(database: MemoryDatabase) {
    this.database = database
  }

  read(known?: KnownState): StoreState {
    return this.use().read(known)
  }

  readPages(ids: readonly PageId[]): (Uint8Array | undefined)[] {
    return this.use().readPages(ids)
  }

  append(record: LogRecord, _durability: Durability, head?: Uint8Array): void {
    this.use().append(record, head)
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

  putHeader(expected: Uint8Array | undefined, header: Uint8Array, _durability: Durability): void {
    this.use().putHeader(expected, header)
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
    this.closed = true
  }

  private use(): MemoryDatabase {
    if (this.closed) throw new PannierError('PANNIER_CLOSED', 'This handle is closed.')
    if (this.database.destroyed) throw new PannierError('PANNIER_CLOSED', 'The database was destroyed.')
    return this.database
  }
}
