/**
 * The synchronous calls of other SQLites, over Node's: what they take, give and say when they fail, as in the sources of expo-sqlite 57.0.3
 * and @op-engineering/op-sqlite 18.2.5, and in Cloudflare's documentation.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { DurableObjectStorage, ExpoSqlite, OpSqlite, SqliteDriver, SqliteRow, SqliteValue } from '../src/index.ts'

/** The module of Expo, with its files in `folder`. Blobs are `Uint8Array`. */
export function expoShape(folder: string): ExpoSqlite {
  return {
    openDatabaseSync(name) {
      const file = new DatabaseSync(join(folder, name))
      return {
        getAllSync: <Row>(sql: string, parameters: SqliteValue[]) =>
          said('Error code ', () => file.prepare(sql).all(...parameters) as Row[]),
        runSync: (sql, parameters) =>
          said('Error code ', () => ({ changes: Number(file.prepare(sql).run(...parameters).changes) })),
        closeSync: () => file.close(),
      }
    },
    deleteDatabaseSync(name) {
      if (!existsSync(join(folder, name))) throw new Error(`Database '${name}' not found`)
      remove(join(folder, name))
    },
  }
}

/** The module of op-sqlite, with its files in `folder`. Blobs are `ArrayBuffer`; one call for statements with rows and without. */
export function opShape(folder: string): OpSqlite {
  return {
    open({ name }) {
      const file = new DatabaseSync(join(folder, name))
      return {
        executeSync: (sql, parameters = []) =>
          said('[op-sqlite] statement execution error: ', () => {
            const statement = file.prepare(sql)
            if (statement.columns().length === 0)
              return { rows: [], rowsAffected: Number(statement.run(...parameters).changes) }
            return { rows: statement.all(...parameters).map(withBuffers), rowsAffected: 0 }
          }),
        close: () => file.close(),
        delete() {
          file.close()
          remove(join(folder, name))
        },
      }
    },
  }
}

/** The storage of a Durable Object, in memory. It refuses pragmas and transactions by statements. */
export function durableShape(): DurableObjectStorage {
  const file = new DatabaseSync(':memory:')
  return {
    sql: {
      exec(sql, ...parameters) {
        if (/^\s*(PRAGMA|BEGIN|COMMIT|ROLLBACK)/i.test(sql)) throw new Error('not authorized: SQLITE_AUTH')
        const statement = file.prepare(sql)
        if (statement.columns().length === 0) {
          const { changes } = statement.run(...(parameters as SQLInputValue[]))
          return { toArray: () => [], rowsWritten: Number(changes) }
        }
        const rows = statement.all(...(parameters as SQLInputValue[])).map(withBuffers)
        return { toArray: () => rows, rowsWritten: 0 }
      },
      databaseSize: 4096,
    },
    transactionSync(body) {
      file.exec('SAVEPOINT body')
      try {
        const result = body()
        file.exec('RELEASE body')
        return result
      } catch (error) {
        file.exec('ROLLBACK TO body; RELEASE body')
        throw error
      }
    },
    sync: async () => {},
  }
}

/** A driver that somebody writes, of the paths that are given as names. */
export const nodeDriver: SqliteDriver = {
  kind: 'node:sqlite',
  open(path) {
    const file = new DatabaseSync(path)
    return {
      all: (sql, parameters) => file.prepare(sql).all(...parameters),
      run: (sql, parameters) => Number(file.prepare(sql).run(...parameters).changes),
      close: () => file.close(),
    }
  },
  destroy: remove,
  has: existsSync,
}

function remove(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}

/** Fails with SQLite's own sentence behind `prefix`, and no code. */
function said<T>(prefix: string, body: () => T): T {
  try {
    return body()
  } catch (error) {
    throw new Error(prefix + (error as Error).message)
  }
}

function withBuffers(row: SqliteRow): SqliteRow {
  const entries = Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? copy(value) : value])
  return Object.fromEntries(entries) as SqliteRow
}

function copy(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
