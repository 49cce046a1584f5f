/** What `open` takes as relations, and the graph that it makes of them. */
import { describe, expect, test } from 'vitest'
import { memory } from '../../src/memory.ts'
import { open } from '../../src/index.ts'
import { declareRelations } from '../../src/relations/declare-relations.ts'

const BLOG = {
  organizations: {},
  permissions: {},
  users: { relations: { organization: 'organizations', permissions: ['permissions'], manager: 'users' } },
  posts: { indexes: ['title'], relations: { author: { to: 'users', check: true, onDelete: 'cascade' } } },
} as const

describe('the graph', () => {
  test('has each relation in full', () => {
    const { graph } = declareRelations(BLOG)
    expect(graph.relationsOf('users')).toEqual([
      { from: 'users', field: 'organization', to: 'organizations', many: false, check: false, onDelete: 'keep' },
      { from: 'users', field: 'permissions', to: 'permissions', many: true, check: false, onDelete: 'keep' },
      { from: 'users', field: 'manager', to: 'users', many: false, check: false, onDelete: 'keep' },
    ])
    expect(graph.relationsTo('users').map(({ from, field }) => `${from}.${field}`)).toEqual([
      'users.manager',
      'posts.author',
    ])
    expect(graph.relationsOf('posts')).toEqual([
      { from: 'posts', field: 'author', to: 'users', many: false, check: true, onDelete: 'cascade' },
    ])
  })

  test('has the steps from each collection, forward and back, cycles too', () => {
    const { graph } = declareRelations(BLOG)
    const steps = (name: string): unknown[] =>
      Array.from(graph.stepsOf(name).values(), (step) => [step.name, step.to, step.back, step.many])
    expect(steps('users')).toEqual([
      ['organization', 'organizations', false, false],
      ['permissions', 'permissions', false, true],
      ['manager', 'users', false, false],
      ['users_via_manager', 'users', true, true],
      ['posts_via_author', 'posts', true, true],
    ])
    expect(steps('organizations')).toEqual([['users_via_organization', 'users', true, true]])
    expect(steps('nothing')).toEqual([])
  })

  test('gives each relation an index, unless one that is declared serves it', () => {
    const indexesOf = (indexes: unknown, relation: unknown): unknown => {
      const declared = { users: {}, posts: { indexes, relations: { author: relation } } }
      return (declareRelations(declared as never).collections['posts'] as { indexes: unknown }).indexes
    }
    expect(indexesOf(undefined, 'users')).toEqual([{ on: 'author', multi: false }])
    expect(indexesOf(undefined, ['users'])).toEqual([{ on: 'author', multi: true }])
    expect(indexesOf(['author'], 'users')).toEqual(['author'])
    expect(indexesOf([['author', '-date']], 'users')).toEqual([['author', '-date']])
    expect(indexesOf(['author'], ['users'])).toEqual(['author', { on: 'author', multi: true, name: 'relation author' }])
    const partial = { on: 'author', where: { draft: true }, name: 'author' }
    expect(indexesOf([partial], 'users')).toEqual([partial, { on: 'author', multi: false, name: 'relation author' }])
  })
})

describe('a wrong declaration is refused', () => {
  const refused: readonly (readonly [what: string, relations: unknown, message: string])[] = [
    ['an array', ['author'], "relations of 'posts' must be an object, got an Array"],
    [
      'a number',
      { author: 5 },
      "the relation 'author' of 'posts' must be a collection, [a collection] or { to, … }, got 5",
    ],
    [
      'an unknown collection',
      { author: 'user' },
      "must lead to one of the collections (did you mean 'users'?), got 'user'",
    ],
    ['a stranger', { author: 'things' }, "must lead to one of the collections (users, posts), got 'things'"],
    ['two collections', { author: ['users', 'posts'] }, 'must have one collection in its array, got an Array'],
    [
      'an unknown option',
      { author: { to: 'users', ondelete: 'keep' } },
      "known (did you mean 'onDelete'?), got 'ondelete'",
    ],
    [
      'a wrong option',
      { author: { to: 'users', many: 1 } },
      "many and check of the relation 'author' of 'posts' must be booleans, got 1",
    ],
    [
      'a wrong choice',
      { author: { to: 'users', onDelete: 'drop' } },
      'must be one of keep, unset, restrict, cascade, got',
    ],
    [
      'a path',
      { 'meta.author': 'users' },
      "must be named like a field, without '.' and '\\', not with '_' or '$', got 'meta.author'",
    ],
    ['a reserved name', { _id: 'users' }, 'must be named like a field'],
  ]
  for (const [what, relations, message] of refused)
    test(what, () => {
      const declare = (): unknown => declareRelations({ users: {}, posts: { relations } })
      expect(declare).toThrow(TypeError)
      expect(declare).toThrow(message)
      expect(declare).toThrow(/^open\(\): /)
    })

  test('a name that would mean two things', () => {
    const declared = { users: { relations: { posts_via_author: 'users' } }, posts: { relations: { author: 'users' } } }
    expect(() => declareRelations(declared)).toThrow(
      "the relations 'author' of 'posts' and 'posts_via_author' of 'users' must have different names from 'users'",
    )
  })
})

test('open declares the indexes of relations, and refuses a wrong declaration', async () => {
  const storage = memory()
  await using db = await open('blog', { storage, collections: BLOG })
  await db.collection('users').insert({ _id: 'ann', permissions: ['read'] })
  expect((await db.collection('users').indexes()).map(({ name, multi }) => [name, multi])).toEqual([
    ['organization', false],
    ['permissions', true],
    ['manager', false],
  ])
  await expect(open('other', { storage, collections: { posts: { relations: { author: 'users' } } } })).rejects.toThrow(
    "open(): the relation 'author' of 'posts' must lead to one of the collections (posts), got 'users'",
  )
})

test('a relation that is declared after open is refused', async () => {
  await using db = await open('blog', { storage: memory() })
  const options = { relations: { author: 'users' } } as object
  expect(() => db.collection('posts', options)).toThrow(
    "collection(): relations must be declared in open(), got 'posts'",
  )
})
