/** What queries of views give. */

/** A row as it was emitted. */
export interface ViewRow<Key = unknown, Value = unknown, Document = unknown> {
  /** Of the document that it was emitted for. */
  readonly id: string
  readonly key: Key
  readonly value: Value
  /** With `includeDocs`: the document, null if there is none any more. */
  readonly doc?: Document | null
}

/** What rows were reduced to. */
export interface ReducedRow<Key = unknown, Value = unknown> {
  /** Of the group; null without groups. */
  readonly key: Key
  readonly value: Value
}

export interface ViewResult<Key = unknown, Value = unknown, Row = ViewRow<Key, Value> | ReducedRow<Key, Value>> {
  /** Rows that the view has in all. Undefined of reduced ones. */
  readonly total?: number
  /** Rows that stand before the first one given, in the direction of the query. Undefined of reduced ones. */
  readonly offset?: number
  /** The view holds what was written up to this sequence number. */
  readonly updateSeq: number
  readonly rows: Row[]
}

export interface ViewInfo {
  readonly name: string
  /** Rows that the view has. */
  readonly rows: number
  /** The view holds what was written up to this sequence number. */
  readonly updateSeq: number
  /** Documents that were written since. */
  readonly pending: number
  /** Documents that were left out because map threw, since the view was made. */
  readonly failures: number
  readonly lastFailure: { readonly id: string; readonly message: string } | undefined
}
