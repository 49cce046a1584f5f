/** Goal: a long pull shows one state after another, never a part of one, and begins again without losing what waits. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ITSELF } from '../../server/test/rest/rest-server.ts'
import { AppServer, type User } from './app-server.ts'
import { Device, seen, type AppClient } from './device.ts'

/** More than a page has. */
const TASKS = 1100
const PAGE = 1000

let app: AppServer
let ann: User
let project: string
let client: AppClient

beforeAll(async () => {
  app = await AppServer.start()
  ann = await app.addUser('ann')
  project = await app.add('projects', { name: 'house', members: [ann.id] })
  const { records } = app.backend
  for (let n = 0; n < TASKS; n++) await records.create(ITSELF, 'tasks', { title: `t${n}`, project })
  client = await new Device(app).openAs(ann)
})
afterAll(async () => {
  await client.close()
  await app[Symbol.asyncDispose]()
})

/** A sync whose second pull is lost. */
async function syncOnePage(): Promise<void> {
  let pulls = 0
  app.lose = (path) => (path.endsWith('/pull') && ++pulls === 2 ? 'request' : undefined)
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  app.lose = () => undefined
}

async function sync(): Promise<void> {
  await client.sync()
  const tasks = await app.listed('tasks', ann)
  const shown = await seen(client, 'tasks')
  expect(shown.size).toBe(TASKS)
  for (const [id, task] of tasks) expect(shown.get(id)).toEqual(task)
}

/** How many tasks have each count. */
async function counts(): Promise<Record<string, number>> {
  const all = [...(await seen(client, 'tasks')).values()].map(({ count }) => String(count))
  return Object.fromEntries([...new Set(all)].map((count) => [count, all.filter((each) => each === count).length]))
}

async function changeAll(count: number): Promise<void> {
  const { records } = app.backend
  for (const id of (await seen(client, 'tasks')).keys()) await records.update(ITSELF, 'tasks', id, { count })
}

test('the first sync is shown as it comes', async () => {
  await syncOnePage()
  const part = (await seen(client, 'tasks')).size
  expect([part > 0 && part <= PAGE, client.state.isComplete]).toEqual([true, false])
  await sync()
  expect(client.state.isComplete).toBe(true)
})

test('the next page is asked for before one is applied, and none after the last one', async () => {
  const other = await new Device(app).openAs(ann)
  const sent = vi.spyOn(globalThis, 'fetch')
  const pulls = (): number =>
    sent.mock.calls.filter(([input]) => new Request(input).url.endsWith('/api/sync/pull')).length
  let pullsWhenShown = 0
  const stop = other.subscribeState(({ received }) => {
    if (received > 0) pullsWhenShown ||= pulls()
  })
  await other.sync()
  expect([pullsWhenShown, pulls()]).toEqual([2, 2])
  expect((await seen(other, 'tasks')).size).toBe(TASKS)
  sent.mockRestore()
  stop()
  await other.close()
})

test('a later sweep is shown when it is complete, with what waits on top of it', async () => {
  await changeAll(1)
  const [id] = (await seen(client, 'tasks')).keys()
  await syncOnePage()
  expect(await counts()).toEqual({ 0: TASKS })
  await client.collection('tasks').update(id!, { title: 'mine' }, { overwrite: true })
  expect(await client.collection('tasks').get(id!)).toMatchObject({ title: 'mine', count: 0 })
  await sync()
  expect(await counts()).toEqual({ 1: TASKS })
  expect(await client.collection('tasks').get(id!)).toMatchObject({ title: 'mine', count: 1 })
})

test('with other rules all comes again: what is not seen any more goes, and what waits stays', async () => {
  const [first, second] = (await seen(client, 'tasks')).keys()
  await app.call(`PATCH /collections/tasks/records/${second}`, { locked: true })
  await app.call('PATCH /collections/tasks', { listRule: 'project.members.id ?= @request.auth.id && locked != true' })
  await syncOnePage()
  expect(await client.collection('tasks').get(second!)).toMatchObject({ count: 1 })
  app.isDown = true
  await client.collection('tasks').update(first!, { count: 5 })
  app.isDown = false
  await client.sync()
  expect(await client.collection('tasks').get(second!)).toBeUndefined()
  expect(await client.collection('tasks').get(first!)).toMatchObject({ count: 5 })
  expect((await seen(client, 'tasks')).size).toBe(TASKS - 1)
})
