/**
 * A store of a live value: React's external store. It is started when the component subscribes, which it does only once
 * it is mounted, and closed when it unsubscribes; so a render that React throws away leaves nothing behind.
 */
import type { LiveStatus } from 'pannier/types'

/** A `LiveQuery` or a `LiveCount`. */
export interface Live<Value> {
  readonly value: Value | undefined
  readonly status: LiveStatus
  readonly error: unknown
  subscribe(listener: () => void, options: { readonly onEnd: (error: unknown) => void }): () => void
  close(): void
}

export interface LiveState<Value> {
  readonly value: Value | undefined
  /** 'idle': nothing is asked for. */
  readonly status: LiveStatus | 'idle'
  readonly error: unknown
  /** The value is that of the source before this one, which has none yet. */
  readonly isPrevious: boolean
}

const IDLE: LiveState<never> = Object.freeze({ value: undefined, status: 'idle', error: undefined, isPrevious: false })
const LOADING: LiveState<never> = Object.freeze({ ...IDLE, status: 'loading' })

/** `Source`: what is to be live while the component is mounted, or is live already; then its owner closes it. */
export class LiveStore<Source extends object, Value> {
  readonly source: Source | undefined
  readonly #start: (source: Source) => Live<Value>
  #state: LiveState<Value>
  #live: Live<Value> | undefined
  #subscribers = 0
  #stop: (() => void) | undefined
  readonly #listeners = new Set<() => void>()

  /**
   * `start` gives a source that is live already itself. `previous` is the value of the source before, shown until this
   * one has its own. So a list doesn't collapse while its next page loads.
   */
  constructor(source: Source | undefined, start: (source: Source) => Live<Value>, previous?: Value) {
    this.source = source
    this.#start = start
    const loading: LiveState<Value> =
      previous === undefined ? LOADING : { ...LOADING, value: previous, isPrevious: true }
    // One that is live already is shown by the first render.
    this.#state = source === undefined ? IDLE : isLive(source) ? stateOf(start(source), loading) : loading
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    // A function of its own, so that one listener that subscribes twice is two.
    const own = (): void => listener()
    this.#listeners.add(own)
    if (++this.#subscribers === 1) this.#begin()
    let subscribed = true
    return () => {
      if (!subscribed) return
      subscribed = false
      this.#listeners.delete(own)
      if (--this.#subscribers === 0) this.#end()
    }
  }

  readonly read = (): LiveState<Value> => this.#state

  /** On a server nothing is live. */
  readonly readOnServer = (): LiveState<Value> => (this.source === undefined ? IDLE : LOADING)

  #begin(): void {
    const { source } = this
    if (source === undefined) return
    const live = this.#start(source)
    const changed = (): void => this.#changed(live)
    this.#live = live
    this.#stop = live.subscribe(changed, { onEnd: changed })
    this.#changed(live)
  }

  #end(): void {
    this.#stop?.()
    this.#stop = undefined
    if (this.source !== undefined && !isLive(this.source)) this.#live?.close()
    this.#live = undefined
  }

  #changed(live: Live<Value>): void {
    if (live !== this.#live) return
    const state = stateOf(live, this.#state)
    if (state === this.#state) return
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}

/** `before`, if nothing has changed. While what was started loads, the former value is shown. */
function stateOf<Value>(live: Live<Value>, before: LiveState<Value>): LiveState<Value> {
  const { status, error } = live
  const isPrevious = before.isPrevious && live.value === undefined && status === 'loading'
  const former = before.isPrevious && !isPrevious ? undefined : before.value
  const value = live.value ?? former
  const isSame =
    value === before.value && status === before.status && error === before.error && isPrevious === before.isPrevious
  return isSame ? before : { value, status, error, isPrevious }
}

export function isLive(source: object): boolean {
  return 'subscribe' in source
}
