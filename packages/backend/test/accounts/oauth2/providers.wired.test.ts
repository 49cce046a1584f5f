/** Goal: each provider is asked as it wants to be, and what it answers is read right. Nobody is let in by an answer that is not. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { virtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { externalUser } from '../../../src/accounts/oauth2/external-user.ts'
import { presentProviders, providerOf } from '../../../src/accounts/oauth2/provider.ts'
import type { Provider } from '../../../src/accounts/oauth2/provider.ts'
import { fetchTokens } from '../../../src/accounts/oauth2/provider-requests.ts'
import { knownProvider, listProviders } from '../../../src/definitions/oauth2-providers.ts'
import { authScaffold } from '../../../src/definitions/scaffolds.ts'
import type { AuthDefinition, ProviderOptions } from '../../../src/definitions/definition.ts'
import { fakeProvider } from './fake-provider.ts'
import type { FakeProvider } from './fake-provider.ts'

const NOW = Date.UTC(2026, 10, 23)
const CODE = { code: 'the code', codeVerifier: 'the verifier', redirectURL: 'https://example.com/back' }
const chance = virtualEnvironment()
let fake: FakeProvider

beforeEach(async () => {
  fake = await fakeProvider({ '/token': { access_token: 'abc' } })
})
afterEach(() => fake[Symbol.asyncDispose]())

function definition(name: string, options: Partial<ProviderOptions> = {}): AuthDefinition {
  const none = { displayName: '', pkce: null, extra: null, authURL: '', tokenURL: '', userInfoURL: '' }
  const one = { ...none, name, clientId: 'my client', clientSecret: 'my:secret', ...options }
  const auth = authScaffold(chance)
  return { ...auth, oauth2: { ...auth.oauth2, enabled: true, providers: [one] } }
}

/** A provider whose URLs lead to the fake one. */
function provider(name: string, options: Partial<ProviderOptions> = {}): Provider {
  const { url } = fake
  const urls = { authURL: `${url}/auth`, tokenURL: `${url}/token`, userInfoURL: name === 'apple' ? '' : `${url}/user` }
  return providerOf(definition(name, { ...urls, ...options }), name)!
}

function now(ms = 60_000): { signal: AbortSignal; nowMs: number } {
  return { signal: AbortSignal.timeout(ms), nowMs: NOW }
}

async function userOf(of: Provider): Promise<unknown> {
  const { raw: _, ...user } = await externalUser(of, await fetchTokens(of, CODE, now()), now())
  return Object.fromEntries(Object.entries(user).filter(([, text]) => text !== ''))
}

