/** Goal: a filtered feed looks where an index or ids tell it to exactly when that is cheaper by the counts, and never misses. */
import { expect, test } from 'vitest'
import { parseSelector } from '../../src/query/ast/parse-selector.ts'
import { normalise } from '../../src/query/ast/normalise.ts'
import { findCandidates } from '../../src/query/change-feed/change-candidates.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { QueryFixture } from '../../testing/query-fixture.ts'

const COUNT = 2000

async function fixture(missChance: number): Promise<QueryFixture> {
  const items = new QueryFixture(modelKeyValueStore({ seed: 3, missChance }), ['n', { on: 'tags', multi: true }])
  const documents = Array.from({ length: COUNT }, (_, n) => ({
    _id: `d${n}`,
    n,
    tags: [`t${n % 100}`],
    odd: n % 2 === 1,
  }))
  await items.upsert(documents)
  return items
}

async function candidates(
  items: QueryFixture,
  selector: object | undefined,
  since: number,
  ids?: readonly string[],
): Promise<number[] | undefined> {
  const source = items.source()
  const condition = selector && normalise(parseSelector(selector))
  const filters = { condition, ids: ids && new Set(ids), accept: undefined }
  const end = source.documents.bodies.lastNumber
  try {
    return await source.attempt(findCandidates(source, filters, since, end))
  } finally {
    source.release()
  }
}

for (const missChance of [0, 0.5]) {
  test(`candidates by counts${missChance > 0 ? ', with misses' : ''}`, async () => {
    const items = await fixture(missChance)
    expect(await candidates(items, { n: 7 }, 0)).toEqual([8])
    expect(await candidates(items, { tags: 't9' }, 0)).toHaveLength(20)
    expect(await candidates(items, { tags: 't9' }, 1000)).toHaveLength(10)
    expect(await candidates(items, { $or: [{ n: 3 }, { tags: 't9' }] }, 0)).toHaveLength(21)
    expect(await candidates(items, { n: { $in: [] } }, 0)).toEqual([])
    // What lies after `since` is less.
    expect(await candidates(items, { tags: 't9' }, COUNT - 100)).toBeUndefined()
    expect(await candidates(items, { n: { $gte: 1000 } }, 0)).toBeUndefined()
    expect(await candidates(items, { odd: true }, 0)).toBeUndefined()
    expect(await candidates(items, undefined, 0)).toBeUndefined()
    expect(await candidates(items, undefined, 0, ['d5', 'none', 'd1'])).toEqual([2, 6])
    // An update has a number of its own.
    await items.upsert([{ _id: 'd7', n: 7 }])
    expect(await candidates(items, { n: 7 }, 0)).toEqual([COUNT + 1])
    // Tombstones are in no index: each is a candidate.
    await items.delete(['d9', 'd8'])
    expect(await candidates(items, { n: 7 }, 0)).toEqual([COUNT + 1, COUNT + 2, COUNT + 3])
    await items.delete(Array.from({ length: 500 }, (_, at) => `d${100 + at}`))
    expect(await candidates(items, { n: 7 }, 0)).toBeUndefined()
    expect(items.held).toBe(0)
  })
}
