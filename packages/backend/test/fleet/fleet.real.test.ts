/** Goal: servers that share a PostgreSQL do once what is to be done once, and each knows what the others have written. */
import { afterAll, afterEach, expect, test } from 'vitest'
import { open } from 'pannier'
import { pause, systemEnvironment } from 'pannier/internal'
import { postgres } from '@pannier/postgres'
import { onPostgres } from '../../../postgres/test/on-postgres.ts'
import { MailServer } from '../../../../tools/test/mail-server.ts'
import { openBackend, type Backend } from '../../src/backend.ts'
import type { Fleet } from '../../src/fleet/fleet.ts'
import { SharedFleet } from '../../src/fleet/shared-fleet.ts'
import { GUEST, SYSTEM } from '../../src/gateway/principal.ts'
import type { Actor } from '../../src/access/actor.ts'

onPostgres((get) => {
  const environment = systemEnvironment()
  const opened: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })
  // A closed database gives its lease back a little later.
  afterAll(() => get().server.stop('SIGTERM'))

  /** Each is a server of its own: another name of the host is another process to the library. */
  const storageOf = (server: number): ReturnType<typeof postgres> =>
    postgres(get().url.replace('127.0.0.1', server === 0 ? '127.0.0.1' : 'localhost'))

  /** `from`: the number of the first server. */
  async function fleets(count: number, name: string, from = 0): Promise<SharedFleet[]> {
    const all: SharedFleet[] = []
    for (let n = from; n < from + count; n++)
      all.push(await SharedFleet.open({ storage: storageOf(n), name, environment }))
    opened.push(...all)
    return all
  }

  const soon = (isTrue: () => boolean): Promise<void> => expect.poll(isTrue).toBe(true)

  test('a claim is given to one, a secret is the same for all, and work of one name is done one after another', async () => {
    const [one, two] = (await fleets(2, 'claims')) as [SharedFleet, SharedFleet]
    for (let n = 0; n < 5; n++)
      expect((await Promise.all([one.claim(`c${n}`), two.claim(`c${n}`)])).toSorted()).toEqual([false, true])
    expect(await one.secret('s')).toEqual(await two.secret('s'))
    expect(await one.secret('s')).not.toEqual(await one.secret('other'))
    let running = 0
    const work = async (): Promise<void> => {
      expect(++running).toBe(1)
      await pause(environment, 20)
      running--
    }
    await Promise.all([one, two, one, two].map((fleet) => fleet.exclusively('w', work)))
  })

  test('a device continues at any server, also at one that starts later', async () => {
    const name = 'devices'
    const backends: Backend[] = []
    const start = async (): Promise<Backend> => {
      const [fleet] = await fleets(1, name, backends.length)
      const database = await open(name, { storage: storageOf(backends.length) })
      const backend = await openBackend(database, { fleet: fleet! })
      opened.push(database, backend)
      backends.push(backend)
      return backend
    }
    const first = await start()
    const fields = [{ name: 'title', type: 'text' }]
    await first.definitions.create(SYSTEM, { name: 'docs', type: 'base', fields, listRule: '', viewRule: '' })
    const actor: Actor = { principal: SYSTEM, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
    const guest: Actor = { principal: GUEST, request: { context: 'default', method: 'GET', query: {}, headers: {} } }
    for (let n = 0; n < 5; n++) await first.records.create(actor, 'docs', { title: `t${n}` })
    let { docs: page } = await first.sync.pull(guest, { docs: undefined })
    expect(page!.isReset).toBe(true)
    await start()
    for (let round = 0; round < 4; round++) {
      const [here, there] = [backends[round % 2]!, backends[(round + 1) % 2]!]
      await here.records.create(actor, 'docs', { title: `r${round}` })
      await expect
        .poll(async () => {
          const { docs: next } = await there.sync.pull(guest, { docs: page!.token })
          const titles = next!.rows.flatMap((row) => ('record' in row ? [row.record['title']] : []))
          if (titles.length > 0) page = next
          return [next!.isReset, titles]
        })
        .toEqual([false, [`r${round}`]])
    }
  })

  test('a unique index on an expression holds at all servers, also at one that hears of it with the write', async () => {
    const name = 'unique'
    const all = await fleets(2, name)
    const backends: Backend[] = []
    for (const [server, fleet] of all.entries()) {
      const database = await open(name, { storage: storageOf(server) })
      const backend = await openBackend(database, { fleet })
      opened.push(database, backend)
      backends.push(backend)
    }
    const [one, two] = backends as [Backend, Backend]
    const fields = [{ name: 'title', type: 'text' }]
    await one.definitions.create(SYSTEM, { name: 'docs', type: 'base', fields })
    await soon(() => two.definitions.find('docs') !== undefined)
    const actor: Actor = { principal: SYSTEM, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
    const create = (backend: Backend, title: string): Promise<unknown> =>
      backend.records.create(actor, 'docs', { title }).then(
        () => 'taken',
        () => 'refused',
      )
    expect(await create(two, 'Ann')).toBe('taken')
    await one.definitions.update(SYSTEM, 'docs', { indexes: ['CREATE UNIQUE INDEX u ON docs (lower(title))'] })
    expect(await create(two, 'ANN')).toBe('refused')
    for (let n = 0; n < 20; n++) {
      const outcomes = await Promise.all([create(one, `Title ${n}`), create(two, `TITLE ${n}`)])
      expect(outcomes.toSorted()).toEqual(['refused', 'taken'])
    }
    const { definitions } = two
    expect((await definitions.records(definitions.get('docs')).indexes()).map((index) => index.name)).toEqual([
      expect.stringMatching(/^u \d+$/),
    ])
  })

  test('the mails of all servers are sent once, also those of a server that has led before', async () => {
    await using smtp = await MailServer.start()
    const name = 'mails'
    const [one, two] = (await fleets(2, name)) as [SharedFleet, SharedFleet]
    const backends: Backend[] = []
    const start = async (fleet: Fleet, server: number): Promise<Backend> => {
      const database = await open(name, { storage: storageOf(server) })
      const backend = await openBackend(database, { fleet })
      backends.push(backend)
      opened.push(database, backend)
      return backend
    }
    const first = await start(one, 0)
    const second = await start(two, 1)
    await first.settings.update(SYSTEM, { smtp: { enabled: true, host: '127.0.0.1', port: smtp.port, tls: false } })
    await expect.poll(() => second.settings.values.smtp.port).toBe(smtp.port)
    const actor: Actor = { principal: SYSTEM, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
    const [pass, count] = ['12345678', 6]
    for (let n = 0; n < count; n++)
      await first.records.create(actor, 'users', { email: `u${n}@example.com`, password: pass, passwordConfirm: pass })
    const askAt = (backend: Backend, n: number): Promise<unknown> =>
      backend.accounts.passwordReset.request(backend.accounts.authDefinition('users'), { email: `u${n}@example.com` })
    for (let n = 0; n < 4; n++) await askAt(backends[n % 2]!, n)
    await soon(() => smtp.mails.length === 4)
    await first.close()
    await one.close()
    await soon(() => two.leads)
    for (let n = 4; n < count; n++) await askAt(second, n)
    await soon(() => smtp.mails.length === count)
    const to = smtp.mails.flatMap(({ recipients }) => recipients)
    expect(to.toSorted()).toEqual(Array.from({ length: count }, (_, n) => `u${n}@example.com`))
  })
})
