/**
 * What a component reads a live query from: React's external store. The query is started when the component subscribes, which
 * it does only once it is mounted, and closed when it unsubscribes; so a render that React throws away leaves nothing behind.
 */
import type { LiveQuery, LiveStatus, Query } from 'pannier'

/** A query that is to be live while the component is mounted, or one that is live already and that its owner closes. */
export type LiveSource<Row extends object> = Pick<Query<Row>, 'live' | 'isSame'> | LiveQuery<Row>

export interface LiveResult<Row extends object> {
  /** Empty until they are there. A new array each time they change; a row that did not change is the same object. */
  readonly rows: readonly Row[]
  /** 'idle' without a query. */
  readonly status: LiveStatus | 'idle'
  /** With the status 'failed': why. */
  readonly error: unknown
}

const NO_ROWS: readonly never[] = Object.freeze([])
const IDLE: LiveResult<never> = Object.freeze({ rows: NO_ROWS, status: 'idle', error: undefined })
const LOADING: LiveResult<never> = Object.freeze({ rows: NO_ROWS, status: 'loading', error: undefined })

export class LiveStore<Row extends object> {
  readonly source: LiveSource<Row> | undefined
  #result: LiveResult<Row>
  #live: LiveQuery<Row> | undefined
  #subscribers = 0
  #stop: (() => void) | undefined
  readonly #listeners = new Set<() => void>()

  constructor(source: LiveSource<Row> | undefined) {
    this.source = source
    // One that is live already is shown by the first render.
    this.#result = source === undefined ? IDLE : isLive(source) ? resultOf(source, LOADING) : LOADING
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    // A function of its own, so that one listener that subscribes twice is two.
    const own = (): void => listener()
    this.#listeners.add(own)
    if (++this.#subscribers === 1) this.#start()
    let subscribed = true
    return () => {
      if (!subscribed) return
      subscribed = false
      this.#listeners.delete(own)
      if (--this.#subscribers === 0) this.#end()
    }
  }

  readonly read = (): LiveResult<Row> => this.#result

  /** On a server nothing is live. */
  readonly readOnServer = (): LiveResult<Row> => (this.source === undefined ? IDLE : LOADING)

  #start(): void {
    const { source } = this
    if (source === undefined) return
    const live = isLive(source) ? source : source.live()
    const changed = (): void => this.#changed(live)
    this.#live = live
    this.#stop = live.subscribe(changed, changed)
    this.#changed(live)
  }

  #end(): void {
    this.#stop?.()
    this.#stop = undefined
    if (this.source !== undefined && !isLive(this.source)) this.#live?.close()
    this.#live = undefined
  }

  #changed(live: LiveQuery<Row>): void {
    if (live !== this.#live) return
    const result = resultOf(live, this.#result)
    if (result === this.#result) return
    this.#result = result
    for (const listener of this.#listeners) listener()
  }
}

/** `before`, if nothing has changed. While a query that was started again loads, its former rows are shown. */
function resultOf<Row extends object>(live: LiveQuery<Row>, before: LiveResult<Row>): LiveResult<Row> {
  const { value, status, error } = live
  const rows = value ?? before.rows
  const isSame = rows === before.rows && status === before.status && error === before.error
  return isSame ? before : { rows, status, error }
}

export function isLive<Row extends object>(source: LiveSource<Row>): source is LiveQuery<Row> {
  return 'subscribe' in source
}
