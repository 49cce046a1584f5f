/**
 * Goal: docs/internals/costs.md holds, row by row, on 100 and on 20,000 documents, and on 100,000 in the nightly run. Calls and bytes are counted at the page store, so
 * the figures are exact and the same on every machine.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import type { Database } from '../../src/database/database.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Query } from '../../src/query/query.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { backendCalls, backendWrites, counting } from '../../testing/counting-page-store.ts'
import { seededRandom } from '../../testing/random.ts'
import { EVERYWHERE } from '../../../../tools/test/seeds.ts'

interface Person {
  _id: string
  name: string
  email: string
  city: string
  age: number
  score: number
  active: boolean
  tags: string[]
  bio: string
}

const CITIES = ['Oslo', 'Bergen', 'London', 'Paris', 'Berlin', 'Rome', 'Madrid', 'Tokyo']
const BIO = 'Lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt. '.repeat(2)

function people(count: number): Person[] {
  const random = seededRandom(count)
  return Array.from({ length: count }, (_, i) => ({
    _id: `${random.below(1e9).toString(36)}-${i}`,
    name: `Name ${random.below(1e6)}`,
    email: `person${i}@example.org`,
    city: CITIES[i % CITIES.length]!,
    age: random.below(90),
    score: random.next() * 1000,
    active: i % 2 === 0,
    tags: ['a', `b${i % 10}`],
    bio: BIO,
  }))
}

/** Pages from root to leaf in the largest tree of these databases. */
const HEIGHT = 2

/** What an operation takes in the log beside its value, the record's own header included. */
const KEY_OVERHEAD_BYTES = 40
/** Of an entry in `revisions`: document number, generation, suffix; parent. */
const REVISION_ENTRY_BYTES: number = 12 + 17 + 17
/** Of the two indexes here, one entry out and one in for each. */
const INDEX_CHANGE_BYTES = 120
const PUTS = 1000

