/** Goal: each repair that docs/internals/client.md argues for is needed. Each test fails when its repair is switched off in the source. */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { seededRandom } from '../../db/testing/random.ts'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { AppServer, type User } from './app-server.ts'
import type { AppClient } from './device.ts'
import { inClient, testRepairs, type RepairScene } from './repair-scenes.ts'
import { MortalStorage } from './survival/mortal-storage.ts'

/** Calls of the storage in one sync. */
const CALLS_MAX = 100

const clock = virtualEnvironment()
let app: AppServer
let ann: User

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
})
afterAll(() => app[Symbol.asyncDispose]())

const testAll = (cases: Parameters<typeof testRepairs>[0]): void => testRepairs(cases, () => ({ app, ann }))
const task = (client: AppClient, id: string): Promise<unknown> => client.collection('tasks').get(id)

/** A device is killed at each call of the storage that a sync makes, in turn. Then it starts again and syncs. */
async function killAtEachCall(scene: RepairScene): Promise<void> {
  for (let call = 0, isKilled = true; isKilled; call++) {
    expect(call).toBeLessThan(CALLS_MAX)
    const storage = new MortalStorage(seededRandom(call))
    const device = scene.device(storage)
    const dying = await scene.client(device)
    const id = await scene.addTask()
    storage.killAt(call)
    isKilled = !(await Promise.race([dying.sync().then(() => true), storage.gone]))
    storage.kill()
    storage.revive()
    scene.abandon()
    const client = await scene.tab(device)
    await client.sync()
    expect(await task(client, id)).toMatchObject({ title: 'one' })
  }
}

/** The server goes back to what it was before `work`. */
async function takeBack(work: () => Promise<void>): Promise<void> {
  const copy = await app.copy()
  await work()
  // The server writes again later what it has lost, with another time.
  clock.jump(1000)
  await app.restart(copy)
  await rm(copy, { recursive: true })
}

