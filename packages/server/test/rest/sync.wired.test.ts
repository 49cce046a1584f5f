/** Goal: a replica that pulls by HTTP has what the rules let its account see, and learns what it may not see any more. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { EventClient } from './event-client.ts'
import { PASSWORD, startRest, type RestServer } from './rest-server.ts'

let server: RestServer
let ann: Account
let project: string

interface Account {
  readonly id: string
  readonly token: string
}

interface Page {
  readonly rows: readonly Row[]
  readonly token: string
  readonly isComplete: boolean
  readonly isReset: boolean
}

interface Row {
  readonly record?: Record<string, unknown>
  readonly left?: string
  readonly end?: string
  readonly id?: string
  readonly rev?: string
}

beforeAll(async () => {
  server = await startRest()
  await server.call('POST /collections', {
    name: 'projects',
    type: 'base',
    listRule: 'members.id ?= @request.auth.id',
    fields: [{ name: 'members', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 9 }],
  })
  const projects = await server.call('GET /collections/projects')
  await server.call('POST /collections', {
    name: 'tasks',
    type: 'base',
    listRule: 'project.members.id ?= @request.auth.id',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'secret', type: 'text', hidden: true },
      { name: 'project', type: 'relation', collectionId: projects.json['id'] },
    ],
  })
  await server.call('POST /collections', { name: 'locked', type: 'base', fields: [] })
  await server.call('POST /collections', {
    name: 'asked',
    type: 'base',
    listRule: "@request.query.key = 'a'",
    fields: [],
  })
  const viewQuery = 'SELECT id, members FROM projects'
  await server.call('POST /collections', { name: 'seen', type: 'view', viewQuery })
  await server.call('POST /collections', {
    name: 'viewed',
    type: 'base',
    listRule: '@collection.seen.members.id ?= @request.auth.id',
    fields: [],
  })
  await server.call('POST /collections', {
    name: 'managed',
    type: 'auth',
    listRule: '',
    manageRule: "@request.query.key = 'a'",
    fields: [],
  })
  await server.call('POST /collections', {
    name: 'half',
    type: 'base',
    listRule: '',
    fields: [{ name: 'pay', type: 'number', viewRule: "@request.query.key = 'a'" }],
  })
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.call('POST /collections/users/records', account)
  const login = await server.call('POST /collections/users/auth-with-password', {
    identity: 'ann@example.com',
    password: PASSWORD,
  })
  ann = { id: (login.json['record'] as { id: string }).id, token: String(login.json['token']) }
})
beforeEach(async () => {
  const made = await server.call('POST /collections/projects/records', { members: [ann.id] })
  project = String(made.json['id'])
})
afterAll(() => server.close())

async function pull(
  collections: Readonly<Record<string, string | null>>,
  by = ann.token,
  has: object = {},
): Promise<Readonly<Record<string, Page>>> {
  const { status, json } = await server.call('POST /sync/pull', { collections, has }, by)
  expect([status, json]).toEqual([200, expect.anything()])
  return json['collections'] as unknown as Record<string, Page>
}

async function addTask(title: string): Promise<string> {
  const task = await server.call('POST /collections/tasks/records', { title, secret: 'S', project })
  return String(task.json['id'])
}

test('a replica gets what its account may list, then what has changed, then what it may not see any more', async () => {
  const id = await addTask('one')
  const { tasks: first } = await pull({ tasks: null })
  const [row] = first!.rows.filter(({ record }) => record?.['id'] === id)
  expect(row!.record).toMatchObject({ title: 'one', collectionName: 'tasks', _rev: expect.stringMatching(/^1-/) })
  expect(row!.record).not.toHaveProperty('secret')
  expect([first!.isReset, first!.isComplete, first!.rows.at(-1)]).toEqual([true, true, { end: expect.any(String) }])
  await server.call(`PATCH /collections/tasks/records/${id}`, { title: 'two' })
  const { tasks: second } = await pull({ tasks: first!.token })
  expect([second!.isReset, second!.rows.map(({ record }) => record?.['title'])]).toEqual([false, ['two']])
  await server.call(`PATCH /collections/projects/records/${project}`, { members: [] })
  const { tasks: third } = await pull({ tasks: second!.token })
  expect(third!.rows).toEqual([{ left: id, deleted: false }])
  const { tasks: fourth } = await pull({ tasks: third!.token })
  expect([fourth!.rows, fourth!.isComplete]).toEqual([[], true])
})

test('several collections come as of one moment', async () => {
  const id = await addTask('one')
  const { tasks, projects } = await pull({ tasks: null, projects: null })
  expect(tasks!.rows.map(({ record }) => record?.['id'])).toContain(id)
  expect(projects!.rows.map(({ record }) => record?.['id'])).toContain(project)
})

test('a deletion is known as one', async () => {
  const id = await addTask('one')
  const { tasks } = await pull({ tasks: null })
  await server.call(`DELETE /collections/tasks/records/${id}`)
  expect((await pull({ tasks: tasks!.token }))['tasks']!.rows).toEqual([{ left: id, deleted: true }])
})

test('tokens of another account, of a guest and forged ones begin again, and tell nothing', async () => {
  const id = await addTask('one')
  const { tasks } = await pull({ tasks: null })
  for (const token of [tasks!.token, `${tasks!.token.slice(0, -4)}AAAA`, 'x', '']) {
    const page = (await pull({ tasks: token }, ''))['tasks']!
    expect([page.isReset, JSON.stringify(page.rows).includes(id)]).toEqual([true, false])
  }
})

test('a replica that begins again gets only the bodies that it lacks', async () => {
  const [same, changed] = [await addTask('one'), await addTask('two')]
  const { tasks: first } = await pull({ tasks: null })
  const revisions = first!.rows.flatMap(({ record }) => (record === undefined ? [] : [[record['id'], record['_rev']]]))
  await server.call(`PATCH /collections/tasks/records/${changed}`, { title: 'three' })
  const listRule = 'project.members.id ?= @request.auth.id && title != "none"'
  await server.call('PATCH /collections/tasks', { listRule })
  const without = (await pull({ tasks: first!.token }, ann.token, { tasks: '*' }))['tasks']!
  expect([without.isReset, without.rows.filter(({ record }) => record !== undefined)]).toEqual([true, []])
  const lacking = (await pull({ tasks: first!.token }, ann.token, { tasks: Object.fromEntries(revisions) }))['tasks']!
  expect(lacking.rows.flatMap(({ record }) => (record === undefined ? [] : [record['title']]))).toEqual(['three'])
  expect(lacking.rows.find(({ id }) => id === same)).toMatchObject({ rev: Object.fromEntries(revisions)[same] })
  expect(lacking.rows.map(({ record, id, end }) => record?.['id'] ?? id ?? (end === undefined ? '' : 'end'))).toEqual(
    without.rows.map(({ id, end }) => id ?? (end === undefined ? '' : 'end')),
  )
})

test('all bodies come where records are shown otherwise than the replica has them', async () => {
  const id = await addTask('one')
  const { tasks: first } = await pull({ tasks: null })
  const { json } = await server.call('GET /collections/tasks')
  const fields = json['fields'] as unknown as readonly { readonly name: string }[]
  const change = fields.map((field) => (field.name === 'secret' ? { ...field, hidden: false } : field))
  await server.call('PATCH /collections/tasks', { fields: change })
  const { tasks } = await pull({ tasks: first!.token }, ann.token, { tasks: '*' })
  expect(tasks!.rows.find(({ record }) => record?.['id'] === id)?.record).toMatchObject({ secret: 'S' })
  await server.call('PATCH /collections/tasks', { fields })
})

/** What a new replica, or one with a token, has of a collection beside what REST shows the account. */
async function bothDoors(collection: string, token: string | null, by: string): Promise<[Page, unknown, unknown]> {
  const page = (await pull({ [collection]: token }, by))[collection]!
  const path = `GET /collections/${collection}/records?sort=id&fields=*,_rev`
  const { items } = (await server.call(path, undefined, by)).json as { readonly items: readonly object[] }
  const pulled = page.rows.flatMap(({ record }) => (record === undefined ? [] : [record]))
  return [page, pulled.toSorted((one, other) => (String(one['id']) < String(other['id']) ? -1 : 1)), items]
}

