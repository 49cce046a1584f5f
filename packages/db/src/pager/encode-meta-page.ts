/** Writes the meta page; meta-page.ts has its format. */
import type { Generation } from '../base/brand.ts'
import { ByteWriter, writeU32 } from '../codec/bytes.ts'
import { checksum } from '../codec/checksum.ts'
import { CHECKED_FROM, DATABASE_ID_BYTES, FORMAT_VERSION, MAGIC, type MetaPage } from './meta-page.ts'
import type { ReclaimList } from './reclaim.ts'

export function encodeMetaPage(
  meta: MetaPage,
  generation: Generation,
  writeBody: (writer: ByteWriter) => void,
): Uint8Array {
  const writer = new ByteWriter(1024)
  writer.u32(MAGIC)
  writer.u16(FORMAT_VERSION)
  writer.u32(0)
  for (let i = 0; i < DATABASE_ID_BYTES; i++) writer.u8(Number.parseInt(meta.databaseId.slice(2 * i, 2 * i + 2), 16))
  writer.varint(meta.nextPageId)
  writeReclaimList(writer, meta.reclaim)
  writeBody(writer)
  const bytes = writer.finish()
  writeU32(bytes, 6, checksum(bytes, CHECKED_FROM, bytes.length, generation >>> 0))
  return bytes
}

function writeReclaimList(writer: ByteWriter, list: ReclaimList): void {
  writer.varint(list.unlinked.length)
  for (const { generation, ids } of list.unlinked) {
    writer.varint(generation)
    writer.varint(ids.length)
    let previous = 0
    for (const id of [...ids].sort((a, b) => a - b)) {
      writer.varint(id - previous)
      previous = id
    }
  }
  writer.varint(list.dropped.length)
  for (const { generation, id, level, overflow } of list.dropped) {
    writer.varint(generation)
    writer.varint(id)
    writer.varint(level * 2 + (overflow ? 1 : 0))
  }
}
