/** Goal: files for those who may have them, under every name, and none for others. The table of answers has headers and ranges. */
import { SYSTEM } from '@pannier/backend'
import PocketBase from 'pocketbase'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { S3Server } from '../../../../backend/test/files/s3-server.ts'
import { ADMIN, send } from '../../test-server.ts'
import { startRest, tokenFor } from '../rest-server.ts'
import type { RestServer } from '../rest-server.ts'

let server: RestServer
let root: PocketBase
let userToken: string
let doc: Doc

interface Doc {
  readonly id: string
  readonly open: string
  readonly secret: string
}

const PASSWORD = 'the password of ann'
/** The beginning of a picture, in Latin-1. */
const PNG = '\x89PNG\r\n\x1a\n'

beforeAll(async () => {
  server = await startRest({})
  root = new PocketBase(server.url)
  root.authStore.save(server.token)
  await root.collections.create({
    name: 'docs',
    type: 'base',
    fields: [
      { name: 'open', type: 'file', maxSelect: 1, thumbs: ['70x50'] },
      { name: 'secret', type: 'file', maxSelect: 1, protected: true },
      { name: 'many', type: 'file', maxSelect: 9 },
    ],
  })
  await root.collections.create({
    name: 'pictures',
    type: 'base',
    fields: [{ name: 'pic', type: 'file', maxSelect: 1, maxSize: 100, mimeTypes: ['image/png'] }],
  })
  await root.collections.create({
    name: 'shown',
    type: 'view',
    viewRule: '@request.auth.verified = true',
    viewQuery: 'SELECT id, open, secret FROM docs',
  })
  await root.collections.create({
    name: 'twice',
    type: 'view',
    viewQuery: 'SELECT id, open as other FROM shown',
  })
  await root.collection('users').create({ email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD })
  userToken = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
  doc = (await root.collection('docs').create({
    open: new File(['open'], 'open.txt'),
    secret: new File(['secret'], 'secret.txt'),
  })) as unknown as Doc
})
beforeEach(() =>
  root.settings.update({ rateLimits: { enabled: false }, superuserIPs: [], trustedProxy: { headers: [] } }),
)
afterAll(() => server.close())

async function fileToken(token: string): Promise<string> {
  return (await server.call('POST /files/token', undefined, token)).json['token'] as string
}

