/** Goal: an app reads a report of the server, with the rights of its account, and hears what is wrong. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runReport } from '../src/report.ts'
import { startRest, tokenFor, ITSELF, PASSWORD, EMAIL, type RestServer } from '../../server/test/rest/rest-server.ts'

let server: RestServer
let token: string

beforeAll(async () => {
  server = await startRest()
  const account = { email: EMAIL, password: PASSWORD, passwordConfirm: PASSWORD }
  await server.server.backend.records.create(ITSELF, 'users', account)
  token = await tokenFor(server.url, 'users', EMAIL, PASSWORD)
  await server.call('POST /reports', {
    name: 'twice',
    query: 'SELECT :n * 2 AS twice, :day AS day, :word AS word',
    parameters: [
      { name: 'n', type: 'integer' },
      { name: 'day', type: 'date', default: null },
      { name: 'word', type: 'text', default: '' },
    ],
    rule: '@request.auth.id != ""',
  })
})
afterAll(() => server.close())

test('rows are objects, and values of any type go along', async () => {
  const parameters = { n: 21n, day: new Date('2026-06-01T00:00:00Z'), word: 'a&b=ü' }
  const answer = await runReport<{ twice: number; day: string | null; word: string }>(server.url, 'twice', {
    parameters,
    token,
  })
  expect(answer).toEqual({
    columns: ['twice', 'day', 'word'],
    rows: [{ twice: 42, day: '2026-06-01 00:00:00.000Z', word: 'a&b=ü' }],
    commit: expect.any(Number),
  })
})

test('what the server refuses is an error of the client, with its reasons', async () => {
  await expect(runReport(server.url, 'twice', { token })).rejects.toMatchObject({
    code: 'PANNIER_PEER_REFUSED',
    status: 400,
    details: { n: { code: 'validation_required' } },
  })
  await expect(runReport(server.url, 'twice', { parameters: { n: 1 } })).rejects.toMatchObject({
    code: 'PANNIER_SIGNED_OUT',
  })
  await expect(runReport(server.url, 'nope')).rejects.toMatchObject({ code: 'PANNIER_PEER_REFUSED', status: 404 })
})
