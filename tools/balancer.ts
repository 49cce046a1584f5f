/** A small balancer before several servers: each request goes to the next one that takes it. For tests and `npm start`; a real one also asks `/_up`. */
import { Agent, createServer, request as ask, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export class Balancer implements AsyncDisposable {
  /** Where the servers are. Change it at any time. */
  ports: number[]
  readonly #server: Server
  #next = 0
  /** No connection is kept: a server that was killed would break the next request. */
  readonly #agent = new Agent({ keepAlive: false })

  static async start(ports: readonly number[], port = 0): Promise<Balancer> {
    const balancer = new Balancer(ports)
    balancer.#server.listen(port, '127.0.0.1')
    await once(balancer.#server, 'listening')
    return balancer
  }

  private constructor(ports: readonly number[]) {
    this.ports = [...ports]
    this.#server = createServer((request, response) => this.#pass(request, response, this.ports.length))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Nothing of a request has been sent to a server that refuses the connection. */
  #pass(request: IncomingMessage, response: ServerResponse, tries: number): void {
    const port = this.ports[this.#next++ % this.ports.length]!
    const { url = '/', method = 'GET', headers } = request
    const upstream = ask({ host: '127.0.0.1', port, path: url, method, headers, agent: this.#agent })
    upstream.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && tries > 1) return this.#pass(request, response, tries - 1)
      if (response.headersSent) response.destroy()
      else
        // As CouchDB says errors: PouchDB reads no other ones.
        response
          .writeHead(502, { 'content-type': 'application/json' })
          .end(`${JSON.stringify({ error: 'bad_gateway', reason: `No server answers: ${error.message}` })}\n`)
    })
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.pipe(response)
      answer.once('error', () => response.destroy())
    })
    upstream.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => request.pipe(upstream))
      else request.pipe(upstream)
    })
    response.once('close', () => upstream.destroy())
  }
}