/** Of GET, with HEAD's checked to be the same. */
async function get(
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${server.url}/api/files/${path}`, { headers })
  const head = await fetch(`${server.url}/api/files/${path}`, { headers, method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([answer.status, ''])
  return { status: answer.status, text: await answer.text() }
}

test('accounts get tokens for files, guests none', async () => {
  const guest = await server.call('POST /files/token', undefined, '')
  expect([guest.status, guest.json]).toEqual([
    401,
    { data: {}, message: 'The request requires valid record authorization token.', status: 401 },
  ])
  for (const token of [server.token, userToken]) {
    const { status, json } = await server.call('POST /files/token', undefined, token)
    expect([status, Object.keys(json)]).toEqual([200, ['token']])
    const [head = '', claims = ''] = String(json['token']).split('.')
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'HS256', typ: 'JWT' })
    const { exp, ...rest } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>
    expect(Object.keys(rest)).toEqual(['collectionId', 'id', 'sid', 'type'])
    expect(rest['type']).toBe('file')
    expect(Math.abs(Number(exp) - Date.now() / 1000 - 180)).toBeLessThan(30)
  }
  expect((await fetch(`${server.url}/api/files/token`)).status).toBe(404)
})

test.each([
  ['another collection', 'missing/ID/OPEN'],
  ['another record', 'docs/missing/OPEN'],
  ['another file', 'docs/ID/missing.txt'],
  ['a name in another case', 'docs/ID/UPPER'],
  ['a file of a thumb', 'docs/ID/thumbs_OPEN%2F70x50_OPEN'],
  ['a path', 'docs/ID/..%2F..%2FOPEN'],
  ['a path from the root', 'docs/%2Fetc%2Fpasswd/passwd'],
  ['a zero byte', 'docs/ID/OPEN%00.png'],
  ['no name', 'docs/ID/'],
  ['a name of the prototype', 'docs/ID/__proto__'],
])('%s is not found', async (_what, path) => {
  const upper = doc.open.toUpperCase()
  const { status, text } = await get(path.replaceAll('OPEN', doc.open).replace('UPPER', upper).replace('ID', doc.id))
  expect([status, JSON.parse(text)]).toEqual([
    404,
    { data: {}, message: "The requested resource wasn't found.", status: 404 },
  ])
})

test('anyone who knows the name has a file that is not protected, by name or id of the collection', async () => {
  const { id } = await root.collections.getOne('docs')
  for (const collection of ['docs', 'DOCS', id])
    expect((await get(`${collection}/${doc.id}/${doc.open}`)).text).toBe('open')
})

test('a protected file is for those whom the view rule admits, by a token for files only', async () => {
  const path = `docs/${doc.id}/${doc.secret}`
  const rule = (viewRule: string | null): Promise<unknown> => root.collections.update('docs', { viewRule })
  const [ofRoot, ofUser] = [await fileToken(server.token), await fileToken(userToken)]
  const statuses = async (): Promise<number[]> =>
    Promise.all(['', ofUser, ofRoot].map(async (token) => (await get(`${path}?token=${token}`)).status))
  expect(await statuses()).toEqual([404, 404, 200])
  await rule('')
  expect(await statuses()).toEqual([200, 200, 200])
  await rule('@request.auth.verified = true')
  expect(await statuses()).toEqual([404, 404, 200])
  await rule('@request.auth.verified = false && @request.auth.id != ""')
  expect(await statuses()).toEqual([404, 200, 200])
  await rule('@request.context = "protectedFile"')
  expect(await statuses()).toEqual([200, 200, 200])
  await rule(null)
  // Neither a token for requests, nor the header, nor a token that is cut or forged.
  for (const token of [server.token, userToken, ofRoot.slice(0, -2), `${ofRoot}x`, 'x'])
    expect((await get(`${path}?token=${token}`)).status).toBe(404)
  expect((await get(path, { authorization: server.token })).status).toBe(404)
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  expect((await get(`${path}?token=${none}.${ofRoot.split('.')[1]}.`)).status).toBe(404)
  // A token for files is not one for requests.
  expect((await server.call('GET /collections', undefined, ofRoot)).status).toBe(401)
  expect((await server.call('POST /files/token', undefined, ofRoot)).status).toBe(401)
})

test("a superuser's token for files counts only at the addresses of superusers", async () => {
  const token = await fileToken(server.token)
  const path = `docs/${doc.id}/${doc.secret}?token=${token}`
  await root.settings.update({ trustedProxy: { headers: ['x-test-ip'] }, superuserIPs: ['10.0.0.1'] })
  try {
    expect((await get(path, { 'x-test-ip': '10.0.0.1' })).status).toBe(200)
    expect((await get(path, { 'x-test-ip': '10.0.0.2' })).status).toBe(404)
  } finally {
    await server.server.backend.settings.update(SYSTEM, { superuserIPs: [] })
  }
})

test('a token ends with the key of its account', async () => {
  const token = await fileToken(userToken)
  const path = `docs/${doc.id}/${doc.secret}?token=${token}`
  await root.collections.update('docs', { viewRule: '@request.auth.id != ""' })
  expect((await get(path)).status).toBe(200)
  const { id } = await root.collection('users').getFirstListItem('email = "ann@example.com"')
  await root.collection('users').update(id, { password: `${PASSWORD}2`, passwordConfirm: `${PASSWORD}2` })
  expect((await get(path)).status).toBe(404)
  await root.collection('users').update(id, { password: PASSWORD, passwordConfirm: PASSWORD })
  userToken = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
  await root.collections.update('docs', { viewRule: null })
})

test("files of views are those of their records, by the view's own rule", async () => {
  expect((await get(`shown/${doc.id}/${doc.open}`)).text).toBe('open')
  expect((await get(`twice/${doc.id}/${doc.open}`)).text).toBe('open')
  const token = await fileToken(userToken)
  expect((await get(`shown/${doc.id}/${doc.secret}?token=${token}`)).status).toBe(404)
  const { id } = await root.collection('users').getFirstListItem('email = "ann@example.com"')
  await root.collection('users').update(id, { verified: true })
  expect((await get(`shown/${doc.id}/${doc.secret}?token=${token}`)).text).toBe('secret')
  await root.collection('users').update(id, { verified: false })
  expect((await get(`shown/missing/${doc.open}`)).status).toBe(404)
})

test.each(['docs:file', '*:file', '/api/files/'])('the rate limit %s counts files', async (label) => {
  await root.settings.update({ rateLimits: { enabled: true, rules: [{ label, maxRequests: 1, duration: 60 }] } })
  const statuses: number[] = []
  for (let count = 0; count < 2; count++)
    statuses.push((await fetch(`${server.url}/api/files/docs/${doc.id}/${doc.open}`)).status)
  expect(statuses).toEqual([200, 429])
})

test.each(['a b.txt', 'ünïcödé 名前.png', 'quote".txt', 'per%cent%20.txt', 'semi;colon.html', "o'clock.svg"])(
  'an attachment with the name %j is a file of the record, and breaks no header',
  async (name) => {
    const made = await root.collection('docs').create({})
    const at = `/docs/${made.id}`
    const authorization = ADMIN
    const { json: before } = await send(server.url, `GET ${at}`, undefined, { authorization })
    const document = {
      ...before,
      open: name,
      _attachments: { [name]: { content_type: 'text/html', data: Buffer.from('<script>').toString('base64') } },
    }
    expect((await send(server.url, `PUT ${at}`, document, { authorization })).status).toBe(201)
    const answer = await fetch(`${server.url}/api/files/docs/${made.id}/${encodeURIComponent(name)}?thumb=70x50`)
    expect([answer.status, await answer.text()]).toEqual([200, '<script>'])
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename=/)
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    await root.collection('docs').delete(made.id)
  },
)

interface WrongFile {
  readonly name?: string
  readonly content?: string
  /** What the field names. */
  readonly field?: string
}

test.each<[what: string, wrong: WrongFile]>([
  ['a name that leads out', { name: '../../evil.html' }],
  ['a name with a slash', { name: 'a/b/../c.txt' }],
  ['a name that is hidden', { name: '..txt' }],
  ['a size', { content: 'x'.repeat(101) }],
  ['a type that is not that of its content', { content: '<script>' }],
  ['no field', { field: '' }],
  ['another file than the field names', { field: 'other.png' }],
])(
  'a document is refused whose attachment has %s',
  async (_what, { name = 'pic.png', content = PNG, field = name }) => {
    const made = await root.collection('pictures').create({})
    const at = `/pictures/${made.id}`
    const authorization = ADMIN
    const { json: before } = await send(server.url, `GET ${at}`, undefined, { authorization })
    const attachment = { content_type: 'image/png', data: Buffer.from(content, 'latin1').toString('base64') }
    const document = { ...before, pic: field, _attachments: { [name]: attachment } }
    const replicated = { new_edits: false, docs: [{ ...document, _rev: '2-abc' }] }
    const route = `PUT ${at}/${encodeURIComponent(name)}?rev=${String(before['_rev'])}`
    for (const [request, body] of [
      [`PUT ${at}`, document],
      ['POST /pictures/_bulk_docs', { docs: [document] }],
      ['POST /pictures/_bulk_docs', replicated],
      [route, Buffer.from(content, 'latin1')],
    ] as const)
      await send(server.url, request, body, { authorization, 'content-type': 'application/json' })
    const { json: after } = await send(server.url, `GET ${at}?conflicts=true`, undefined, { authorization })
    expect(after).toEqual(before)
    await root.collection('pictures').delete(made.id)
  },
)

test('an attachment that its field takes is stored with the type of its content', async () => {
  const authorization = ADMIN
  const data = Buffer.from(PNG, 'latin1').toString('base64')
  const made = await root.collection('pictures').create({})
  const at = `/pictures/${made.id}`
  const { json: before } = await send(server.url, `GET ${at}`, undefined, { authorization })
  const attachment = { content_type: 'text/html', data }
  const body = { ...before, pic: 'pic.png', _attachments: { 'pic.png': attachment } }
  expect((await send(server.url, `PUT ${at}`, body, { authorization })).status).toBe(201)
  const { json: after } = await send(server.url, `GET ${at}`, undefined, { authorization })
  expect(after).toMatchObject({ pic: 'pic.png', _attachments: { 'pic.png': { content_type: 'image/png' } } })
})

test('several files of a field come, stay and go in one form, and in a batch', async () => {
  await root.settings.update({ batch: { enabled: true, timeout: 60 } })
  const made = await root
    .collection('docs')
    .create({ many: ['a', 'b', 'c'].map((one) => new File([one], `${one}.txt`)) })
  const names = made['many'] as string[]
  const batch = root.createBatch()
  batch
    .collection('docs')
    .update(made.id, { 'many-': names[1], 'many+': new File(['d'], 'd.txt'), '+many': new File(['e'], 'e.txt') })
  batch.collection('docs').create({ many: [new File(['f'], 'f.txt'), new File(['g'], 'g.txt')] })
  const [changed, other] = (await batch.send()).map(({ body }) => body as { id: string; many: string[] })
  const texts = ({ id, many }: { id: string; many: string[] }): Promise<string[]> =>
    Promise.all(many.map(async (name) => (await get(`docs/${id}/${name}`)).text))
  expect(await texts(changed!)).toEqual(['e', 'a', 'c', 'd'])
  expect(await texts(other!)).toEqual(['f', 'g'])
  expect((await get(`docs/${made.id}/${names[1]}`)).status).toBe(404)
  const form = new FormData()
  form.append(
    '@jsonPayload',
    JSON.stringify({ requests: [{ method: 'POST', url: '/api/collections/docs/records', body: {} }] }),
  )
  form.append('requests[0].many', new Blob(['h']), 'h.txt')
  form.append('requests.0.many', new Blob(['i']), 'i.txt')
  const answer = await fetch(`${server.url}/api/batch`, {
    method: 'POST',
    body: form,
    headers: { authorization: server.token },
  })
  const [third] = (await answer.json()) as { body: { id: string; many: string[] } }[]
  expect((await texts(third!.body)).sort()).toEqual(['h', 'i'])
})

test("PocketBase's client: addresses of files, with thumbs, downloads and tokens", async () => {
  const image = await sharp({ create: { width: 300, height: 200, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const record = await root
    .collection('docs')
    .create({ open: new File([image], 'red.png'), secret: new File(['x'], 'x.txt') })
  const thumb = await fetch(root.files.getURL(record, record['open'] as string, { thumb: '70x50', download: true }))
  expect(thumb.headers.get('content-disposition')).toMatch(/^attachment; filename=70x50_red_\w+\.png$/)
  const { width, height } = await sharp(await thumb.arrayBuffer()).metadata()
  expect([width, height]).toEqual([70, 50])
  const token = await root.files.getToken()
  expect((await fetch(root.files.getURL(record, record['secret'] as string))).status).toBe(404)
  expect(await (await fetch(root.files.getURL(record, record['secret'] as string, { token }))).text()).toBe('x')
})

test('a superuser tries a bucket; its secret is not shown', async () => {
  const ask = (body: unknown, token?: string): ReturnType<RestServer['call']> =>
    server.call('POST /settings/test/s3', body, token)
  expect([(await ask({}, '')).status, (await ask({}, userToken)).status]).toEqual([401, 403])
  for (const [body, code] of [
    [{}, 'validation_required'],
    [{ filesystem: 'other' }, 'validation_in_invalid'],
  ] as const) {
    const { status, json } = await ask(body)
    expect([status, json]).toMatchObject([
      400,
      { message: 'Failed to test the S3 filesystem.', data: { filesystem: { code } } },
    ])
  }
  const off = await ask({ filesystem: 'storage' })
  expect([off.status, off.json]).toEqual([
    400,
    {
      data: {},
      message: 'Failed to test the S3 filesystem. Raw error: \nS3 storage filesystem is not enabled.',
      status: 400,
    },
  ])
  await using bucket = await S3Server.start()
  await root.settings.update({ s3: { ...bucket.options, enabled: true } })
  expect(JSON.stringify(await root.settings.getAll())).not.toContain('"secret"')
  expect(await root.settings.testS3('storage')).toBe(true)
  expect((await ask({ filesystem: 'backups' })).status).toBe(400)
  await root.settings.update({ s3: { bucket: 'nowhere' } })
  expect((await ask({ filesystem: 'storage' })).json['message']).toContain('NoSuchBucket')
  await root.settings.update({ s3: { enabled: false } })
})

test('files in a bucket are served with ranges', async () => {
  await using bucket = await S3Server.start()
  await root.settings.update({ s3: { ...bucket.options, enabled: true } })
  const record = await root.collection('docs').create({ open: new File(['0123456789'], 'digits.txt') })
  const url = `${server.url}/api/files/docs/${record.id}/${String(record['open'])}`
  const part = await fetch(url, { headers: { range: 'bytes=2-4' } })
  expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10'])
  const modified = (await fetch(url)).headers.get('last-modified')!
  expect((await fetch(url, { headers: { 'if-modified-since': modified } })).status).toBe(304)
  await root.settings.update({ s3: { enabled: false } })
  expect((await fetch(url)).status).toBe(404)
})

test('names that are to stay may come as JSON beside new files', async () => {
  const many = ['a', 'b'].map((name) => new File([name], `${name}.txt`))
  const { id, many: names } = (await root.collection('docs').create({ many })) as unknown as {
    id: string
    many: string[]
  }
  const form = new FormData()
  form.append('many', JSON.stringify([names[1]]))
  form.append('many', new File(['c'], 'c.txt'))
  const changed = await root.collection('docs').update(id, form)
  expect(changed['many']).toEqual([names[1], expect.stringMatching(/^c\w+\.txt$/)])
  form.set('many', '["x"]')
  form.append('many', new File(['d'], 'd.txt'))
  await expect(root.collection('docs').update(id, form)).rejects.toMatchObject({ status: 400 })
})

test('a protected file is kept by no shared cache, for longer than its token counts', async () => {
  const cached = 'max-age=2592000, stale-while-revalidate=86400'
  const control = async (path: string): Promise<string | null> => {
    const { headers } = await fetch(`${server.url}/api/files/docs/${doc.id}/${path}`)
    return headers.get('cache-control')
  }
  expect(await control(doc.open)).toBe(cached)
  expect(await control(`${doc.secret}?token=${await fileToken(server.token)}`)).toBe(`private, ${cached}`)
})
