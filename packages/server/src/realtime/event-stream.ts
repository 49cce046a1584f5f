/**
 * Messages as a stream of events, byte for byte as PocketBase has it: `id:CLIENT`, `event:TOPIC`, `data:JSON`. For a client that can
 * come back the id is the cursor. A client that does not read is cut off, so that it holds little memory.
 */
import { safeJson } from '@pannier/backend/internal'
import type { FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Environment } from 'pannier/types'
import type { Channel, RealtimeMessage } from '@pannier/backend'
import { Silence } from '../http/silence.ts'
import { isClosed } from '../http/streamed-reply.ts'
import { takeSocket } from './take-socket.ts'

/** How long a stream lasts. */
interface StreamLimits {
  /** The longest idle time, without a message. */
  readonly idleMsMax: number
  readonly msMax: number
  /** Whether the stream keeps its request: hooks are around it until its end. */
  readonly keepsRequest: boolean
}

/** Bytes that wait for a client. With more it is cut off. */
const WAITING_BYTES_MAX: number = 4 * 1024 * 1024
/** Finds out that a client has gone without a word. */
const PROBE_MS = 60_000
/** A client that takes nothing for that long when its stream ends is cut off. */
const LAST_MS = 5000
/** A topic is one line, whatever the client has sent. */
const BREAKS = /[\r\n]/g
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** The data of the first event. */
interface ConnectedClient {
  readonly clientId: string
  /** Whether a client that has come back gets all that came meanwhile. */
  readonly resumed?: boolean
}

/** The answer to a request, which continues until one of both ends it. */
export class EventStream implements Channel {
  readonly address: string | undefined
  readonly #environment: Environment
  readonly #limits: StreamLimits
  readonly #silence: Silence
  /** The reply until the stream begins. */
  #reply: FastifyReply | undefined
  /** The answer; after the first event its socket, without the request. */
  #output: ServerResponse | Socket
  #clientId = ''
  #cancelEnd = (): void => {}
  #closed = (): void => {}

  /** `address`: of the client. */
  constructor(address: string | undefined, reply: FastifyReply, limits: StreamLimits) {
    this.address = address
    this.#environment = reply.server.environment
    this.#reply = reply
    this.#output = reply.raw
    this.#limits = limits
    this.#silence = new Silence(this.#environment, limits.idleMsMax, () => this.end())
  }

  /** Takes the reply over, and sends who the client is. `closed` is called when nothing more can be sent. */
  begin(client: ConnectedClient, closed: () => void, cursor?: string): void {
    const reply = this.#reply!
    this.#reply = undefined
    if (isClosed(reply)) {
      closed()
      // The request has its end then.
      void reply.send()
      return
    }
    const { raw: response } = reply.hijack()
    this.#silence.begin()
    this.#cancelEnd = this.#environment.after(this.#limits.msMax, () => this.end())
    this.#closed = closed
    // A stream has its connection for itself: then an event is one write, without the head of a chunk.
    response.shouldKeepAlive = false
    response.useChunkedEncodingByDefault = false
    response.socket?.setTimeout(0)
    response.socket?.setKeepAlive(true, PROBE_MS)
    response.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...HEADERS })
    // Its connection has closed.
    response.on('error', () => {}).once('close', this.#end)
    this.#clientId = client.clientId
    this.send([{ topic: 'PB_CONNECT', data: client, ...(cursor !== undefined && { cursor }) }])
    if (!this.#limits.keepsRequest) void this.#leaveHttp(response)
  }

  send(messages: readonly RealtimeMessage[]): void {
    const output = this.#output
    if (output.destroyed || output.writableEnded) return
    const events = messages.map(
      ({ topic, data, cursor = this.#clientId }) =>
        `id:${cursor}\nevent:${topic.replaceAll(BREAKS, ' ')}\ndata:${jsonOf(data)}\n\n`,
    )
    output.write(events.join(''))
    if (output.writableLength > WAITING_BYTES_MAX) output.destroy()
    else this.#silence.broken()
  }

  /** Ends the stream. Messages that wait are sent if the client takes them soon. */
  end(retryMs?: number): void {
    const output = this.#output
    const socket = 'socket' in output ? output.socket : output
    socket?.setTimeout(LAST_MS, () => output.destroy())
    if (retryMs !== undefined && !output.writableEnded) output.write(`retry:${retryMs}\n\n`)
    if (output === socket) socket.destroySoon()
    else output.end()
  }

  /** Lets the request and its answer go: a stream that is quiet for minutes needs its socket alone. */
  async #leaveHttp(response: ServerResponse): Promise<void> {
    await this.#environment.yield()
    if (response.writableEnded || response.destroyed) return
    // The end of the answer is not the end of the stream.
    response.off('close', this.#end)
    const socket = takeSocket(response)
    this.#output = socket ?? response
    this.#output.once('close', this.#end)
  }

  readonly #end = (): void => {
    this.#silence.end()
    this.#cancelEnd()
    this.#closed()
  }
}

/** Known JSON by data: several clients get the same data. */
const known = new WeakMap<object, string>()

function jsonOf(data: object): string {
  const found = known.get(data) ?? safeJson(data)
  known.set(data, found)
  return found
}
