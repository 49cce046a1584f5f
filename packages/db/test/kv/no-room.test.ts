/** Goal: a write that would go straight to pages goes to the log when there is no room for pages but for a record. */
import { expect, test } from 'vitest'
import { PannierError } from '../../src/base/errors.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { numberKey } from '../../src/codec/key-encoding.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { PageStore } from '../../src/storage/page-store.ts'
import { soloCoordinator } from './solo-coordinator.ts'

const ENTRIES = 2000

test('many deletions in a full store', async () => {
  const pages = await memory().open('full')
  let full = false
  let records = 0
  const store: PageStore = Object.assign(Object.create(pages) as PageStore, {
    commit: (commit) => {
      if (full) throw new PannierError('PANNIER_QUOTA_EXCEEDED', 'There is no room left.')
      return pages.commit(commit)
    },
    append: (record, durability) => {
      records++
      return pages.append(record, durability)
    },
  } satisfies Partial<PageStore>)
  const kv = await openKeyValueStore({
    store,
    coordinator: soloCoordinator(),
    environment: systemEnvironment(),
    durability: 'relaxed',
    cacheBytesMax: 10_000_000,
  })
  await kv.write((tx) => {
    const bodies = tx.createTree('bodies', 'sequence')
    for (let n = 0; n < ENTRIES; n++) bodies.append(new Uint8Array(500))
  })
  expect(records).toBe(0)
  full = true
  await kv.write((tx) => {
    const bodies = tx.tree('bodies')!
    for (let n = 1; n <= ENTRIES - 5; n++) bodies.remove(numberKey(n), 500)
    for (let n = 0; n < 40; n++) bodies.append(new Uint8Array(500))
  })
  expect(records).toBe(1)
  await expect(kv.write((tx) => tx.tree('bodies')!.append(new Uint8Array(3_000_000)))).rejects.toMatchObject({
    code: 'PANNIER_QUOTA_EXCEEDED',
  })
  expect(await kv.read((snapshot) => snapshot.tree('bodies')!.count())).toBe(45)
  full = false
  await kv.checkpoint()
  await kv.check()
  await kv.close()
})
