/** Goal: each subscriber gets messages about what it may see, as PocketBase sends them, in the order of commits. */
import { expect, test } from 'vitest'
import { recordsName } from '../../src/definitions/definition.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { ADMIN } from '../records/world.ts'
import { LiveWorld, topic } from './live-world.ts'

const TITLE = { name: 'title', type: 'text' }
const OPEN = { listRule: '', viewRule: '' }
const posts = (more: JsonObject = {}): JsonObject => ({ name: 'posts', fields: [TITLE], ...OPEN, ...more })
const id = (letter: string): string => letter.repeat(15)

/** The records of messages. */
function records(got: readonly { readonly data: object }[]): JsonObject[] {
  return got.map(({ data }) => (data as { record: JsonObject }).record)
}

test('a create, an update and a delete come under each topic that is meant', async () => {
  await using world = await LiveWorld.open([posts(), { ...posts(), name: 'others' }])
  const { id: collection } = world.backend.definitions.get('posts')
  const client = world.connect()
  const names = ['posts/*', 'posts', `posts/${id('a')}`, `${collection}/*`, collection, `${collection}/${id('a')}`]
  await client.subscribe(...names, 'POSTS/*', 'others/*', `posts/${id('b')}`, 'posts/')
  const single = world.connect()
  await single.subscribe(topic(`posts/${id('a')}`, {}))
  const gone = world.connect()
  await gone.subscribe('posts/*')
  world.backend.realtime.disconnect(gone.subscriber)
  await world.create('posts', { id: id('a'), title: 'One' })
  await world.update('posts', id('a'), { title: 'Two' })
  await world.delete('posts', id('a'))
  await world.settled()
  const actions = ['create', 'update', 'delete']
  expect(client.told).toEqual(
    actions.flatMap((action) => names.toSorted().map((name) => `${name} ${action} ${id('a')}`)),
  )
  expect(single.told).toEqual(actions.map((action) => `posts/${id('a')} ${action} ${id('a')}`))
  expect(JSON.stringify(single.got[0]!.data)).toBe(
    JSON.stringify({
      record: { collectionId: collection, collectionName: 'posts', id: id('a'), title: 'One' },
      action: 'create',
    }),
  )
  expect(records(single.got).map(({ title }) => title)).toEqual(['One', 'Two', 'Two'])
  expect(gone.told).toEqual([])
})

test('`*` asks the list rule, an id the view rule; superusers get what is locked', async () => {
  await using world = await LiveWorld.open([
    posts({ listRule: "title = 'list'", viewRule: "title = 'view'" }),
    { ...posts(), name: 'locked', listRule: null, viewRule: null },
  ])
  const [guest, admin] = [world.connect(), world.connect()]
  const topics = ['posts/*', ...['a', 'b', 'c'].map((letter) => `posts/${id(letter)}`), 'locked/*']
  await guest.subscribe(...topics)
  await admin.subscribeAs(SYSTEM, ...topics)
  for (const [letter, title] of Object.entries({ a: 'list', b: 'view', c: 'none' }))
    await world.create('posts', { id: id(letter), title })
  await world.create('locked', { id: id('d') })
  await world.settled()
  expect(guest.told).toEqual([`posts/* create ${id('a')}`, `posts/${id('b')} create ${id('b')}`])
  expect(admin.told.length).toBe(7)
})

