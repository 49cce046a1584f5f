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
  expect(await salary({ note: 'b' }, { note: 'a' })).toMatchObject({ status: 'ok' })
})
