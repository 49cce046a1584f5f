/** Goal: logs cost no request a wait, are bounded, and go away when the settings say so. */
import { open } from 'pannier'
import type { Database } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LOG_LEVELS, openBackend, SYSTEM } from '../../src/index.ts'
import type { Actor, Backend, LogEntry } from '../../src/index.ts'

const ROOT: Actor = { principal: SYSTEM, request: { context: 'default', method: 'GET', query: {}, headers: {} } }
const DAY_MS = 86_400_000

let database: Database
let backend: Backend
let logs: Database
let printed: LogEntry[]
let environment: VirtualEnvironment

beforeEach(async () => {
  environment = virtualEnvironment({ startMs: Date.UTC(2026, 10, 20) })
  printed = []
  database = await open('app', { storage: memory(), environment })
  logs = await open('logs', { storage: memory(), environment })
  backend = await start()
})
afterEach(async () => {
  await backend.close()
  await database.close()
})

function start(): Promise<Backend> {
  return openBackend(database, { logs, print: (entry) => printed.push(entry) })
}

async function messages(): Promise<string[]> {
  await backend.logs.flush()
  return (await backend.logReads.list(ROOT, { perPage: 1000 })).items.map(({ message }) => message)
}

test('a full batch is stored at once; others are stored by close()', async () => {
  for (let count = 0; count < 200; count++) backend.logs.write({ message: `${count}` })
  await backend.logs.removeOld()
  expect((await backend.logReads.list(ROOT, {})).totalItems).toBe(200)
  backend.logs.write({ message: 'last' })
  await backend.close()
  backend = await start()
  expect((await backend.logReads.list(ROOT, { filter: 'message = "last"' })).totalItems).toBe(1)
})

test('logs that come faster than they are stored are dropped and counted', async () => {
  for (let count = 0; count < 20_000; count++) backend.logs.write({ message: 'x' })
  await backend.logs.flush()
  await backend.logs.flush()
  const { items } = await backend.logReads.list(ROOT, { filter: 'level = 4' })
  const dropped = Number(/^\d+/.exec(items[0]!.message)?.[0])
  expect(await logs.collection('$records__logs').find({}).count()).toBe(20_000 - dropped + 1)
})

test('old logs go at a start, when a job runs, and when the settings change', async () => {
  const age = async (days: number): Promise<void> => {
    backend.logs.write({ message: `from day ${days}` })
    await backend.logs.flush()
    environment.jump(days * DAY_MS)
  }
  await age(6)
  expect(await messages()).toEqual(['from day 6'])
  await backend.close()
  backend = await start()
  // The server was away, or its clock is wrong.
  expect(await messages()).toEqual(['from day 6'])
  await environment.advance(DAY_MS / 4)
  expect(await messages()).toEqual([])
  backend.logs.write({ message: 'from a day before' })
  await environment.advance(DAY_MS)
  expect(await messages()).toEqual(['from a day before'])
  await backend.settings.update(SYSTEM, { logs: { maxDays: 1 } })
  expect(await messages()).toEqual([])
})

test('logs below a new least level go', async () => {
  backend.logs.write({ message: 'small' })
  backend.logs.write({ message: 'grave', level: LOG_LEVELS.error })
  await backend.logs.flush()
  await backend.settings.update(SYSTEM, { logs: { minLevel: 4 } })
  expect(await messages()).toEqual(['grave'])
})

test('a database that fails loses logs, says so, and stops nothing', async () => {
  await logs.close()
  backend.logs.write({ message: 'lost' })
  await backend.logs.flush()
  expect(printed.map(({ message }) => message)).toEqual(['lost', 'Logs could not be written.'])
})

test('requests are not printed', () => {
  backend.logs.write({ message: 'GET /', data: { type: 'request' } })
  expect(printed).toEqual([])
})

test('each hour that has logs is counted, in order', async () => {
  for (const minutes of [0, 10, 61, 300]) {
    await environment.advance(minutes * 60_000 - environment.now())
    backend.logs.write({ message: 'x', data: { minutes } })
  }
  await backend.logs.flush()
  expect(await backend.logReads.stats(ROOT, '')).toEqual([
    { date: '2026-11-20 00:00:00.000Z', total: 2 },
    { date: '2026-11-20 01:00:00.000Z', total: 1 },
    { date: '2026-11-20 05:00:00.000Z', total: 1 },
  ])
  expect(await backend.logReads.stats(ROOT, 'data.minutes > 60')).toHaveLength(2)
})