// Pulls.
testAll([
  {
    name: 'a client that is killed at any call of a pull misses nothing (R10)',
    run: killAtEachCall,
    without: [
      inClient(
        'sync-loop.ts',
        'await applyPull(db, request, answer)',
        `await (async () => {
          const tokens = Object.entries(answer.collections).map(([name, { token }]) => [name, token])
          for (const [_id, token] of tokens)
            await db.transaction((tx) => new Store(tx).setState({ _id, token, isShown: true, isReset: false }))
          return applyPull(db, { ...request, collections: Object.fromEntries(tokens) }, answer)
        })()`,
      ),
    ],
  },
  {
    name: 'a page that comes later than that of another tab is not applied (R10)',
    run: async (scene) => {
      const device = scene.device()
      const late = await scene.client(device)
      const id = await scene.addTask()
      const pull = await scene.beginPull(late)
      const early = await scene.tab(device)
      await scene.editAtServer(id, { title: 'two' })
      await early.sync()
      await pull.arrive()
      expect(await task(early, id)).toMatchObject({ title: 'two' })
    },
    without: [inClient('pull.ts', 'if ((state?.token ?? null) !== token) return { isApplied: false }', '')],
  },
  {
    name: 'what others change is shown below the writes that wait',
    run: async (scene) => {
      const id = await scene.addTask()
      const client = await scene.client()
      await scene.editAtServer(id, { title: 'theirs', count: 5 })
      const pull = await scene.beginPull(client)
      await client.collection('tasks').update(id, { title: 'mine' }, { overwrite: true })
      app.lose = (path) => (path.endsWith('/push') ? 'request' : undefined)
      await expect(pull.arrive()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
      expect(await task(client, id)).toMatchObject({ title: 'mine', count: 5 })
    },
    without: [
      inClient(
        'pull.ts',
        'if (!pending.has(key)) plain.set(id, record)',
        'if (!pending.has(key) || pending.size > 0) plain.set(id, record)',
      ),
    ],
  },
  {
    name: 'a record that has left goes, although a write of it waits, and the write is refused with its text',
    run: async (scene) => {
      const id = await scene.addTask()
      const client = await scene.client()
      await app.call(`PATCH /collections/projects/records/${scene.project}`, { members: [] })
      const pull = await scene.beginPull(client)
      const write = client.collection('tasks').update(id, { title: 'mine' })
      await write
      app.lose = (path) => (path.endsWith('/push') ? 'request' : undefined)
      await expect(pull.arrive()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
      expect(await task(client, id)).toBeUndefined()
      app.lose = () => undefined
      await client.sync()
      expect(await write.server).toMatchObject({
        status: 'rejected',
        rejected: { code: 'NOT_FOUND', theirs: null, writes: [{ mine: { title: 'mine' }, base: { title: 'one' } }] },
      })
      expect(await task(client, id)).toBeUndefined()
    },
    without: [
      inClient('writes.ts', 'if (record === null) return null', ''),
      inClient(
        'pull.ts',
        'await bases.upsert({ _id: key, record })',
        'if (record !== null) await bases.upsert({ _id: key, record })',
      ),
    ],
  },
])

// What the server has taken.
testAll([
  {
    name: 'a write that the server has taken is shown until a pull has it (R11)',
    run: async (scene) => {
      const id = await scene.addTask()
      const client = await scene.client()
      const write = client.collection('tasks').update(id, { title: 'mine' })
      await write
      await scene.syncLosing(client, 'pull', 'request')
      expect(await write.server).toEqual({ status: 'ok' })
      expect(await task(client, id)).toMatchObject({ title: 'mine' })
    },
    without: [
      inClient(
        'outcomes.ts',
        "await queue.upsert({ ...entry, status: 'done', boot, revs: outcome.revs })",
        `{
          await queue.upsert({ ...entry, status: 'done', boot, touches: [] })
          await new Overlay(tx).compute(entry.touches)
        }`,
      ),
    ],
  },
  {
    name: 'a write that a pull has is shown no longer: others may change the record (R11)',
    run: async (scene) => {
      const id = await scene.addTask()
      const client = await scene.client()
      await client.collection('tasks').update(id, { title: 'mine' })
      await client.sync()
      await scene.editAtServer(id, { title: 'theirs' })
      await client.sync()
      expect(await task(client, id)).toMatchObject({ title: 'theirs' })
    },
    without: [
      inClient('pull.ts', 'const touches = entry.touches.filter((key) => !isShown(key))', 'const { touches } = entry'),
    ],
  },
  {
    name: 'a restored server gets again what it does not know',
    run: async (scene) => {
      const client = await scene.client()
      const ids: string[] = []
      await takeBack(async () => {
        await client.sync()
        ids.push((await client.collection('tasks').create({ title: 'mine', project: scene.project })).id)
        await scene.syncLosing(client, 'pull', 'request')
      })
      await client.sync()
      expect((await app.listed('tasks', ann)).get(ids[0]!)).toMatchObject({ title: 'mine' })
    },
    without: [
      inClient(
        'pull.ts',
        'new Set(answer.covered), new Set(answer.unknown)',
        'new Set([...answer.covered, ...answer.unknown]), new Set<number>()',
      ),
    ],
  },
  {
    name: 'a restored server gets again also what a pull has had before',
    run: async (scene) => {
      const client = await scene.client()
      const ids: string[] = []
      await takeBack(async () => {
        await client.sync()
        ids.push((await client.collection('tasks').create({ title: 'mine', project: scene.project })).id)
        for (let n = 0; n < 3; n++) await client.sync()
      })
      await client.sync()
      expect((await app.listed('tasks', ann)).get(ids[0]!)).toMatchObject({ title: 'mine' })
    },
    without: [inClient('pull.ts', ' && entry.n <= answer.forgotten', '')],
  },
  {
    name: 'what builds on a write that a restored server has lost is sent after it, and neither is refused',
    run: async (scene) => {
      const client = await scene.client()
      let id = ''
      await takeBack(async () => {
        await client.sync()
        ;({ id } = await client.collection('tasks').create({ title: 'one', project: scene.project }))
        await scene.syncLosing(client, 'pull', 'request')
      })
      await client.collection('tasks').update(id, { title: 'two' })
      await client.sync()
      expect(await client.rejected()).toEqual([])
      expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ title: 'two' })
    },
    without: [inClient('sync-loop.ts', 'boot: boot ?? undefined, transactions', 'transactions')],
  },
  {
    name: 'also by a device that has pushed, and has never pulled',
    run: async (scene) => {
      const client = await scene.client(scene.device(), { isSynced: false })
      let id = ''
      await takeBack(async () => {
        ;({ id } = await client.collection('tasks').create({ title: 'one', project: scene.project }))
        await scene.syncLosing(client, 'pull', 'request')
      })
      await client.collection('tasks').update(id, { title: 'two' })
      await client.sync()
      expect(await client.rejected()).toEqual([])
      expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ title: 'two' })
    },
    without: [
      inClient('sync-loop.ts', "if ((await store.unasked(boot)) !== undefined) return { boot: '', outcomes: [] }", ''),
    ],
  },
  {
    name: 'also if a pull has had it, so that its revision is another one at the server now',
    run: async (scene) => {
      const client = await scene.client()
      let id = ''
      await takeBack(async () => {
        await client.sync()
        ;({ id } = await client.collection('tasks').create({ title: 'one', project: scene.project }))
        await client.sync()
        await client.collection('tasks').update(id, { count: 1 })
        await client.sync()
      })
      await client.collection('tasks').update(id, { title: 'two' })
      await client.sync()
      expect(await client.rejected()).toEqual([])
      expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ title: 'two', count: 1 })
    },
    without: [
      inClient(
        'local-transaction.ts',
        'const maker = last ?? (rev === undefined ? undefined : await this.#store.maker(rev))',
        'const maker = last',
      ),
      inClient('sync-loop.ts', 'boot: boot ?? undefined, transactions', 'transactions'),
    ],
  },
])

