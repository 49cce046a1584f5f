/** Goal: the contract of views (docs/internals/views.md) case by case: what the random tests of this folder do not reach. */
import { describe, expect, test } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import { reducerOf } from '../../src/view/reducers.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { fromCouchOptions, toCouchResult } from '../../testing/couch-view-options.ts'
import { ROWS_MAX } from '../../src/view/mapped-rows.ts'
import type { Emit } from '../../src/view/view-definition.ts'
import { AD_HOC_VIEWS_MAX, VIEWS_MAX } from '../../src/view/view-definition.ts'
import { countingEnvironment, modelDatabase } from '../../testing/model-database.ts'

interface Person {
  city: string
  age: number
  friend?: string
}

const PEOPLE = [
  { _id: 'ann', city: 'Oslo', age: 30, friend: 'cem' },
  { _id: 'bob', city: 'Rome', age: 40, friend: 'ann' },
  { _id: 'cem', city: 'Oslo', age: 50, friend: 'nobody' },
  { _id: 'dee', city: 'Rome', age: 60 },
]

async function people(): Promise<{ db: Database; all: Collection<Person> }> {
  const db = modelDatabase()
  const all = db.collection<Person>('people')
  await all.insert(PEOPLE)
  return { db, all }
}

const byCity = (person: Person, emit: Emit<string, number>): void => emit(person.city, person.age)

describe('queries', () => {
  test('rows are typed, and reductions are', async () => {
    const { all } = await people()
    const view = all.view('byCity', { map: byCity, reduce: '_stats' })
    const { rows } = await view.query({ group: true })
    const sum: number = rows[0]!.value.sum
    const key: string | null = rows[0]!.key
    expect([key, sum]).toEqual(['Oslo', 80])
    const plain = await view.query({ reduce: false, docs: true })
    const age: number = plain.rows[0]!.value
    const friend: string | undefined = plain.rows[0]!.doc?.friend
    expect([age, friend]).toEqual([30, 'cem'])
    expect(rows[1]).toEqual({ key: 'Rome', value: { sum: 100, count: 2, min: 40, max: 60, sumsqr: 5200 } })
  })

  test('a missing collection has no rows, and a view that was never built has no rows without an update', async () => {
    const db = modelDatabase()
    const none = db.collection<Person>('none').view('v', { map: byCity, reduce: '_count' })
    expect(await none.query({ reduce: false })).toEqual({ total: 0, offset: 0, updateSeq: 0, rows: [] })
    expect((await none.query()).rows).toEqual([])
    const { all } = await people()
    const view = all.view('v', { map: byCity })
    expect(await view.query({ update: 'never' })).toEqual({ total: 0, offset: 0, updateSeq: 0, rows: [] })
    expect((await view.query({ update: 'after' })).rows).toEqual([])
    await view.update()
    expect((await view.query({ update: 'never' })).rows.length).toBe(4)
  })

  test('an update is taken in before, after, or never', async () => {
    const { all } = await people()
    const view = all.view('v', { map: byCity, reduce: '_count' })
    const count = async (update: 'before' | 'after' | 'never'): Promise<unknown> =>
      (await view.query({ update })).rows[0]?.value
    expect(await count('before')).toBe(4)
    await all.insert({ city: 'Paris', age: 1 })
    expect(await count('never')).toBe(4)
    expect((await view.info()).pending).toBe(1)
    expect(await count('after')).toBe(4)
    await view.update()
    expect(await count('never')).toBe(5)
  })

  test('linked documents, in the revision asked for', async () => {
    const { all } = await people()
    const rev = (await all.get('ann'))!._rev
    const linked = all.view('friends', {
      map: (person: Person & { _id: string }, emit: Emit) => emit(person._id, { _id: person.friend }),
    })
    const { rows } = await linked.query({ docs: true })
    expect(rows.map(({ doc }) => doc?._id)).toEqual(['cem', 'ann', undefined, 'dee'])
    expect(rows[2]!.doc).toBe(null)
    const revised = await all.mapReduce(
      { map: (_, emit: Emit) => emit(1, { _id: 'ann', _rev: '1-0' }) },
      { docs: true, limit: 1 },
    )
    expect(revised.rows[0]).toMatchObject({ doc: null })
    const second = (await all.put({ ...PEOPLE[0]!, _rev: rev, age: 31 })).rev
    const replicated = { start: 2, ids: ['0'.repeat(32), rev.slice(2)] }
    const conflict = `2-${'0'.repeat(32)}`
    await all.put({ ...PEOPLE[0]!, age: 1, _rev: conflict, _revisions: replicated }, { newEdits: false })
    for (const [at, one] of [conflict, second].entries()) {
      const map = (_: object, emit: Emit): void => emit(1, { _id: 'ann', _rev: [conflict, second][at] })
      const found = await all.mapReduce({ map, version: one }, { docs: true, limit: 1 })
      expect(found.rows[0]).toMatchObject({ doc: { _id: 'ann', _rev: one } })
    }
    const current = { map: (_: object, emit: Emit) => emit(1, { _id: 'ann' }) }
    expect((await all.mapReduce(current, { docs: true, limit: 1 })).rows[0]).toMatchObject({ doc: { _rev: second } })
  })

  test('rows() gives one after another and may be left', async () => {
    const { all } = await people()
    await all.insert(Array.from({ length: 1000 }, (_, age) => ({ city: `c${age % 10}`, age })))
    const view = all.view('v', { map: byCity, reduce: '_sum' })
    const keys: unknown[] = []
    for await (const row of view.rows({ reduce: false, gte: 'c3' })) {
      keys.push(row.key)
      if (keys.length === 300) break
    }
    expect(new Set(keys)).toEqual(new Set(['c3', 'c4', 'c5']))
    const groups: unknown[] = []
    for await (const row of view.rows({ group: true })) groups.push(row.key)
    expect(groups.length).toBe(12)
  })

  test('options that make no sense are TypeErrors', async () => {
    const { all } = await people()
    const view = all.view('v', { map: byCity, reduce: '_sum' })
    const plain = all.view('w', { map: byCity })
    for (const options of [
      { key: 1, gte: 2 },
      { keys: [1], key: 1 },
      { keys: [1] },
      { keys: [1], group: 1 },
      { keys: 'abc' },
      { skip: -1 },
      { limit: 1.5 },
      { group: 'yes' },
      { docs: true },
      { reduce: false, conflicts: true },
      { reduce: false, group: true },
      { update: 'ok' },
      { startkey: 1 },
      { descending: 1 },
      { fromId: 1 },
    ]) {
      await expect(view.query(options as never), JSON.stringify(options)).rejects.toThrow(TypeError)
      await expect(view.rows(options as never).next(), JSON.stringify(options)).rejects.toThrow(TypeError)
    }
    await expect(plain.query({ reduce: true })).rejects.toThrow(TypeError)
    await expect(plain.query({ group: true })).rejects.toThrow(TypeError)
    for (const definition of [undefined, {}, { map: 1 }, { map: byCity, reduce: '_min' }, { map: byCity, version: {} }])
      expect(() => all.view('x', definition as never)).toThrow(TypeError)
    expect(() => all.view('', { map: byCity })).toThrow(TypeError)
  })
})

