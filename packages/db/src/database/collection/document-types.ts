/** The types of documents in the public API. */
import type { AttachmentInputs } from '../../document/attachments/attachment-input.ts'
import type { AttachmentStub } from '../../document/attachments/attachment-section.ts'
import type { AttachmentForm, InlineAttachment } from '../../document/attachments/attachment.ts'
import type { RevisionInfo } from '../../document/revision-reads.ts'
import type { RevisionHistory } from '../../document/revision.ts'

/** The type of any document. */
export type JsonObject = Record<string, unknown>

/** The document of queries: its fields, its id and its revision, `N-hash`. */
export type Identified<T extends object> = T & { readonly _id: string; readonly _rev: string }

/** A document as it is handed out. */
export type Stored<T extends object> = Identified<T> & {
  readonly _attachments?: Readonly<Record<string, AttachmentStub>>
}

/** The result of a read about a document's revisions, as far as it was asked for. */
export interface RevisionMeta {
  /** The document is a tombstone, which need not have the fields of a document. */
  readonly _deleted?: true
  /** The history, with the option `revs`. */
  readonly _revisions?: RevisionHistory
  /** The history and which revisions are stored, with the option `revsInfo`. */
  readonly _revsInfo?: readonly RevisionInfo[]
  /** Other live leaf revisions, with the option `conflicts`. */
  readonly _conflicts?: readonly string[]
  /** Deleted leaf revisions, with the option `deletedConflicts`. */
  readonly _deletedConflicts?: readonly string[]
}

/** A document in one of its revisions. */
export type RevisionDocument<T extends object> = Stored<T> & RevisionMeta

/** A document that is read with the content of its attachments. */
export type DocumentWithAttachments<T extends object> = Omit<RevisionDocument<T>, '_attachments'> & {
  readonly _attachments?: Readonly<Record<string, InlineAttachment>>
}

/** Asks for the content of attachments in that form, in place of stubs. */
export interface WithAttachments {
  readonly attachments: AttachmentForm
}

/** The fields of a written document beside its content. The fields that reads give about revisions are ignored. */
export interface InputMeta extends Omit<RevisionMeta, '_deleted'> {
  /** The id. Without one it gets one. */
  readonly _id?: string
  /** The revision that the write replaces. */
  readonly _rev?: string
  /** The document is deleted; what else it holds stays readable in its tombstone. */
  readonly _deleted?: boolean
  /** The attachments that the document is to have; a stub keeps the attachment of the revision before under that name. */
  readonly _attachments?: AttachmentInputs
}

/** A document as it is handed in. */
export type DocumentInput<T extends object> = (ContentOf<T> & InputMeta) | (Partial<ContentOf<T>> & DeletedInput)

/** Fields that `update` changes in a document; undefined removes a field that may be missing. */
export type DocumentPatch<T extends object> = PatchOf<ContentOf<T>> &
  Omit<InputMeta, '_id'> & { readonly _id?: undefined }

type PatchOf<T> = T extends unknown
  ? { readonly [Name in keyof T]?: Partial<Record<never, never>> extends Pick<T, Name> ? T[Name] | undefined : T[Name] }
  : never

/** A tombstone as it is handed in. */
export interface DeletedInput extends InputMeta {
  /** The id of the document. */
  readonly _id: string
  /** Marks a tombstone. */
  readonly _deleted: true
}

/** Unlike `Omit` it keeps the members of a union apart, and known fields beside an index signature. */
type ContentOf<T> = T extends unknown
  ? { [Name in keyof T as Exclude<Name, keyof InputMeta>]: HasDate<T[Name]> extends true ? DatesAreNotStored : T[Name] }
  : never

/** The value that a field of a type with Dates takes: none. What is read back would be a string that the type calls a Date. */
export type DatesAreNotStored = 'a Date is not stored: make the field a string (toISOString) or a number (getTime)'

/** Whether values of the type hold Dates, as far as can be seen in few steps. */
export type HasDate<Value, Left extends 0 | 1 | 2 | 3 = 3> = true extends (
  unknown extends Value
    ? false
    : Value extends Date
      ? true
      : Left extends 0
        ? false
        : Value extends readonly (infer Element)[]
          ? HasDate<Element, [0, 0, 1, 2][Left]>
          : Value extends object
            ? HasDate<Value[keyof Value], [0, 0, 1, 2][Left]>
            : false
)
  ? true
  : false

/** A document, or what names it: with `_rev` it is meant in that revision only. */
export type DocumentReference = string | { readonly _id: string; readonly _rev?: string }

/** The result for a document that `getRevisions` was asked for. */
export type RevisionResult<T extends object, Document = RevisionDocument<T>> =
  | { readonly ok: Document }
  | { readonly missing: string }

/** The result for a document that `bulkGet` was asked for. */
export type BulkGetResult<T extends object, Document = RevisionDocument<T>> =
  | { readonly id: string; readonly ok: Document }
  | { readonly id: string; readonly missing: string | undefined }

/** A document, or one revision of it. */
export interface RevisionReference {
  /** The id of the document. */
  readonly id: string
  /** The revision; the winner when left out. */
  readonly rev?: string
}

/** Options of an atomic batch, which is the default: it writes all documents or none. */
export interface AtomicOptions {
  /** The batch writes all documents or none. */
  readonly atomic?: true
}

/** Whether a batch is all or nothing. */
export interface BatchOptions {
  /** False: a document that can't be written does not keep the others from being written. */
  readonly atomic?: boolean
}

/** Whether a write makes a new revision or takes up one that another replica has made. */
export interface EditOptions {
  /** Whether edits are new. False: the revisions were made elsewhere, and are taken up as they are. */
  readonly newEdits?: boolean
}