/** What a provider says, and how that is read. */
const ANSWERS: Readonly<Record<string, readonly [answer: object, user: object]>> = {
  google: [
    { sub: '1', name: 'Ann', picture: 'p', email: 'a@b.c', email_verified: true },
    { id: '1', name: 'Ann', avatarURL: 'p', email: 'a@b.c' },
  ],
  microsoft: [
    { id: '1', displayName: 'Ann', mail: 'a@b.c' },
    { id: '1', name: 'Ann', email: 'a@b.c' },
  ],
  yandex: [
    {
      id: '1',
      real_name: 'Ann',
      login: 'ann',
      default_email: 'a@b.c',
      default_avatar_id: '7/8',
      is_avatar_empty: false,
    },
    {
      id: '1',
      name: 'Ann',
      username: 'ann',
      email: 'a@b.c',
      avatarURL: 'https://avatars.yandex.net/get-yapic/7/8/islands-200',
    },
  ],
  facebook: [
    { id: '1', name: 'Ann', email: 'a@b.c', picture: { data: { url: 'p' } } },
    { id: '1', name: 'Ann', email: 'a@b.c', avatarURL: 'p' },
  ],
  instagram2: [
    { id: 'app', user_id: '17841405793187218', username: 'ann', name: 'Ann', profile_picture_url: 'p' },
    { id: '17841405793187218', username: 'ann', name: 'Ann', avatarURL: 'p' },
  ],
  gitlab: [
    { id: 1, name: 'Ann', username: 'ann', email: 'a@b.c', avatar_url: 'p', confirmed_at: '2020-01-02T03:04:05Z' },
    { id: '1', name: 'Ann', username: 'ann', email: 'a@b.c', avatarURL: 'p' },
  ],
  gitee: [
    { id: 1, login: 'ann', name: 'Ann', email: 'a@b.cd', avatar_url: 'p' },
    { id: '1', name: 'Ann', username: 'ann', email: 'a@b.cd', avatarURL: 'p' },
  ],
  discord: [
    { id: '1', global_name: null, username: 'ann', avatar: 'hash', email: 'a@b.c', verified: true },
    {
      id: '1',
      name: 'ann',
      username: 'ann',
      avatarURL: 'https://cdn.discordapp.com/avatars/1/hash.png',
      email: 'a@b.c',
    },
  ],
  twitter: [
    { data: { id: '1', name: 'Ann', username: 'ann', profile_image_url: 'p', confirmed_email: 'a@b.c' } },
    { id: '1', name: 'Ann', username: 'ann', avatarURL: 'p', email: 'a@b.c' },
  ],
  kakao: [
    {
      id: 1,
      properties: { nickname: 'ann', profile_image: 'p' },
      kakao_account: { email: 'a@b.c', is_email_valid: true, is_email_verified: true },
    },
    { id: '1', username: 'ann', avatarURL: 'p', email: 'a@b.c' },
  ],
  vk: [
    { response: [{ id: 1, first_name: 'Ann', last_name: '', screen_name: 'ann', photo_max: 'p' }] },
    { id: '1', name: 'Ann', username: 'ann', avatarURL: 'p', email: 'of@token.example' },
  ],
  linear: [
    { data: { viewer: { id: '1', displayName: 'ann', name: 'Ann', email: 'a@b.c', avatarUrl: 'p', active: true } } },
    { id: '1', name: 'Ann', username: 'ann', email: 'a@b.c', avatarURL: 'p' },
  ],
  notion: [
    { id: 'bot', bot: { owner: { user: { id: '1', name: 'Ann', avatar_url: 'p', person: { email: 'a@b.c' } } } } },
    { id: '1', name: 'Ann', avatarURL: 'p', email: 'a@b.c' },
  ],
  monday: [
    { data: { me: { id: '1', enabled: true, name: 'Ann', email: 'a@b.c', is_verified: true, photo_small: 'p' } } },
    { id: '1', name: 'Ann', email: 'a@b.c', avatarURL: 'p' },
  ],
  lark: [{ data: { union_id: '1', name: 'Ann', avatar_url: 'p' } }, { id: '1', name: 'Ann', avatarURL: 'p' }],
  box: [
    { id: '1', name: 'Ann', login: 'a@b.c', avatar_url: 'p', status: 'active' },
    { id: '1', name: 'Ann', email: 'a@b.c', avatarURL: 'p' },
  ],
  spotify: [
    { id: '1', display_name: 'Ann', images: [{ url: 'p' }], email: 'not@verified.example' },
    { id: '1', name: 'Ann', avatarURL: 'p' },
  ],
  trakt: [
    { user: { username: 'ann', name: 'Ann', ids: { slug: 's', uuid: '1' }, images: { avatar: { full: 'p' } } } },
    { id: '1', name: 'Ann', username: 'ann', avatarURL: 'p' },
  ],
  twitch: [
    { data: [{ id: '1', login: 'ann', display_name: 'Ann', email: 'a@b.c', profile_image_url: 'p' }] },
    { id: '1', name: 'Ann', username: 'ann', email: 'a@b.c', avatarURL: 'p' },
  ],
  patreon: [
    {
      data: {
        id: '1',
        attributes: { full_name: 'Ann', vanity: 'ann', email: 'a@b.c', image_url: 'p', is_email_verified: true },
      },
    },
    { id: '1', name: 'Ann', username: 'ann', email: 'a@b.c', avatarURL: 'p' },
  ],
  strava: [
    { id: 1, firstname: 'Ann', lastname: 'Other', username: 'ann', profile: 'p' },
    { id: '1', name: 'Ann Other', username: 'ann', avatarURL: 'p' },
  ],
  wakatime: [
    {
      data: {
        id: '1',
        display_name: 'Ann',
        username: 'ann',
        email: 'a@b.c',
        is_email_confirmed: true,
        photo: 'p',
        photo_public: false,
      },
    },
    { id: '1', name: 'Ann', username: 'ann', email: 'a@b.c' },
  ],
  livechat: [
    { account_id: '1', name: 'Ann', email: 'a@b.c', email_verified: true, avatar_url: 'p' },
    { id: '1', name: 'Ann', email: 'a@b.c', avatarURL: 'p' },
  ],
  mailcow: [
    { id: '1', username: 'ann@b.c', email: 'ann@b.c', full_name: 'Ann', active: 1 },
    { id: '1', name: 'Ann', username: 'ann', email: 'ann@b.c' },
  ],
  planningcenter: [
    { data: { id: '1', attributes: { status: 'active', name: 'Ann', avatar: 'p' } } },
    { id: '1', name: 'Ann', avatarURL: 'p' },
  ],
  oidc: [
    { sub: '1', name: 'Ann', preferred_username: 'ann', picture: 'p', email: 'a@b.c', email_verified: 'true' },
    { id: '1', name: 'Ann', username: 'ann', avatarURL: 'p', email: 'a@b.c' },
  ],
}

