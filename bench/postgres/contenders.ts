/** The contenders: Pannier on PostgreSQL and on SQLite, and a jsonb table with the indexes that a careful programmer gives it. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { open, type Collection, type Database, type Emit } from 'pannier'
import { sqlite } from 'pannier/sqlite'
import { postgres, type PostgresStorage } from '@pannier/postgres'
import { Client, Pool, type QueryResultRow } from 'pg'
import type { Person } from '../documents.ts'

/** A contender. All contenders answer the same questions. Scores of a page are compared, as equal ones have no order. */
export interface Contender {
  readonly name: string
  insert(person: Person): Promise<unknown>
  insertMany(people: readonly Person[]): Promise<unknown>
  /** Prepares the questions, once all is inserted. */
  prepare(): Promise<unknown>
  countCity(city: string): Promise<number>
  countAges(from: number, to: number): Promise<number>
  /** The ages of 20 people, sorted by age. */
  deepPage(skip: number): Promise<readonly number[]>
  /** For each city, in their order: how many, and the sum of their ages. */
  groups(): Promise<readonly (readonly [city: string, count: number, sum: number])[]>
  /** The highest scores of a city, 20 whole documents. */
  bestOf(city: string): Promise<readonly number[]>
  close(): Promise<void>
}

const PAGE = 20
const BATCH = 1000

export class PannierContender implements Contender {
  readonly name: string
  readonly database: Database
  readonly people: Collection<Person>
  readonly #cities: ReturnType<typeof viewByCity>

  /** Without indexes if `isPlain`. */
  static async onPostgres(url: string, isPlain = false): Promise<PannierContender & { storage: PostgresStorage }> {
    const storage = postgres(url)
    const database = await open(randomUUID(), { storage, durability: 'strict' })
    return Object.assign(new PannierContender('pannier, postgres', database, isPlain), { storage })
  }

  static async onSqlite(folder: string, isPlain = false): Promise<PannierContender> {
    const database = await open(join(folder, randomUUID()), { storage: sqlite(), durability: 'strict' })
    return new PannierContender('pannier, sqlite', database, isPlain)
  }

  private constructor(name: string, database: Database, isPlain: boolean) {
    this.name = name
    this.database = database
    this.people = database.collection<Person>('people', {
      indexes: isPlain ? [] : ['age', ['city', 'score']],
    })
    this.#cities = viewByCity(this.people)
  }

  insert(person: Person): Promise<unknown> {
    return this.people.insert(person)
  }

  insertMany(people: readonly Person[]): Promise<unknown> {
    return this.people.insert(people)
  }

  async prepare(): Promise<void> {
    await this.#cities.query({ group: true })
  }

  countCity(city: string): Promise<number> {
    return this.people.find({ city }).count()
  }

  countAges(from: number, to: number): Promise<number> {
    return this.people.find({ age: { $gte: from, $lt: to } }).count()
  }

  async deepPage(skip: number): Promise<number[]> {
    return (await this.people.find().sort('age').skip(skip).limit(PAGE).toArray()).map(({ age }) => age)
  }

  async groups(): Promise<[string, number, number][]> {
    const { rows } = await this.#cities.query({ group: true })
    return rows.map(({ key, value }) => {
      const { count, sum } = value as { count: number; sum: number }
      return [String(key), count, sum]
    })
  }

  async bestOf(city: string): Promise<number[]> {
    return (await this.people.find({ city }).sort('-score').limit(PAGE).toArray()).map(({ score }) => score)
  }

  close(): Promise<void> {
    return this.database.close()
  }
}

function viewByCity(people: Collection<Person>) {
  const map = ({ city, age }: Person, emit: Emit<string, number>): void => emit(city, age)
  return people.view('cities', { map, reduce: '_stats', version: 1 })
}

export class JsonbContender implements Contender {
  readonly name = 'jsonb table'
  readonly #pool: Pool
  readonly #table = `people_${randomUUID().replaceAll('-', '')}`

  /** `connections`: statements that may run at the same time. Without indexes if `isPlain`. */
  static async open(url: string, connections: number, isPlain = false): Promise<JsonbContender> {
    const contender = new JsonbContender(url, connections)
    await contender.#make(isPlain)
    return contender
  }

  private constructor(url: string, connections: number) {
    this.#pool = new Pool({ connectionString: url, max: connections, min: connections })
  }

  async #make(isPlain: boolean): Promise<void> {
    const table = this.#table
    await this.#pool.query(`create table ${table} (id text primary key, body jsonb not null)`)
    if (isPlain) return
    await this.#pool.query(`create index on ${table} using gin (body jsonb_path_ops)`)
    await this.#pool.query(`create index on ${table} (((body->>'age')::int))`)
    await this.#pool.query(`create index on ${table} ((body->>'city'), ((body->>'score')::float8))`)
  }

  insert({ _id, ...body }: Person): Promise<unknown> {
    return this.#ask('insert', `insert into ${this.#table} values ($1, $2)`, [_id, JSON.stringify(body)])
  }

  /** In one transaction, 1,000 rows a statement. */
  async insertMany(people: readonly Person[]): Promise<void> {
    const client = await this.#pool.connect()
    await client.query('begin')
    const text = `insert into ${this.#table} select * from unnest($1::text[], $2::jsonb[])`
    for (let at = 0; at < people.length; at += BATCH) {
      const batch = people.slice(at, at + BATCH)
      const bodies = batch.map(({ _id: _, ...body }) => JSON.stringify(body))
      await client.query({ name: 'many', text, values: [batch.map(({ _id }) => _id), bodies] })
    }
    await client.query('commit')
    client.release()
  }

  prepare(): Promise<unknown> {
    return this.#pool.query(`vacuum analyze ${this.#table}`)
  }

  async countCity(city: string): Promise<number> {
    const [row] = await this.#ask('city', `select count(*)::int n from ${this.#table} where body->>'city' = $1`, [city])
    return row!['n'] as number
  }

  async countAges(from: number, to: number): Promise<number> {
    const text = `select count(*)::int n from ${this.#table} where (body->>'age')::int >= $1 and (body->>'age')::int < $2`
    return (await this.#ask('ages', text, [from, to]))[0]!['n'] as number
  }

  async deepPage(skip: number): Promise<number[]> {
    const text = `select id, body from ${this.#table} order by (body->>'age')::int limit ${PAGE} offset $1`
    return (await this.#ask('deep', text, [skip])).map(({ body }) => (body as Person).age)
  }

  async groups(): Promise<[string, number, number][]> {
    const text = `select body->>'city' city, count(*)::int n, sum((body->>'age')::int)::int ages from ${this.#table} group by 1`
    const rows = await this.#ask('groups', text, [])
    const groups = rows.map(({ city, n, ages }): [string, number, number] => [
      city as string,
      n as number,
      ages as number,
    ])
    return groups.toSorted(([a], [b]) => (a < b ? -1 : 1))
  }

  async bestOf(city: string): Promise<number[]> {
    const text = `select id, body from ${this.#table} where body->>'city' = $1 order by (body->>'score')::float8 desc limit ${PAGE}`
    return (await this.#ask('best', text, [city])).map(({ body }) => (body as Person).score)
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  async #ask(name: string, text: string, values: unknown[]): Promise<QueryResultRow[]> {
    return (await this.#pool.query({ name, text, values })).rows as QueryResultRow[]
  }
}

/** A bare connection, to ask PostgreSQL about itself. */
export async function sqlOf(url: string, text: string): Promise<QueryResultRow[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(text)
  await client.end()
  return rows as QueryResultRow[]
}
