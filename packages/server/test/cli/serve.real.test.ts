/**
 * Goal: `pannier serve` tells where it listens and, once, the admin's password; it ends when asked, at once when asked twice, and loses
 * nothing. `pannier user add` makes users of servers that run and of those that don't, and never shows a password.
 * Method: real processes.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { kill } from '../../../../tools/processes.ts'
import { systemEnvironment } from 'pannier/internal'
import { askNewPassword } from '../../src/cli/ask-password.ts'
import { runCaptured } from './run-captured.ts'
import { call, EMAIL, PASSWORD, tokenFor } from '../rest/rest-server.ts'
import { basic, send, sendRaw, STRANGER, until } from '../test-server.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')

interface Running {
  readonly process: ChildProcess
  readonly out: () => string
  readonly err: () => string
  readonly ended: Promise<number | string>
}

let dir: string
const started: ChildProcess[] = []

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-serve-'))
})
afterEach(async () => {
  await Promise.all(started.splice(0).map(kill))
  await rm(dir, { recursive: true, force: true })
})

function pannier(parameters: readonly string[], input = ''): Running {
  const { PANNIER_SUPERUSER: _, ...env } = process.env
  const child = spawn(process.execPath, ['--conditions=pannier-source', MAIN, ...parameters], { env })
  started.push(child)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdin.end(input)
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  return { process: child, out: () => out, err: () => err, ended }
}

async function serve(...more: readonly string[]): Promise<Running & { readonly url: string }> {
  const running = pannier(['serve', '--dir', dir, '--port', '0', ...more])
  await until(() => running.out().includes('\n') || running.process.exitCode !== null)
  const url = /http:\/\/\S+/.exec(running.out())?.[0]
  if (url === undefined) throw new Error(running.err())
  return { ...running, url }
}

test('a server without a superuser shows the link to make one, which no other start shows', async () => {
  const first = await serve()
  await until(() => first.err().includes('/_/#/setup/'))
  const [, page, secret] = /(http:\/\/\S+)#\/setup\/(\S+)/.exec(first.err())!
  expect(page).toBe(`${first.url}/_/`)
  const input = { email: 'ann@example.com', password: '1234567890', passwordConfirm: '1234567890' }
  const request = 'POST /api/collections/_superusers/records'
  expect((await send(first.url, request, input, { authorization: secret! })).status).toBe(200)
  expect((await send(first.url, request, input, { authorization: secret! })).status).toBe(403)
  first.process.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  const second = await serve()
  second.process.kill('SIGTERM')
  expect(await second.ended).toBe(0)
  expect(second.err()).not.toContain('setup')
})

test('it ends when asked, and nothing is lost', async () => {
  const first = await serve('--superuser', `${EMAIL}:${PASSWORD}`)
  expect(first.err()).not.toContain('setup')
  const admin = { authorization: basic(`${EMAIL}:${PASSWORD}`) }
  expect((await send(first.url, 'GET /_all_dbs', undefined, STRANGER)).status).toBe(401)
  expect((await send(first.url, 'PUT /db', undefined, admin)).status).toBe(201)
  const feed = await fetch(`${first.url}/db/_changes?feed=continuous&heartbeat=1000`, { headers: admin })
  expect((await send(first.url, 'PUT /db/a', { n: 1 }, admin)).status).toBe(201)
  first.process.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  expect(await feed.text()).toContain('"last_seq"')

  const second = await serve('--durability', 'strict', '--log-level', 'info')
  expect((await send(second.url, 'GET /db/a', undefined, admin)).json).toMatchObject({ n: 1 })
  await until(() => second.err().includes('"path":"/db/a"'))
  expect(second.err()).not.toContain(admin.authorization)
  second.process.kill('SIGINT')
  expect(await second.ended).toBe(0)
})

test.runIf(process.platform === 'linux')('threads that hash passwords yield to the one that answers', async () => {
  const { process: server } = await serve()
  const tasks = `/proc/${server.pid}/task`
  const priorities = new Map<string, Set<number>>()
  for (const task of await readdir(tasks)) {
    const name = (await readFile(`${tasks}/${task}/comm`, 'utf8')).trim()
    priorities.set(name, (priorities.get(name) ?? new Set()).add(getPriority(Number(task))))
  }
  const usual = getPriority()
  expect(getPriority(server.pid)).toBe(usual)
  expect([...priorities.get('libuv-worker')!]).toEqual([usual + 10])
})

test('asked to end, it tells streams when to come back, finishes an upload, and takes nothing new', async () => {
  const made = await pannier(['superuser', 'upsert', EMAIL, PASSWORD, '--dir', dir]).ended
  expect(made).toBe(0)
  const first = await serve()
  const token = await tokenFor(first.url, '_superusers', EMAIL, PASSWORD)
  const fields = [{ name: 'paper', type: 'file', maxSize: 50_000_000 }]
  await call(first.url, 'POST /collections', { name: 'papers', fields }, token)
  const stream = await fetch(`${first.url}/api/realtime`)
  const reader = stream.body!.getReader()
  let streamed = new TextDecoder().decode((await reader.read()).value)
  expect(streamed).toContain('PB_CONNECT')

  const half = Buffer.alloc(300_000, 'a')
  const head =
    '--b\r\ncontent-disposition: form-data; name="paper"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n'
  const headers = {
    authorization: token,
    'content-type': 'multipart/form-data; boundary=b',
    expect: '100-continue',
  }
  const upload = request(`${first.url}/api/collections/papers/records`, { method: 'POST', headers })
  upload.flushHeaders()
  await once(upload, 'continue')
  upload.write(Buffer.concat([Buffer.from(head), half]))
  first.process.kill('SIGTERM')
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    streamed += new TextDecoder().decode(value)
  }
  expect(streamed).toMatch(/retry:\d+\n\n$/)
  // Streams end before nobody listens any more.
  for (let answer: unknown; answer !== 'no answer';) {
    answer = await fetch(`${first.url}/api/health`).then(
      ({ status }) => status,
      () => 'no answer',
    )
    expect([503, 'no answer']).toContain(answer)
  }
  upload.end(Buffer.concat([half, Buffer.from('\r\n--b--\r\n')]))
  const [answer] = (await once(upload, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(200)
  const { id, paper } = (await json(answer)) as { readonly id: string; readonly paper: string }
  expect(await first.ended).toBe(0)

  const second = await serve()
  const file = await fetch(`${second.url}/api/files/papers/${id}/${paper}`)
  expect((await file.arrayBuffer()).byteLength).toBe(600_000)
})

test('asked a second time it ends at once, and what was answered is there', async () => {
  const first = await serve('--couch-admin', 'root:password-of-root')
  const root = { authorization: basic('root:password-of-root') }
  await send(first.url, 'PUT /db', undefined, root)
  expect((await send(first.url, 'PUT /db/a', {}, root)).status).toBe(201)
  // An upload that stops in the middle delays the end.
  const headers = { ...root, 'content-type': 'application/json', expect: '100-continue' }
  const stuck = request(`${first.url}/db/b`, { method: 'PUT', headers })
  const failed = once(stuck, 'error')
  stuck.flushHeaders()
  await once(stuck, 'continue')
  stuck.write('{')
  first.process.kill('SIGINT')
  await until(() => first.err().includes('Once more'))
  first.process.kill('SIGTERM')
  expect(await first.ended).toBe('SIGTERM')
  await failed
  const again = await serve()
  expect((await send(again.url, 'GET /db/a', undefined, root)).status).toBe(200)
})

test('what can not be started says why', async () => {
  for (const wrong of [[], ['--dir'], ['--port', 'x'], ['--couch-admin', 'root:short'], ['--cors', 'nonsense']])
    expect((await runCaptured(['serve', ...(wrong.length > 1 ? ['--dir', dir] : []), ...wrong])).code).toBe(2)
  const running = await serve()
  const locked = pannier(['serve', '--dir', dir, '--port', '0'])
  expect(await locked.ended).toBe(1)
  expect(locked.err()).toContain('PANNIER_LOCKED')
  const taken = pannier(['serve', '--dir', join(dir, 'other'), '--port', new URL(running.url).port])
  expect(await taken.ended).toBe(1)
  expect(taken.err()).toContain('another program listens there. --port chooses another port.')
  expect(taken.err(), 'no password is shown of a server that could not start').not.toContain('password:')
  expect(existsSync(join(dir, 'other'))).toBe(false)
  const missing = await runCaptured(['serve', '--dir', join(dir, 'pages'), '--port', '0', '--fauxton', join(dir, 'x')])
  expect([missing.code, missing.err]).toEqual([
    2,
    expect.stringContaining('couch.fauxton must be a folder of pages, got'),
  ])
  const file = await runCaptured(['serve', '--dir', join(dir, 'pannier.sqlite')])
  expect([file.code, file.err]).toEqual([2, expect.stringContaining('must be a folder, got')])
})

test('users and databases of a server that runs, and of one that does not', async () => {
  const names = ['ann', 'bob', 'cy']
  const running = await serve('--couch-admin', 'root:password-of-root')
  const url = running.url.replace('//', '//root:password-of-root@')
  const run = async (where: readonly string[], input: string, ...parameters: readonly string[]): Promise<string> => {
    const { code, out, err } = await runCaptured([...parameters, ...where], { input })
    return code === 0 ? out + err : `${code}: ${err}`
  }
  const administered = async (where: readonly string[], database: string): Promise<void> => {
    for (const name of names) await run(where, `password-of-${name}`, 'user', 'add', name)
    expect(await run(where, '', 'db', 'create', database, '--members', 'ann', 'bob', '--admins', 'ann')).toBe(
      `Database ${database} made.\n`,
    )
    expect(await run(where, '', 'db', 'create', database)).toBe(
      `1: There is a database ${database} already. \`pannier db grant ${database}\` lets users in.\n`,
    )
    expect(await run(where, '', 'db', 'grant', 'nowhere', '--members', 'ann')).toMatch(
      /^1: There is no database nowhere\./,
    )
    expect(await run(where, '', 'db', 'grant', database, '--members', 'cy', '--member-roles', 'nurse')).toContain(
      'granted',
    )
    expect(await run(where, '', 'db', 'create', `${database}-open`, '--public')).toContain('made')
    expect(await run(where, '', 'db', 'create', `${database}-own`)).toContain('made')
    const table = await run(where, '', 'db', 'list')
    expect(table).toMatch(new RegExp(`^${database} +0 +ann, bob, cy, \\(nurse\\) +ann$`, 'm'))
    expect(table).toMatch(new RegExp(`^${database}-open +0 +everybody`, 'm'))
    expect(table).toMatch(new RegExp(`^${database}-own +0 +\\(server admins\\)`, 'm'))
    expect(await run(where, 'another-password', 'user', 'passwd', 'bob')).toContain('bob has a new password')
    expect(await run(where, '', 'user', 'remove', 'cy')).toBe('User cy removed.\n')
    expect(await run(where, '', 'user', 'remove', 'cy')).toBe('1: There is no user cy.\n')
    expect(await run(where, 'whatever-it-is', 'user', 'passwd', 'nobody')).toBe('1: There is no user nobody.\n')
    const users = JSON.parse(await run(where, '', 'user', 'list', '--json')) as { readonly name: string }[]
    expect(users.map(({ name }) => name)).toEqual(['root', 'ann', 'bob'])
  }
  await administered(['--url', url], 'notes')
  const bob = { authorization: basic('bob:another-password') }
  expect((await send(running.url, 'GET /notes', undefined, bob)).status).toBe(200)
  expect(
    (await send(running.url, 'GET /notes', undefined, { authorization: basic('bob:password-of-bob') })).status,
  ).toBe(401)
  for (const name of ['ann', 'bob']) await run(['--url', url], '', 'user', 'remove', name)
  running.process.kill('SIGTERM')
  await running.ended

  await administered(['--dir', dir], 'tasks')
  const again = await serve()
  expect((await send(again.url, 'GET /tasks', undefined, bob)).status).toBe(200)
  expect((await send(again.url, 'GET /tasks-own', undefined, bob)).status).toBe(403)
})

test('an encrypted server and its tools need the password', async () => {
  vi.stubEnv('PANNIER_PASSWORD', 'password of the file')
  const running = await serve('--couch-admin', 'root:password-of-root')
  running.process.kill('SIGTERM')
  await running.ended
  expect((await runCaptured(['user', 'list', '--dir', dir])).out).toContain('root')
  expect((await runCaptured(['verify', dir])).code).toBe(0)
  vi.stubEnv('PANNIER_PASSWORD', undefined)
  const { code, err } = await runCaptured(['inspect', dir])
  expect([code, err]).toEqual([1, expect.stringContaining('PANNIER_PASSWORD')])
  vi.unstubAllEnvs()
})

test('users of a server that runs, and of one that does not', async () => {
  const running = await serve('--couch-admin', 'root:password-of-root')
  const url = running.url.replace('//', '//root:password-of-root@')
  const ann = pannier(['user', 'add', 'ann', '--url', url, '--roles', 'nurse', 'doctor'], 'password-of-ann\n')
  expect([await ann.ended, ann.out(), ann.err()]).toEqual([0, '', 'User ann made.\n'])
  const login = await send(running.url, 'POST /_session', { name: 'ann', password: 'password-of-ann' }, STRANGER)
  expect(login.json).toMatchObject({ ok: true, roles: ['nurse', 'doctor'] })
  const add = async (
    input: string,
    ...parameters: readonly string[]
  ): Promise<readonly [code: number, err: string]> => {
    const { code, err } = await runCaptured(['user', 'add', ...parameters], { input })
    return [code, err]
  }
  expect(await add('password-of-ann', 'ann', '--url', url)).toEqual([1, 'There is a user ann already.\n'])
  const wrongUrl = url.replace('of-root', 'of-none')
  expect(await add('password-of-bob', 'bob', '--url', wrongUrl)).toEqual([1, 'Name or password is incorrect.\n'])
  const locked = pannier(['user', 'add', 'bob', '--dir', dir], 'password-of-bob\n')
  expect([await locked.ended, locked.err().includes('by its URL')]).toEqual([1, true])
  running.process.kill('SIGTERM')
  await running.ended

  const stopped = await add('password-of-ann', 'ann', '--url', url)
  expect(stopped).toEqual([1, expect.stringContaining('does not answer')])
  expect(await pannier(['user', 'add', 'bob', '--dir', dir], 'password-of-bob').ended).toBe(0)
  const codeOf = async (...parameters: Parameters<typeof add>): Promise<number> => (await add(...parameters))[0]
  expect(await codeOf('password-of-cy', 'cy', '--dir', dir, '--admin')).toBe(0)
  expect(await codeOf('password-of-ann', 'ann', '--dir', dir)).toBe(1)
  expect(await codeOf('short', 'dan', '--dir', dir)).toBe(1)
  expect(await codeOf('', 'dan', '--dir', dir)).toBe(2)
  expect(await codeOf('password-of-dan', 'dan')).toBe(2)
  const again = await serve()
  for (const [name, roles] of [
    ['bob', []],
    ['cy', ['_admin']],
  ] as const) {
    const { json } = await send(again.url, 'POST /_session', { name, password: `password-of-${name}` }, STRANGER)
    expect(json).toMatchObject({ ok: true, roles })
  }
})

test('a password that is typed is not shown', async () => {
  const typed = (keys: string) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
    const stderr = new PassThrough()
    const more = { signal: new AbortController().signal, environment: systemEnvironment() }
    const asked = askNewPassword({ stdin, stdout: stderr, stderr, ...more }, 'Password')
    for (const [at, line] of keys.match(/[^\r]+\r?/g)!.entries()) setTimeout(() => stdin.write(line), at * 50)
    return { asked, shown: () => String(stderr.read()) }
  }
  const right = typed('secret word\rsecret word\r')
  expect(await right.asked).toBe('secret word')
  expect(right.shown()).toBe('Password: \nOnce more: \n')
  await expect(typed('secret word\rsecret ward\r').asked).rejects.toThrow('not the same')
  await expect(typed('secret\u0003').asked).rejects.toThrow('Stopped')
})

test('--allow-host and --quota reach the server; a wrong quota is refused', async () => {
  const {
    url,
    process: child,
    ended,
  } = await serve('--allow-host', 'couch.lan', '--quota', '1', '--couch-admin', 'root:long-enough')
  const status = async (host: string): Promise<string> =>
    (await sendRaw(url, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).slice(9, 12)
  expect([await status('couch.lan'), await status('other.lan')]).toEqual(['200', '403'])
  const root = { authorization: basic('root:long-enough') }
  await send(url, 'PUT /db', undefined, root)
  const big = await send(url, 'PUT /db/a/b', new Uint8Array(2 * 1024 * 1024), { ...root, 'content-type': 'a/b' })
  expect([big.status, big.text]).toEqual([507, expect.stringContaining('1048576 bytes')])
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  for (const quota of ['0', '1.5', 'much']) {
    const { code, err } = await runCaptured(['serve', '--dir', dir, '--quota', quota])
    expect([code, err]).toEqual([2, expect.stringContaining('A quota is a whole number of MiB')])
  }
})
