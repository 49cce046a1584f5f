/**
 * Conformance of aggregates and groups on any key-value store: each way to compute them returns what a naive evaluator
 * returns. `create` makes an empty store.
 */
import type { KeyValueStore } from '../../src/kv/key-value-store.ts'
import { expressionsOf, normalise } from '../../src/query/ast/normalise.ts'
import { parseSelector } from '../../src/query/ast/parse-selector.ts'
import { groupRows } from '../../src/query/aggregate/rows.ts'
import { parseAggregates } from '../../src/query/aggregate/specification.ts'
import { setField } from '../../src/query/operators/project.ts'
import { fieldNames } from '../../src/codec/field-path.ts'
import type { Query } from '../../src/query/query.ts'
import { prepareRegexes } from '../../src/query/regex/check-regex.ts'
import { assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import { naiveGroups, type NaiveAggregates } from '../naive-aggregates.ts'
import {
  compareBySort,
  randomDocuments,
  randomIndexes,
  randomQuery,
  seededChoose,
  type Choose,
} from '../query-cases.ts'
import { QueryFixture, type Document } from '../query-fixture.ts'
import type { SuiteContext } from '../suite.ts'

export type CreateStore = () => Promise<KeyValueStore>

const ROUNDS = 8
const PATHS = ['a', 'b', 'c.d', 'tags', '_id']

export function aggregateSuite({ test, create }: SuiteContext<CreateStore>): void {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    test(`random aggregates agree with the naive evaluator (seed ${seed})`, () =>
      checkRandomAggregates(create, seededChoose(seed), 25))
  }

  test('what an index tells is not computed', async () => {
    const fixture = await peopleFixture(create)
    const everybody = fixture.find({})
    assertEqual(
      await everybody.aggregate({
        n: { $count: true },
        low: { $min: 'age' },
        high: { $max: 'age' },
        cities: { $distinct: 'city' },
      }),
      { n: 1000, low: 0, high: 99, cities: ['Bergen', 'Oslo', 'Turku'] },
    )
    const ends = { n: { $count: true }, low: { $min: 'age' }, cities: { $distinct: 'city' } } as const
    assertEqual((await everybody.explainAggregate(ends)).way, 'index ends')
    assertEqual((await everybody.explainAggregate({ sum: { $sum: 'age' } })).plan!.covering, true)
    assertEqual(await everybody.aggregate({ sum: { $sum: 'age' }, mean: { $avg: 'age' } }), { sum: 49500, mean: 49.5 })
    assertEqual(await fixture.find({ city: 'Oslo' }).aggregate({ high: { $max: 'age' } }), { high: 99 })
    assertEqual((await fixture.find({ city: 'Oslo' }).explainAggregate({ high: { $max: 'age' } })).indexes, [
      'city,-age',
    ])
    assertEqual(await fixture.find({ city: 'Rome' }).aggregate({ n: { $count: true }, low: { $min: 'age' } }), {
      n: 0,
      low: undefined,
    })
    assertEqual(await everybody.distinct('city'), ['Bergen', 'Oslo', 'Turku'])
    await fixture.store.close()
  })

  test('groups, from group to group and in one pass', async () => {
    const fixture = await peopleFixture(create)
    const cities = fixture
      .find({})
      .groupBy('city')
      .aggregate({ people: { $count: true }, oldest: { $max: 'age' } })
    const expected = [
      { city: 'Bergen', people: 333, oldest: 99 },
      { city: 'Oslo', people: 334, oldest: 99 },
      { city: 'Turku', people: 333, oldest: 99 },
    ]
    assertEqual([await cities.toArray(), (await cities.explain()).way], [expected, 'index groups'])
    assertEqual(await cities.sort('-people').limit(1).toArray(), [expected[1]!])
    assertEqual(
      await cities
        .having({ people: { $lt: 334 } })
        .skip(1)
        .toArray(),
      [expected[2]!],
    )
    assertEqual([await cities.count(), await cities.first()], [3, expected[0]])
    const ages = fixture
      .find({ age: { $gte: 98 } })
      .groupBy('age', 'city')
      .aggregate({ total: { $sum: 'age' } })
    assertEqual([(await ages.toArray()).length, (await ages.explain()).way], [6, 'one pass'])
    assertEqual(await ages.sort('-age', 'city').first(), { age: 99, city: 'Bergen', total: 297 })
    for await (const row of ages.limit(1)) assertEqual(row, { age: 98, city: 'Bergen', total: 294 })
    assertEqual(await fixture.find({ city: 'Oslo' }).groupBy('city', 'age').count(), 100)
    await fixture.store.close()
  })

  test('wrong arguments fail at once; a signal ends it', async () => {
    const fixture = await peopleFixture(create)
    const query = fixture.find({})
    for (const wanted of [
      5,
      { a: {} },
      { a: { $foo: 'x' } },
      { a: { $min: '' } },
      { a: { $count: false } },
    ] as never[]) {
      await assertRejects(query.aggregate(wanted), TypeError)
    }
    assertThrows(() => query.groupBy(), TypeError)
    assertThrows(() => query.groupBy('a', 'a.b'), TypeError)
    assertThrows(() => query.groupBy('a').aggregate({ a: { $count: true } }), TypeError)
    const aborted = new AbortController()
    aborted.abort()
    await assertRejects(query.signal(aborted.signal).groupBy('age').toArray(), 'PANNIER_ABORTED')
    assertEqual(fixture.held, 0)
    await fixture.store.close()
  })
}

