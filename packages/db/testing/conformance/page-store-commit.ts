/** The part of the page store's conformance suite that is about commits, claims and staged pages. */
import type { Generation, PageId } from '../../src/base/brand.ts'
import type { Page, PageStore } from '../../src/storage/page-store.ts'
import { PAGE_BYTES_MAX } from '../../src/storage/page-store.ts'
import { assertEqual, assertRejects } from '../check.ts'
import {
  appendRange,
  assertRefused,
  metaAndLog,
  pageIds,
  shuffled,
  someCommit,
  someMeta,
  somePage,
  someRecord,
  withStore,
} from './page-store-fixture.ts'
import type { PageStoreSuiteContext } from './page-store-fixture.ts'

export function pageStoreCommitSuite(context: PageStoreSuiteContext): void {
  commitCases(context)
  atomicityCases(context)
  claimCases(context)
}

/** Everything that can be read of a store. */
async function contents(store: PageStore): Promise<unknown> {
  const ids = await store.listPages()
  const state = await store.read()
  return { state, ids, bytes: ids.length === 0 ? [] : await store.readPages(ids) }
}

/** Fails unless the call is refused and leaves everything as it was. */
async function assertUnchanged(store: PageStore, code: string, call: () => unknown): Promise<void> {
  const before = await contents(store)
  await assertRefused(code, call)
  assertEqual(await contents(store), before, 'nothing has changed')
}

function claim(store: PageStore, token: string, generation: number, firstNewPageId: number): unknown {
  return store.claim(token, generation as Generation, firstNewPageId as PageId)
}

function commitCases({ test, create }: PageStoreSuiteContext): void {
  test('commit replaces the meta record and truncates the log up to its newest record', () =>
    withStore(create, async (store) => {
      await appendRange(store, 1, 4)
      await store.commit(someCommit(1, 4))
      assertEqual(await metaAndLog(store), { meta: someMeta(1, 4), log: [] })
      await assertRefused('PANNIER_STALE', () => store.append(someRecord(1), 'relaxed'))
      await assertRefused('PANNIER_STALE', () => store.append(someRecord(4), 'relaxed'))
      await assertRefused('PANNIER_STALE', () => store.append(someRecord(6), 'relaxed'))
      await store.append(someRecord(5), 'relaxed')
      await store.commit(someCommit(2, 5, { durability: 'strict' }))
      assertEqual(await metaAndLog(store), { meta: someMeta(2, 5), log: [] })
      await store.append(someRecord(6), 'relaxed')
      assertEqual((await store.read()).log, [someRecord(6)])
    }))

  test('records after the sequence of the meta record stay', () =>
    withStore(create, async (store) => {
      await appendRange(store, 1, 6)
      await store.commit(someCommit(1, 3))
      assertEqual(
        (await store.read()).log,
        [4, 5, 6].map((sequence) => someRecord(sequence)),
      )
      await appendRange(store, 7, 7)
      await store.commit(someCommit(2, 3, { pages: [somePage(1)] }))
      assertEqual(
        (await store.read()).log,
        [4, 5, 6, 7].map((sequence) => someRecord(sequence)),
      )
    }))

  test('commit frees pages and ignores ids that do not exist', () =>
    withStore(create, async (store) => {
      const pages = Array.from({ length: 40 }, (_, index) => somePage(index + 1))
      await store.commit(someCommit(1, 0, { pages }))
      const free = pageIds(30, 2, 4, 3, 100, 31, 32, 17, 101)
      await store.commit(someCommit(2, 0, { free, pages: [somePage(41)] }))
      const kept = [...pages.map((page) => page.id), 41 as PageId].filter((id) => !free.includes(id))
      assertEqual(await store.listPages(), kept)
      assertEqual(await store.readPages(pageIds(3, 41)), [undefined, somePage(41).bytes])
    }))

  test('pages, records and the meta record may be large', () =>
    withStore(create, async (store) => {
      const page = somePage(1, PAGE_BYTES_MAX)
      const meta = { ...someMeta(1, 1), bytes: somePage(9, 300_000).bytes }
      await store.commit(someCommit(1, 1, { pages: [page, somePage(2, 0)], meta, record: someRecord(1, 100_000) }))
      assertEqual(await metaAndLog(store), { meta, log: [] })
      assertEqual(await store.readPages(pageIds(1, 2)), [page.bytes, new Uint8Array(0)])
    }))

  test('a commit may bring many pages, pulled one by one', () =>
    withStore(create, async (store) => {
      const count = 500
      function* pages(): Generator<Page> {
        for (const id of shuffled(1, count)) yield somePage(id, 20_000)
      }
      await store.commit(someCommit(1, 0, { pages: pages(), firstNewPageId: 1 as PageId }))
      assertEqual((await store.listPages()).length, count)
      assertEqual(await store.readPages(pageIds(count, 77)), [
        somePage(count, 20_000).bytes,
        somePage(77, 20_000).bytes,
      ])
      await store.commit(someCommit(2, 0, { free: pageIds(...shuffled(1, count)) }))
      assertEqual(await store.listPages(), [])
    }))

  test('a commit may carry its log record', () =>
    withStore(create, async (store) => {
      await store.commit(someCommit(1, 1, { record: someRecord(1), pages: [somePage(1)] }))
      assertEqual(await metaAndLog(store), { meta: someMeta(1, 1), log: [] })
      await appendRange(store, 2, 3)
      await store.commit(someCommit(2, 4, { record: someRecord(4) }))
      assertEqual(await metaAndLog(store), { meta: someMeta(2, 4), log: [] })
      await appendRange(store, 5, 5)
      assertEqual((await store.read()).log, [someRecord(5)])
    }))
}

