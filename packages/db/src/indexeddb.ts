/** Databases in IndexedDB, the default in browsers: `open(name, { storage: indexedDb() })`. */
export { indexedDb } from './storage/indexeddb/indexeddb.ts'
