/** What a plan (document-plan.ts) makes of a document whose revisions are more than one line. */
import type { Key } from '../base/brand.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import type { BodyParts, BodyView } from './body.ts'
import type { CollectionState } from './collection-state.ts'
import type { Revision } from './revision.ts'

/** Encoded fields of a document: of a BodyView or of a DocumentWrite. */
export interface EncodedContent {
  readonly id: string
  readonly bytes: Uint8Array
  readonly contentStart: number
  readonly contentEnd: number
}

/** What is to be done to the trees of a collection for one document. */
export interface RevisionChange {
  /** Undefined: nothing is left of the document. */
  readonly winner: { readonly revision: Revision; readonly parts: BodyParts & EncodedContent } | undefined
  readonly hasOtherLeaves: boolean
  readonly entries: readonly EntryChange[]
  /** Revisions whose entries go. */
  readonly removed: readonly Revision[]
  /** Bodies that leave `extra`; their `sequence` is their number there. */
  readonly removedBodies: readonly BodyView[]
  /** The attachments of bodies that come, and of those that go for good. */
  readonly attachmentsAdded: readonly Uint8Array[]
  readonly attachmentsRemoved: readonly Uint8Array[]
  /** Whether the document is listed among those with conflicts: before, and from now on. */
  readonly wasInConflict: boolean
  readonly isInConflict: boolean
  /** The body that the document gets. `number`: the document's, undefined for a new one. */
  body(number: number | undefined): Uint8Array
  /** Changes the trees of revisions. Methods, so that nobody has to load them who has no plan. */
  apply(
    transaction: WriteTransaction,
    state: CollectionState,
    write: { readonly key: Key; readonly number: number },
  ): void
}

export interface EntryChange {
  readonly revision: Revision
  /** There is one that is replaced. */
  readonly known: boolean
  readonly parent: string | undefined
  readonly leaf: boolean
  readonly deleted: boolean
  /** The body's number in `extra`, or the body that is to be put there. */
  readonly body: number | BodyParts | undefined
}
