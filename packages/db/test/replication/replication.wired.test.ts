/** The suite of replication, over memory; in browsers it runs over IndexedDB. */
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { replicationSuite } from '../../testing/conformance/replication.ts'
import { couchFetch } from '../../testing/couch-fetch.ts'
import { eventually } from '../../testing/suite.ts'
import { SwitchedNetwork } from '../../testing/switched-network.ts'

replicationSuite({ test, create: () => open('x', { storage: memory() }) })

test('closing the database ends a live replication as cancel() does, with its replication checkpoint', async () => {
  const here = await open('here', { storage: memory() })
  const there = await open('there', { storage: memory() })
  await here.collection('docs').insert({ _id: 'a' })
  const push = here.collection('docs').replicate({ to: there.collection('docs'), live: true })
  await eventually(() => push.status === 'paused')
  await here.close()
  expect(await push).toMatchObject({ status: 'cancelled', docsWritten: 1 })
  expect(await there.collection('docs').local.list()).toHaveLength(1)
  await there.close()
})

test('a target that another handle drops before the first replication checkpoint has everything in the end', async () => {
  const storage = memory()
  const [here, other] = [await open('here', { storage }), await open('here', { storage })]
  const there = await open('there', { storage: memory() })
  const ids = Array.from({ length: 60 }, (_, n) => `d${n + 10}`)
  await there.collection('docs').insert(ids.map((_id) => ({ _id })))
  const pull = here.collection('docs').replicate({ from: there.collection('docs'), batchSize: 1 })
  let dropped: Promise<boolean> | undefined
  pull.subscribe(() => {
    if (pull.progress.docsWritten >= 10) dropped ??= other.dropCollection('docs')
  })
  expect(await pull).toMatchObject({ status: 'complete' })
  expect(await dropped).toBe(true)
  expect((await here.collection('docs').list().toArray()).map(({ id }) => id)).toEqual(ids)
  for (const db of [here, other, there]) await db.close()
})

test('a live replication continues when another handle drops its collection, in both directions', async () => {
  const storage = memory()
  const [here, other] = [await open('here', { storage }), await open('here', { storage })]
  const there = await open('there', { storage: memory() })
  await there.collection('docs').insert({ _id: 'a' })
  const sync = here.collection('docs').sync(there.collection('docs'), { live: true, backOff: () => 1 })
  const ids = async (of: typeof here): Promise<string[]> =>
    (await of.collection('docs').list().toArray()).map(({ id }) => id)
  await eventually(() => sync.status === 'paused')
  await other.dropCollection('docs')
  await other.collection('docs').insert({ _id: 'b' })
  for (const db of [there, here]) await eventually(async () => (await ids(db)).join() === 'a,b')
  sync.cancel()
  expect(await sync).toMatchObject({ status: 'cancelled' })
  for (const db of [here, other, there]) await db.close()
})

test('a listener may count what is unsent when close() ends the replication', async () => {
  const there = await open('there', { storage: memory() })
  const here = await open('here', { storage: memory() })
  await here.collection('docs').insert([{ _id: 'a' }, { _id: 'b' }])
  const network = new SwitchedNetwork(false)
  const options = { live: true, fetch: couchFetch(there), network }
  const sync = here.collection('docs').sync('https://couch.test/docs', options)
  const counts: Promise<number>[] = []
  sync.subscribe(() => counts.push(sync.unsent()))
  await eventually(() => sync.status === 'offline')
  const before = counts.length
  const asked = sync.unsent()
  const closing = here.close()
  counts.push(asked, sync.unsent())
  await closing
  expect(counts.length).toBeGreaterThan(before + 2)
  expect(await Promise.all(counts)).toEqual(counts.map(() => 2))
  await expect(sync.unsent()).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  expect(await sync).toMatchObject({ status: 'cancelled' })
  await there.close()
})
