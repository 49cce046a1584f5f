/** Live values in Angular: rows of a query, their count, a document. */
import {
  COUNT,
  documentKind,
  given,
  nextLive,
  rowsKind,
  type CountResult,
  type CountSource,
  type DocumentResult,
  type DocumentSource,
  type Given,
  type LiveKind,
  type LiveOptions,
  type LiveResult,
  type LiveSource,
  type LiveState,
} from '@pannier/stores'
import { injectStore, signalsOf, type Signals } from './inject-store.ts'

/**
 * The rows of a query as they are now, through whichever tab they came. The query is live while the component lives. While another
 * query loads, the rows of the one before stay, and `isPrevious` is true.
 *
 * @param query A query, or a function that makes it from what is reactive. Undefined: nothing is asked for yet. A `LiveQuery` is shown as
 *   well; who has started it closes it.
 * @example
 * const list = injectLiveQuery(() => people.find({ city }).sort('name'))
 * const names = () => list.rows().map(({ name }) => name)
 */
export function injectLiveQuery<Row extends object>(
  query: Given<LiveSource<Row> | undefined>,
  options?: LiveOptions<readonly Row[]>,
): Signals<LiveResult<Row>> {
  return live('injectLiveQuery()', query, rowsKind<Row>(), options?.initial)
}

/**
 * How many documents match a query, whatever its skip and limit. Cheap where `count()` is.
 *
 * @example
 * const unread = injectCount(messages.find({ read: false }))
 * const text = () => `${unread.count()} new`
 */
export function injectCount(
  query: Given<CountSource | undefined>,
  options?: LiveOptions<number>,
): Signals<CountResult> {
  return live('injectCount()', query, COUNT, options?.initial)
}

/**
 * The document with this id as it is now. Without a collection or an id nothing is asked for.
 *
 * @example
 * const person = injectDocument(people, () => id)
 * const name = () => person.document()?.name
 */
export function injectDocument<Row extends object>(
  collection: Given<DocumentSource<Row> | undefined>,
  id: Given<string | undefined>,
  options?: LiveOptions<Row>,
): Signals<DocumentResult<Row>> {
  const query = () => {
    const _id = given(id)
    return _id === undefined ? undefined : given(collection)?.find({ _id })
  }
  return live('injectDocument()', query, documentKind<Row>(), options?.initial && [options.initial])
}

function live<Value, Result extends LiveState>(
  hook: string,
  source: Given<object | undefined>,
  kind: LiveKind<Value, Result>,
  initial: Value | undefined,
): Signals<Result> {
  return signalsOf(injectStore(nextLive(hook, source, kind, initial)).state)
}
