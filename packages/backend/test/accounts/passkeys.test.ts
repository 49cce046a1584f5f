/** Goal: a passkey logs in its account, once for each challenge, from pages of the application, and nobody else. */
import type { Database } from 'pannier'
import type { VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GUEST, SYSTEM } from '../../src/index.ts'
import type { Actor, Backend, Principal } from '../../src/index.ts'
import type { JsonObject } from '../../src/internal.ts'
import type { AuthDefinition } from '../../src/definitions/definition.ts'
import type { HalfLoggedIn, LoggedIn } from '../../src/accounts/logins.ts'
import { PasskeyDevice } from './passkey-device.ts'
import { openTestBackend } from '../test-backend.ts'

const MINUTE_MS = 60_000
const ORIGIN = 'http://localhost:8090'
const PASSWORD = 'the password'
let database: Database
let backend: Backend
let environment: VirtualEnvironment

beforeEach(async () => {
  ;({ environment, database, backend } = await openTestBackend())
  await backend.definitions.update(SYSTEM, 'users', { passkey: { enabled: true } })
  for (const id of ['ann', 'bob']) await addUser(id)
})

afterEach(async () => {
  await backend.close()
  await database.close()
})

async function addUser(id: string): Promise<void> {
  const account = { id: idOf(id), email: `${id}@example.com`, password: PASSWORD, passwordConfirm: PASSWORD }
  await backend.records.create(actor(SYSTEM), 'users', account)
}

function idOf(name: string): string {
  return `${name}123456789012345`.slice(0, 15)
}

