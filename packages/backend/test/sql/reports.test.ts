/** Goal: a report answers those whom its rule admits, with values of the types that it says, and travels with definitions. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import type { Actor } from '../../src/access/actor.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { migrationApp } from '../../src/migrations/migration-app.ts'
import { reportMigration, snapshotMigration } from '../../src/migrations/migration-text.ts'
import { openTestBackend, type TestBackend } from '../test-backend.ts'
import { inThread } from '../test-model.ts'

let test_: TestBackend
let runs = 0
let user: Principal

beforeEach(async () => {
  const start = (): ReturnType<typeof inThread> => {
    const member = inThread()
    return {
      ...member,
      ask: (request, options) => {
        if (request.kind === 'rows') runs++
        return member.ask(request, options)
      },
    }
  }
  test_ = await openTestBackend({ modelHome: { start, isFile: false } })
  const { definitions, records } = test_.backend
  const fields = [
    { name: 'customer', type: 'text' },
    { name: 'total', type: 'number' },
    { name: 'day', type: 'date' },
  ]
  await definitions.create(SYSTEM, { name: 'orders', fields, listRule: null })
  const account = { email: 'ann@example.com', password: '1234567890', passwordConfirm: '1234567890' }
  const { id } = await records.create(ITSELF, 'users', account)
  const record = (await definitions.records(definitions.get('users')).get(String(id)))!
  user = { ...GUEST, name: 'ann', by: 'token', account: { collection: definitions.get('users').id, record } }
  runs = 0
})
afterEach(() => test_.close())

function actor(principal: Principal, query: Readonly<Record<string, string>> = {}): Actor {
  return { principal, request: { context: 'default', method: 'GET', query, headers: {} } }
}
const ITSELF = actor(SYSTEM)

async function order(customer: string, total: number, day = '2026-01-05'): Promise<void> {
  await test_.backend.records.create(ITSELF, 'orders', { customer, total, day })
}

function save(values: JsonObject): Promise<unknown> {
  return test_.backend.reports.create(SYSTEM, { name: 'r', rule: '', ...values })
}

async function rowsOf(query: Readonly<Record<string, string>> = {}, principal = GUEST): Promise<unknown> {
  return (await test_.backend.reports.run(actor(principal, query), 'r')).rows
}

async function refused(work: Promise<unknown>): Promise<{ readonly code: string; readonly data?: JsonObject }> {
  const error = (await work.then(
    () => ({ code: 'none' }),
    (reason: unknown) => reason,
  )) as { readonly code: string; readonly message: string; readonly data?: JsonObject }
  return { ...error, code: error.code, ...(error.data && { data: error.data }) }
}

test('rows have the types of JSON, in the order of the columns', async () => {
  await order('a', 1.5)
  await save({
    query: `SELECT customer, total, count(*) AS n, NULL AS none, 9007199254740993 AS big, 1e400 AS all_ FROM orders`,
  })
  const { columns, rows } = await test_.backend.reports.run(actor(GUEST), 'r')
  expect(columns).toEqual(['customer', 'total', 'n', 'none', 'big', 'all_'])
  expect(rows).toEqual([['a', 1.5, 1, null, '9007199254740993', null]])
})

test('values are bound by their types: whole numbers as such, dates as records have them', async () => {
  const parameters = [
    { name: 'n', type: 'integer', default: 3 },
    { name: 'x', type: 'number', default: 3 },
    { name: 'flag', type: 'bool', default: true },
    { name: 'day', type: 'date', default: '2026-01-05' },
    { name: 'text', type: 'text', default: '007' },
    { name: 'none', type: 'text', default: null },
  ]
  await save({ parameters, query: 'SELECT :n / 2, :x / 2, typeof(:flag), :day, :text, :none' })
  expect(await rowsOf()).toEqual([[1, 1.5, 'integer', '2026-01-05 00:00:00.000Z', '007', null]])
  expect(
    await rowsOf({ n: '-9223372036854775808', x: '1e3', flag: '0', day: '2026-02-03T10:00:00Z', text: '' }),
  ).toEqual([['-4611686018427387904', 500, 'integer', '2026-02-03 10:00:00.000Z', '', null]])
})

test.each([
  [{ from: 'soon' }, 'from', 'validation_invalid_parameter'],
  [{ from: '' }, 'from', 'validation_invalid_parameter'],
  [{}, 'from', 'validation_required'],
  [{ from: '2026-01-01', to: '2026-01-02' }, 'to', 'validation_unknown_parameter'],
  [{ from: '2026-01-01', n: '1.5' }, 'n', 'validation_invalid_parameter'],
  [{ from: '2026-01-01', n: '9223372036854775808' }, 'n', 'validation_invalid_parameter'],
  [{ from: '2026-01-01', constructor: 'x' }, 'constructor', 'validation_unknown_parameter'],
] as [Readonly<Record<string, string>>, string, string][])(
  'the parameters %j name what is wrong: %s',
  async (query, name, code) => {
    const parameters = [
      { name: 'from', type: 'date' },
      { name: 'n', type: 'integer', default: 1 },
    ]
    await save({ parameters, query: 'SELECT :from, :n' })
    expect(await refused(rowsOf(query))).toMatchObject({ code: 'INVALID', data: { [name]: { code } } })
  },
)

test('a report that has a rule answers those whom it admits, whatever the rules of collections are', async () => {
  await order('ann', 5)
  const parameters = [{ name: 'who', type: 'text' }]
  await save({
    parameters,
    query: 'SELECT total FROM orders WHERE customer = :who',
    rule: '@request.auth.email = @request.query.who',
  })
  expect(await rowsOf({ who: 'ann@example.com' }, user)).toEqual([])
  expect((await refused(rowsOf({ who: 'ann' }, user))).code).toBe('FORBIDDEN')
  expect((await refused(rowsOf({ who: 'ann' }))).code).toBe('UNAUTHENTICATED')
  expect(await rowsOf({ who: 'ann' }, SYSTEM)).toEqual([[5]])
  await test_.backend.reports.update(SYSTEM, 'r', { rule: '@collection.orders.total > 4' })
  expect(await rowsOf({ who: 'ann' })).toEqual([[5]])
  await test_.backend.reports.update(SYSTEM, 'r', { rule: null })
  expect((await refused(rowsOf({ who: 'ann' }, user))).code).toBe('FORBIDDEN')
  expect((await refused(rowsOf({ who: 'ann' }))).code).toBe('UNAUTHENTICATED')
})

test('an API token runs no report that has a rule', async () => {
  await save({ query: 'SELECT 1', rule: '@request.auth.id != ""' })
  expect(await rowsOf({}, user)).toEqual([[1]])
  const token = { id: 't', name: 't', scopes: new Map() }
  expect((await refused(rowsOf({}, { ...user, apiToken: token }))).code).toBe('FORBIDDEN')
})

test('passwords and keys of tokens are empty', async () => {
  await save({ query: 'SELECT email, password, tokenKey FROM users' })
  expect(await rowsOf()).toEqual([['ann@example.com', '', '']])
})

test.each([
  ['SELECT nope FROM orders', 'no such column'],
  ['SELEC 1', 'syntax error'],
  ['DELETE FROM orders', 'syntax error'],
  ['SELECT 1; SELECT 2', 'syntax error'],
  ['SELECT name FROM sqlite_schema', 'prohibited'],
  ['SELECT :who', ':who is no parameter'],
  ['SELECT ?', '? is no parameter'],
  ['SELECT \':x\', 1 AS a$b, [:y], "@z" -- :who\n, @who', '@who is no parameter'],
])('the query %s is refused', async (query, words) => {
  const { data } = await refused(save({ query }))
  expect(data).toMatchObject({ query: { code: 'validation_invalid_query', message: expect.stringContaining(words) } })
})

test('what is wrong with a definition is said by its place', async () => {
  const parameters = [
    { name: 'a', type: 'integer', default: 'x' },
    { name: 'a', type: 'blob' },
    { name: '1', type: 'text' },
  ]
  expect((await refused(save({ name: 'A b', query: '', rule: 'nope = 1', parameters }))).data).toMatchObject({
    name: { code: 'validation_match_invalid' },
    query: { code: 'validation_required' },
    parameters: {
      0: { default: { code: 'validation_invalid_parameter' } },
      1: { name: { code: 'validation_not_in_invalid' }, type: { code: 'validation_in_invalid' } },
      2: { name: { code: 'validation_match_invalid' } },
    },
  })
  expect((await refused(save({ query: 'SELECT 1', rule: 'nope = 1' }))).data).toMatchObject({
    rule: { code: 'validation_invalid_rule' },
  })
  await save({ query: 'SELECT 1' })
  expect((await refused(save({ query: 'SELECT 2' }))).data).toMatchObject({ name: { code: 'validation_not_unique' } })
})

test('it runs once for all that wait, and again when a column that it reads has changed', async () => {
  await order('a', 1)
  const parameters = [{ name: 'least', type: 'integer', default: 0 }]
  await save({ parameters, query: 'SELECT sum(total) FROM orders WHERE total > :least' })
  expect(await Promise.all([rowsOf(), rowsOf(), rowsOf()])).toEqual([[[1]], [[1]], [[1]]])
  expect(runs).toBe(1)
  expect(await rowsOf({ least: '1' })).toEqual([[null]])
  expect(runs).toBe(2)
  const [{ id }] = (await test_.backend.records.list(ITSELF, 'orders')).items as [{ readonly id: string }]
  await test_.backend.records.update(ITSELF, 'orders', id, { customer: 'b' })
  expect(await rowsOf()).toEqual([[1]])
  expect(runs).toBe(2)
  await order('c', 2)
  expect(await rowsOf()).toEqual([[3]])
  expect(runs).toBe(3)
})

test('the time of now is asked again, also where a parameter says now', async () => {
  await save({ parameters: [{ name: 'at', type: 'text', default: 'now' }], query: 'SELECT date(:at) IS NOT NULL' })
  await rowsOf()
  await rowsOf()
  expect(runs).toBe(2)
  await rowsOf({ at: '2026-01-01' })
  await rowsOf({ at: '2026-01-01' })
  expect(runs).toBe(3)
})

/** How often a report runs that is asked twice. */
async function runsOf(query: string): Promise<number> {
  const name = `r${++reportsMade}`
  const parameters = [{ name: 'at', type: 'text', default: 'nowhere' }]
  await save({ name, query, parameters })
  const before = runs
  for (const _ of [1, 2]) {
    const { rows } = await test_.backend.reports.run(actor(GUEST), name)
    expect(rows, query).toEqual([[1]])
  }
  return runs - before
}
let reportsMade = 0

