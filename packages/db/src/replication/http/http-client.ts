/**
 * Requests to one CouchDB database.
 *
 * Guarantees: an answer is whole JSON of the expected kind, or the request rejects. PANNIER_PEER_REFUSED means that the
 * peer said no (4xx). PANNIER_PEER_UNREACHABLE means that another try may help: no connection, a silent connection,
 * 429, 5xx, text that is cut off or is not JSON (from a captive portal, for example). Memory: 128 MiB of an answer. No
 * redirect is followed: documents and headers go only to the given URL. Credentials go into a header, never into
 * messages, ids or URLs.
 */
import { answerText } from '../../base/async.ts'
import type { Environment } from '../../base/environment.ts'
import { cancelledError, throwIfCancelled } from '../../base/long-work.ts'
import { PannierError } from '../../base/errors.ts'
import { badArgument } from '../../base/options.ts'
import { CALL } from '../types.ts'
import { callbackFailed, incomplete, refused, restarted, unreachable } from '../errors.ts'
import { CONNECTIONS_MAX_DEFAULT, connectionsTo, type Connections } from './connections.ts'

/** Sends an HTTP request, as the platform's `fetch` does. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>

/** Headers of HTTP: an object, a `Headers`, or pairs. */
type RequestHeaders = Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]>

/** With names in small letters. @throws TypeError */
export function headersOf(headers: unknown): Record<string, string> {
  const isObject = typeof headers === 'object' && headers !== null
  const entries: unknown[] = !isObject
    ? []
    : Symbol.iterator in headers
      ? [...(headers as [])]
      : Object.entries(headers)
  const isPair = (entry: unknown): entry is [string, string] =>
    Array.isArray(entry) && entry.length === 2 && entry.every((part) => typeof part === 'string')
  if (!isObject || !entries.every(isPair))
    throw badArgument(CALL, 'headers must be an object of strings, a Headers object, or pairs of strings', headers)
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]))
}

function isResponse(value: unknown): value is Response {
  return typeof (value as Partial<Response> | null)?.headers?.get === 'function'
}

/** How requests to a server are made. */
export interface HttpClientOptions {
  /** Sent with each request. A function is asked each time, and may promise: for tokens that expire. */
  readonly headers?: RequestHeaders | (() => RequestHeaders | Promise<RequestHeaders>) | undefined
  /** The credentials (auth) of HTTP's Basic authentication; the URL may have them as well. */
  readonly auth?: { readonly username: string; readonly password: string } | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: FetchFunction | undefined
  /** So long a connection may be silent; 30,000 when left out. */
  readonly silenceMsMax?: number | undefined
  /**
   * How many connections to one server may be in use at a time, of those that wait for changes two. Default: in browsers 5 of the 6
   * that all tabs share over HTTP/1.1, elsewhere no limit.
   */
  readonly connectionsMax?: number | undefined
}

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'PUT'
  /** The path below the database; '' is the database. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: BodyInit | undefined
  readonly contentType?: string
  readonly accept?: string
  readonly signal: AbortSignal
  readonly silenceMsMax?: number
  /** The request waits for changes, and already has a permit for it. */
  readonly waits?: boolean
}

const SILENCE_MS_MAX_DEFAULT = 30_000
/** The header of the server's instance: another text each time that a server is started. CouchDB does not have it. */
const INSTANCE_HEADER = 'pannier-instance'

export class HttpClient {
  /** The URL of the database, without credentials. */
  readonly url: string
  readonly #environment: Environment
  readonly #options: HttpClientOptions
  readonly #authorization: string | undefined
  #instance: string | undefined
  readonly connections: Connections

  constructor(url: URL, options: HttpClientOptions, environment: Environment) {
    const bare = new URL(url)
    const username = options.auth?.username ?? unescaped(bare.username)
    const password = options.auth?.password ?? unescaped(bare.password)
    bare.username = bare.password = bare.hash = bare.search = ''
    this.url = bare.href.replace(/\/+$/, '')
    this.#options = options
    this.connections = connectionsTo(bare.origin, options.connectionsMax ?? CONNECTIONS_MAX_DEFAULT)
    this.#environment = environment
    this.#authorization = username === '' ? undefined : `Basic ${base64(`${username}:${password}`)}`
  }

