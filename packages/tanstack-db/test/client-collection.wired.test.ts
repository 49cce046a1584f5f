/** Goal: TanStack DB shows the records of the account that is signed in; writes wait for the server, and those that it refuses vanish. */
import { createCollection, createLiveQueryCollection, createTransaction, eq } from '@tanstack/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { AppServer, type User } from '../../client/test/app-server.ts'
import { Device, type AppClient } from '../../client/test/device.ts'
import { eventually } from '../../db/testing/suite.ts'
import { pannierClientCollectionOptions } from '../src/index.ts'

const clock = virtualEnvironment()
let app: AppServer
let ann: User
let bob: User
let project: string

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
  bob = await app.addUser('bob')
  project = await app.add('projects', { name: 'House', members: [ann.id] })
})
afterAll(() => app[Symbol.asyncDispose]())

function collectionOf(client: AppClient, collection = 'tasks') {
  return createCollection(pannierClientCollectionOptions({ client, collection }))
}

type Tasks = ReturnType<typeof collectionOf>

function titles(tasks: Tasks): string[] {
  return Array.from(tasks.state.values(), ({ title }) => String(title)).sort()
}

/** Ids of records have 15 letters. */
function idOf(name: string): string {
  return name.padEnd(15, '0')
}

/** Without the tasks of the other tests. */
async function clear(): Promise<void> {
  for (const id of (await app.listed('tasks', ann)).keys()) await app.call(`DELETE /collections/tasks/records/${id}`)
}

test('records are shown, writes wait offline, and the server takes them later', async () => {
  await clear()
  await app.add('tasks', { title: 'theirs', project })
  await using client = await new Device(app).openAs(ann)
  await client.sync()
  const tasks = collectionOf(client)
  await tasks.preload()
  expect(titles(tasks)).toEqual(['theirs'])
  app.isDown = true
  const inserted = tasks.insert({ id: idOf('roof'), title: 'Roof', project })
  await inserted.when('settled')
  await tasks.update(idOf('roof'), (row) => void (row['count'] = 3)).when('settled')
  expect(tasks.get(idOf('roof'))).toMatchObject({ title: 'Roof', count: 3, $synced: true })
  await eventually(() => client.state.unsent === 2)
  app.isDown = false
  await client.sync()
  expect(await tasks.utils.server(inserted)).toEqual({ status: 'ok' })
  expect((await app.listed('tasks', ann)).get(idOf('roof'))).toMatchObject({ title: 'Roof', count: 3 })
  // The server has filled the date.
  await eventually(() => Boolean(tasks.get(idOf('roof'))?.['created']))
  await tasks.delete(idOf('roof')).when('settled')
  await client.sync()
  expect([titles(tasks), (await app.listed('tasks', ann)).has(idOf('roof'))]).toEqual([['theirs'], false])
})

test('what the server sends comes in', async () => {
  await clear()
  await using client = await new Device(app).openAs(ann)
  const tasks = collectionOf(client)
  await tasks.preload()
  const id = await app.add('tasks', { title: 'new', project })
  await client.sync()
  await eventually(() => tasks.has(id))
  await app.call(`PATCH /collections/tasks/records/${id}`, { title: 'changed' })
  await client.sync()
  await eventually(() => tasks.get(id)!['title'] === 'changed')
  await app.call(`DELETE /collections/tasks/records/${id}`)
  await client.sync()
  await eventually(() => !tasks.has(id))
})

test('writes that a rule refuses are rolled back, and the client lists them', async () => {
  await clear()
  const locked = await app.add('tasks', { title: 'locked', locked: true, project })
  await using client = await new Device(app).openAs(ann)
  await client.sync()
  const tasks = collectionOf(client)
  await tasks.preload()
  const created = tasks.insert({ id: idOf('alien'), title: 'Alien', project: idOf('nowhere') })
  const updated = tasks.update(locked, (row) => void (row['title'] = 'mine'))
  await Promise.all([created.when('settled'), updated.when('settled')])
  expect(titles(tasks)).toEqual(['Alien', 'mine'])
  await client.sync()
  const answers = await Promise.all([created, updated].map((transaction) => tasks.utils.server(transaction)))
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await eventually(() => titles(tasks).join() === 'locked')
  const rejected = await client.rejected()
  expect(rejected.map(({ writes }) => writes[0]!.id)).toEqual([idOf('alien'), locked])
  expect(answers[1]).toMatchObject({ rejected: { id: rejected[1]!.id, code: rejected[1]!.code } })
  await app.call(`PATCH /collections/tasks/records/${locked}`, { locked: false })
  await client.sync()
  await rejected[1]!.retry()
  await eventually(() => titles(tasks).join() === 'mine')
})

test('a write that is not stored on the device is rolled back with the error of the client', async () => {
  await clear()
  await using client = await new Device(app).openAs(ann)
  const tasks = collectionOf(client)
  await tasks.preload()
  const stored = client.collection('tasks').create({ id: idOf('twice'), title: 'first', project })
  const refused = tasks.insert({ id: idOf('twice'), title: 'second', project })
  const answer = tasks.utils.server(refused)
  await stored
  await expect(refused.when('settled')).rejects.toMatchObject({ name: 'ClientError', code: 'PANNIER_CONFLICT' })
  await expect(answer).rejects.toMatchObject({ code: 'PANNIER_CONFLICT' })
  await eventually(() => titles(tasks).join() === 'first')
})

