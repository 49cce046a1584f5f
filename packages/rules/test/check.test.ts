import { expect, test } from 'vitest'
import { check, parse } from '../src/index.ts'
import { SCHEMA } from './answer.ts'

test.each([
  ["titel = 'a'", 0, 'Write "title".'],
  ["title = 'a' && author.nam != ''", 22, 'Write "name".'],
  ['author.org.opne = true', 11, 'Write "open".'],
  ['title:lowr = 1', 5, 'Write "lower".'],
  ['day > @nwo', 6, 'Write "@now".'],
  ["@collection.post.id = ''", 12, 'Write "posts".'],
  ["@request.heders.x = ''", 9, 'Write "headers".'],
  ['like_via_post.stars = 1', 0, 'Write "likes_via_post".'],
  ["strftme('%Y', day) = 1", 0, 'Write "strftime".'],
  ['title.x = 1', 0, ''],
  ['geoDistance(1, 2) = 1', 0, ''],
  ["saerch('a')", 11, ''],
  ["title = 'a' && search(title)", 22, ''],
  ["search('a', 'b')", 0, ''],
  ["author.search('a') = true", 0, ''],
  ['@request.body.nope:changed = true', 14, ''],
  ['title == 1', 6, 'Write "=".'],
])('%s is a mistake at %i', (rule, position, hint) => {
  expect(check(rule, SCHEMA, 'posts')).toMatchObject({ errors: [{ position, hint }], warnings: [] })
})

test('each operand is checked, also within calls', () => {
  const { errors } = check("titel = viws && strftime('%Y', dya) ~ tag", SCHEMA, 'posts')
  expect(errors.map(({ position, hint }) => [position, hint])).toEqual([
    [0, 'Write "title".'],
    [8, 'Write "views".'],
    [31, 'Write "day".'],
    [38, 'Write "tags".'],
  ])
})

test('a name of the request that is nearly a field is a warning', () => {
  const warned = (rule: string): unknown =>
    check(rule, SCHEMA, 'posts').warnings.map(({ position, hint }) => [position, hint])
  expect(warned("@request.body.titel = 'a'")).toEqual([[14, 'Write "title".']])
  expect(warned("@request.auth.rol = 'admin'")).toEqual([[14, 'Write "role".']])
  expect(warned("@request.body.captcha = 'a' && @request.auth.role = 'admin' && @request.query.titel = ''")).toEqual([])
  expect(warned('@request.auth.name:lowr = 1')).toEqual([[18, 'Write "lower".']])
})

test('an expression is checked like its text', () => {
  expect(check(parse("titel = 'a'"), SCHEMA, 'posts').errors).toEqual(check("titel = 'a'", SCHEMA, 'posts').errors)
})

test('a search needs a searchable field', () => {
  expect(check("search('a') && public = true", SCHEMA, 'posts').errors).toEqual([])
  expect(check("name = 'a' || search('a')", SCHEMA, 'users').errors).toMatchObject([{ kind: 'search', position: 14 }])
})

test('a rule of an unknown collection is a mistake', () => {
  expect(check('id = 1', SCHEMA, 'nope').errors).toMatchObject([{ kind: 'unknown' }])
})
