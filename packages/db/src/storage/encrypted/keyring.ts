/**
 * The keyring of an encrypted database: who can open it (key slots), and the keys that its records are sealed with, themselves sealed. It is
 * stored as two copies, one after the other, so that damage to one of them locks nobody out. A copy:
 *
 *     0  'PNNE'
 *     4  u16  format
 *     6  u32  checksum (xxHash32) of the bytes from 10 on up to the end of the seal: tells damage from a wrong password
 *    10  u32  where the seal begins
 *    14  16 bytes, random: the id that every tag vouches for
 *    30  u32  revision, raised by one with each change
 *        varint generation, varint sequence: what is stored is not older
 *        varint count of slots, the slots; varint count of data keys, the keys; the last one is the active one
 *        12 bytes nonce, 16 bytes tag: under a key derived from the master key, over all that stands before
 *        of each slot its secret, and u32 checksum of it: damage to it hurts its owner alone
 *
 * A slot holds the tag of its secret, so that one of before is not taken for it. Nothing in the keyring is secret without a password or key.
 * docs/internals/encryption.md is normative.
 */
import { PannierError } from '../../base/errors.ts'
import { ByteReader, ByteWriter, fromHex, readU32, sameBytes, toHex, writeU32 } from '../../codec/bytes.ts'
import { checksum } from '../../codec/checksum.ts'
import { KEYRING_BYTES_MAX } from '../page-store.ts'
import { ENCRYPTION_FORMAT, ID_BYTES, MAGIC, tampered } from './envelope.ts'
import { KEY_BYTES, NONCE_BYTES, SALT_BYTES, TAG_BYTES } from './platform.ts'

/** How the key of a password is derived. */
export type Derivation =
  | { readonly name: 'pbkdf2'; readonly iterations: number }
  | { readonly name: 'argon2id'; readonly passes: number; readonly memoryKib: number; readonly lanes: number }

export type SlotKind = 'password' | 'recovery' | 'device'

export interface KeySlot {
  /** The id: 16 hex digits, random. */
  readonly id: string
  readonly kind: SlotKind
  readonly label: string
  /** The secret, which only its owner needs; the bytes as they are where they are damaged. */
  readonly secret: SlotSecret | Uint8Array
  /** The tag vouches for the secret. */
  readonly tag: Uint8Array
}

export interface SlotSecret {
  /** The derivation for a password. */
  readonly derivation: Derivation | undefined
  readonly salt: Uint8Array
  readonly nonce: Uint8Array
  /** The master key, sealed; the tag stands in the slot. */
  readonly sealedKey: Uint8Array
}

export interface WrappedKey {
  readonly id: number
  /** Log records from this sequence on, and pages from this id on, count as its uses. */
  readonly firstSequence: number
  readonly firstPage: number
  /** The data key: nonce, ciphertext, tag. */
  readonly wrapped: Uint8Array
}

export interface Keyring {
  readonly database: Uint8Array
  readonly revision: number
  /** The generation and sequence when the keyring was put: the stored state has at least these. */
  readonly generation: number
  readonly sequence: number
  readonly slots: readonly KeySlot[]
  /** More than one while keys are being rotated; the last one is the active one. */
  readonly keys: readonly WrappedKey[]
}

/** A keyring as it was read: nothing of it is to be trusted before its seal was checked. */
export interface StoredKeyring {
  readonly keyring: Keyring
  /** The bytes that the seal vouches for. */
  readonly sealed: Uint8Array
  /** The seal: nonce and tag. */
  readonly seal: Uint8Array
  /** False: it is of an earlier format, or a copy is damaged; it is to be put again before anything else is written. */
  readonly isWhole: boolean
}

export const SLOTS_MAX = 8
export const LABEL_CHARS_MAX = 100
const KEYS_MAX = 4
const SLOT_ID_BYTES = 8
const WRAPPED_BYTES: number = NONCE_BYTES + KEY_BYTES + TAG_BYTES
export const SEAL_BYTES: number = NONCE_BYTES + TAG_BYTES

const KINDS: readonly SlotKind[] = ['password', 'recovery', 'device']

const CHECKED_FROM = 10
const SEAL_AT = 10
/** Encodes the part of a keyring that the seal is to vouch for. */
export function encodeKeyring({ database, revision, generation, sequence, slots, keys }: Keyring): Uint8Array {
  const writer = new ByteWriter(512)
  writer.u32(MAGIC)
  writer.u16(ENCRYPTION_FORMAT)
  writer.u32(0)
  writer.u32(0)
  writer.raw(database)
  writer.u32(revision)
  writer.varint(generation)
  writer.varint(sequence)
  writer.varint(slots.length)
  for (const slot of slots) writeSlot(writer, slot)
  writer.varint(keys.length)
  for (const { id, firstSequence, firstPage, wrapped } of keys) {
    writer.u32(id)
    writer.varint(firstSequence)
    writer.varint(firstPage)
    writer.raw(wrapped)
  }
  const bytes = writer.finish()
  writeU32(bytes, SEAL_AT, bytes.length)
  return bytes
}

