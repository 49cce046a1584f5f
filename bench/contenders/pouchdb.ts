/**
 * PouchDB with one of its adapters, as its documentation advises: `bulkDocs` for many documents, `auto_compaction` to
 * remove old revisions, pouchdb-find for indexes and queries, `allDocs` for pages
 * (https://pouchdb.com/guides/bulk-operations.html, https://pouchdb.com/guides/mango-queries.html).
 */
import PouchDB from 'pouchdb-core'
import findPlugin from 'pouchdb-find'
import mapReducePlugin from 'pouchdb-mapreduce'
import replicationPlugin from 'pouchdb-replication'
import { VIEW_ROWS } from './contender.ts'
import type { Contender, Patch, Replicas, Views } from './contender.ts'
import type { Person } from '../documents.ts'

type Kept = Person & { readonly _rev: string }

/** The part of PouchDB's interface that is used. */
interface Pouch {
  info(): Promise<{ readonly doc_count: number }>
  bulkDocs(documents: readonly object[]): Promise<readonly { readonly error?: unknown }[]>
  put(document: object): Promise<unknown>
  get(id: string): Promise<Kept>
  remove(document: { readonly _id: string; readonly _rev: string }): Promise<unknown>
  allDocs(options: object): Promise<{ readonly rows: readonly Row[] }>
  createIndex(request: object): Promise<unknown>
  find(request: object): Promise<{ readonly docs: readonly Kept[] }>
  query(view: string | ((document: Person, emit: (key: unknown) => void) => void), options: object): Promise<ViewResult>
  readonly replicate: { to(target: Pouch, options: object): Promise<unknown> }
  close(): Promise<void>
  destroy(): Promise<unknown>
}

interface ViewResult {
  readonly rows: readonly {
    readonly id: string
    readonly key: unknown
    readonly value: { readonly count: number; readonly sum: number }
  }[]
}

interface Row {
  readonly id: string
  readonly value: { readonly rev: string }
  readonly doc?: Kept
}

type PouchConstructor = (new (name: string, options: object) => Pouch) & { plugin(plugin: unknown): void }

const Constructor = PouchDB as unknown as PouchConstructor
Constructor.plugin(findPlugin)
Constructor.plugin(mapReducePlugin)
Constructor.plugin(replicationPlugin)
/** Without a limit pouchdb-find returns 25 documents. */
const NO_LIMIT = 2 ** 31 - 1
const DESIGN = '_design/'
/**
 * The batch size that its documentation advises for large databases (default 100):
 * https://pouchdb.com/api.html#replication
 */
const REPLICATION_BATCH = 1_000

export class PouchDbContender implements Contender {
  readonly #adapter: string
  #database: Pouch | undefined
  #place = ''
  #indexes = 0

  constructor(adapter: string, plugin: unknown) {
    this.#adapter = adapter
    Constructor.plugin(plugin)
  }

  async open(place: string, indexed: boolean): Promise<void> {
    this.#place = place
    this.#indexes = indexed ? 2 : 0
    this.#database = this.#make(place)
    await this.#database.info()
  }

  async close(): Promise<void> {
    await this.#database!.close()
  }

  async insertMany(people: readonly Person[]): Promise<void> {
    const results = await this.#database!.bulkDocs(people)
    const failed = results.find((result) => result.error !== undefined)
    if (failed !== undefined) throw new Error(`bulkDocs failed: ${JSON.stringify(failed)}`)
  }

  async insert(person: Person): Promise<void> {
    await this.#database!.put(person)
  }

  /** An index is built by the first query that uses it. */
  async buildIndexes(): Promise<void> {
    for (const field of ['age', 'city']) {
      await this.#database!.createIndex({ index: { fields: [field] }, ddoc: `by-${field}`, name: field })
    }
    this.#indexes = 2
    await this.#find({ age: { $gt: 1_000 } }, ['_id'])
    await this.#find({ city: '' }, ['_id'])
  }

