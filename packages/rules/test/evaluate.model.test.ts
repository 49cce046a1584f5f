import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../tools/test/seeds.ts'
import { bind, evaluate, parse } from '../src/index.ts'
import type {
  Call,
  Comparison,
  Expression,
  FoundRecords,
  Name,
  Text,
  RuleRecord,
  RuleRecords,
  RuleRequest,
} from '../src/index.ts'
import { finds, recordsOf, SCHEMA, type World } from './answer.ts'
import { CASES, lineOf } from './cases.ts'
import { rule, world } from './random-world.ts'
import { RECORDS } from './world.ts'

/** A record or an element for each prefix of a path that leads to several; null where it leads nowhere. */
type Rows = ReadonlyMap<string, RuleRecord | string | null>

const TARGETS: Readonly<Record<string, readonly [to: string, many: boolean]>> = {
  author: ['users', false],
  org: ['orgs', false],
  perms: ['perms', true],
  reviewers: ['users', true],
  by: ['users', false],
}

/** All choices of rows for the prefixes of a path, one prefix after the other, as LEFT JOIN makes them. */
function choices(data: World, path: string, start: Rows): Rows[] {
  const parts = path.split('.')
  let [found, key] = [[start], 'record']
  const extend = (name: string, next: (parent: RuleRecord | null) => readonly (RuleRecord | string)[]): void => {
    const before = key
    key += `.${name}`
    found = found.flatMap((rows) => {
      if (rows.has(key)) return [rows]
      const list = next((rows.get(before) ?? null) as RuleRecord | null)
      return (list.length === 0 ? [null] : list).map((row) => new Map([...rows, [key, row]]))
    })
  }
  const elements = (name: string) => (parent: RuleRecord | null) => (parent?.[name] ?? []) as readonly string[]
  if (parts[0] === '@collection') {
    const [, name = ''] = parts.splice(0, 2)
    extend(`@${name}`, () => data[name.split(':')[0]!]!)
  }
  for (const name of parts.slice(0, -1)) {
    if (name === 'likes_via_post')
      extend(name, (parent) => data['likes']!.filter(({ post }) => parent !== null && post === parent['id']))
    else {
      const [to, isMany] = TARGETS[name]!
      const outer = key
      if (isMany) extend(`${name}:each`, elements(name))
      const get = (id: unknown): RuleRecord[] => data[to]!.filter((record) => record['id'] === id)
      if (isMany) {
        const each = key
        found = found.flatMap((rows) => {
          const related = `${outer}.${name}`
          if (rows.has(related)) return [rows]
          return [new Map([...rows, [related, get(rows.get(each))[0] ?? null]])]
        })
        key = `${outer}.${name}`
      } else extend(name, (parent) => get(parent?.[name]))
    }
  }
  const [last = '', isEach] = parts.at(-1)!.split(':')
  if (isEach !== undefined) extend(`${last}:each`, elements(last))
  return found.map((rows) => {
    const row = rows.get(key) ?? null
    return new Map([
      ...rows,
      [`=${path}`, isEach === undefined ? (((row as RuleRecord | null)?.[last] as string | undefined) ?? null) : row],
    ])
  })
}

const isMany = (path: string): boolean => /reviewers|perms|_via_|@collection/.test(path)

/** Whether some choice of all rows of a rule admits the record. */
function naive(data: World, expression: Expression, record: RuleRecord): boolean {
  const comparisons = flat(expression)
  let all: Rows[] = [new Map([['record', record]])]
  const start = all[0]!
  for (const { left, right } of comparisons)
    for (const side of [left, right])
      if (side.kind === 'name') all = all.flatMap((rows) => choices(data, side.name, rows))
  const valuesOf = (side: Comparison['left']): readonly (string | null)[] =>
    side.kind === 'name' && isMany(side.name)
      ? choices(data, side.name, start).map((rows) => rows.get(`=${side.name}`) as string | null)
      : []
  const holds = (each: Expression, rows: Rows): boolean => {
    if (each.kind !== 'comparison') return each.of[each.kind === 'and' ? 'every' : 'some']((part) => holds(part, rows))
    const { left, right, operator, any } = each
    if (left.kind === 'call') {
      const one = isFound(left, record)
      const other =
        right.kind === 'call' ? isFound(right, record) : right.kind === 'text' || /true/.test((right as Name).name)
      return (one === other) === (operator !== '!=')
    }
    const now = (side: Comparison['left']): string | null =>
      side.kind === 'name' ? (rows.get(`=${side.name}`) as string | null) : (side as { readonly value: string }).value
    const isEqual = (one: string | null, other: string | null): boolean => (one ?? '') === (other ?? '')
    // Beside a known text that is not empty, PocketBase lets NULL be NULL, which does not fail.
    const known = [left, right].some((side) => side.kind === 'text' && side.value !== '')
    const passes = (one: string | null, other: string | null): boolean =>
      operator === '=' ? (known && (one === null || other === null)) || isEqual(one, other) : !isEqual(one, other)
    if ((operator === '=') !== isEqual(now(left), now(right))) return false
    if (any) return true
    const [lefts, rights] = [valuesOf(left), valuesOf(right)]
    const ones = lefts.length > 0 ? lefts : [now(left)]
    const others = rights.length > 0 ? rights : [now(right)]
    return ones.every((value) => others.every((other) => passes(value, other)))
  }
  return all.some((rows) => holds(expression, rows))
}

function isFound({ of: [words] }: Call, record: RuleRecord): boolean {
  return finds('posts', record, (words as Text).value)
}

function flat(expression: Expression): Comparison[] {
  return expression.kind === 'comparison' ? [expression] : expression.of.flatMap(flat)
}