function atomicityCases({ test, create }: PageStoreSuiteContext): void {
  test('a commit on another generation than expected is refused whole', () =>
    withStore(create, async (store, { open }) => {
      const other = await open()
      await appendRange(store, 1, 3)
      await assertUnchanged(store, 'PANNIER_STALE', () => store.commit(someCommit(2, 2, { pages: [somePage(1)] })))
      await store.commit(someCommit(1, 1, { pages: [somePage(1)] }))
      const late = someCommit(1, 4, { pages: [somePage(2)], free: pageIds(1), record: someRecord(4) })
      await assertUnchanged(other, 'PANNIER_STALE', () => other.commit(late))
    }))

  test('a commit whose record is not the next one is refused whole', () =>
    withStore(create, async (store) => {
      await appendRange(store, 1, 2)
      await store.commit(someCommit(1, 1, { pages: [somePage(1)] }))
      for (const sequence of [2, 4]) {
        const record = someRecord(sequence, 20)
        const commit = someCommit(2, sequence, { pages: [somePage(2)], free: pageIds(1), record })
        await assertUnchanged(store, 'PANNIER_STALE', () => store.commit(commit))
      }
    }))

  test('when the pages of a commit throw, nothing of it stays', () =>
    withStore(create, async (store) => {
      await appendRange(store, 1, 2)
      await store.commit(someCommit(1, 1, { pages: [somePage(1)] }))
      const before = await contents(store)
      for (const thrownAt of [2, 3, 150]) {
        function* pages(): Generator<Page> {
          for (let id = 2; id < thrownAt; id++) yield somePage(id)
          throw new RangeError('the page could not be made')
        }
        const commit = someCommit(2, 2, { pages: pages(), free: pageIds(1), firstNewPageId: 2 as PageId })
        await assertRejects((async () => store.commit(commit))(), RangeError)
        assertEqual(await contents(store), before)
      }
      await store.commit(someCommit(2, 2, { pages: [somePage(2)] }))
      await store.append(someRecord(3), 'relaxed')
    }))

  test('of two commits on one generation at the same time exactly one succeeds', () =>
    withStore(create, async (first, { open }) => {
      const stores = [first, await open()]
      for (let generation = 1; generation <= 5; generation++) {
        const commits = stores.map(async (store, index) => {
          const page = somePage(10 * generation + index)
          await store.commit(someCommit(generation, 0, { pages: [page] }))
        })
        const outcomes = await Promise.allSettled(commits)
        assertEqual(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1)
      }
      assertEqual((await first.listPages()).length, 5)
    }))
}

