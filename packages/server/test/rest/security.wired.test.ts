/** Goal: items of OWASP's ASVS 5 that have no test elsewhere. docs/internals/security-checklist.md has all of them. */
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { SYSTEM } from '@pannier/backend'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { call, ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

let server: RestServer
let ann: string
let annId: string
let memberId: string

beforeAll(async () => {
  server = await startRest()
  const { definitions, records } = server.server.backend
  await definitions.create(SYSTEM, { name: 'members', type: 'auth', listRule: "@request.auth.id != ''" })
  await definitions.create(SYSTEM, {
    name: 'docs',
    type: 'base',
    listRule: '',
    viewRule: '',
    createRule: '',
    fields: [
      { name: 'file', type: 'file' },
      { name: 'secret', type: 'file', protected: true },
    ],
  })
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  annId = String((await records.create(ITSELF, 'users', account))['id'])
  memberId = String((await records.create(ITSELF, 'members', account))['id'])
  ann = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
})
afterEach(async () => {
  await server.call('PATCH /settings', { rateLimits: { enabled: false }, trustedProxy: { headers: [] } })
})
afterAll(() => server.close())

/** The address of the account of a token, or the status of the refusal. */
async function whois(token: string): Promise<string> {
  const { status, json } = await call(server.url, 'POST /collections/users/auth-refresh', undefined, token)
  return status === 200 ? (json['record'] as { readonly email: string }).email : String(status)
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** A token with a head and claims of one's choice, signed with a key that the server uses. */
async function forged(head: object, claims: object, algorithm = 'sha256', collection = 'users'): Promise<string> {
  const { definitions } = server.server.backend
  const definition = definitions.get(collection)
  const record = await definitions.records(definition).get(collection === 'users' ? annId : memberId)
  if (definition.type !== 'auth') throw new Error(collection)
  const key = String(record!['tokenKey']) + definition.authToken.secret
  const [, real] = ann.split('.')
  const all = { ...(JSON.parse(Buffer.from(real!, 'base64url').toString()) as object), ...claims }
  const signed = `${part(head)}.${part(all)}`
  return `${signed}.${createHmac(algorithm, key).update(signed).digest('base64url')}`
}

test('a token counts with the algorithm of the server alone, even with the right key', async () => {
  expect(await whois(await forged({ alg: 'HS256', typ: 'JWT' }, {}))).toBe('ann@example.com')
  for (const [alg, hash] of [
    ['HS384', 'sha384'],
    ['HS512', 'sha512'],
    ['none', 'sha256'],
    ['None', 'sha256'],
    ['RS256', 'sha256'],
    ['', 'sha256'],
  ] as const)
    expect(await whois(await forged({ alg, typ: 'JWT' }, {}, hash)), alg).toBe('401')
  const none = `${part({ alg: 'none' })}.${ann.split('.')[1]}.`
  expect(await whois(none)).toBe('401')
  for (const head of [
    { alg: 'HS256', crit: ['exp'] },
    { alg: 'HS256', b64: false, crit: ['b64'] },
  ])
    expect(await whois(await forged(head, {})), JSON.stringify(head)).toBe('401')
  // Nothing is fetched that a head names, and its key is not taken.
  const own = { alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' }, jku: `${server.url}/x`, kid: '../../dev/null' }
  const [head, claims] = (await forged(own, {})).split('.')
  const signature = createHmac('sha256', Buffer.from('AAAA', 'base64url')).update(`${head}.${claims}`)
  expect(await whois(`${head}.${claims}.${signature.digest('base64url')}`)).toBe('401')
})

test('a token of one collection is nobody in another', async () => {
  const { definitions } = server.server.backend
  const [users, members] = [definitions.get('users').id, definitions.get('members').id]
  const head = { alg: 'HS256', typ: 'JWT' }
  for (const id of [annId, memberId]) {
    expect(await whois(await forged(head, { id, collectionId: users }, 'sha256', 'members'))).toBe('401')
    expect(await whois(await forged(head, { id, collectionId: members }))).toBe('401')
  }
  const ofMembers = await tokenFor(server.url, 'members', 'ann@example.com', PASSWORD)
  expect((await call(server.url, 'POST /collections/users/auth-refresh', undefined, ofMembers)).status).toBe(403)
  expect((await call(server.url, `PATCH /collections/users/records/${annId}`, { name: 'x' }, ofMembers)).status).toBe(
    404,
  )
  for (const collectionId of ['_superusers', definitions.get('_superusers').id, '__proto__', ''])
    expect(await whois(await forged(head, { collectionId })), collectionId).toBe('401')
})

const SCRIPT = '<script>alert(document.domain)</script>'

test.each([
  ['page.html', `<!doctype html>${SCRIPT}`, 'text/html'],
  ['page.txt', `<!doctype html>${SCRIPT}`, 'text/plain'],
  ['picture.svg', `<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`, 'image/svg+xml'],
  ['picture.png', `<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`, 'image/png'],
  ['data.xml', `<?xml version="1.0"?><x xmlns="http://www.w3.org/1999/xhtml">${SCRIPT}</x>`, 'application/xml'],
  ['script.js', 'alert(1)', 'text/javascript'],
])('%s that somebody uploads runs nowhere on the origin of the server', async (name, content, type) => {
  const form = new FormData()
  form.set('file', new File([content], name, { type }))
  const made = await fetch(`${server.url}/api/collections/docs/records`, { method: 'POST', body: form })
  const { id, file } = (await made.json()) as { readonly id: string; readonly file: string }
  for (const query of ['', '?thumb=100x100', '?download=0', '?response-content-type=text/html']) {
    const { headers, status } = await fetch(`${server.url}/api/files/docs/${id}/${file}${query}`)
    expect(status, query).toBe(200)
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*sandbox/)
    expect(headers.get('content-security-policy')).not.toContain('allow-scripts')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    // A picture of this type runs nothing in a sandbox; no page is shown at all.
    const isPicture = headers.get('content-type')!.startsWith('image/')
    if (!isPicture) expect(headers.get('content-disposition'), query).toMatch(/^attachment;/)
  }
})

test('line ends in what a client sends make no header', async () => {
  const { hostname, port } = new URL(server.url)
  const raw = (request: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) })
      let text = ''
      socket.on('data', (bytes) => (text += String(bytes)))
      socket.on('error', reject)
      socket.on('close', () => resolve(text))
      socket.write(`${request}\r\nhost: ${hostname}:${port}\r\nconnection: close\r\n\r\n`)
    })
  const injected = '%0d%0aset-cookie:%20evil=1%0d%0ax-evil:%201'
  for (const path of [
    `/api/files/docs/x/${injected}`,
    `/api/collections/${injected}/records`,
    `/api/collections/docs/records?fields=${injected}&sort=${injected}&filter=${injected}`,
    `/api/oauth2-redirect?state=${injected}&code=${injected}&error=${injected}`,
    `/api/health?x=${injected}`,
    `/${injected}`,
  ]) {
    const answer = await raw(`GET ${path} HTTP/1.1\r\norigin: https://x.example\r\nx-request-id: a`)
    const [head = ''] = answer.split('\r\n\r\n', 1)
    expect(head, path).toMatch(/^HTTP\/1\.1 \d+/)
    expect(
      head.split('\r\n').filter((line) => /^(?:set-cookie|x-evil)/i.test(line)),
      path,
    ).toEqual([])
  }
})

