/** Gives documents their attachments, inside the transaction that writes them. Loaded only when there is an attachment. */
import { PannierError } from '../../base/errors.ts'
import { decodeAttachments, digestText, type AttachmentEntry } from './attachment-section.ts'
import { encodeAttachments } from './encode-attachments.ts'
import type { BlobChanges } from './blob-changes.ts'
import type { PreparedAttachment } from './prepare.ts'

/** The document that gets attachments. */
interface Attaching {
  readonly id: string
  /** Where stubs find what they keep: the attachments of the revision that the new one follows, then perhaps of others. */
  readonly parents: readonly Uint8Array[]
  /** Generation of the new revision. */
  readonly generation: number
  /** Replicated revisions say themselves when each of their attachments came. */
  readonly keepRevpos?: boolean
}

/**
 * Makes the section of a new body, undefined if it has no attachments. `changes` gets the content, not yet the references.
 *
 * @throws PANNIER_ATTACHMENT_MISSING if a stub names what the parent does not have; then `changes` is as it was.
 */
export function attach(
  changes: BlobChanges,
  attachments: readonly PreparedAttachment[],
  to: Attaching,
): Uint8Array | undefined {
  if (attachments.length === 0) return undefined
  const kept = keptEntries(attachments, to)
  const entries = attachments.map(({ name, contentType, content, revpos }): AttachmentEntry => {
    if (content === undefined) return kept.get(name)!
    const generation = (to.keepRevpos === true ? revpos : undefined) ?? to.generation
    const inMemory = 'chunks' in content
    const { digest, length } = inMemory ? content : content.name
    const blob = inMemory ? changes.store(content) : changes.adopt(content)
    return { name, contentType, digest, length, revpos: generation, blob }
  })
  return encodeAttachments(entries)
}

/** The entries that stubs keep, by name. */
function keptEntries(
  attachments: readonly PreparedAttachment[],
  { id, parents }: Attaching,
): Map<string, AttachmentEntry> {
  const stubs = attachments.filter(({ content }) => content === undefined)
  if (stubs.length === 0) return new Map()
  const entries = parents.flatMap(decodeAttachments)
  return new Map(
    stubs.map(({ name, digest }) => {
      const kept = entries.find(
        (entry) => entry.name === name && (digest === undefined || digest === digestText(entry.digest)),
      )
      if (kept === undefined) throw nothingToKeep(id, name)
      return [name, kept]
    }),
  )
}

function nothingToKeep(id: string, name: string): PannierError {
  return new PannierError(
    'PANNIER_ATTACHMENT_MISSING',
    `The document '${id}' has no attachment '${name}' that its stub could keep.`,
    { details: { id, name } },
  )
}
