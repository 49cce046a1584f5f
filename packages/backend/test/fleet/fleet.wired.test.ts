/** Goal: servers of one database agree who leads, do once what is to be done once, and hear one another; also while some are killed. */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { open } from 'pannier'
import { postgres } from '@pannier/postgres'
import { onPostgres } from '../../../postgres/test/on-postgres.ts'
import { MailServer } from '../../../../tools/test/mail-server.ts'
import { openBackend, type Backend } from '../../src/backend.ts'
import type { Fleet } from '../../src/fleet/fleet.ts'
import { SharedFleet } from '../../src/fleet/shared-fleet.ts'
import { Windows } from '../../src/fleet/windows.ts'
import { GUEST, SYSTEM } from '../../src/gateway/principal.ts'
import type { Actor } from '../../src/access/actor.ts'
import { Schedules } from '../../src/schedules/schedules.ts'

onPostgres((get) => {
  const opened: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })

  /** Each is a server of its own: another name of the host is another process to the library. */
  const storageOf = (server: number): ReturnType<typeof postgres> =>
    postgres(get().url.replace('127.0.0.1', server === 0 ? '127.0.0.1' : 'localhost'))

  /** `from`: the number of the first server. */
  async function fleets(count: number, name: string = randomUUID(), from = 0): Promise<SharedFleet[]> {
    const all: SharedFleet[] = []
    for (let n = from; n < from + count; n++) all.push(await SharedFleet.open({ storage: storageOf(n), name }))
    opened.push(...all)
    return all
  }

  const soon = (isTrue: () => boolean): Promise<void> => expect.poll(isTrue).toBe(true)

  test('the one that is there for longest leads, and the next one when it closes', async () => {
    const [first, second] = await fleets(2)
    expect([first!.leads, first!.joined, second!.leads, second!.joined]).toEqual([true, false, false, true])
    const heard: boolean[] = []
    second!.onLeads((leads) => heard.push(leads))
    await first!.close()
    await soon(() => second!.leads)
    expect(heard).toEqual([true])
  })

  test('one that gives no sign of life does not lead any more', async () => {
    const name = randomUUID()
    const gone = await SharedFleet.open({ storage: storageOf(0), name, now: () => Date.now() - 60_000 })
    opened.push(gone)
    const [second] = await fleets(1, name)
    expect(second!.leads).toBe(true)
    expect(second!.joined).toBe(false)
  })

  test('what one server has counted counts at the others, and what it takes back does not', async () => {
    const [one, two] = (await fleets(2)).map((fleet) => new Windows(Date.now, 'x', fleet)) as [Windows, Windows]
    const giveBack = one.count('back', 5, 60)
    // Far from the limit: the others need not know.
    for (let n = 0; n < 9; n++) one.take('far', 100, 60)
    for (let n = 0; n < 3; n++) expect(one.take('near', 5, 60)).toBe(true)
    await soon(() => two.waitMs('near', 3) > 0 && two.waitMs('back', 1) > 0)
    expect([two.waitMs('near', 4), two.waitMs('far', 1)]).toEqual([0, 0])
    expect([1, 2, 3].map(() => two.take('near', 5, 60))).toEqual([true, true, false])
    giveBack()
    await soon(() => one.waitMs('near', 5) > 0 && two.waitMs('back', 1) === 0)
    two.delete('near')
    await soon(() => one.waitMs('near', 1) === 0)
    expect(one.take('near', 1, 60)).toBe(true)
  })

  test('a claim is given to one, a secret is the same for all, and work of one name is done one after another', async () => {
    const [one, two] = (await fleets(2)) as [SharedFleet, SharedFleet]
    for (let n = 0; n < 5; n++)
      expect((await Promise.all([one.claim(`c${n}`), two.claim(`c${n}`)])).toSorted()).toEqual([false, true])
    expect(await one.secret('s')).toEqual(await two.secret('s'))
    expect(await one.secret('s')).not.toEqual(await one.secret('other'))
    let running = 0
    const work = async (): Promise<void> => {
      expect(++running).toBe(1)
      await new Promise((resolve) => setTimeout(resolve, 20))
      running--
    }
    await Promise.all([one, two, one, two].map((fleet) => fleet.exclusively('w', work)))
  })

  test('a question is answered by the server that it is to; one to nobody is not', async () => {
    const name = randomUUID()
    const [one, two] = (await fleets(2, name)) as [SharedFleet, SharedFleet]
    const told: unknown[] = []
    two.listen('t', (message) => {
      told.push(message['n'])
      return { got: message['n'] }
    })
    // An answer that takes longer than five seconds is given up.
    await expect.poll(() => one.ask(two.id, { topic: 't', n: 1 })).toEqual({ got: 1 })
    one.tell({ topic: 't', n: 2 })
    await soon(() => told.includes(2))
    expect([...new Set(told)]).toEqual([1, 2])
    // Costs no message, as anybody may name a server.
    expect(await one.ask('nobody00', { topic: 't', n: 3 })).toBeUndefined()
    await using stored = await open(`${name} fleet`, { storage: storageOf(0) })
    const messages = stored.collection<{ to: string }>('messages')
    await expect.poll(async () => (await messages.find().toArray()).map(({ to }) => to)).toEqual([''])
  })

  test('a message that fails at its listener takes no other one with it', async () => {
    const name = randomUUID()
    const [one] = (await fleets(1, name)) as [SharedFleet]
    const heard: unknown[] = []
    one.listen('t', ({ n }) => {
      heard.push(n)
      if (n !== 3) throw new Error('no')
    })
    await using stored = await open(`${name} fleet`, { storage: storageOf(1) })
    const told = [1, 2, 3].map((n) => ({
      _id: `m${n}`,
      from: 'x',
      to: '',
      message: { topic: 't', n },
      atMs: Date.now(),
    }))
    await stored.collection('messages').insert(told)
    await expect.poll(() => heard).toEqual([1, 2, 3])
  })

  test('a job of the clock is started by one server', async () => {
    const [one, two] = (await fleets(2)) as [SharedFleet, SharedFleet]
    let runs = 0
    const all = [one, two].map((fleet) => new Schedules({ write: () => {} }, fleet))
    for (const schedules of all) schedules.add('job', '* * * * *', () => runs++)
    // As their clocks do, at the same minute.
    await Promise.all(all.map((schedules) => schedules.startByClock('job')))
    expect(runs).toBe(1)
    for (const schedules of all) schedules.run(SYSTEM, 'job')
    expect(runs).toBe(3)
    for (const schedules of all) await schedules.close()
  })

  test('a device continues at any server, also at one that starts later', async () => {
    const name = randomUUID()
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

  test('the mails of all servers are sent once, also those of a server that has led before', async () => {
    await using smtp = await MailServer.start()
    const name = randomUUID()
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
