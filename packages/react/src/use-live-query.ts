/** The rows of a live query in a component. */
import { useMemo, type DependencyList } from 'react'
import type { LiveQuery, Query } from 'pannier'
import type { LiveStatus } from 'pannier/types'
import { useLive } from './use-live.ts'

/** A query that is to be live while the component is mounted, or one that is live already and that its owner closes. */
export type LiveSource<Row extends object> = Pick<Query<Row>, 'live' | 'isSame'> | LiveQuery<Row>

/** The result of `useLiveQuery`. */
export interface LiveResult<Row extends object> {
  /** Empty until they are there. A new array each time they change; a row that did not change is the same object. */
  readonly rows: readonly Row[]
  /** Whether they are still those of the query before, as this one is loading. */
  readonly isPrevious: boolean
  /** 'idle' without a query. */
  readonly status: LiveStatus | 'idle'
  /** With the status 'failed': why. */
  readonly error: unknown
}

const NO_ROWS: readonly never[] = Object.freeze([])

/**
 * The rows of a query as they are now; the component renders again when they change, through whichever tab. The query is live
 * as long as the component is mounted. One that asks for the same is the same, so each render may make it. While another query loads, the
 * rows of the one before stay, and `isPrevious` is true.
 *
 * @param query A query, or a function that makes it, which is called again when one of `deps` changes (without `deps`: in each
 *   render). Undefined: nothing is asked for yet. A `LiveQuery` is shown as well; who has started it closes it.
 * @example
 * const { rows, status, error } = useLiveQuery(people.find({ city }).sort('name').limit(20))
 */
export function useLiveQuery<Row extends object>(
  query: LiveSource<Row> | undefined | (() => LiveSource<Row> | undefined),
  deps?: DependencyList,
): LiveResult<Row> {
  return useRows(query, deps, true)
}

/** `useLiveQuery`; without `keepsPrevious` a query that has no rows yet shows none. */
export function useRows<Row extends object>(
  query: LiveSource<Row> | undefined | (() => LiveSource<Row> | undefined),
  deps: DependencyList | undefined,
  keepsPrevious: boolean,
): LiveResult<Row> {
  const state = useLive<LiveSource<Row>, readonly Row[]>(
    query,
    deps,
    { hook: 'useLiveQuery()', method: 'live', start: startRows },
    keepsPrevious,
  )
  return useMemo(
    () => ({ rows: state.value ?? NO_ROWS, isPrevious: state.isPrevious, status: state.status, error: state.error }),
    [state],
  )
}

function startRows<Row extends object>(source: LiveSource<Row>): LiveQuery<Row> {
  return 'subscribe' in source ? source : source.live()
}
