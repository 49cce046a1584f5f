/**
 * Writes the golden database of a format version: run once by hand when the format has changed, never again for the same
 * version (docs/internals/file-format.md). From the root of the repository:
 *
 *     npm run node packages/db/test/compatibility/make-golden.ts
 *
 * It holds something of everything: each kind of tree, with several levels where there can be; each kind of index; values
 * that overflow; bodies that were removed, moved, deleted; conflicts, kept history, revisions named by text;
 * attachments, shared ones too; local documents; garbage in leaves; pages and subtrees that wait to be reclaimed; a log with commits of every kind that the pages do not hold, one that drops a tree among them.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { open, type Database, type DocumentInput, type JsonObject } from '../../src/index.ts'
import type { Key } from '../../src/base/brand.ts'
import { numberKey } from '../../src/codec/key-encoding.ts'
import type { PagedKeyValueStore } from '../../src/kv/open.ts'
import { FORMAT_VERSION } from '../../src/pager/meta-page.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { seededRandom } from '../../testing/random.ts'
import { goldenCollection, goldenTree, openEngine, type GoldenContent } from './golden-content.ts'

const COLLECTIONS = ['people', 'revised', 'things']
const TREES = ['golden/inline', 'golden/ordered', 'golden/sequence']

const folder = join(import.meta.dirname, '../golden')
const path = join(folder, `format-${FORMAT_VERSION}.pannier`)
if (existsSync(path)) throw new Error(`${path} exists: a golden database is never made again.`)
await make()

async function make(): Promise<void> {
  const engine = await openEngine(sqlite(), path)
  await writeTrees(engine)
  await engine.close()
  const db = await open(path)
  await writeCollections(db)
  await db.close()
  await writeTail()
  const reading = await openEngine(sqlite(), path)
  const trees = await Promise.all(TREES.map((name) => goldenTree(reading, name)))
  await reading.close()
  const again = await open(path)
  const { problems } = await again.check()
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('\n'))
  const collections = []
  for (const name of COLLECTIONS) collections.push(await goldenCollection(again, name))
  await again.close()
  compact()
  const content: GoldenContent = { formatVersion: FORMAT_VERSION, collections, trees }
  writeFileSync(join(folder, `format-${FORMAT_VERSION}.json`), `${JSON.stringify(content, undefined, 1)}\n`)
}

/** Leaves out the room of what was deleted, so that the file is small. */
function compact(): void {
  const file = new DatabaseSync(path)
  file.exec('VACUUM')
  file.close()
}

function someBytes(length: number, seed: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 31 + seed * 17) & 255)
}

function someKey(n: number): Key {
  return `${n % 3 === 0 ? 'shared/prefix/' : ''}${String.fromCharCode(n % 256)}${n}` as Key
}

async function writeTrees(engine: PagedKeyValueStore): Promise<void> {
  await engine.write((transaction) => {
    const ordered = transaction.createTree('golden/ordered', 'ordered')
    for (let n = 0; n < 900; n++) ordered.insert(someKey(n), someBytes(n % 23, n))
    for (const n of [5000, 5001]) ordered.insert(someKey(n), someBytes(n, n))
    const sequence = transaction.createTree('golden/sequence', 'sequence')
    for (let n = 0; n < 120; n++) sequence.append(someBytes(n === 7 ? 9000 : 300, n))
    sequence.append(someBytes(65_000, 1))
    const inline = transaction.createTree('golden/inline', 'inline')
    for (let n = 0; n < 5; n++) inline.insert(someKey(n), someBytes(n, n))
    transaction.createTree('golden/dropped', 'ordered')
    for (let n = 0; n < 900; n++) transaction.tree('golden/dropped')!.insert(someKey(n), someBytes(12, n))
    transaction.createTree('golden/dropped-later', 'sequence').append(someBytes(9000, 2))
    transaction.createTree('golden/empty', 'ordered')
  })
  await engine.checkpoint()
  await engine.write((transaction) => {
    for (let n = 0; n < 900; n += 50) transaction.tree('golden/ordered')!.delete(someKey(n))
    for (let n = 1; n <= 100; n += 4) transaction.tree('golden/sequence')!.delete(numberKey(n))
    transaction.tree('golden/ordered')!.put(someKey(5000), someBytes(3, 3))
    transaction.dropTree('golden/dropped')
  })
  await engine.checkpoint()
}

