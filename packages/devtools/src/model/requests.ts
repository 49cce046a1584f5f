/**
 * Requests of the page to servers of its clients and replications. While devtools look, `fetch` of the page passes through here. Nothing of
 * a request or its answer is read or changed, and no secret is kept.
 */
import type { Environment } from 'pannier/types'
import { bounded, messageOf, Model } from './model.ts'
import { shownUrl } from './redact.ts'

/** A request. */
export interface RequestRow {
  readonly id: number
  readonly method: string
  readonly url: string
  /** The time at which it began, by the clock on the wall. */
  readonly at: number
  /** Until the answer began; undefined: it has not. */
  readonly ms: number | undefined
  readonly status: number | undefined
  /** Bytes of the answer, if its head says so. */
  readonly bytes: number | undefined
  readonly isSigned: boolean
  readonly error: string | undefined
}

/** Where `fetch` is: the global object of a page. */
interface FetchHost {
  fetch: typeof fetch
}

const REQUESTS_MAX = 200
/** The paths of CouchDB's protocol, which replications use, and of our API. */
const OURS =
  /\/api\/|\/_(all_docs|bulk_docs|bulk_get|changes|design|local|revs_diff|session|design_docs)\b|\/_local\/|[?&]rev=/

export class RequestLog extends Model {
  rows: readonly RequestRow[] = []
  readonly #environment: Environment
  #stop: () => void = () => {}
  #count = 0

  constructor(environment: Environment) {
    super()
    this.#environment = environment
  }

  /** Looks at `fetch` from here on, until `stop`. */
  watch(host: FetchHost): void {
    this.stop()
    const original = host.fetch
    let isWatching = true
    const watched: typeof fetch = (input, init) => {
      // Called without an owner, as pages do.
      const answer = original.call(globalThis, input, init)
      if (isWatching) this.#note(input, init, answer)
      return answer
    }
    host.fetch = watched
    this.#stop = () => {
      isWatching = false
      // Others may have wrapped it since: then it stays, and passes on.
      if (host.fetch === watched) host.fetch = original
    }
  }

  stop(): void {
    this.#stop()
    this.#stop = () => {}
  }

  clear(): void {
    this.rows = []
    this.changed()
  }

  #note(input: Parameters<typeof fetch>[0], init: RequestInit | undefined, answer: Promise<Response>): void {
    const { url, method, headers } = factsOf(input, init)
    if (!OURS.test(url)) return
    const { now, wallClock } = this.#environment
    const startMs = now()
    const row: RequestRow = {
      id: ++this.#count,
      method,
      at: wallClock(),
      isSigned: headers.has('authorization'),
      url: shownUrl(url, url),
      ms: undefined,
      status: undefined,
      bytes: undefined,
      error: undefined,
    }
    this.rows = bounded(this.rows, row, REQUESTS_MAX)
    this.changed()
    answer.then(
      ({ status, headers: answered }) => {
        const length = Number(answered.get('content-length') ?? NaN)
        this.#update(row, { status, ms: now() - startMs, bytes: Number.isNaN(length) ? undefined : length })
      },
      (error: unknown) => this.#update(row, { ms: now() - startMs, error: messageOf(error) }),
    )
  }

  #update({ id }: RequestRow, facts: Partial<RequestRow>): void {
    this.rows = this.rows.map((row) => (row.id === id ? { ...row, ...facts } : row))
    this.changed()
  }
}

interface RequestFacts {
  readonly url: string
  readonly method: string
  readonly headers: Headers
}

function factsOf(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): RequestFacts {
  const request = typeof input === 'object' && 'url' in input ? input : undefined
  return {
    url: request?.url ?? (input as string | URL).toString(),
    method: (init?.method ?? request?.method ?? 'GET').toUpperCase(),
    headers: new Headers(init?.headers ?? request?.headers),
  }
}