for (const [name, [answer, expected]] of Object.entries(ANSWERS))
  test(`${name}: an answer about a user is read`, async () => {
    fake.answers['/token'] = { access_token: 'abc', email: 'of@token.example', permissions: ['one'] }
    fake.answers['/user'] = answer
    expect(await userOf(provider(name))).toEqual(expected)
  })

test('the address that a provider has not verified does not count', async () => {
  for (const [name, change] of [
    ['google', { email_verified: false }],
    ['oidc', { email_verified: 'unverified' }],
    ['discord', { verified: false }],
    ['gitlab', { confirmed_at: null }],
    ['livechat', { email_verified: null }],
  ] as const) {
    fake.answers['/user'] = { ...ANSWERS[name]![0], ...change }
    expect([name, await userOf(provider(name))]).not.toEqual([name, expect.objectContaining({ email: 'a@b.c' })])
  }
})

test('GitHub and others tell addresses by another question', async () => {
  const emails = [
    { email: 'first@b.c', verified: false, primary: true, is_primary: true, is_confirmed: false },
    { email: 'a@b.c', verified: true, primary: true, is_primary: true, is_confirmed: true },
  ]
  const user = { id: 1, uuid: 'u', login: 'ann', active: true, account_status: 'active', email: 'not@verified.example' }
  fake.answers['/user'] = user
  for (const name of ['github', 'gitea', 'bitbucket']) {
    fake.answers['/user/emails'] = name === 'bitbucket' ? { values: emails } : emails
    expect([name, await userOf(provider(name))]).toEqual([name, expect.objectContaining({ email: 'a@b.c' })])
    fake.answers['/user/emails'] = () => ({ status: 403, body: {} })
    expect(await userOf(provider(name))).not.toHaveProperty('email')
  }
})

test('users who are not active, or have no id, can not log in', async () => {
  for (const [name, answer] of Object.entries({
    bitbucket: { uuid: '1', account_status: 'inactive' },
    box: { id: '1', status: 'inactive' },
    gitea: { id: 1, active: false },
    linear: { data: { viewer: { id: '1' } } },
    mailcow: { id: '1', active: 0 },
    monday: { data: { me: { id: '1', enabled: false } } },
    planningcenter: { data: { id: '1', attributes: { status: 'inactive' } } },
    github: {},
    oidc: { sub: '' },
    gitlab: { id: ['1'] },
    strava: { id: null },
    // No other number is equal to it in JavaScript, except its neighbours.
    vk: { response: [{ id: 2 ** 53 }] },
  })) {
    fake.answers['/user'] = answer
    await expect(userOf(provider(name)), name).rejects.toThrow(/not active|who the user is/)
  }
})

test('a list is no address', async () => {
  fake.answers['/user'] = { sub: '1', email: ['a@b.c'], email_verified: true }
  expect(((await userOf(provider('oidc'))) as { email?: string }).email).toBeUndefined()
})

test('Linear and monday.com are asked in GraphQL, others with headers of their own', async () => {
  for (const name of ['linear', 'monday', 'notion', 'trakt', 'twitch']) {
    fake.answers['/user'] = ANSWERS[name]![0]
    await userOf(provider(name))
  }
  const asked = fake.asked.filter(({ path }) => path === '/user')
  expect(asked.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET', 'GET', 'GET'])
  expect(JSON.parse(asked[0]!.body)).toEqual({ query: expect.stringContaining('viewer') as string })
  expect(asked[2]!.headers['notion-version']).toBe('2022-06-28')
  expect([asked[3]!.headers['trakt-api-key'], asked[4]!.headers['client-id']]).toEqual(['my client', 'my client'])
  expect(asked.every(({ headers }) => headers.authorization === 'Bearer abc')).toBe(true)
})

test('a code goes with the verifier and the secret, in the header first', async () => {
  const oidc = provider('oidc')
  await fetchTokens(oidc, CODE, now())
  const [{ headers, body }] = fake.asked as [FakeProvider['asked'][number]]
  expect(headers.authorization).toBe(`Basic ${Buffer.from('my%20client:my%3Asecret').toString('base64')}`)
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
    grant_type: 'authorization_code',
    code: 'the code',
    code_verifier: 'the verifier',
    redirect_uri: 'https://example.com/back',
  })
})

