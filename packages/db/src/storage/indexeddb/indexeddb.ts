/**
 * Databases in a browser's IndexedDB, one for each of ours: object stores `pages` (by page id), `log` (by sequence) and
 * `meta` (the meta record, the claim, the identity). No native indexes.
 *
 * Each call is one transaction. Handles in any tab or worker of the origin share a database; what serializes their calls
 * is IndexedDB.
 */
import { checkOptions, type OptionNames } from '../../base/options.ts'
import type { SharingScope, DatabaseStorage } from '../page-store.ts'
import { Connection } from './connection.ts'
import { IndexedDbPageStore } from './indexeddb-page-store.ts'
import { deleteDatabase, isThere } from './open.ts'

const OPEN_MS_MAX = 10_000

interface IndexedDbOptions {
  /** How long the browser may take to open or delete a database before it counts as failed. Default 10,000. */
  readonly openMsMax?: number
}

const OPTIONS: OptionNames<IndexedDbOptions> = { openMsMax: true }

/** Databases in IndexedDB, the default in browsers. */
export function indexedDb(options: IndexedDbOptions = {}): DatabaseStorage {
  checkOptions('indexedDb()', options, OPTIONS)
  const { openMsMax = OPEN_MS_MAX } = options
  return {
    kind: 'indexeddb',
    scope: 'origin' satisfies SharingScope,
    identify: (name) => name,
    has: isThere,
    async open(name) {
      const connection = new Connection(name, openMsMax)
      await connection.open()
      return new IndexedDbPageStore(connection)
    },
    destroy: (name) => deleteDatabase(name, openMsMax),
  }
}

/** Memory for the pages of a database by default. */
export const defaultCacheBytes = (_databases: number): number => 64 * 1024 * 1024

/** Where `open` puts a database in a browser by default (`#default-storage` of package.json). */
export function defaultStorage(): DatabaseStorage {
  return indexedDb()
}
