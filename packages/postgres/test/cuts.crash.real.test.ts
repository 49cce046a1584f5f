/**
 * Goal: a network that is cut in the middle of a commit loses nothing, doubles nothing and leaves nothing that appears later.
 * Method: a proxy cuts before the request, before the answer, or lets the request arrive late. Each write must succeed, as the store
 * finds out what came of it. PostgreSQL also stops and starts again under writes, in order and by a crash.
 */
import { expect, test } from 'vitest'
import { open } from '../../db/src/index.ts'
import { timeoutOf, times } from '../../../tools/test/seeds.ts'
import { postgres } from '../src/index.ts'
import { CuttingProxy, type Cut } from './cutting-proxy.ts'
import { newName, onPostgres } from './on-postgres.ts'

interface Item {
  readonly n: number
  readonly mark?: string
}

const CUTS: readonly Cut[] = ['request', 'answer', 'late']
/** In the bytes of a record. */
const MARK = 'MARKMARKMARK'

onPostgres((get) => {
  for (const cut of CUTS) {
    test(`cut: ${cut}`, { timeout: timeoutOf(120_000) }, async () => {
      const { server } = get()
      await using proxy = await CuttingProxy.start(server.port)
      const name = newName()
      const storage = postgres(server.url('pannier_test', proxy.port), { connectionsMax: 1, listenUrl: get().url })
      await using db = await open(name, { storage, durability: 'strict' })
      const items = db.collection<Item>('items')
      await items.insert({ _id: 'counter', n: 0, mark: MARK })
      const rounds = times(6)
      for (let round = 0; round < rounds; round++) {
        proxy.cutAt(MARK, cut)
        await Promise.all([
          items.update('counter', (item) => ({ ...item, n: item.n + 1 })),
          items.insert({ _id: `r${round}`, n: round, mark: MARK }),
        ])
        await items.insert({ _id: `s${round}`, n: round })
      }
      // What was late is there by now, or never comes.
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(proxy.cuts).toBe(rounds)
      await using other = await open(name, { storage: postgres(get().url) })
      const found = other.collection<Item>('items')
      expect((await found.get('counter'))!.n).toBe(rounds)
      expect(await found.find().count()).toBe(1 + 2 * rounds)
      expect((await other.check()).problems).toEqual([])
    })
  }

  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    test(
      `PostgreSQL stops by ${signal} and starts again under writes: they wait`,
      { timeout: timeoutOf(120_000) },
      async () => {
        const { server, url } = get()
        const name = newName()
        await using db = await open(name, { storage: postgres(url), durability: 'strict' })
        const items = db.collection<Item>('items')
        await items.insert({ _id: 'counter', n: 0 })
        let isOver = false
        let written = 0
        const writing = (async () => {
          for (; !isOver; written++) await items.update('counter', (item) => ({ ...item, n: item.n + 1 }))
        })()
        for (let round = 0; round < times(2); round++) {
          const before = written
          await expect.poll(() => written).toBeGreaterThan(before + 3)
          await server.stop(signal)
          await server.begin()
        }
        const after = written
        await expect.poll(() => written).toBeGreaterThan(after)
        isOver = true
        await writing
        await using other = await open(name, { storage: postgres(url) })
        expect((await other.collection<Item>('items').get('counter'))!.n).toBe(written)
      },
    )
  }

  test(
    'where PostgreSQL stays away a write fails in time, and it is said that its outcome is not known',
    { timeout: 120_000 },
    async () => {
      const { server } = get()
      await using proxy = await CuttingProxy.start(server.port)
      const storage = postgres(server.url('pannier_test', proxy.port), { waitMsMax: 300 })
      await using db = await open(newName(), { storage, durability: 'strict' })
      const items = db.collection<Item>('items')
      await items.insert({ _id: 'a', n: 0, mark: MARK })
      proxy.leaveAt(MARK)
      const cut = items.update('a', (item) => ({ ...item, n: 1 }))
      await expect(cut).rejects.toMatchObject({ code: 'PANNIER_OUTCOME_UNKNOWN' })
      await expect(items.insert({ _id: 'b', n: 0 })).rejects.toMatchObject({ code: 'PANNIER_RECOVERY_NEEDED' })
      // What is cached is read all the same.
      expect((await items.get('a'))!.n).toBe(0)
      proxy.comeBack()
      await items.insert({ _id: 'c', n: 0 })
      expect((await items.get('a'))!.n).toBe(1)
      expect(await items.get('b')).toBeUndefined()
    },
  )
})
