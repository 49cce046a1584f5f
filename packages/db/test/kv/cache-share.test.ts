/** Goal: databases without a bound of their own share the memory for pages, and give their part back as soon as another one is opened. */
import { expect, test } from 'vitest'
import type { Key } from '../../src/base/brand.ts'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { counting } from '../../testing/counting-page-store.ts'

const MEMORY_BYTES = 1_000_000
const ENTRIES = 800

const environment = systemEnvironment()
const storage = counting(memory())
const keys = Array.from({ length: ENTRIES }, (_, n) => `key ${n}` as Key)

/** Databases that other files of this process have left open. */
let others: number | undefined

async function openShared(name: string): Promise<PagedKeyValueStore> {
  const coordinator = localCoordinator({ key: storage.identify(name), environment })
  const store = await storage.open(name)
  const cacheBytesMax = (databases: number): number => MEMORY_BYTES / (databases - (others ??= databases - 1))
  return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax })
}

/** The pages that reading everything takes from the store. */
async function pagesRead(kv: PagedKeyValueStore): Promise<number> {
  storage.take()
  for (const key of keys) await kv.read((snapshot) => snapshot.tree('things')!.get(key))
  return storage.take().pagesRead
}

test('a database has all of the memory while it is alone, and half of it beside another one', async () => {
  const one = await openShared('one')
  await one.write((tx) => {
    const tree = tx.createTree('things', 'ordered')
    for (const key of keys) tree.put(key, new Uint8Array(MEMORY_BYTES / 1000))
  })
  await one.checkpoint()
  await pagesRead(one)
  expect(await pagesRead(one)).toBe(0)
  const two = await openShared('two')
  expect(await pagesRead(one)).toBeGreaterThan(0)
  const again = await openShared('two')
  await again.close()
  await two.close()
  await pagesRead(one)
  expect(await pagesRead(one)).toBe(0)
  await one.close()
})
