/** Goal: calls that an app makes at the same time do what they do one after another, and what answers in place of the server does no harm. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { AppServer, USER_PASSWORD, type User } from './app-server.ts'
import { Device, seen, type AppClient } from './device.ts'

let app: AppServer
let ann: User
let ben: User
let project: string
let device: Device
let client: AppClient

beforeAll(async () => {
  app = await AppServer.start()
  ann = await app.addUser('ann')
  ben = await app.addUser('ben')
  project = await app.add('projects', { name: 'house', members: [ann.id, ben.id] })
})
beforeEach(async () => {
  app.before = async () => {}
  device = new Device(app)
  client = await device.openAs(ann)
  await client.sync()
  return () => client.close()
})
afterAll(() => app[Symbol.asyncDispose]())

const signIn = ({ email }: User): Promise<unknown> => client.signIn.password('users', email, USER_PASSWORD)
const titles = async (): Promise<unknown[]> => [...(await seen(client, 'tasks')).values()].map(({ title }) => title)

/** A program that answers in place of the server. Returns its address, and how often it was asked. */
async function inPlaceOfServer(
  answer: RequestListener,
): Promise<{ readonly url: string; readonly asked: () => number; close(): void }> {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    request.resume()
    // A client that asks for ever comes to an end.
    if (requests > 20) response.destroy()
    else answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => requests, close }
}

test('writes of a transaction that are not awaited one by one are made one after another, and sent', async () => {
  const { id } = await client.collection('tasks').create({ title: 'roof', count: 1, project })
  await client.sync()
  const write = client.transaction(async (tx) => {
    const tasks = tx.collection('tasks')
    await Promise.all([tasks.update(id, { title: 'wall' }), tasks.update(id, { 'count+': 5 })])
    for (let write = 0; write < 2; write++) void tasks.update(id, { 'count+': 5 })
  })
  await write
  const expected = { title: 'wall', count: 16 }
  expect(await client.collection('tasks').get(id)).toMatchObject(expected)
  await client.sync()
  expect(await write.server).toEqual({ status: 'ok' })
  expect((await app.listed('tasks', ann)).get(id)).toMatchObject(expected)
})

test('a write after the end of its transaction fails, and shows nothing', async () => {
  let tasks: { create(values: object): Promise<unknown> } | undefined
  await client.transaction(async (tx) => {
    tasks = tx.collection('tasks')
    await tasks.create({ title: 'in time', project })
  })
  await expect(tasks!.create({ title: 'late', project })).rejects.toMatchObject({
    code: 'PANNIER_CLOSED',
    message: expect.stringContaining('inside it'),
  })
  expect(await titles()).not.toContain('late')
})

test('accounts change one after another, and no database stays open', async () => {
  await Promise.all([signIn(ben), signIn(ben), client.signOut(), signIn(ann)])
  const closed = client.close()
  await expect(signIn(ben)).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  await closed
  // A handle that was left open would make these fail.
  for (const user of [ann, ben]) expect((await device.documents(`users-${user.id}`)).length).toBeGreaterThan(0)
  client = await device.open()
  expect(client.account === undefined || [ann.id, ben.id].includes(client.account.id)).toBe(true)
})

test('a sign-out that wipes loses no write that the app was said is stored', async () => {
  const write = client.collection('tasks').create({ title: 'just now', project })
  await expect(client.signOut({ data: 'wipe' })).rejects.toMatchObject({ code: 'PANNIER_WRITES_UNSENT' })
  await write
  expect(client.account?.id).toBe(ann.id)
  expect(await titles()).toContain('just now')
  await client.sync()
  const ended = Promise.withResolvers<void>()
  app.before = (path) => (path.includes('/sessions/') ? ended.promise : Promise.resolve())
  const out = client.signOut({ data: 'wipe' })
  const late = Promise.resolve().then(() => client.collection('tasks').create({ title: 'late', project }))
  await expect(late).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  ended.resolve()
  await out
})

test.each([
  ['the page of a hotel', 200, '<h1>Welcome</h1>'],
  ['the page of a proxy', 400, '<h1>Bad Request</h1>'],
])('%s in place of the server refuses no write, and is not asked again at once', async (_name, status, page) => {
  await client.collection('tasks').create({ title: 'waits', project })
  await client.close()
  const other = await inPlaceOfServer((_request, response) => response.writeHead(status).end(page))
  client = await new Device({ url: other.url, environment: app.environment }, device.storage).open({
    name: device.name,
  })
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  expect([other.asked(), client.state.status, client.state.unsent, client.state.rejected]).toEqual([1, 'offline', 1, 0])
  other.close()
  await client.close()
  client = await device.open()
  await client.sync()
  expect(client.state.unsent).toBe(0)
})

test('servers under several paths of one host have databases of their own', async () => {
  const { connect } = await import('../src/index.ts')
  const at = (path: string): Promise<AppClient> =>
    connect(app.url + path, { storage: device.storage, live: false, collections: ['reports'] })
  const one = await at('/one/')
  await one.collection('reports').create({ text: 'of one' })
  const [two, root] = [await at('/two'), await at('/')]
  expect(await Promise.all([one, two, root].map(async (each) => (await seen(each, 'reports')).size))).toEqual([1, 0, 0])
  for (const each of [one, two, root]) await each.close()
})
