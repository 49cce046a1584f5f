/** The client that drives load reads answers in every form that servers send them. */
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HttpSocket } from './http-socket.ts'
import { drive } from './load.ts'

/** After the client has read the first piece: it reads in the turn after the one that writes. */
const TURNS = 5

let server: Server
let url: URL
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/length': (response) => response.writeHead(200, { 'content-length': 5 }).end('1\r\n\r\n'),
  '/pieces': (response) => {
    response.writeHead(200, { 'content-length': 4 }).write('ab')
    later(() => response.end('cd'))
  },
  '/chunked': (response) => {
    response.writeHead(200).write('ab')
    later(() => response.end('cd'))
  },
  '/empty': (response) => response.writeHead(204).end(),
  '/refused': (response) => response.writeHead(400, { 'content-length': 2 }).end('{}'),
  '/broken': (response) => response.destroy(),
}

function later(run: () => void, turns = TURNS): void {
  if (turns === 0) run()
  else setImmediate(() => later(run, turns - 1))
}

beforeEach(async () => {
  server = createServer((request, response) => ANSWERS[request.url!]!(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
afterEach(() => server.close())

test('one connection has one answer for each request', async () => {
  const socket = new HttpSocket(url)
  const statuses: number[] = []
  for (const path of ['/length', '/pieces', '/chunked', '/empty', '/refused', '/length'])
    statuses.push((await socket.send({ path }, true)).status)
  expect(statuses).toEqual([200, 200, 200, 204, 400, 200])
  expect(await socket.send({ path: '/pieces' }, true)).toEqual({ status: 200, text: 'abcd' })
  socket.close()
})

test('a connection that breaks is an answer without a status', async () => {
  const socket = new HttpSocket(url)
  expect((await socket.send({ path: '/broken' }, true)).status).toBe(0)
  expect(socket.isBroken).toBe(true)
  expect((await socket.send({ path: '/length' }, true)).status).toBe(0)
})

test('load counts requests and failures, with connections kept or new', async () => {
  const paths = ['/length', '/refused', '/broken', '/chunked']
  for (const keepAlive of [true, false]) {
    const call = (index: number): { path: string } => ({ path: paths[index % 4]! })
    const result = await drive(url, { requests: 40, milliseconds: 60_000, concurrency: 4, keepAlive, call })
    expect(result).toMatchObject({ requests: 40, failed: 20 })
    expect(result.firstFailure).toMatch(/^[04]/)
  }
})
