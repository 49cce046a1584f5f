/** Goal: what PocketBase can't do works through its own client. */
import { EventSource } from 'eventsource'
import type PocketBase from 'pocketbase'
import type { ListResult, RecordModel } from 'pocketbase'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMAIL, failure, PASSWORD, sdkClient, startRest } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

let server: RestServer
let root: PocketBase
let guest: PocketBase

beforeAll(async () => {
  globalThis.EventSource ??= EventSource as unknown as typeof globalThis.EventSource
  server = await startRest()
  ;[root, guest] = [client(), client()]
  await root.collection('_superusers').authWithPassword(EMAIL, PASSWORD)
  await root.collections.create({
    name: 'posts',
    type: 'base',
    listRule: 'votes >= 0',
    viewRule: '',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'votes', type: 'number' },
    ],
  })
  for (let votes = -2; votes < 10; votes++) await root.collection('posts').create({ title: `t${votes % 3}`, votes })
})
afterAll(() => server.close())

function client(): PocketBase {
  return sdkClient(server.url)
}

test('getList follows cursors', async () => {
  const votes: number[] = []
  let pages = 0
  for (let after: string | null = ''; after !== null; pages++) {
    const page: ListResult<RecordModel> & { nextCursor?: string | null } = await guest
      .collection('posts')
      .getList(1, 4, { sort: 'title,-votes', after })
    expect(page.totalItems).toBe(10)
    votes.push(...page.items.map((post) => post['votes'] as number))
    after = page.nextCursor!
  }
  expect([pages, votes]).toEqual([3, [9, 6, 3, 0, 7, 4, 1, 8, 5, 2]])
  expect(await guest.collection('posts').getList(1, 4)).not.toHaveProperty('nextCursor')
})

test('a wrong cursor is 400 with a reason', async () => {
  const posts = guest.collection('posts')
  expect((await failure(posts.getList(1, 4, { after: 'x' }))).response).toMatchObject({
    status: 400,
    message: 'The value of "after" is no cursor. Send the "nextCursor" of the page before, or nothing.',
  })
  expect((await failure(posts.getList(2, 4, { after: '' }))).status).toBe(400)
})

test('getList groups and computes', async () => {
  const options = { group: 'title', aggregate: 'count,sum:votes', sort: '-sum.votes', skipTotal: true }
  expect((await guest.collection('posts').getList(1, 2, options)).items).toEqual([
    { group: { title: 't0' }, count: 4, sum: { votes: 18 } },
    { group: { title: 't2' }, count: 3, sum: { votes: 15 } },
  ])
  expect((await failure(guest.collection('posts').getList(1, 2, { group: 'nothing' }))).status).toBe(400)
})

test('nobody but superusers sorts by addresses, whatever the page is asked for by', async () => {
  await root.collections.update('users', { listRule: '' })
  for (const name of ['ann', 'bob', 'eve'])
    await root
      .collection('users')
      .create({ email: `${name}@example.com`, password: PASSWORD, passwordConfirm: PASSWORD })
  const options = { sort: 'email', after: '' }
  for (const asked of [options, { sort: 'email' }, { sort: '-email,name' }])
    expect((await failure(guest.collection('users').getList(1, 1, asked))).status).toBe(400)
  expect((await root.collection('users').getList(1, 1, options)).items[0]!['email']).toBe('ann@example.com')
})

test('check says what a change would not keep, and changes nothing', async () => {
  const before = await root.collections.getOne('posts')
  const check = (body: object, by: PocketBase = root): Promise<unknown> =>
    by.send('/api/collections/posts/check', { method: 'POST', body })
  const fields = before.fields.map((field) => (field['name'] === 'votes' ? { ...field, max: 7 } : field))
  expect(await check({ fields })).toMatchObject({
    misfits: [{ field: 'votes', count: 2, error: { code: 'validation_max_number_constraint' } }],
    migration: expect.stringContaining('await app.updateCollection('),
  })
  expect(await check({})).toEqual({ misfits: [], migration: null })
  expect((await failure(check({ listRule: 'nothing = 1' }))).response['data']).toMatchObject({
    listRule: { code: 'validation_invalid_rule' },
  })
  expect(await root.collections.getOne('posts')).toEqual(before)
  expect((await failure(check({}, guest))).status).toBe(401)
})

