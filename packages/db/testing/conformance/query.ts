/**
 * Conformance of queries on any key-value store: each plan returns what the naive evaluator returns, in the requested
 * order, from one snapshot, which is released. `create` makes an empty store.
 */
import type { KeyValueStore } from '../../src/kv/key-value-store.ts'
import { COLUMNS_USE } from '../../src/query/query-source.ts'
import { combine, expressionsOf, isAlways, normalise, type Condition } from '../../src/query/ast/normalise.ts'
import { parseSelector } from '../../src/query/ast/parse-selector.ts'
import type { BodyView } from '../../src/document/body.ts'
import { compileCondition } from '../../src/query/match.ts'
import { bodyFields } from '../../src/query/operators/project.ts'
import { countDocuments } from '../../src/query/sets/collect-set.ts'
import { NumberSetBuilder, type NumberSet } from '../../src/query/sets/number-set.ts'
import { buildOperators } from '../../src/query/operators/build.ts'
import { SORT_LIMITS, type SortLimits } from '../../src/query/operators/sort.ts'
import { outermostPaths } from '../../src/codec/field-path.ts'
import { explainPlan } from '../../src/query/planner/explain.ts'
import type { PlanStep } from '../../src/query/planner/explanation.ts'
import { candidatePlans, type Plan, type QuerySpecification } from '../../src/query/planner/plan.ts'
import { SKIP_SCAN_LIMITS } from '../../src/query/planner/access-path.ts'
import { where } from '../../src/query/builder.ts'
import type { QuerySource } from '../../src/query/query-source.ts'
import { prepareRegexes } from '../../src/query/regex/check-regex.ts'
import { assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import {
  compareBySort,
  naiveAnswer,
  naiveProjection,
  randomDocuments,
  randomIndexes,
  randomQuery,
  seededChoose,
  TEST_COLLATION,
} from '../query-cases.ts'
import type { Choose, NaiveAnswer, QueryCase } from '../query-cases.ts'
import { QueryFixture, type Document } from '../query-fixture.ts'
import type { IndexInput } from '../../src/index/index-definition.ts'
import type { Query, Selector } from '../../src/query/query.ts'
import type { SuiteContext } from '../suite.ts'

export type CreateStore = () => Promise<KeyValueStore>

const ROUNDS = 12

export function querySuite({ test, create }: SuiteContext<CreateStore>): void {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    test(`random queries agree with the naive evaluator (seed ${seed})`, () =>
      checkRandomQueries(create, seededChoose(seed), 40))
  }

  test('every plan finds the same documents', async () => {
    const fixture = await peopleFixture(create)
    const adults = { age: { $gte: 30, $lt: 40 } }
    assertEqual(stepNames((await fixture.find(adults).explain()).plan), ['fetch', 'index scan'])
    assertEqual(
      ids(await fixture.find(adults).sort('_id').toArray()),
      ids(await fixture.scan(adults).sort('_id').toArray()),
    )
    assertEqual(await fixture.find(adults).count(), 100)
    await fixture.store.close()
  })

  test('an index gives the order, and skipping is by rank', async () => {
    const fixture = await peopleFixture(create)
    const query = fixture.find({ city: 'Oslo' }).sort('-age').skip(200).limit(3)
    const { plan, sortedByIndex } = await query.explain()
    assertEqual(stepNames(plan), ['fetch', 'limit', 'skip', 'index scan'])
    assertEqual(
      [sortedByIndex, inputOf(plan, 'skip')['byRank'], inputOf(plan, 'index scan')['index']],
      [true, true, 'city,-age'],
    )
    assertEqual(
      (await query.toArray()).map(({ age }) => age),
      [39, 39, 39],
    )
    const oldest = await fixture.find({}).sort('-city', 'age').limit(1).explain()
    assertEqual([oldest.sortedByIndex, inputOf(oldest.plan, 'index scan')['reverse']], [true, true])
    await fixture.store.close()
  })

  test('several ranges of an index are skipped and sorted as one', async () => {
    const fixture = await peopleFixture(create)
    const some = fixture.find({ age: { $in: [10, 20, 30] } }).sort('age')
    const { plan, sortedByIndex } = await some.skip(13).explain()
    assertEqual(
      [sortedByIndex, inputOf(plan, 'skip')['byRank'], inputOf(plan, 'index scan')['ranges']],
      [true, true, 3],
    )
    assertEqual(
      (await some.skip(13).toArray()).map(({ age }) => age),
      [20, 20, 20, 20, 20, 20, 20, ...Array.from({ length: 10 }, () => 30)],
    )
    assertEqual(
      (await some.sort('-age').skip(13).limit(8).toArray()).map(({ age }) => age),
      [20, 20, 20, 20, 20, 20, 20, 10],
    )
    // With several cities neither gives an order by name.
    const named = fixture.find({ city: { $in: ['Oslo', 'Turku'] }, age: 31 })
    for (const sorted of [named.sort('name'), named.sort('age', 'name')]) {
      assertEqual(
        (await sorted.toArray()).map(({ name }) => name),
        ['n131', 'n31', 'n331', 'n431', 'n631', 'n731', 'n931'],
      )
    }
    await fixture.store.close()
  })

  test('few values before the field that is asked for: looked up for each, and counted', async () => {
    const fixture = new QueryFixture(await create(), [
      ['city', '-age'],
      ['name', 'age'],
    ])
    const cities = ['Bergen', 'Oslo', 'Turku']
    await fixture.upsert(
      Array.from({ length: 2500 }, (_, at) => ({
        _id: `p${at}`,
        name: `n${at}`,
        age: at % 100,
        ...(at % 4 === 3 ? {} : { city: cities[at % 4] }),
      })),
    )
    const age = { $gte: 20, $lt: 30 }
    const selectors: [Selector<Document>, ranges: number, rows: number][] = [
      [{ age }, 4, 250],
      [{ age: { $in: [20, 21, 55, 57] } }, 16, 100],
      [{ city: { $exists: true }, age }, 3, 200],
      [{ city: { $gte: 'C' }, age, $or: [{ age: 21 }, { age: { $gt: 27 } }] }, 4, 50],
      // Each value of the index that is met by points needs no look-up of what values there are.
      [{ city: { $in: ['Oslo', 'Turku', 'Nowhere'] }, age: { $nin: [5, 6] } }, 9, 1200],
    ]
    for (const [selector, ranges, rows] of selectors) {
      const query = fixture.find(selector)
      assertEqual([await query.count(), await fixture.scan(selector).count()], [rows, rows], JSON.stringify(selector))
      const { plan, rowsExact } = await query.skip(10).limit(1).explain()
      assertEqual(
        [rowsExact, inputOf(plan, 'skip')['byRank'], inputOf(plan, 'index scan')['ranges']],
        [true, true, ranges],
        JSON.stringify(selector),
      )
    }
    const sorted = fixture.find({ age }).sort('-city', 'age').skip(240).limit(3)
    const { plan } = await sorted.explain()
    assertEqual([inputOf(plan, 'skip')['byRank'], inputOf(plan, 'index scan')['reverse']], [true, true])
    const naive = await fixture.scan({ age }).sort('-city', 'age').fields('city', 'age').toArray()
    assertEqual(await sorted.fields('city', 'age').toArray(), naive.slice(240, 243))
    const many = await fixture.find({ name: { $gt: 'n' }, age: 7 }).explain()
    assertTrue(!many.rowsExact, 'too many names to look up each')
    await fixture.store.close()
  })

  test('a covering index answers without documents', async () => {
    const fixture = await peopleFixture(create)
    const query = fixture
      .find({ city: 'Oslo', age: { $gt: 95 } })
      .sort('city', '-age')
      .fields('age', 'city')
    const explanation = await query.explain()
    assertEqual([explanation.covering, stepNames(explanation.plan)], [true, ['project', 'index scan']])
    assertEqual((await query.toArray())[0], { age: 99, city: 'Oslo' })
    assertTrue(!(await query.fields('age', 'tags').explain()).covering, 'a field outside the index needs documents')
    await fixture.store.close()
  })

  test('elements of arrays are found by a multi index, each document once', async () => {
    const fixture = await peopleFixture(create)
    const one = await fixture.find({ tags: 'vip' }).explain()
    assertEqual([one.rows, one.rowsExact, inputOf(one.plan, 'index scan')['multi']], [100, true, true])
    const both = fixture.find({ tags: { $in: ['vip', 'staff'] } })
    assertEqual(inputOf((await both.explain()).plan, 'index scan')['rows'], 150)
    assertEqual([await both.count(), (await both.toArray()).length], [100, 100])
    await fixture.store.close()
  })

  test('conditions that no index knows are assumed to let few rows through', async () => {
    const fixture = await peopleFixture(create)
    const sorted = fixture.find({ name: { $regex: '7' } }).sort('age')
    assertEqual(stepNames((await sorted.explain()).plan), ['fetch', 'sort', 'filter', 'full scan'])
    assertEqual(stepNames((await sorted.limit(5).explain()).plan), ['limit', 'filter', 'fetch', 'index scan'])
    const tested = fixture.find({ city: { $regex: 'o$' } }).fields('city')
    assertEqual(stepNames((await tested.explain()).plan), ['project', 'filter', 'full scan'])
    await fixture.store.close()
  })

  test('alternatives are a union when each has an index, else a scan', async () => {
    const fixture = await peopleFixture(create)
    const union = fixture.find({ $or: [{ age: 31 }, { tags: 'vip' }] })
    assertEqual(stepNames((await union.explain()).plan), ['fetch', 'union'])
    assertEqual(await union.count(), 110)
    assertEqual(stepNames((await fixture.find({ $or: [{ age: 30 }, { name: 'n7' }] }).explain()).plan), [
      'filter',
      'full scan',
    ])
    await fixture.store.close()
  })

  test('what cannot match reads nothing', async () => {
    const fixture = await peopleFixture(create)
    assertEqual(stepNames((await fixture.find({ age: { $gt: 5, $lt: 3 } }).explain()).plan), ['fetch', 'nothing'])
    assertEqual(
      [await fixture.find({ age: { $in: [] } }).count(), await fixture.find({ $or: [] }).first()],
      [0, undefined],
    )
    await fixture.store.close()
  })

  test('two indexes are intersected where each alone has many entries', async () => {
    const fixture = await peopleFixture(create)
    const both = fixture.find({ age: { $gte: 30, $lt: 50 }, tags: 'vip' })
    const { plan, actual } = await both.explain({ run: true })
    assertEqual(stepNames(plan), ['fetch', 'intersection'])
    const inputs = inputOf(plan, 'intersection')['inputs'] as PlanStep[]
    assertEqual(inputs.map((input) => [input['rows'], input['actualRows']].join(' ')).sort(), ['100 100', '200 200'])
    assertEqual([actual?.rows, actual?.documents, await both.count()], [20, 20, 20])
    // The order is that of the first of the two.
    const page = await both.sort('-age', '_id').skip(9).limit(3).toArray()
    assertEqual(
      page.map(({ _id }) => _id),
      ['p940', 'p130', 'p230'],
    )
    await fixture.store.close()
  })

  test('a literal start of a regular expression is looked up', async () => {
    const fixture = await peopleFixture(create)
    const literal = await fixture
      .find({ city: { $regex: '^Os' } })
      .fields('city')
      .explain()
    assertEqual([stepNames(literal.plan), literal.rows, literal.rowsExact], [['project', 'index scan'], 333, true])
    const { plan } = await fixture
      .find({ city: { $regex: '^B[aeiou]+r' } })
      .fields('city')
      .explain({ run: true })
    assertEqual(stepNames(plan), ['project', 'filter', 'index scan'])
    assertEqual([inputOf(plan, 'index scan')['actualRows'], inputOf(plan, 'filter')['actualRows']], [334, 334])
    await fixture.store.close()
  })

  test('regular expressions whose work can not be bounded are refused', async () => {
    const fixture = await peopleFixture(create)
    for (const source of ['(a)\\1', 'a(?=b)', '(?<!a)b']) {
      const query = fixture.find({ name: { $regex: source } })
      await assertRejects(query.toArray(), 'PANNIER_REGEX_UNSAFE')
      await assertRejects(query.count(), 'PANNIER_REGEX_UNSAFE')
    }
    await assertRejects(fixture.find({ name: { $regex: '(ab){1500}' } }).first(), 'PANNIER_LIMIT_EXCEEDED')
    const together = Array.from({ length: 50 }, (_, at) => ({ name: { $regex: `${at}(ab){200}` } }))
    await assertRejects(fixture.find({ $or: together }).toArray(), 'PANNIER_LIMIT_EXCEEDED')
    assertEqual(await fixture.find({ name: { $regex: '^(n+)+7$' } }).count(), 1)
    assertEqual(fixture.held, 0)
    await fixture.store.close()
  })

  test('many values are many ranges up to a bound, then one', async () => {
    const fixture = await peopleFixture(create)
    const ages = Array.from({ length: 20_000 }, (_, at) => at / 100)
    const few = fixture.find({ age: { $in: ages.slice(0, 9000) } }).fields('age')
    assertEqual(inputOf((await few.explain()).plan, 'index scan')['ranges'], 9000)
    const many = fixture
      .find({ age: { $in: ages } })
      .sort('age')
      .limit(2)
    const { plan } = await many.explain()
    assertEqual([inputOf(plan, 'index scan')['ranges'], await many.count()], [1, 1000])
    const ids = Array.from({ length: 10_001 }, (_, at) => `p${at}`)
    assertEqual(await fixture.find({ _id: { $in: ids } }).count(), 1000)
    // Alternatives of one field are one set of values.
    const either = fixture.find({ $or: [{ age: 3 }, { age: 5 }, { age: { $gt: 97 } }] })
    const { plan: united } = await either.explain()
    assertEqual([inputOf(united, 'index scan')['ranges'], await either.count()], [3, 40])
    const alternatives = Array.from({ length: 1001 }, (_, at) => ({ age: at, city: 'Oslo' }))
    assertEqual(stepNames((await fixture.find({ $or: alternatives }).explain()).plan), ['filter', 'full scan'])
    await fixture.store.close()
  })

  test('elements of $all and $elemMatch are looked up', async () => {
    const fixture = await peopleFixture(create)
    const one = await fixture.find({ tags: { $elemMatch: { $gt: 'r', $lt: 'u' } } }).explain({ run: true })
    assertEqual([stepNames(one.plan), one.rows, one.actual?.rows], [['filter', 'fetch', 'index scan'], 50, 50])
    const all = await fixture.find({ tags: { $all: ['vip', 'staff'] } }).explain({ run: true })
    assertEqual([stepNames(all.plan), all.rows, all.actual?.rows], [['fetch', 'intersection'], 50, 50])
    await fixture.store.close()
  })

  test('what a field of arrays must not hold is subtracted', async () => {
    const fixture = await peopleFixture(create)
    const selectors: [Selector<Document>, rows: number][] = [
      [{ tags: { $ne: 'vip' } }, await fixture.scan({ tags: { $ne: 'vip' } }).count()],
      [{ tags: { $nin: ['vip', 'staff'] } }, await fixture.scan({ tags: { $nin: ['vip', 'staff'] } }).count()],
      [{ tags: { $ne: 'vip' }, city: 'Oslo' }, await fixture.scan({ tags: { $ne: 'vip' }, city: 'Oslo' }).count()],
    ]
    for (const [selector, rows] of selectors) {
      const query = fixture.find(selector)
      assertTrue(rows > 0)
      assertEqual([await query.count(), (await query.toArray()).length], [rows, rows], JSON.stringify(selector))
    }
    await fixture.store.close()
  })

  test('the order of creation costs no walk, and documents keep their place in it', async () => {
    const fixture = await peopleFixture(create)
    await fixture.upsert([{ _id: 'p3', age: 3, name: 'again' }])
    await fixture.delete(['p5'])
    await fixture.upsert([{ _id: 'new', age: 3 }])
    const firstIds = ['p0', 'p1', 'p2', 'p3', 'p4', 'p6']
    assertEqual(ids(await fixture.find({}).sort('$created').limit(6).toArray()), firstIds)
    assertEqual(ids(await fixture.find({}).sort('-$created').limit(2).toArray()), ['new', 'p999'])
    const page = fixture.find({}).sort('$created').skip(500).limit(2)
    assertEqual(ids(await page.toArray()), ['p501', 'p502'])
    const { plan, sortedByIndex, actual } = await page.explain({ run: true })
    assertEqual([stepNames(plan), sortedByIndex], [['fetch', 'limit', 'skip', 'number set', 'id scan'], true])
    assertEqual([inputOf(plan, 'skip')['byRank'], actual?.documents], [true, 2])
    // Entries of one value are in the order of creation.
    const one = await fixture.find({ age: 3 }).sort('-$created').limit(2).explain()
    assertEqual(stepNames(one.plan), ['fetch', 'limit', 'index scan'])
    assertEqual(ids(await fixture.find({ age: 3 }).sort('-$created').limit(2).toArray()), ['new', 'p903'])
    const either = fixture.find({ $or: [{ age: 3 }, { name: 'n7' }] }).sort('$created')
    assertEqual(ids(await either.limit(3).toArray()), ['p3', 'p7', 'p103'])
    assertThrows(() => fixture.find({}).sort('$created').live())
    await fixture.store.close()
  })

  test('explain says what running took, and which index would have helped', async () => {
    const fixture = await peopleFixture(create)
    const sorted = await fixture
      .find({ name: { $gt: 'n5' }, city: 'Oslo' })
      .sort('-name')
      .limit(5)
      .explain({ run: true })
    assertEqual(sorted.suggestion, ['city', '-name'])
    assertEqual([sorted.actual?.rows, inputOf(sorted.plan, 'limit')['actualRows']], [5, 5])
    assertEqual(inputOf(sorted.plan, 'sort')['passes'], 1)
    assertEqual((await fixture.find({ nick: { $all: ['x'] } }).explain()).suggestion, { on: 'nick', multi: true })
    assertEqual((await fixture.find({ age: 5 }).explain()).suggestion, undefined)
    assertEqual((await fixture.find({ name: { $size: 1 } }).explain()).suggestion, undefined)
    const scan = await fixture.find({ name: 'n5' }).explain({ run: true })
    assertEqual([scan.suggestion, scan.actual?.documents, scan.actual?.rows], [['name'], 1000, 1])
    assertEqual((await fixture.find({}).explain()).actual, undefined)
    assertEqual(fixture.held, 0)
    await fixture.store.close()
  })

  test('explain suggests a multi index where there are arrays, and nothing that would not be used', async () => {
    const documents = Array.from({ length: 300 }, (_, at) => ({
      _id: `d${at}`,
      labels: [`l${at % 50}`, 'all'],
      code: `c${at}`,
    }))
    const fixtureWith = async (indexes: readonly IndexInput[]): Promise<QueryFixture> => {
      const fixture = new QueryFixture(await create(), indexes)
      await fixture.upsert(documents)
      return fixture
    }
    const plain = await fixtureWith([])
    const withIndex = await fixtureWith(['labels'])
    const multi = { on: 'labels', multi: true }
    const selectors: readonly Selector<Document>[] = [
      { labels: 'l7' },
      { labels: { $elemMatch: { $eq: 'l7' } } },
      { labels: { $all: ['l7', 'all'] } },
    ]
    for (const selector of selectors) {
      const before = await plain.find(selector).explain()
      assertEqual([stepNames(before.plan).at(-1), before.suggestion], ['full scan', multi])
      // The name of a multi index is that of a plain one.
      const { suggestion } = await withIndex.find(selector).explain()
      assertEqual(suggestion, { ...multi, name: 'labels, suggested' })
      for (const indexes of [[before.suggestion!], ['labels', suggestion!]]) {
        const followed = await fixtureWith(indexes)
        const after = await followed.find(selector).explain({ run: true })
        assertEqual([stepNames(after.plan).at(-1), after.suggestion, after.actual?.rows], ['index scan', undefined, 6])
        await followed.store.close()
      }
    }
    assertEqual((await plain.find({ code: 'c7' }).explain()).suggestion, ['code'])
    assertEqual((await plain.find({ labels: 'all' }).explain()).suggestion, undefined)
    for (const fixture of [plain, withIndex]) await fixture.store.close()
  })

  test('built predicates are those of selectors', async () => {
    const fixture = await peopleFixture(create)
    const adults = where('age').gte(30).and(where('tags').has('vip'))
    const selector = { $and: [{ age: { $gte: 30 } }, { tags: { $all: ['vip'] } }] }
    assertEqual(adults.predicate, parseSelector(selector))
    assertEqual(await fixture.find(adults).count(), await fixture.find(selector).count())
    const pairs: readonly (readonly [{ readonly predicate: unknown }, object])[] = [
      [
        where('a.b')
          .between(1, 2)
          .or(where('c').in([1])),
        { $or: [{ 'a.b': { $gte: 1, $lte: 2 } }, { c: { $in: [1] } }] },
      ],
      [where('a').ne(1).not(), { $not: { a: { $ne: 1 } } }],
      [where('a').matches(/x+/gi), { a: { $regex: 'x+', $options: 'i' } }],
      [where('a').some({ $gt: 1 }), { a: { $elemMatch: { $gt: 1 } } }],
      [where('a').every(where('x').eq(1)), { a: { $allMatch: { x: { $eq: 1 } } } }],
      [where('a').someKey({ $beginsWith: 'x' }), { a: { $keyMapMatch: { $beginsWith: 'x' } } }],
      [where('a').exists(false), { a: { $exists: false } }],
      [where('a').contains('x'), { a: { $contains: 'x' } }],
      [
        where('a').mod(2, 1).and(where('b').size(1), where('c').type('null')),
        { a: { $mod: [2, 1] }, b: { $size: 1 }, c: { $type: 'null' } },
      ],
    ]
    for (const [built, same] of pairs) assertEqual(built.predicate, parseSelector(same) as unknown)
    assertThrows(() => where('').eq(1), TypeError)
    assertThrows(() => where('a').size(-1), TypeError)
    await fixture.store.close()
  })

  test('leaving a loop releases its snapshot', async () => {
    const fixture = await peopleFixture(create)
    for await (const document of fixture.find({})) {
      assertEqual([typeof document._id, fixture.held], ['string', 1])
      break
    }
    assertEqual(fixture.held, 0)
    await assertRejects(
      (async () => {
        for await (const _ of fixture.find({})) throw new RangeError('enough')
      })(),
      RangeError,
    )
    assertEqual(fixture.held, 0)
    await fixture.store.close()
  })

  test('a loop sees one snapshot', async () => {
    const fixture = await peopleFixture(create)
    let seen = 0
    for await (const document of fixture.find({ age: { $gte: 0 } })) {
      if (seen++ === 10) await fixture.delete(Array.from({ length: 500 }, (_, at) => `p${at}`))
      assertTrue(document._id.startsWith('p'), 'the document is there')
    }
    assertEqual([seen, await fixture.find({}).count(), fixture.held], [1000, 500, 0])
    await fixture.store.close()
  })

  test('an aborted query ends with PANNIER_ABORTED', async () => {
    const fixture = await peopleFixture(create)
    const controller = new AbortController()
    const query = fixture.find({}).signal(controller.signal)
    const loop = (async () => {
      for await (const _ of query) controller.abort('changed my mind')
    })()
    const error = await assertRejects(loop, 'PANNIER_ABORTED')
    assertEqual([(error as Error).cause, fixture.held], ['changed my mind', 0])
    await assertRejects(query.count(), 'PANNIER_ABORTED')
    await fixture.store.close()
  })

  test('queries are values: each method gives a new one', async () => {
    const fixture = await peopleFixture(create)
    const all = fixture.find({ city: 'Oslo' })
    const some = all.sort('age').limit(2)
    assertEqual([(await all.toArray()).length, (await some.toArray()).length, await some.count()], [333, 2, 333])
    assertEqual([(await all.first())?.['city'], (await some.skip(332).toArray()).length], ['Oslo', 1])
    await fixture.store.close()
  })

  test('malformed queries are refused at once', async () => {
    const fixture = await peopleFixture(create)
    const selectors: readonly unknown[] = [
      null,
      [],
      'a',
      { a: undefined },
      { a: NaN },
      { a: { $gt: new Date(0) } },
      { $gt: 1 },
      { a: { $like: 'x' } },
      { a: { $in: 1 } },
      { $or: {} },
      { $and: [1] },
      { a: { $exists: 1 } },
      { a: { $regex: '(' } },
      { a: { $regex: 'a', $options: 'g' } },
      { a: { $options: 'i' } },
      { a: { $beginsWith: 1 } },
      { '': 1 },
      { 'a..b': 1 },
      { a: { $not: 1 } },
      { a: () => 1 },
      { a: { $type: 'text' } },
      { a: { $size: -1 } },
      { a: { $size: '1' } },
      { a: { $mod: [0, 1] } },
      { a: { $mod: [2] } },
      { a: { $mod: [2, 0.5] } },
      { a: { $all: 1 } },
      { a: { $elemMatch: 1 } },
      { a: { $elemMatch: { $like: 1 } } },
      { a: { $allMatch: [1] } },
      { a: { $keyMapMatch: 'x' } },
    ]
    const beyondLimits: readonly unknown[] = [
      nested(300),
      { a: { $eq: Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 1) } },
      { $or: Array.from({ length: 5001 }, (_, a) => ({ a })) },
      { a: { $in: Array.from({ length: 100_001 }, (_, at) => at) } },
      { a: { $regex: 'a'.repeat(2001) } },
    ]
    for (const selector of beyondLimits) {
      assertThrows(() => fixture.find(selector as Record<string, unknown>), 'PANNIER_LIMIT_EXCEEDED')
    }
    for (const selector of selectors) assertThrows(() => fixture.find(selector as Record<string, unknown>), TypeError)
    const query = fixture.find({})
    for (const wrong of [-1, 1.5, NaN, '1']) assertThrows(() => query.limit(wrong as number), TypeError)
    assertThrows(() => query.sort('a', '-a'), TypeError)
    assertThrows(() => query.sort(''), TypeError)
    assertThrows(() => query.fields(), TypeError)
    await fixture.store.close()
  })
}

