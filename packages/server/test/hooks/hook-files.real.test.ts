/**
 * Goal: hooks of files run, and change with their files. What is wrong with one is said with its file and line.
 * Method: `pannier serve` as a process, with files in a folder.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { kill } from '../../../../tools/processes.ts'
import { until } from '../test-server.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')
/** So that a test fills it soon. */
const HEAP_MEGABYTES = 256
const SUPERUSER = ['root@example.com', '1234567890'] as const

let dir: string
const started: ChildProcess[] = []

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-hooks-'))
})
afterEach(async () => {
  await Promise.all(started.splice(0).map(kill))
  await rm(dir, { recursive: true, force: true })
})

interface Running {
  readonly url: string
  readonly child: ChildProcess
  readonly err: () => string
  call(
    path: string,
    options?: { readonly method?: string; readonly body?: unknown; readonly token?: string },
  ): Promise<Answer>
}

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
}

async function pannier(
  ...parameters: readonly string[]
): Promise<{ readonly out: () => string; readonly err: () => string; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [
    '--conditions=pannier-source',
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    MAIN,
    ...parameters,
  ])
  started.push(child)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  return { out: () => out, err: () => err, child }
}

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(dir, 'hooks', name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}

async function serve(files: Readonly<Record<string, string>>): Promise<Running> {
  await write(files)
  const made = await pannier('superuser', 'upsert', ...SUPERUSER, '--dir', dir)
  await once(made.child, 'close')
  return start()
}