test('a replica has the fields that REST shows, and learns of those that are shown no more', async () => {
  const { json } = await server.call('POST /collections', {
    name: 'posts',
    type: 'base',
    listRule: '',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'never', type: 'text', viewRule: null },
      { name: 'pay', type: 'number', viewRule: 'project.members.id ?= @request.auth.id' },
      { name: 'project', type: 'relation', collectionId: (await server.call('GET /collections/projects')).json['id'] },
    ],
  })
  expect(json['name']).toBe('posts')
  for (const at of [project, ''])
    await server.call('POST /collections/posts/records', { title: 'a', never: 'n', pay: 5, project: at })
  const [first, pulled, listed] = await bothDoors('posts', null, ann.token)
  expect(pulled).toEqual(listed)
  expect(pulled).toMatchObject([expect.anything(), expect.anything()])
  expect(JSON.stringify(pulled).match(/"pay":5/g)).toHaveLength(1)
  await server.call(`PATCH /collections/projects/records/${project}`, { members: [] })
  const [second, changed, after] = await bothDoors('posts', first.token, ann.token)
  expect(after).toMatchObject([expect.not.objectContaining({ pay: 5 }), expect.not.objectContaining({ pay: 5 })])
  expect([changed, after]).toEqual([
    [expect.objectContaining({ project })],
    expect.arrayContaining(changed as object[]),
  ])
  expect((await pull({ posts: second.token }))['posts']!.rows).toEqual([])
})

