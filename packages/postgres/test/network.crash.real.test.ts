/**
 * Goal: servers behind networks that fail at random, and on a PostgreSQL that is killed, answer as one database does.
 * Method: three servers, each behind a network of its own, add to shared lists. A checker of histories has the last word.
 */
import { expect, test } from 'vitest'
import { seededRandom } from '../../db/testing/random.ts'
import { open, type Database } from '../../db/src/index.ts'
import { History, violationsOf } from '../../../tools/test/history.ts'
import { EVERYWHERE, FIRST_SEED, seedsOf, timeoutOf, times } from '../../../tools/test/seeds.ts'
import { postgres } from '../src/index.ts'
import { FailingNetwork, NO_FAULTS, type Faults } from './failing-network.ts'
import { countsOf, endOf, ListServer } from './lists.ts'
import { newName, onPostgres, type OnPostgres } from './on-postgres.ts'

const SERVERS = [0, 1, 2]
const WRITES = 40
/** A connection that went silent is given up after 20 seconds: only where there is time. */
const FAULTS = { delay: 0.1, reset: 0.02, silence: EVERYWHERE ? 0.0005 : 0 }

/** Three servers work until each has tried some writes after `meanwhile` has done its harm. Then all is compared. */
async function checkServers(
  { server, url }: OnPostgres,
  networks: readonly FailingNetwork[],
  meanwhile: (history: History) => Promise<void> = async () => {},
): Promise<void> {
  const name = newName()
  const history = new History()
  const databases: Database[] = []
  for (const { port } of networks)
    databases.push(await open(name, { storage: postgres(server.url('pannier_test', port)), durability: 'strict' }))
  let isHarmed = false
  const working = databases.map((db, at) => {
    let count = 0
    return new ListServer(db, `s${at}`, history).work(() => isHarmed && count++ >= WRITES)
  })
  await Promise.all([meanwhile(history).finally(() => (isHarmed = true)), ...working])
  for (const db of databases) await db.close()
  await using db = await open(name, { storage: postgres(url) })
  expect(violationsOf(history.operations, await endOf(db))).toEqual([])
  expect((await db.check()).problems).toEqual([])
  const { done, unknown } = countsOf(history.operations)
  console.log(`${done} writes acknowledged, ${unknown} of unknown outcome`)
}

/** Resolves after some more acknowledged writes. */
async function someWrites(history: History, count: number): Promise<void> {
  const before = history.acknowledged
  await expect.poll(() => history.acknowledged).toBeGreaterThanOrEqual(before + count)
}

onPostgres((get) => {
  /** One for each server: handles behind one address are of one server. */
  const networksOf = (seed: number, faults: Faults): Promise<FailingNetwork[]> => {
    const random = seededRandom(seed)
    return Promise.all(SERVERS.map(() => FailingNetwork.start(get().server.port, random, faults)))
  }

  for (const seed of seedsOf('crash', 0.4))
    test(`networks that delay and reset, seed ${seed}`, { timeout: timeoutOf(240_000) }, async () => {
      const networks = await networksOf(seed, FAULTS)
      await checkServers(get(), networks)
      const sum = (fault: keyof Faults): number => networks.reduce((all, { counts }) => all + counts[fault], 0)
      console.log(`${sum('delay')} delays, ${sum('reset')} resets, ${sum('silence')} silences`)
      expect(sum('reset')).toBeGreaterThan(0)
      for (const network of networks) await network[Symbol.asyncDispose]()
    })

  const kills = {
    'all processes of PostgreSQL are killed in the middle of commits': async ({ server }: OnPostgres) => {
      await server.kill()
      await server.begin()
    },
    'one process of PostgreSQL is killed in the middle of a commit, and ends all others': async ({
      server,
    }: OnPostgres) => {
      const random = seededRandom(FIRST_SEED)
      const isKilled = (): boolean => {
        try {
          return process.kill(random.pick(server.processes('pannier_test')), 'SIGKILL')
        } catch {
          // It has ended meanwhile: a worker of autovacuum.
          return false
        }
      }
      await expect.poll(isKilled).toBe(true)
    },
  }
  for (const [name, kill] of Object.entries(kills))
    test(name, { timeout: timeoutOf(240_000) }, async () => {
      const networks = await networksOf(1, NO_FAULTS)
      await checkServers(get(), networks, async (history) => {
        for (let round = 0; round < times(2); round++) {
          await someWrites(history, 10)
          await kill(get())
        }
        await someWrites(history, 10)
      })
      for (const network of networks) await network[Symbol.asyncDispose]()
    })
})
