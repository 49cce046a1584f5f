/** Live values in Svelte: rows of a query, their count, a document. */
import {
  COUNT,
  documentKind,
  given,
  nextLive,
  rowsKind,
  viewOf,
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
import { createStore } from './create-store.ts'

/**
 * The rows of a query as they are now, through whichever tab they came. The query is live while a template or an effect reads it. While another
 * query loads, the rows of the one before stay, and `isPrevious` is true.
 *
 * @param query A query, or a function that makes it from what is reactive. Undefined: nothing is asked for yet. A `LiveQuery` is shown as
 *   well; who has started it closes it.
 * @example
 * const list = createLiveQuery(() => people.find({ city }).sort('name'))
 * const names = () => list.rows.map(({ name }) => name)
 */
export function createLiveQuery<Row extends object>(
  query: Given<LiveSource<Row> | undefined>,
  options?: LiveOptions<readonly Row[]>,
): LiveResult<Row> {
  return live('createLiveQuery()', query, rowsKind<Row>(), options?.initial)
}

/**
 * How many documents match a query, whatever its skip and limit. Cheap where `count()` is.
 *
 * @example
 * const unread = createCount(messages.find({ read: false }))
 * const text = () => `${unread.count} new`
 */
export function createCount(query: Given<CountSource | undefined>, options?: LiveOptions<number>): CountResult {
  return live('createCount()', query, COUNT, options?.initial)
}

/**
 * The document with this id as it is now. Without a collection or an id nothing is asked for.
 *
 * @example
 * const person = createDocument(people, () => id)
 * const name = () => person.document?.name
 */
export function createDocument<Row extends object>(
  collection: Given<DocumentSource<Row> | undefined>,
  id: Given<string | undefined>,
  options?: LiveOptions<Row>,
): DocumentResult<Row> {
  const query = () => {
    const _id = given(id)
    return _id === undefined ? undefined : given(collection)?.find({ _id })
  }
  return live('createDocument()', query, documentKind<Row>(), options?.initial && [options.initial])
}

function live<Value, Result extends LiveState>(
  hook: string,
  source: Given<object | undefined>,
  kind: LiveKind<Value, Result>,
  initial: Value | undefined,
): Result {
  const read = createStore(nextLive(hook, source, kind, initial))
  return viewOf(() => read()[1])
}
