/** Goal: a user of a provider gets the right account, and nobody gets another's: found, linked or made as PocketBase does it. */
import type { Database } from 'pannier'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GUEST, SYSTEM } from '../../../src/index.ts'
import type { Actor, Backend, Principal, RecordInput, RecordJson } from '../../../src/index.ts'
import type { HookEvents } from '../../../src/hooks/hook-events.ts'
import type { LoggedIn } from '../../../src/accounts/logins.ts'
import { fakeProvider } from './fake-provider.ts'
import type { FakeProvider } from './fake-provider.ts'
import { openTestBackend } from '../../test-backend.ts'

const PASSWORD = 'the password'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
let database: Database
let backend: Backend
let provider: FakeProvider
let fetched: string[]

beforeEach(async () => {
  fetched = []
  ;({ database, backend } = await openTestBackend({
    fetchPublic: (url) => {
      fetched.push(url)
      return Promise.resolve(url.includes('missing') ? new Response('', { status: 404 }) : new Response(PNG))
    },
  }))
  provider = await fakeProvider({ '/token': { access_token: 'abc', token_type: 'bearer' } })
  await admit()
})

afterEach(async () => {
  await backend.close()
  await database.close()
  await provider[Symbol.asyncDispose]()
})

/** Lets users of the provider log in. `changes`: of the definition. */
async function admit(changes: object = {}, mappedFields: object = {}, options: object = {}): Promise<void> {
  const { url } = provider
  const urls = { authURL: `${url}/auth`, tokenURL: `${url}/token`, userInfoURL: `${url}/user` }
  const one = { name: 'oidc', clientId: 'client', clientSecret: 'a secret', ...urls, ...options }
  const another = { ...one, name: 'oidc2' }
  const oauth2 = { enabled: true, providers: [one, another], mappedFields }
  await backend.definitions.update(SYSTEM, 'users', { authAlert: { enabled: false }, ...changes, oauth2 })
}

