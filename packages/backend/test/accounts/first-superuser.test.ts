/** Goal: the person with the secret of a start makes one superuser, and nothing else; then, and after 30 minutes, nobody can. */
import type { Database } from 'pannier'
import type { VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import type { Backend } from '../../src/backend.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { actor } from '../records/world.ts'
import { openTestBackend } from '../test-backend.ts'

const LOCKED = { code: 'FORBIDDEN' }

let database: Database
let backend: Backend
let environment: VirtualEnvironment

beforeEach(async () => {
  ;({ environment, database, backend } = await openTestBackend())
})
afterEach(async () => {
  await backend.close()
  await database.close()
})

async function actorOf(secret: string): Promise<Actor> {
  return actor((await backend.accounts.bearerOf(secret))!)
}

function create(by: Actor, email: string, collection = '_superusers'): Promise<unknown> {
  return backend.records.create(by, collection, { email, password: '1234567890', passwordConfirm: '1234567890' })
}

test('a secret makes the first superuser, who is shown whole; then it is no secret any more', async () => {
  const secret = (await backend.accounts.firstSuperuser.offer())!
  const by = await actorOf(secret)
  backend.records.assertOpen(by, '_superusers', 'create')
  expect(await create(by, 'ann@example.com')).toMatchObject({ email: 'ann@example.com', verified: true })
  await expect(create(by, 'bob@example.com')).rejects.toMatchObject(LOCKED)
  expect(await backend.accounts.bearerOf(secret)).toBeUndefined()
  expect(await backend.accounts.firstSuperuser.offer()).toBeUndefined()
})

test('of ten creates at the same time one makes a superuser; a refused one does not end the secret', async () => {
  const by = await actorOf((await backend.accounts.firstSuperuser.offer())!)
  await expect(create(by, 'no address')).rejects.toMatchObject({ code: 'INVALID', data: { email: expect.anything() } })
  const creates = Array.from({ length: 10 }, (_, n) => create(by, `n${n}@example.com`))
  const outcomes = await Promise.allSettled(creates)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a secret opens nothing else, and no other text is one', async () => {
  const secret = (await backend.accounts.firstSuperuser.offer())!
  const by = await actorOf(secret)
  await expect(backend.records.list(by, '_superusers', {})).rejects.toMatchObject(LOCKED)
  await expect(create(by, 'x@example.com', '_otps')).rejects.toMatchObject(LOCKED)
  expect(() => backend.records.assertOpen(by, '_superusers', 'update')).toThrow(expect.objectContaining(LOCKED))
  await expect(backend.definitions.truncate(by.principal, 'users')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  const request = { context: 'batch', method: 'POST', query: {}, headers: {} }
  const operation = { action: 'create', collection: '_superusers', input: {}, request } as const
  await expect(backend.records.batch(by.principal, [operation], { workMsMax: 60_000 })).rejects.toMatchObject({
    reason: LOCKED,
  })
  // As anybody may.
  expect(await create(by, 'ann@example.com', 'users')).toMatchObject({ verified: false })
  expect(await create(by, 'bob@example.com', 'users')).toMatchObject({ verified: false })
  for (const other of ['', secret.slice(1), `${secret.slice(1)}x`, `${secret} `])
    expect(await backend.accounts.bearerOf(other)).toBeUndefined()
})

test('a secret ends after 30 minutes, with the next one, and with a superuser made in another way', async () => {
  const first = (await backend.accounts.firstSuperuser.offer())!
  const second = (await backend.accounts.firstSuperuser.offer())!
  expect(await backend.accounts.bearerOf(first)).toBeUndefined()
  await environment.advance(29 * 60_000)
  expect(await backend.accounts.bearerOf(second)).toBeDefined()
  await environment.advance(60_000)
  expect(await backend.accounts.bearerOf(second)).toBeUndefined()
  const third = (await backend.accounts.firstSuperuser.offer())!
  const by = await actorOf(third)
  await create(actor(SYSTEM), 'root@example.com')
  await expect(create(by, 'ann@example.com')).rejects.toMatchObject(LOCKED)
  expect(await backend.accounts.bearerOf(third)).toBeUndefined()
})
