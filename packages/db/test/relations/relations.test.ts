/** What selectors mean where relations are declared. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { relationSuite } from '../../testing/conformance/relations.ts'
import { slow } from '../../testing/slow-storage.ts'
import { prefixed } from '../../testing/suite.ts'
import { memory } from '../../src/memory.ts'
import { isPannierError, open, where, type Database, type IndexInput } from '../../src/index.ts'

let db: Database

beforeAll(async () => {
  db = (await open('blog', {
    storage: memory(),
    collections: {
      organizations: {},
      permissions: {},
      users: { relations: { organization: 'organizations', permissions: ['permissions'], manager: 'users' } },
      posts: { relations: { author: 'users' } },
    },
  })) as unknown as Database
  await db.collection('organizations').insert([
    { _id: 'acme', name: 'Acme' },
    { _id: 'blue', name: 'Blue' },
  ])
  await db.collection('permissions').insert([
    { _id: 'read', name: 'read', active: true, tags: ['a', 'b'] },
    { _id: 'write', name: 'write', active: false, tags: ['b'] },
    { _id: 'admin', name: 'admin', active: true },
  ])
  await db.collection('users').insert([
    { _id: 'ann', name: 'Ann', organization: 'acme', permissions: ['read', 'write'] },
    { _id: 'bob', name: 'Bob', organization: 'blue', permissions: ['write', 'gone'], manager: 'ann' },
    { _id: 'cyd', organization: 'gone', permissions: [], manager: 'bob' },
    { _id: 'dan', name: 'Dan', permissions: 'admin', manager: ['ann'] },
  ])
  await db.collection('posts').insert([
    { _id: '1', author: 'ann', title: 'one' },
    { _id: '2', author: 'ann', title: 'two' },
    { _id: '3', author: 'bob', title: 'three' },
    { _id: '4', author: 'cyd', title: 'four' },
    { _id: '5', author: 'nobody', title: 'five' },
    { _id: '6', title: 'six' },
    { _id: '7', author: { name: 'Ann' }, title: 'seven' },
  ])
})

afterAll(async () => db.close())

async function ids(collection: string, selector: object): Promise<string> {
  const query = db
    .collection(collection)
    .find(selector as never)
    .sort('_id')
  const rows = await query.fields('_id').toArray()
  expect(await query.count()).toBe(rows.length)
  return rows.map(({ _id }) => _id).join(' ')
}

describe('a path through single relations', () => {
  test('reads like a field of the related document', async () => {
    expect(await ids('posts', { 'author.name': 'Ann' })).toBe('1 2')
    expect(await ids('posts', { author: { name: 'Ann' } })).toBe('1 2')
    expect(await ids('posts', { 'author.organization.name': 'Blue' })).toBe('3')
    expect(await ids('posts', { 'author.organization': 'gone' })).toBe('4')
    expect(await ids('posts', { 'author._id': { $gt: 'ann' } })).toBe('3 4')
    expect(await ids('users', { 'manager.manager.name': 'Ann' })).toBe('cyd')
  })

  test('is missing where it leads nowhere', async () => {
    expect(await ids('posts', { 'author.name': { $exists: false } })).toBe('4 5 6 7')
    expect(await ids('posts', { 'author.name': { $exists: true } })).toBe('1 2 3')
    expect(await ids('posts', { 'author.name': { $ne: 'Ann' } })).toBe('3')
    expect(await ids('posts', { $nor: [{ 'author.name': 'Ann' }] })).toBe('3')
  })

  test('takes what where() builds', async () => {
    expect(await ids('posts', where('author.name').eq('Bob'))).toBe('3')
  })
})

describe('a path through many', () => {
  test('is about one of the related documents, its negation about none', async () => {
    expect(await ids('users', { 'permissions.active': true })).toBe('ann dan')
    expect(await ids('users', { 'permissions.active': { $ne: true } })).toBe('bob cyd')
    expect(await ids('users', { 'permissions.tags': 'a' })).toBe('ann')
    expect(await ids('users', { 'posts_via_author.title': { $regex: '^t' } })).toBe('ann bob')
    expect(await ids('organizations', { 'users_via_organization.posts_via_author.title': 'two' })).toBe('acme')
  })

  test('is an array wherever the relations before it lead to a document', async () => {
    expect(await ids('users', { 'permissions.active': { $exists: true } })).toBe('ann bob cyd dan')
    expect(await ids('posts', { 'author.permissions.active': { $exists: false } })).toBe('5 6 7')
    expect(await ids('posts', { 'author.permissions.active': { $ne: true } })).toBe('3 4')
  })
})

describe('quantifiers', () => {
  test('one related document meets all of $some', async () => {
    expect(await ids('users', { permissions: { $some: { active: true, name: 'write' } } })).toBe('')
    expect(await ids('users', { 'permissions.active': true, 'permissions.name': 'write' })).toBe('ann')
    expect(await ids('users', { permissions: { $some: {} } })).toBe('ann bob dan')
    expect(await ids('posts', { author: { $some: { 'organization.name': 'Acme' } } })).toBe('1 2')
    expect(await ids('users', { posts_via_author: { $some: { title: 'three' } } })).toBe('bob')
  })

  test('$every asks for one at least', async () => {
    expect(await ids('users', { permissions: { $every: { active: true } } })).toBe('dan')
    expect(await ids('users', { permissions: { $every: { active: false } } })).toBe('bob')
    expect(await ids('users', { $not: { permissions: { $every: { active: true } } } })).toBe('ann bob cyd')
  })

  test('the opposite of $some is $none', async () => {
    expect(await ids('users', { permissions: { $none: { active: true } } })).toBe('bob cyd')
    expect(await ids('posts', { 'author.permissions': { $none: { active: true } } })).toBe('3 4 5 6 7')
    expect(await ids('posts', { author: { $none: {} } })).toBe('5 6 7')
    expect(await ids('users', { $not: { permissions: { $none: { active: true } } } })).toBe('ann dan')
  })

  test('may hold others, and stand beside conditions on the field', async () => {
    const inner = { permissions: { $some: { name: 'read' } }, posts_via_author: { $none: { title: 'three' } } }
    expect(await ids('posts', { author: { $some: inner } })).toBe('1 2')
    expect(await ids('posts', { author: { $some: { name: 'Ann' }, $gt: 'a' } })).toBe('1 2')
    expect(await ids('posts', { $or: [{ 'author.name': 'Ann' }, { 'author.organization.name': 'Blue' }] })).toBe(
      '1 2 3',
    )
  })
})

describe('a wrong selector is refused by find itself', () => {
  const refused: readonly (readonly [collection: string, selector: object, message: string])[] = [
    [
      'users',
      { 'permissions.tags': { $size: 1 } },
      "find(): the selector at 'permissions.tags' must be about single values, as 'permissions' leads to many documents, got '$size'",
    ],
    ['users', { 'permissions.tags': ['a'] }, "got '$eq'"],
    ['users', { 'permissions.tags': { $all: ['a'] } }, "got '$all'"],
    ['users', { 'permissions.tags': { $elemMatch: { $gt: 'a' } } }, "got '$elemMatch'"],
    ['users', { 'posts_via_author.title': { $type: 'string' } }, "got '$type'"],
    [
      'users',
      { 'posts_via_autor.title': 'a' },
      "must follow a known relation (did you mean 'posts_via_author'?), got 'posts_via_autor'",
    ],
    [
      'users',
      { posts_via_author: 'a' },
      "must name a field of the related documents (write 'posts_via_author._id'), got",
    ],
    [
      'posts',
      { autor: { $some: {} } },
      "the selector at 'autor.$some' must be on a relation (did you mean 'author'?), got 'autor'",
    ],
    [
      'posts',
      { 'author.title': { $none: {} } },
      "must be on a relation (organization, permissions, manager, users_via_manager, posts_via_author), got 'title'",
    ],
    [
      'posts',
      { author: { $sone: {} } },
      "the selector at 'author.$sone' must be a known operator (did you mean '$some'?)",
    ],
    ['posts', { tags: { $elemMatch: { author: { $some: {} } } } }, 'must be on a relation that open() declares'],
    ['posts', { author: { $some: { name: { $size: -1 } } } }, 'must be a whole number from 0'],
  ]
  for (const [collection, selector, message] of refused)
    test(JSON.stringify(selector), () => {
      const find = (): unknown => db.collection(collection).find(selector as never)
      expect(find).toThrow(TypeError)
      expect(find).toThrow(message)
    })

  test('a path of too many relations', () => {
    const path = (relations: number): object => ({ [`${'manager.'.repeat(relations)}name`]: 'Ann' })
    db.collection('users').find(path(8) as never)
    let error: unknown
    try {
      db.collection('users').find(path(9) as never)
    } catch (thrown) {
      error = thrown
    }
    expect(isPannierError(error, 'PANNIER_LIMIT_EXCEEDED')).toBe(true)
    expect((error as Error).message).toContain('goes through more than 8 relations')
  })

  test('more values and levels than a selector may have', () => {
    const keys = Array.from({ length: 1_000_000 }, (_, n) => `u${n}`)
    const nested = (levels: number): object => (levels === 0 ? {} : { manager: { $some: nested(levels - 1) } })
    const refused: [collection: string, selector: object, message: string][] = [
      ['posts', { author: { $in: keys } }, 'more than 100000 values at "author.$in"'],
      ['posts', { 'author.name': { $in: keys } }, 'more than 100000 values at "author.name.$in"'],
      ['posts', { 'author.manager': { $none: { name: { $nin: keys } } } }, 'more than 100000 values at "name.$nin"'],
      ['users', nested(2000), 'more than 200 levels at "manager"'],
    ]
    for (const [collection, selector, message] of refused) {
      const find = (): unknown => db.collection(collection).find(selector as never)
      expect(find).toThrow(
        expect.objectContaining({ code: 'PANNIER_LIMIT_EXCEEDED', message: expect.stringContaining(message) }),
      )
    }
  })

  test('quantifiers inside quantifiers are answered level by level', async () => {
    const nested = (levels: number): object =>
      levels === 0 ? { name: 'Ann' } : { manager: { $none: nested(levels - 1) } }
    // Ann has no manager, so she meets each level; then Bob meets none, and Cyd meets all.
    expect(await ids('users', nested(60))).toBe('ann cyd dan')
  })

  test('a quantifier where no relation is declared', async () => {
    await using plain = await open('plain', { storage: memory() })
    expect(() => plain.collection('posts').find({ author: { $some: {} } } as never)).toThrow(
      "find(): the selector at 'author.$some' must be on a relation that open() declares, got '$some'",
    )
  })
})

test('the dialect of CouchDB knows no relations', async () => {
  const found = await db.collection('posts').find({ 'author.name': 'Ann' }, { dialect: 'couchdb' }).toArray()
  expect(found.map(({ _id }) => _id)).toEqual(['7'])
})

test('a transaction reads what it has written in every collection', async () => {
  await db
    .transaction(async (tx) => {
      await tx.collection('users').update('bob', { name: 'Ann' })
      await tx.collection('posts').insert({ _id: '8', author: 'bob' })
      const query = tx.collection('posts').find({ 'author.name': 'Ann' } as never)
      expect(await query.count()).toBe(4)
      throw new Error('rolled back')
    })
    .catch((error: Error) => expect(error.message).toBe('rolled back'))
  expect(await ids('posts', { 'author.name': 'Ann' })).toBe('1 2')
})

test('explain shows each step along a relation with its own plan', async () => {
  const query = db.collection('posts').find({ 'author.organization.name': 'Acme' } as never)
  const { plan, related } = await query.explain()
  expect(JSON.stringify(plan)).toContain('"author":{"$value":[{"$eq":"ann"}]}')
  expect(related).toMatchObject([
    {
      collection: 'users',
      field: 'author',
      back: false,
      way: 'documents',
      ids: 1,
      related: [{ collection: 'organizations', field: 'organization', ids: 1, plan: { step: 'project' }, related: [] }],
    },
  ])
})

test('groups and aggregates are of the documents that match', async () => {
  const query = db.collection('posts').find({ 'author.name': { $exists: true } } as never)
  expect(await query.aggregate({ posts: { $count: true }, last: { $max: 'title' } })).toEqual({ posts: 3, last: 'two' })
  expect(
    await query
      .groupBy('author')
      .aggregate({ posts: { $count: true } })
      .toArray(),
  ).toEqual([
    { author: 'ann', posts: 2 },
    { author: 'bob', posts: 1 },
  ])
  expect(await query.distinct('author')).toEqual(['ann', 'bob'])
})

test('an export takes a selector that follows relations', async () => {
  const text = await new Response(db.collection('posts').export({ selector: { 'author.name': 'Bob' } as never })).text()
  expect(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { _id: string })._id),
  ).toEqual(['3'])
})

test('where a path through a relation is not followed it is refused', async () => {
  const posts = db.collection('posts').find()
  expect(() => posts.fields('author.name' as never)).toThrow(
    "fields(): a path must not go through a relation, got 'author.name'",
  )
  expect(() => posts.groupBy('author.name' as never)).toThrow('groupBy(): a path must not go through a relation')
  await expect(posts.aggregate({ a: { $max: 'author.name' as never } })).rejects.toThrow(
    'aggregate(): a path must not go through a relation',
  )
  expect(posts.fields('author')).toBeDefined()
  const selector = { 'author.name': 'Ann' } as never
  const collection = db.collection('posts')
  expect(() => collection.search('x', { selector })).toThrow(
    "search(): a path must not go through a relation, got 'author.name'",
  )
  expect(() => collection.changes({ selector })).toThrow(
    "changes(): a path must not go through a relation, got 'author.name'",
  )
  expect(() => collection.changes({ selector: { author: { name: 'Ann' } } as never })).toThrow("got 'author.name'")
  expect(collection.changes({ selector: { author: 'ann' } as never })).toBeDefined()
  expect(collection.changes({ selector, dialect: 'couchdb' })).toBeDefined()
})

test('an index through a relation is refused', async () => {
  const indexes: readonly IndexInput[] = [
    'author.name',
    ['title', 'author.organization.name'],
    { on: 'title', where: { 'author.name': 'Ann' } },
    { on: ['title', 'author.name'], text: true },
  ]
  const message = 'collection(): an index: a path must not go through a relation'
  for (const index of indexes) expect(() => db.collection('posts', { indexes: [index] })).toThrow(message)
  const back = { on: 'name', where: { posts_via_author: 'x' } }
  expect(() => db.collection('users', { indexes: [back] })).toThrow(`${message}, got 'posts_via_author'`)
  const declared = open('x', { storage: memory(), collections: { a: { relations: { a: 'a' }, indexes: ['a.x'] } } })
  await expect(declared).rejects.toThrow(`${message}, got 'a.x'`)
})

test('a query waits for the migration of a related collection', async () => {
  const storage = memory()
  const relations = { author: 'users' }
  await using first = await open('blog', { storage, collections: { users: {}, posts: { relations } } })
  await first.collection('users').insert({ _id: 'ann', name: 'ann' })
  await first.collection('posts').insert({ _id: '1', author: 'ann' })
  await first.close()
  const migrations = { 2: (user: object) => ({ ...user, name: 'Ann' }) }
  const collections = { users: { version: 2, migrations }, posts: { relations } }
  await using second = await open('blog', { storage, collections: collections as never })
  const find = second.collection('posts').find({ 'author.name': 'Ann' } as never)
  expect(await find.count()).toBe(1)
})

test('a sort goes through single relations, missing values first', async () => {
  const sorted = async (...fields: string[]): Promise<string> => {
    const rows = await db
      .collection('posts')
      .find()
      .sort(...(fields as never[]), '_id')
      .toArray()
    return rows.map(({ _id }) => _id).join(' ')
  }
  expect(await sorted('author.name')).toBe('4 5 6 7 1 2 3')
  expect(await sorted('-author.name')).toBe('3 1 2 4 5 6 7')
  expect(await sorted('author.organization.name', '-title')).toBe('6 7 4 5 2 1 3')
  const users = db.collection('users').find()
  expect(() => users.sort('permissions.name' as never)).toThrow(
    "sort(): a path must lead to one document, got 'permissions.name'",
  )
  expect(() => users.sort('posts_via_author.title' as never)).toThrow('sort(): a path must lead to one document')
  const { plan } = await db
    .collection('posts')
    .find()
    .sort('-author.name' as never)
    .explain()
  expect(plan).toMatchObject({ input: { step: 'sort', by: ['-author.name'] } })
})

describe('populate', () => {
  test('puts related documents in place of ids', async () => {
    const posts = db
      .collection('posts')
      .find({ _id: { $in: ['3', '4', '6'] } })
      .sort('_id')
    const rows = await posts.populate('author.organization', 'author.permissions').toArray()
    expect(rows).toMatchObject([
      { _id: '3', author: { name: 'Bob', organization: { name: 'Blue' }, permissions: [{ _id: 'write' }] } },
      { _id: '4', author: { _id: 'cyd', organization: null, permissions: [] } },
      { _id: '6', author: null },
    ])
    const back = await db.collection('users').find({ _id: 'ann' }).populate('posts_via_author').first()
    expect(back).toMatchObject({
      permissions: ['read', 'write'],
      posts_via_author: [{ _id: '1', author: 'ann' }, { _id: '2' }],
    })
  })

  test('counts, pages and projects as before', async () => {
    const query = db
      .collection('posts')
      .find({ 'author.name': 'Ann' } as never)
      .sort('-title')
      .populate('author')
    expect(await query.count()).toBe(2)
    expect(
      await query
        .skip(1)
        .fields('author' as never)
        .toArray(),
    ).toMatchObject([{ author: { name: 'Ann' } }])
  })

  test('reads what its transaction has written', async () => {
    await db
      .transaction(async (tx) => {
        await tx.collection('users').update('ann', { name: 'Anna' })
        expect(await tx.collection('posts').find({ _id: '1' }).populate('author').first()).toMatchObject({
          author: { name: 'Anna' },
        })
        throw new Error('rolled back')
      })
      .catch((error: Error) => expect(error.message).toBe('rolled back'))
  })

  test('wrong paths are refused', async () => {
    const posts = db.collection('posts').find()
    expect(() => posts.populate('autor')).toThrow(
      "populate(): a path must go through relations to its end (author), got 'autor'",
    )
    expect(() => posts.populate('author.name')).toThrow('populate(): a path must go through relations to its end')
    expect(() => posts.fields('title').populate('author')).toThrow(
      "populate(): fields must have 'author' for the path 'author', got 'title'",
    )
    expect(() => posts.populate('author').fields('title')).toThrow("fields must have 'author'")
    await using plain = await open('plain', { storage: memory() })
    expect(() => plain.collection('posts').find().populate('author')).toThrow(
      "populate(): paths must go through relations that open() declares, got 'author'",
    )
  })
})

test('more ids than are looked up one by one become sets of document numbers', async () => {
  const collections = { users: {}, posts: { relations: { author: 'users', readers: ['users'] } } }
  await using many = await open('many', { storage: memory(), collections: collections as object })
  const count = 10_500
  const users = Array.from({ length: count }, (_, n) => ({ _id: `u${n}`, n, active: n !== 7 }))
  const posts = users.map(({ _id, n }) => ({ _id: `p${n}`, author: _id, readers: [_id, `u${(n + 1) % count}`] }))
  await many.collection('users').insert(users)
  await many.collection('posts').insert([...posts, { _id: 'lost', author: 'nobody', readers: ['nobody'] }])
  const total = async (collection: string, selector: object): Promise<number> => {
    const query = many.collection(collection).find(selector as never)
    const rows = await query.sort('_id').toArray()
    expect(rows.length).toBe(await query.count())
    return rows.length
  }
  expect(await total('posts', { 'author.active': true })).toBe(count - 1)
  expect(await total('posts', { author: { $none: { active: true } } })).toBe(2)
  expect(await total('posts', { readers: { $every: { active: true } } })).toBe(count - 2)
  expect(await total('users', { posts_via_author: { $some: {} }, n: { $gte: 10 } })).toBe(count - 10)
  expect(await total('users', { posts_via_readers: { $some: { _id: { $ne: 'p3' } } } })).toBe(count)
})

test('a text that is too long for an id leads nowhere, also behind a column that is there', async () => {
  const collections = { users: {}, posts: { relations: { author: 'users' } } }
  await using long = await open('long', { storage: memory(), collections: collections as object })
  const [users, posts] = [long.collection('users'), long.collection<{ author: string }>('posts')]
  await users.insert(Array.from({ length: 3000 }, (_, n) => ({ _id: `u${n}`, name: `name ${n % 6}` })))
  await posts.insert(Array.from({ length: 3000 }, (_, n) => ({ author: `u${n}` })))
  const named = posts.find({ 'author.name': 'name 1' } as never)
  expect(await named.count()).toBe(500)
  const author = 'x'.repeat(5000)
  await posts.insert({ author })
  expect(await named.count()).toBe(500)
  const [first] = await posts
    .find()
    .sort('author.name' as never)
    .limit(1)
    .toArray()
  expect(first!.author).toBe(author)
  expect(await posts.find({ author }).populate('author').first()).toMatchObject({ author: null })
})

relationSuite({ test: prefixed(test, 'memory'), create: () => ({ storage: memory(), name: 'suite' }) })
relationSuite({ test: prefixed(test, 'a slow storage'), create: () => ({ storage: slow(memory(), 7), name: 'suite' }) })
