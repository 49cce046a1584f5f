/** Where `open` puts a database in a browser unless told otherwise; chosen by `imports` of package.json as `#default-storage`. */
import type { DatabaseStorage } from '../page-store.ts'
import { indexedDb } from './indexeddb.ts'

export function defaultStorage(): DatabaseStorage {
  return indexedDb()
}
