/** Plain HTTP of a server with a certificate by ACME: it answers the service's questions, and redirects to HTTPS. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

interface PlainHttp {
  readonly names: readonly string[]
  /** The port of HTTPS. */
  readonly port: () => number
  /** Answers to the service's questions, by token. */
  readonly proofs: ReadonlyMap<string, string>
}

const CHALLENGE = '/.well-known/acme-challenge/'
const HEADER_BYTES_MAX = 16_384
const REQUEST_MS_MAX = 15_000
const IDLE_MS_MAX = 5000
const CONNECTIONS_MAX = 1000

export function plainHttp(site: PlainHttp): Server {
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: REQUEST_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    keepAliveTimeout: IDLE_MS_MAX,
  }
  const server = createServer(limits, (request, response) => answer(site, request, response))
  server.maxConnections = CONNECTIONS_MAX
  return server
}

function answer(
  { names, port, proofs }: PlainHttp,
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
): void {
  if (url.startsWith(CHALLENGE)) {
    const proof = proofs.get(url.slice(CHALLENGE.length))
    end(response, proof === undefined ? 404 : 200, proof ?? 'There is no such challenge.')
    return
  }
  const name = (headers.host ?? '').replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
  if (!names.includes(name)) end(response, 403, 'The server has no such name.')
  // What another method carries has gone over the network in plain text: its client has to be mended, not helped.
  else if (method !== 'GET' && method !== 'HEAD') end(response, 400, 'Use HTTPS.')
  else if (!url.startsWith('/')) end(response, 400, 'The URL must begin with a slash.')
  else end(response, 308, 'Use HTTPS.', { location: `${httpsUrl(name, port())}${url}` })
}

/** The URL (https) without a slash at its end. */
export function httpsUrl(name: string, port: number): string {
  return `https://${name}${port === 443 ? '' : `:${port}`}`
}

function end(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response
    .writeHead(status, { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff', ...headers })
    .end(text)
}
