/**
 * Goal: an answer that comes late, when the handle has made other calls meanwhile, takes nothing back that the handle has seen. No call
 * that has happened is said to have been refused.
 */
import { expect, test } from 'vitest'
import { systemEnvironment } from '../../db/src/database/lifecycle/environment.ts'
import type { Commit, PageStore } from '../../db/src/storage.ts'
import { postgres } from '../src/index.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { newName, onPostgres } from './on-postgres.ts'
import { moved, several } from './on-several.ts'

type Sequence = Parameters<PageStore['append']>[0]['sequence']
type PageNumber = Commit['firstNewPageId']

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes)

const append = async (store: PageStore, sequence: number): Promise<void> =>
  store.append({ sequence: sequence as Sequence, bytes: bytesOf(`record ${sequence}`) }, 'strict')

/** One page. With `record` it is a commit that skips the log. */
const commit = async (store: PageStore, generation: number, sequence: number, record?: string): Promise<void> =>
  store.commit({
    expectedGeneration: (generation - 1) as Commit['expectedGeneration'],
    meta: { generation, sequence, bytes: bytesOf(`meta ${generation} ${record}`) } as Commit['meta'],
    pages: [{ id: generation as PageNumber, bytes: bytesOf(`page ${generation}`) }],
    free: [],
    firstNewPageId: generation as PageNumber,
    durability: 'strict',
    ...(record !== undefined && { record: { sequence: sequence as Sequence, bytes: bytesOf(record) } }),
  })