describe('maps', () => {
  test('a document that map throws for is left out and reported', async () => {
    const { all, db } = await people()
    const view = all.view('v', {
      map: (person: Person & { _id: string }, emit: Emit) => {
        emit(person.city)
        if (person._id === 'cem') throw new Error('not him')
      },
    })
    expect((await view.query()).rows.map(({ id }) => id)).toEqual(['ann', 'bob', 'dee'])
    expect(await view.info()).toEqual({
      name: 'v',
      rows: 3,
      updateSeq: 4,
      pending: 0,
      failures: 1,
      lastFailure: { id: 'cem', message: 'not him' },
    })
    expect((await db.check()).problems).toEqual([])
  })

  test('keys and values are what JSON makes of them', async () => {
    const { all } = await people()
    const emitted = [
      undefined,
      NaN,
      new Date(0),
      [undefined, -0],
      { a: undefined, b: 1 },
      new Float32Array([1, 2]),
      () => 1,
    ]
    for (const one of emitted) {
      let current = one
      const { rows } = await all.mapReduce(
        {
          map: (person: Person & { _id: string }, emit: Emit) => person._id === 'ann' && emit(current, current),
          version: String(emitted.indexOf(one)),
        },
        { limit: 1 },
      )
      current = undefined
      const expected = ArrayBuffer.isView(one) ? [1, 2] : (JSON.parse(JSON.stringify(one) ?? 'null') as unknown)
      expect(rows).toEqual([{ id: 'ann', key: expected, value: expected }])
    }
    const many = all.view('many', {
      map: (_, emit: Emit) => {
        for (let at = 0; at <= ROWS_MAX; at++) emit(at)
      },
    })
    expect((await many.query()).rows).toEqual([])
    const big = all.view('big', { map: (_, emit: Emit) => emit(1n) })
    expect((await big.query()).rows).toEqual([])
    expect((await big.info()).failures).toBe(4)
  })

  test('a document whose rows would have too long a key is left out', async () => {
    const db = modelDatabase()
    const all = db.collection<{ key: string }>('all')
    await all.insert([
      { _id: '\u0001'.repeat(4000), key: 'x'.repeat(500) },
      { _id: 'y'.repeat(4000), key: 'x'.repeat(5000) },
    ])
    const view = all.view('v', { map: ({ key }, emit: Emit) => emit(key) })
    expect((await view.query()).rows).toEqual([{ id: 'y'.repeat(4000), key: 'x'.repeat(5000), value: null }])
    expect((await view.info()).failures).toBe(1)
    expect((await db.check()).problems).toEqual([])
  })

  test('what map does to a document harms nothing', async () => {
    const { all } = await people()
    const view = all.view('v', {
      map: (person: Person, emit: Emit) => {
        emit(person.city, person)
        person.city = 'nowhere'
      },
    })
    expect((await view.query({ limit: 1 })).rows[0]).toMatchObject({ key: 'Oslo', value: { city: 'Oslo' } })
    expect((await all.get('ann'))!.city).toBe('Oslo')
  })
})

