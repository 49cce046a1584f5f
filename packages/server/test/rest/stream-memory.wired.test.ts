/**
 * Goal: a stream keeps its socket alone, by HTTP and by HTTPS, and still hears events, the end of its client and that of the server.
 * Method: weak references to all requests and answers, and a collection of the garbage.
 */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { IncomingMessage, ServerResponse } from 'node:http'
import { connect as connectPlain, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectSecurely } from 'node:tls'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { takeSocket } from '../../src/realtime/take-socket.ts'
import { startServer, until, type TestServer } from '../test-server.ts'
import { selfSigned } from '../tls/self-signed.ts'

const STREAMS = 20
const HEAD = 'GET /api/realtime?topic=news HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

class RawStream {
  readonly socket: Socket
  text = ''

  constructor(url: string) {
    const { protocol, port } = new URL(url)
    const to = { host: '127.0.0.1', port: Number(port) }
    this.socket = protocol === 'https:' ? connectSecurely({ ...to, rejectUnauthorized: false }) : connectPlain(to)
    this.socket.setEncoding('utf8').on('data', (text: string) => (this.text += text))
    this.socket.on('error', () => {}).write(HEAD)
  }

  has(text: string): Promise<void> {
    return until(
      () => this.text.includes(text),
      () => this.text,
    )
  }
}

describe.each(['http', 'https'])('%s', (protocol) => {
  let folder: string
  let server: TestServer

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pannier-streams-'))
    const { key, chain } = await selfSigned(['example.org'])
    const https = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') }
    await writeFile(https.key, key)
    await writeFile(https.cert, chain)
    server = await startServer(protocol === 'https' ? { http: { https } } : {})
  })
  afterAll(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })

  test('streams keep no request and no answer, and get events until one side ends them', async () => {
    const { realtime } = server.server.backend
    const kept: WeakRef<object>[] = []
    server.server.http.server.on('request', (...parts: object[]) => {
      for (const part of parts) kept.push(new WeakRef(part))
    })
    const streams = Array.from({ length: STREAMS }, () => new RawStream(server.url))
    for (const stream of streams) await stream.has('PB_CONNECT')
    expect(kept).toHaveLength(2 * STREAMS)
    await until(() => {
      collectGarbage()
      return kept.every((part) => part.deref() === undefined)
    })

    realtime.broadcast('news', { number: 7 })
    for (const stream of streams) await stream.has('event:news\ndata:{"number":7}\n\n')
    streams[0]!.socket.end()
    streams[1]!.socket.destroy()
    streams[2]!.socket.write('GET / HTTP/1.1\r\n\r\n')
    await until(() => realtime.size === STREAMS - 2)

    await realtime.close()
    for (const stream of streams.slice(2)) await stream.has('retry:1000\n\n')
    await until(() => realtime.size === 0)
  })
})

test('a socket of another shape stays with its answer', async () => {
  const socket = new Socket()
  const response = new ServerResponse(new IncomingMessage(socket))
  response.assignSocket(socket)
  const listeners = socket.eventNames().length
  expect(takeSocket(response)).toBe(undefined)
  expect([response.socket, socket.eventNames().length, response.destroyed]).toEqual([socket, listeners, false])
  socket.destroy()
  await once(socket, 'close')
})