/** Both copies, ready to be put. */
export function finishKeyring(sealed: Uint8Array, seal: Uint8Array, slots: readonly KeySlot[]): Uint8Array {
  const writer = new ByteWriter(1024)
  writer.raw(sealed)
  writer.raw(seal)
  for (const slot of slots) writer.raw(secretBytes(slot))
  const copy = writer.finish()
  writeU32(copy, 6, checksum(copy.subarray(0, sealed.length + seal.length), CHECKED_FROM))
  const both = new Uint8Array(2 * copy.length)
  both.set(copy)
  both.set(copy, copy.length)
  return both
}

/**
 * The newest copy that matches its checksum; secrets of slots from the other one where they are damaged.
 *
 * @throws PANNIER_CORRUPT, PANNIER_FORMAT_NEWER
 */
export function decodeKeyring(bytes: Uint8Array): StoredKeyring {
  if (bytes.length > KEYRING_BYTES_MAX) throw damaged()
  const former = decodeKeyring1(bytes)
  if (former !== undefined) return former
  const first = readCopy(bytes, 0)
  // Copies are equally long. If they are not, because a part of another keyring is there, the first one tells where the second begins.
  const second = readCopy(bytes, bytes.length >>> 1) ?? (first && readCopy(bytes, first.length))
  const [best, other] =
    (second?.keyring.revision ?? 0) > (first?.keyring.revision ?? 0) ? [second, first] : [first, second]
  if (best === undefined) throw newerFormat(bytes) ?? damaged()
  const slots = best.keyring.slots.map((slot) => mended(slot, other?.keyring.slots))
  const isWhole = sameBytes(bytes.subarray(0, bytes.length >>> 1), bytes.subarray(bytes.length >>> 1))
  return { ...best, keyring: { ...best.keyring, slots }, isWhole }
}

interface Copy extends Omit<StoredKeyring, 'isWhole'> {
  readonly length: number
}

/** Undefined if no copy matches its checksum. */
function readCopy(bytes: Uint8Array, from: number): Copy | undefined {
  const copy = new Uint8Array(bytes.subarray(from))
  if (copy.length < CHECKED_FROM + 4 + SEAL_BYTES || readU32(copy, 0) !== MAGIC || formatOf(copy) !== ENCRYPTION_FORMAT)
    return undefined
  const sealAt = readU32(copy, SEAL_AT)
  const sealEnd = sealAt + SEAL_BYTES
  if (sealEnd > copy.length || readU32(copy, 6) !== checksum(copy.subarray(0, sealEnd), CHECKED_FROM)) return undefined
  const reader = new ByteReader(copy, CHECKED_FROM + 4, sealAt)
  const database = reader.raw(ID_BYTES).slice()
  const revision = reader.u32()
  const generation = reader.varint()
  const sequence = reader.varint()
  const entries = Array.from({ length: countUpTo(reader, SLOTS_MAX) }, () => readSlot(reader))
  const keys = readKeys(reader)
  if (!reader.done) throw damaged()
  let at = sealEnd
  const slots = entries.map(({ secretLength, ...slot }) => {
    const secret = copy.slice(at, (at += secretLength))
    return { ...slot, secret: readSecret(secret) ?? secret }
  })
  const sealed = copy.slice(0, sealAt)
  writeU32(sealed, 6, 0)
  const keyring = { database, revision, generation, sequence, slots, keys }
  return { keyring, sealed, seal: copy.slice(sealAt, sealEnd), length: at }
}

function mended(slot: KeySlot, others: readonly KeySlot[] = []): KeySlot {
  if (!isDamaged(slot)) return slot
  return others.find((other) => sameBytes(other.tag, slot.tag) && !isDamaged(other)) ?? slot
}

function formatOf(bytes: Uint8Array): number {
  return bytes[4]! | (bytes[5]! << 8)
}

function newerFormat(bytes: Uint8Array): PannierError | undefined {
  const version = formatOf(bytes)
  if (bytes.length < CHECKED_FROM || readU32(bytes, 0) !== MAGIC || version <= ENCRYPTION_FORMAT) return undefined
  const message = `The encryption of the database has format ${version}; this version of Pannier reads format ${ENCRYPTION_FORMAT}. Update Pannier.`
  return new PannierError('PANNIER_FORMAT_NEWER', message, { details: { version } })
}

