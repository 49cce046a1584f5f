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

test.each<[values: Readonly<Record<string, unknown>>, unknown: string]>([
  [{ title: 'a', tilte: 'b' }, 'tilte'],
  [{ title: 'a', constructor: 'b' }, 'constructor'],
  [JSON.parse('{ "title": "a", "__proto__": "b" }') as Record<string, unknown>, '__proto__'],
])('a row %j of an import is refused, as %s is no field', async (values, unknown) => {
  const before = await stored()
  const { json } = await server.call('POST /imports/posts/records', { rows: [...rows, values] })
  const data = Object.fromEntries([[unknown, expect.objectContaining({ code: 'validation_unknown_field' })]])
  expect(json).toMatchObject({
    written: 0,
    refused: [{ index: 1, data, message: `The collection "posts" has no field ${unknown}.` }],
  })
  expect(await stored()).toEqual(before)
})

test('a record as lists show it can be imported', async () => {
  const { json } = await server.call('POST /imports/posts/records', { rows: [{ title: 'shown' }] })
  expect(json).toMatchObject({ written: 1 })
  const [shown] = (await server.call("GET /collections/posts/records?filter=title='shown'")).json['items'] as object[]
  const again = await server.call('POST /imports/posts/records', { rows: [shown], upsert: true })
  expect(again.json).toEqual({ written: 1, refused: [] })
})
