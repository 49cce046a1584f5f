/**
 * Goal: what a commit and a pull cost depends on what changes, and not on how many accounts and grounds there are. Method: a pull may
 * look at a number of entries of the index and of the changes, in a world with 10,000 grounds. With one less it needs another page.
 */
import { readSnapshot, rememberedRows } from 'pannier/internal'
import { afterEach, expect, test, vi } from 'vitest'
import { GuardReader } from '../../../db/src/database/records/guard-reader.ts'
import { RememberedRows } from '../../../db/src/view/remembered-rows.ts'
import { recordsName } from '../../src/definitions/definition.ts'
import { Reads } from '../../src/sync/feed/noted-reads.ts'
import { SIDES_VIEW } from '../../src/sync/rules/sync-rules.ts'
import { groundOf } from '../../src/sync/feed/spans.ts'
import { dateOf, FeedWorld, START_MS, type Fields } from './feed-world.ts'
import { LiveSessions } from './live-world.ts'
import { Replica } from './replica.ts'

const OF_PROJECT = 'project.members.id ?= @request.auth.id'
const ROWS_MAX = 20_000

afterEach(() => vi.restoreAllMocks())

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

/** How many rows come, and in how many pages. `entries`: what each page may look at. */
async function pull(world: FeedWorld, replica: Replica, entries = ROWS_MAX): Promise<{ rows: number; pages: number }> {
  for (let rows = 0, pages = 1; ; pages++) {
    const [page] = await world.pull([replica], { rows: ROWS_MAX, entries })
    replica.apply(page!)
    rows += page!.rows.length
    if (page!.isComplete) return { rows, pages }
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
    expect(await pull(world, replica, 0)).toEqual({ rows: 0, pages: 1 })
    const oneEntry = { rows: 1, pages: 1 }
    await edit(world, 'docs', 'dp5', { note: 'another' })
    expect(await pull(world, replica, 1)).toEqual(oneEntry)
    await edit(world, 'projects', 'p5', { members: [] })
    expect(await pull(world, replica, 1)).toEqual(oneEntry)
    await edit(world, 'projects', 'p5', { members: ['u1'] })
    expect(await pull(world, replica, 1)).toEqual(oneEntry)
    await world.close()
  })

test('what an account holds is computed once for its pull and its signals, whichever comes first', async () => {
  const world = await makeWorld({})
  const computed = vi.spyOn(Reads.prototype, 'of')
  const replica = new Replica('u1')
  const sessions = new LiveSessions(world)
  const session = sessions.open('u1', 'docs')
  await sessions.follow()
  await pull(world, replica)
  expect(computed).toHaveBeenCalledTimes(1)
  // The session gets a signal, and its app pulls.
  await edit(world, 'projects', 'p5', { members: [] })
  await sessions.follow()
  expect([session.signals, await pull(world, replica)]).toEqual([1, { rows: 1, pages: 1 }])
  expect(computed).toHaveBeenCalledTimes(2)
  await edit(world, 'projects', 'p6', { members: [] })
  expect(await pull(world, replica)).toEqual({ rows: 1, pages: 1 })
  await sessions.follow()
  expect([session.signals, computed.mock.calls.length]).toEqual([2, 3])
  sessions.close()
  await world.close()
})

test('a project of 5,000 documents that is taken away, and given back, costs its entries', async () => {
  const world = await makeWorld({ first: 5000 })
  const replica = new Replica('u1')
  await pull(world, replica)
  const before = await stored(world)
  await edit(world, 'projects', projectId(0), { members: [] })
  expect(await stored(world)).toEqual(before)
  expect(await pull(world, replica, 5000)).toEqual({ rows: 5000, pages: 1 })
  await edit(world, 'projects', projectId(0), { members: ['u1'] })
  expect(await pull(world, replica, 4999)).toEqual({ rows: 5000, pages: 2 })
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
  expect(await pull(world, replica, 9)).toEqual({ rows: 1, pages: 1 })
  await world.close()
})

for (const grounds of [10, 10_000])
  test(`with ${grounds} grounds of a rule of a field a pull costs what changed`, async () => {
    const world = await makeWorld({ grounds })
    world.setRule("id != ''")
    world.setFieldRules({ note: OF_PROJECT, secret: "@request.auth.role = 'admin'" })
    const replica = new Replica('u1')
    await pull(world, replica)
    const before = await stored(world)
    const oneEntry = { rows: 1, pages: 1 }
    await edit(world, 'docs', 'dp5', { note: 'another' })
    expect(await pull(world, replica, 1)).toEqual(oneEntry)
    expect(await pull(world, replica, 0)).toEqual({ rows: 0, pages: 1 })
    expect(await stored(world)).toEqual(before)
    await edit(world, 'projects', 'p5', { members: [] })
    expect(await pull(world, replica, 1)).toEqual(oneEntry)
    await edit(world, 'projects', 'p5', { members: ['u1'] })
    expect(await pull(world, replica, 1)).toEqual(oneEntry)
    await world.close()
  })

test('a role that shows a field of 3,000 documents costs the 9 that the account sees', async () => {
  const world = await makeWorld({ first: 3000 })
  world.setFieldRules({ secret: "@request.auth.role = 'admin'" })
  await edit(world, 'projects', projectId(0), { members: ['u2'] })
  const replica = new Replica('u1')
  await pull(world, replica)
  await edit(world, 'users', 'u1', { role: 'admin' })
  expect(await pull(world, replica, 9)).toEqual({ rows: 9, pages: 1 })
  await world.close()
})

