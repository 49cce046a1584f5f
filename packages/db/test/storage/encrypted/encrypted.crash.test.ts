/**
 * Goal: nothing acknowledged is lost under encryption either, whichever backend call fails and however; and a change of keys that
 * is cut short anywhere leaves a database that opens, is whole, and goes on with it.
 */
import { test, expect } from 'vitest'
import { localCoordinator } from '../../../src/database/coordination/local-coordinator.ts'
import { fence } from '../../../src/database/encryption/encryption.ts'
import { systemEnvironment } from '../../../src/database/lifecycle/environment.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../../../src/kv/open.ts'
import type { EncryptedPageStore } from '../../../src/storage/encrypted/encrypted-page-store.ts'
import type { CryptoPlatform } from '../../../src/storage/encrypted/platform.ts'
import { rotateKey } from '../../../src/storage/encrypted/rotate.ts'
import type { PageStore, DatabaseStorage } from '../../../src/storage/page-store.ts'
import { randomFault } from '../../../testing/crash-host.ts'
import { simulate } from '../../../testing/crash-simulation.ts'
import { simulateDatabase } from '../../../testing/database-crash-simulation.ts'
import {
  compareAll,
  copyModel,
  createAll,
  randomSteps,
  runStep,
  type Model,
} from '../../../testing/key-value-workload.ts'
import { seededRandom } from '../../../testing/random.ts'
import { SimulatedStorage, type Fault, type SimulationOptions } from '../../../testing/simulated-page-store.ts'
import { soloCoordinator } from '../../kv/solo-coordinator.ts'
import { encrypted, platforms } from './fixture.ts'
import { firstOf, seedsOf, strideOf } from '../../../../../tools/test/seeds.ts'

/** What is below sees faults, what is above sees a database that is sealed. */
class SealedStorage extends SimulatedStorage {
  readonly #platform: CryptoPlatform

  constructor(options: SimulationOptions, platform: CryptoPlatform) {
    super(options)
    this.#platform = platform
  }

  override open(name: string): Promise<PageStore> {
    const { kind, scope } = this
    const below: DatabaseStorage = {
      kind,
      scope,
      identify: (one) => super.identify(one),
      has: (one) => super.has(one),
      open: (one) => super.open(one),
      destroy: (one) => super.destroy(one),
    }
    return encrypted(below, this.#platform).open(name)
  }
}

for (const [name, run, share] of [
  ['key-value store', simulate, 1],
  ['database', simulateDatabase, 0.3],
] as const) {
  const seeds = seedsOf('crash', share)
  test(`${name}: random calls of ${seeds.length} seeds from ${seeds[0]}`, { timeout: 3_600_000 }, async () => {
    for (const seed of seeds) {
      const random = seededRandom(seed * 6151)
      const fault = randomFault(random)
      const call = 1 + random.below(random.pick([10, 40, 100]))
      const [, platform] = platforms[seed % platforms.length]!
      await described({ seed, call, fault }, () =>
        run({
          seed,
          call,
          fault,
          coordinator: soloCoordinator,
          place: (options) => new SealedStorage(options, platform),
        }),
      )
    }
  })
}

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: false },
]

const STRIDE = strideOf(9)

for (const [at, fault] of FAULTS.entries()) {
  test(`rotation: calls in turn meet ${JSON.stringify(fault)}`, { timeout: 3_600_000 }, async () => {
    for (let call = firstOf(at, STRIDE); call < 1000; call += STRIDE) {
      const isOver = await described({ seed: at + 1, call, fault }, () => rotateWithFault(at + 1, call, fault))
      if (isOver) return
    }
    throw new Error('the rotation does not end')
  })
}

interface Opened {
  readonly pages: EncryptedPageStore
  readonly kv: PagedKeyValueStore
}

let databases = 0

/** True when the rotation has made fewer calls. */
async function rotateWithFault(seed: number, call: number, fault: Fault): Promise<boolean> {
  const random = seededRandom(seed)
  const storage = new SimulatedStorage()
  let model: Model = new Map()
  const open = async (): Promise<Opened> => {
    const pages = await encrypted(storage).open('x')
    const environment = systemEnvironment()
    const coordinator = localCoordinator({ key: `rotation ${++databases}`, environment })
    const options = { environment, coordinator, cacheBytesMax: 200_000, durability: 'strict' as const }
    return { pages, kv: await openKeyValueStore({ store: pages, ...options }) }
  }
  const rotate = ({ pages, kv }: Opened): Promise<void> =>
    rotateKey(pages, {
      fence: () => fence(kv),
      environment: systemEnvironment(),
    })
  const first = await open()
  await first.kv.write((tx) => createAll(tx, model))
  for (const count of [3000, 20]) {
    const steps = randomSteps(random, count)
    let next = model
    await first.kv.write((tx) => {
      next = copyModel(model)
      for (const step of steps) runStep(tx, next, step)
    })
    model = next
    if (count > 20) await first.kv.checkpoint()
  }
  const gone = new Promise<void>((resolve) => (storage.onGone = resolve))
  const before = storage.calls
  storage.failAt(before + call, fault)
  await Promise.race([rotate(first).catch(() => {}), gone])
  const isOver = storage.calls < before + call
  storage.disarm()
  const second = await open()
  await second.kv.read((snapshot) => compareAll(snapshot, model))
  await second.kv.check()
  await rotate(second)
  await second.kv.check()
  await second.kv.read((snapshot) => compareAll(snapshot, model))
  expect(second.pages.vault.keyring.keys.length).toBe(1)
  const raw = await second.pages.inner.readPages(await second.pages.listPages())
  expect(
    raw.every((bytes) => second.pages.vault.isCurrent(bytes!)),
    'all pages are sealed with the new key',
  ).toBe(true)
  await second.kv.close()
  return isOver
}

async function described<T>(what: object, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new Error(`simulation ${JSON.stringify(what)} (replay: SEED=<seed> SEEDS=1)`, { cause: error })
  }
}
