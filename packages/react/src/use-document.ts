/** One document in a component. */
import type { Query } from 'pannier'
import { useRows, type LiveResult } from './use-live-query.ts'

/** The result of `useDocument`. */
export interface DocumentResult<Row extends object> {
  /** Undefined while it is loading, and for a missing document: `status` says which. */
  readonly document: Row | undefined
  /** Whether the document is loaded. */
  readonly status: LiveResult<Row>['status']
  /** With the status 'failed': why. */
  readonly error: unknown
}

/** The part of a collection that `useDocument` needs. */
export interface DocumentSource<Row extends object> {
  /** A query on the collection. */
  find(selector: { readonly _id: string }): Pick<Query<Row>, 'live' | 'isSame'>
}

/**
 * The document with this id as it is now; the component renders again when it changes. Without an id nothing is asked for.
 *
 * @example
 * const { document: ann, status } = useDocument(people, 'ann')
 */
export function useDocument<Row extends object>(
  collection: DocumentSource<Row>,
  id: string | undefined,
): DocumentResult<Row> {
  // Never the document of the id before.
  const { rows, status, error } = useRows(id === undefined ? undefined : collection.find({ _id: id }), undefined, false)
  return { document: rows[0], status, error }
}
