/**
 * Messages as a stream of events, byte for byte as PocketBase has it: `id:CLIENT`, `event:TOPIC`, `data:JSON`. For a client that can
 * come back the id is the cursor. A client that does not read is cut off, so that it holds little memory.
 */
import type { FastifyReply } from 'fastify'
import type { Channel, RealtimeMessage } from '@pannier/backend'
import { safeJson } from '../http/json-text.ts'
import { Silence } from '../http/silence.ts'
import { isClosed, whenClosed } from '../http/streamed-reply.ts'

/** How long a stream lasts. */
interface StreamLimits {
  /** The longest idle time, without a message. */
  readonly idleMsMax: number
  readonly msMax: number
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
  readonly #reply: FastifyReply
  readonly #limits: StreamLimits
  readonly #silence: Silence
  #clientId = ''

  /** `address`: of the client. */
  constructor(address: string | undefined, reply: FastifyReply, limits: StreamLimits) {
    this.address = address
    this.#reply = reply
    this.#limits = limits
    this.#silence = new Silence(reply.server.environment, limits.idleMsMax, () => this.end())
  }

  /** Takes the reply over, and sends who the client is. `closed` is called when nothing more can be sent. */
  begin(client: ConnectedClient, closed: () => void, cursor?: string): void {
    if (isClosed(this.#reply)) {
      closed()
      // The request has its end then.
      void this.#reply.send()
      return
    }
    const { raw: response } = this.#reply.hijack()
    this.#silence.begin()
    const cancelEnd = this.#reply.server.environment.after(this.#limits.msMax, () => this.end())
    // A stream has its connection for itself: then an event is one write, without the head of a chunk.
    response.shouldKeepAlive = false
    response.useChunkedEncodingByDefault = false
    response.socket?.setTimeout(0)
    response.socket?.setKeepAlive(true, PROBE_MS)
    response.writeHead(200, { ...(this.#reply.getHeaders() as Record<string, string>), ...HEADERS })
    // Its connection has closed.
    response.on('error', () => {})
    whenClosed(this.#reply, () => {
      this.#silence.end()
      cancelEnd()
      closed()
    })
    this.#clientId = client.clientId
    this.send([{ topic: 'PB_CONNECT', data: client, ...(cursor !== undefined && { cursor }) }])
  }

  send(messages: readonly RealtimeMessage[]): void {
    const { raw: response } = this.#reply
    if (response.destroyed || response.writableEnded) return
    const events = messages.map(
      ({ topic, data, cursor = this.#clientId }) =>
        `id:${cursor}\nevent:${topic.replaceAll(BREAKS, ' ')}\ndata:${jsonOf(data)}\n\n`,
    )
    response.write(events.join(''))
    if (response.writableLength > WAITING_BYTES_MAX) response.destroy()
    else this.#silence.broken()
  }

  /** Ends the stream. Messages that wait are sent if the client takes them soon. */
  end(retryMs?: number): void {
    const { raw: response } = this.#reply
    response.socket?.setTimeout(LAST_MS, () => response.destroy())
    response.end(retryMs === undefined ? undefined : `retry:${retryMs}\n\n`)
  }
}

/** Known JSON by data: several clients get the same data. */
const known = new WeakMap<object, string>()

function jsonOf(data: object): string {
  const found = known.get(data) ?? safeJson(data)
  known.set(data, found)
  return found
}
