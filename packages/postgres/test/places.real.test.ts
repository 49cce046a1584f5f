/** Goal: databases are spread over several PostgreSQLs by name, stay where they are, and are never in two places. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { open } from '../../db/src/index.ts'
import { freePort } from '../../../tools/processes.ts'
import { postgres } from '../src/index.ts'
import { newName, onPostgres } from './on-postgres.ts'
import { copiesOf, several } from './on-several.ts'

const NAMES = Array.from({ length: 24 }, (_, n) => `tenant ${n}`)

onPostgres((get) => {
  async function makeAll(urls: readonly string[]): Promise<(string | undefined)[]> {
    const storage = postgres(urls)
    return Promise.all(
      NAMES.map(async (name) => {
        await using db = await open(name, { storage })
        await db.collection('items').upsert({ _id: name })
        return storage.placeOf(name)
      }),
    )
  }

  test('all servers find a database at the same place, and one that is added gets new ones only', async () => {
    const urls = several(get(), 3)
    const [one, two] = urls
    const first = await makeAll([one!, two!])
    expect(new Set(first).size).toBe(2)
    expect(await makeAll([one!, two!])).toEqual(first)
    expect(await makeAll(urls)).toEqual(first)
    const storage = postgres(urls)
    const places = await Promise.all(
      Array.from({ length: 24 }, async (_, n) => {
        await using db = await open(`later ${n}`, { storage })
        await db.collection('items').insert({ _id: 'a' })
        return storage.placeOf(`later ${n}`)
      }),
    )
    expect(new Set(places).size).toBe(3)
  })

  test('servers that open a new database at the same time, with different lists, open the same one', async () => {
    const urls = several(get(), 3)
    await makeAll(urls)
    const lists = [urls, urls.slice(0, 2), urls, urls.slice(0, 2)]
    for (const name of ['new 1', 'new 2', 'new 3', 'new 4']) {
      const outcomes = await Promise.allSettled(
        lists.map(async (list, n) => {
          await using db = await open(name, { storage: postgres(list) })
          await db.collection('items').insert({ _id: `from ${n}` })
        }),
      )
      const done = outcomes.flatMap(({ status }, n) => (status === 'fulfilled' ? [`from ${n}`] : []))
      // One that does not know the place says so, and makes nothing.
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
      await using db = await open(name, { storage: postgres(urls) })
      expect((await db.collection('items').find().toArray()).map(({ _id }) => _id).sort()).toEqual(done)
      expect(copiesOf(get(), urls, name)).toHaveLength(1)
    }
  })

  test('a PostgreSQL that was alone keeps its databases when others are added, and is refused alone if it is not the first', async () => {
    const [one, two, three, four] = several(get(), 4)
    {
      await using db = await open('shop', { storage: postgres(one!) })
      await db.collection('items').insert({ _id: 'a' })
    }
    await makeAll([one!, two!])
    await using db = await open('shop', { storage: postgres([one!, two!]) })
    expect(await db.collection('items').get('a')).toBeDefined()
    const refusal = async (urls: string | readonly string[], name = 'shop'): Promise<unknown> =>
      open(name, { storage: postgres(urls) }).then(
        async (opened) => opened.close(),
        (error: unknown) => error,
      )
    const refused = (message: RegExp): unknown => ({
      code: 'PANNIER_OPEN_FAILED',
      message: expect.stringMatching(message) as string,
    })
    expect(await refusal(two!)).toMatchObject(
      refused(/is one of several\. Name all of them, in the same order/) as object,
    )
    expect(await refusal([two!, one!])).toMatchObject(refused(/is one of several/) as object)
    const moved = NAMES.find((name) => copiesOf(get(), [one!, two!], name)[0]!.at === 1)!
    expect(await refusal(one!, moved)).toMatchObject(refused(/was moved\. Name all PostgreSQLs/) as object)
    expect(await refusal([one!, three!], moved)).toMatchObject(
      refused(/is at a PostgreSQL that is not named/) as object,
    )
    await makeAll([four!])
    expect(await refusal([one!, two!, four!], 'another new')).toMatchObject(refused(/has databases already/) as object)
    expect(() => postgres([one!, one!])).toThrow(/each URL must be of another PostgreSQL/)
  })

  test('one that is away concerns its own databases only, and new ones', async () => {
    const urls = several(get(), 3)
    const [one, two, three] = urls as [string, string, string]
    await makeAll(urls)
    const at = (n: number): string => NAMES.find((name) => copiesOf(get(), urls, name)[0]!.at === n)!
    const nobody = two.replace(/:\d+\//, `:${await freePort()}/`)
    const storage = postgres([one, nobody, three], { waitMsMax: 1000 })
    for (const name of [at(0), at(2)]) {
      await using db = await open(name, { storage })
      expect(await db.collection('items').find().count()).toBe(1)
    }
    for (const name of [at(1), 'a new one'])
      await expect(open(name, { storage })).rejects.toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
    expect(copiesOf(get(), urls, 'a new one')).toEqual([])
  })

  test('destroying a database frees its name at all places', async () => {
    const urls = several(get(), 2)
    const storage = postgres(urls)
    for (let round = 0; round < 3; round++) {
      await using db = await open('gone', { storage })
      expect(await db.collection('items').find().count()).toBe(0)
      await db.collection('items').insert({ _id: 'a' })
      await db.destroy()
      expect(await storage.placeOf('gone')).toBeUndefined()
      expect(copiesOf(get(), urls, 'gone')).toEqual([])
    }
  })

  test('an idle database costs no statement: a server asks each PostgreSQL once a poll, however many are open', async () => {
    const urls = several(get(), 2)
    const pollMs = 200
    for (const count of [2, 60]) {
      const storage = postgres(urls, { notify: false, pollMs })
      const all = await Promise.all(Array.from({ length: count }, (_, n) => open(`idle ${n}`, { storage })))
      const statementsPerPoll = async (): Promise<number> => {
        const [before, startMs] = [storage.counts.statements, performance.now()]
        await new Promise((resolve) => setTimeout(resolve, 5 * pollMs))
        return ((storage.counts.statements - before) * pollMs) / (performance.now() - startMs)
      }
      // One of each PostgreSQL, and a heartbeat. The first poll finds databases that it did not know, and each is looked at.
      await expect.poll(statementsPerPoll).toBeLessThanOrEqual(2.4)
      for (const db of all) await db.close()
    }
  })

  test('opening takes one round trip more than at a single PostgreSQL', async () => {
    // No heartbeat, however long it takes.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const urls = several(get(), 2)
    const storage = postgres(urls, { notify: false, pollMs: 1e9 })
    const name = newName()
    {
      await using made = await open(name, { storage })
      await made.collection('items').insert(Array.from({ length: 2000 }, (_, n) => ({ _id: `i${n}`, n })))
      await made.flush()
    }
    // Its connections, and its sign of life at each of them.
    const others = await Promise.all(NAMES.map((other) => open(other, { storage })))
    const { trips } = storage.counts
    await using db = await open(name, { storage })
    expect(storage.counts.trips - trips).toBeLessThanOrEqual(4)
    expect(await db.collection('items').find().count()).toBe(2000)
    for (const other of others) await other.close()
  })

  test.each([1, 2])('tables of version %i are made current, and their databases are kept', async (version) => {
    const { server } = get()
    const [url] = several(get(), 1)
    const database = new URL(url!).pathname.slice(1)
    {
      await using db = await open('shop', { storage: postgres(url!) })
      await db.collection('items').insert({ _id: 'a' })
    }
    if (version === 1)
      server.sql(database, `drop table pannier.identity, pannier.placement; alter table pannier.fence drop column away`)
    server.sql(
      database,
      `alter table pannier.fence drop column keyrings; alter table pannier.epoch drop column generation, drop column keyrings;
        update pannier.version set version = ${version}`,
    )
    const opened = await Promise.all(Array.from({ length: 4 }, () => open('shop', { storage: postgres(url!) })))
    for (const db of opened) {
      expect(await db.collection('items').get('a')).toBeDefined()
      await db.close()
    }
    expect(server.sql(database, 'select count(*) from pannier.placement')).toBe('1')
  })
})
