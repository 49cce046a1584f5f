/** Many connections of `/api/realtime`: their memory, and whether each one gets all messages in order. */
import { connect, type Socket } from 'node:net'
import { alignColumns, formatNumber } from '../bars/table.ts'
import type { ApiClient } from './client.ts'
import { end, start, type Conditions, type Entrant } from './race.ts'
import { LIVE, makeLive } from './subscribers.ts'

const MESSAGES = 5
const OPENED_AT_ONCE = 50
const HEARD_MS_MAX = 120_000
const KIBIBYTE = 1024

/** One server after the other. */
export async function runConnections(
  entrants: readonly Entrant[],
  conditions: Conditions,
  count: number,
): Promise<void> {
  const head = ['', 'opened in s', 'KiB each', 'all got it after s', 'messages', 'in order', '']
  const lines: string[][] = []
  for (const entrant of entrants) {
    const contender = await start(entrant, conditions)
    try {
      const { name, memory } = contender.server
      await makeLive(contender.client)
      const listeners = new Listeners(contender.client)
      const before = memory().now
      const opened = performance.now()
      await listeners.open(count)
      const openedMs = performance.now() - opened
      const bytes = (memory().now - before) / count
      const sent = performance.now()
      for (let number = 1; number <= MESSAGES; number++)
        await contender.client.ask({
          method: 'POST',
          path: `/api/collections/${LIVE}/records`,
          body: { room: 'all', votes: number },
        })
      await listeners.haveHeard(MESSAGES)
      const heardMs = performance.now() - sent
      const { messages, inOrder, broken } = listeners.outcome(MESSAGES)
      listeners.close()
      lines.push([
        name,
        formatNumber(openedMs / 1000),
        formatNumber(bytes / KIBIBYTE),
        formatNumber(heardMs / 1000),
        `${messages} of ${count * MESSAGES}`,
        `${inOrder} of ${count}`,
        broken > 0 ? `${broken} CONNECTIONS BROKE` : inOrder < count ? 'MISSED' : '',
      ])
    } finally {
      await end(contender)
    }
  }
  console.log(`\n${count} connections, ${MESSAGES} messages to each\n`)
  console.log(`${alignColumns([head, ...lines], [0, head.length - 1])}\n`)
}

interface Listener {
  readonly socket: Socket
  rest: string
  /** The numbers of the messages, as they came. */
  readonly numbers: number[]
  isBroken: boolean
}

class Listeners {
  readonly #client: ApiClient
  readonly #all: Listener[] = []

  constructor(client: ApiClient) {
    this.#client = client
  }

  async open(count: number): Promise<void> {
    for (let at = 0; at < count; at += OPENED_AT_ONCE)
      await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, count - at) }, () => this.#add()))
  }

  /** Resolves when each one has as many messages, or the time is over. */
  async haveHeard(messages: number): Promise<void> {
    const until = performance.now() + HEARD_MS_MAX
    while (performance.now() < until && this.#all.some(({ numbers }) => numbers.length < messages))
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

  outcome(messages: number): { readonly messages: number; readonly inOrder: number; readonly broken: number } {
    const wanted = Array.from({ length: messages }, (_, index) => index + 1).join()
    return {
      messages: this.#all.reduce((sum, { numbers }) => sum + numbers.length, 0),
      inOrder: this.#all.filter(({ numbers }) => numbers.join() === wanted).length,
      broken: this.#all.filter(({ isBroken }) => isBroken).length,
    }
  }

  close(): void {
    for (const { socket } of this.#all) socket.destroy()
  }

  async #add(): Promise<void> {
    const { hostname, port, host } = this.#client.url
    const socket = connect(Number(port), hostname).setEncoding('latin1')
    const listener: Listener = { socket, rest: '', numbers: [], isBroken: false }
    this.#all.push(listener)
    socket.on('close', () => (listener.isBroken = true))
    socket.write(`GET /api/realtime HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
    const clientId = await new Promise<string>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('data', (text: string) => {
        const events = (listener.rest + text).split('\n\n')
        listener.rest = events.pop()!
        for (const event of events) {
          if (event.includes('event:PB_CONNECT')) resolve(/^id:(\w+)/m.exec(event)![1]!)
          else if (event.includes(`event:${LIVE}/*`)) listener.numbers.push(Number(/"votes":(\d+)/.exec(event)![1]))
        }
      })
    })
    const body = { clientId, subscriptions: [`${LIVE}/*`] }
    await this.#client.ask({ method: 'POST', path: '/api/realtime', body, token: undefined })
  }
}
