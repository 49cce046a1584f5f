/**
 * Databases in the SQLite of a Cloudflare Durable Object. It has one file, which the object's own code uses too: tables have names that
 * begin with `pannier`. It has no pragmas, and transactions by a function.
 */
import type { DatabaseStorage } from 'pannier/storage'
import type { SqliteConnection, SqliteRow, SqliteValue } from './connection.ts'
import { createTables } from './schema.ts'
import { SqliteStorage } from './storage.ts'

/** The part of `ctx.storage` of a Durable Object that a database uses. */
export interface DurableObjectStorage {
  /** The object's SQLite. */
  readonly sql: {
    exec(
      sql: string,
      ...parameters: unknown[]
    ): {
      toArray(): SqliteRow[]
      readonly rowsWritten: number
    }
    readonly databaseSize: number
  }
  /** Runs the body in one transaction; what it throws rolls it back. */
  transactionSync<T>(body: () => T): T
  /** Syncs: resolves when all writes of the storage are on disks. */
  sync(): Promise<void>
}

/**
 * Databases of a Durable Object, in its own SQLite.
 *
 * @example
 * import { DurableObject } from 'cloudflare:workers'
 * export class Room extends DurableObject {
 *   db = open('room', { storage: durableObject(this.ctx.storage) })
 * }
 */
export function durableObject(storage: DurableObjectStorage): DatabaseStorage {
  const { sql } = storage
  const all = (text: string, parameters: readonly SqliteValue[]): SqliteRow[] => sql.exec(text, ...parameters).toArray()
  const run = (text: string, parameters: readonly SqliteValue[]): number => {
    const cursor = sql.exec(text, ...parameters)
    cursor.toArray()
    return cursor.rowsWritten
  }
  const has = (name: string): boolean =>
    all('SELECT 1 FROM sqlite_master WHERE name = ?', [`${prefixOf(name)}meta`]).length > 0
  return new SqliteStorage({
    kind: 'durable-object',
    owner: storage,
    has,
    connect(name): SqliteConnection {
      const prefix = prefixOf(name)
      if (!has(name)) storage.transactionSync(() => createTables((text) => run(text, []), quoted(prefix)))
      return {
        prefix: quoted(prefix),
        all,
        run,
        transaction: (body) => storage.transactionSync(body),
        beforeWrite: () => {},
        afterWrite: (durability) => (durability === 'strict' ? storage.sync() : undefined),
        usedBytes: () => sql.databaseSize,
        close: () => {},
      }
    },
    destroy(name) {
      const prefix = quoted(prefixOf(name))
      storage.transactionSync(() => {
        for (const table of ['pages', 'log', 'meta']) run(`DROP TABLE IF EXISTS "${prefix}${table}"`, [])
      })
    },
  })
}

const prefixOf = (name: string): string => `pannier ${name} `

/** Within the quotes of an identifier. */
const quoted = (name: string): string => name.replaceAll('"', '""')
