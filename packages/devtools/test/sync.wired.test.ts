/** Goal: devtools show the sync of a client, what waits and what was refused, and write only through the client. No token is shown. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppServer, type User } from '../../client/test/app-server.ts'
import { Device, type AppClient } from '../../client/test/device.ts'
import { eventually } from '../../db/testing/suite.ts'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { DevtoolsModel } from '../src/model/devtools.ts'
import { EditorModel } from '../src/model/editor.ts'

const clock = virtualEnvironment()
let app: AppServer
let ann: User
let project: string

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
  project = await app.add('projects', { name: 'House', members: [ann.id] })
})
afterAll(() => app[Symbol.asyncDispose]())

function devtoolsOf(client: AppClient): DevtoolsModel {
  return new DevtoolsModel({ clients: [client] }, clock, {})
}

test('writes wait, are refused, and are compared, retried in part and discarded', async () => {
  const id = await app.add('tasks', { title: 'Roof', count: 1, project })
  const devtools = await (async () => {
    const client = await new Device(app).openAs(ann)
    await client.sync()
    return devtoolsOf(client)
  })()
  const [model] = devtools.clients
  const { client } = model!
  await client.collection('tasks').update(id, { title: 'Mine', count: 5 })
  await eventually(() => model!.unsent.length === 1)
  expect(model!.unsent[0]!.writes).toMatchObject([
    { action: 'update', collection: 'tasks', id, mine: { title: 'Mine' } },
  ])
  await app.call(`PATCH /collections/tasks/records/${id}`, { title: 'Theirs', count: 7 })
  await model!.sync()
  await eventually(() => model!.rejected.length === 1)
  const [refused] = model!.rejected
  model!.select(refused!)
  expect(model!.choice!.rows.map(({ field, cells }) => [field, ...cells])).toEqual([
    ['title', '"Roof"', '"Mine"', '"Theirs"'],
    ['count', '1', '5', '7'],
  ])
  model!.choose('title', 2)
  await model!.retry(refused!)
  expect([model!.error, model!.selected]).toEqual([undefined, undefined])
  await model!.sync()
  expect((await app.listed('tasks', ann)).get(id)).toMatchObject({ title: 'Theirs', count: 5 })

  await client.collection('tasks').update(id, { title: 'x'.repeat(100) })
  await model!.sync()
  await eventually(() => model!.rejected.length === 1)
  expect(model!.rejected[0]!.code).toBe('INVALID')
  await model!.discard(model!.rejected[0]!)
  await eventually(() => model!.rejected.length === 0)
  devtools.stop()
  await client.close()
})

test('the documents of the account are shown and edited by its client; its queue and its session are not', async () => {
  const id = await app.add('tasks', { title: 'Wall', count: 4, project })
  const client = await new Device(app).openAs(ann)
  await client.sync()
  const devtools = devtoolsOf(client)
  const { source, documents } = devtools.shown!
  await documents.refresh()
  expect(documents.collections.map(({ name }) => name)).toEqual(['projects', 'tasks'])
  const editor = new EditorModel(source, 'tasks', id)
  await editor.load()
  editor.edit(editor.text.replace('Wall', 'Door').replace(/"count": \d+,?/, ''))
  expect(await editor.save()).toBe(true)
  expect((await client.unsent()).flatMap(({ writes }) => writes)).toMatchObject([
    { action: 'update', mine: { title: 'Door', count: null } },
  ])
  const made = new EditorModel(source, 'tasks', undefined)
  made.edit(JSON.stringify({ title: 'New', project }))
  expect([await made.save(), made.error]).toEqual([true, undefined])
  await client.sync()
  const listed = await app.listed('tasks', ann)
  expect([listed.get(id), listed.get(made.id!)]).toMatchObject([{ title: 'Door' }, { title: 'New' }])
  expect(await made.remove()).toBe(true)
  const [model] = devtools.clients
  expect(model!.token).toMatchObject({ length: client.token!.length })
  await clock.until(() => devtools.timeline.shown.length > 0)
  const shown = JSON.stringify([model!.token, devtools.timeline.shown, documents.rows, documents.collections])
  expect(shown).not.toContain(client.token!.slice(-20))
  expect(devtools.timeline.shown.some(({ text }) => text.includes('$'))).toBe(false)

  await client.signOut()
  await eventually(() => devtools.shown?.source !== source)
  expect(source.ended).toBe('The app has closed it.')
  expect(model!.state.account).toBeUndefined()
  devtools.stop()
  await client.close()
})
