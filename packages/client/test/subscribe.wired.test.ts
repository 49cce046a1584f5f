/** Goal: each way of a client to subscribe keeps one contract: a listener, called soon with a value, until the end that it gave. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { AppServer, type User } from './app-server.ts'
import { Device, type AppClient } from './device.ts'

const clock = virtualEnvironment()
let app: AppServer
let ann: User

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
})
afterAll(() => app[Symbol.asyncDispose]())

type Listener = (value: unknown) => void

interface Way {
  subscribe(client: AppClient, listener: Listener): () => void
  /** The first call, before anything has changed. Records that have not changed make none. */
  readonly first: readonly unknown[]
}

const QUESTION = ['create', 'reports', {}] as const

const WAYS: Readonly<Record<string, Way>> = {
  subscribe: { subscribe: (client, listener) => client.subscribe(listener), first: [] },
  subscribeState: {
    subscribe: (client, listener) => client.subscribeState(listener),
    first: [expect.objectContaining({ unsent: 0, error: undefined })],
  },
  subscribeRejected: { subscribe: (client, listener) => client.subscribeRejected(listener), first: [[]] },
  subscribeCan: { subscribe: (client, listener) => client.subscribeCan(QUESTION, listener), first: [undefined] },
}

test.each(Object.entries(WAYS))('%s() calls each listener as often as it was added, until its end', async (_, way) => {
  const client = await new Device(app).openAs(ann)
  const heard = vi.fn<Listener>()
  const [stop, stopAgain] = [way.subscribe(client, heard), way.subscribe(client, heard)]
  await clock.idle()
  expect(heard.mock.calls.map(([value]) => value)).toEqual([...way.first, ...way.first])
  stop()
  heard.mockClear()
  const other = vi.fn<Listener>()
  const stopOther = way.subscribe(client, other)
  await client.sync()
  await client.collection('tasks').create({ title: 'roof' })
  await client.sync()
  await clock.idle()
  expect(other).toHaveBeenCalled()
  stopAgain()
  stopOther()
  for (const listener of [heard, other]) listener.mockClear()
  await client.collection('tasks').create({ title: 'wall' })
  await client.sync()
  await clock.idle()
  expect([heard, other].flatMap(({ mock }) => mock.calls)).toEqual([])
  await client.close()
})

test.each(Object.entries(WAYS))('%s() refuses a listener that is no function', async (_, way) => {
  const client = await new Device(app).open()
  expect(() => way.subscribe(client, null as never)).toThrow(
    new TypeError('subscribe(): listener must be a function, got null'),
  )
  await client.close()
})