test('a transaction of the app over two collections is one transaction of the client', async () => {
  await clear()
  await using client = await new Device(app).openAs(ann)
  await client.sync()
  const [projects, tasks] = [collectionOf(client, 'projects'), collectionOf(client)]
  await Promise.all([projects.preload(), tasks.preload()])
  const transaction = createTransaction({ mutationFn: tasks.utils.persist })
  transaction.mutate(() => {
    projects.insert({ id: idOf('garden'), name: 'Garden', members: [ann.id] })
    tasks.insert({ id: idOf('tree'), title: 'Tree', project: idOf('garden') })
  })
  await transaction.when('settled')
  expect(await client.unsent()).toMatchObject([{ writes: [{ collection: 'projects' }, { collection: 'tasks' }] }])
  await client.sync()
  expect(await tasks.utils.server(transaction)).toEqual({ status: 'ok' })
  expect([projects.has(idOf('garden')), titles(tasks)]).toEqual([true, ['Tree']])
})

test('a field that the app takes away is emptied', async () => {
  await clear()
  const id = await app.add('tasks', { title: 'full', project })
  await using client = await new Device(app).openAs(ann)
  await client.sync()
  const tasks = collectionOf(client)
  await tasks.preload()
  await tasks.update(id, (row) => void delete row['title']).when('settled')
  await client.sync()
  expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ title: '' })
})

test('another account shows its own rows, and the first one again its own', async () => {
  await clear()
  await app.add('tasks', { title: 'of Ann', project })
  const device = new Device(app)
  await using client = await device.openAs(ann)
  await client.sync()
  const tasks = collectionOf(client)
  await tasks.preload()
  expect(titles(tasks)).toEqual(['of Ann'])
  await client.signOut()
  await eventually(() => tasks.size === 0)
  await client.signIn.password('users', bob.email, 'the password of users')
  await tasks.insert({ id: idOf('bob'), title: 'of Bob' }).when('settled')
  expect(titles(tasks)).toEqual(['of Bob'])
  await client.signIn.password('users', ann.email, 'the password of users')
  await eventually(() => titles(tasks).join() === 'of Ann')
  expect(tasks.status).toBe('ready')
  await tasks.cleanup()
})

test('data of the account that are wiped and come again are shown again', async () => {
  await clear()
  await app.add('tasks', { title: 'of Ann', project })
  await using client = await new Device(app).openAs(ann)
  await client.sync()
  const tasks = collectionOf(client)
  await tasks.preload()
  await client.signOut({ data: 'wipe' })
  await eventually(() => tasks.size === 0)
  await client.signIn.password('users', ann.email, 'the password of users')
  await client.sync()
  await eventually(() => titles(tasks).join() === 'of Ann')
})

test('two tabs of a device show the same, and a closed client keeps its rows and refuses writes', async () => {
  await clear()
  const device = new Device(app)
  const first = await device.openAs(ann)
  await using second = await device.open()
  const [here, there] = [collectionOf(first), collectionOf(second)]
  await Promise.all([here.preload(), there.preload()])
  await here.insert({ id: idOf('roof'), title: 'Roof', project }).when('settled')
  await eventually(() => there.has(idOf('roof')))
  await first.close()
  expect(titles(here)).toEqual(['Roof'])
  await expect(here.delete(idOf('roof')).when('settled')).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  expect(titles(here)).toEqual(['Roof'])
  await here.cleanup()
  await expect(here.preload()).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
})

test('a transaction without writes of a client has no answer', async () => {
  await using client = await new Device(app).openAs(ann)
  const tasks = collectionOf(client)
  const transaction = createTransaction({ mutationFn: async () => {} })
  await transaction.commit()
  await expect(tasks.utils.server(transaction)).rejects.toThrow('the transaction must have writes of a client')
})

function titledOf(client: AppClient, title: string) {
  const tasks = createCollection(pannierClientCollectionOptions({ client, collection: 'tasks', syncMode: 'on-demand' }))
  const titled = createLiveQueryCollection((query) =>
    query.from({ task: tasks }).where(({ task }) => eq(task['title'], title)),
  )
  titled.subscribeChanges(() => {})
  return { tasks, titled }
}

test('on demand only the records that a query asks for are loaded, and writes go to the server', async () => {
  await clear()
  await app.add('tasks', { title: 'roof', project })
  await app.add('tasks', { title: 'wall', project })
  await using client = await new Device(app).openAs(ann)
  await client.sync()
  const { tasks, titled } = titledOf(client, 'roof')
  await titled.preload()
  expect(titles(tasks)).toEqual(['roof'])
  const inserted = tasks.insert({ id: idOf('roof'), title: 'roof', project })
  await inserted.when('settled')
  await client.sync()
  expect(await tasks.utils.server(inserted)).toEqual({ status: 'ok' })
  await tasks.update(idOf('roof'), (row) => void (row['title'] = 'floor')).when('settled')
  expect(titles(tasks)).toEqual(['roof'])
  await titled.cleanup()
  expect(tasks.size).toBe(0)
})

test('on demand another account shows its own rows, and wiped ones come again', async () => {
  await clear()
  await app.add('tasks', { title: 'roof', project })
  await using client = await new Device(app).openAs(ann)
  await client.sync()
  const { tasks, titled } = titledOf(client, 'roof')
  await titled.preload()
  const shown = () => titled.toArray.map(({ id }) => id)
  const [roof] = shown()
  await client.signOut()
  await eventually(() => titled.size === 0)
  await client.signIn.password('users', bob.email, 'the password of users')
  await tasks.insert({ id: idOf('bob'), title: 'roof' }).when('settled')
  await eventually(() => shown().join() === idOf('bob'))
  await client.signIn.password('users', ann.email, 'the password of users')
  await eventually(() => shown().join() === roof)
  await client.signOut({ data: 'wipe' })
  await eventually(() => titled.size === 0)
  await client.signIn.password('users', ann.email, 'the password of users')
  await client.sync()
  await eventually(() => shown().join() === roof)
  expect(tasks.status).toBe('ready')
  await titled.cleanup()
  await tasks.cleanup()
})