function writeSlot(writer: ByteWriter, slot: KeySlot): void {
  const { id, kind, label, tag } = slot
  writer.raw(fromHex(id, SLOT_ID_BYTES))
  writer.u8(KINDS.indexOf(kind) + 1)
  const text = new TextEncoder().encode(label)
  writer.varint(text.length)
  writer.raw(text)
  writer.raw(tag)
  writer.varint(secretBytes(slot).length)
}

/** Without its secret. */
function readSlot(reader: ByteReader): Omit<KeySlot, 'secret'> & { readonly secretLength: number } {
  const described = readDescription(reader)
  const tag = reader.raw(TAG_BYTES).slice()
  return { ...described, tag, secretLength: reader.varint() }
}

function secretBytes({ secret }: KeySlot): Uint8Array {
  if (secret instanceof Uint8Array) return secret
  const { derivation, salt, nonce, sealedKey } = secret
  const writer = new ByteWriter(128)
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
  for (const part of [salt, nonce, sealedKey]) writer.raw(part)
  writer.u32(checksum(writer.finish(), 0))
  return writer.finish()
}

/** Undefined if it is damaged. */
function readSecret(bytes: Uint8Array): SlotSecret | undefined {
  const end = bytes.length - 4
  if (end < 0 || readU32(bytes, end) !== checksum(bytes.subarray(0, end), 0)) return undefined
  const reader = new ByteReader(bytes, 0, end)
  const derivation = readDerivation(reader)
  const salt = reader.raw(SALT_BYTES).slice()
  const nonce = reader.raw(NONCE_BYTES).slice()
  return { derivation, salt, nonce, sealedKey: reader.raw(KEY_BYTES).slice() }
}

// Format 1: one copy, all of it under one checksum and one seal, bound to no state. It is read, and never written again.

/** Undefined for what is no keyring of format 1, or does not match its checksum. */
function decodeKeyring1(bytes: Uint8Array): StoredKeyring | undefined {
  if (bytes.length < CHECKED_FROM + SEAL_BYTES || readU32(bytes, 0) !== MAGIC || bytes[4] !== 1 || bytes[5] !== 0)
    return undefined
  if (readU32(bytes, 6) !== checksum(bytes, CHECKED_FROM)) return undefined
  const sealAt = bytes.length - SEAL_BYTES
  const reader = new ByteReader(bytes, CHECKED_FROM, sealAt)
  const database = new Uint8Array(reader.raw(ID_BYTES))
  const revision = reader.u32()
  const slots = Array.from({ length: countUpTo(reader, SLOTS_MAX) }, () => readSlot1(reader))
  const keys = readKeys(reader)
  if (!reader.done) throw damaged()
  const sealed = new Uint8Array(bytes.subarray(0, sealAt))
  writeU32(sealed, 6, 0)
  const keyring = { database, revision, generation: 0, sequence: 0, slots, keys }
  return { keyring, sealed, seal: new Uint8Array(bytes.subarray(sealAt)), isWhole: false }
}

function readSlot1(reader: ByteReader): KeySlot {
  const described = readDescription(reader)
  const derivation = readDerivation(reader)
  if ((described.kind === 'password') !== (derivation !== undefined)) throw damaged()
  const salt = new Uint8Array(reader.raw(SALT_BYTES))
  const wrapped = new Uint8Array(reader.raw(WRAPPED_BYTES))
  const sealedKey = wrapped.subarray(NONCE_BYTES, NONCE_BYTES + KEY_BYTES)
  const secret = { derivation, salt, nonce: wrapped.subarray(0, NONCE_BYTES), sealedKey }
  return { ...described, secret, tag: wrapped.subarray(NONCE_BYTES + KEY_BYTES) }
}

function readKeys(reader: ByteReader): WrappedKey[] {
  const keys = Array.from({ length: countUpTo(reader, KEYS_MAX) }, () => ({
    id: reader.u32(),
    firstSequence: reader.varint(),
    firstPage: reader.varint(),
    wrapped: reader.raw(WRAPPED_BYTES).slice(),
  }))
  if (keys.length === 0) throw damaged()
  return keys
}

function readDescription(reader: ByteReader): Pick<KeySlot, 'id' | 'kind' | 'label'> {
  const id = toHex(reader.raw(SLOT_ID_BYTES))
  const kind = KINDS[reader.u8() - 1]
  if (kind === undefined) throw damaged()
  const label = new TextDecoder().decode(reader.raw(countUpTo(reader, 4 * LABEL_CHARS_MAX)))
  return { id, kind, label }
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

export function isDamaged({ secret }: KeySlot): boolean {
  return secret instanceof Uint8Array
}

function countUpTo(reader: ByteReader, most: number): number {
  const count = reader.varint()
  if (count > most) throw damaged()
  return count
}

function damaged(): PannierError {
  return tampered('its keyring does not match its checksum, or makes no sense')
}
