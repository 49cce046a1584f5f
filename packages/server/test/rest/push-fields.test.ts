/** Goal: what a push says and does not say about fields tells nothing about hidden ones, and takes nothing away from them. */
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
  })
})
beforeEach(async () => {
  const made = await world.server.call('POST /collections/people/records', { name: 'a', secret: 'hidden' })
  id = String(made.json['id'])
  await world.server.call(`PATCH /collections/users/records/${world.ann.id}`, { name: 'boss' })
})
afterAll(() => world.server.close())

function change(values: object, by: string): Promise<Outcome> {
  return world.write([{ collection: 'people', action: 'update', id, base: null, values }], { by })
}

async function secret(): Promise<unknown> {
  return (await world.server.call(`GET /collections/people/records/${id}`)).json['secret']
}

test('absent is not empty: a field that a push does not name stays, whatever the account may see', async () => {
  expect(await change({ name: 'b' }, world.bob.token)).toMatchObject({ status: 'ok' })
  expect(await change({ name: 'c' }, world.ann.token)).toMatchObject({ status: 'ok' })
  expect(await secret()).toBe('hidden')
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
