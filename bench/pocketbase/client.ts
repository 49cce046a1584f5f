/** A client of PocketBase's API that drives load. Failures are counted, and the first one is kept. */
import { Agent, request as httpRequest } from 'node:http'

export interface Call {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly token?: string | undefined
}

export interface Answer {
  /** 0: the connection broke. */
  readonly status: number
  readonly text: string
}

export interface Load {
  readonly requests: number
  /** How many are under way at once. */
  readonly concurrency: number
  /** False: a new connection for each request. */
  readonly keepAlive: boolean
  readonly call: (index: number) => Call
  readonly onAnswer?: (answer: Answer, index: number) => void
}

export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly failed: number
  readonly firstFailure: string
}

export class ApiClient {
  readonly #url: URL
  readonly #agent: Agent = new Agent({ keepAlive: true, maxSockets: 4 })
  /** The token of a superuser, after `logIn`. */
  token: string | undefined

  constructor(url: string) {
    this.#url = new URL(url)
  }

  async logIn(identity: string, password: string, collection = '_superusers'): Promise<string> {
    const path = `/api/collections/${collection}/auth-with-password`
    const { token } = await this.ask({ method: 'POST', path, body: { identity, password } })
    return token as string
  }

  /** As a superuser. @throws Error if the answer is no success */
  async ask(call: Call): Promise<Record<string, unknown>> {
    const { status, text } = await this.send({ token: this.token, ...call }, this.#agent)
    if (!isSuccess(status)) throw new Error(`${call.method ?? 'GET'} ${call.path}: ${status} ${text.slice(0, 300)}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }

  async drive({ requests, concurrency, keepAlive, call, onAnswer }: Load): Promise<LoadResult> {
    const agent = keepAlive ? new Agent({ keepAlive, maxSockets: concurrency }) : undefined
    const times = new Float64Array(requests)
    let next = 0
    let failed = 0
    let firstFailure = ''
    const work = async (): Promise<void> => {
      while (next < requests) {
        const index = next++
        const started = performance.now()
        const answer = await this.send(call(index), agent)
        times[index] = performance.now() - started
        if (isSuccess(answer.status)) onAnswer?.(answer, index)
        else if (failed++ === 0) firstFailure = `${answer.status} ${answer.text.slice(0, 120)}`
      }
    }
    const started = performance.now()
    await Promise.all(Array.from({ length: Math.min(concurrency, requests) }, work))
    const tookMs = performance.now() - started
    agent?.destroy()
    times.sort()
    const at = (part: number): number => times[Math.min(requests - 1, Math.floor(part * requests))]!
    return { perSecond: (requests / tookMs) * 1000, p50Ms: at(0.5), p95Ms: at(0.95), failed, firstFailure }
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Without an agent each request has its own connection. */
  send({ method = 'GET', path, body, token }: Call, agent: Agent | undefined): Promise<Answer> {
    const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const headers: Record<string, string | number> = {}
    if (token !== undefined) headers['authorization'] = token
    if (data !== undefined)
      Object.assign(headers, { 'content-type': 'application/json', 'content-length': data.length })
    const { hostname, port } = this.#url
    return new Promise((resolve) => {
      const fail = (error: Error): void => resolve({ status: 0, text: error.message })
      const sent = httpRequest({ hostname, port, method, path, headers, agent: agent ?? false }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', fail)
        response.on('end', () => resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }))
      })
      sent.on('error', fail)
      sent.end(data)
    })
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
