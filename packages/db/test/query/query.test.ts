import { expect, test } from 'vitest'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { querySuite } from '../../testing/conformance/query.ts'
import { counting } from '../../testing/counting-page-store.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { QueryFixture } from '../../testing/query-fixture.ts'
import { prefixed } from '../../testing/suite.ts'

querySuite({ test: prefixed(test, 'model'), create: async () => modelKeyValueStore() })
querySuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelKeyValueStore({ seed: 7, missChance: 0.4 }),
})

test('explain counts the pages that are read', async () => {
  const storage = counting(memory())
  const environment = systemEnvironment()
  const coordinator = localCoordinator({ key: 'explain', environment })
  const store = await storage.open('explain')
  const options = { store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 16 } as const
  const fixture = new QueryFixture(await openKeyValueStore(options), ['n'])
  await fixture.upsert(Array.from({ length: 5000 }, (_, n) => ({ _id: `d${n}`, n, text: `${n}`.repeat(40) })))
  await fixture.store.checkpoint()
  for (const query of [fixture.find({ text: 'x' }), fixture.find({ n: { $lt: 900 } }), fixture.find({}).sort('text')]) {
    await fixture.find({ n: 4000 }).toArray()
    storage.take()
    const { actual } = await query.explain({ run: true })
    expect(actual!.pages).toBe(storage.take().pagesRead)
    expect(actual!.pages).toBeGreaterThan(5)
  }
  await fixture.store.close()
})

let databases = 0
querySuite({
  test: prefixed(test, 'pages'),
  create: async () => {
    const key = `query test ${++databases}`
    const environment = systemEnvironment()
    const store = await memory().open(key)
    const coordinator = localCoordinator({ key, environment })
    return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 20 })
  },
})