function actor(principal: Principal = GUEST): Actor {
  return { principal, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
}

function logIn(user: object, input: object = {}, by: Actor = actor()): Promise<LoggedIn> {
  provider.answers['/user'] = user
  const definition = backend.accounts.authDefinition('users')
  const values = { provider: 'oidc', code: 'code', redirectURL: 'https://example.com', ...input }
  return backend.oauth2.logIn(by, definition, () => Promise.resolve(values)) as Promise<LoggedIn>
}

/** The account that has logged in, and whether it is new. */
async function whoIs(user: object, input: object = {}, by?: Actor): Promise<readonly [id: unknown, isNew: unknown]> {
  const { principal, meta } = await logIn(user, input, by)
  return [principal.account!.record['_id'], meta!['isNew']]
}

async function addUser(email: string, values: RecordInput = {}): Promise<RecordJson> {
  const input = { email, password: PASSWORD, passwordConfirm: PASSWORD, ...values }
  return backend.records.create(actor(SYSTEM), 'users', input)
}

/** `provider/providerId` of all links. */
async function links(): Promise<unknown> {
  const { items } = await backend.records.list(actor(SYSTEM), '_externalAuths', { sort: '@rowid' })
  return items.map((link) => `${String(link['provider'])}/${String(link['providerId'])}/${String(link['recordRef'])}`)
}

async function user(id: unknown): Promise<RecordJson> {
  return backend.records.view(actor(SYSTEM), 'users', String(id))
}

async function knowsPassword(email: string): Promise<boolean> {
  const login = backend.accounts.authWithPassword(actor(), 'users', { identity: email, password: PASSWORD })
  return login.then(
    () => true,
    () => false,
  )
}

async function principalOf(email: string): Promise<Actor> {
  const { principal } = (await backend.accounts.authWithPassword(actor(), 'users', {
    identity: email,
    password: PASSWORD,
  })) as LoggedIn
  return actor(principal)
}

function verified(email: string, sub = 'sub'): object {
  return { sub, email, email_verified: true }
}

test('somebody new gets an account, and the same one at the next login', async () => {
  const [id, isNew] = await whoIs(verified('ann@example.com'))
  expect(isNew).toBe(true)
  expect(await user(id)).toMatchObject({ email: 'ann@example.com', verified: true })
  expect(await whoIs(verified('changed@example.com'))).toEqual([id, false])
  expect(await links()).toEqual([`oidc/sub/${String(id)}`])
})

test('a user without an address gets an account without one', async () => {
  const { fields } = backend.definitions.get('users')
  await admit({ fields: fields.map((field) => (field.name === 'email' ? { ...field, required: false } : field)) })
  const [id] = await whoIs({ sub: 'sub', email: 'not@verified.example', email_verified: false })
  expect(await user(id)).toMatchObject({ email: '', verified: true })
  await whoIs(verified('later@example.com'))
  expect(await user(id)).toMatchObject({ email: 'later@example.com', verified: true })
})

test('a verified account of the same address is linked, and keeps its password and its links', async () => {
  const { id } = await addUser('ann@example.com', { verified: true })
  expect(await whoIs(verified('ann@example.com'))).toEqual([id, false])
  expect(await whoIs(verified('ann@example.com', 'other'), { provider: 'oidc2' })).toEqual([id, false])
  expect(await links()).toEqual([`oidc/sub/${String(id)}`, `oidc2/other/${String(id)}`])
  expect(await knowsPassword('ann@example.com')).toBe(true)
})

test('an account that nobody has verified loses its password and its other links when its owner comes', async () => {
  const { id } = await addUser('ann@example.com')
  const thief = await principalOf('ann@example.com')
  await whoIs(verified('thief@example.com', 'thief'), { provider: 'oidc2' }, thief)
  expect(await links()).toEqual([`oidc2/thief/${String(id)}`])
  expect(await whoIs(verified('ann@example.com'))).toEqual([id, false])
  expect(await links()).toEqual([`oidc/sub/${String(id)}`])
  expect(await knowsPassword('ann@example.com')).toBe(false)
  expect(await user(id)).toMatchObject({ verified: true })
})

test('a linked account that is not verified loses its password and its other links at each login', async () => {
  const { id } = await addUser('ann@example.com')
  const own = await principalOf('ann@example.com')
  await whoIs({ sub: 'sub' }, {}, own)
  expect(await whoIs({ sub: 'sub' })).toEqual([id, false])
  expect(await user(id)).toMatchObject({ verified: false })
  expect(await knowsPassword('ann@example.com')).toBe(false)
  expect(await links()).toEqual([`oidc/sub/${String(id)}`])
})

test('who is logged in links the own account, whatever address the provider tells', async () => {
  const { id } = await addUser('ann@example.com')
  await addUser('bob@example.com')
  const own = await principalOf('ann@example.com')
  expect(await whoIs(verified('bob@example.com'), {}, own)).toEqual([id, false])
  expect(await user(id)).toMatchObject({ email: 'ann@example.com', verified: false })
  expect(await knowsPassword('ann@example.com')).toBe(true)
})

test('a logged in account becomes verified by its own address, and keeps its password', async () => {
  const { id } = await addUser('ann@example.com')
  expect(await whoIs(verified('ann@example.com'), {}, await principalOf('ann@example.com'))).toEqual([id, false])
  expect(await user(id)).toMatchObject({ verified: true })
  expect(await knowsPassword('ann@example.com')).toBe(true)
})

test('a link counts more than who is logged in', async () => {
  const [linked] = await whoIs(verified('ann@example.com'))
  await addUser('bob@example.com')
  expect(await whoIs(verified('ann@example.com'), {}, await principalOf('bob@example.com'))).toEqual([linked, false])
})

test('an account has one link to each provider', async () => {
  await addUser('ann@example.com', { verified: true })
  await whoIs(verified('ann@example.com'))
  await expect(logIn(verified('ann@example.com', 'second'))).rejects.toMatchObject({
    code: 'INVALID',
    message: 'Failed to authenticate.',
  })
  expect(await links()).toHaveLength(1)
})

test('what is left of an account that went by another door is replaced', async () => {
  const [id] = await whoIs(verified('ann@example.com'))
  await backend.definitions.records(backend.definitions.get('users')).delete(String(id))
  const [again, isNew] = await whoIs(verified('ann@example.com'))
  expect([again === id, isNew]).toEqual([false, true])
  expect(await links()).toEqual([`oidc/sub/${String(again)}`])
})

test('twenty first logins at the same time make one account', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => whoIs(verified('ann@example.com'))))
  expect(new Set(all.map(([id]) => id)).size).toBe(1)
  expect(all.filter(([, isNew]) => isNew === true)).toHaveLength(1)
  expect(await links()).toHaveLength(1)
})

