/** Goal: updates of one record by several devices merge as the app declares, and all devices come to one record. A real server over HTTP. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { seedsOf } from '../../../tools/test/seeds.ts'
import { seededRandom } from '../../db/testing/random.ts'
import type { CollectionDeclaration, Conflict, Merge } from '../src/index.ts'
import { AppServer, type User } from './app-server.ts'
import { Device, seen, type AppClient } from './device.ts'

let app: AppServer
let users: readonly User[]
let project: string
let task: string
let clients: AppClient[]

beforeAll(async () => {
  app = await AppServer.start()
  users = [await app.addUser('ann'), await app.addUser('ben'), await app.addUser('cid')]
  project = await app.add('projects', { name: 'house', members: users.map(({ id }) => id) })
  const rule = '@request.auth.id != ""'
  await app.call('POST /collections', {
    name: 'plans',
    type: 'base',
    listRule: rule,
    createRule: rule,
    updateRule: rule,
    fields: [
      { name: 'title', type: 'text' },
      { name: 'note', type: 'text' },
      { name: 'due', type: 'date' },
      { name: 'plan', type: 'file' },
    ],
  })
})
beforeEach(async () => {
  clients = []
  task = await app.add('tasks', { title: 'roof', count: 1, tags: ['a'], project })
  return async () => {
    for (const client of clients) await client.close()
  }
})
afterAll(() => app[Symbol.asyncDispose]())

/** The devices of users, in step with the server. */
async function open(tasks: CollectionDeclaration, count = 2): Promise<AppClient[]> {
  for (const user of users.slice(0, count)) {
    const client = await new Device(app).openAs(user, { collections: { projects: {}, tasks } })
    await client.sync()
    clients.push(client)
  }
  return clients
}

async function syncAll(): Promise<void> {
  for (let round = 0; round < 2; round++) for (const client of clients) await client.sync()
}

const read = async (client: AppClient): Promise<unknown> => await client.collection('tasks').get(task)
const stored = async (): Promise<object> => (await app.call(`GET /collections/tasks/records/${task}`)).json

test('updates of other fields merge, and of one field conflict', async () => {
  const [ann, ben] = await open({ merge: 'fields' })
  const update = (client: AppClient, values: Record<string, unknown>) => client.collection('tasks').update(task, values)
  const writes = [update(ann!, { title: 'wall' }), update(ben!, { count: 7 })]
  await Promise.all(writes)
  await syncAll()
  expect(await Promise.all(writes.map(({ server }) => server))).toEqual([{ status: 'ok' }, { status: 'ok' }])
  for (const client of clients) expect(await read(client)).toMatchObject({ title: 'wall', count: 7 })
  const [first, second] = [update(ann!, { title: 'door' }), update(ben!, { title: 'gate', count: 8 })]
  await Promise.all([first, second])
  await syncAll()
  expect(await second.server).toMatchObject({ status: 'rejected', rejected: { code: 'CONFLICT' } })
  // Tried again it is made on what is there now.
  const [rejected] = await ben!.rejected()
  await rejected!.retry()
  await syncAll()
  for (const client of clients) expect(await read(client)).toMatchObject({ title: 'gate', count: 8 })
})

test('an update that merged with what was not seen here is no base for the next one', async () => {
  const [ann] = await open({ merge: 'fields' }, 1)
  const tasks = ann!.collection('tasks')
  await tasks.update(task, { 'count+': 1 })
  await tasks.update(task, { title: 'mine' })
  await app.call(`PATCH /collections/tasks/records/${task}`, { title: 'theirs' })
  await syncAll()
  expect(await ann!.rejected()).toMatchObject([{ code: 'CONFLICT', writes: [{ mine: { title: 'mine' } }] }])
  expect(await stored()).toMatchObject({ title: 'theirs', count: 2 })
})

const joined: Merge = ({ base, mine, theirs }) => ({
  ...mine,
  ...('title' in mine && {
    title: `${String(theirs['title'])}${String(mine['title']).slice(String(base['title']).length)}`,
  }),
})

test.each([
  // Both make a revision of the server with a title that is not shown here yet.
  ['a merge', { 'count+': 1 }, {}, 1],
  ['an update that overwrites', { count: 5 }, { overwrite: true }, 0],
] as const)('%s with what was not seen here is no base for the next update: it merges, too', async (...row) => {
  const [, values, options, refused] = row
  const [ann, ben] = await open({ merge: joined })
  for (const hasSent of [true, false]) {
    await syncAll()
    const { title } = (await stored()) as { readonly title: string }
    await ben!.collection('tasks').update(task, { title: `${title} theirs` })
    await ben!.sync()
    await ann!.collection('tasks').update(task, values, options)
    // The merge waits; its own push, or the pull after it, is lost.
    let requests = 0
    app.lose = () => (++requests > refused + Number(hasSent) ? 'request' : undefined)
    await ann!.sync().catch(() => {})
    app.lose = () => undefined
    expect(await read(ann!)).toMatchObject({ title })
    await ann!.collection('tasks').update(task, { title: `${title} mine` })
    await syncAll()
    expect(await ann!.rejected()).toEqual([])
    for (const client of clients) expect(await read(client)).toMatchObject({ title: `${title} theirs mine` })
  }
})