onPostgres((get) => {
  /** A handle whose network can be held up, and another one. */
  async function twoHandles(): Promise<{
    proxy: CuttingProxy
    held: PageStore
    other: PageStore
    putBackTo(sequence: number): Promise<void>
    [Symbol.asyncDispose](): Promise<void>
  }> {
    const { server, url } = get()
    const name = newName()
    const proxy = await CuttingProxy.start(server.port)
    const held = await postgres(server.url('pannier_test', proxy.port)).open(name)
    const other = await postgres(url).open(name)
    return {
      proxy,
      held,
      other,
      /** As a failover does that loses what was committed last. */
      async putBackTo(sequence) {
        const id = `(select id from pannier.database where name = '${name}')`
        server.sql('pannier_test', `delete from pannier.log where database = ${id} and sequence > ${sequence}`)
        server.sql('pannier_test', `update pannier.fence set sequence = ${sequence} where database = ${id}`)
        await server.stop()
        await server.begin()
      },
      async [Symbol.asyncDispose]() {
        await held.close()
        await other.close()
        await proxy[Symbol.asyncDispose]()
      },
    }
  }

  test('an append whose answer comes after a newer state was read', async () => {
    await using handles = await twoHandles()
    const { proxy, held, other } = handles
    await held.read()
    const answer = proxy.holdAnswerAt('pannier_append')
    const appended = append(held, 1)
    await answer.given
    await other.read()
    await append(other, 2)
    expect((await held.read()).log).toHaveLength(2)
    answer.release()
    await appended
    await handles.putBackTo(1)
    await expect(async () => held.read()).rejects.toMatchObject({ code: 'PANNIER_RESTORED' })
  })

  test('a read whose answer comes after an append', async () => {
    await using handles = await twoHandles()
    const { proxy, held } = handles
    await held.read()
    await append(held, 1)
    const answer = proxy.holdAnswerAt('pannier_read')
    const reading = held.read()
    await answer.given
    await append(held, 2)
    answer.release()
    expect((await reading).log).toHaveLength(1)
    await handles.putBackTo(1)
    await expect(async () => held.read()).rejects.toMatchObject({ code: 'PANNIER_RESTORED' })
  })

  test('a read whose answer comes after a storage checkpoint', async () => {
    await using handles = await twoHandles()
    const { proxy, held } = handles
    await held.read()
    await append(held, 1)
    await commit(held, 1, 1)
    await held.read()
    const answer = proxy.holdAnswerAt('pannier_read')
    const reading = held.read()
    await answer.given
    await commit(held, 2, 1)
    answer.release()
    const { meta } = await reading
    expect([meta?.generation, textOf(meta?.bytes)]).toEqual([1, 'meta 1 undefined'])
    expect(textOf((await held.read()).meta?.bytes)).toBe('meta 2 undefined')
  })

  test('an append whose answer comes after another server was found', async () => {
    await using handles = await twoHandles()
    const { proxy, held, other } = handles
    await held.read()
    await append(held, 1)
    const answer = proxy.holdAnswerAt('pannier_append')
    const appended = append(held, 2)
    await answer.given
    // The proxy keeps the answer, and the old server is gone with what it had committed last.
    proxy.keepsHeld = true
    await handles.putBackTo(1)
    await held.read()
    answer.release()
    await appended
    await other.read()
    expect((await other.read()).log.map(({ bytes }) => textOf(bytes))).toEqual(['record 1', 'record 2'])
  })

  test('a commit to pages that has happened, and others have written on before its outcome was known', async () => {
    await using handles = await twoHandles()
    const { proxy, held, other } = handles
    await held.read()
    proxy.leaveAt('with fence as')
    const committed = commit(held, 1, 1, 'mine')
    await expect.poll(async () => (await other.read()).meta?.generation).toBe(1)
    await commit(other, 2, 2, 'theirs')
    proxy.comeBack()
    await committed
    expect((await held.read()).meta?.generation).toBe(2)
  })

  test('a transaction that does not begin does nothing', async () => {
    await using handles = await twoHandles()
    const { proxy, held, other } = handles
    await held.read()
    proxy.garble('begin')
    await expect(commit(held, 1, 1, 'record')).rejects.toMatchObject({ code: 'PANNIER_IO_FAILED' })
    expect(await other.read()).toMatchObject({ meta: undefined, log: [] })
    expect(await other.listPages()).toEqual([])
  })

  test('a poll whose answer comes after the handle has got the lease', async () => {
    const { server } = get()
    await using proxy = await CuttingProxy.start(server.port)
    const storage = postgres(server.url('pannier_test', proxy.port), { notify: false, pollMs: 10 })
    const handle = storage.coordinator!(newName(), systemEnvironment())
    const poll = proxy.holdAnswerAt('pannier_poll')
    await poll.given
    const lease = await handle.acquireWriter()
    // It begins when the one before has ended.
    const next = proxy.holdAnswerAt('pannier_poll')
    poll.release()
    await next.given
    next.release()
    expect(lease.lost).toBe(false)
    handle.close()
  })

  test('a handle that closes while it asks for the lease leaves nobody waiting for it', async () => {
    const { server, url } = get()
    await using proxy = await CuttingProxy.start(server.port)
    const name = newName()
    const options = { notify: false, pollMs: 1e9 }
    const behind = postgres(server.url('pannier_test', proxy.port), options)
    const [closing, other] = [
      behind.coordinator!(name, systemEnvironment()),
      behind.coordinator!(name, systemEnvironment()),
    ]
    const holder = postgres(url, options).coordinator!(name, systemEnvironment())
    const lease = await holder.acquireWriter()
    const asked = proxy.holdAt('with taken as')
    const refused = expect(closing.acquireWriter()).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
    await asked.given
    closing.close()
    // By other connections than the question.
    for (let trips = 0; trips < 3; trips++) await other.oldestPinned()
    asked.release()
    await refused
    const queue = `select cardinality(queue) from pannier.turn where name = '${name}'`
    await expect.poll(() => server.sql('pannier_test', queue)).toBe('0')
    lease.release()
    for (const handle of [holder, other]) handle.close()
  })

  /** A handle whose database is behind a network that can be held up, and the storage that moves it away. */
  async function toBeMoved(
    prepare: (store: PageStore) => Promise<void>,
  ): Promise<{ proxy: CuttingProxy; held: PageStore; move(): Promise<void> }> {
    const { server } = get()
    const urls = several(get(), 2)
    const proxy = await CuttingProxy.start(server.port)
    const behind = urls.map((url, i) => (i === 0 ? url.replace(`:${server.port}/`, `:${proxy.port}/`) : url))
    const mover = postgres(urls)
    const storage = postgres(behind)
    for (let n = 0; ; n++) {
      const held = await storage.open(`shop ${n}`)
      await prepare(held)
      if ((await mover.placeOf(`shop ${n}`)) === urls[0]!.split('@')[1])
        return { proxy, held, move: () => moved(() => mover.move(`shop ${n}`, urls[1]!)) }
      await held.close()
    }
  }

  test('two reads that find that the database has moved, one after the other', async () => {
    const { proxy, held, move } = await toBeMoved((store) => append(store, 1))
    await held.read()
    await move()
    const answer = proxy.holdAnswerAt('pannier_read')
    const late = held.read()
    await answer.given
    expect((await held.read()).log).toHaveLength(1)
    answer.release()
    expect((await late).log).toHaveLength(1)
    await held.close()
    await proxy[Symbol.asyncDispose]()
  })

  test('pages that are replaced while the database moves', async () => {
    const { proxy, held, move } = await toBeMoved(async (store) => {
      await store.putKeyring(undefined, bytesOf('keyring'), 'strict')
      await commit(store, 1, 0)
    })
    proxy.cutAt('update pannier.page', 'request')
    const replaced = Promise.allSettled([
      held.replacePages(bytesOf('keyring'), [{ id: 1 as PageNumber, bytes: bytesOf('sealed again') }]),
    ])
    while (proxy.cuts === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    proxy.goAway()
    await move()
    // The other call has waited for longer, and looks less often by now.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const reading = held.read()
    proxy.comeBack()
    await reading
    const [{ status }] = await replaced
    const [page] = await held.readPages([1 as PageNumber])
    expect(textOf(page)).toBe(status === 'fulfilled' ? 'sealed again' : 'page 1')
    await held.close()
    await proxy[Symbol.asyncDispose]()
  })
})