test('a replica has the addresses that the account manages, and that of an API token has not', async () => {
  const all = await server.call('GET /collections/users')
  await server.call('PATCH /collections/users', { listRule: '', manageRule: "@request.auth.name = 'lead'" })
  await server.call('POST /collections/users/records', {
    email: 'ben@example.com',
    password: PASSWORD,
    passwordConfirm: PASSWORD,
  })
  await server.call(`PATCH /collections/users/records/${ann.id}`, { name: 'lead' })
  const [first, pulled, listed] = await bothDoors('users', null, ann.token)
  expect(pulled).toEqual(listed)
  expect(JSON.stringify(pulled)).toContain('ben@example.com')
  const scopes = { users: ['list'] }
  const made = await server.call('POST /tokens', { name: 'robot', collection: 'users', record: ann.id, scopes })
  const robot = String(made.json['token'])
  const [second, cut, listedByIt] = await bothDoors('users', first.token, robot)
  expect([second.isReset, listedByIt]).toEqual([false, expect.arrayContaining(cut as object[])])
  expect(JSON.stringify(cut)).toContain('"verified"')
  expect(JSON.stringify(cut)).not.toContain('ben@example.com')
  await server.call(`PATCH /collections/users/records/${ann.id}`, { name: '' })
  const { users } = await pull({ users: first.token })
  expect(JSON.stringify(users!.rows)).not.toContain('ben@example.com')
  expect(users!.rows.length).toBe(2)
  const { listRule, manageRule } = all.json
  await server.call('PATCH /collections/users', { listRule, manageRule })
})

test('what another account has is never taken for known', async () => {
  const id = await addTask('one')
  await server.call('PATCH /collections/tasks', { listRule: '' })
  const { tasks: first } = await pull({ tasks: null })
  const { tasks: guests } = await pull({ tasks: first!.token }, '', { tasks: '*' })
  expect(guests!.rows.find(({ record }) => record?.['id'] === id)).toMatchObject({ record: { title: 'one' } })
  await server.call('PATCH /collections/tasks', { listRule: 'project.members.id ?= @request.auth.id' })
})