describe('definitions', () => {
  test('another source or version takes the place of the one before; the same is used as it is', async () => {
    const { all, db } = await people()
    await all.view('v', { map: byCity }).query()
    let calls = 0
    const counted = (person: Person, emit: Emit<string, number>): void => {
      calls++
      emit(person.city, person.age)
    }
    await all.view('v', { map: counted }).query()
    await all.view('v', { map: counted }).query()
    expect(calls).toBe(4)
    await all.view('v', { map: counted, version: 2 }).query()
    expect(calls).toBe(8)
    expect((await all.view('v', { map: counted, version: 2, reduce: '_count' }).query()).rows[0]!.value).toBe(4)
    expect(calls).toBe(8)
    expect((await all.view('v', { map: counted, version: 2, reduce: '_sum' }).query()).rows[0]!.value).toBe(180)
    expect(calls).toBe(12)
    expect((await db.check()).problems).toEqual([])
  })

  test('a view with a version outlives the handle that made it', async () => {
    const storage = memory()
    let calls = 0
    const map = (person: Person, emit: Emit<string, number>): void => {
      calls++
      emit(person.city, person.age)
    }
    for (let handle = 0; handle < 2; handle++) {
      const db = await open('x', { storage })
      const all = db.collection<Person>('people')
      if (handle === 0) await all.insert(PEOPLE)
      const sum = all.view('v', { map, reduce: '_sum', version: 1 })
      expect((await sum.query()).rows).toEqual([{ key: null, value: 180 }])
      await db.close()
    }
    expect(calls).toBe(4)
  })

  test('drop forgets it, and the next query builds it again; a collection takes its views with it', async () => {
    const { all, db } = await people()
    const view = all.view('v', { map: byCity })
    expect(await view.drop()).toBe(false)
    await view.query()
    expect(await view.drop()).toBe(true)
    expect((await view.info()).rows).toBe(0)
    expect((await view.query()).rows.length).toBe(4)
    await db.dropCollection('people')
    expect((await view.query()).rows).toEqual([])
    await all.insert({ city: 'Rome', age: 1 })
    expect((await view.query()).rows.length).toBe(1)
    expect((await db.check()).problems).toEqual([])
  })

  test('ad-hoc queries with equal functions share what was built, and not too many are kept', async () => {
    const { all, db } = await people()
    let calls = 0
    const query = (version: number): Promise<unknown> =>
      all.mapReduce({ map: (person, emit: Emit) => emit(person.city, calls++), reduce: '_count', version })
    await Promise.all([query(0), query(0), query(0)])
    expect(calls).toBe(4)
    for (let version = 1; version < AD_HOC_VIEWS_MAX; version++) await query(version)
    calls = 0
    await query(0)
    expect(calls).toBe(0)
    await query(AD_HOC_VIEWS_MAX)
    await query(0)
    expect(calls).toBe(8)
    expect((await db.check()).problems).toEqual([])
  })

  test('there are not too many views', async () => {
    const { all } = await people()
    for (let at = 0; at < VIEWS_MAX; at++) await all.view(`v${at}`, { map: byCity, version: 1 }).update()
    await expect(all.view('more', { map: byCity, version: 1 }).query()).rejects.toMatchObject({
      code: 'PANNIER_LIMIT_EXCEEDED',
    })
  })
})

