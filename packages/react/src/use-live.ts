/** Live values in a component: rows of a query, their count, a document. */
import { useMemo, useState, useSyncExternalStore, type DependencyList } from 'react'
import {
  COUNT,
  documentKind,
  nextStore,
  rowsKind,
  sourceOf,
  type CountResult,
  type CountSource,
  type DocumentResult,
  type DocumentSource,
  type LiveKind,
  type LiveOptions,
  type LiveResult,
  type LiveSource,
  type LiveState,
  type LiveStore,
} from '@pannier/stores'

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
  options?: LiveOptions<readonly Row[]>,
): LiveResult<Row> {
  return useLive('useLiveQuery()', query, deps, rowsKind<Row>(), options?.initial)
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
  options?: LiveOptions<number>,
): CountResult {
  return useLive('useCount()', query, deps, COUNT, options?.initial)
}

/**
 * The document with this id as it is now; the component renders again when it changes. Without a collection or an id nothing is asked for.
 *
 * @example
 * const { document: ann, status } = useDocument(people, 'ann')
 */
export function useDocument<Row extends object>(
  collection: DocumentSource<Row> | undefined,
  id: string | undefined,
  options?: LiveOptions<Row>,
): DocumentResult<Row> {
  const query = id === undefined ? undefined : collection?.find({ _id: id })
  const initial = options?.initial && [options.initial]
  return useLive('useDocument()', query, undefined, documentKind<Row>(), initial)
}

function useLive<Value, Result extends LiveState>(
  hook: string,
  source: object | undefined | (() => object | undefined),
  deps: DependencyList | undefined,
  kind: LiveKind<Value, Result>,
  initial: Value | undefined,
): Result {
  const [kept, keep] = useState<LiveStore<Value, Result>>()
  // What has ended is made again: a client may have another account by then.
  const ended = kept?.read().status === 'ended'
  // Without deps it is made in each render.
  const made = useMemo(() => sourceOf(hook, source, kind), (deps && [...deps, ended]) as DependencyList)
  const store = nextStore(kept, made, kind, initial)
  if (store !== kept) keep(store)
  return useSyncExternalStore(store.subscribe, store.read, () => store.onServer)
}
