/** A tab with databases of PouchDB's own adapters and of ours, for tests that drive several tabs. */
import { opfs } from 'pannier/opfs'
import { movePouch, type MovableDatabase } from 'pouchdb-adapter-pannier/move'
import PouchWithIdb from 'pouchdb'
import { open } from 'pannier'
import { pannierAdapter } from 'pouchdb-adapter-pannier'
import pouchdbFind from 'pouchdb-find'
import type { Doc, Pouch, PouchClass } from '../pouch.ts'

type Movable = Pouch & MovableDatabase

const PouchDB = PouchWithIdb as unknown as PouchClass
Object.assign(globalThis, { PouchDB: PouchWithIdb })
// The script looks for PouchDB among the globals.
await import('pouchdb/dist/pouchdb.indexeddb.js' as string)
PouchDB.plugin(pannierAdapter)
PouchDB.plugin(pouchdbFind)

export type Place = 'IndexedDB' | 'OPFS'
export type Old = 'idb' | 'indexeddb'

const heard: string[] = []
const reports: number[] = []
let db: Pouch | undefined

function ours(name: string, place: Place): Movable {
  return new PouchDB(name, { adapter: 'pannier', ...(place === 'OPFS' && { storage: opfs() }) }) as Movable
}

/** All leaves with the content of their attachments, by id and revision. */
async function leavesOf(pouch: Pouch): Promise<readonly string[]> {
  const { results } = await pouch.changes({ style: 'all_docs' })
  const docs = (results as readonly { id: string; changes: readonly { rev: string }[] }[]).flatMap(({ id, changes }) =>
    changes.map(({ rev }) => ({ id, rev })),
  )
  const found = await pouch.bulkGet({ docs, attachments: true, revs: true })
  return found.results.flatMap((result) => result.docs.map(({ ok }) => comparable(ok as Doc))).toSorted()
}

function comparable(document: unknown): string {
  return JSON.stringify(document, (_, value: unknown) =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))),
  )
}

const pouchTab = {
  /** Fills a database of another adapter, and gives its leaves. */
  async fill(name: string, adapter: Old, count: number): Promise<readonly string[]> {
    const old = new PouchDB(name, { adapter })
    await old.bulkDocs(Array.from({ length: count }, (_, n) => ({ _id: `d${n}`, n, text: 'x'.repeat(n) })))
    for (let n = 0; n < count; n += 9) {
      const { _rev } = await old.get(`d${n}`)
      if (n % 2 === 0) await old.remove(`d${n}`, _rev)
      else await old.putAttachment(`d${n}`, 'f', _rev, new Blob([`content ${n}`], { type: 'text/plain' }), 'text/plain')
    }
    await old.bulkDocs([{ _id: 'd1', _rev: '1-zz', n: -1 }], { new_edits: false })
    const leaves = await leavesOf(old)
    await old.close()
    return leaves
  },
  /** Begins a move; `reports` has its progress. */
  begin(name: string, adapter: Old, place: Place): void {
    void this.move(name, adapter, place)
  },
  async move(name: string, adapter: Old, place: Place): Promise<readonly string[]> {
    const old = new PouchDB(name, { adapter }) as Movable
    const target = ours(name, place)
    const onProgress = (done: number): void => void reports.push(done)
    await movePouch(old, target, { batchSize: 10, deleteSource: true, onProgress })
    const leaves = await leavesOf(target)
    await target.close()
    return leaves
  },
  reports: (): readonly number[] => reports,
  /** Whether the database of the other adapter has documents. */
  async isThere(name: string, adapter: Old): Promise<boolean> {
    const old = new PouchDB(name, { adapter })
    const { doc_count: count } = await old.info()
    await old.close()
    return count > 0
  },
  async open(name: string, place: Place): Promise<void> {
    db = ours(name, place)
    db.changes({ live: true, since: 0, include_docs: true }).on('change', ({ id }) => heard.push(id))
    db.on('destroyed', () => heard.push('destroyed'))
    await db.info()
  },
  heard: (): readonly string[] => heard,
  put: async (_id: string, n: number): Promise<void> => void (await db!.put({ _id, n })),
  createIndex: async (): Promise<void> =>
    void (await db!.createIndex({ index: { fields: ['n'], ddoc: 'n', name: 'n' } })),
  async deleteIndex(): Promise<void> {
    await db!.deleteIndex({ ddoc: '_design/n', name: 'n' })
    await db!.viewCleanup()
  },
  find: async (): Promise<readonly unknown[]> =>
    (await db!.find({ selector: { n: { $gt: 1 } } })).docs.map(({ _id }) => _id),
  /** The indexes that the collection has, seen by another handle. */
  async indexes(name: string, place: Place): Promise<number> {
    const owner = await open(name, place === 'OPFS' ? { storage: opfs() } : {})
    const { length } = await owner.collection('docs').indexes()
    await owner.close()
    return length
  },
  destroy: async (): Promise<void> => void (await db!.destroy()),
}

declare global {
  var pouchTab: PouchTab
}
export type PouchTab = typeof pouchTab

globalThis.pouchTab = pouchTab