async function start(): Promise<Running> {
  const running = await pannier('serve', '--dir', dir, '--port', '0', '--log-level', 'info')
  await until(() => running.out().includes('\n') || running.child.exitCode !== null)
  const url = /http:\/\/\S+/.exec(running.out())?.[0]
  if (url === undefined) throw new Error(running.err())
  return {
    url,
    child: running.child,
    err: running.err,
    call: async (path, { method = 'GET', body, token } = {}) => {
      const headers = {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: token }),
      }
      const response = await fetch(`${url}${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
      }
    },
  }
}

async function tokenOf({ call }: Running): Promise<string> {
  const [identity, password] = SUPERUSER
  const { body } = await call('/api/collections/_superusers/auth-with-password', {
    method: 'POST',
    body: { identity, password },
  })
  return (body as { readonly token: string }).token
}

const NOTES = {
  name: 'notes',
  type: 'base',
  listRule: '',
  viewRule: '',
  createRule: '',
  updateRule: '',
  deleteRule: '',
  fields: [
    { name: 'title', type: 'text' },
    { name: 'slug', type: 'text' },
  ],
}

test(
  'hooks, routes, middlewares and jobs of files run; a change is loaded, a mistake is named and changes nothing',
  { timeout: 300_000 },
  async () => {
    const server = await serve({
      'lib/slug.ts': `export const slugOf = (text: string): string => text.toLowerCase()\n`,
      'notes.ts': `
import { slugOf } from './lib/slug.ts'
export default ({ onRecordCreate, onRecordCreateRequest, routerAdd, routerUse, cronAdd, onCollectionCreateRequest, onRecordAuthWithPasswordRequest, apis, app, ApiError }) => {
  onRecordCreate(async (e) => {
    e.record.set('slug', slugOf(e.record.getString('title')))
    await e.next()
  }, 'notes')
  onRecordCreateRequest((e) => {
    if (e.record.get('title') === 'bug') throw new TypeError('x is not a function')
    if (e.record.get('title') === 'pay') throw new ApiError(402, 'Your plan is full', { title: { code: 'plan_full', message: 'Choose another plan.' } })
    return e.next()
  }, 'notes')
  routerUse((e) => {
    e.response.headers.set('x-seen', e.request.method)
    if (e.request.headers.get('x-block')) return e.json(418, { blocked: true })
    return e.next()
  })
  routerAdd('GET', '/hello/{name}', (e) => e.json(200, { hello: e.request.pathValue('name'), guest: e.auth === undefined }))
  routerAdd('POST', '/api/app/sum', async (e) => {
    const { numbers } = await e.bindBody()
    return e.string(201, String(numbers.reduce((sum, one) => sum + one, 0)))
  })
  routerAdd('GET', '/secret', (e) => e.json(200, { id: e.auth.id }), apis.requireSuperuserAuth())
  routerAdd('GET', '/files/{path...}', (e) => e.html(200, '<b>' + e.request.pathValue('path') + '</b>'))
  routerAdd('GET', '/count', async (e) => e.json(200, await app.countRecords('notes')))
  routerAdd('GET', '/moved', (e) => e.redirect(302, '/hello/you'))
  onCollectionCreateRequest((e) => {
    if (e.request.headers.get('x-freeze')) throw e.forbiddenError('Definitions are frozen')
    return e.next()
  })
  onRecordAuthWithPasswordRequest((e) => {
    if (e.request.headers.get('x-closed')) return e.json(503, { closed: e.collection.name })
    e.response.headers.set('x-login', e.collection.name)
    return e.next()
  }, '_superusers')
  cronAdd('tidy', '0 3 * * *', async () => { await app.save(app.newRecord('notes', { title: 'By Schedule' })) })
}
`,
    })
    const { call } = server
    const token = await tokenOf(server)
    expect((await call('/api/collections', { method: 'POST', body: NOTES, token })).status).toBe(200)
    expect(
      (await call('/api/collections/notes/records', { method: 'POST', body: { title: 'HELLO' } })).body,
    ).toMatchObject({ slug: 'hello' })
    expect(await call('/api/collections/notes/records', { method: 'POST', body: { title: 'pay' } })).toMatchObject({
      status: 402,
      body: { status: 402, message: 'Your plan is full.', data: { title: { code: 'plan_full' } } },
    })
    expect(await call('/api/collections/notes/records', { method: 'POST', body: { title: 'bug' } })).toMatchObject({
      status: 400,
      body: { data: {} },
    })
    await until(() => /TypeError: x is not a function.*notes\.ts\S*:9:/.test(server.err()), server.err)
    const hello = await call('/hello/caf%C3%A9?x=1')
    expect([hello.status, hello.body, hello.headers.get('x-seen')]).toEqual([
      200,
      { hello: 'café', guest: true },
      'GET',
    ])
    expect(await call('/api/app/sum', { method: 'POST', body: { numbers: [1, 2, 3] } })).toMatchObject({
      status: 201,
      body: '6',
    })
    expect((await call('/secret')).status).toBe(401)
    expect((await call('/secret', { token })).status).toBe(200)
    expect((await call('/files/a/b.txt')).body).toBe('<b>a/b.txt</b>')
    expect((await call('/count')).body).toBe('1\n')
    expect((await call('/moved')).headers.get('location')).toBe('/hello/you')
    expect((await call('/api/nope')).status).toBe(404)
    const asked = { origin: 'http://app.example', 'access-control-request-method': 'GET' }
    const preflight = await fetch(`${server.url}/secret`, { method: 'OPTIONS', headers: asked })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(server.err()).not.toContain('reply.sent')
    const frozen = (authorization: string): Promise<Response> =>
      fetch(`${server.url}/api/collections`, { method: 'POST', headers: { authorization, 'x-freeze': '1' } })
    expect((await frozen(token)).status).toBe(403)
    expect(await (await frozen(token)).json()).toMatchObject({ message: 'Definitions are frozen.' })
    expect((await frozen('')).status).toBe(401)
    const logIn = (collection: string, headers: Record<string, string>): Promise<Response> =>
      fetch(`${server.url}/api/collections/${collection}/auth-with-password`, { method: 'POST', headers })
    expect(await (await logIn('_superusers', { 'x-closed': '1' })).json()).toEqual({ closed: '_superusers' })
    expect((await logIn('_superusers', {})).headers.get('x-login')).toBe('_superusers')
    expect((await logIn('users', { 'x-closed': '1' })).status).toBe(400)
    const blocked = await fetch(`${server.url}/api/health`, { headers: { 'x-block': '1' } })
    expect([blocked.status, await blocked.json()]).toEqual([418, { blocked: true }])
    expect(((await call('/api/crons', { token })).body as { readonly id: string }[]).map(({ id }) => id)).toContain(
      'tidy',
    )
    expect((await call('/api/crons/tidy', { method: 'POST', token })).status).toBe(204)
    await until(async () => (await call('/count')).body === '2\n')

    await write({ 'lib/slug.ts': `export const slugOf = (text: string): string => 'v2-' + text\n` })
    await until(
      async () =>
        (
          (await call('/api/collections/notes/records', { method: 'POST', body: { title: 'A' } })).body as {
            slug: string
          }
        ).slug === 'v2-A',
    )
    await write({ 'broken.ts': `export default () => {\n  const x: string = 1\n  nope()\n}\n` })
    await until(() => /broken\.ts:3.*nope is not defined/.test(server.err()), server.err)
    expect((await call('/hello/you')).status).toBe(200)
  },
)

test('a server does not start with a file that can not be loaded: it names the file and the line', async () => {
  await write({
    'posts.ts': `\n\nexport default ({ onRecordCreate }) => {\n  onRecordCreate('posts', () => {})\n}\n`,
  })
  const running = await pannier('serve', '--dir', dir, '--port', '0')
  const [code] = (await once(running.child, 'close')) as [number]
  expect([code, running.err()]).toEqual([
    expect.any(Number),
    expect.stringMatching(/hooks\/posts\.ts:4: onRecordCreate\(\): handler must be a function, got 'posts'/),
  ])
  expect(code).not.toBe(0)
})

test('a hook that holds the thread is named, with what to do', async () => {
  const server = await serve({
    'loop.ts': `export default ({ routerAdd }) => routerAdd('GET', '/loop', () => { for (;;); })\n`,
  })
  expect(
    (await server.call('/api/collections', { method: 'POST', body: NOTES, token: await tokenOf(server) })).status,
  ).toBe(200)
  const note = { method: 'POST', body: { title: 'kept' } }
  expect((await server.call('/api/collections/notes/records', note)).status).toBe(200)
  const ended = new AbortController()
  const stuck = fetch(`${server.url}/loop`, { signal: ended.signal }).catch(() => {})
  await until(() =>
    /The server answers nobody for \d+ s\. The hooks that run, the last one first: GET \/loop in hooks\/loop\.ts:1\./.test(
      server.err(),
    ),
  )
  server.child.kill('SIGKILL')
  await once(server.child, 'close')
  ended.abort()
  await stuck
  const again = await start()
  // Its address comes by another pipe.
  await until(
    () => again.err().includes('while these hooks ran, the last one first: GET /loop in hooks/loop.ts:1.'),
    again.err,
  )
  expect((await again.call('/api/collections/notes/records')).body).toMatchObject({ items: [{ title: 'kept' }] })
})

/** The most that one list gives. */
const PAGE = 1000

/** It grows when a third record is stored: then the second one was answered meanwhile. */
const GROW = `
export default ({ onRecordUpdate, app }) => {
  onRecordUpdate(async (e) => {
    const all = []
    while ((await app.countRecords('notes')) < 3) await new Promise(setImmediate)
    for (;;) {
      for (let n = 0; n < 50_000; n++) all.push({ n })
      await new Promise(setImmediate)
    }
  }, 'notes')
}
`

test(
  'a hook that takes all memory ends the process: the next one names it and has each answered write, those meanwhile too',
  { timeout: 300_000 },
  async () => {
    const server = await serve({ 'grow.ts': GROW })
    const token = await tokenOf(server)
    expect((await server.call('/api/collections', { method: 'POST', body: NOTES, token })).status).toBe(200)
    const answered: string[] = []
    const create = async (): Promise<string> => {
      const { body, status } = await server.call('/api/collections/notes/records', {
        method: 'POST',
        body: { title: 'x' },
      })
      expect(status).toBe(200)
      const { id } = body as { readonly id: string }
      answered.push(id)
      return id
    }
    const first = await create()
    const path = `/api/collections/notes/records/${first}`
    const lost = server.call(path, { method: 'PATCH', body: { title: 'lost' } }).catch(() => 'no answer')
    const writing = (async (): Promise<void> => {
      while (answered.length < PAGE) await create()
    })().catch(() => {})
    await once(server.child, 'close')
    await writing
    expect(await lost).toBe('no answer')
    expect(server.err()).toContain('heap out of memory')

    const again = await start()
    await until(
      () => /while these hooks ran, the last one first: onRecordUpdate in hooks\/grow\.ts:3\./.test(again.err()),
      again.err,
    )
    await until(() => again.err().includes('If its memory was full'), again.err)
    const { body } = await again.call(`/api/collections/notes/records?perPage=${PAGE}&skipTotal=1&fields=id`, { token })
    const stored = new Set((body as { readonly items: readonly { readonly id: string }[] }).items.map(({ id }) => id))
    expect(answered.length).toBeGreaterThan(1)
    expect(answered.filter((id) => !stored.has(id))).toEqual([])

    again.child.kill('SIGTERM')
    await once(again.child, 'close')
    expect((await start()).err()).not.toContain('while these hooks ran')
  },
)