for (const count of [100, EVERYWHERE ? 100_000 : 20_000]) {
  describe(`${count} documents`, () => {
    const storage = counting(memory())
    const documents = people(count)
    let db: Database
    let all: Collection<Person>

    const reopen = async (): Promise<void> => {
      await db.close()
      db = await open('costs', { storage })
      all = db.collection<Person>('people')
      storage.take()
    }

    beforeAll(async () => {
      db = await open('costs', { storage })
      all = db.collection<Person>('people')
    }, 120_000)

    afterAll(async () => {
      await db.check()
      await db.close()
    }, 120_000)

    test('bulk write: 1 transaction, at most 1.5 x the bytes of JSON in all', async () => {
      storage.take()
      await all.insert(documents)
      const inserted = storage.take()
      expect(backendWrites(inserted)).toBe(1)
      await db.flush()
      const json = documents.reduce((sum, document) => sum + JSON.stringify(document).length, 0)
      expect(inserted.bytesWritten + storage.take().bytesWritten).toBeLessThanOrEqual(1.5 * json)
    })

    test('index build: the documents are read once, and nothing is written but the index', async () => {
      await reopen()
      all = db.collection<Person>('people', { indexes: ['age', ['city', '-score']] })
      await all.ready()
      const { pagesRead, bytesWritten, appends, commits } = storage.take()
      const bodyPages = Math.ceil((count * 330) / 25_000) + 3
      expect(pagesRead).toBeLessThanOrEqual(bodyPages + 5)
      // Some 20 and 30 bytes an entry, not a log record for each.
      expect(bytesWritten).toBeLessThanOrEqual(count * 60 + 20_000)
      expect(appends + commits).toBeLessThanOrEqual(4)
    })

    test('aggregates from indexes: a page a level for each end, and for each group', async () => {
      await reopen()
      const low = await all.find({}).aggregate({ low: { $min: 'age' }, high: { $max: 'age' } })
      expect(low).toEqual({
        low: Math.min(...documents.map(({ age }) => age)),
        high: Math.max(...documents.map(({ age }) => age)),
      })
      expect(storage.take().pagesRead).toBeLessThanOrEqual(3 * HEIGHT)
      await reopen()
      const cities = await all
        .find({})
        .groupBy('city')
        .aggregate({ people: { $count: true }, best: { $max: 'score' } })
        .toArray()
      expect(cities.length).toBe(CITIES.length)
      expect(cities[0]!.people).toBe(documents.filter(({ city }) => city === 'Bergen').length)
      // Where a group begins and ends, and where its values do.
      expect(storage.take().pagesRead).toBeLessThanOrEqual(3 * HEIGHT * (CITIES.length + 1))
      await reopen()
      const first = all
        .find({})
        .groupBy('age')
        .aggregate({ people: { $count: true } })
      expect((await first.limit(3).toArray()).map(({ age }) => age)).toEqual([0, 1, 2])
      expect(storage.take().pagesRead).toBeLessThanOrEqual(2 * HEIGHT * 4)
    })

    test('open: 1 backend transaction before the first answer', async () => {
      await db.close()
      storage.take()
      db = await open('costs', { storage })
      all = db.collection<Person>('people')
      expect(await all.find({}).count()).toBe(count)
      const counts = storage.take()
      expect(counts.opens).toBe(1)
      expect(backendCalls(counts)).toBe(1)
    })

    test('count(): 0 backend calls', async () => {
      storage.take()
      expect(await all.find({}).count()).toBe(count)
      expect(backendCalls(storage.take())).toBe(0)
    })

    test('get: cold at most a page a level of its two trees, cached none', async () => {
      await reopen()
      const id = documents[count >> 1]!._id
      expect((await all.get(id))?.name).toBe(documents[count >> 1]!.name)
      const cold = storage.take()
      expect(cold.pagesRead).toBeLessThanOrEqual(2 * HEIGHT)
      expect(cold.pageBatches).toBeLessThanOrEqual(2 * HEIGHT)
      await all.get(id)
      expect(backendCalls(storage.take())).toBe(0)
    })

    test('n gets, cold: each page once, in at most a batch a level', async () => {
      await reopen()
      const random = seededRandom(7)
      const ids = Array.from({ length: 50 }, () => random.pick(documents)._id)
      await all.get(ids)
      const { pagesRead, pageBatches } = storage.take()
      expect(pageBatches).toBeLessThanOrEqual(2 * HEIGHT)
      expect(pagesRead).toBeLessThanOrEqual(2 * (HEIGHT - 1) + 2 * 50)
    })

    test('count of an index range, skip, the k-th, first and last: a page a level', async () => {
      for (const query of [
        () => all.find({ age: { $gte: 30, $lt: 40 } }).count(),
        () =>
          all
            .find({})
            .sort('age')
            .skip(count - 10)
            .limit(1)
            .fields('age')
            .toArray(),
        () => all.find({}).sort('age').fields('age').first(),
        () => all.find({}).sort('-age').fields('age').first(),
      ]) {
        await reopen()
        await query()
        // Both ends of a range are looked up; they share the root.
        expect(storage.take().pagesRead).toBeLessThanOrEqual(2 * HEIGHT)
      }
    })

    test('count and skip by a field behind one of few values: the same for each value', async () => {
      const high = (): Query<Person> => all.find({ score: { $gte: 900 } })
      const matches = documents.filter(({ score }) => score >= 900)
      for (const query of [
        async () => expect(await high().count()).toBe(matches.length),
        async () => {
          const last = high()
            .sort('city', '-score')
            .skip(matches.length - 1)
          expect((await last.fields('city').toArray()).map(({ city }) => city)).toEqual(['Tokyo'])
        },
      ]) {
        await reopen()
        await query()
        expect(storage.take().pagesRead).toBeLessThanOrEqual(3 * HEIGHT * (CITIES.length + 1))
      }
    })

    test('an index that covers the fields: no document pages', async () => {
      await reopen()
      const rows = await all
        .find({ age: { $gte: 30, $lt: 32 } })
        .fields('age')
        .toArray()
      expect(rows.length).toBe(documents.filter(({ age }) => age === 30 || age === 31).length)
      expect(storage.take().pagesRead).toBeLessThanOrEqual(HEIGHT + Math.ceil((rows.length * 20) / 16_000) + 1)
    })

    test('an index lookup that matches n documents, cold: each needed page once, misses in batches', async () => {
      await reopen()
      const rows = await all.find({ age: 30 }).toArray()
      const { pagesRead, pageBatches } = storage.take()
      expect(pagesRead).toBeLessThanOrEqual(rows.length + 4 * HEIGHT)
      // Roots; the ends of the range, and whether there are arrays; the leaves between; the documents.
      expect(pageBatches).toBeLessThanOrEqual(4)
    })

    test('change feed: the pages that hold what is asked for; nothing to tell costs nothing', async () => {
      await reopen()
      const since = count >> 1
      const { changes, lastSeq, pending } = await all.changes({ since, limit: 100, docs: true }).page()
      expect([changes.length, pending]).toEqual([Math.min(100, count - since), Math.max(0, count - since - 100)])
      expect(lastSeq).toBe(Math.min(count, since + 100))
      const { pagesRead, pageBatches } = storage.take()
      // Reading ahead takes some pages more than the rows fill.
      expect(pagesRead).toBeLessThanOrEqual(HEIGHT + 2 + 4)
      expect(pageBatches).toBeLessThanOrEqual(HEIGHT + 2)
      await reopen()
      expect((await all.changes({ since: count, docs: true }).page()).changes).toEqual([])
      expect((await all.info()).lastSeq).toBe(count)
      expect(backendCalls(storage.take())).toBe(0)
    })

    test('change feed with a selector that an index answers: as an index lookup', async () => {
      await reopen()
      const matching = documents.filter(({ age }) => age === 30)
      const { changes, lastSeq } = await all.changes({ selector: { age: 30 } }).page()
      expect([changes.length, lastSeq]).toEqual([matching.length, count])
      const { pagesRead, pageBatches } = storage.take()
      expect(pagesRead).toBeLessThanOrEqual(changes.length + 4 * HEIGHT)
      expect(pageBatches).toBeLessThanOrEqual(4 * HEIGHT + 12)
    })

    test('list: skip costs a page a level; rows cost their documents, in one batch', async () => {
      await reopen()
      const skip = count - 20
      const { total, offset, rows } = await all.list({ skip, limit: 10 }).page()
      expect([total, offset, rows.length]).toEqual([count, skip, 10])
      expect(rows.map(({ id }) => id)).toEqual(
        documents
          .map(({ _id }) => _id)
          .toSorted()
          .slice(skip, skip + 10),
      )
      const { pagesRead, pageBatches } = storage.take()
      expect(pagesRead).toBeLessThanOrEqual(3 * HEIGHT + 10)
      expect(pageBatches).toBeLessThanOrEqual(3 * HEIGHT)
    })

    test('put, update and delete of one document: 1 log append; no reads when its pages are cached', async () => {
      await reopen()
      const [a, b] = [documents[3]!, documents[4]!]
      await all.get([a._id, b._id])
      await all.upsert({ ...a, age: 1 })
      storage.take()
      await all.upsert({ ...a, age: 2 })
      await all.update(b._id, (document) => ({ ...document, age: 3 }))
      await all.insert({ ...a, _id: 'new' })
      await all.delete('new')
      const counts = storage.take()
      expect(counts.appends).toBe(4)
      expect(backendWrites(counts)).toBe(4)
      expect(counts.reads + counts.pageBatches).toBeLessThanOrEqual(1)
      expect(counts.bytesWritten).toBeLessThanOrEqual(4 * 1000)
    })

    test('revisions: an update appends its body and one entry; a get and an insert touch nothing of them', async () => {
      const [a, b] = [documents[7]!, documents[8]!]
      await all.upsert([{ ...a, age: 1 }, b])
      storage.take()
      const { rev } = await all.upsert({ ...a, age: 2 })
      const update = storage.take()
      expect(update.appends).toBe(1)
      const parts = 2 * KEY_OVERHEAD_BYTES + REVISION_ENTRY_BYTES
      expect(update.bytesWritten).toBeLessThanOrEqual(JSON.stringify(a).length + INDEX_CHANGE_BYTES + parts)
      await all.insert({ ...a, _id: 'inserted' })
      const inserted = storage.take()
      expect(inserted.bytesWritten).toBeLessThan(update.bytesWritten)
      await reopen()
      await all.get(b._id)
      // The trees of ids, moved and bodies.
      expect(storage.take().pagesRead).toBeLessThanOrEqual(3 * HEIGHT)
      await all.get(a._id)
      await all.revsDiff({ [a._id]: [rev] })
      storage.take()
      await all.put({ ...a, _rev: '2-abc', _revisions: { start: 2, ids: ['abc', 'def'] } }, { newEdits: false })
      const conflict = storage.take()
      expect(backendWrites(conflict)).toBe(1)
      expect(conflict.pagesRead).toBeLessThanOrEqual(3 * HEIGHT)
      // The winner is written again under its new sequence number, and the losing leaf beside it.
      expect(conflict.bytesWritten).toBeLessThanOrEqual(2 * (JSON.stringify(a).length + INDEX_CHANGE_BYTES) + 6 * parts)
      expect((await all.conflicts()).map(({ id }) => id)).toEqual([a._id])
      expect(storage.take().pagesRead).toBe(0)
      await all.purge(a._id, '2-abc')
      await all.delete('inserted')
      storage.take()
    })

    test('n concurrent single puts: 1 backend write', async () => {
      await all.get(documents[5]!._id)
      storage.take()
      await Promise.all(documents.slice(5, 55).map((document) => all.upsert({ ...document, age: 7 })))
      expect(backendWrites(storage.take())).toBe(1)
    })

    test('random puts over time: pages written by storage checkpoints stay within 8 x the log', async () => {
      const random = seededRandom(11)
      await db.flush()
      storage.take()
      for (let i = 0; i < PUTS; i++) await all.upsert({ ...random.pick(documents), age: random.below(90) })
      await db.flush()
      const { bytesWritten } = storage.take()
      // An upsert of some 330 bytes and its index entries are some 420 bytes in the log.
      expect(bytesWritten / (PUTS * 420)).toBeLessThanOrEqual(9)
    })

    test('snapshot: each page that is reachable is read once; restore: each is written once', async () => {
      await db.flush()
      storage.take()
      const file = await new Response(db.snapshot() as ReadableStream<Uint8Array<ArrayBuffer>>).blob()
      const read = storage.take()
      expect(backendWrites(read)).toBe(0)
      const target = counting(memory())
      const copy = await open('copy', { storage: target, from: file })
      const written = target.take()
      expect(written.pagesWritten).toBe(read.pagesRead)
      expect(written.pagesRead).toBe(0)
      // In groups: some 32 pages a read, some 1 MiB a write.
      expect(read.pageBatches).toBeLessThanOrEqual(read.pagesRead / 32 + 60)
      expect(backendWrites(written)).toBeLessThanOrEqual(file.size / (1024 * 1024) + 2)
      expect(file.size).toBeLessThanOrEqual(read.bytesRead * 1.01 + 5000)
      // The check reads every page, and fails for one that nothing uses.
      expect((await copy.check()).problems).toEqual([])
      await copy.close()
    })

    test('dropping an index, a collection: 1 small commit, whatever the size', async () => {
      await all.find({}).count()
      storage.take()
      await all.dropIndex('age')
      await db.dropCollection('people')
      const counts = storage.take()
      expect(counts.appends).toBe(2)
      expect(counts.bytesWritten).toBeLessThanOrEqual(1000)
      expect(counts.pagesRead).toBe(0)
    })

    test('what was dropped is reclaimed', async () => {
      for (let i = 0; i < 4; i++) await db.flush()
      expect(storage.take().pagesFreed).toBeGreaterThanOrEqual(Math.floor((count * 250) / 30_000))
    })
  })
}
