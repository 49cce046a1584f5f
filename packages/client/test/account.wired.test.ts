/** Goal: all tabs of a device show one account, a page can render at any time, and a server can't write what is the client's own. */
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { memory } from 'pannier/memory'
import { open } from 'pannier'
import { until } from '../../server/test/test-server.ts'
import { AppServer, USER_PASSWORD, type User } from './app-server.ts'
import { Device, type AppClient } from './device.ts'

let app: AppServer
let ann: User
let bob: User
let project: string

beforeAll(async () => {
  app = await AppServer.start()
  ann = await app.addUser('ann')
  bob = await app.addUser('bob')
  project = 'projectofannand'
  const project1 = { id: project, name: 'House', members: [ann.id, bob.id] }
  expect(await app.call('POST /collections/projects/records', project1)).toMatchObject({ status: 200 })
})
afterAll(() => app[Symbol.asyncDispose]())

/** Everything that a component calls while it renders. */
function render(client: AppClient): unknown[] {
  const tasks = client.collection('tasks')
  const query = tasks.find({ done: false }).sort('title').limit(3)
  query.isSame(tasks.find())
  return [client.token, client.account, client.state, query, tasks.list(), tasks.changes()]
}

/** Renders whenever something has changed; gives what was thrown. */
function rendering(client: AppClient): unknown[] {
  const thrown: unknown[] = []
  const show = (): void => {
    try {
      render(client)
      const live = client.collection('tasks').find().live()
      live.subscribe(() => {}, { onEnd: () => render(client) })
    } catch (error) {
      thrown.push(error)
    }
  }
  client.subscribeState(show)
  client.subscribe(show)
  show()
  return thrown
}

