/**
 * Messages as a stream of events, byte for byte as PocketBase has it: `id:CLIENT`, `event:TOPIC`, `data:JSON`. A client that does
 * not read is cut off, so that it holds no memory; it connects again when it can.
 */
import type { FastifyReply } from 'fastify'
import type { RealtimeMessage } from '@pannier/backend'
import { safeJson } from '../http/safe-json.ts'
import { whenClosed } from '../http/streamed-reply.ts'

/** How long a stream lasts. */
export interface StreamLimits {
  /** Without a message. */
  readonly idleMsMax: number
  readonly msMax: number
}

/** Bytes that wait for a client. More cuts it off. */
const WAITING_BYTES_MAX: number = 4 * 1024 * 1024
/** Finds out that a client has gone without a word. */
const PROBE_MS = 60_000

/** A topic is one line, whatever the client has sent. */
const BREAKS = /[\r\n]/g

const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** The answer to a request that goes on until one of both ends it. */
export class EventStream {
  readonly #response: FastifyReply['raw']
  readonly #idle: NodeJS.Timeout
  readonly #life: NodeJS.Timeout
  #id = ''

  /** Takes the reply over. `closed` is called once, when nothing more can be sent. */
  constructor(reply: FastifyReply, { idleMsMax, msMax }: StreamLimits, closed: () => void) {
    reply.hijack()
    const response = reply.raw
    this.#response = response
    this.#idle = setTimeout(() => this.end(), idleMsMax)
    this.#life = setTimeout(() => this.end(), msMax)
    // One connection a stream: its end is that of the answer, and a message is one write.
    response.shouldKeepAlive = false
    response.useChunkedEncodingByDefault = false
    response.socket?.setTimeout(0)
    response.socket?.setKeepAlive(true, PROBE_MS)
    response.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...HEADERS })
    response.on('error', () => response.destroy())
    whenClosed(reply, () => {
      clearTimeout(this.#idle)
      clearTimeout(this.#life)
      closed()
    })
  }

  /** Tells the client who it is. */
  begin(clientId: string): void {
    this.#id = clientId
    this.send([{ topic: 'PB_CONNECT', data: { clientId } }])
  }

  /** Sends messages, in order. */
  send(messages: readonly RealtimeMessage[]): void {
    const response = this.#response
    if (response.destroyed || response.writableEnded) return
    response.write(
      messages
        .map(({ topic, data }) => `id:${this.#id}\nevent:${topic.replaceAll(BREAKS, ' ')}\ndata:${jsonOf(data)}\n\n`)
        .join(''),
    )
    if (response.writableLength > WAITING_BYTES_MAX) response.destroy()
    else this.#idle.refresh()
  }

  /** Sends what waits, and no more. */
  end(): void {
    this.#response.end()
  }
}

/** Of data that several clients are sent. */
const known = new WeakMap<object, string>()

function jsonOf(data: object): string {
  const found = known.get(data) ?? safeJson(data)
  known.set(data, found)
  return found
}