test('several handles update one view', async () => {
  const storage = memory()
  const handles = await Promise.all([open('x', { storage }), open('x', { storage }), open('x', { storage })])
  const all = handles.map((db) => db.collection<Person>('people'))
  await all[0]!.insert(Array.from({ length: 3000 }, (_, age) => ({ city: `c${age % 7}`, age })))
  await Promise.all(handles.map((db) => db.refresh()))
  const views = all.map((one) => one.view('v', { map: byCity, reduce: '_sum', version: 1 }))
  const sum = (3000 * 2999) / 2
  for (const { rows } of await Promise.all(views.map((view) => view.query()))) expect(rows[0]!.value).toBe(sum)
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      views.map(async (view, at) => {
        await all[at]!.insert({ city: 'new', age: 1 })
        expect((await view.query()).rows[0]!.value).toBeGreaterThan(sum)
      }),
    )
  }
  await Promise.all(handles.map((db) => db.refresh()))
  for (const view of views) expect((await view.query()).rows[0]!.value).toBe(sum + 15)
  expect((await handles[0]!.check()).problems).toEqual([])
  await Promise.all(handles.map((db) => db.close()))
})

test('closing the database ends an update', async () => {
  const db = await open('x', { storage: memory() })
  const all = db.collection<Person>('people')
  await all.insert(Array.from({ length: 20_000 }, (_, age) => ({ city: 'c', age })))
  const query = all
    .view('v', { map: byCity })
    .query()
    .then(
      () => undefined,
      (reason: unknown) => reason,
    )
  await db.close()
  const error = await query
  expect(isPannierError(error, 'PANNIER_ABORTED') || isPannierError(error, 'PANNIER_CLOSED')).toBe(true)
})

test('documents that were purged are taken out, also when others come in their place', async () => {
  const { all, db } = await people()
  const view = all.view('v', { map: byCity, reduce: '_count', version: 1 })
  const other = all.view('w', { map: byCity, reduce: '_sum', version: 1 })
  expect((await view.query()).rows[0]!.value).toBe(4)
  await other.query()
  await all.purge('bob')
  expect((await db.check()).problems).toEqual([])
  expect((await view.query()).rows[0]!.value).toBe(3)
  await all.purge('dee')
  await all.insert({ _id: 'dee', city: 'Rome', age: 61 })
  expect((await other.query({ group: true })).rows).toEqual([
    { key: 'Oslo', value: 80 },
    { key: 'Rome', value: 61 },
  ])
  expect((await db.check()).problems).toEqual([])
  expect((await view.query()).rows[0]!.value).toBe(3)
  expect((await view.info()).pending).toBe(0)
  expect((await db.check()).problems).toEqual([])
})

test('conflicts are what a map sees, and what rows tell', async () => {
  const { all } = await people()
  const first = (await all.get('ann'))!._rev
  await all.put({ ...PEOPLE[0]!, _rev: first, age: 31 })
  const view = all.view('conflicts', {
    map: (person: Person & { _conflicts?: string[] }, emit: Emit) => person._conflicts && emit(person._conflicts),
  })
  expect((await view.query()).rows).toEqual([])
  const [, hash] = first.split('-')
  const replicated = { start: 2, ids: ['0'.repeat(32), hash!] }
  await all.put({ ...PEOPLE[0]!, age: 1, _rev: `2-${'0'.repeat(32)}`, _revisions: replicated }, { newEdits: false })
  const { rows } = await view.query({ docs: true, conflicts: true })
  expect(rows.length).toBe(1)
  expect(rows[0]!.doc).toMatchObject({ _conflicts: rows[0]!.key })
})

