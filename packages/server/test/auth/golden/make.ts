/**
 * Makes `accounts.json` and `accounts.sqlite.gz`: the accounts of a server, as the code at hand stores them. The files in the repository are
 * of the code before accounts of the application logged in by one service at both doors. They are made again by no later code.
 */
import { pbkdf2Sync } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { SYSTEM } from '@pannier/backend'
import { systemEnvironment } from 'pannier/internal'
import { createServer } from '../../../src/index.ts'

const NOW_MS = Date.UTC(2026, 10, 30, 12)
const HERE = import.meta.dirname
const ITSELF = { principal: SYSTEM, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
const secret = (password: string): object => ({ password, passwordConfirm: password })
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

const dir = await mkdtemp(join(tmpdir(), 'pannier-golden-'))
const environment = { ...systemEnvironment(), wallClock: () => NOW_MS }
const server = await createServer({ dir, logger: false, environment, couchAdmin: 'admin:password of admin' })
const url = await server.listen({ port: 0 })
const { records } = server.backend

async function send(request: string, body?: unknown, authorization = basic('admin:password of admin')) {
  const [method = '', path] = request.split(' ')
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(authorization !== '' && { authorization }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const json = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(`${request}: ${JSON.stringify(json)}`)
  return { json, cookie: (response.headers.get('set-cookie') ?? '').split(';', 1)[0]! }
}

const root = await records.create(ITSELF, '_superusers', { email: 'root@example.com', ...secret('password of root') })
const carol = await records.create(ITSELF, 'users', { email: 'carol@example.com', ...secret('password of carol') })
const user = (name: string, more: object): object => ({ name, type: 'user', roles: ['staff'], ...more })
await send('PUT /_users/org.couchdb.user:ann', user('ann', { password: 'password of ann' }))
// As CouchDB 3.3 has it: PBKDF2 with SHA-1, 10 iterations, of the password `password of bob`.
const derived = pbkdf2Sync('password of bob', 'salt of bob', 10, 20, 'sha1').toString('hex')
const credentials = { password_scheme: 'pbkdf2', salt: 'salt of bob', iterations: 10, derived_key: derived }
await send('PUT /_users/org.couchdb.user:bob', user('bob', credentials))
await send(`PUT /_users/org.couchdb.user:users:${String(carol['id'])}`, user(`users:${String(carol['id'])}`, {}))
await send('PUT /team')
await send('PUT /team/_security', { members: { names: [], roles: ['staff'] } })
const logIn = async (name: string): Promise<string> =>
  (await send('POST /_session', { name, password: `password of ${name.split('@', 1)[0]!}` }, '')).cookie
const cookies = { ann: await logIn('ann'), root: await logIn('root@example.com'), carol: await logIn('carol@example.com') }
const ended = await logIn('ann')
await fetch(`${url}/_session`, { method: 'DELETE', headers: { cookie: ended } })
const form = { identity: 'carol@example.com', password: 'password of carol' }
const { json } = await send('POST /api/collections/users/auth-with-password', form, '')
await server.close()

const key = (await readFile(join(dir, 'pannier.session-key'))).toString('hex')
const facts = { nowMs: NOW_MS, ids: { root: root['id'], carol: carol['id'] }, key, cookies, ended, token: json['token'] }
await writeFile(join(HERE, 'accounts.json'), `${JSON.stringify(facts, null, 2)}\n`)
await writeFile(join(HERE, 'accounts.sqlite.gz'), gzipSync(await readFile(join(dir, 'pannier.sqlite')), { level: 9 }))
await rm(dir, { recursive: true })
