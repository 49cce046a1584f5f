/** Goal: an app and its server change their collections in any order, and no text of a user is lost in silence. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppServer, type User } from './app-server.ts'
import { Device, seen, type AppClient } from './device.ts'

let app: AppServer
let ann: User
let count = 0

beforeAll(async () => {
  app = await AppServer.start()
  ann = await app.addUser('ann')
})
afterAll(() => app[Symbol.asyncDispose]())

interface Field {
  readonly id: string
  readonly name: string
}

/** A collection of its own, and a device that has it. */
async function notes(): Promise<{
  readonly name: string
  readonly device: Device
  client: AppClient
  fields: Field[]
}> {
  const name = `notes${count++}`
  const text = (field: string): object => ({ name: field, type: 'text' })
  const rules = { listRule: '', createRule: '', updateRule: '', deleteRule: '' }
  const { json } = await app.call('POST /collections', {
    name,
    type: 'base',
    ...rules,
    fields: [text('title'), text('more')],
  })
  const device = new Device(app)
  const client = await device.openAs(ann, { collections: [name, 'projects'] })
  await client.sync()
  return { name, device, client, fields: json['fields'] as Field[] }
}

async function change(name: string, fields: readonly object[]): Promise<void> {
  expect(await app.call(`PATCH /collections/${name}`, { fields })).toMatchObject({ status: 200 })
}

test('writes that wait for a field that was renamed or removed are kept as rejected ones, and are mended', async () => {
  const { name, client, fields } = await notes()
  const id = await app.add(name, { title: 'a', more: 'b' })
  await client.sync()
  const collection = client.collection(name)
  const created = collection.create({ title: 'offline' })
  await created
  await collection.update(id, { more: 'text' })
  const other = await collection.create({})
  await change(
    name,
    fields.flatMap((field) =>
      field.name === 'more' ? [] : [field.name === 'title' ? { ...field, name: 'head' } : field],
    ),
  )
  await client.sync()
  const rejected = await client.rejected()
  expect(rejected.map(({ code, data, writes }) => [code, Object.keys(data), writes[0]!.mine])).toEqual([
    ['INVALID', ['title'], { title: 'offline' }],
    ['INVALID', ['more'], { more: 'text' }],
  ])
  expect(rejected[0]!.message).toContain('has no field "title"')
  // The new version of the app knows the names. Records have them already, and what else waited went its way.
  const heads = Array.from(await seen(client, name), ([key, { head }]) => [key, head])
  expect(Object.fromEntries(heads)).toEqual({ [id]: 'a', [other.id]: '' })
  await rejected[0]!.retry(({ mine: { title, ...others } }) => ({ ...others, head: title }))
  await rejected[1]!.discard()
  await client.sync()
  expect(await client.rejected()).toEqual([])
  expect([...(await seen(client, name)).values()]).toContainEqual(expect.objectContaining({ head: 'offline' }))
  await client.close()
})

test('a value that is no field is sent where a rule reads it', async () => {
  const { name, client } = await notes()
  await app.call(`PATCH /collections/${name}`, { createRule: '@request.body.code = "abc"' })
  const right = client.collection(name).create({ title: 'a', code: 'abc' })
  await right
  const wrong = client.collection(name).create({ title: 'a', code: 'abd' })
  await wrong
  // It begins like one that is read.
  const shorter = client.collection(name).create({ title: 'a', code: 'abc', co: 'lost' })
  await shorter
  await client.sync()
  expect([await right.server, await wrong.server]).toMatchObject([{ status: 'ok' }, { status: 'rejected' }])
  expect(await shorter.server).toMatchObject({ rejected: { data: { co: { code: 'validation_unknown_field' } } } })
  await client.close()
})

test('another version of the app adds collections and indexes, and what it does not sync any more leaves the device', async () => {
  const { name, device, client } = await notes()
  await app.add(name, { title: 'a' })
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  await app.add('tasks', { title: 'roof', project })
  await client.sync()
  await client.close()
  const stored = async (): Promise<readonly unknown[]> =>
    (await device.documents(`users-${ann.id}`)).flatMap((document) => ('title' in document ? [document.title] : []))
  expect(await stored()).toEqual(['a'])
  let newer = await device.open({ collections: { projects: { indexes: ['name'] }, tasks: { indexes: ['title'] } } })
  expect(newer.state.isComplete).toBe(false)
  await newer.sync()
  expect([newer.state.isComplete, (await seen(newer, 'tasks')).size]).toEqual([true, 1])
  await newer.close()
  expect(await stored()).toEqual(['roof'])
  newer = await device.open({ collections: [name, 'projects', 'tasks'] })
  await newer.sync()
  expect((await seen(newer, name)).size).toBe(1)
  await newer.close()
})

test('a collection with writes that wait stays on the device until they are answered', async () => {
  const { name, device, client } = await notes()
  await client.collection(name).create({ title: 'waits' })
  await client.close()
  let newer = await device.open({ collections: ['projects'] })
  expect(newer.state.unsent).toBe(1)
  await newer.sync()
  expect((await app.listed(name, ann)).size).toBe(1)
  await newer.close()
  newer = await device.open({ collections: ['projects'] })
  await newer.close()
  expect((await device.documents(`users-${ann.id}`)).filter((one) => 'title' in one)).toEqual([])
})

test('a collection that the server does not have any more says so, and writes to it are rejected', async () => {
  const { name, client } = await notes()
  const write = client.collection(name).create({ title: 'late' })
  await write
  await app.call(`DELETE /collections/${name}`)
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_REFUSED', status: 404 })
  expect(await write.server).toMatchObject({ status: 'rejected', rejected: { writes: [{ mine: { title: 'late' } }] } })
  expect([client.state.status, client.state.rejected]).toEqual(['failed', 1])
  await client.close()
})
