/**
 * Goal: databases work through a pooler in transaction mode: without prepared statements, and with NOTIFY by a connection of its own or
 * not at all.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { coordinatorSuite } from '../../db/testing/conformance/coordinator.ts'
import { pageStoreSuite } from '../../db/testing/conformance/page-store.ts'
import { prefixed } from '../../db/testing/suite.ts'
import { open } from '../../db/src/index.ts'
import { systemEnvironment } from '../../db/src/database/lifecycle/environment.ts'
import { freePort, spawnTracked, stop } from '../../../tools/processes.ts'
import { notRun } from '../../../tools/test/not-run.ts'
import { postgres, type PostgresOptions, type PostgresStorage } from '../src/index.ts'
import { newName, onPostgres } from './on-postgres.ts'

const PGBOUNCER = '/usr/sbin/pgbouncer'
const START_MS_MAX = 60_000

onPostgres((get) => {
  if (!existsSync(PGBOUNCER)) {
    test('pgbouncer', (context) => notRun(context, 'pgbouncer (apt-get install pgbouncer)'))
    return
  }
  let pooler: ReturnType<typeof spawnTracked>
  let url: string

  beforeAll(async () => {
    const { server } = get()
    const port = await freePort()
    const file = join(server.folder, 'pgbouncer.ini')
    const lines = [
      '[databases]',
      `pannier_test = host=127.0.0.1 port=${server.port} user=postgres`,
      '[pgbouncer]',
      `listen_port = ${port}`,
      'listen_addr = 127.0.0.1',
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 5',
      'max_client_conn = 500',
    ]
    writeFileSync(file, lines.join('\n'))
    spawnSync('chmod', ['644', file])
    pooler = spawnTracked(PGBOUNCER, ['-u', 'postgres', file], { stdio: 'ignore' })
    url = server.url('pannier_test', port)
    for (const late = performance.now() + START_MS_MAX; performance.now() < late; await sleep(100)) {
      const answers = await postgres(url, { ...POOLED, waitMsMax: 0 })
        .has('x')
        .then(
          () => true,
          () => false,
        )
      if (answers) return
    }
    throw new Error('pgbouncer does not answer.')
  })
  afterAll(() => stop(pooler))

  const POOLED: PostgresOptions = { prepare: false, notify: false }
  const storage = (): PostgresStorage => postgres(url, POOLED)

  pageStoreSuite({
    test: prefixed(test, 'page store'),
    create: async () => ({ storage: storage(), name: newName() }),
  })
  describe('coordinator', () => {
    coordinatorSuite({
      test,
      isSilent: true,
      create: () => {
        const name = newName()
        return () => storage().coordinator!(name, systemEnvironment())
      },
    })
  })

  test('with a URL that leads past the pooler, news come by NOTIFY', async () => {
    const listening = (host: string): PostgresStorage =>
      postgres(url.replace('127.0.0.1', host), { prepare: false, listenUrl: get().url, pollMs: 1e9 })
    const name = newName()
    await using one = await open(name, { storage: listening('127.0.0.1') })
    await using two = await open(name, { storage: listening('localhost') })
    const heard = new Promise((resolve) => two.subscribe(resolve))
    await one.collection('items').insert({ _id: 'a' })
    await heard
    expect(await two.collection('items').get('a')).toMatchObject({ _id: 'a' })
  })
})
