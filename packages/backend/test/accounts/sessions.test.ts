/** Goal: an account sees where it is logged in, and what it ends there is over at once. Requests cost no more than without sessions. */
import { SignJWT } from 'jose'
import type { Collection, Database } from 'pannier'
import type { VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GUEST, SYSTEM } from '../../src/index.ts'
import type { Actor, Backend, Principal } from '../../src/index.ts'
import type { JsonObject } from '../../src/internal.ts'
import type { AuthDefinition } from '../../src/definitions/definition.ts'
import { openTestBackend, passwords } from '../test-backend.ts'

const MINUTE_MS = 60_000
const TOKEN_MS = 432_000_000
let database: Database
let backend: Backend
let environment: VirtualEnvironment
let hash: string

beforeEach(async () => {
  ;({ environment, database, backend } = await openTestBackend())
  hash ??= await passwords.hash('the password')
  for (const id of ['ann', 'ann/b', 'bob']) await addUser('users', id)
})

afterEach(async () => {
  await backend.close()
  await database.close()
})

function records(collection = 'users'): Collection<JsonObject> {
  return backend.definitions.records(backend.definitions.get(collection))
}

async function addUser(collection: string, id: string): Promise<void> {
  const email = `${id.replace('/', '.')}@example.com`
  await records(collection).insert({
    _id: id,
    email,
    password: hash,
    tokenKey: `key of ${id}`,
  })
}

function actor(principal: Principal = GUEST, agent = 'Firefox'): Actor {
  return { principal, request: { context: 'default', method: 'POST', query: {}, headers: { user_agent: agent } } }
}

async function logIn(id = 'ann', agent?: string, address = '10.0.0.1'): Promise<{ token: string; me: Actor }> {
  const input = { identity: `${id.replace('/', '.')}@example.com`, password: 'the password' }
  const { token } = (await backend.accounts.authWithPassword(actor({ ...GUEST, address }, agent), 'users', input)) as {
    token: string
  }
  return { token, me: await actorOf(token) }
}

async function actorOf(token: string): Promise<Actor> {
  const principal = await backend.accounts.principalOf(token)
  if (principal === undefined) throw new Error('The token is not valid.')
  return actor(principal)
}

const isValid = async (token: string): Promise<boolean> => (await backend.accounts.principalOf(token)) !== undefined
const idsOf = async (me: Actor, id = 'ann'): Promise<string[]> =>
  (await backend.accounts.sessions(me, 'users', id)).map((one) => one.id)

/** As a server without sessions would have made it. */
async function tokenWithoutSession(id = 'ann'): Promise<string> {
  const definition = backend.definitions.get('users') as AuthDefinition
  const { secret } = definition.authToken
  const claims = {
    collectionId: definition.id,
    exp: (environment.wallClock() + TOKEN_MS) / 1000,
    id,
    refreshable: true,
    type: 'auth',
  }
  const key = Buffer.from(`${String((await records().get(id))!['tokenKey'])}${secret}`)
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(key)
}

test('an account sees its own sessions, with the one of the request', async () => {
  const phone = await logIn('ann', 'Phone', '10.0.0.2')
  environment.jump(MINUTE_MS)
  const laptop = await logIn('ann', 'Laptop')
  for (const other of ['ann/b', 'bob']) await logIn(other)
  const [first, second, ...more] = await backend.accounts.sessions(laptop.me, 'Users', 'ann')
  expect(first).toEqual({
    id: laptop.me.principal.session,
    method: 'password',
    address: '10.0.0.1',
    userAgent: 'Laptop',
    created: '2026-11-22 12:01:00.000Z',
    used: '2026-11-22 12:01:00.000Z',
    expires: '2026-11-27 12:01:00.000Z',
    current: true,
  })
  expect(second).toMatchObject({ id: phone.me.principal.session, userAgent: 'Phone', current: false })
  expect(more).toEqual([])
})

