/** Goal: the contract in memory-level, and what abstract-level databases of any kind have: sublevels, shared databases. */
import { MemoryLevel } from 'memory-level'
import { expect, test } from 'vitest'
import type { DatabaseStorage, PageStore } from '../../src/storage/page-store.ts'
import { level } from '../../src/storage/level/level.ts'
import {
  appendRange,
  assertRefused,
  pageIds,
  someCommit,
  somePage,
  someRecord,
} from '../../testing/conformance/page-store-fixture.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { prefixed } from '../../testing/suite.ts'
import { encrypted } from './encrypted/fixture.ts'
import { SimulatedLevels } from './simulated-level.ts'

pageStoreSuite({
  test: prefixed(test, 'memory-level'),
  create: async () => ({ storage: level(new MemoryLevel()), name: 'shop' }),
})
/** As abstract-level was before version 3. */
function withoutGetSync(): MemoryLevel {
  const place = new MemoryLevel()
  place.supports = Object.assign({ ...place.supports }, { getSync: false })
  return place
}
pageStoreSuite({
  test: prefixed(test, 'without getSync'),
  create: async () => ({ storage: level(withoutGetSync()), name: 'shop' }),
})
pageStoreSuite({
  test: prefixed(test, 'encrypted'),
  create: async () => ({ storage: encrypted(level(new MemoryLevel())), name: 'shop' }),
  seals: true,
})

test('pages are read at once where they can be', async () => {
  for (const [place, now] of [
    [new MemoryLevel(), true],
    [new MemoryLevel().sublevel('one'), true],
    [withoutGetSync(), false],
  ] as const) {
    const store = await level(place).open('shop')
    await store.commit(someCommit(1, 0, { pages: [somePage(1)] }))
    expect(store.readPages(pageIds(1)) instanceof Promise).toBe(!now)
    await store.close()
  }
})

test('databases in one abstract-level database share nothing, whatever their names, and leave it open', async () => {
  const place = new MemoryLevel<string, string>()
  await place.put('theirs', 'kept')
  const storage = level(place)
  const names = ['a', 'a"', '"a"', 'a"b', '', 'ä\u0000', '\ud800', '\ud801', 'theirs']
  const stores = await Promise.all(names.map((name) => storage.open(name)))
  for (const [at, store] of stores.entries()) await appendRange(store, 1, at + 1)
  for (const [at, store] of stores.entries()) expect((await store.read()).log.length).toBe(at + 1)
  for (const store of stores) await store.close()
  for (const name of names) await storage.destroy(name)
  expect(await place.keys().all()).toEqual(['theirs'])
})

test('storages of one abstract-level database, and of equal sublevels, share its databases', async () => {
  const place = new MemoryLevel()
  for (const storages of [
    [level(place), level(place)],
    [level(place.sublevel('one')), level(place.sublevel('one'))],
  ]) {
    const [first, second] = storages as [DatabaseStorage, DatabaseStorage]
    expect(second.identify('x')).toBe(first.identify('x'))
    const [one, other] = [await first.open('x'), await second.open('x')]
    await one.append(someRecord(1), 'relaxed')
    await other.append(someRecord(2), 'relaxed')
    await assertRefused('PANNIER_STALE', () => one.append(someRecord(2), 'relaxed'))
    await one.close()
    expect((await other.read()).log.length).toBe(2)
    await other.close()
  }
  expect(level(place).identify('x')).not.toBe(level(place.sublevel('one')).identify('x'))
})

test('when its abstract-level database is closed underneath, calls say so', async () => {
  const place = new MemoryLevel()
  const store = await level(place).open('shop')
  await store.append(someRecord(1), 'relaxed')
  await place.close()
  await assertRefused('PANNIER_CLOSED', () => store.readPages(pageIds(1)))
  await assertRefused('PANNIER_CLOSED', () => store.append(someRecord(2), 'relaxed'))
  await store.close()
  await expect(level(place).open('shop')).rejects.toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
  await place.open()
  const again = await level(place).open('shop')
  expect((await again.read()).log.length).toBe(1)
  await again.close()
})

test('after a loss of power no strict append is there without the relaxed ones before it', async () => {
  // Each batch is in a file of its own, and all that may be lost is lost.
  const place = new SimulatedLevels({})
  const store = await place.open('shop')
  await appendRange(store, 1, 3)
  await store.append(someRecord(4), 'strict')
  const gone = new Promise<void>((resolve) => (place.onGone = resolve))
  place.failAt(place.calls + 1, { kind: 'power', happens: true })
  void store.read()
  await gone
  const { log } = await (await place.open('shop')).read()
  expect(log).toEqual([1, 2, 3, 4].map((sequence) => someRecord(sequence)))
})

test('an encrypted database whose log seal is where earlier versions had it opens, and gets it where it is now', async () => {
  const place = new MemoryLevel<string, Uint8Array>({ keyEncoding: 'utf8', valueEncoding: 'view' })
  const openOne = (): Promise<PageStore> => encrypted(level(place)).open('shop')
  const first = await openOne()
  await first.read()
  await appendRange(first, 1, 3)
  await first.close()
  const [key] = (await place.keys().all()).filter((one) => one.includes('head/'))
  const former = key!.replace(/head\/.*/, 'head')
  await place.put(former, (await place.get(key!))!)
  await place.del(key!)
  const second = await openOne()
  expect((await second.read()).log).toEqual([1, 2, 3].map((sequence) => someRecord(sequence)))
  await second.append(someRecord(4), 'relaxed')
  await second.close()
  expect(await place.get(former)).toBe(undefined)
  const third = await openOne()
  expect((await third.read()).log.length).toBe(4)
  await third.close()
})
test('memory-level does not tell how many bytes are used', async () => {
  const inMemory = await level(new MemoryLevel()).open('shop')
  expect(await inMemory.usedBytes()).toBe(undefined)
  await inMemory.close()
})
