/**
 * Storages for runtimes whose SQLite has synchronous calls: Expo, React Native, Cloudflare Durable Objects, and others by a driver of a few
 * lines.
 */
export { expoSqlite, opSqlite, type ExpoSqlite, type OpSqlite } from './drivers.ts'
export { durableObject, type DurableObjectStorage } from './durable-object.ts'
export { sqliteStorage } from './storage.ts'
export type { SqliteDriver, SqliteFile, SqliteRow, SqliteValue } from './connection.ts'