/** 1,000 people, 333 in Oslo, with the indexes of an address book. */
async function peopleFixture(create: CreateStore): Promise<QueryFixture> {
  const fixture = new QueryFixture(await create(), [
    'age',
    ['city', '-age'],
    ['city', 'age', 'name'],
    { on: 'tags', multi: true },
  ])
  const people = Array.from({ length: 1000 }, (_, at) => ({
    _id: `p${at}`,
    name: `n${at}`,
    age: at % 100,
    city: ['Bergen', 'Oslo', 'Turku'][at % 3]!,
    tags: at % 20 === 0 ? ['vip', 'staff'] : at % 10 === 0 ? ['vip'] : [],
  }))
  await fixture.upsert(people)
  return fixture
}

function ids(documents: readonly Document[]): string[] {
  return documents.map(({ _id }) => _id)
}

/** From the topmost step down. */
export function stepNames(plan: PlanStep): string[] {
  const names: string[] = []
  for (let step: PlanStep | undefined = plan; step !== undefined; step = step['input'] as PlanStep | undefined)
    names.push(step.step)
  return names
}

function inputOf(plan: PlanStep, name: string): PlanStep {
  let step = plan
  while (step.step !== name) step = step['input'] as PlanStep
  return step
}

function nested(depth: number): Record<string, unknown> {
  return depth === 0 ? {} : { $not: nested(depth - 1) }
}

