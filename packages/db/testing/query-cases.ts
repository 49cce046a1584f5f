/**
 * Random documents, indexes and queries that provoke: values of all kinds, few enough that they meet; arrays where scalars
 * are expected; strings too long for a key; missing fields; and the answer that the naive evaluator gives.
 */
import { compareValues } from '../src/codec/collation.ts'
import { KEY_STRING_BYTES_MAX } from '../src/codec/key-encoding.ts'
import { compileFieldPath, getField } from '../src/codec/field-path.ts'
import { collate, registerCollation, type Collation } from '../src/codec/registered-collation.ts'
import { parseSelector, type SelectorMeaning } from '../src/query/ast/parse-selector.ts'
import { evaluate } from './evaluate-predicate.ts'
import { outermostPaths } from '../src/codec/field-path.ts'
import { parseIndexInput, type IndexInput, type IndexSelector } from '../src/index/index-definition.ts'
import type { Document } from './query-fixture.ts'

/** A whole number from 0 to `count` - 1. */
export type Choose = (count: number) => number

export interface QueryCase {
  readonly selector: Record<string, unknown>
  readonly meaning: SelectorMeaning
  readonly sort: readonly string[]
  readonly skip: number
  readonly limit: number | undefined
  readonly fields: readonly string[] | undefined
  /** For a sort by '$created': the number of each document, by its id. */
  readonly created?: ReadonlyMap<string, number>
}

/** Case does not count, capitals are ordered backwards, and keys are longer than what they are of. */
export const TEST_COLLATION: Collation = {
  name: 'test 1',
  key: (text) => Array.from(text.toLowerCase(), (char) => (/[a-z]/.test(char) ? `${turned(char)}!` : char)).join(''),
}
registerCollation(TEST_COLLATION)

function turned(letter: string): string {
  return String.fromCharCode(97 + 122 - letter.charCodeAt(0))
}

/** Seeded: the same numbers every time. */
export function seededChoose(seed: number): Choose {
  let state = (seed * 2654435761) >>> 0 || 1
  return (count) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % count
  }
}

const LONG = 'x'.repeat(KEY_STRING_BYTES_MAX + 100)
const VALUES: readonly unknown[] = [
  0,
  1,
  2,
  3,
  -1,
  1.5,
  1e300,
  'a',
  'ab',
  'b',
  'ä',
  '',
  'B',
  'Ab',
  '\u{10000}',
  '\uffff',
  '\ud800',
  'a\0b',
  null,
  true,
  false,
  [],
  [1],
  [1, 2],
  [2, 'a'],
  ['a', 'b'],
  [[1]],
  [null],
  {},
  { x: 1 },
  { x: [1] },
  { y: 'a', x: 2 },
  `${LONG}a`,
  `${LONG}b`,
  [`${LONG}a`, 1],
  [{ x: 1 }, { x: 2, y: 'a' }],
  [{ x: [1, 2] }, 'a', null],
  Uint8Array.of(1, 2, 3, 4, 9),
]
const LONG_VALUES: readonly unknown[] = [`${LONG}a`, `${LONG}b`, LONG, [`${LONG}a`, 1]]
const PATHS: readonly string[] = ['a', 'b', 'tags', 'a.x', 'c.d', 'tags.0', '_id']
const IDS = 60

export function randomDocuments(choose: Choose, count: number): Document[] {
  return Array.from({ length: count }, () => {
    const document: Record<string, unknown> = { _id: `d${choose(IDS)}` }
    for (const name of ['a', 'b', 'tags'])
      if (choose(5) > 0) document[name] = pick(choose, choose(2) === 0 ? VALUES.slice(0, 8) : VALUES)
    if (choose(2) === 0) document['c'] = { d: pick(choose, VALUES) }
    return document as Document
  })
}

export function randomIndexes(choose: Choose): IndexInput[] {
  const all: IndexInput[] = [
    'a',
    '-a',
    'c.d',
    ['a', 'b'],
    ['a', '-b'],
    ['b', 'a', 'c.d'],
    ['-b', 'a'],
    ['tags', '_id'],
    'tags',
    ['a.x', 'a'],
    ['b', '_id'],
    { on: 'tags', multi: true, name: 'elements of tags' },
    { on: '-a', multi: true, name: 'elements of a' },
    { on: 'c.d', multi: true, name: 'elements of c.d' },
    { on: 'a', where: { b: { $exists: true } } },
    { on: ['-a', 'b'], where: { a: { $gte: 1 } } },
    { on: '_id', where: { $or: [{ a: 'a' }, { a: 1 }, { b: null }] } },
    { on: 'tags', multi: true, where: { a: { $type: 'number' }, b: { $ne: 2 } } },
    { on: 'c.d', where: { tags: { $in: ['a', 'b', 1] } } },
    { on: 'b', where: { tags: { $elemMatch: { $gt: 0 } } } },
    ...COLLATED.map((index, at) => ({ ...index, ...COUCH, name: `collated ${at}` })),
    { on: 'tags', name: 'of couch', dialect: 'couchdb', where: { a: { $gt: 'A' } } },
  ]
  return all.filter(() => choose(3) === 0)
}

