/** Goal: a write on an older revision that names what its sender saw merges by field, and tells nothing about what is hidden. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PushServer, updating, type Outcome } from './push-server.ts'

let world: PushServer
let project: string

beforeAll(async () => {
  world = await PushServer.start()
  project = await world.addProject()
})
afterAll(() => world.server.close())

const BEFORE = { title: 'one', count: 1, tags: { a: 1, b: [2] }, due: '2026-01-01 00:00:00.000Z' }

/** Ann changes a task from what it was, after somebody else has. */
async function meet(theirs: object, mine: object, was: object | undefined): Promise<[Outcome, object]> {
  const id = await world.addTask({ ...BEFORE, project })
  const rev = await world.rev(id)
  await world.server.call(`PATCH /collections/tasks/records/${id}`, theirs)
  const outcome = await world.write([updating(id, mine, rev, was === undefined ? {} : { was })])
  return [outcome, await world.task(id)]
}

test.each([
  ['fields of their own', { count: 9 }, { title: 'mine' }, { title: 'one' }, { count: 9, title: 'mine' }],
  ['an object in another order', { count: 9 }, { tags: [] }, { tags: { b: [2], a: 1 } }, { count: 9, tags: [] }],
  ['a date', { count: 9 }, { due: '' }, { due: BEFORE.due }, { count: 9, due: '' }],
  ['a modifier', { count: 9 }, { 'count+': 1 }, {}, { count: 10 }],
  ['the same value', { title: 'same' }, { title: 'same' }, { title: 'one' }, { title: 'same' }],
  [
    'a change back',
    { title: 'two' },
    { title: 'one', count: 5 },
    { title: 'two', count: 1 },
    { title: 'one', count: 5 },
  ],
])('%s merges', async (_name, theirs, mine, was, merged) => {
  const [outcome, task] = await meet(theirs, mine, was)
  expect([outcome.status, task]).toEqual(['ok', expect.objectContaining(merged)])
})

test.each([
  ['a field that both change', { title: 'theirs' }, { title: 'mine' }, { title: 'one' }],
  ['one of two fields', { title: 'theirs' }, { title: 'mine', count: 5 }, { title: 'one', count: 1 }],
  ['a field of which nothing was seen', { count: 9 }, { title: 'mine' }, {}],
  ['a write that says nothing of what was seen', { count: 9 }, { title: 'mine' }, undefined],
])('%s is a conflict, and writes nothing', async (_name, theirs, mine, was) => {
  const [outcome, task] = await meet(theirs, mine, was)
  expect(outcome).toMatchObject({ status: 'rejected', code: 'CONFLICT', current: theirs })
  expect(task).toMatchObject({ ...BEFORE, ...theirs })
})

/** Ann writes a date twice, the second time by what she knows of the first. `between`: what others write meanwhile. */
async function twice(own: (n: number) => object, between: object | undefined): Promise<Outcome> {
  const id = await world.addTask({ ...BEFORE, project })
  const rev = await world.rev(id)
  const n = world.next()
  const sent = { due: '2026-05-05' }
  await world.push([{ n, writes: [updating(id, { count: 2 }), updating(id, sent, rev, { was: { due: BEFORE.due } })] }])
  await world.server.call(`PATCH /collections/tasks/records/${id}`, between ?? { title: 'theirs' })
  return world.write([updating(id, { due: '' }, rev, { was: sent, own: own(n) })])
}

test('a value that the server has completed is known by the write that has made it, unless others have changed it', async () => {
  const due = (n: number, at: number): object => ({ due: { n, at } })
  expect(await twice((n) => due(n, 1), undefined)).toMatchObject({ status: 'ok' })
  expect(await twice(() => ({}), undefined)).toMatchObject({ code: 'CONFLICT' })
  expect(await twice((n) => due(n, 1), { due: '2026-06-06' })).toMatchObject({ code: 'CONFLICT' })
  // Another write of the transaction, another transaction, another field, and what is unknown.
  for (const own of [
    (n: number) => due(n, 0),
    (n: number) => due(n - 1, 1),
    (n: number) => ({ title: { n, at: 1 } }),
    () => due(9999, 0),
  ])
    expect(await twice(own, undefined)).toMatchObject({ code: 'CONFLICT' })
  const outcome = await world.write([updating(await world.addTask({ project }), { due: '2026-05-05' })])
  expect(Object.keys(outcome).toSorted()).toEqual(['n', 'revs', 'status'])
})