// What `write.server` says.
testAll([
  {
    name: 'a write that was refused is not ok after it was discarded, by whichever tab',
    run: async (scene) => {
      const device = scene.device()
      const client = await scene.client(device)
      const other = await scene.tab(device)
      const write = client.collection('tasks').create({ title: 'x'.repeat(61), project: scene.project })
      await write
      await other.sync()
      const [rejected] = await other.rejected()
      await rejected!.discard()
      expect(await write.server).toMatchObject({ status: 'rejected', rejected: { code: 'INVALID', writes: [] } })
      expect([await client.rejected(), (await other.rejected()).length]).toEqual([[], 0])
      await clock.idle()
      expect(client.state.rejected).toBe(0)
    },
    without: [
      inClient(
        'local-transaction.ts',
        'await rejected.upsert({ ...storedOf(refused), isOver: true, writes: [], was: [], data: {}, current: null })',
        'await rejected.purge(id)',
      ),
      inClient('store.ts', 'find({ isOver: false })', 'find()'),
    ],
  },
  {
    name: 'a refused write is written again once, also if two tabs retry it',
    run: async (scene) => {
      const device = scene.device()
      const client = await scene.client(device)
      const other = await scene.tab(device)
      const id = await scene.addTask({ locked: true, count: 0 })
      await client.sync()
      const write = client.collection('tasks').update(id, { 'count+': 1 }, { overwrite: true })
      await write
      await client.sync()
      await scene.editAtServer(id, { locked: false })
      await client.sync()
      const seen = [...(await client.rejected()), ...(await other.rejected())]
      const retried = await Promise.allSettled(seen.map(async (rejected) => rejected.retry()))
      expect(retried.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      await client.sync()
      expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ count: 1 })
      expect(await write.server).toMatchObject({ status: 'rejected' })
    },
    without: [
      inClient(
        'local-transaction.ts',
        'if (refused?.isOver !== false) return false',
        'if (refused === undefined) return false',
      ),
    ],
  },
])

