/**
 * An entry of a `bodies` tree: the winning version of a document, or its tombstone. Its key is its sequence. The
 * `extra` tree holds other versions in the same format.
 *
 *   flags       u8       see below
 *   generation  varint   N of the revision N-suffix
 *   suffix      16 bytes, if its text is their 32 lower-case hex digits; else, flagged: varint length and WTF-8
 *   number      varint   only if flagged: the document's number, if it is not the sequence
 *   id length   varint
 *   id          the id as WTF-8, which is also its key in `ids`
 *   attachments only if flagged: varint length and that many bytes
 *   content     the document without its fields that start with '_', as in codec/document-format.ts; empty for a tombstone
 *               without content
 */
import type { Key } from '../base/brand.ts'
import { ByteWriter, corruptBytes, readByteString, varintBytes, writeVarint } from '../codec/bytes.ts'
import { decodeIdKey } from '../codec/key-encoding.ts'
import { isHashSuffix, REVISION_HASH_BYTES, suffixArray, suffixFromBytes, type Revision } from './revision.ts'

/** The document is deleted. */
const BODY_DELETED = 1
/** The document's number is stored. */
const BODY_MOVED = 2
/** There are attachments. */
const BODY_ATTACHMENTS = 4
/** The document has other leaf revisions beside this one, its winner. */
const BODY_OTHER_LEAVES = 8
/** The suffix of the revision is text. */
const BODY_TEXT_SUFFIX = 16
/** Room for what is to come: other formats of the content (32…128). */
const BODY_FLAGS_KNOWN: number = BODY_DELETED | BODY_MOVED | BODY_ATTACHMENTS | BODY_OTHER_LEAVES | BODY_TEXT_SUFFIX

/** The most bytes before the length of the id, in a body whose suffix is no text. */
export const BODY_HEADER_BYTES_MAX: number = 1 + 8 + REVISION_HASH_BYTES + 8

/** Looks at one body at a time; made once and loaded again and again. Text is only made when asked for. */
export class BodyView implements BodyParts {
  bytes: Uint8Array = NO_BYTES
  sequence = 0
  /** The document's number: stable over its whole life. */
  number = 0
  generation = 0
  contentStart = 0
  contentEnd = 0
  /** Where the suffix of the revision stands. */
  suffixStart = 0
  suffixEnd = 0
  /** The flags are in as few fields as can be: bulk writes look at very many bodies at once. */
  private flags = 0
  private attachmentsStart = 0
  private idStart = 0
  private idText: string | undefined

  /** `bytes` is looked at, not copied. */
  load(bytes: Uint8Array, sequence: number): this {
    const flags = bytes[0]!
    if (!(flags <= BODY_FLAGS_KNOWN)) throw corruptBytes('a document has an unknown format')
    this.bytes = bytes
    this.sequence = sequence
    this.flags = flags
    this.idText = undefined
    this.generation = this.varint(1)
    const suffixBytes = (flags & BODY_TEXT_SUFFIX) === 0 ? REVISION_HASH_BYTES : this.varint(this.contentStart)
    this.suffixStart = this.contentStart
    this.suffixEnd = this.contentStart += suffixBytes
    this.number = (flags & BODY_MOVED) === 0 ? sequence : this.varint(this.suffixEnd)
    const idLength = this.varint(this.contentStart)
    this.idStart = this.contentStart
    this.contentStart += idLength
    this.attachmentsStart = 0
    if ((flags & BODY_ATTACHMENTS) !== 0) {
      const attachmentsBytes = this.varint(this.contentStart)
      this.attachmentsStart = this.contentStart
      this.contentStart += attachmentsBytes
    }
    this.contentEnd = bytes.length
    // A number that does not end, or not in the body, makes this no position in it.
    if (!(this.contentStart <= this.contentEnd)) throw corruptBytes('a document ends too early')
    return this
  }

  /** The id as a key of `ids`. */
  get key(): Key {
    const { contentStart, attachmentsStart } = this
    const attachmentsBytes = attachmentsStart === 0 ? 0 : contentStart - attachmentsStart
    const idEnd = attachmentsStart === 0 ? contentStart : attachmentsStart - varintBytes(attachmentsBytes)
    return readByteString(this.bytes, this.idStart, idEnd) as Key
  }

  get id(): string {
    return (this.idText ??= decodeIdKey(this.key))
  }

  get deleted(): boolean {
    return (this.flags & BODY_DELETED) !== 0
  }

  get otherLeaves(): boolean {
    return (this.flags & BODY_OTHER_LEAVES) !== 0
  }

  get hasTextSuffix(): boolean {
    return (this.flags & BODY_TEXT_SUFFIX) !== 0
  }

  get suffix(): string {
    return suffixFromBytes(readByteString(this.bytes, this.suffixStart, this.suffixEnd), this.hasTextSuffix)
  }

