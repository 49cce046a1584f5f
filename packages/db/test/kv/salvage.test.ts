/** Goal: behind a commit that is lost, later ones are laid over what there was: what they remove is gone, what they put is there. */
import { expect, test } from 'vitest'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import type { Key } from '../../src/base/brand.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { Salvage } from '../../src/kv/salvage.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { PageStore, StoreState } from '../../src/storage/page-store.ts'
import { soloCoordinator } from './solo-coordinator.ts'

const environment = systemEnvironment()
const KEPT = 'kept' as Key
const REMOVED = 'removed' as Key
const LOST = 'lost' as Key

test('a later commit removes what an earlier one has put', async () => {
  const pages = await memory().open('damaged')
  const kv = await openKeyValueStore({
    store: pages,
    coordinator: soloCoordinator(),
    environment,
    durability: 'relaxed',
    cacheBytesMax: 1_000_000,
  })
  const value = new Uint8Array([1])
  await kv.write((tx) => tx.createTree('t', 'ordered').put(KEPT, value))
  await kv.write((tx) => tx.tree('t')!.put(LOST, value))
  await kv.write((tx) => tx.tree('t')!.put(REMOVED, value))
  await kv.write((tx) => tx.tree('t')!.remove(REMOVED))
  await kv.write((tx) => tx.tree('t')!.remove(LOST))

  const { log } = await pages.read()
  expect(log).toHaveLength(5)
  log[1]!.bytes[log[1]!.bytes.length - 1]! ^= 1
  const store: PageStore = Object.assign(Object.create(pages) as PageStore, {
    read: async (): Promise<StoreState> => ({ ...(await pages.read()), log }),
  })
  const salvage = await Salvage.open(store, environment)
  expect(salvage.damage).toMatchObject({ code: 'PANNIER_CORRUPT' })
  const seen: (readonly boolean[])[] = []
  for await (const { snapshot } of salvage.later())
    seen.push(
      await snapshot.attempt(() => [KEPT, LOST, REMOVED].map((key) => snapshot.tree('t')!.get(key) !== undefined)),
    )
  expect(seen).toEqual([
    [true, false, true],
    [true, false, false],
    [true, false, false],
  ])
  expect(salvage.lostCommits).toBe(1)
  await kv.close()
})
