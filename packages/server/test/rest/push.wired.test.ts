/** Goal: what a device pushes by HTTP is written once, judged as REST judges it, and answered without a word about what is hidden. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DEVICE, PushServer, updating, type Outcome, type PushedTransaction } from './push-server.ts'

let world: PushServer
let project: string

beforeAll(async () => {
  world = await PushServer.start()
  await world.server.call('POST /collections', { name: 'locked', type: 'base', fields: [] })
})
beforeEach(async () => {
  project = await world.addProject()
})
afterAll(() => world.server.close())

const push = (transactions: readonly PushedTransaction[], by?: string): Promise<readonly Outcome[]> =>
  world.push(transactions, { by: by ?? world.ann.token })
const write = (writes: readonly object[], by?: string): Promise<Outcome> =>
  world.write(writes, { by: by ?? world.ann.token })
const stored = (id: string): Promise<Readonly<Record<string, unknown>>> => world.task(id)
const addTask = (values: object = {}): Promise<string> => world.addTask({ project, ...values })

function creating(id: string, values: object = {}): object {
  return { collection: 'tasks', action: 'create', id, values: { title: 'one', project, ...values } }
}

test('a transaction writes all of its records, and each write sees those before it', async () => {
  const [made, id] = [world.newId('proj'), world.newId()]
  const outcome = await write([
    { collection: 'projects', action: 'create', id: made, values: { members: [world.ann.id] } },
    creating(id, { project: made }),
    updating(id, { title: 'two', 'count+': 3 }),
  ])
  expect(outcome).toMatchObject({ status: 'ok', revs: [/^1-/, /^1-/, /^2-/].map((rev) => expect.stringMatching(rev)) })
  expect(await stored(id)).toMatchObject({ title: 'two', count: 3, project: made })
  expect(await world.rev(id)).toBe(outcome.revs![2])
})

test('a transaction is judged write by write: a record that comes later does not justify one that comes before', async () => {
  const [made, id] = [world.newId('proj'), world.newId()]
  const outcome = await write([
    creating(id, { project: made }),
    { collection: 'projects', action: 'create', id: made, values: { members: [world.ann.id] } },
  ])
  expect(outcome).toMatchObject({ status: 'rejected', at: 0, code: 'INVALID', current: null })
  expect((await world.server.call(`GET /collections/projects/records/${made}`)).status).toBe(404)
})

test('the same number with the same writes has the same outcome, and writes nothing', async () => {
  const id = await addTask({ count: 1 })
  const transactions = [{ n: world.next(), writes: [updating(id, { 'count+': 1 })] }]
  const first = await push(transactions)
  expect(await push(transactions)).toEqual(first)
  expect(await stored(id)).toMatchObject({ count: 2 })
  expect(await world.rev(id)).toBe(first[0]!.revs![0])
})

test('the same number at the same time, from several tabs, is written once', async () => {
  const id = await addTask({ count: 1 })
  const transactions = [{ n: world.next(), writes: [updating(id, { 'count+': 1 })] }]
  const all = await Promise.all(Array.from({ length: 8 }, () => push(transactions)))
  for (const one of all) expect(one).toEqual(all[0])
  expect(await stored(id)).toMatchObject({ count: 2 })
})

test('the same number with other writes is refused, and writes nothing of the request', async () => {
  const [id, n, other] = [await addTask(), world.next(), world.newId()]
  await push([{ n, writes: [updating(id, { title: 'two' })] }])
  const writes = [updating(id, { title: 'three' })]
  const answer = await world.server.call(
    'POST /sync/push',
    {
      device: DEVICE,
      transactions: [
        { n, writes },
        { n: world.next(), writes: [creating(other)] },
      ],
    },
    world.ann.token,
  )
  expect([answer.status, answer.json['message']]).toEqual([400, expect.stringContaining(`Transaction ${n}`)])
  expect((await stored(id))['title']).toBe('two')
  expect((await world.server.call(`GET /collections/tasks/records/${other}`)).status).toBe(404)
})

test('keys are those of an account: another one has numbers of its own on the same device', async () => {
  const [id, n] = [await addTask(), world.next()]
  await push([{ n, writes: [updating(id, { title: 'two' })] }])
  const [outcome] = await push([{ n, writes: [updating(id, { title: 'three' })] }], world.bob.token)
  expect(outcome).toMatchObject({ status: 'rejected', code: 'NOT_FOUND' })
})

test('a write that a rule does not admit says which rule, and no more of a hidden record than of one that is gone', async () => {
  const [hidden, gone, own] = [await addTask(), world.newId(), world.newId()]
  const by = world.bob.token
  const [created] = await push([{ n: world.next(), writes: [creating(own)] }], by)
  expect(created).toMatchObject({
    code: 'INVALID',
    message: 'The create rule of "tasks" does not admit this record. Retry it with other values, or discard it.',
  })
  const said =
    'The record is gone, or the update rule of "tasks" does not admit this change. Retry it with other values, or discard it.'
  for (const id of [hidden, gone]) {
    const outcomes = await push(
      [
        { n: world.next(), writes: [updating(id, { title: 'two' })] },
        { n: world.next(), writes: [{ collection: 'tasks', action: 'delete', id, base: null }] },
      ],
      by,
    )
    expect(outcomes).toMatchObject([
      { code: 'NOT_FOUND', message: said, current: null },
      {
        code: 'NOT_FOUND',
        message: 'The record is gone, or the delete rule of "tasks" does not admit the deletion. Discard it.',
      },
    ])
  }
})

test('a rejected transaction stops no other, except for those that build on it', async () => {
  const [id, other] = [world.newId(), world.newId()]
  const [n = 0] = Array.from({ length: 5 }, () => world.next())
  const base = (of: number): object => ({ n: of, at: 0 })
  const outcomes = await push([
    { n, writes: [creating(id, { title: 'x'.repeat(21) })] },
    { n: n + 1, writes: [creating(other)] },
    { n: n + 2, writes: [updating(id, { title: 'two' }, base(n))] },
    { n: n + 3, writes: [updating(other, { title: 'three' }, base(n + 1))] },
    { n: n + 4, writes: [updating(id, { title: 'four' }, base(n + 2))] },
  ])
  expect(outcomes.map(({ status, code }) => code ?? status)).toEqual(['INVALID', 'ok', 'DEPENDS', 'ok', 'DEPENDS'])
  expect(outcomes[0]).toMatchObject({
    data: { title: { code: 'validation_max_text_constraint' } },
    message: 'Failed to create record.',
  })
  expect((await stored(other))['title']).toBe('three')
})

test('a write on what nobody knows is rejected', async () => {
  const id = await addTask()
  expect(await write([updating(id, { title: 'two' }, { n: 9_999_999, at: 0 })])).toMatchObject({ code: 'DEPENDS' })
})

test('nothing is judged for a device that has the answers of another start of the server', async () => {
  const id = world.newId()
  const transactions = [{ n: world.next(), writes: [creating(id)] }]
  const sent = (boot?: unknown): ReturnType<typeof world.server.call> =>
    world.server.call('POST /sync/push', { device: DEVICE, boot, transactions }, world.ann.token)
  const { json } = await sent('another')
  expect(json['outcomes']).toEqual([])
  expect((await world.server.call(`GET /collections/tasks/records/${id}`)).status).toBe(404)
  expect((await sent(json['boot'])).json['outcomes']).toMatchObject([{ status: 'ok' }])
  expect((await sent(7)).json['message']).toBe('"boot" must be the one of the last answer, got 7.')
})

test('a write builds on one whose outcome is forgotten by its revision', async () => {
  const id = await addTask()
  const base = { n: 9_999_999, at: 0, rev: await world.rev(id) }
  expect(await write([updating(id, { title: 'two' }, base)])).toMatchObject({ status: 'ok' })
  expect(await write([updating(id, { title: 'three' }, base)])).toMatchObject({ code: 'CONFLICT' })
  // A rejected one is known, whatever revision the device names.
  const [n, other] = [world.next(), world.newId()]
  await push([{ n, writes: [creating(other, { title: 'x'.repeat(21) })] }])
  const rejected = { n, at: 0, rev: await world.rev(id) }
  expect(await write([updating(id, { title: 'four' }, rejected)])).toMatchObject({ code: 'DEPENDS' })
})

test('a write builds on an earlier one of its transaction, by the place of that one', async () => {
  const [id, other, n] = [world.newId(), world.newId(), world.next()]
  const on = (at: number): object => updating(id, { 'count+': 1 }, { n, at })
  const [outcome] = await push([{ n, writes: [creating(id), creating(other), on(0), on(2)] }])
  expect(outcome).toMatchObject({ status: 'ok' })
  expect(await stored(id)).toMatchObject({ count: 2 })
  expect(await world.rev(id)).toBe(outcome!.revs![3])
})

test.each([
  ['itself', 2],
  ['a later one', 3],
  ['one of another record', 1],
  ['none', 9],
])('a write on a write of its transaction that is %s is rejected, and all of it', async (_, at) => {
  const [id, n] = [world.newId(), world.next()]
  const writes = [creating(id), creating(world.newId()), updating(id, { title: 'two' }, { n, at }), updating(id, {})]
  const [outcome] = await push([{ n, writes }])
  expect(outcome).toMatchObject({ status: 'rejected', at: 2, code: 'DEPENDS', current: null })
})

test('a conflict shows the record as it is when it is answered', async () => {
  const id = await addTask()
  const rev = await world.rev(id)
  await world.server.call(`PATCH /collections/tasks/records/${id}`, { title: 'theirs' })
  const transactions = [{ n: world.next(), writes: [updating(id, { title: 'mine' }, rev)] }]
  const [first] = await push(transactions)
  expect(first).toMatchObject({ status: 'rejected', at: 0, code: 'CONFLICT', current: { id, title: 'theirs' } })
  expect(first!.current!['_rev']).toMatch(/^2-/)
  await world.server.call(`PATCH /collections/tasks/records/${id}`, { title: 'later' })
  expect((await push(transactions))[0]).toMatchObject({ code: 'CONFLICT', current: { title: 'later' } })
})

test('an outcome that is fetched again after a revocation shows nothing', async () => {
  const id = await addTask()
  const transactions = [{ n: world.next(), writes: [updating(id, { title: 'mine' }, '1-0')] }]
  expect((await push(transactions))[0]!.current).toMatchObject({ id })
  await world.server.call(`PATCH /collections/projects/records/${project}`, { members: [] })
  expect((await push(transactions))[0]).toMatchObject({ code: 'CONFLICT', current: null })
})

test('a hidden record is answered as one that does not exist', async () => {
  const id = await addTask()
  const of = async (of: string, action: object): Promise<object> => {
    const { n: _, ...outcome } = await write([{ collection: 'tasks', id: of, base: null, ...action }], world.bob.token)
    return outcome
  }
  for (const action of [{ action: 'update', values: { title: 'x' } }, { action: 'delete' }]) {
    expect(await of(id, action)).toEqual(await of('nobodyhasthisid', action))
    expect(await of(id, { ...action, base: '1-0' })).toEqual(await of('nobodyhasthisid', { ...action, base: '1-0' }))
  }
})

test('a locked collection, and one that does not exist, reject a write', async () => {
  const create = { action: 'create', id: world.newId(), values: {} }
  expect(await write([{ collection: 'locked', ...create }])).toMatchObject({ code: 'FORBIDDEN', current: null })
  expect(await write([{ collection: 'nowhere', ...create }])).toMatchObject({ code: 'NOT_FOUND', current: null })
})

test('a pull says which acknowledged transactions it covers, and which the server does not know', async () => {
  const n = world.next()
  await push([{ n, writes: [creating(world.newId())] }])
  const pull = async (body: object, by = world.ann.token): Promise<object> =>
    (await world.server.call('POST /sync/pull', { collections: { tasks: null }, ...body }, by)).json
  expect(await pull({ device: DEVICE, acknowledged: [n, 777_777] })).toMatchObject({
    boot: expect.any(String),
    covered: [n],
    unknown: [777_777],
  })
  expect(await pull({ device: DEVICE, acknowledged: [n] }, world.bob.token)).toMatchObject({
    covered: [],
    unknown: [n],
  })
  expect(await pull({})).toMatchObject({ covered: [], unknown: [] })
})

test('what a superuser pushes is judged as REST judges it: by fields and revisions, and by no rule', async () => {
  const root = world.server.token
  const id = await addTask()
  const hidden = { collection: 'locked', action: 'create', id: world.newId(), values: {} }
  expect(await write([hidden, updating(id, { title: 'of root' })], root)).toMatchObject({ status: 'ok' })
  expect(await stored(id)).toMatchObject({ title: 'of root' })
  const old = { collection: 'tasks', action: 'update', id, base: '1-0', values: { title: 'late' } }
  expect(await write([old], root)).toMatchObject({ code: 'CONFLICT', current: { title: 'of root' } })
  const wrong = { collection: 'tasks', action: 'update', id, base: null, values: { nothing: 1 } }
  expect(await write([wrong], root)).toMatchObject({ code: 'INVALID' })
})

const WRITE = { collection: 'tasks', action: 'delete', id: 'a', base: null }
test.each([
  [{}, 'Send an object'],
  [{ device: 'short', transactions: [] }, '"device" must have 16 to 64'],
  [{ transactions: [] }, 'A push has 1 to 100 transactions, got 0.'],
  [{ transactions: [{ n: 0, writes: [WRITE] }] }, '"n" must be an integer from 1 on, got 0.'],
  [{ transactions: [{ n: 1, writes: [] }] }, 'Transaction 1 must have writes.'],
  [
    {
      transactions: [
        { n: 2, writes: [WRITE] },
        { n: 2, writes: [WRITE] },
      ],
    },
    'got 2 after 2.',
  ],
  [{ transactions: [{ n: 1, writes: [{ ...WRITE, base: undefined }] }] }, 'The base of write 0 of transaction 1'],
  [{ transactions: [{ n: 1, writes: [{ ...WRITE, action: 'put' }] }] }, 'The action of write 0 of transaction 1'],
])('%j is malformed', async (body, message) => {
  const answer = await world.server.call('POST /sync/push', { device: DEVICE, ...body }, world.ann.token)
  expect([answer.status, answer.json['message']]).toEqual([400, expect.stringContaining(message)])
})
