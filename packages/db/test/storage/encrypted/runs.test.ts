/** Goal: every page finds the epoch that it was sealed with, over many hands, and their list does not grow without end. */
import { expect, test } from 'vitest'
import type { PageId } from '../../../src/base/brand.ts'
import { cryptoPlatform } from '../../../src/database/encryption/node-platform.ts'
import { EncryptedPageStore } from '../../../src/storage/encrypted/encrypted-page-store.ts'
import {
  decodeMetaContent,
  encodeMetaContent,
  epochOf,
  isPruningDue,
  NO_RUNS,
  pruned,
  withRun,
} from '../../../src/storage/encrypted/sealed-content.ts'
import { Vault } from '../../../src/storage/encrypted/vault.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import type { Page } from '../../../src/storage/page-store.ts'
import { pageIds, someCommit, somePage } from '../../../testing/conformance/page-store-fixture.ts'
import { seededRandom } from '../../../testing/random.ts'
import { deviceKey } from './fixture.ts'

const epoch = (number: number): Uint8Array => new Uint8Array(8).fill(number)
const run = (first: number, number: number): Parameters<typeof withRun>[1] => ({
  first: first as PageId,
  epoch: epoch(number),
})

/** What is sealed with a meta record, beside the runs. */
const META = {
  bytes: new Uint8Array([1, 2, 3]),
  link: { nonce: new Uint8Array(12).fill(4), token: new Uint8Array(16).fill(5) },
  revision: 6,
}

test('an epoch counts from its first page to the next run; what came before the first has none', () => {
  const runs = [run(5, 1), run(9, 2), run(9, 3), run(12, 3), run(300, 4)].reduce(withRun, NO_RUNS)
  const found = pageIds(1, 4, 5, 8, 9, 13, 299, 300, 1e9).map((id) => epochOf(runs, id)?.[0])
  expect(found).toEqual([undefined, undefined, 1, 1, 3, 3, 3, 4, 4])
  expect(runs.all.length).toBe(3)
  expect(decodeMetaContent(encodeMetaContent({ ...META, runs }), 2)).toEqual({ ...META, runs })
  expect(pruned(runs, pageIds(2, 8, 300))).toEqual({ all: [run(5, 1), run(300, 4)], kept: 2 })
  expect(pruned(runs, [])).toEqual(NO_RUNS)
})

test('many hands: every page that is left is read, and runs without a page go', async () => {
  const random = seededRandom(5)
  const storage = memory()
  const openOne = async (): Promise<EncryptedPageStore> =>
    new EncryptedPageStore(await storage.open('x'), new Vault(cryptoPlatform(), { key: deviceKey }))
  const stores = [await openOne(), await openOne(), await openOne()]
  const pages = new Map<PageId, Page>()
  let next = 1
  let most = 0
  let generation = 0
  for (; generation < 600; generation++) {
    const writer = random.pick(stores)
    await writer.read()
    const own = Array.from({ length: random.below(3) }, (_, at) => somePage(next + at))
    const free = [...pages.keys()].filter(() => random.chance(0.15))
    for (const id of free) pages.delete(id)
    await writer.commit(someCommit(generation + 1, 0, { pages: own, free, firstNewPageId: next as PageId }))
    for (const page of own) pages.set(page.id, page)
    next += own.length
    const { meta } = await stores[0]!.inner.read()
    most = Math.max(most, meta!.bytes.length)
    const reader = random.pick(stores)
    await reader.read()
    const ids = [...pages.keys()]
    if (ids.length > 0) expect(await reader.readPages(ids)).toEqual(ids.map((id) => pages.get(id)!.bytes))
  }
  // Some ten pages are there at a time. Without pruning there would be 400 runs.
  expect(most).toBeLessThan(1500)
  const fresh = await openOne()
  await fresh.read()
  expect(await fresh.readPages([...pages.keys()])).toEqual([...pages.values()].map(({ bytes }) => bytes))
  expect(isPruningDue({ all: [], kept: 0 })).toBe(false)
})
