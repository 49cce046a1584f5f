/** Drivers for the SQLite of Expo and of React Native. Each module is given, not imported: the types are the part that a database uses. */
import type { DatabaseStorage } from 'pannier/storage'
import type { SqliteRow, SqliteValue } from './connection.ts'
import { filesOf } from './storage.ts'

/** The part of the module `expo-sqlite` that a database uses. */
export interface ExpoSqlite {
  /** Opens a file, or makes it. */
  openDatabaseSync(name: string): {
    getAllSync<Row>(sql: string, parameters: SqliteValue[]): Row[]
    runSync(sql: string, parameters: SqliteValue[]): { readonly changes: number }
    closeSync(): void
  }
  /** Deletes a file. */
  deleteDatabaseSync(name: string): void
}

/**
 * Databases of an Expo app, in files of `expo-sqlite`.
 *
 * @example
 * import * as SQLite from 'expo-sqlite'
 *
 * const db = await open('notes', { storage: expoSqlite(SQLite) })
 */
export function expoSqlite(module: ExpoSqlite): DatabaseStorage {
  const open = (name: string): ReturnType<ExpoSqlite['openDatabaseSync']> => module.openDatabaseSync(name)
  return filesOf(
    {
      kind: 'expo-sqlite',
      open(name) {
        const file = open(name)
        return {
          all: (sql, parameters) => file.getAllSync<SqliteRow>(sql, [...parameters]),
          run: (sql, parameters) => file.runSync(sql, [...parameters]).changes,
          close: () => file.closeSync(),
        }
      },
      destroy(name) {
        // It refuses to delete a missing file.
        open(name).closeSync()
        module.deleteDatabaseSync(name)
      },
    },
    module,
  )
}

/** The part of the module `@op-engineering/op-sqlite` that a database uses. */
export interface OpSqlite {
  /** Opens a file, or makes it. */
  open(options: { name: string; location?: string }): {
    executeSync(
      sql: string,
      parameters?: SqliteValue[],
    ): {
      readonly rows: readonly SqliteRow[]
      readonly rowsAffected: number
    }
    close(): void
    delete(): void
  }
}

/**
 * Databases of a React Native app, in files of `@op-engineering/op-sqlite`.
 *
 * @example
 * import * as OPSQLite from '@op-engineering/op-sqlite'
 *
 * const db = await open('notes', { storage: opSqlite(OPSQLite) })
 */
export function opSqlite(module: OpSqlite): DatabaseStorage {
  return filesOf(
    {
      kind: 'op-sqlite',
      open(name) {
        const file = module.open({ name })
        return {
          all: (sql, parameters) => file.executeSync(sql, [...parameters]).rows,
          run: (sql, parameters) => file.executeSync(sql, [...parameters]).rowsAffected,
          close: () => file.close(),
        }
      },
      destroy: (name) => module.open({ name }).delete(),
    },
    module,
  )
}
