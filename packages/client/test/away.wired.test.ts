/** Goal: a device that was away for long, has a wrong clock, or whose requests hang comes to what the server has, and writes nothing twice. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { memory } from 'pannier/memory'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { connect } from '../src/index.ts'
import { AppServer, type User } from './app-server.ts'
import { Device, seen } from './device.ts'

const DAY_MS = 24 * 60 * 60_000

let app: AppServer
let ann: User
let project: string
/** The environment of the server. */
const clock = virtualEnvironment()

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
})
beforeEach(async () => {
  app.isDown = false
  app.lose = () => undefined
  project = await app.add('projects', { name: 'house', members: [ann.id] })
})
afterAll(() => app[Symbol.asyncDispose]())

test('what the server has taken is not sent again after more than 90 days, whatever the clock of the device is', async () => {
  const client = await new Device(app).openAs(ann, { environment: virtualEnvironment({ startMs: 0 }) })
  await client.sync()
  const id = await app.add('tasks', { title: 'roof', project, count: 1 })
  await client.sync()
  // The answer to the push comes, and no pull that covers it.
  app.lose = (path) => (path.endsWith('/pull') ? 'request' : undefined)
  const write = client.collection('tasks').update(id, { 'count+': 1 }, { overwrite: true })
  await write
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  expect(await write.server).toEqual({ status: 'ok' })
  app.lose = () => undefined
  clock.jump(91 * DAY_MS)
  await app.backend.sync.removeOld()
  await client.signIn.password('users', ann.email, 'the password of users')
  await client.sync()
  expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ count: 2 })
  expect(await client.collection('tasks').get(id)).toMatchObject({ count: 2 })
  clock.jump(-91 * DAY_MS)
  await client.close()
})

test.each([
  ['a year behind', -365],
  ['right', 0],
  ['a year ahead', 365],
])('a token is refreshed when half of its time is over, and not before: the clock is %s', async (_, days) => {
  const own = virtualEnvironment({ startMs: clock.wallClock() + days * DAY_MS })
  const client = await new Device(app).openAs(ann, { environment: own })
  const refreshes = (): number => app.requests.filter((path) => path.endsWith('/auth-refresh')).length
  const before = refreshes()
  await client.sync()
  own.jump(2 * DAY_MS)
  await client.sync()
  expect(refreshes() - before).toBe(0)
  own.jump(2 * DAY_MS)
  await client.sync()
  expect(refreshes() - before).toBe(1)
  // Nobody knows how old it is.
  own.jump(-10 * DAY_MS)
  await client.sync()
  await client.sync()
  expect(refreshes() - before).toBe(2)
  await client.close()
})

test('a request that nobody answers fails after a while', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const environment = virtualEnvironment()
  const client = await connect(`http://127.0.0.1:${port}`, {
    storage: memory(),
    collections: ['tasks'],
    live: false,
    environment,
  })
  for (const asked of [() => client.sync(), () => client.signIn.password('users', 'a', 'b')]) {
    const answer = expect(asked()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
    await environment.advance(60_000)
    await answer
  }
  expect(client.state.status).toBe('offline')
  await client.close()
  silent.closeAllConnections()
  silent.close()
})

test('when all records come again, those that the device has come without bodies', async () => {
  const device = new Device(app)
  let client = await device.openAs(ann, { collections: { tasks: {}, projects: {} } })
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(await app.add('tasks', { title: `task ${n}`, project, count: n }))
  await client.sync()
  await client.close()
  await app.call(`PATCH /collections/tasks/records/${ids[1]}`, { title: 'changed' })
  const added = await app.add('tasks', { title: 'added', project, count: 3 })
  const answers: string[] = []
  app.onPull = ({ answer }) => answers.push(answer)
  // Another part is another sweep of all. The device writes meanwhile, which is no reason to send a body.
  client = await device.open({ collections: { tasks: { filter: 'count < 9' }, projects: {} } })
  await client.collection('tasks').update(ids[0]!, { title: 'mine' })
  await client.sync()
  app.onPull = undefined
  const bodies = answers.flatMap((answer) => [...answer.matchAll(/"title":"([^"]*)"/g)].map(([, title]) => title))
  expect(new Set(bodies)).toEqual(new Set(['added', 'changed', 'mine']))
  expect((await seen(client, 'tasks')).get(added)).toMatchObject({ title: 'added' })
  expect(await seen(client, 'tasks')).toEqual(await app.listed('tasks', ann))
  await client.close()
})

test('a merge function that others are always faster than is called 20 times, then the user decides', async () => {
  const id = await app.add('tasks', { title: 'roof', project })
  let calls = 0
  const merge = ({ mine }: { readonly mine: object }) => {
    calls++
    return { ...mine }
  }
  const client = await new Device(app).openAs(ann, { collections: { projects: {}, tasks: { merge } } })
  await client.sync()
  const write = client.collection('tasks').update(id, { title: 'mine' })
  await write
  let count = 0
  app.before = async (path) => {
    if (path.endsWith('/push')) await app.call(`PATCH /collections/tasks/records/${id}`, { count: ++count })
  }
  await client.sync()
  app.before = async () => {}
  expect([calls, await write.server]).toMatchObject([20, { status: 'rejected', rejected: { code: 'CONFLICT' } }])
  expect((await client.rejected())[0]).toMatchObject({
    message: /"merge" was called 20 times/,
    writes: [{ mine: { title: 'mine' } }],
  })
  await client.close()
})