test.each([
  ['a date that the server completes', { due: '2026-01-01' }, { due: '2026-02-02' }],
  ['a file', { plan: new File(['1'], 'one.txt') }, { plan: new File(['2'], 'two.txt') }],
  ['nothing', { note: null }, { note: 'b' }],
])('updates of one field by one device do not conflict: %s', async (_name, first, second) => {
  const collections = { projects: {}, plans: { merge: 'fields' } } as const
  const clients = [
    await new Device(app).openAs(users[0]!, { collections }),
    await new Device(app).openAs(users[0]!, { collections }),
  ]
  const [client, other] = clients as [AppClient, AppClient]
  const plans = client.collection('plans')
  const { id } = await plans.create({ title: 'roof', note: 'a' })
  for (const each of clients) await each.sync()
  await plans.update(id, first)
  await plans.update(id, second)
  await client.transaction(async (tx) => {
    await tx.collection('plans').update(id, first)
    await tx.collection('plans').update(id, second)
  })
  await other.collection('plans').update(id, { title: 'wall' })
  await other.sync()
  await client.sync()
  expect(await client.rejected()).toEqual([])
  expect(await plans.get(id)).toMatchObject({
    title: 'wall',
    plan: 'plan' in first ? expect.stringMatching(/^two_/) : '',
  })
  // What others change in between is a conflict.
  await plans.update(id, first)
  await client.sync()
  await plans.update(id, first)
  await plans.update(id, second)
  const theirs = { due: '2027-07-07', note: 'theirs', plan: new File(['3'], 'three.txt') }
  await other.sync()
  const [field] = Object.keys(first) as (keyof typeof theirs)[]
  await other.collection('plans').update(id, { [field!]: theirs[field!] })
  await other.sync()
  await client.sync()
  expect((await client.rejected()).map(({ code }) => code)).toContain('CONFLICT')
  for (const each of clients) await each.close()
})

test('a function that merges later is refused with a reason, and loses nothing', async () => {
  const merge = (async ({ mine }: Conflict) => mine) as unknown as Merge
  const [ann, ben] = await open({ merge })
  await ann!.collection('tasks').update(task, { title: 'wall' })
  await ann!.sync()
  await ben!.collection('tasks').update(task, { title: 'door' })
  await ben!.sync()
  expect(await ben!.rejected()).toMatchObject([
    { code: 'CONFLICT', message: expect.stringContaining('got a Promise'), writes: [{ mine: { title: 'door' } }] },
  ])
})

test('a function of the app merges, with what builds on the update', async () => {
  const asked: unknown[] = []
  const merge: Merge = (conflict) => {
    asked.push(conflict)
    const { base, mine, theirs } = conflict
    const titles = [theirs, mine, base].map(({ title }) => String(title))
    return 'title' in mine ? { ...mine, title: titles.join(' < ') } : mine
  }
  const [ann, ben] = await open({ merge })
  await ann!.collection('tasks').update(task, { title: 'wall' })
  await ann!.sync()
  const tasks = ben!.collection('tasks')
  const writes = [tasks.update(task, { title: 'door', 'count+': 2 }), tasks.update(task, { tags: ['b'] })]
  await Promise.all(writes)
  await syncAll()
  expect(await Promise.all(writes.map(({ server }) => server))).toEqual([{ status: 'ok' }, { status: 'ok' }])
  for (const client of clients)
    expect(await read(client)).toMatchObject({ title: 'wall < door < roof', count: 3, tags: ['b'] })
  expect(asked).toMatchObject([
    { id: task, mine: { title: 'door', 'count+': 2 }, theirs: { title: 'wall', count: 1 } },
    { id: task, mine: { tags: ['b'] }, base: { tags: ['a'] }, theirs: { title: 'wall < door < roof', count: 3 } },
  ])
  expect(ben!.state).toMatchObject({ unsent: 0, rejected: 0 })
})

test('what a function does not merge, or fails with, is refused', async () => {
  let merge: Merge = () => undefined
  const [ann, ben] = await open({ merge: (conflict) => merge(conflict) })
  const conflict = async (title: string) => {
    await ann!.collection('tasks').update(task, { title: `${title} of ann` })
    await ann!.sync()
    const write = ben!.collection('tasks').update(task, { title })
    await write
    await ben!.sync()
    return write.server
  }
  expect(await conflict('door')).toMatchObject({ status: 'rejected', rejected: { code: 'CONFLICT' } })
  merge = () => {
    throw new Error('no idea')
  }
  const answer = await conflict('gate')
  expect(answer).toMatchObject({ rejected: { message: expect.stringContaining('"merge" has failed: Error: no idea') } })
  expect(ben!.state.rejected).toBe(2)
  expect(await read(ben!)).toMatchObject({ title: 'gate of ann' })
})

/** Unites the words of a title: any order of merges has the same words. */
const uniteWords: Merge = ({ mine, theirs }) => {
  const words = [theirs['title'], mine['title']].flatMap((title) => String(title).split(' '))
  return { ...mine, title: [...new Set(words)].toSorted().join(' ') }
}

for (const seed of seedsOf('model', 0.2))
  test(`devices come to one record, and no word is lost, seed ${seed}`, async () => {
    const random = seededRandom(seed)
    await open({ merge: uniteWords }, 3)
    const words = new Set(['roof'])
    let added = 0
    for (let step = 0; step < 25; step++) {
      const client = random.pick(clients)
      if (random.chance(0.4)) await client.sync()
      else {
        const { title } = (await read(client)) as { readonly title: string }
        // All words fit into a title of 60 letters.
        const word = step.toString(36)
        words.add(word)
        added++
        await client.collection('tasks').update(task, { title: `${title} ${word}`, 'count+': 1 })
      }
    }
    await syncAll()
    await syncAll()
    const { title, count } = (await stored()) as { readonly title: string; readonly count: number }
    expect(new Set(title.split(' '))).toEqual(words)
    expect(count).toBe(1 + added)
    for (const client of clients) expect(await read(client)).toMatchObject({ title, count })
    const [first, ...others] = await Promise.all(clients.map((client) => seen(client, 'tasks')))
    for (const other of others) expect(other).toEqual(first)
  })
