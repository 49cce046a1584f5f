/** Goal: PocketBase's client logs in by a real provider of OpenID Connect, and the routes answer as PocketBase's do. */
import { generateKeyPairSync } from 'node:crypto'
import { EventSource } from 'eventsource'
import type { HookEvents, HookHandler } from '@pannier/backend/internal'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import type PocketBase from 'pocketbase'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { browse, CLIENT_ID, CLIENT_SECRET, startOidcProvider } from './oidc-provider.ts'
import type { OidcProvider } from './oidc-provider.ts'
import { EventClient } from './event-client.ts'
import { failure, PASSWORD, sdkClient, startRest } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

const APP = 'http://app.example/back'
let server: RestServer
let provider: OidcProvider

beforeAll(async () => {
  vi.stubGlobal('EventSource', EventSource)
  server = await startRest()
  provider = await startOidcProvider([`${server.url}/api/oauth2-redirect`, APP])
  const { url } = provider
  const urls = { authURL: `${url}/auth`, tokenURL: `${url}/token`, userInfoURL: `${url}/me` }
  const oidc = { name: 'oidc', clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...urls }
  const extra = { jwksURL: `${url}/jwks`, issuers: [url] }
  const oidc2 = { ...oidc, name: 'oidc2', userInfoURL: '', extra }
  const oauth2 = {
    enabled: true,
    providers: [oidc, oidc2, { ...oidc2, name: 'oidc3', extra: { ...extra, issuers: ['x'] } }],
  }
  await server.call('PATCH /collections/users', { oauth2, authAlert: { enabled: false } })
})
afterAll(async () => {
  await provider[Symbol.asyncDispose]()
  await server.close()
  vi.unstubAllGlobals()
})

function client(): PocketBase {
  return sdkClient(server.url)
}

/** Goes to the provider as an app does, with a URL of its own. */
async function codeFor(
  made: PocketBase,
  name: string,
): Promise<{ readonly code: string; readonly codeVerifier: string }> {
  const { oauth2 } = await made.collection('users').listAuthMethods()
  const { authURL, codeVerifier, state } = oauth2.providers.find((one) => one.name === name)!
  const { searchParams } = new URL(await browse(authURL + encodeURIComponent(APP), APP))
  expect(searchParams.get('state')).toBe(state)
  return { code: searchParams.get('code')!, codeVerifier }
}

test('a hook sees the user of the provider, and gives values to a new account', async () => {
  const { hooks } = server.server.backend
  const seen: unknown[] = []
  const handler: HookHandler<HookEvents['onRecordAuthWithOAuth2Request']> = (e) => {
    seen.push(e.providerName, e.oAuth2User['username'], e.collection.name, e.record?.id, e.isNewRecord)
    e.createData['name'] = 'Set by a hook'
    return e.next()
  }
  hooks.replace([{ name: 'onRecordAuthWithOAuth2Request', handler, tags: ['users'], source: 'hooks/test.ts:1' }])
  const made = client()
  const { code, codeVerifier } = await codeFor(made, 'oidc')
  const { record } = await made.collection('users').authWithOAuth2Code('oidc', code, codeVerifier, APP)
  expect([seen.splice(0), record['name']]).toEqual([['oidc', 'ann', 'users', undefined, true], 'Set by a hook'])
  const again = client()
  const code2 = await codeFor(again, 'oidc')
  await again.collection('users').authWithOAuth2Code('oidc', code2.code, code2.codeVerifier, APP)
  hooks.replace([])
  expect(seen).toEqual(['oidc', 'ann', 'users', record.id, false])
  await server.call(`DELETE /collections/users/records/${record.id}`)
})

