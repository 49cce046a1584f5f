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
