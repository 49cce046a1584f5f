/** Expressions in selectors that are cheap to send and dear to match. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { send, startServer, type TestServer } from '../test-server.ts'

let running: TestServer

beforeAll(async () => {
  running = await startServer()
  await send(running.url, 'PUT /texts')
  const docs = Array.from({ length: 2000 }, (_, at) => ({ _id: String(at), s: 'a'.repeat(400) }))
  expect((await send(running.url, 'POST /texts/_bulk_docs', { docs })).status).toBe(201)
})
afterAll(() => running.close())

test('one that would take minutes is refused, and tells why', async () => {
  const selector = { s: { $regex: '(a?){300}a{300}b' } }
  expect(await send(running.url, 'POST /texts/_find', { selector, limit: 1 })).toMatchObject({
    status: 400,
    json: { error: 'bad_request', reason: expect.stringContaining('takes too much work') as string },
  })
})

test('one with too many states is refused at once', async () => {
  const selector = { s: { $regex: '(a?){400}a{400}b' } }
  expect((await send(running.url, 'POST /texts/_find', { selector })).status).toBe(400)
})

test.each(['^(a+)+$', '(a|aa)+$', '(a?){10}a{10}b', '.*.*b'])('%s is answered', async ($regex) => {
  const answer = await send(running.url, 'POST /texts/_find', { selector: { s: { $regex } }, limit: 1 })
  expect(answer.status).toBe(200)
})