function actor(principal: Principal = GUEST): Actor {
  return { principal, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
}

function users(): AuthDefinition {
  return backend.definitions.get('users') as AuthDefinition
}

async function logIn(name = 'ann'): Promise<Actor> {
  const input = { identity: `${name}@example.com`, password: PASSWORD }
  const { principal } = (await backend.accounts.authWithPassword(actor(), 'users', input)) as LoggedIn
  return actor(principal)
}

async function register(me: Actor, device: PasskeyDevice, lie?: object, name = 'Phone'): Promise<string> {
  const { accounts } = backend
  const holder = accounts.accountOf(me, 'users')
  const id = String(holder.record['_id'])
  const options = (await accounts.passkeyOptions(me, 'users', id)) as unknown as JsonObject
  const input = { name, response: device.register(options, lie) }
  return (await accounts.addPasskey(me, 'users', id, input)).id
}

async function optionsOfLogin(): Promise<JsonObject> {
  return (await backend.accounts.passkeys.loginOptions(users())) as unknown as JsonObject
}

function answer(response: JsonObject, more: object = {}): Promise<LoggedIn | HalfLoggedIn> {
  return backend.accounts.authWithPasskey(actor(), 'users', { response, ...more })
}

const FAILED = { code: 'INVALID', message: 'Failed to authenticate.' }

/** Ann, with a passkey. */
async function annWithDevice(): Promise<{ me: Actor; device: PasskeyDevice; id: string }> {
  const [me, device] = [await logIn(), new PasskeyDevice(ORIGIN)]
  return { me, device, id: await register(me, device) }
}

test('an account registers a passkey and logs in with it, without a name and with one', async () => {
  const { me, device, id } = await annWithDevice()
  const login = (await answer(device.logIn(await optionsOfLogin()))) as LoggedIn
  expect(login.principal).toMatchObject({ name: `users:${idOf('ann')}` })
  expect(await backend.accounts.principalOf(login.token)).toBeDefined()
  await answer(device.logIn(await optionsOfLogin()), { identity: 'ann@example.com' })
  await expect(answer(device.logIn(await optionsOfLogin()), { identity: 'bob@example.com' })).rejects.toMatchObject(
    FAILED,
  )
  await expect(answer(device.logIn(await optionsOfLogin()), { identity: 'nobody' })).rejects.toMatchObject(FAILED)
  const account = await backend.accounts.ownAccount(me, 'users', idOf('ann'))
  expect(await backend.accounts.passkeys.list(account)).toEqual([
    { id, name: 'Phone', synced: false, created: '2026-11-22 12:00:00.000Z', used: '2026-11-22 12:00:00.000Z' },
  ])
  const sessions = await backend.accounts.sessions(me, 'users', idOf('ann'))
  expect(sessions.map(({ method }) => method)).toContain('passkey')
})

test('options of a login are the same for everybody: they name no account and no passkey', async () => {
  await annWithDevice()
  const { challenge, ...options } = await optionsOfLogin()
  expect(challenge).toMatch(/^[\w-]{72}$/)
  expect(options).toEqual({ rpId: 'localhost', timeout: 300_000, userVerification: 'required' })
})

test.each([
  ['of another page', { origin: 'http://localhost:8091' }],
  ['of another site', { origin: 'https://evil.example', rpID: 'evil.example' }],
  ['for another site', { rpID: 'example.com' }],
  ['of a registration', { type: 'webauthn.create' }],
  ['without a check of the person', { userVerified: false }],
  ['for another account', { userHandle: 'Ym9i' }],
  ['that says nobody', { userHandle: '' }],
])('an answer %s logs nobody in', async (_, lie) => {
  const { device } = await annWithDevice()
  await expect(answer(device.logIn(await optionsOfLogin(), lie))).rejects.toMatchObject(FAILED)
})

test.each([
  ['of another page', { origin: 'http://localhost:8091' }],
  ['for another site', { rpID: 'example.com' }],
  ['of a login', { type: 'webauthn.get' }],
  ['without a check of the person', { userVerified: false }],
])('an answer %s registers nothing', async (_, lie) => {
  await expect(register(await logIn(), new PasskeyDevice(ORIGIN), lie)).rejects.toMatchObject({
    code: 'INVALID',
    message: 'The passkey can not be registered.',
  })
})

test('an answer counts once, for five minutes, also when it is sent twice at the same time', async () => {
  const { device } = await annWithDevice()
  const response = device.logIn(await optionsOfLogin())
  const both = await Promise.allSettled([answer(response), answer(response)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await expect(answer(response)).rejects.toMatchObject(FAILED)
  const late = device.logIn(await optionsOfLogin())
  environment.jump(5 * MINUTE_MS)
  await expect(answer(late)).rejects.toMatchObject(FAILED)
})

test('a challenge is for what it was made for: not of a registration, of another account, of another server or changed', async () => {
  const { me, device } = await annWithDevice()
  const bob = await logIn('bob')
  const optionsOf = async (one: Actor): Promise<JsonObject> =>
    (await backend.accounts.passkeyOptions(
      one,
      'users',
      String(backend.accounts.accountOf(one, 'users').record['_id']),
    )) as unknown as JsonObject
  const options = await optionsOf(me)
  await expect(answer(device.logIn({ rpId: 'localhost', challenge: options['challenge'] }))).rejects.toMatchObject(
    FAILED,
  )
  const response = new PasskeyDevice(ORIGIN).register(await optionsOf(bob))
  await expect(backend.accounts.addPasskey(me, 'users', idOf('ann'), { name: 'x', response })).rejects.toMatchObject({
    code: 'INVALID',
  })
  const { challenge } = (await optionsOfLogin()) as { challenge: string }
  const changed = `${challenge.startsWith('A') ? 'B' : 'A'}${challenge.slice(1)}`
  for (const wrong of ['', 'AAAA', `${challenge}A`, changed, 'A'.repeat(72)])
    await expect(answer(device.logIn({ rpId: 'localhost', challenge: wrong }))).rejects.toMatchObject(FAILED)
})

test('a key that counts nothing, as those that devices share, logs in again and again', async () => {
  const { device } = await annWithDevice()
  for (let n = 0; n < 3; n++) await answer(device.logIn(await optionsOfLogin(), { counter: 0 }))
})

test('a copy of a key is found out by its count', async () => {
  const { device } = await annWithDevice()
  await answer(device.logIn(await optionsOfLogin(), { counter: 7 }))
  for (const counter of [7, 3, 0])
    await expect(answer(device.logIn(await optionsOfLogin(), { counter }))).rejects.toMatchObject(FAILED)
  await answer(device.logIn(await optionsOfLogin(), { counter: 8 }))
  const responses = [await optionsOfLogin(), await optionsOfLogin()].map((options) =>
    device.logIn(options, { counter: 9 }),
  )
  const both = await Promise.allSettled(responses.map((response) => answer(response)))
  expect(both.filter(({ status }) => status === 'fulfilled').length).toBe(1)
})

test('a passkey of one account opens no other one, no other collection, and no account made again with its id', async () => {
  const { device, id } = await annWithDevice()
  const bob = await logIn('bob')
  const account = await backend.accounts.ownAccount(bob, 'users', idOf('bob'))
  expect(await backend.accounts.passkeys.list(account)).toEqual([])
  for (const work of [
    () => backend.accounts.passkeys.delete(account, id),
    () => backend.accounts.passkeys.rename(account, id, { name: 'mine' }),
    () => backend.accounts.addPasskey(bob, 'users', idOf('ann'), {}),
    () => backend.accounts.ownAccount(bob, 'users', idOf('ann')),
  ])
    await expect(work()).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await backend.definitions.create(SYSTEM, { name: 'others', type: 'auth', passkey: { enabled: true } })
  const response = device.logIn(await optionsOfLogin())
  await expect(backend.accounts.authWithPasskey(actor(), 'others', { response })).rejects.toMatchObject(FAILED)
  await backend.records.delete(actor(SYSTEM), 'users', idOf('ann'))
  await addUser('ann')
  await expect(answer(device.logIn(await optionsOfLogin()))).rejects.toMatchObject(FAILED)
  expect((await database.collection('$passkeys').info()).documents).toBe(0)
})

test('a passkey is renamed and deleted, by its account or a superuser', async () => {
  const { device, id } = await annWithDevice()
  const { passkeys } = backend.accounts
  const account = await backend.accounts.ownAccount(actor(SYSTEM), 'users', idOf('ann'))
  expect(await passkeys.rename(account, id, { name: 'Old phone' })).toMatchObject({ id, name: 'Old phone' })
  await expect(passkeys.rename(account, id, { name: '' })).rejects.toMatchObject({ code: 'INVALID' })
  await passkeys.delete(account, id)
  await expect(passkeys.delete(account, id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(answer(device.logIn(await optionsOfLogin()))).rejects.toMatchObject(FAILED)
})

test('it takes a login of the last ten minutes to register one, and an impersonation does not count', async () => {
  const me = await logIn()
  environment.jump(10 * MINUTE_MS)
  await register(me, new PasskeyDevice(ORIGIN))
  const made = new PasskeyDevice(ORIGIN)
  const early = (await backend.accounts.passkeyOptions(me, 'users', idOf('ann'))) as unknown as JsonObject
  environment.jump(1)
  const late = { code: 'FORBIDDEN', message: 'Log in again: a passkey takes a login of the last ten minutes.' }
  await expect(register(me, new PasskeyDevice(ORIGIN))).rejects.toMatchObject(late)
  const input = { name: 'Phone', response: made.register(early) }
  await expect(backend.accounts.addPasskey(me, 'users', idOf('ann'), input)).rejects.toMatchObject(late)
  const { principal } = await backend.accounts.impersonate(actor(SYSTEM), 'users', idOf('ann'), 100)
  await expect(backend.accounts.passkeyOptions(actor(principal), 'users', idOf('ann'))).rejects.toMatchObject(late)
  await expect(backend.accounts.addPasskey(actor(principal), 'users', idOf('ann'), input)).rejects.toMatchObject(late)
  await expect(register(actor(principal), new PasskeyDevice(ORIGIN))).rejects.toMatchObject(late)
})

test('a device registers once, and an account has 20 passkeys', async () => {
  const { me, device } = await annWithDevice()
  await expect(register(me, device)).rejects.toMatchObject({ message: 'The passkey is registered already.' })
  for (let count = 1; count < 20; count++) await register(me, new PasskeyDevice(ORIGIN))
  await expect(register(me, new PasskeyDevice(ORIGIN))).rejects.toMatchObject({
    message: 'An account has at most 20 passkeys.',
  })
})

test('somebody who proves the address of an account that was not verified takes it over without passkeys of before', async () => {
  const { device } = await annWithDevice()
  await backend.records.update(actor(SYSTEM), 'users', idOf('ann'), { verified: true })
  await expect(answer(device.logIn(await optionsOfLogin()))).rejects.toMatchObject(FAILED)
})

test('with two methods a passkey is one of them', async () => {
  await backend.definitions.update(SYSTEM, 'users', { mfa: { enabled: true } })
  const { mfaId } = await backend.accounts
    .authWithPassword(actor(), 'users', { identity: 'ann@example.com', password: PASSWORD })
    .then((login) => login as HalfLoggedIn)
  await backend.definitions.update(SYSTEM, 'users', { mfa: { enabled: false } })
  const { device } = await annWithDevice()
  await backend.definitions.update(SYSTEM, 'users', { mfa: { enabled: true } })
  const half = (await answer(device.logIn(await optionsOfLogin()))) as HalfLoggedIn
  expect(half.mfaId).toMatch(/^[a-z0-9]{15}$/)
  const whole = (await answer(device.logIn(await optionsOfLogin()), { mfaId })) as LoggedIn
  expect(await backend.accounts.principalOf(whole.token)).toBeDefined()
})

test('a collection without the option has no passkeys, and says nothing of them', async () => {
  const { device } = await annWithDevice()
  const response = device.logIn(await optionsOfLogin())
  await backend.definitions.update(SYSTEM, 'users', { passkey: { enabled: false } })
  const off = { code: 'FORBIDDEN', message: 'The collection is not configured to allow passkey authentication.' }
  await expect(answer(response)).rejects.toMatchObject(off)
  await expect(optionsOfLogin()).rejects.toMatchObject(off)
  expect(backend.definitions.get('_superusers')).not.toHaveProperty('passkey')
})

test.each([[undefined], ['text'], [{}], [{ id: 'x' }], [{ id: 'x', response: {} }], [{ id: 1, response: {} }]])(
  'no answer of a device is refused: %j',
  async (response) => {
    await expect(answer(response as JsonObject)).rejects.toMatchObject({ code: 'INVALID' })
    const { device } = await annWithDevice()
    const whole = device.logIn(await optionsOfLogin())
    const broken = { ...whole, response: response as unknown }
    await expect(answer(broken)).rejects.toMatchObject({ code: 'INVALID' })
  },
)
