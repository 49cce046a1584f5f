/** Goal: no transaction blocks the queue of its device, and one request is judged by what holds at each of its transactions. */
import { pause } from 'pannier/internal'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { addAccount, DEVICE, PushServer, updating } from './push-server.ts'
import { ITSELF, PASSWORD } from './rest-server.ts'

const PRESIDENT_ONLY = {
  name: 'decrees',
  type: 'base',
  listRule: '',
  createRule: '@request.auth.name = "president"',
  fields: [
    { name: 'title', type: 'text' },
    { name: 'project', type: 'text' },
  ],
}
const HOUR_S = 3600

/** What these hooks need of their event. */
interface RecordEvent {
  readonly record: { get(name: string): unknown }
  next(): Promise<void>
}

const clock = virtualEnvironment()
let world: PushServer
let project: string

beforeAll(async () => {
  world = await PushServer.start({ environment: clock })
  await world.server.call('POST /collections', PRESIDENT_ONLY)
})
beforeEach(async () => {
  project = await world.addProject()
})
afterEach(async () => {
  world.server.server.backend.hooks.replace([])
  await set({ rateLimits: { enabled: false, rules: [] }, batch: { timeout: 3 } })
})
afterAll(() => ended(world.server.close()))

async function set(settings: object): Promise<void> {
  expect(await world.server.call('PATCH /settings', settings)).toMatchObject({ status: 200 })
}

function hook(name: 'onRecordCreate' | 'onRecordAfterCreateSuccess', handler: (title: string) => Promise<void>): void {
  const { hooks } = world.server.server.backend
  const run = async ({ record, next }: RecordEvent): Promise<void> => {
    await handler(String(record.get('title')))
    await next()
  }
  hooks.replace([{ name, handler: run, tags: ['tasks', 'decrees'], source: 'hooks/test.ts:1' }])
}

function creating(title: string, collection = 'tasks'): object {
  return { collection, action: 'create', id: world.newId(), values: { title, project } }
}

const creatingMany = (count: number): object[] => Array.from({ length: count }, () => creating('one'))
const numbered = (...all: readonly object[][]): { n: number; writes: object[] }[] =>
  all.map((writes) => ({ n: world.next(), writes }))

/** The clock moves until the work has ended. */
async function ended<Result>(work: Promise<Result>): Promise<Result> {
  let isOver = false
  const over = (): void => void (isOver = true)
  work.then(over, over)
  await clock.until(() => isOver)
  return await work
}

const push = (...parameters: Parameters<PushServer['push']>): ReturnType<PushServer['push']> =>
  ended(world.push(...parameters))
const write = (...parameters: Parameters<PushServer['write']>): ReturnType<PushServer['write']> =>
  ended(world.write(...parameters))

async function limit(maxRequests: number): Promise<void> {
  const rules = [{ label: 'tasks:create', audience: '', duration: HOUR_S, maxRequests }]
  await set({ rateLimits: { enabled: true, rules } })
}

test('a transaction with more writes than a window of the rate limit has room for is rejected, and counts for nothing', async () => {
  await limit(3)
  const outcomes = await push(numbered(creatingMany(4), creatingMany(3)))
  expect(outcomes).toMatchObject([
    {
      status: 'rejected',
      at: 3,
      code: 'INVALID',
      message: expect.stringContaining('at most 3 writes "create" of "tasks" in 3600 s'),
      current: null,
    },
    { status: 'ok' },
  ])
})

test('writes of other actions and collections have rate limits of their own', async () => {
  await limit(1)
  const id = await world.addTask({ project })
  const writes = [updating(id, { title: 'two' }), updating(id, { title: 'three' }), creating('one')]
  expect(await write(writes)).toMatchObject({ status: 'ok' })
})

test('a transaction that the window has no room left for ends the answer, and is 429 when it comes first', async () => {
  await limit(3)
  const [first, second] = numbered(creatingMany(2), creatingMany(2))
  expect(await push([first!, second!])).toMatchObject([{ n: first!.n, status: 'ok' }])
  const answer = await world.server.call('POST /sync/push', { device: DEVICE, transactions: [second] }, world.ann.token)
  expect(answer.status).toBe(429)
  // A change of the settings opens the window again.
  await limit(3)
  expect(await push([second!])).toMatchObject([{ status: 'ok' }])
})

