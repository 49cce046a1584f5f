/**
 * Goal: the preview of a rule says what the doors do, for guests and accounts, and writes nothing.
 * Method: each answer of the preview is compared with that of a request by the same account, with the rule stored.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EventClient } from './event-client.ts'
import { PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

let server: RestServer
const ACCOUNTS = ['ann', 'bob'] as const
const ids: Record<string, string> = {}
const tokens: Record<string, string> = { guest: '' }

beforeAll(async () => {
  server = await startRest()
  for (const name of ACCOUNTS) {
    const email = `${name}@example.com`
    const input = { email, name, password: PASSWORD, passwordConfirm: PASSWORD }
    ids[name] = String((await server.call('POST /collections/users/records', input)).json['id'])
    tokens[name] = await tokenFor(server.url, 'users', email, PASSWORD)
  }
  const users = { type: 'relation', collectionId: '_pb_users_auth_' }
  await server.call('POST /collections', {
    name: 'teams',
    type: 'base',
    fields: [
      { name: 'members', ...users, maxSelect: 5 },
      { name: 'level', type: 'number' },
    ],
  })
  const { id: teams } = (await server.call('GET /collections/teams')).json
  await server.call('POST /collections', {
    name: 'tasks',
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'owner', ...users, maxSelect: 1 },
      { name: 'team', type: 'relation', collectionId: teams, maxSelect: 1 },
      { name: 'secret', type: 'text', viewRule: 'owner = @request.auth.id' },
    ],
  })
  const one = await server.call('POST /collections/teams/records', { members: [ids['ann']], level: 1 })
  const two = await server.call('POST /collections/teams/records', { members: [ids['ann'], ids['bob']], level: 2 })
  for (const [title, owner, team] of [
    ['open', '', ''],
    ['of ann', ids['ann'], one.json['id']],
    ['of bob', ids['bob'], two.json['id']],
    ['of both', ids['ann'], two.json['id']],
  ])
    await server.call('POST /collections/tasks/records', { title, owner, team, secret: 'hidden' })
})
afterAll(() => server.close())

const RULES = [
  null,
  '',
  'owner = @request.auth.id',
  'owner = @request.auth.id && title ~ "both"',
  'team.members.id ?= @request.auth.id && team.level > 1',
  '@request.auth.name = "bob" || title = "open"',
  '@request.body.title:isset = true && @request.body.title != "forbidden"',
  '@collection.teams.members.id ?= @request.auth.id && @collection.teams.level ?= 2',
]
const CALLERS = ['guest', ...ACCOUNTS]

async function preview(input: object, collection = 'tasks'): Promise<Preview> {
  return (await server.call(`POST /collections/${collection}/preview`, input)).json as unknown as Preview
}

interface Preview {
  readonly admittedItems: number
  readonly totalItems: number
  readonly items: readonly { readonly record: Record<string, unknown>; readonly isAdmitted: boolean }[]
  readonly condition?: { readonly text: string; readonly isMet: boolean; readonly of: readonly unknown[] }
  readonly seen?: Record<string, unknown>
  readonly plan?: { readonly isExact: boolean; readonly text: string }
}

function byText(one: string, other: string): number {
  return one < other ? -1 : 1
}

function accountOf(name: string): object | null {
  return name === 'guest' ? null : { collection: 'users', record: ids[name] }
}

async function storeRule(name: string, rule: string | null): Promise<void> {
  const { status } = await server.call('PATCH /collections/tasks', { [name]: rule })
  expect(status).toBe(200)
}

test.each(RULES)('lists and views of the rule %s are what the doors answer', async (rule) => {
  for (const action of ['list', 'view'] as const) await storeRule(`${action}Rule`, rule)
  for (const caller of CALLERS) {
    const list = await server.call('GET /collections/tasks/records', undefined, tokens[caller])
    const listed = ((list.json['items'] ?? []) as { id: string }[]).map(({ id }) => id)
    const found = await preview({ action: 'list', rule, account: accountOf(caller) })
    const admitted = found.items.filter(({ isAdmitted }) => isAdmitted).map(({ record }) => record['id'])
    expect([caller, admitted.map(String).toSorted(byText)]).toEqual([caller, listed.toSorted(byText)])
    expect(found).toMatchObject({ totalItems: 4, admittedItems: listed.length })
    const views = await preview({ action: 'view', account: accountOf(caller) })
    for (const { record, isAdmitted } of views.items) {
      const { status } = await server.call(
        `GET /collections/tasks/records/${String(record['id'])}`,
        undefined,
        tokens[caller],
      )
      expect([caller, record['title'], isAdmitted]).toEqual([caller, record['title'], status === 200])
    }
  }
})

// The parts of rules are the same for both.
test.each([null, ...RULES.slice(4)])(
  'writes by the rule %s are what the doors answer, and the preview writes nothing',
  async (rule) => {
    const body = { title: 'changed' }
    for (const action of ['create', 'update', 'delete'] as const) await storeRule(`${action}Rule`, rule)
    for (const caller of CALLERS) {
      const account = accountOf(caller)
      const before = (await server.call('GET /collections/tasks/records')).text
      const create = await preview({ action: 'create', account, body })
      const updates = await preview({ action: 'update', account, body })
      const deletes = await preview({ action: 'delete', account })
      expect((await server.call('GET /collections/tasks/records')).text).toBe(before)
      const made = await server.call('POST /collections/tasks/records', body, tokens[caller])
      expect([caller, create.items[0]!.isAdmitted]).toEqual([caller, made.status === 200])
      if (made.status === 200) await server.call(`DELETE /collections/tasks/records/${String(made.json['id'])}`)
      for (const { record, isAdmitted } of updates.items) {
        const path = `/collections/tasks/records/${String(record['id'])}`
        const { status } = await server.call(`PATCH ${path}`, body, tokens[caller])
        expect([caller, 'update', record['title'], isAdmitted]).toEqual([
          caller,
          'update',
          record['title'],
          status === 200,
        ])
        await server.call(`PATCH ${path}`, { title: record['title'] })
      }
      for (const { record, isAdmitted } of deletes.items) {
        const { status } = await server.call(
          `DELETE /collections/tasks/records/${String(record['id'])}`,
          undefined,
          tokens[caller],
        )
        expect([caller, 'delete', record['title'], isAdmitted]).toEqual([
          caller,
          'delete',
          record['title'],
          status === 204,
        ])
        const { collectionId: _id, collectionName: _name, ...values } = record
        if (status === 204) await server.call('POST /collections/tasks/records', values)
      }
    }
  },
)

test.each([null, '', 'verified = true', 'name = "cleo" && @request.context = "password"', '@request.auth.id != ""'])(
  'logins by the rule %s are what the door answers',
  async (rule) => {
    const members = await withMembers({ authRule: rule })
    const found = await preview({ action: 'auth', rule, account: null }, 'members')
    expect(found).toMatchObject({ totalItems: 2, admittedItems: -1 })
    for (const { record, isAdmitted } of found.items) {
      const login = { identity: record['email'], password: PASSWORD }
      const { status } = await server.call('POST /collections/members/auth-with-password', login, '')
      expect([rule, record['name'], isAdmitted]).toEqual([rule, record['name'], status === 200])
    }
    await members.drop()
  },
)

test.each([
  null,
  'id = @request.auth.id',
  '@request.auth.collectionName = "users" && name = "dora"',
  '@request.body.verified = true && @request.auth.name = "ann"',
])('who manages by the rule %s is what the door answers', async (rule) => {
  const members = await withMembers({ manageRule: rule, updateRule: '', viewRule: '' })
  const body = { verified: true }
  for (const caller of [...CALLERS, 'cleo']) {
    const account = members.accountOf(caller)
    const found = await preview({ action: 'manage', account, body }, 'members')
    for (const { record, isAdmitted } of found.items) {
      const path = `/collections/members/records/${String(record['id'])}`
      await server.call(`PATCH ${path}`, { verified: false })
      const { status } = await server.call(`PATCH ${path}`, body, members.tokenOf(caller))
      expect([caller, record['name'], isAdmitted]).toEqual([caller, record['name'], status === 200])
    }
  }
  await members.drop()
})

test.each([null, '', 'owner = @request.auth.id', 'team.members.id ?= @request.auth.id', 'title = "open"'])(
  'the rule %s of a field shows it, and lets it be set, as the doors do',
  async (rule) => {
    for (const action of ['list', 'view', 'update'] as const) await storeRule(`${action}Rule`, '')
    for (const name of ['viewRule', 'updateRule'] as const) {
      await storeFieldRules({ [name]: rule, ...(name === 'updateRule' && { viewRule: '' }) })
      for (const caller of CALLERS) {
        const question = { field: 'secret', account: accountOf(caller), body: { secret: 'changed' } }
        const action = name === 'viewRule' ? 'view' : 'update'
        const found = await preview({ ...question, action })
        expect(await preview({ ...question, action, rule })).toEqual(found)
        expect(found.admittedItems).toBe(-1)
        for (const { record, isAdmitted } of found.items) {
          const path = `/collections/tasks/records/${String(record['id'])}`
          const shown = await server.call(`GET ${path}`, undefined, tokens[caller])
          const set =
            action === 'update' ? await server.call(`PATCH ${path}`, question.body, tokens[caller]) : undefined
          const isDone = set === undefined ? 'secret' in shown.json : set.status === 200
          expect([caller, action, record['title'], isAdmitted]).toEqual([caller, action, record['title'], isDone])
          if (set !== undefined) await server.call(`PATCH ${path}`, { secret: 'hidden' })
        }
      }
    }
    await storeFieldRules({ viewRule: 'owner = @request.auth.id' })
  },
)

/** A collection of two accounts; dora is verified. */
async function withMembers(rules: Readonly<Record<string, string | null>>): Promise<Members> {
  const made = await server.call('POST /collections', { name: 'members', type: 'auth', authRule: '' })
  expect(made.status).toBe(200)
  const { fields } = made.json as { fields: readonly object[] }
  const changed = await server.call('PATCH /collections/members', {
    fields: [...fields, { name: 'name', type: 'text' }],
  })
  expect(changed.status).toBe(200)
  const known: Record<string, string> = {}
  for (const name of ['cleo', 'dora']) {
    const input = { name, email: `${name}@example.com`, password: PASSWORD, passwordConfirm: PASSWORD }
    const { json } = await server.call('POST /collections/members/records', { ...input, verified: name === 'dora' })
    known[name] = String(json['id'])
  }
  const cleo = await tokenFor(server.url, 'members', 'cleo@example.com', PASSWORD)
  expect((await server.call('PATCH /collections/members', rules)).status).toBe(200)
  return {
    accountOf: (name) => (name in known ? { collection: 'members', record: known[name] } : accountOf(name)),
    tokenOf: (name) => (name === 'cleo' ? cleo : tokens[name]!),
    drop: async () => void (await server.call('DELETE /collections/members')),
  }
}