describe('built-in reductions', () => {
  const reduce = async (name: '_sum' | '_stats' | '_approx_count_distinct', values: unknown[]): Promise<unknown> => {
    const db = modelDatabase()
    const all = db.collection<{ value: unknown }>('all')
    await all.insert(values.map((value) => ({ value })))
    return (await all.mapReduce({ map: ({ value }, emit: Emit) => emit(value, value), reduce: name })).rows[0]!.value
  }

  test('_sum adds numbers, arrays and objects, and puts an error where it can not', async () => {
    expect(await reduce('_sum', [1, 2.5, -4])).toBe(-0.5)
    expect(await reduce('_sum', [1, [1, 2], [1, 1, 1]])).toEqual([3, 3, 1])
    expect(
      await reduce('_sum', [
        { b: 1, a: { x: 1 } },
        { a: { x: 2, y: [1] }, c: 3 },
      ]),
    ).toEqual({
      a: { x: 3, y: [1] },
      b: 1,
      c: 3,
    })
    for (const values of [['a'], [1, 'a'], [1, { a: 1 }], [[1], ['a']], [null], [{ a: 'x' }], [{ a: 1 }, { a: 'x' }]])
      expect(await reduce('_sum', values)).toMatchObject({ error: 'builtin_reduce_error' })
    expect(await reduce('_sum', [1, 'a', 2])).toMatchObject({ caused_by: 'a' })
  })

  test('_stats takes numbers, arrays of them, and statistics', async () => {
    const one = { sum: 4, count: 2, min: 1, max: 3, sumsqr: 10 }
    expect(await reduce('_stats', [1, 3])).toEqual(one)
    expect(await reduce('_stats', [one, 1])).toEqual({ sum: 5, count: 3, min: 1, max: 3, sumsqr: 11 })
    expect(
      await reduce('_stats', [
        [1, 2],
        [3, 2],
      ]),
    ).toEqual([one, { sum: 4, count: 2, min: 2, max: 2, sumsqr: 8 }])
    for (const values of [['a'], [1, 'a'], [1, [1]], [[1], [1, 2]], [{ sum: 1 }]])
      expect(await reduce('_stats', values)).toMatchObject({ error: 'builtin_reduce_error' })
  })

  test('_approx_count_distinct counts distinct keys, exactly', async () => {
    expect(
      await reduce('_approx_count_distinct', [1, 2, 1, 'a', 'a', [1], null, 'x'.repeat(3000), 'x'.repeat(3000)]),
    ).toBe(6)
  })

  test('stored reductions are what was encoded', () => {
    for (const [name, values] of [
      ['_sum', [0, 7, -3, 1.5, 1e300, [1, 2], { a: 1 }, { error: 'builtin_reduce_error', reason: 'x' }]],
      [
        '_stats',
        [{ sum: 1.5, count: 2, min: -1, max: 2.5, sumsqr: 7.25 }, [{ sum: 1, count: 1, min: 1, max: 1, sumsqr: 1 }]],
      ],
      ['_approx_count_distinct', [{ count: 300, first: '\0\xff345678', last: 'abcdefgh' }]],
    ] as const) {
      const reducer = reducerOf(name)
      for (const value of values) expect(reducer.decode(reducer.encode(value))).toEqual(value)
    }
  })
})

test("CouchDB's names", () => {
  expect(fromCouchOptions({ startkey: 1, endkey: 2, startkey_docid: 'a', endkey_docid: 'b' })).toEqual({
    gte: 1,
    lte: 2,
    fromId: 'a',
    toId: 'b',
  })
  expect(
    fromCouchOptions({
      start_key: 2,
      end_key: 1,
      descending: true,
      inclusive_end: false,
      startkey_docid: 'a',
      skip: 1,
    }),
  ).toEqual({ lte: 2, gt: 1, toId: 'a', descending: true, skip: 1 })
  expect(fromCouchOptions({ key: null, startkey: 5, include_docs: true, stale: 'ok' })).toEqual({
    key: null,
    docs: true,
    update: 'never',
  })
  expect(fromCouchOptions({ startkey: null, group_level: 2, stale: 'update_after' })).toEqual({
    gte: null,
    group: 2,
    update: 'after',
  })
  expect(fromCouchOptions({ group: true, group_level: 2, update: false, endkey_docid: 'x' })).toEqual({
    group: true,
    update: 'never',
  })
  expect(() => fromCouchOptions({ startkey: 2, endkey: 1 })).toThrow(TypeError)
  const rows = [{ id: 'a', key: 1, value: 2 }]
  expect(toCouchResult({ total: 5, offset: 2, updateSeq: 9, rows }, { update_seq: true })).toEqual({
    total_rows: 5,
    offset: 2,
    update_seq: 9,
    rows,
  })
  expect(toCouchResult({ updateSeq: 9, rows: [{ key: null, value: 1 }] })).toEqual({ rows: [{ key: null, value: 1 }] })
})

