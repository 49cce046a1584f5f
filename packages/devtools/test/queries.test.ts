/** Goal: the panel of queries shows which live queries are at work and what they cost, and explains any query as a tree. */
import { expect, test } from 'vitest'
import { explainTree } from '../src/model/explain-tree.ts'
import { QueriesModel } from '../src/model/queries.ts'
import { conditionText, questionText } from '../src/model/question-text.ts'
import { Source } from '../src/model/source.ts'
import { clock, openShop } from './shop.ts'

async function opened(people?: number) {
  const db = await openShop(people)
  const queries = new QueriesModel(new Source(db, undefined, () => {}), clock)
  return { db, queries, people: db.collection<Record<string, unknown>>('people') }
}

test('live queries and counts are listed with their question, rows, reads and listeners', async () => {
  const { db, queries, people } = await opened()
  await queries.refresh()
  expect(queries.rows).toEqual([])
  const live = people
    .find({ city: 'Oslo', age: { $gte: 18 } })
    .sort('-age')
    .limit(10)
    .live()
  const count = people.find({ city: { $in: ['Rome', 'Lima'] } }).liveCount()
  await Promise.all([live.ready, count.ready])
  live.subscribe(() => {})
  await Promise.resolve()
  await queries.refresh()
  expect(queries.rows).toMatchObject([
    { collection: 'people', status: 'live', rows: 10, reads: 1, subscribers: 1, counts: false },
    { collection: 'people', status: 'live', rows: 80, subscribers: 0, counts: true },
  ])
  expect(queries.rows.map(({ text }) => text)).toEqual([
    'city = "Oslo" and age ≥ 18 · sort -age · limit 10',
    'city in "Lima", "Rome"',
  ])
  live.close()
  count.close()
  await Promise.resolve()
  await queries.refresh()
  expect(queries.rows).toEqual([])
  await db.close()
})

test('a live query is explained by running it', async () => {
  const { db, queries, people } = await opened(3000)
  const live = people.find({ age: 7 }).live()
  await live.ready
  await queries.refresh()
  await queries.explainLive(queries.rows[0]!)
  expect(queries.error).toBeUndefined()
  expect(queries.explained).toMatchObject({ title: 'people: age = 7', rows: 34 })
  const text = JSON.stringify(queries.explained!.tree)
  expect(text).toContain('index scan')
  expect(text).toContain('age = 7')
  live.close()
  await db.close()
})

test('a query that is typed: its tree has rows and bytes, and marks a scan of many documents for few', async () => {
  const { db, queries } = await opened(5000)
  await queries.explain({ collection: 'people', selector: '{"name":"Person 7"}', sort: '', limit: undefined })
  const { explained } = queries
  expect(explained).toMatchObject({ rows: 1, documents: 5000, suggestion: '["name"]' })
  const [root] = explained!.tree
  const scan = root!.title === 'full scan' ? root! : root!.children[0]!
  expect(scan).toMatchObject({ title: 'full scan', actual: 5000, share: 1, isCostly: true })
  expect(scan.bytes! / 5000).toBeGreaterThan(50)
  await queries.explain({ collection: 'people', selector: '{oops', sort: '', limit: undefined })
  expect([queries.error, queries.isRunning]).toEqual([expect.stringMatching(/JSON/), false])
  await db.close()
})

test('shares are of the largest step', () => {
  const plan = {
    step: 'limit',
    rows: 5,
    input: { step: 'fetch', actualRows: 10, input: { step: 'full scan', rows: 40 } },
  }
  const base = { rows: 5, rowsExact: true, sortedByIndex: false, covering: false, cost: 1, suggestion: undefined }
  const [root] = explainTree({ ...base, plan } as never, 100)
  expect(root).toMatchObject({ title: 'limit 5', expected: undefined })
  expect(root!.children[0]).toMatchObject({ title: 'fetch', share: 0.25, bytes: 1000 })
  expect(root!.children[0]!.children[0]).toMatchObject({ share: 1, bytes: 4000 })
})

test('conditions as a line of text', () => {
  const some = (...intervals: object[]): object => ({ age: { $some: intervals } })
  expect(conditionText({ $and: [] })).toBe('')
  expect(questionText({ selector: { $and: [] } })).toBe('all documents')
  expect(conditionText({ $or: [] })).toBe('nothing')
  expect(conditionText(some({ $gte: 1, $lt: 5 }))).toBe('age ≥ 1 and age < 5')
  expect(conditionText(some({ $gte: null, $lt: 20 }))).toBe('age < 20')
  expect(conditionText(some({ $eq: 1 }, { $eq: 2 }, { $eq: 3 }, { $eq: 4 }))).toBe('age in 1, 2, 3, … (4)')
  expect(conditionText({ $and: [some({ $eq: 1 }), { $or: [some({ $eq: 2 }), { b: { $regex: 'x' } }] }] })).toBe(
    'age = 1 and (age = 2 or b ~ /x/)',
  )
})