test('a provider that reads the secret from the body gets it there, from the second login on at once', async () => {
  fake.answers['/token'] = ({ body }) =>
    body.includes('client_secret')
      ? { body: { access_token: 'abc' } }
      : { status: 401, body: { error: 'invalid_client' } }
  const oidc = provider('oidc')
  await fetchTokens(oidc, CODE, now())
  await fetchTokens(oidc, CODE, now())
  expect(fake.asked.map(({ body }) => body.includes('client_secret'))).toEqual([false, true, true])
})

test('tokens are read from JSON and from a form', async () => {
  fake.answers['/token'] = () => ({ type: 'text/plain', body: 'access_token=abc&expires_in=60&token_type=bearer' })
  expect(await fetchTokens(provider('oidc'), CODE, now())).toMatchObject({
    accessToken: 'abc',
    authorization: 'Bearer abc',
    expiresMs: NOW + 60_000,
  })
})

test('an answer without a token, an error, a page, a flood and silence all fail', async () => {
  for (const answer of [
    { body: {} },
    { body: { error: 'invalid_grant', access_token: 'abc' } },
    { status: 500, body: 'broken' },
    { body: [] },
    { body: '<html>' },
    { body: 'x'.repeat(1024 * 1024 + 1) },
    { status: 302, body: '' },
  ]) {
    fake.answers['/token'] = () => answer
    await expect(fetchTokens(provider('oidc'), CODE, now())).rejects.toThrow()
  }
  fake.answers['/token'] = () => undefined
  await expect(fetchTokens(provider('oidc'), CODE, now(50))).rejects.toThrow(/timeout/)
  await expect(fetchTokens(provider('oidc', { tokenURL: 'file:///etc/passwd' }), CODE, now())).rejects.toThrow(/URL/)
})

test('a code is not sent to where a redirect leads', async () => {
  await using other = await fakeProvider({ '/token': { access_token: 'stolen' } })
  fake.answers['/token'] = () => ({ status: 307, location: `${other.url}/token`, body: '' })
  await expect(fetchTokens(provider('oidc'), CODE, now())).rejects.toThrow()
  expect(other.asked).toEqual([])
})

test('the list has all providers in the order of PocketBase, with logos that are SVG', () => {
  const all = listProviders() as { name: string; displayName: string; logo: string }[]
  expect(all).toHaveLength(32)
  expect([all[0]!.name, all[31]!.name]).toEqual(['apple', 'oidc3'])
  for (const { logo } of all) expect(logo).toMatch(/^<svg xmlns="[^"]+" viewBox="0 0 32 32">.*<\/svg>$/)
  expect(Object.keys(all[0]!)).toEqual(['name', 'displayName', 'logo'])
  expect(knownProvider('__proto__')).toBeUndefined()
})

test('a client gets a URL with a state and a challenge of its own, to which it appends where it wants to come back', () => {
  const [one] = presentProviders(definition('google'), chance) as [Record<string, string>]
  const [other] = presentProviders(definition('google'), chance) as [Record<string, string>]
  expect(one['state']).toMatch(/^[a-zA-Z0-9]{30}$/)
  expect(one['codeVerifier']).toMatch(/^[a-zA-Z0-9]{43}$/)
  expect(one['state']).not.toBe(other['state'])
  const { origin, pathname, searchParams } = new URL(`${one['authURL']}back`)
  expect(origin + pathname).toBe('https://accounts.google.com/o/oauth2/v2/auth')
  expect([...searchParams.keys()]).toEqual([
    'client_id',
    'code_challenge',
    'code_challenge_method',
    'response_type',
    'scope',
    'state',
    'redirect_uri',
  ])
  const [apple] = presentProviders(definition('apple', { displayName: 'Ours' }), chance) as [Record<string, string>]
  expect(apple['displayName']).toBe('Ours')
  expect(new URL(apple['authURL']!).searchParams.get('response_mode')).toBe('form_post')
  const [plain] = presentProviders(definition('google', { pkce: false }), chance) as [Record<string, string>]
  expect([plain['codeVerifier'], plain['codeChallenge'], plain['codeChallengeMethod']]).toEqual(['', '', ''])
  expect(plain['authURL']).not.toContain('code_challenge')
  const [asked] = presentProviders(definition('oidc', { authURL: 'https://a.b/?x=1' }), chance) as [
    Record<string, string>,
  ]
  expect(asked['authURL']).toMatch(/^https:\/\/a\.b\/\?x=1&client_id=my\+client&/)
})

