/** Goal: nobody learns or sets what the rules of a field keep from them, by whatever way they ask. */
import { afterEach, expect, test } from 'vitest'
import { evaluate, parse, bind } from '@pannier/rules'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { recordsOf } from '../../../rules/test/answer.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import type { RecordJson } from '../../src/records/record-types.ts'
import { account, ADMIN, NOBODY, openWorld, refusal, type World } from './world.ts'

const PUBLIC = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
const OWN = '@request.auth.id != "" && owner = @request.auth.id'
const STAFF = '@request.auth.staff = true'

const PEOPLE = { id: 'pbc_people', name: 'people', type: 'auth', ...PUBLIC, fields: [{ type: 'bool', name: 'staff' }] }
const owner = { type: 'relation', name: 'owner', collectionId: 'pbc_people', maxSelect: 1 }
const JOBS = {
  id: 'pbc_jobs',
  name: 'jobs',
  ...PUBLIC,
  fields: [
    owner,
    { type: 'text', name: 'title' },
    { type: 'number', name: 'salary', viewRule: OWN },
    { type: 'number', name: 'bonus', viewRule: STAFF },
    { type: 'text', name: 'note', viewRule: null },
    { type: 'text', name: 'state', updateRule: STAFF },
    { type: 'text', name: 'inbox', viewRule: STAFF, updateRule: '@request.auth.id != ""' },
    { ...owner, name: 'boss', viewRule: OWN },
    { type: 'relation', name: 'before', collectionId: 'pbc_jobs', maxSelect: 1 },
  ],
}