test('the evaluator agrees with trying every choice of rows', () => {
  fc.assert(
    fc.property(world, rule, (data, written) => {
      const expression = parse(written)
      fc.pre(flat(expression).length <= 4)
      const bound = bind({ now: new Date(0), schema: SCHEMA, collection: 'posts', rule: expression, request: {} })
      for (const record of data['posts']!)
        expect([written, record['id'], evaluate(bound, record, recordsOf(data))]).toEqual([
          written,
          record['id'],
          naive(data, expression, record),
        ])
    }),
    { numRuns: times(700) },
  )
})

/** Some records, fields and parts of the request, chosen by chance. */
function partOf(full: RuleRecords, hides: (what: string) => boolean): RuleRecords {
  const known = ({ records, isComplete }: FoundRecords, what: string): FoundRecords => {
    const seen = records.filter((record) => !hides(`${what} ${String(record['id'])}`))
    return { records: seen, isComplete: isComplete && seen.length === records.length && !hides(what) }
  }
  return {
    get: (collection, id) => (hides(`${collection} ${id}`) ? undefined : full.get(collection, id)),
    via: (collection, field, id) => known(full.via(collection, field, id), collection),
    all: (collection) => known(full.all(collection), collection),
    knows: (collection, field) => field === 'id' || !hides(`field ${collection} ${field}`),
  }
}

test('what is answered with a part of the records is what all records say', () => {
  const asked = CASES.filter(
    ({ on, as, write, rule: asRule }) => on === 'posts' && as !== 'guest' && write === undefined && asRule !== '',
  )
  let answered = 0
  let open = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...asked),
      fc.infiniteStream(fc.boolean()),
      fc.constantFrom(0, 1, 2),
      (each, chance, share) => {
        const hidden = new Map<string, boolean>()
        const hides = (what: string): boolean => {
          if (!hidden.has(what))
            hidden.set(what, Array.from({ length: 1 + share }, () => chance.next().value).every(Boolean))
          return hidden.get(what)!
        }
        const whole: RuleRequest = {
          auth: { collection: 'users', record: RECORDS['users']![0]! },
          body: {},
          query: {},
          headers: {},
          method: 'GET',
          context: 'default',
        }
        const request = Object.fromEntries(Object.entries(whole).filter(([part]) => !hides(part)))
        const now = new Date('2026-01-01T00:00:00Z')
        const bindTo = (to: RuleRequest) =>
          bind({ schema: SCHEMA, collection: 'posts', rule: parse(each.rule ?? each.filter!), request: to, now })
        try {
          bindTo(whole)
        } catch {
          return
        }
        const [full, part] = [recordsOf(RECORDS), partOf(recordsOf(RECORDS), hides)]
        for (const record of RECORDS['posts']!) {
          const said = evaluate(bindTo(request), record, part)
          if (said === undefined) open++
          else {
            answered++
            expect([lineOf(each), record['id'], said]).toEqual([
              lineOf(each),
              record['id'],
              evaluate(bindTo(whole), record, full),
            ])
          }
        }
      },
    ),
    { numRuns: times(1000) },
  )
  expect(Math.min(answered, open)).toBeGreaterThan(100)
})

test('the answer says what is known: a condition that decides alone needs no other', () => {
  const nothing: RuleRecords = {
    get: () => undefined,
    via: () => ({ records: [], isComplete: false }),
    all: () => ({ records: [], isComplete: false }),
  }
  const [post] = RECORDS['posts']!
  const says = (written: string, request: RuleRequest = {}): boolean | undefined =>
    evaluate(
      bind({ now: new Date(0), schema: SCHEMA, collection: 'posts', rule: parse(written), request }),
      post!,
      nothing,
    )
  expect(says("author.name = 'Ann'")).toBeUndefined()
  expect(says("public = true || author.name = 'Ann'")).toBe(true)
  expect(says("public = false && author.name = 'Ann'")).toBe(false)
  expect(says("@request.auth.id != ''")).toBeUndefined()
  expect(says("@request.auth.id != ''", { auth: null })).toBe(false)
  expect(says("@request.headers.x = ''")).toBeUndefined()
  expect(says('likes_via_post.stars ?= 5')).toBeUndefined()
  expect(says('reviewers:length = 2')).toBe(true)
  expect(says("search('hello')")).toBeUndefined()
  expect(says("search('hello') || public = true")).toBe(true)
  expect(says('title = "Hello World" && @request.method = "GET"')).toBeUndefined()
})

test('an address is not compared where its visibility is not known', () => {
  const [ann] = RECORDS['users']!
  const records: RuleRecords = { ...recordsOf(RECORDS), knows: (_, field) => field !== 'emailVisibility' }
  const filter = parse("email ~ 'ann'")
  const bound = bind({ now: new Date(0), schema: SCHEMA, collection: 'users', filter, request: { auth: null } })
  expect(evaluate(bound, ann!, records)).toBeUndefined()
  expect(evaluate(bound, ann!, recordsOf(RECORDS))).toBe(true)
})

test('texts are in the order of their code points', () => {
  const says = (written: string): boolean | undefined =>
    evaluate(
      bind({ now: new Date(0), schema: SCHEMA, collection: 'posts', rule: parse(written) }),
      RECORDS['posts']![0]!,
      recordsOf(RECORDS),
    )
  expect(says("'\u{1f642}' > '\uffff'")).toBe(true)
  expect(says("'\ue000' < '\u{1f642}'")).toBe(true)
  expect(says("'\u{1f642}' < '\u{1f643}'")).toBe(true)
})
