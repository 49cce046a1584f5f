/** Goal: fields may be called as members of every object: what a document lacks is missing, and not what an object inherits. */
import { expect, test } from 'vitest'
import { modelDatabase } from '../../testing/model-database.ts'

const NAMES = Object.getOwnPropertyNames(Object.prototype).filter(
  (name) => name === '__proto__' || !name.startsWith('_'),
)

test.each(NAMES)('a field %s, in groups, distinct values and aggregates, with and without an index', async (name) => {
  for (const indexes of [[], [name]]) {
    const db = modelDatabase()
    const all = db.collection<Record<string, unknown>>('c', { indexes: indexes as never })
    const document = (fields: [string, unknown][]): object => Object.fromEntries(fields)
    await all.insert([
      document([
        ['_id', 'a'],
        [name, 'x'],
      ]),
      document([
        ['_id', 'b'],
        [name, 'y'],
      ]),
      document([
        ['_id', 'c'],
        [name, 'y'],
      ]),
      document([['_id', 'd']]),
    ] as never)
    await all.ready()
    expect(await all.find().distinct(name)).toEqual(['x', 'y'])
    const groups = await all
      .find()
      .groupBy(name)
      .aggregate({ n: { $count: true } })
      .toArray()
    expect(groups.map((group) => [Object.hasOwn(group, name) ? group[name] : undefined, group['n']])).toEqual([
      [undefined, 1],
      ['x', 1],
      ['y', 2],
    ])
    const most: unknown = await all.find().aggregate({ most: { $max: name }, least: { $min: name } } as never)
    expect(most).toMatchObject({ most: 'y', least: 'x' })
    expect(
      await all
        .find({ [name]: 'y' } as never)
        .sort(name)
        .count(),
    ).toBe(2)
    await db.close()
  }
})
