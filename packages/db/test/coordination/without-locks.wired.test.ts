/** Goal: tabs of an origin without Web Locks (a page that is not secure) see each other's commits. Each has a lease of its own there. */
import { expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { until } from '../../../server/test/test-server.ts'

const ROWS = 20
let tabs = 0

/** The storage as another page sees it: with the lease of that page, and the channel of all. */
function inAnotherTab(storage: DatabaseStorage): DatabaseStorage {
  const tab = ++tabs
  return {
    kind: storage.kind,
    scope: storage.scope,
    identify: (name) => storage.identify(name),
    has: (name) => storage.has(name),
    open: (name) => storage.open(name),
    destroy: (name) => storage.destroy(name),
    coordinator: (name, environment) =>
      localCoordinator({ key: `${tab}:${name}`, environment, channel: `plain:${name}` }),
  }
}

function openTabs(count: number): Promise<Database[]> {
  const storage = memory()
  return Promise.all(Array.from({ length: count }, () => open('tabs', { storage: inAnotherTab(storage) })))
}

test('what one tab writes is seen by the live queries, counts and reads of the others, without refresh()', async () => {
  const [first, second, third] = await openTabs(3)
  const live = first!.collection('c').find().live()
  await live.ready
  for (let i = 0; i < ROWS; i++) await second!.collection('c').insert({ i })
  await until(() => live.value?.length === ROWS)
  await until(async () => (await third!.collection('c').find().count()) === ROWS)
  await third!.collection('c').insert({ i: ROWS })
  await until(() => live.value?.length === ROWS + 1)
  for (const db of [first!, second!, third!]) await db.close()
})

test('tabs that write at once lose nothing, and all see the same', async () => {
  const dbs = await openTabs(3)
  await Promise.all(
    dbs.map(async (db, tab) => {
      for (let i = 0; i < ROWS; i++) await db.collection('c').insert({ tab, i })
    }),
  )
  for (const db of dbs) await until(async () => (await db.collection('c').find().count()) === 3 * ROWS)
  expect((await dbs[0]!.check()).problems).toEqual([])
  for (const db of dbs) await db.close()
})
