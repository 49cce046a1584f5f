import { expect, onTestFinished, test } from 'vitest'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { COLUMNS_USE } from '../../src/query/query-source.ts'
import { querySuite } from '../../testing/conformance/query.ts'
import { counting } from '../../testing/counting-page-store.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { QueryFixture } from '../../testing/query-fixture.ts'
import { ofFewSeeds, prefixed } from '../../testing/suite.ts'

querySuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelKeyValueStore({ seed: 7, missChance: 0.4 }),
})

test('explain counts the pages that the query reads', async () => {
  const storage = counting(memory())
  const environment = systemEnvironment()
  const usual = { ...COLUMNS_USE }
  // A column reads pages before the query does.
  Object.assign(COLUMNS_USE, { documentsMin: Infinity })
  onTestFinished(() => void Object.assign(COLUMNS_USE, usual))
  /** With nothing in memory. */
  const opened = async (): Promise<QueryFixture> => {
    const store = await storage.open('explain')
    const coordinator = localCoordinator({ key: 'explain', environment })
    const options = { store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 16 } as const
    return new QueryFixture(await openKeyValueStore(options), ['n'])
  }
  const writer = await opened()
  await writer.upsert(Array.from({ length: 5000 }, (_, n) => ({ _id: `d${n}`, n, text: `${n}`.repeat(40) })))
  await writer.store.checkpoint()
  await writer.store.close()
  for (const selector of [{ text: 'x' }, { n: { $lt: 900 } }, {}]) {
    const [plain, explained] = [await opened(), await opened()]
    storage.take()
    await plain.find(selector).sort('text').toArray()
    const { pagesRead } = storage.take()
    const { actual } = await explained.find(selector).sort('text').explain({ run: true })
    expect(actual!.pages).toBe(pagesRead)
    expect(actual!.pages).toBeGreaterThan(5)
    for (const fixture of [plain, explained]) await fixture.store.close()
  }
})

let databases = 0
querySuite({
  test: prefixed(ofFewSeeds(test, 4), 'pages'),
  create: async () => {
    const key = `query test ${++databases}`
    const environment = systemEnvironment()
    const store = await memory().open(key)
    const coordinator = localCoordinator({ key, environment })
    return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 20 })
  },
})

test('a negated condition on elements holds for documents that no element of meets it', async () => {
  const fixture = new QueryFixture(modelKeyValueStore({ seed: 1 }), ['a'])
  await fixture.upsert([[1], [6], [7], [1, 8], 'none'].map((a, at) => ({ _id: `d${at}`, a })))
  const found = await fixture.find({ a: { $not: { $elemMatch: { $gt: 5, $mod: [2, 0] } } } }).toArray()
  expect(found.map(({ _id }) => _id).toSorted()).toEqual(['d0', 'd2', 'd4'])
})