test('the second of two updates in a transaction knows what the first has made', async () => {
  const id = await world.addTask({ ...BEFORE, project })
  const n = world.next()
  const first = updating(id, { due: '2026-05-05' }, '1-0', { was: { due: BEFORE.due } })
  const second = (own: object): object =>
    updating(id, { due: '2026-06-06' }, '1-0', { was: { due: '2026-05-05' }, own })
  const [outcome] = await world.push([{ n, writes: [first, second({ due: { n, at: 0 } })] }])
  expect(outcome).toMatchObject({ status: 'ok' })
  expect(await world.write([first, second({})])).toMatchObject({ code: 'CONFLICT' })
  for (const own of [[], 'x', { due: 1 }, { due: { n: 0, at: 0 } }, { due: { n: 1 } }])
    expect(
      (
        await world.server.call(
          'POST /sync/push',
          { device: 'device-of-a-person', transactions: [{ n: world.next(), writes: [second(own as object)] }] },
          world.ann.token,
        )
      ).status,
    ).toBe(400)
})

test('what was seen does not matter where the base is the revision of the record', async () => {
  const id = await world.addTask({ ...BEFORE, project })
  const rev = await world.rev(id)
  expect(await world.write([updating(id, { title: 'mine' }, rev, { was: { title: 'other' } })])).toMatchObject({
    status: 'ok',
  })
})

test('the address and the password of an account never merge: a guess of them would be confirmed', async () => {
  const account = (values: object, was: object): Promise<Outcome> =>
    world.write([{ collection: 'users', action: 'update', id: world.ann.id, base: '1-0', values, was }])
  const email = 'ann@example.com'
  expect(await account({ email: 'new@example.com' }, { email })).toMatchObject({ code: 'CONFLICT' })
  expect(await account({ email: 'new@example.com' }, { email: 'x' })).toMatchObject({ code: 'CONFLICT' })
  expect(await account({ name: 'Ann' }, { name: '' })).toMatchObject({ status: 'ok' })
})

test('a field that an account does not see never merges, even if it may set it', async () => {
  await world.server.call('POST /collections', {
    name: 'salaries',
    type: 'base',
    listRule: '',
    updateRule: '',
    fields: [
      { name: 'note', type: 'text' },
      { name: 'sum', type: 'number', viewRule: '@request.auth.id = "nobody"', updateRule: '' },
    ],
  })
  const made = await world.server.call('POST /collections/salaries/records', { sum: 5, note: 'a' })
  const salary = (values: object, was: object): Promise<Outcome> =>
    world.write([{ collection: 'salaries', action: 'update', id: made.json['id'], base: '1-0', values, was }])
  for (const sum of [5, 6]) expect(await salary({ sum: 7 }, { sum })).toMatchObject({ code: 'CONFLICT' })
  for (const sum of [5, 6]) expect(await salary({ sum }, {})).toMatchObject({ code: 'CONFLICT' })
  // Neither if the write that has made it is named.
  const set = { collection: 'salaries', action: 'update', id: made.json['id'], base: null, values: { sum: '5' } }
  const n = world.next()
  await world.push([{ n, writes: [set] }])
  const named = { ...set, base: '1-0', values: { sum: 7 }, was: {}, own: { sum: { n, at: 0 } } }
  expect(await world.write([named])).toMatchObject({ code: 'CONFLICT' })
  expect(await salary({ note: 'b' }, { note: 'a' })).toMatchObject({ status: 'ok' })
})
