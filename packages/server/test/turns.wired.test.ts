/**
 * Goal: one request with many parts keeps no other client from the thread. Nothing in it has to wait for a storage that answers at once, so the
 * work itself has to leave the thread. Answers in pieces: streamed-reply.wired.test.ts.
 * Method: a clock that moves with each look at it, so that each part takes time, counts how often the thread is left.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemEnvironment } from 'pannier/internal'
import { startRest, type RestServer } from './rest/rest-server.ts'
import { ADMIN, send, type Answer } from './test-server.ts'

const PARTS = 1000
/** The fewest pauses. A part takes at least a look at the clock, and work is paused after eight. */
const PAUSES_MIN = 20

let server: RestServer
let pauses = 0

const numbers = Array.from({ length: PARTS }, (_, n) => n)
const idOf = (n: number): string => `n${n}`.padEnd(15, 'x')

beforeAll(async () => {
  const system = systemEnvironment()
  let nowMs = 0
  const environment = {
    ...system,
    now: () => (nowMs += 1),
    yield: () => {
      pauses++
      return system.yield()
    },
  }
  server = await startRest({ environment })
  await server.call('POST /collections', {
    name: 'posts',
    type: 'base',
    fields: [
      { name: 'n', type: 'number' },
      { name: 'text', type: 'text' },
    ],
  })
  await server.call('PATCH /settings', { batch: { enabled: true, maxRequests: PARTS, timeout: 60 } })
})
afterAll(() => server.close())

const couch = (request: string, body: unknown): Promise<Answer> =>
  send(server.url, request, body, { authorization: ADMIN })
const text = 'x'.repeat(500)
const requests = numbers.map((n) => ({ method: 'POST', url: '/api/collections/posts/records', body: { n, text } }))

const works: Record<string, () => Promise<Answer>> = {
  'a batch': () => server.call('POST /batch', { requests }),
  'an import of records': () => server.call('POST /imports/posts/records', { rows: numbers.map((n) => ({ n, text })) }),
  'an import of rows': () =>
    server.call('POST /imports/posts/rows', { rows: numbers.map((n) => ({ id: idOf(n), n, text })) }),
  'a change of many records by SQL': () => server.call('POST /sql', { query: 'UPDATE posts SET n = n + 1' }),
  'a list with excerpts': () => server.call('GET /collections/posts/records?perPage=1000&fields=text:excerpt(10)'),
  _bulk_docs: async () => {
    await couch('PUT /notes', undefined)
    return couch('POST /notes/_bulk_docs', { docs: numbers.map((n) => ({ _id: idOf(n), text })) })
  },
  _revs_diff: () => couch('POST /notes/_revs_diff', Object.fromEntries(numbers.map((n) => [idOf(n), ['2-a']]))),
  _missing_revs: () => couch('POST /notes/_missing_revs', Object.fromEntries(numbers.map((n) => [idOf(n), ['2-a']]))),
}

test.each(Object.entries(works))('%s leaves the thread to others', async (_, work) => {
  pauses = 0
  const { status, text: answer } = await work()
  expect([200, 201], answer.slice(0, 200)).toContain(status)
  expect(pauses).toBeGreaterThan(PAUSES_MIN)
})
