/**
 * Live sessions: streams of `/api/realtime`, each of another user. Their sockets are read without a parser, as this process takes part
 * in what is measured.
 */
import { connect, type Socket } from 'node:net'
import type { ServerName } from '../pocketbase/servers.ts'

const OPENED_AT_ONCE = 100
const CONNECTED = 'PB_CONNECT'

/** How a session hears of tasks. */
interface Dialect {
  /** Undefined: the stream names it. */
  readonly subscription: string | undefined
  readonly path: string
  /** In each event. */
  readonly event: string
}

const SIGNALS: Dialect = {
  subscription: undefined,
  path: `/api/realtime?topic=${encodeURIComponent('@sync/tasks')}`,
  event: 'event:@sync/tasks',
}
const RECORDS: Dialect = { subscription: 'tasks/*', path: '/api/realtime', event: 'event:tasks/' }

export class Sessions {
  readonly #url: URL
  readonly #dialect: Dialect
  readonly #sockets: Socket[] = []
  /** By user: what hears of the next event. */
  onEvent: (user: number) => void = () => {}
  /** The number of lost streams, which ended by themselves. */
  lost = 0

  constructor(url: string, name: ServerName) {
    this.#url = new URL(url)
    this.#dialect = name === 'pocketbase' ? RECORDS : SIGNALS
  }

  get size(): number {
    return this.#sockets.length
  }

  /** Opens those of the users that are not there yet. `tokens`: by user. */
  async openTo(size: number, tokens: readonly string[]): Promise<void> {
    const first = this.size
    let next = first
    const work = async (): Promise<void> => {
      while (next < size) {
        const user = next++
        await this.open(user, tokens[user]!)
      }
    }
    await Promise.all(Array.from({ length: OPENED_AT_ONCE }, work))
  }

  /** Resolves when the session is subscribed. */
  async open(user: number, token: string): Promise<void> {
    const { hostname, port, host } = this.#url
    const { path, event, subscription } = this.#dialect
    const socket = connect(Number(port), hostname).setNoDelay(true)
    this.#sockets.push(socket)
    socket.setEncoding('latin1')
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${token}\r\n\r\n`)
    const clientId = await new Promise<string>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', () => this.lost++)
      socket.on('data', (text: string) => {
        for (let at = text.indexOf(event); at >= 0; at = text.indexOf(event, at + 1)) this.onEvent(user)
        if (text.includes(CONNECTED)) resolve(/"clientId":"(\w+)"/.exec(text)![1]!)
      })
    })
    if (subscription !== undefined) await this.#subscribe(clientId, subscription, token)
  }

  close(): void {
    for (const socket of this.#sockets.splice(0)) socket.removeAllListeners('close').destroy()
  }

  async #subscribe(clientId: string, subscription: string, token: string): Promise<void> {
    const response = await fetch(new URL('/api/realtime', this.#url), {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ clientId, subscriptions: [subscription] }),
    })
    if (!response.ok) throw new Error(`A subscription was answered with ${response.status}.`)
    await response.arrayBuffer()
  }
}