/** Random documents in two waves, with updates and deletions between them; then random queries, with and without indexes. */
export async function checkRandomQueries(create: CreateStore, choose: Choose, queries: number): Promise<void> {
  const usual = { ...COLUMNS_USE }
  if (choose(2) === 0) Object.assign(COLUMNS_USE, { documentsMin: 0, costShareMin: 0 })
  try {
    await checkRandomly(create, choose, queries)
  } finally {
    Object.assign(COLUMNS_USE, usual)
  }
}

async function checkRandomly(create: CreateStore, choose: Choose, queries: number): Promise<void> {
  const indexes: IndexInput[] = randomIndexes(choose)
  const fixture = new QueryFixture(await create(), indexes)
  await fixture.upsert(randomDocuments(choose, 1 + choose(60)))
  await fixture.delete([`d${choose(60)}`, `d${choose(60)}`])
  await fixture.upsert(randomDocuments(choose, choose(20)))
  const documents = await fixture.scan({}).toArray()
  const numbers = await fixture.numbers()
  for (let at = 0; at < queries; at++) {
    if (choose(4) === 0) await fixture.store.checkpoint()
    await checkQuery(fixture, documents, byCreation(randomQuery(choose, indexes), numbers, choose), indexes, choose)
  }
  assertEqual(fixture.held, 0, 'snapshots that are still held')
  await fixture.store.close()
}

