/** Goal: an app reads and writes without a network, and comes to what the server allows. A real server over HTTP. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { ClientError } from '../src/index.ts'
import { until } from '../../server/test/test-server.ts'
import { AppServer, type User } from './app-server.ts'
import { Device, seen, type AppClient } from './device.ts'

const clock = virtualEnvironment()
let app: AppServer
let ann: User
let ben: User
let project: string
let client: AppClient
let device: Device

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
  ben = await app.addUser('ben')
})
beforeEach(async () => {
  app.isDown = false
  app.lose = () => undefined
  project = await app.add('projects', { name: 'house', members: [ann.id] })
  device = new Device(app)
  client = await device.openAs(ann)
  return () => client.close()
})
afterAll(() => app[Symbol.asyncDispose]())

/** The app sees what REST lists. */
async function expectInStep(by: AppClient = client, user: User = ann): Promise<void> {
  for (const name of ['projects', 'tasks', 'reports'])
    expect([name, await seen(by, name)]).toEqual([name, await app.listed(name, user)])
}

test('the app sees what the account may list, and nothing of what it may not see any more', async () => {
  const id = await app.add('tasks', { title: 'roof', project })
  await client.sync()
  expect(await client.collection('tasks').get(id)).toMatchObject({ title: 'roof', project })
  await expectInStep()
  await app.call(`PATCH /collections/projects/records/${project}`, { members: [] })
  await client.sync()
  expect(await client.collection('tasks').get(id)).toBeUndefined()
  await expectInStep()
})

test('an update that only changes the order of names in a JSON value is shown, until the server sorts them', async () => {
  await app.call('POST /collections', {
    name: 'drafts',
    type: 'base',
    listRule: '',
    updateRule: '',
    fields: [{ name: 'content', type: 'json' }],
  })
  const id = await app.add('drafts', { content: { a: 1, b: 2 } })
  const writer = await new Device(app).openAs(ann, { collections: ['drafts'] })
  await writer.sync()
  app.isDown = true
  await writer.collection('drafts').update(id, { content: { b: 2, a: 1 } })
  const shown = async (): Promise<string> => JSON.stringify((await writer.collection('drafts').get(id))?.['content'])
  expect(await shown()).toBe('{"b":2,"a":1}')
  app.isDown = false
  await writer.sync()
  // The server sorts the names of JSON values, as PocketBase does.
  expect(await shown()).toBe('{"a":1,"b":2}')
  await writer.close()
})

test('fields come and go with what shows them, and an update keeps those that the app does not have', async () => {
  const projects = (await app.call('GET /collections/projects')).json['id']
  await app.call('POST /collections', {
    name: 'posts',
    type: 'base',
    listRule: '',
    updateRule: '',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'pay', type: 'number', viewRule: 'project.members.id ?= @request.auth.id' },
      { name: 'project', type: 'relation', collectionId: projects },
    ],
  })
  const id = await app.add('posts', { title: 'a', pay: 5, project })
  const setMembers = (members: readonly string[]): Promise<unknown> =>
    app.call(`PATCH /collections/projects/records/${project}`, { members })
  const writer = await new Device(app).openAs(ann, { collections: ['posts'] })
  const posts = writer.collection('posts')
  const shown = async (): Promise<unknown> => {
    await writer.sync()
    expect(await seen(writer, 'posts')).toEqual(await app.listed('posts', ann))
    return (await app.call(`GET /collections/posts/records/${id}`)).json
  }
  expect(await shown()).toMatchObject({ title: 'a', pay: 5 })
  await posts.update(id, { title: 'b' })
  await setMembers([])
  expect(await shown()).toMatchObject({ title: 'b', pay: 5 })
  expect(await posts.get(id)).not.toHaveProperty('pay')
  await posts.update(id, { title: 'c' })
  // The write lies on a body without the field.
  expect(await posts.get(id)).not.toHaveProperty('pay')
  expect(await shown()).toMatchObject({ title: 'c', pay: 5 })
  await setMembers([ann.id])
  await shown()
  expect(await posts.get(id)).toMatchObject({ title: 'c', pay: 5 })
  await writer.close()
})

