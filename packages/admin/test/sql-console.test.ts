/** Goal: the console completes what a statement can name, and draws what can be drawn. */
import { expect, test } from 'vitest'
import type { Collection } from '../src/api/collections.ts'
import { chartOf } from '../src/views/console/result-chart.ts'
import { givenParameters, parametersOf } from '../src/views/console/parameters.ts'
import { completeSql } from '../src/views/console/sql-completions.ts'

const LIST = [
  { id: 'p', name: 'posts', type: 'base', fields: [field('title'), field('author')] },
  { id: 'u', name: 'users', type: 'auth', fields: [field('email'), { ...field('password'), type: 'password' }] },
] as unknown as readonly Collection[]

function field(name: string): object {
  return { id: name, name, type: 'text' }
}

/** `|` is the cursor. */
function offered(marked: string): readonly string[] {
  const position = marked.indexOf('|')
  const found = completeSql(marked.replace('|', ''), position, LIST, ['shop-orders'])
  return (found?.options ?? []).map(({ label }) => label).slice(0, 4)
}

test('a statement is completed by the tables and columns that it can name', () => {
  expect(offered('select * from |')).toEqual(['posts', 'users', 'shop-orders'])
  expect(completeSql('select * from ', 14, [], ['shop-orders'])?.options).toMatchObject([{ apply: '"shop-orders"' }])
  expect(offered('select t| from posts')).toEqual(['title', 'author', 'posts', 'users'])
  expect(offered('select p.| from users u join posts as p')).toEqual(['title', 'author'])
  expect(offered('select * from posts, users where users.|')).toEqual(['email'])
  expect(offered('select |')).toEqual(['posts', 'users', 'shop-orders', 'select'])
  expect(offered("select 'it''s |")).toEqual([])
  expect(offered('select 1 -- of |')).toEqual([])
  expect(offered("select '--', \"a\" -- it's\n from |")).toEqual(['posts', 'users', 'shop-orders'])
})

test('a time or a text beside a number is drawn, and nothing else', () => {
  const rows = (...pairs: readonly (readonly [string | null, string | number | null])[]): ReturnType<typeof chartOf> =>
    chartOf(['a', 'b'], pairs)
  expect(rows(['2026-02', '2.5'], ['2026-01', null])).toEqual({
    kind: 'lines',
    points: [
      [Date.UTC(2026, 0), null],
      [Date.UTC(2026, 1), 2.5],
    ],
  })
  expect(rows(['2026-01-05 10:00:00.000Z', 1], ['2026-01-05 11:00:00.000Z', 2])).toMatchObject({ kind: 'lines' })
  expect(rows(['Bern', 1], [null, 2])).toEqual({
    kind: 'bars',
    labels: ['Bern', ''],
    points: [
      [0, 1],
      [1, 2],
    ],
  })
  expect(rows(['Bern', 'x'], ['Biel', 2])).toBeUndefined()
  expect(rows(['1', 1], ['2', 2])).toBeUndefined()
  expect(rows(['Bern', 1])).toBeUndefined()
  expect(chartOf(['a'], [['x'], ['y']])).toBeUndefined()
})

test('the parameters of a report are those that its query names', () => {
  const known = [{ name: 'n', type: 'integer', default: 1 }] as const
  expect(parametersOf("select ':x', a::b, :n -- :y\n, :day, :n", known)).toEqual([
    known[0],
    { name: 'day', type: 'text' },
  ])
})

test('a value that was typed has the type that it looks like, and a parameter without one is NULL', () => {
  const given = givenParameters('SELECT :a, :b, :c, :d', { a: '7', b: '7.5', c: '007', other: '1' })
  expect(given).toEqual([
    { name: 'a', type: 'integer', default: '7' },
    { name: 'b', type: 'number', default: '7.5' },
    { name: 'c', type: 'text', default: '007' },
    { name: 'd', type: 'text', default: null },
  ])
})
