/**
 * node:sqlite, used well: a JSON column, expression indexes, prepared statements, one transaction per bulk, a write-ahead
 * log with `synchronous = NORMAL`.
 */
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { CityScore, Contender } from './contender.ts'
import type { Person } from '../../documents.ts'

const AGE = `json_extract(body, '$.age')`
const CITY = `json_extract(body, '$.city')`
const SCORE = `json_extract(body, '$.score')`
const COUNTRY = `json_extract(body, '$.country')`

export function nodeSqliteContender(): Contender {
  return new NodeSqliteContender()
}

class NodeSqliteContender implements Contender {
  #database: DatabaseSync | undefined
  readonly #statements: Map<string, StatementSync> = new Map()

  async open(place: string): Promise<void> {
    this.#database = new DatabaseSync(place)
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536')
    this.#database.exec('CREATE TABLE IF NOT EXISTS people (id TEXT PRIMARY KEY, body TEXT NOT NULL)')
  }

  async close(): Promise<void> {
    this.#statements.clear()
    this.#database?.close()
  }

  insertMany(people: readonly Person[]): void {
    this.#transaction(() => {
      for (const person of people) this.insert(person)
    })
  }

  async buildIndexes(): Promise<void> {
    this.#database!.exec(`
      BEGIN;
      CREATE INDEX people_age ON people (${AGE});
      CREATE INDEX people_city ON people (${CITY});
      COMMIT;
      ANALYZE`)
  }

  widenIndex(): void {
    this.#database!.exec(`
      BEGIN;
      DROP INDEX people_city;
      CREATE INDEX people_city_score ON people (${CITY}, ${SCORE});
      COMMIT;
      ANALYZE`)
  }

  insert(person: Person): void {
    this.#prepare('INSERT INTO people (id, body) VALUES (?, ?)').run(person._id, JSON.stringify(person))
  }

  rewrite(id: string, change: (person: Person) => Person): void {
    this.#transaction(() => {
      const person = change(this.get(id)!)
      this.#prepare('UPDATE people SET body = ? WHERE id = ?').run(JSON.stringify(person), id)
    })
  }

  get(id: string): Person | undefined {
    const row = this.#prepare('SELECT body FROM people WHERE id = ?').get(id)
    return row === undefined ? undefined : (JSON.parse(row['body'] as string) as Person)
  }

  count(): number {
    return this.#number('SELECT count(*) AS n FROM people')
  }

  countAges(gte: number, lt: number): number {
    return this.#number(`SELECT count(*) AS n FROM people WHERE ${AGE} >= ? AND ${AGE} < ?`, gte, lt)
  }

  countCity(city: string): number {
    return this.#number(`SELECT count(*) AS n FROM people WHERE ${CITY} = ?`, city)
  }

  findByCountry(country: string): readonly Person[] {
    return this.#people(`SELECT body FROM people WHERE ${COUNTRY} = ?`, country)
  }

  findByCity(city: string): readonly Person[] {
    return this.#people(`SELECT body FROM people WHERE ${CITY} = ?`, city)
  }

  findScoresByCity(city: string): readonly CityScore[] {
    const sql = `SELECT ${CITY} AS city, ${SCORE} AS score FROM people WHERE ${CITY} = ?`
    return this.#prepare(sql).all(city) as unknown as CityScore[]
  }

  pageById(skip: number, limit: number): readonly Person[] {
    return this.#people('SELECT body FROM people ORDER BY id LIMIT ? OFFSET ?', limit, skip)
  }

  pageByAge(skip: number, limit: number): readonly Person[] {
    return this.#people(`SELECT body FROM people ORDER BY ${AGE} LIMIT ? OFFSET ?`, limit, skip)
  }

  #people(sql: string, ...values: SQLInputValue[]): Person[] {
    return this.#prepare(sql)
      .all(...values)
      .map((row) => JSON.parse(row['body'] as string) as Person)
  }

  #number(sql: string, ...values: SQLInputValue[]): number {
    return this.#prepare(sql).get(...values)!['n'] as number
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database!.prepare(sql)))
    return statement
  }

  #transaction(work: () => void): void {
    this.#prepare('BEGIN IMMEDIATE').run()
    try {
      work()
      this.#prepare('COMMIT').run()
    } catch (error) {
      this.#prepare('ROLLBACK').run()
      throw error
    }
  }
}