test('a report that may read the clock is asked again each time', async () => {
  await order('now', 1)
  const times = [
    "date('n' || 'ow')",
    "strftime('%Y')",
    'date(/* now */)',
    "unixepoch('subsec')",
    "unixepoch('SUBSECOND')",
    'date(char(110, 111, 119))',
    "date(x'6e6f77')",
    '"date"(\'NOW\')',
    'date("now")',
    '[date] (customer)',
    "[[date]]('now')",
    "date(day) IS NULL OR -- it's\n date('now')",
    "timediff('2026-01-01', trim(' now '))",
    "(SELECT date(day) FROM (SELECT 'now' AS day))",
    '(SELECT date(value) FROM json_each(\'["now"]\'))',
  ]
  for (const time of times) expect(await runsOf(`SELECT ${time} IS NOT NULL FROM orders`), time).toBe(2)
})

test('a report whose times are never now keeps its rows', async () => {
  await order('now', 1)
  const times = [
    'date(day)',
    "strftime('%Y-%m', day, 'start of month')",
    'datetime(o."day")',
    "julianday('2026-01-01') - julianday(o.day) -- now\n",
    "date(total, 'unixepoch')",
    "customer = 'now' OR date(:at) = day",
  ]
  for (const time of times) expect(await runsOf(`SELECT ${time} IS NOT NULL FROM orders AS o`), time).toBe(1)
})

