/** Goal: who has read a mail can do what it is for, once, and nobody else can; unknown addresses look like known ones. */
import type { Database } from 'pannier'
import type { VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MailServer, tokenIn } from '../../../../tools/test/mail-server.ts'
import type { ReceivedMail } from '../../../../tools/test/mail-server.ts'
import { GUEST, openBackend, ServiceError, SYSTEM } from '../../src/index.ts'
import type { Actor, Backend, Principal } from '../../src/index.ts'
import { WorkQueue } from '../../src/gateway/work-queue.ts'
import type { JsonObject } from '../../src/internal.ts'
import type { AuthDefinition } from '../../src/definitions/definition.ts'
import type { LoggedIn } from '../../src/accounts/logins.ts'
import { openTestBackend, passwords } from '../test-backend.ts'

const PASSWORD = 'the password'
let database: Database
let backend: Backend
let server: MailServer
let environment: VirtualEnvironment

beforeEach(async () => {
  server = await MailServer.start()
  ;({ environment, database, backend } = await openTestBackend())
  await backend.settings.update(SYSTEM, server.settings as never)
  await backend.definitions.update(SYSTEM, 'users', { otp: { enabled: true } })
  await addUser('ann', 'ann@example.com')
})

afterEach(async () => {
  await backend.close()
  await database.close()
  await server[Symbol.asyncDispose]()
})

async function start(): Promise<void> {
  backend = await openBackend(database)
}

function users(): AuthDefinition {
  return backend.definitions.get('users') as AuthDefinition
}

async function addUser(id: string, email: string): Promise<void> {
  const account = { email, emailVisibility: false, verified: false, name: '', avatar: '', created: '', updated: '' }
  const secrets = { password: await passwords.hash(PASSWORD), tokenKey: `${id}${'k'.repeat(40)}` }
  await backend.definitions.records(users()).insert({ ...account, ...secrets, _id: id })
}

async function user(id = 'ann'): Promise<JsonObject> {
  return (await backend.definitions.records(users()).get(id))!
}

function actor(principal: Principal = GUEST, agent = 'agent', address = '10.0.0.1'): Actor {
  const request = { context: 'default', method: 'POST', query: {}, headers: { user_agent: agent } }
  return { principal: { ...principal, address }, request }
}

async function logIn(identity = 'ann@example.com', by = actor(), password = PASSWORD): Promise<LoggedIn> {
  return (await backend.accounts.authWithPassword(by, 'users', { identity, password })) as LoggedIn
}

async function data(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ServiceError)) throw new Error('It has not failed.', { cause: error })
  return error.data === undefined
    ? error.message
    : Object.fromEntries(Object.entries(error.data).map(([name, { code }]) => [name, code]))
}

async function referring(collection: string): Promise<readonly JsonObject[]> {
  return backend.definitions.records(backend.definitions.get(collection)).find({}).toArray()
}

function otpIn({ parsed }: ReceivedMail): string {
  return /\b\d{8}\b/.exec(parsed.text ?? '')![0]
}

async function askOtp(email = 'ann@example.com'): Promise<{ readonly otpId: string; readonly password: string }> {
  const before = server.mails.length
  const otpId = await backend.accounts.oneTimePasswords.request(users(), { email })
  const password = otpIn(await server.received(before + 1))
  const sentTo = async (): Promise<unknown> => (await referring('_otps')).find(({ _id }) => _id === otpId)?.['sentTo']
  await environment.idle()
  expect(await sentTo()).toBe(email)
  return { otpId, password }
}

test('an address is verified by the token of its mail, and a second mail comes after a pause only', async () => {
  const { verification } = backend.accounts
  const email = 'ann@example.com'
  await verification.request(users(), { email })
  const mail = await server.received(1)
  expect(mail.parsed).toMatchObject({ subject: 'Verify your Acme email' })
  await verification.request(users(), { email })
  await environment.advance(121_000)
  await verification.request(users(), { email })
  await server.received(2)
  await verification.confirm(users(), { token: tokenIn(mail) })
  expect((await user())['verified']).toBe(true)
  await verification.confirm(users(), { token: tokenIn(mail) })
  await verification.request(users(), { email })
  await backend.close()
  expect(server.mails.length).toBe(2)
  await start()
})

test('a request for an address that no account has keeps back no mail of the account that is made next', async () => {
  const { verification, passwordReset } = backend.accounts
  const email = 'bob@example.com'
  await passwordReset.request(users(), { email })
  await verification.request(users(), { email })
  await addUser('bob', email)
  await passwordReset.request(users(), { email })
  await verification.request(users(), { email })
  await server.received(2)
  await passwordReset.request(users(), { email })
  await backend.close()
  expect(server.mails.flatMap(({ recipients }) => recipients)).toEqual([email, email])
  await start()
})

