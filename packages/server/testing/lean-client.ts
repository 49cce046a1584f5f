/**
 * A client for load. It takes as little as it can of the processor, which it shares with the server. It sends one request after another on a kept
 * connection, put together and taken apart by hand. It knows as much of HTTP as these servers' answers need.
 */
import { connect } from 'node:net'
import type { Socket } from 'node:net'

const HEAD_END = '\r\n\r\n'
const CHUNKS_END = '0\r\n\r\n'

export class LeanClient {
  readonly #socket: Socket
  readonly #host: string
  #received = ''
  #answered: (status: number) => void = () => {}
  #failed: (error: Error) => void = () => {}

  constructor(url: string) {
    const { hostname, port, host } = new URL(url)
    this.#host = host
    this.#socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1')
    this.#socket.on('data', (text: string) => this.#take(text))
    this.#socket.on('error', (error) => this.#failed(error))
    this.#socket.on('close', () => this.#failed(new Error('the server has closed the connection')))
  }

  /** Resolves with the status when the whole answer has come. `body`: ASCII. */
  put(path: string, authorization: string, body: string): Promise<number> {
    return this.#send('PUT', path, authorization, body)
  }

  /** The same. */
  get(path: string, authorization: string): Promise<number> {
    return this.#send('GET', path, authorization, '')
  }

  #send(method: string, path: string, authorization: string, body: string): Promise<number> {
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\nauthorization: ${authorization}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    )
    return new Promise((resolve, reject) => {
      this.#answered = resolve
      this.#failed = reject
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(text: string): void {
    this.#received += text
    const head = this.#received.indexOf(HEAD_END)
    if (head < 0) return
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1]
    const isWhole =
      length === undefined
        ? this.#received.endsWith(CHUNKS_END)
        : this.#received.length >= head + HEAD_END.length + Number(length)
    if (!isWhole) return
    const status = Number(this.#received.slice(9, 12))
    this.#received = ''
    this.#answered(status)
  }
}
