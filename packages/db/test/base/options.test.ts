/** Goal: a misspelt option of the public API is named, with the one that is meant; of every function that takes options. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takersOfOptions } from '../../../../tools/checks/options-of-api.ts'
import { checkOptions, nearest } from '../../src/base/options.ts'
import { destroy, firstOf, open, repair } from '../../src/index.ts'
import type { Collection, Database, JsonObject } from '../../src/index.ts'
import { indexedDb } from '../../src/indexeddb.ts'
import { memory } from '../../src/memory.ts'
import * as files from '../../src/opfs.ts'

test('what is no object, and what there is not', () => {
  const names = { collections: true, storage: true } as const
  for (const wrong of [null, 5, 'x', []]) expect(() => checkOptions('f()', wrong, names)).toThrow(TypeError)
  checkOptions('f()', { storage: undefined }, names)
  const check = (options: object) => () => checkOptions('f()', options, names)
  expect(check({ colections: 1 })).toThrow("f(): options must be known (did you mean 'collections'?), got 'colections'")
  expect(check({ nothing: 1 })).toThrow("f(): options must be among collections, storage, got 'nothing'")
  expect(check({ toString: 1 })).toThrow("got 'toString'")
})

test('the name that is nearest', () => {
  expect(nearest('index', ['schema', 'indexes'])).toBe('indexes')
  expect(nearest('sinc', ['signal', 'since'])).toBe('since')
  expect(nearest('coll', ['storage', 'collections'])).toBe('collections')
  expect(nearest('onprogress', ['onProgress'])).toBe('onProgress')
  expect(nearest('x', ['on', 'at'])).toBeUndefined()
  expect(nearest('selekktorr', ['selector'])).toBeUndefined()
})

interface Place {
  readonly db: Database
  readonly people: Collection<JsonObject>
}

/** Of one function: the option that is meant, and a call with it misspelt. */
type Row = readonly [meant: string, call: (place: Place) => unknown]

const view = ({ people }: Place) => people.view('v', { map: () => {} })
const attachment = async ({ people }: Place) => {
  await people.putAttachment('a', 'x', 'y')
  return (await people.getAttachment('a', 'x'))!
}
const misspelt = (options: object): never => options as never

