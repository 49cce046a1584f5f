/** A live count in a component. */
import { useMemo, type DependencyList } from 'react'
import type { LiveCount, Query } from 'pannier'
import type { LiveStatus } from 'pannier/types'
import { useLive, type LiveKind } from './use-live.ts'

/** A query whose count is to be live while the component is mounted, or a count that is live already and that its owner closes. */
export type CountSource = Pick<Query<object>, 'liveCount' | 'isSame'> | LiveCount

/** The result of `useCount`. */
export interface CountResult {
  /** Undefined until it is there. */
  readonly count: number | undefined
  /** Whether it is still that of the query before, as this one is loading. */
  readonly isPrevious: boolean
  /** 'idle' without a query. */
  readonly status: LiveStatus | 'idle'
  /** With the status 'failed': why. */
  readonly error: unknown
}

/**
 * How many documents match a query, whatever its skip and limit, as `useLiveQuery` gives its rows. Cheap where `count()` is.
 *
 * @example
 * const { count } = useCount(messages.find({ read: false }))
 */
export function useCount(
  query: CountSource | undefined | (() => CountSource | undefined),
  deps?: DependencyList,
): CountResult {
  const state = useLive<CountSource, number>(query, deps, COUNT, true)
  return useMemo(
    () => ({ count: state.value, isPrevious: state.isPrevious, status: state.status, error: state.error }),
    [state],
  )
}

const COUNT: LiveKind<CountSource, number> = {
  hook: 'useCount()',
  method: 'liveCount',
  start: (source) => ('subscribe' in source ? source : source.liveCount()),
}
