/** PouchDB with its newer adapter (https://pouchdb.com/guides/mango-queries.html). */
import indexedDbPlugin from 'pouchdb-adapter-indexeddb'
import PouchDB from 'pouchdb-core'
import findPlugin from 'pouchdb-find'
import type { Person } from '../../documents.ts'
import { CREATED_FROM, ROWS } from './app.ts'
import type { App } from './app.ts'

/** The part of PouchDB that the app uses. */
interface Pouch {
  bulkDocs(documents: readonly object[]): Promise<readonly { readonly error?: unknown }[]>
  createIndex(request: object): Promise<unknown>
  find(request: object): Promise<{ readonly docs: readonly Person[] }>
  close(): Promise<void>
}

type PouchConstructor = (new (name: string, options: object) => Pouch) & { plugin(plugin: unknown): void }

const Constructor = PouchDB as unknown as PouchConstructor
Constructor.plugin(indexedDbPlugin)
Constructor.plugin(findPlugin)

let database: Pouch

const firstRows: App['firstRows'] = async () => {
  const { docs } = await database.find({
    selector: { created: { $gte: CREATED_FROM } },
    sort: ['created'],
    limit: ROWS,
    use_index: 'by-created',
  })
  return docs
}

export const app: App = {
  /** PouchDB opens with the first request. */
  async open(place) {
    database = new Constructor(place, { adapter: 'indexeddb', auto_compaction: true })
  },
  firstRows,
  async fill(people) {
    const results = await database.bulkDocs(people)
    const failed = results.find((result) => result.error !== undefined)
    if (failed !== undefined) throw new Error(`bulkDocs failed: ${JSON.stringify(failed)}`)
    await database.createIndex({ index: { fields: ['created'] }, ddoc: 'by-created', name: 'created' })
    // The index is built by the first query.
    await firstRows()
  },
  close: () => database.close(),
}