async function writeCollections(db: Database): Promise<void> {
  const random = seededRandom(1)
  const people = db.collection('people', {
    indexes: ['age', ['city', '-age'], { on: 'tags', multi: true }, { on: 'address.zip', name: 'zip' }],
  })
  const cities = ['Oslo', 'Bergen', 'Z\u00fcrich', '\u6771\u4eac', '']
  await people.insert(
    Array.from({ length: 200 }, (_, n) => ({
      _id: `person-${n}`,
      age: random.below(90),
      city: random.pick(cities),
      tags: Array.from({ length: random.below(4) }, () => random.pick(['a', 'b', 1, null, true])),
      address: { zip: random.below(10_000), lines: [`${n} Street`, { floor: n % 5 }] },
    })),
  )
  const things = db.collection('things', { indexes: ['-value', '_id'] })
  const values = [
    null,
    false,
    true,
    0,
    -0.5,
    1e300,
    2 ** 53,
    '',
    '\u0000',
    '\ud800',
    '\u{1f4a1}',
    [],
    [1, [2]],
    {},
    { a: { b: 1 } },
  ]
  await things.insert(values.map((value, n) => ({ _id: `thing-${n}`, value, [`field${n}`]: n })))
  await things.insert([
    { _id: 'large', value: 'x', text: 'large '.repeat(4000) },
    { _id: 'middle', value: 'y', text: 'middle '.repeat(1200), numbers: Array.from({ length: 300 }, (_, n) => n / 7) },
    { _id: 'constructor', value: { toString: 1 }, constructor: 'c' } as Record<string, unknown>,
    { _id: '\u00fc/\u0000\ud800', value: 5 },
  ])
  await writeRevisions(db)
  const gone = db.collection('gone', { indexes: ['n'] })
  await gone.insert(Array.from({ length: 300 }, (_, n) => ({ n, text: 'gone' })))
  await db.flush()
  await people.update('person-7', (person) => ({ ...person, age: 91 }))
  await people.delete(Array.from({ length: 30 }, (_, n) => `person-${n * 5}`))
  await people.upsert(Array.from({ length: 20 }, (_, n) => ({ _id: `person-${n * 11}`, age: n, city: 'Oslo' })))
  await db.dropCollection('gone')
  await db.flush()
  await db.collection('things').dropIndex('_id')
}

async function writeRevisions(db: Database): Promise<void> {
  const revised = db.collection('revised', { history: true, revisionsLimit: 20, indexes: ['n'] })
  await revised.insert(Array.from({ length: 30 }, (_, n) => ({ _id: `r${n}`, n })))
  for (let n = 0; n < 40; n++) await revised.update(`r${n % 3}`, (document) => ({ ...document, n }))
  const replicated = (_id: string, ids: readonly string[], n: number, _deleted = false): DocumentInput<JsonObject> => ({
    _id,
    _rev: `${ids.length}-${ids[0]!}`,
    _revisions: { start: ids.length, ids },
    _deleted,
    n,
  })
  const hash = '0123456789abcdef0123456789abcdef'
  await revised.put(
    [
      replicated('r4', ['c', hash], 100),
      replicated('r4', ['b', hash], 101),
      replicated('r4', ['zürich', hash], 102, true),
      replicated('new', ['x', 'y', 'z'], 103),
      replicated('new', [hash, 'y', 'z'], 104),
      replicated('gone', ['x', 'z'], 105, true),
    ],
    { newEdits: false },
  )
  await revised.putAttachment('r8', 'note.txt', new TextEncoder().encode('a note'), { contentType: 'text/plain' })
  await revised.putAttachment('r9', 'long', someBytes(300_000, 3))
  await revised.putAttachment('r10', 'the same', someBytes(300_000, 3))
  await revised.local.put({ _id: '_local/checkpoint', n: 1 })
  await revised.local.put({ _id: '_local/gone', n: 2 })
  await revised.local.delete('_local/gone')
  await revised.delete(['r5', 'r6'])
  await revised.purge('r7')
}

/** What stays in the log: closing writes no pages. */
async function writeTail(): Promise<void> {
  const db = await open(path)
  const people = db.collection('people')
  await people.update('person-6', (person) => ({ ...person, age: 93 }))
  // The pages that this replaces wait to be reclaimed.
  await db.flush()
  await people.insert({ _id: 'tail', age: 1, city: 'Oslo', tags: ['new'], brandNewField: [1, 2] })
  await people.update('person-8', (person) => ({ ...person, age: 92 }))
  await people.delete(['person-9', 'person-11'])
  await db.close()
  const engine = await openEngine(sqlite(), path)
  await engine.write((transaction) => {
    transaction.createTree('golden/short-lived', 'ordered').insert(someKey(1), someBytes(5, 1))
    transaction.tree('golden/sequence')!.append(someBytes(100, 9))
    transaction.tree('golden/inline')!.put(someKey(1), someBytes(2, 2))
  })
  await engine.write((transaction) => {
    transaction.dropTree('golden/dropped-later')
    transaction.dropTree('golden/short-lived')
    transaction.tree('golden/ordered')!.put(someKey(7), someBytes(3000, 7))
  })
  await engine.close()
}