test('a transaction that takes too long is rejected after three tries, and the next one is judged', async () => {
  await set({ batch: { timeout: 1 } })
  let runs = 0
  hook('onRecordCreate', async (title) => {
    if (title !== 'slow') return
    runs++
    await pause(clock, 1100)
  })
  const transactions = numbered([creating('slow'), creating('one')], [creating('one'), creating('two')])
  const outcomes = await push(transactions)
  expect(outcomes).toMatchObject([
    { status: 'rejected', at: 0, code: 'INVALID', message: expect.stringContaining('longer than 1 s, 3 times') },
    { status: 'ok' },
  ])
  expect(runs).toBe(3)
  expect(await push(transactions)).toEqual(outcomes)
  expect(runs).toBe(3)
})

test('a transaction that takes too long once is written at its next try', async () => {
  await set({ batch: { timeout: 1 } })
  let runs = 0
  hook('onRecordCreate', async (title) => {
    if (title === 'slow' && ++runs === 1) await pause(clock, 1100)
  })
  expect(await write([creating('slow'), creating('one')])).toMatchObject({ status: 'ok' })
  expect(runs).toBe(2)
})

test('the wait for writes of others takes nothing of the time of a transaction', async () => {
  await set({ batch: { timeout: 2 } })
  let runs = 0
  hook('onRecordCreate', async () => void runs++)
  const held = world.server.server.database.transaction(() => pause(clock, 2500))
  expect(await write([creating('one'), creating('two')])).toMatchObject({ status: 'ok' })
  await held
  expect(runs).toBe(2)
})

test('a known transaction is answered without its hooks', async () => {
  const seen: string[] = []
  hook('onRecordCreate', async (title) => {
    seen.push(title)
    if (title === 'no') throw new Error('Not that.')
  })
  const transactions = numbered([creating('yes')], [creating('x'.repeat(21))])
  const outcomes = await push(transactions)
  expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'rejected'])
  const before = [...seen]
  expect(before).toContain('yes')
  expect(await push(transactions)).toEqual(outcomes)
  expect(seen).toEqual(before)
})

test.each(['onRecordAfterCreateSuccess', 'onRecordCreate'] as const)(
  'an account that loses its role in a push, at %s, is judged without it from then on',
  async (name) => {
    const { records } = world.server.server.backend
    const account = await addAccount(world.server, `president-${name.toLowerCase()}`)
    await records.update(ITSELF, 'users', account.id, { name: 'president' })
    let changes = 0
    hook(name, async (title) => {
      if (title === 'last' && changes++ === 0) await records.update(ITSELF, 'users', account.id, { name: 'nobody' })
    })
    const decree = (title: string): object[] => [creating(title, 'decrees')]
    const outcomes = await push(numbered(decree('first'), decree('last'), decree('late')), { by: account.token })
    const isBefore = name === 'onRecordCreate'
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', isBefore ? 'rejected' : 'ok', 'rejected'])
    // A hook before the commit begins again with the account as it is now.
    if (isBefore) expect(outcomes[1]).toMatchObject({ code: 'INVALID', current: null })
  },
)

test('a token that is revoked in a push ends it, and the rest is not written', async () => {
  const { records } = world.server.server.backend
  const account = await addAccount(world.server, 'revoked')
  await world.server.call(`PATCH /collections/projects/records/${project}`, { members: [account.id] })
  hook('onRecordCreate', async (title) => {
    if (title !== 'last') return
    await records.update(ITSELF, 'users', account.id, { password: `${PASSWORD}!`, passwordConfirm: `${PASSWORD}!` })
  })
  const transactions = numbered([creating('one')], [creating('last')], [creating('late')])
  const outcomes = await push(transactions, { by: account.token })
  expect(outcomes).toMatchObject([{ n: transactions[0]!.n, status: 'ok' }])
  const { json } = await world.server.call(`GET /collections/tasks/records?filter=(project='${project}')`)
  expect(json).toMatchObject({ totalItems: 1, items: [{ title: 'one' }] })
  const rest = { device: DEVICE, transactions: transactions.slice(1) }
  expect((await world.server.call('POST /sync/push', rest, account.token)).status).toBe(401)
})
