/**
 * Goal: the pages that cursors lead through are the list, whatever it is sorted by, and whatever is written to other records
 * meanwhile. Method: random applications and requests; all pages by number are the model.
 */
import { expect, test } from 'vitest'
import { memory } from 'pannier/memory'
import { seedsOf } from '../../../../../tools/test/seeds.ts'
import type { PagedKeyValueStore } from '../../../../db/src/kv/open.ts'
import { counting } from '../../../../db/testing/counting-page-store.ts'
import { openCold } from '../../../../db/testing/slow-database.ts'
import { seededRandom, type Random } from '../../../../db/testing/random.ts'
import { recordsName } from '../../../src/definitions/definition.ts'
import type { Actor } from '../../../src/access/actor.ts'
import { ServiceError } from '../../../src/gateway/service-error.ts'
import type { ListOptions } from '../../../src/records/record-types.ts'
import { askedOf } from './parity/answer.ts'
import { randomApp, randomRequest } from './random-app.ts'
import { actorOf, makeWorld, type World } from './read-world.ts'

const GUEST_ACTOR = actorOf('guest')
const RECORDS_MAX = 30
const REQUESTS = 50

interface Asked {
  readonly actor: Actor
  readonly collection: string
  readonly options: ListOptions
}

/** The ids of all pages, each found by the cursor of the one before. `between` runs after each page. */
async function byCursors(
  { reads }: World,
  { actor, collection, options: { page: _, ...options } }: Asked,
  between: (seen: readonly unknown[]) => Promise<void> = async () => {},
): Promise<{ readonly ids: readonly unknown[]; readonly totals: readonly number[] }> {
  const ids: unknown[] = []
  const totals: number[] = []
  for (let after: string | null = ''; after !== null;) {
    const page = await reads.list(actor, collection, { ...options, after })
    expect(page.items.length).toBeLessThanOrEqual(options.perPage!)
    ids.push(...page.items.map((item) => item['id']))
    totals.push(page.totalItems)
    after = page.nextCursor!
    await between(ids)
  }
  return { ids, totals }
}

async function byNumbers({ reads }: World, { actor, collection, options }: Asked): Promise<unknown[]> {
  const { items } = await reads.list(actor, collection, { ...options, page: 1, perPage: 1000 })
  return items.map((item) => item['id'])
}

/** Half of the requests without the id at the end: what agrees in the sort comes in the order of creation. */
function withoutId(random: Random, asked: Asked): Asked {
  const sort = random.chance(0.5) ? asked.options.sort!.replace(/,?id$/, '') : asked.options.sort!
  const own = random.chance(0.2) ? `${sort === '' ? '' : `${sort},`}${random.pick(['', '-'])}@rowid` : sort
  return { ...asked, options: { ...asked.options, sort: own, fields: 'id', expand: '' } }
}

test('the pages that cursors lead through are the list', async () => {
  let [walked, several] = [0, 0]
  for (const seed of seedsOf('model')) {
    const random = seededRandom(seed)
    const app = randomApp(random, RECORDS_MAX)
    await using world = await makeWorld(app.definitions, app.records)
    for (let i = 0; i < REQUESTS; i++) {
      const asked = withoutId(random, askedOf(app.records, randomRequest(random, app)))
      let expected
      try {
        expected = await byNumbers(world, asked)
      } catch (error) {
        if (error instanceof ServiceError) continue
        throw error
      }
      const { ids, totals } = await byCursors(world, asked)
      expect([seed, asked.options, ids]).toEqual([seed, asked.options, expected])
      expect([...new Set(totals)]).toEqual([expected.length])
      walked++
      if (totals.length > 2) several++
    }
  }
  expect(several / walked).toBeGreaterThan(0.1)
})

