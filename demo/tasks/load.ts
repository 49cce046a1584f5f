/**
 * Makes the collections of the tasks and fills them, at the first start. Records are made in a fixed order, so the number of
 * tasks says where an interrupted load continues.
 */
import { SYSTEM } from '@pannier/server'
import type { PannierServer } from '@pannier/server'
import { DEFINITIONS } from './definitions.ts'
import { people, projects, tasks, teams } from './seed.ts'
import type { SeedRecord } from './seed.ts'
import { PASSWORD } from './visitors.ts'

export const TASKS = 100_000
const BATCH_RECORDS = 1_000

export interface TaskLoadOptions {
  /** The number of tasks to make. */
  readonly count: number
  readonly signal?: AbortSignal
  readonly onProgress?: (done: number) => void
}

type Server = Pick<PannierServer, 'backend' | 'gateway'>

/** How many tasks there are; undefined before the first load. */
export async function countTasks({ backend, gateway }: Server): Promise<number | undefined> {
  if (backend.definitions.find('tasks') === undefined) return undefined
  return (await gateway.collection(SYSTEM, 'tasks')).find({}).count()
}

/** Loads the tasks that are missing. Throws the signal's reason when it is aborted; the next load continues. */
export async function loadTasks(server: Server, { count, signal, onProgress }: TaskLoadOptions): Promise<void> {
  let done = await countTasks(server)
  if (done === undefined) {
    await server.backend.definitions.import(SYSTEM, DEFINITIONS, false)
    done = 0
  }
  if (done === 0) {
    await put(server, 'teams', teams())
    await putPeople(server)
    await put(server, 'projects', projects())
  }
  let batch: SeedRecord[] = []
  let position = 0
  for (const task of tasks(count)) {
    if (position++ < done) continue
    batch.push(task)
    if (batch.length < BATCH_RECORDS && position < count) continue
    signal?.throwIfAborted()
    await put(server, 'tasks', batch)
    batch = []
    onProgress?.(position)
  }
}

/** Stores the people, all with the password of the first, so that it is hashed once. */
async function putPeople(server: Server): Promise<void> {
  const [first, ...others] = people() as [SeedRecord, ...SeedRecord[]]
  const members = await server.gateway.collection(SYSTEM, 'members')
  const request = { context: 'default', method: 'POST', query: {}, headers: {} }
  if ((await members.get(first.id)) === undefined) {
    const input = { ...first, password: PASSWORD, passwordConfirm: PASSWORD }
    await server.backend.records.create({ principal: SYSTEM, request }, 'members', input)
  }
  const { password } = (await members.get(first.id))!
  await put(
    server,
    'members',
    others.map((person) => ({ ...person, password })),
  )
}

/** Records that are there already stay. */
async function put({ gateway }: Server, name: string, records: readonly SeedRecord[]): Promise<void> {
  const collection = await gateway.collection(SYSTEM, name)
  const outcomes = await collection.put(records.map(({ id, ...fields }) => ({ _id: id, ...fields })))
  for (const outcome of outcomes)
    if ('error' in outcome && outcome.error.code !== 'PANNIER_CONFLICT') throw outcome.error
}