const opened: World[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

interface Office extends World {
  readonly ann: ReturnType<typeof account>
  readonly boss: ReturnType<typeof account>
  readonly job: RecordJson
}

async function office(): Promise<Office> {
  const world = await openWorld([PEOPLE, { ...JOBS, fields: JOBS.fields.filter(({ name }) => name !== 'before') }])
  opened.push(world)
  const fields = [...world.definitions.get('jobs').fields, JOBS.fields.at(-1)!]
  await world.definitions.update(ADMIN.principal, 'jobs', { fields })
  const person = async (name: string, staff: boolean) => {
    const password = 'correct horse'
    const input = { email: `${name}@example.com`, password, passwordConfirm: password, staff }
    const { id } = await world.writes.create(ADMIN, 'people', input)
    return account('pbc_people', (await world.stored('people'))[id as string]!)
  }
  const [ann, boss] = [await person('ann', false), await person('boss', true)]
  const idOf = ({ principal }: typeof ann): unknown => principal.account!.record['_id']
  const values = { owner: idOf(ann), title: 'a', salary: 5, bonus: 7, note: 'x', inbox: 'y', boss: idOf(boss) }
  const job = await world.writes.create(ADMIN, 'jobs', values)
  await world.writes.create(ADMIN, 'jobs', { ...values, owner: idOf(boss), title: 'b', before: job['id'] })
  return { ...world, ann, boss, job }
}

test('a field is shown in the records whose rule it meets', async () => {
  const { reads, ann, boss } = await office()
  const shown = async (actor: typeof ann) =>
    (await reads.list(actor, 'jobs', { sort: 'title' })).items.map((item) =>
      ['salary', 'bonus', 'note', 'state', 'inbox', 'boss'].filter((name) => name in item).join(),
    )
  expect(await shown(ADMIN)).toEqual(Array(2).fill('salary,bonus,note,state,inbox,boss'))
  expect(await shown(ann)).toEqual(['salary,state,boss', 'state'])
  expect(await shown(boss)).toEqual(['bonus,state,inbox', 'salary,bonus,state,inbox,boss'])
  expect(await shown(NOBODY)).toEqual(['state', 'state'])
})

test('it is not in records that are viewed, expanded, created or updated either', async () => {
  const { reads, writes, ann, boss, job } = await office()
  expect(await reads.view(NOBODY, 'jobs', job['id'] as string)).not.toHaveProperty('salary')
  const [, second] = (await reads.list(ann, 'jobs', { sort: 'title', expand: 'before,boss' })).items
  expect(second!['expand']).toMatchObject({ before: { salary: 5 } })
  expect(second!['expand']).not.toHaveProperty('boss')
  expect((second!['expand'] as JsonObject)['before']).not.toHaveProperty('bonus')
  const made = await writes.create(ann, 'jobs', { title: 'c', inbox: 'hello' })
  expect(made).not.toHaveProperty('inbox')
  expect(await writes.update(boss, 'jobs', made['id'] as string, { title: 'd' })).toMatchObject({ inbox: 'hello' })
  const people = (await reads.list(ann, 'people', { expand: 'jobs_via_boss,jobs_via_owner' })).items
  expect(JSON.stringify(people)).toContain('jobs_via_owner')
  expect(JSON.stringify(people)).not.toContain('jobs_via_boss')
})

test('nobody filters, sorts, groups or walks by what is not shown in every record', async () => {
  const { reads, ann, boss } = await office()
  const requests = [
    { filter: 'salary > 3' },
    { filter: "title = 'a' || salary = 5" },
    { filter: 'before.salary > 3' },
    { filter: 'boss.id = "x"' },
    { filter: "note ~ 'x'" },
    { sort: '-salary' },
    { sort: 'salary', after: '' },
    { sort: 'before.salary' },
    { group: 'salary' },
    { aggregate: 'sum:salary' },
    { aggregate: 'max:note' },
  ]
  for (const options of requests) {
    for (const actor of [ann, boss, NOBODY])
      expect(await refusal(reads.list(actor, 'jobs', options)), JSON.stringify(options)).toEqual(['INVALID', ''])
    expect(await refusal(reads.list(ADMIN, 'jobs', options))).toBeUndefined()
  }
  for (const filter of ['jobs_via_boss.title = "a"', 'jobs_via_owner.salary > 3'])
    expect(await refusal(reads.list(boss, 'people', { filter }))).toEqual(['INVALID', ''])
})

test('one who sees it in every record filters and sorts by it', async () => {
  const { reads, ann, boss } = await office()
  for (const options of [{ filter: 'bonus = 7' }, { sort: '-bonus' }, { aggregate: 'sum:bonus' }]) {
    expect((await reads.list(boss, 'jobs', options)).totalItems).toBeGreaterThan(0)
    expect(await refusal(reads.list(ann, 'jobs', options))).toEqual(['INVALID', ''])
  }
})

const REFUSED = (name: string, action = 'update') => [
  'INVALID',
  `Failed to ${action} record.`,
  { [name]: 'validation_field_rule' },
]

test('a write that sets what its actor may not set is refused', async () => {
  const { writes, stored, ann, boss, job } = await office()
  const id = job['id'] as string
  const before = (await stored('jobs'))[id]
  const set = (actor: typeof ann, input: JsonObject) => refusal(writes.update(actor, 'jobs', id, input))
  expect(await set(ann, { state: 'done' })).toEqual(REFUSED('state'))
  expect(await set(ann, { bonus: 8 })).toEqual(REFUSED('bonus'))
  expect(await set(ann, { note: '' })).toEqual(REFUSED('note'))
  expect(await set(NOBODY, { inbox: 'z' })).toEqual(REFUSED('inbox'))
  expect((await stored('jobs'))[id]).toEqual(before)
  expect(await set(ann, { salary: 6, inbox: 'z', state: '' })).toBeUndefined()
  expect(await set(boss, { state: 'done' })).toBeUndefined()
  expect(await refusal(writes.create(ann, 'jobs', { state: 'done' }))).toEqual(REFUSED('state', 'create'))
  expect(await refusal(writes.create(ann, 'jobs', { state: '', bonus: 0 }))).toBeUndefined()
})

test('no write tells what is stored in a field that is not shown', async () => {
  const { writes, definitions, ann, job } = await office()
  const id = job['id'] as string
  const updateRule = '@request.body.bonus:isset = false || @request.body.bonus > 5'
  await definitions.update(ADMIN.principal, 'jobs', { updateRule })
  for (const input of [{ bonus: 7 }, { bonus: 3 }, { 'bonus+': 0 }, { 'bonus-': 1 }, { note: 'x' }, { note: 'y' }])
    expect(await refusal(writes.update(ann, 'jobs', id, input)), JSON.stringify(input)).toEqual(
      REFUSED(Object.keys(input)[0]!.replace(/\W$/, '')),
    )
})

test('rules of fields are checked, kept, exported and imported, and are not there when they are not set', async () => {
  const world = await openWorld([PEOPLE])
  opened.push(world)
  const { definitions } = world
  const principal = ADMIN.principal
  const create = (field: JsonObject) =>
    refusal(definitions.create(principal, { name: 'x', fields: [{ type: 'text', name: 't', ...field }] }))
  const wrong = async (field: JsonObject) => ((await create(field)) as unknown[]).at(-1)
  for (const rule of ['viewRule', 'updateRule'])
    for (const value of ['nothing = 1', 't = '])
      expect(JSON.stringify(await wrong({ [rule]: value }))).toContain('validation_invalid_rule')
  expect(await create({ viewRule: 5 })).toMatchObject(['INVALID', expect.stringContaining('invalid formatting')])
  expect(JSON.stringify(await wrong({ type: 'password', viewRule: 't = 1' }))).toContain('validation_field_rule')
  await definitions.create(principal, {
    name: 'kept',
    fields: [
      { type: 'text', name: 't', viewRule: 't != ""', updateRule: null },
      { type: 'text', name: 'u', viewRule: '' },
    ],
  })
  const [, t, u] = definitions.get('kept').fields
  expect([t!.viewRule, t!.updateRule]).toEqual(['t != ""', null])
  expect(Object.keys(u!)).not.toContain('viewRule')
  const withId = definitions
    .get('kept')
    .fields.map((field) => (field.name === 'id' ? { ...field, viewRule: 't = 1' } : field))
  expect(await refusal(definitions.update(principal, 'kept', { fields: withId }))).toMatchObject([
    'INVALID',
    'Failed to update collection.',
    { fields: expect.anything() },
  ])
  const exported = structuredClone(definitions.get('kept'))
  await definitions.delete(principal, 'kept')
  await definitions.import(principal, [exported], false)
  expect(definitions.get('kept').fields).toEqual(exported.fields)
  const viewQuery = 'SELECT id, t, u FROM kept'
  const view = await definitions.create(principal, { name: 'v', type: 'view', viewQuery })
  expect(view.fields.map(({ name, hidden, viewRule }) => [name, hidden, viewRule])).toEqual([
    ['id', false, undefined],
    ['t', true, undefined],
    ['u', false, undefined],
  ])
})

test('what is shown is what evaluate says of the rule of each field', async () => {
  const rules = [OWN, STAFF, 'title = "a"', 'owner.staff = true', 'jobs_via_before.title ?= "a"', 'before = ""']
  for (const seed of seedsOf('model')) {
    const random = seededRandom(seed)
    const { definitions, writes, reads, stored, ann, boss } = await office()
    const people = Object.keys(await stored('people'))
    const made: unknown[] = []
    for (let i = 0; i < 12; i++) {
      const values = { title: random.pick(['a', 'b']), salary: i, bonus: i, owner: random.pick([...people, '']) }
      made.push((await writes.create(ADMIN, 'jobs', { ...values, before: random.pick(['', ...made]) }))['id'])
    }
    const [salary, bonus] = [random.pick(rules), random.pick(rules)]
    const fields = definitions.get('jobs').fields.map((field) => ({
      ...field,
      ...(field.name === 'salary' ? { viewRule: salary } : field.name === 'bonus' ? { viewRule: bonus } : {}),
    }))
    await definitions.update(ADMIN.principal, 'jobs', { fields })
    const rows = async (name: string) => Object.values(await stored(name)).map((row) => ({ ...row, id: row['_id'] }))
    const records = recordsOf({ jobs: await rows('jobs'), people: await rows('people') })
    for (const actor of [ann, boss, NOBODY])
      for (const item of (await reads.list(actor, 'jobs', { perPage: 100 })).items)
        for (const [name, rule] of [
          ['salary', salary],
          ['bonus', bonus],
        ] as const) {
          const auth = actor.principal.account
          const request = {
            auth:
              auth === undefined ? null : { collection: 'people', record: { ...auth.record, id: auth.record['_id'] } },
          }
          const bound = bind({
            now: new Date(0),
            schema: definitions.schema,
            collection: 'jobs',
            rule: parse(rule),
            request,
          })
          const expected = evaluate(bound, records.get('jobs', item['id'] as string)!, records)
          expect([seed, rule, item['title'], name in item]).toEqual([seed, rule, item['title'], expected])
        }
  }
})

test('a view tells nobody what it computes of a field with a rule, and an id is not one', async () => {
  const world = await office()
  const columns = 'title, upper(note) AS loud, CAST(salary AS int) AS pay, salary + 1 AS more, length(title) AS size'
  const view = { name: 'sheet', type: 'view', listRule: '', viewQuery: `SELECT id, ${columns} FROM jobs` }
  await world.definitions.create(ADMIN.principal, view)
  const { items } = await world.reads.list(NOBODY, 'sheet', { sort: 'title' })
  expect(items.map(({ id: _, collectionId: __, ...item }) => item)).toEqual([
    { collectionName: 'sheet', title: 'a', size: 1 },
    { collectionName: 'sheet', title: 'b', size: 1 },
  ])
  expect(await refusal(world.reads.list(NOBODY, 'sheet', { filter: 'loud = "X"' }))).toBeDefined()
  expect(await refusal(world.reads.list(NOBODY, 'sheet', { sort: 'pay' }))).toBeDefined()
  expect((await world.reads.list(ADMIN, 'sheet', { sort: 'title' })).items[0]).toMatchObject({
    loud: 'X',
    pay: 5,
    more: 6,
  })
  const asId = { name: 'ids', type: 'view', viewQuery: 'SELECT note AS id FROM jobs' }
  expect(await refusal(world.definitions.create(ADMIN.principal, asId))).toBeDefined()
})

test('a view tells nobody what it computes of a field that becomes hidden', async () => {
  const world = await office()
  const columns = 'title, upper(state) AS loud, length(state) AS size'
  const view = { name: 'sheet', type: 'view', listRule: '', viewQuery: `SELECT id, ${columns} FROM jobs` }
  await world.definitions.create(ADMIN.principal, view)
  const fields = world.definitions.get('jobs').fields.map((field) => ({ ...field, hidden: field.name === 'state' }))
  await world.definitions.update(ADMIN.principal, 'jobs', { fields })
  const { items } = await world.reads.list(NOBODY, 'sheet', { sort: 'title' })
  expect(items.map(({ id: _, collectionId: __, ...item }) => item)).toEqual([
    { collectionName: 'sheet', title: 'a' },
    { collectionName: 'sheet', title: 'b' },
  ])
})
