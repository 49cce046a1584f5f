/**
 * Goal: pages of an application are served at URLs that nothing else answers, and nothing outside of their folder is.
 * Method: a real folder with links that lead out, real requests, raw ones where a client would clean the path.
 */
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN, sendRaw, startServer, type TestServer } from '../test-server.ts'

let dir: string
let server: TestServer

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-public-'))
  const pages = join(dir, 'pages')
  for (const name of ['docs', 'notes', '_app', '.git', '.well-known', 'api', 'empty'])
    await mkdir(join(pages, name), { recursive: true })
  const files: Readonly<Record<string, string>> = {
    'index.html': '<h1>home</h1>',
    'app.js': '0123456789',
    'a b+ü.txt': 'odd name',
    'docs/index.html': '<h1>docs</h1>',
    'notes/a.js': 'hidden by a database',
    'hooked/page.html': 'x',
    '_app/chunk.js': 'chunk',
    'api/page.html': 'never',
    _session: 'never',
    '.env': 'SECRET',
    '.git/config': 'SECRET',
    '.well-known/assetlinks.json': '[]',
  }
  await mkdir(join(pages, 'hooked'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(pages, name), text)
  await utimes(join(pages, 'app.js'), new Date(0), new Date('2026-01-02T03:04:05Z'))
  await writeFile(join(dir, 'outside.txt'), 'SECRET')
  await symlink(join(dir, 'outside.txt'), join(pages, 'link.txt'))
  await symlink(dir, join(pages, 'up'))
  await symlink(join(pages, 'app.js'), join(pages, 'inside.js'))
  await mkdir(join(dir, 'hooks'))
  await writeFile(
    join(dir, 'hooks/routes.js'),
    `export default ({ routerAdd }) => routerAdd('GET', '/hooked/page.html', (e) => e.string(200, 'hook'))`,
  )
  server = await startServer({ app: { public: { dir: pages }, hooks: { dir: join(dir, 'hooks'), watch: false } } })
  for (const name of ['notes', 'docs%2Fold'])
    await fetch(`${server.url}/${name}`, { method: 'PUT', headers: { authorization: ADMIN } })
})
afterAll(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
async function get(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }> {
  const answer = await fetch(server.url + path, { method, headers, redirect: 'manual' })
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}

test('serves files with their types, and asks browsers to look for newer ones', async () => {
  const { status, text, headers } = await get('/app.js')
  expect([status, text]).toEqual([200, '0123456789'])
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'content-length': '10',
    'cache-control': 'no-cache',
    'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT',
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
  })
  expect((await get('/a%20b+%C3%BC.txt')).text).toBe('odd name')
  expect((await get('/_app/chunk.js')).text).toBe('chunk')
  expect((await get('/inside.js')).text).toBe('0123456789')
  expect((await get('/.well-known/assetlinks.json')).text).toBe('[]')
  const head = await get('/app.js', {}, 'HEAD')
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '10'])
})

