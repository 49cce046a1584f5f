/** Types and helpers that plan-writes.ts (simple writes) and plan-general.ts (all others) share. */
import type { PannierError } from '../base/errors.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { Snapshot } from '../kv/key-value-store.ts'
import type { AttachmentWork } from './attachments/attachment-changes.ts'
import type { BodyView } from './body.ts'
import type { CollectionSettings, CollectionState } from './collection-state.ts'
import { conflict, type DocumentWrite, type Refusals } from './document-write.ts'
import type { Revision } from './revision.ts'

/**
 * - 'insert': there must be no such document.
 * - 'put': creates, or extends the leaf whose revision is the `_rev` given.
 * - 'upsert': creates or replaces, whatever is there.
 * - 'delete': the document must be there; `_rev`, where it is given, must be a live leaf.
 * - 'replicate': takes up a revision that was made elsewhere.
 */
export type WriteMode = 'insert' | 'put' | 'upsert' | 'delete' | 'replicate'

export interface PlannedWrites {
  /** One for each document that changes. */
  readonly changes: readonly DocumentWrite[]
  /** Why the others are refused. Empty if the batch is all or nothing: then the first reason is thrown. */
  readonly refused: ReadonlyMap<DocumentWrite, PannierError>
}

/** Where and how a batch is written. */
export interface PlanContext {
  readonly snapshot: Snapshot
  /** Undefined if the collection does not exist yet. */
  readonly state: CollectionState | undefined
  /** The settings of the collection, or those that it will have. */
  readonly settings: CollectionSettings
  /** What the content of the writes refers to. */
  readonly shapes: ShapeDictionary
  readonly mode: WriteMode
  readonly atomic: boolean
  /** Gets to know what becomes of attachments. */
  readonly attachments: AttachmentWork
  /** Reads what the indexes need, and tells which changes they refuse. */
  readonly prepare: (changes: readonly DocumentWrite[]) => Refusals
}

/** What becomes of a batch, while it is planned. */
export interface Planner extends PlannedWrites {
  readonly context: PlanContext
  readonly changes: DocumentWrite[]
  /** Throws if the batch is all or nothing, or for what is not the document's fault. */
  refuse(write: DocumentWrite, error: unknown): void
}

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
