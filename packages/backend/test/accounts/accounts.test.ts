/** Goal: who has the right password or token is known, nobody else, and a change of the record ends its tokens at once. */
import type { Database } from 'pannier'
import type { VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GUEST, openBackend, ServiceError, SYSTEM } from '../../src/index.ts'
import type { Actor, Backend, BatchOperation, Principal } from '../../src/index.ts'
import { WorkQueue } from '../../src/gateway/work-queue.ts'
import type { JsonObject } from '../../src/internal.ts'
import { openTestBackend, passwords, START_MS } from '../test-backend.ts'

let database: Database
let backend: Backend
let environment: VirtualEnvironment

beforeEach(async () => {
  ;({ environment, database, backend } = await openTestBackend())
  await addUser('users', 'ann', 'ann@example.com')
})

afterEach(async () => {
  await backend.close()
  await database.close()
})

async function addUser(collection: string, id: string, email: string): Promise<void> {
  const records = backend.definitions.records(backend.definitions.get(collection))
  await records.insert({ _id: id, email, password: await passwords.hash('the password'), tokenKey: `key of ${id}` })
}

function actor(principal: Principal = GUEST): Actor {
  return { principal, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
}

function logIn(identity = 'ann@example.com', password = 'the password', more: object = {}): Promise<{ token: string }> {
  const input = { identity, password, ...more }
  return backend.accounts.authWithPassword(actor(), 'Users', input) as Promise<{ token: string }>
}

test('a token says what PocketBase says, in its order, and which session it is of', async () => {
  const { token } = await logIn()
  const [head, claims] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString())
  const { id } = backend.definitions.get('users')
  const { sid } = JSON.parse(claims!) as { sid: string }
  expect(head).toBe('{"alg":"HS256","typ":"JWT"}')
  expect(sid).toMatch(/^[a-z0-9]{15}$/)
  expect(claims).toBe(
    `{"collectionId":"${id}","exp":${START_MS / 1000 + 432_000},"id":"ann","refreshable":true,"sid":"${sid}","type":"auth"}`,
  )
})

test('a token is its record, until it expires', async () => {
  const { token } = await logIn()
  const principal = await backend.accounts.principalOf(token)
  expect(principal).toMatchObject({
    name: 'users:ann',
    isAdmin: false,
    by: 'token',
    account: { record: { _id: 'ann' } },
  })
  environment.jump(432_000_000)
  expect(await backend.accounts.principalOf(token)).toBe(undefined)
})

test('a superuser is an admin', async () => {
  await addUser('_superusers', 'root', 'root@example.com')
  const input = { identity: 'root@example.com', password: 'the password' }
  const { token } = (await backend.accounts.authWithPassword(actor(), '_superusers', input)) as { token: string }
  expect(await backend.accounts.principalOf(token)).toMatchObject({ name: 'root@example.com', isAdmin: true })
})

test('a token that was tampered with, is of another key or of another type is of a guest', async () => {
  const { token } = await logIn()
  const [head = '', claims = '', signature = ''] = token.split('.')
  const changed = (change: object): string =>
    Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), ...change })).toString(
      'base64url',
    )
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  const wrong = [
    '',
    'x',
    'a.b.c',
    `${head}.${changed({ id: 'bob' })}.${signature}`,
    `${head}.${changed({ exp: 9_999_999_999 })}.${signature}`,
    `${head}.${changed({ type: 'file' })}.${signature}`,
    `${none}.${claims}.`,
    `${head}.${claims}.`,
    `${token}x`,
    ` ${token}`,
  ]
  for (const one of wrong) expect(await backend.accounts.principalOf(one), one).toBe(undefined)
})

