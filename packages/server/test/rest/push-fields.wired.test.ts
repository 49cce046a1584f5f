/**
 * Goal: what a push says and does not say about fields tells nothing about hidden ones, and takes nothing away from them. F1 to F5 are
 * the holes that bodies cut by fields can open.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { PushServer, type Outcome } from './push-server.ts'

let world: PushServer
let id: string

beforeAll(async () => {
  world = await PushServer.start()
  await world.server.call('POST /collections', {
    name: 'people',
    type: 'base',
    listRule: '',
    updateRule: '',
    fields: [
      { name: 'name', type: 'text' },
      { name: 'secret', type: 'text', viewRule: '@request.auth.name = "boss"' },
    ],
    indexes: ["CREATE UNIQUE INDEX `one_secret` ON `people` (`secret`) WHERE `secret` != ''"],
  })
})
beforeEach(async () => {
  const { items } = (await world.server.call('GET /collections/people/records')).json as unknown as {
    readonly items: readonly { readonly id: string }[]
  }
  for (const item of items) await world.server.call(`DELETE /collections/people/records/${item.id}`)
  const made = await world.server.call('POST /collections/people/records', { name: 'a', secret: 'hidden' })
  id = String(made.json['id'])
  await world.server.call(`PATCH /collections/users/records/${world.ann.id}`, { name: 'boss' })
})
afterAll(() => world.server.close())

function change(values: object, by: string, rest: object = {}): Promise<Outcome> {
  return world.write([{ collection: 'people', action: 'update', id, base: null, values, ...rest }], { by })
}

/** The record as the replica of an account has it. */
async function pulled(by: string, rest: object = {}): Promise<Readonly<Record<string, unknown>>> {
  const collections = { people: null }
  const { json } = await world.server.call('POST /sync/pull', { collections, ...rest }, by)
  const { people } = json['collections'] as unknown as Record<string, { readonly rows: readonly { record?: object }[] }>
  return people!.rows[0]!.record as Readonly<Record<string, unknown>>
}

async function store(values: object): Promise<void> {
  await world.server.call(`PATCH /collections/people/records/${id}`, values)
}

async function secret(): Promise<unknown> {
  return (await world.server.call(`GET /collections/people/records/${id}`)).json['secret']
}

test('F1: absent is not empty: a field that a push does not name stays, whatever the account may see', async () => {
  expect(await change({ name: 'b' }, world.bob.token)).toMatchObject({ status: 'ok' })
  expect(await change({ name: 'c' }, world.ann.token)).toMatchObject({ status: 'ok' })
  expect(await secret()).toBe('hidden')
})

test('F1: a body that was cut takes nothing away, also if its writer may see the field by now', async () => {
  const { name, secret: _, _rev: base, ...cut } = await pulled(world.bob.token)
  expect([name, cut]).toEqual(['a', { id, collectionId: expect.anything(), collectionName: 'people' }])
  await world.server.call(`PATCH /collections/users/records/${world.bob.id}`, { name: 'boss' })
  expect(await change({ name: 'b' }, world.bob.token, { base })).toMatchObject({ status: 'ok' })
  await world.server.call(`PATCH /collections/users/records/${world.bob.id}`, { name: '' })
  expect(await secret()).toBe('hidden')
})

test('F2: fields that are not shown are carried over from the base, and another base is a conflict', async () => {
  const { _rev: base } = await pulled(world.bob.token)
  await store({ secret: 'newer' })
  expect(await change({ name: 'b' }, world.bob.token, { base })).toMatchObject({ status: 'rejected', code: 'CONFLICT' })
  const { _rev: now } = await pulled(world.bob.token)
  expect(await change({ name: 'b' }, world.bob.token, { base: now })).toMatchObject({ status: 'ok' })
  expect(await secret()).toBe('newer')
})

test('F3: a revision is no digest by which the value of a hidden field can be tried', async () => {
  const path = `/collections/people/records/${id}?fields=_rev`
  const digest = (await world.server.call(`GET ${path}`)).json['_rev']
  const shown = (await pulled(world.bob.token))['_rev']
  expect(shown).not.toBe(digest)
  expect(await change({ name: 'b' }, world.bob.token, { base: digest })).toMatchObject({ code: 'CONFLICT' })
  const guessed = await pulled(world.bob.token, { has: { people: { [id]: digest } } })
  expect(guessed).toMatchObject({ name: 'a', _rev: shown })
})

test('F4: a merge takes a field that was cut as unchanged, and confirms no guess of it', async () => {
  const { _rev: base } = await pulled(world.bob.token)
  await store({ secret: 'theirs' })
  expect(await change({ name: 'b' }, world.bob.token, { base, was: { name: 'a' } })).toMatchObject({ status: 'ok' })
  expect(await secret()).toBe('theirs')
  const outcomes = await Promise.all(
    ['theirs', 'other'].map((guess) =>
      change({ name: 'c', secret: 'mine' }, world.bob.token, { base, was: { name: 'b', secret: guess } }),
    ),
  )
  expect(outcomes.map(({ code }) => code)).toEqual(['CONFLICT', 'CONFLICT'])
})

test('F5: filters of parts, sorts and unique indexes tell nothing of a field that the account does not see', async () => {
  for (const filter of ["secret = 'hidden'", "nothing = 'hidden'"]) {
    const body = { collections: { people: null }, filters: { people: filter } }
    const { status, json } = await world.server.call('POST /sync/pull', body, world.bob.token)
    expect([status, json['message']]).toEqual([
      400,
      expect.stringMatching(/^The filter of "people" can't be synced: It may read the fields .* that everybody sees/),
    ])
  }
  for (const query of ['sort=secret', `filter=${encodeURIComponent("secret = 'hidden'")}`]) {
    const { status } = await world.server.call(`GET /collections/people/records?${query}`, undefined, world.bob.token)
    expect([query, status]).toEqual([query, 400])
  }
  await world.server.call('POST /collections/people/records', { name: 'z', secret: 'taken' })
  const [taken, free] = await Promise.all(['taken', 'free'].map((guess) => change({ secret: guess }, world.bob.token)))
  expect({ ...taken, n: 0 }).toEqual({ ...free, n: 0 })
})

test('null empties a field that the account may set', async () => {
  expect(await change({ secret: null }, world.ann.token)).toMatchObject({ status: 'ok' })
  expect(await secret()).toBe('')
})

test('a push that names a field that the account may not set is refused, and not cut', async () => {
  for (const guess of ['hidden', 'other', null]) {
    const outcome = await change({ name: 'b', secret: guess }, world.bob.token)
    expect(outcome).toMatchObject({ status: 'rejected', code: 'INVALID', data: { secret: expect.anything() } })
    expect(outcome.current).toMatchObject({ name: 'a' })
    expect(outcome.current).not.toHaveProperty('secret')
  }
  expect(await secret()).toBe('hidden')
})

test('a role that is taken away counts for the next transaction', async () => {
  expect(await change({ secret: 'one' }, world.ann.token)).toMatchObject({ status: 'ok' })
  await world.server.call(`PATCH /collections/users/records/${world.ann.id}`, { name: '' })
  expect(await change({ secret: 'two' }, world.ann.token)).toMatchObject({ status: 'rejected', code: 'INVALID' })
  expect(await secret()).toBe('one')
})
