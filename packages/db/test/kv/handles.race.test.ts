/**
 * Goal: several handles on one database lose nothing and double nothing, also when the lease is not kept at all: then the fences of
 * the page store must refuse whoever is stale.
 * Method: handles add to counters in write transactions at the same time, with storage checkpoints, bulk writes and held
 * transactions in between, on a store with random latency. What is acknowledged must be there once, in every handle.
 */
import { expect, test } from 'vitest'
import type { Generation, Key } from '../../src/base/brand.ts'
import type { Environment } from '../../src/base/environment.ts'
import { isPannierError } from '../../src/base/errors.ts'
import type { Coordinator } from '../../src/storage/coordinator.ts'
import type { TreeWriter, WriteTransaction } from '../../src/kv/key-value-store.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../../src/kv/open.ts'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { EncryptedPageStore } from '../../src/storage/encrypted/encrypted-page-store.ts'
import { cryptoPlatform } from '../../src/database/encryption/node-platform.ts'
import { Vault } from '../../src/storage/encrypted/vault.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { PageStore } from '../../src/storage/page-store.ts'
import { newDeviceKey } from '../../testing/conformance/encryption.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { randomOrder, SimulatedStorage } from '../../testing/simulated-page-store.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

/** Everybody always has the lease, and nobody hears of anybody but in the same `realm`; only pins are kept. */
function lawlessCoordinators(realm?: string): () => Coordinator {
  const pins = new Map<object, Generation>()
  return () => {
    const self = {}
    return {
      ...(realm !== undefined && { realm }),
      acquireWriter: async () => ({ wanted: false, lost: false, onWanted: () => {}, release: () => {} }),
      announce: () => {},
      onHint: () => {},
      pin: async (generation) => void pins.set(self, generation),
      oldestPinned: async () => (pins.size === 0 ? undefined : (Math.min(...pins.values()) as Generation)),
      close: () => void pins.delete(self),
    }
  }
}

function lawfulCoordinators(environment: Environment, seed: number): () => Coordinator {
  return () => localCoordinator({ key: `handles-test:${seed}`, environment })
}

