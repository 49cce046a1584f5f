/**
 * Goal: groups and aggregates are what comes out of all records that the actor may list. Method: random applications, with values
 * that are missing; the model computes with arrays, from the list itself.
 */
import { selectionQuery } from 'pannier/internal'
import { expect, test } from 'vitest'
import { seedsOf } from '../../../../../tools/test/seeds.ts'
import { seededRandom, type Random } from '../../../../db/testing/random.ts'
import { recordsName } from '../../../src/definitions/definition.ts'
import { ServiceError } from '../../../src/gateway/service-error.ts'
import type { ListOptions, RecordJson } from '../../../src/records/record-types.ts'
import { askedOf } from './parity/answer.ts'
import { randomApp, randomRequest } from './random-app.ts'
import { actorOf, makeWorld } from './read-world.ts'

const RECORDS_MAX = 40
const REQUESTS = 60
const FIELDS = ['t', 'n', 'b', 'k', 'one', 'id']

function some(random: Random, from: readonly string[], most: number): string[] {
  return [...new Set(Array.from({ length: random.below(most + 1) }, () => random.pick(from)))]
}

function randomAggregates(random: Random): Pick<ListOptions, 'group' | 'aggregate' | 'sort'> {
  const group = some(random, FIELDS, 3)
  const wanted = some(random, ['count', 'sum:n', 'avg:n', 'min:n', 'max:n', 'min:t', 'max:t', 'min:b', 'max:k'], 4)
  const sorts = [...group.map((name) => `group.${name}`), ...wanted.map((one) => one.replace(':', '.'))]
  const first = sorts.length === 0 ? [] : [random.pick(['', '-']) + random.pick(sorts)]
  // A total order.
  const sort = random.chance(0.5) ? [...first, ...group.map((name) => `group.${name}`)].join(',') : ''
  return { group: group.join(','), ...(wanted.length === 0 ? {} : { aggregate: wanted.join(',') }), sort }
}

type Value = string | number | boolean

function expected(
  records: readonly RecordJson[],
  { group = '', aggregate = 'count', sort = '' }: ListOptions,
): RecordJson[] {
  const names = group === '' ? [] : group.split(',')
  const groups = new Map<string, RecordJson[]>(names.length === 0 ? [['[]', []]] : [])
  for (const record of records) {
    const key = JSON.stringify(names.map((name) => record[name]))
    groups.set(key, [...(groups.get(key) ?? []), record])
  }
  const items = [...groups].map(([key, members]) => {
    const values = JSON.parse(key) as unknown[]
    const item: Record<string, Record<string, unknown> | number> = {
      group: Object.fromEntries(names.map((name, at) => [name, values[at]])),
    }
    for (const one of aggregate.split(',')) {
      const [operator = '', field = ''] = one.split(':')
      const of = members.map((member) => member[field] as Value).toSorted(compare)
      const sum = (of as number[]).reduce((total, value) => total + value, 0)
      if (operator === 'count') item['count'] = members.length
      else {
        const result = {
          sum,
          avg: of.length === 0 ? null : sum / of.length,
          min: of[0] ?? null,
          max: of.at(-1) ?? null,
        }
        item[operator] = { ...(item[operator] as object), [field]: result[operator as 'sum'] }
      }
    }
    return item
  })
  const keys = sort === '' ? names.map((name) => `group.${name}`) : sort.split(',')
  const read = (item: (typeof items)[number], key: string): Value => {
    const [kind = '', field = ''] = key.replace('-', '').split('.')
    return (kind === 'count' ? item['count'] : (item[kind] as Record<string, unknown>)[field]) as Value
  }
  return items.toSorted((one, other) => {
    for (const key of keys) {
      const sign = compare(read(one, key), read(other, key))
      if (sign !== 0) return key.startsWith('-') ? -sign : sign
    }
    return 0
  })
}

function compare(one: Value, other: Value): number {
  return one < other ? -1 : one > other ? 1 : 0
}

