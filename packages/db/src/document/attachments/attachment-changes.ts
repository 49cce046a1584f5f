/** The attachments in the writes of a transaction. Loaded when one occurs. */
import type { Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { DocumentWrite, Sections } from '../document-write.ts'
import { attach } from './attach.ts'
import { checkAttachments } from './attachment-input.ts'
import { BlobChanges } from './blob-changes.ts'
import { prepareInMemory } from './prepare.ts'

export { hashAttachments } from './encode-attachments.ts'
export { reclaimUploads } from './pending-uploads.ts'

/** The work on attachments for one call that writes. First `attach` and `count` what is written, which may fail and miss, then `apply`, which does neither. */
export class AttachmentWork {
  readonly #snapshot: Snapshot
  readonly #collectionNumber: number | undefined
  #changes: BlobChanges | undefined

  /** `collectionNumber`: undefined if the collection does not exist yet. */
  constructor(snapshot: Snapshot, collectionNumber: number | undefined) {
    this.#snapshot = snapshot
    this.#collectionNumber = collectionNumber
  }

  /**
   * Gives a new revision its attachments; before its hash is made. `parents`: those of the revisions that its stubs may keep
   * some of, which is the one that it follows.
   *
   * @throws PANNIER_ATTACHMENT_MISSING
   */
  attach(write: DocumentWrite, generation: number, parents: () => Sections): void {
    const { id, path, attachmentInputs } = write
    if (!write.hasAttachments) return
    write.prepared ??= prepareInMemory(checkAttachments(attachmentInputs))
    const keepRevpos = path !== undefined
    write.attachments = attach(this.#made(), write.prepared, { id, parents: listOf(parents()), generation, keepRevpos })
  }

  /** Counts the references of writes that are planned, each once, and reads what `apply` needs. */
  count(writes: readonly DocumentWrite[]): void {
    for (const { plan, attachments, old } of writes) {
      if (plan !== undefined) {
        this.add(plan.attachmentsAdded)
        this.remove(plan.attachmentsRemoved)
      } else {
        if (attachments !== undefined) this.add(attachments)
        if (old?.hasAttachments === true) this.remove(old.attachments)
      }
    }
    this.load()
  }

  /** The attachments of bodies that are written. */
  add(sections: Sections): void {
    for (const section of listOf(sections)) this.#made().add(section)
  }

  /** The attachments of bodies that go for good. */
  remove(sections: Sections): void {
    for (const section of listOf(sections)) this.#made().remove(section)
  }

  /** Loads what `apply` needs, when everything is counted. */
  load(): void {
    this.#changes?.load()
  }

  apply(transaction: WriteTransaction, collectionNumber: number): void {
    this.#changes?.apply(transaction, collectionNumber)
  }

  #made(): BlobChanges {
    return (this.#changes ??= new BlobChanges(this.#snapshot, this.#collectionNumber))
  }
}

function listOf(sections: Sections): readonly Uint8Array[] {
  if (sections === undefined) return NONE
  return sections instanceof Uint8Array ? [sections] : sections.filter((section) => section !== undefined)
}

const NONE: readonly Uint8Array[] = []
