/** A row of the change feed: the newest state of a document, under the sequence number of its last change. */
import type { StoredDocument } from './document-reader.ts'

/** A deleted document as the feed hands it out. */
export interface Tombstone {
  readonly _id: string
  readonly _rev: string
  readonly _deleted: true
}

export interface Change<T extends object = StoredDocument> {
  /** Of the document's last change. */
  readonly seq: number
  readonly id: string
  /** The winner first; with `style: 'all'` every leaf revision. */
  readonly changes: readonly { readonly rev: string }[]
  /** The winner is a tombstone. */
  readonly deleted?: true
  /** With `docs`: the winner. */
  readonly doc?: T | Tombstone
}
