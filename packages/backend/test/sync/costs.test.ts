/**
 * Goal: what a commit and a pull cost depends on what changes, and not on how many accounts and grounds there are. Method: walks of the
 * index and their entries are counted, in a world with 10,000 grounds.
 */
import { beforeEach, expect, test, vi } from 'vitest'
import type * as Internal from 'pannier/internal'
import { readSnapshot, rememberedRows } from 'pannier/internal'
import { recordsName } from '../../src/definitions/definition.ts'
import type { PageLimits } from '../../src/sync/feed-page.ts'
import { SIDES_VIEW } from '../../src/sync/sides-view.ts'
import { groundOf } from '../../src/sync/spans.ts'
import { FeedWorld, type Fields } from './feed-world.ts'
import { Replica } from './replica.ts'

/** What pulls did with the index since the last `reset`. */
const work = vi.hoisted(() => ({ walks: 0, entries: 0 }))

vi.mock('pannier/internal', async (importOriginal) => {
  const original = await importOriginal<typeof Internal>()
  function* each<Row>(rows: Iterable<Row>): Generator<Row> {
    work.walks++
    for (const row of rows) {
      work.entries++
      yield row
    }
  }
  const rememberedRows: typeof original.rememberedRows = (...given) => {
    const rows = original.rememberedRows(...given)
    return (
      rows &&
      new Proxy(rows, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target)
          if (typeof value !== 'function') return value
          return (...asked: unknown[]): unknown => {
            const found: unknown = value.apply(target, asked)
            const isWalk = typeof found === 'object' && found !== null && Symbol.iterator in found
            return isWalk ? each(found as Iterable<unknown>) : found
          }
        },
      })
    )
  }
  return { ...original, rememberedRows }
})

const OF_PROJECT = 'project.members.id ?= @request.auth.id'
const PAGE: PageLimits = { rows: 1000, entries: 4000 }

const projectId = (n: number): string => `p${n}`

/** `u1` is a member of all projects; the first one has `first` documents, and each other one has one. */
async function makeWorld({ users = 1, grounds = 10, first = 1 }): Promise<FeedWorld> {
  const projects = Array.from({ length: grounds }, (_, n) => ({ id: projectId(n), members: ['u1'] }))
  const docs = [
    ...Array.from({ length: first }, (_, n) => ({ id: `a${n}`, project: projectId(0), note: '' })),
    ...projects.slice(1).map(({ id }) => ({ id: `d${id}`, project: id, note: '' })),
  ]
  const all = Array.from({ length: users }, (_, n) => ({ id: `u${n + 1}`, team: '' }))
  return FeedWorld.make({ users: all, projects, docs }, { docs: OF_PROJECT })
}

beforeEach(() => {
  reset()
})

function reset(): void {
  Object.assign(work, { walks: 0, entries: 0 })
}

/** What a pull took, until the replica was complete. Entries of the changes by sequence count for `limits` too. */
async function pull(world: FeedWorld, replica: Replica, limits: PageLimits = PAGE): Promise<object> {
  reset()
  for (let rows = 0, pages = 1; ; pages++) {
    const [page] = await world.pull([replica], { ...limits })
    replica.apply(page!)
    rows += page!.rows.length
    if (page!.isComplete) return { rows, pages, ...work }
  }
}

async function edit(world: FeedWorld, collection: string, id: string, fields: Fields): Promise<void> {
  const { id: _, ...before } = world.data[collection]!.get(id)!
  await world.commit({ collection, id, fields: { ...before, ...fields } })
}

for (const grounds of [10, 10_000])
  test(`with ${grounds} grounds a pull costs what changed`, async () => {
    const world = await makeWorld({ grounds })
    const replica = new Replica('u1')
    await pull(world, replica)
    expect(replica.records.size).toBe(grounds)
    expect(await pull(world, replica)).toEqual({ rows: 0, pages: 1, walks: 0, entries: 0 })
    const few = { rows: 5, entries: 2 }
    await edit(world, 'docs', 'dp5', { note: 'another' })
    expect(await pull(world, replica, few)).toEqual({ rows: 1, pages: 1, walks: 1, entries: 0 })
    await edit(world, 'projects', 'p5', { members: [] })
    expect(await pull(world, replica, few)).toEqual({ rows: 1, pages: 1, walks: 2, entries: 1 })
    await edit(world, 'projects', 'p5', { members: ['u1'] })
    expect(await pull(world, replica, few)).toEqual({ rows: 1, pages: 1, walks: 2, entries: 1 })
    await world.close()
  })

test('a project of 5,000 documents that is taken away, and given back, costs its entries', async () => {
  const world = await makeWorld({ first: 5000 })
  const replica = new Replica('u1')
  await pull(world, replica)
  const before = await stored(world)
  await edit(world, 'projects', projectId(0), { members: [] })
  expect(await stored(world)).toEqual(before)
  // The first entry behind a full page is looked at once more.
  const all = { rows: 5000, pages: 5, walks: 6, entries: 5004 }
  expect(await pull(world, replica)).toEqual(all)
  await edit(world, 'projects', projectId(0), { members: ['u1'] })
  expect(await pull(world, replica)).toEqual(all)
  await world.close()
})

test('an ordinary update adds nothing to the index, with 10 and with 10,000 accounts', async () => {
  for (const users of [10, 10_000]) {
    const world = await makeWorld({ users })
    const replica = new Replica('u1')
    await pull(world, replica)
    const before = await stored(world)
    expect(before).toMatchObject([[[['dp5', expect.any(Number)]], 0], expect.any(Number)])
    await edit(world, 'docs', 'dp5', { note: `for ${users}` })
    expect(await pull(world, replica)).toMatchObject({ rows: 1 })
    expect(await stored(world)).toEqual(before)
    await world.close()
  }
})

test('3,000 changes of others are passed by where the account has few documents', async () => {
  const world = await makeWorld({ first: 3000 })
  await edit(world, 'projects', projectId(0), { members: ['u2'] })
  const replica = new Replica('u1')
  await pull(world, replica)
  const changes = Array.from({ length: 3000 }, (_, n) => ({
    id: `a${n}`,
    fields: { project: projectId(0), note: 'theirs' },
  }))
  await world.commit(...changes.map((change) => ({ collection: 'docs', ...change })))
  await edit(world, 'docs', 'dp5', { note: 'mine' })
  // A walk for each of nine documents, and none of the changes by sequence.
  expect(await pull(world, replica, { rows: 5, entries: 20 })).toEqual({ rows: 1, pages: 1, walks: 10, entries: 9 })
  await world.close()
})

/** What is stored for sync: the rows of a document with the sequence that brought them, how many rows have left, and holdings. */
async function stored(world: FeedWorld): Promise<unknown> {
  const { database } = world
  const index = await readSnapshot(database, (reader) =>
    reader.read((guard) => {
      const rows = rememberedRows(guard, recordsName(world.definition('docs')), SIDES_VIEW)!
      const own = Array.from(rows.rows([0, groundOf('p5')], {}), ({ id, cameAt }) => [id, cameAt])
      return [own, rows.countLeftSince(0)]
    }),
  )
  return [index, await database.collection('$holdings').find({}).count()]
}
