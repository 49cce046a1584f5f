/** Asks a server at 127.0.0.1 by a public name. */
import { once } from 'node:events'
import { request } from 'node:https'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'

export interface SecureAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The number of the certificate. */
  readonly serial: string
}

/** `ca`: who vouches for the certificate. Rejects if it is not for the name. With a body, which is JSON, it is a POST. */
export async function askSecurely(
  port: number,
  name: string,
  path: string,
  ca: string,
  body?: object,
): Promise<SecureAnswer> {
  const headers = { host: `${name}:${port}`, ...(body && { 'content-type': 'application/json' }) }
  const method = body === undefined ? 'GET' : 'POST'
  const asked = request({ host: '127.0.0.1', servername: name, port, path, method, ca, headers, agent: false })
  asked.end(body && JSON.stringify(body))
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const serial = (answer.socket as TLSSocket).getPeerCertificate().serialNumber
  return { status: answer.statusCode!, headers: answer.headers, text: await text(answer), serial }
}