test('a session that was ended is over for its tokens, also refreshed ones and those for files, and no other is', async () => {
  const one = await logIn()
  const other = await logIn()
  const refreshed = await backend.accounts.authRefresh(one.me, 'users', one.token)
  const file = await backend.files.newToken(one.me)
  expect(await backend.files.principalOf(file, undefined)).toMatchObject({ name: 'users:ann' })
  await backend.accounts.endSession(other.me, 'users', 'ann', one.me.principal.session!)
  for (const token of [one.token, refreshed.token]) expect(await isValid(token)).toBe(false)
  expect(await backend.files.principalOf(file, undefined)).toBe(undefined)
  await expect(backend.accounts.authRefresh(one.me, 'users', one.token)).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  })
  expect(await isValid(other.token)).toBe(true)
  expect(await idsOf(other.me)).toEqual([other.me.principal.session])
})

test('a refresh keeps the session', async () => {
  const { token, me } = await logIn()
  environment.jump(60 * MINUTE_MS)
  const refreshed = await backend.accounts.authRefresh(me, 'users', token)
  expect(refreshed.principal.session).toBe(me.principal.session)
  const [session, ...more] = await backend.accounts.sessions(await actorOf(refreshed.token), 'users', 'ann')
  expect(session).toMatchObject({
    used: '2026-11-22 13:00:00.000Z',
    expires: '2026-11-27 13:00:00.000Z',
    current: true,
  })
  expect(more).toEqual([])
})

test('all other sessions end at once, with the tokens that have none', async () => {
  const mine = await logIn()
  const others = [await logIn(), await logIn()]
  const bob = await logIn('bob')
  const neighbour = await logIn('ann/b')
  const old = await tokenWithoutSession()
  expect(await isValid(old)).toBe(true)
  await backend.accounts.endOtherSessions(mine.me, 'users', 'ann')
  for (const token of [old, await tokenWithoutSession(), ...others.map((one) => one.token)])
    expect(await isValid(token)).toBe(false)
  for (const token of [mine.token, bob.token, neighbour.token, (await logIn()).token])
    expect(await isValid(token)).toBe(true)
  await backend.accounts.deleteExpired()
  expect(await isValid(old)).toBe(false)
})

test('a token without a session gets one by a refresh, and the same one by the next', async () => {
  const token = await tokenWithoutSession()
  const me = await actorOf(token)
  expect(me.principal.session).toBe(undefined)
  const first = await backend.accounts.authRefresh(me, 'users', token)
  const second = await backend.accounts.authRefresh(me, 'users', token)
  expect(await idsOf(me)).toEqual([first.principal.session])
  expect(second.principal.session).toBe(first.principal.session)
})

test('nobody sees or ends sessions of others but a superuser; ids of other accounts are unknown', async () => {
  const ann = await logIn()
  const bob = await logIn('bob')
  const { accounts } = backend
  const session = ann.me.principal.session!
  const attempts = [
    () => accounts.sessions(bob.me, 'users', 'ann'),
    () => accounts.endSession(bob.me, 'users', 'ann', session),
    () => accounts.endOtherSessions(bob.me, 'users', 'ann'),
    () => accounts.endSession(bob.me, 'users', 'bob', session),
    () => accounts.endSession(bob.me, 'users', 'bob', `../ann/${session}`),
    () => accounts.sessions(actor(SYSTEM), 'users', 'nobody'),
  ]
  for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(accounts.sessions(actor(), 'users', 'ann')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  await expect(accounts.sessions(bob.me, '_superusers', 'bob')).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await isValid(ann.token)).toBe(true)
  const root = actor(SYSTEM)
  expect(await idsOf(root)).toEqual([session])
  await accounts.endOtherSessions(root, 'users', 'ann')
  expect(await isValid(ann.token)).toBe(false)
})

test('another key ends sessions: they are not listed, and cleaned up, as are expired ones and those of deleted accounts', async () => {
  const stored = database.collection('$sessions')
  await logIn()
  await records().update('ann', (old) => ({ ...old, tokenKey: 'another key' }))
  const { me } = await logIn()
  expect(await idsOf(me)).toEqual([me.principal.session])
  await logIn('bob')
  await records().delete('bob')
  expect((await stored.info()).documents).toBe(3)
  await backend.accounts.deleteExpired()
  expect((await stored.info()).documents).toBe(1)
  await environment.advance(TOKEN_MS)
  expect(await idsOf(actor(SYSTEM))).toEqual([me.principal.session])
  await environment.advance(10 * MINUTE_MS)
  expect(await idsOf(actor(SYSTEM))).toEqual([])
  await backend.accounts.deleteExpired()
  expect((await stored.info()).documents).toBe(0)
})

