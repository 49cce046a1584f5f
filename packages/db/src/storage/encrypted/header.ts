/**
 * The header of an encrypted database: who can open it (slots), and the keys that its records are sealed with, themselves sealed.
 *
 *     0  'PNNE'
 *     4  u16  format
 *     6  u32  checksum (xxHash32) of the bytes from 10 on: tells damage from a wrong password
 *    10  16 bytes, random: the id that every tag vouches for
 *    26  u32  revision, raised by one with each change
 *        varint count of slots, the slots; varint count of data keys, the keys; the last one is the active one
 *        12 bytes nonce, 16 bytes tag: under a key derived from the master key, over all that stands before
 *
 * Nothing in it is secret. docs/encryption.md is normative.
 */
import { PannierError } from '../../base/errors.ts'
import { ByteReader, ByteWriter, readU32, writeU32 } from '../../codec/bytes.ts'
import { checksum } from '../../codec/checksum.ts'
import { HEADER_BYTES_MAX } from '../page-store.ts'
import { ENCRYPTION_FORMAT, ID_BYTES, MAGIC, tampered } from './envelope.ts'
import { KEY_BYTES, NONCE_BYTES, SALT_BYTES, TAG_BYTES } from './platform.ts'

/** How the key of a password is made of it. */
export type Derivation =
  | { readonly name: 'pbkdf2'; readonly iterations: number }
  | { readonly name: 'argon2id'; readonly passes: number; readonly memoryKib: number; readonly lanes: number }

export type SlotKind = 'password' | 'recovery' | 'device'

export interface Slot {
  /** 16 hex digits, random. */
  readonly id: string
  readonly kind: SlotKind
  readonly label: string
  /** Of a password. */
  readonly derivation: Derivation | undefined
  readonly salt: Uint8Array
  /** The master key: nonce, ciphertext, tag. */
  readonly wrapped: Uint8Array
}

export interface WrappedKey {
  readonly id: number
  /** Log records from this sequence on, and pages from this id on, count as its uses. */
  readonly firstSequence: number
  readonly firstPage: number
  /** The data key: nonce, ciphertext, tag. */
  readonly wrapped: Uint8Array
}

export interface Header {
  readonly database: Uint8Array
  readonly revision: number
  readonly slots: readonly Slot[]
  /** More than one while keys are being rotated; the last one is the active one. */
  readonly keys: readonly WrappedKey[]
}

export const SLOTS_MAX = 8
export const LABEL_CHARS_MAX = 100
const KEYS_MAX = 4
const CHECKED_FROM = 10
const SLOT_ID_BYTES = 8
export const WRAPPED_BYTES: number = NONCE_BYTES + KEY_BYTES + TAG_BYTES
export const SEAL_BYTES: number = NONCE_BYTES + TAG_BYTES

const KINDS: readonly SlotKind[] = ['password', 'recovery', 'device']

/** All but the seal at the end. */
export function encodeHeader({ database, revision, slots, keys }: Header): Uint8Array {
  const writer = new ByteWriter(512)
  writer.u32(MAGIC)
  writer.u16(ENCRYPTION_FORMAT)
  writer.u32(0)
  writer.raw(database)
  writer.u32(revision)
  writer.varint(slots.length)
  for (const slot of slots) writeSlot(writer, slot)
  writer.varint(keys.length)
  for (const { id, firstSequence, firstPage, wrapped } of keys) {
    writer.u32(id)
    writer.varint(firstSequence)
    writer.varint(firstPage)
    writer.raw(wrapped)
  }
  return writer.finish()
}

/** With the seal; what is given is ready to be put. */
export function finishHeader(unsealed: Uint8Array, seal: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(unsealed.length + seal.length)
  bytes.set(unsealed)
  bytes.set(seal, unsealed.length)
  writeU32(bytes, 6, checksum(bytes, CHECKED_FROM))
  return bytes
}