interface Members {
  readonly accountOf: (name: string) => object | null
  readonly tokenOf: (name: string) => string
  readonly drop: () => Promise<void>
}

/** The other fields stay as they are. */
async function storeFieldRules(rules: Readonly<Record<string, string | null>>): Promise<void> {
  const { fields } = (await server.call('GET /collections/tasks')).json as { fields: Record<string, unknown>[] }
  const changed = fields.map((field) => {
    const { viewRule: _view, updateRule: _update, ...rest } = field
    return field['name'] === 'secret' ? { ...rest, ...rules } : field
  })
  expect((await server.call('PATCH /collections/tasks', { fields: changed })).status).toBe(200)
}

test('one record is explained by the parts of the rule, and shown as the account sees it', async () => {
  const rule = 'team.members.id ?= @request.auth.id && (title = "of both" || owner = @request.auth.id)'
  const items = (await preview({ action: 'list', rule, account: accountOf('bob') })).items
  const record = items.find((one) => one.record['title'] === 'of both')!.record['id']
  expect(await preview({ action: 'list', rule, account: accountOf('bob'), record })).toMatchObject({
    items: [{ isAdmitted: true }],
    condition: {
      kind: 'and',
      isMet: true,
      of: [
        { text: 'team.members.id ?= @request.auth.id', isMet: true, kind: 'comparison', of: [] },
        {
          text: "title = 'of both' || owner = @request.auth.id",
          isMet: true,
          kind: 'or',
          of: [{ isMet: true }, { text: 'owner = @request.auth.id', isMet: false }],
        },
      ],
    },
  })
  const { seen } = await preview({ action: 'list', rule, account: accountOf('bob'), record })
  expect(seen).toHaveProperty('title')
  expect(seen).not.toHaveProperty('secret')
  const refused = await preview({ action: 'list', rule, account: null, record })
  expect(refused).toMatchObject({ items: [{ isAdmitted: false }], condition: { isMet: false } })
  expect(refused).not.toHaveProperty('seen')
  expect(await preview({ action: 'list', rule: null, account: null, record })).not.toHaveProperty('condition')
})