/** Now and then sorted by '$created' too. */
function byCreation(query: QueryCase, created: ReadonlyMap<string, number>, choose: Choose): QueryCase {
  if (choose(3) > 0) return query
  const field = choose(2) === 0 ? '$created' : '-$created'
  return { ...query, created, sort: choose(3) > 0 ? [field] : [...query.sort.slice(0, 1), field] }
}

/** By the query as the planner would have it, by a scan, and by every other plan that there is. */
async function checkQuery(
  fixture: QueryFixture,
  documents: readonly Document[],
  query: QueryCase,
  indexes: readonly IndexInput[],
  choose: Choose,
): Promise<void> {
  const what = JSON.stringify({ query, indexes })
  const answer = naiveAnswer(documents, query)
  for (const find of [fixture.find(query.selector, query.meaning), fixture.scan(query.selector, query.meaning)]) {
    assertEqual(await find.count(), answer.matches.length, `count of ${what}`)
    checkRows(await applyTo(find, query, fieldsWithId(query)).toArray(), query, answer, what)
  }
  for (const fields of query.fields === undefined ? [undefined] : [fieldsWithId(query), query.fields]) {
    const source = fixture.source()
    const specified = specify(query, fields)
    await prepareRegexes(expressionsOf(specified.condition))
    const specification =
      choose(2) === 0 ? specified : { ...specified, condition: await withSets(source, specified.condition, choose) }
    const skipLimits = choose(2) === 0 ? SKIP_SCAN_LIMITS : { entriesMin: 1 + choose(4), valuesMax: 1 + choose(40) }
    const plans = await source.attempt(() => candidatePlans(source, specification, skipLimits))
    for (const plan of plans) {
      // A sort that holds little has to read its input several times.
      const sortLimits = choose(2) === 0 ? SORT_LIMITS : { bytesMax: 1 + choose(8000), runRows: 1 + choose(30) }
      const rows = await runPlan(source, plan, specification, sortLimits)
      const place = `${what} by ${JSON.stringify(explainPlan(plan, specification).plan)}`
      if (plan.byRank) assertEqual(plan.rows, answer.matches.length, `exact rows of ${place}`)
      if (isAlways(plan.residual) && plan.access.kind !== 'scan')
        assertEqual(await countDocuments(source, plan.access, () => {}), answer.matches.length, `count of ${place}`)
      assertTrue(plan.rows >= answer.matches.length, `the estimate is no less than the rows of ${place}`)
      if (fields === query.fields && fields !== undefined) checkProjectedRows(rows, query, answer, place)
      else checkRows(rows as Document[], query, answer, place)
    }
    source.release()
  }
}

