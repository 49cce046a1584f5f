/** Writes the sections that attachment-section.ts describes and reads, and hashes what they say. */
import { ByteWriter } from '../../codec/bytes.ts'
import type { Hash128 } from '../../codec/hash.ts'
import { textToByteString } from '../../codec/text.ts'
import { decodeAttachments, type AttachmentEntry } from './attachment-section.ts'

/** At least one; names are distinct. */
export function encodeAttachments(entries: readonly AttachmentEntry[]): Uint8Array {
  const rows = entries.map((entry) => ({ key: textToByteString(entry.name), entry }))
  rows.sort((a, b) => (a.key < b.key ? -1 : 1))
  const writer = new ByteWriter()
  writer.varint(rows.length)
  let typeBefore: string | undefined
  for (const { key, entry } of rows) {
    writer.varint(key.length)
    writer.byteString(key)
    writeContentType(writer, entry.contentType, typeBefore)
    writer.raw(entry.digest)
    writer.varint(entry.length)
    writer.varint(entry.revpos)
    writer.varint(entry.blob)
    typeBefore = entry.contentType
  }
  return writer.finish()
}

/** Hashes the facts of attachments that are the same wherever they are stored: names, types and content. */
export function hashAttachments(hash: Hash128, section: Uint8Array): void {
  const writer = new ByteWriter()
  for (const { name, contentType, digest, length } of decodeAttachments(section)) {
    for (const text of [name, contentType]) {
      const bytes = textToByteString(text)
      writer.varint(bytes.length)
      writer.byteString(bytes)
    }
    writer.raw(digest)
    writer.varint(length)
  }
  hash.update(writer.bytes, 0, writer.length)
}

function writeContentType(writer: ByteWriter, contentType: string, before: string | undefined): void {
  if (contentType === before) {
    writer.varint(0)
    return
  }
  const text = textToByteString(contentType)
  writer.varint(text.length + 1)
  writer.byteString(text)
}
