/** Goal: subscribers who mean harm, or whose rules cost much, harm nobody but themselves. */
import { expect, test } from 'vitest'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import { LiveWorld, topic } from './live-world.ts'

const ITEMS = 400
const HUB = 'h'.repeat(15)
/** Paths that multiply: each item leads to its hub, and from there to all items again. */
const COSTLY = topic('hubs/*', { filter: "items_via_hub.hub.items_via_hub.name = 'nothing'" })

function codeOf(error: unknown): unknown {
  return error instanceof ServiceError ? error.code : error
}

async function hubs(): Promise<LiveWorld> {
  const world = await LiveWorld.open([{ name: 'hubs', listRule: '', fields: [{ name: 'n', type: 'number' }] }])
  const { definitions, records } = world.backend
  const { id: collectionId } = definitions.get('hubs')
  await definitions.create(SYSTEM, {
    name: 'items',
    listRule: '',
    viewRule: '',
    fields: [
      { name: 'name', type: 'text' },
      { name: 'hub', type: 'relation', collectionId },
    ],
  })
  await world.create('hubs', { id: HUB, n: 0 })
  const request = { context: 'default', method: 'POST', query: {}, headers: {} } as const
  const items = Array.from({ length: ITEMS }, (_, n) => ({
    action: 'create' as const,
    collection: 'items',
    input: { name: `item ${n}`, hub: HUB },
    request,
  }))
  await records.batch(SYSTEM, items, { workMsMax: 60_000 })
  return world
}

function isWarning(entry: unknown): boolean {
  return (entry as { readonly message: string }).message.includes('try too many rows')
}

test('a filter that tries too many rows ends its client; others get all messages, and it may come back later', async () => {
  await using world = await hubs()
  const [ann, costly, same] = [world.connect(), world.connect(), world.connect()]
  await ann.subscribe('hubs/*')
  await costly.subscribe(COSTLY, 'items/*')
  await same.subscribe(COSTLY)
  let writes = 0
  while (!costly.isEnded && writes < 100) {
    await world.update('hubs', HUB, { n: ++writes })
    await world.environment.idle()
    expect(ann.got.length).toBe(writes)
  }
  // The limit of one record is 100,000 rows, the budget five times that.
  expect(writes).toBeGreaterThan(2)
  expect(writes).toBeLessThan(12)
  expect([costly.isEnded, same.isEnded, ann.isEnded, costly.got]).toEqual([true, true, false, []])
  expect(world.errors.splice(0).filter((entry) => !isWarning(entry))).toEqual([])
  // All guests of that address are one, until it is better.
  const again = world.connect()
  const refused = await again.subscribe(COSTLY).catch((error: unknown) => error)
  expect(codeOf(refused)).toBe('TOO_MANY_REQUESTS')
  expect((refused as ServiceError).retryAfterSeconds).toBeGreaterThan(0)
  await again.subscribe()
  await world.environment.advance(1000 * (refused as ServiceError).retryAfterSeconds!)
  await again.subscribe('hubs/*')
  await world.update('hubs', HUB, { n: -1 })
  await world.settled()
  expect([again.told.length, ann.got.length]).toEqual([1, writes + 1])
})

test('what an account costs is not on the guests, and superusers are trusted', async () => {
  await using world = await hubs()
  const account: Principal = await world.account('users', 'u'.repeat(15))
  const [guest, member, root] = [world.connect(), world.connect(), world.connect()]
  await guest.subscribe('hubs/*')
  await member.subscribeAs(account, COSTLY)
  await root.subscribeAs(SYSTEM, COSTLY)
  for (let n = 1; n <= 20; n++) await world.update('hubs', HUB, { n })
  await world.environment.idle()
  expect(member.isEnded).toBe(true)
  expect(world.errors).toHaveLength(1)
  expect(guest.got.length).toBe(20)
  await world.connect().subscribe('hubs/*')
  const refused = await world
    .connect()
    .subscribeAs(account, 'hubs/*')
    .catch((error: unknown) => error)
  expect([codeOf(refused), root.isEnded]).toEqual(['TOO_MANY_REQUESTS', false])
})

