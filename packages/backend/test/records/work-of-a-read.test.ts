/** Goal: a read asks for nothing that no rule needs. Method: count what is read of a request, and the documents that rules are asked about. */
import { afterEach, expect, test, vi } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { RecordSnapshot } from '../../src/records/read/record-snapshot.ts'
import { ADMIN, NOBODY, openWorld, type World } from './world.ts'

const FIELDS = [{ type: 'text', name: 'title' }]

let world: World
afterEach(() => {
  vi.restoreAllMocks()
  return world.close()
})

/** A guest, and what was read of the request. */
function watched(): { readonly guest: Actor; readonly read: string[] } {
  const read: string[] = []
  const request = {
    context: 'default',
    method: 'GET',
    get query() {
      read.push('query')
      return { mode: 'open' }
    },
    get headers() {
      read.push('headers')
      return { x_mode: 'open' }
    },
  }
  return { guest: { ...NOBODY, request }, read }
}

test.each([
  ['', []],
  ["title != ''", []],
  ["@request.query.mode = 'open'", ['query']],
  ["@request.headers.x_mode = 'open'", ['headers']],
])('the rule %j reads of the request: %j', async (viewRule, wanted) => {
  world = await openWorld([{ name: 'posts', viewRule, listRule: viewRule, fields: FIELDS }])
  const { id } = await world.writes.create(ADMIN, 'posts', { title: 'one' })
  const { guest, read } = watched()
  expect(await world.reads.view(guest, 'posts', String(id))).toMatchObject({ title: 'one' })
  expect(await world.reads.list(guest, 'posts')).toMatchObject({ totalItems: 1 })
  expect([...new Set(read)]).toEqual(wanted)
})

test('what was written is shown without a snapshot, a query or a header unless a rule or another record has a say', async () => {
  const fields = [...FIELDS, { type: 'relation', name: 'next', collectionId: 'pbc_open', maxSelect: 1 }]
  const open = { createRule: '', viewRule: '', updateRule: '' }
  world = await openWorld([
    { id: 'pbc_open', name: 'open', ...open, fields: FIELDS },
    { name: 'ruled', ...open, fields: [{ ...FIELDS[0], viewRule: "@request.query.mode = 'open'" }, fields[1]] },
  ])
  const snapshots = vi.spyOn(world.reads, 'inSnapshot')
  const { guest, read } = watched()
  const made = await world.writes.create(guest, 'open', { title: 'one' })
  expect(made).toMatchObject({ title: 'one' })
  expect(await world.writes.update(guest, 'open', String(made.id), { title: 'two' })).toMatchObject({ title: 'two' })
  expect(snapshots).not.toHaveBeenCalled()
  expect(read).toEqual([])
  const next = { title: 'three', next: made.id }
  expect(await world.writes.create(guest, 'ruled', next, { expand: 'next' })).toMatchObject({
    title: 'three',
    expand: { next: { title: 'two' } },
  })
  expect([...new Set(read)]).toEqual(['query'])
  expect(await world.writes.create(NOBODY, 'ruled', { next: made.id })).not.toHaveProperty('title')
})

test('a rule is asked about a viewed record unless it is empty or the actor is a superuser', async () => {
  world = await openWorld([
    { name: 'open', viewRule: '', fields: FIELDS },
    { name: 'ruled', viewRule: "title = 'one'", fields: FIELDS },
    { name: 'locked', viewRule: null, fields: FIELDS },
  ])
  const ids = new Map<string, string>()
  for (const name of ['open', 'ruled', 'locked'])
    ids.set(name, String((await world.writes.create(ADMIN, name, { title: 'two' })).id))
  const asked = vi.spyOn(RecordSnapshot.prototype, 'readEach')
  await world.reads.view(NOBODY, 'open', ids.get('open')!)
  for (const [name, id] of ids) await world.reads.view(ADMIN, name, id)
  expect(asked).not.toHaveBeenCalled()
  await expect(world.reads.view(NOBODY, 'ruled', ids.get('ruled')!)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(asked).toHaveBeenCalledTimes(1)
  await expect(world.reads.view(NOBODY, 'locked', ids.get('locked')!)).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
