/**
 * The envelope of a log record: what one commit appends to the log.
 *
 *     0  u32  checksum (xxHash32, seed = low 32 bits of the sequence) of the bytes from 4 on
 *     4  u8   format
 *     5  8 bytes, random for each handle: the handle that wrote it
 *    13  the body (kv/commit-record.ts)
 *
 * By the writer's id a handle finds out whether a commit happened whose outcome it never learnt.
 */
import type { CommitSequence } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { readU32, writeU32 } from '../codec/bytes.ts'
import { checksum } from '../codec/checksum.ts'
import type { LogRecord } from '../storage/page-store.ts'

const LOG_FORMAT = 1
export const WRITER_ID_BYTES = 8
/** Room that `sealLogRecord` needs in front of the body. */
export const LOG_HEADER_BYTES: number = 5 + WRITER_ID_BYTES

/** Fills in the header of a record whose body stands in its place already. */
export function sealLogRecord(sequence: CommitSequence, writer: Uint8Array, bytes: Uint8Array): void {
  bytes[4] = LOG_FORMAT
  bytes.set(writer, 5)
  writeU32(bytes, 0, checksum(bytes, 4, bytes.length, sequence >>> 0))
}

/** Throws PANNIER_CORRUPT or PANNIER_NEWER_FORMAT unless the record is sound; its body starts at LOG_HEADER_BYTES. */
export function verifyLogRecord(record: LogRecord): void {
  const { bytes, sequence } = record
  if (bytes.length < LOG_HEADER_BYTES || readU32(bytes, 0) !== checksum(bytes, 4, bytes.length, sequence >>> 0)) {
    throw new PannierError('PANNIER_CORRUPT', `Log record ${sequence} is damaged: its checksum does not match.`, {
      details: { sequence },
    })
  }
  if (bytes[4] !== LOG_FORMAT) {
    throw new PannierError('PANNIER_NEWER_FORMAT', 'The log was written by a newer version of Pannier.', {
      details: { format: bytes[4] },
    })
  }
}

/** The id of the handle that wrote the record. */
export function writerOf({ bytes }: LogRecord): Uint8Array {
  return bytes.subarray(5, 5 + WRITER_ID_BYTES)
}

/** Whether that handle wrote the record. */
export function isWrittenBy(record: LogRecord, writer: Uint8Array): boolean {
  for (let i = 0; i < WRITER_ID_BYTES; i++) if (record.bytes[5 + i] !== writer[i]) return false
  return true
}
