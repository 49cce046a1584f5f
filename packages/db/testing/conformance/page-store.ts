/**
 * What every page store has to do: each sentence of src/storage/page-store.ts as a test.
 *
 * `create` gives a storage and the name of a database in it that does not exist yet. The cases close their handles and
 * destroy the database.
 */
import type { CommitSequence, Generation, PageId } from '../../src/base/brand.ts'
import { assertEqual, assertTrue } from '../check.ts'
import { pageStoreCommitSuite } from './page-store-commit.ts'
import { pageStoreKeyringSuite } from './page-store-keyring.ts'
import type { PageStoreSuiteContext } from './page-store-fixture.ts'
import {
  appendRange,
  assertRefused,
  metaAndLog,
  pageIds,
  shuffled,
  someBytes,
  someCommit,
  someMeta,
  somePage,
  someRecord,
  withStore,
} from './page-store-fixture.ts'

/** The conformance suite of page stores: registers one test for each promise of the contract. */
export function pageStoreSuite(context: PageStoreSuiteContext): void {
  lifeCases(context)
  logCases(context)
  pageCases(context)
  pageStoreCommitSuite(context)
  if (context.seals !== true) pageStoreKeyringSuite(context)
}

function lifeCases({ test, create }: PageStoreSuiteContext): void {
  test('a new database is empty', () =>
    withStore(create, async (store) => {
      assertEqual(await metaAndLog(store), { meta: undefined, log: [] })
      assertEqual(await store.listPages(), [])
      assertEqual(await store.readPages(pageIds(1)), [undefined])
      const used = await store.usedBytes()
      assertTrue(used === undefined || used >= 0, 'usedBytes is a size or undefined')
    }))

  test('what was written is there after closing and opening again', () =>
    withStore(create, async (store, { open }) => {
      await appendRange(store, 1, 3)
      await store.commit(someCommit(1, 2, { pages: [somePage(1), somePage(2)] }))
      await store.close()
      const again = await open()
      assertEqual(await metaAndLog(again), { meta: someMeta(1, 2), log: [someRecord(3)] })
      assertEqual(await again.readPages(pageIds(2, 1)), [somePage(2).bytes, somePage(1).bytes])
      await again.append(someRecord(4), 'strict')
    }))

  test('close is idempotent, and later calls fail', () =>
    withStore(create, async (store, { open }) => {
      const other = await open()
      await store.close()
      await store.close()
      await assertRefused('PANNIER_CLOSED', () => store.read())
      await assertRefused('PANNIER_CLOSED', () => store.readPages(pageIds(1)))
      await assertRefused('PANNIER_CLOSED', () => store.append(someRecord(1), 'relaxed'))
      await assertRefused('PANNIER_CLOSED', () => store.claim('a', 0 as Generation, 1 as PageId))
      await assertRefused('PANNIER_CLOSED', () => store.stage('a', [somePage(1)]))
      await assertRefused('PANNIER_CLOSED', () => store.commit(someCommit(1, 0)))
      await assertRefused('PANNIER_CLOSED', () => store.listPages())
      await assertRefused('PANNIER_CLOSED', () => store.usedBytes())
      await other.append(someRecord(1), 'relaxed')
      assertEqual((await other.read()).log, [someRecord(1)], 'the other handle goes on')
    }))

  test('destroy deletes everything and closes all stores that have it open', () =>
    withStore(create, async (store, { storage, name, open }) => {
      await appendRange(store, 1, 2)
      await store.commit(someCommit(1, 1, { pages: [somePage(1)] }))
      await storage.destroy(name)
      await assertRefused('PANNIER_CLOSED', () => store.read())
      await assertRefused('PANNIER_CLOSED', () => store.append(someRecord(3), 'relaxed'))
      const again = await open()
      assertEqual(await metaAndLog(again), { meta: undefined, log: [] })
      assertEqual(await again.listPages(), [])
      await assertRefused('PANNIER_CLOSED', () => store.append(someRecord(1), 'relaxed'))
    }))

  test('has is true for a database that holds something, else false, and undefined where the storage can not know', () =>
    withStore(create, async (store, { storage, name }) => {
      await appendRange(store, 1, 1)
      const has = await storage.has(name)
      assertTrue(has !== false, 'it is there')
      // Twice: nothing was made to find out.
      for (let times = 0; times < 2; times++)
        assertEqual(await storage.has(`${name}-2`), has === undefined ? undefined : false)
    }))

  test('destroying what does not exist is fine', async () => {
    const { storage, name } = await create()
    await storage.destroy(name)
    await storage.destroy(name)
  })

  test('identify tells databases apart, and they share nothing', () =>
    withStore(create, async (store, { storage, name }) => {
      assertEqual(storage.identify(name), storage.identify(name))
      assertTrue(storage.identify(name) !== storage.identify(`${name}-2`), 'another name is another database')
      await appendRange(store, 1, 1)
      const other = await storage.open(`${name}-2`)
      try {
        assertEqual((await other.read()).log, [])
      } finally {
        await other.close()
        await storage.destroy(`${name}-2`)
      }
    }))
}

