/** Goal: no write of a batch goes past its hooks, also where only an earlier write of the batch makes it possible. */
import { expect, test } from 'vitest'
import { GUEST } from '../../src/gateway/principal.ts'
import { invalid } from '../../src/gateway/service-error.ts'
import type { HookEvents } from '../../src/hooks/hook-events.ts'
import type { HookHandler } from '../../src/hooks/hooks.ts'
import type { RecordOperation } from '../../src/records/write/operations.ts'
import { NOBODY, openWorld, type World } from '../records/world.ts'

const TEAMS = {
  id: 'pbc_teams',
  name: 'teams',
  type: 'base',
  createRule: '',
  fields: [{ name: 'isOpen', type: 'bool' }],
}
const TASKS = {
  id: 'pbc_tasks',
  name: 'tasks',
  type: 'base',
  viewRule: '',
  createRule: 'team.isOpen = true',
  updateRule: 'team.isOpen = true',
  fields: [
    { name: 'title', type: 'text' },
    { name: 'team', type: 'relation', collectionId: TEAMS.id },
  ],
}
const [TEAM, TASK] = ['teamteamteamtea', 'tasktasktasktas']
const ADD_TEAM: RecordOperation = { action: 'create', collection: 'teams', input: { id: TEAM, isOpen: true } }
const ADD_TASK: RecordOperation = {
  action: 'create',
  collection: 'tasks',
  input: { id: TASK, title: 'one', team: TEAM },
}
const RENAME: RecordOperation = { action: 'update', collection: 'tasks', id: TASK, input: { title: 'two' } }

async function open(): Promise<World & AsyncDisposable & { readonly seen: string[] }> {
  const world = await openWorld([TEAMS, TASKS])
  const seen: string[] = []
  const created: HookHandler<HookEvents['onRecordCreateRequest']> = async ({ record, next }) => {
    seen.push(`create ${String(record.get('title'))}`)
    await next()
    seen.push('created')
  }
  const updated: HookHandler<HookEvents['onRecordUpdate']> = async ({ app, record, next }) => {
    const team = await app.findRecordById('teams', TEAM)
    const [before, title, isOpen] = [record.original().get('title'), record.get('title'), team.get('isOpen')].map(
      String,
    )
    seen.push(`${before} to ${title}, open: ${isOpen}`)
    if (title === 'no') throw invalid('Not that.')
    record.set('title', `${title}!`)
    await next()
  }
  const place = { tags: ['tasks'], source: 'hooks/test.ts:1' }
  world.hooks.replace([
    { name: 'onRecordCreateRequest', handler: created, ...place },
    { name: 'onRecordUpdate', handler: updated, ...place },
  ])
  return { ...world, seen, [Symbol.asyncDispose]: () => world.close() }
}

function run(world: World, operations: readonly RecordOperation[]): Promise<unknown> {
  const request = { context: 'batch', method: 'POST', query: {}, headers: {} }
  const batch = operations.map((operation) => ({ ...operation, request }))
  return world.writes.batch(GUEST, batch, { workMsMax: 60_000 })
}

test('hooks run for writes that depend on earlier ones of the batch, and see and change them', async () => {
  await using world = await open()
  await run(world, [ADD_TEAM, ADD_TASK, RENAME])
  expect(world.seen).toEqual(['create one', 'one to two, open: true', 'created'])
  expect(await world.reads.view(NOBODY, 'tasks', TASK)).toMatchObject({ title: 'two!' })
})

test('a hook that refuses such a write undoes the batch, and its create hook ends with that', async () => {
  await using world = await open()
  const batch = run(world, [ADD_TEAM, ADD_TASK, { ...RENAME, input: { title: 'no' } }])
  await expect(batch).rejects.toMatchObject({ index: 2, reason: { code: 'INVALID', message: 'Not that.' } })
  expect(world.seen).toEqual(['create one', 'one to no, open: true'])
  await expect(world.reads.view(NOBODY, 'tasks', TASK)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('no hook runs for a write that the rule refuses in the batch', async () => {
  await using world = await open()
  const shut = { ...ADD_TEAM, input: { id: TEAM, isOpen: false } }
  await expect(run(world, [shut, ADD_TASK])).rejects.toMatchObject({ index: 1 })
  expect(world.seen).toEqual([])
})

test.each(['tasks', 'TASKS', 'pbc_tasks'])(
  'a write that comes twice, as %s, has its hooks on what the first one made',
  async (collection) => {
    await using world = await open()
    await run(world, [ADD_TEAM, ADD_TASK])
    world.seen.length = 0
    await run(world, [RENAME, { ...RENAME, collection, input: { title: 'three' } }])
    expect(world.seen).toEqual(['one to two, open: true', 'two! to three, open: true'])
    expect(await world.reads.view(NOBODY, 'tasks', TASK)).toMatchObject({ title: 'three!' })
  },
)
