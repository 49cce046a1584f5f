/**
 * The `fetch` of what users may lead the server to: replications, pictures of accounts.
 *
 * Guarantees: http and https only. Each connection goes to an address that was checked for this connection: a name is
 * resolved once, so it can't resolve to something else later. No proxy of the environment is used. A redirect is followed only
 * where the caller says so, by the same rules. A refusal ends a replication, because another try would not help.
 */
import { lookup as resolveName } from 'node:dns'
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { isPannierError, PannierError } from 'pannier'
import type { FetchFunction } from 'pannier/types'
import { Agent, buildConnector, fetch } from 'undici'
import type { AddressRules } from './address-rules.ts'

export interface GuardedFetch {
  readonly fetch: FetchFunction
  close(): Promise<void>
}

/** As `dns.lookup` does with `all: true`. */
export type Resolve = (
  host: string,
  options: { readonly all: true },
  done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

interface GuardedFetchOptions {
  /** Resolves names; `dns.lookup` when left out. */
  readonly resolve?: Resolve | undefined
  readonly followsRedirects?: boolean
}

const CONNECT_MS_MAX = 10_000
/** Bytes of an answer, unpacked. */
const JSON_BYTES_MAX: number = 128 * 1024 * 1024
/** The library watches for silence itself, which these only back up. */
const SILENCE_MS_MAX = 300_000

export function guardedFetch(
  rules: AddressRules,
  { resolve = resolveName, followsRedirects = false }: GuardedFetchOptions = {},
): GuardedFetch {
  const agent = new Agent({
    connect: connectorOf(rules, resolve),
    headersTimeout: SILENCE_MS_MAX,
    bodyTimeout: SILENCE_MS_MAX,
  })
  return {
    fetch: async (url, init) => {
      if (!/^https?:$/.test(new URL(url).protocol)) throw refused('only http and https are allowed')
      const redirect = followsRedirects ? 'follow' : 'manual'
      const wanted = { ...init, redirect, dispatcher: agent } as Parameters<typeof fetch>[1]
      const response = await fetch(url, wanted).catch((error: unknown) => {
        throw refusalIn(error) ?? error
      })
      if (response.status >= 300 && response.status < 400 && response.status !== 304) {
        await response.body?.cancel()
        throw refused('it answers with a redirect, which is not followed')
      }
      return bounded(response as unknown as Response, new Headers(init.headers).get('accept'))
    },
    close: () => agent.destroy(),
  }
}

/** JSON is read as a whole, so the peer must not fill the memory. Other answers are streams. */
function bounded(response: Response, accept: string | null): Response {
  if (accept !== 'application/json' || response.body === null) return response
  let left = JSON_BYTES_MAX
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      left -= chunk.length
      if (left < 0) throw refused('its answer is too long')
      controller.enqueue(chunk)
    },
  })
  const { status, headers } = response
  return new Response(response.body.pipeThrough(counter), { status, headers })
}

function connectorOf(rules: AddressRules, resolve: Resolve): buildConnector.connector {
  /** A connector for each port, because a resolver does not get the port. */
  const connectors = new Map<number, buildConnector.connector>()
  const connectorFor = (port: number): buildConnector.connector => {
    const known = connectors.get(port)
    if (known !== undefined) return known
    const made = buildConnector({ timeout: CONNECT_MS_MAX, lookup: checkedLookup(rules, port, resolve) })
    connectors.set(port, made)
    return made
  }
  return (options, done) => {
    const { hostname, port, protocol } = options
    const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
    const address = hostname.replace(/^\[(.*)\]$/, '$1')
    // An address is connected to without being resolved.
    if (isIP(address) > 0 && !rules.allows(address, number, address)) {
      done(notAllowed(), null)
      return
    }
    connectorFor(number)(options, done)
  }
}

/** Gives addresses that may be connected to; if any of them may not, none. */
function checkedLookup(rules: AddressRules, port: number, resolve: Resolve): LookupFunction {
  return (host, { all = false }, done) => {
    resolve(host, { all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) return done(error ?? new Error('no address'), '', 4)
      if (!addresses.every(({ address }) => rules.allows(host, port, address))) return done(notAllowed(), '', 4)
      if (all) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}

function notAllowed(): PannierError {
  return refused('its address is not public, and not among the replication hosts that are allowed')
}

function refused(reason: string): PannierError {
  return new PannierError('PANNIER_PEER_REFUSED', `This server must not connect to that address: ${reason}.`, {
    details: { status: 403, error: 'forbidden', reason },
  })
}

/** `fetch` wraps what has stopped it. */
function refusalIn(error: unknown): PannierError | undefined {
  if (isPannierError(error)) return error
  if (!(error instanceof Error)) return undefined
  if (error.message === 'bad port') return refused('its port is that of another service')
  const inner = error instanceof AggregateError ? error.errors : [error.cause]
  return inner.map(refusalIn).find((found) => found !== undefined)
}
