/**
 * What a server costs that costs nothing, in a process of its own (processes.ts): `canned-process.ts URL`. Asks the server at the URL once for
 * each request, and then answers it from memory.
 */
import { createServer, request as ask } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { closeServer, listen } from './pouchdb-server.ts'
import { serve } from './process-entry.ts'

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const [target = ''] = process.argv.slice(2)
const answers = new Map<string, Answer>()

serve(async () => {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await wholeOf(request)
      const name = `${request.method} ${request.url} ${body.toString('latin1')}`
      const known = answers.get(name) ?? (await forward(request, body))
      answers.set(name, known)
      response.writeHead(known.status, known.headers).end(known.body)
    })()
  })
  const url = await listen(server)
  return { url, close: () => closeServer(server) }
})

function forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = ask(target + url!, { method: method!, headers: { ...headers, connection: 'close' } }, (response) => {
      const { 'transfer-encoding': _chunked, connection: _connection, ...rest } = response.headers
      wholeOf(response).then(
        (bytes) =>
          resolve({
            status: response.statusCode!,
            headers: { ...rest, 'content-length': String(bytes.length) },
            body: bytes,
          }),
        reject,
      )
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

async function wholeOf(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of message) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}
