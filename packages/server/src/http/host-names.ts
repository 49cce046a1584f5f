/**
 * The names that requests may give in `Host`. A page can point its own name at an address that only its visitor reaches
 * (DNS rebinding). Its requests carry that name, so a server on a loopback address accepts only its own names. Only
 * `Host` counts: a page can send any `X-Forwarded-Host`, even through a trusted proxy.
 */
import type { IncomingMessage, Server } from 'node:http'
import { isIP } from 'node:net'
import { badArgument } from 'pannier/internal'
import { badRequest, HttpError } from './http-error.ts'

/** A name, or an address, which has brackets if it is of IPv6; and a port. */
const HOST = /^(?:\[(?<address>[0-9a-f:.]+)\]|(?<name>[^:[\]\s/@]+))(?::\d{1,5})?$/i
const NAME = /^[^:[\]\s/@]+$/

/**
 * Headers that must not come twice, because different programs read a different one of the two. The parser refuses
 * `Content-Length`.
 */
const ONCE: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type'])

/** As names are compared. @throws TypeError */
export function hostNames(names: readonly string[]): ReadonlySet<string> {
  const wrong = names.find((name) => isIP(name) === 0 && !NAME.test(name))
  if (wrong !== undefined)
    throw badArgument(
      'createServer()',
      "http.allowedHosts must be names or addresses without a port, such as 'couch.lan'",
      wrong,
    )
  return new Set(names.map(comparable))
}

/** `address`: where the server listens. @throws HttpError 400, 403 */
export function checkHost(
  { headers, rawHeaders }: IncomingMessage,
  address: string | undefined,
  allowed: ReadonlySet<string>,
): void {
  refuseTwice(rawHeaders)
  // HTTP/1.0 needs none; the parser has refused other requests without one. Browsers always send it.
  if (headers.host === undefined) return
  if (allowed.size === 0 && address !== undefined && !isLoopback(address)) return
  const name = nameIn(headers.host)
  if (name !== undefined && (isLoopback(name) || name === address || allowed.has(name))) return
  const told = (name ?? headers.host).slice(0, 80)
  throw new HttpError(
    403,
    'forbidden',
    `The server has no name '${told}'. If it should, start it with --allow-host ${told} (createServer: http.allowedHosts).`,
  )
}

/** `name`: of a host or an address, without brackets. */
export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}

function refuseTwice(rawHeaders: readonly string[]): void {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.has(name)) throw badRequest(`The header '${name}' must come once, but came twice.`)
    seen.add(name)
  }
}

function nameIn(host: string): string | undefined {
  const { address, name = address } = HOST.exec(host)?.groups ?? {}
  return name === undefined ? undefined : comparable(name)
}

function comparable(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** An address, or the path of a socket file, which no page reaches. Undefined: requests come from tests in the process. */
export function listensAt(server: Server): string | undefined {
  const address = server.address()
  return typeof address === 'string' ? address : address?.address
}
