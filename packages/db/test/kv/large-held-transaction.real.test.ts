/**
 * Goal: a transaction that puts its changes into pages before it commits is one transaction all the same. Method: steps with
 * `relieve` between them, on a small cache; what is read inside, outside and afterwards is compared with a map.
 */
import { expect, test } from 'vitest'
import type { Key } from '../../src/base/brand.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import type { HeldTransaction } from '../../src/kv/key-value-store.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../../src/kv/open.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { randomOrder, SimulatedStorage } from '../../testing/simulated-page-store.ts'
import { soloCoordinator } from './solo-coordinator.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const opened = async (storage: SimulatedStorage): Promise<PagedKeyValueStore> =>
  openKeyValueStore({
    store: await storage.open('x'),
    coordinator: soloCoordinator(),
    environment: systemEnvironment(),
    cacheBytesMax: 200_000,
    durability: 'strict',
  })

const keyOf = (n: number): Key => String(n).padStart(200, '0') as Key
const valueOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Random changes of 8,000 keys, more than a log record takes. Gives how often pages were written. */
async function change(held: HeldTransaction, model: Map<number, string>, random: Random): Promise<number> {
  let relieved = 0
  for (let step = 0; step < 100; step++) {
    await held.attempt(() => {
      const tree = held.tree('t')!
      for (let n = 0; n < 100; n++) tree.get(keyOf(n))
    })
    const changes = Array.from({ length: 100 }, () => [random.below(8000), random.chance(0.3)] as const)
    const texts = changes.map(([, isRemoved], at) => (isRemoved ? undefined : `${step} ${at} ${'x'.repeat(100)}`))
    await held.attempt(() => {
      const tree = held.tree('t')!
      changes.forEach(([n], at) => {
        if (texts[at] === undefined) tree.delete(keyOf(n))
        else tree.put(keyOf(n), valueOf(texts[at]))
      })
    })
    changes.forEach(([n], at) => {
      if (texts[at] === undefined) model.delete(n)
      else model.set(n, texts[at])
    })
    const relieving = held.relieve()
    if (relieving === undefined) continue
    relieved++
    // A step that is asked for meanwhile waits.
    const counted = held.attempt(() => held.tree('t')!.count())
    await relieving
    expect(await counted).toBe(model.size)
  }
  return relieved
}

async function compare(store: Pick<PagedKeyValueStore, 'read'>, model: ReadonlyMap<number, string>): Promise<void> {
  const entries = await store.read((snapshot) => {
    const found: [string, string][] = []
    const cursor = snapshot.tree('t')!.cursor()
    while (cursor.next()) found.push([cursor.key, new TextDecoder().decode(cursor.value)])
    return found
  })
  const expected = [...model].map(([n, text]) => [keyOf(n), text])
  expect(entries).toEqual(expected.sort((left, right) => (left[0]! < right[0]! ? -1 : 1)))
}

for (const seed of seedsOf('model'))
  test(`rolled back, then committed, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const storage = new SimulatedStorage({ random: random.next, schedule: randomOrder(random.next) })
    const store = await opened(storage)
    const model = new Map<number, string>()
    await store.write((transaction) => {
      const tree = transaction.createTree('t', 'ordered')
      for (let n = 0; n < 8000; n += 3) {
        tree.insert(keyOf(n), valueOf('first'))
        model.set(n, 'first')
      }
    })
    const cancelled = await store.begin()
    expect(await change(cancelled, new Map(model), random)).toBeGreaterThan(1)
    await compare(store, model)
    cancelled.rollback()
    await compare(store, model)
    // Its pages are given up: what is written now gets their ids.
    await store.write((transaction) => transaction.tree('t')!.put(keyOf(1), valueOf('second')))
    model.set(1, 'second')
    await store.checkpoint()
    await compare(store, model)

    const held = await store.begin()
    const inside = new Map(model)
    expect(await change(held, inside, random)).toBeGreaterThan(1)
    const view = await held.view()
    expect(await view.attempt(() => view.tree('t')!.count())).toBe(inside.size)
    view.release()
    await compare(store, model)
    await held.commit()
    await compare(store, inside)
    await store.check()
    await store.write((transaction) => transaction.tree('t')!.put(keyOf(2), valueOf('third')))
    inside.set(2, 'third')
    await store.close()
    const again = await opened(storage)
    await compare(again, inside)
    await again.checkpoint()
    await again.check()
    await compare(again, inside)
    await again.close()
  })
