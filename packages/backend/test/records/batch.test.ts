/** Goal: a batch is written whole or not at all, and says which operation failed first. */
import { afterEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { BatchError } from '../../src/records/batch-error.ts'
import type { RecordOperation } from '../../src/records/write/operations.ts'
import { ADMIN, NOBODY, openWorld, upload, type World } from './world.ts'

const POSTS = {
  name: 'posts',
  createRule: "@request.method = 'POST' || @request.context = 'batch'",
  updateRule: "@request.method = 'PATCH'",
  deleteRule: null,
  fields: [
    { type: 'text', name: 'title', required: true },
    { type: 'number', name: 'count' },
    { type: 'file', name: 'file' },
  ],
}
const [A, B] = ['aaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbb']

let world: World
afterEach(() => world.close())

const METHODS = { create: 'POST', upsert: 'PUT', update: 'PATCH', delete: 'DELETE' }

function run(
  operations: readonly RecordOperation[],
  principal: Principal = GUEST,
  workMsMax = 60_000,
): Promise<unknown> {
  const batch = operations.map((operation) => ({
    ...operation,
    request: { context: 'batch', method: METHODS[operation.action], query: {}, headers: {} },
  }))
  return world.writes.batch(principal, batch, { workMsMax })
}

/** The index of the operation that failed, and why. */
async function failure(batch: Promise<unknown>): Promise<unknown> {
  const error: unknown = await batch.catch((thrown: unknown) => thrown)
  if (!(error instanceof BatchError)) return error
  return [error.index, error.reason.code, error.reason.message]
}

const create = (input: JsonObject): RecordOperation => ({ action: 'create', collection: 'posts', input })
const upsert = (input: JsonObject): RecordOperation => ({ action: 'upsert', collection: 'posts', input })
const update = (id: string, input: JsonObject): RecordOperation => ({
  action: 'update',
  collection: 'posts',
  id,
  input,
})
const remove = (id: string): RecordOperation => ({ action: 'delete', collection: 'posts', id })

test('operations see what those before them have written', async () => {
  world = await openWorld([POSTS])
  const results = await run([
    create({ id: A, title: 'one' }),
    update(A, { 'count+': 2 }),
    upsert({ id: A, 'count+': 3 }),
    upsert({ id: B, title: 'two' }),
    upsert({ title: 'three' }),
  ])
  expect(results).toMatchObject([
    { id: A, count: 0 },
    { id: A, count: 2 },
    { id: A, count: 5, title: 'one' },
    { id: B },
    { title: 'three' },
  ])
  expect(await run([remove(A), create({ id: A, title: 'again' })], SYSTEM)).toMatchObject([undefined, { count: 0 }])
  expect(Object.keys(await world.stored('posts'))).toHaveLength(3)
})

test('the first operation that fails undoes all', async () => {
  world = await openWorld([POSTS])
  const good = create({ title: 'one' })
  expect(await failure(run([good, create({}), remove(A)]))).toEqual([1, 'INVALID', 'Failed to create record.'])
  expect(await failure(run([good, good, remove(A)]))).toMatchObject([2, 'FORBIDDEN', {}])
  expect(await failure(run([good, update(A, {})]))).toEqual([1, 'NOT_FOUND', ''])
  expect(await failure(run([good, { ...good, collection: 'nothing' }]))).toEqual([
    1,
    'NOT_FOUND',
    'Missing collection context.',
  ])
  expect(await failure(run([create({}), { ...good, collection: 'nothing' }]))).toMatchObject([0, 'INVALID', {}])
  expect(await world.stored('posts')).toEqual({})
})

test('a batch that takes too long is undone', async () => {
  world = await openWorld([POSTS])
  const error = await failure(run([create({ title: 'one' })], SYSTEM, 0))
  expect(error).toMatchObject({ code: 'INVALID', message: 'Batch transaction failed.' })
  expect(error).not.toBeInstanceOf(BatchError)
  expect(await world.stored('posts')).toEqual({})
})

test('an import names all records that are refused, and writes all or none', async () => {
  const COUNTED = { ...POSTS, indexes: ['CREATE UNIQUE INDEX one ON posts (title)'] }
  world = await openWorld([COUNTED])
  const trial = { workMsMax: 60_000, action: 'create', isTrial: true } as const
  const bring = (records: readonly JsonObject[], options: object = {}): Promise<unknown> =>
    world.writes
      .import(ADMIN, 'posts', records, { ...trial, isTrial: false, ...options })
      .then((refused) => refused.map(({ index, reason }) => [index, ...Object.keys(reason.data ?? {})]))
  const stored = async (): Promise<number> => (await world.reads.list(ADMIN, 'posts', {})).totalItems
  const wrong = [{ title: 'a' }, { count: 1 }, { title: 'a' }, { title: 'b', id: 'no id' }, { title: 'c' }]
  expect(await bring(wrong)).toEqual([
    [1, 'title'],
    [2, 'title'],
    [3, 'id'],
  ])
  expect(await stored()).toBe(0)
  expect(await bring(Array.from({ length: 300 }, () => ({})))).toHaveLength(100)
  const right = [{ id: A, title: 'a' }, { title: 'b' }]
  expect(await bring(right, { isTrial: true })).toEqual([])
  expect(await stored()).toBe(0)
  expect(await bring(right)).toEqual([])
  expect(await bring(right)).toEqual([
    [0, 'id'],
    [1, 'title'],
  ])
  expect(await bring([{ id: A, title: 'other' }, { title: 'c' }], { action: 'upsert' })).toEqual([])
  expect(await stored()).toBe(3)
  await expect(bring([{}], {}).then(() => world.writes.import(ADMIN, 'none', [], trial))).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
})

test('the names of files have two random parts', async () => {
  world = await openWorld([POSTS])
  const [made] = (await run([create({ title: 'one', file: upload('b1.txt', 'text') })])) as [JsonObject]
  expect(made['file']).toMatch(/^b1\w{10}_\w{10}_\w{10}\.txt$/)
})

test('other writes wait for a batch, and all are kept', async () => {
  world = await openWorld([POSTS])
  await world.writes.create(ADMIN, 'posts', { id: A, title: 'one' })
  const many = Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0
      ? run([update(A, { 'count+': 1 }), update(A, { 'count+': 1 })])
      : world.writes.update({ ...NOBODY, request: { ...NOBODY.request, method: 'PATCH' } }, 'posts', A, {
          'count+': 1,
        }),
  )
  await Promise.all(many)
  expect((await world.stored('posts'))[A]).toMatchObject({ count: 30 })
})

test('others have turns while a batch is judged, written and shown', async () => {
  world = await openWorld([POSTS])
  const { environment } = world
  let ms = environment.now()
  vi.spyOn(environment, 'now').mockImplementation(() => ++ms)
  const turns = vi.spyOn(environment, 'yield')
  const count = 100
  await run(
    Array.from({ length: count }, () => create({ title: 'one' })),
    GUEST,
    Infinity,
  )
  // A slice is 8 ms, and each operation takes some.
  expect(turns.mock.calls.length).toBeGreaterThan(count / 4)
  vi.restoreAllMocks()
})
