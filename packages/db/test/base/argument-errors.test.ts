/**
 * Goal: wrong arguments of the public API are TypeErrors of one form, `function(): what must be …, got …`: the function that
 * the user called first, the value that came last.
 */
import { expect, test } from 'vitest'
import { destroy, firstOf, open, registerCollation, repair, where } from '../../src/index.ts'
import type { Collection, Database, JsonObject } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'

interface Place {
  readonly db: Database
  readonly people: Collection<JsonObject>
}

type Row = readonly [message: string, call: (place: Place) => unknown]

const wrong = (value: unknown): never => value as never
const view = ({ people }: Place) => people.view('all', { map: () => {} })
const storage = memory()

const ROWS: readonly Row[] = [
  [
    "open(): durability must be 'relaxed' or 'strict', got 'fast'",
    () => open('y', { storage, durability: wrong('fast') }),
  ],
  ['open(): name must be a string that is not empty, got undefined', () => open(wrong(undefined))],
  ['open(): storage must be a storage like memory(), got a function', () => open('y', { storage: wrong(memory) })],
  ["open(): one of password, key and recoveryKey must be given, got ''", () => open('y', { encryption: wrong({}) })],
  [
    'open(): a password must be a string of 1 to 1024 characters, got 2000',
    () => open('y', { storage, encryption: { password: 'secret'.repeat(2000).slice(0, 2000) } }),
  ],
  ["destroy(): name must be a string that is not empty, got ''", () => destroy('')],
  ['firstOf(): each storage must be one like memory(), got a function', () => firstOf(wrong(memory))],
  ["repair(): to must be the name of another database, got 'y'", () => repair('y', { to: 'y' })],
  ['registerCollation(): key must be a function, got 5', () => registerCollation({ name: 'x', key: wrong(5) })],
  ['collection(): name must be a string of 1 to 200 characters, got 7', ({ db }) => db.collection(wrong(7))],
  ["collection(): name must not start with '_', got '_x'", ({ db }) => db.collection('_x')],
  ['collection(): indexes must be an array, got an object', ({ db }) => db.collection('q', { indexes: wrong({}) })],
  [
    "collection(): a multi index must have one field, got 'a,b'",
    ({ db }) => db.collection('q', { indexes: [{ on: ['a', 'b'], multi: true }] }),
  ],
  [
    "collection(): dialect must be 'couchdb' or undefined, got 'sql'",
    ({ db }) => db.collection('q', { indexes: [{ on: 'a', dialect: wrong('sql') }] }),
  ],
  [
    "collection(): the selector at 'age.$in' must be an array, got 5",
    ({ db }) => db.collection('q', { indexes: [{ on: 'a', where: { age: { $in: wrong(5) } } }] }),
  ],
  ['collection(): version must be a whole number from 1, got 0', ({ db }) => db.collection('q', { version: 0 })],
  ['collection(): history must be a boolean, got 1', ({ db }) => db.collection('q', { history: wrong(1) })],
  ['transaction(): body must be a function, got 1', ({ db }) => db.transaction(wrong(1))],
  ['subscribe(): listener must be a function, got undefined', ({ db }) => db.subscribe(wrong(undefined))],
  [
    'subscribe(): listener must be a function, got null',
    ({ db, people }) => people.sync(db.collection('copies')).subscribe(wrong(null)),
  ],
  ["moveTo(): storage must be one storage like opfs(), got 'opfs'", ({ db }) => db.moveTo(wrong('opfs'))],
  ['get(): the id must be a string or an array of strings, got 5', ({ people }) => people.get(wrong(5))],
  ['get(): ids must be strings, got null', ({ people }) => people.get(wrong(['a', null]))],
  ["get(): a revision must be a string like '2-abc', got '2'", ({ people }) => people.get('a', { rev: '2' })],
  ['insert(): a document must be a plain object, got a Map', ({ people }) => people.insert(wrong(new Map()))],
  ['insert(): _id must be a string, got 5', ({ people }) => people.insert(wrong({ _id: 5 }))],
  ["insert(): _id must not start with '_', got '_a'", ({ people }) => people.insert({ _id: '_a' })],
  ["insert(): the name of a field must not start with '_', got '_x'", ({ people }) => people.insert(wrong({ _x: 1 }))],
  [
    'insert(): $.born must be a JSON value (store date.toISOString() or date.getTime()), got a Date',
    ({ people }) => people.insert(wrong({ born: new Date(0) })),
  ],
  [
    'insert(): _attachments["x"].data must be base64, got \'?\'',
    ({ people }) => people.insert(wrong({ _attachments: { x: { data: '?' } } })),
  ],
  ['put(): _rev must be a string, got 1', ({ people }) => people.put(wrong({ _id: 'a', _rev: 1 }))],
  ['upsert(): _deleted must be a boolean, got 1', ({ people }) => people.upsert(wrong({ _deleted: 1 }))],
  [
    'update(): the function must return a document or undefined, got 5',
    ({ people }) =>
      people.update(
        'a',
        wrong(() => 5),
      ),
  ],
  [
    'update(): $.f must be a JSON value, got a function',
    ({ people }) =>
      people.update(
        'a',
        wrong(() => ({ f: () => {} })),
      ),
  ],
  ['delete(): _id must be a string, got undefined', ({ people }) => people.delete(wrong({}))],
  ['resolve(): choose must be a function, got undefined', ({ people }) => people.resolve('a', wrong(undefined))],
  ["purge(): a revision must be a string like '2-abc', got 'x'", ({ people }) => people.purge('a', 'x')],
  ['bulkGet(): references must be an array of { id, rev }, got null', ({ people }) => people.bulkGet(wrong(null))],
  ['revsDiff(): revs must be an array of revisions, got 5', ({ people }) => people.revsDiff(wrong({ a: 5 }))],
  ["getRevisions(): _id must not be empty, got ''", ({ people }) => people.getRevisions('', 'all')],
  [
    "putAttachment(): the name of an attachment must not start with '_', got '_x'",
    ({ people }) => people.putAttachment('a', '_x', 'y'),
  ],
  ['getAttachment(): rev must be a string, got 1', ({ people }) => people.getAttachment('a', 'x', wrong({ rev: 1 }))],
  ['list(): skip must be a whole number from 0, got -1', ({ people }) => people.list({ skip: -1 })],
  ['changes(): ids must be an array of ids, got 5', ({ people }) => people.changes({ ids: wrong(5) })],
  ["changes(): style must be 'winner' or 'all', got 'none'", ({ people }) => people.changes({ style: wrong('none') })],
  ['local.get(): the id of a local document must be a string, got 5', ({ people }) => people.local.get(wrong(5))],
  [
    "find(): the selector at '$where' must be inside a field, got '$where'",
    ({ people }) => people.find(wrong({ $where: 'x' })),
  ],
  [
    'find(): the selector at \'name\' must be a JSON value (write { $regex: "^a" }), got a RegExp',
    ({ people }) => people.find(wrong({ name: /^a/ })),
  ],
  [
    "sort(): a path must be a string (write '-name'), got an object",
    ({ people }) => people.find().sort(wrong({ name: -1 })),
  ],
  [
    "fields(): a path must be a string (write 'name', 'age'), got an Array",
    ({ people }) => people.find().fields(wrong(['name', 'age'])),
  ],
  ["limit(): rows must be a whole number from 0, got '5'", ({ people }) => people.find().limit(wrong('5'))],
  ['groupBy(): a path must be given, got undefined', ({ people }) => people.find().groupBy()],
  ['aggregate(): $count must be true, got 1', ({ people }) => people.find().aggregate(wrong({ n: { $count: 1 } }))],
  [
    'subscribe(): listener must be a function, got undefined',
    ({ people }) => people.find().live().subscribe(wrong(undefined)),
  ],
  ['search(): text must be a string, got 5', ({ people }) => people.search(wrong(5))],
  ["where(): the names in a path must not be empty, got 'a..b'", () => where('a..b')],
  ['view(): map must be a function (document, emit), got undefined', ({ people }) => people.view('v', wrong({}))],
  ['mapReduce(): map must be a function (document, emit), got 1', ({ people }) => people.mapReduce(wrong({ map: 1 }))],
  [
    "update(): a patch must have fields, or be a function (write { age: 31 }, or (old) => …), got '$inc'",
    ({ people }) => people.update('ann', wrong({ $inc: { age: 1 } })),
  ],
  ['query(): docs must be a boolean, got 1', (place) => view(place).query({ docs: wrong(1) })],
  ['query(): key and keys must be given alone, got key and gte', (place) => view(place).query({ key: 1, gte: 0 })],
  [
    "import(): mode must be one of insert, upsert, replicate, got 'put'",
    ({ people }) => people.import('[]', { mode: wrong('put') }),
  ],
  [
    'sync() or replicate(): batchSize must be a whole number from 1, got 0',
    ({ db, people }) => people.sync(db.collection('other'), { batchSize: 0 }),
  ],
]

test('wrong arguments name the function first and the value last', async () => {
  await using db = await open('x', { storage: memory() })
  const place = { db, people: db.collection('people') }
  await place.people.insert({ _id: 'a' })
  const messages: string[] = []
  for (const [message, call] of ROWS) {
    const error: unknown = await (async () => await call(place))().catch((thrown: unknown) => thrown)
    expect(error, message).toBeInstanceOf(TypeError)
    messages.push((error as TypeError).message)
  }
  expect(messages).toEqual(ROWS.map(([message]) => message))
})
