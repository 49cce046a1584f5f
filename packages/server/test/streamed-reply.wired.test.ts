/**
 * Goal: what an answer reads from is released however early its client leaves, and its maker leaves the thread to others. Method: real
 * connections, some of them cut.
 */
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { systemEnvironment } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { sendPieces } from '../src/http/streamed-reply.ts'

type Make = (left: AbortSignal) => AsyncGenerator<string>

interface Options {
  readonly environment?: Environment
  readonly gather?: boolean
}

async function served(
  make: Make,
  use: (socket: Socket) => Promise<void>,
  { environment = systemEnvironment(), gather = false }: Options = {},
): Promise<void> {
  const app = fastify().decorate('environment', environment)
  app.get('/', (_request, reply) => sendPieces(reply, 'text/plain', make, { gather }))
  await app.listen({ port: 0 })
  try {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await use(socket)
  } finally {
    await app.close()
  }
}

test.each([
  ['before the first piece', async (left: AbortSignal) => void (left.aborted || (await once(left, 'abort')))],
  ['after it', async () => {}],
])('a client that leaves %s ends what makes the answer', async (_, first) => {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  const make: Make = async function* (left) {
    try {
      begun.resolve()
      await first(left)
      for (;;) yield 'piece\n'.repeat(10_000)
    } finally {
      ended.resolve('ended')
    }
  }
  await served(make, async (socket) => {
    await begun.promise
    socket.resetAndDestroy()
    expect(await ended.promise).toBe('ended')
  })
})

const PIECES = 80

test.each([false, true])('pieces that wait for nothing leave the thread to others (gathered: %s)', async (gather) => {
  const { yield: pause, ...system } = systemEnvironment()
  let nowMs = 0
  let pauses = 0
  const environment = { ...system, now: () => nowMs, yield: () => (pauses++, pause()) }
  const make: Make = async function* () {
    for (let n = 0; n < PIECES; n++) {
      // The work of a piece.
      nowMs += 1
      yield 'piece'
    }
  }
  const read = async (socket: Socket): Promise<void> => {
    let text = ''
    for await (const data of socket.setEncoding('utf8')) if ((text += data).split('piece').length > PIECES) break
  }
  await served(make, read, { environment, gather })
  expect(pauses).toBeGreaterThanOrEqual(9)
})
