/**
 * Goal: a PostgreSQL that has no connection left, or whose synchronous standby has stopped, makes writes wait and loses none.
 * Method: other clients take all connections; the process of the standby that receives is frozen. What was acknowledged is on the standby.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { History, violationsOf } from '../../../tools/test/history.ts'
import { open } from '../../db/src/index.ts'
import type { PostgresServer } from '../../../tools/test/postgres.ts'
import { EVERYWHERE, timeoutOf, times } from '../../../tools/test/seeds.ts'
import { postgres } from '../src/index.ts'
import { countsOf, endOf, ListServer } from './lists.ts'
import { newName, onPostgres } from './on-postgres.ts'

/** Beyond what a write waits for, where there is time. */
const FROZEN_MS = EVERYWHERE ? 45_000 : 1500

const CONNECTIONS = 12

/** Other programs that leave no connection. */
class Crowd implements AsyncDisposable {
  readonly #clients: Client[] = []

  /** All `count` that may be. Ends those of servers, too. */
  static async gather(url: string, count: number): Promise<Crowd> {
    const crowd = new Crowd()
    while (crowd.#clients.length < count) {
      const client = new Client({ connectionString: url })
      client.on('error', () => {})
      try {
        await client.connect()
        crowd.#clients.push(client)
      } catch {
        // One that was ended is not gone yet, or has come again.
      }
      await crowd.#clients[0]?.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pannier' and backend_type = 'client backend'",
      )
    }
    return crowd
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients.splice(0)) await client.end()
  }
}

onPostgres(
  (get) => {
    test('where no connection is left writes wait for one, and those that may not wait say so', async () => {
      const { url } = get()
      const quiet = { notify: false, pollMs: 1e9, connectionsMax: 2 }
      const history = new History()
      await using db = await open(newName(), { storage: postgres(url, quiet), durability: 'strict' })
      await using hasty = await open(newName(), {
        storage: postgres(url.replace('127.0.0.1', 'localhost'), { ...quiet, waitMsMax: 200 }),
      })
      const items = hasty.collection('items')
      const server = new ListServer(db, 's0', history)
      await server.write('before')
      await items.insert({ _id: 'before' })
      for (let round = 0; round < times(2); round++) {
        const crowd = await Crowd.gather(url, CONNECTIONS)
        const waiting = Promise.all([server.write(`a${round}`), server.write(`b${round}`)])
        try {
          await expect(items.insert({ _id: `a${round}` })).rejects.toMatchObject({ code: 'PANNIER_OUTCOME_UNKNOWN' })
          await expect(items.insert({ _id: `b${round}` })).rejects.toMatchObject({ code: 'PANNIER_RECOVERY_NEEDED' })
          const opening = open(newName(), {
            storage: postgres(url, { ...quiet, waitMsMax: 200, schema: 'other' }),
          })
          await expect(opening).rejects.toMatchObject({
            code: 'PANNIER_OPEN_FAILED',
            message: expect.stringContaining('has no connection left') as string,
          })
          expect(history.acknowledged).toBe(1 + 2 * round)
        } finally {
          await crowd[Symbol.asyncDispose]()
        }
        await waiting
        await items.insert({ _id: `c${round}` })
        expect(await items.get([`a${round}`, `b${round}`])).toEqual([undefined, undefined])
      }
      expect(countsOf(history.operations)).toEqual({ done: 1 + 2 * times(2), unknown: 0 })
      expect(violationsOf(history.operations, await endOf(db))).toEqual([])
    })
  },
  [`max_connections = ${CONNECTIONS}`, 'superuser_reserved_connections = 0'],
)

onPostgres((get) => {
  test(
    'while the synchronous standby is frozen nothing is acknowledged, and all that was is there',
    { timeout: timeoutOf(240_000) },
    async () => {
      const { server, url } = get()
      await using standby: PostgresServer = await server.startStandby()
      await expect.poll(() => standby.processes('walreceiver').length).toBe(1)
      server.sql('postgres', "alter system set synchronous_standby_names = '*'")
      server.sql('postgres', 'select pg_reload_conf()')
      await expect
        .poll(() => server.sql('postgres', 'select count(*) from pg_stat_replication where sync_state = $$sync$$'))
        .toBe('1')
      const name = newName()
      const history = new History()
      const databases = await Promise.all(
        ['127.0.0.1', 'localhost'].map((host) =>
          open(name, { storage: postgres(url.replace('127.0.0.1', host), { waitMsMax: 3000 }), durability: 'strict' }),
        ),
      )
      let isOver = false
      const working = databases.map((db, at) => new ListServer(db, `s${at}`, history).work(() => isOver))
      const goesOn = async (): Promise<void> => {
        const before = history.acknowledged
        await expect.poll(() => history.acknowledged).toBeGreaterThan(before + 10)
      }
      for (let round = 0; round < times(1); round++) {
        await goesOn()
        const [receiver] = standby.processes('walreceiver')
        process.kill(receiver!, 'SIGSTOP')
        const waiting = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"
        await expect.poll(() => server.sql('postgres', waiting)).not.toBe('0')
        const before = history.acknowledged
        await sleep(FROZEN_MS)
        // One of each server may have been on its way.
        expect(history.acknowledged).toBeLessThanOrEqual(before + databases.length)
        process.kill(receiver!, 'SIGCONT')
        await goesOn()
      }
      isOver = true
      await server.stop('SIGQUIT')
      await Promise.all(working)
      for (const db of databases) await db.close()
      standby.run('pg_ctl', ['promote', '-D', standby.data])
      await using promoted = await open(name, { storage: postgres(standby.url('pannier_test')) })
      expect(violationsOf(history.operations, await endOf(promoted))).toEqual([])
      expect((await promoted.check()).problems).toEqual([])
      const { done, unknown } = countsOf(history.operations)
      console.log(`${done} writes acknowledged, ${unknown} of unknown outcome`)
    },
  )
})