test('a token is good for its own purpose, collection, address and time', async () => {
  const { verification, passwordReset, emailChange } = backend.accounts
  await backend.definitions.create(SYSTEM, { name: 'clients', type: 'auth' })
  const clients = backend.definitions.get('clients') as AuthDefinition
  await verification.request(users(), { email: 'ann@example.com' })
  const token = tokenIn(await server.received(1))
  const { token: login } = await logIn()
  const reset = { password: 'another one', passwordConfirm: 'another one' }
  expect(await data(verification.confirm(users(), { token: '' }))).toEqual({ token: 'validation_required' })
  expect(await data(verification.confirm(users(), { token: login }))).toEqual({
    token: 'validation_invalid_token_claims',
  })
  expect(await data(verification.confirm(clients, { token }))).toEqual({
    token: 'validation_token_collection_mismatch',
  })
  expect(await data(passwordReset.confirm(users(), { token, ...reset }))).toEqual({ token: 'validation_invalid_token' })
  expect(await data(emailChange.confirm(actor(), users(), { token, password: PASSWORD }))).toEqual({
    token: 'validation_invalid_token_payload',
    password: 'validation_invalid_password',
  })
  expect(await backend.accounts.principalOf(token)).toBe(undefined)
  environment.jump(86_400_000)
  expect(await data(verification.confirm(users(), { token }))).toEqual({ token: 'validation_invalid_token' })
  environment.jump(-86_400_000)
  await backend.definitions.records(users()).update('ann', (old) => ({ ...old, email: 'new@example.com' }))
  expect(await data(verification.confirm(users(), { token }))).toEqual({ token: 'validation_token_email_mismatch' })
})

test('a forgotten password is replaced once, which ends all logins and verifies the address', async () => {
  const { passwordReset } = backend.accounts
  const { token: login } = await logIn()
  await passwordReset.request(users(), { email: 'ann@example.com' })
  const token = tokenIn(await server.received(1))
  const form = (password: string): JsonObject => ({ token, password, passwordConfirm: password })
  expect(await data(passwordReset.confirm(users(), { token, password: 'short', passwordConfirm: 'x' }))).toEqual({
    password: 'validation_length_out_of_range',
    passwordConfirm: 'validation_values_mismatch',
  })
  expect(await data(passwordReset.confirm(users(), form('x'.repeat(72))))).toEqual({
    password: 'validation_max_text_constraint',
  })
  const both = await Promise.allSettled(
    ['the first one', 'the second one'].map((one) => passwordReset.confirm(users(), form(one))),
  )
  expect(both.map(({ status }) => status).toSorted((one, other) => one.localeCompare(other))).toEqual([
    'fulfilled',
    'rejected',
  ])
  const chosen = both[0]!.status === 'fulfilled' ? 'the first one' : 'the second one'
  expect((await user())['verified']).toBe(true)
  expect(await backend.accounts.principalOf(login)).toBe(undefined)
  await logIn('ann@example.com', actor(), chosen)
  expect(await data(logIn())).toBe('Failed to authenticate.')
  expect(await data(passwordReset.confirm(users(), form('the third one')))).toEqual({
    token: 'validation_invalid_token',
  })
})

