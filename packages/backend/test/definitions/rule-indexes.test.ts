import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { completeDefinition, newDefinition } from '../../src/definitions/complete-definition.ts'
import { Definitions } from '../../src/definitions/definitions.ts'
import { ruleIndexesOf } from '../../src/definitions/rule-indexes.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'

const FIELDS = [
  { name: 'title', type: 'text' },
  { name: 'due', type: 'date' },
  { name: 'public', type: 'bool' },
  { name: 'kind', type: 'select', values: ['a'], maxSelect: 1 },
  { name: 'tags', type: 'select', values: ['a', 'b'], maxSelect: 2 },
  { name: 'meta', type: 'json' },
  { name: 'author', type: 'relation', collectionId: 'pbc_posts', maxSelect: 1 },
]
const POSTS = { id: 'pbc_posts', name: 'posts', type: 'base', fields: FIELDS }

test.each([
  [null, []],
  ['', []],
  ["public = true || kind ?= 'a'", ['public', 'kind']],
  ["'a' = title && @request.auth.id != ''", ['title']],
  ["tags:each ?= 'a' && tags = 'b'", ['tags']],
  ['title = kind', []],
  ["title ~ 'a' && public != true", []],
  ["title > 'b' && '2026-11-24' <= due && due > @now", ['title', 'due']],
  ["author = @request.auth.id && meta = 1 && id = 'a' && author.title = 'c' && title:lower = 'd'", []],
  ['title = @request.auth.id && title = @request.query.q', ['title']],
  ['title =', []],
])('a list rule of %j has indexes on %j', (listRule, fields) => {
  const definition = { ...completeDefinition(newDefinition(POSTS, virtualEnvironment())), listRule }
  expect(ruleIndexesOf(definition).map(({ on }) => on)).toEqual(fields)
})

test('the indexes of a list rule come and go with it', async () => {
  await using database = await open('rules', { storage: memory() })
  const definitions = await Definitions.open(database)
  const posts = await definitions.create(SYSTEM, { ...POSTS, listRule: "public = true && tags:each ?= 'a'" })
  const fields = async (): Promise<string[]> => {
    const indexes = await definitions.records(posts).indexes()
    return indexes.map((index) => index.fields.map(({ path }) => path).join()).toSorted()
  }
  expect(await fields()).toEqual(['author', 'public', 'tags'])
  await definitions.update(SYSTEM, 'posts', { listRule: 'public = true' })
  expect(await fields()).toEqual(['author', 'public'])
  // One that is declared serves as well.
  await definitions.update(SYSTEM, 'posts', { indexes: ['CREATE INDEX `idx_public` ON `posts` (`public`)'] })
  expect(await fields()).toEqual(['author', 'public'])
  await definitions.close()
})
