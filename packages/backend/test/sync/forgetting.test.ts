/**
 * Goal: what only those replicas need that were away for longer than the horizon is forgotten by a job; nobody else notices. Method: a
 * backend whose clock is moved.
 */
import type { Database } from 'pannier'
import type { VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { openBackend, SYSTEM, type Backend, type RecordInput, type SyncPage } from '../../src/index.ts'
import { actorOf } from '../records/read/read-world.ts'
import { openTestBackend } from '../test-backend.ts'

const DAY_MS = 24 * 3600 * 1000
const JOB = '__pbMFACleanup__'
const admin: Actor = actorOf('super')
const guest: Actor = actorOf('guest')

let database: Database
let backend: Backend
let environment: VirtualEnvironment

beforeEach(async () => {
  ;({ environment, database, backend } = await openTestBackend())
  const topics = { name: 'topics', type: 'base', fields: [{ name: 'open', type: 'bool' }] }
  const { id } = await backend.definitions.create(SYSTEM, topics)
  const topic = { name: 'topic', type: 'relation', collectionId: id, maxSelect: 1 }
  const fields = [topic, { name: 'text', type: 'text' }]
  await backend.definitions.create(SYSTEM, { name: 'notes', type: 'base', listRule: 'topic.open = true', fields })
})
afterEach(() => database.close())

async function start(): Promise<void> {
  backend = await openBackend(database)
}

async function pull(token?: string): Promise<SyncPage> {
  return (await backend.sync.pull(guest, { notes: token }))['notes']!
}

/** Each day the job runs. */
async function pass(days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    environment.jump(DAY_MS)
    backend.schedules.run(SYSTEM, JOB)
    await environment.idle()
  }
}

async function add(collection: string, values: RecordInput): Promise<string> {
  const { id } = await backend.records.create(admin, collection, values)
  return String(id)
}

test('a replica that was away for 29 days learns what has left; one that was away for 32 days begins again', async () => {
  const topic = await add('topics', { open: true })
  const [gone, kept] = [await add('notes', { topic, text: 'a' }), await add('notes', { topic, text: 'b' })]
  const { token } = await pull()
  await backend.records.delete(admin, 'notes', gone)
  await pull(token)
  await pass(29)
  expect(await pull(token)).toMatchObject({ isReset: false, rows: [{ left: gone, deleted: true }] })
  await pass(3)
  const again = await pull(token)
  expect([again.isReset, again.rows.map((row) => 'record' in row && row.record['id'])]).toEqual([true, [kept, false]])
  expect(again.isComplete).toBe(true)
})

test('a replica that pulls each day never begins again', async () => {
  const topic = await add('topics', { open: true })
  let { token } = await pull()
  for (let day = 0; day < 70; day += 7) {
    await add('notes', { topic, text: 'a' })
    await pass(7)
    if (day === 35) await start()
    const page = await pull(token)
    expect([page.isReset, page.rows.length]).toEqual([false, 1])
    ;({ token } = page)
  }
})

test('holdings and starts that no token of the horizon names are not stored any more', async () => {
  const count = async (): Promise<readonly [holdings: number, boots: number]> => {
    const boots = (await database.collection('$boots').get('boots')) as
      | { readonly boots: readonly unknown[] }
      | undefined
    return [await database.collection('$holdings').find({}).count(), boots?.boots.length ?? 0]
  }
  await pass(1)
  expect(await count()).toEqual([0, 0])
  for (let n = 0; n < 5; n++) {
    await add('topics', { open: true })
    await pull()
    await start()
  }
  await pull()
  expect(await count()).toEqual([5, 6])
  await pass(32)
  expect(await count()).toEqual([0, 1])
  const { token } = await pull()
  expect(await count()).toEqual([1, 1])
  await pass(20)
  await pull(token)
  await pass(20)
  expect(await count()).toEqual([1, 1])
  expect(await pull(token)).toMatchObject({ isReset: false })
})

