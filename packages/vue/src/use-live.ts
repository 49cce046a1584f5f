/** Live values in a component: rows of a query, their count, a document. */
import { toValue, type MaybeRefOrGetter } from 'vue'
import {
  COUNT,
  documentKind,
  nextLive,
  rowsKind,
  type CountResult,
  type CountSource,
  type DocumentResult,
  type DocumentSource,
  type LiveKind,
  type LiveOptions,
  type LiveResult,
  type LiveSource,
  type LiveState,
} from '@pannier/stores'
import { refsOf, useStore, type Refs } from './use-store.ts'

/**
 * The rows of a query as they are now, through whichever tab they came. The query is live while the component is mounted. While another
 * query loads, the rows of the one before stay, and `isPrevious` is true.
 *
 * @param query A query, or a getter that makes it from what is reactive. Undefined: nothing is asked for yet. A `LiveQuery` is shown as
 *   well; who has started it closes it.
 * @example
 * const { rows, status } = useLiveQuery(() => people.find({ city }).sort('name'))
 */
export function useLiveQuery<Row extends object>(
  query: MaybeRefOrGetter<LiveSource<Row> | undefined>,
  options?: LiveOptions<readonly Row[]>,
): Refs<LiveResult<Row>> {
  return useLive('useLiveQuery()', () => toValue(query), rowsKind<Row>(), options?.initial)
}

/**
 * How many documents match a query, whatever its skip and limit. Cheap where `count()` is.
 *
 * @example
 * const { count } = useCount(() => messages.find({ read: false }))
 */
export function useCount(
  query: MaybeRefOrGetter<CountSource | undefined>,
  options?: LiveOptions<number>,
): Refs<CountResult> {
  return useLive('useCount()', () => toValue(query), COUNT, options?.initial)
}

/**
 * The document with this id as it is now. Without a collection or an id nothing is asked for.
 *
 * @example
 * const { document: person } = useDocument(people, () => id)
 */
export function useDocument<Row extends object>(
  collection: MaybeRefOrGetter<DocumentSource<Row> | undefined>,
  id: MaybeRefOrGetter<string | undefined>,
  options?: LiveOptions<Row>,
): Refs<DocumentResult<Row>> {
  const query = () => {
    const _id = toValue(id)
    return _id === undefined ? undefined : toValue(collection)?.find({ _id })
  }
  return useLive('useDocument()', query, documentKind<Row>(), options?.initial && [options.initial])
}

function useLive<Value, Result extends LiveState>(
  hook: string,
  source: () => object | undefined,
  kind: LiveKind<Value, Result>,
  initial: Value | undefined,
): Refs<Result> {
  return refsOf<Result>(useStore(nextLive(hook, source, kind, initial)).state)
}