describe('functions are who they are, not what their text says', () => {
  const of = (city: string): { map: (person: Person, emit: Emit<string, number>) => void } => ({
    map: (person, emit) => {
      if (person.city === city) emit(person.city, person.age)
    },
  })
  const agesIn = async (all: Collection<Person>, city: string): Promise<number[]> =>
    (await all.mapReduce(of(city))).rows.map(({ value }) => value)

  test('two questions that captured different values have their own answers, one after another, at once, and after a restart', async () => {
    const storage = memory()
    for (let run = 0; run < 2; run++) {
      const db = await open('x', { storage })
      const all = db.collection<Person>('people')
      if (run === 0) await all.insert(PEOPLE)
      expect([await agesIn(all, 'Oslo'), await agesIn(all, 'Rome')]).toEqual([
        [30, 50],
        [40, 60],
      ])
      const cities = Array.from({ length: 100 }, (_, at) => ['Oslo', 'Rome'][at % 2]!)
      const answers = await Promise.all(cities.map((city) => agesIn(all, city)))
      expect(answers).toEqual(cities.map((city) => (city === 'Oslo' ? [30, 50] : [40, 60])))
      await db.close()
    }
  })

  test('so have views of one name, bound functions and reduces, and nothing of them is stored', async () => {
    const storage = memory()
    const db = await open('x', { storage })
    const all = db.collection<Person>('people')
    await all.insert(PEOPLE)
    for (const city of ['Oslo', 'Rome', 'Oslo'])
      expect((await all.view('mine', of(city)).query()).rows.map(({ key }) => key)).toEqual([city, city])
    function boundMap(this: string, person: Person, emit: Emit<string, number>): void {
      if (person.city === this) emit(person.city, person.age)
    }
    for (const city of ['Oslo', 'Rome'])
      expect((await all.mapReduce({ map: boundMap.bind(city) })).rows[0]!.key).toBe(city)
    for (const version of [undefined, 1]) {
      for (const times of [1, 2]) {
        const reduce = (_: unknown, values: number[]): number => times * values.reduce((sum, value) => sum + value, 0)
        const definition = { map: byCity, reduce, ...(version && { version }) }
        expect((await all.mapReduce(definition as never)).rows[0]!.value).toBe(times * 180)
      }
    }
    const again = await open('x', { storage })
    const info = await again.collection<Person>('people').view('mine', of('Oslo')).info()
    expect(info).toMatchObject({ rows: 0, updateSeq: 0, pending: 4 })
    await Promise.all([db.close(), again.close()])
  })

  test('a view without a version follows updates, deletes and purges of any handle, as a kept one does', async () => {
    const storage = memory()
    const [db, other] = [await open('x', { storage }), await open('x', { storage })]
    const all = db.collection<Person>('people')
    const views = [undefined, 1].map((version) => all.view(`v${version}`, { map: byCity, ...(version && { version }) }))
    const check = async (): Promise<void> => {
      const found = (await all.find().toArray()).map(({ city, age }) => `${city} ${age}`).sort()
      for (const view of views) {
        const { rows } = await view.query()
        expect(rows.map(({ key, value }) => `${key} ${value}`).sort()).toEqual(found)
        expect((await view.info()).pending).toBe(0)
      }
    }
    const elsewhere = other.collection<Person>('people')
    const steps: (() => Promise<unknown>)[] = [
      () => all.insert(PEOPLE),
      () => elsewhere.update('ann', { age: 31 }),
      () => elsewhere.purge('bob'),
      () => all.insert({ _id: 'bob', city: 'Rome', age: 41 }),
      () => all.delete('cem'),
      () => all.purge('cem'),
      () => Promise.all([all.purge('dee'), all.insert({ city: 'Paris', age: 1 })]),
      () => db.dropCollection('people'),
      () => all.insert(PEOPLE),
    ]
    for (const step of steps) {
      await step()
      await Promise.all([db.refresh(), other.refresh()])
      await check()
    }
    await Promise.all([db.close(), other.close()])
  })

  test('a private view that is cancelled and purged meanwhile ends right', async () => {
    // The build gives the thread away, and reports, however quick the machine is.
    const db = await open('x', { storage: memory(), environment: countingEnvironment() })
    const all = db.collection<Person>('people')
    await all.insert(Array.from({ length: 3000 }, (_, age) => ({ _id: `p${age}`, city: 'c', age })))
    const view = all.view('v', { map: byCity, reduce: '_count' })
    const stop = new AbortController()
    await expect(view.query({ signal: stop.signal, onProgress: () => stop.abort() })).rejects.toMatchObject({
      code: 'PANNIER_ABORTED',
    })
    await all.purge('p0')
    expect((await view.query()).rows[0]!.value).toBe(2999)
    await db.close()
  })
})
