/** The rows of a live query in a component. */
import { useMemo, useState, useSyncExternalStore, type DependencyList } from 'react'
import type { Query } from 'pannier'
import { isLive, LiveStore, type LiveResult, type LiveSource } from './live-store.ts'

/**
 * The rows of a query as they are now; the component renders again when they change, through whichever tab. The query is live
 * as long as the component is mounted. One that asks for the same is the same, so it may be made anew in each render.
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
  const make = (): LiveSource<Row> | undefined => (typeof query === 'function' ? query() : query)
  // Without deps it is made in each render.
  const source = useMemo(make, deps as DependencyList)
  const [kept, keep] = useState(() => new LiveStore(source))
  let store = kept
  if (!isSameSource(kept.source, source)) {
    store = new LiveStore(source)
    keep(store)
  }
  return useSyncExternalStore(store.subscribe, store.read, store.readOnServer)
}

function isSameSource<Row extends object>(
  left: LiveSource<Row> | undefined,
  right: LiveSource<Row> | undefined,
): boolean {
  if (left === right) return true
  if (left === undefined || right === undefined || isLive(left) || isLive(right)) return false
  return (left as Query<Row>).isSame(right as Query<Row>)
}