  /** The next answer may come from another instance of the server; later changes of the instance are refused. */
  begin(): void {
    this.#instance = undefined
  }

  /** The answer's JSON. */
  async json(request: HttpRequest): Promise<unknown> {
    const { response, watch } = await this.#send({ accept: 'application/json', ...request })
    try {
      const text = await this.#text(response, watch)
      if (!response.ok) throw this.#failure(response, text)
      return this.#parse(text)
    } finally {
      watch.end()
    }
  }

  /** The answer's bytes as they come. The stream fails when the connection does; that it is all there is for the caller to check. */
  async stream(request: HttpRequest): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { response, watch } = await this.#send(request)
    if (!response.ok || response.body === null) {
      const text = await this.#text(response, watch).finally(() => watch.end())
      throw response.ok ? unreachable(this.url, 'the answer is empty') : this.#failure(response, text)
    }
    const reader = response.body.getReader()
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: async (controller) => {
          try {
            // Only the other side's silence counts, not the time that the reader takes.
            watch.renew()
            const { done, value } = await reader.read()
            watch.rest()
            if (!done) return controller.enqueue(value)
            watch.end()
            controller.close()
          } catch (error) {
            watch.end()
            throw this.#broken(error, watch)
          }
        },
        cancel: async (reason) => {
          watch.end()
          await reader.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
  }

  async #send(request: HttpRequest): Promise<{ response: Response; watch: Watch }> {
    const { body, signal } = request
    throwIfCancelled(signal, 'The replication')
    const { silenceMsMax = SILENCE_MS_MAX_DEFAULT } = this.#options
    // A streamed body may be read from the same server. If each waited for the other's permit, neither would end.
    const needsPermit = request.waits !== true && !(body instanceof ReadableStream)
    const permit = needsPermit ? await this.connections.requests.acquire(signal) : undefined
    const watch = new Watch(this.#environment, request.silenceMsMax ?? silenceMsMax, signal, () => permit?.release())
    try {
      const response = await this.#fetch(request, await this.#ownHeaders(watch), watch)
      this.#checkInstance(response)
      return { response, watch }
    } catch (error) {
      watch.end()
      throw error
    }
  }