test('answers ranges, and 304 where nothing has changed', async () => {
  const part = await get('/app.js', { range: 'bytes=2-4' })
  expect([part.status, part.text, part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10'])
  expect((await get('/app.js', { range: 'bytes=50-' })).status).toBe(416)
  const etag = (await get('/app.js')).headers.get('etag')!
  expect((await get('/app.js', { 'if-none-match': etag })).status).toBe(304)
  expect((await get('/app.js', { 'if-none-match': '"other"' })).status).toBe(200)
  expect((await get('/app.js', { 'if-modified-since': 'Fri, 02 Jan 2026 03:04:05 GMT' })).status).toBe(304)
  expect((await get('/app.js', { 'if-modified-since': 'Fri, 02 Jan 2026 03:04:04 GMT' })).status).toBe(200)
})

test('folders have an index, and pages that are not there are index.html for browsers only', async () => {
  expect((await get('/docs/')).text).toBe('<h1>docs</h1>')
  const into = await get('/docs')
  expect([into.status, into.headers.get('location')]).toEqual([302, 'docs/'])
  expect((await get('/', PAGE)).text).toBe('<h1>home</h1>')
  expect((await get('/', { accept: 'application/json' })).text).toContain('"couchdb":"Welcome"')
  expect((await get('/')).text).toContain('"couchdb":"Welcome"')
  for (const path of ['/posts/17', '/deep/er/page', '/empty/', '/empty', '/nope.html'])
    expect((await get(path, PAGE)).text, path).toBe('<h1>home</h1>')
  for (const path of ['/missing.js', '/posts/17']) {
    const { status, text } = await get(path, { accept: '*/*' })
    expect(status, path).toBeGreaterThanOrEqual(400)
    expect(text, path).toContain('"error"')
  }
  expect((await get('/posts/17', PAGE, 'POST')).text).not.toContain('home')
})

test('the API, databases and routes of hooks keep their URLs', async () => {
  expect((await get('/api/health', PAGE)).text).toContain('API is healthy')
  expect((await get('/api/page.html', PAGE)).status).toBe(404)
  expect((await get('/_session', PAGE)).text).toContain('"ok":true')
  expect((await get('/hooked/page.html')).text).toBe('hook')
  for (const path of ['/notes/a.js', '/docs%2Fold', '/notes', '/notes/', '/_users/', '/_all_dbs']) {
    const { status, text } = await get(path, PAGE)
    expect(status, path).toBe(401)
    expect(text, path).toContain('"error"')
  }
  const own = await fetch(`${server.url}/notes`, { headers: { ...PAGE, authorization: ADMIN } })
  expect(await own.json()).toMatchObject({ db_name: 'notes' })
})

test('nothing outside of the folder is served, and no file whose name begins with a dot', async () => {
  const paths = [
    '/.env',
    '/%2eenv',
    '/.git/config',
    '/docs/../.env',
    '/docs/..%2f.env',
    '/../outside.txt',
    '/..%2foutside.txt',
    '/%2e%2e/outside.txt',
    '/%2e%2e%2foutside.txt',
    '/..%5coutside.txt',
    '/docs/../../outside.txt',
    '//../outside.txt',
    '/docs%00/../../outside.txt',
    '/link.txt',
    '/up/outside.txt',
    '/up/hooks/routes.js',
    '/.well-known/../.env',
    '/docs/.well-known/x',
    '/outside.txt%00.html',
    '/%c0%ae%c0%ae/outside.txt',
  ]
  for (const path of paths) {
    const text = await sendRaw(server.url, `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
    expect(text, path).toMatch(/^HTTP\/1.1 [45]/)
    expect(text, path).not.toMatch(/SECRET|routerAdd/)
  }
  const redirect = await sendRaw(
    server.url,
    'GET //evil.example/docs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
  )
  expect(redirect).not.toMatch(/location:/i)
})

test('no file stays open when clients leave, however early', async () => {
  const path = join(dir, 'pages', 'large.bin')
  await writeFile(path, Buffer.alloc(3_000_000))
  const { port, hostname } = new URL(server.url)
  for (let n = 0; n < 200; n++) {
    const socket = connect(Number(port), hostname).on('error', () => {})
    await once(socket, 'connect')
    socket.write('GET /large.bin HTTP/1.1\r\nhost: localhost\r\n\r\n')
    // At each moment of the answer.
    for (let turns = n % 20; turns > 0; turns--) await nextTurn()
    socket.resetAndDestroy()
  }
  await virtualEnvironment().idle()
  expect((await openFiles()).filter((file) => file === path)).toEqual([])
})

/** Of this process, on Linux. */
async function openFiles(): Promise<string[]> {
  const folder = '/proc/self/fd'
  return Promise.all((await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')))
}

test('a missing folder is refused', async () => {
  await expect(startServer({ app: { public: { dir: join(dir, 'nowhere') } } })).rejects.toThrow(
    'public.dir must be a folder, got',
  )
})

test('a browser that asks for an icon which is missing gets a 404, and no demand to log in', async () => {
  for (const path of ['/favicon.ico', '/apple-touch-icon.png', '/assets.v1/app.js', '/.env'])
    expect([path, (await fetch(server.url + path)).status]).toEqual([path, 404])
  expect((await fetch(`${server.url}/nothing`)).status).toBe(401)
})