function logCases({ test, create }: PageStoreSuiteContext): void {
  test('appended records are read in order, by every handle', () =>
    withStore(create, async (store, { open }) => {
      await store.append(someRecord(1), 'relaxed')
      await store.append(someRecord(2), 'strict')
      await store.append(someRecord(3), 'relaxed')
      const expected = { meta: undefined, log: [someRecord(1), someRecord(2), someRecord(3)] }
      assertEqual(await metaAndLog(store), expected)
      assertEqual(await metaAndLog(await open()), expected)
    }))

  test('append refuses a gap and a repetition, and leaves the log as it was', () =>
    withStore(create, async (store) => {
      await assertRefused('PANNIER_STALE', () => store.append(someRecord(2), 'relaxed'))
      await appendRange(store, 1, 2)
      for (const wrong of [1, 2, 4, 10]) {
        await assertRefused('PANNIER_STALE', () => store.append(someRecord(wrong, 20), 'relaxed'))
      }
      assertEqual((await store.read()).log, [someRecord(1), someRecord(2)])
      await appendRange(store, 3, 3)
    }))

  test('append fences a handle whose view is stale', () =>
    withStore(create, async (first, { open }) => {
      const second = await open()
      await first.append(someRecord(1), 'relaxed')
      await assertRefused('PANNIER_STALE', () => second.append(someRecord(1, 20), 'relaxed'))
      await second.append(someRecord(2), 'relaxed')
      await assertRefused('PANNIER_STALE', () => first.append(someRecord(2, 20), 'relaxed'))
      assertEqual((await first.read()).log, [someRecord(1), someRecord(2)])
    }))

  test('handles that slept while the log was truncated are fenced, whatever each of them tries', () =>
    withStore(create, async (store, { open }) => {
      const [first, second] = [await open(), await open()]
      await first.read()
      await second.read()
      await first.append(someRecord(1), 'relaxed')
      await second.append(someRecord(2), 'relaxed')
      await store.read()
      await appendRange(store, 3, 7)
      await store.commit(someCommit(1, 6))
      for (let attempt = 0; attempt < 2; attempt++) {
        await assertRefused('PANNIER_STALE', () => first.append(someRecord(2, 20), 'relaxed'))
        await assertRefused('PANNIER_STALE', () => second.append(someRecord(3, 20), 'relaxed'))
        await assertRefused('PANNIER_STALE', () => first.append(someRecord(4, 20), 'relaxed'))
      }
      assertEqual(await metaAndLog(first), { meta: someMeta(1, 6), log: [someRecord(7)] })
      await first.append(someRecord(8), 'relaxed')
      await assertRefused('PANNIER_STALE', () => store.append(someRecord(8, 20), 'relaxed'))
      await store.commit(someCommit(2, 8))
      await second.append(someRecord(9), 'relaxed')
      assertEqual(await metaAndLog(store), { meta: someMeta(2, 8), log: [someRecord(9)] })
    }))

  test('of two appends of one sequence at the same time exactly one succeeds', () =>
    withStore(create, async (first, { open }) => {
      const second = await open()
      for (let sequence = 1; sequence <= 10; sequence++) {
        const outcomes = await Promise.allSettled(
          [first, second].map(async (store) => store.append(someRecord(sequence), 'relaxed')),
        )
        assertEqual(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1)
      }
      assertEqual((await first.read()).log.length, 10)
    }))

  test('read gives a handle that knows something only the news', () =>
    withStore(create, async (store) => {
      await appendRange(store, 1, 5)
      const knownAt = (generation: number, sequence: number) =>
        metaAndLog(store, { generation: generation as Generation, sequence: sequence as CommitSequence })
      assertEqual((await knownAt(0, 3)).log, [someRecord(4), someRecord(5)])
      assertEqual((await knownAt(0, 5)).log, [])
      await store.commit(someCommit(1, 2))
      assertEqual(await knownAt(1, 4), { meta: someMeta(1, 2), log: [someRecord(5)] })
      assertEqual(await knownAt(1, 5), { meta: someMeta(1, 2), log: [] })
      const all = { meta: someMeta(1, 2), log: [someRecord(3), someRecord(4), someRecord(5)] }
      assertEqual(await knownAt(0, 4), all, 'what was known of an earlier generation does not count')
    }))

  test('records may be large or empty', () =>
    withStore(create, async (store) => {
      const records = [someRecord(1, 0), someRecord(2, 3 << 20), someRecord(3, 1)]
      for (const record of records) await store.append(record, 'relaxed')
      assertEqual((await store.read()).log, records)
    }))
}