test('a known token costs no read and no write; its use is stored once in ten minutes', async () => {
  const { token, me } = await logIn()
  const prototype = Object.getPrototypeOf(records()) as Collection<JsonObject>
  const calls = (['get', 'find', 'insert', 'update', 'upsert', 'delete'] as const).map((name) =>
    vi.spyOn(prototype, name),
  )
  const counted = async (work: () => Promise<unknown>): Promise<number> => {
    for (const call of calls) call.mockClear()
    await work()
    return calls.reduce((sum, call) => sum + call.mock.calls.length, 0)
  }
  const use = (): Promise<unknown> => backend.accounts.principalOf(token)
  expect(await counted(use)).toBe(0)
  environment.jump(9 * MINUTE_MS)
  expect(await counted(use)).toBe(0)
  environment.jump(MINUTE_MS)
  expect(await counted(use)).toBe(1)
  expect(await counted(use)).toBeLessThanOrEqual(2)
  for (const call of calls) call.mockRestore()
  const used = async (): Promise<string | undefined> => (await backend.accounts.sessions(me, 'users', 'ann'))[0]?.used
  await environment.idle()
  expect(await used()).toBe('2026-11-22 12:10:00.000Z')
})

test('an account has 1,000 sessions at most: those that were not used for longest go', async () => {
  const definition = backend.definitions.get('users')
  const first = await logIn()
  environment.jump(MINUTE_MS)
  const second = await logIn()
  const stored = database.collection<JsonObject>('$sessions')
  const template = (await stored.find({}).first())!
  const { _id: _, _rev: __, ...fields } = template
  await stored.insert(
    Array.from({ length: 998 }, (___, n) => ({
      ...fields,
      _id: `of/${definition.id}/ann/${String(n).padStart(15, '0')}`,
      usedMs: environment.wallClock() - MINUTE_MS / 2,
    })),
  )
  const third = await logIn()
  expect(await isValid(first.token)).toBe(false)
  for (const { token } of [second, third]) expect(await isValid(token)).toBe(true)
  expect((await idsOf(second.me)).length).toBe(901)
})

test('a session that a restored backup does not know is valid, until all others are ended', async () => {
  const { token, me } = await logIn()
  const other = await logIn()
  await database.collection('$sessions').delete(`of/${backend.definitions.get('users').id}/ann/${me.principal.session}`)
  expect(await isValid(token)).toBe(true)
  expect(await idsOf(other.me)).toEqual([other.me.principal.session])
  const refreshed = await backend.accounts.authRefresh(me, 'users', token)
  expect(new Set(await idsOf(other.me))).toEqual(new Set([me.principal.session, other.me.principal.session]))
  expect(refreshed.principal.session).toBe(me.principal.session)
  await database.collection('$sessions').delete(`of/${backend.definitions.get('users').id}/ann/${me.principal.session}`)
  await backend.accounts.endOtherSessions(other.me, 'users', 'ann')
  expect(await isValid(token)).toBe(false)
})

test('a refresh and the end of its session at the same time leave no valid token', async () => {
  for (let round = 0; round < 5; round++) {
    const { token, me } = await logIn()
    environment.jump(11 * MINUTE_MS)
    const [refreshed] = await Promise.allSettled([
      backend.accounts.authRefresh(me, 'users', token),
      backend.accounts.endSession(actor(SYSTEM), 'users', 'ann', me.principal.session!),
    ])
    expect(await isValid(token)).toBe(false)
    if (refreshed.status === 'fulfilled') expect(await isValid(refreshed.value.token)).toBe(false)
  }
})

test('a superuser who impersonates makes a session that the account sees', async () => {
  const { token } = await backend.accounts.impersonate(actor(SYSTEM), 'users', 'ann', 100)
  const me = await actorOf(token)
  expect(await backend.accounts.sessions(me, 'users', 'ann')).toMatchObject([
    { method: 'impersonate', current: true, expires: '2026-11-22 12:01:40.000Z' },
  ])
})
