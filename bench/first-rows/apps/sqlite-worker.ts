/** SQLite's own WebAssembly build with the pool of OPFS files (https://sqlite.org/wasm/doc/trunk/persistence.md#vfs-opfs-sahpool). */
import initialize from '@sqlite.org/sqlite-wasm'
import type { Database } from '@sqlite.org/sqlite-wasm'
import { serve } from '../../contenders/remote.ts'
import type { Port } from '../../contenders/remote.ts'
import type { Person } from '../../documents.ts'
import { CREATED_FROM, ROWS } from './app.ts'
import type { App } from './app.ts'
import { SQL } from './sql.ts'

// Its other file systems would each start a worker.
Object.assign(globalThis, { sqlite3ApiConfig: { disable: { vfs: { opfs: true, 'opfs-vfs': true, 'opfs-wl': true } } } })
const installing = initialize().then((sqlite) => sqlite.installOpfsSAHPoolVfs({}))

let database: Database

const app: App = {
  async open(place) {
    const pool = await installing
    database = new pool.OpfsSAHPoolDb(`/${place}`)
    // There is no shared memory, so no write-ahead log without an exclusive lock.
    database.exec(`PRAGMA locking_mode = EXCLUSIVE; ${SQL.settings}; ${SQL.create}`)
  },
  firstRows() {
    const bodies = database.selectValues(SQL.firstRows, [CREATED_FROM, ROWS]) as string[]
    return bodies.map((body) => JSON.parse(body) as Person)
  },
  fill(people) {
    database.transaction(() => {
      const statement = database.prepare(SQL.insert)
      for (const person of people) statement.bind([person._id, JSON.stringify(person)]).stepReset()
      statement.finalize()
    })
  },
  close: () => database.close(),
}

serve(globalThis as unknown as Port, Promise.resolve(app))