test('a known token costs no read; a change of the record or of a secret ends it', async () => {
  const { token } = await logIn()
  const records = backend.definitions.records(backend.definitions.get('users'))
  await backend.accounts.principalOf(token)
  const reads = vi.spyOn(Object.getPrototypeOf(records), 'get')
  expect(await backend.accounts.principalOf(token)).toBeDefined()
  expect(reads).not.toHaveBeenCalled()
  reads.mockRestore()
  await records.update('ann', (old) => ({ ...old, name: 'Ann' }))
  expect((await backend.accounts.principalOf(token))?.account?.record['name']).toBe('Ann')
  await records.update('ann', (old) => ({ ...old, tokenKey: 'another key' }))
  expect(await backend.accounts.principalOf(token)).toBe(undefined)
  const { token: second } = await logIn()
  expect(await backend.accounts.principalOf(second)).toBeDefined()
  await backend.definitions.update(SYSTEM, 'users', { authToken: { duration: 100, secret: 'x'.repeat(40) } })
  expect(await backend.accounts.principalOf(second)).toBe(undefined)
  const { token: third } = await logIn()
  expect(await backend.accounts.principalOf(third)).toBeDefined()
  await records.delete('ann')
  expect(await backend.accounts.principalOf(third)).toBe(undefined)
})

test('nobody can distinguish an unknown identity from a wrong password: both cost a hash', async () => {
  const broken = { _id: 'broken', email: 'broken@example.com', password: 'no hash', tokenKey: 'key' }
  await backend.definitions.records(backend.definitions.get('users')).insert(broken)
  const hashes = vi.spyOn(WorkQueue.prototype, 'run')
  await logIn('nobody@example.com').catch(() => {})
  const before = hashes.mock.calls.length
  for (const [identity, password] of [
    ['ann@example.com', 'wrong'],
    ['nobody@example.com', 'the password'],
    ['no address', 'the password'],
    ['broken@example.com', 'the password'],
  ])
    await expect(logIn(identity, password)).rejects.toMatchObject({
      code: 'INVALID',
      message: 'Failed to authenticate.',
    })
  expect(hashes.mock.calls.length - before).toBe(4)
  hashes.mockRestore()
})

test('a login says what is missing', async () => {
  const { code, data, message } = (await logIn('', '').catch((error: unknown) => error)) as Record<string, unknown>
  const blank = { code: 'validation_required', message: 'Cannot be blank.' }
  expect({ code, data, message }).toEqual({
    code: 'INVALID',
    data: { identity: blank, password: blank },
    message: 'An error occurred while validating the submitted data.',
  })
  await expect(logIn('a', 'b', { identityField: 'name' })).rejects.toMatchObject({
    data: { identityField: { code: 'validation_in_invalid' } },
  })
  await expect(logIn('a', 3 as never)).rejects.toMatchObject({
    message: 'An error occurred while loading the submitted data.',
  })
})

