/** The same questions over CouchDB's protocol: views, as its users build them. Any server that speaks it answers. */
import { randomUUID } from 'node:crypto'
import type { Person } from '../documents.ts'
import type { Contender } from './contenders.ts'

const PAGE = 20
const BATCH = 2000
const END = {}

const VIEWS = {
  cities: { map: 'function (doc) { emit(doc.city, doc.age) }', reduce: '_stats' },
  ages: { map: 'function (doc) { emit(doc.age, null) }', reduce: '_count' },
  scores: { map: 'function (doc) { emit([doc.city, doc.score], null) }' },
}

interface Row {
  readonly key: unknown
  readonly value: unknown
  readonly doc?: Person
}

export class CouchContender implements Contender {
  readonly name: string
  readonly #url: string
  readonly #headers: Record<string, string>

  /** `login`: name:password; empty for a server that lets everybody in. */
  static async make(name: string, server: string, login: string): Promise<CouchContender> {
    const contender = new CouchContender(name, `${server}/people-${randomUUID()}`, login)
    await contender.#ask('PUT', '')
    return contender
  }

  private constructor(name: string, url: string, login: string) {
    this.name = name
    this.#url = url
    this.#headers = { 'content-type': 'application/json' }
    if (login !== '') this.#headers['authorization'] = `Basic ${Buffer.from(login).toString('base64')}`
  }

  insert(person: Person): Promise<unknown> {
    return this.#ask('PUT', `/${person._id}`, person)
  }

  async insertMany(people: readonly Person[]): Promise<void> {
    for (let at = 0; at < people.length; at += BATCH)
      await this.#ask('POST', '/_bulk_docs', { docs: people.slice(at, at + BATCH) })
  }

  /** The views are built with their first answers. */
  async prepare(): Promise<void> {
    await this.#ask('PUT', '/_design/people', { views: VIEWS, language: 'javascript' })
    for (const view of Object.keys(VIEWS)) await this.#rows(view, { limit: 1, reduce: false })
  }

  async countCity(city: string): Promise<number> {
    const [row] = await this.#rows('cities', { key: city })
    return (row!.value as { count: number }).count
  }

  async countAges(from: number, to: number): Promise<number> {
    const [row] = await this.#rows('ages', { startkey: from, endkey: to, inclusive_end: false })
    return row!.value as number
  }

  async deepPage(skip: number): Promise<number[]> {
    const rows = await this.#rows('ages', { reduce: false, include_docs: true, skip, limit: PAGE })
    return rows.map(({ doc }) => doc!.age)
  }

  async groups(): Promise<[string, number, number][]> {
    return (await this.#rows('cities', { group: true })).map(({ key, value }) => {
      const { count, sum } = value as { count: number; sum: number }
      return [key as string, count, sum]
    })
  }

  async bestOf(city: string): Promise<number[]> {
    const range = { startkey: [city, END], endkey: [city], descending: true }
    const rows = await this.#rows('scores', { reduce: false, include_docs: true, limit: PAGE, ...range })
    return rows.map(({ doc }) => doc!.score)
  }

  async close(): Promise<void> {}

  async #rows(view: string, query: Readonly<Record<string, unknown>>): Promise<readonly Row[]> {
    const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, JSON.stringify(value)]))
    const { rows } = (await this.#ask('GET', `/_design/people/_view/${view}?${parameters}`)) as { rows: readonly Row[] }
    return rows
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(this.#url + path, {
      method,
      headers: this.#headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${this.name}: ${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
}