function pageCases({ test, create }: PageStoreSuiteContext): void {
  test('bytes are exactly those of the view that was handed in, and are not kept', () =>
    withStore(create, async (store) => {
      const buffer = someBytes(1, 300)
      const bytes = buffer.subarray(50, 150)
      await store.append({ sequence: 1 as CommitSequence, bytes }, 'relaxed')
      const meta = { ...someMeta(1, 1), bytes: bytes.subarray(20) }
      await store.commit(someCommit(1, 1, { pages: [{ id: 1 as PageId, bytes: bytes.subarray(10) }], meta }))
      await store.append({ sequence: 2 as CommitSequence, bytes }, 'relaxed')
      const expected = someBytes(1, 300)
      buffer.fill(0)
      const state = await store.read()
      assertEqual(state.log[0]!.bytes, expected.slice(50, 150))
      assertEqual(state.meta!.bytes, expected.slice(70, 150))
      assertEqual(await store.readPages(pageIds(1)), [expected.slice(60, 150)])
    }))

  test('bytes handed out belong to the caller', () =>
    withStore(create, async (store) => {
      await appendRange(store, 1, 2)
      await store.commit(someCommit(1, 1, { pages: [somePage(1)] }))
      const state = await store.read()
      state.meta!.bytes.fill(0)
      state.log[0]!.bytes.fill(0)
      ;(await store.readPages(pageIds(1)))[0]!.fill(0)
      assertEqual(await metaAndLog(store), { meta: someMeta(1, 1), log: [someRecord(2)] })
      assertEqual(await store.readPages(pageIds(1)), [somePage(1).bytes])
    }))

  test('pages are read in the order asked for, undefined for a missing one', () =>
    withStore(create, async (store) => {
      const stored = [1, 2, 3, 5, 8, 13, 21, 2 ** 33, Number.MAX_SAFE_INTEGER]
      await store.commit(someCommit(1, 0, { pages: stored.map((id) => somePage(id)) }))
      assertEqual(await store.listPages(), pageIds(...stored))
      const asked = [13, 4, Number.MAX_SAFE_INTEGER, 1, 2 ** 33, 6, 2, 8]
      const expected = asked.map((id) => (stored.includes(id) ? somePage(id).bytes : undefined))
      assertEqual(await store.readPages(pageIds(...asked)), expected)
    }))

  test('any share of many pages is read, scattered or in runs', () =>
    withStore(create, async (store) => {
      const last = 700
      const pages = Array.from({ length: last }, (_, index) => somePage(index + 1, 200))
      await store.commit(someCommit(1, 0, { pages }))
      await store.commit(someCommit(2, 0, { free: pageIds(...shuffled(1, last).slice(0, 50)) }))
      const kept = new Set(await store.listPages())
      const order = shuffled(1, last)
      const requests = [
        order,
        order.slice(0, 400),
        order.slice(0, 150),
        order.slice(0, 30),
        [7],
        runsOf(order.slice(0, 12)),
      ]
      for (const asked of requests) {
        const early: [number, Uint8Array][] = []
        const read = await store.readPages(pageIds(...asked), (index, bytes) => early.push([index, bytes]))
        assertEqual(read.length, asked.length)
        for (const [index, bytes] of early) assertEqual(bytes, read[index], 'what arrives early is what is read')
        asked.forEach((id, index) => {
          assertEqual(read[index], kept.has(id as PageId) ? somePage(id, 200).bytes : undefined, `page ${id}`)
        })
      }
    }))
}

/** Each number and its nine successors, once. */
function runsOf(starts: readonly number[]): number[] {
  return [...new Set(starts.flatMap((start) => Array.from({ length: 10 }, (_, index) => start + index)))]
}