/** A function that takes options has a row: with `checkOptions` it is written in a line. */
const FUNCTIONS: Readonly<Record<string, Row | readonly Row[]>> = {
  open: ['collections', () => open('x', misspelt({ colections: {} }))],
  destroy: ['storage', () => destroy('x', misspelt({ storag: memory() }))],
  firstOf: ['onSeveral', async () => firstOf(memory(), misspelt({ onsSeveral: () => undefined }))],
  repair: ['to', () => repair('x', misspelt({ too: 'y' }))],
  'Attachment.bytes': ['end', async (place) => (await attachment(place)).bytes(misspelt({ ende: 1 }))],
  'Attachment.text': ['end', async (place) => (await attachment(place)).text(misspelt({ ende: 1 }))],
  'Attachment.blob': ['end', async (place) => (await attachment(place)).blob(misspelt({ ende: 1 }))],
  'Attachment.stream': ['end', async (place) => (await attachment(place)).stream(misspelt({ ende: 1 }))],
  'Collection.changes': ['since', ({ people }) => people.changes(misspelt({ sinc: 5 }))],
  'Collection.retryMigration': ['signal', ({ people }) => people.retryMigration(misspelt({ singal: undefined }))],
  'Collection.duplicates': ['limit', ({ people }) => people.duplicates('email', misspelt({ limt: 5 }))],
  'Collection.mapReduce': ['limit', ({ people }) => people.mapReduce({ map: () => {} }, misspelt({ limt: 5 }))],
  'Collection.export': ['format', ({ people }) => people.export(misspelt({ frmat: 'json' }))],
  'Collection.import': ['mode', ({ people }) => people.import('[]', misspelt({ mod: 'upsert' }))],
  'Collection.sync': [
    ['retry', ({ db, people }) => people.sync(db.collection('other'), misspelt({ retri: true }))],
    ['selector', ({ db, people }) => people.sync(db.collection('other'), misspelt({ push: { selectr: {} } }))],
  ],
  'Collection.replicate': [
    'live',
    ({ db, people }) => people.replicate(misspelt({ to: db.collection('other'), lve: true })),
  ],
  'TransactionCollection.compact': ['signal', ({ people }) => people.compact(misspelt({ singal: undefined }))],
  'TransactionCollection.get': [
    ['conflicts', ({ people }) => people.get('a', misspelt({ conflict: true }))],
    ['conflicts', ({ people }) => people.get(['a'], misspelt({ conflict: true }))],
  ],
  'TransactionCollection.insert': ['atomic', ({ people }) => people.insert({ name: 'a' }, misspelt({ atomc: false }))],
  'TransactionCollection.put': ['newEdits', ({ people }) => people.put({ name: 'a' }, misspelt({ new_edits: false }))],
  'TransactionCollection.upsert': ['atomic', ({ people }) => people.upsert({ name: 'a' }, misspelt({ atom: false }))],
  'TransactionCollection.delete': ['atomic', ({ people }) => people.delete('a', misspelt({ atomik: false }))],
  'TransactionCollection.putAttachment': [
    'contentType',
    ({ people }) => people.putAttachment('a', 'x', 'y', misspelt({ content_type: 'text/html' })),
  ],
  'TransactionCollection.getAttachment': [
    'start',
    ({ people }) => people.getAttachment('a', 'x', misspelt({ strat: 1 })),
  ],
  'TransactionCollection.deleteAttachment': [
    'rev',
    ({ people }) => people.deleteAttachment('a', 'x', misspelt({ revv: '1-a' })),
  ],
  'TransactionCollection.find': ['dialect', ({ people }) => people.find({}, misspelt({ dialekt: 'couchdb' }))],
  'TransactionCollection.search': ['match', ({ people }) => people.search('x', misspelt({ mach: 'any' }))],
  'TransactionCollection.list': ['limit', ({ people }) => people.list(misspelt({ limt: 5 }))],
  'TransactionCollection.getRevisions': [
    'latest',
    ({ people }) => people.getRevisions('a', 'all', misspelt({ last: true })),
  ],
  'TransactionCollection.bulkGet': [
    'partial',
    ({ people }) => people.bulkGet([{ id: 'a' }], misspelt({ partail: true })),
  ],
  'LocalDocuments.list': ['prefix', ({ people }) => people.local.list(misspelt({ prefx: 'a' }))],
  'Database.collection': [
    ['indexes', ({ db }) => db.collection('people', misspelt({ index: ['name'] }))],
    ['multi', ({ db }) => db.collection('people', { indexes: [misspelt({ on: 'tags', mult: true })] })],
  ],
  'Database.createCollection': ['revisionsLimit', ({ db }) => db.createCollection('x', misspelt({ revisionLimit: 5 }))],
  'Database.snapshot': ['sealed', ({ db }) => db.snapshot(misspelt({ seald: false }))],
  'Database.moveTo': ['encryption', ({ db }) => db.moveTo(memory(), misspelt({ encrypton: { password: 'x' } }))],
  'Database.sync': ['collections', ({ db }) => db.sync('https://example.org', misspelt({ colections: ['people'] }))],
  'Database.replicate': [
    ['live', ({ db, people }) => db.replicate(misspelt({ from: people, to: db.collection('other'), lve: true }))],
    [
      'auth',
      ({ db, people }) => db.replicate({ from: misspelt({ url: 'https://example.org', auht: {} }), to: people }),
    ],
    [
      'admit',
      ({ db, people }) =>
        db.replicate({ from: people, to: misspelt({ collection: db.collection('other'), admt: {} }) }),
    ],
  ],
  'Encryption.addPassword': ['label', ({ db }) => db.encryption!.addPassword('x', misspelt({ labl: 'phone' }))],
  'Encryption.addKey': [
    'label',
    async ({ db }) => db.encryption!.addKey(await deviceKey(), misspelt({ labl: 'phone' })),
  ],
  'Encryption.makeRecoveryKey': ['label', ({ db }) => db.encryption!.makeRecoveryKey(misspelt({ labl: 'safe' }))],
  'Database.check': ['signal', ({ db }) => db.check(misspelt({ singal: undefined }))],
  'Encryption.rotateKey': ['onProgress', ({ db }) => db.encryption!.rotateKey(misspelt({ onprogres: () => {} }))],
  'Query.explain': ['run', ({ people }) => people.find().explain(misspelt({ runn: true }))],
  'Query.live': ['signal', ({ people }) => people.find().live(misspelt({ singal: undefined }))],
  'Query.liveCount': ['signal', ({ people }) => people.find().liveCount(misspelt({ singal: undefined }))],
  'LiveQuery.subscribe': [
    'onEnd',
    ({ people }) =>
      people
        .find()
        .live()
        .subscribe(() => {}, misspelt({ onend: undefined })),
  ],
  'LiveCount.subscribe': [
    'onEnd',
    ({ people }) =>
      people
        .find()
        .liveCount()
        .subscribe(() => {}, misspelt({ onend: undefined })),
  ],
  'View.query': ['limit', (place) => view(place).query(misspelt({ limt: 5 }))],
  'View.rows': [
    'limit',
    (place) =>
      view(place)
        .rows(misspelt({ limt: 5 }))
        .next(),
  ],
  'View.update': ['signal', (place) => view(place).update(misspelt({ singal: undefined }))],
  'indexeddb: indexedDb': ['openMsMax', () => indexedDb(misspelt({ openMsMaxec: 5 }))],
  'opfs: opfs': ['worker', () => files.opfs(misspelt({ woker: () => {} }))],
}

/** Objects with names of their own that are arguments, or options of options. */
const OBJECTS: Readonly<Record<string, Row>> = {
  'a view': ['version', ({ people }) => people.view('v', misspelt({ map: () => {}, verson: 1 }))],
  credentials: ['derivation', () => open('x', { encryption: misspelt({ password: 'x', derivaton: 'pbkdf2' }) })],
}

/** Those of `level` and `testing` are called by the library, or by tests. */
const ENTRIES = ['index', 'types', 'indexeddb', 'memory', 'opfs', 'sqlite']

function deviceKey(): Promise<CryptoKey> {
  return crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

test('every function of the public API that takes options is in the table', () => {
  const takers = ENTRIES.flatMap((entry) => {
    const api = readFileSync(join(import.meta.dirname, `../../api/${entry}.d.ts`), 'utf8')
    return [...takersOfOptions(api)].map((name) =>
      entry === 'index' || entry === 'types' ? name : `${entry}: ${name}`,
    )
  })
  expect(takers.sort()).toEqual(Object.keys(FUNCTIONS).sort())
})

test('each says which option it does not have, and which one is meant', async () => {
  await using db = await open('x', { storage: memory(), encryption: { password: 'x', derivation: 'pbkdf2' } })
  const place = { db, people: db.collection('people', { indexes: [{ on: 'email', unique: true }] }) }
  for (const [name, row] of Object.entries({ ...FUNCTIONS, ...OBJECTS })) {
    const rows = (typeof row[0] === 'string' ? [row] : row) as readonly Row[]
    for (const [meant, call] of rows)
      await expect((async () => await call(place))(), name).rejects.toThrow(`did you mean '${meant}'?`)
  }
})
