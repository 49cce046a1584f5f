/** node:sqlite: write-ahead log, `synchronous = NORMAL` as SQLite advises with it (https://sqlite.org/wal.html). */
import { DatabaseSync } from 'node:sqlite'
import type { Person } from '../../documents.ts'
import { CREATED_FROM, ROWS } from './app.ts'
import type { App } from './app.ts'
import { SQL } from './sql.ts'

let database: DatabaseSync

const personOf = (row: Record<string, unknown>): Person => JSON.parse(row['body'] as string) as Person

export const app: App = {
  async open(place) {
    database = new DatabaseSync(place)
    database.exec(`${SQL.settings}; ${SQL.create}`)
  },
  firstRows: () => database.prepare(SQL.firstRows).all(CREATED_FROM, ROWS).map(personOf),
  get(id) {
    const row = database.prepare(SQL.get).get(id)
    return row && personOf(row)
  },
  fill(people) {
    database.exec('BEGIN')
    const statement = database.prepare(SQL.insert)
    for (const person of people) statement.run(person._id, JSON.stringify(person))
    database.exec('COMMIT')
  },
  close: () => database.close(),
}
