/**
 * Goal: a server that finds PostgreSQL put back to an earlier state says so, and does not answer from what it has cached.
 * Method: the data folder is copied and put back, with and without writes of another server since; a restart and a crash are other things.
 */
import { cpSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { open, type Database } from '../../db/src/index.ts'
import type { PageStore } from '../../db/src/storage.ts'
import { postgres } from '../src/index.ts'
import { newName, onPostgres, type OnPostgres } from './on-postgres.ts'

interface Item {
  readonly n: number
}

async function insert(db: Database, first: number, count: number): Promise<void> {
  const items = db.collection<Item>('items')
  for (let n = first; n < first + count; n++) await items.insert({ _id: `i${n}`, n })
}

/** Runs `work`, and puts the data folder back to what it was before. */
async function putBack({ server }: OnPostgres, work: () => Promise<void>): Promise<void> {
  await server.stop()
  const backup = `${server.data}-backup`
  cpSync(server.data, backup, { recursive: true, preserveTimestamps: true })
  await server.begin()
  await work()
  await server.stop()
  rmSync(server.data, { recursive: true })
  cpSync(backup, server.data, { recursive: true, preserveTimestamps: true })
  rmSync(backup, { recursive: true })
  spawnSync('chown', ['-R', '--reference', server.folder, server.data])
  spawnSync('chmod', ['700', server.data])
}

type Sequence = Parameters<PageStore['append']>[0]['sequence']

type PageNumber = Parameters<PageStore['commit']>[0]['firstNewPageId']

const checkpoint = async (store: PageStore, text: string): Promise<void> =>
  store.commit({
    expectedGeneration: 0 as Parameters<PageStore['claim']>[1],
    meta: { generation: 1, sequence: 1, bytes: new TextEncoder().encode(text) } as Parameters<
      PageStore['commit']
    >[0]['meta'],
    pages: [{ id: 1 as PageNumber, bytes: new TextEncoder().encode(text) }],
    free: [],
    firstNewPageId: 1 as PageNumber,
    durability: 'strict',
  })

const append = async (store: PageStore, sequence: number): Promise<void> =>
  store.append({ sequence: sequence as Sequence, bytes: new TextEncoder().encode(`record ${sequence}`) }, 'strict')

onPostgres((get) => {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    test(`a server continues after PostgreSQL has stopped by ${signal} and started again`, async () => {
      const { server, url } = get()
      await using db = await open(newName(), { storage: postgres(url), durability: 'strict' })
      await insert(db, 0, 10)
      await server.stop(signal)
      await server.begin()
      await insert(db, 10, 10)
      expect(await db.collection('items').find().count()).toBe(20)
    })
  }

  for (const others of [0, 30]) {
    test(`a backup is put back, and another server writes ${others} documents: the first one says so`, async () => {
      const { server, url } = get()
      const name = newName()
      await using db = await open(name, { storage: postgres(url), durability: 'strict' })
      await insert(db, 0, 5)
      await putBack(get(), () => insert(db, 5, 20))
      const watched = db.collection<Item>('items')
      const ended = Promise.allSettled([
        watched.changes({ since: 'now', live: true, limit: 1e6 }).toArray(),
        new Promise((_resolve, reject) => {
          watched
            .find()
            .live()
            .subscribe(() => {}, { onEnd: reject })
        }),
      ])
      await server.begin()
      await using other = await open(name, { storage: postgres(url), durability: 'strict' })
      await insert(other, 100, others)
      await expect(insert(db, 50, 1)).rejects.toMatchObject({ code: 'PANNIER_RESTORED' })
      const cached = async (): Promise<unknown> => db.collection('items').get('i20')
      await expect(cached()).rejects.toMatchObject({ code: 'PANNIER_RESTORED' })
      // By themselves: an open feed and a live query would hear nothing more.
      for (const one of await ended) expect(one).toMatchObject({ reason: { code: 'PANNIER_RESTORED' } })
      await using again = await open(name, { storage: postgres(url) })
      expect(await again.collection('items').find().count()).toBe(5 + others)
      expect((await again.check()).problems).toEqual([])
    })
  }

  test('a handle whose server another one has adopted looks before it writes, and continues', async () => {
    const { server, url } = get()
    const name = newName()
    const [one, two] = [await postgres(url).open(name), await postgres(url).open(name)]
    for (const store of [one, two]) await store.read()
    await append(one, 1)
    await two.read()
    await server.stop()
    await server.begin()
    await one.read()
    await expect(append(two, 2)).rejects.toMatchObject({ code: 'PANNIER_STALE' })
    await two.read()
    await append(two, 2)
    expect((await two.read()).log.map(({ sequence }) => sequence)).toEqual([1, 2])
    for (const store of [one, two]) await store.close()
  })

  test('a handle that has seen what is gone writes nothing, although the sequence is the one that it expects', async () => {
    const { server, url } = get()
    const name = newName()
    const [one, two] = [await postgres(url).open(name), await postgres(url).open(name)]
    await one.read()
    await append(one, 1)
    await putBack(get(), async () => {
      await one.read()
      await append(one, 2)
    })
    await server.begin()
    await two.read()
    await append(two, 2)
    await expect(append(one, 3)).rejects.toMatchObject({ code: 'PANNIER_STALE' })
    await expect(
      one.claim('token', 0 as Parameters<PageStore['claim']>[1], 0 as Parameters<PageStore['claim']>[2]),
    ).rejects.toMatchObject({ code: 'PANNIER_STALE' })
    await expect(one.putKeyring(undefined, new Uint8Array(9), 'strict')).rejects.toMatchObject({
      code: 'PANNIER_STALE',
    })
    await expect(async () => one.read()).rejects.toMatchObject({ code: 'PANNIER_RESTORED' })
    expect((await two.read()).log).toHaveLength(2)
    for (const store of [one, two]) await store.close()
  })

  /** As a failover does that loses what was written last, and nothing else. */
  async function lose(name: string, ...changes: readonly string[]): Promise<void> {
    const { server } = get()
    for (const change of changes)
      server.sql('pannier_test', `${change} where database = (select id from pannier.database where name = '${name}')`)
    await server.stop()
    await server.begin()
  }

  test('a handle that has seen a storage checkpoint which is lost reads no pages of another one', async () => {
    const { url } = get()
    const name = newName()
    const [one, two] = [await postgres(url).open(name), await postgres(url).open(name)]
    await one.read()
    await append(one, 1)
    await checkpoint(one, 'lost')
    await lose(
      name,
      'update pannier.fence set generation = 0, base = 0',
      'update pannier.meta set bytes = null',
      'delete from pannier.page',
    )
    await two.read()
    await checkpoint(two, 'other')
    await expect(async () => one.readPages([1 as PageNumber])).rejects.toMatchObject({ code: 'PANNIER_RESTORED' })
    await expect(async () => one.read()).rejects.toThrow(/has seen pages or keys that are not there any more/)
    for (const store of [one, two]) await store.close()
  })

  test('a handle that has a key which is lost writes nothing with it', async () => {
    const { server, url } = get()
    const [first, second] = [new Uint8Array(9).fill(1), new Uint8Array(9).fill(2)]
    const name = newName()
    const store = await postgres(url).open(name)
    await store.putKeyring(undefined, first, 'strict')
    await server.stop()
    await server.begin()
    expect((await store.read()).keyring).toEqual(first)
    await store.putKeyring(first, second, 'strict')
    await lose(
      name,
      `update pannier.meta set keyring = decode('${Buffer.from(first).toString('hex')}', 'hex')`,
      'update pannier.fence set keyrings = keyrings - 1',
    )
    await expect(async () => store.read()).rejects.toMatchObject({ code: 'PANNIER_RESTORED' })
    await store.close()
  })

  test('a database of PostgreSQL that is made again of a copy of itself is an earlier state', async () => {
    const { server } = get()
    const own = newName()
    const copy = (from: string, to: string): string => {
      server.sql('postgres', `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}'`)
      return server.sql('postgres', `create database ${to} template ${from}`)
    }
    const store = await postgres(server.make(own)).open('shop')
    await store.read()
    await append(store, 1)
    copy(own, `${own}_copy`)
    await append(store, 2)
    server.sql('postgres', `drop database ${own} with (force)`)
    copy(`${own}_copy`, own)
    await expect(async () => store.read()).rejects.toMatchObject({ code: 'PANNIER_RESTORED' })
    await store.close()
  })
})
