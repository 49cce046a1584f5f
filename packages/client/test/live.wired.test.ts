/** Goal: a live client sends by itself, hears of what is new, and says how it is. A real server over HTTP. */
import { expect, test } from 'vitest'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { AppServer } from './app-server.ts'
import { Device, seen } from './device.ts'

test('a live client sends what is written and sees what others write, without being asked', async () => {
  const clock = virtualEnvironment()
  await using app = await AppServer.start(clock)
  const ann = await app.addUser('ann')
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  const device = new Device(app)
  await using client = await device.openAs(ann, { live: true })
  await clock.until(() => client.state.status === 'synced' && client.state.isComplete)
  const write = client.collection('tasks').create({ title: 'mine', project })
  expect(await write.server).toEqual({ status: 'ok' })
  const id = await app.add('tasks', { title: 'theirs', project })
  await clock.until(async () => (await client.collection('tasks').get(id)) !== undefined)
  await app.call(`PATCH /collections/projects/records/${project}`, { members: [] })
  await clock.until(async () => (await client.collection('tasks').get(id)) === undefined)
})

test('a live client says that it is offline, and continues by itself', async () => {
  const clock = virtualEnvironment()
  await using app = await AppServer.start(clock)
  const ann = await app.addUser('ann')
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  await using client = await new Device(app).openAs(ann, { live: true })
  await clock.until(() => client.state.status === 'synced')
  const states = new Set<string>()
  client.subscribeState(({ status }) => states.add(status))
  app.isDown = true
  const write = client.collection('tasks').create({ title: 'mine', project })
  await clock.until(() => client.state.status === 'offline' && client.state.unsent === 1)
  app.isDown = false
  await clock.until(() => client.state.status === 'synced' && client.state.unsent === 0)
  expect(await write.server).toEqual({ status: 'ok' })
  expect([...states].sort()).toEqual(['offline', 'synced', 'syncing'])
})

test('one of two clients of a database pulls, and both see what comes and how sync is', async () => {
  const clock = virtualEnvironment()
  await using app = await AppServer.start(clock)
  const ann = await app.addUser('ann')
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  const device = new Device(app)
  await using first = await device.openAs(ann, { live: true })
  await clock.until(() => first.state.status === 'synced')
  await using second = await device.open({ live: true })
  await clock.until(() => second.state.status === 'synced')
  const write = second.collection('tasks').create({ title: 'by the second', project })
  expect(await write.server).toEqual({ status: 'ok' })
  await clock.until(async () => (await seen(first, 'tasks')).size === 1)
  await first.close()
  expect(await second.collection('tasks').create({ title: 'alone', project }).server).toEqual({ status: 'ok' })
})
