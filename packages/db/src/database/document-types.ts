/** How documents look in the types of the public API. */
import type { AttachmentInputs } from '../document/attachments/attachment-input.ts'
import type { AttachmentStub } from '../document/attachments/attachment-section.ts'

/** What any document may hold. */
export type JsonObject = Record<string, unknown>

/** A document as it is handed out: with its id and its revision, `N-hash`. */
export type Stored<T extends object> = T & {
  readonly _id: string
  readonly _rev: string
  readonly _attachments?: Readonly<Record<string, AttachmentStub>>
}

/** A document as it is handed in: without an `_id` it gets one. */
export type DocumentInput<T extends object> = Omit<T, '_id' | '_rev' | '_attachments'> & {
  readonly _id?: string
  readonly _rev?: string
  readonly _attachments?: AttachmentInputs
}

/** A document, or what names it: with `_rev` it is meant in that revision only. */
export type DocumentReference = string | { readonly _id: string; readonly _rev?: string }