/** What the seal vouches for: the checksum came after it. */
export function sealedPart(bytes: Uint8Array): Uint8Array {
  const part = bytes.slice(0, bytes.length - SEAL_BYTES)
  writeU32(part, 6, 0)
  return part
}

/** Throws PANNIER_CORRUPT or PANNIER_NEWER_FORMAT. What it gives is not to be trusted before its seal was checked. */
export function decodeHeader(bytes: Uint8Array): Header {
  if (bytes.length < CHECKED_FROM || bytes.length > HEADER_BYTES_MAX || readU32(bytes, 0) !== MAGIC) throw damaged()
  const version = bytes[4]! | (bytes[5]! << 8)
  if (readU32(bytes, 6) !== checksum(bytes, CHECKED_FROM)) throw damaged()
  if (version !== ENCRYPTION_FORMAT) {
    const message = `The encryption of the database has format ${version}; this version of Pannier reads format ${ENCRYPTION_FORMAT}. Update Pannier.`
    throw new PannierError('PANNIER_NEWER_FORMAT', message, { details: { version } })
  }
  const reader = new ByteReader(bytes, CHECKED_FROM, Math.max(CHECKED_FROM, bytes.length - SEAL_BYTES))
  const database = reader.raw(ID_BYTES).slice()
  const revision = reader.u32()
  const slots = Array.from({ length: countUpTo(reader, SLOTS_MAX) }, () => readSlot(reader))
  const keys = Array.from({ length: countUpTo(reader, KEYS_MAX) }, () => ({
    id: reader.u32(),
    firstSequence: reader.varint(),
    firstPage: reader.varint(),
    wrapped: reader.raw(WRAPPED_BYTES).slice(),
  }))
  if (!reader.done || keys.length === 0) throw damaged()
  return { database, revision, slots, keys }
}

function writeSlot(writer: ByteWriter, { id, kind, label, derivation, salt, wrapped }: Slot): void {
  for (let i = 0; i < SLOT_ID_BYTES; i++) writer.u8(Number.parseInt(id.slice(2 * i, 2 * i + 2), 16))
  writer.u8(KINDS.indexOf(kind) + 1)
  const text = new TextEncoder().encode(label)
  writer.varint(text.length)
  writer.raw(text)
  if (derivation === undefined) writer.u8(0)
  else if (derivation.name === 'pbkdf2') {
    writer.u8(1)
    writer.varint(derivation.iterations)
  } else {
    writer.u8(2)
    writer.varint(derivation.passes)
    writer.varint(derivation.memoryKib)
    writer.varint(derivation.lanes)
  }
  writer.raw(salt)
  writer.raw(wrapped)
}

function readSlot(reader: ByteReader): Slot {
  const id = Array.from(reader.raw(SLOT_ID_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const kind = KINDS[reader.u8() - 1]
  if (kind === undefined) throw damaged()
  const label = new TextDecoder().decode(reader.raw(countUpTo(reader, 4 * LABEL_CHARS_MAX)))
  const derivation = readDerivation(reader)
  if ((kind === 'password') !== (derivation !== undefined)) throw damaged()
  const salt = reader.raw(SALT_BYTES).slice()
  return { id, kind, label, derivation, salt, wrapped: reader.raw(WRAPPED_BYTES).slice() }
}

function readDerivation(reader: ByteReader): Derivation | undefined {
  switch (reader.u8()) {
    case 0:
      return undefined
    case 1:
      return { name: 'pbkdf2', iterations: reader.varint() }
    case 2:
      return { name: 'argon2id', passes: reader.varint(), memoryKib: reader.varint(), lanes: reader.varint() }
    default:
      throw damaged()
  }
}

function countUpTo(reader: ByteReader, most: number): number {
  const count = reader.varint()
  if (count > most) throw damaged()
  return count
}

function damaged(): PannierError {
  return tampered('its header does not match its checksum, or makes no sense')
}