function claimCases({ test, create }: PageStoreSuiteContext): void {
  test('pages are staged, then committed', () =>
    withStore(create, async (store) => {
      await store.commit(someCommit(1, 0, { pages: [somePage(1)] }))
      await claim(store, 'a', 1, 2)
      await store.stage('a', [somePage(2), somePage(3)])
      await store.stage('a', [somePage(4)])
      assertEqual(await store.readPages(pageIds(4, 2)), [somePage(4).bytes, somePage(2).bytes])
      const commit = { claim: 'a', pages: [somePage(5)], free: pageIds(1), firstNewPageId: 2 as PageId }
      await store.commit(someCommit(2, 0, commit))
      assertEqual(await store.listPages(), pageIds(2, 3, 4, 5))
      await assertUnchanged(store, 'PANNIER_STALE', () => store.stage('a', [somePage(6)]))
    }))

  test('without a claim nothing can be staged, nor committed under one', () =>
    withStore(create, async (store) => {
      await assertUnchanged(store, 'PANNIER_STALE', () => store.stage('a', [somePage(1)]))
      const commit = someCommit(1, 0, { claim: 'a', pages: [somePage(1)] })
      await assertUnchanged(store, 'PANNIER_STALE', () => store.commit(commit))
    }))

  test('a later claim takes over, and deletes what the earlier one has staged', () =>
    withStore(create, async (first, { open }) => {
      const second = await open()
      await first.commit(someCommit(1, 0, { pages: [somePage(1), somePage(2)] }))
      await claim(first, 'a', 1, 3)
      await first.stage('a', [somePage(3), somePage(4), somePage(2 ** 40)])
      await claim(second, 'b', 1, 3)
      assertEqual(await second.listPages(), pageIds(1, 2))
      await assertUnchanged(second, 'PANNIER_STALE', () => first.stage('a', [somePage(5)]))
      const late = someCommit(2, 0, { claim: 'a', firstNewPageId: 3 as PageId })
      await assertUnchanged(second, 'PANNIER_STALE', () => first.commit(late))
      await second.stage('b', [somePage(3)])
      await second.commit(someCommit(2, 0, { claim: 'b', firstNewPageId: 3 as PageId }))
      assertEqual(await second.listPages(), pageIds(1, 2, 3))
    }))

  test('a commit without a claim deletes what an abandoned claim has staged, and ends it', () =>
    withStore(create, async (first, { open }) => {
      const second = await open()
      await first.commit(someCommit(1, 0, { pages: [somePage(1)] }))
      await claim(first, 'a', 1, 2)
      await first.stage('a', [somePage(2), somePage(3), somePage(4)])
      await second.commit(someCommit(2, 0, { pages: [somePage(2, 30)] }))
      assertEqual(await second.listPages(), pageIds(1, 2))
      assertEqual(await second.readPages(pageIds(2)), [somePage(2, 30).bytes])
      await assertUnchanged(second, 'PANNIER_STALE', () => first.stage('a', [somePage(5)]))
    }))

  test('a claim on another generation than expected is refused and takes nothing over', () =>
    withStore(create, async (store) => {
      await claim(store, 'a', 0, 1)
      await store.stage('a', [somePage(1)])
      await assertUnchanged(store, 'PANNIER_STALE', () => claim(store, 'b', 1, 1))
      await store.commit(someCommit(1, 0, { claim: 'a', firstNewPageId: 1 as PageId }))
      assertEqual(await store.listPages(), pageIds(1))
      await assertUnchanged(store, 'PANNIER_STALE', () => claim(store, 'b', 0, 1))
    }))

  test('appending works while pages are staged', () =>
    withStore(create, async (store) => {
      await appendRange(store, 1, 2)
      await claim(store, 'a', 0, 1)
      await store.stage('a', [somePage(1)])
      await appendRange(store, 3, 3)
      await store.stage('a', [somePage(2)])
      await store.commit(someCommit(1, 2, { claim: 'a', firstNewPageId: 1 as PageId }))
      assertEqual(await metaAndLog(store), { meta: someMeta(1, 2), log: [someRecord(3)] })
    }))
}
