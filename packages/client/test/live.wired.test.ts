/** Goal: a live client sends by itself, hears of what is new, and says how it is. A real server over HTTP. */
import { expect, test } from 'vitest'
import { until } from '../../server/test/test-server.ts'
import { AppServer } from './app-server.ts'
import { Device, seen } from './device.ts'

test('a live client sends what is written and sees what others write, without being asked', async () => {
  await using app = await AppServer.start()
  const ann = await app.addUser('ann')
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  const device = new Device(app)
  await using client = await device.openAs(ann, { live: true })
  await until(() => client.status.state === 'synced' && client.status.isComplete)
  const write = client.collection('tasks').create({ title: 'mine', project })
  expect(await write.server).toEqual({ status: 'ok' })
  const id = await app.add('tasks', { title: 'theirs', project })
  await until(async () => (await client.collection('tasks').get(id)) !== undefined)
  await app.call(`PATCH /collections/projects/records/${project}`, { members: [] })
  await until(async () => (await client.collection('tasks').get(id)) === undefined)
})

test('a live client says that it is offline, and continues by itself', async () => {
  await using app = await AppServer.start()
  const ann = await app.addUser('ann')
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  await using client = await new Device(app).openAs(ann, { live: true })
  await until(() => client.status.state === 'synced')
  const states = new Set<string>()
  client.subscribe(() => states.add(client.status.state))
  app.isDown = true
  const write = client.collection('tasks').create({ title: 'mine', project })
  await until(() => client.status.state === 'offline' && client.status.unsent === 1)
  app.isDown = false
  expect(await write.server).toEqual({ status: 'ok' })
  await until(() => client.status.state === 'synced' && client.status.unsent === 0)
  expect([...states].sort()).toEqual(['offline', 'synced', 'syncing'])
})

test('one of two clients of a database pulls, and both see what comes and how sync is', async () => {
  await using app = await AppServer.start()
  const ann = await app.addUser('ann')
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  const device = new Device(app)
  await using first = await device.openAs(ann, { live: true })
  await until(() => first.status.state === 'synced')
  await using second = await device.open({ live: true })
  await until(() => second.status.state === 'synced')
  const write = second.collection('tasks').create({ title: 'by the second', project })
  expect(await write.server).toEqual({ status: 'ok' })
  await until(async () => (await seen(first, 'tasks')).size === 1)
  await first.close()
  expect(await second.collection('tasks').create({ title: 'alone', project }).server).toEqual({ status: 'ok' })
})