test('rules read the account, the options, and what is related', async () => {
  await using world = await LiveWorld.open()
  const { definitions } = world.backend
  const users = definitions.get('users').id
  const relation = { name: 'author', type: 'relation', collectionId: users, maxSelect: 1 }
  await definitions.create(SYSTEM, {
    ...posts(),
    name: 'own',
    fields: [relation],
    listRule: 'author = @request.auth.id',
  })
  await definitions.create(SYSTEM, { ...posts(), name: 'named', fields: [relation], listRule: "author.name = 'Ann'" })
  const asked =
    "@request.context = 'realtime' && @request.method = 'GET' && @request.query.x = '5' && @request.headers.x_token = 't'"
  await definitions.create(SYSTEM, { ...posts(), name: 'asked', listRule: asked })
  const [ann, bob] = [
    await world.account('users', id('a'), { name: 'Ann' }),
    await world.account('users', id('b'), { name: 'Bob' }),
  ]
  const clients = [world.connect(), world.connect(), world.connect()]
  const topics = ['own/*', 'named/*', 'asked/*', topic('asked/*', { x: 5 }, { 'X-Token': 't' })]
  await clients[0]!.subscribe(...topics)
  await clients[1]!.subscribeAs(ann, ...topics)
  await clients[2]!.subscribeAs(bob, ...topics)
  for (const [letter, author] of Object.entries({ c: id('a'), d: id('b') })) {
    await world.create('own', { id: id(letter), author })
    await world.create('named', { id: id(letter), author })
  }
  await world.create('asked', { id: id('e') })
  await world.settled()
  const rest = [`named/* create ${id('c')}`, `asked/* create ${id('e')}`]
  expect(clients.map(({ told }) => told)).toEqual([
    rest,
    [`own/* create ${id('c')}`, ...rest],
    [rest[0], `own/* create ${id('d')}`, rest[1]],
  ])
})

test('a filter, `expand` and `fields` stand in the options; a wrong one tells nothing, or all fields', async () => {
  await using world = await LiveWorld.open()
  const { definitions } = world.backend
  const collectionId = definitions.get('users').id
  const author = { name: 'author', type: 'relation', collectionId, maxSelect: 1 }
  await definitions.create(SYSTEM, posts({ fields: [TITLE, author, { name: 'secret', type: 'text', hidden: true }] }))
  await definitions.update(SYSTEM, 'users', { viewRule: '' })
  await world.account('users', id('u'), { name: 'Ann' })
  const client = world.connect()
  const queries: readonly JsonObject[] = [
    { filter: "title ~ 'yes'", fields: 'title' },
    { filter: "title = 'no'" },
    { filter: 'nope = 1' },
    { filter: "@request.auth.id = ''" },
    { filter: "secret = 'x'" },
    { expand: 'author', fields: 'id,expand.author.name' },
    { fields: 'title:nope' },
    { fields: '', filter: '', expand: 'nope' },
  ]
  await client.subscribe(...queries.map((query) => topic('posts/*', query)), 'posts/*?options={broken', 'posts/*?x=1')
  await world.create('posts', { id: id('a'), title: 'yes', author: id('u'), secret: 'x' })
  await world.settled()
  const { id: postsId } = definitions.get('posts')
  const all = { author: id('u'), collectionId: postsId, collectionName: 'posts', id: id('a'), title: 'yes' }
  const byTopic = new Map(client.got.map(({ topic: text, data }) => [text, (data as { record: object }).record]))
  expect(queries.map((query) => byTopic.get(topic('posts/*', query)))).toEqual([
    { title: 'yes' },
    undefined,
    undefined,
    undefined,
    undefined,
    { id: id('a'), expand: { author: { name: 'Ann' } } },
    all,
    all,
  ])
  expect([byTopic.get('posts/*?options={broken'), byTopic.get('posts/*?x=1')]).toEqual([all, all])
})

test('hidden fields are for superusers, and addresses for those who may see them', async () => {
  await using world = await LiveWorld.open([
    posts({ listRule: "@request.auth.id != ''", fields: [TITLE, { name: 'hidden', type: 'text', hidden: true }] }),
  ])
  await world.backend.definitions.update(SYSTEM, 'users', { listRule: '', viewRule: '' })
  const [ann, bob] = [await world.account('users', id('a')), await world.account('users', id('b'))]
  const [guest, own, other, admin] = [world.connect(), world.connect(), world.connect(), world.connect()]
  for (const [client, principal] of [
    [own, ann],
    [other, bob],
    [admin, SYSTEM],
  ] as const)
    await client!.subscribeAs(principal, 'posts/*', 'users/*')
  await guest!.subscribe('posts/*', 'users/*')
  await world.create('posts', { title: 'x', hidden: 'y' })
  await world.update('users', id('a'), { name: 'Ann' })
  await world.settled()
  const seen = (client: typeof guest): unknown[] =>
    records(client!.got).map((record) => ('title' in record ? ['hidden' in record] : ['email' in record]))
  expect([guest, own, other, admin].map(seen)).toEqual([
    [[false]],
    [[false], [true]],
    [[false], [false]],
    [[true], [true]],
  ])
  expect(records(admin!.got).some((record) => 'tokenKey' in record || 'password' in record)).toBe(false)
})

