/**
 * Random selectors answered by Pannier, by the planner and by a scan of all documents, in memory and in an SQLite file, and by
 * pouchdb-find, on the same documents. Generated is only what both define alike;
 * docs/internals/query-planner.md lists where we differ, and why.
 */
import memoryAdapter from 'pouchdb-adapter-memory'
import PouchDB from 'pouchdb-core'
import pouchdbFind from 'pouchdb-find'
import { expect, test } from 'vitest'
import { seededChoose, type Choose } from '../../testing/query-cases.ts'
import { QueryFixture, type Document } from '../../testing/query-fixture.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { keyValueStoreIn, sqliteKeyValueStores } from '../key-value-stores.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

interface FindDatabase {
  bulkDocs(documents: readonly Document[]): Promise<unknown>
  createIndex(definition: { readonly index: { readonly fields: readonly string[] } }): Promise<unknown>
  find(request: object): Promise<{ readonly docs: readonly { readonly _id: string }[] }>
  destroy(): Promise<unknown>
}

PouchDB.plugin(memoryAdapter)
PouchDB.plugin(pouchdbFind)

const inFile = sqliteKeyValueStores()

const DOCUMENTS = 60
const QUERIES = 150

/** `n` and `s` are always there and no arrays; `tags` and `items` are arrays of one kind; `any` is anything, or missing. */
function documentsOf(choose: Choose): Document[] {
  const words = ['a', 'ab', 'abc', 'b', 'ba', 'c']
  return Array.from({ length: DOCUMENTS }, (_, at) => {
    const some = <T>(make: () => T): T[] => Array.from({ length: choose(4) }, make)
    const any = [null, true, false, 0, 7, 'b', { x: 1 }, [1, 'a'], []][choose(10)]
    return {
      _id: `d${String(at).padStart(2, '0')}`,
      n: choose(12) - 3,
      s: words[choose(words.length)]!,
      tags: some(() => words[choose(words.length)]!),
      items: some(() => ({ x: choose(5), y: words[choose(words.length)]! })),
      ...(any === undefined ? {} : { any }),
    }
  })
}

function pick<T>(choose: Choose, from: readonly T[]): T {
  return from[choose(from.length)]!
}

function numberCondition(choose: Choose): object {
  const value = choose(12) - 3
  const [operator, operand] = pick<readonly [string, unknown]>(choose, [
    ['$eq', value],
    ['$ne', value],
    ['$gt', value],
    ['$gte', value],
    ['$lt', value],
    ['$lte', value],
    ['$in', [value, value + 2, 5]],
    ['$nin', [value, 4]],
    ['$mod', [choose(3) + 2, choose(2)]],
    ['$type', pick(choose, ['number', 'string'])],
  ])
  return { [operator]: operand }
}

function stringCondition(choose: Choose): object {
  const value = pick(choose, ['a', 'ab', 'b', 'bb', 'c'])
  const [operator, operand] = pick<readonly [string, unknown]>(choose, [
    ['$eq', value],
    ['$ne', value],
    ['$gt', value],
    ['$lte', value],
    ['$in', [value, 'abc']],
    ['$nin', [value, 'ba']],
    ['$regex', pick(choose, ['^a', 'b$', '^(a|b)+$', 'a.?c', '^ab'])],
    ['$type', pick(choose, ['number', 'string'])],
  ])
  return { [operator]: operand }
}

function arrayCondition(choose: Choose): readonly [string, object] {
  const word = (): string => pick(choose, ['a', 'ab', 'b', 'c'])
  const item = (): object => (choose(2) === 0 ? { x: numberCondition(choose) } : { y: { $gt: word() }, x: { $lt: 3 } })
  return pick<readonly [string, object]>(choose, [
    ['tags', { $all: [word(), word()] }],
    ['tags', { $in: [word(), word()] }],
    ['tags', { $nin: [word()] }],
    ['tags', { $size: choose(4) }],
    ['tags', { $elemMatch: stringCondition(choose) }],
    ['tags', { $allMatch: stringCondition(choose) }],
    ['items', { $elemMatch: item() }],
    ['items', { $allMatch: item() }],
    ['items', { $size: choose(3) }],
    ['any', { $type: pick(choose, ['null', 'boolean', 'number', 'string', 'array', 'object']) }],
    ['any', { $exists: choose(2) === 0 }],
    ['any', { $size: choose(3) }],
  ])
}