test('an index of superusers is remembered over a start, and forgotten as that of accounts is', async () => {
  const root = await superuser()
  const pullAll = async (token?: string): Promise<SyncPage> =>
    (await backend.sync.pull(root, { notes: token }))['notes']!
  const [gone, kept] = [await add('notes', { text: 'a' }), await add('notes', { text: 'b' })]
  const { token } = await pullAll()
  await backend.records.delete(admin, 'notes', gone)
  await backend.close()
  await start()
  const left = await pullAll(token)
  expect(left).toMatchObject({ isReset: false, rows: [{ left: gone, deleted: true }] })
  // Guests see none of them, and have another index.
  expect((await pull()).rows).toEqual([{ end: expect.any(String) }])
  await pass(29)
  expect(await pullAll(token)).toMatchObject({ isReset: false, rows: [{ left: gone }] })
  await pass(3)
  const again = await pullAll(token)
  expect([again.isReset, again.rows.map((row) => 'record' in row && row.record['id'])]).toEqual([true, [kept, false]])
  expect(await pullAll(again.token)).toMatchObject({ isReset: false, rows: [] })
})

/** One who has signed in. */
async function superuser(): Promise<Actor> {
  const password = 'the password of root'
  const input = { email: 'root@example.com', password, passwordConfirm: password }
  const { id } = await backend.records.create(admin, '_superusers', input)
  const definition = backend.definitions.find('_superusers')!
  const record = (await database.collection<Record<string, unknown>>(`$records_${definition.id}`).get(String(id)))!
  return { ...admin, principal: { ...admin.principal, by: 'session', account: { collection: definition.id, record } } }
}

test.each([1, 365, 36_500])(
  'a pull while the clock is %d days ahead hides nothing once it is right again',
  async (days) => {
    const date = (day: number): string =>
      new Date(environment.wallClock() + day * DAY_MS).toISOString().replace('T', ' ')
    const fields = [{ name: 'due', type: 'date' }]
    await backend.definitions.create(SYSTEM, { name: 'dues', type: 'base', listRule: 'due > @now', fields })
    const [soon, late] = [await add('dues', { due: date(days / 2) }), await add('dues', { due: date(days * 2) })]
    const dues = async (token?: string): Promise<SyncPage> => (await backend.sync.pull(guest, { dues: token }))['dues']!
    const idsOf = ({ rows }: SyncPage): unknown[] => rows.flatMap((row) => ('record' in row ? [row.record['id']] : []))
    environment.jump(days * DAY_MS)
    const wrong = await dues()
    expect(idsOf(wrong)).toEqual([late])
    environment.jump(-days * DAY_MS)
    const right = await dues(wrong.token)
    expect([right.isReset, new Set(idsOf(right))]).toEqual([true, new Set([soon, late])])
    // A clock that is put right by seconds is no reason to begin again.
    environment.jump(60_000)
    const { token } = await dues(right.token)
    environment.jump(-60_000)
    expect(await dues(token)).toMatchObject({ isReset: false, isComplete: true })
  },
)

test('one night with a clock that is a year ahead makes the server forget nothing; then it forgets as before', async () => {
  const topic = await add('topics', { open: true })
  const gone = await add('notes', { topic, text: 'a' })
  const { token } = await pull()
  await backend.records.delete(admin, 'notes', gone)
  await pull(token)
  await pass(1)
  environment.jump(365 * DAY_MS)
  for (let hour = 0; hour < 3; hour++) {
    backend.schedules.run(SYSTEM, JOB)
    await environment.idle()
  }
  environment.jump(-365 * DAY_MS)
  await pass(3)
  expect(await pull(token)).toMatchObject({ isReset: false, rows: [{ left: gone, deleted: true }] })
  await pass(45)
  expect(await pull(token)).toMatchObject({ isReset: true })
})

test('a start whose clock is behind what the jobs have seen says so', async () => {
  await pass(1)
  environment.jump(-3600_000)
  await start()
  await environment.idle()
  await backend.logs.flush()
  const found = await backend.logs.documents.find().toArray()
  expect(found.map(({ message }) => message)).toContainEqual(expect.stringMatching(/60 minutes behind/))
})
