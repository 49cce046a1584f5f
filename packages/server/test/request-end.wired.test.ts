/** Goal: what waits for the end of a request is called once for each request, however the request ends. */
import { fastify, type FastifyInstance } from 'fastify'
import { connect } from 'node:net'
import { systemEnvironment } from 'pannier/internal'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { onAnswered, RunningRequests } from '../src/http/running-requests.ts'

let app: FastifyInstance
let running: RunningRequests
/** The calls at the ends of requests, in order. */
let ends: string[]
let failures: string[]
/** Runs before any other hook. */
let first: (request: { readonly url: string; readonly raw: { readonly socket: { destroy(): void } } }) => void

beforeEach(async () => {
  ends = []
  failures = []
  first = () => {}
  app = fastify()
  app.decorate('environment', systemEnvironment())
  app.addHook('onRequest', (request, reply, done) => {
    request.log = { ...request.log, error: ({ err }: { err: Error }) => failures.push(err.message) } as never
    first(request)
    done()
  })
  onAnswered(app, ({ url }) => void ends.push(`root ${url}`))
  running = new RunningRequests(app)
  await app.register(async (below) => {
    onAnswered(below, async ({ url }) => {
      ends.push(`below ${url}`)
      throw new Error(`of ${url}`)
    })
    onAnswered(below, () => {
      throw new Error('at once')
    })
    onAnswered(below, ({ url }, { statusCode }) => void ends.push(`last ${url} ${statusCode}`))
    below.get('/ok', async () => ({ ok: true }))
    below.get('/bad', async () => {
      throw new Error('refused')
    })
    below.get('/taken', (_request, reply) => {
      reply.hijack()
      reply.raw.end('taken')
    })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(() => app.close())

const called = (url: string, status: number): string[] => [`root ${url}`, `below ${url}`, `last ${url} ${status}`]

test.for([
  ['/ok', 200],
  ['/bad', 500],
  ['/taken', 200],
] as const)('%s ends once; an error of one call is logged, and the others run', async ([url, status]) => {
  const answer = await fetch(`${app.listeningOrigin}${url}`)
  await answer.text()
  await expect.poll(() => ends).toEqual(called(url, status))
  await expect.poll(() => failures.toSorted()).toEqual(['at once', `of ${url}`])
  await running.idle(10_000)
  expect(ends).toHaveLength(3)
})

test('a request whose connection is gone before its first hook ends once', async () => {
  first = ({ raw }) => raw.socket.destroy()
  const { port } = app.server.address() as { readonly port: number }
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write('GET /ok HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await expect.poll(() => ends).toEqual(called('/ok', 200))
  await running.idle(10_000)
  expect(ends).toHaveLength(3)
})