test('the rule says who may sign up, and an account that is refused leaves nothing', async () => {
  await admit({ createRule: '@request.context = "oauth2" && @request.body.name = "Ann"' })
  await expect(logIn(verified('ann@example.com'))).rejects.toMatchObject({ message: 'Failed to create record.' })
  expect((await whoIs(verified('ann@example.com'), { createData: { name: 'Ann' } }))[1]).toBe(true)
  await admit({ createRule: null })
  await expect(logIn(verified('bob@example.com', 'bob'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await links()).toHaveLength(1)
})

test('a wrong createData fails as any record does, and nothing is written', async () => {
  const refused = (createData: object): Promise<unknown> =>
    logIn({ sub: 'sub' }, { createData }).catch((error: unknown) => (error as { data: object }).data)
  expect(await refused({ verified: true, email: 'invalid' })).toEqual({
    verified: { code: 'validation_values_mismatch', message: "Values don't match." },
  })
  expect(await refused({ email: 'invalid', avatar: 'invalid' })).toMatchObject({
    email: { code: 'validation_is_email' },
    avatar: { code: 'validation_invalid_file' },
  })
  expect(await links()).toEqual([])
  expect((await backend.records.list(actor(SYSTEM), 'users')).totalItems).toBe(0)
})

test('what the client sends counts more than what the provider tells', async () => {
  await admit({}, { name: 'name' })
  const createData = { email: 'own@example.com', name: 'Own', password: PASSWORD, passwordConfirm: PASSWORD }
  const [id] = await whoIs({ ...verified('told@example.com'), name: 'Told' }, { createData })
  expect(await user(id)).toMatchObject({ email: 'own@example.com', name: 'Own', verified: false })
  expect(await knowsPassword('own@example.com')).toBe(true)
})

test('a password that nobody knows is stored whatever passwords have to be', async () => {
  const { fields } = backend.definitions.get('users')
  await admit({ fields: fields.map((field) => (field.name === 'password' ? { ...field, min: 60 } : field)) })
  const [id] = await whoIs(verified('ann@example.com'))
  const { password } = (await backend.definitions.records(backend.definitions.get('users')).get(String(id)))!
  expect(password).toMatch(/^\$(argon2id|scrypt)\$/)
})

test('mapped fields are filled of a new account only', async () => {
  await admit({}, { id: 'name', avatarURL: 'avatar' })
  const told = { ...verified('ann@example.com'), picture: 'https://example.com/portrait.png?size=1' }
  const [id] = await whoIs(told)
  expect(await user(id)).toMatchObject({
    name: 'sub',
    avatar: expect.stringMatching(/^portrait_\w{10}\.png$/) as string,
  })
  expect(fetched).toEqual(['https://example.com/portrait.png?size=1'])
  await whoIs({ ...told, sub: 'sub', picture: 'https://example.com/other.png' })
  expect(fetched).toHaveLength(1)
})

test('a picture that can not be had, or that the field refuses, is left out', async () => {
  const { fields } = backend.definitions.get('users')
  const small = fields.map((field) => (field.name === 'avatar' ? { ...field, maxSize: 10 } : field))
  await admit({}, { avatarURL: 'avatar' })
  const [id] = await whoIs({ ...verified('ann@example.com'), picture: 'https://example.com/missing.png' })
  expect(await user(id)).toMatchObject({ avatar: '' })
  await admit({ fields: small }, { avatarURL: 'avatar' })
  const [other] = await whoIs({ ...verified('bob@example.com', 'bob'), picture: 'https://example.com/large.png' })
  expect(await user(other)).toMatchObject({ avatar: '' })
})

test('a text field gets the URL of the picture, which nobody fetches', async () => {
  await admit({}, { name: '', avatarURL: 'name' })
  const [id] = await whoIs({ ...verified('ann@example.com'), picture: 'http://127.0.0.1/me.png' })
  expect(await user(id)).toMatchObject({ name: 'http://127.0.0.1/me.png' })
  expect(fetched).toEqual([])
})

test('a username that the field refuses, or that somebody has, is left out', async () => {
  const { fields, indexes } = backend.definitions.get('users')
  const index = 'CREATE UNIQUE INDEX names ON users (username COLLATE nocase)'
  const username = { name: 'username', type: 'text', pattern: '^\\w+$', autogeneratePattern: 'users[0-9]{6}' }
  await admit({ fields: [...fields, username], indexes: [...indexes, index] }, { username: 'username' })
  const names: unknown[] = []
  for (const [at, name] of ['Ann', 'aNN', '!@invalid'].entries()) {
    const [id] = await whoIs({ ...verified(`${at}@example.com`, `sub${at}`), preferred_username: name })
    names.push((await user(id))['username'])
  }
  const generated = expect.stringMatching(/^users\d{6}$/) as string
  expect(names).toEqual(['Ann', generated, generated])
})

test.each(['url', 'email', 'date'])('a username that a field of type %s refuses is left out', async (type) => {
  const { fields } = backend.definitions.get('users')
  await admit({ fields: [...fields, { name: 'site', type }] }, { username: 'site' })
  const [id] = await whoIs({ ...verified('ann@example.com'), preferred_username: 'ann' })
  expect(await user(id)).toMatchObject({ site: '' })
})

test('nobody becomes a superuser', async () => {
  const { url } = provider
  const urls = { authURL: url, tokenURL: `${url}/token`, userInfoURL: `${url}/user` }
  const providers = [{ name: 'oidc', clientId: 'client', clientSecret: 'a secret', ...urls }]
  await backend.definitions.update(SYSTEM, '_superusers', { oauth2: { enabled: true, providers } })
  provider.answers['/user'] = verified('root@example.com')
  const definition = backend.accounts.authDefinition('_superusers')
  const login = backend.oauth2.logIn(actor(), definition, () => Promise.resolve({ provider: 'oidc', code: 'x' }))
  await expect(login).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('where two methods are needed, a login by a provider is one', async () => {
  await admit({ mfa: { enabled: true, duration: 600, rule: '' } })
  const first = await logIn(verified('ann@example.com'))
  expect(first).toEqual({ mfaId: expect.stringMatching(/^[a-z0-9]{15}$/) as string })
  await expect(logIn(verified('ann@example.com'), first)).rejects.toMatchObject({
    message: 'A different authentication method is required.',
  })
})

test('a hook that stops a sign-up leaves nothing', async () => {
  backend.hooks.replace([{ name: 'onRecordCreate', tags: ['users'], handler: () => {}, source: 'test' }])
  await expect(logIn(verified('ann@example.com'))).rejects.toMatchObject({ message: 'Failed to authenticate.' })
  expect(await links()).toEqual([])
})

test('the client learns what the provider says', async () => {
  provider.answers['/token'] = { access_token: 'abc', refresh_token: 'def', expires_in: 3600 }
  const { meta } = await logIn({ ...verified('ann@example.com'), name: 'Ann', more: 1 })
  expect(meta).toMatchObject({
    accessToken: 'abc',
    refreshToken: 'def',
    avatarURL: '',
    avatarUrl: '',
    email: 'ann@example.com',
    id: 'sub',
    isNew: true,
    name: 'Ann',
    username: '',
    rawUser: { sub: 'sub', more: 1 },
    expiry: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z$/) as string,
  })
  expect(Object.keys(meta!)).toEqual(Object.keys(meta!).toSorted())
})

test('a hook gives createData values of a program: a date, bytes, an instance; what a field can not take is refused', async () => {
  const { fields } = backend.definitions.get('users')
  const added = ['date', 'json', 'file'].map((type) => ({ name: `my${type}`, type }))
  await admit({ fields: [...fields, ...added] })
  const time = new Date('2026-05-06T07:08:09Z')
  const signUp = async (sub: string, data: object): Promise<Readonly<Record<string, unknown>>> => {
    const handler = (e: HookEvents['onRecordAuthWithOAuth2Request'] & { next(): Promise<void> }): Promise<void> => {
      Object.assign(e.createData, data)
      return e.next()
    }
    backend.hooks.replace([
      { name: 'onRecordAuthWithOAuth2Request', tags: ['users'], handler: handler as never, source: 'test' },
    ])
    return (await logIn(verified(`${sub}@example.com`, sub))).principal.account!.record
  }
  const instance = new (class {
    at = time
  })()
  const stored = await signUp('one', { mydate: time, myjson: instance, myfile: new TextEncoder().encode('abc') })
  expect(stored).toMatchObject({
    mydate: '2026-05-06 07:08:09.000Z',
    myjson: { at: '2026-05-06T07:08:09.000Z' },
    myfile: expect.stringMatching(/\w/),
  })
  expect(await signUp('two', { myfile: new File(['abc'], 'a.txt') })).toMatchObject({
    myfile: expect.stringMatching(/^a\w+\.txt$/),
  })
  await expect(signUp('three', { mydate: instance })).rejects.toMatchObject({ code: 'INVALID' })
  await expect(signUp('four', { myjson: { f: () => 1 } })).rejects.toMatchObject({ code: 'INVALID' })
  expect((await backend.records.list(actor(SYSTEM), 'users', {})).items).toHaveLength(2)
})
