/** Goal: a session that was ended is refused by every door at once. PocketBase's client continues with the others. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { send, until } from '../test-server.ts'
import { EventClient } from './event-client.ts'
import { EMAIL, PASSWORD, sdkClient, startRest, tokenFor } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

let server: RestServer
let rootId: string

beforeAll(async () => {
  server = await startRest()
  await server.call('POST /collections', {
    name: 'notes',
    type: 'base',
    listRule: '@request.auth.id != ""',
    createRule: '@request.auth.id != ""',
    fields: [{ name: 'title', type: 'text' }],
  })
  await server.call('PATCH /settings', { batch: { enabled: true, maxRequests: 10, timeout: 60 } })
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.call('POST /collections/users/records', account)
  rootId = String((await server.call('POST /collections/_superusers/auth-refresh')).json['record']!['id' as never])
})
afterAll(() => server.close())

interface Listed {
  readonly items: readonly { readonly id: string; readonly current: boolean; readonly userAgent: string }[]
}

test("PocketBase's client lists the sessions of its account and ends them one by one", async () => {
  const [mine, other] = [sdkClient(server.url), sdkClient(server.url)]
  for (const client of [mine, other]) await client.collection('users').authWithPassword('ann@example.com', PASSWORD)
  const url = `/api/collections/users/records/${mine.authStore.record!.id}/sessions`
  const { items } = await mine.send<Listed>(url, { method: 'GET' })
  expect(items.filter(({ current }) => current).length).toBe(1)
  const others = items.filter(({ current }) => !current)
  const refreshed = await other.collection('users').authRefresh()
  await mine.send(`${url}/${others[0]!.id}`, { method: 'DELETE' })
  await expect(other.collection('users').authRefresh()).rejects.toMatchObject({ status: 401 })
  expect((await server.call('POST /files/token', {}, refreshed.token)).status).toBe(401)
  await mine.collection('users').authRefresh()
  await mine.send(url, { method: 'DELETE' })
  expect(mine.authStore.isValid).toBe(true)
  expect((await mine.send<Listed>(url, { method: 'GET', query: { fields: 'id,current' } })).items).toEqual([
    { id: expect.any(String), current: true },
  ])
})

test('a stream of an ended session is that of a guest when the request that ended it is answered', async () => {
  const [token, other] = [await logIn('ann@example.com'), await logIn('ann@example.com')]
  const clients = await Promise.all([EventClient.open(server.url), EventClient.open(server.url)])
  for (const [at, by] of [token, other].entries()) await clients[at]!.subscribe(['notes/*'], by)
  await endSession('users', token)
  await server.call('POST /collections/notes/records', { title: 'later' }, other)
  await until(() => clients[1]!.text.includes('later'))
  expect(clients[0]!.text).not.toContain('later')
  for (const client of clients) client.close()
})

test('an ended session opens neither a batch nor a list nor the door of CouchDB, and ends a feed there', async () => {
  const token = await tokenFor(server.url, '_superusers', EMAIL, PASSWORD)
  const bearer = { authorization: `Bearer ${token}` }
  expect((await send(server.url, 'GET /notes', undefined, bearer)).status).toBe(200)
  const feed = await fetch(`${server.url}/notes/_changes?feed=continuous&since=now&heartbeat=1000`, { headers: bearer })
  expect(feed.status).toBe(200)
  const ended = feed.text().catch(() => 'ended')
  await endSession('_superusers', token)
  await ended
  expect((await send(server.url, 'GET /notes', undefined, bearer)).status).toBe(401)
  expect((await server.call('GET /collections', undefined, token)).status).toBe(401)
  const requests = [{ method: 'POST', url: '/api/collections/notes/records', body: { title: 'batch' } }]
  expect((await server.call('POST /batch', { requests }, token)).status).toBe(400)
  expect((await server.call('GET /collections/notes/records', undefined, token)).json['totalItems']).toBe(0)
  expect((await server.call('GET /collections/notes/records?filter=title="batch"')).json['totalItems']).toBe(0)
})

function logIn(email: string): Promise<string> {
  return tokenFor(server.url, 'users', email, PASSWORD)
}

/** A superuser ends the session of a token. */
async function endSession(collection: string, token: string): Promise<void> {
  const { sid, id } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, string>
  expect(collection === 'users' || id === rootId).toBe(true)
  const { status } = await server.call(`DELETE /collections/${collection}/records/${id}/sessions/${sid}`)
  expect(status).toBe(204)
}
