/** Goal: a collection on demand has the rows that its queries ask for, and each query shows what it would show with all rows. */
import {
  and,
  BasicIndex,
  createCollection,
  createLiveQueryCollection,
  eq,
  gt,
  gte,
  inArray,
  isNull,
  isUndefined,
  like,
  lt,
  lte,
  not,
  or,
} from '@tanstack/db'
import { expect, test } from 'vitest'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { seededRandom, type Random } from '../../db/testing/random.ts'
import { aMoment, eventually } from '../../db/testing/suite.ts'
import { seedsOf } from '../../../tools/test/seeds.ts'
import { pannierCollectionOptions } from '../src/index.ts'
import { cities, collectionOf, heard, openTab, withPeople, type People, type Tab } from './people.ts'

function onDemandOf(tab: Tab): People {
  return collectionOf(tab, { syncMode: 'on-demand', autoIndex: 'eager', defaultIndexType: BasicIndex })
}

function livingIn(people: People, city: string) {
  return createLiveQueryCollection((query) =>
    query.from({ person: people }).where(({ person }) => eq(person.city, city)),
  )
}

test('only the rows that a query asks for are loaded', async () => {
  await using tab = await withPeople()
  const people = onDemandOf(tab)
  const inOslo = livingIn(people, 'Oslo')
  await inOslo.preload()
  expect([inOslo.toArray.map(({ _id }) => _id), cities(people)]).toEqual([['ann'], { ann: 'Oslo' }])
})

test('rows that come to match are shown, and rows that no query asks for any more are gone', async () => {
  await using tab = await withPeople()
  const people = onDemandOf(tab)
  const [inOslo, inRome] = [livingIn(people, 'Oslo'), livingIn(people, 'Rome')]
  await Promise.all([inOslo.preload(), inRome.preload()])
  await tab.people.update('ann', { city: 'Rome' })
  await eventually(() => inRome.has('ann'))
  expect([inOslo.size, cities(people)]).toEqual([0, { ann: 'Rome', bob: 'Rome' }])
  await tab.people.update('bob', { city: 'Bonn' })
  await eventually(() => !people.has('bob'))
  await inRome.cleanup()
  expect(cities(people)).toEqual({})
})

test('a limited query loads the rows up to its last one, and a longer one those after it', async () => {
  await using tab = await openTab()
  const rows = Array.from({ length: 200 }, (_, n) => ({ _id: `p${n}`, name: `${n}`, city: 'Oslo', age: n >> 1 }))
  await tab.people.insert(rows)
  const people = onDemandOf(tab)
  const youngest = createLiveQueryCollection((query) =>
    query
      .from({ person: people })
      .orderBy(({ person }) => (person as unknown as { age: number }).age)
      .limit(5),
  )
  await youngest.preload()
  expect([youngest.size, people.size]).toEqual([5, 6])
  await youngest.utils.setWindow({ offset: 50, limit: 5 })
  expect(youngest.size).toBe(5)
  expect(people.size).toBeLessThan(80)
  await tab.people.insert({ _id: 'new', name: 'New', city: 'Oslo', age: 1 } as never)
  await eventually(() => people.has('new'))
  await youngest.cleanup()
  expect(people.size).toBe(0)
})

test('a write is shown at once and without a flicker, and leaves if no query asks for its row', async () => {
  await using tab = await withPeople()
  const people = onDemandOf(tab)
  const inOslo = livingIn(people, 'Oslo')
  await inOslo.preload()
  const batches = heard(inOslo as unknown as People)
  const inserted = people.insert([
    { _id: 'cid', name: 'Cid', city: 'Oslo' },
    { _id: 'dan', name: 'Dan', city: 'Bonn' },
  ])
  expect(cities(people)).toEqual({ ann: 'Oslo', cid: 'Oslo', dan: 'Bonn' })
  await inserted.when('settled')
  expect(cities(people)).toEqual({ ann: 'Oslo', cid: 'Oslo' })
  expect(inOslo.get('cid')).toMatchObject({ _rev: (await tab.people.get('cid'))!._rev, $synced: true })
  await people.update('cid', (row) => void (row.city = 'Rome')).when('settled')
  await people.delete('ann').when('settled')
  await aMoment()
  expect([cities(people), inOslo.size, await tab.people.get('ann')]).toEqual([{}, 0, undefined])
  expect(batches.flat()).toEqual(['insert cid Oslo', 'update cid Oslo', 'delete cid Oslo', 'delete ann Oslo'])
})

test('a write while nothing is asked for is stored and settles', async () => {
  await using tab = await withPeople()
  const people = onDemandOf(tab)
  await people.insert({ _id: 'cid', name: 'Cid', city: 'Bonn' }).when('settled')
  expect([people.size, await tab.people.get('cid')]).toMatchObject([0, { city: 'Bonn' }])
})

test('after the end of the database the rows stay, and a new query fails with our error', async () => {
  const tab = await withPeople()
  const people = onDemandOf(tab)
  const inOslo = livingIn(people, 'Oslo')
  await inOslo.preload()
  await tab.db.close()
  await aMoment()
  expect([people.status, cities(people)]).toEqual(['ready', { ann: 'Oslo' }])
  await expect(livingIn(people, 'Rome').preload()).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
})

interface Thing {
  readonly a?: unknown
  readonly b?: unknown
  /** TanStack DB has no order of values of several types. */
  readonly number?: number | null
  readonly text?: string | null
  readonly c?: { readonly d?: unknown } | null
}

const VALUES = [0, 1, 2, 3, -1, 2.5, 'a', 'b', 'ä', 'B', '2', '', '\u{1f600}', '\uffee', true, false, null, undefined]

