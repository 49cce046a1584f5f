/** Goal: each way to sign in works with a real server, and sessions end where they should. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { MailServer } from '../../../tools/test/mail-server.ts'
import {
  browse,
  CLIENT_ID,
  CLIENT_SECRET,
  startOidcProvider,
  type OidcProvider,
} from '../../server/test/rest/oidc-provider.ts'
import { EMAIL, PASSWORD, tokenFor } from '../../server/test/rest/rest-server.ts'
import { until } from '../../server/test/test-server.ts'
import { ClientError } from '../src/index.ts'
import { AppServer, USER_PASSWORD, type User } from './app-server.ts'
import { Device, seen, type AppClient } from './device.ts'

let app: AppServer
let mails: MailServer
let provider: OidcProvider
let bob: User
let cid: User
let device: Device
let client: AppClient

beforeAll(async () => {
  app = await AppServer.start()
  mails = await MailServer.start()
  provider = await startOidcProvider([`${app.url}/api/oauth2-redirect`])
  const { url } = provider
  const urls = { authURL: `${url}/auth`, tokenURL: `${url}/token`, userInfoURL: `${url}/me` }
  const providers = [{ name: 'oidc', clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...urls }]
  await set('users', { oauth2: { enabled: true, providers }, otp: { enabled: true }, authAlert: { enabled: false } })
  const smtp = { enabled: true, host: '127.0.0.1', port: mails.port, tls: false }
  expect(await app.call('PATCH /settings', { smtp })).toMatchObject({ status: 200 })
  bob = await app.addUser('bob')
  cid = await app.addUser('cid')
  // A one-time password verifies the address of an account. Then a password from before counts no more.
  for (const { id } of [bob, cid]) await app.call(`PATCH /collections/users/records/${id}`, { verified: true })
})
beforeEach(async () => {
  app.isDown = false
  device = new Device(app)
  client = await device.open()
  return async () => {
    await client.close()
    await set('users', { mfa: { enabled: false } })
  }
})
afterAll(async () => {
  await provider[Symbol.asyncDispose]()
  await mails[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

async function set(collection: string, options: object): Promise<void> {
  const { status, text } = await app.call(`PATCH /collections/${collection}`, options)
  expect([status, text]).toEqual([200, expect.anything()])
}

/** The last password for once that an address has got. */
async function mailed(email: string, before: number): Promise<string> {
  await until(() => mails.mails.filter(({ recipients }) => recipients.includes(email)).length > before)
  const { parsed } = mails.mails.findLast(({ recipients }) => recipients.includes(email))!
  return /\b\d{8}\b/.exec(parsed.text!)![0]
}

const mailsOf = (email: string): number => mails.mails.filter(({ recipients }) => recipients.includes(email)).length

test('a one-time password signs in, once', async () => {
  const before = mailsOf(bob.email)
  const otpId = await client.signIn.requestOneTimePassword('users', bob.email)
  const password = await mailed(bob.email, before)
  await expect(client.signIn.oneTimePassword('users', otpId, '00000000')).rejects.toMatchObject({
    code: 'PANNIER_PEER_REFUSED',
  })
  expect(await client.signIn.oneTimePassword('users', otpId, password)).toMatchObject({ id: bob.id })
  await client.sync()
  expect([client.account?.id, client.state.status]).toEqual([bob.id, 'synced'])
  await expect(client.signIn.oneTimePassword('users', otpId, password)).rejects.toBeInstanceOf(ClientError)
})

/** The token of the link in the last mail that an address has got. */
async function linked(email: string, before: number): Promise<string> {
  await until(() => mailsOf(email) > before)
  const { parsed } = mails.mails.findLast(({ recipients }) => recipients.includes(email))!
  return /[\w-]+\.[\w-]+\.[\w-]+/.exec(parsed.text!.replaceAll('=\n', ''))![0]
}

test('somebody signs up, verifies the address, and sets a new password, by the client alone', async () => {
  const email = 'new@example.com'
  await expect(client.signIn.up('users', { email: 'no address', password: 'a first password' })).rejects.toMatchObject({
    code: 'PANNIER_PEER_REFUSED',
    message: expect.stringMatching(/^Failed to create record\. email: Must be /) as string,
    details: { email: expect.anything() as object },
  })
  const account = await client.signIn.up('users', { email, password: 'a first password', name: 'Nora' })
  expect(client.account).toMatchObject({ id: account.id, email, name: 'Nora', verified: false })
  let before = mailsOf(email)
  await client.signIn.requestVerification('users', email)
  await client.signIn.confirmVerification('users', await linked(email, before))
  before = mailsOf(email)
  await client.signOut()
  await client.signIn.requestPasswordReset('users', email)
  const token = await linked(email, before)
  await client.signIn.confirmPasswordReset('users', token, 'another password')
  await expect(client.signIn.confirmPasswordReset('users', token, 'a third one')).rejects.toBeInstanceOf(ClientError)
  await expect(client.signIn.password('users', email, 'a first password')).rejects.toMatchObject({
    code: 'PANNIER_PEER_REFUSED',
  })
  expect(await client.signIn.password('users', email, 'another password')).toMatchObject({ verified: true })
  await client.signIn.requestPasswordReset('users', 'nobody@example.com')
})

