import { expect, test } from 'vitest'
import { compile, type Compiled } from '../src/compile.ts'
import { bind, parse, type RuleRequest } from '../src/index.ts'
import { RECORDS_OF_WORLD, SCHEMA } from './answer.ts'
import { id, RECORDS } from './world.ts'

const ANN: RuleRequest = { auth: { collection: 'users', record: RECORDS['users']![0]! } }
const GUEST: RuleRequest = { auth: null }

function compiled(written: string, request = ANN, collection = 'posts'): Compiled {
  return compile(
    bind({ now: new Date(0), schema: SCHEMA, collection, rule: parse(written), request }),
    RECORDS_OF_WORLD,
  )
}

const is = (field: string, value: string | number | boolean): object => ({
  kind: 'compare',
  field,
  isLength: false,
  operator: '=',
  value,
})
const to = (field: string, collection: string, of: object): object => ({
  kind: 'related',
  step: 'to',
  collection,
  field,
  on: [],
  of,
})

test('what is constant for the account is answered at once', () => {
  expect(compiled("@request.auth.role = 'admin' && public = true")).toEqual({
    selection: is('public', true),
    isExact: true,
  })
  expect(compiled("@request.auth.org.name = 'Acme'")).toEqual({ selection: { kind: 'and', of: [] }, isExact: true })
  expect(compiled("@request.auth.perms.name ?= 'admin'")).toEqual({ selection: { kind: 'or', of: [] }, isExact: true })
  expect(compiled('@request.auth.id != "" && author = @request.auth.id')).toEqual({
    selection: is('author', id('ann')),
    isExact: true,
  })
  expect(compiled('author = @request.auth.id', GUEST)).toEqual({ selection: is('author', ''), isExact: true })
})

test('a search is a selection, also where it is compared', () => {
  const search = { kind: 'search', text: 'a b' }
  const negated = { kind: 'not', of: search }
  for (const written of ["search('a b')", "true = search('a b')", "search('a b') != false", "search('a b') > 0"])
    expect([written, compiled(written)]).toEqual([written, { selection: search, isExact: true }])
  for (const written of ["search('a b') = false", "search('a b') != true", "search('a b') < 1"])
    expect([written, compiled(written)]).toEqual([written, { selection: negated, isExact: true }])
  expect(compiled("search('a b') && public = true").selection).toEqual({
    kind: 'and',
    of: [search, is('public', true)],
  })
  expect(compiled("search('a') = search('b')").isExact).toBe(false)
})

test('a part of the request that is not known leaves more records', () => {
  expect(compiled("@request.headers.x = 'y' && public = true")).toEqual({
    selection: is('public', true),
    isExact: false,
  })
})

test('conditions on one path are one step', () => {
  const { selection } = compiled("author.name ?= 'Ann' && author.age ?= 40")
  expect(selection).toEqual(to('author', 'users', { kind: 'and', of: [is('name', 'Ann'), is('age', 40)] }))
})

test('alternatives on one path are one step', () => {
  const { selection } = compiled("author.name ?= 'Ann' || author.age ?= 40")
  expect(selection).toEqual(to('author', 'users', { kind: 'or', of: [is('name', 'Ann'), is('age', 40)] }))
})

test('a list of relations leads to its records without a step to its elements', () => {
  expect(compiled("reviewers.name ?= 'Ann'").selection).toEqual(to('reviewers', 'users', is('name', 'Ann')))
})

test('match-all is some record that matches, and no record that does not', () => {
  expect(compiled("reviewers.name = 'Ann'").selection).toEqual({
    kind: 'and',
    of: [
      to('reviewers', 'users', is('name', 'Ann')),
      { kind: 'not', of: to('reviewers', 'users', { kind: 'not', of: is('name', 'Ann') }) },
    ],
  })
})

test('@collection is joined by equal fields', () => {
  expect(compiled('@collection.likes.by ?= @request.auth.id && @collection.likes.post ?= id')).toMatchObject({
    isExact: true,
    selection: { kind: 'related', step: 'any', collection: 'likes', on: [['post', 'id']], of: is('by', id('ann')) },
  })
})

test('a contained text stays a text, a pattern is a test of what has its longest text', () => {
  expect(compiled("title ~ '50_'").selection).toMatchObject({ operator: 'contains', value: '50_' })
  expect(compiled("title ~ 'a%bc'").selection).toMatchObject({
    kind: 'and',
    of: [
      { operator: 'contains', value: 'bc' },
      { kind: 'test', fields: ['title'] },
    ],
  })
  expect(compiled("title !~ 'a%bc'").selection).toMatchObject({ kind: 'test', fields: ['title'] })
})

test('a text in lower case is tested where it is contained', () => {
  const contained = { operator: 'contains', value: 'ann' }
  for (const filter of ["title:lower = 'ann'", "'ann' = title:lower"])
    expect(compiled(filter)).toMatchObject({
      isExact: true,
      selection: { kind: 'and', of: [contained, { kind: 'test', fields: ['title'] }] },
    })
  for (const filter of ["title:lower != 'ann'", "title:lower > 'ann'", "title:lower = ''", 'title:lower = 5'])
    expect(JSON.stringify(compiled(filter).selection)).not.toContain('contains')
})

test('match-all of what is not equal only asks that no element is', () => {
  const equal = { kind: 'compare', field: '', isLength: false, operator: '=', value: 'a' }
  const expected = { kind: 'not', of: { kind: 'element', field: 'tags', of: equal } }
  expect(compiled("tags:each != 'a'").selection).toEqual(expected)
  expect(compiled("tags:each ?!= 'a'").selection).toMatchObject({ kind: 'or' })
})

test('a function of the record alone is a test, with the fields that it reads', () => {
  const { selection, isExact } = compiled("strftime('%Y', day) = '2024'")
  expect(isExact).toBe(true)
  expect(selection).toMatchObject({ kind: 'test', fields: ['day'] })
})
