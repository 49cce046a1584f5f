/**
 * Databases in memory: for tests, caches and everything that may be forgotten when the process ends.
 *
 * One `memory()` holds any number of named databases. Handles on the same name share their data; a database lives as long as
 * the storage object does, or until it is destroyed. Every call is synchronous, its failures included.
 */
import { Handle } from '../handle.ts'
import type { PageStore, SharingScope, Storage } from '../page-store.ts'
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
    return new Handle(database)
  }

  async destroy(name: string): Promise<void> {
    const database = this.databases.get(name)
    if (database) database.closed = true
    this.databases.delete(name)
  }
}
