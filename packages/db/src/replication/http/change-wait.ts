/**
 * Waits for the changes of all databases of a server with one request at a time (`/_pannier/wait`,
 * docs/internals/http-api.md). So one connection waits, whatever the number of replicated collections.
 *
 * Guarantees: a waiting caller learns of a change after its sequence, or of the failure of the request. It may be woken
 * without a change.
 */
import { cancelledError } from '../../base/long-work.ts'
import type { Environment } from '../../base/environment.ts'
import { asksForRestart } from '../errors.ts'
import { objectOf, wrong } from './answers.ts'
import { headersOf, HttpClient, type HttpClientOptions } from './http-client.ts'

/** The time in which waits gather into one request. */
const GATHER_MS = 30
/** Databases that one request waits for; the server takes more. */
const DATABASES_MAX = 1000

interface ChangeWaiter {
  readonly name: string
  readonly since: string
  resolve(): void
  reject(error: unknown): void
}

class ChangeWait {
  readonly #client: HttpClient
  readonly #environment: Environment
  readonly #heartbeatMs: number
  readonly #waiting = new Set<ChangeWaiter>()
  /** The request that is under way. */
  #request: AbortController | undefined
  #gathering = false
  readonly #idle: () => void

  /** @param idle Called when nobody waits any more. */
  constructor(client: HttpClient, environment: Environment, heartbeatMs: number, idle: () => void) {
    this.#client = client
    this.#environment = environment
    this.#heartbeatMs = heartbeatMs
    this.#idle = idle
  }

  /** Until the database may have a change after `since`. */
  async next(name: string, since: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { name, since, resolve, reject }
    const leave = (): void => reject(cancelledError(signal, 'The replication'))
    if (signal.aborted) leave()
    else {
      signal.addEventListener('abort', leave)
      this.#waiting.add(waiting)
      this.#askSoon()
    }
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
      this.#waiting.delete(waiting)
      if (this.#waiting.size === 0) this.#rest()
    }
  }

  #rest(): void {
    this.#request?.abort()
    this.#request = undefined
    this.#idle()
  }

  #askSoon(): void {
    if (this.#gathering) return
    this.#gathering = true
    const ask = (): void => {
      this.#gathering = false
      void this.#ask()
    }
    this.#environment.after(GATHER_MS, ask, true)
  }

  /** For all who wait now. One that is under way for fewer is given up. */
  async #ask(): Promise<void> {
    if (this.#waiting.size === 0) return
    this.#request?.abort()
    const request = new AbortController()
    this.#request = request
    const asked = [...this.#waiting].slice(0, DATABASES_MAX)
    try {
      const changed = await this.#send(asked, request.signal)
      for (const one of asked) if (changed.has(one.name)) one.resolve()
    } catch (error) {
      if (request.signal.aborted) return
      // The next request may reach a server that was started again.
      if (asksForRestart(error)) this.#client.begin()
      for (const one of asked) one.reject(error)
    }
    if (this.#request !== request) return
    this.#request = undefined
    // Replications with news have time to read, and to wait again.
    if (this.#waiting.size > 0) this.#askSoon()
  }

  async #send(asked: readonly ChangeWaiter[], signal: AbortSignal): Promise<ReadonlySet<unknown>> {
    const permit = await this.#client.connections.waits.acquire(signal)
    try {
      const answer = await this.#client.json({
        path: '/_pannier/wait',
        method: 'POST',
        query: { heartbeat: String(this.#heartbeatMs) },
        body: JSON.stringify({ databases: asked.map(({ name, since }) => ({ name, since })) }),
        signal,
        silenceMsMax: 3 * this.#heartbeatMs,
        waits: true,
      })
      const { changed } = objectOf(this.#client.url, answer)
      if (!Array.isArray(changed)) throw wrong(this.#client.url)
      return new Set(changed as unknown[])
    } finally {
      permit.release()
    }
  }
}

interface KnownWait {
  readonly facts: string
  readonly headers: HttpClientOptions['headers']
  readonly fetch: HttpClientOptions['fetch']
  readonly wait: ChangeWait
}

/** The waits under way, for all replications of this page, worker or process. */
const known = new Set<KnownWait>()

/** The wait of this server for callers with the same credentials and options. */
export function changeWaitOf(
  root: URL,
  options: HttpClientOptions,
  heartbeatMs: number,
  environment: Environment,
): ChangeWait {
  const { headers, fetch, auth, silenceMsMax, connectionsMax } = options
  const isFunction = typeof headers === 'function'
  const facts = JSON.stringify([
    root.href,
    auth,
    isFunction || headers === undefined ? null : headersOf(headers),
    heartbeatMs,
    silenceMsMax,
    String(connectionsMax),
  ])
  for (const one of known)
    if (one.facts === facts && one.fetch === fetch && (!isFunction || one.headers === headers)) return one.wait
  const client = new HttpClient(root, options, environment)
  const one: KnownWait = {
    facts,
    headers,
    fetch,
    wait: new ChangeWait(client, environment, heartbeatMs, () => void known.delete(one)),
  }
  known.add(one)
  return one.wait
}
