/** Logging in, sessions, Basic, permissions and what attackers try with them, over HTTP. Rows are those of the project's list of faults. */
import { createHash, pbkdf2Sync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { virtualEnvironment } from 'pannier/testing'
import { WorkQueue } from '../../../backend/src/gateway/work-queue.ts'
import { stretchReally } from '../../../../tools/test/setup/stretching.ts'
import { startAuthServer, type Answer, type AuthServer } from './auth-server.ts'

const ADMIN = 'root:correct horse'
const PASSWORD = 'battery staple'
const environment = virtualEnvironment()
let server: AuthServer

beforeAll(async () => {
  const corsOrigins = ['https://app.example.org']
  server = await startAuthServer({ corsOrigins, loginLimits: { addressMax: 1000, nameMax: 40 } }, environment)
  await server.auth.accounts.setAdmin('root', 'correct horse')
  await server.setSecurity('open', { admins: {}, members: {} })
  await server.setSecurity('team', { admins: { names: ['boss'] }, members: { roles: ['team'] } })
  await addUser('ann', ['team'])
  await addUser('bob', [])
  await addUser('boss', [])
})
afterAll(() => server.close())

async function addUser(name: string, roles: string[], fields: object = { password: PASSWORD }): Promise<void> {
  const body = { name, roles, type: 'user', ...fields }
  const { status } = await server.request('PUT', `/_users/org.couchdb.user:${name}`, { body, basic: ADMIN })
  expect(status).toBe(200)
}

async function changeUser(
  name: string,
  change: object,
  credentials: { basic?: string; cookie?: string },
): Promise<number> {
  const document = await server.users.get(`org.couchdb.user:${name}`)
  const { status } = await server.request('PUT', `/_users/org.couchdb.user:${name}`, {
    body: { ...document, ...change },
    ...credentials,
  })
  return status
}

const who = async (cookie: string): Promise<unknown> =>
  ((await server.request('GET', '/_session', { cookie })).body['userCtx'] as { name: unknown }).name

describe('/_session', () => {
  test('logs in with JSON and with a form, tells who it is, logs out', async () => {
    const json = await server.request('POST', '/_session', { body: { name: 'ann', password: PASSWORD } })
    expect(json).toMatchObject({ status: 200, body: { ok: true, name: 'ann', roles: ['team'] } })
    const setCookie = json.headers.get('set-cookie')!
    expect(setCookie).toMatch(/^AuthSession=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
    const form = await server.request('POST', '/_session', {
      text: new URLSearchParams({ name: 'ann', password: PASSWORD }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(form.status).toBe(200)
    const session = await server.request('GET', '/_session', { cookie: form.cookie })
    expect(session.body).toEqual({
      ok: true,
      userCtx: { name: 'ann', roles: ['team'] },
      info: { authentication_handlers: ['cookie', 'default'], authenticated: 'cookie' },
    })
    const out = await server.request('DELETE', '/_session', { cookie: form.cookie })
    expect(out.headers.get('set-cookie')).toMatch(/^AuthSession=; .*Max-Age=0/)
    expect((await server.request('GET', '/_session')).body).toMatchObject({ userCtx: { name: null, roles: [] } })
  })

  test('refuses wrong and malformed credentials', async () => {
    for (const body of [
      { name: 'ann', password: 'wrong' },
      { name: 'nobody', password: PASSWORD },
    ])
      expect(await server.request('POST', '/_session', { body })).toMatchObject({
        status: 401,
        body: { error: 'unauthorized', reason: 'Name or password is incorrect.' },
      })
    for (const text of [
      '{"name":"ann"}',
      '{"name":{"$gt":""},"password":["x"]}',
      '[]',
      'null',
      '{',
      '{"name":"ann","name":"root","password":"x"}',
    ])
      expect((await server.request('POST', '/_session', { text })).status).toBe(400)
  })

  test('cookies are for TLS only where that is configured', async () => {
    const secure = await startAuthServer({ secureCookies: true, sameSite: 'Strict' })
    await secure.auth.accounts.setAdmin('root', 'correct horse')
    const [name, password] = ADMIN.split(':')
    const { headers } = await secure.request('POST', '/_session', { body: { name, password } })
    expect(headers.get('set-cookie')).toMatch(/SameSite=Strict; .*; Secure$/)
    await secure.close()
  })

  test('a used session stays valid; an unused one ends', async () => {
    let cookie = await server.logIn('ann', PASSWORD)
    for (let round = 0; round < 4; round++) {
      await environment.advance(400_000)
      const answer = await server.request('GET', '/_who', { cookie })
      expect(answer.status).toBe(200)
      cookie = answer.cookie
    }
    await environment.advance(601_000)
    expect(await who(cookie)).toBe(null)
  })
})

describe('row 37: timing', () => {
  test('an unknown user, a wrong password and a weak CouchDB record all cost a hash', async () => {
    await addUser('weak', [], couchRecord('secret'))
    // Makes the hash that unknown names are compared with.
    await server.auth.accounts.verify('nobody', 'wrong password')
    const hashes = vi.spyOn(WorkQueue.prototype, 'run')
    const hashesFor = async (name: string): Promise<number> => {
      hashes.mockClear()
      expect(await server.auth.accounts.verify(name, 'wrong password')).toBeUndefined()
      return hashes.mock.calls.length
    }
    // The weak one is verified as what it is besides.
    const counts = { ann: 1, nobody: 1, root: 1, weak: 2 }
    for (const [name, count] of Object.entries(counts)) expect([name, await hashesFor(name)]).toEqual([name, count])
    hashes.mockRestore()
  })
})

describe('row 38: sessions that have ended are refused', () => {
  test('after logout, its renewed cookies too, and after a restart', async () => {
    const cookie = await server.logIn('ann', PASSWORD)
    await environment.advance(100_000)
    const renewed = (await server.request('GET', '/_who', { cookie })).cookie
    expect(renewed).not.toBe(cookie)
    const other = await server.logIn('ann', PASSWORD)
    await server.request('DELETE', '/_session', { cookie: renewed })
    for (const old of [cookie, renewed]) expect(await who(old)).toBe(null)
    expect(await who(other)).toBe('ann')
    await server.restart()
    for (const old of [cookie, renewed]) expect(await who(old)).toBe(null)
    expect(await who(other)).toBe('ann')
  })

  test('after the password was changed, by the user or an admin, Basic credentials included', async () => {
    await addUser('carl', [])
    const cookie = await server.logIn('carl', PASSWORD)
    expect((await server.request('GET', '/_who', { basic: `carl:${PASSWORD}` })).status).toBe(200)
    const change = { password: 'another password', current_password: PASSWORD }
    expect(await changeUser('carl', change, { cookie })).toBe(200)
    expect(await who(cookie)).toBe(null)
    expect((await server.request('GET', '/_who', { basic: `carl:${PASSWORD}` })).status).toBe(401)
    expect((await server.request('GET', '/_who', { basic: 'carl:another password' })).status).toBe(200)
  })

  test('after the user was deleted, and made again', async () => {
    await addUser('dora', [])
    const first = await server.logIn('dora', PASSWORD)
    await server.users.delete('org.couchdb.user:dora')
    expect(await who(first)).toBe(null)
    await addUser('dora', [])
    expect(await who(first)).toBe(null)
  })

  test('cookies that were tampered with, of others, or of another server', async () => {
    const cookie = await server.logIn('ann', PASSWORD)
    const [payload, signature] = cookie.slice('AuthSession='.length).split('.') as [string, string]
    const forged = Buffer.from(Buffer.from(payload, 'base64url').toString().replace('ann', 'root')).toString(
      'base64url',
    )
    for (const value of [
      `${forged}.${signature}`,
      `${payload}.${'A'.repeat(43)}`,
      payload,
      `${payload}.`,
      'x'.repeat(5000),
      '',
    ])
      expect(await who(`AuthSession=${value}`)).toBe(null)
    expect(await who(`${cookie}; ${cookie}x`)).toBe(null)
    const other = await startAuthServer({}, environment)
    await other.auth.accounts.setAdmin('root', 'correct horse')
    const foreign = await other.logIn('root', 'correct horse')
    await other.close()
    expect(await who(foreign)).toBe(null)
  })

  test('tokens in URLs are nothing', async () => {
    const cookie = await server.logIn('ann', PASSWORD)
    expect((await server.request('GET', `/_who?${cookie}`)).status).toBe(401)
  })
})

describe('row 39: CSRF', () => {
  const refused = async (headers: Record<string, string>, status: number): Promise<void> => {
    const cookie = await server.logIn('root', 'correct horse')
    expect((await server.request('POST', '/open', { text: '{}', cookie, headers })).status).toBe(status)
  }

  test('types that a form may send, foreign and null origins, cross-site fetches', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'TEXT/PLAIN;charset=utf-8',
    ])
      await refused({ 'content-type': type }, 415)
    await refused({ origin: 'https://evil.example' }, 403)
    await refused({ origin: 'null' }, 403)
    await refused({ origin: 'https://app.example.org.evil.example' }, 403)
    await refused({ 'sec-fetch-site': 'cross-site' }, 403)
    await refused({ 'sec-fetch-site': 'same-site' }, 403)
  })

  test('own pages, allowed origins and clients that are no browsers may write', async () => {
    await refused({}, 200)
    await refused({ origin: server.url, 'sec-fetch-site': 'same-origin' }, 200)
    await refused({ origin: 'https://app.example.org', 'sec-fetch-site': 'cross-site' }, 200)
  })

  test('nobody is logged in, or out, by a page of another site', async () => {
    const headers = { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' }
    expect((await server.request('POST', '/_session', { text: 'name=root&password=x', headers })).status).toBe(403)
    expect((await server.request('DELETE', '/_session', { headers })).status).toBe(403)
  })
})

describe('permissions', () => {
  test.each([
    ['/_up', 200, 200, 200, 200, 200],
    ['/_who', 401, 200, 200, 200, 200],
    ['/_all_dbs', 401, 401, 401, 401, 200],
    ['/_forgotten', 401, 401, 401, 401, 200],
    ['/open', 200, 200, 200, 200, 200],
    ['/team', 401, 403, 200, 200, 200],
    ['/closed', 401, 403, 403, 403, 200],
    ['/_users/_all_docs', 401, 403, 403, 403, 200],
    ['/_users/org.couchdb.user:ann', 401, 403, 200, 403, 200],
    ['/_users/_local/org.couchdb.user:ann', 401, 403, 403, 403, 200],
  ])('GET %s', async (path, anonymous, bob, ann, boss, root) => {
    const statusOf = async (basic?: string): Promise<number> =>
      (await server.request('GET', path, basic === undefined ? {} : { basic })).status
    expect([
      await statusOf(),
      await statusOf(`bob:${PASSWORD}`),
      await statusOf(`ann:${PASSWORD}`),
      await statusOf(`boss:${PASSWORD}`),
      await statusOf(ADMIN),
    ]).toEqual([anonymous, bob, ann, boss, root])
  })

  test('what needs an admin of the database', async () => {
    const statusOf = async (basic?: string): Promise<number> =>
      (await server.request('PUT', '/team/_security', { body: {}, ...(basic !== undefined && { basic }) })).status
    expect([
      await statusOf(),
      await statusOf(`ann:${PASSWORD}`),
      await statusOf(`boss:${PASSWORD}`),
      await statusOf(ADMIN),
    ]).toEqual([401, 403, 200, 200])
  })

  test('wrong Basic credentials are refused even where nobody has to log in', async () => {
    expect((await server.request('GET', '/_up', { basic: 'ann:wrong' })).status).toBe(401)
  })

  test.each(['Bearer x', 'Digest username="ann"', 'Basic: YW5uOng=', 'Basic YW5u', 'basic', 'x'])(
    'other credentials are passed over: %s',
    async (authorization) => {
      const headers = { authorization }
      expect((await server.request('GET', '/_up', { headers })).status).toBe(200)
      expect((await server.request('GET', '/team/_info', { headers })).status).toBe(401)
      const cookie = await server.logIn('ann', PASSWORD)
      const { body } = await server.request('GET', '/_session', { headers, cookie })
      expect(body).toMatchObject({ userCtx: { name: 'ann' }, info: { authenticated: 'cookie' } })
    },
  )

  test('row 44: continuous feeds end when their reader may not see them any more', async () => {
    await addUser('eve', ['team'])
    const feed = async (options: { cookie?: string; basic?: string }): Promise<unknown> =>
      (await server.request('GET', '/team/_feed', options)).body['ended']
    const eve = { cookie: await server.logIn('eve', PASSWORD) }
    const loggedOut = feed(eve)
    const staying = feed({ basic: ADMIN })
    await server.feedsOpen(2)
    await server.request('DELETE', '/_session', eve)
    expect(await loggedOut).toBe('The session has ended.')
    const withoutRole = feed({ basic: `eve:${PASSWORD}` })
    await server.feedsOpen(2)
    expect(await changeUser('eve', { roles: [] }, { basic: ADMIN })).toBe(200)
    expect(await withoutRole).toBe('You are not allowed to access this db.')
    expect(await changeUser('eve', { roles: ['team'] }, { basic: ADMIN })).toBe(200)
    const withOldPassword = feed({ basic: `eve:${PASSWORD}` })
    await server.feedsOpen(2)
    expect(await changeUser('eve', { password: 'another password' }, { basic: ADMIN })).toBe(200)
    expect(await withOldPassword).toBe('The session has ended.')
    const bySecurity = feed({ basic: 'eve:another password' })
    await server.feedsOpen(2)
    await server.setSecurity('team', { admins: { names: ['boss'] }, members: { names: ['nobody'] } })
    expect(await bySecurity).toBe('You are not allowed to access this db.')
    await server.setSecurity('team', { admins: { names: ['boss'] }, members: { roles: ['team'] } })
    expect(server.ended).toHaveLength(4)
    const [name, password] = ADMIN.split(':') as [string, string]
    await server.feedsOpen(1)
    await server.auth.accounts.setAdmin(name, `${password} 2`)
    expect(await staying).toBe('The session has ended.')
    await server.auth.accounts.setAdmin(name, password)
  })
})

describe('row 45: mass assignment, and CVE-2017-12635', () => {
  test('users change their password and fields, but no roles, names or credentials', async () => {
    await addUser('fay', ['team'])
    const cookie = await server.logIn('fay', PASSWORD)
    const before = await server.users.get('org.couchdb.user:fay')
    expect(await changeUser('fay', { roles: ['team', 'boss'] }, { cookie })).toBe(403)
    expect(await changeUser('fay', { roles: ['_admin'] }, { cookie })).toBe(403)
    expect(await changeUser('fay', { name: 'root' }, { cookie })).toBe(403)
    expect(await changeUser('fay', { type: 'admin' }, { cookie })).toBe(403)
    expect(await changeUser('bob', { color: 'red' }, { cookie })).toBe(403)
    const forged = { password_scheme: 'simple', password_sha: '0', salt: 'x', session_salt: 'x', iterations: 1 }
    expect(await changeUser('fay', { ...forged, color: 'red' }, { cookie })).toBe(200)
    const { _rev, color, ...after } = (await server.users.get('org.couchdb.user:fay'))!
    expect({ ...after, _rev: before!['_rev'] }).toEqual(before)
    expect([color, await who(cookie)]).toEqual(['red', 'fay'])
  })

  test('nobody signs up alone, and admins are not made in _users', async () => {
    const body = { name: 'mallory', type: 'user', roles: [], password: PASSWORD }
    const path = '/_users/org.couchdb.user:mallory'
    expect((await server.request('PUT', path, { body })).status).toBe(401)
    expect((await server.request('PUT', path, { body: { ...body, roles: ['_admin'] }, basic: ADMIN })).status).toBe(403)
    expect((await server.request('PUT', path, { body, basic: `bob:${PASSWORD}` })).status).toBe(403)
    // As it would come by replication from a server that is not careful.
    await server.users.put({
      _id: 'org.couchdb.user:mallory',
      name: 'mallory',
      type: 'user',
      roles: ['_admin'],
      ...couchRecord('secret'),
    })
    expect((await server.request('GET', '/_who', { basic: 'mallory:secret' })).body).toMatchObject({
      name: 'mallory',
      roles: [],
      isAdmin: false,
    })
  })

  test('duplicate keys are refused', async () => {
    const text = '{"type":"user","name":"oops","roles":["_admin"],"roles":[],"password":"long enough"}'
    const answer = await server.request('PUT', '/_users/org.couchdb.user:oops', { text, basic: ADMIN })
    expect(answer).toMatchObject({ status: 400 })
    expect(await server.users.get('org.couchdb.user:oops')).toBeUndefined()
  })

  test('a session alone changes no password', async () => {
    await addUser('ida', [])
    const cookie = await server.logIn('ida', PASSWORD)
    const change = (fields: object, credentials: { basic?: string; cookie?: string } = { cookie }) =>
      changeUser('ida', fields, credentials)
    const password = 'another password'
    for (const current of [undefined, null, '', 42, 'wrong', { $gt: '' }])
      expect([current, await change({ password, current_password: current })]).toEqual([current, 403])
    expect(await who(cookie)).toBe('ida')
    expect(await change({ color: 'red' })).toBe(200)
    expect(await change({ password, current_password: PASSWORD })).toBe(200)
    const stored = JSON.stringify(await server.users.get('org.couchdb.user:ida'))
    expect(stored).not.toContain(PASSWORD)
    expect(stored).not.toContain('current_password')
    // Basic credentials are the password. An admin's session may make any user, so it may do this as well.
    expect(await change({ password: 'a third password' }, { basic: `ida:${password}` })).toBe(200)
    const root = await server.logIn('root', 'correct horse')
    expect(await change({ password }, { cookie: root })).toBe(200)
    expect((await server.request('GET', '/_who', { basic: `ida:${password}` })).status).toBe(200)
  })

  test('what is guessed as the current password counts as a failed login', async () => {
    await addUser('jon', [])
    const cookie = await server.logIn('jon', PASSWORD)
    const path = '/_users/org.couchdb.user:jon'
    const document = await server.users.get('org.couchdb.user:jon')
    const guess = (current: string): Promise<Answer> =>
      server.request('PUT', path, {
        body: { ...document, password: 'another password', current_password: current },
        cookie,
      })
    for (let count = 0; count < 10; count++) expect((await guess('wrong')).status).toBe(403)
    const refused = await guess(PASSWORD)
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    await environment.advance(61_000)
    expect((await guess(PASSWORD)).status).toBe(200)
  })

  test('a document of 64 KiB is a user, a larger one is refused, to admins too', async () => {
    await addUser('kim', [])
    const cookie = await server.logIn('kim', PASSWORD)
    const wide = Array.from({ length: 20_000 }, () => 'xx')
    for (const credentials of [{ cookie }, { basic: ADMIN }]) {
      expect(await changeUser('kim', { wide }, credentials)).toBe(413)
      expect(await changeUser('kim', { wide: 'x'.repeat(60_000) }, credentials)).toBe(200)
    }
  })

  test('passwords are never stored', async () => {
    await addUser('gil', [], { password: 'do not store me' })
    expect(JSON.stringify(await server.users.get('org.couchdb.user:gil'))).not.toContain('do not store me')
    expect(await changeUser('gil', { password: 'short' }, { basic: ADMIN })).toBe(400)
    expect(await changeUser('gil', { password: 42 }, { basic: ADMIN })).toBe(400)
    const long = 'ü'.repeat(1000)
    expect(await changeUser('gil', { password: long }, { basic: ADMIN })).toBe(200)
    expect((await server.request('GET', '/_who', { basic: `gil:${long}` })).status).toBe(200)
  })
})

describe('users that come from CouchDB', () => {
  test.each([
    ['pbkdf2 with SHA-1 (CouchDB 1 to 3.3)', couchRecord('secret')],
    ['pbkdf2 with SHA-256 (3.4)', couchRecord('secret', 'sha256', 1000)],
    [
      'simple (before 1.3)',
      { password_scheme: 'simple', salt: 'ab', password_sha: createHash('sha1').update('secretab').digest('hex') },
    ],
  ])('%s: log in, and have a strong record from then on', async (_name, record) => {
    const name = `old-${Object.values(record).length}-${String(record.salt)}`
    await addUser(name, ['team'], record)
    expect((await server.request('GET', '/_who', { basic: `${name}:wrong` })).status).toBe(401)
    const cookie = await server.logIn(name, 'secret')
    const stored = await server.users.get(`org.couchdb.user:${name}`)
    expect(stored).toMatchObject({ name, roles: ['team'], password_scheme: 'phc' })
    expect(stored!['password_hash']).toMatch(/^\$(argon2id|scrypt)\$/)
    expect(Object.keys(stored!)).not.toContain('derived_key')
    expect(await who(cookie)).toBe(name)
    expect(await who(await server.logIn(name, 'secret'))).toBe(name)
  })
})

describe('row 53: floods', () => {
  test('failed logins of one name from one address are refused after a while, and not for ever', async () => {
    const attempt = async (password: string): Promise<number> =>
      (await server.request('POST', '/_session', { body: { name: 'bob', password } })).status
    const statuses = []
    for (let count = 0; count < 12; count++) statuses.push(await attempt('wrong'))
    expect(statuses).toEqual([...new Array(10).fill(401), 429, 429])
    const { headers, status } = await server.request('GET', '/_who', { basic: 'bob:wrong' })
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await server.request('GET', '/_who', { basic: `ann:${PASSWORD}` })).status).toBe(200)
    await environment.advance(61_000)
    expect(await attempt(PASSWORD)).toBe(200)
  })

  test('a limited number of hashes waits; the rest is refused at once', async () => {
    onTestFinished(stretchReally())
    const busy = await startAuthServer({
      hashLimits: { concurrencyMax: 1, waitingMax: 2 },
      loginLimits: { sameMax: 1000 },
    })
    await busy.auth.accounts.setAdmin('root', 'correct horse')
    const logIn = (count: number): Promise<number> =>
      busy
        .request('POST', '/_session', { body: { name: `nobody-${count}`, password: 'x' } })
        .then(({ status }) => status)
    const statuses = await Promise.all(Array.from({ length: 12 }, (_, count) => logIn(count)))
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(3)
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(3)
    expect(await busy.logIn('root', 'correct horse')).toContain('AuthSession=')
    await busy.close()
  })

  test('equal Basic credentials at the same time are verified once', async () => {
    const hashes = vi.spyOn(WorkQueue.prototype, 'run')
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => server.request('GET', '/_who', { basic: `boss:${PASSWORD}` })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(hashes).toHaveBeenCalledTimes(1)
    hashes.mockRestore()
  })
})

describe('the first admin', () => {
  test('is stored as a hash, stays after a restart, and is not removed while it is the last one', async () => {
    const first = await startAuthServer()
    expect((await first.request('GET', '/_all_dbs')).status).toBe(401)
    await first.auth.accounts.setAdmin('root', 'correct horse')
    expect((await first.request('GET', '/_all_dbs', { basic: ADMIN })).status).toBe(200)
    expect(JSON.stringify(await first.database.collection('$server').find().toArray())).not.toContain('correct horse')
    await first.restart()
    expect((await first.request('GET', '/_all_dbs', { basic: ADMIN })).status).toBe(200)
    await expect(first.auth.accounts.removeAdmin('root')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await first.close()
  })

  test('CVE-2018-8007, CVE-2010-3854: names are data: nothing is run, nothing is markup', async () => {
    for (const name of ['<script>alert(1)</script>', 'constructor', 'toString', '../../etc/passwd', 'a\nb'])
      await server.auth.accounts.setAdmin(name, PASSWORD)
    const { headers, body } = await server.request('GET', '/_session', {
      basic: `<script>alert(1)</script>:${PASSWORD}`,
    })
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(body['userCtx']).toEqual({ name: '<script>alert(1)</script>', roles: ['_admin'] })
    expect((await server.request('GET', '/_who', { basic: `constructor:${PASSWORD}` })).body['roles']).toEqual([
      '_admin',
    ])
    for (const name of ['', '_admin', '__proto__', 'a:b', 'x'.repeat(300), 'a\0b'])
      await expect(server.auth.accounts.setAdmin(name, PASSWORD)).rejects.toMatchObject({ code: 'INVALID' })
  })
})

function couchRecord(password: string, prf: 'sha' | 'sha256' = 'sha', iterations = 10): Record<string, unknown> {
  const salt = `salt-${prf}`
  const bytes = prf === 'sha' ? 20 : 32
  const key = pbkdf2Sync(password, salt, iterations, bytes, prf === 'sha' ? 'sha1' : prf)
  return {
    password_scheme: 'pbkdf2',
    ...(prf !== 'sha' && { pbkdf2_prf: prf }),
    iterations,
    salt,
    derived_key: key.toString('hex'),
  }
}