test('a list has its plan, and a wrong question is refused in words', async () => {
  const { plan } = await preview({ action: 'list', rule: 'title = "open"', account: null })
  expect(plan).toMatchObject({ isExact: true, text: expect.stringContaining('title') })
  for (const [input, data] of [
    [{}, { action: { code: 'validation_required' } }],
    [{ action: 'manage' }, { action: { message: expect.stringContaining('no accounts') } }],
    [{ action: 'auth' }, { action: {} }],
    [{ action: 'drop' }, { action: {} }],
    [{ action: 'view', field: 'secrets' }, { field: { message: expect.stringContaining('secrets') } }],
    [{ action: 'delete', field: 'secret' }, { field: {} }],
    [{ action: 'list', rule: 'titel = 1' }, { rule: { code: 'validation_invalid_rule' } }],
    [{ action: 'list', rule: 5 }, { rule: {} }],
    [{ action: 'list', account: { collection: 'users', record: 'nobody' } }, { account: {} }],
    [{ action: 'list', account: 'ann' }, { account: {} }],
  ] as const) {
    const answer = await server.call('POST /collections/tasks/preview', input)
    expect(answer).toMatchObject({ status: 400, json: { data } })
  }
  expect((await server.call('POST /collections/tasks/preview', { action: 'list', record: 'nobody' })).status).toBe(404)
})

test('superusers that follow @collections hear of each change of a definition, and nobody else does', async () => {
  const [root, ann] = [await EventClient.open(server.url), await EventClient.open(server.url)]
  await root.subscribe(['@collections'], server.token)
  await ann.subscribe(['@collections'], tokens['ann'])
  await server.call('POST /collections', { name: 'fresh', type: 'base', fields: [{ name: 'title', type: 'text' }] })
  await root.has(1)
  expect([root.messages[0]!.event, ann.messages]).toEqual(['@collections', []])
  for (const client of [root, ann]) client.close()
})