test('records that stay come once and in order, whatever is written between two pages', async () => {
  for (const seed of seedsOf('model')) {
    const random = seededRandom(seed)
    const value = (): object => ({ t: random.pick(['', 'a', 'b', 'c']), n: random.below(4), b: random.chance(0.5) })
    const fields = [
      { name: 't', type: 'text' },
      { name: 'n', type: 'number' },
      { name: 'b', type: 'bool' },
      { name: 'one', type: 'relation', collectionId: 'pbc_c', maxSelect: 1 },
      { name: 'stays', type: 'bool' },
    ]
    const ids = Array.from({ length: 40 }, (_, at) => String(at).padStart(15, 'r'))
    const rows = ids.map((id) => ({ id, ...value(), one: random.pick(['', ...ids]), stays: random.chance(0.5) }))
    const watched = new Set<unknown>(rows.filter(({ stays }) => stays).map(({ id }) => id))
    // What a sort by `one.t` reads stays, too.
    const read = new Set(rows.filter(({ stays }) => stays).map(({ one }) => one))
    const definition = { id: 'pbc_c', name: 'c', type: 'base', listRule: '', viewRule: '', fields }
    await using world = await makeWorld([definition], { c: rows })
    const collection = world.database.collection<{ _id: string }>(recordsName({ id: 'pbc_c' }))
    let made = 0
    const disturb = async (): Promise<void> => {
      const id = random.pick(ids)
      if (!watched.has(id) && !read.has(id))
        await (random.chance(0.5)
          ? collection.upsert({ _id: id, ...value(), one: '', stays: false } as never)
          : collection.delete([id]))
      await collection.insert({ _id: String(made++).padStart(15, 'n'), ...value(), one: '', stays: false } as never)
    }
    for (const sort of [
      '',
      'n',
      '-n,t',
      'b',
      't,-b',
      'one.t',
      '-one.t,n',
      '@rowid',
      '-@rowid',
      'id',
      't:lower',
      '-n,one.t,b',
    ]) {
      const added = (await collection.find().fields('_id').toArray()).map(({ _id }) => _id)
      await collection.delete(added.filter((id) => !ids.includes(id)))
      const asked: Asked = {
        actor: GUEST_ACTOR,
        collection: 'c',
        options: { sort, perPage: 1 + random.below(6), fields: 'id' },
      }
      const before = (await byNumbers(world, asked)).filter((id) => watched.has(id))
      let left = 30
      const { ids: seen } = await byCursors(world, asked, async () => {
        for (let n = random.below(4); n > 0 && left > 0; n--, left--) await disturb()
      })
      expect([seed, sort, seen.filter((id) => watched.has(id))]).toEqual([seed, sort, before])
    }
  }
})

test('a cursor continues behind a record that is deleted', async () => {
  const rows = ['a', 'b', 'c', 'd'].map((t, at) => ({ id: t.padEnd(15, '0'), t, n: at % 2 }))
  const fields = [
    { name: 't', type: 'text' },
    { name: 'n', type: 'number' },
  ]
  await using world = await makeWorld([{ name: 'c', type: 'base', listRule: '', fields }], { c: rows })
  const list = (after: string, sort: string) => world.reads.list(GUEST_ACTOR, 'c', { perPage: 2, after, sort })
  for (const sort of ['', '-t', 'n', 't:lower']) {
    const first = await list('', sort)
    const next = await list(first.nextCursor!, sort)
    const collection = world.database.collection<object>(recordsName(world.definitions.find('c')!))
    const gone = first.items.at(-1)!
    await collection.delete([gone['id'] as string])
    expect((await list(first.nextCursor!, sort)).items).toEqual(next.items)
    await collection.insert({ _id: gone['id'], t: gone['t'], n: gone['n'] } as never)
  }
})

