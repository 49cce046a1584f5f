/** Requests to the server. */
import type { LongWork } from 'pannier'
import { answerText, type OptionNames } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { ClientError, reasonOf } from './client-error.ts'
import type { Values } from './writes.ts'

/** Options of calls that a user waits for. */
export type Waiting = Pick<LongWork, 'signal'>

export const WAITING: OptionNames<Waiting> = { signal: true }

interface RequestOptions {
  /** Milliseconds more that a request may take. */
  readonly moreMs?: number
  readonly token?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const MALFORMED = 400
const UNAUTHORIZED = 401
const TOO_LARGE = 413
const TOO_MANY = 429
const SERVER_FAILED = 500

/** A server of the product says its own limit, as JSON. This is a proxy's. */
const TOO_LARGE_SAID = 'A proxy refuses a request of this size. Raise its limit (nginx: client_max_body_size).'

export class Server {
  readonly url: string
  /** The clock of the device may be wrong. */
  readonly environment: Environment
  readonly #requestMsMax: number
  /** How much the clock of the server is ahead of the device's. */
  #aheadMs = 0

  /** A request that takes longer than `requestMsMax` has failed. */
  constructor(url: string | URL, requestMsMax: number, environment: Environment) {
    this.url = String(url).replace(/\/+$/, '')
    this.environment = environment
    this.#requestMsMax = requestMsMax
  }

  /** The time of the server, as far as its last answer said it. */
  serverNow(): number {
    return this.environment.wallClock() + this.#aheadMs
  }

  /**
   * The JSON of an answer.
   *
   * @throws ClientError PANNIER_PEER_UNREACHABLE (also for answers that may be others in a moment), PANNIER_SIGNED_OUT, PANNIER_PEER_REFUSED
   */
  async send<T>(request: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
    const { moreMs = 0, signal, ...others } = options
    const [{ status, ok }, text] = await this.inTime(moreMs, signal, async (ended) => {
      const response = await this.open(request, body, { ...others, signal: ended })
      const date = Date.parse(response.headers.get('date') ?? '')
      if (!Number.isNaN(date)) this.#aheadMs = date - this.environment.wallClock()
      return [response, await answerText(response).catch(unreachable)]
    })
    const json = parse(text)
    // What is no JSON is said by somebody in between, such as the page of a hotel to sign in.
    if (ok && json !== undefined) return json as T
    const { message, data: given, ...more } = (json ?? {}) as { message?: string; data?: Values | null }
    const details = given ?? {}
    const said = message ?? (status === TOO_LARGE ? TOO_LARGE_SAID : `${request}: the server answered ${status}.`)
    if (status === TOO_MANY || status >= SERVER_FAILED || json === undefined)
      throw new ClientError('PANNIER_PEER_UNREACHABLE', said, { status })
    if (status === UNAUTHORIZED && 'mfaId' in more)
      throw new ClientError('PANNIER_MFA_NEEDED', 'Sign in in another way too.', { status, details: more })
    const code = status === UNAUTHORIZED ? 'PANNIER_SIGNED_OUT' : 'PANNIER_PEER_REFUSED'
    throw new ClientError(code, reasonOf(said, details), { status, details })
  }

  /** Runs `work`. Its signal is aborted with the given one, and when it takes too long. `moreMs`: what it may take more. */
  async inTime<T>(moreMs: number, signal: Waiting['signal'], work: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController()
    const cancel = this.environment.after(this.#requestMsMax + moreMs, () => late.abort())
    try {
      return await work(signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]))
    } finally {
      cancel()
    }
  }

  /** The response itself. */
  async open(request: string, body: unknown, { token, signal }: RequestOptions): Promise<Response> {
    const [method, path] = request.split(' ') as [string, string]
    const headers: Record<string, string> = {}
    const isForm = body instanceof FormData
    if (body !== undefined && !isForm) headers['content-type'] = 'application/json'
    if (token !== undefined) headers['authorization'] = token
    const content = body === undefined ? null : isForm ? body : JSON.stringify(body)
    return await fetch(this.url + path, { method, headers, body: content, signal: signal ?? null }).catch(unreachable)
  }
}

/** A route of a collection. */
export function routeOf(method: string, collection: string, rest: string): string {
  return `${method} /api/collections/${encodeURIComponent(collection)}/${rest}`
}

/** Whether an error is final: the same request has the same answer later, and only another one helps. A proxy says so of large ones, without JSON. */
export function isFinal(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false
  return error.status === TOO_LARGE || (error.status === MALFORMED && error.code === 'PANNIER_PEER_REFUSED')
}

export function unreachable(cause: unknown): never {
  throw new ClientError('PANNIER_PEER_UNREACHABLE', 'The server did not answer.', { cause })
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
