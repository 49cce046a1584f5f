import { describe, expect, test } from 'vitest'
import { compareSortValues, sortPaths, sortValues } from '../src/compile.ts'
import { bind, parse, RuleError, type BoundRule } from '../src/index.ts'
import { RECORDS_OF_WORLD, SCHEMA } from './answer.ts'
import { id, RECORDS } from './world.ts'

const bound = (sort: string[], filter?: string): BoundRule =>
  bind({
    now: new Date(0),
    schema: SCHEMA,
    collection: 'posts',
    sort,
    filter: filter === undefined ? undefined : parse(filter),
    trusted: true,
    request: { auth: null, query: { x: '1' } },
  })

describe('a sort', () => {
  test('by fields of the record and of single relations is paths', () => {
    expect(sortPaths(bound(['title', 'views', 'public', 'author.org.name', 'author.id', 'id']))).toEqual([
      { path: 'title', empty: '' },
      { path: 'views', empty: 0 },
      { path: 'public', empty: false },
      { path: 'author.org.name', empty: '' },
      { path: 'author', empty: '' },
      { path: 'id', empty: '' },
    ])
  })

  test.each(['tags', 'tags:length', 'title:lower', 'meta.a', 'meta', 'place', 'reviewers.name'])(
    'by %s is computed',
    (path) => {
      expect(sortPaths(bound(['title', path]))).toBeUndefined()
    },
  )

  test.each(['nope', 'title.x', '@request.query.x', '@now', 'null', '', "'a'"])('by %j is refused', (path) => {
    expect(() => bound([path])).toThrow(RuleError)
  })

  test('takes the values of the first rows that meet the rule', () => {
    const post = RECORDS['posts']!.find((record) => record['id'] === id('p1'))!
    const names = (post['reviewers'] as string[]).map((reviewer) => RECORDS_OF_WORLD.get('users', reviewer)?.['name'])
    expect(names.length).toBeGreaterThan(1)
    expect(sortValues(bound(['reviewers.name', 'tags:length']), post, RECORDS_OF_WORLD)).toEqual([
      names[0],
      (post['tags'] as string[]).length,
    ])
    const last = bound(['reviewers.name'], `reviewers.name ?= '${String(names.at(-1))}'`)
    expect(sortValues(last, post, RECORDS_OF_WORLD)).toEqual([names.at(-1)])
  })

  test('puts NULL first, then numbers, then texts by their code points', () => {
    const values = ['b', 'B', '\u{10000}', '\uffff', '', 2, 10, null]
    expect(values.toSorted((one, other) => compareSortValues([one], [other], [false]))).toEqual([
      null,
      2,
      10,
      '',
      'B',
      'b',
      '\uffff',
      '\u{10000}',
    ])
    expect(compareSortValues([1, 2], [1, 3], [false, true])).toBeGreaterThan(0)
  })
})

test('a rule says which collections it reads beside its own', () => {
  const names = (rule: BoundRule): unknown => [rule.isJoined, rule.collections.map(({ name }) => name)]
  expect(names(bound([], "author.id = 'a' && title = 'b' && tags:length = 1"))).toEqual([false, []])
  expect(names(bound([], "tags:each ?= 'b'"))).toEqual([true, []])
  expect(names(bound([], "author.org.name = 'b' || @collection.perms.name = 'c'"))).toEqual([
    true,
    ['users', 'orgs', 'perms'],
  ])
  expect(names(bound(['author.name']))).toEqual([true, ['users']])
})