test.each([5, { tasks: 5 }, { tasks: { a: 1 } }, null])('has: %j is refused', async (has) => {
  const { status, json } = await server.call('POST /sync/pull', { collections: { tasks: null }, has }, ann.token)
  expect([status, json['message']]).toEqual([400, expect.stringContaining('"has" must be an object')])
})

test('tokens have one length, whatever is in them', async () => {
  const { tasks: before } = await pull({ tasks: null })
  for (let n = 0; n < 5; n++) await addTask(String(n))
  const { tasks: after } = await pull({ tasks: before!.token })
  expect(after!.token.length).toBe(before!.token.length)
})

test.each([
  [{ locked: null }, 403, 'Only superusers can perform this action.'],
  [{ asked: null }, 400, 'It asks about one request.'],
  [{ viewed: null }, 400, 'It reads the view "seen".'],
  [{ managed: null }, 400, 'The manage rule of "managed" can\'t be synced'],
  [{ half: null }, 400, 'The view rule of the field "pay" of "half" can\'t be synced'],
  [{ nowhere: null }, 404, ''],
  [{}, 400, 'A request names 1 to 50 collections, got 0.'],
  [{ tasks: 5 }, 400, 'Send an object'],
])('%j is refused', async (collections, status, message) => {
  const answer = await server.call('POST /sync/pull', { collections }, ann.token)
  expect([answer.status, answer.json['message']]).toEqual([status, expect.stringContaining(message)])
})

test('a replica of a superuser has every record with its hidden fields, whatever the rules say', async () => {
  const root = server.token
  const id = await addTask('one')
  const hidden = await server.call('POST /collections/locked/records', {})
  const first = await pull({ tasks: null, locked: null, managed: null, half: null }, root)
  const [row] = first['tasks']!.rows.filter(({ record }) => record?.['id'] === id)
  expect(row!.record).toMatchObject({ title: 'one', secret: 'S', _rev: expect.stringMatching(/^1-/) })
  expect(first['locked']!.rows.map(({ record }) => record?.['id'])).toContain(hidden.json['id'])
  await server.call(`PATCH /collections/projects/records/${project}`, { members: [] })
  expect((await pull({ tasks: first['tasks']!.token }, root))['tasks']!.rows).toEqual([])
  await server.call(`DELETE /collections/tasks/records/${id}`)
  const { tasks } = await pull({ tasks: first['tasks']!.token }, root)
  expect([tasks!.isReset, tasks!.rows]).toEqual([false, [{ left: id, deleted: true }]])
})

test('a replica of a superuser is exactly what a list gives, after each of many changes', async () => {
  const root = server.token
  const replica = new Map<string, unknown>()
  let token: string | null = null
  const ids: string[] = []
  for (let round = 0; round < 12; round++) {
    ids.push(await addTask(String(round)))
    if (round % 3 === 1)
      await server.call(`PATCH /collections/tasks/records/${ids[round - 1]!}`, { secret: `S${round}` })
    if (round % 4 === 3) await server.call(`DELETE /collections/tasks/records/${ids[round - 2]!}`)
    const rule = round % 2 === 0 ? 'project.members.id ?= @request.auth.id' : null
    if (round % 5 === 4) await server.call('PATCH /collections/tasks', { listRule: rule })
    const page: Page = (await pull({ tasks: token }, root))['tasks']!
    for (const { record, left } of page.rows) {
      if (record !== undefined) replica.set(String(record['id']), record)
      if (left !== undefined) replica.delete(left)
    }
    expect([page.isReset, page.isComplete]).toEqual([round === 0, true])
    token = page.token
    const listed = await server.call('GET /collections/tasks/records?perPage=500&fields=*,_rev')
    const items = listed.json['items'] as { id: string }[]
    expect(Object.fromEntries(replica)).toEqual(Object.fromEntries(items.map((item) => [item.id, item])))
  }
  await server.call('PATCH /collections/tasks', { listRule: 'project.members.id ?= @request.auth.id' })
})