test('groups and aggregates are those of all records that the actor may list', async () => {
  let several = 0
  for (const seed of seedsOf('model')) {
    const random = seededRandom(seed)
    const app = randomApp(random, RECORDS_MAX)
    const isWhole = random.chance(0.5)
    const records = Object.fromEntries(
      Object.entries(app.records).map(([name, rows]) => [
        name,
        rows.map((row) =>
          Object.fromEntries(Object.entries(row).filter(([key]) => isWhole || key === 'id' || !random.chance(0.1))),
        ),
      ]),
    )
    await using world = await makeWorld(app.definitions, records)
    for (const { id } of app.definitions) {
      const indexes = [['t', 'n'], ['k', 'one'], 'n', 'b', 't', 'k', 'one'].filter(() => random.chance(0.4))
      await world.database.collection<object>(recordsName({ id }), { indexes: indexes as never }).ready()
    }
    for (let i = 0; i < REQUESTS; i++) {
      const { actor, collection, options } = askedOf(records, randomRequest(random, app))
      const { filter = '' } = options
      const asked = { filter, ...randomAggregates(random) }
      let list
      try {
        list = await world.reads.list(actor, collection, { filter, perPage: 1000 })
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        await expect(world.reads.list(actor, collection, asked)).rejects.toMatchObject({ code: error.code })
        continue
      }
      const all = expected(list.items, asked)
      const [page, perPage] = [1 + random.below(2), 1 + random.below(20)]
      const found = await world.reads.list(actor, collection, { ...asked, page, perPage })
      expect([seed, asked, found]).toEqual([
        seed,
        asked,
        {
          items: all.slice((page - 1) * perPage, page * perPage),
          page,
          perPage,
          totalItems: all.length,
          totalPages: Math.ceil(all.length / perPage),
        },
      ])
      if (all.length > 1) several++
    }
  }
  expect(several).toBeGreaterThan(REQUESTS / 3)
})

test('nobody groups by, aggregates or sorts what is hidden', async () => {
  const fields = [
    { name: 'n', type: 'number', hidden: true },
    { name: 'open', type: 'number' },
    { name: 'tags', type: 'select', values: ['a', 'b'], maxSelect: 2 },
    { name: 'other', type: 'relation', collectionId: 'pbc_u', maxSelect: 1 },
    { name: 'data', type: 'json' },
  ]
  const definition = { id: 'pbc_u', name: 'u', type: 'auth', listRule: '', fields }
  await using world = await makeWorld([definition], { u: [{ id: 'a'.padEnd(15, 'a'), n: 1, email: 'a@example.com' }] })
  const ask = (options: ListOptions, as: 'guest' | 'super' = 'guest') => world.reads.list(actorOf(as), 'u', options)
  const wrong: ListOptions[] = [
    { group: 'n' },
    { group: 'email' },
    { group: 'other.n' },
    { aggregate: 'sum:n' },
    { aggregate: 'min:email' },
    { aggregate: 'count', filter: 'n > 0' },
  ]
  for (const options of wrong)
    await expect(ask(options), JSON.stringify(options)).rejects.toMatchObject({ code: 'INVALID' })
  for (const options of wrong.filter(({ group }) => group !== 'other.n'))
    expect((await ask(options, 'super')).totalItems, JSON.stringify(options)).toBe(1)
  const never: ListOptions[] = [
    { group: 'tags' },
    { group: 'data' },
    { group: 'data.x' },
    { group: 'other.open' },
    { group: 'nothing' },
    { group: '@random' },
    { group: 'u_via_other.open' },
    { group: Array.from({ length: 9 }, (_, at) => `f${at}`).join(',') },
    { aggregate: 'sum' },
    { aggregate: 'count:open' },
    { aggregate: 'sum:id' },
    { aggregate: 'median:open' },
    { aggregate: 'sum:tags' },
    { group: 'open', sort: 'open' },
    { group: 'open', sort: '-sum.open' },
    { group: 'open', after: '' },
  ]
  for (const options of never)
    await expect(ask(options, 'super'), JSON.stringify(options)).rejects.toMatchObject({ code: 'INVALID' })
})

test('an index tells groups without a walk, as long as no record lacks the value', async () => {
  const rows = Array.from({ length: 50 }, (_, n) => ({ id: String(n).padStart(15, 'r'), n, k: 'ab'[n % 2] }))
  const fields = [
    { name: 'n', type: 'number' },
    { name: 'k', type: 'text' },
  ]
  await using world = await makeWorld([{ id: 'pbc_c', name: 'c', type: 'base', listRule: '', fields }], { c: rows })
  const collection = world.database.collection<object>(recordsName({ id: 'pbc_c' }), {
    indexes: ['n', ['k', 'n']] as never,
  })
  await collection.ready()
  const ask = () => world.reads.list(actorOf('guest'), 'c', { group: 'k', aggregate: 'count,max:n' })
  const explained = () =>
    selectionQuery(
      collection,
      { kind: 'and', of: [] },
      {
        empty: new Map<string, '' | 0>([
          ['k', ''],
          ['n', 0],
        ]),
      },
    )
      .groupBy('k')
      .aggregate({ most: { $max: 'n' } })
      .explain()
  const [a, b] = [
    { group: { k: 'a' }, count: 25, max: { n: 48 } },
    { group: { k: 'b' }, count: 25, max: { n: 49 } },
  ]
  expect((await ask()).items).toEqual([a, b])
  expect((await explained()).way).toBe('index groups')
  await collection.insert({ _id: 'lacks'.padEnd(15, 'k') } as never)
  expect((await ask()).items).toEqual([{ group: { k: '' }, count: 1, max: { n: 0 } }, a, b])
  expect((await explained()).way).toBe('one pass')
})
