/**
 * Reads the header of format 1: one copy, all of it under one checksum and one seal, bound to no state. docs/internals/encryption.md tells how it is laid
 * out. It is never written again.
 */
import { ByteReader, readU32, writeU32 } from '../../codec/bytes.ts'
import { checksum } from '../../codec/checksum.ts'
import { ID_BYTES, MAGIC } from './envelope.ts'
import {
  countUpTo,
  damaged,
  readDerivation,
  readDescription,
  readKeys,
  SEAL_BYTES,
  SLOTS_MAX,
  WRAPPED_BYTES,
  type Slot,
  type StoredHeader,
} from './header-parts.ts'
import { KEY_BYTES, NONCE_BYTES, SALT_BYTES } from './platform.ts'

const CHECKED_FROM = 10

/** Undefined for what is no header of format 1, or does not match its checksum. */
export function decodeHeader1(bytes: Uint8Array): StoredHeader | undefined {
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
  const header = { database, revision, generation: 0, sequence: 0, slots, keys }
  return { header, sealed, seal: new Uint8Array(bytes.subarray(sealAt)), isWhole: false }
}

function readSlot1(reader: ByteReader): Slot {
  const described = readDescription(reader)
  const derivation = readDerivation(reader)
  if ((described.kind === 'password') !== (derivation !== undefined)) throw damaged()
  const salt = new Uint8Array(reader.raw(SALT_BYTES))
  const wrapped = new Uint8Array(reader.raw(WRAPPED_BYTES))
  const sealedKey = wrapped.subarray(NONCE_BYTES, NONCE_BYTES + KEY_BYTES)
  const secret = { derivation, salt, nonce: wrapped.subarray(0, NONCE_BYTES), sealedKey }
  return { ...described, secret, tag: wrapped.subarray(NONCE_BYTES + KEY_BYTES) }
}