test('a delete is judged by what was there before it, with all that goes along', async () => {
  await using world = await LiveWorld.open([posts({ fields: [TITLE] })])
  const { definitions } = world.backend
  const post = {
    name: 'post',
    type: 'relation',
    collectionId: definitions.get('posts').id,
    maxSelect: 1,
    required: true,
    cascadeDelete: true,
  }
  await definitions.create(SYSTEM, { ...posts(), name: 'comments', fields: [post], listRule: "post.title = 'seen'" })
  for (const [letter, title] of Object.entries({ a: 'seen', b: 'unseen' })) {
    await world.create('posts', { id: id(letter), title })
    await world.create('comments', { id: id(letter), post: id(letter) })
  }
  const client = world.connect()
  await client.subscribe('comments/*', topic('comments/*', { expand: 'post' }))
  await world.delete('posts', id('a'))
  await world.delete('posts', id('b'))
  await world.settled()
  expect(client.told).toEqual([`comments/* delete ${id('a')}`, `comments/* delete ${id('a')}`])
  expect(records(client.got)[1]).toMatchObject({ expand: { post: { title: 'seen' } } })
})

test('nothing comes of what is rolled back or refused; a commit has one message about a record', async () => {
  await using world = await LiveWorld.open([posts({ fields: [{ ...TITLE, required: true }] })])
  const client = world.connect()
  await client.subscribe('posts/*')
  const { records: all } = world.backend
  const { request } = ADMIN
  const create = (letter: string, title = 'x') =>
    ({ action: 'create', collection: 'posts', input: { id: id(letter), title }, request }) as const
  const remove = (letter: string) => ({ action: 'delete', collection: 'posts', id: id(letter), request }) as const
  const batch = (operations: Parameters<typeof all.batch>[1]): Promise<unknown> =>
    all.batch(SYSTEM, operations, { workMsMax: 60_000 })
  await expect(batch([create('a'), create('b', '')])).rejects.toThrow('Batch')
  await expect(world.create('posts', {})).rejects.toThrow('Failed')
  await expect(
    world.database.transaction(async (tx) => {
      await tx.collection(recordsName(world.backend.definitions.get('posts'))).insert({ _id: id('r'), title: 'x' })
      throw new Error('undo')
    }),
  ).rejects.toThrow('undo')
  const update = { action: 'update', collection: 'posts', id: id('c'), input: { title: 'y' }, request } as const
  await batch([create('c'), update, create('d'), create('e'), remove('e')])
  await batch([remove('c'), create('f')])
  await world.settled()
  expect(client.told).toEqual(
    [`create ${id('c')}`, `create ${id('d')}`, `delete ${id('c')}`, `create ${id('f')}`].map(
      (text) => `posts/* ${text}`,
    ),
  )
  expect(records(client.got)[0]).toMatchObject({ title: 'y' })
})

