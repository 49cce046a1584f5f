/** Goal: a client that comes back with the cursor of its last message gets what it has missed, in order and once, or learns that it can't. */
import { expect, test } from 'vitest'
import type { RecordEvent } from '../../src/events/record-messages.ts'
import type { RealtimeMessage, Subscriber } from '../../src/events/subscriber.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import type { HookEvents } from '../../src/hooks/hook-events.ts'
import type { HookHandler } from '../../src/hooks/hooks.ts'
import { ADMIN } from '../records/world.ts'
import { LiveWorld, PASSWORD, topic } from './live-world.ts'

const OPEN = { listRule: '', viewRule: '', fields: [{ name: 'title', type: 'text' }] }

/** A client that comes back as often as it likes. */
class Returning {
  readonly #world: LiveWorld
  readonly #topics: readonly string[]
  readonly #principal: Principal
  readonly got: RealtimeMessage[] = []
  readonly resumed: boolean[] = []
  cursor: string | undefined
  /** Messages that still reach it. */
  #left = Infinity
  #subscriber: Subscriber | undefined
  #connection: object | undefined

  constructor(world: LiveWorld, topics: readonly string[], principal = GUEST) {
    this.#world = world
    this.#topics = topics
    this.#principal = principal
  }

  async connect(): Promise<void> {
    this.#left = Infinity
    const connection = {}
    this.#connection = connection
    const { realtime } = this.#world.backend
    const send = (messages: readonly RealtimeMessage[]): void => {
      for (const message of messages) {
        if (this.#connection !== connection || this.#left-- <= 0) return
        this.got.push(message)
        this.cursor = message.cursor
      }
    }
    const returning = { principal: this.#principal, topics: this.#topics, after: this.cursor }
    await realtime.connectAgain(
      { address: undefined, send, end: () => {} },
      returning,
      (subscriber, cursor, isResumed) => {
        this.#subscriber = subscriber
        this.cursor = cursor
        this.resumed.push(isResumed)
      },
    )
  }

  /** The connection is dead: after that many messages nothing arrives. */
  cut(after = 0): void {
    this.#left = after
  }

  leave(): void {
    this.#connection = undefined
    this.#world.backend.realtime.disconnect(this.#subscriber!)
  }

  get titles(): string[] {
    return this.got.map(({ data }) => {
      const { action, record } = data as RecordEvent
      return `${action} ${String(record['title'])}`
    })
  }
}

test('what was missed comes in order and once, wherever the connection was cut', async () => {
  await using world = await LiveWorld.open([{ name: 'posts', ...OPEN }])
  const topics = ['posts/*', topic('posts/*', { filter: "title ~ '1'" })]
  const whole = world.connect()
  await whole.subscribe(...topics)
  const client = new Returning(world, topics)
  await client.connect()
  const { request } = ADMIN
  for (let round = 0; round < 40; round++) {
    client.cut(round % 7)
    const inputs = [0, 1, 2].map((n) => ({ title: `${round}.${n}` }))
    const operations = inputs.map((input) => ({ action: 'create', collection: 'posts', input, request }) as const)
    await world.backend.records.batch(SYSTEM, operations, { workMsMax: 60_000 })
    await world.create('posts', { title: `${round}.single` })
    if (round % 3 === 0) await world.settled()
    client.leave()
    if (round % 2 === 0) await world.create('posts', { title: `${round}.away` })
    await client.connect()
    if (round % 5 === 0) await world.settled()
  }
  await world.settled()
  expect(client.resumed).toEqual([false, ...Array.from({ length: 40 }, () => true)])
  const said = (messages: readonly RealtimeMessage[]): string[] =>
    messages.map(({ topic: text, data }) => `${text} ${String((data as RecordEvent).record['title'])}`)
  expect(said(client.got)).toEqual(said(whole.got))
})

test('what is sent again is judged by the state of its commit', async () => {
  await using world = await LiveWorld.open([{ name: 'posts', ...OPEN }])
  const { definitions } = world.backend
  const collectionId = definitions.get('posts').id
  const post = { name: 'post', type: 'relation', collectionId, maxSelect: 1, cascadeDelete: true, required: true }
  const title = { name: 'title', type: 'text' }
  await definitions.create(SYSTEM, { name: 'comments', fields: [post, title], listRule: "post.title = 'open'" })
  const client = new Returning(world, ['comments/*'])
  const { id } = await world.create('posts', { title: 'open' })
  await client.connect()
  client.leave()
  await world.create('comments', { post: id, title: 'seen' })
  await world.update('posts', String(id), { title: 'closed' })
  await world.create('comments', { post: id, title: 'unseen' })
  await world.update('posts', String(id), { title: 'open' })
  await world.delete('posts', String(id))
  await client.connect()
  await world.settled()
  expect([client.titles, client.resumed]).toEqual([
    ['create seen', 'delete seen', 'delete unseen'],
    [false, true],
  ])
})

test('a cursor of another start, of nobody, or of what is gone resumes nothing', async () => {
  const other = await LiveWorld.open([{ name: 'posts', ...OPEN }])
  const stranger = new Returning(other, ['posts/*'])
  await stranger.connect()
  await other.create('posts', { title: 'x' })
  await other.settled()
  await other[Symbol.asyncDispose]()
  await using world = await LiveWorld.open([{ name: 'posts', ...OPEN }])
  const client = new Returning(world, ['posts/*'])
  for (const cursor of [stranger.cursor, 'x', '', '-1', `${stranger.cursor}.1.1`]) {
    client.cursor = cursor
    await client.connect()
    client.leave()
  }
  await client.connect()
  client.leave()
  await world.create('posts', { title: 'a' })
  await world.environment.advance(121_000)
  await world.create('posts', { title: 'b' })
  await world.settled()
  await client.connect()
  await world.create('posts', { title: 'c' })
  await world.settled()
  expect([client.titles, client.resumed]).toEqual([['create c'], [false, false, false, false, false, true, false]])
})

test('a client that comes back as somebody else gets what that one may see', async () => {
  await using world = await LiveWorld.open([{ name: 'posts', ...OPEN, listRule: '@request.auth.id = title' }])
  const ann = await world.account('users', 'a'.repeat(15))
  const [one, two] = [new Returning(world, ['posts/*'], ann), new Returning(world, ['posts/*'])]
  for (const client of [one, two]) {
    await client.connect()
    client.leave()
  }
  await world.create('posts', { title: 'a'.repeat(15) })
  const back = new Returning(world, ['posts/*'])
  back.cursor = one.cursor
  for (const client of [one, two, back]) await client.connect()
  await world.settled()
  expect([one, two, back].map(({ titles }) => titles.length)).toEqual([1, 0, 0])
  await world.update('users', 'a'.repeat(15), { password: `${PASSWORD}!`, passwordConfirm: `${PASSWORD}!` })
  one.leave()
  await world.create('posts', { title: 'a'.repeat(15) })
  // Its request was read before.
  await one.connect()
  await world.settled()
  await world.create('posts', { title: 'a'.repeat(15) })
  await world.settled()
  expect(one.titles.length).toBe(1)
})

test('wrong topics are refused', async () => {
  await using world = await LiveWorld.open()
  const { realtime } = world.backend
  const connect = (topics: readonly string[]): Promise<void> =>
    realtime.connectAgain(
      { address: undefined, send: () => {}, end: () => {} },
      { principal: GUEST, topics, after: undefined },
      () => {},
    )
  const invalid: unknown = expect.objectContaining({ code: 'INVALID' })
  await expect(connect(['a'.repeat(2501)])).rejects.toEqual(invalid)
  await expect(connect(Array.from({ length: 1001 }, (_, n) => String(n)))).rejects.toEqual(invalid)
  expect(realtime.size).toBe(0)
})

test('what a slow hook makes comes once and in order, also to a client that was cut while messages waited', async () => {
  await using world = await LiveWorld.open([{ name: 'posts', ...OPEN }])
  const handler: HookHandler<HookEvents['onRecordEnrich']> = async (e) => {
    if (e.requestInfo().context === 'realtime') for (let turn = 0; turn < 3; turn++) await world.environment.yield()
    if (e.record.getString('title').endsWith('7')) throw new ServiceError('FORBIDDEN', 'Not this one.')
    await e.next()
  }
  const client = new Returning(world, ['posts/*', topic('posts/*', { fields: 'title' })])
  await client.connect()
  const write = (at: number): Promise<unknown> =>
    world.backend.app.save(world.backend.app.newRecord('posts', { title: `${at}` }))
  world.backend.hooks.replace([{ name: 'onRecordEnrich', handler, tags: [], source: 'hooks/test.ts:1' }])
  for (let at = 0; at < 40; at++) {
    await write(at)
    if (at % 5 !== 4) continue
    client.cut(at % 3)
    client.leave()
    await client.connect()
  }
  const titles = Array.from({ length: 40 }, (_, at) => `create ${at}`).filter((title) => !title.endsWith('7'))
  await world.settled()
  expect(client.titles).toEqual(titles.flatMap((title) => [title, title]))
  expect(client.resumed.slice(1)).not.toContain(false)
})
