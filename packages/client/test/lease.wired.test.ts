/** Goal: an encrypted device that was not in sync for longer than its lease opens nothing, also with its password, and loses nothing. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { virtualEnvironment, type VirtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { AppServer, USER_PASSWORD, type User } from './app-server.ts'
import { Device, type AppClient } from './device.ts'

const DAY_MS = 24 * 60 * 60_000

let app: AppServer
let ann: User
let project: string
let device: Device
/** The clock of the device. */
let clock: VirtualEnvironment

beforeAll(async () => {
  app = await AppServer.start()
  ann = await app.addUser('ann')
  project = await app.add('projects', { name: 'house', members: [ann.id] })
})
beforeEach(() => {
  app.isDown = false
  clock = virtualEnvironment({ seed: 2 })
  device = new Device({ url: app.url, environment: clock })
})
afterAll(() => app[Symbol.asyncDispose]())

// Few rounds: each test opens many times.
const OPTIONS = {
  encryption: { password: 'the same for all', derivation: 'pbkdf2' },
  lease: '30d',
} as const

const open = (): Promise<AppClient> => device.open(OPTIONS)
const signIn = (client: AppClient): Promise<unknown> => client.signIn.password('users', ann.email, USER_PASSWORD)

async function openSynced(): Promise<AppClient> {
  const client = await open()
  await signIn(client)
  await client.sync()
  return client
}

test('a device opens offline until its lease is over, then only after signing in, with what it had not sent', async () => {
  let client = await openSynced()
  await client.collection('tasks').create({ title: 'unsent', project })
  app.isDown = true
  for (const days of [29, 1]) {
    await client.close()
    clock.jump(days * DAY_MS)
    client = await open()
    expect([client.account?.id, client.state.unsent, client.state.isLeaseOver]).toEqual([ann.id, 1, false])
  }
  await client.close()
  clock.jump(1)
  for (const backMs of [30 * DAY_MS, 0]) {
    client = await open()
    expect([client.account, client.state.isLeaseOver]).toEqual([undefined, true])
    await expect(signIn(client)).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
    await client.close()
    // The half of the key is gone: to set the clock back does not help any more.
    clock.jump(-backMs)
  }
  app.isDown = false
  client = await open()
  await signIn(client)
  expect([client.account?.id, client.state.unsent, client.state.isLeaseOver]).toEqual([ann.id, 1, false])
  await client.sync()
  expect(client.state.unsent).toBe(0)
  await client.close()
})

test('each sync renews the lease', async () => {
  let client = await openSynced()
  clock.jump(20 * DAY_MS)
  await client.sync()
  await client.close()
  clock.jump(29 * DAY_MS)
  client = await open()
  expect(client.account?.id).toBe(ann.id)
  await client.close()
})

test('a device whose session was ended elsewhere gets no more time, and no half of the key', async () => {
  let client = await openSynced()
  const other = await new Device(app).openAs(ann)
  await app.call(`PATCH /collections/users/records/${ann.id}`, {
    password: 'another one',
    passwordConfirm: 'another one',
  })
  clock.jump(20 * DAY_MS)
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_SIGNED_OUT' })
  await client.close()
  clock.jump(11 * DAY_MS)
  client = await open()
  expect(client.state.isLeaseOver).toBe(true)
  await expect(signIn(client)).rejects.toMatchObject({ code: 'PANNIER_PEER_REFUSED' })
  await app.call(`PATCH /collections/users/records/${ann.id}`, {
    password: USER_PASSWORD,
    passwordConfirm: USER_PASSWORD,
  })
  await client.close()
  await other.close()
})

test('a clock that was set back opens nothing, and a sync sets the lease right', async () => {
  let client = await openSynced()
  clock.jump(10 * DAY_MS)
  await client.checkLease()
  await client.close()
  clock.jump(-11 * 60_000)
  client = await open()
  expect([client.account, client.state.isLeaseOver]).toEqual([undefined, true])
  await signIn(client)
  // Open and online, the server is asked: it knows the session.
  clock.jump(-5 * DAY_MS)
  await client.checkLease()
  expect(client.account?.id).toBe(ann.id)
  await client.close()
  clock.jump(30 * DAY_MS)
  client = await open()
  expect(client.account?.id).toBe(ann.id)
  await client.close()
})

test('the tabs of a device have one lease: each closes when it is over, and one that syncs renews it for all', async () => {
  const first = await openSynced()
  const second = await open()
  clock.jump(20 * DAY_MS)
  await second.sync()
  clock.jump(20 * DAY_MS)
  app.isDown = true
  await first.checkLease()
  expect(first.account?.id).toBe(ann.id)
  clock.jump(11 * DAY_MS)
  const states: boolean[] = []
  first.subscribeState(({ isLeaseOver }) => states.push(isLeaseOver))
  // Each open client looks once a minute.
  await clock.advance(60_000)
  for (const tab of [first, second]) expect([tab.account, tab.state.isLeaseOver]).toEqual([undefined, true])
  expect(states.at(-1)).toBe(true)
  await first.close()
  await second.close()
})

test('after signing out only the server opens the data', async () => {
  let client = await openSynced()
  await client.signOut()
  expect(client.state.isLeaseOver).toBe(false)
  await client.close()
  client = await device.open({ ...OPTIONS, lease: 9 * DAY_MS })
  await signIn(client)
  expect(await client.collection('projects').find().count()).toBeGreaterThan(0)
  await client.close()
})

test('without the half of the server, the password opens nothing', async () => {
  const client = await openSynced()
  await client.close()
  const { lease: _, ...options } = OPTIONS
  await expect(device.open(options)).rejects.toMatchObject({ code: 'PANNIER_KEY_WRONG' })
})

test('a key that cannot be read is halved too', async () => {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  const options = { ...OPTIONS, encryption: { key } }
  let client = await device.open(options)
  await signIn(client)
  await client.close()
  client = await device.open(options)
  expect(client.account?.id).toBe(ann.id)
  await client.close()
  await expect(device.open({ encryption: { key } })).rejects.toMatchObject({ code: 'PANNIER_KEY_WRONG' })
})

test('a lease that is not right says what is', async () => {
  await expect(device.open({ lease: '30d' })).rejects.toThrow('encryption must be given with a lease')
  await expect(device.open({ ...OPTIONS, lease: 'a month' })).rejects.toThrow('got a month')
  const { status } = await app.call('POST /sync/lease', { device: 'a'.repeat(16) }, '')
  expect(status).toBe(401)
})
