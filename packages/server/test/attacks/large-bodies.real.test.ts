/**
 * Goal: bodies that are large, or made of very many values, take neither the server's memory nor its time from others.
 * Method: bounds by themselves, then a server of its own with a heap of 192 MB, which has 12 MiB for JSON that is read at a time.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProcess, type ServerProcess } from '../../testing/processes.ts'
import { HeldBodies } from '../../src/http/held-bodies.ts'
import { JSON_VALUES_MAX, parseJson, parseMembers } from '../../src/http/strict-json.ts'
import { GUEST } from '@pannier/backend'
import { ADMIN, send, STRANGER, until } from '../test-server.ts'

const MEBIBYTE = 1024 * 1024

let dir: string
let server: ServerProcess

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-bodies-'))
  server = await startProcess('pannier-process.ts', [dir], { heapMegabytes: 192 })
  await send(server.url, 'PUT /db')
  await send(server.url, 'PUT /db/_security', { members: { names: [], roles: [] } })
})
afterAll(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

/** The text, repeated as elements of an array or an object. */
function times(count: number, text: string): string {
  return Array<string>(count).fill(text).join(',')
}

test('JSON has a million values at most, however they are spread', () => {
  const arrays = (count: number): Buffer =>
    Buffer.from(`[${times(Math.ceil(count / 1e5), `[${times(1e5 - 1, '0')}]`)}]`)
  expect(() => parseJson(arrays(JSON_VALUES_MAX - 1e5))).not.toThrow()
  expect(() => parseJson(arrays(JSON_VALUES_MAX + 1e5))).toThrow('more than 1000000 values')
  const nested = Buffer.from(`[${times(10, `[${times(1e5, '[]')}]`)}]`)
  expect(() => parseJson(nested)).toThrow('more than 1000000 values')
  expect(() => [...parseMembers(Buffer.from(`{${times(300_000, '"a":[]')}}`))]).toThrow('more than 200000 members')
})

test('all hold what there is at most, one user a quarter, and one body alone what its own limit allows', () => {
  const held = new HeldBodies(100)
  const of = (name: string | null, ip = '::1'): ReturnType<HeldBodies['hold']> =>
    held.hold({ principal: { ...GUEST, name }, ip })
  const [first, second] = [of('ann'), of('ann')]
  first.to(1000)
  expect(() => of('ben').to(1)).toThrow('Too much JSON')
  first.to(20)
  second.to(5)
  expect(() => second.to(6)).toThrow('a quarter of it from one user')
  const others = [of('ben'), of(null), of(null, '::2')]
  for (const other of others) other.to(25)
  expect(() => of('cem').to(1)).toThrow('Try again later.')
  for (const one of [first, second, ...others]) one.release()
  expect(() => of('cem').to(1000)).not.toThrow()
})

/** Sends the head and a part of a body, and no more. */
function halfBody(
  path: string,
  bytes: number,
  credentials: string,
): { readonly socket: Socket; readonly answer: () => string } {
  const { port } = new URL(server.url)
  let answer = ''
  const socket = connect(Number(port), '127.0.0.1')
  socket
    .on('error', () => {})
    .setEncoding('utf8')
    .on('data', (text: string) => (answer += text))
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${credentials}Content-Type: application/json\r\nContent-Length: ${bytes + 1}\r\n\r\n`,
  )
  socket.write(Buffer.alloc(bytes, ' '))
  return { socket, answer: () => answer }
}

test('half bodies of many connections leave room for others, and give it back', async () => {
  for (const path of ['/db/_find', '/db/_bulk_docs']) {
    const halves = Array.from({ length: 30 }, () => halfBody(path, 7 * MEBIBYTE, ''))
    await until(() => halves.filter(({ answer }) => answer().startsWith('HTTP/1.1 503')).length >= 25)
    expect((await send(server.url, 'GET /db')).status).toBe(200)
    // Another user has room.
    const find = { selector: { s: 'x'.repeat(MEBIBYTE) } }
    expect((await send(server.url, 'POST /db/_find', find)).status).toBe(200)
    expect((await send(server.url, 'POST /db/_bulk_docs', { docs: [{ s: 'x'.repeat(MEBIBYTE) }] })).status).toBe(201)
    for (const { socket } of halves) socket.destroy()
    const large = { selector: { s: 'x'.repeat(7 * MEBIBYTE) } }
    await until(async () => (await send(server.url, 'POST /db/_find', large, STRANGER)).status === 200)
  }
}, 120_000)

test('many large documents at the same time do not fill the memory', async () => {
  const document = { rows: Array.from({ length: 4 }, () => Array<[]>(100_000).fill([])) }
  const answers = await Promise.all(Array.from({ length: 40 }, () => send(server.url, 'POST /db', document)))
  const statuses = new Set(answers.map(({ status }) => status))
  expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([])
  expect(statuses).toContain(201)
  expect((await send(server.url, 'GET /_up', undefined, { authorization: ADMIN })).status).toBe(200)
}, 120_000)
