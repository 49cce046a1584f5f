/**
 * Storages whose calls are answered later: each takes some turns of the event loop, on the way there and on the way back. Memory and
 * SQLite answer at once, and so hide what happens between a question and its answer; browsers never do.
 */
import { systemEnvironment } from '../src/database/lifecycle/environment.ts'
import type { PageStore, DatabaseStorage } from '../src/storage/page-store.ts'
import { seededRandom, type Random } from './random.ts'

const TURNS_MAX = 8
/** Now and then a call takes that long: the tab is busy. */
const BUSY_TURNS_MAX = 300
const BUSY_CHANCE = 0.01

const environment = systemEnvironment()

/**
 * As `storage`, later. With another `scope` its handles do not hear of those of `storage`, as if the lease had been taken away.
 *
 * @param chance A seed, which gives the same pauses in the same order, or a source of chance.
 * @example
 * const db = await open('shop', { storage: slow(memory(), 1) })
 */
export function slow(
  storage: DatabaseStorage,
  chance: number | Random,
  scope: DatabaseStorage['scope'] = storage.scope,
): DatabaseStorage {
  const random = (typeof chance === 'number' ? seededRandom(chance) : chance).fork()
  return {
    kind: storage.kind,
    scope,
    identify: (name) => storage.identify(name),
    async has(name) {
      await pause(random)
      return storage.has(name)
    },
    async open(name) {
      await pause(random)
      return slowStore(await storage.open(name), random)
    },
    async destroy(name) {
      await pause(random)
      await storage.destroy(name)
      await pause(random)
    },
  }
}

export async function pause(
  random: Random,
  turnsMax: number = random.chance(BUSY_CHANCE) ? BUSY_TURNS_MAX : TURNS_MAX,
): Promise<void> {
  for (let turns = random.below(turnsMax); turns > 0; turns--) await environment.yield()
}

function slowStore(store: PageStore, random: Random): PageStore {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as ((...parameters: unknown[]) => unknown) | undefined
      if (method === undefined) return undefined
      return async (...parameters: unknown[]) => {
        await pause(random)
        try {
          return await method.apply(target, parameters)
        } finally {
          await pause(random)
        }
      }
    },
  })
}