test('messages come of writes of the library, and not of changes of definitions', async () => {
  await using world = await LiveWorld.open([posts()])
  const { definitions } = world.backend
  const client = world.connect()
  await client.subscribe('posts/*', 'articles/*')
  const stored = definitions.records(definitions.get('posts'))
  await stored.insert({ _id: id('a'), title: 'by the library' })
  await stored.delete(id('a'))
  await world.create('posts', { id: id('b'), title: 'x' })
  const { fields } = definitions.get('posts')
  await definitions.update(SYSTEM, 'posts', { name: 'articles', fields: [...fields, { name: 'more', type: 'number' }] })
  await world.update('articles', id('b'), { more: 1 })
  await definitions.truncate(SYSTEM, 'articles')
  await world.settled()
  await definitions.delete(SYSTEM, 'articles')
  await world.settled()
  expect(client.told).toEqual([
    `posts/* create ${id('a')}`,
    `posts/* delete ${id('a')}`,
    `posts/* create ${id('b')}`,
    `articles/* update ${id('b')}`,
    `articles/* delete ${id('b')}`,
  ])
})

test('all of a large transaction comes', async () => {
  await using world = await LiveWorld.open([posts()])
  const client = world.connect()
  await client.subscribe('posts/*')
  const stored = world.backend.definitions.records(world.backend.definitions.get('posts'))
  const ids = Array.from({ length: 3000 }, (_, n) => String(n).padStart(15, '0'))
  await stored.insert(ids.map((_id) => ({ _id, title: 'x' })))
  await world.backend.definitions.truncate(SYSTEM, 'posts')
  await world.settled()
  expect(client.told).toEqual(['create', 'delete'].flatMap((action) => ids.map((one) => `posts/* ${action} ${one}`)))
})

test('those who ask for it get a message when an update leaves the filter or the rule, without the record', async () => {
  await using world = await LiveWorld.open([posts({ listRule: "title != 'secret'" })])
  const [plain, asking] = [world.connect(), world.connect()]
  const filter = "title ~ 'a'"
  await plain.subscribe(topic('posts/*', { filter }))
  await asking.subscribe(topic('posts/*', { filter, leave: true }), topic('posts/*', { leave: 'true' }))
  await world.create('posts', { id: id('x'), title: 'b' })
  for (const title of ['a', 'aa', 'b', 'bb', 'secret', 'secret', 'a']) await world.update('posts', id('x'), { title })
  await world.settled()
  const actionsOf = (client: typeof plain, text: string): string[] =>
    client.got.flatMap(({ topic: one, data }) => (one === text ? [(data as { action: string }).action] : []))
  expect(actionsOf(plain, topic('posts/*', { filter }))).toEqual(['update', 'update', 'update'])
  expect(actionsOf(asking, topic('posts/*', { filter, leave: true }))).toEqual(['update', 'update', 'leave', 'update'])
  const all = topic('posts/*', { leave: 'true' })
  expect(actionsOf(asking, all)).toEqual(['create', 'update', 'update', 'update', 'update', 'leave', 'update'])
  const left = asking.got.filter(({ data }) => (data as { action: string }).action === 'leave')
  const { id: collectionId } = world.backend.definitions.get('posts')
  expect(records(left)).toEqual([1, 2].map(() => ({ collectionId, collectionName: 'posts', id: id('x') })))
})

test('subscriptions that stay miss nothing when others come', async () => {
  await using world = await LiveWorld.open([posts()])
  const client = world.connect()
  await client.subscribe('posts/*')
  for (let n = 0; n < 30; n++) {
    await world.create('posts', { title: String(n) })
    await client.subscribe('posts/*', `other${n}`)
  }
  await world.settled()
  expect(records(client.got).map(({ title }) => title)).toEqual(Array.from({ length: 30 }, (_, n) => String(n)))
})

test('a client gets what comes after it has subscribed', async () => {
  await using world = await LiveWorld.open([posts()])
  const clients = [world.connect()]
  await clients[0]!.subscribe('posts/*')
  for (let n = 0; n < 20; n++) {
    await world.create('posts', { title: String(n) })
    const client = world.connect()
    await client.subscribe('posts/*')
    clients.push(client)
  }
  await world.create('posts', { title: '20' })
  await world.settled()
  for (const [from, client] of clients.entries())
    expect(records(client.got).map(({ title }) => title)).toEqual(
      Array.from({ length: 21 - from }, (_, n) => String(from + n)),
    )
})