test('all in one: the client opens the provider, and is logged in', async () => {
  const first = client()
  const pages: string[] = []
  const { meta, record } = await first.collection('users').authWithOAuth2({
    provider: 'oidc',
    createData: { emailVisibility: true },
    urlCallback: async (url) => void pages.push(await browse(url, `${server.url}/_/`)),
  })
  expect(pages).toEqual([`${server.url}/_/#/auth/oauth2-redirect-success`])
  expect(meta).toMatchObject({ isNew: true, id: 'ann-at-the-provider', username: 'ann', email: 'ann@example.com' })
  expect(record).toMatchObject({ name: 'Ann', email: 'ann@example.com', verified: true, emailVisibility: true })
  expect(first.authStore.isValid).toBe(true)
  const again = await client()
    .collection('users')
    .authWithOAuth2({ provider: 'oidc', urlCallback: async (url) => void (await browse(url, `${server.url}/_/`)) })
  expect([again.record.id, again.meta!['isNew']]).toEqual([record.id, false])
})

test('with a code: the app gets it at a URL of its own, and it counts once', async () => {
  const made = client()
  const { code, codeVerifier } = await codeFor(made, 'oidc')
  const users = made.collection('users')
  const wrong = await failure(
    users.authWithOAuth2Code('oidc', code, 'another verifier that is long enough, as it has to be', APP),
  )
  expect([wrong.status, wrong.response['message']]).toEqual([400, 'Failed to fetch OAuth2 token.'])
  const { code: fresh, codeVerifier: verifier } = await codeFor(made, 'oidc')
  expect((await users.authWithOAuth2Code('oidc', fresh, verifier, APP)).meta!['isNew']).toBe(false)
  expect((await failure(users.authWithOAuth2Code('oidc', fresh, verifier, APP))).status).toBe(400)
  expect((await failure(users.authWithOAuth2Code('oidc', code, codeVerifier, 'http://other.example'))).status).toBe(400)
  const filter = encodeURIComponent('message ~ "OAuth2 token"')
  await server.server.backend.logs.flush()
  const { json } = await server.call(`GET /logs?filter=${filter}`)
  expect((json['items'] as unknown[])[0]).toMatchObject({ data: { provider: 'oidc' } })
})

test('an id_token that the provider signs is enough; one of another issuer is not', async () => {
  const made = client()
  const { code, codeVerifier } = await codeFor(made, 'oidc2')
  const login = await made.collection('users').authWithOAuth2Code('oidc2', code, codeVerifier, APP)
  expect(login.meta).toMatchObject({
    id: 'ann-at-the-provider',
    email: 'ann@example.com',
    rawUser: { iss: provider.url },
  })
  const other = await codeFor(made, 'oidc3')
  const refused = await failure(
    made.collection('users').authWithOAuth2Code('oidc3', other.code, other.codeVerifier, APP),
  )
  expect(refused.response['message']).toBe('Failed to fetch OAuth2 user.')
})

test('an account lists its links and unlinks one; others see none', async () => {
  const made = client()
  const { code, codeVerifier } = await codeFor(made, 'oidc')
  const { record } = await made.collection('users').authWithOAuth2Code('oidc', code, codeVerifier, APP)
  const own = await made.collection('users').listExternalAuths(record.id)
  expect(own.map((link) => link['provider'] as string).toSorted()).toEqual(['oidc', 'oidc2'])
  expect(await client().collection('users').listExternalAuths(record.id)).toEqual([])
  expect((await failure(client().collection('users').unlinkExternalAuth(record.id, 'oidc'))).status).toBe(404)
  expect(await made.collection('users').unlinkExternalAuth(record.id, 'oidc')).toBe(true)
  expect(await made.collection('users').listExternalAuths(record.id)).toHaveLength(1)
})