test('those who ask for now at the same time wait for one run', async () => {
  await save({ parameters: [{ name: 'at', type: 'text' }], query: 'SELECT date(:at) IS NOT NULL' })
  await Promise.all([rowsOf({ at: 'now' }), rowsOf({ at: 'now' }), rowsOf({ at: 'now' })])
  expect(runs).toBe(1)
})

test('a time that two parameters make is asked again', async () => {
  const parameters = ['a', 'b'].map((name) => ({ name, type: 'text' }))
  await save({ query: 'SELECT date(:a || :b) IS NOT NULL', parameters })
  expect(await rowsOf({ a: 'n', b: 'ow' })).toEqual([[1]])
  await rowsOf({ a: 'n', b: 'ow' })
  expect(runs).toBe(2)
})

test('a report whose query no longer fits says so to superusers, and no more than that to others', async () => {
  await save({ query: 'SELECT customer FROM orders' })
  const { definitions, reports } = test_.backend
  const { fields } = definitions.get('orders')
  await definitions.update(SYSTEM, 'orders', { fields: fields.filter(({ name }) => name !== 'customer') })
  await expect(rowsOf({}, SYSTEM)).rejects.toThrow('no such column: customer')
  await expect(rowsOf()).rejects.toThrow(`The report "r" can't be run.`)
  await expect(reports.run(actor(SYSTEM), 'nope')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('more rows than an answer may have are refused', async () => {
  const n = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= 100000)'
  await save({ query: `${n} SELECT i FROM n` })
  await expect(rowsOf({}, SYSTEM)).rejects.toThrow('more than 100000 rows')
})

test('migrations bring reports: those of a snapshot, and those of single changes', async () => {
  const { reports, definitions } = test_.backend
  const parameters = [{ name: 'n', type: 'integer', default: 1 }]
  await save({ description: 'One.', parameters, query: 'SELECT :n' })
  const [before] = await reports.list(SYSTEM)
  const after = { ...before!, name: 's' }
  const app = migrationApp(test_.backend)
  await ran(reportMigration({ before, after }), 'up', app)
  expect(await reports.list(SYSTEM)).toMatchObject([{ name: 's', description: 'One.', parameters }])
  await ran(reportMigration({ before, after }), 'down', app)
  const snapshot = snapshotMigration(definitions.all(), await reports.list(SYSTEM))
  await reports.delete(SYSTEM, 'r')
  await ran(snapshot, 'up', app)
  expect(await reports.list(SYSTEM)).toMatchObject([{ name: 'r', description: 'One.', parameters, query: 'SELECT :n' }])
})

/** Makes the calls that a function of a migration has. Their parameters are JSON. */
async function ran(file: string, step: 'up' | 'down', app: ReturnType<typeof migrationApp>): Promise<void> {
  const [, body] = new RegExp(`function ${step}\\(app: MigrationApp\\): Promise<void> {\n([\\s\\S]*?)\n}`).exec(file)!
  for (const [, name, parameters] of body!.matchAll(/^  await app\.(\w+)\(([\s\S]*?)\)$/gm))
    await (app[name as 'saveReport'] as (...values: unknown[]) => Promise<void>)(...JSON.parse(`[${parameters}]`))
}

test('an import makes and changes reports, and deletes others if it is to', async () => {
  const { reports } = test_.backend
  await save({ query: 'SELECT 1' })
  await reports.import(SYSTEM, [{ name: 's', query: 'SELECT 2' }], false)
  expect((await reports.list(SYSTEM)).map(({ name }) => name)).toEqual(['r', 's'])
  expect((await refused(reports.import(SYSTEM, [{ name: 't', query: 'SELECT nope' }], true))).data).toMatchObject({
    reports: { 0: { query: { code: 'validation_invalid_query' } } },
  })
  await reports.import(SYSTEM, [{ name: 's', description: 'Two.' }], true)
  expect(await reports.list(SYSTEM)).toMatchObject([{ name: 's', description: 'Two.', query: 'SELECT 2' }])
})

test('documents of a database are rows, with columns of what is indexed', async () => {
  const orders = test_.database.collection<JsonObject>('shop-orders', { indexes: ['city.name', 'n'] })
  await orders.insert([
    { _id: 'one', city: { name: 'Bern' }, n: 2 },
    { _id: 'two', city: { name: 'Bern' }, n: 3, list: [1] },
    { _id: '_design/x', views: {} },
  ])
  await orders.ready()
  await save({ query: `SELECT id, rev, doc ->> '$.list[0]' AS first, "city.name", n FROM "shop-orders" ORDER BY n` })
  expect(await rowsOf()).toEqual([
    ['one', expect.stringMatching(/^1-/), null, 'Bern', 2],
    ['two', expect.stringMatching(/^1-/), 1, 'Bern', 3],
  ])
  await orders.delete('one')
  await orders.update('two', (old) => ({ ...old, n: 4 }))
  expect(await rowsOf()).toEqual([['two', expect.stringMatching(/^2-/), 1, 'Bern', 4]])
  await expect(test_.backend.sql.run(SYSTEM, 'DELETE FROM "shop-orders"')).rejects.toThrow(
    "shop-orders is a database: write its documents by CouchDB's API",
  )
  const { rows } = await test_.backend.sql.run(SYSTEM, 'SELECT n, json_extract(doc, \'$.list\') FROM "shop-orders"')
  expect(rows).toEqual([['4', '[1]']])
})

test('indexes that are no columns make no database unreadable', async () => {
  const indexes = ['City', 'city', 'Doc', 'a"b', '$created', { on: 'tags', multi: true }, { on: 'note', text: true }]
  const notes = test_.database.collection<JsonObject>('notes', { indexes: indexes as never })
  await notes.insert({ _id: 'one', City: 'Bern', city: 'Biel', Doc: 1, 'a"b': 2, tags: ['x'], note: 'y' })
  await notes.ready()
  await save({ query: 'SELECT * FROM notes' })
  const { columns, rows } = await test_.backend.reports.run(actor(GUEST), 'r')
  expect(columns).toEqual(['id', 'rev', 'doc', 'City'])
  expect(rows).toEqual([['one', expect.any(String), expect.stringContaining('"city":"Biel"'), 'Bern']])
})

test('databases of the server are no tables', async () => {
  await test_.database.collection('$_users').insert({ _id: 'org.couchdb.user:a', derived_key: 'x' })
  expect((await refused(save({ query: 'SELECT doc FROM _users' }))).code).toBe('INVALID')
  expect((await refused(save({ query: 'SELECT doc FROM "$_users"' }))).code).toBe('INVALID')
})