// What a write is based on.
testAll([
  {
    name: 'two updates of one record, made without a network, are both taken',
    run: async (scene) => {
      const id = await scene.addTask()
      const client = await scene.client()
      await client.collection('tasks').update(id, { title: 'two' })
      const last = client.collection('tasks').update(id, { title: 'three' })
      await last
      await client.sync()
      expect([await last.server, await task(client, id)]).toMatchObject([{ status: 'ok' }, { title: 'three' }])
    },
    without: [inClient('local-transaction.ts', 'const maker = last ??', 'const maker =')],
  },
  {
    name: 'an update is made on one that the server has taken, also if no pull has it yet',
    run: async (scene) => {
      const id = await scene.addTask()
      const client = await scene.client()
      await client.collection('tasks').update(id, { title: 'two' })
      await scene.syncLosing(client, 'pull', 'request')
      const last = client.collection('tasks').update(id, { title: 'three' })
      await last
      await client.sync()
      expect([await last.server, await task(client, id)]).toMatchObject([{ status: 'ok' }, { title: 'three' }])
    },
    without: [
      inClient(
        'local-transaction.ts',
        '.findLast(({ writes }) => writes.some(isOf))',
        ".findLast(({ writes, status }) => status === 'waiting' && writes.some(isOf))",
      ),
    ],
  },
  {
    name: 'two updates of one record in a transaction are both taken',
    run: async (scene) => {
      const id = await scene.addTask()
      const client = await scene.client()
      const write = client.transaction(async ({ collection }) => {
        await collection('tasks').update(id, { title: 'two' })
        await collection('tasks').update(id, { title: 'three' })
      })
      await write
      await client.sync()
      expect([await write.server, await task(client, id)]).toMatchObject([{ status: 'ok' }, { title: 'three' }])
    },
    without: [inClient('local-transaction.ts', 'if (own !== -1) return', 'if (own === -2) return')],
  },
  {
    name: 'an update is made on what the user has seen, and not on what has come since',
    run: async (scene) => {
      const id = await scene.addTask()
      const client = await scene.client()
      await scene.editAtServer(id, { title: 'theirs' })
      const pull = await scene.beginPull(client)
      const write = client.collection('tasks').update(id, { title: 'mine' })
      await write
      await pull.arrive()
      expect(await write.server).toMatchObject({
        status: 'rejected',
        rejected: { code: 'CONFLICT', theirs: { title: 'theirs' } },
      })
    },
    without: [inClient('local-transaction.ts', 'made !== rev)) return rev ?? null', 'made !== rev)) return null')],
  },
])

// Transactions.
testAll([
  {
    name: 'writes of a transaction that run at the same time are made one on the other',
    run: async (scene) => {
      const id = await scene.addTask({ count: 0 })
      const client = await scene.client()
      await client.transaction(async (tx) => {
        const tasks = tx.collection('tasks')
        await Promise.all([tasks.update(id, { title: 'two' }), tasks.update(id, { 'count+': 1 })])
      })
      expect(await task(client, id)).toMatchObject({ title: 'two', count: 1 })
    },
    without: [
      inClient('local-transaction.ts', 'const done = this.#last.then(', 'const done = Promise.resolve().then('),
    ],
  },
  {
    name: 'a write that the app does not wait for is sent with its transaction',
    run: async (scene) => {
      const id = await scene.addTask()
      const client = await scene.client()
      await client.transaction(async (tx) => {
        void tx.collection('tasks').update(id, { title: 'two' })
      })
      await client.sync()
      expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ title: 'two' })
    },
    without: [
      inClient('local-transaction.ts', 'for (let last: unknown; last !== this.#last;) await (last = this.#last)', ''),
    ],
  },
  {
    name: 'two updates of a field that the server completes do not conflict with each other, where fields merge',
    run: async (scene) => {
      const id = await scene.addTask()
      const collections = { projects: {}, tasks: { merge: 'fields' } } as const
      await using client = await scene.device().openAs(ann, { collections })
      await client.sync()
      for (const name of ['one', 'two'])
        await client.collection('tasks').update(id, { plan: new File([name], `${name}.txt`) })
      await client.sync()
      expect(await client.rejected()).toEqual([])
      expect(await task(client, id)).toMatchObject({ plan: expect.stringMatching(/^two/) })
    },
    without: [inClient('local-transaction.ts', 'own: await this.#ownIn(was, keyOf(collection, id))', 'own: {}')],
  },
])

