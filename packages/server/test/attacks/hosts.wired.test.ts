/**
 * Goal: a page can't reach a server on loopback by a name of its own (DNS rebinding), and no request means two things.
 * Method: requests as bytes, as a browser or a proxy would send them.
 */
import { afterEach, expect, test } from 'vitest'
import { ADMIN, sendRaw, startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'
import { createServer, type ServerOptions } from '../../src/index.ts'

const HOSTILE = 'evil.example:5984'
const started: TestServer[] = []

afterEach(async () => {
  for (const one of started.splice(0)) await one.close()
})

async function start(options: ServerOptions = {}): Promise<string> {
  const running = await startServer(options)
  started.push(running)
  return running.url
}

/** The status and the body of the answer to a request with these header lines. */
async function ask(url: string, lines: readonly string[], request = 'GET /'): Promise<[status: number, text: string]> {
  const answer = await sendRaw(url, `${request} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`)
  return [Number(answer.slice(9, 12)), answer.slice(answer.indexOf('\r\n\r\n') + 4)]
}

test('a server on loopback answers to its own names alone', async () => {
  const url = await start()
  for (const host of ['localhost', 'LOCALHOST.:1', '127.0.0.1', '127.0.0.1:5984', '127.8.8.8', '[::1]', '[::1]:80'])
    expect([host, ...(await ask(url, [`Host: ${host}`]))]).toEqual([host, 200, expect.stringContaining('couchdb')])
  const hostile = [
    HOSTILE,
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'x@localhost',
    '::1',
    'a:b',
    '10.0.0.1',
    '',
  ]
  for (const host of hostile)
    expect([host, ...(await ask(url, [`Host: ${host}`]))]).toEqual([host, 403, expect.stringContaining('--allow-host')])
})

test('a wrong host is refused wherever the request goes to', async () => {
  const url = await start({ http: { corsOrigins: ['https://app.example.org'] } })
  const lines = [`Host: ${HOSTILE}`, `Authorization: ${ADMIN}`]
  for (const request of ['PUT /db', 'POST /db/_find', 'GET /_session', 'OPTIONS /db', 'GET /none/at/all/here'])
    expect([request, (await ask(url, lines, request))[0]]).toEqual([request, 403])
  expect((await ask(url, ['Host: localhost', `Authorization: ${ADMIN}`], 'GET /db'))[0]).toBe(404)
})

test('the error names the option that allows the name, and the option does', async () => {
  const url = await start()
  const [, text] = await ask(url, ['Host: Couch.LAN:5984'])
  expect(JSON.parse(text)).toEqual({
    error: 'forbidden',
    reason:
      "The server has no name 'couch.lan'. If it should, start it with --allow-host couch.lan (createServer: http.allowedHosts).",
  })
  const open = await start({ http: { allowedHosts: ['COUCH.lan', 'fd00::7'] } })
  for (const host of ['couch.lan', 'Couch.LAN.:5984', '[fd00::7]:5984', 'localhost'])
    expect([host, (await ask(open, [`Host: ${host}`]))[0]]).toEqual([host, 200])
  expect((await ask(open, [`Host: ${HOSTILE}`]))[0]).toBe(403)
})

test('a forwarded host opens nothing, also if the proxy is trusted: a page may send it too', async () => {
  const url = await start({ http: { trustProxy: true } })
  expect((await ask(url, [`Host: ${HOSTILE}`, 'X-Forwarded-Host: localhost']))[0]).toBe(403)
  // A proxy that sends its own address as the host, and the name that it was asked for beside it.
  const forwarded = ['Host: 127.0.0.1:5984', 'X-Forwarded-Host: couch.example.org', 'Origin: https://couch.example.org']
  expect((await ask(url, [...forwarded, `Authorization: ${ADMIN}`], 'PUT /db'))[0]).toBe(201)
})

test('a server that listens beyond loopback answers to any name, until names are given', async () => {
  for (const [allowedHosts, status] of [
    [[], 200],
    [['couch.lan'], 403],
  ] as const) {
    const { server } = started[started.push(await startServer({ http: { allowedHosts } })) - 1]!
    const other = await createServer({
      database: server.database,
      logger: false,
      couchAdmin: 'a:long-enough',
      http: { allowedHosts },
    })
    const url = (await other.listen({ port: 0, host: '0.0.0.0' })).replace('0.0.0.0', '127.0.0.1')
    expect((await ask(url, [`Host: ${HOSTILE}`]))[0]).toBe(status)
    expect((await ask(url, ['Host: 127.0.0.1']))[0]).toBe(200)
    await other.close()
  }
})

test.each(['couch.lan:5984', '[::1]', 'https://couch.lan', ''])('allowedHosts refuses %j', async (name) => {
  await expect(startServer({ http: { allowedHosts: [name] } })).rejects.toThrow(`got '${name}'`)
})

test.each([
  ['Host: localhost', 'Host: localhost'],
  ['Host: localhost', 'hOST: evil.example'],
  ['Host: localhost', `Authorization: ${ADMIN}`, 'Authorization: Basic eDp5'],
  ['Host: localhost', 'Content-Type: application/json', 'Content-Type: text/plain'],
])('a header that must come once is refused twice: %s, %s', async (...lines) => {
  const [status, text] = await ask(await start(), lines)
  expect([status, text]).toEqual([400, expect.stringContaining('came twice')])
})