test('a session that began elsewhere is taken up, also by a superuser, who has what no rule shows', async () => {
  const token = await tokenFor(app.url, 'users', bob.email, USER_PASSWORD)
  expect(await client.signIn.token('users', token)).toMatchObject({ id: bob.id })
  await expect(client.signIn.token('users', `${token}x`)).rejects.toBeInstanceOf(ClientError)
  const id = await app.add('reports', { text: 'hidden', status: 'new' })
  const root = await tokenFor(app.url, '_superusers', EMAIL, PASSWORD)
  await client.signIn.token('_superusers', root)
  await client.sync()
  expect(await client.collection('reports').get(id)).toMatchObject({ text: 'hidden' })
  const write = client.collection('reports').update(id, { text: 'of root' })
  await client.sync()
  expect(await write.server).toEqual({ status: 'ok' })
  await client.signOut({ data: 'wipe' })
  // The one who has begun the session still has it.
  await client.signIn.token('_superusers', root)
})

test('two ways are needed: the first fails with MFA, and the second signs in', async () => {
  await set('users', { mfa: { enabled: true, duration: 600 } })
  const error: unknown = await client.signIn
    .password('users', bob.email, USER_PASSWORD)
    .catch((failed: unknown) => failed)
  expect(error).toMatchObject({ code: 'PANNIER_MFA_NEEDED', details: { mfaId: expect.any(String) } })
  expect(client.account).toBeUndefined()
  const { mfaId } = (error as ClientError).details as { readonly mfaId: string }
  // The same way again is no second one.
  await expect(client.signIn.password('users', bob.email, USER_PASSWORD, { mfaId })).rejects.toBeInstanceOf(ClientError)
  const before = mailsOf(bob.email)
  const otpId = await client.signIn.requestOneTimePassword('users', bob.email)
  const password = await mailed(bob.email, before)
  expect(await client.signIn.oneTimePassword('users', otpId, password, { mfaId })).toMatchObject({ id: bob.id })
  await client.sync()
})

test('another service signs in where there are no windows, and its tokens are not kept on the device', async () => {
  await expect(client.signIn.oauth2('users', 'oidc')).rejects.toMatchObject({
    code: 'PANNIER_SIGN_IN_FAILED',
    message: /Give "open"/,
  })
  const account = await client.signIn.oauth2('users', 'oidc', {
    open: (url) => void browse(url),
    createData: { name: 'Ann' },
  })
  expect(account).toMatchObject({ email: 'ann@example.com', name: 'Ann' })
  await client.sync()
  expect(client.account?.id).toBe(account.id)
  await client.close()
  const kept = JSON.stringify(await device.documents(`users-${account.id}`))
  expect(kept).toContain(account.id)
  expect(kept).not.toMatch(/accessToken|refreshToken|"meta"/)
  client = await device.open()
  expect(client.account?.id).toBe(account.id)
})

test('an unknown provider, and a user who gives up, fail', async () => {
  const open = (): void => {}
  await expect(client.signIn.oauth2('users', 'google', { open })).rejects.toMatchObject({
    code: 'PANNIER_SIGN_IN_FAILED',
  })
  const own = new Error('no browser on this device')
  for (const failing of [
    () => Promise.reject(own),
    () => {
      throw own
    },
  ])
    await expect(client.signIn.oauth2('users', 'oidc', { open: failing })).rejects.toBe(own)
  const signal = AbortSignal.timeout(50)
  await expect(client.signIn.oauth2('users', 'oidc', { open, signal })).rejects.toMatchObject({ message: /given up/ })
  await expect(client.signIn.passkey('users')).rejects.toMatchObject({ code: 'PANNIER_SIGN_IN_FAILED' })
})

/** A device with passkeys, as a browser offers it. Each question waits for `answer`. */
class PasskeyDevice {
  readonly signals: (AbortSignal | undefined)[] = []
  readonly answer = Promise.withResolvers<unknown>()