  async #fetch(request: HttpRequest, own: Readonly<Record<string, string>>, watch: Watch): Promise<Response> {
    const { method = 'GET', path, query = {}, body, contentType = 'application/json', accept } = request
    const { fetch = globalThis.fetch } = this.#options
    const parameters = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const search = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`
    const init: RequestInit & { duplex?: 'half' } = {
      method,
      headers: {
        ...(accept === undefined ? {} : { accept }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
        ...(this.#authorization === undefined ? {} : { authorization: this.#authorization }),
        ...own,
      },
      ...(body === undefined ? {} : { body }),
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
      credentials: this.#authorization === undefined ? 'include' : 'omit',
      cache: 'no-store',
      redirect: 'manual',
      signal: watch.signal,
    }
    const separator = path === '' || path.startsWith('/') ? '' : '/'
    const send = async (): Promise<unknown> => fetch(`${this.url}${separator}${path}${search}`, init)
    const sent = send().catch((error: unknown) => {
      // A kept connection that the server has closed in that moment; each request may be repeated.
      if (!(error instanceof TypeError) || watch.signal.aborted || body instanceof ReadableStream) throw error
      watch.renew()
      return send()
    })
    const response = await sent.catch((error: unknown) => {
      throw this.#broken(error, watch)
    })
    if (!isResponse(response)) throw badArgument(CALL, 'fetch must return a promise of a Response', response)
    return response
  }

  /** The headers of the caller, for whom the time is limited as for the server. */
  async #ownHeaders(watch: Watch): Promise<Record<string, string>> {
    const { headers = {} } = this.#options
    if (typeof headers !== 'function') return headersOf(headers)
    let end = (): void => {}
    const over = new Promise<never>((_, reject) => {
      end = () => reject(this.#broken(new Error('The function `headers` gives no answer.'), watch))
      watch.signal.addEventListener('abort', end)
    })
    const asked = (async () => headers())().catch((error: unknown) => {
      throw callbackFailed(this.url, 'headers', error)
    })
    try {
      return headersOf(await Promise.race([asked, over]))
    } finally {
      watch.signal.removeEventListener('abort', end)
    }
  }

  #checkInstance({ headers, body }: Response): void {
    const instance = headers.get(INSTANCE_HEADER) ?? undefined
    this.#instance ??= instance
    if (instance === undefined || instance === this.#instance) return
    body?.cancel().catch(() => {})
    throw restarted(this.url)
  }

  async #text(response: Response, watch: Watch): Promise<string> {
    return answerText(response, () => watch.renew()).catch((error: unknown) => {
      if (error instanceof RangeError) throw incomplete(this.url, 'the answer has more than 128 MiB')
      throw this.#broken(error, watch)
    })
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text) as unknown
    } catch (error) {
      throw unreachable(this.url, 'the answer is not JSON, or is cut off', error)
    }
  }

  #broken(error: unknown, watch: Watch): unknown {
    const { outer } = watch
    if (outer.aborted) return cancelledError(outer, 'The replication')
    if (error instanceof PannierError) return error
    return unreachable(this.url, watch.expired ? 'the connection fell silent' : this.#noConnection(), error)
  }

  /** A browser hides the reason from the page, so that the page learns nothing about foreign servers. */
  #noConnection(): string {
    const isForeign = typeof location === 'object' && location.origin !== new URL(this.url).origin
    return isForeign
      ? `there is no connection, or the server does not allow the origin of this page (pannier serve --cors ${location.origin})`
      : 'there is no connection'
  }

  #failure(response: Response, text: string): PannierError {
    const { status } = response
    let error = String(status)
    let reason = ''
    let isJson = false
    try {
      const answer = JSON.parse(text) as { error?: unknown; reason?: unknown } | null
      isJson = typeof answer === 'object' && answer !== null
      if (typeof answer?.error === 'string') error = answer.error
      if (typeof answer?.reason === 'string') reason = answer.reason
    } catch {
      // A proxy's page.
    }
    const isTemporary =
      status >= 500 ? status !== 501 && status !== 505 : status === 408 || status === 425 || status === 429
    // Browsers show only status 0 for a redirect.
    if (status < 400)
      return unreachable(this.url, 'it redirects to another URL, which is not followed', undefined, { status })
    const refusal = refused(this.url, status, error, reason)
    if (!isTemporary && (status !== 403 || isJson)) return refusal
    const retryAfterMs = retryAfter(response.headers.get('retry-after'))
    const details = { status, ...(retryAfterMs !== undefined && { retryAfterMs }) }
    const { error: word, reason: why } = refusal.details as { error: string; reason: string }
    return unreachable(this.url, `answered ${status} ${word} ${why}`.trim(), undefined, details)
  }
}

/** Ends a request whose connection is silent for too long. */
class Watch {
  readonly outer: AbortSignal
  expired = false
  readonly #controller = new AbortController()
  readonly #environment: Environment
  readonly #silenceMsMax: number
  #cancel: () => void = () => {}
  readonly #ended: () => void
  readonly #abort = (): void => {
    this.#controller.abort(this.outer.reason)
    this.#ended()
  }

  constructor(environment: Environment, silenceMsMax: number, outer: AbortSignal, ended: () => void) {
    this.outer = outer
    this.#ended = ended
    this.#environment = environment
    this.#silenceMsMax = silenceMsMax
    outer.addEventListener('abort', this.#abort)
    this.renew()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  renew(): void {
    this.#cancel()
    const expire = (): void => {
      this.expired = true
      this.#controller.abort()
    }
    this.#cancel = this.#environment.after(this.#silenceMsMax, expire, true)
  }

  rest(): void {
    this.#cancel()
  }

  end(): void {
    this.#cancel()
    this.outer.removeEventListener('abort', this.#abort)
    this.#ended()
  }
}

/** The text unescaped. A URL may have a percent sign that escapes nothing. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function base64(text: string): string {
  let bytes = ''
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte)
  return btoa(bytes)
}

/** Reads seconds only; a date would need synchronised clocks. */
function retryAfter(text: string | null): number | undefined {
  const seconds = text === null ? NaN : Number(text)
  return seconds >= 0 ? Math.min(seconds, 3600) * 1000 : undefined
}
