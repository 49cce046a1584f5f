/**
 * SQLite's own WebAssembly build with the pool of OPFS files, the fastest of its persistent file systems and the one for a
 * single connection (https://sqlite.org/wasm/doc/trunk/persistence.md#vfs-opfs-sahpool). Runs in a worker.
 */
import initialize from '@sqlite.org/sqlite-wasm'
import type { Database, PreparedStatement, SAHPoolUtil } from '@sqlite.org/sqlite-wasm'
import wasm from '@sqlite.org/sqlite-wasm/sqlite3.wasm'
import type { SqlDatabase, SqlDriver, SqlValue } from './sql.ts'

let installed: Promise<SAHPoolUtil> | undefined

export const sqliteWasmDriver: SqlDriver = {
  async open(place) {
    installed ??= install()
    const pool = await installed
    const database = new pool.OpfsSAHPoolDb(`/${place}`)
    // There is no shared memory, so no write-ahead log without an exclusive lock; nobody else may open it anyway.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    database.exec('PRAGMA cache_size = -65536')
    return new WasmDatabase(database)
  },
  async destroy(place) {
    const pool = await installed
    pool?.unlink(`/${place}`)
  },
}

async function install(): Promise<SAHPoolUtil> {
  const url = URL.createObjectURL(new Blob([wasm as Uint8Array<ArrayBuffer>], { type: 'application/wasm' }))
  const options = { locateFile: () => url, print: () => undefined, printErr: () => undefined }
  const sqlite = await (initialize as (options: object) => ReturnType<typeof initialize>)(options)
  return sqlite.installOpfsSAHPoolVfs({})
}

class WasmDatabase implements SqlDatabase {
  readonly #database: Database
  readonly #statements = new Map<string, PreparedStatement>()

  constructor(database: Database) {
    this.#database = database
  }

  execute(sql: string): void {
    this.#database.exec(sql)
  }

  run(sql: string, ...values: SqlValue[]): void {
    this.#bind(sql, values).stepReset()
  }

  column(sql: string, ...values: SqlValue[]): SqlValue[] {
    const statement = this.#bind(sql, values)
    const found: SqlValue[] = []
    while (statement.step()) found.push(statement.get(0) as SqlValue)
    statement.reset()
    return found
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize()
    this.#statements.clear()
    this.#database.close()
  }

  #bind(sql: string, values: readonly SqlValue[]): PreparedStatement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    if (values.length > 0) statement.bind([...values])
    return statement
  }
}
