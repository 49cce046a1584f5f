/** Goal: `subscribe` of PocketBase's own client works unchanged, with an EventSource from npm. A client that can come back misses nothing. */
import { setImmediate as turn } from 'node:timers/promises'
import { EventSource } from 'eventsource'
import type PocketBase from 'pocketbase'
import type { RecordSubscription } from 'pocketbase'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../test-server.ts'
import { EventClient, topic } from './event-client.ts'
import { EMAIL, ITSELF, PASSWORD, sdkClient, startRest, type RestServer } from './rest-server.ts'

let server: RestServer
let root: PocketBase
const clients: PocketBase[] = []

beforeAll(async () => {
  globalThis.EventSource ??= EventSource as unknown as typeof globalThis.EventSource
  server = await startRest()
  root = client()
  await root.collection('_superusers').authWithPassword(EMAIL, PASSWORD)
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'votes', type: 'number' },
  ]
  await root.collections.create({ name: 'posts', type: 'base', listRule: '', viewRule: '', fields })
})
afterAll(async () => {
  for (const one of clients) await one.realtime.unsubscribe()
  await server.close()
})

function client(): PocketBase {
  const made = sdkClient(server.url)
  clients.push(made)
  return made
}

function titlesOf({ messages }: EventClient): string[] {
  return messages.map(({ data }) => (data['record'] as { readonly title: string }).title)
}

test('subscribes to all, to one, with options, and unsubscribes', async () => {
  const posts = client().collection('posts')
  const got: string[] = []
  const note = (name: string) => (event: RecordSubscription) =>
    void got.push(`${name} ${event.action} ${String(event.record['title'])}`)
  const { id } = await root.collection('posts').create({ title: 'one', votes: 1 })
  await posts.subscribe('*', note('all'))
  const stop = await posts.subscribe(id, note('one'))
  await posts.subscribe('*', note('filtered'), { filter: 'votes > 1', fields: 'title', headers: { 'X-Token': 'a' } })
  await root.collection('posts').update(id, { title: 'two', votes: 2 })
  await until(() => got.length === 3)
  expect(got.toSorted()).toEqual(['all update two', 'filtered update two', 'one update two'])
  await stop()
  await root.collection('posts').update(id, { title: 'three', votes: 0 })
  await until(() => got.length === 4)
  await posts.unsubscribe('*')
  await posts.subscribe('*', note('again'))
  await root.collection('posts').delete(id)
  await until(() => got.length === 5)
  expect(got.slice(3)).toEqual(['all update three', 'again delete three'])
  await posts.unsubscribe()
})

test('a hundred subscribers get each write, in order', async () => {
  const streams = await Promise.all(Array.from({ length: 100 }, () => EventClient.open(server.url)))
  const filters = streams.map((_, n) => topic('posts/*', { filter: `votes = ${n % 10}` }))
  await Promise.all(streams.map((stream, n) => stream.subscribe([filters[n]!])))
  for (let n = 0; n < 50; n++) await root.collection('posts').create({ title: String(n), votes: n % 10 })
  for (const [n, stream] of streams.entries()) {
    await stream.has(5)
    expect(titlesOf(stream)).toEqual([0, 1, 2, 3, 4].map((ten) => String(ten * 10 + (n % 10))))
    stream.close()
  }
})

test('a client that lost its connection subscribes again by itself', async () => {
  const own = client()
  const got: string[] = []
  await own.collection('posts').subscribe('*', ({ record }) => void got.push(String(record['title'])))
  const before = own.realtime.clientId
  const { realtime } = server.server.backend
  expect(realtime.deliver(before, 'posts/*', { action: 'x', record: { title: 'by hand' } }, { ip: '127.0.0.1' })).toBe(
    true,
  )
  await until(() => got.length === 1)
  server.loseConnections()
  // It is connected before the server knows its topics.
  const isSubscribed = (id: string): boolean => (realtime.subscriber(id)?.topics.size ?? 0) > 0
  await until(() => own.realtime.clientId !== before && isSubscribed(own.realtime.clientId))
  await root.collection('posts').create({ title: 'later' })
  await until(() => got.includes('later'))
  expect(got).toEqual(['by hand', 'later'])
})

test('an EventSource comes back by itself with its cursor, and misses nothing', async () => {
  const source = new EventSource(`${server.url}/api/realtime?topic=${encodeURIComponent('posts/*')}`)
  const got: string[] = []
  const resumed: unknown[] = []
  source.addEventListener('PB_CONNECT', ({ data }) => {
    resumed.push((JSON.parse(data as string) as { resumed: boolean }).resumed)
  })
  source.addEventListener('posts/*', ({ data }) => {
    got.push((JSON.parse(data as string) as { record: { title: string } }).record.title)
  })
  await until(() => resumed.length === 1)
  const { backend } = server.server
  const create = (title: string): Promise<unknown> => backend.records.create(ITSELF, 'posts', { title })
  await create('before')
  await until(() => got.length === 1)
  server.loseConnections()
  await create('meanwhile')
  await until(() => resumed.length === 2)
  await create('after')
  await until(() => got.length >= 3)
  source.close()
  expect([got, resumed]).toEqual([
    ['before', 'meanwhile', 'after'],
    [false, true],
  ])
})

test('over a hundred lost connections a plain client misses nothing, and gets nothing twice', async () => {
  const { records } = server.server.backend
  const expected: string[] = []
  const got: string[] = []
  let writing: Promise<void> | undefined
  let isOver = false
  const write = async (): Promise<void> => {
    while (!isOver) {
      expected.push(`n${expected.length}`)
      await records.create(ITSELF, 'posts', { title: expected.at(-1) })
      await turn()
    }
  }
  let cursor: string | undefined
  for (let round = 0; round <= 100; round++) {
    const headers = cursor === undefined ? {} : { 'last-event-id': cursor }
    const stream = await EventClient.open(server.url, { search: '?topic=posts/*', headers })
    writing ??= write()
    expect(stream.events[0]!.data['resumed']).toBe(round > 0)
    await stream.has(1 + (round % 5))
    if (round === 100) {
      isOver = true
      await writing
      await until(
        () => stream.events.at(-1)!.data['record'] !== undefined && titlesOf(stream).at(-1) === expected.at(-1),
      )
    }
    stream.close()
    cursor = stream.events.at(-1)!.id
    got.push(...titlesOf(stream))
  }
  expect(got).toEqual(expected)
})
