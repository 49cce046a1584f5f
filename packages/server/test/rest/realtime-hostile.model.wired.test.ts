/** Goal: clients that read slowly, flood, break off or lie hold little memory, and harm nobody's messages. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { until } from '../test-server.ts'
import { EventClient, topic } from './event-client.ts'
import { call, ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

let server: RestServer
beforeAll(async () => {
  server = await startRest()
  const fields = [{ name: 'title', type: 'text', max: 100_000 }]
  await server.call('POST /collections', { name: 'posts', type: 'base', listRule: '', viewRule: '', fields })
})
/** Nothing of a client is left when it has gone. */
afterEach(() => until(() => server.server.backend.realtime.size === 0))
afterAll(() => server.close())

/** Gives the id of the record. */
async function create(title: string): Promise<unknown> {
  return (await server.server.backend.records.create(ITSELF, 'posts', { title }))['id']
}

/** A client that connects, and reads nothing. */
async function deafClient(): Promise<{ readonly socket: Socket; readonly id: string }> {
  const { hostname, port } = new URL(server.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(`GET /api/realtime HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`)
  let text = ''
  while (!text.includes('"clientId"')) text += String((await once(socket, 'data'))[0])
  socket.pause()
  return { socket, id: /"clientId":"(\w+)"/.exec(text)![1]! }
}

test('a client that reads nothing is cut off when 4 MiB wait; the others get all in order', async () => {
  const { realtime } = server.server.backend
  const quick = await EventClient.open(server.url)
  await quick.subscribe([topic('posts/*', { fields: 'id' })])
  const deaf = await deafClient()
  const subscribed = await server.call('POST /realtime', { clientId: deaf.id, subscriptions: ['posts/*'] }, '')
  expect(subscribed.status).toBe(204)
  const ids: unknown[] = []
  // What the sockets of both sides hold comes before the 4 MiB.
  while (realtime.size > 1 && ids.length < 400) {
    ids.push(await create('x'.repeat(90_000)))
    await quick.has(ids.length)
  }
  expect(realtime.size).toBe(1)
  expect(ids.length * 90_000).toBeGreaterThan(4 * 1024 * 1024)
  expect(quick.messages.map(({ data }) => (data['record'] as { readonly id: string }).id)).toEqual(ids)
  quick.close()
  deaf.socket.destroy()
})

test('a flood of subscriptions of one client ends with one of them, and delays nobody else', async () => {
  const [flooded, other] = [await EventClient.open(server.url), await EventClient.open(server.url)]
  await other.subscribe(['posts/*'])
  const floods = Array.from({ length: 500 }, (_, n) =>
    flooded.subscribe(Array.from({ length: 20 }, (_unused, m) => topic('posts/*', { filter: `title = '${n}'`, m }))),
  )
  const answers = await Promise.all(floods)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]))
  const topics = [...server.server.backend.realtime.subscriber(flooded.id)!.topics.keys()]
  expect(topics.length).toBe(20)
  const title = /title%20%3D%20'(\d+)'/.exec(topics[0]!)![1]!
  await create('none of them')
  await create(title)
  await flooded.has(20)
  await other.has(2)
  expect([flooded.messages.length, other.messages.length]).toEqual([20, 2])
  flooded.close()
  other.close()
})

for (const seed of seedsOf('model'))
  test(`clients that break off at any moment leave nothing behind, seed ${seed}`, async () => {
    const { below } = seededRandom(seed)
    const steady = await EventClient.open(server.url)
    await steady.subscribe(['posts/*'])
    const { hostname, port } = new URL(server.url)
    const leave = async (n: number): Promise<void> => {
      const client = await EventClient.open(server.url)
      const body = JSON.stringify({ clientId: client.id, subscriptions: ['posts/*', topic('posts/*', { n })] })
      const socket = connect({ host: hostname, port: Number(port) })
      socket.on('error', () => {})
      const head = `POST /api/realtime HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n`
      const request = `${head}content-length: ${body.length}\r\n\r\n${body}`
      socket.write(request.slice(0, below(request.length + 1)))
      if (below(2) === 0) client.close()
      for (let turns = below(100); turns > 0; turns--) await turn()
      socket.destroy()
      client.close()
    }
    const leaving = Array.from({ length: 60 }, (_, n) => leave(n))
    for (let n = 0; n < 30; n++) await create(`write ${n}`)
    await Promise.all(leaving)
    await steady.has(30)
    expect(steady.messages.length).toBe(30)
    steady.close()
  })

test('a client id that is forged, another account’s, or long gone changes nothing', async () => {
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  const { records } = server.server.backend
  await records.create(ITSELF, 'users', account)
  await records.create(ITSELF, 'users', { ...account, email: 'eve@example.com' })
  const [ann, eve] = [
    await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD),
    await tokenFor(server.url, 'users', 'eve@example.com', PASSWORD),
  ]
  const client = await EventClient.open(server.url)
  await client.subscribe(['posts/*'], ann)
  const asking = (clientId: unknown, token: string): Promise<number> =>
    call(server.url, 'POST /realtime', { clientId, subscriptions: ['posts/x'] }, token).then(({ status }) => status)
  const { id } = client
  const near = (id.startsWith('a') ? 'b' : 'a') + id.slice(1)
  for (const forged of [near, id.toUpperCase() + '_', id.slice(1), '__proto__', 'constructor'])
    expect(await asking(forged, ann), forged).toBe(404)
  for (const forged of [[id, id], { id }, null, 7]) expect(await asking(forged, ann), JSON.stringify(forged)).toBe(400)
  expect([await asking(id, eve), await asking(id, '')]).toEqual([403, 403])
  expect([...server.server.backend.realtime.subscriber(id)!.topics.keys()]).toEqual(['posts/*'])
  client.close()
  await until(() => server.server.backend.realtime.subscriber(id) === undefined)
  expect(await asking(id, ann)).toBe(404)
})

test('a token that ends in mid-stream makes its client a guest before anything else is sent', async () => {
  await server.call('POST /collections', {
    name: 'private',
    type: 'base',
    listRule: "@request.auth.id != ''",
    fields: [{ name: 'title', type: 'text' }],
  })
  const { records } = server.server.backend
  const { id } = await records.create(ITSELF, 'users', {
    email: 'bob@example.com',
    password: PASSWORD,
    passwordConfirm: PASSWORD,
  })
  const token = await tokenFor(server.url, 'users', 'bob@example.com', PASSWORD)
  const client = await EventClient.open(server.url)
  await client.subscribe(['private/*', 'posts/*'], token)
  await records.create(ITSELF, 'private', { title: 'seen' })
  await client.has(1)
  await records.update(ITSELF, 'users', String(id), { 'tokenKey:autogenerate': '' })
  await records.create(ITSELF, 'private', { title: 'secret' })
  await create('public')
  await client.has(2)
  expect(client.actions).toEqual(['private/* create', 'posts/* create'])
  expect(client.text).not.toContain('secret')
  client.close()
})
