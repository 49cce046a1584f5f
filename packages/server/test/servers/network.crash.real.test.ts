/**
 * Goal: three servers answer as one database does while the networks before them and behind them delay, reset and lose bytes.
 * Method: a network of its own between each server and PostgreSQL, and between each server and its clients. A checker of histories has the
 * last word.
 */
import { expect, test } from 'vitest'
import { seededRandom } from '../../../db/testing/random.ts'
import { FailingNetwork, type Faults } from '../../../postgres/test/failing-network.ts'
import { onPostgres } from '../../../postgres/test/on-postgres.ts'
import { EVERYWHERE, FIRST_SEED, timeoutOf, times } from '../../../../tools/test/seeds.ts'
import { Load } from './load.ts'
import { Serving } from './serving.ts'

const WRITES = times(60)
/** A server gives up a silent connection to PostgreSQL after 20 seconds: only where there is time. */
const BEHIND: Faults = { delay: 0.05, reset: 0.01, silence: EVERYWHERE ? 0.0005 : 0 }
/** A client waits longer than a server: its connections only delay and reset. */
const BEFORE: Faults = { delay: 0.05, reset: 0.02, silence: 0 }

onPostgres((get) => {
  test(`networks fail around three servers, seed ${FIRST_SEED}`, { timeout: timeoutOf(240_000) }, async () => {
    const { server } = get()
    const random = seededRandom(FIRST_SEED)
    await using network = new AsyncDisposableStack()
    const startAt = async (): Promise<{ serving: Serving; url: string }> => {
      const behind = network.use(await FailingNetwork.start(server.port, random, BEHIND))
      const serving = network.use(
        await Serving.start(server.url('pannier_test', behind.port), ['--durability', 'strict']),
      )
      const before = network.use(await FailingNetwork.start(serving.port, random, BEFORE))
      return { serving, url: `http://127.0.0.1:${before.port}` }
    }
    const all = [await startAt(), await startAt(), await startAt()]
    const load = await Load.start(
      all.map(({ url }) => url),
      all[0]!.serving.url,
    )
    await expect.poll(() => load.history.acknowledged, { timeout: timeoutOf(200_000) }).toBeGreaterThan(WRITES)
    await load.stop()
    expect(await load.violations()).toEqual([])
    for (const { serving } of all) expect(serving.output).not.toMatch(/put back to an earlier state/)
    console.log(load.summary)
  })
})
