/** Plug-ins that replace methods of PouchDB. Nothing that they hide reaches a file, and all reads show what they show. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import cryptoPouch from 'crypto-pouch'
import transformPouch from 'transform-pouch'
import { memory } from 'pannier/memory'
import { sqlite } from 'pannier/sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { PouchDB, type Doc, type Pouch } from './pouch.ts'

PouchDB.plugin(transformPouch)
PouchDB.plugin(cryptoPouch)

const folder = mkdtempSync(join(tmpdir(), 'pannier-pouchdb-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let made = 0
const storages = {
  memory: () => new PouchDB(`wrapped${++made}`, { adapter: 'pannier', storage: memory() }),
  'an SQLite file': () => new PouchDB(join(folder, `wrapped${++made}`), { adapter: 'pannier', storage: sqlite() }),
}

const SECRET = 'correct horse battery staple'

/** All ways to write a document, each with an id of its own. */
const WRITES: Readonly<Record<string, (db: Pouch, _id: string) => Promise<unknown>>> = {
  put: (db, _id) => db.put({ _id, secret: SECRET }),
  'put with new_edits': (db, _id) => db.put({ _id, _rev: '1-0', secret: SECRET }, { new_edits: false }),
  'put with force': (db, _id) => db.put({ _id, _rev: '1-0', secret: SECRET }, { force: true }),
  post: (db, _id) => db.post({ _id, secret: SECRET }),
  bulkDocs: (db, _id) => db.bulkDocs([{ _id, secret: SECRET }]),
  'bulkDocs of revisions': (db, _id) => db.bulkDocs({ docs: [{ _id, _rev: '1-0', secret: SECRET }], new_edits: false }),
}

describe.each(Object.entries(storages))('%s', (_, create) => {
  test.each(Object.entries(WRITES))('transform-pouch sees each write: %s', async (__, write) => {
    const db = create()
    db.transform({ incoming: (doc) => (doc['secret'] ? { ...doc, secret: 'hidden' } : doc) })
    await write(db, 'early')
    await db.info()
    await write(db, 'late')
    const { rows } = await db.allDocs({ include_docs: true })
    expect(rows.map(({ id, doc }) => [id, doc!['secret']])).toEqual([
      ['early', 'hidden'],
      ['late', 'hidden'],
    ])
    await db.close()
  })

  test('transform-pouch changes what all reads show', async () => {
    const db = create()
    db.transform({ outgoing: (doc) => ({ ...doc, shown: `${String(doc['n'])} shown` }) })
    await db.bulkDocs([{ _id: 'a', n: 1 }])
    expect((await db.get('a'))['shown']).toBe('1 shown')
    expect((await db.allDocs({ include_docs: true })).rows[0]!.doc!['shown']).toBe('1 shown')
    expect((await db.changes({ include_docs: true })).results[0]!['doc']).toMatchObject({ shown: '1 shown' })
    expect((await db.query({ map: 'function (doc) { emit(doc.shown) }' })).rows[0]!.key).toBe('1 shown')
    expect((await db.find({ selector: { shown: '1 shown' } })).docs).toHaveLength(1)
    const { results } = await db.bulkGet({ docs: [{ id: 'a' }] })
    expect((results[0]!.docs[0]!['ok'] as Doc)['shown']).toBe('1 shown')
    await db.close()
  })
})

test('crypto-pouch leaves no plain text on disk, and its documents are read, listed and found', async () => {
  const db = storages['an SQLite file']()
  await db.crypto('password')
  await db.info()
  for (const [name, write] of Object.entries(WRITES)) await write(db, name)
  expect((await db.get('put'))['secret']).toBe(SECRET)
  const { rows } = await db.allDocs({ include_docs: true })
  expect(rows.map(({ doc }) => doc!['secret'])).toEqual(rows.map(() => SECRET))
  await db.close()
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file)).toString('latin1'))
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter((text) => text.includes('battery'))).toEqual([])
})
