/**
 * SQLite's own WebAssembly build with the pool of OPFS files, the fastest of its persistent file systems and the one for a
 * single connection (https://sqlite.org/wasm/doc/trunk/persistence.md#vfs-opfs-sahpool). Runs in a worker.
 */
import initialize from '@sqlite.org/sqlite-wasm'
import type { Database, PreparedStatement, SAHPoolUtil } from '@sqlite.org/sqlite-wasm'
import wasm from '@sqlite.org/sqlite-wasm/sqlite3.wasm'
import { OPFS_FOLDER } from './opfs.ts'
import type { SqlDatabase, SqlDriver, SqlValue } from './sql.ts'

/** Databases, their journals and write-ahead logs: the pool does not grow by itself. */
const FILES_MAX = 32

let installed: Promise<SAHPoolUtil> | undefined

export const sqliteWasmDriver: SqlDriver = {
  async open(place) {
    const pool = await takePool()
    const database = new pool.OpfsSAHPoolDb(`/${place}`)
    // Without shared memory a write-ahead log needs an exclusive lock. Nobody else opens the database anyway.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    database.exec('PRAGMA cache_size = -65536')
    return new WasmDatabase(database, pool)
  },
  async destroy(place) {
    const pool = await takePool()
    pool.unlink(`/${place}`)
    pool.pauseVfs()
  },
}

/** Opens the pool of files. The files are locked until it is paused: another worker can open them after `close`. */
async function takePool(): Promise<SAHPoolUtil> {
  installed ??= install()
  const pool = await installed
  if (pool.isPaused()) await pool.unpauseVfs()
  return pool
}

async function install(): Promise<SAHPoolUtil> {
  // Its other file systems would each start a worker from a missing file.
  const disable = { vfs: { opfs: true, 'opfs-vfs': true, 'opfs-wl': true } }
  Object.assign(globalThis, { sqlite3ApiConfig: { disable } })
  const url = URL.createObjectURL(new Blob([wasm as Uint8Array<ArrayBuffer>], { type: 'application/wasm' }))
  const options = { locateFile: () => url, print: () => undefined, printErr: () => undefined }
  const sqlite = await (initialize as (options: object) => ReturnType<typeof initialize>)(options)
  return sqlite.installOpfsSAHPoolVfs({ initialCapacity: FILES_MAX, directory: OPFS_FOLDER })
}

class WasmDatabase implements SqlDatabase {
  readonly #database: Database
  readonly #pool: SAHPoolUtil
  readonly #statements = new Map<string, PreparedStatement>()

  constructor(database: Database, pool: SAHPoolUtil) {
    this.#database = database
    this.#pool = pool
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
    this.#pool.pauseVfs()
  }

  #bind(sql: string, values: readonly SqlValue[]): PreparedStatement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    if (values.length > 0) statement.bind([...values])
    return statement
  }
}
