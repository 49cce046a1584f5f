/**
 * An entry of a `bodies` tree: one version of a document, or the tombstone of one. Its key is its sequence number.
 *
 *   flags       u8       see below
 *   generation  varint   N of the revision N-hash
 *   hash        16 bytes of the revision
 *   number      varint   only if flagged: the document's number, where it differs from the sequence number
 *   id length   varint
 *   id          the id as WTF-8, which is also its key in `ids`
 *   content     the document without `_id` and `_rev`, as codec/document.ts has it; nothing in a tombstone
 */
import type { Key } from '../base/brand.ts'
import { corruptBytes, readByteString, varintBytes, writeVarint } from '../codec/bytes.ts'
import { decodeIdKey } from '../codec/key-encoding.ts'

/** The document is deleted. */
export const BODY_DELETED = 1
/** The document's number is stored. */
export const BODY_MOVED = 2
/** Room for what is to come: attachments (4), conflicts (8), other formats of the content (16…128). */
const BODY_FLAGS_KNOWN: number = BODY_DELETED | BODY_MOVED

export const REVISION_HASH_BYTES = 16
/** What stands before the length of the id. */
export const BODY_HEADER_BYTES_MAX: number = 1 + 8 + REVISION_HASH_BYTES + 8

/** Looks at one body at a time; made once and loaded again and again. Text is only made when asked for. */
export class BodyView {
  bytes: Uint8Array = NO_BYTES
  sequence = 0
  /** The document's number: stable over its whole life. */
  number = 0
  deleted = false
  generation = 0
  contentStart = 0
  contentEnd = 0
  private hashStart = 0
  private idStart = 0
  private idText: string | undefined

  /** `bytes` is looked at, not copied. */
  load(bytes: Uint8Array, sequence: number): this {
    const flags = bytes[0]!
    if (flags > BODY_FLAGS_KNOWN) throw corruptBytes('a document has an unknown format')
    this.bytes = bytes
    this.sequence = sequence
    this.deleted = (flags & BODY_DELETED) !== 0
    this.idText = undefined
    this.generation = this.varint(1)
    this.hashStart = this.contentStart
    if ((flags & BODY_MOVED) === 0) {
      this.number = sequence
      this.contentStart += REVISION_HASH_BYTES
    } else {
      this.number = this.varint(this.hashStart + REVISION_HASH_BYTES)
    }
    const idLength = this.varint(this.contentStart)
    this.idStart = this.contentStart
    this.contentStart += idLength
    this.contentEnd = bytes.length
    if (this.contentStart > this.contentEnd) throw corruptBytes('a document ends too early')
    return this
  }

  /** The id as a key of `ids`. */
  get idKey(): Key {
    return readByteString(this.bytes, this.idStart, this.contentStart) as Key
  }

  get id(): string {
    return (this.idText ??= decodeIdKey(this.idKey))
  }

  /** The hash of the revision, as bytes. */
  get hash(): Uint8Array {
    return this.bytes.subarray(this.hashStart, this.hashStart + REVISION_HASH_BYTES)
  }

  /** 'N-hash', as documents carry it in `_rev`. */
  get revision(): string {
    return formatRevision(this.generation, this.bytes, this.hashStart)
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

/**
 * Writes the header so that it ends at `end`, and returns where it starts. `number`: undefined where it is the sequence number.
 */
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

/** 'N-hash', as documents carry it in `_rev`. */
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
/** Of a revision whose generation has one digit: 'N-', 32 digits. */
const revisionCodes: number[] = Array.from('0-'.padEnd(2 + 2 * REVISION_HASH_BYTES, '0'), (char) => char.charCodeAt(0))
