/** How soon clients hear of a write: streams of `/api/realtime`, each with a filter of its own. */
import { connect, type Socket } from 'node:net'
import type { ApiClient } from './client.ts'
import { HttpSocket, isSuccess, type Call } from './http-socket.ts'
import type { LoadResult } from './load.ts'

/** Subscribers that listen while a workload writes. */
export interface Audience {
  readonly size: number
  /** The filter of one subscriber. */
  readonly filter: (index: number) => string
  /** How many of them a write concerns. */
  readonly heardBy: number
}

/** Listeners subscribe to its records. */
export const LIVE = 'live'

const OPENED_AT_ONCE = 50
const HEARD_MS_MAX = 20_000
/** Writes of the warm-up, which do not count: the first ones bind filters. */
const WARM_UP = 3

/** `p50Ms` is from the beginning of a write to its event at a client. `perSecond` is its reciprocal. */
export async function hear(
  client: ApiClient,
  { size, filter, heardBy }: Audience,
  writes: number,
  call: (index: number) => Call,
): Promise<LoadResult> {
  await makeLive(client)
  const listeners = new Listeners(client)
  for (let at = 0; at < size; at += OPENED_AT_ONCE) {
    const some = Array.from({ length: Math.min(OPENED_AT_ONCE, size - at) }, (_, index) => filter(at + index))
    await Promise.all(some.map((one) => listeners.add(one)))
  }
  const socket = new HttpSocket(client.url)
  const times: number[] = []
  let failed = 0
  let firstFailure = ''
  for (let write = 0; write < writes + WARM_UP; write++) {
    const heard = listeners.next(heardBy)
    const sent = performance.now()
    const { status, text } = await socket.send(call(write), true)
    const moments = await heard
    if (write >= WARM_UP) times.push(...moments.map((moment) => moment - sent))
    if (isSuccess(status) && moments.length === heardBy) continue
    if (failed++ === 0) firstFailure = `${status}, ${moments.length} of ${heardBy} heard it: ${text.slice(0, 120)}`
  }
  socket.close()
  listeners.close()
  times.sort((one, other) => one - other)
  const at = (part: number): number => times[Math.floor(part * times.length)] ?? Infinity
  return { requests: writes, perSecond: 1000 / at(0.5), p50Ms: at(0.5), p95Ms: at(0.95), failed, firstFailure }
}

/** Makes their collection again. */
export async function makeLive(client: ApiClient): Promise<void> {
  const path = '/api/collections'
  const fields = [
    { name: 'room', type: 'text' },
    { name: 'votes', type: 'number' },
  ]
  const rules = { listRule: '', viewRule: '', createRule: '' }
  await client.ask({ method: 'DELETE', path: `${path}/${LIVE}` }).catch(() => {})
  await client.ask({ method: 'POST', path, body: { name: LIVE, type: 'base', ...rules, fields } })
}

/** Subscribers whose sockets are read without a parser, as this process takes part in the measurement. */
class Listeners {
  readonly #client: ApiClient
  readonly #sockets: Socket[] = []
  #heard: number[] = []
  #wanted = 0
  #resolve: (moments: readonly number[]) => void = () => {}

  constructor(client: ApiClient) {
    this.#client = client
  }

  async add(filter: string): Promise<void> {
    const { hostname, port, host } = this.#client.url
    const socket = connect(Number(port), hostname)
    this.#sockets.push(socket)
    socket.setEncoding('latin1').write(`GET /api/realtime HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
    const clientId = await new Promise<string>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('data', (text: string) => {
        if (text.includes(`event:${LIVE}/`)) this.#note()
        else if (text.includes('event:PB_CONNECT')) resolve(/^id:(\w+)/m.exec(text)![1]!)
      })
    })
    const options = encodeURIComponent(JSON.stringify({ query: { filter } }))
    const body = { clientId, subscriptions: [`${LIVE}/*?options=${options}`] }
    await this.#client.ask({ method: 'POST', path: '/api/realtime', body, token: undefined })
  }

  /** The moments at which the next write is heard; fewer if not all hear it in time. */
  next(count: number): Promise<readonly number[]> {
    this.#heard = []
    this.#wanted = count
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve(this.#heard), HEARD_MS_MAX)
      this.#resolve = (moments) => {
        clearTimeout(late)
        resolve(moments)
      }
    })
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #note(): void {
    this.#heard.push(performance.now())
    if (this.#heard.length === this.#wanted) this.#resolve(this.#heard)
  }
}