  async get(id: string): Promise<Person | undefined> {
    try {
      return await this.#database!.get(id)
    } catch (error) {
      if ((error as { status?: number }).status === 404) return undefined
      throw error
    }
  }

  /** Design documents are counted by PouchDB too. */
  async count(): Promise<number> {
    return (await this.#database!.info()).doc_count - this.#indexes
  }

  /** There is no count but that of what was found. */
  async countAges(gte: number, lt: number): Promise<number> {
    return (await this.#find({ age: { $gte: gte, $lt: lt } }, ['age'])).length
  }

  findByCity(city: string): Promise<readonly Person[]> {
    return this.#find({ city })
  }

  findByCountry(country: string): Promise<readonly Person[]> {
    return this.#find({ country })
  }

  /** Design documents are listed, and skipped, among the others. */
  async pageById(skip: number, limit: number): Promise<readonly Person[]> {
    const { rows } = await this.#database!.allDocs({ include_docs: true, skip, limit: limit + this.#indexes })
    const people = rows.filter(({ id }) => !id.startsWith(DESIGN))
    const seen = rows.length - people.length
    const skipped = rows[0] !== undefined && rows[0].id >= DESIGN ? this.#indexes - seen : 0
    return people.slice(skipped, skipped + limit).map((row) => row.doc!)
  }

  async update(id: string, patch: Patch): Promise<void> {
    await this.#database!.put({ ...(await this.#database!.get(id)), ...patch })
  }

  async delete(id: string): Promise<void> {
    await this.#database!.remove(await this.#database!.get(id))
  }

  async deleteMany(ids: readonly string[]): Promise<void> {
    const { rows } = await this.#database!.allDocs({ keys: ids })
    await this.#database!.bulkDocs(rows.map(({ id, value }) => ({ _id: id, _rev: value.rev, _deleted: true })))
  }

  /** A database is a store: it is destroyed and made again. */
  async dropStore(): Promise<void> {
    await this.#database!.destroy()
    await this.open(this.#place, false)
  }

  async destroy(place: string): Promise<void> {
    await this.#make(place).destroy()
  }

  readonly views: Views = {
    adHoc: async (limit) => {
      const { rows } = await this.#database!.query((document, emit) => emit(document.score), { limit })
      return rows.map(({ id }) => id)
    },
    buildByScore: async () => {
      await this.#database!.put({
        _id: '_design/score',
        views: { score: { map: 'function (doc) { emit(doc.score) }' } },
      })
      await this.#database!.query('score', { limit: 0 })
    },
    buildByCity: async () => {
      const map = `function (doc) { for (var i = 0; i < ${VIEW_ROWS}; i++) emit(doc.city, doc.age) }`
      await this.#database!.put({ _id: '_design/city', views: { city: { map, reduce: '_stats' } } })
      await this.#database!.query('city', { limit: 0, reduce: false })
    },
    byScore: async (limit) => (await this.#database!.query('score', { limit })).rows.map(({ id }) => id),
    groups: async () => {
      const { rows } = await this.#database!.query('city', { group: true })
      return rows.map(({ key, value }) => `${String(key)} ${value.count} ${value.sum}`)
    },
  }

  readonly replicas: Replicas = {
    fill: async (place, people) => {
      const database = this.#make(place)
      await database.bulkDocs(people)
      await database.close()
    },
    copy: async (source, target) => {
      const [from, to] = [this.#make(source), this.#make(target)]
      await from.replicate.to(to, { batch_size: REPLICATION_BATCH })
      await from.close()
      await to.close()
    },
    take: async (place) => {
      const database = this.#make(place)
      const { rows } = await database.allDocs({ include_docs: true })
      await database.destroy()
      return rows.map(({ doc }) => doc!)
    },
  }

  async #find(selector: object, fields?: readonly string[]): Promise<readonly Kept[]> {
    const { docs } = await this.#database!.find({ selector, limit: NO_LIMIT, ...(fields && { fields }) })
    return docs
  }

  #make(place: string): Pouch {
    return new Constructor(place, { adapter: this.#adapter, auto_compaction: true })
  }
}
