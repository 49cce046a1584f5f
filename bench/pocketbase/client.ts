/** A client of PocketBase's API, for what is not measured. */
import { Agent, request as httpRequest } from 'node:http'
import { isSuccess, type Answer, type Call } from './http-socket.ts'

export class ApiClient {
  readonly url: URL
  readonly #agent: Agent = new Agent({ keepAlive: true, maxSockets: 4 })
  /** The token of a superuser, after `logIn`. */
  token: string | undefined

  constructor(url: string) {
    this.url = new URL(url)
  }

  async logIn(identity: string, password: string, collection = '_superusers'): Promise<string> {
    const path = `/api/collections/${collection}/auth-with-password`
    const { token } = await this.ask({ method: 'POST', path, body: { identity, password } })
    return token as string
  }

  /** As a superuser. @throws Error if the answer is no success */
  async ask(call: Call): Promise<Record<string, unknown>> {
    const { status, text } = await this.#send({ token: this.token, ...call })
    if (!isSuccess(status)) throw new Error(`${call.method ?? 'GET'} ${call.path}: ${status} ${text.slice(0, 300)}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }

  close(): void {
    this.#agent.destroy()
  }

  #send({ method = 'GET', path, body, token }: Call): Promise<Answer> {
    const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const headers: Record<string, string | number> = {}
    if (token !== undefined) headers['authorization'] = token
    if (data !== undefined)
      Object.assign(headers, { 'content-type': 'application/json', 'content-length': data.length })
    const { hostname, port } = this.url
    return new Promise((resolve) => {
      const fail = (error: Error): void => resolve({ status: 0, text: error.message })
      const sent = httpRequest({ hostname, port, method, path, headers, agent: this.#agent }, (response) => {
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
