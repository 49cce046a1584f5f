/**
 * Goal: what a commit costs live queries is bounded by what it changes. Method: counts of conditions tested and of times
 * that rows are read, with commits handed over as the database layer does.
 */
import { beforeEach, expect, test } from 'vitest'
import type { StoredDocument } from '../../../src/document/document-reader.ts'
import { normalise } from '../../../src/query/ast/normalise.ts'
import { parseSelector } from '../../../src/query/ast/parse-selector.ts'
import { CollectionWatch } from '../../../src/query/live/collection-watch.ts'
import { SKIP_HELD_MAX } from '../../../src/query/live/live-run.ts'
import type { LiveState, LiveWork } from '../../../src/query/live/live-types.ts'
import type { QueryRun } from '../../../src/query/query-run.ts'
import type { QuerySpecification } from '../../../src/query/planner/plan.ts'
import { modelKeyValueStore } from '../../../testing/model-key-value-store.ts'
import { QueryFixture, type Document } from '../../../testing/query-fixture.ts'

const TURNS_MAX = 1000

let fixture: QueryFixture
let watch: CollectionWatch
let opened = 0
let revisions = 0

beforeEach(async () => {
  fixture = new QueryFixture(modelKeyValueStore(), ['n'])
  watch = new CollectionWatch({
    name: 'items',
    closing: new AbortController().signal,
    onActive: () => {},
    onFollow: () => {},
    onIdle: () => {},
    other: () => watch,
  })
  await fixture.upsert(Array.from({ length: 300 }, (_, n) => ({ _id: `d${n}`, n, owner: `u${n}` })))
  opened = 0
})

async function live(
  selector: object,
  options: Partial<QuerySpecification> = {},
): Promise<{ work: LiveWork; state: LiveState }> {
  const condition = normalise(parseSelector(selector))
  const state: LiveState = { view: undefined, status: 'loading', error: undefined }
  const specification = { condition, sort: [], skip: 0, limit: Infinity, fields: undefined, ...options }
  const open = (): QueryRun => {
    opened++
    return { source: fixture.source(), query: specification }
  }
  const work = watch.start({ specification, followed: undefined, open, signal: undefined }, state)
  await work.ready
  return { work, state }
}

/** Gives the number of conditions tested. */
async function commit(documents: readonly Document[], removed: readonly string[] = []): Promise<number> {
  if (documents.length > 0) await fixture.upsert(documents)
  if (removed.length > 0) await fixture.delete(removed)
  const { sequence, release } = fixture.source()
  release()
  const before = watch.conditions.evaluations
  const written = documents.map((document) => ({
    id: document._id,
    document: { ...document, _rev: `9-${++revisions}` } as StoredDocument,
  }))
  watch.apply(sequence, [...written, ...removed.map((id) => ({ id, document: undefined }))])
  watch.notify()
  return watch.conditions.evaluations - before
}

test('two thousand queries for different values: a commit tests one condition per document', async () => {
  const queries = []
  for (let n = 0; n < 2000; n++) queries.push(await live({ owner: `u${n}`, n: { $gte: 0 } }))
  expect(opened).toBe(2000)
  const updates: number[] = []
  queries.forEach(({ work }, n) => work.subscribe({ update: () => updates.push(n) }))
  await Promise.resolve()
  updates.length = 0
  expect(await commit([{ _id: 'x', n: 1, owner: 'u77' }])).toBe(1)
  expect(await commit([{ _id: 'y', n: 1, owner: 'nobody' }])).toBe(0)
  expect(await commit([{ _id: 'x', n: 1, owner: 'u78' }])).toBe(1)
  expect(await commit([{ _id: 'z', n: 1, owner: ['u5', 'u6', 'u5'] }])).toBe(2)
  expect(await commit([], ['x', 'no such'])).toBe(0)
  expect(updates).toEqual([77, 77, 78, 5, 6, 78])
  expect(queries[5]!.state.view!.ids).toEqual(['d5', 'z'])
  expect(opened).toBe(2000)
  for (const { work } of queries) work.close()
  expect(await commit([{ _id: 'x', n: 1, owner: 'u77' }])).toBe(0)
})