const COUCH = { dialect: 'couchdb', collation: TEST_COLLATION.name } as const
const COLLATED: readonly { readonly on: readonly string[]; readonly where?: IndexSelector }[] = [
  { on: ['a'] },
  { on: ['-b', 'a'] },
  { on: ['tags', '_id'] },
  { on: ['c.d', 'a'] },
  { on: ['b'], where: { a: { $gte: 'B' } } },
]
const MEANINGS: readonly SelectorMeaning[] = [{}, {}, { dialect: 'couchdb' }, COUCH, COUCH]

export function randomQuery(choose: Choose, indexes: readonly IndexInput[]): QueryCase {
  const partial = indexes.map((input) => parseIndexInput(input).where).filter((where) => where !== undefined)
  const selector = randomSelector(choose, 2)
  const narrowed = choose(3) === 0 || partial.length === 0 ? selector : { $and: [pick(choose, partial), selector] }
  const meaning = pick(choose, MEANINGS)
  return {
    selector: meaning.dialect === undefined ? narrowed : withoutContains(narrowed),
    meaning,
    sort: randomSort(choose, indexes),
    skip: choose(2) * choose(8),
    limit: choose(2) === 0 ? undefined : choose(12),
    fields: choose(2) === 0 ? undefined : ['a', ...PATHS.filter(() => choose(3) === 0)],
  }
}

/** CouchDB has no such operator. */
function withoutContains(selector: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(selector).replaceAll('"$contains":', '"$beginsWith":')) as Record<string, unknown>
}

/** Often what an index gives, or nearly. */
function randomSort(choose: Choose, indexes: readonly IndexInput[]): string[] {
  if (choose(3) === 0) return []
  const turned = (field: string): string => (field.startsWith('-') ? field.slice(1) : `-${field}`)
  if (choose(3) === 0 || indexes.length === 0) {
    return PATHS.filter(() => choose(4) === 0).map((path) => (choose(2) === 0 ? path : turned(path)))
  }
  const { fields } = parseIndexInput(pick(choose, indexes))
  const turn = choose(2) === 0
  const names = fields.map(({ path, descending }) => (descending !== turn ? `-${path}` : path))
  const sort = names.slice(choose(4) === 0 ? 1 : 0, 1 + choose(names.length))
  return choose(3) === 0 ? [...sort.slice(0, -1), ...sort.slice(-1).map(turned)] : sort
}

export function randomSelector(choose: Choose, depth: number): Record<string, unknown> {
  const selector: Record<string, unknown> = {}
  for (let parts = few(choose); parts >= 0; parts--) {
    const inner = (): Record<string, unknown>[] =>
      Array.from({ length: choose(10) === 0 ? 0 : 1 + choose(3) }, () => randomSelector(choose, depth - 1))
    switch (depth === 0 ? 9 : choose(10)) {
      case 0:
        selector['$or'] = choose(2) === 0 ? inner() : alternatives(choose, inner())
        break
      case 1:
        selector['$and'] = inner()
        break
      case 2:
        selector['$nor'] = inner()
        break
      case 3:
        selector['$not'] = randomSelector(choose, depth - 1)
        break
      default:
        selector[pick(choose, PATHS)] = randomCondition(choose, 1)
    }
  }
  return choose(12) === 0 ? {} : selector
}

/** Each names the same value of one field. */
function alternatives(choose: Choose, branches: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  const shared = { [pick(choose, PATHS)]: pick(choose, OPERANDS.slice(0, 8)) }
  return branches.map((branch) => ({ ...branch, ...shared }))
}

function randomCondition(choose: Choose, depth: number): unknown {
  const value = (): unknown =>
    choose(6) === 0
      ? `d${choose(IDS)}`
      : pick(choose, choose(2) === 0 ? OPERANDS.slice(0, 8) : choose(3) === 0 ? LONG_VALUES : OPERANDS)
  if (depth < 0 || choose(4) === 0) return value()
  const condition: Record<string, unknown> = {}
  for (let parts = few(choose); parts >= 0; parts--) {
    const operator = pick(choose, OPERATORS)
    condition[operator] = randomOperand(choose, operator, depth, value)
  }
  return condition
}

