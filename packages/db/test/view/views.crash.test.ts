/**
 * Goal: whichever backend call fails while a view is built or updated, and however, what is left is a sound view that goes on
 * from where it was: the integrity check holds, and the next query answers as if nothing had happened.
 * Method: a build in several steps and updates of it on the simulated page store, with the fault at calls in turn.
 */
import { expect, test } from 'vitest'
import { registerReducers } from '../../src/btree/reducer.ts'
import { Catalog } from '../../src/document/catalog.ts'
import type { Environment } from '../../src/base/environment.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../../src/kv/open.ts'
import { checkedView, type Emit } from '../../src/view/view-definition.ts'
import { reducerOfId } from '../../src/view/reducers.ts'
import { ViewEngine } from '../../src/view/view-engine.ts'
import { countingEnvironment, databaseOver } from '../../testing/model-database.ts'
import { seededRandom } from '../../testing/random.ts'
import { SimulatedStorage, type Fault } from '../../testing/simulated-page-store.ts'
import { soloCoordinator } from '../kv/solo-coordinator.ts'
import { strike } from '../strike.ts'
import { firstOf, strideOf } from '../../../../tools/test/seeds.ts'

// As `open` does.
registerReducers(reducerOfId)

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_QUOTA_EXCEEDED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'closed' },
]
const DOCUMENTS = 300

interface Handle {
  readonly store: PagedKeyValueStore
  readonly engine: ViewEngine
  readonly upsert: (from: number, to: number, age: number) => Promise<unknown>
  readonly remove: (ids: readonly string[]) => Promise<unknown>
  readonly check: () => Promise<string[]>
}

async function openHandle(storage: SimulatedStorage): Promise<Handle> {
  const environment: Environment = countingEnvironment()
  const store = await openKeyValueStore({
    store: await storage.open('x'),
    coordinator: soloCoordinator(),
    environment,
    cacheBytesMax: 100_000,
    durability: 'relaxed',
  })
  const db = databaseOver(store, environment, () => store.check())
  const people = db.collection('people')
  const view = checkedView(
    { map: (d: { c: number; n: number }, emit: Emit) => emit(d.c, d.n), reduce: '_sum', version: 1 } as never,
    'v',
  )
  const engine = new ViewEngine(
    {
      store,
      catalog: new Catalog(() => environment.randomId()),
      environment,
      name: 'people',
      closing: new AbortController().signal,
      // A step takes some 90 documents.
      rowBytesMax: 30_000,
      openRows: () => Promise.reject(new Error('not needed')),
    },
    view,
    store,
  )
  const documents = (from: number, to: number, n: number): object[] =>
    Array.from({ length: to - from }, (_, at) => ({ _id: `d${from + at}`, c: (from + at) % 7, n }))
  return {
    store,
    engine,
    upsert: (from, to, n) => people.upsert(documents(from, to, n) as never),
    remove: (ids) => people.delete(ids),
    check: async () => (await db.check()).problems.map(({ message }) => message),
  }
}

/** Builds and updates; counts the backend calls up to its end. Fails, or never ends, if the fault strikes. */
async function work(handle: Handle): Promise<void> {
  await handle.engine.query({})
  await handle.upsert(10, 20, 5)
  await handle.engine.query({})
  await handle.remove(['d1', 'd250'])
  await handle.engine.query({})
  await handle.store.checkpoint()
  await handle.upsert(0, 200, 2)
  await handle.engine.query({})
}

async function run(fault: Fault, call: number): Promise<number> {
  const storage = new SimulatedStorage({ random: seededRandom(call).next })
  const first = await openHandle(storage)
  await first.upsert(0, DOCUMENTS, 1)
  const made = await strike(storage, fault, call, () => work(first))
  const second = await openHandle(storage)
  expect(await second.check(), 'what was left').toEqual([])
  const groups = (await second.engine.query({ group: true })).rows
  const plain = (await second.engine.query({ reduce: false })).rows
  const sums = new Map<unknown, number>()
  for (const { key, value } of plain) sums.set(key, (sums.get(key) ?? 0) + (value as number))
  expect(groups.map(({ key, value }) => [key, value])).toEqual([...sums])
  const naive = await second.store.read((snapshot) => snapshot.tree('1/ids')!.count())
  expect(plain.length).toBe(naive)
  expect(await second.check(), 'after the next query').toEqual([])
  await second.store.close()
  return made
}

test('calls in turn', async () => {
  const calls = await run(FAULTS[0]!, 0)
  expect(calls).toBeGreaterThan(8)
  const stride = strideOf(3)
  for (const [at, fault] of FAULTS.entries())
    for (let call = firstOf(at, stride); call <= calls; call += stride) await run(fault, call)
})
