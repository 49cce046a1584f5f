/** Goal: a slow hook of one account delays its client alone, in order, without a leak and with bounded memory. */
import { expect, test } from 'vitest'
import type { RecordEvent } from '../../src/events/record-messages.ts'
import type { RealtimeMessage } from '../../src/events/subscriber.ts'
import { SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import type { HookEvents } from '../../src/hooks/hook-events.ts'
import type { HookHandler } from '../../src/hooks/hooks.ts'
import { LiveWorld, topic, type LiveClient } from './live-world.ts'

type Enrich = HookHandler<HookEvents['onRecordEnrich']>

const POSTS = { name: 'posts', listRule: '', viewRule: '', fields: [{ name: 'title', type: 'text', max: 2_000_000 }] }

function enrich(world: LiveWorld, handler: Enrich, ...tags: readonly string[]): void {
  world.backend.hooks.replace([{ name: 'onRecordEnrich', handler, tags, source: 'hooks/test.ts:1' }])
}

/** Somebody who has logged in. The account is stored without a login, as hashes take their time. */
async function accountOf(world: LiveWorld, id: string): Promise<Principal> {
  const { definitions, app } = world.backend
  const users = definitions.find('users')!
  await app.save(app.newRecord('users', { id, email: `${id}@example.com`, password: '1234567890' }))
  const record = (await definitions.records(users).get(id))!
  return { name: id, roles: [], isAdmin: false, by: 'token', account: { collection: users.id, record } }
}

/** `title for reader` of each message. */
function read(got: readonly RealtimeMessage[]): readonly string[] {
  return got.map(({ data }) => {
    const { title, reader } = (data as RecordEvent).record
    return `${String(title).slice(0, 10)} for ${String(reader)}`
  })
}

/** Marks each record with its reader. That of one account hangs until `release`. */
function hangsFor(world: LiveWorld, slow: string): { readonly begun: () => number; release(): void } {
  const released = Promise.withResolvers<void>()
  let begun = 0
  enrich(world, async (e) => {
    if (e.auth?.id === slow) {
      begun++
      await released.promise
    }
    const { headers, context } = e.requestInfo()
    e.record.set('reader', e.auth?.id ?? headers['reader'] ?? context)
    e.record.withCustomData(true)
    await e.next()
  })
  return { begun: () => begun, release: () => released.resolve() }
}

const SLOW = 's'.repeat(15)

test('a hook that hangs for one account delays no commit and none of 100 others; it gets its own, in order, later', async () => {
  await using world = await LiveWorld.open([POSTS])
  const slow = world.connect()
  await slow.subscribeAs(await accountOf(world, SLOW), 'posts/*')
  const others: { readonly client: LiveClient; readonly reader: string }[] = []
  for (let at = 0; at < 100; at++) {
    const client = world.connect()
    const reader = `reader-of-test${String(at).padStart(3, '0')}`.slice(-15)
    if (at < 5) await client.subscribeAs(await accountOf(world, reader.replaceAll('-', 'x')), 'posts/*')
    else await client.subscribe(topic('posts/*', {}, { reader }))
    others.push({ client, reader: at < 5 ? reader.replaceAll('-', 'x') : reader })
  }
  const hanging = hangsFor(world, SLOW)
  const titles = Array.from({ length: 20 }, (_, at) => `post ${at}`)
  for (const title of titles) await world.create('posts', { title })
  const all = (reader: string): readonly string[] => titles.map((title) => `${title} for ${reader}`)
  await world.environment.idle()
  for (const { client, reader } of others) expect(read(client.got)).toEqual(all(reader))
  expect([slow.got, hanging.begun()]).toEqual([[], 1])
  hanging.release()
  await world.environment.idle()
  expect(read(slow.got)).toEqual(all(SLOW))
  expect([...others.map(({ client }) => client), slow].filter(({ isEnded }) => isEnded)).toEqual([])
})

test('a hook of an expanded record delays nobody else either', async () => {
  await using world = await LiveWorld.open([POSTS])
  const { definitions } = world.backend
  const { id: collectionId } = definitions.find('posts')!
  const post = { name: 'post', type: 'relation', collectionId }
  await definitions.create(SYSTEM, { name: 'notes', listRule: '', fields: [{ name: 'title', type: 'text' }, post] })
  const [expanding, plain] = [world.connect(), world.connect()]
  await expanding.subscribe(topic('notes/*', { expand: 'post' }))
  await plain.subscribe('notes/*')
  const { id: target } = await world.create('posts', { title: 'a' })
  const released = Promise.withResolvers<void>()
  enrich(world, async (e) => (await released.promise, e.next()), 'posts')
  const { id } = await world.create('notes', { post: target })
  await world.environment.idle()
  expect(plain.told).toEqual([`notes/* create ${String(id)}`])
  released.resolve()
  await world.environment.idle()
  expect(expanding.told).toEqual([`notes/* create ${String(id)}`])
})

test('a client whose hook hangs is cut off when 4 MiB wait for it; the log says so, and others get all', async () => {
  await using world = await LiveWorld.open([POSTS])
  const [slow, other] = [world.connect(), world.connect()]
  await slow.subscribeAs(await accountOf(world, SLOW), 'posts/*')
  await other.subscribe('posts/*')
  const hanging = hangsFor(world, SLOW)
  const title = 'a'.repeat(1_000_000)
  for (let at = 0; at < 5; at++) await world.create('posts', { title })
  await world.environment.idle()
  expect(other.got.length).toBe(5)
  // The first one is being made, and four wait.
  expect(slow.isEnded).toBe(false)
  await world.create('posts', { title })
  await world.environment.idle()
  expect(slow.isEnded).toBe(true)
  expect(other.got.length).toBe(6)
  hanging.release()
  await world.environment.idle()
  expect([slow.got, other.isEnded]).toEqual([[], false])
  await world.backend.logs.flush()
  expect(world.errors).toMatchObject([{ data: { error: expect.stringContaining('onRecordEnrich') as string } }])
})

test('a hook that takes too long cuts its client off, so that it loads again; one that throws keeps its message alone', async () => {
  await using world = await LiveWorld.open([POSTS])
  const [slow, other] = [world.connect(), world.connect()]
  await slow.subscribeAs(await accountOf(world, SLOW), 'posts/*')
  await other.subscribe('posts/*')
  enrich(world, (e) => {
    const title = e.record.getString('title')
    if (e.auth === undefined || title === 'fine') return e.next()
    throw new ServiceError(title === 'refused' ? 'FORBIDDEN' : 'UNAVAILABLE', 'onRecordEnrich takes too long.')
  })
  for (const title of ['refused', 'fine', 'late', 'fine']) await world.create('posts', { title })
  await world.environment.idle()
  expect(other.got.length).toBe(4)
  expect(slow.isEnded).toBe(true)
  expect([read(slow.got), other.isEnded]).toEqual([['fine for undefined'], false])
})

test('what waits for a hook is not sent to a client that has signed out: it is cut off', async () => {
  await using world = await LiveWorld.open([POSTS])
  const account = await accountOf(world, SLOW)
  const [out, gone, other] = [world.connect(), world.connect(), world.connect()]
  await out.subscribeAs(account, 'posts/*')
  await gone.subscribeAs(account, 'posts/*')
  await other.subscribe('posts/*')
  const hanging = hangsFor(world, SLOW)
  for (const title of ['one', 'two']) await world.create('posts', { title })
  await world.environment.idle()
  expect(hanging.begun()).toBe(1)
  world.backend.realtime.disconnect(gone.subscriber)
  await world.update('users', SLOW, { password: '0123456789', passwordConfirm: '0123456789' })
  await world.environment.idle()
  expect(out.isEnded).toBe(true)
  hanging.release()
  await world.create('posts', { title: 'three' })
  await world.environment.idle()
  expect(other.got.length).toBe(3)
  expect([out.got, gone.got, hanging.begun()]).toEqual([[], [], 1])
})

test('what waits for a hook is not sent for a topic that a client has left, also if it has come back to it', async () => {
  await using world = await LiveWorld.open([POSTS, { ...POSTS, name: 'notes' }])
  const account = await accountOf(world, SLOW)
  const client = world.connect()
  await client.subscribeAs(account, 'posts/*', 'notes/*')
  const hanging = hangsFor(world, SLOW)
  for (const name of ['posts', 'notes', 'posts', 'notes']) await world.create(name, { title: name })
  await world.environment.idle()
  expect(hanging.begun()).toBe(1)
  await world.settled()
  await client.subscribeAs(account, 'notes/*')
  await client.subscribeAs(account, 'notes/*', 'posts/*')
  await world.create('posts', { title: 'newer' })
  hanging.release()
  await world.environment.idle()
  expect(read(client.got)).toEqual([`notes for ${SLOW}`, `notes for ${SLOW}`, `newer for ${SLOW}`])
})

test('a guest that logs in while messages wait for it gets them, as they were for it', async () => {
  await using world = await LiveWorld.open([POSTS])
  const account = await accountOf(world, 'a'.repeat(15))
  const client = world.connect()
  await client.subscribe('posts/*')
  const released = Promise.withResolvers<void>()
  enrich(
    world,
    async (e) => {
      if (e.requestInfo().context === 'realtime' && e.auth === undefined) await released.promise
      e.record.set('reader', e.auth?.id ?? 'guest')
      e.record.withCustomData(true)
      await e.next()
    },
    'posts',
  )
  await world.create('posts', { title: 'one' })
  await world.settled()
  await client.subscribeAs(account, 'posts/*')
  await world.create('posts', { title: 'two' })
  released.resolve()
  await world.environment.idle()
  expect(read(client.got)).toEqual(['one for guest', `two for ${'a'.repeat(15)}`])
})