/** At most one operator for each field, which pouchdb-find's merging of conditions does not get wrong. */
function selectorOf(choose: Choose): Record<string, unknown> {
  const selector: Record<string, unknown> = {}
  if (choose(3) > 0) selector['n'] = numberCondition(choose)
  if (choose(3) === 0) selector['s'] = stringCondition(choose)
  if (choose(2) === 0) {
    const [field, condition] = arrayCondition(choose)
    selector[field] = condition
  }
  const inner = (): object => (choose(2) === 0 ? { n: numberCondition(choose) } : { s: stringCondition(choose) })
  const combination = choose(8)
  if (combination === 0) selector['$or'] = [inner(), inner()]
  if (combination === 1) selector['$nor'] = [inner(), inner()]
  if (combination === 2) selector['$not'] = inner()
  if (combination === 3) return { $and: [selector, { _id: { $gt: 'd1' } }] }
  return Object.keys(selector).length === 0 ? { n: { $gte: -3 } } : selector
}

test.each(seedsOf('diff'))('pouchdb-find gives the same answers, seed %i', async (seed) => {
  const choose = seededChoose(seed)
  const documents = documentsOf(choose)
  const pouch = new PouchDB(`find ${seed}`, { adapter: 'memory' }) as unknown as FindDatabase
  await pouch.bulkDocs(documents)
  for (const fields of [['n'], ['s']]) await pouch.createIndex({ index: { fields } })
  const indexes = ['n', ['s', 'n'], { on: 'tags', multi: true }].filter(() => choose(3) > 0)
  const stores = [modelKeyValueStore({ seed, missChance: 0.3 }), await keyValueStoreIn(memory()), await inFile()]
  const fixtures = stores.map((store) => new QueryFixture(store, indexes))
  for (const fixture of fixtures) {
    await fixture.upsert(documents)
    await fixture.store.checkpoint()
  }
  for (let at = 0; at < QUERIES; at++) {
    const selector = selectorOf(choose)
    const what = JSON.stringify(selector)
    const { docs } = await pouch.find({ selector, limit: DOCUMENTS })
    const expected = docs.map(({ _id }) => _id).sort()
    for (const query of fixtures.flatMap((fixture) => [fixture.find(selector), fixture.scan(selector)])) {
      const found = await query.sort('_id').toArray()
      expect([what, found.map(({ _id }) => _id)]).toEqual([what, expected])
    }
    // Only these conditions let pouchdb-find use the index that it needs to sort by.
    if (!/^\$(eq|[gl]te?)$/.test(Object.keys(selector['n'] ?? {})[0] ?? '')) continue
    const [skip, limit, descending] = [choose(5), 1 + choose(9), choose(2) === 0]
    // It skips and limits before it has dropped the rows at the end of a range, so that is done here.
    const all = await pouch.find({ selector, sort: [{ n: descending ? 'desc' : 'asc' }], limit: DOCUMENTS })
    const sorted = all.docs.slice(skip, skip + limit)
    const order = descending ? ['-n', '-_id'] : ['n', '_id']
    for (const query of fixtures.flatMap((fixture) => [fixture.find(selector), fixture.scan(selector)])) {
      const page = await query
        .sort(...order)
        .skip(skip)
        .limit(limit)
        .toArray()
      expect([what, page.map(({ _id }) => _id)]).toEqual([what, sorted.map(({ _id }) => _id)])
    }
  }
  for (const { store } of fixtures) await store.close()
  await pouch.destroy()
})
