/** Goal: realtime shows of each record what REST shows to the same client, in any order of subscriptions. */
import { expect, test } from 'vitest'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import type { Actor } from '../../src/access/actor.ts'
import type { RecordEvent } from '../../src/events/record-messages.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { LiveWorld, topic } from './live-world.ts'

const id = (letter: string): string => letter.repeat(15)

/** One field for each thing that the rule of a field may read. */
function fieldsWithRules(users: string): readonly JsonObject[] {
  const rules: Readonly<Record<string, string | null>> = {
    everybody: '',
    nobody: null,
    accounts: "@request.auth.id != ''",
    owner: 'owner = @request.auth.id',
    friends: 'owner.friends ?= @request.auth.id',
    title: "title != 'private'",
    query: "@request.query.key = 'k'",
    headers: "@request.headers.x_key = 'k'",
    context: "@request.context = 'realtime'",
    clock: "due < @now && strftime('%Y', due) = strftime('%Y', 'now')",
    elsewhere: '@collection.keys.of ?= @request.auth.id',
  }
  const relation = { type: 'relation', collectionId: users, maxSelect: 1 }
  return [
    { name: 'title', type: 'text' },
    { name: 'due', type: 'date' },
    { name: 'owner', ...relation },
    { name: 'hidden', type: 'text', hidden: true },
    ...Object.entries(rules).map(([name, viewRule]) => ({ name: `for_${name}`, type: 'text', viewRule })),
  ]
}

async function openedWorld(): Promise<LiveWorld> {
  const world = await LiveWorld.open([{ name: 'keys', fields: [{ name: 'of', type: 'text' }] }])
  const { definitions } = world.backend
  const users = definitions.get('users')
  const friends = { name: 'friends', type: 'relation', collectionId: users.id, maxSelect: 9 }
  await definitions.update(SYSTEM, 'users', {
    fields: [...users.fields, friends],
    listRule: '',
    viewRule: '',
    manageRule: 'friends ?= @request.auth.id',
  })
  await definitions.create(SYSTEM, { name: 'posts', fields: fieldsWithRules(users.id), listRule: '', viewRule: '' })
  return world
}

/** The same client in a request of its own. `query` and `headers`: those of its topic. */
function asking(principal: Principal, query: JsonObject, headers: JsonObject): Actor {
  const request = { context: 'realtime', method: 'GET', query, headers } as Actor['request']
  return { principal, request }
}

for (const seed of seedsOf('model', 4))
  test(`random subscriptions of clients that see different fields, seed ${seed}`, async () => {
    const { pick, chance, next } = seededRandom(seed)
    await using world = await openedWorld()
    const people: Principal[] = [GUEST, SYSTEM]
    for (const letter of ['u', 'v', 'w'])
      people.push(await world.account('users', id(letter), { emailVisibility: letter === 'v' }))
    await world.create('keys', { of: id('w') })
    const asked = ['posts/*', `posts/${id('a')}`, 'users/*', `users/${id('u')}`].flatMap((name) =>
      people.flatMap((principal) => {
        const query: JsonObject = {
          ...(chance(0.3) && { key: 'k' }),
          ...(chance(0.2) && { expand: 'owner' }),
          ...(chance(0.2) && { fields: 'id,title,for_owner,for_query,email' }),
          ...(chance(0.2) && { filter: "id != ''" }),
        }
        return [{ principal, name, query, headers: chance(0.3) ? { x_key: 'k' } : {} }]
      }),
    )
    const clients = []
    for (const { one } of asked.map((one) => ({ one, at: next() })).toSorted((a, b) => a.at - b.at)) {
      const client = world.connect()
      await client.subscribeAs(one.principal, topic(one.name, one.query, one.headers))
      clients.push({ ...one, client })
    }
    const values = (): JsonObject => ({
      title: pick(['private', 'open']),
      owner: pick([id('u'), id('v')]),
      due: pick(['2020-01-01 00:00:00.000Z', '2026-01-01 00:00:00.000Z']),
      ...Object.fromEntries(
        fieldsWithRules('')
          .map(({ name }) => [name, 'x'])
          .slice(3),
      ),
    })
    const writes = [
      () => world.create('posts', { id: id('a'), ...values() }),
      () => world.update('posts', id('a'), values()),
      () => world.update('users', id('u'), { friends: pick([[id('v')], [id('w'), id('v')]]) }),
      () => world.update('users', id('v'), { name: pick(['x', 'y']) }),
      () => world.update('posts', id('a'), values()),
    ]
    let compared = 0
    for (const write of writes) {
      await write()
      await world.settled()
      for (const { principal, name, query, headers, client } of clients)
        for (const { data } of client.got.splice(0)) {
          const { record } = data as RecordEvent
          const [collection] = name.split('/') as [string]
          const actor = asking(principal, query, headers)
          expect(record).toEqual(await world.backend.records.view(actor, collection, String(record['id']), query))
          compared++
        }
    }
    expect(compared).toBeGreaterThan(30)
    const before = await Promise.all(
      clients.map(({ principal, query, headers }) =>
        world.backend.records.view(asking(principal, query, headers), 'posts', id('a'), query),
      ),
    )
    await world.delete('posts', id('a'))
    await world.settled()
    for (const [at, { name, client }] of clients.entries())
      if (name.startsWith('posts'))
        expect(client.got.map(({ data }) => (data as RecordEvent).record)).toEqual([before[at]])
  })

test('a filter that reads the clock by strftime() is asked at the time of the change', async () => {
  await using world = await LiveWorld.open([
    { name: 'posts', fields: [{ name: 'due', type: 'date' }], listRule: '', viewRule: '' },
  ])
  const client = world.connect()
  await client.subscribe(topic('posts/*', { filter: "strftime('%s', due) < strftime('%s', 'now')" }))
  await world.create('posts', { id: id('a'), due: '2026-11-22 13:00:00.000Z' })
  await world.settled()
  expect(client.told).toEqual([])
  await world.environment.advance(2 * 3_600_000)
  await world.create('posts', { id: id('b'), due: '2026-11-22 13:00:00.000Z' })
  await world.settled()
  expect(client.told).toEqual([`posts/* create ${id('b')}`])
})