test('collections that are none of accounts, do not take passwords, or are not there', async () => {
  const attempt = (name: string): Promise<unknown> => backend.accounts.authWithPassword(actor(), name, {})
  await expect(attempt('nope')).rejects.toMatchObject({ message: 'Missing or invalid collection context.' })
  await expect(attempt('_mfas')).rejects.toMatchObject({ message: 'Missing or invalid auth collection context.' })
  await backend.definitions.update(SYSTEM, 'users', { passwordAuth: { enabled: false, identityFields: ['email'] } })
  await expect(logIn()).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('case counts in an identity, unless the unique index says otherwise', async () => {
  await expect(logIn('ANN@example.com')).rejects.toMatchObject({ message: 'Failed to authenticate.' })
  const { indexes } = backend.definitions.get('users')
  const nocase = indexes.map((index) => index.replace('(`email`)', '(`email` COLLATE NOCASE)'))
  await backend.definitions.update(SYSTEM, 'users', { indexes: nocase })
  expect(await logIn('ANN@example.com')).toMatchObject({ principal: { name: 'users:ann' } })
  await expect(logIn('ANN@example.com', 'wrong')).rejects.toMatchObject({ message: 'Failed to authenticate.' })
})

test('a refresh gives a token that is valid for longer', async () => {
  const { token } = await logIn()
  await environment.advance(60_000)
  const principal = (await backend.accounts.principalOf(token))!
  const { token: fresh } = await backend.accounts.authRefresh(actor(principal), 'users', token)
  expect(fresh).not.toBe(token)
  environment.jump(431_999_000)
  expect(await backend.accounts.principalOf(token)).toBe(undefined)
  expect(await backend.accounts.principalOf(fresh)).toBeDefined()
  await expect(backend.accounts.authRefresh(actor(), 'users', '')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  await expect(backend.accounts.authRefresh(actor(principal), '_superusers', token)).rejects.toMatchObject({
    message: 'The request requires auth record from users collection.',
  })
})

test('where two methods are needed, a password alone gives no token', async () => {
  await backend.definitions.update(SYSTEM, 'users', {
    otp: { enabled: true, duration: 180, length: 8 },
    mfa: { enabled: true, duration: 600, rule: '' },
  })
  const half = (await logIn()) as unknown as { mfaId: string }
  expect(Object.keys(half)).toEqual(['mfaId'])
  const again = logIn('ann@example.com', 'the password', half)
  await expect(again).rejects.toMatchObject({ message: 'A different authentication method is required.' })
  await expect(logIn('ann@example.com', 'the password', { mfaId: 'x' })).rejects.toMatchObject({
    message: 'Invalid or expired MFA session.',
  })
  const begun = backend.definitions.records(backend.definitions.get('_mfas'))
  await environment.advance(300_000)
  await logIn()
  await backend.accounts.deleteExpired()
  expect(await begun.find({}).count()).toBe(2)
  await environment.advance(300_000)
  await backend.accounts.deleteExpired()
  expect(await begun.find({}).count()).toBe(1)
  await expect(logIn('ann@example.com', 'the password', half)).rejects.toMatchObject({
    message: 'Invalid or expired MFA session.',
  })
})

test('guesses at the old password are counted with failed logins, by any way to write', async () => {
  await backend.close()
  const attempts: string[] = []
  let isOver = false
  const attempt = (address: string, name: string): (() => void) => {
    if (isOver) throw new ServiceError('TOO_MANY_REQUESTS', '')
    attempts.push(`${address} ${name}`)
    return () => void attempts.pop()
  }
  backend = await openBackend(database)
  vi.spyOn(backend.accounts.limiter, 'attempt').mockImplementation(attempt)
  const users = await backend.definitions.update(SYSTEM, 'users', { updateRule: 'id = @request.auth.id' })
  const account = { email: 'bob@example.com', password: 'the password', passwordConfirm: 'the password' }
  const id = String((await backend.records.create(actor(SYSTEM), 'users', account))['id'])
  const { token } = await logIn(account.email)
  const bob: Actor = actor({ ...(await backend.accounts.principalOf(token))!, address: '10.0.0.1' })
  const input = (oldPassword: string): JsonObject => ({
    password: 'another password',
    passwordConfirm: 'another password',
    oldPassword,
  })
  const operation: BatchOperation = {
    action: 'update',
    collection: 'users',
    id,
    input: input('a guess'),
    request: bob.request,
  }
  const pusher = {
    device: 'a-device-of-bob-1',
    files: new Map(),
    actor: async () => bob,
    count: () => {},
    limitOf: () => undefined,
  }
  const push = (n: number, oldPassword: string): Promise<unknown> => {
    const write = { collection: 'users', action: 'update', id, base: null, values: input(oldPassword) } as const
    return backend.sync.push(pusher, [{ n, writes: [write] }])
  }
  const guess = `10.0.0.1 ${String(users['id'])}:bob@example.com`

  await expect(backend.records.update(bob, 'users', id, input('a guess'))).rejects.toThrow()
  expect(attempts).toEqual([guess])
  await expect(backend.records.batch(bob.principal, [operation], { workMsMax: 60_000 })).rejects.toThrow()
  expect(attempts).toEqual([guess, guess])
  await push(1, 'a guess')
  expect(attempts).toEqual([guess, guess, guess])

  isOver = true
  const refused = { code: 'TOO_MANY_REQUESTS' }
  await expect(backend.records.update(bob, 'users', id, input('the password'))).rejects.toMatchObject(refused)
  await expect(push(2, 'the password')).rejects.toMatchObject(refused)
  isOver = false
  await backend.records.update(bob, 'users', id, input('the password'))
  expect(attempts).toEqual([guess, guess, guess])
})
