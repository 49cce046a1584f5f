/**
 * The meta page: the root of everything in pages, replaced whole by each storage checkpoint.
 *
 *     0  'PNNR'
 *     4  u16  format version
 *     6  u32  checksum (xxHash32, seed = low 32 bits of the generation) of the bytes from 10 on
 *    10  16 bytes: the id of the database, made when it was created
 *        varint next page id
 *        the pages to reclaim (reclaim.ts)
 *        the body: the named trees (kv/meta-body.ts)
 */
import type { Generation, PageId } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { ByteReader, fromHex, readU32, toHex, ByteWriter, writeU32 } from '../codec/bytes.ts'
import { checksum } from '../codec/checksum.ts'
import { readReclaimList, writeReclaimList, type ReclaimList } from './reclaim.ts'

/** Raised whenever files written from then on can't be read by earlier versions; docs/internals/file-format.md lists them. */
export const FORMAT_VERSION = 1

const MAGIC = 0x524e4e50 // 'PNNR', little-endian
const CHECKED_FROM = 10
const DATABASE_ID_BYTES = 16

interface MetaPage {
  /** The id of the database: 32 hex digits. Another one under the same name means that the database was wiped and made again. */
  readonly databaseId: string
  /** Every page id from here on was never used. */
  readonly nextPageId: PageId
  readonly reclaim: ReclaimList
}

/** Throws PANNIER_FORMAT_WRONG, PANNIER_FORMAT_NEWER or PANNIER_CORRUPT. The reader given back stands at the body. */
export function decodeMetaPage(bytes: Uint8Array, generation: Generation): { meta: MetaPage; body: ByteReader } {
  if (bytes.length < CHECKED_FROM + DATABASE_ID_BYTES || readU32(bytes, 0) !== MAGIC) {
    throw new PannierError('PANNIER_FORMAT_WRONG', 'The storage holds something else than a Pannier database.')
  }
  const version = bytes[4]! | (bytes[5]! << 8)
  if (version > FORMAT_VERSION) {
    throw new PannierError(
      'PANNIER_FORMAT_NEWER',
      `The database has format ${version}; this version of Pannier reads formats up to ${FORMAT_VERSION}. Update Pannier.`,
      { details: { version } },
    )
  }
  if (readU32(bytes, 6) !== checksum(bytes, CHECKED_FROM, bytes.length, generation >>> 0)) {
    throw new PannierError('PANNIER_CORRUPT', 'The meta page is damaged: its checksum does not match.')
  }
  const body = new ByteReader(bytes, CHECKED_FROM)
  const databaseId = toHex(body.raw(DATABASE_ID_BYTES))
  const nextPageId = body.varint() as PageId
  const reclaim = readReclaimList(body)
  return { meta: { databaseId, nextPageId, reclaim }, body }
}

export function encodeMetaPage(
  meta: MetaPage,
  generation: Generation,
  writeBody: (writer: ByteWriter) => void,
): Uint8Array {
  const writer = new ByteWriter(1024)
  writer.u32(MAGIC)
  writer.u16(FORMAT_VERSION)
  writer.u32(0)
  writer.raw(fromHex(meta.databaseId, DATABASE_ID_BYTES))
  writer.varint(meta.nextPageId)
  writeReclaimList(writer, meta.reclaim)
  writeBody(writer)
  const bytes = writer.finish()
  writeU32(bytes, 6, checksum(bytes, CHECKED_FROM, bytes.length, generation >>> 0))
  return bytes
}
