/** A proxy that can lose requests and answers. Its address stays when the server behind it starts again. */
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * What the proxy does with a request: it loses it or its answer, or takes no such large one. A function is called when the server has
 * answered, and the answer waits until it resolves.
 */
export type Loss = 'request' | 'answer' | 'tooLarge' | (() => Promise<void>) | undefined

const TOO_LARGE = 413

/** A pull that was answered. Times are `performance.now()`. */
export interface SeenPull {
  readonly token: string | undefined
  readonly answer: string
  readonly from: number
  readonly to: number
}

export class LossyProxy {
  /** The address of the server. */
  target = ''
  /** Asked for each request of sync. */
  lose: (path: string, bytes: number) => Loss = () => undefined
  /** Nobody is reached. */
  isDown = false
  /** Runs before a request is passed on. */
  before: (path: string) => Promise<void> = async () => {}
  /** Hears of the pulls that the server has answered. */
  onPull: ((pull: SeenPull) => void) | undefined
  /** Paths of what came, in order. */
  readonly requests: string[] = []
  readonly #server: Server
  readonly #wallClock: (() => number) | undefined

  /** `wallClock`: the clock of the server. Node gives answers the real time. */
  constructor(wallClock?: () => number) {
    this.#wallClock = wallClock
    this.#server = createServer((request, response) => void this.#forward(request, response))
    // The server's answers say for how long connections are kept.
    this.#server.keepAliveTimeout = 0
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!
    this.requests.push(path)
    const { method, headers } = request
    const bytes = Number(headers['content-length'] ?? 0)
    const loss = this.isDown ? 'request' : path.startsWith('/api/sync/') ? this.lose(path, bytes) : undefined
    if (loss === 'request') {
      request.destroy()
      return
    }
    if (loss === 'tooLarge') {
      request.resume().on('end', () => response.writeHead(TOO_LARGE).end('<h1>Request Entity Too Large</h1>'))
      return
    }
    await this.before(path)
    const isWatched = this.onPull !== undefined && path === '/api/sync/pull'
    const from = performance.now()
    const sent = httpRequest(
      this.target + path,
      { method, headers: isWatched ? { ...headers, 'accept-encoding': 'identity' } : headers },
      (answer) => {
        if (isWatched && answer.statusCode === 200) this.#watch(request, answer, from)
        if (loss === 'answer') {
          answer.resume().on('end', () => response.destroy())
          return
        }
        const pass = (): void => {
          const date = this.#wallClock === undefined ? answer.headers.date : new Date(this.#wallClock()).toUTCString()
          response.writeHead(answer.statusCode!, { ...answer.headers, date })
          response.flushHeaders()
          answer.pipe(response)
        }
        answer.on('error', () => response.destroy())
        if (loss === undefined) pass()
        else void loss().then(pass)
      },
    )
    sent.on('error', () => response.destroy())
    response.on('close', () => sent.destroy())
    request.pipe(sent)
  }

  #watch(request: IncomingMessage, answer: IncomingMessage, from: number): void {
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('end', () =>
      this.onPull?.({
        token: request.headers.authorization,
        answer: Buffer.concat(chunks).toString(),
        from,
        to: performance.now(),
      }),
    )
  }
}
