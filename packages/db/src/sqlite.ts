/** Databases in SQLite files, the default in Node: `open(path, { storage: sqlite() })`. */
export { sqlite } from './storage/sqlite/sqlite.ts'
