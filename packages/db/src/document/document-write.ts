/** One write of one document: its state from encoding to applying, the plan of a batch, the patches of `update`, and the errors that refuse it. */
import type { Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { badArgument } from '../base/options.ts'
import { isPlainObject } from '../codec/collation.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import type { PreparedAttachment } from './attachments/prepare.ts'
import type { BodyParts, BodyView } from './body.ts'
import type { CollectionSettings, CollectionState } from './catalog.ts'
import type { StoredDocument } from './document-reader.ts'
import { type Revision, revisionText } from './revision.ts'

/** One object for each document on its whole way, because bulk writes have very many. */
export class DocumentWrite implements BodyParts {
  readonly id: string
  readonly key: Key
  /** The revision: `_rev` as handed in, if there was one. */
  readonly revision: string | undefined
  /** True if the write stores a tombstone. */
  readonly deleted: boolean
  /** For a replicated revision: it and its ancestors, newest first. */
  readonly path: readonly Revision[] | undefined
  /** Holds the encoded document; shared with others. There is room for the header of the body before `idStart`. */
  bytes: Uint8Array = NO_BYTES
  /** Where the length of the id stands, followed by the id. */
  idStart = 0
  /** A tombstone may have no content: then it ends where it starts. */
  contentStart = 0
  contentEnd = 0
  /** `_attachments` as handed in, if there are any; not looked at yet. */
  attachmentInputs: unknown = undefined
  /** The attachments with their content at hand. */
  prepared: readonly PreparedAttachment[] | undefined = undefined
  /** The error that its encoding has found: why it can't be written. */
  error: PannierError | undefined = undefined

  // Found out in the transaction, again each time that it has to be repeated:

  /** The attachments as the body keeps them. */
  attachments: Uint8Array | undefined = undefined
  /** The winner that the document had: a live one or a tombstone. */
  old: BodyView | undefined = undefined
  /** The general case; undefined where the new body simply is the winner. */
  plan: RevisionChange | undefined = undefined
  /** The number of revisions of `path` that get an entry in `revisions`. */
  pathEntries = 0
  /** Entries of the oldest revisions, which are forgotten. */
  stemmed: readonly Key[] = NO_KEYS
  number = 0
  sequence = 0
  /** The revision that it makes, as text. */
  rev = ''
  /** Key of its entry in `revisions`, for an edit that has a parent and no plan. */
  entryKey: Key = NO_KEY

  constructor(id: string, key: Key, revision: string | undefined, deleted: boolean, path?: readonly Revision[]) {
    this.id = id
    this.key = key
    this.revision = revision
    this.deleted = deleted
    this.path = path
  }

  /** Forgets what an earlier run has found out. */
  restart(): void {
    this.attachments = undefined
    this.old = undefined
    this.plan = undefined
    this.pathEntries = 0
    this.stemmed = NO_KEYS
  }

  /** Something is to be done about attachments before it is planned. */
  get hasAttachments(): boolean {
    return this.attachmentInputs !== undefined || this.prepared !== undefined
  }

  /** The content of the document afterwards; undefined if it is deleted. */
  get live(): EncodedContent | undefined {
    if (this.plan === undefined) return this.deleted ? undefined : this
    const { winner } = this.plan
    return winner === undefined || winner.parts.deleted ? undefined : winner.parts
  }

  /** Nothing of the document is left, not even a tombstone. */
  get isGone(): boolean {
    return this.plan !== undefined && this.plan.winner === undefined
  }
}

/** Keeps indexes in step with documents; `index/` has it. */
export interface IndexMaintenance {
  /**
   * Before any change: reads what `apply` needs, and says which writes a unique index refuses. May miss. A collection
   * that does not exist yet has its declared indexes.
   */
  prepare(transaction: WriteTransaction, collection: CollectionState | undefined, work: PreparedWork): Refusals
  /** Applies it, after the bodies were written. The collection's shapes are what old and new content refers to. Must not miss. */
  apply(transaction: WriteTransaction, collection: CollectionState, writes: readonly DocumentWrite[]): void
}

export interface PreparedWork {
  /** Each document once; where two want one key the earlier gets it. */
  readonly writes: readonly DocumentWrite[]
  /** The dictionary to which the content of the writes refers. */
  readonly shapes: ShapeDictionary
  /** False: whatever comes is taken up, as replicas must not differ. A guard that refuses makes them differ anyway. */
  readonly isRefusable: boolean
}

export type Refusals = ReadonlyMap<DocumentWrite, PannierError>

/**
 * - 'insert': there must be no such document.
 * - 'put': creates, or extends the leaf whose revision is the `_rev` given.
 * - 'upsert': creates or replaces, whatever is there.
 * - 'delete': the document must be there; `_rev`, where it is given, must be a live leaf.
 * - 'replicate': takes up a revision that was made elsewhere.
 */
export type WriteMode = 'insert' | 'put' | 'upsert' | 'delete' | 'replicate'

/** Where and how a batch is written. */
export interface PlanContext {
  readonly transaction: WriteTransaction
  /** Undefined if the collection does not exist yet. */
  readonly state: CollectionState | undefined
  /** The settings of the collection, or those that it will have. */
  readonly settings: CollectionSettings
  readonly maintenance: IndexMaintenance
  /** The dictionary to which the content of the writes refers. */
  readonly shapes: ShapeDictionary
  readonly mode: WriteMode
  /** As in the work that is prepared. */
  readonly isRefusable: boolean
  /** The batch writes all documents or none. */
  readonly atomic: boolean
}

/** The state of a batch, while it is planned. */
export interface Planner extends PlannedWrites {
  readonly context: PlanContext
  readonly changes: DocumentWrite[]
  /** Gives a new revision its attachments: those handed in, and what their stubs keep of `parents`. */
  attach(write: DocumentWrite, generation: number, parents: () => Sections): void
  /** Throws if the batch is all or nothing, or for what is not the document's fault. */
  refuse(write: DocumentWrite, error: unknown): void
}

/** The attachment sections of any number of bodies; a body may have none. */
export type Sections = Uint8Array | readonly (Uint8Array | undefined)[] | undefined

export interface PlannedWrites {
  /** The write of each document that changes, in the order of the keys. */
  readonly changes: readonly DocumentWrite[]
  /** Why the others are refused. Empty if the batch is all or nothing: then the first reason is thrown. */
  readonly refused: Refusals
  /** Undefined: no attachment comes or goes. */
  readonly attachments: { apply(transaction: WriteTransaction, collectionNumber: number): void } | undefined
}

const NO_BYTES: Uint8Array = new Uint8Array(0)
const NO_KEY = '' as Key
const NO_KEYS: readonly Key[] = []

/** `isLeaf`: the revision given is a leaf that may be extended. */
export function checkEdit(
  write: DocumentWrite,
  mode: WriteMode,
  winner: BodyView | Revision | undefined,
  isLeaf: boolean,
): void {
  if (mode === 'upsert') return
  const live = winner !== undefined && !(winner as { deleted: boolean }).deleted
  const { revision } = write
  const allowed =
    mode === 'insert'
      ? !live
      : revision !== undefined
        ? isLeaf
        : mode === 'delete' || winner === undefined || !(live || write.deleted)
  if (allowed) return
  const hint = mode === 'put' && revision === undefined ? ' put() was given no _rev: did you mean upsert()?' : ''
  throw conflict(write.id, live ? winner : undefined, hint)
}

/** `current`: the live winner, or its revision, if there is one. `hint` is added to the message. */
export function conflict(id: string, current: BodyView | Revision | string | undefined, hint = ''): PannierError {
  const rev = typeof current === 'object' ? revisionText(current) : current
  const what = rev === undefined ? 'does not exist' : `exists with the revision ${rev}`
  return new PannierError('PANNIER_CONFLICT', `The document '${id}' ${what}.${hint}`, { details: { id, rev } })
}

export function notFound(id: string): PannierError {
  return new PannierError('PANNIER_NOT_FOUND', `There is no document '${id}'.`, { details: { id } })
}

export function tooManyGenerations(id: string): PannierError {
  return new PannierError('PANNIER_LIMIT_EXCEEDED', `The document '${id}' has had too many edits.`, { details: { id } })
}

/** Encoded fields of a document: of a BodyView or of a DocumentWrite. */
export interface EncodedContent {
  readonly id: string
  readonly bytes: Uint8Array
  readonly contentStart: number
  readonly contentEnd: number
}

/** The changes of a collection's trees for one document. */
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
  /** Whether a known document is replaced. */
  readonly known: boolean
  readonly parent: string | undefined
  readonly leaf: boolean
  readonly deleted: boolean
  /** The body's number in `extra`, or the body that is to be put there. */
  readonly body: number | BodyParts | undefined
}

/** MongoDB's operators of updates, which would be stored as fields. */
const MONGODB = /^\$(set|unset|inc|mul|min|max|push|pull|pullAll|addToSet|pop|rename|setOnInsert|currentDate|bit)$/

/** Returns what applies a copy of the patch. What the caller does to the patch meanwhile changes nothing. */
export function patching(patch: unknown): (document: StoredDocument) => object {
  if (!isPlainObject(patch)) throw badArgument('update()', 'change must be an object of fields or a function', patch)
  if (patch['_id'] !== undefined) throw badArgument('update()', '_id must not be in a patch', patch['_id'])
  const { _rev: expected, ...fields } = patch
  const operator = Object.keys(fields).find((name) => MONGODB.test(name))
  if (operator !== undefined)
    throw badArgument(
      'update()',
      'a patch must have fields, or be a function (write { age: 31 }, or (old) => …)',
      operator,
    )
  return (document) => {
    if (expected !== undefined && expected !== document._rev) throw conflict(document._id, document._rev)
    const patched: Record<string, unknown> = { ...document, ...fields }
    for (const name in fields) if (fields[name] === undefined) delete patched[name]
    return patched
  }
}
