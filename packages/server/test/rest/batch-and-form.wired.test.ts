/** Goal: the limits of a batch are as documented, and words of a form have the values that they say. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRest, type RestServer } from './rest-server.ts'

let server: RestServer

beforeAll(async () => {
  server = await startRest()
  await server.call('PATCH /settings', { batch: { enabled: true, maxRequests: 2, timeout: 3 } })
  await server.call('POST /collections', { name: 'facts', type: 'base', fields: [{ name: 'fact', type: 'json' }] })
})
afterAll(() => server.close())

test.each([
  [2000, 200],
  [2001, 400],
])('a URL of %d characters in a batch is answered with %d', async (length, status) => {
  const url = '/api/collections/facts/records?x='.padEnd(length, 'x')
  const answer = await server.call('POST /batch', { requests: [{ method: 'POST', url, body: { fact: 1 } }] })
  expect(answer.status).toBe(status)
})

test.each([
  ['true', true],
  ['false', false],
  ['7', 7],
  ['07', '07'],
  ['"a"', 'a'],
])('%s in a form is %j', async (text, value) => {
  const body = new FormData()
  body.append('fact', text)
  const headers = { authorization: server.token }
  const answer = await fetch(`${server.url}/api/collections/facts/records`, { method: 'POST', headers, body })
  expect(((await answer.json()) as { fact: unknown }).fact).toEqual(value)
})
