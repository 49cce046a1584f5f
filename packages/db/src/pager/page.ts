/**
 * The header of every page: the kind of page, and a checksum of all that follows, seeded with the page's id. So a
 * reader detects a page that was damaged, or that was written under another id. It never returns wrong data.
 *
 *     0  u32  checksum (xxHash32, seed = low 32 bits of the page id) of the bytes from 4 on
 *     4  u8   kind
 *     5  u8   level: 0 for leaves and overflow pages, the height above the leaves for branches
 *     6  u16  count of entries
 */
import { assert, PannierError } from '../base/errors.ts'
import type { PageId } from '../base/brand.ts'
import { readU32, writeU32 } from '../codec/bytes.ts'
import { checksum } from '../codec/checksum.ts'

export const PAGE_HEADER_BYTES = 8

export const PAGE_LEAF = 1
export const PAGE_BRANCH = 2
export const PAGE_OVERFLOW = 3
/** A branch of a tree that has a reducer. */
export const PAGE_REDUCED_BRANCH = 4

/** Writes the header of a page whose other bytes are complete. */
export function sealPage(id: PageId, bytes: Uint8Array, kind: number, level: number, count: number): void {
  assert(bytes.length >= PAGE_HEADER_BYTES && count < 0x10000, 'page out of bounds')
  bytes[4] = kind
  bytes[5] = level
  bytes[6] = count & 255
  bytes[7] = count >>> 8
  writeU32(bytes, 0, checksum(bytes, 4, bytes.length, id >>> 0))
}

/** Throws PANNIER_CORRUPT unless the bytes are the page of that id. */
export function verifyPage(id: PageId, bytes: Uint8Array): void {
  if (bytes.length < PAGE_HEADER_BYTES || readU32(bytes, 0) !== checksum(bytes, 4, bytes.length, id >>> 0)) {
    throw new PannierError('PANNIER_CORRUPT', `Page ${id} is damaged: its checksum does not match.`, {
      details: { page: id },
    })
  }
}