test('queries that share a condition share its test, and those for a range are all tested', async () => {
  for (let n = 0; n < 50; n++)
    await live({ n: { $gt: 5 } }, { limit: n, sort: [{ path: 'n', descending: n % 2 === 0 }] })
  expect(await commit([{ _id: 'x', n: 1 }])).toBe(1)
  for (let n = 0; n < 50; n++) await live({ n: { $gt: n } })
  expect(await commit([{ _id: 'x', n: 1 }])).toBe(50)
})

test('conditions are found by any one of the values that they ask for', async () => {
  const selectors: [object, hits: number][] = [
    [{ owner: { $in: ['a', 'b'] } }, 1],
    [{ $or: [{ owner: 'a', n: 3 }, { _id: 'x' }] }, 1],
    [{ $and: [{ n: { $gt: 0 } }, { $or: [{ owner: 'c' }, { n: 1 }] }] }, 1],
    [{ missing: { $exists: false } }, 1],
    [{ owner: { $ne: 'a' } }, 0],
    [{ $or: [{ owner: 'z' }, { n: { $gt: 5 } }] }, 0],
    [{ owner: { $all: ['a'] } }, 0],
  ]
  const states: LiveState[] = []
  for (const [selector] of selectors) states.push((await live(selector)).state)
  await commit([{ _id: 'x', n: 1, owner: 'a' }])
  expect(states.map(({ view }) => Number(view!.ids.includes('x')))).toEqual(selectors.map(([, hits]) => hits))
})

test('no query is read again while its reserve lasts, nor for what is beyond its rows', async () => {
  const sort = [{ path: 'n', descending: false }]
  const { state } = await live({ n: { $gte: -500 } }, { sort, skip: 3, limit: 10 })
  for (let n = 0; n < 16; n++) await commit([], [`d${n}`])
  expect([opened, state.view!.ids[0]]).toEqual([1, 'd19'])
  await commit(Array.from({ length: 100 }, (_, n) => ({ _id: `e${n}`, n: 1000 + n })))
  await commit([{ _id: 'd19', n: 5000 }])
  for (let turn = 0; turn < TURNS_MAX && state.view!.ids[0] === 'd19'; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  expect([opened, state.view!.ids[0]]).toEqual([2, 'd20'])
  for (let n = 0; n < 200; n++) await commit([{ _id: `f${n}`, n: -n }])
  expect([opened, state.view!.ids.at(-1)]).toEqual([2, 'f187'])
})

test('a sort that an index gives is read without reading the rest', async () => {
  const { state } = await live({}, { sort: [{ path: 'n', descending: true }], limit: 5 })
  expect(state.view!.ids).toEqual(['d299', 'd298', 'd297', 'd296', 'd295'])
})

test('rows before the window that are not held: read again only when the collection changes', async () => {
  const { state } = await live({}, { skip: SKIP_HELD_MAX + 1, limit: 10 })
  await commit([])
  expect([opened, state.view!.ids]).toEqual([1, []])
  await commit([{ _id: 'x', n: 1 }])
  await new Promise((resolve) => setTimeout(resolve))
  expect(opened).toBe(2)
})

test('a query that ends leaves the others of its collection as they are', async () => {
  const ended = await live({ n: { $gte: 5 } })
  const { work, state } = await live({ owner: 'nobody yet' })
  ended.work.close()
  await commit([{ _id: 'y', n: 1, owner: 'nobody yet' }])
  expect(state.view?.rows).toHaveLength(1)
  work.close()
})

test('sources are released', async () => {
  const { work } = await live({})
  await commit([{ _id: 'x', n: 1 }])
  work.close()
  expect(fixture.held).toBe(0)
})
