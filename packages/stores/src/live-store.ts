/** Stores of live values: the rows of a query, their count, one document. They are at work as long as somebody listens. */
import { callUser } from 'pannier/internal'
import type { LiveStatus } from 'pannier/types'
import { NONE, storeOf, type Given, type Store } from './store.ts'

/** The part of a `LiveQuery` and of a `LiveCount` that a store needs. */
export interface Live<Value> {
  /** The value. Undefined until it is there. */
  readonly value: Value | undefined
  /** The status of the value: whether it is loaded, and up to date. */
  readonly status: LiveStatus
  /** The error, with the status 'failed'. */
  readonly error: unknown
  /** Calls back when the value is another one, and at the end. The function returned ends that. */
  subscribe(listener: () => void, options: { readonly onEnd: (error: unknown) => void }): () => void
  /** Closes the live value. */
  close(): void
}

/** How a live value is. */
export interface LiveState {
  /** Whether the value is still that of the query before, or the initial one, as this query is loading. */
  readonly isPrevious: boolean
  /** The status of the query: 'idle' without one. */
  readonly status: LiveStatus | 'idle'
  /** The error, with the status 'failed'. */
  readonly error: unknown
}

/** Options of what shows a live value. */
export interface LiveOptions<Initial> {
  /** The initial value: what a server has read. It is shown until the first own value is there, on the server too. */
  readonly initial?: Initial | undefined
}

/** The part of a query that a store of its rows needs. */
export interface RowsQuery<Row extends object> {
  /** Makes the query live. */
  live(): Live<readonly Row[]>
  /** Whether the other query is the same: it asks for the same. */
  isSame(other: never): boolean
}

/** The part of a query that a store of its count needs. */
export interface CountQuery {
  /** Makes the count live. */
  liveCount(): Live<number>
  /** Whether the other query is the same: it asks for the same. */
  isSame(other: never): boolean
}

/** A query that is to be live while a component shows it, or one that is live already and that its owner closes. */
export type LiveSource<Row extends object> = RowsQuery<Row> | Live<readonly Row[]>

/** The rows of a query. */
export interface LiveResult<Row extends object> extends LiveState {
  /** The rows, none until they are there. A new array each time they change; a row that did not change is the same object. */
  readonly rows: readonly Row[]
}

/** A query whose count is to be live while a component shows it, or a count that is live already and that its owner closes. */
export type CountSource = CountQuery | Live<number>

/** The count of the documents that match a query. */
export interface CountResult extends LiveState {
  /** The count. Undefined until it is there. */
  readonly count: number | undefined
}

/** The part of a collection that a document needs. */
export interface DocumentSource<Row extends object> {
  /** A query on the collection. */
  find(selector: { readonly _id: string }): RowsQuery<Row>
}

/** A document of a collection. */
export interface DocumentResult<Row extends object> extends LiveState {
  /** Undefined while it is loading, and for a missing document: `status` says which. */
  readonly document: Row | undefined
}

/** The way to make a source live, and what is shown of that. */
export interface LiveKind<Value, Result extends LiveState> {
  /** The method that makes a source live. */
  readonly method: 'live' | 'liveCount'
  /** While another source loads, the value of the one before is shown. So a list doesn't collapse while its next page loads. */
  readonly keepsPrevious: boolean
  /** The result that a component shows, from the value and the state. */
  readonly result: (value: Value | undefined, state: LiveState) => Result
}

/** A store of one source. */
export interface LiveStore<Value, Result extends LiveState> extends Store<Result> {
  /** Undefined: nothing is asked for. */
  readonly source: object | undefined
  /** The result before anything is live: on a server, and in the page that takes over from it. */
  readonly onServer: Result
  /** The value that is shown. */
  readonly value: () => Value | undefined
}

/** The kind of a query's rows. */
export function rowsKind<Row extends object>(): LiveKind<readonly Row[], LiveResult<Row>> {
  return { method: 'live', keepsPrevious: true, result: (rows = NONE, state) => ({ rows, ...state }) }
}

