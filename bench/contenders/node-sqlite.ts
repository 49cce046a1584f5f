/** SQLite in Node: write-ahead log, `synchronous = NORMAL` as SQLite advises with it (https://sqlite.org/wal.html). */
import { rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { SqlDatabase, SqlDriver, SqlValue } from './sql.ts'

export const nodeSqliteDriver: SqlDriver = {
  async open(place) {
    const database = new DatabaseSync(place)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536')
    return new NodeDatabase(database)
  },
  async destroy(place) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(place + suffix, { force: true })
  },
}

class NodeDatabase implements SqlDatabase {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  execute(sql: string): void {
    this.#database.exec(sql)
  }

  run(sql: string, ...values: SqlValue[]): void {
    this.#prepare(sql).run(...values)
  }

  column(sql: string, ...values: SqlValue[]): SqlValue[] {
    const rows = this.#prepare(sql).all(...values)
    return rows.map((row) => Object.values(row)[0] as SqlValue)
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    return statement
  }
}