for (const grounds of [10, 10_000])
  test(`with ${grounds} grounds a pull of one row makes three walks and two counts`, async () => {
    const world = await makeWorld({ grounds })
    const replica = new Replica('u1')
    await pull(world, replica)
    const names = ['rows', 'count', 'departed', 'departedSince', 'countDepartedSince'] as const
    const spies = [
      ...names.map((name) => vi.spyOn(RememberedRows.prototype, name)),
      vi.spyOn(GuardReader.prototype, 'writtenAfter'),
    ]
    const seeks = async (): Promise<Readonly<Record<string, number>>> => {
      for (const spy of spies) spy.mockClear()
      await pull(world, replica)
      const counted = spies.map((spy) => [spy.getMockName(), spy.mock.calls.length] as const)
      return Object.fromEntries(counted.filter(([, count]) => count > 0))
    }
    expect(await seeks()).toEqual({})
    await edit(world, 'docs', 'dp5', { note: 'another' })
    expect(await seeks()).toEqual({ count: 1, countDepartedSince: 1, departedSince: 1, writtenAfter: 2 })
    await edit(world, 'projects', 'p5', { members: [] })
    expect(await seeks()).toEqual({ count: 1, countDepartedSince: 1, departedSince: 1, rows: 1, writtenAfter: 1 })
    await edit(world, 'projects', 'p5', { members: ['u1'] })
    expect(await seeks()).toEqual({ count: 1, countDepartedSince: 1, departedSince: 1, rows: 1, writtenAfter: 1 })
    await world.close()
  })

test('time costs what runs out: 7 of 3,000, and nothing where nothing does', async () => {
  const docs = Array.from({ length: 3000 }, (_, n) => ({
    id: `d${n}`,
    team: 't1',
    expires: dateOf(START_MS + (n < 7 ? 5000 : 900_000)),
  }))
  const users = [{ id: 'u1', team: 't1' }]
  const world = await FeedWorld.make({ users, docs }, { docs: 'team = @request.auth.team && expires > @now' })
  const replica = new Replica('u1')
  await pull(world, replica)
  expect(replica.records.size).toBe(3000)
  world.nowMs += 1000
  expect(await pull(world, replica, 0)).toEqual({ rows: 0, pages: 1 })
  world.nowMs += 10_000
  expect(await pull(world, replica, 7)).toEqual({ rows: 7, pages: 1 })
  await world.close()
})

test('a bound that moves by one costs the strip between', async () => {
  const docs = Array.from({ length: 3000 }, (_, n) => ({ id: `d${n}`, team: 't1', level: n % 10 }))
  const users = [{ id: 'u1', team: 't1', level: 4 }]
  const rule = 'team = @request.auth.team && level <= @request.auth.level'
  const world = await FeedWorld.make({ users, docs }, { docs: rule })
  const replica = new Replica('u1')
  await pull(world, replica)
  expect(replica.records.size).toBe(1500)
  await edit(world, 'users', 'u1', { level: 5 })
  expect(await pull(world, replica, 300)).toEqual({ rows: 300, pages: 1 })
  await edit(world, 'users', 'u1', { level: 3 })
  expect(await pull(world, replica, 600)).toEqual({ rows: 600, pages: 1 })
  await world.close()
})

test('a ground that is lost within a sweep of several pages costs its entry once more', async () => {
  const world = await makeWorld({ first: 3000 })
  const replica = new Replica('u1')
  const [first] = await world.pull([replica], { rows: ROWS_MAX, entries: 1000 })
  replica.apply(first!)
  await edit(world, 'projects', 'p5', { members: [] })
  // 2,009 of the sweep, and the one that leaves.
  expect(await pull(world, replica, 2010)).toMatchObject({ pages: 1 })
  expect(replica.records.size).toBe(3008)
  expect(await pull(world, replica, 0)).toEqual({ rows: 0, pages: 1 })
  await world.close()
})

test('a page reads its documents together: what is not in memory is fetched once, and not row by row', async () => {
  const world = await makeWorld({ first: 2500 })
  const guard = await readSnapshot(world.database, (reader) => reader.read((one): object => one))
  const reads = vi.spyOn(Object.getPrototypeOf(guard) as typeof guard & { numbered: () => unknown }, 'numbered')
  const replica = new Replica('u1')
  const sizes: number[] = []
  for (let isComplete = false; !isComplete;) {
    const [page] = await world.pull([replica])
    replica.apply(page!)
    sizes.push(page!.rows.length)
    ;({ isComplete } = page!)
  }
  expect(sizes).toEqual([1000, 1000, 510])
  // Nine projects have one document each. A page that is full looks at one more.
  expect(reads.mock.calls.length).toBeLessThan(20)
  expect(reads).toHaveBeenCalled()
  reads.mockRestore()
  await world.close()
})

test('a pull after a start of the server stores no holdings again', async () => {
  const world = await makeWorld({ grounds: 1000 })
  const replica = new Replica('u1')
  await pull(world, replica)
  const holdings = (): Promise<readonly object[]> => world.database.collection('$holdings').find({}).toArray()
  const before = await holdings()
  expect(before.length).toBeGreaterThan(5)
  await world.restart()
  expect(await pull(world, replica)).toEqual({ rows: 0, pages: 1 })
  expect(await holdings()).toEqual(before)
  await world.close()
})

/** What is stored for sync: the rows of a document with the sequence that brought them, how many rows have left, and holdings. */
async function stored(world: FeedWorld): Promise<unknown> {
  const { database } = world
  const index = await readSnapshot(database, (reader) =>
    reader.read((guard) => {
      const rows = rememberedRows(guard, recordsName(world.definition('docs')), SIDES_VIEW)!
      const own = Array.from(
        [0, 1].flatMap((side) => [...rows.rows([side, groundOf('p5')], {})]),
        ({ id, cameAt }) => [id, cameAt],
      )
      return [own, rows.countDepartedSince(0)]
    }),
  )
  return [index, await database.collection('$holdings').find({}).count()]
}