test('a rate limit counts the client behind a trusted proxy, and believes nobody else', async () => {
  const rules = [{ label: 'GET /api/collections/docs/records', maxRequests: 2, duration: 60 }]
  const limit = (trustedProxy: object): Promise<unknown> =>
    server.call('PATCH /settings', { rateLimits: { enabled: true, rules }, trustedProxy })
  const statuses = async (...addresses: readonly string[]): Promise<number[]> => {
    const found: number[] = []
    for (const address of addresses) {
      const headers = { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` }
      found.push((await fetch(`${server.url}/api/collections/docs/records`, { headers })).status)
    }
    return found
  }
  await limit({ headers: [] })
  expect(await statuses('10.0.0.1', '10.0.0.2', '10.0.0.3')).toEqual([200, 200, 429])
  await limit({ headers: ['X-Forwarded-For'], useLeftmostIP: false })
  // The last address is what the proxy has added; what stands before it came from the client.
  expect(await statuses('1.1.1.1, 10.0.0.1', '2.2.2.2, 10.0.0.1', '3.3.3.3, 10.0.0.1')).toEqual([200, 200, 429])
  expect(await statuses('10.0.0.2', '10.0.0.1')).toEqual([200, 429])
})

test.each(['GET /api/collections/docs/records', '/api/'])('each spelling of a path counts for %s', async (label) => {
  const spellings = [
    '/api/collections/docs/records',
    '//api/collections/docs/records',
    '/api//collections/docs/records',
  ]
  const encoded = [
    '/%61pi/collections/docs/records',
    '/api/collections/docs/record%73',
    '/api/collections/%64ocs/records',
  ]
  for (const spelling of [...spellings, ...encoded, '/api/collections/docs/records?page=1']) {
    const rules = [{ label, maxRequests: 1, duration: 60 }]
    await server.call('PATCH /settings', { rateLimits: { enabled: false, rules } })
    await server.call('PATCH /settings', { rateLimits: { enabled: true, rules } })
    const first = await fetch(`${server.url}/api/collections/docs/records`)
    const { status } = await fetch(server.url + spelling)
    expect([first.status, status === 200], spelling).toEqual([200, false])
  }
})

test('answers with what an account sees are kept by no cache, and set no cookie', async () => {
  const login = { identity: 'ann@example.com', password: PASSWORD }
  const answers = await Promise.all([
    call(server.url, 'POST /collections/users/auth-with-password', login, ''),
    call(server.url, 'POST /collections/users/auth-refresh', undefined, ann),
    call(server.url, 'GET /collections/members/records', undefined, ann),
    call(server.url, 'GET /collections/members/records', undefined, ''),
    call(server.url, 'POST /files/token', undefined, ann),
    call(server.url, 'GET /settings', undefined, ann),
    server.call('GET /settings'),
    server.call('GET /logs'),
  ])
  for (const { headers } of answers) {
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('set-cookie')).toBeNull()
  }
  const form = new FormData()
  form.set('secret', new File(['kept'], 'a.txt'))
  const made = await fetch(`${server.url}/api/collections/docs/records`, { method: 'POST', body: form })
  const { id, secret } = (await made.json()) as { readonly id: string; readonly secret: string }
  const token = String((await call(server.url, 'POST /files/token', undefined, ann)).json['token'])
  const file = await fetch(`${server.url}/api/files/docs/${id}/${secret}?token=${token}`)
  expect([file.status, await file.text()]).toEqual([200, 'kept'])
  expect(file.headers.get('cache-control')).not.toContain('public')
})

test('a failure of the server says nothing of it', async () => {
  const { backend } = server.server
  const { records } = backend
  const hidden = 'ENOENT: /home/operator/secret'
  const { listText } = records
  Object.assign(records, { listText: () => Promise.reject(new Error(hidden)) })
  const failed = await call(server.url, 'GET /collections/docs/records', undefined, '')
  Object.assign(records, { listText })
  expect(failed.status).toBe(500)
  expect(Object.keys(failed.json).toSorted()).toEqual(['data', 'message', 'status'])
  expect(failed.text).not.toMatch(/ENOENT|operator|at \S+:\d+/)
  expect([...failed.headers.values()].join()).not.toContain('operator')
  const handler = (): never => {
    throw new Error(hidden)
  }
  backend.hooks.replace([{ name: 'onRecordCreate', handler, tags: [], source: 'hooks/secret.ts:1' }])
  const refused = await call(server.url, 'POST /collections/docs/records', {}, '')
  backend.hooks.replace([])
  expect([refused.status, refused.text.includes('ENOENT'), refused.text.includes('secret.ts')]).toEqual([
    400,
    false,
    false,
  ])
})
