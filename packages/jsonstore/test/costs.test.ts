/**
 * Goal: what an operation costs does not grow with the collection. Calls of the backend and pages are counted, on a store that was just
 * opened and has nothing in memory, with 1,000 documents and with more; encrypted in the nightly run.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backendCalls, backendWrites, counting } from 'pannier/testing'
import { memory } from 'pannier/memory'
import { createJSONStore, QueryPart } from '../src/index.ts'
import type { JSONStoreCollection } from '../src/index.ts'
import { EVERYWHERE } from '../../../tools/test/seeds.ts'

const CONFIG = { people: { searchFields: { name: 'string', age: 'integer', tags: 'string' } } } as const
const BIO = 'Lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt. '.repeat(3)
const CHUNK = 20_000
/** Pages from the root to a leaf of the largest tree. */
const HEIGHT = 2

for (const [count, password] of [
  [1_000, undefined],
  [EVERYWHERE ? 20_000 : 5_000, undefined],
  ...(EVERYWHERE ? ([[5_000, 'secret']] as const) : []),
] as const) {
  describe(`${count} documents${password === undefined ? '' : ', encrypted'}`, () => {
    const storage = counting(memory())
    const store = createJSONStore({ storage })
    let people: JSONStoreCollection

    const reopen = async (): Promise<void> => {
      await store.closeAll()
      people = (await store.init(CONFIG, { password })).people
      storage.take()
    }

    beforeAll(async () => {
      people = (await store.init(CONFIG, { password })).people
      for (let from = 0; from < count; from += CHUNK) {
        const length = Math.min(CHUNK, count - from)
        await people.store(Array.from({ length }, (_, i) => person(from + i)))
      }
    }, 120_000)

    afterAll(async () => {
      await store.destroy()
    })

    test('init reads only the head of the database and of the collection', async () => {
      await store.closeAll()
      storage.take()
      people = (await store.init(CONFIG, { password })).people
      const counts = storage.take()
      expect([counts.opens, backendWrites(counts)]).toEqual([1, 0])
      expect(counts.pagesRead).toBeLessThanOrEqual(2)
    })

    test('count: no page', async () => {
      await reopen()
      expect(await people.count()).toBe(count)
      expect(backendCalls(storage.take())).toBe(0)
    })

    test('findById: a page a level of two trees', async () => {
      await reopen()
      expect((await people.findById(count / 2))[0]?.json['name']).toBe(`Person ${count / 2 - 1}`)
      expect(storage.take().pagesRead).toBeLessThanOrEqual(2 * HEIGHT + 1)
    })

    test('find and count by an exact value, or a range: a page a level of the index, and the documents that match', async () => {
      await reopen()
      expect(await people.count({ age: 7 }, { exact: true })).toBe(count / 1_000)
      expect(storage.take().pagesRead).toBeLessThanOrEqual(2 * HEIGHT + 1)
      await reopen()
      expect((await people.find({ name: 'Person 77' }, { exact: true })).length).toBe(1)
      expect(storage.take().pagesRead).toBeLessThanOrEqual(3 * HEIGHT + 1)
      await reopen()
      expect((await people.advancedFind(QueryPart().between('age', 998, 999), { limit: 1 })).length).toBe(1)
      expect(storage.take().pagesRead).toBeLessThanOrEqual(4 * HEIGHT + count / 10_000)
      await reopen()
      expect((await people.find({ tags: 'rare' }, { exact: true })).length).toBe(1)
      expect(storage.take().pagesRead).toBeLessThanOrEqual(6 * HEIGHT)
    })

    test('find by a part of a text: the entries of the index, and the documents that match', async () => {
      await reopen()
      expect((await people.find({ name: `oN ${count - 1}` })).length).toBe(1)
      const { pagesRead, bytesRead } = storage.take()
      expect(pagesRead).toBeLessThanOrEqual(3 * HEIGHT + count / 400)
      // An entry holds the name, the id and the number of a document.
      expect(bytesRead).toBeLessThanOrEqual(count * 40 + 200_000)
      await reopen()
      expect(await people.count({ name: 'person' })).toBe(count)
      expect(storage.take().bytesRead).toBeLessThanOrEqual(count * 40 + 200_000)
      await reopen()
      expect((await people.find({ name: 'person' }, { limit: 10, offset: count - 10 })).length).toBe(10)
      expect(storage.take().bytesRead).toBeLessThanOrEqual(count * 40 + 2_000_000)
    })

    test('pages of all documents, by id or by a search field: by rank', async () => {
      await reopen()
      const page = await people.findAll({ limit: 10, offset: count - 10 })
      expect(page.at(-1)?._id).toBe(count)
      expect(storage.take().pagesRead).toBeLessThanOrEqual(4 * HEIGHT)
      await reopen()
      const newest = await people.findAll({ limit: -3 })
      expect(newest.map(({ _id }) => _id)).toEqual([count, count - 1, count - 2])
      expect(storage.take().pagesRead).toBeLessThanOrEqual(4 * HEIGHT)
      await reopen()
      const oldest = await people.findAll({ limit: 3, sort: [{ age: 'desc' }] })
      expect(oldest.map(({ json }) => json['age'])).toEqual(count === 1_000 ? [999, 998, 997] : [999, 999, 999])
      expect(storage.take().pagesRead).toBeLessThanOrEqual(6 * HEIGHT)
    })

    test('add, replace, remove, markClean: one write each, and the pages of what is written', async () => {
      for (const [write, expected] of [
        [() => people.add(person(count)), 1],
        [() => people.replace({ _id: 3, json: person(count + 1) }), 1],
        [() => people.remove(4), 1],
        [async () => await people.markClean(await people.getAllDirty()), 3],
      ] as const) {
        await reopen()
        expect(await write()).toBe(expected)
        const counts = storage.take()
        expect(backendWrites(counts)).toBe(1)
        expect(counts.pagesRead).toBeLessThanOrEqual(6 * HEIGHT)
        expect(counts.bytesWritten).toBeLessThanOrEqual(4_000)
      }
    })

    test('what is dirty: by an index of what is dirty', async () => {
      await people.replace({ _id: 9, json: person(8) })
      await reopen()
      expect(await people.countAllDirty()).toBe(1)
      expect((await people.getAllDirty()).length).toBe(1)
      expect(await people.isDirty(9)).toBe(true)
      expect(storage.take().pagesRead).toBeLessThanOrEqual(4 * HEIGHT)
    })

    test('clear: a few writes, whatever there was', async () => {
      await reopen()
      await people.clear()
      const counts = storage.take()
      expect(backendWrites(counts)).toBeLessThanOrEqual(6)
      expect(counts.pagesRead).toBeLessThanOrEqual(2)
      expect(await people.findAll()).toEqual([])
    })
  })
}

function person(at: number): Record<string, unknown> {
  return { name: `Person ${at}`, age: at % 1_000, ...(at === 500 && { tags: ['rare', 'other'] }), bio: BIO }
}