function randomOperand(choose: Choose, operator: string, depth: number, value: () => unknown): unknown {
  switch (operator) {
    case '$in':
    case '$nin':
    case '$all':
      return Array.from({ length: choose(operator === '$all' ? 3 : 5) }, value)
    case '$exists':
      return choose(2) === 0
    case '$beginsWith':
      return pick(choose, ['', 'a', 'd1', '\ud800', LONG])
    case '$contains':
      return pick(choose, ['', 'A', 'b', 'X', '\ud800', 'ς', LONG])
    case '$regex':
      return pick(choose, ['^a', 'b', '1$', '^', '^ab', '^a(b|c)*$', '^.{1,2}$', '(?i)^A', 'x+[ab]$'])
    case '$type':
      return pick(choose, ['null', 'boolean', 'number', 'string', 'array', 'object'])
    case '$size':
      return choose(4)
    case '$mod':
      return [pick(choose, [2, 3, -2]), choose(3) - 1]
    case '$not':
      return depth > 0 ? objectCondition(choose, depth - 1) : {}
    case '$elemMatch':
    case '$allMatch':
      return choose(3) === 0
        ? { [pick(choose, ['x', 'y', '0'])]: randomCondition(choose, depth - 1) }
        : objectCondition(choose, depth - 1)
    case '$keyMapMatch':
      return { [pick(choose, ['$eq', '$ne', '$gt', '$beginsWith'])]: pick(choose, ['x', 'y', '0', 'z']) }
    default:
      return value()
  }
}

function objectCondition(choose: Choose, depth: number): object {
  const condition = randomCondition(choose, depth)
  return typeof condition === 'object' && condition !== null && !Array.isArray(condition) ? { ...condition } : {}
}

/** JSON: no typed arrays. */
const OPERANDS: readonly unknown[] = VALUES.filter((value) => !ArrayBuffer.isView(value))
const OPERATORS: readonly string[] = [
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$in',
  '$nin',
  '$exists',
  '$beginsWith',
  '$contains',
  '$regex',
  '$regex',
  '$type',
  '$size',
  '$mod',
  '$all',
  '$elemMatch',
  '$elemMatch',
  '$allMatch',
  '$keyMapMatch',
  '$not',
]

/** Mostly none. */
function few(choose: Choose): number {
  return Math.max(0, choose(5) - 2)
}

function pick<T>(choose: Choose, from: readonly T[]): T {
  return from[choose(from.length)]!
}

export interface NaiveAnswer {
  /** Sorted, but neither skipped nor limited. */
  readonly matches: readonly Document[]
  readonly rows: number
}

export function naiveAnswer(documents: readonly Document[], query: QueryCase): NaiveAnswer {
  const predicate = parseSelector(query.selector, query.meaning)
  const matches = documents
    .filter((document) => evaluate(predicate, document))
    .sort((left, right) => compareBySort(query, left, right))
  return { matches, rows: Math.min(query.limit ?? Infinity, Math.max(0, matches.length - query.skip)) }
}

/** Zero: they may come in either order. */
export function compareBySort(
  { sort, meaning, created }: Pick<QueryCase, 'sort' | 'meaning' | 'created'>,
  left: object,
  right: object,
): number {
  for (const field of sort) {
    const path = field.replace(/^-/, '')
    const place = (document: object): unknown => {
      if (path === '$created') return created!.get((document as Document)._id)
      const value = sortable(document, path)
      return meaning.collation === undefined || path === '_id' ? value : collate(value, TEST_COLLATION)
    }
    const order = compareValues(place(left), place(right))
    if (order !== 0) return field.startsWith('-') ? -order : order
  }
  return 0
}

/** Sorting looks at no more of a string than a key holds. */
function sortable(document: object, path: string): unknown {
  const cut = (value: unknown): unknown => {
    if (typeof value === 'string') return value.slice(0, KEY_STRING_BYTES_MAX)
    return Array.isArray(value) ? value.map(cut) : value
  }
  return cut(getField(document, compileFieldPath(path)))
}

export function naiveProjection(document: object, fields: readonly string[] | undefined): object {
  if (fields === undefined) return document
  const projected: Record<string, unknown> = {}
  for (const path of outermostPaths(fields)) {
    const value = getField(document, compileFieldPath(path))
    if (value === undefined) continue
    const names = path.split('.')
    let target = projected
    for (const name of names.slice(0, -1)) target = (target[name] ??= {}) as Record<string, unknown>
    target[names.at(-1)!] = value
  }
  return projected
}