test('ten thousand subscriptions get what they want; more than there is room for is refused and changes nothing', async () => {
  await using world = await LiveWorld.open([
    {
      name: 'posts',
      listRule: '',
      fields: [
        { name: 'room', type: 'text' },
        { name: 'votes', type: 'number' },
      ],
    },
  ])
  const clients = Array.from({ length: 10 }, () => world.connect())
  const { realtime } = world.backend
  for (const [at, client] of clients.entries())
    await client.subscribe(
      ...Array.from({ length: 1000 }, (_, n) =>
        topic('posts/*', { filter: n % 2 === 0 ? `room = 'r${n}'` : `votes > ${n}`, at }),
      ),
    )
  const { id } = (await world.create('posts', { room: 'r10', votes: 0 })) as { readonly id: string }
  await world.update('posts', id, { room: '', votes: 8 })
  await world.settled()
  for (const { told } of clients)
    expect(told.toSorted()).toEqual([
      `posts/* create ${id}`,
      ...Array.from({ length: 4 }, () => `posts/* update ${id}`),
    ])
  for (const { subscriber } of clients) realtime.disconnect(subscriber)
  const wide = (at: number): string[] =>
    Array.from({ length: 1000 }, (_, n) => topic('posts/*', { at, n, filter: `room = '${'x'.repeat(2300)}'` }))
  const refusalOf = (address: string, at: number): Promise<unknown> =>
    world
      .connect(address)
      .subscribe(...wide(at))
      .catch((error: unknown) => error)
  expect(await refusalOf('10.0.0.0', 0)).toBeUndefined()
  expect(codeOf(await refusalOf('10.0.0.0', 1))).toBe('TOO_MANY_REQUESTS')
  let refused: unknown
  for (let at = 1; refused === undefined && at < 100; at++) refused = await refusalOf(`10.0.0.${at}`, at)
  expect(codeOf(refused)).toBe('UNAVAILABLE')
  const last = world.connect()
  await last.subscribe('posts/*')
  await world.update('posts', id, { votes: 9 })
  await world.settled()
  expect(last.told).toEqual([`posts/* update ${id}`])
})

test('a collection that is deleted, and made again, has no messages for those who may not see it', async () => {
  const posts = { name: 'posts', listRule: '', fields: [{ name: 'title', type: 'text' }] }
  await using world = await LiveWorld.open([posts])
  const [client, root] = [world.connect(), world.connect()]
  const all = ['posts/*', topic('posts/*', { filter: "title = 'a'" })]
  await client.subscribe(...all)
  await root.subscribeAs(SYSTEM, ...all)
  await world.create('posts', { title: 'a' })
  await world.settled()
  const { definitions } = world.backend
  await definitions.delete(SYSTEM, 'posts')
  await definitions.create(SYSTEM, { ...posts, listRule: null })
  await world.create('posts', { title: 'a' })
  await world.settled()
  expect([client.got.length, root.got.length]).toEqual([2, 4])
  await definitions.update(SYSTEM, 'posts', { listRule: '', fields: [{ name: 'name', type: 'text' }] })
  await world.create('posts', { name: 'b' })
  await world.settled()
  // The filter names what is no longer there.
  expect([client.got.length, root.got.length]).toEqual([3, 5])
})

test('a subscriber that is gone in the middle of a commit gets no more, and the others get all', async () => {
  await using world = await LiveWorld.open([{ name: 'posts', listRule: '', fields: [{ name: 'title', type: 'text' }] }])
  const { realtime, records } = world.backend
  const got: string[] = []
  const send = (): void => {
    got.push('one')
    realtime.disconnect(leaving)
  }
  const leaving = realtime.connect({ address: undefined, send, end: () => {} })
  await realtime.subscribe(GUEST, { clientId: leaving.id, subscriptions: ['posts/*', 'posts'] })
  const staying = world.connect()
  await staying.subscribe('posts/*')
  const request = { context: 'default', method: 'POST', query: {}, headers: {} } as const
  const operations = Array.from({ length: 50 }, (_, n) => ({
    action: 'create' as const,
    collection: 'posts',
    input: { title: String(n) },
    request,
  }))
  await records.batch(SYSTEM, operations, { workMsMax: 60_000 })
  await world.settled()
  expect([got.length, staying.got.length]).toEqual([1, 50])
  await expect(realtime.subscribe(GUEST, { clientId: leaving.id, subscriptions: ['posts/*'] })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
})