test('another address is proven by its mail and the password, whose guesses are counted', async () => {
  await backend.close()
  const attempts: string[] = []
  const attempt = (address: string, name: string) => {
    attempts.push(`${address} ${name}`)
    return () => void attempts.pop()
  }
  backend = await openBackend(database)
  vi.spyOn(backend.accounts.limiter, 'attempt').mockImplementation(attempt)
  const { emailChange } = backend.accounts
  await addUser('bob', 'bob@example.com')
  const { principal } = await logIn()
  const holder = backend.accounts.accountOf(actor(principal), 'users')
  expect(await data(emailChange.request(holder, {}))).toEqual({ newEmail: 'validation_required' })
  expect(await data(emailChange.request(holder, { newEmail: 'x' }))).toEqual({ newEmail: 'validation_is_email' })
  expect(await data(emailChange.request(holder, { newEmail: 'ann@example.com' }))).toEqual({
    newEmail: 'validation_not_in_invalid',
  })
  expect(await data(emailChange.request(holder, { newEmail: 'bob@example.com' }))).toEqual({
    newEmail: 'validation_invalid_new_email',
  })
  await emailChange.request(holder, { newEmail: 'new@example.com' })
  await emailChange.request(holder, { newEmail: 'new@example.com' })
  const mail = await server.received(1)
  expect(mail.recipients).toEqual(['new@example.com'])
  const token = tokenIn(mail)
  expect(await data(emailChange.confirm(actor(), users(), { token, password: 'wrong' }))).toEqual({
    password: 'validation_invalid_password',
  })
  expect(attempts).toEqual([`10.0.0.1 ${users().id}:ann@example.com`])
  await addUser('carol', 'new@example.com')
  expect(await data(emailChange.confirm(actor(), users(), { token, password: PASSWORD }))).toMatchObject({
    token: 'validation_invalid_token_email',
  })
  await backend.definitions.records(users()).delete('carol')
  await emailChange.confirm(actor(), users(), { token, password: PASSWORD })
  expect(await user()).toMatchObject({ email: 'new@example.com', verified: true })
  expect(await data(emailChange.confirm(actor(), users(), { token, password: PASSWORD }))).toMatchObject({
    token: 'validation_invalid_token',
  })
  for (let n = 0; n < 9; n++) await emailChange.request(holder, { newEmail: `stranger${n}@example.com` })
  await backend.close()
  expect(server.mails.length).toBeLessThanOrEqual(6)
  const recipients = server.mails.flatMap((one) => one.recipients)
  expect(new Set(recipients).size).toBe(recipients.length)
  await start()
})

test('superusers have no verification and no change of address by mail', async () => {
  const superusers = backend.definitions.get('_superusers') as AuthDefinition
  const { verification, emailChange } = backend.accounts
  expect(await data(verification.request(superusers, {}))).toBe('All superusers are verified by default.')
  expect(await data(emailChange.confirm(actor(), superusers, {}))).toBe(
    'All superusers can change their emails directly.',
  )
})

test('a one-time password logs in once, also of two logins at the same time, and verifies the address', async () => {
  const { otpId, password } = await askOtp()
  const stored = (await referring('_otps'))[0]!
  expect(stored['password']).toMatch(/^\$argon2id\$/)
  expect(JSON.stringify(stored)).not.toContain(password)
  const logins = await Promise.allSettled(
    [1, 2, 3].map(() => backend.accounts.authWithOtp(actor(), 'users', { otpId, password })),
  )
  expect(logins.filter(({ status }) => status === 'fulfilled').length).toBe(1)
  expect((await user())['verified']).toBe(true)
  // Somebody who signed up with this address before can't log in any more.
  expect(await data(logIn())).toBe('Failed to authenticate.')
  expect(await data(backend.accounts.authWithOtp(actor(), 'users', { otpId, password }))).toBe('Invalid or expired OTP')
})

test('a one-time password expires, and is for its collection', async () => {
  await backend.definitions.create(SYSTEM, { name: 'clients', type: 'auth', otp: { enabled: true } })
  const { otpId, password } = await askOtp()
  const wrong = 'Invalid or expired OTP'
  expect(await data(backend.accounts.authWithOtp(actor(), 'clients', { otpId, password }))).toBe(wrong)
  await environment.advance(180_000)
  expect(await data(backend.accounts.authWithOtp(actor(), 'users', { otpId, password }))).toBe(wrong)
  expect((await referring('_otps')).length).toBe(1)
  backend.schedules.run(SYSTEM, '__pbOTPCleanup__')
  await environment.idle()
  expect(await referring('_otps')).toEqual([])
})

test('after five tries an account gets no other for three minutes, and a password dies of ten from everywhere', async () => {
  const { otpId, password } = await askOtp()
  const attempt = (id: string, guess: string, address?: string): Promise<unknown> =>
    data(backend.accounts.authWithOtp(actor(GUEST, 'agent', address), 'users', { otpId: id, password: guess }))
  for (let n = 0; n < 5; n++) expect(await attempt(otpId, '00000000')).toBe('Invalid or expired OTP')
  expect(await attempt(otpId, password)).toMatch(/^Too many attempts/)
  for (let n = 0; n < 6; n++) await attempt(otpId, '00000000', `10.0.1.${n}`)
  expect(await attempt(otpId, password, '10.0.2.1')).toBe('Invalid or expired OTP')
})

test('an address that nobody has gets one-time passwords that behave as others do', async () => {
  const { oneTimePasswords } = backend.accounts
  const request = (email: string): Promise<string> => oneTimePasswords.request(users(), { email })
  const outcomes = async (email: string): Promise<readonly unknown[]> => {
    const ids: string[] = []
    for (let n = 0; n < 12; n++) ids.push(await request(email))
    const tries: unknown[] = []
    for (let n = 0; n < 7; n++) {
      const input = { otpId: ids[n % 3]!, password: 'x' }
      tries.push(await data(backend.accounts.authWithOtp(actor(), 'users', input)))
    }
    return [
      new Set(ids).size,
      ids.slice(10).map((id) => ids.indexOf(id)),
      ids.every((id) => /^[a-z0-9]{15}$/.test(id)),
      tries,
    ]
  }
  const known = await outcomes('ann@example.com')
  expect(await outcomes('nobody@example.com')).toEqual(known)
  expect(known.slice(0, 3)).toEqual([10, [9, 9], true])
})