function thingOf(random: Random): Thing {
  // Most values of a field are of one type.
  const number = () => (random.chance(0.8) ? random.below(6) : random.pick(VALUES))
  const text = () => (random.chance(0.8) ? random.pick(['a', 'b', 'ab', 'c', 'B']) : random.pick(VALUES))
  const known = ([, value]: readonly [string, unknown]): boolean => value !== undefined
  const ordered = ['number', 'text'].map((name, at) => {
    const values = VALUES.filter((value) => typeof value === (at === 0 ? 'number' : 'string'))
    return [name, random.chance(0.7) ? random.pick(values) : random.pick([null, undefined])] as const
  })
  const c = random.chance(0.2) ? null : Object.fromEntries([['d', number()] as const].filter(known))
  return Object.fromEntries(
    [['a', number()] as const, ['b', text()] as const, ['c', c] as const, ...ordered].filter(known),
  )
}

type Refs = { readonly [Name in 'a' | 'b' | 'number' | 'text']: never } & { readonly c: { readonly d: never } }

/** A condition, as a function of the row that a query is about. */
function conditionOf(random: Random, depth = 2): (row: Refs) => never {
  if (depth > 0 && random.chance(0.4)) {
    const [left, right] = [conditionOf(random, depth - 1), conditionOf(random, depth - 1)]
    const connective = random.below(3)
    if (connective === 0) return (row) => and(left(row), right(row)) as never
    return connective === 1 ? (row) => or(left(row), right(row)) as never : (row) => not(left(row)) as never
  }
  const field = random.pick([(row: Refs) => row.a, (row: Refs) => row.b, (row: Refs) => row.c.d])
  const kind = random.below(4)
  const compared = random.pick([eq, gt, gte, lt, lte] as const)
  const value = random.pick(VALUES.filter((one) => one !== undefined && one !== null)) as never
  const isEmpty = random.pick([isNull, isUndefined])
  if (kind === 0) return (row) => isEmpty(field(row)) as never
  if (kind === 1) return (row) => like(field(row), 'a%') as never
  const list = [value, random.pick(VALUES) as never]
  if (kind === 2) return (row) => inArray(field(row), list) as never
  return random.chance(0.5)
    ? (row) => compared(field(row), value) as never
    : (row) => compared(value, field(row)) as never
}

for (const seed of seedsOf('diff', 10))
  test(`each query shows the same as with all rows: seed ${seed}`, async () => {
    const random = seededRandom(seed)
    await using db = await open('x', { storage: memory() })
    const things = db.collection<Thing>('things', random.chance(0.5) ? { indexes: ['a', 'c.d', 'number', 'text'] } : {})
    let added = 0
    const add = () => things.insert({ _id: `t${added++}`, ...thingOf(random) })
    for (let n = 0; n < 60; n++) await add()
    const settings = { db, collection: things, autoIndex: 'eager', defaultIndexType: BasicIndex } as const
    const stringSort = random.chance(0.5) ? { defaultStringCollation: { stringSort: 'lexical' } as const } : {}
    const collections = [
      createCollection(pannierCollectionOptions({ ...settings, ...stringSort })),
      createCollection(pannierCollectionOptions({ ...settings, ...stringSort, syncMode: 'on-demand' })),
    ]
    const queries = Array.from({ length: 4 }, () => {
      const condition = random.chance(0.8) ? conditionOf(random) : undefined
      const field = random.pick([(row: Refs) => row.number, (row: Refs) => row.text])
      const isOrdered = random.chance(0.7)
      const direction = random.pick(['asc', 'desc'] as const)
      const window = { offset: random.below(2) * random.below(8), limit: 1 + random.below(12) }
      return {
        isOrdered,
        description: [isOrdered, direction, window, condition?.toString(), field.toString()],
        shown: collections.map((collection) =>
          createLiveQueryCollection((query) => {
            let built = query.from({ row: collection })
            if (condition !== undefined) built = built.where(({ row }) => condition(row as never))
            if (!isOrdered) return built
            return built
              .orderBy(({ row }) => field(row as never), direction)
              .orderBy(({ row }) => row._id)
              .offset(window.offset)
              .limit(window.limit)
          }),
        ),
      }
    })
    const differing = (): unknown[] =>
      queries.flatMap(({ shown, isOrdered, description }) => {
        const rows = shown.map(({ toArray }) => toArray.map(({ _id, _rev }) => `${_id} ${_rev}`))
        const [all, some] = rows.map((ids) => (isOrdered ? ids : ids.sort()).join())
        return all === some ? [] : [{ description, all, some }]
      })
    for (const { shown } of queries) for (const one of shown) await one.preload()
    expect(differing()).toEqual([])
    for (let step = 0; step < 30; step++) {
      const id = `t${random.below(added)}`
      const action = random.below(5)
      if (action === 0) await add()
      else if (action === 1) await things.delete(id).catch(() => {})
      else if (action === 2 && collections[1]!.has(id)) {
        const values = thingOf(random)
        await collections[1]!.update(id, (row) => void Object.assign(row, values)).when('settled')
      } else if (action === 3 && random.chance(0.3)) {
        const window = { offset: random.below(10), limit: 1 + random.below(15) }
        for (const { shown, isOrdered } of queries)
          if (isOrdered) for (const one of shown) await one.utils.setWindow(window)
      } else await things.put({ ...(await things.get(id)), _id: id, ...thingOf(random) } as never).catch(() => {})
      await eventually(() => differing().length === 0)
    }
    for (const { shown } of queries) for (const one of shown) await one.cleanup()
    expect(collections[1]!.size).toBe(0)
  })