for (const seed of seedsOf('race', 4)) {
  const coordinators: Readonly<Record<string, (environment: Environment) => () => Coordinator>> = {
    lease: (environment) => lawfulCoordinators(environment, seed),
    'fences only': () => lawlessCoordinators(),
    // A handle then reads what is new while an append of its own is under way.
    'fences only, in one realm': () => lawlessCoordinators(`handles-test:${seed}`),
  }
  for (const [name, make] of Object.entries(coordinators))
    for (const isEncrypted of [false, true])
      test(`${name}${isEncrypted ? ', encrypted' : ''}, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
        const environment = systemEnvironment()
        const key = isEncrypted ? await newDeviceKey() : undefined
        const sealed = (store: PageStore): PageStore =>
          key === undefined ? store : new EncryptedPageStore(store, new Vault(cryptoPlatform(), { key }))
        await run(seed, environment, make(environment), sealed)
      })
}

test('a handle that missed a hint while it was opened has one queue, not two', async () => {
  const environment = systemEnvironment()
  const newCoordinator = lawfulCoordinators(environment, 0)
  const storage = memory()
  const open = (store: PageStore, coordinator: Coordinator): Promise<PagedKeyValueStore> =>
    openKeyValueStore({ store, coordinator, environment, cacheBytesMax: 100_000, durability: 'relaxed' })
  const other = await open(await storage.open('x'), newCoordinator())
  const coordinator = newCoordinator()
  await other.write((tx) => void tx.createTree('counters', 'ordered'))
  await other.close()
  await turns(10)
  // What the hint asks for takes so long that an append would be under way.
  const handle = await open(withLateRead(await storage.open('x'), 2), coordinator)
  await handle.write((tx) => increment(tx.tree('counters')!, 'a' as Key))
  await handle.close()
})

function withLateRead(store: PageStore, late: number): PageStore {
  let reads = 0
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as ((...parameters: unknown[]) => unknown) | undefined
      // It is no promise.
      if (method === undefined) return undefined
      return async (...parameters: unknown[]) => {
        if (name === 'read' && ++reads === late) await turns(10)
        const answer = await method.apply(target, parameters)
        if (name === 'append') await turns(20)
        return answer
      }
    },
  })
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

async function run(
  seed: number,
  environment: Environment,
  coordinator: () => Coordinator,
  sealed: (store: PageStore) => PageStore,
): Promise<void> {
  const random = seededRandom(seed)
  const { next } = random.fork()
  const storage = new SimulatedStorage({ random: next, schedule: randomOrder(next) })
  const open = async (): Promise<PagedKeyValueStore> =>
    openKeyValueStore({
      store: sealed(await storage.open('x')),
      coordinator: coordinator(),
      environment,
      cacheBytesMax: 100_000,
      durability: 'relaxed',
    })
  const handles = [await open(), await open(), await open()]
  await handles[0]!.write((tx) => void tx.createTree('counters', 'ordered'))
  await handles[0]!.write((tx) => void tx.createTree('entries', 'sequence'))
  const acknowledged = { increments: 0, entries: 0 }
  await Promise.all(handles.map((handle) => work(handle, random.fork(), acknowledged)))
  for (const handle of handles) {
    await handle.refresh()
    await handle.read((snapshot) => {
      let sum = 0
      const cursor = snapshot.tree('counters')!.cursor()
      while (cursor.next()) sum += number(cursor.value)
      expect({ increments: sum, entries: snapshot.tree('entries')!.count() }).toEqual(acknowledged)
    })
  }
  await handles[0]!.check()
  for (const handle of handles) await handle.close()
}

async function work(
  handle: PagedKeyValueStore,
  random: Random,
  acknowledged: { increments: number; entries: number },
): Promise<void> {
  for (let round = 0; round < 12; round++) {
    const key = String.fromCharCode(97 + random.below(5)) as Key
    const bulk = random.chance(0.15) ? 60 : 1
    const change = (tx: WriteTransaction): void => {
      increment(tx.tree('counters')!, key)
      for (let i = 0; i < bulk; i++) tx.tree('entries')!.append(new Uint8Array(400))
    }
    try {
      if (random.chance(0.2)) {
        const transaction = await handle.begin()
        await transaction.attempt(() => change(transaction))
        await transaction.commit()
      } else {
        await handle.write(change)
      }
      acknowledged.increments++
      acknowledged.entries += bulk
    } catch (error) {
      // A held transaction can't be run again by itself.
      if (!isPannierError(error, 'PANNIER_STALE')) throw error
    }
    // One that was overtaken is tried again.
    if (random.chance(0.15)) await handle.checkpoint()
  }
}

function increment(tree: TreeWriter, key: Key): void {
  const before = tree.get(key)
  tree.put(key, String.fromCharCode((before === undefined ? 0 : number(before)) + 1))
}

function number(value: Uint8Array): number {
  return value[0]!
}

test('a handle that was overtaken reads what another one has freed: that is no damage', async () => {
  const storage = new SimulatedStorage()
  const coordinator = lawlessCoordinators()
  const open = async (): Promise<PagedKeyValueStore> =>
    openKeyValueStore({
      store: await storage.open('x'),
      coordinator: coordinator(),
      environment: systemEnvironment(),
      cacheBytesMax: 1e6,
      durability: 'relaxed',
    })
  const first = await open()
  await first.write((tx) => {
    const tree = tx.createTree('gone', 'sequence')
    for (let n = 0; n < 1000; n++) tree.append(new Uint8Array(400))
    tx.createTree('t', 'sequence')
  })
  await first.checkpoint()
  await first.write((tx) => tx.dropTree('gone'))
  await first.checkpoint()
  const frozen = [await open(), await open()]
  // They have the lease from now on.
  for (const handle of frozen) await handle.write(() => {})
  // Nobody reads what was before any more: now the pages of the tree are freed.
  await first.checkpoint()
  await frozen[0]!.checkpoint()
  await frozen[1]!.write((tx) => tx.tree('t')!.append(new Uint8Array(2e6)))
  await first.refresh()
  expect(await first.read((snapshot) => snapshot.tree('t')!.count())).toBe(1)
  await first.check()
  for (const handle of [first, ...frozen]) await handle.close()
})

test('all handles agree on the id of the database from the first commit on, by any of them', async () => {
  for (const length of [1, 100_000]) {
    const storage = new SimulatedStorage()
    const openHandle = async (): Promise<PagedKeyValueStore> => {
      const environment = systemEnvironment()
      const coordinator = localCoordinator({ key: storage.identify('x'), environment })
      const store = await storage.open('x')
      return openKeyValueStore({ store, coordinator, environment, cacheBytesMax: 1e6, durability: 'relaxed' })
    }
    const [first, second] = [await openHandle(), await openHandle()]
    await second.write((tx) => tx.createTree('t', 'sequence').append(new Uint8Array(length)))
    const { databaseId } = second
    await first.refresh()
    const third = await openHandle()
    expect([first.databaseId, third.databaseId]).toEqual([databaseId, databaseId])
    await first.checkpoint()
    const fourth = await openHandle()
    await second.refresh()
    for (const handle of [first, second, third, fourth]) {
      expect(handle.databaseId).toBe(databaseId)
      await handle.close()
    }
  }
})
