/** Goal: `can()` answers offline and by what waits, and a device gets no more of a rule than its account may know. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tokenFor } from '../../server/test/rest/rest-server.ts'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { AppServer, USER_PASSWORD, type User } from './app-server.ts'
import { Device } from './device.ts'

const clock = virtualEnvironment()
let app: AppServer
let ann: User

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
})
afterAll(() => app[Symbol.asyncDispose]())

async function define(name: string, rules: object, fields: readonly object[] = []): Promise<void> {
  const own = [{ name: 'title', type: 'text' }, { name: 'secret', type: 'text', hidden: true }, ...fields]
  const { status, text } = await app.call('POST /collections', {
    name,
    type: 'base',
    listRule: '',
    fields: own,
    ...rules,
  })
  expect([status, text]).toEqual([200, text])
}

/** The rules of a collection as a device gets them. */
async function rulesOf(name: string, by: User | null = ann): Promise<object> {
  const token = by === null ? '' : await tokenFor(app.backendUrl, 'users', by.email, USER_PASSWORD)
  const { status, json, text } = await app.call('POST /sync/pull', { collections: { [name]: null }, rules: '' }, token)
  expect([status, text]).toEqual([200, text])
  const { collections } = json['rules'] as { collections: readonly { name: string; rules: object }[] }
  return collections.find((one) => one.name === name)!.rules
}

test('a device gets no secret: hidden fields, headers, other collections, the time, and what the caller must send', async () => {
  await define('vault', {
    createRule: 'title = "invited" || @request.body.title = "invited"',
    updateRule: 'secret = "x" || @request.headers.x_key = "key" || @collection.users.email = "a@b.c" || title = "mine"',
    deleteRule: '@request.auth.tokenKey = "k" && @now > "2020-01-01" && strftime("%Y", "now") = "2026"',
  })
  const unknown = "@request.headers.unknown = ''"
  expect(await rulesOf('vault')).toEqual({ create: unknown, update: `${unknown} || title = 'mine'`, delete: unknown })
})

test('what is known of the account alone is answered by the server, and the device gets nothing of the rule', async () => {
  await define('club', {
    createRule: '@request.auth.id != ""',
    updateRule: '@request.auth.collectionName = "admins" && title = "unseen"',
    deleteRule: null,
  })
  expect(await rulesOf('club')).toEqual({ create: '', update: null, delete: null })
  expect(await rulesOf('club', null)).toEqual({ create: null, update: null, delete: null })
})

test('a rule that cannot be bound admits nothing, whatever its other parts say', async () => {
  await define('tree', { createRule: 'title = title' })
  const { id, fields } = (await app.call('GET /collections/tree')).json as { id: string; fields: object[] }
  const parent = { name: 'parent', type: 'relation', collectionId: id }
  await app.call('PATCH /collections/tree', { fields: [...fields, parent] })
  // No back-relation leads from a record that is not stored.
  await app.call('PATCH /collections/tree', { createRule: '@request.auth.id != "" || tree_via_parent.title = "a"' })
  expect(await rulesOf('tree')).toMatchObject({ create: null })
})

test('rules come again only when they or the account are others', async () => {
  await define('notes', { createRule: 'title = "a"' })
  const token = await tokenFor(app.backendUrl, 'users', ann.email, USER_PASSWORD)
  const pull = async (rules: string) =>
    (await app.call('POST /sync/pull', { collections: { notes: null }, rules }, token)).json['rules'] as
      | { version: string }
      | undefined
  const { version } = (await pull(''))!
  expect(await pull(version)).toBeUndefined()
  await app.call(`PATCH /collections/users/records/${ann.id}`, { name: 'Ann' })
  expect(await pull(version)).toMatchObject({ account: { name: 'Ann' } })
})

test('can() answers offline, by what this device has written and not sent, and not before the first pull', async () => {
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  const id = await app.add('tasks', { title: 'roof', project })
  const device = new Device(app)
  const client = await device.openAs(ann)
  const tasks = client.collection('tasks')
  expect(await tasks.can('create', { title: 'x', project })).toBeUndefined()
  await client.sync()
  app.isDown = true
  expect(await tasks.can('create', { title: 'x', project })).toBe(true)
  // Another project may be one that the account does not see.
  expect(await tasks.can('create', { title: 'x', project: 'unknown' })).toBeUndefined()
  expect(await tasks.can('create', { title: 'x' })).toBe(false)
  const task = (await tasks.get(id))!
  expect(await client.can('update', { id, collectionName: 'tasks' })).toBe(true)
  await tasks.update(id, { locked: true })
  expect(await tasks.can('update', id)).toBe(false)
  expect(await tasks.can('delete', { id: String(task['id']) })).toBe(true)
  expect(await tasks.can('delete', 'unknown')).toBeUndefined()
  app.isDown = false
  await client.close()
})

test('subscribeCan() calls back when the answer is another one', async () => {
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  const id = await app.add('tasks', { title: 'roof', project })
  const client = await new Device(app).openAs(ann)
  const answers: (boolean | undefined)[] = []
  const stop = client.subscribeCan(['update', { id, collectionName: 'tasks' }], (answer) => answers.push(answer))
  await clock.idle()
  expect(answers).toEqual([undefined])
  await client.sync()
  await clock.idle()
  expect(answers).toEqual([undefined, true])
  await app.call(`PATCH /collections/tasks/records/${id}`, { locked: true })
  await client.sync()
  await clock.idle()
  expect(answers).toEqual([undefined, true, false])
  stop()
  await app.call(`PATCH /collections/tasks/records/${id}`, { locked: false })
  await client.sync()
  expect(await client.can('update', { id, collectionName: 'tasks' })).toBe(true)
  expect(answers).toHaveLength(3)
  await client.close()
})

test('a question that is not right says what is', async () => {
  const client = await new Device(app).open()
  expect(() => client.can('update', { id: 'a', collectionName: 'nothing' })).toThrow("got 'nothing'")
  expect(() => client.collection('tasks').can('update', {} as never)).toThrow(
    'can(): the id must be a text, got undefined',
  )
  expect(() => client.collection('tasks').can('read' as never, 'a')).toThrow("got 'read'")
  await client.close()
})