  constructor() {
    const options = (json: unknown): unknown => json
    vi.stubGlobal('PublicKeyCredential', {
      parseRequestOptionsFromJSON: options,
      parseCreationOptionsFromJSON: options,
    })
    const ask = ({ signal }: { signal?: AbortSignal }): Promise<unknown> => {
      this.signals.push(signal)
      return this.answer.promise
    }
    vi.stubGlobal('navigator', { credentials: { get: ask, create: ask } })
  }
}

describe('a passkey that is cancelled', () => {
  const reason = new Error('the user went back')
  let keys: PasskeyDevice
  let cancel: AbortController

  beforeEach(async () => {
    await set('users', { passkey: { enabled: true } })
    await client.signIn.password('users', bob.email, USER_PASSWORD)
    keys = new PasskeyDevice()
    cancel = new AbortController()
    return () => void vi.unstubAllGlobals()
  })
  const calls = {
    passkey: () => client.signIn.passkey('users', { signal: cancel.signal }),
    addPasskey: () => client.signIn.addPasskey('phone', { signal: cancel.signal }),
  }
  const names = ['passkey', 'addPasskey'] as const
  const cancelled = { code: 'PANNIER_ABORTED', cause: reason }

  test.each(names)('%s() with an aborted signal asks no device', async (name) => {
    cancel.abort(reason)
    await expect(calls[name]()).rejects.toMatchObject(cancelled)
    expect(keys.signals).toEqual([])
  })

  test.each(names)('%s() gives the signal to the device, and ends before the device answers', async (name) => {
    const asked = calls[name]()
    await until(() => keys.signals.length === 1)
    cancel.abort(reason)
    await expect(asked).rejects.toMatchObject(cancelled)
    expect(keys.signals[0]?.aborted).toBe(true)
  })

  test.each(names)('%s() sends nothing of a device that answers too late', async (name) => {
    const sent = vi.spyOn(globalThis, 'fetch')
    const asked = calls[name]()
    await until(() => keys.signals.length === 1)
    cancel.abort(reason)
    await expect(asked).rejects.toMatchObject(cancelled)
    sent.mockClear()
    keys.answer.resolve({ toJSON: () => ({ id: 'late' }) })
    await new Promise(setImmediate)
    expect(sent.mock.calls.filter(([, options]) => options?.signal?.aborted !== true)).toEqual([])
    sent.mockRestore()
  })
})

test('signing out ends the session at the server', async () => {
  await client.signIn.password('users', bob.email, USER_PASSWORD)
  const { token } = client
  expect((await app.call('POST /sync/pull', { collections: { projects: null } }, token)).status).toBe(200)
  await client.signOut()
  expect((await app.call('POST /sync/pull', { collections: { projects: null } }, token)).status).toBe(401)
  expect([client.account, client.token]).toEqual([undefined, undefined])
})

test('a session that was ended elsewhere keeps what waits, and sends it after signing in again', async () => {
  const project = await app.add('projects', { name: 'house', members: [bob.id] })
  await client.signIn.password('users', bob.email, USER_PASSWORD)
  await client.sync()
  await client.collection('tasks').create({ title: 'waits', project })
  const elsewhere = await tokenFor(app.backendUrl, 'users', bob.email, USER_PASSWORD)
  const path = `/collections/users/records/${bob.id}/sessions`
  expect((await app.call(`DELETE ${path}`, undefined, elsewhere)).status).toBe(204)
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_SIGNED_OUT' })
  expect([client.state.status, client.state.unsent, client.account?.id]).toEqual(['signedOut', 1, bob.id])
  await client.signIn.password('users', bob.email, USER_PASSWORD)
  await client.sync()
  expect([client.state.status, client.state.unsent]).toEqual(['synced', 0])
})

test('what one user of a device has not sent is sent by nobody else', async () => {
  const project = await app.add('projects', { name: 'house', members: [bob.id, cid.id] })
  await client.signIn.password('users', bob.email, USER_PASSWORD)
  await client.sync()
  const { id } = await client.collection('tasks').create({ title: 'of bob', project })
  await client.signIn.password('users', cid.email, USER_PASSWORD)
  await client.sync()
  expect([client.account?.id, client.state.unsent]).toEqual([cid.id, 0])
  expect((await seen(client, 'tasks')).has(id)).toBe(false)
  expect((await app.listed('tasks', cid)).has(id)).toBe(false)
  await client.signIn.password('users', bob.email, USER_PASSWORD)
  expect(client.state.unsent).toBe(1)
  await client.sync()
  expect((await app.listed('tasks', cid)).get(id)).toMatchObject({ title: 'of bob' })
})
