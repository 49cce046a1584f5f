/** Goal: a name in a body that a route of ours does not read is refused, so that a misspelt option never acts as if it were left out. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRest, type RestServer } from './rest-server.ts'

let server: RestServer

beforeAll(async () => {
  server = await startRest()
  await server.call('POST /collections', { name: 'posts', type: 'base', fields: [{ name: 'title', type: 'text' }] })
  await server.call('POST /collections/users/records', {
    id: 'usersusersusers',
    email: 'ann@example.com',
    password: 'the password of ann',
    passwordConfirm: 'the password of ann',
  })
})
afterAll(() => server.close())

/** All that the requests may write. */
async function stored(): Promise<readonly string[]> {
  const requests = ['GET /collections/posts/records', 'GET /tokens', 'GET /reports']
  return Promise.all(requests.map(async (request) => (await server.call(request)).text))
}

const rows = [{ title: 'a' }]
const token = { name: 'ci', collection: 'users', record: 'usersusersusers', scopes: { posts: ['list'] } }

test.each<[request: string, body: Readonly<Record<string, unknown>>, misspelt: string]>([
  ['POST /imports/posts/records', { rows }, 'dryrun'],
  ['POST /imports/posts/records', { rows }, 'upserts'],
  ['POST /imports/posts/rows', { rows: [{ id: 'r'.repeat(15), title: 'a' }] }, 'dryRun'],
  ['POST /imports/posts/lacking', { rows }, 'row'],
  ['POST /imports/check', { collections: [{ name: 'more', type: 'base' }] }, 'collection'],
  ['POST /tokens', token, 'expire'],
  ['POST /collections/posts/preview', { action: 'list' }, 'accounts'],
  ['POST /reports', { name: 'r', query: 'SELECT 1' }, 'rules'],
  ['POST /reports/preview', { query: 'SELECT 1' }, 'parameter'],
])('%s %j refuses "%s"', async (request, body, misspelt) => {
  const before = await stored()
  const { status, json } = await server.call(request, { ...body, [misspelt]: true })
  expect([status, json['message']]).toEqual([400, expect.stringContaining(`got "${misspelt}".`)])
  expect(await stored()).toEqual(before)
  const right = await server.call(request, body)
  expect(right.status, right.text).toBe(200)
})

test.each(['dryRun', 'upsert'])('%s of an import must be true or false', async (name) => {
  const before = await stored()
  const { status, json } = await server.call('POST /imports/posts/records', { rows, [name]: 'true' })
  expect([status, json['message']]).toEqual([400, expect.stringContaining('must be true or false')])
  expect(await stored()).toEqual(before)
})
