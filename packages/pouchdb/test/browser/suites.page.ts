/** The adapter on the storages of a browser: Blobs, functions of design documents, encryption, and another owner of the database. */
import { open, type DatabaseStorage } from 'pannier'
import { indexedDb } from 'pannier/indexeddb'
import { opfs } from 'pannier/opfs'
import { assertEqual, assertTrue, prefixed, type Test } from 'pannier/testing'
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { PouchDB, type Doc, type Pouch } from '../pouch.ts'

let made = 0
/** WebKit has no private file system here. */
const hasFiles = 'getDirectory' in (navigator.storage ?? {})

function newPouch(storage: DatabaseStorage, options: object = {}): Pouch {
  return new PouchDB(`pouch${++made}`, { adapter: 'pannier', storage, ...options })
}

async function textOf(content: unknown): Promise<unknown> {
  return content instanceof Blob ? [content.type, await content.text()] : content
}

void runCases((test) => {
  adapterCases(prefixed(test, 'IndexedDB'), indexedDb())
  if (hasFiles) adapterCases(prefixed(test, 'OPFS'), opfs())
})

function adapterCases(test: Test, storage: DatabaseStorage): void {
  test('documents are found again after a close', async () => {
    const db = newPouch(storage)
    const { rev } = await db.put({ _id: 'a', n: 1 })
    await db.put({ _id: 'a', _rev: rev, n: 2 })
    await db.close()
    const again = new PouchDB(db.name, { adapter: 'pannier', storage })
    assertEqual((await again.get('a'))['n'], 2)
    assertEqual((await again.get('a', { rev }))['n'], 1)
    await again.destroy()
  })

  test('attachments come in as Blobs and as base64, and go out as both', async () => {
    const db = newPouch(storage)
    const data = new Blob(['hello'], { type: 'text/plain' })
    await db.put({ _id: 'a', _attachments: { f: { content_type: 'text/plain', data } } })
    assertEqual(await textOf(await db.getAttachment('a', 'f')), ['text/plain', 'hello'])
    assertEqual((await db.get('a', { attachments: true }))._attachments['f']!['data'], btoa('hello'))
    const { results } = await db.changes({ include_docs: true, attachments: true, binary: true })
    const { _attachments: attachments } = results[0]!['doc'] as { _attachments: Record<string, Doc> }
    assertEqual(await textOf(attachments['f']!['data']), ['text/plain', 'hello'])
    await db.destroy()
  })

  test('views and find() answer, also after a reload', async () => {
    const db = newPouch(storage)
    await db.bulkDocs(Array.from({ length: 9 }, (_, n) => ({ _id: `d${n}`, n: n % 3 })))
    await db.put({ _id: '_design/v', views: { v: { map: 'function (doc) { emit(doc.n) }', reduce: '_count' } } })
    await db.createIndex({ index: { fields: ['n'] } })
    for (const each of [db, new PouchDB(db.name, { adapter: 'pannier', storage })]) {
      const { rows } = await each.query('v', { group: true })
      assertEqual(rows, [0, 1, 2].map((key) => ({ key, value: 3 })) as never)
      const { docs } = await each.find({ selector: { n: { $gt: 0 } }, sort: [{ n: 'desc' }], limit: 2 })
      assertEqual(
        docs.map(({ _id }) => _id),
        ['d8', 'd5'],
      )
      if (each === db) await db.close()
    }
  })

  test('an encrypted database opens with its password only', async () => {
    const db = newPouch(storage, { encryption: { password: 'correct horse' } })
    await db.put({ _id: 'a', n: 1 })
    await db.close()
    const wrong = new PouchDB(db.name, { adapter: 'pannier', storage, encryption: { password: 'wrong' } })
    assertEqual(await wrong.get('a').catch(({ status }: { status: number }) => status), 401)
    const right = new PouchDB(db.name, { adapter: 'pannier', storage, encryption: { password: 'correct horse' } })
    assertEqual((await right.get('a'))['n'], 1)
    await right.destroy()
  })

  test('a live feed hears of the writes of another owner, and of its destroy()', async () => {
    const db = newPouch(storage)
    await db.put({ _id: 'a' })
    const owner = await open(db.name, { storage })
    const heard = new Promise<string>((resolve) => {
      db.changes({ live: true, since: 1 }).on('change', ({ id }) => resolve(id))
    })
    await owner.collection('docs').insert({ _id: 'b' })
    assertEqual(await heard, 'b')
    const destroyed = new Promise((resolve) => db.on('destroyed', resolve))
    await owner.destroy()
    await destroyed
    const failure = await db.get('a').catch((error: Error) => error)
    assertTrue(failure instanceof Error, 'a database that was destroyed fails')
  })
}
