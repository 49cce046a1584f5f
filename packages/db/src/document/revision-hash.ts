/**
 * The suffix that an edit gets: a hash of its parent's suffix, of whether it is deleted, of its attachments and its content.
 * So the same edit made twice, by whomever, is one revision.
 */
import { hashContent } from '../codec/hash-content.ts'
import { Hash128 } from '../codec/hash128.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { BodyParts } from './body.ts'
import { attachmentWriting } from './attachments/on-demand.ts'
import { REVISION_HASH_BYTES } from './revision.ts'

/**
 * `parent`: bytes that hold its suffix as it is stored, from `start` to `end`; undefined for a first edit. The bytes returned hold
 * until the next call.
 */
export function hashRevision(
  { deleted, attachments, bytes, contentStart, contentEnd }: BodyParts,
  parent: Uint8Array | undefined,
  parentIsText: boolean,
  shapes: ShapeDictionary,
  start: number = 0,
  end: number = parent === undefined ? 0 : parent.length,
): Uint8Array {
  hash.reset()
  if (parent !== undefined) {
    if (parentIsText) hash.update(Uint8Array.of(TEXT_PARENT, end - start))
    hash.update(parent, start, end)
  }
  hash.update(deleted ? DELETED : LIVE)
  if (attachments !== undefined) {
    hash.update(Uint8Array.of(ATTACHMENTS))
    attachmentWriting().hashAttachments(hash, attachments)
  }
  if (contentStart < contentEnd) hashContent(hash, bytes, contentStart, contentEnd, shapes)
  hash.digest(hashBytes)
  return hashBytes
}

const hash: Hash128 = new Hash128()
const hashBytes: Uint8Array = new Uint8Array(REVISION_HASH_BYTES)
const LIVE: Uint8Array = new Uint8Array([0])
const DELETED: Uint8Array = new Uint8Array([1])
const TEXT_PARENT = 2
const ATTACHMENTS = 3
