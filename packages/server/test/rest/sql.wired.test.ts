/**
 * Goal: superusers run SQL on the collections. What it changes of records is written all or nothing, and it reaches nothing else.
 * The answers about values and errors are the real PocketBase's.
 */
import { stat } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { RecordWrites } from '../../../backend/src/records/record-writes.ts'
import { ITSELF, PASSWORD, startRest, type RestServer } from './rest-server.ts'
import type { Answer } from '../test-server.ts'

const USER = 'user12345678901'
const FIRST = 'first1234567890'
const SECOND = 'second123456789'

const RECORD = {
  id: FIRST,
  title: 'first',
  votes: 1234567.5,
  open: true,
  more: { a: 1 },
  tags: ['a'],
  place: { lon: 1, lat: 2 },
  day: '2022-01-01',
}

let server: RestServer

beforeAll(async () => {
  server = await startRest()
  const account = { id: USER, email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.server.backend.records.create(ITSELF, 'users', account)
  const users = server.server.backend.definitions.find('users')!.id
  await made('POST /collections', {
    name: 'posts',
    type: 'base',
    fields: [
      { name: 'title', type: 'text', max: 20 },
      { name: 'votes', type: 'number' },
      { name: 'open', type: 'bool' },
      { name: 'more', type: 'json' },
      { name: 'tags', type: 'select', values: ['a', 'b'], maxSelect: 2 },
      { name: 'place', type: 'geoPoint' },
      { name: 'day', type: 'date' },
      { name: 'author', type: 'relation', collectionId: users, maxSelect: 1, cascadeDelete: true },
      { name: 'created', type: 'autodate', onCreate: true },
      { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
    ],
  })
  await made('POST /collections', { name: 'titles', type: 'view', viewQuery: 'SELECT id, title FROM posts' })
})
afterAll(() => server.close())
beforeEach(async () => {
  await server.call('DELETE /collections/posts/truncate')
  await made('POST /collections/posts/records', RECORD)
  await made('POST /collections/posts/records', { id: SECOND, title: 'second' })
})

async function made(request: string, body: unknown): Promise<void> {
  const { status, text } = await server.call(request, body)
  if (status !== 200) throw new Error(text)
}

function sql(query: unknown): Promise<Answer> {
  return server.call('POST /sql', { query })
}

async function rowsOf(query: string): Promise<unknown> {
  const { json, text } = await sql(query)
  return json['rows'] ?? text
}

/** What a refused request says. */
async function refusal(query: unknown): Promise<unknown> {
  const { status, json } = await sql(query)
  return [status, json['message']]
}

async function post(id: string): Promise<Readonly<Record<string, unknown>>> {
  return (await server.call(`GET /collections/posts/records/${id}`)).json
}

const RAW = 'Failed to execute query. Raw error:\n'

test.each<[unknown, string, object | undefined]>([
  ['', 'An error occurred while validating the submitted data.', { code: 'validation_required' }],
  [null, 'An error occurred while validating the submitted data.', { code: 'validation_required' }],
  ['a'.repeat(5001), 'An error occurred while validating the submitted data.', { code: 'validation_length_too_long' }],
  [5, 'An error occurred while loading the submitted data.', undefined],
  ['  ', `${RAW}empty query.`, undefined],
  ['invalid', `${RAW}SQL logic error: near "invalid": syntax error (1).`, undefined],
  ['select', `${RAW}SQL logic error: incomplete input (1).`, undefined],
  ['select n from nope', `${RAW}SQL logic error: no such table: nope (1).`, undefined],
  [
    'insert into posts(id) select id from posts',
    `${RAW}constraint failed: UNIQUE constraint failed: posts.id (1555).`,
    undefined,
  ],
])('%j is refused as PocketBase refuses it', async (query, message, error) => {
  const { status, json } = await sql(query)
  expect([status, json['message']]).toEqual([400, message])
  const { query: found } = json['data'] as Record<string, unknown>
  if (error === undefined) expect(json['data']).toEqual({})
  else expect(found).toMatchObject(error)
})

test.each([
  ['select 1;select 2', 0, ['2'], [['2']]],
  ['with x as (select 1) select * from x', 0, ['1'], [['1']]],
  ['select 1 as a, 2 as a', 0, ['a', 'a'], [['1', '2']]],
  ['select 1; -- a comment', 0, ['1'], [['1']]],
  [';', 0, [], []],
  ['-- a comment', 0, [], []],
  ['create table t(id int primary key)', 0, [], []],
  ['create table t(id int primary key);insert into t(id)VALUES(1),(2)', 2, [], []],
  ['create table t(a);insert into t values(1);create table u(a);select 5', 1, [], []],
  ["update posts set title='z'; create table q(a)", 2, [], []],
])('%s is answered as PocketBase answers it', async (query, affectedRows, names, rows) => {
  const { status, json } = await sql(query)
  expect([status, json['affectedRows'], json['rows']]).toEqual([200, affectedRows, rows])
  expect((json['columns'] as { name: string }[]).map(({ name }) => name)).toEqual(names)
  expect(json['execTime']).toBeTypeOf('number')
})

test('values are texts as Go writes them', async () => {
  const numbers = "1.5, 1e21, 123456789, x'4142', null, 12345678.5, 1.0, 0.00001, 9007199254740993, -1234567.5"
  expect(await rowsOf(`select ${numbers}`)).toEqual([
    ['1.5', '1e+21', '123456789', 'AB', null, '1.23456785e+07', '1', '1e-05', '9007199254740993', '-1.2345675e+06'],
  ])
})

test('a collection is a table with PocketBase’s columns, in their order', async () => {
  const { json } = await sql(`select * from POSTS where id = '${FIRST}'`)
  const columns = (json['columns'] as { name: string; type: string; nullable: boolean }[]).map(
    ({ name, type, nullable }) => `${name} ${type} ${nullable}`,
  )
  expect(columns).toEqual([
    'author TEXT true',
    'created TEXT true',
    'day TEXT true',
    'id TEXT true',
    'more JSON true',
    'open BOOLEAN true',
    'place JSON true',
    'tags JSON true',
    'title TEXT true',
    'updated TEXT true',
    'votes NUMERIC true',
  ])
  const { created, updated } = await post(FIRST)
  expect(json['rows']).toEqual([
    [
      '',
      created,
      '2022-01-01 00:00:00.000Z',
      FIRST,
      '{"a":1}',
      '1',
      '{"lon":1,"lat":2}',
      '["a"]',
      'first',
      updated,
      '1.2345675e+06',
    ],
  ])
  const empty = await rowsOf(`select author, day, more, open, place, tags, votes from posts where id = '${SECOND}'`)
  expect(empty).toEqual([['', '', null, '0', '{"lon":0,"lat":0}', '[]', '0']])
})

test('collections, views and tables of the request are joined', async () => {
  const query = `create table t(id); insert into t values('${FIRST}');
    insert into t select id from titles where title = 'second'`
  expect((await sql(query)).json['affectedRows']).toBe(1)
  const joined = 'select t.title, p.votes from titles t join posts p on p.id = t.id order by 1'
  expect(await rowsOf(joined)).toEqual([
    ['first', '1.2345675e+06'],
    ['second', '0'],
  ])
  expect(await rowsOf('select * from t')).toContain('no such table: t')
})

test('at most 1000 rows are answered, and a list without end ends', async () => {
  const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n'
  expect(await rowsOf(endless)).toHaveLength(1000)
})

test('secrets of accounts are empty, and can’t be set', async () => {
  expect(await rowsOf('select email, password, tokenKey from users')).toEqual([['ann@example.com', '', '']])
  const text = `${RAW}users.password can't be set by SQL: use the records of the API.`
  expect(await refusal("update users set password = 'x'")).toEqual([400, text])
  expect(await refusal("update users set tokenKey = 'x'")).toEqual([400, text.replace('password', 'tokenKey')])
  // An account needs a password.
  const { status, json } = await sql("insert into users(email) values('b@example.com')")
  expect([status, Object.keys(json['data'] as object)]).toEqual([400, ['password']])
  await sql("update users set name = 'Ann'")
  const { json: login } = await server.call('POST /collections/users/auth-with-password', {
    identity: 'ann@example.com',
    password: PASSWORD,
  })
  expect((login['record'] as Record<string, unknown>)['name']).toBe('Ann')
})

test.each([
  ["attach 'x.db' as x", 'ATTACH, DETACH and VACUUM'],
  ["vacuum into 'x.db'", 'ATTACH, DETACH and VACUUM'],
  ['vacuum', 'ATTACH, DETACH and VACUUM'],
  ["select load_extension('x')", 'load_extension'],
  ["select readfile('/etc/hostname')", 'no such function: readfile'],
  ["select writefile('x', 'y')", 'no such function: writefile'],
  ['pragma writable_schema = 1', 'PRAGMA writable_schema is not allowed'],
  ["pragma temp_store_directory = '/'", 'PRAGMA temp_store_directory is not allowed'],
  ['begin', 'leave out BEGIN'],
  ['select 1; commit', 'leave out BEGIN'],
  ['savepoint a', 'leave out BEGIN'],
  ['create virtual table f using fts5(x)', 'virtual tables are not allowed'],
  ['drop table posts', 'posts is a collection'],
  ['alter table posts add column x', 'posts is a collection'],
  ['alter table posts rename to x', 'posts is a collection'],
  ['alter table posts rename column title to x', 'posts is a collection'],
  ['create index i on posts(title)', 'posts is a collection'],
  ['create trigger t after insert on posts begin select 1; end', 'posts is a collection'],
  ['create temp trigger t after insert on posts begin select 1; end', 'posts is a collection'],
  ["update titles set title = 'x'", 'cannot modify titles because it is a view'],
  ['delete from titles', 'cannot modify titles because it is a view'],
  ["update posts set id = 'x' || id", "the id of a record can't change"],
  ['delete from sqlite_master', 'sqlite_master may not be modified'],
  ["update posts set title = 'x'; update \"$before posts\" set title = 'x'", 'no such table'],
  ['update posts set title = \'x\'; drop table temp."$before posts"', 'no such table'],
  ['select hex(zeroblob(20000000))', 'string or blob too big'],
])('%s is refused', async (query, reason) => {
  const [status, message] = (await refusal(query)) as [number, string]
  expect([status, message.startsWith(RAW)]).toEqual([400, true])
  expect(message).toContain(reason)
  await expect(stat('x.db')).rejects.toThrow('ENOENT')
  expect((await post(FIRST))['title']).toBe('first')
})

test('changed rows are written to the records, with the dates that they have', async () => {
  const before = await post(FIRST)
  const { json } = await sql(`update posts set title = 'new', votes = votes + 1, open = 0, more = '[1]', tags = '["b"]',
    place = '{"lon":3,"lat":4}', day = '2023-02-03', created = '2020-01-01 00:00:00.000Z', author = '${USER}'
    where id = '${FIRST}'`)
  expect(json['affectedRows']).toBe(1)
  expect(await post(FIRST)).toEqual({
    ...before,
    title: 'new',
    votes: 1234568.5,
    open: false,
    more: [1],
    tags: ['b'],
    place: { lon: 3, lat: 4 },
    day: '2023-02-03 00:00:00.000Z',
    created: '2020-01-01 00:00:00.000Z',
    author: USER,
  })
})

test('rows are inserted, replaced and deleted in one transaction', async () => {
  const other = await post(SECOND)
  const query = `insert into posts(title) values('third');
    replace into posts(id, title, created, updated) values('${FIRST}', 'replaced', '${String(other['created'])}', '');
    delete from posts where id = '${SECOND}'`
  expect((await sql(query)).status).toBe(200)
  const titles = await rowsOf("select title, votes, created != '' from posts order by title")
  expect(titles).toEqual([
    ['replaced', '0', '1'],
    ['third', '0', '1'],
  ])
  expect((await post(SECOND))['status']).toBe(404)
})

test('an upsert, RETURNING, and a trigger of a table of the request change records too', async () => {
  await sql(`insert into posts(id, title) values('${FIRST}', 'x') on conflict(id) do update set votes = 7`)
  expect((await post(FIRST))['votes']).toBe(7)
  await sql(`with t as (select 1) update posts set votes = 8 where id = '${FIRST}' returning id`)
  expect((await post(FIRST))['votes']).toBe(8)
  await sql(`create table t(a); create trigger tr after insert on t begin update posts set votes = new.a; end;
    insert into t values(9)`)
  expect([(await post(FIRST))['votes'], (await post(SECOND))['votes']]).toEqual([9, 9])
})

test('deleting an account and what goes with it is no error', async () => {
  const account = { id: 'gone12345678901', email: 'g@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await made('POST /collections/users/records', account)
  await sql(`update posts set author = '${account.id}'`)
  expect((await sql(`delete from users where id = '${account.id}'; delete from posts`)).status).toBe(200)
  expect(await rowsOf('select count(*) from posts')).toEqual([['0']])
  const last = await refusal('delete from _superusers')
  expect(last).toEqual([400, expect.stringContaining('only existing superuser') as string])
})

test.each([
  ["votes = 'many'", "Posts.votes is a field of type number, and can't be many."],
  ['votes = 9e999', "Posts.votes is a field of type number, and can't be Infinity."],
  ['votes = 9007199254740993', 'too large to be represented'],
  ['open = 2', "Posts.open is a field of type bool, and can't be 2."],
  ["more = 'no json'", "Posts.more is a field of type json, and can't be no json."],
  ["tags = '{}'", "Posts.tags is a field of type select, and can't be {}."],
  ["place = '[]'", "Posts.place is a field of type geoPoint, and can't be []."],
  ["day = 'soon'", "Posts.day is a field of type date, and can't be soon."],
  ["created = 'soon'", "Posts.created is a field of type autodate, and can't be soon."],
  ["title = x'00'", "Posts.title is a field of type text, and can't be a BLOB."],
  ["author = 'nobody123456789'", 'nothing was written'],
  ["title = 'a title that is too long'", 'nothing was written'],
  ['tags = \'["c"]\'', 'nothing was written'],
])('a value that a field can’t have is refused, and nothing is written: %s', async (set, reason) => {
  const [status, message] = (await refusal(
    `update posts set title = 'x' where id = '${SECOND}'; update posts set ${set} where id = '${FIRST}'`,
  )) as [number, string]
  expect(status).toBe(400)
  expect(message).toContain(reason)
  expect((await post(SECOND))['title']).toBe('second')
})

test('a record that somebody changes meanwhile is a conflict, and nothing is written', async () => {
  const { apply } = RecordWrites.prototype
  // It comes after the rows were read, and before they are written.
  const applied = vi.spyOn(RecordWrites.prototype, 'apply').mockImplementationOnce(async function (
    this: RecordWrites,
    ...given
  ) {
    await server.call(`PATCH /collections/posts/records/${FIRST}`, { title: 'by hand' })
    return apply.apply(this, given)
  })
  onTestFinished(() => applied.mockRestore())
  const { status, json } = await sql("update posts set title = 'by SQL'")
  const message = `Failed to update the record "${FIRST}", and nothing was written. Somebody has changed it meanwhile.`
  expect([status, json['message']]).toEqual([409, message])
  expect([(await post(FIRST))['title'], (await post(SECOND))['title']]).toEqual(['by hand', 'second'])
})
