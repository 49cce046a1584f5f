/** Goal: lists and pulls are packed for clients that say so, and say the same as plain ones. Method: a client that unpacks nothing itself. */
import { subscribe, unsubscribe, type ChannelListener } from 'node:diagnostics_channel'
import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRest, type RestServer } from './rest-server.ts'

/** A list of 40 such records is sent as one text, and one of 100 in pieces. */
const TITLE = 'A title of ordinary words, which come again and again. '.repeat(80)

let server: RestServer
const logged: string[] = []

beforeAll(async () => {
  const stream = { write: (line: string) => void logged.push(line) }
  server = await startRest({ logger: pino({ level: 'warn' }, stream) })
  await server.call('POST /collections', {
    name: 'tasks',
    type: 'base',
    listRule: '',
    viewRule: '',
    createRule: '',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'paper', type: 'file', maxSelect: 1 },
    ],
  })
  await server.call('PATCH /settings', { batch: { enabled: true, maxRequests: 50, timeout: 60 } })
  const requests = Array.from({ length: 50 }, (_, at) => ({
    method: 'POST',
    url: '/api/collections/tasks/records',
    body: { title: `${at} ${TITLE}` },
  }))
  for (let round = 0; round < 2; round++) expect((await server.call('POST /batch', { requests })).status).toBe(200)
})

afterAll(() => server.close())

interface Plain {
  readonly encoding: string | undefined
  readonly vary: string
  readonly length: number
  readonly body: Buffer
}

function plain(path: string, accepted?: string, body?: object): Promise<Plain> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(accepted !== undefined && { 'accept-encoding': accepted }),
      'content-type': 'application/json',
    }
    const read = async (answer: IncomingMessage): Promise<void> => {
      const chunks: Buffer[] = []
      for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
      const all = Buffer.concat(chunks)
      const { 'content-encoding': encoding, vary = '' } = answer.headers
      resolve({ encoding, vary, length: all.length, body: all })
    }
    const asked = request(
      `${server.url}/api${path}`,
      { method: body === undefined ? 'GET' : 'POST', headers },
      (answer) => {
        read(answer).catch(reject)
      },
    )
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const UNPACKED = { zstd: zstdDecompressSync, gzip: gunzipSync }

for (const [name, path, body] of [
  ['a list as one text', '/collections/tasks/records?perPage=40&sort=id'],
  ['a list in pieces', '/collections/tasks/records?perPage=100&sort=id'],
  ['a pull', '/sync/pull', { collections: { tasks: null } }],
] as const) {
  test(`${name} is packed as the client can unpack it`, async () => {
    const whole = await plain(path, undefined, body)
    expect(whole.encoding).toBeUndefined()
    for (const [accepted, encoding] of [
      ['zstd', 'zstd'],
      ['gzip', 'gzip'],
      ['gzip, deflate, br, zstd', 'zstd'],
      ['br, gzip;q=0.5', 'gzip'],
      ['*', 'gzip'],
    ] as const) {
      const packed = await plain(path, accepted, body)
      expect([accepted, packed.encoding]).toEqual([accepted, encoding])
      expect(packed.vary.toLowerCase()).toContain('accept-encoding')
      expect(packed.length).toBeLessThan(whole.length / 4)
      const text = UNPACKED[encoding](packed.body).toString()
      if (path !== '/sync/pull') expect(text).toBe(whole.body.toString())
      else
        expect(Object.keys(JSON.parse(text) as object)).toEqual(
          Object.keys(JSON.parse(whole.body.toString()) as object),
        )
    }
    for (const accepted of ['identity', 'br', 'gzip;q=0', 'zstd;q=0, gzip;q=0', '', 'nonsense'])
      expect([accepted, (await plain(path, accepted, body)).encoding]).toEqual([accepted, undefined])
  })
}

test('a small answer is sent as it is', async () => {
  expect((await plain('/collections/tasks/records?perPage=3', 'zstd, gzip')).encoding).toBeUndefined()
  expect((await plain('/collections/nowhere/records', 'zstd, gzip')).encoding).toBeUndefined()
})

test('a connection that ends before a packed answer is made, or in the middle, is no failure', async () => {
  for (let turns = 0; turns < 12; turns++) {
    const ends = ({ response }: { response: ServerResponse }): void => {
      let left = turns
      const turn = (): void => void (left-- > 0 ? setImmediate(turn) : response.socket?.destroy())
      turn()
    }
    subscribe('http.server.request.start', ends as ChannelListener)
    for (const path of ['/sync/pull', '/collections/tasks/records?perPage=100'])
      await plain(path, 'gzip', path === '/sync/pull' ? { collections: { tasks: null } } : undefined).catch(() => {})
    unsubscribe('http.server.request.start', ends as ChannelListener)
  }
  expect((await plain('/collections/tasks/records?perPage=40', 'gzip')).encoding).toBe('gzip')
  expect(logged).toEqual([])
})
