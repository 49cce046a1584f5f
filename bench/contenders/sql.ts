/**
 * SQLite with a document a row: a JSON column, indexes on expressions, prepared statements, one transaction a bulk, a
 * write-ahead log or its equivalent (https://sqlite.org/json1.html, https://sqlite.org/expridx.html). The driver
 * decides where SQLite runs.
 */
import type { Contender, Patch } from './contender.ts'
import type { Person } from '../documents.ts'

export type SqlValue = string | number

export interface SqlDatabase {
  execute(sql: string): void
  /** Prepared once for each `sql`. */
  run(sql: string, ...values: SqlValue[]): void
  /** The first column. */
  column(sql: string, ...values: SqlValue[]): readonly SqlValue[]
  close(): void
}

export interface SqlDriver {
  open(place: string): Promise<SqlDatabase>
  destroy(place: string): Promise<void>
}

const CREATE = 'CREATE TABLE IF NOT EXISTS people (id TEXT PRIMARY KEY, body TEXT NOT NULL)'
const AGE = `(body ->> '$.age')`
const CITY = `(body ->> '$.city')`
const COUNTRY = `(body ->> '$.country')`

export class SqlContender implements Contender {
  readonly #driver: SqlDriver
  #database: SqlDatabase | undefined

  constructor(driver: SqlDriver) {
    this.#driver = driver
  }

  async open(place: string): Promise<void> {
    this.#database = await this.#driver.open(place)
    this.#database.execute(CREATE)
  }

  async close(): Promise<void> {
    this.#database!.close()
  }

  insertMany(people: readonly Person[]): void {
    this.#transaction(() => {
      for (const person of people) this.insert(person)
    })
  }

  insert(person: Person): void {
    this.#database!.run('INSERT INTO people (id, body) VALUES (?, ?)', person._id, JSON.stringify(person))
  }

  buildIndexes(): void {
    this.#transaction(() => {
      this.#database!.execute(
        `CREATE INDEX people_age ON people (${AGE}); CREATE INDEX people_city ON people (${CITY})`,
      )
    })
    this.#database!.execute('PRAGMA optimize')
  }

  get(id: string): Person | undefined {
    return this.#people('SELECT body FROM people WHERE id = ?', id)[0]
  }

  count(): number {
    return this.#number('SELECT count(*) FROM people')
  }

  countAges(gte: number, lt: number): number {
    return this.#number(`SELECT count(*) FROM people WHERE ${AGE} >= ? AND ${AGE} < ?`, gte, lt)
  }

  findByCity(city: string): readonly Person[] {
    return this.#people(`SELECT body FROM people WHERE ${CITY} = ?`, city)
  }

  findByCountry(country: string): readonly Person[] {
    return this.#people(`SELECT body FROM people WHERE ${COUNTRY} = ?`, country)
  }

  pageById(skip: number, limit: number): readonly Person[] {
    return this.#people('SELECT body FROM people ORDER BY id LIMIT ? OFFSET ?', limit, skip)
  }

  update(id: string, patch: Patch): void {
    this.#database!.run('UPDATE people SET body = json_patch(body, ?) WHERE id = ?', JSON.stringify(patch), id)
  }

  delete(id: string): void {
    this.#database!.run('DELETE FROM people WHERE id = ?', id)
  }

  deleteMany(ids: readonly string[]): void {
    this.#transaction(() => {
      for (const id of ids) this.delete(id)
    })
  }

  dropStore(): void {
    this.#transaction(() => {
      this.#database!.execute('DROP TABLE people')
      this.#database!.execute(CREATE)
    })
  }

  destroy(place: string): Promise<void> {
    return this.#driver.destroy(place)
  }

  #people(sql: string, ...values: SqlValue[]): Person[] {
    return this.#database!.column(sql, ...values).map((body) => JSON.parse(body as string) as Person)
  }

  #number(sql: string, ...values: SqlValue[]): number {
    return this.#database!.column(sql, ...values)[0] as number
  }

  #transaction(work: () => void): void {
    this.#database!.run('BEGIN IMMEDIATE')
    try {
      work()
      this.#database!.run('COMMIT')
    } catch (error) {
      this.#database!.run('ROLLBACK')
      throw error
    }
  }
}
