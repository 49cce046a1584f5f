/** A real server on an SQLite file of its own, in which everybody is server admin. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyPluginAsync } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { createServer } from '../src/index.ts'
import type { PannierServer, ServerOptions } from '../src/index.ts'

export interface TestServer {
  readonly server: PannierServer
  /** Without a slash at its end. */
  readonly url: string
  /** Of the database file; the server can be started again there. */
  readonly dir: string
  close(): Promise<void>
}

/** Stands in for authentication. */
const everybodyIsAdmin: FastifyPluginAsync = fastifyPlugin(async (app) => {
  app.decorateRequest('user')
  app.addHook('onRequest', async (request) => {
    request.user = { name: 'admin', roles: ['_admin'] }
  })
})

export async function startServer(options: ServerOptions & { readonly port?: number } = {}): Promise<TestServer> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'pannier-server-')))
  const server = await createServer({
    logger: false,
    ...options,
    dir,
    plugins: [everybodyIsAdmin, ...(options.plugins ?? [])],
  })
  const url = await server.listen({ port: options.port ?? 0 })
  return {
    server,
    url,
    dir,
    close: async () => {
      await server.close()
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true })
    },
  }
}

/** A request as it stands in a table of tests, and what is expected of the answer. */
export interface Scenario {
  readonly name: string
  /** `METHOD /path` */
  readonly request: string
  /** An object is sent as JSON, text as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
  /** Of the answer's text. */
  readonly contains?: readonly string[]
  readonly lacks?: readonly string[]
  /** The answer in JSON has at least this. */
  readonly json?: unknown
  /** Headers that the answer has; null: has not. */
  readonly answers?: Readonly<Record<string, string | null>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Record<string, unknown>
}

export async function send(
  url: string,
  request: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ', 2)
  const isText = typeof body === 'string' || body instanceof Uint8Array
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: { ...(body !== undefined && !isText && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isText ? (body as string) : JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = (): Record<string, unknown> => {
    try {
      return JSON.parse(text) as Record<string, unknown>
    } catch {
      return {}
    }
  }
  return { status: response.status, headers: response.headers, text, json: json() }
}

/** Sends bytes as they are, and gives what comes back until the connection is closed, or `until` is in it. */
export function sendRaw(
  url: string,
  bytes: string | readonly (string | Uint8Array)[],
  until?: string,
): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => {
      for (const piece of typeof bytes === 'string' ? [bytes] : bytes) socket.write(piece)
    })
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      answer += text
      if (until !== undefined && answer.includes(until)) socket.destroy()
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(answer)
      else reject(error)
    })
  })
}

/** Looks again and again; rejects if it does not come to that. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await isTrue()) return
    await sleep(25)
  }
  throw new Error('it did not come to that')
}
