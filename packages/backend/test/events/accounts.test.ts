/** Goal: a client that has logged in gets what its account may see now, and what a guest may see when its tokens have ended. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { GUEST, SYSTEM } from '../../src/gateway/principal.ts'
import { LiveWorld, PASSWORD, type LiveClient } from './live-world.ts'

const A = 'a'.repeat(15)
const B = 'b'.repeat(15)

/** A collection for each kind of people, and another collection of accounts. */
async function openWorld(): Promise<LiveWorld> {
  const collection = (name: string, listRule: string): JsonObject => ({ name, listRule, fields: [] })
  return LiveWorld.open([
    { name: 'clients', type: 'auth', fields: [] },
    collection('anybody', ''),
    collection('accounts', "@request.auth.id != ''"),
    collection('anns', "@request.auth.name = 'Ann'"),
    collection('eves', "@request.auth.name = 'Eve'"),
  ])
}

const ALL = ['anybody/*', 'accounts/*', 'anns/*', 'eves/*']

/** The collections that each client has messages from, when a record is made in all of them. */
async function told(world: LiveWorld, clients: readonly LiveClient[]): Promise<string[]> {
  const before = clients.map(({ got }) => got.length)
  for (const name of ['anybody', 'accounts', 'anns', 'eves']) await world.create(name, {})
  await world.settled()
  return clients.map(({ got }, at) => {
    const topics = got.slice(before[at]).map(({ topic }) => topic.split('/')[0])
    return topics.join(' ')
  })
}

test('an account that is deleted leaves guests behind, and no other account', async () => {
  await using world = await openWorld()
  const [ann, bob] = [
    await world.account('users', A, { name: 'Ann' }),
    await world.account('users', B, { name: 'Bob' }),
  ]
  const clients = [world.connect(), world.connect(), world.connect(), world.connect()]
  for (const [at, principal] of [ann, ann, bob, GUEST].entries()) await clients[at]!.subscribeAs(principal, ...ALL)
  expect(await told(world, clients)).toEqual([
    'anybody accounts anns',
    'anybody accounts anns',
    'anybody accounts',
    'anybody',
  ])
  await world.delete('users', A)
  expect(await told(world, clients)).toEqual(['anybody', 'anybody', 'anybody accounts', 'anybody'])
  expect(world.backend.realtime.size).toBe(4)
})

test('an account that changes is another one for rules; a new key ends it', async () => {
  await using world = await openWorld()
  const clients = [world.connect()]
  await clients[0]!.subscribeAs(await world.account('users', A, { name: 'Ann' }), ...ALL)
  await world.update('users', A, { name: 'Eve' })
  expect(await told(world, clients)).toEqual(['anybody accounts eves'])
  await world.update('users', A, { password: `${PASSWORD}!`, passwordConfirm: `${PASSWORD}!` })
  expect(await told(world, clients)).toEqual(['anybody'])
  await world.update('users', A, { name: 'Ann' })
  expect(await told(world, clients)).toEqual(['anybody'])
})

test('another secret of the collection ends its accounts; another rule does not', async () => {
  await using world = await openWorld()
  const clients = [world.connect(), world.connect()]
  await clients[0]!.subscribeAs(await world.account('users', A), ...ALL)
  await clients[1]!.subscribeAs(await world.account('clients', B), ...ALL)
  await world.backend.definitions.update(SYSTEM, 'users', { authToken: { secret: 's'.repeat(30) } })
  await world.backend.definitions.update(SYSTEM, 'clients', { listRule: null })
  expect(await told(world, clients)).toEqual(['anybody', 'anybody accounts'])
})

test('a collection of accounts that is deleted ends them', async () => {
  await using world = await openWorld()
  const clients = [world.connect()]
  await clients[0]!.subscribeAs(await world.account('clients', A), ...ALL)
  await world.backend.definitions.delete(SYSTEM, 'clients')
  expect(await told(world, clients)).toEqual(['anybody'])
})

test('whose tokens have ended may log in again, also as somebody else', async () => {
  await using world = await openWorld()
  const ann = await world.account('users', A, { name: 'Ann' })
  const bob = await world.account('users', B)
  const client = world.connect()
  await client.subscribeAs(ann, ...ALL)
  await expect(client.subscribeAs(bob, ...ALL)).rejects.toThrow("don't match")
  await expect(client.subscribeAs(GUEST, ...ALL)).rejects.toThrow("don't match")
  await world.update('users', A, { password: `${PASSWORD}!`, passwordConfirm: `${PASSWORD}!` })
  await client.subscribeAs(bob, ...ALL)
  expect(await told(world, [client])).toEqual(['anybody accounts'])
})

test('a request that was read before its account has changed subscribes for the account as it is', async () => {
  await using world = await openWorld()
  const stale = await world.account('users', A, { name: 'Ann' })
  await world.update('users', A, { name: 'Eve' })
  const clients = [world.connect(), world.connect()]
  await clients[0]!.subscribeAs(stale, ...ALL)
  expect(await told(world, clients)).toEqual(['anybody accounts eves', ''])
  await world.update('users', A, { password: `${PASSWORD}!`, passwordConfirm: `${PASSWORD}!` })
  await clients[1]!.subscribeAs(stale, ...ALL)
  expect(await told(world, clients)).toEqual(['anybody', 'anybody'])
})

test('a client gets no message about the update that ends its token', async () => {
  await using world = await openWorld()
  await world.backend.definitions.update(SYSTEM, 'users', { viewRule: 'id = @request.auth.id' })
  const [own, admin] = [world.connect(), world.connect()]
  await own.subscribeAs(await world.account('users', A), `users/${A}`)
  await admin.subscribeAs(SYSTEM, `users/${A}`)
  await world.update('users', A, { name: 'Ann' })
  await world.update('users', A, { email: 'new@example.com' })
  await world.settled()
  expect(own.told).toEqual([`users/${A} update ${A}`])
  expect(admin.told.length).toBe(2)
})

test('an account gets the message about its own deletion', async () => {
  await using world = await openWorld()
  await world.backend.definitions.update(SYSTEM, 'users', { viewRule: 'id = @request.auth.id' })
  const client = world.connect()
  await client.subscribeAs(await world.account('users', A), `users/${A}`)
  await world.delete('users', A)
  await world.settled()
  expect(client.told).toEqual([`users/${A} delete ${A}`])
})