test('the redirect tells only a client that waits for it, once, and says whether it has a code', async () => {
  const events = await EventClient.open(server.url)
  const { id } = events
  const redirect = async (query: string, init: RequestInit = {}): Promise<readonly [number, string]> => {
    const response = await fetch(`${server.url}/api/oauth2-redirect${query}`, { redirect: 'manual', ...init })
    expect(await response.text()).toBe('')
    return [response.status, response.headers.get('location')!.replace('../_/#/auth/oauth2-redirect-', '')]
  }
  const waiting = (): Promise<unknown> => events.subscribe(['@oauth2', 'users/*'])
  expect(await redirect(`?code=1&state=${id}`)).toEqual([307, 'failure'])
  await waiting()
  expect(await redirect('?code=1')).toEqual([307, 'failure'])
  expect(await redirect('?code=1&state=missing')).toEqual([307, 'failure'])
  expect(await redirect(`?state=${id}`)).toEqual([307, 'failure'])
  await waiting()
  expect(await redirect(`?error=denied&code=2&state=${id}`)).toEqual([307, 'failure'])
  await waiting()
  const form = new URLSearchParams({ code: '3', state: id, user: '{"name":{"firstName":"Ann"}}' })
  expect(await redirect('', { method: 'POST', body: form })).toEqual([303, 'success'])
  expect(await redirect('', { method: 'POST', body: form })).toEqual([303, 'failure'])
  expect(await redirect('', { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } })).toEqual([
    303,
    'failure',
  ])
  expect((await fetch(`${server.url}/api/oauth2-redirect?code=1&state=${id}`, { method: 'HEAD' })).status).toBe(404)
  await events.has(3)
  expect(events.messages.map(({ event, data }) => [event, data])).toEqual([
    ['@oauth2', { state: id, code: '' }],
    ['@oauth2', { state: id, code: '2', error: 'denied' }],
    ['@oauth2', { state: id, code: '3' }],
  ])
  events.close()
})

test('a login says what is wrong with it', async () => {
  const login = async (body: unknown, collection = 'users'): Promise<unknown> => {
    const { status, json } = await server.call(`POST /collections/${collection}/auth-with-oauth2`, body, '')
    return { ...json, status }
  }
  expect(await login({ provider: 'missing' })).toEqual({
    status: 400,
    message: 'An error occurred while loading the submitted data.',
    data: {
      code: { code: 'validation_required', message: 'Cannot be blank.' },
      provider: {
        code: 'validation_invalid_provider',
        message: 'Provider with name missing is missing or is not enabled.',
        params: { name: 'missing' },
      },
    },
  })
  expect(await login({ provider: 'apple', code: 'x' })).toMatchObject({
    data: { provider: expect.anything() as object },
  })
  expect(await login({ provider: 1 })).toMatchObject({ status: 400, data: {} })
  expect(await login({ provider: 'oidc', code: 'x', createData: [] })).toMatchObject({ status: 400, data: {} })
  expect(await login({}, '_superusers')).toMatchObject({
    status: 403,
    message: 'The collection is not configured to allow OAuth2 authentication.',
  })
  expect(await login({}, 'missing')).toMatchObject({ status: 404 })
})

test('a superuser makes the secret that Apple wants', async () => {
  const ask = (body: unknown, token?: string) => server.call('POST /settings/apple/generate-client-secret', body, token)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const right = { clientId: '123', teamId: '1234567890', keyId: '1234567891', privateKey: pem, duration: 1 }
  const { status, json } = await ask(right)
  expect(status).toBe(200)
  const secret = String(json['secret'])
  expect(decodeProtectedHeader(secret)).toEqual({ alg: 'ES256', kid: '1234567891', typ: 'JWT' })
  const { iat, exp, ...claims } = decodeJwt(secret)
  expect([claims, exp! - iat!]).toEqual([{ iss: '1234567890', sub: '123', aud: ['https://appleid.apple.com'] }, 1])
  const wrong = { clientId: '', teamId: '123456789', keyId: '123456789', privateKey: 'invalid', duration: -1 }
  expect((await ask(wrong)).json).toMatchObject({
    message: 'Invalid client secret data.',
    data: {
      clientId: { code: 'validation_required' },
      teamId: { code: 'validation_length_invalid' },
      keyId: { code: 'validation_length_invalid' },
      privateKey: { code: 'validation_match_invalid' },
      duration: { code: 'validation_min_greater_equal_than_required' },
    },
  })
  const broken = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'
  expect((await ask({ ...right, privateKey: broken })).status).toBe(400)
  expect((await ask(right, '')).status).toBe(401)
  await server.call('POST /collections/users/records', {
    email: 'u@example.com',
    password: PASSWORD,
    passwordConfirm: PASSWORD,
  })
  const { json: login } = await server.call(
    'POST /collections/users/auth-with-password',
    { identity: 'u@example.com', password: PASSWORD },
    '',
  )
  expect((await ask(right, String(login['token']))).status).toBe(403)
})