test('a text that is no cursor of the list is refused', async () => {
  const rows = Array.from({ length: 3 }, (_, n) => ({ id: String(n).padStart(15, 'r'), n, b: n > 0, t: 'x' }))
  const fields = [
    { name: 'n', type: 'number' },
    { name: 'b', type: 'bool' },
    { name: 't', type: 'text' },
  ]
  await using world = await makeWorld([{ name: 'c', type: 'base', listRule: '', fields }], { c: rows })
  const ask = (options: ListOptions) => world.reads.list(GUEST_ACTOR, 'c', { perPage: 1, ...options })
  const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const wrong: ListOptions[] = [
    { after: 'x' },
    { after: 'null' },
    { after: text(null) },
    { after: text([]) },
    { after: text({ order: '$created', values: {} }) },
    { after: text({ order: '$created', values: [] }) },
    { after: text({ order: '$created', values: [-1] }) },
    { after: text({ order: '$created', values: [1.5] }) },
    { after: text({ order: '$created', values: [2 ** 50] }) },
    { after: text({ order: '$created', values: ['1'] }) },
    { after: text({ order: 'n,$created', values: [null, 1] }), sort: 'n' },
    { after: text({ order: 'n,$created', values: ['1', 1] }), sort: 'n' },
    { after: text({ order: 'b,$created', values: [true, 1] }), sort: 'b' },
    { after: text({ order: 't,$created', values: [{ $gt: '' }, 1] }), sort: 't' },
    { after: text({ order: 't:lower,', values: [[], 1] }), sort: 't:lower' },
    { after: (await ask({ after: '', sort: 'n' })).nextCursor!, sort: '-n' },
    { after: (await ask({ after: '', sort: 'n' })).nextCursor! },
    { after: '', sort: '@random' },
    { after: '', page: 2 },
  ]
  for (const options of wrong)
    await expect(ask(options), JSON.stringify(options)).rejects.toMatchObject({ code: 'INVALID', message: /after/ })
})

test('a page reads the same number of pages of the store, wherever in the list it begins', async () => {
  const storage = counting(memory())
  const rows = Array.from({ length: 20_000 }, (_, n) => ({
    id: String(n).padStart(15, 'r'),
    n: n * 2,
    few: n % 4,
    t: 'x',
  }))
  const fields = [
    { name: 'n', type: 'number' },
    { name: 'few', type: 'number' },
    { name: 't', type: 'text' },
  ]
  const definition = { id: 'pbc_c', name: 'c', type: 'base', listRule: '', fields }
  await using world = await makeWorld([definition], { c: rows }, openCold('cursors', storage))
  const collection = world.database.collection<object>(recordsName({ id: 'pbc_c' }), {
    indexes: ['n', ['few', 'n']] as never,
  })
  await collection.ready()
  await (world.database.context.store as PagedKeyValueStore).checkpoint()
  const [perPage, pages] = [10, 1600]
  const ask = async (sort: string, after: string): Promise<readonly [pagesRead: number, next: string]> => {
    storage.take()
    const { nextCursor } = await world.reads.list(GUEST_ACTOR, 'c', { sort, after, perPage, skipTotal: true })
    return [storage.take().pagesRead, nextCursor!]
  }
  for (const sort of ['', 'n', '-n', 'few', 'few,n', 'id', '-id', '@rowid', '-@rowid']) {
    await ask(sort, '')
    const [second] = await ask(sort, (await ask(sort, ''))[1])
    // The cursor of a page far behind, as a walk to it would give it.
    const skipped = await world.reads.list(GUEST_ACTOR, 'c', { sort, page: pages, perPage, skipTotal: true })
    const last = skipped.items.at(-1)!
    const order = (await world.reads.explain(actorOf('super'), 'c', { sort })).order
    const number = rows.findIndex(({ id }) => id === last['id'])
    const values = order.map((key) => {
      const path = key.replace('-', '')
      return path === '$created' ? number + 1 : path === '_id' ? last['id'] : last[path]
    })
    const far = Buffer.from(JSON.stringify({ order: order.join(','), values })).toString('base64url')
    const [late] = await ask(sort, far)
    // Some more, as a range may begin at the end of a page of a tree, and go through two parts.
    expect([sort, late <= second + 10]).toEqual([sort, true])
  }
})