test('what a superuser has is of no use to another account, nor the other way round', async () => {
  const root = server.token
  await addTask('one')
  const { tasks: all } = await pull({ tasks: null }, root)
  const { tasks: hers } = await pull({ tasks: all!.token }, ann.token, { tasks: '*' })
  expect([hers!.isReset, JSON.stringify(hers!.rows)]).toEqual([true, expect.not.stringContaining('secret')])
  const { tasks: again } = await pull({ tasks: hers!.token }, root, { tasks: '*' })
  expect([again!.isReset, JSON.stringify(again!.rows)]).toEqual([true, expect.stringContaining('secret')])
})

test('a stream of a superuser says when a pull would bring something, also of what no rule shows', async () => {
  const headers = { authorization: server.token }
  const stream = await EventClient.open(server.url, { search: '?topic=@sync/locked', headers })
  const hers = await EventClient.open(server.url, {
    search: '?topic=@sync/locked',
    headers: { authorization: ann.token },
  })
  await server.call('POST /collections/locked/records', {})
  await stream.has(1)
  expect([stream.messages.map(({ event }) => event), hers.messages]).toEqual([['@sync/locked'], []])
  stream.close()
  hers.close()
})

test('a stream says when a pull would bring something, and a stream of a guest says nothing', async () => {
  const search = '?topic=@sync/tasks&topic=@sync/projects'
  const hers = await EventClient.open(server.url, { search, headers: { authorization: ann.token } })
  const guest = await EventClient.open(server.url, { search })
  const { tasks } = await pull({ tasks: null })
  const id = await addTask('one')
  await hers.has(1)
  expect(hers.messages.map(({ event, data }) => [event, data])).toEqual([['@sync/tasks', {}]])
  const { rows } = (await pull({ tasks: tasks!.token }))['tasks']!
  expect(rows.map(({ record }) => record?.['id'])).toEqual([id])
  expect(guest.messages).toEqual([])
  hers.close()
  guest.close()
})

test('a session that has ended is not a guest', async () => {
  for (const [request, body] of [
    ['POST /sync/pull', { collections: { tasks: null } }],
    ['POST /sync/push', { device: 'a'.repeat(16), transactions: [] }],
  ] as const) {
    const answer = await server.call(request, body, `${ann.token}x`)
    expect([answer.status, answer.json['message']]).toEqual([401, 'The session has ended. Sign in again.'])
  }
})

test('a collection may be named as what objects inherit', async () => {
  for (const name of ['constructor', 'valueOf', '__proto__']) {
    await server.call('POST /collections', { name, type: 'base', listRule: '', fields: [] })
    const { json } = await server.call(`POST /collections/${name}/records`, { id: 'constructor0000' })
    const { status, text } = await server.call('POST /sync/pull', { collections: { [name]: null } }, ann.token)
    expect([status, text.includes(String(json['id']))], name).toEqual([200, true])
  }
})

test('a rule that leads to more records than are read at once is refused with a reason', async () => {
  const member = { name: 'member', type: 'relation', collectionId: '_pb_users_auth_' }
  const groups = await server.call('POST /collections', { name: 'groups', type: 'base', fields: [member] })
  await server.call('POST /collections', {
    name: 'plans',
    type: 'base',
    listRule: 'group.member = @request.auth.id',
    fields: [{ name: 'group', type: 'relation', collectionId: groups.json['id'] }],
  })
  const { definitions } = server.server.backend
  const many = Array.from({ length: 10_001 }, (_, n) => ({ _id: `g${n}`, member: ann.id }))
  await definitions.records(definitions.get('groups')).insert(many)
  const { status, json } = await server.call('POST /sync/pull', { collections: { plans: null } }, ann.token)
  expect([status, json]).toMatchObject([
    400,
    { status: 400, message: expect.stringMatching(/reads too much to be synced.* 10001 documents/), data: {} },
  ])
})