test('explain tells superusers how a list is answered', async () => {
  const explain = (by: PocketBase): Promise<Record<string, unknown>> =>
    by.send('/api/collections/posts/explain', { query: { filter: "title = 't1'", sort: '-votes' } })
  expect(await explain(root)).toMatchObject({
    isExact: true,
    order: ['-votes', '$created'],
    text: expect.stringContaining('title'),
  })
  expect((await failure(explain(guest))).status).toBe(401)
})

test('fields are shown, served and set by their own rules', async () => {
  const ann = client()
  const { record } = await ann.collection('users').authWithPassword('ann@example.com', PASSWORD)
  const viewRule = 'owner != "" && owner = @request.auth.id'
  const owner = { name: 'owner', type: 'relation', collectionId: record.collectionId, maxSelect: 1 }
  await root.collections.create({
    name: 'jobs',
    type: 'base',
    listRule: '',
    viewRule: '',
    updateRule: '',
    fields: [
      owner,
      { name: 'salary', type: 'number', viewRule, updateRule: null },
      { name: 'contract', type: 'file', maxSelect: 1, viewRule },
    ],
  })
  const contract = new File(['secret'], 'contract.txt')
  const { id, ...made } = await root.collection('jobs').create({ owner: record.id, salary: 5, contract })
  const { collectionName: _, ...guestSees } = await guest.collection('jobs').getOne(id)
  expect(Object.keys(guestSees)).toEqual(['collectionId', 'id', 'owner'])
  expect(await ann.collection('jobs').getOne(id)).toMatchObject({ salary: 5 })
  for (const options of [{ filter: 'salary > 1' }, { sort: 'salary' }])
    expect((await failure(ann.collection('jobs').getList(1, 1, options))).status).toBe(400)
  expect((await failure(ann.collection('jobs').update(id, { salary: 6 }))).response['data']).toEqual({
    salary: { code: 'validation_field_rule', message: 'You are not allowed to change this field.' },
  })
  const get = async (by: PocketBase, token: string): Promise<number> =>
    (await fetch(by.files.getURL({ id, ...made }, made['contract'] as string, { token }))).status
  expect([await get(guest, ''), await get(ann, ''), await get(ann, await ann.files.getToken())]).toEqual([
    404, 404, 200,
  ])
})

test('search() finds words in lists, rules and subscriptions', async () => {
  await root.collections.create({
    name: 'news',
    type: 'base',
    listRule: "search('secret') = false",
    viewRule: '',
    fields: [
      { name: 'title', type: 'text', searchable: true },
      { name: 'body', type: 'editor', searchable: true },
      { name: 'votes', type: 'number' },
    ],
  })
  const news = guest.collection('news')
  const heard: unknown[] = []
  const filter = guest.filter("search({:words}) || search('rare')", { words: '"brown fox"' })
  await news.subscribe('*', ({ record }) => void heard.push(record['title']), { filter })
  for (const [title, body] of [
    ['The quick', '<p>brown fox</p>'],
    ['Fox', 'quick, brown'],
    ['Brown', 'fox'],
    ['secret', 'a quick brown fox'],
    ['Rarely', 'Ärger'],
    ['Rare', 'arger'],
  ])
    await root.collection('news').create({ title, body, votes: title!.length })
  const titles = async (by: PocketBase, asked: string): Promise<unknown[]> => {
    const { items, totalItems } = await by.collection('news').getList(1, 2, { filter: asked, sort: 'votes' })
    return [totalItems, ...items.map((item) => item['title'])]
  }
  expect(await titles(root, "search('quick brown')")).toEqual([3, 'Fox', 'secret'])
  expect(await titles(guest, "search('quick brown')")).toEqual([2, 'Fox', 'The quick'])
  expect(await titles(guest, filter)).toEqual([2, 'Rare', 'The quick'])
  expect(await titles(guest, "search('rare*') && votes > 4 || search('fox') && search('quick') = false")).toEqual([
    2,
    'Brown',
    'Rarely',
  ])
  expect(await titles(guest, "search('ärger')")).toEqual([2, 'Rare', 'Rarely'])
  await expect.poll(() => heard).toEqual(['The quick', 'Rare'])
  await guest.realtime.unsubscribe()
  const { text } = await root.send('/api/collections/news/explain', { query: { filter: "search('fox')" } })
  expect(text).toContain('number set by the searches "fox"')
  expect((await failure(root.collection('posts').getList(1, 1, { filter: "search('t1')" }))).response).toMatchObject({
    status: 400,
    message: '"posts" has no searchable fields.',
  })
})
