/** Users who make themselves: only where the server allows it, and with nothing that somebody else had or gives. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN, basic, send, startServer, STRANGER, type Answer, type TestServer } from '../test-server.ts'

const PASSWORD = 'battery staple'
let open: TestServer
let closed: TestServer

beforeAll(async () => {
  open = await startServer({ auth: { signUp: true } })
  closed = await startServer()
})
afterAll(async () => {
  await open.close()
  await closed.close()
})

function userOf(name: string, fields: object = {}): object {
  return { name, type: 'user', roles: [], password: PASSWORD, ...fields }
}

function signUp(name: string, fields: object = {}, { server = open, headers = STRANGER } = {}): Promise<Answer> {
  return send(server.url, `PUT /_users/org.couchdb.user:${name}`, userOf(name, fields), headers)
}

async function who(name: string): Promise<unknown> {
  const { json } = await send(open.url, 'GET /_session', undefined, {
    authorization: basic(`${name}:${PASSWORD}`),
  })
  return json['userCtx']
}

test('somebody whom nobody knows makes a user, logs in, and may do what a user may', async () => {
  expect(await signUp('ann')).toMatchObject({ status: 201, json: { ok: true, id: 'org.couchdb.user:ann' } })
  expect(await who('ann')).toEqual({ name: 'ann', roles: [] })
  const ann = { authorization: basic(`ann:${PASSWORD}`) }
  expect((await send(open.url, 'GET /_users/org.couchdb.user:ann', undefined, ann)).status).toBe(200)
  expect((await send(open.url, 'GET /_users/_all_docs', undefined, ann)).status).toBe(403)
})

test('by default nobody does', async () => {
  expect((await signUp('ann', {}, { server: closed })).status).toBe(401)
})

describe('refused', () => {
  const cases: readonly (readonly [what: string, fields: object, status: number])[] = [
    ['a role', { roles: ['team'] }, 403],
    ['a role of the system', { roles: ['_admin'] }, 403],
    ['no password', { password: undefined }, 403],
    ['a short password', { password: 'short' }, 400],
    ['another name', { name: 'admin' }, 403],
    ['another type', { type: 'admin' }, 403],
    ['a deletion', { _deleted: true }, 403],
    ['attachments', { _attachments: { a: { data: 'YQ==', content_type: 'text/plain' } } }, 403],
    ['more than a small document', { text: 'x'.repeat(70_000) }, 413],
    ['credentials in the place of a password', { password: undefined, password_scheme: 'simple', salt: 'x' }, 403],
  ]
  test.each(cases)('%s', async (_what, fields, status) => {
    expect((await signUp('mallory', fields)).status).toBe(status)
    expect((await send(open.url, 'GET /_users/org.couchdb.user:mallory')).status).toBe(404)
  })

  test('a name that somebody has, had, or has as an admin', async () => {
    expect((await signUp('bob')).status).toBe(201)
    expect((await signUp('bob', { password: 'another password' })).status).toBe(409)
    const { json } = await send(open.url, 'GET /_users/org.couchdb.user:bob')
    expect((await signUp('bob', { _rev: json['_rev'], password: 'another password' })).status).toBe(403)
    expect((await send(open.url, `DELETE /_users/org.couchdb.user:bob?rev=${String(json['_rev'])}`)).status).toBe(200)
    expect((await signUp('bob')).status).toBe(409)
    expect((await signUp('bob', {}, { headers: { authorization: ADMIN } })).status).toBe(201)
    expect((await signUp('admin')).status).toBe(409)
  })

  test('other ways to write, and other documents', async () => {
    const document = { ...userOf('eve'), _id: 'org.couchdb.user:eve' }
    const requests: readonly (readonly [request: string, body: unknown])[] = [
      ['POST /_users', document],
      ['POST /_users/_bulk_docs', { docs: [document] }],
      ['PUT /_users/_design/eve', {}],
      ['PUT /_users/_local/eve', {}],
      ['PUT /_users/eve', document],
      ['PUT /_users/org.couchdb.user:eve/attachment', 'text'],
      ['PUT /_replicator/org.couchdb.user:eve', document],
    ]
    for (const [request, body] of requests)
      expect([request, (await send(open.url, request, body, STRANGER)).status]).toEqual([request, 401])
    const replica = { ...document, _rev: '1-0' }
    const request = 'PUT /_users/org.couchdb.user:eve?new_edits=false'
    expect((await send(open.url, request, replica, STRANGER)).status).toBe(403)
    expect((await send(open.url, 'GET /_users/org.couchdb.user:eve')).status).toBe(404)
  })
})

test('a body for a new user is not received beyond what a user may be', async () => {
  const answer = await signUp('large', { _attachments: { a: { data: 'YWFh'.repeat(100_000) } } })
  expect(answer).toMatchObject({
    status: 413,
    json: { reason: 'the request entity is too large: at most 65536 bytes are taken' },
  })
})

test('new users from one address are as many as failed logins', async () => {
  const limited = await startServer({ auth: { signUp: true, loginLimits: { addressMax: 3 } } })
  const statuses: number[] = []
  for (let count = 0; count < 4; count++) statuses.push((await signUp(`user${count}`, {}, { server: limited })).status)
  expect(statuses).toEqual([201, 201, 201, 429])
  const refused = await signUp('another', {}, { server: limited })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  await limited.close()
})
