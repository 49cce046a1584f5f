/** Goal: PocketBase's reading of a SELECT by its words: columns, tables, types. Method: a table of texts, with what the real one made of them. */
import { expect, test } from 'vitest'
import {
  isOneStatement,
  plainQuery,
  readViewQuery,
  trimmedQuery,
  typeOfText,
} from '../../src/definitions/views/view-query.ts'

/** `original:alias`, or the name alone if both are the same. */
function columnsOf(query: string): readonly string[] {
  return readViewQuery(query).columns.map(({ original, alias }) =>
    original === alias ? alias : `${original}:${alias}`,
  )
}

function tablesOf(query: string): readonly string[] {
  return readViewQuery(query).tables.map(({ original, alias }) => (original === alias ? alias : `${original}:${alias}`))
}

test.each([
  ['select id, title from posts', ['id', 'title']],
  ['SELECT p.id, p.title AS name, p.n m FROM posts p', ['p.id:id', 'p.title:name', 'p.n:m']],
  ['select distinct `p`.`id`, [title] AS "The title" from posts', ['p.id:id', 'title:The title']],
  ["select id, 'a, b' as t, (a || b) as u from posts", ['id', "'a, b':t", '(a || b):u']],
  ['select id, /* x, y */ title -- the title\n from posts', ['id', 'title']],
  ['with s as (select a, b from t) select s.a as id, count(*) as n from s', ['s.a:id', 'count(*):n']],
  ['select id from a where x in (select y, z from b) order by q, r', ['id']],
  // PocketBase refuses these by its reader of words.
  ['select id, a || b AS c from t', ['id', 'a || b:c']],
  ["select id, meta ->> 'x' as m from t", ['id', "meta ->> 'x':m"]],
  ['select id, count(*) FILTER (WHERE x = 1) as n from t', ['id', 'count(*) FILTER (WHERE x = 1):n']],
  ['select id, rank() over (order by n) AS place from t', ['id', 'rank() over (order by n):place']],
  ["select '--' as x, id from t", []],
  ['select (id from t', []],
])('%s has the columns %j', (query, columns) => {
  expect(columnsOf(query)).toEqual(columns)
})

test.each([
  ['select id from posts', ['posts']],
  ['select id from posts p, users AS u', ['posts:p', 'users:u']],
  ['select id from a left join b as c on c.id = a.b inner join "d" on 1', ['a', 'b:c', 'd']],
  ['select id from a where exists (select 1 from b)', ['a']],
  ['select id from (select id from a) q join c on 1', ['(select id from a):q', 'c']],
  ['select 1 as id', []],
])('%s has the tables %j', (query, tables) => {
  expect(tablesOf(query)).toEqual(tables)
})

test.each([
  ['count(*)', { type: 'number', onlyInt: true }],
  ['COUNT(*)+1', { type: 'number', onlyInt: true }],
  ['COUNT (*)', undefined],
  ['(count(*))', undefined],
  ['total(x)', { type: 'number' }],
  ['sum(x)', undefined],
  ['cast(x as REAL)', { type: 'number' }],
  ['CAST(a AS int)', { type: 'number', onlyInt: true }],
  ['cast( x as text )', { type: 'text' }],
  ['cast(x as bool)', { type: 'bool' }],
  ['cast(x as DECIMAL(10,2))', undefined],
  ['cast(x as double)', undefined],
  ['cast(x as int)+1', undefined],
])('%s is a field of %j', (text, type) => {
  expect(typeOfText(text)).toEqual(type)
})

test('quotes and parentheses hold a part together, and a backslash escapes', () => {
  const parts = "a, 'b, c', (d, e), \"f, g\", `h, i`, 'j\\', k'"
  expect(readViewQuery(`select ${parts} from t`).columns).toHaveLength(6)
})

test('blanks and semicolons around a query go, and two statements are two', () => {
  expect(trimmedQuery(' \n;select 1;; ')).toBe('select 1')
  expect(['select 1', "select ';'", 'select (1;2)'].map(isOneStatement)).toEqual([true, true, true])
  expect(isOneStatement('select 1; select 2')).toBe(false)
})

test("names of PocketBase's builder are quoted, but not in texts and comments", () => {
  expect(plainQuery('SELECT [[p.id]], [[title]] FROM {{posts}} p;')).toBe('SELECT `p`.`id`, `title` FROM `posts` p')
  expect(plainQuery("SELECT '[[a]]', json('{{b}}'), \"[[c]]\" -- [[d]]")).toBe(
    "SELECT '[[a]]', json('{{b}}'), \"[[c]]\" -- [[d]]",
  )
})
