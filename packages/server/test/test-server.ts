/** A real server on an SQLite file of its own. Requests are its admin's unless they say otherwise. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { VirtualEnvironment } from 'pannier/testing'
import { createServer } from '../src/index.ts'
import type { PannierServer, ServerOptions } from '../src/index.ts'

export interface TestServer {
  readonly server: PannierServer
  /** Without a slash at its end. */
  readonly url: string
  /** With the admin's name and password. */
  readonly adminUrl: string
  /** The directory of the database file; the server can be started again there. */
  readonly dir: string
  /** Loses all connections, those too that streams have taken from HTTP: `closeAllConnections` does not know these. */
  loseConnections(): void
  close(): Promise<void>
}

export const ADMIN_NAME = 'admin'
export const ADMIN_PASSWORD = 'the-password-of-tests'
/** The value of the header `Authorization`. */
export const ADMIN: string = basic(`${ADMIN_NAME}:${ADMIN_PASSWORD}`)
/** Headers of a request without credentials. */
export const STRANGER: Readonly<Record<string, string>> = { authorization: '' }

export function basic(nameAndPassword: string): string {
  return `Basic ${Buffer.from(nameAndPassword).toString('base64')}`
}

export async function startServer({
  port = 0,
  host = '127.0.0.1',
  ...options
}: ServerOptions & { readonly port?: number; readonly host?: string } = {}): Promise<TestServer> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'pannier-server-')))
  const server = await createServer({
    logger: false,
    couchAdmin: `${ADMIN_NAME}:${ADMIN_PASSWORD}`,
    ...options,
    dir,
  })
  const sockets = new Set<Socket>()
  server.http.server.on('connection', (socket) => sockets.add(socket))
  const url = await server.listen({ port, host })
  return {
    server,
    url,
    adminUrl: url.replace('//', `//${ADMIN_NAME}:${ADMIN_PASSWORD}@`),
    dir,
    loseConnections: () => {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
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
  /** Parts of the answer's text. */
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
  const all = new Headers({
    authorization: ADMIN,
    ...(body !== undefined && !isText && { 'content-type': 'application/json' }),
    ...headers,
  })
  if (all.get('authorization') === '') all.delete('authorization')
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: all,
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

/** What the work gives. The clock moves as far as it must for that. */
export async function inTime<T>(clock: VirtualEnvironment, work: PromiseLike<T>): Promise<T> {
  let isOver = false
  const over = (): void => void (isOver = true)
  work.then(over, over)
  await clock.until(() => isOver)
  return work
}

/** Looks again and again; rejects if it does not come to that, with what `state` gives in the message. */
export async function until(isTrue: () => boolean | Promise<boolean>, state?: () => unknown): Promise<void> {
  for (let tries = 0; tries < 2400; tries++) {
    if (await isTrue()) return
    await sleep(25)
  }
  const now = state === undefined ? '' : `: ${JSON.stringify(await state())}`
  throw new Error(`it did not come to that${now}`)
}
