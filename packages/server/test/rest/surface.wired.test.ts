/** Goal: everything under `/api` speaks PocketBase: its errors, headers and CORS; the rest of the server does not. */
import { SYSTEM } from '@pannier/backend'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { send, startServer, STRANGER } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const NOT_FOUND = '{"data":{},"message":"The requested resource wasn\'t found.","status":404}\n'

test('GET /api/health', async () => {
  const { status, text, headers } = await send(server.url, 'GET /api/health', undefined, STRANGER)
  expect(status).toBe(200)
  expect(text).toBe('{"message":"API is healthy.","code":200,"data":{}}\n')
  expect(headers.get('content-type')).toBe('application/json')
  expect(headers.get('x-frame-options')).toBe('SAMEORIGIN')
  expect(headers.get('x-xss-protection')).toBe('1; mode=block')
  expect(headers.get('vary')).toContain('Origin')
  const head = await send(server.url, 'HEAD /api/health', undefined, STRANGER)
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', String(text.length)])
})

test.each([
  'GET /api',
  'GET /api/',
  'GET /api/nope',
  'GET /api/health/',
  'POST /api/health',
  'DELETE /api/health',
  'POST /api/nope',
  'GET /api/_all_docs',
  'PUT /api/x',
])('%s is not found, whatever the method', async (request) => {
  const { status, text } = await send(server.url, request, undefined, STRANGER)
  expect([status, text]).toEqual([404, NOT_FOUND])
})

test('pages of any origin may call, and are given no cookie', async () => {
  const origin = 'https://app.example.org'
  const simple = await send(server.url, 'GET /api/health', undefined, { ...STRANGER, origin })
  expect(simple.headers.get('access-control-allow-origin')).toBe('*')
  expect(simple.headers.get('access-control-allow-credentials')).toBe(null)
  const asked = {
    ...STRANGER,
    origin,
    'access-control-request-headers': 'a,b',
    'access-control-request-method': 'PATCH',
  }
  const preflight = await send(server.url, 'OPTIONS /api/health', undefined, asked)
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-headers')).toBe('a,b')
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET,HEAD,PUT,PATCH,POST,DELETE')
  expect(
    (await send(server.url, 'GET /_up', undefined, { ...STRANGER, origin })).headers.get('access-control-allow-origin'),
  ).toBe(null)
})

test('where origins are named, others get no header', async () => {
  const corsOrigins = ['https://app.example.org']
  const named = await startServer({ http: { corsOrigins } })
  try {
    const answers = await Promise.all(
      [corsOrigins[0]!, 'https://evil.example.org'].map((origin) =>
        send(named.url, 'GET /api/health', undefined, { ...STRANGER, origin }),
      ),
    )
    const allowed = answers.map(({ headers }) => headers.get('access-control-allow-origin'))
    expect(allowed).toEqual([corsOrigins[0], null])
  } finally {
    await named.close()
  }
})

test('the name and password of a server admin, and a cookie, are nothing there', async () => {
  const login = await send(server.url, 'POST /_session', { name: 'admin', password: 'the-password-of-tests' })
  const cookie = login.headers.get('set-cookie')!.split(';', 1)[0]!
  for (const headers of [{}, { ...STRANGER, cookie }]) {
    const { json } = await send(server.url, 'GET /api/health', undefined, headers)
    expect(json['data']).toEqual({})
  }
})

test('no database is named api', async () => {
  await expect(server.server.gateway.create(SYSTEM, 'api')).rejects.toMatchObject({ code: 'NAME_INVALID' })
  await server.server.gateway.create(SYSTEM, 'api/x')
  expect((await send(server.url, 'GET /api%2Fx')).json['db_name']).toBe('api/x')
})
