/** Requests to the server. */
import { ClientError } from './client-error.ts'
import type { Values } from './writes.ts'

interface RequestOptions {
  /** Added to the time that a request may take. */
  readonly moreMs?: number
  readonly token?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const MALFORMED = 400
const UNAUTHORIZED = 401
const TOO_LARGE = 413
const TOO_MANY = 429
const SERVER_FAILED = 500

interface ServerOptions {
  /** A request that takes longer has failed. */
  readonly timeoutMs: number
  /** The clock of the device, which may be wrong: milliseconds since 1970. */
  readonly now: () => number
}

export class Server {
  readonly url: string
  readonly now: () => number
  readonly timeoutMs: number
  /** How much the clock of the server is ahead of the device's. */
  #aheadMs = 0

  constructor(url: string | URL, { timeoutMs, now }: ServerOptions) {
    this.url = String(url).replace(/\/+$/, '')
    this.now = now
    this.timeoutMs = timeoutMs
  }

  /** The time of the server, as far as its last answer said it. */
  serverNow(): number {
    return this.now() + this.#aheadMs
  }

  /**
   * The JSON of an answer.
   *
   * @throws ClientError UNREACHABLE (also for answers that may be others in a moment), SIGNED_OUT, REFUSED
   */
  async send<T>(request: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
    const limit = AbortSignal.timeout(this.timeoutMs + (options.moreMs ?? 0))
    const signal = options.signal === undefined ? limit : AbortSignal.any([options.signal, limit])
    const response = await this.open(request, body, { ...options, signal })
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) this.#aheadMs = date - this.now()
    const text = await response.text().catch((cause: unknown) => unreachable(cause))
    const json = parse(text)
    const { status } = response
    // What is no JSON is said by somebody in between, such as the page of a hotel to sign in.
    if (response.ok && json !== undefined) return json as T
    const { message, data, ...others } = (json ?? {}) as { message?: string; data?: Values }
    const said = message ?? `${request}: the server answered ${status}.`
    if (status === TOO_MANY || status >= SERVER_FAILED || json === undefined)
      throw new ClientError('UNREACHABLE', said, { status })
    if (status === UNAUTHORIZED && 'mfaId' in others)
      throw new ClientError('MFA', 'Sign in in another way too, with this "mfaId".', { status, data: others })
    throw new ClientError(status === UNAUTHORIZED ? 'SIGNED_OUT' : 'REFUSED', said, { status, data: data ?? {} })
  }

  /** The answer itself. */
  async open(request: string, body: unknown, { token, signal }: RequestOptions): Promise<Response> {
    const [method, path] = request.split(' ') as [string, string]
    const headers: Record<string, string> = {}
    const isForm = body instanceof FormData
    if (body !== undefined && !isForm) headers['content-type'] = 'application/json'
    if (token !== undefined) headers['authorization'] = token
    const content = body === undefined ? null : isForm ? body : JSON.stringify(body)
    return await fetch(this.url + path, { method, headers, body: content, signal: signal ?? null }).catch(
      (cause: unknown) => unreachable(cause),
    )
  }
}

/** A route of a collection. */
export function routeOf(method: string, collection: string, rest: string): string {
  return `${method} /api/collections/${encodeURIComponent(collection)}/${rest}`
}

/** Whether the same request has the same answer later: only another request helps. A proxy says so of large ones, without JSON. */
export function isFinal(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false
  return error.status === TOO_LARGE || (error.status === MALFORMED && error.code === 'REFUSED')
}

export function unreachable(cause: unknown): never {
  throw new ClientError('UNREACHABLE', 'The server did not answer.', { cause })
}

/** Undefined: it is no JSON, as a proxy may answer. */
function parse(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
