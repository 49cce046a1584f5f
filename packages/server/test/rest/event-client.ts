/** A client of `/api/realtime` that sees each byte. */
import { get, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { until } from '../test-server.ts'
import { call } from './rest-server.ts'
import type { Answer } from '../test-server.ts'

export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: Record<string, unknown>
}

export interface StreamOptions {
  /** What stands after `/api/realtime`. */
  readonly search?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The address that it connects from, of this machine. */
  readonly localAddress?: string
}

export class EventClient {
  readonly #url: string
  readonly #request: ClientRequest
  readonly #response: IncomingMessage
  /** All that has come. */
  text = ''
  isClosed = false

  static async open(
    url: string,
    { search = '', headers = {}, localAddress }: StreamOptions = {},
  ): Promise<EventClient> {
    return new Promise((resolve, reject) => {
      const options = { headers, agent: false, ...(localAddress && { localAddress }) }
      const request = get(`${url}/api/realtime${search}`, options, (response) => {
        const client = new EventClient(url, request, response)
        until(() => client.events.length > 0 || client.isClosed).then(() => resolve(client), reject)
      })
      request.on('error', reject)
    })
  }

  private constructor(url: string, request: ClientRequest, response: IncomingMessage) {
    this.#url = url
    this.#request = request
    this.#response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => (this.text += text))
    response.on('error', () => {})
    response.on('close', () => (this.isClosed = true))
  }

  get status(): number {
    return this.#response.statusCode!
  }

  get headers(): IncomingHttpHeaders {
    return this.#response.headers
  }

  get events(): StreamEvent[] {
    const blocks = this.text.split('\n\n').slice(0, -1)
    return blocks.map((block) => {
      const [, id, event, data] = /^id:(.*)\nevent:(.*)\ndata:(.*)$/.exec(block) ?? []
      if (data === undefined) throw new Error(`This is no event: ${JSON.stringify(block)}`)
      return { id: id!, event: event!, data: JSON.parse(data) as Record<string, unknown> }
    })
  }

  /** Those after the first one, which says who the client is. */
  get messages(): StreamEvent[] {
    return this.events.slice(1)
  }

  /** `posts/* create` */
  get actions(): string[] {
    return this.messages.map(({ event, data }) => `${event} ${String(data['action'])}`)
  }

  get id(): string {
    return String(this.events[0]!.data['clientId'])
  }

  subscribe(subscriptions: readonly string[], token = ''): Promise<Answer> {
    return call(this.#url, 'POST /realtime', { clientId: this.id, subscriptions }, token)
  }

  /** Resolves when there are that many messages. */
  async has(count: number): Promise<void> {
    await until(
      () => this.messages.length >= count,
      () => this.text,
    )
  }

  close(): void {
    this.#request.destroy()
  }
}

/** `posts/*` with options, as the SDK writes them. */
export function topic(name: string, query: object = {}, headers: object = {}): string {
  return `${name}?options=${encodeURIComponent(JSON.stringify({ query, headers }))}`
}