test('a guest who may not list a collection is signed out, and an account that may not has failed', async () => {
  await app.call('POST /collections', { name: 'secrets', type: 'base', listRule: null, fields: [] })
  const options = { collections: ['secrets'] }
  for (const state of ['signedOut', 'failed'] as const) {
    const opened = await (state === 'signedOut' ? new Device(app).open(options) : new Device(app).openAs(ann, options))
    await expect(opened.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_REFUSED', status: 403 })
    expect(opened.state.status).toBe(state)
    await opened.close()
  }
})

test('an app syncs a part of a collection, and another part later', async () => {
  const ids = await Promise.all([1, 2, 3].map((count) => app.add('tasks', { title: `task ${count}`, project, count })))
  const open = (filter: string): Promise<AppClient> => device.open({ collections: { projects: {}, tasks: { filter } } })
  const counts = async (): Promise<unknown[]> => {
    await client.sync()
    return (await client.collection('tasks').find().sort('count').toArray()).map(({ count }) => count)
  }
  await client.close()
  client = await open('count > 1')
  expect(await counts()).toEqual([2, 3])
  await app.call(`PATCH /collections/tasks/records/${ids[0]}`, { count: 5 })
  await app.call(`PATCH /collections/tasks/records/${ids[1]}`, { count: 0 })
  expect(await counts()).toEqual([3, 5])
  // What the app writes is shown until the server has it, and then only if it is in the part.
  const write = client.collection('tasks').create({ title: 'small', project, count: 1 })
  await write
  expect(await client.collection('tasks').find().count()).toBe(3)
  expect(await counts()).toEqual([3, 5])
  expect(await write.server).toEqual({ status: 'ok' })
  await client.close()
  client = await open('count < 4')
  expect(await counts()).toEqual([0, 1, 3])
  await client.close()
  client = await open('missing = 4')
  await expect(client.sync()).rejects.toMatchObject({
    code: 'PANNIER_PEER_REFUSED',
    message: /The filter of "tasks" can't be synced/,
  })
})

test('a write is seen at once, also without a network, and is sent later', async () => {
  const tasks = client.collection('tasks')
  await client.sync()
  app.isDown = true
  const write = tasks.create({ title: 'roof', project, count: 1 })
  const { id } = await write
  await tasks.update(id, { 'count+': 2, 'tags+': ['a'] })
  expect(await tasks.get(id)).toMatchObject({ title: 'roof', count: 3, tags: ['a'] })
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  expect([client.state.unsent, client.state.status]).toEqual([2, 'offline'])
  app.isDown = false
  await client.sync()
  expect(await write.server).toEqual({ status: 'ok' })
  expect(await tasks.get(id)).toMatchObject({ count: 3, created: expect.stringMatching(/^\d{4}-/) })
  expect(client.state.unsent).toBe(0)
  await expectInStep()
})

test('what waits is listed in its order, and collections whose records change are named', async () => {
  const changed: string[] = []
  const stop = client.subscribe((records) =>
    changed.push(...[...records].map(([name, ids]) => `${name} ${String(ids)}`)),
  )
  expect(client.state.incomplete).toEqual(['projects', 'tasks', 'reports'])
  const id = await app.add('tasks', { title: 'roof', project })
  await client.sync()
  expect([client.state.incomplete, changed.some((text) => text.startsWith('tasks '))]).toEqual([[], true])
  changed.length = 0
  await client.collection('tasks').update(id, { title: 'wall' })
  await client.collection('tasks').delete(id)
  expect(await client.unsent()).toMatchObject([
    { writes: [{ action: 'update', id, mine: { title: 'wall' }, base: { title: 'roof' } }] },
    { writes: [{ action: 'delete', collection: 'tasks', id }] },
  ])
  expect(new Set(changed)).toEqual(new Set([`tasks ${id}`]))
  stop()
  await client.sync()
  expect(await client.unsent()).toEqual([])
})

test('writes of a closed client are sent when it is opened again, without signing in again', async () => {
  await client.collection('tasks').create({ title: 'roof', project })
  await client.close()
  client = await device.open()
  expect([client.account?.id, client.state.unsent]).toEqual([ann.id, 1])
  await client.sync()
  await expectInStep()
})

test('a refused write goes to the rejected ones with those that build on it, and what the server has appears again', async () => {
  const tasks = client.collection('tasks')
  const id = await app.add('tasks', { title: 'roof', project, locked: true })
  await client.sync()
  const heard: (readonly string[])[] = []
  const stop = client.subscribeRejected((all) => heard.push(all.map(({ code }) => code)))
  await clock.idle()
  expect(heard).toEqual([[]])
  const write = tasks.update(id, { title: 'my long text' })
  await write
  const next = tasks.update(id, { count: 5 })
  await next
  const other = tasks.create({ title: 'another', project })
  await other
  await client.sync()
  expect(await other.server).toEqual({ status: 'ok' })
  expect(await tasks.get(id)).toMatchObject({ title: 'roof', count: 0 })
  const [rejected, ...more] = await client.rejected()
  expect(more).toEqual([])
  expect(rejected).toMatchObject({
    at: 0,
    writes: [
      { action: 'update', id, mine: { title: 'my long text' }, base: { title: 'roof' } },
      { action: 'update', id, mine: { count: 5 }, base: { count: 0 } },
    ],
    theirs: { title: 'roof' },
  })
  expect(await write.server).toMatchObject({ status: 'rejected', rejected: { id: rejected!.id } })
  expect(await next.server).toMatchObject({ status: 'rejected', rejected: { id: rejected!.id } })
  await clock.idle()
  expect(heard).toEqual([[], ['NOT_FOUND']])
  await app.call(`PATCH /collections/tasks/records/${id}`, { locked: false })
  await client.sync()
  const again = rejected!.retry(({ mine }) => ({ ...mine, title: 'shorter' }))
  await again
  expect(await tasks.get(id)).toMatchObject({ title: 'shorter', count: 5 })
  await client.sync()
  expect([await again.server, await client.rejected()]).toEqual([{ status: 'ok' }, []])
  await clock.idle()
  expect(heard).toEqual([[], ['NOT_FOUND'], []])
  stop()
  await expectInStep()
})

test('what others have changed meanwhile is a conflict with both texts, unless the write overwrites', async () => {
  const tasks = client.collection('tasks')
  const id = await app.add('tasks', { title: 'roof', project })
  await client.sync()
  await tasks.update(id, { title: 'mine' })
  await app.call(`PATCH /collections/tasks/records/${id}`, { title: 'theirs' })
  await client.sync()
  expect(await tasks.get(id)).toMatchObject({ title: 'theirs' })
  const [rejected] = await client.rejected()
  expect(rejected).toMatchObject({
    code: 'CONFLICT',
    writes: [{ mine: { title: 'mine' }, base: { title: 'roof' } }],
    theirs: { title: 'theirs' },
  })
  await rejected!.discard()
  expect(await client.rejected()).toEqual([])
  await tasks.update(id, { title: 'last' }, { overwrite: true })
  await app.call(`PATCH /collections/tasks/records/${id}`, { title: 'theirs again' })
  await client.sync()
  expect(await tasks.get(id)).toMatchObject({ title: 'last' })
  await expectInStep()
})

test('a transaction is all or nothing, here and at the server', async () => {
  await client.sync()
  const failed = client.transaction(async (tx) => {
    await tx.collection('tasks').create({ id: 'neverwritten001', title: 'x', project })
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  expect(await client.collection('tasks').get('neverwritten001')).toBeUndefined()
  const refused = client.transaction(async (tx) => {
    const made = await tx.collection('projects').create({ name: 'garden', members: [ann.id] })
    await tx.collection('tasks').create({ title: 'x'.repeat(61), project: made.id })
    return made.id
  })
  const id = await refused
  expect(await client.collection('projects').get(id)).toMatchObject({ name: 'garden' })
  await client.sync()
  expect(await refused.server).toMatchObject({ status: 'rejected', rejected: { at: 1, code: 'INVALID' } })
  expect(await client.collection('projects').get(id)).toBeUndefined()
  await expectInStep()
})

test('a record that its author may not see goes when the server has it (R11)', async () => {
  await client.sync()
  const write = client.collection('reports').create({ text: 'secret', status: 'new' })
  const { id } = await write
  await client.sync()
  expect(await write.server).toEqual({ status: 'ok' })
  expect(await client.collection('reports').get(id)).toBeUndefined()
})

test('a lost answer writes nothing twice', async () => {
  await client.sync()
  const write = client.collection('tasks').create({ title: 'once', project })
  await write
  let lost = 0
  app.lose = (path) => (path.endsWith('/push') && lost++ === 0 ? 'answer' : undefined)
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  expect(client.state.unsent).toBe(1)
  await client.sync()
  expect(await write.server).toEqual({ status: 'ok' })
  expect((await app.listed('tasks', ann)).size).toBe((await seen(client, 'tasks')).size)
  expect([...(await seen(client, 'tasks')).values()].filter(({ title }) => title === 'once')).toHaveLength(1)
})

test('writes that a restored server does not know are sent again', async () => {
  await client.sync()
  const copy = await app.copy()
  const write = client.collection('tasks').create({ title: 'kept', project })
  const { id } = await write
  await client.sync()
  expect(await write.server).toEqual({ status: 'ok' })
  await app.restart(copy)
  await client.sync()
  expect(await app.listed('tasks', ann)).toHaveProperty('size')
  expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ title: 'kept' })
  await expectInStep()
})

test('a tab sends nothing after another one has signed out, even if the server never heard of it', async () => {
  const other = await device.open()
  await other.sync()
  await other.collection('tasks').create({ title: 'kept', project })
  app.isDown = true
  await client.signOut()
  app.isDown = false
  await until(() => other.account === undefined)
  expect([other.token, other.state.unsent]).toEqual([undefined, 0])
  await other.sync()
  expect(await app.listed('tasks', ann)).not.toContainEqual(expect.objectContaining({ title: 'kept' }))
  await other.signIn.password('users', ann.email, 'the password of users')
  await other.sync()
  expect(other.state.unsent).toBe(0)
  await other.close()
})

test('a session that was revoked neither sends nor loses anything', async () => {
  await client.sync()
  const before = await seen(client, 'projects')
  await client.collection('tasks').create({ title: 'kept', project })
  await app.call(`PATCH /collections/users/records/${ann.id}`, {
    password: 'another one',
    passwordConfirm: 'another one',
  })
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_SIGNED_OUT' })
  expect([client.state.status, client.state.unsent, await seen(client, 'projects')]).toEqual(['signedOut', 1, before])
  await client.signIn.password('users', ann.email, 'another one')
  await client.sync()
  expect(client.state.unsent).toBe(0)
  await app.call(`PATCH /collections/users/records/${ann.id}`, {
    password: 'the password of users',
    passwordConfirm: 'the password of users',
  })
})

test('each user of a device has a database, and wiping deletes one of them', async () => {
  const task = await app.add('tasks', { title: 'of ann', project })
  await client.sync()
  await client.signOut()
  expect([client.account, (await seen(client, 'tasks')).size]).toEqual([undefined, 0])
  await client.signIn.password('users', ben.email, 'the password of users')
  await client.sync()
  expect(await client.collection('tasks').get(task)).toBeUndefined()
  await client.signIn.password('users', ann.email, 'the password of users')
  expect(await client.collection('tasks').get(task)).toMatchObject({ title: 'of ann' })
  await client.collection('tasks').create({ title: 'unsent', project })
  await expect(client.signOut({ data: 'wipe' })).rejects.toThrow('1 unsent')
  await client.signOut({ data: 'wipe', discard: true })
  app.isDown = true
  await client.close()
  const isThere = ({ id }: User): Promise<boolean | undefined> => device.storage.has(`${device.name}-users-${id}`)
  expect([await isThere(ann), await isThere(ben)]).toEqual([false, true])
  client = await device.open()
  expect(client.account).toBeUndefined()
})

test('a start skips more numbers of transactions than a device can lose with the power', async () => {
  const own = new Device(app)
  const numbers: number[] = []
  for (let start = 0; start < 3; start++) {
    await (await own.openAs(ann)).close()
    const found = (await own.documents(`users-${ann.id}`)).find((one) => (one as { _id: string })._id === '$device')
    numbers.push((found as unknown as { next: number }).next)
  }
  expect(numbers[2]! - numbers[0]!).toBeGreaterThan(1000)
})

test('an encrypted database opens with its key only, and another try signs in', async () => {
  let password = 'right'
  const encrypted = new Device(app)
  const encryption = (account: string): Promise<{ password: string }> =>
    Promise.resolve({ password: account === 'guest' ? 'guest' : password })
  await using opened = await encrypted.openAs(ann, { encryption })
  await opened.sync()
  await opened.signOut()
  password = 'wrong'
  const signIn = (): Promise<unknown> => opened.signIn.password('users', ann.email, 'the password of users')
  await expect(signIn()).rejects.toMatchObject({ code: 'PANNIER_KEY_WRONG' })
  expect([opened.account, opened.state.status]).toEqual([undefined, 'starting'])
  password = 'right'
  await signIn()
  expect((await seen(opened, 'projects')).size).toBeGreaterThan(0)
})

test('a wrong id names the call that was made', async () => {
  const tasks = client.collection('tasks')
  const wrong = (value: unknown): never => value as never
  const calls: readonly (readonly [call: string, got: string, made: () => PromiseLike<unknown>])[] = [
    ['create', '5', () => tasks.create({ id: wrong(5), title: 'one' })],
    ['create', "''", () => tasks.create({ id: '', title: 'one' })],
    ['update', 'an object', () => tasks.update(wrong({ id: 'a' }), { title: 'one' })],
    ['update', 'undefined', () => tasks.update(wrong(undefined), { title: 'one' })],
    ['delete', 'an object', () => tasks.delete(wrong({ id: 'a' }))],
    ['delete', 'null', () => client.transaction((tx) => tx.collection('tasks').delete(wrong(null)))],
  ]
  for (const [call, got, made] of calls)
    await expect(made(), call).rejects.toThrow(new TypeError(`${call}(): the id must be a text, got ${got}`))
})

test('a value that is no JSON names the call, the field and what to do', async () => {
  const tasks = client.collection('tasks')
  const { id } = await tasks.create({ title: 'one', project })
  const due = new Date(0)
  const words = /^(create|update)\(\): \$\.due must be a JSON value \(store date\.toISOString\(\)/
  await expect(tasks.create({ title: 'two', due })).rejects.toThrow(words)
  await expect(tasks.update(id, { due })).rejects.toThrow(words)
})

test('calls that are not right say what is', async () => {
  await expect(client.collection('tasks').update('nothing', {})).rejects.toBeInstanceOf(ClientError)
  await expect(client.collection('tasks').delete('nothing')).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
  expect(() => client.collection('nothing')).toThrow("got 'nothing'")
  const { id } = await client.collection('tasks').create({ title: 'one', project })
  await expect(client.collection('tasks').create({ id, title: 'two' })).rejects.toMatchObject({
    code: 'PANNIER_CONFLICT',
  })
})
