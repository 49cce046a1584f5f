/** Goal: the stores that tests are made with keep the contract, and fail exactly as they are told. */
import { expect, test } from 'vitest'
import { AssertionError } from '../../src/base/errors.ts'
import type { PageStore } from '../../src/storage/page-store.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { appendRange, pageIds, someCommit, somePage, someRecord } from '../../testing/conformance/page-store-fixture.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { backendCalls, backendWrites, counting } from '../../testing/counting-page-store.ts'
import { seededRandom } from '../../testing/random.ts'
import { SimulatedStorage, randomOrder } from '../../testing/simulated-page-store.ts'
import { prefixed } from '../../testing/suite.ts'

pageStoreSuite({
  test: prefixed(test, 'simulated, synchronous'),
  create: async () => ({ storage: new SimulatedStorage(), name: 'database' }),
})

pageStoreSuite({
  test: prefixed(test, 'simulated, in random order'),
  create: async () => {
    const random = seededRandom(1).next
    return { storage: new SimulatedStorage({ random, schedule: randomOrder(random) }), name: 'database' }
  },
})

pageStoreSuite({
  test: prefixed(test, 'counting'),
  create: async () => ({ storage: counting(memory()), name: 'database' }),
})

/** A simulated storage whose second append (its third call) meets the fault. */
async function faulty(
  fault: Parameters<SimulatedStorage['failAt']>[1],
): Promise<{ storage: SimulatedStorage; store: PageStore }> {
  const storage = new SimulatedStorage()
  const store = await storage.open('database')
  await store.append(someRecord(1), 'relaxed')
  storage.failAt(3, fault)
  return { storage, store }
}

async function reopenedLog(storage: SimulatedStorage): Promise<number> {
  return (await (await storage.open('database')).read()).log.length
}

test.each([true, false])('a call fails, having happened or not (%s)', async (happens) => {
  const { storage, store } = await faulty({ kind: 'error', code: 'PANNIER_IO_FAILED', happens })
  expect(() => store.append(someRecord(2), 'relaxed')).toThrow(expect.objectContaining({ code: 'PANNIER_IO_FAILED' }))
  expect((await store.read()).log.length).toBe(happens ? 2 : 1)
  expect(await reopenedLog(storage)).toBe(happens ? 2 : 1)
})

test.each([true, false])('the process goes at a call that has happened or not (%s)', async (happens) => {
  const { storage, store } = await faulty({ kind: 'gone', happens })
  const gone = new Promise<string>((resolve) => (storage.onGone = () => resolve('gone')))
  expect(await Promise.race([store.append(someRecord(2), 'relaxed'), gone])).toBe('gone')
  const later = Promise.resolve('nothing')
  expect(await Promise.race([store.read(), later])).toBe('nothing')
  expect(await reopenedLog(storage)).toBe(happens ? 2 : 1)
})

test('a loss of power takes back what was not durable, and nothing else', async () => {
  for (const [random, survivors] of [
    [0, 3],
    [0.5, 4],
    [0.999, 5],
  ] as const) {
    const storage = new SimulatedStorage({ random: () => random })
    const store = await storage.open('database')
    await appendRange(store, 1, 2)
    await store.append(someRecord(3), 'strict')
    await appendRange(store, 4, 5)
    storage.losePower()
    expect(await reopenedLog(storage)).toBe(survivors)
  }
})

test('a connection closed underneath stays closed, the next one works', async () => {
  const { storage, store } = await faulty({ kind: 'closed' })
  expect(() => store.append(someRecord(2), 'relaxed')).toThrow(expect.objectContaining({ code: 'PANNIER_CLOSED' }))
  expect(() => store.read()).toThrow(expect.objectContaining({ code: 'PANNIER_CLOSED' }))
  expect(await reopenedLog(storage)).toBe(1)
})

test('beyond the quota writes fail whole', async () => {
  const storage = new SimulatedStorage()
  storage.quotaBytes = 1000
  const store = await storage.open('database')
  const commit = someCommit(1, 0, { pages: [somePage(1, 600), somePage(2, 600)] })
  expect(() => store.commit(commit)).toThrow(expect.objectContaining({ code: 'PANNIER_QUOTA_EXCEEDED' }))
  expect(await store.listPages()).toEqual([])
  await store.append(someRecord(1), 'relaxed')
})

test('a caller that breaks the contract hears of it', async () => {
  const store = await new SimulatedStorage().open('database')
  await store.commit(someCommit(1, 0, { pages: [somePage(1), somePage(2)] }))
  expect(() => store.commit(someCommit(2, 0, { pages: [somePage(2)] }))).toThrow(AssertionError)
  expect(() => store.readPages(pageIds(1, 1))).toThrow(AssertionError)
  expect(() => store.readPages([])).toThrow(AssertionError)
})

test('calls and bytes are counted', async () => {
  const storage = counting(memory())
  const store = await storage.open('database')
  await appendRange(store, 1, 3)
  await store.commit(someCommit(1, 2, { pages: [somePage(1, 70), somePage(2, 30)], free: pageIds(9) }))
  const writes = storage.take()
  expect([writes.appends, writes.commits, writes.pagesWritten, writes.pagesFreed]).toEqual([3, 1, 2, 1])
  expect([writes.bytesWritten, writes.bytesRead, backendWrites(writes)]).toEqual([3 * 50 + 100 + 80, 0, 4])
  await store.read()
  await store.readPages(pageIds(1, 2, 3))
  const reads = storage.take()
  expect([reads.reads, reads.recordsRead, reads.pageBatches, reads.pagesRead]).toEqual([1, 1, 1, 3])
  expect([reads.bytesRead, reads.bytesWritten, backendCalls(reads)]).toEqual([50 + 80 + 100, 0, 2])
})