  /** 'N-suffix', as documents carry it in `_rev`. */
  get revision(): string {
    return this.hasTextSuffix
      ? `${this.generation}-${this.suffix}`
      : formatRevision(this.generation, this.bytes, this.suffixStart)
  }

  get hasAttachments(): boolean {
    return this.attachmentsStart > 0
  }

  /** The section of its attachments, or undefined. */
  get attachments(): Uint8Array | undefined {
    const { attachmentsStart } = this
    return attachmentsStart === 0 ? undefined : this.bytes.subarray(attachmentsStart, this.contentStart)
  }

  /** The number at `at`; the position after it becomes `contentStart`. */
  private varint(at: number): number {
    const { bytes } = this
    let byte = bytes[at++]!
    let value = byte & 127
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = bytes[at++]!
      value += (byte & 127) * scale
    }
    this.contentStart = at
    return value
  }
}

/** Writes the header so that it ends at `end`, and returns where it starts. `number`: undefined where it is the sequence number. */
export function writeBodyHeader(
  bytes: Uint8Array,
  end: number,
  deleted: boolean,
  generation: number,
  hash: Uint8Array,
  number: number | undefined,
): number {
  const numberAt = number === undefined ? end : end - varintBytes(number)
  const hashAt = numberAt - REVISION_HASH_BYTES
  const generationAt = hashAt - varintBytes(generation)
  if (number !== undefined) writeVarint(bytes, numberAt, number)
  bytes.set(hash, hashAt)
  writeVarint(bytes, generationAt, generation)
  bytes[generationAt - 1] = (deleted ? BODY_DELETED : 0) | (number === undefined ? 0 : BODY_MOVED)
  return generationAt - 1
}

/** The parts of a body. */
export interface BodyParts {
  readonly key: Key
  readonly deleted: boolean
  readonly attachments: Uint8Array | undefined
  /** Holds the content, among other things. */
  readonly bytes: Uint8Array
  readonly contentStart: number
  readonly contentEnd: number
}

/** A whole body, in the general case. `number` as in `writeBodyHeader`. */
export function composeBody(
  { key, deleted, attachments, bytes, contentStart, contentEnd }: BodyParts,
  { generation, suffix }: Revision,
  number: number | undefined,
  otherLeaves: boolean,
): Uint8Array {
  const isText = !isHashSuffix(suffix)
  const writer = new ByteWriter(
    BODY_HEADER_BYTES_MAX +
      3 * suffix.length +
      key.length +
      (attachments?.length ?? 0) +
      contentEnd -
      contentStart +
      24,
  )
  writer.u8(
    (deleted ? BODY_DELETED : 0) |
      (number === undefined ? 0 : BODY_MOVED) |
      (attachments === undefined ? 0 : BODY_ATTACHMENTS) |
      (otherLeaves ? BODY_OTHER_LEAVES : 0) |
      (isText ? BODY_TEXT_SUFFIX : 0),
  )
  writer.varint(generation)
  const suffixBytes = suffixArray(suffix)
  if (isText) writer.varint(suffixBytes.length)
  writer.raw(suffixBytes)
  if (number !== undefined) writer.varint(number)
  writer.varint(key.length)
  writer.byteString(key)
  if (attachments !== undefined) {
    writer.varint(attachments.length)
    writer.raw(attachments)
  }
  writer.raw(bytes.subarray(contentStart, contentEnd))
  return writer.bytes.subarray(0, writer.length)
}

/** Document numbers and sequence numbers as values of `ids`, `deleted` and `moved`: varints. */
export function readNumber(value: Uint8Array): number {
  let number = 0
  for (let at = 0, scale = 1; at < value.length; at++, scale *= 128) number += (value[at]! & 127) * scale
  return number
}

/** See `readNumber`. A byte string: there is one for every document. */
export function numberBytes(number: number): string {
  let text = ''
  for (; number >= 128; number = Math.floor(number / 128)) text += String.fromCharCode((number % 128) | 128)
  return text + String.fromCharCode(number)
}

/** 'N-suffix' of a suffix that is 16 bytes. */
export function formatRevision(generation: number, bytes: Uint8Array, hashStart: number = 0): string {
  const codes = revisionCodes
  for (let at = 0; at < REVISION_HASH_BYTES; at++) {
    const byte = bytes[hashStart + at]!
    codes[2 * at + 2] = HEX_CODES[byte >>> 4]!
    codes[2 * at + 3] = HEX_CODES[byte & 15]!
  }
  // In one go: a string that is added up from pieces keeps them all.
  codes[0] = HEX_CODES[generation % 10]!
  const text = String.fromCharCode.apply(null, codes)
  return generation < 10 ? text : Math.floor(generation / 10) + text
}

const NO_BYTES: Uint8Array = new Uint8Array(0)
const HEX_CODES: readonly number[] = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
/** Buffer for a revision whose generation has one digit: 'N-', 32 digits. */
const revisionCodes: number[] = Array.from('0-'.padEnd(2 + 2 * REVISION_HASH_BYTES, '0'), (char) => char.charCodeAt(0))
