import { expect, test } from 'vitest'
import { sortValues } from '../src/compile.ts'
import { bind, createSchema, evaluate, parse } from '../src/index.ts'
import type { BoundRule, RuleRecord, RuleRecords } from '../src/index.ts'

const relation = (name: string, collectionId: string): object => ({ name, type: 'relation', collectionId })
const text = (name: string): object => ({ name, type: 'text' })
const SCHEMA = createSchema([
  { name: 'posts', fields: [text('title'), relation('author', 'users')] as never },
  { name: 'comments', fields: [text('text'), relation('post', 'posts')] as never },
  { name: 'users', fields: [text('name')] as never },
])

const USER = { id: 'u', name: 'ann' }
const rows = (count: number, of: (at: number) => RuleRecord): RuleRecord[] =>
  Array.from({ length: count }, (_, at) => of(at))

/** Counts the rows that are read. */
function countedRecords(count: number): { readonly records: RuleRecords; readonly counted: { read: number } } {
  const counted = { read: 0 }
  const all: Readonly<Record<string, readonly RuleRecord[]>> = {
    posts: rows(count, (at) => ({ id: `p${at}`, title: `title ${at}`, author: 'u' })),
    comments: rows(count, (at) => ({ id: `c${at}`, text: `text ${at}`, post: 'p0' })),
  }
  const read = (records: readonly RuleRecord[]): { records: readonly RuleRecord[]; isComplete: true } => {
    counted.read += records.length
    return { records, isComplete: true }
  }
  const records: RuleRecords = {
    get: (_, id) => (id === 'u' ? USER : null),
    via: (collection) => read(all[collection]!),
    all: (collection) => read(all[collection]!),
  }
  return { records, counted }
}

const POST = { id: 'p0', title: 'title 0', author: 'u' }
const PRODUCT = 'comments_via_post.text ?= author.posts_via_author.title'

function bound(filter: string, sort: readonly string[] = []): BoundRule {
  return bind({
    now: new Date(0),
    schema: SCHEMA,
    collection: 'posts',
    filter: parse(filter),
    sort,
    trusted: true,
    request: { auth: null },
  })
}

test('rows that depend on no choice are read once', () => {
  const { records, counted } = countedRecords(200)
  expect(evaluate(bound(PRODUCT), POST, records)).toBe(false)
  expect(counted.read).toBe(400)
})

test('a record that needs too many rows is refused, in a filter and in a sort', () => {
  const { records } = countedRecords(400)
  expect(() => evaluate(bound(PRODUCT), POST, records)).toThrow('Too many rows are compared.')
  const sorted = bound('id = id', ['comments_via_post.text', 'author.posts_via_author.title'])
  expect(() => sortValues(sorted, POST, records)).toThrow('Too many rows are compared.')
})

test('records share a budget', () => {
  const { records } = countedRecords(100)
  const budget = { left: 25_000 }
  expect(evaluate(bound(PRODUCT), POST, records, budget)).toBe(false)
  // 100 comments with 100 posts each, which are read once; the author.
  expect(budget.left).toBe(25_000 - 100 * 100 - 2 * 100 - 2 * 100 - 1)
  expect(evaluate(bound(PRODUCT), POST, records, budget)).toBe(false)
  expect(() => evaluate(bound(PRODUCT), POST, records, budget)).toThrow('Too many rows are compared.')
})

test('rows that are read count, though the first of them decides', () => {
  const { records } = countedRecords(5000)
  const budget = { left: 12_000 }
  const any = bound('@collection.comments.text ?!= title')
  expect(evaluate(any, POST, records, budget)).toBe(true)
  expect(evaluate(any, POST, records, budget)).toBe(true)
  expect(() => evaluate(any, POST, records, budget)).toThrow('Too many rows are compared.')
})