/** The kind of a query's count. */
export const COUNT: LiveKind<number, CountResult> = {
  method: 'liveCount',
  keepsPrevious: true,
  result: (count, state) => ({ count, ...state }),
}

/** The kind of a document: never that of the id before. */
export function documentKind<Row extends object>(): LiveKind<readonly Row[], DocumentResult<Row>> {
  return { method: 'live', keepsPrevious: false, result: (rows, state) => ({ document: rows?.[0], ...state }) }
}

/**
 * The source that a component gives: itself, or by a function.
 *
 * @throws TypeError
 */
export function sourceOf<Source extends object>(
  hook: string,
  source: Given<Source | undefined>,
  { method }: Pick<LiveKind<unknown, LiveState>, 'method'>,
): Source | undefined {
  return callUser(hook, 'query', () => (typeof source === 'function' ? source() : source), {
    what: 'a query, or undefined',
    is: (value): value is Source | undefined => value === undefined || isLive(value) || hasMethod(value, method),
  })
}

/**
 * The store of a source. It is `before` if the source asks for the same. `initial` is shown until the first source has a value: rows that a
 * server has rendered.
 */
export function nextStore<Value, Result extends LiveState>(
  before: LiveStore<Value, Result> | undefined,
  source: object | undefined,
  kind: LiveKind<Value, Result>,
  initial?: Value,
): LiveStore<Value, Result> {
  if (before === undefined) return liveStore(source, kind, initial)
  if (isSameSource(before.source, source)) return before
  const keeps = before.source === undefined || (kind.keepsPrevious && before.read().status !== 'ended')
  return liveStore(source, kind, keeps && source !== undefined ? before.value() : undefined)
}

/** The store of the source that a component gives, derived from the store before. */
export function nextLive<Value, Result extends LiveState>(
  hook: string,
  source: Given<object | undefined>,
  kind: LiveKind<Value, Result>,
  initial: Value | undefined,
): (before: LiveStore<Value, Result> | undefined) => LiveStore<Value, Result> {
  return (before) => nextStore(before, sourceOf(hook, source, kind), kind, initial)
}

function liveStore<Value, Result extends LiveState>(
  source: object | undefined,
  { method, result }: LiveKind<Value, Result>,
  value: Value | undefined,
): LiveStore<Value, Result> {
  const stateOf = (live: Live<Value>): Result => {
    const { status, error } = live
    // While it loads, the former value is shown. A query that has ended keeps its own.
    const isLoading = live.value === undefined && status === 'loading'
    if (!isLoading) value = live.value
    return result(value, { isPrevious: isLoading && value !== undefined, status, error })
  }
  const status = source ? 'loading' : 'idle'
  const onServer = result(value, { isPrevious: value !== undefined, status, error: undefined })
  // One that is live already is shown by the first render.
  const state = isLive<Value>(source) ? stateOf(source) : onServer
  const store = storeOf(state, (show) => {
    if (source === undefined) return undefined
    const live = isLive<Value>(source) ? source : (source as Record<typeof method, () => Live<Value>>)[method]()
    const changed = (): void => show(stateOf(live))
    const stop = live.subscribe(changed, { onEnd: changed })
    changed()
    return () => {
      stop()
      if (live !== source) live.close()
    }
  })
  return { ...store, source, onServer, value: () => value }
}

function isSameSource(left: object | undefined, right: object | undefined): boolean {
  const areQueries = left !== undefined && right !== undefined && !isLive(left) && !isLive(right)
  return left === right || (areQueries && (left as RowsQuery<object>).isSame(right as never))
}

function isLive<Value>(source: unknown): source is Live<Value> {
  return hasMethod(source, 'subscribe')
}

function hasMethod(source: unknown, method: string): boolean {
  return typeof (Object(source) as Record<string, unknown>)[method] === 'function'
}
