/** The suite of replication, over memory; in browsers it runs over IndexedDB. */
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { replicationSuite } from '../../testing/conformance/replication.ts'
import { eventually } from '../../testing/suite.ts'

replicationSuite({ test, create: () => open('x', { storage: memory() }) })

test('closing the database ends a live replication as cancel() does, with its checkpoint', async () => {
  const here = await open('here', { storage: memory() })
  const there = await open('there', { storage: memory() })
  await here.collection('docs').insert({ _id: 'a' })
  const push = here.collection('docs').replicate.to(there.collection('docs'), { live: true })
  await eventually(() => push.status === 'paused')
  await here.close()
  expect(await push).toMatchObject({ status: 'cancelled', docsWritten: 1 })
  expect(await there.collection('docs').local.list()).toHaveLength(1)
  await there.close()
})
