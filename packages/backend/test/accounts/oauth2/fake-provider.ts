/** A provider of logins that answers what a test wants, and remembers what it was asked. */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Asked {
  readonly path: string
  readonly method: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** `undefined`: no answer comes. */
type Answer =
  | { readonly status?: number; readonly type?: string; readonly location?: string; readonly body: unknown }
  | undefined

export interface FakeProvider extends AsyncDisposable {
  readonly url: string
  readonly asked: Asked[]
  /** By path: a value is sent as JSON. */
  readonly answers: Record<string, ((asked: Asked) => Answer) | object>
}

export async function fakeProvider(answers: FakeProvider['answers'] = {}): Promise<FakeProvider> {
  const asked: Asked[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = request.url!.split('?', 1)[0]!
    const one = { path, method: request.method!, headers: request.headers, body: Buffer.concat(chunks).toString() }
    asked.push(one)
    const answer = answers[path] ?? { status: 404, body: {} }
    const sent = typeof answer === 'function' ? (answer as (asked: Asked) => Answer)(one) : { body: answer }
    if (sent === undefined) return
    const { status = 200, type = 'application/json', location = '', body } = sent
    response.writeHead(status, { 'content-type': type, ...(location !== '' && { location }) })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answers,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
