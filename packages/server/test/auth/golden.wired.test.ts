/** Goal: accounts that earlier code has stored (golden/make.ts) log in at each door, with their sessions, roles and ends of sessions. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { systemEnvironment } from 'pannier/internal'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stretchReally } from '../../../../tools/test/setup/stretching.ts'
import { tokenFor } from '../rest/rest-server.ts'
import { basic, send, startServer, STRANGER, type Answer, type TestServer } from '../test-server.ts'
import facts from './golden/accounts.json' with { type: 'json' }

const CAROL = `users:${facts.ids.carol}`
const { cookies } = facts
let server: TestServer
let dir: string
const endStretching = stretchReally()

async function start(): Promise<TestServer> {
  const environment = { ...systemEnvironment(), wallClock: () => facts.nowMs + 60_000 }
  return startServer({ dir, environment, couchAdmin: 'admin:password of admin' })
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-golden-'))
  const golden = await readFile(join(import.meta.dirname, 'golden/accounts.sqlite.gz'))
  await writeFile(join(dir, 'pannier.sqlite'), gunzipSync(golden), { mode: 0o600 })
  await writeFile(join(dir, 'pannier.session-key'), Buffer.from(facts.key, 'hex'), { mode: 0o600 })
  server = await start()
})
afterAll(async () => {
  endStretching()
  await server.close()
  await rm(dir, { recursive: true })
})

function as(headers: Readonly<Record<string, string>>, request = 'GET /_session', body?: unknown): Promise<Answer> {
  return send(server.url, request, body, { ...STRANGER, ...headers })
}

async function who(headers: Readonly<Record<string, string>>): Promise<unknown> {
  const { status, json } = await as(headers)
  return status === 200 ? json['userCtx'] : status
}

test('each account logs in with its password, by Basic and by a form', async () => {
  for (const [name, own, roles] of [
    ['admin', 'admin', ['_admin']],
    ['ann', 'ann', ['staff']],
    ['bob', 'bob', ['staff']],
    ['root@example.com', 'root@example.com', ['_admin']],
    ['carol@example.com', CAROL, ['staff']],
  ] as const) {
    const password = `password of ${name.split('@', 1)[0]!}`
    expect(await who({ authorization: basic(`${name}:${password}`) })).toEqual({ name: own, roles })
    expect((await as({}, 'POST /_session', { name, password })).json).toEqual({ ok: true, name: own, roles })
    expect((await as({}, 'POST /_session', { name, password: 'wrong' })).status).toBe(401)
  }
})

test('sessions that were open stay so, and those that were ended stay ended', async () => {
  expect(await who({ cookie: cookies.ann })).toEqual({ name: 'ann', roles: ['staff'] })
  expect(await who({ cookie: cookies.carol })).toEqual({ name: CAROL, roles: ['staff'] })
  expect(await who({ authorization: `Bearer ${facts.token}` })).toEqual({ name: CAROL, roles: ['staff'] })
  expect((await as({ cookie: cookies.carol }, 'GET /team')).status).toBe(200)
  expect(await who({ cookie: facts.ended })).toEqual({ name: null, roles: [] })
  // The cookie of a superuser was signed by another key. They log in again.
  expect(await who({ cookie: cookies.root })).toEqual({ name: null, roles: [] })
})

test('what is written now is read after a restart', async () => {
  const token = await tokenFor(server.url, '_superusers', 'root@example.com', 'password of root')
  expect((await as({ cookie: cookies.ann }, 'DELETE /_session')).status).toBe(200)
  await server.close()
  server = await start()
  expect(await who({ cookie: cookies.ann })).toEqual({ name: null, roles: [] })
  expect(await who({ authorization: `Bearer ${token}` })).toMatchObject({ roles: ['_admin'] })
  expect(await who({ authorization: basic('bob:password of bob') })).toEqual({ name: 'bob', roles: ['staff'] })
})
