/** Goal: what an answer reads from is released however early its client leaves. Method: real connections that are cut. */
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { systemEnvironment } from 'pannier/internal'
import { sendPieces } from '../src/http/streamed-reply.ts'

type Make = (left: AbortSignal) => AsyncGenerator<string>

async function served(make: Make, use: (socket: Socket) => Promise<void>): Promise<void> {
  const app = fastify().decorate('environment', systemEnvironment())
  app.get('/', (_request, reply) => sendPieces(reply, 'text/plain', make))
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
