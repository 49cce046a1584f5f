/** Goal: the rules of a device are cut once for an account and the definitions, and again when either changes. */
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { statementsOf } from '../../src/definitions/index-statement.ts'
import { openBackend, type Backend } from '../../src/backend.ts'
import type { Actor } from '../../src/access/actor.ts'
import { GUEST, SYSTEM } from '../../src/gateway/principal.ts'
import type { DeviceCollection } from '../../src/sync/rules/device-rules.ts'
import { NOBODY } from '../records/world.ts'
import { IN_THREAD } from '../test-model.ts'

let database: Database
let backend: Backend

beforeEach(async () => {
  database = await open('device rules', { storage: memory() })
  backend = await openBackend(database, { modelHome: IN_THREAD })
  await backend.definitions.create(SYSTEM, {
    name: 'tasks',
    listRule: '',
    updateRule: 'title = @request.auth.name',
    fields: [{ name: 'title', type: 'text' }],
  })
})
afterEach(async () => {
  await backend.close()
  await database.close()
})

/** The account of the users' collection, as of a revision. */
function account(rev: string, name: string): Actor {
  const collection = backend.definitions.get('users').id
  const record = { _id: 'ann', _rev: rev, name, email: 'ann@example.com' }
  return { ...NOBODY, principal: { ...GUEST, name: 'ann', account: { collection, record } } }
}

async function cutFor(actor: Actor, names: readonly string[] = ['tasks']): Promise<readonly DeviceCollection[]> {
  return (await backend.sync.rules(actor, names, ''))!.collections
}

test('the rules of a second pull are those of the first one', async () => {
  const first = await cutFor(account('1-a', 'Ann'))
  expect(await cutFor(account('1-a', 'Ann'))).toBe(first)
  expect(await cutFor(NOBODY)).toBe(await cutFor(NOBODY))
})

test('rules are cut again for another account, another revision of it, other collections, other scopes and an admin', async () => {
  const cuts = new Set([await cutFor(account('1-a', 'Ann'))])
  cuts.add(await cutFor(account('2-b', 'Anna')))
  cuts.add(await cutFor(NOBODY))
  cuts.add(await cutFor(account('1-a', 'Ann'), []))
  const { principal } = account('1-a', 'Ann')
  const scopes = new Map([[backend.definitions.get('tasks').id, new Set(['list'] as const)]])
  cuts.add(await cutFor({ ...NOBODY, principal: { ...principal, apiToken: { id: 't', name: 't', scopes } } }))
  cuts.add(await cutFor({ ...NOBODY, principal: { ...principal, isAdmin: true } }))
  expect(cuts.size).toBe(6)
})

test('another rule of a collection is cut at once', async () => {
  const [before] = await cutFor(NOBODY)
  await backend.definitions.update(SYSTEM, 'tasks', { updateRule: 'title = ""' })
  const [after] = await cutFor(NOBODY)
  expect([before!.rules.update, after!.rules.update]).toEqual(['title = @request.auth.name', "title = ''"])
})

test('index statements of a definition are parsed once', async () => {
  const users = backend.definitions.get('users')
  expect(statementsOf(users).length).toBeGreaterThan(0)
  expect(statementsOf(backend.definitions.get('users'))).toBe(statementsOf(users))
})