test('a page can render at each moment while accounts sign in and out, and shows each the rows of the account', async () => {
  const client = await new Device(app).open()
  const thrown = rendering(client)
  for (const data of ['keep', 'wipe'] as const) {
    for (const { email, id } of [ann, bob]) {
      const entering = client.signIn.password('users', email, USER_PASSWORD)
      for (let ended = false; !ended; await Promise.resolve()) {
        render(client)
        void entering.then(() => (ended = true))
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(client.account).toMatchObject({ id })
      await client.sync()
      const live = client.collection('projects').find().live()
      await live.ready
      expect(live.value).toHaveLength(1)
      const leaving = client.signOut({ data })
      render(client)
      await leaving
      render(client)
      expect(live.status).not.toBe('live')
      expect([client.account, client.token]).toEqual([undefined, undefined])
      expect(await client.collection('projects').find().count()).toBe(0)
    }
  }
  await client.close()
  expect(thrown).toEqual([])
})

test.each(['keep', 'wipe'] as const)(
  'signing out in one tab (%s) ends what the others show, and signing in is seen there',
  async (data) => {
    const device = new Device(app)
    const [first, second] = [await device.openAs(ann), await device.open()]
    const thrown = rendering(second)
    expect(second.account).toMatchObject({ id: ann.id })
    await first.sync()
    const live = second.collection('projects').find().live()
    await live.ready
    expect(live.value).toHaveLength(1)
    await first.signOut({ data })
    await until(() => second.account === undefined)
    expect(['ended', 'failed']).toContain(live.status)
    expect([second.token, await second.collection('projects').find().count()]).toEqual([undefined, 0])
    await first.signIn.password('users', bob.email, USER_PASSWORD)
    await until(() => second.account?.id === bob.id)
    await first.sync()
    await until(async () => (await second.collection('projects').find().count()) === 1)
    expect(thrown).toEqual([])
    for (const client of [first, second]) await client.close()
  },
)

test('after close() every call says CLOSED', async () => {
  const client = await new Device(app).openAs(ann)
  const tasks = client.collection('tasks')
  await client.close()
  const calls: Record<string, () => unknown> = {
    find: () => tasks.find().sort('title').toArray(),
    count: () => tasks.find().count(),
    get: () => tasks.get('x'),
    create: () => tasks.create({ title: 'x' }),
    update: () => tasks.update('x', {}),
    can: () => tasks.can('create', { title: 'x' }),
    sync: () => client.sync(),
    unsent: () => client.unsent(),
    rejected: () => client.rejected(),
    transaction: () => client.transaction(async () => {}),
    signOut: () => client.signOut(),
    signIn: () => client.signIn.password('users', ann.email, USER_PASSWORD),
  }
  for (const [name, call] of Object.entries(calls))
    await expect((async () => call())(), name).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  expect(client.token).toBeUndefined()
  render(client)
  expect(tasks.find().isSame(tasks.find())).toBe(true)
})

test('a new record has the empty values of its fields on the device, before the server has seen it', async () => {
  const client = await new Device(app).openAs(ann)
  await client.sync()
  const tasks = client.collection('tasks')
  const { id } = await tasks.create({ title: 'Mend the roof', project })
  for (const selector of [{ locked: false }, { count: 0 }, { tags: [] }, { plan: '' }])
    expect(await tasks.find(selector).count(), JSON.stringify(selector)).toBe(1)
  const here = await tasks.get(id)
  await tasks.update(id, { 'count+': 2 })
  expect(await tasks.get(id)).toMatchObject({ count: 2, locked: false })
  await client.sync()
  const { _rev: _own, $rev: _server, created: _date, collectionId: _id, ...there } = (await tasks.get(id))!
  const { _rev: _before, ...made } = here!
  expect(there).toMatchObject({ ...made, count: 2 })
  await client.close()
})

test('the message of a refused write has the reason of each field', async () => {
  const client = await new Device(app).openAs(ann)
  await client.sync()
  const write = client.collection('tasks').create({ title: 'x'.repeat(61), project })
  await write
  await client.sync()
  const answer = await write.server
  expect(answer).toMatchObject({
    status: 'rejected',
    rejected: { message: expect.stringMatching(/title: .*60/) as string },
  })
  await client.close()
})

/** A server that answers whatever it likes. */
async function hostile(answers: (route: string) => unknown): Promise<{ server: HttpServer; url: string }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const [status, body] = answers(`${request.method} ${request.url}`) as [number, unknown]
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('pages that nobody asked for are not applied: the queue stays, and no collection is made', async () => {
  const names = ['$queue', '$rejected', '$state', '$bases', '$staged', '$files', 'other', '__proto__']
  const page = {
    rows: [{ record: { id: 'x' }, mark: 'm' }, { end: 'zz' }],
    token: 't',
    isComplete: true,
    isReset: true,
  }
  const { server, url } = await hostile((route) => {
    if (route.endsWith('/sync/pull'))
      return [
        200,
        {
          boot: 'b',
          collections: Object.fromEntries([...names, 'tasks'].map((name) => [name, page])),
          covered: [],
          unknown: [],
          forgotten: 0,
        },
      ]
    return route.endsWith('/sync/push') ? [200, { boot: 'b2', outcomes: [] }] : [404, {}]
  })
  const storage = memory()
  const device = new Device({ url, environment: app.environment }, storage)
  const client = await device.open({ collections: ['tasks'] })
  await client.collection('tasks').create({ title: 'unsent text' })
  await client.sync().catch(() => {})
  expect(client.state.unsent).toBe(1)
  expect(await client.unsent()).toMatchObject([{ writes: [{ mine: { title: 'unsent text' } }] }])
  await client.close()
  const db = await open(`${device.name}-guest`, { storage })
  expect((await db.collections()).filter((name) => !name.startsWith('$'))).toEqual(['tasks'])
  await db.close()
  server.close()
})

test.each([
  'javascript:alert(1)//',
  'data:text/html,<script>1</script>',
  'file:///etc/passwd?',
  'http://example.org/?redirect=',
  'blob:https://example.org/1?',
  'relative?to=',
])('the address of a provider that is no page is not opened: %s', async (authURL) => {
  const { server, url } = await hostile((route) => {
    if (route.endsWith('auth-methods'))
      return [200, { oauth2: { providers: [{ name: 'evil', authURL, codeVerifier: 'x' }] } }]
    if (route === 'GET /api/realtime') return [200, 'id:x\nevent:PB_CONNECT\ndata:{"clientId":"me"}\n\n']
    return [200, {}]
  })
  const client = await new Device({ url, environment: app.environment }).open()
  const opened: string[] = []
  const entering = client.signIn.oauth2('users', 'evil', { open: (place) => opened.push(place) })
  await expect(entering).rejects.toMatchObject({
    code: 'PANNIER_PEER_REFUSED',
    message: expect.stringContaining('https://') as string,
  })
  expect(opened).toEqual([])
  await client.close()
  server.close()
})

test('a proxy that takes no larger requests is named in words', async () => {
  const { server, url } = await hostile(() => [413, '<html>Request Entity Too Large</html>'])
  const client = await new Device({ url, environment: app.environment }).open()
  await expect(client.sync()).rejects.toMatchObject({
    message: expect.stringMatching(/A proxy refuses a request of this size/) as string,
    status: 413,
  })
  await client.close()
  server.close()
})
