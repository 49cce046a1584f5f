/**
 * A proxy that treats HTTP as bad networks do. All faults are legal, and chosen by seed. A request never arrives, or it arrives, even
 * twice, and its answer is lost. An answer is cut off, with or without a broken connection, or it is late, so that others overtake it.
 * The proxy answers 429, 503, 502 without JSON, or a captive portal's page as a 200. It changes no byte of what it passes on.
 */
import { createServer, request as send } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { seededRandom } from '../../db/testing/random.ts'
import type { Random } from '../../db/testing/random.ts'
import { closeServer, listen } from './pouchdb-server.ts'

export interface FaultProxy {
  readonly url: string
  /** Chance of a fault in a request, 0 to 1. */
  faults: number
  /** How often each fault was made. */
  readonly made: ReadonlyMap<Fault, number>
  close(): Promise<void>
}

const FAULTS = [
  'drop',
  'lose',
  'duplicate',
  'cut',
  'break',
  'late',
  'busy',
  'unavailable',
  'gateway',
  'portal',
] as const
export type Fault = (typeof FAULTS)[number]

const LATE_MS_MAX = 30
const PORTAL = '<!DOCTYPE html><title>Welcome</title><p>Please accept the terms of use of this network.</p>'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** Requests that `spares` names get an answer without faults, as soon as there is a server. */
export async function faultProxy(
  target: string,
  seed: number,
  faults = 0.2,
  spares: (request: IncomingMessage) => boolean = () => false,
): Promise<FaultProxy> {
  const random = seededRandom(seed)
  const made = new Map<Fault, number>()
  const server = createServer((request, response) => {
    const spared = spares(request)
    const fault = !spared && random.chance(proxy.faults) ? random.pick(FAULTS) : undefined
    if (fault !== undefined) made.set(fault, (made.get(fault) ?? 0) + 1)
    handle(target, request, response, fault, random, spared).catch(() => response.destroy())
  })
  const proxy = { url: await listen(server), faults, made, close: () => closeServer(server) }
  return proxy
}

async function handle(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
  random: Random,
  spared: boolean,
): Promise<void> {
  const body = await bytesOf(request)
  if (fault === 'drop') return void response.destroy()
  if (fault === 'busy') return void response.writeHead(429, { 'retry-after': '0' }).end('{"error":"too_many_requests"}')
  if (fault === 'unavailable') return void response.writeHead(503).end('{"error":"unavailable","reason":"restarting"}')
  if (fault === 'gateway')
    return void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
  if (fault === 'portal') return void response.writeHead(200, { 'content-type': 'text/html' }).end(PORTAL)
  if (fault === 'duplicate') await forward(target, request, body)
  const answer = spared ? await insist(target, request, body) : await forward(target, request, body)
  if (fault === 'lose') return void response.destroy()
  if (fault === 'late') await new Promise((resolve) => setTimeout(resolve, random.below(LATE_MS_MAX)))
  // These are about the connection, not about the answer.
  const { 'content-length': _l, 'transfer-encoding': _t, connection: _c, 'keep-alive': _k, ...headers } = answer.headers
  response.writeHead(answer.status, headers)
  if (fault !== 'cut' && fault !== 'break') return void response.end(answer.body)
  const part = answer.body.subarray(0, random.below(Math.max(1, answer.body.length)))
  if (fault === 'cut') return void response.end(part)
  response.write(part, () => response.destroy())
}

async function insist(target: string, from: IncomingMessage, body: Buffer): Promise<Answer> {
  for (;;) {
    const answer = await forward(target, from, body).catch(() => undefined)
    if (answer !== undefined || from.socket.destroyed) return answer!
    await new Promise((resolve) => setTimeout(resolve, LATE_MS_MAX))
  }
}

function forward(target: string, from: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { host: _host, connection: _connection, ...headers } = from.headers
    const to = send(`${target}${from.url}`, { method: from.method ?? 'GET', headers }, (answer) => {
      bytesOf(answer).then(
        (bytes) => resolve({ status: answer.statusCode!, headers: answer.headers, body: bytes }),
        reject,
      )
    })
    to.on('error', reject)
    to.end(body)
  })
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