/** A provider without a URL of users: the `id_token` tells who it is. */
async function idTokenLogin(
  claims: object,
  { algorithm = 'RS256', extra = {} }: { readonly algorithm?: string; readonly extra?: object } = {},
): Promise<unknown> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  fake.answers['/keys'] = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' }] }
  const seconds = NOW / 1000
  const token = new SignJWT({ sub: '1', aud: 'my client', iss: 'ours', exp: seconds + 60, iat: seconds, ...claims })
  const key = algorithm === 'RS256' ? privateKey : Buffer.from(JSON.stringify(await exportJWK(publicKey)))
  const idToken = await token.setProtectedHeader({ alg: algorithm, kid: 'one' }).sign(key)
  fake.answers['/token'] = { access_token: 'abc', id_token: idToken }
  return userOf({ ...provider('oidc', { extra: { jwksURL: `${fake.url}/keys`, ...extra } }), userInfoURL: '' })
}

test('an id_token tells who it is', async () => {
  expect(await idTokenLogin({ email: 'a@b.c', email_verified: true }, { extra: { issuers: ['ours'] } })).toEqual({
    id: '1',
    email: 'a@b.c',
  })
  expect(await idTokenLogin({ aud: ['other', 'my client'] }, { extra: { issuers: 'theirs ours' } })).toEqual({
    id: '1',
  })
})

test('an id_token for another client, of another issuer, too old, too young, or not signed right is refused', async () => {
  const seconds = NOW / 1000
  await expect(idTokenLogin({ aud: 'another' })).rejects.toThrow(/another client/)
  await expect(idTokenLogin({}, { extra: { issuers: ['theirs'] } })).rejects.toThrow(/issuer/)
  await expect(idTokenLogin({ exp: seconds - 301 })).rejects.toThrow(/expired/)
  await expect(idTokenLogin({ exp: undefined })).rejects.toThrow(/expired/)
  await expect(idTokenLogin({ iat: seconds + 301 })).rejects.toThrow(/not valid yet/)
  await expect(idTokenLogin({}, { algorithm: 'HS256' })).rejects.toThrow(/not valid/)
  await idTokenLogin({})
  const { keys } = fake.answers['/keys'] as { keys: object[] }
  const { publicKey } = await generateKeyPair('RS256')
  const other = { keys: [{ ...keys[0], ...(await exportJWK(publicKey)) }] }
  fake.answers['/keys'] = other
  const oidc = { ...provider('oidc', { extra: { jwksURL: `${fake.url}/keys` } }), userInfoURL: '' }
  await expect(userOf(oidc)).rejects.toThrow(/signature/)
})

test('the address of Microsoft comes from the id_token where the definition says so', async () => {
  const login = async (idTokenEmailClaim: string, claims: object): Promise<unknown> => {
    const token = new SignJWT({ aud: 'my client', exp: NOW / 1000 + 60, ...claims }).setProtectedHeader({
      alg: 'HS256',
    })
    fake.answers['/token'] = { access_token: 'abc', id_token: await token.sign(Buffer.alloc(32)) }
    fake.answers['/user'] = { id: '1', mail: 'mail@b.c' }
    const microsoft = provider('microsoft', { extra: { idTokenEmailClaim } })
    expect(microsoft.scopes.includes('openid')).toBe(idTokenEmailClaim !== '')
    return ((await userOf(microsoft)) as { email?: string }).email
  }
  const claims = { email: 'e@b.c', verified_primary_email: ['v@b.c'] }
  expect(await login('', claims)).toBe('mail@b.c')
  expect(await login('email', claims)).toBe('e@b.c')
  expect(await login('verified_primary_email', claims)).toBe('v@b.c')
  expect(await login('email_and_xms_edov', claims)).toBeUndefined()
  expect(await login('email_and_xms_edov', { ...claims, xms_edov: true })).toBe('e@b.c')
  expect(await login('any_verified', { email: 'e@b.c', xms_edov: 1 })).toBe('e@b.c')
})