function specify(query: QueryCase, fields: readonly string[] | undefined): QuerySpecification {
  const sort = query.sort.map((field) => ({ path: field.replace(/^-/, ''), descending: field.startsWith('-') }))
  const condition = normalise(parseSelector(query.selector, query.meaning))
  const collation = query.meaning.collation === undefined ? undefined : TEST_COLLATION
  const wanted = { skip: query.skip, limit: query.limit ?? Infinity, fields: fields && outermostPaths(fields) }
  return { condition, sort, collation, ...wanted }
}

/** A condition for the same documents, with parts that are sets of numbers or complements. */
async function withSets(source: QuerySource, condition: Condition, choose: Choose): Promise<Condition> {
  const inner = async (): Promise<Condition> => {
    if (condition.kind !== 'and' && condition.kind !== 'or') return condition
    const parts: Condition[] = []
    for (const part of condition.of) parts.push(await withSets(source, part, choose))
    return combine(condition.kind, parts)
  }
  switch (choose(6)) {
    case 0:
      return { kind: 'numbers', numbers: await numbersOf(source, condition) }
    case 1: {
      const others: Condition = { kind: 'complement', of: condition }
      return { kind: 'complement', of: { kind: 'numbers', numbers: await numbersOf(source, others) } }
    }
    case 2:
      return { kind: 'complement', of: { kind: 'complement', of: await inner() } }
    default:
      return inner()
  }
}

