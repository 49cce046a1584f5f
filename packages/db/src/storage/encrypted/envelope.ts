/**
 * Sealed records: their layout, and what their tags authenticate besides the content. docs/internals/encryption.md is
 * normative.
 *
 *     0  u8   format
 *     1  u32  id of the data key
 *     5  12 bytes, random: the nonce
 *    17  ciphertext, followed by the tag of 16 bytes
 */
import type { CommitSequence } from '../../base/brand.ts'
import { PannierError } from '../../base/errors.ts'
import { andThen, type MaybePromise } from '../../base/async.ts'
import { readU32, writeU32 } from '../../codec/bytes.ts'
import { NONCE_BYTES, TAG_BYTES, type Aead } from './platform.ts'

/** The version of the keyring; raised whenever earlier versions can't read later writes. */
export const ENCRYPTION_FORMAT = 2

/** The format of a record: meta records have 2 since they hold runs (sealed-content.ts); all others are as they were. */
const RECORD_FORMAT = 1

const NONCE_AT = 5
const SEALED_AT: number = NONCE_AT + NONCE_BYTES

/** So much longer is a sealed record than its content. */
const ENVELOPE_BYTES: number = SEALED_AT + TAG_BYTES

export const ID_BYTES = 16
export const KIND_PAGE = 1
export const KIND_LOG = 2
export const KIND_META = 3
export const KIND_KEYRING = 4
export const KIND_SLOT = 5
export const KIND_DATA_KEY = 6
export const KIND_SNAPSHOT = 7

export const MAGIC = 0x454e4e50 // 'PNNE', little-endian

/** The kind of a record, and its place. */
export interface RecordPlace {
  readonly kind: number
  /** Page id, sequence, generation, … */
  readonly number: number
  readonly more?: Uint8Array | undefined
  /** The format; 1 when left out. */
  readonly format?: 1 | 2
}

/** The data that a tag vouches for beside the content: format, database, key, kind, place. */
export function associatedData(
  database: Uint8Array,
  keyId: number,
  { kind, number, more, format = RECORD_FORMAT }: RecordPlace,
): Uint8Array {
  const bytes = new Uint8Array(34 + (more?.length ?? 0))
  writeU32(bytes, 0, MAGIC)
  bytes[4] = format
  bytes[5] = kind
  bytes.set(database, 6)
  writeU32(bytes, 22, keyId)
  writeU32(bytes, 26, number >>> 0)
  writeU32(bytes, 30, Math.floor(number / 2 ** 32))
  if (more) bytes.set(more, 34)
  return bytes
}

interface SealingKey {
  readonly id: number
  readonly aead: Aead
}

export function sealRecord(
  database: Uint8Array,
  { id, aead }: SealingKey,
  nonce: Uint8Array,
  place: RecordPlace,
  plain: Uint8Array,
): MaybePromise<Uint8Array> {
  return andThen(aead.seal(nonce, associatedData(database, id, place), plain), (sealed) => {
    const bytes = new Uint8Array(SEALED_AT + sealed.length)
    bytes[0] = place.format ?? RECORD_FORMAT
    writeU32(bytes, 1, id)
    bytes.set(nonce, NONCE_AT)
    bytes.set(sealed, SEALED_AT)
    return bytes
  })
}

/** Throws PANNIER_CORRUPT unless these are the bytes that were sealed for that place. */
export function openRecord(
  database: Uint8Array,
  { id, aead }: SealingKey,
  place: RecordPlace,
  bytes: Uint8Array,
): MaybePromise<Uint8Array> {
  const associated = associatedData(database, id, place)
  return andThen(aead.open(nonceOf(bytes), associated, bytes.subarray(SEALED_AT)), (plain) => {
    if (plain === undefined) throw damagedRecord(place)
    return plain
  })
}

/** The id of the key that sealed it; undefined for what can't be a sealed record. */
export function keyIdOf(bytes: Uint8Array): number | undefined {
  const isRecord = bytes.length >= ENVELOPE_BYTES && (bytes[0] === RECORD_FORMAT || bytes[0] === 2)
  return isRecord ? readU32(bytes, 1) : undefined
}

/** As the record says; its tag vouches for it if it is opened as such. */
export function formatOf(bytes: Uint8Array): 1 | 2 {
  return bytes[0] === 2 ? 2 : 1
}

/** Tells a record from every other one under its key. */
export function nonceOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(NONCE_AT, SEALED_AT)
}

const NAMES: Readonly<Record<number, string>> = {
  [KIND_PAGE]: 'page',
  [KIND_LOG]: 'log record',
  [KIND_META]: 'meta record',
}

export function damagedRecord({ kind, number }: RecordPlace): PannierError {
  const what = `${NAMES[kind] ?? 'record'} ${number}`
  const details =
    kind === KIND_PAGE ? { page: number } : kind === KIND_LOG ? { sequence: number as CommitSequence } : {}
  return tampered(`the ${what} is not what was sealed for its place`, details)
}

export function tampered(what: string, details: Readonly<Record<string, unknown>> = {}): PannierError {
  const message = `The encrypted database is damaged, or was tampered with: ${what}.`
  return new PannierError('PANNIER_CORRUPT', message, { details })
}
