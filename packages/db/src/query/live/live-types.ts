/** The types that parts of a live query share. */
import type { MaybePromise } from '../../base/async.ts'
import type { QuerySpecification } from '../planner/plan.ts'
import type { FollowedQuery, QueryRun } from '../query-run.ts'

/**
 * One step from the former rows to the new ones. Steps are applied in the order given: an index is one in the rows as the steps
 * before have left them.
 */
export type LiveChange<Row> =
  | { readonly type: 'added'; readonly id: string; readonly index: number; readonly row: Row }
  /** `row`: as it was. */
  | { readonly type: 'removed'; readonly id: string; readonly index: number; readonly row: Row }
  /** At its place; `from`: as it was. */
  | { readonly type: 'changed'; readonly id: string; readonly index: number; readonly from: Row; readonly row: Row }
  /** Taken out at `fromIndex`, then put in at `index`. `row` is `from` if nothing else has changed. */
  | {
      readonly type: 'moved'
      readonly id: string
      readonly fromIndex: number
      readonly index: number
      readonly from: Row
      readonly row: Row
    }

/** The new answer of a live query, and how it differs from the one before. */
export interface LiveUpdate<Row> {
  /** All rows now. A new array each time; a row that did not change is the same object. */
  readonly rows: readonly Row[]
  /** How they came from the rows of the update before; of the first one, from none. */
  readonly changes: readonly LiveChange<Row>[]
}

/** Options of `live` and `liveCount`. */
export interface LiveOptions {
  /** The signal that ends it. */
  readonly signal?: AbortSignal | undefined
}

/** 'loading' until the first rows are there; 'failed' with an error; 'ended' by `close`, its signal, or with the database. */
export type LiveStatus = 'loading' | 'live' | 'ended' | 'failed'

/** Rows with the ids of their documents. Never changed. */
export interface LiveView {
  readonly ids: readonly string[]
  readonly rows: readonly object[]
}

/** The state that `live` shows at once; the lazy module sets it. */
export interface LiveState {
  view: LiveView | undefined
  status: LiveStatus
  error: unknown
}

export interface LiveRequest {
  readonly specification: QuerySpecification
  open(): MaybePromise<QueryRun>
  /** Undefined: it follows no relations. */
  readonly followed: FollowedQuery | undefined
  readonly signal: AbortSignal | undefined
  /** The only row is how many documents match (CountRow). */
  readonly counts?: true
}

/** Options of `subscribe` of a live query or a live count. */
export interface SubscribeOptions {
  /** Called when nothing more will come: with an error if that is why. */
  readonly onEnd?: ((error: unknown) => void) | undefined
}

export interface Subscriber extends SubscribeOptions {
  /** For a count: the number. */
  update(update: LiveUpdate<object> | number): void
}

/** A live query at work. */
export interface LiveWork {
  /** Settles with the first rows, or when there will be none. */
  readonly ready: Promise<void>
  subscribe(subscriber: Subscriber): () => void
  iterate(): AsyncIterator<LiveUpdate<object> | number, undefined, undefined>
  close(): void
}

/** The source of commits for the live queries of one collection. */
export interface LiveHost {
  start(request: LiveRequest, state: LiveState): LiveWork
}