/** By a scan. */
async function numbersOf(source: QuerySource, condition: Condition): Promise<NumberSet> {
  const { documents } = source
  const test = compileCondition<BodyView>(condition, bodyFields(documents), ({ number }) => number)
  const builder = new NumberSetBuilder()
  const cursor = await source.attempt(() => documents.scan())
  while (await source.attempt(() => cursor.next())) if (test(cursor.body)) builder.add(cursor.body.number)
  return builder.build()
}

async function runPlan(
  source: QuerySource,
  plan: Plan,
  specification: QuerySpecification,
  sortLimits: SortLimits,
): Promise<object[]> {
  const operator = await source.attempt(() => buildOperators(source, plan, specification, { sortLimits }))
  const all: object[] = []
  for (let count = 1; ; count = (count % 5) + 1) {
    const rows = await source.attempt(() => operator.next(count))
    if (rows === undefined) return all
    assertTrue(rows.length <= count, 'an operator gives no more rows than were asked for')
    all.push(...rows)
  }
}

function checkRows(rows: readonly Document[], query: QueryCase, answer: NaiveAnswer, what: string): void {
  const byId = new Map(answer.matches.map((document) => [document._id, document]))
  assertEqual(rows.length, answer.rows, `number of rows of ${what}`)
  rows.forEach((row, at) => {
    const document = byId.get(row._id)
    assertTrue(document !== undefined, `'${row._id}' is one of the rows, and only once, of ${what}`)
    byId.delete(row._id)
    assertEqual(compareBySort(query, document, answer.matches[query.skip + at]!), 0, `order at ${at} of ${what}`)
    assertEqual<object>(row, naiveProjection(document, fieldsWithId(query)), `row of ${what}`)
  })
}

/** Without ids, which an index does not hold, a plan may be covering. */
function checkProjectedRows(rows: readonly object[], query: QueryCase, answer: NaiveAnswer, what: string): void {
  const left = answer.matches.map((document) => JSON.stringify(naiveProjection(document, query.fields)))
  assertEqual(rows.length, answer.rows, `number of rows of ${what}`)
  for (const row of rows) {
    const at = left.indexOf(JSON.stringify(row))
    assertTrue(at >= 0, `${JSON.stringify(row)} is one of the rows of ${what}`)
    left.splice(at, 1)
  }
}

function fieldsWithId({ fields }: QueryCase): readonly string[] | undefined {
  return fields && ['_id', ...fields]
}

function applyTo(
  find: Query<Document>,
  { sort, skip, limit }: QueryCase,
  fields: readonly string[] | undefined,
): Query<Document> {
  let query = find.sort(...sort).skip(skip)
  if (limit !== undefined) query = query.limit(limit)
  return fields === undefined ? query : (query.fields(...fields) as Query<Document>)
}