test('requests for unknown addresses do the work of those for known ones', async () => {
  const hashes = vi.spyOn(WorkQueue.prototype, 'run')
  const transactions = vi.spyOn(database, 'transaction')
  const reads = vi.spyOn(Object.getPrototypeOf(database.collection('x')) as { find: () => unknown }, 'find')
  const counts = (): number[] => [hashes, transactions, reads].map(({ mock }) => mock.calls.length)
  const work = async (email: string): Promise<readonly number[]> => {
    const before = counts()
    await backend.accounts.oneTimePasswords.request(users(), { email })
    await backend.accounts.verification.request(users(), { email })
    await backend.accounts.passwordReset.request(users(), { email })
    return counts().map((count, place) => count - before[place]!)
  }
  const ofKnown = await work('ann@example.com')
  expect(ofKnown.slice(0, 2)).toEqual([1, 3])
  expect(await work('nobody@example.com')).toEqual(ofKnown)
  for (const spy of [hashes, transactions, reads]) spy.mockRestore()
  await server.received(3)
  await backend.close()
  expect(server.mails.map(({ recipients }) => recipients.join(','))).toEqual(Array(3).fill('ann@example.com'))
  await start()
})

test('where two methods are needed, a password and a one-time password together log in', async () => {
  await backend.definitions.update(SYSTEM, 'users', { mfa: { enabled: true } })
  const half = (await backend.accounts.authWithPassword(actor(), 'users', {
    identity: 'ann@example.com',
    password: PASSWORD,
  })) as unknown as { readonly mfaId: string }
  const { otpId, password } = await askOtp()
  const { token } = (await backend.accounts.authWithOtp(actor(), 'users', { otpId, password, ...half })) as LoggedIn
  expect(await backend.accounts.principalOf(token)).toMatchObject({ name: 'users:ann' })
  // The address is verified, and the password is still known.
  expect((await user())['verified']).toBe(true)
  expect(await passwords.verify(String((await user())['password']), PASSWORD)).toBe(true)
  expect(await referring('_mfas')).toEqual([])
})

test('a login from a second place sends a mail, one from a known place does not', async () => {
  await logIn()
  await logIn()
  await logIn('ann@example.com', actor(GUEST, '<script>Firefox'))
  const { parsed } = await server.received(1)
  expect(parsed.subject).toBe('Login from a new location')
  expect(parsed.text).toContain('2026-11-22 12:00:00.000Z - 10.0.0.1 <script>Firefox')
  expect(parsed.html).toContain('&lt;script&gt;Firefox')
  await logIn('ann@example.com', actor(GUEST, '<script>Firefox'))
  for (let n = 0; n < 6; n++) await logIn('ann@example.com', actor(GUEST, `agent ${n}`))
  await server.received(7)
  expect((await referring('_authOrigins')).length).toBe(5)
  await backend.definitions.update(SYSTEM, 'users', { authAlert: { enabled: false } })
  await logIn('ann@example.com', actor(GUEST, 'another'))
  await backend.close()
  expect(server.mails.length).toBe(7)
  await start()
})

test('logins from two new places at the same time send one mail at least', async () => {
  await Promise.all([logIn('ann@example.com', actor(GUEST, 'one')), logIn('ann@example.com', actor(GUEST, 'two'))])
  await server.received(1)
  expect((await referring('_authOrigins')).length).toBe(2)
})

test('ids that nobody has made are only wrong', async () => {
  for (const otpId of ['_design/x', '__proto__', '../x', 'ä', '\u0000', 'a'.repeat(255)])
    expect(await data(backend.accounts.authWithOtp(actor(), 'users', { otpId, password: 'x' }))).toBe(
      'Invalid or expired OTP',
    )
  await backend.definitions.update(SYSTEM, 'users', { mfa: { enabled: true } })
  for (const mfaId of ['_design/x', '__proto__', '\u0000', 'a'.repeat(5000)])
    expect(
      await data(
        backend.accounts.authWithPassword(actor(), 'users', { identity: 'ann@example.com', password: PASSWORD, mfaId }),
      ),
    ).toBe('Invalid or expired MFA session.')
})