async function peopleFixture(create: CreateStore): Promise<QueryFixture> {
  const fixture = new QueryFixture(await create(), ['age', ['city', '-age'], { on: 'tags', multi: true }])
  await fixture.upsert(
    Array.from({ length: 1000 }, (_, at) => ({
      _id: `p${at}`,
      age: at % 100,
      city: ['Oslo', 'Bergen', 'Turku'][at % 3],
      tags: at % 10 === 0 ? ['vip', 'staff'] : [],
    })),
  )
  return fixture
}

/** Also on what misses in memory, and within hardly any. */
export async function checkRandomAggregates(create: CreateStore, choose: Choose, queries: number): Promise<void> {
  const indexes = randomIndexes(choose)
  const fixture = new QueryFixture(await create(), indexes)
  const documents = new Map<string, Document>()
  for (const document of randomDocuments(choose, 10 + choose(80))) documents.set(document._id, document)
  await fixture.upsert([...documents.values()])
  for (let count = 0; count < queries; count++) {
    const selector = choose(3) === 0 ? {} : randomQuery(choose, indexes).selector
    const paths = choose(4) === 0 ? [] : PATHS.filter(() => choose(3) === 0)
    const wanted = randomAggregates(choose)
    const expected = naiveGroups([...documents.values()], selector, paths, wanted)
    const what = `${JSON.stringify({ selector, paths, wanted, indexes })}`
    for (const query of [fixture.find(selector), fixture.scan(selector)]) {
      const rows = await answer(query, paths, wanted)
      assertClose(rows, expected.map(toRow(paths)), what)
      assertInOrder(rows, paths, what)
      if (paths.length > 0) await checkLimit(query, paths, wanted, rows, choose(rows.length + 2), what)
    }
    if (paths.length === 0) continue
    const rows = await answerWithin(fixture, selector, paths, wanted)
    assertClose(rows, expected.map(toRow(paths)), what)
    assertInOrder(rows, paths, what)
  }
  assertEqual(fixture.held, 0)
  await fixture.store.close()
}

/** The first groups alone. */
async function checkLimit(
  query: Query<Document>,
  paths: readonly string[],
  wanted: NaiveAggregates,
  rows: readonly object[],
  limit: number,
  what: string,
): Promise<void> {
  const groups = query.groupBy(...paths).aggregate(wanted as never)
  const text = (some: readonly object[]): string => JSON.stringify(some)
  assertEqual(text(await groups.limit(limit).toArray()), text(rows.slice(0, limit)), `limit ${limit}: ${what}`)
  assertEqual(text(await groups.skip(1).limit(limit).toArray()), text(rows.slice(1, limit + 1)), `skip 1: ${what}`)
}

async function answer(query: Query<Document>, paths: readonly string[], wanted: NaiveAggregates): Promise<object[]> {
  if (paths.length > 0)
    return query
      .groupBy(...paths)
      .aggregate(wanted as never)
      .toArray()
  const row = (await query.aggregate(wanted as never)) as Record<string, unknown>
  return [Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))]
}

/** With so little memory that there are many passes. */
async function answerWithin(
  fixture: QueryFixture,
  selector: Record<string, unknown>,
  groupPaths: readonly string[],
  wanted: NaiveAggregates,
): Promise<object[]> {
  const condition = normalise(parseSelector(selector))
  await prepareRegexes(expressionsOf(condition))
  const source = { ...fixture.source(), indexes: [] }
  try {
    const steps = parseAggregates(wanted).filter(({ operator }) => operator !== '$distinct')
    const all = { groupPaths, steps, having: normalise(parseSelector({})), sort: [], skip: 0, limit: Infinity }
    const rows = await groupRows(source, condition, all, () => {}, 60_000)
    const missing = parseAggregates(wanted).filter(({ operator }) => operator === '$distinct')
    if (missing.length === 0) return rows
    const full = await answer(fixture.scan(selector), groupPaths, wanted)
    return rows.map((row, at) => {
      const distinct = missing.map(({ name }) => [name, (full[at] as Record<string, unknown>)[name]])
      return { ...row, ...Object.fromEntries(distinct) }
    })
  } finally {
    source.release()
  }
}

function toRow(paths: readonly string[]) {
  return ({ values, results }: { values: readonly unknown[]; results: object }): object => {
    const row: Record<string, unknown> = {}
    values.forEach((value, at) => {
      if (value !== undefined) setField(row, fieldNames(paths[at]!), value)
    })
    return { ...row, ...results }
  }
}

/** Sums may differ in the last digits; -0 is 0; fields in any order. */
function assertClose(actual: readonly object[], expected: readonly object[], what: string): void {
  const even = (_name: string, value: unknown): unknown => {
    if (typeof value === 'number') return Number(value.toPrecision(12)) + 0
    return ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value
  }
  const texts = (rows: readonly object[]): string[] =>
    rows.map((row) => JSON.stringify(Object.entries(row).sort(byName), even)).sort()
  assertEqual(texts(actual), texts(expected), what)
}

function byName([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : 1
}

/** Of a value only what a key holds counts. */
function assertInOrder(rows: readonly object[], paths: readonly string[], what: string): void {
  for (let at = 1; at < rows.length; at++)
    assertTrue(
      compareBySort({ sort: paths, meaning: {} }, rows[at - 1]!, rows[at]!) <= 0,
      `groups are in order: ${what}`,
    )
}

function randomAggregates(choose: Choose): NaiveAggregates {
  const wanted: Record<string, Record<string, unknown>> = {}
  const operators = ['$count', '$min', '$max', ...(choose(2) === 0 ? [] : ['$sum', '$avg', '$distinct'])]
  for (let count = choose(4); count >= 0; count--) {
    const operator = operators[choose(operators.length)]!
    wanted[`x${count}`] = { [operator]: operator === '$count' ? true : PATHS[choose(PATHS.length)]! }
  }
  return wanted
}