// The queue.
testAll([
  {
    name: 'what has to do with an upload waits for it, and what has not goes past it',
    run: async (scene) => {
      const client = await scene.client()
      const { project } = scene
      app.lose = (path, bytes) => (path.endsWith('/push') && bytes > 2000 ? 'request' : undefined)
      const tasks = client.collection('tasks')
      const upload = tasks.create({ title: 'one', project, plan: new File(['x'.repeat(3000)], 'plan.txt') })
      const { id } = await upload
      const builds = tasks.update(id, { title: 'two' })
      const free = tasks.create({ title: 'free', project })
      await Promise.all([builds, free])
      await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
      expect((await app.listed('tasks', ann)).has((await free).id)).toBe(true)
      app.lose = () => undefined
      await client.sync()
      expect(await client.rejected()).toEqual([])
      expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ title: 'two' })
    },
    without: [
      inClient('files.ts', 'if (!isNaming && !writes.some(hasFiles)) ready', 'if (!writes.some(hasFiles)) ready'),
      inClient(
        'files.ts',
        'if (!isNaming && !writes.some(hasFiles)) ready',
        'if (held.length === 0 && !writes.some(hasFiles)) ready',
      ),
    ],
  },
  {
    name: 'writes that build on a refused one are refused with it, as one group',
    run: async (scene) => {
      const client = await scene.client()
      const { id } = await client.collection('tasks').create({ title: 'x'.repeat(61), project: scene.project })
      const next = client.collection('tasks').update(id, { count: 1 })
      await next
      await client.sync()
      expect(await client.rejected()).toMatchObject([
        { code: 'INVALID', writes: [{ action: 'create' }, { action: 'update', mine: { count: 1 } }] },
      ])
      expect(await next.server).toMatchObject({ status: 'rejected' })
    },
    without: [
      inClient('outcomes.ts', 'if (queued.writes.some(buildsOn)) group.push(storedOf(queued))', 'void buildsOn'),
    ],
  },
  {
    name: 'a proxy that takes no large requests refuses the large write only',
    run: async (scene) => {
      const client = await scene.client()
      const { project } = scene
      app.lose = (path, bytes) => (path.endsWith('/push') && bytes > 1000 ? 'tooLarge' : undefined)
      const writes = ['a', 'b', 'x'.repeat(1000), 'c'].map((title) =>
        client.collection('tasks').create({ title, project }),
      )
      for (const write of writes) await write
      await expect(client.sync()).resolves.toBeUndefined()
      const outcomes = await Promise.all(writes.map(({ server }) => server))
      expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'ok', 'rejected', 'ok'])
      expect(await client.rejected()).toMatchObject([{ writes: [{ mine: { title: 'x'.repeat(1000) } }] }])
    },
    without: [
      inClient('sync-loop.ts', 'if (waiting.length > 1) return undefined', ''),
      inClient('server.ts', 'error.status === TOO_LARGE || ', ''),
    ],
  },
  {
    name: 'a device that has lost its last writes with the power uses no number again',
    run: async (scene) => {
      const id = await scene.addTask({ count: 0 })
      // All that was not durable is lost.
      const storage = new MortalStorage({ ...seededRandom(1), next: () => 0 })
      const device = scene.device(storage)
      await scene.client(device)
      storage.kill()
      storage.revive()
      scene.abandon()
      for (let n = 1; n <= 2; n++) {
        const client = await scene.tab(device)
        const write = client.collection('tasks').update(id, { 'count+': 1 }, { overwrite: true })
        await write
        await client.sync()
        expect(await write.server).toEqual({ status: 'ok' })
        expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ count: n })
        storage.kill({ power: true })
        storage.revive()
        scene.abandon()
      }
    },
    without: [inClient('replica.ts', 'next: device.next + skipped', 'next: device.next')],
  },
])
