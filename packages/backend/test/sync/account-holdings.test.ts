/**
 * Goal: what an account holds is computed again only after a write that may change it, and a change of one ground of 10,000 stores few of
 * them.
 */
import { RuleError } from '@pannier/rules'
import type { Holdings } from '@pannier/rules/cut'
import type { Collection } from 'pannier'
import { readSnapshot } from 'pannier/internal'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordsName } from '../../src/definitions/definition.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { AccountHoldings } from '../../src/sync/feed/account-holdings.ts'
import { HoldingsStore } from '../../src/sync/feed/holdings-store.ts'
import { syncRules } from '../../src/sync/rules/sync-rules.ts'
import { watchingIn } from '../../src/sync/signals/watching.ts'
import { makeWorld, type World } from '../records/read/read-world.ts'

const PROJECTS = 10_000
const RENEW_MS = 1000
const HORIZON_MS = 30 * RENEW_MS

let world: World
let accountHoldings: AccountHoldings

const projectId = (n: number): string => `p${String(n).padStart(14, '0')}`
const collection = (name: string, fields: readonly object[], type = 'base'): object => ({
  id: `pbc_${name}`,
  name,
  type,
  fields,
  listRule: '',
})

beforeAll(async () => {
  const members = { name: 'members', type: 'relation', collectionId: 'pbc_users', maxSelect: 9 }
  const project = { name: 'project', type: 'relation', collectionId: 'pbc_projects', maxSelect: 1 }
  world = await makeWorld(
    [
      collection('users', [{ name: 'team', type: 'text' }], 'auth'),
      collection('projects', [members, { name: 'due', type: 'date' }]),
      collection('docs', [project]),
    ],
    {
      users: [{ id: 'u1', team: 'a' }],
      projects: Array.from({ length: PROJECTS }, (_, n) => ({ id: projectId(n), members: ['u1'] })),
      docs: [{ id: 'd1', project: projectId(1) }],
    },
  )
  accountHoldings = new AccountHoldings(world.definitions)
})
afterAll(() => world[Symbol.asyncDispose]())

function holdings(rule = 'project.members.id ?= @request.auth.id', nowMs = 0, account = 'u1'): Promise<Holdings> {
  const rules = syncRules(world.definitions, { ...world.definitions.find('docs')!, listRule: rule })!
  const holder = { account: ['pbc_users', account], isManager: true } as const
  return readSnapshot(world.database, (reader) =>
    reader.read((guard) => accountHoldings.of(guard, rules.of('pbc_users'), rules.version, holder, nowMs).holdings),
  )
}

function records(name: string): Collection<JsonObject> {
  return world.database.collection<JsonObject>(recordsName(world.definitions.find(name)!))
}

test('a write of a linked record or of the account computes it again, and no other write does', async () => {
  const before = await holdings()
  expect(before[0]!.grounds).toHaveLength(PROJECTS)
  await records('docs').upsert({ _id: 'd1', project: projectId(2) })
  expect(await holdings(undefined, 5000)).toBe(before)
  await records('projects').upsert({ _id: projectId(1), members: [] })
  const after = await holdings()
  expect(after[0]!.grounds).toHaveLength(PROJECTS - 1)
  expect(await holdings()).toBe(after)
  await records('users').upsert({ _id: 'u1', team: 'b' })
  expect(await holdings()).not.toBe(after)
})

test('a purge of a linked record computes it again', async () => {
  const before = await holdings()
  await records('projects').purge(projectId(7))
  expect((await holdings())[0]!.grounds).toHaveLength(before[0]!.grounds!.length - 1)
})

test('what depends on the time is computed for each time', async () => {
  const timed = 'project.members.id ?= @request.auth.id && project.due < @now'
  expect(await holdings(timed, 1)).toBe(await holdings(timed, 1))
  expect(await holdings(timed, 1)).not.toBe(await holdings(timed, 2))
})

test('one ground of 10,000 more or less stores two of some 80 chunks at most', async () => {
  const store = new HoldingsStore({ database: world.database, horizonMs: HORIZON_MS })
  const stored = world.database.collection('$holdings')
  const all = await holdings()
  const name = await store.keep(all, 0)
  const chunks = await stored.find({}).count()
  expect(chunks).toBeGreaterThan(50)
  for (const n of [0, 500, PROJECTS - 100]) {
    const [holding] = all
    const grounds = holding!.grounds!.filter((_, at) => at !== n)
    const before = new Set((await stored.find({}).fields('_id').toArray()).map(({ _id }) => _id))
    const fewer = await store.keep([{ ...holding!, grounds }], 0)
    const added = (await stored.find({}).toArray()).filter(({ _id }) => !before.has(_id))
    expect(added.length).toBeLessThanOrEqual(3)
    expect(JSON.stringify(added).length).toBeLessThan(20_000)
    const fresh = new HoldingsStore({ database: world.database, horizonMs: HORIZON_MS })
    expect(await fresh.get(fewer, 0)).toEqual([{ ...holding!, grounds }])
  }
  const fresh = new HoldingsStore({ database: world.database, horizonMs: HORIZON_MS })
  expect(await fresh.get(name, 0)).toEqual(all)
})

test('what was used lately is kept with all its chunks, and what was not is forgotten', async () => {
  const store = new HoldingsStore({ database: world.database, horizonMs: HORIZON_MS })
  const stored = world.database.collection('$holdings')
  const all = await holdings()
  const name = await store.keep(all, 0)
  await store.get(name, 5000)
  const other = await store.keep([null], 0)
  await store.forget(5000)
  const fresh = new HoldingsStore({ database: world.database, horizonMs: HORIZON_MS })
  expect(await fresh.get(name, 5000)).toEqual(all)
  expect([await fresh.get(other, 5000), await store.get(other, 5000)]).toEqual([undefined, undefined])
  await store.forget(5000 + 2 * RENEW_MS)
  expect([await stored.find({}).count(), await store.get(name, 9000)]).toEqual([0, undefined])
})

test('an account that was deleted holds nothing, not even what is empty', async () => {
  const rule = 'project = @request.auth.team || project.members.id = ""'
  expect((await holdings(rule)).some((one) => one !== null)).toBe(true)
  expect((await holdings(rule, 0, 'gone')).every((one) => one === null)).toBe(true)
})

test('an account that holds too much is watched without what it holds, and another failure is one', async () => {
  const rules = syncRules(world.definitions, world.definitions.find('docs')!)!
  const own = { rules: rules.of('pbc_users'), version: rules.version }
  const holder = { account: ['pbc_users', 'u1'], isManager: true } as const
  const watching = (failure: Error): Promise<Holdings> => {
    const failing = {
      of: () => {
        throw failure
      },
    } as unknown as AccountHoldings
    return readSnapshot(world.database, (reader) =>
      reader.read((guard) => watchingIn(guard, failing, own, holder, 0).holdings),
    )
  }
  const none = own.rules.alternatives.map(() => null)
  expect(await watching(new RuleError('limit', 'It reads too much.', 0))).toEqual(none)
  await expect(watching(new Error('a fault'))).rejects.toThrow('a fault')
})
