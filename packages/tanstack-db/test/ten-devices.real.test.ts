/** Goal: the todo app of TanStack DB on ten devices that are offline and come back: all show the same, and no write is lost. */
import { createCollection, createLiveQueryCollection, eq } from '@tanstack/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom, type Random } from '../../db/testing/random.ts'
import { eventually } from '../../db/testing/suite.ts'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { AppServer, type User } from '../../client/test/app-server.ts'
import { Device, type AppClient } from '../../client/test/device.ts'
import { pannierClientCollectionOptions } from '../src/index.ts'
import { seedsOf } from '../../../tools/test/seeds.ts'

const DEVICES = 10
const ROUNDS = 3
const WRITES = 8

const clock = virtualEnvironment()
let app: AppServer
let ann: User

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
})
afterAll(() => app[Symbol.asyncDispose]())

/** A device with the app: all tasks, and a query of those that are open. */
async function openTodo(project: string) {
  const client = await new Device(app).openAs(ann)
  await client.sync()
  const tasks = createCollection(pannierClientCollectionOptions({ client, collection: 'tasks' }))
  const open = createLiveQueryCollection((query) =>
    query.from({ task: tasks }).where(({ task }) => eq(task['locked'], false)),
  )
  // Without a subscriber TanStack DB forgets the rows after a while.
  open.subscribeChanges(() => {})
  await open.preload()
  return { client, tasks, open, project }
}

type Todo = Awaited<ReturnType<typeof openTodo>>

/** Adds, renames, ticks or deletes a task. The rules admit no change of a task that is ticked. */
function write({ tasks, project }: Todo, random: Random, id: string): Promise<unknown> {
  const ids = [...tasks.keys()]
  const chosen = ids[random.below(Math.max(ids.length, 1))]
  const action = random.below(4)
  if (chosen === undefined || action === 0)
    return tasks.insert({ id, title: id, locked: false, project }).when('settled')
  if (action === 1) return tasks.update(chosen, (task) => void (task['title'] = `${id} renamed`)).when('settled')
  if (action === 2) return tasks.update(chosen, (task) => void (task['locked'] = true)).when('settled')
  return tasks.delete(chosen).when('settled')
}

/** Sends all writes, and pulls until nothing waits. What the server has refused is given up. */
async function settle(clients: readonly AppClient[]): Promise<void> {
  for (let pass = 0; pass < 2; pass++)
    for (const client of clients) {
      await client.sync()
      for (const rejected of await client.rejected()) await rejected.discard()
    }
}

function shown({ tasks }: Todo): string {
  const rows = Array.from(tasks.state, ([id, task]) => `${id} ${String(task['title'])} ${String(task['locked'])}`)
  return rows.sort().join('\n')
}

for (const seed of seedsOf('race', 0.5))
  test(`ten devices write offline, come back and converge: seed ${seed}`, async () => {
    const random = seededRandom(seed)
    const project = await app.add('projects', { name: `House ${seed}`, members: [ann.id] })
    const devices = await Promise.all(Array.from({ length: DEVICES }, () => openTodo(project)))
    const clients = devices.map(({ client }) => client)
    let added = 0
    for (let round = 0; round < ROUNDS; round++) {
      app.isDown = true
      for (const device of devices)
        for (let step = 0; step < WRITES; step++)
          await write(device, random, `t${String(seed).slice(-7)}x${String(added++).padStart(6, '0')}`)
      expect(clients.filter(({ state }) => state.unsent === 0)).toEqual([])
      app.isDown = false
      await settle(clients)
      const stored = await app.listed('tasks', ann)
      const expected = [...stored].map(([id, task]) => `${id} ${String(task['title'])} ${String(task['locked'])}`)
      await eventually(() => devices.every((device) => shown(device) === expected.sort().join('\n')))
      const open = [...stored.values()].filter(({ locked }) => locked !== true).length
      await eventually(() => devices.every((device) => device.open.size === open))
    }
    for (const { client, open, tasks } of devices) {
      await open.cleanup()
      await tasks.cleanup()
      await client.close()
    }
  })
