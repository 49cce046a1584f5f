/** What a header is made of, and how the parts are read that both formats have. */
import type { PannierError } from '../../base/errors.ts'
import type { ByteReader } from '../../codec/bytes.ts'
import { tampered } from './envelope.ts'
import { KEY_BYTES, NONCE_BYTES, TAG_BYTES } from './platform.ts'

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
  /** What only its owner needs; the bytes as they are where they are damaged. */
  readonly secret: SlotSecret | Uint8Array
  /** Vouches for the secret. */
  readonly tag: Uint8Array
}

export interface SlotSecret {
  /** Of a password. */
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

export interface Header {
  readonly database: Uint8Array
  readonly revision: number
  /** What is stored has at least this generation and this sequence: what it had when the header was put. */
  readonly generation: number
  readonly sequence: number
  readonly slots: readonly Slot[]
  /** More than one while keys are being rotated; the last one is the active one. */
  readonly keys: readonly WrappedKey[]
}

/** A header as it was read: nothing of it is to be trusted before its seal was checked. */
export interface StoredHeader {
  readonly header: Header
  /** What the seal vouches for. */
  readonly sealed: Uint8Array
  /** Nonce and tag. */
  readonly seal: Uint8Array
  /** False: it is of an earlier format, or a copy is damaged; it is to be put again before anything else is written. */
  readonly isWhole: boolean
}

export const SLOTS_MAX = 8
export const LABEL_CHARS_MAX = 100
const KEYS_MAX = 4
export const SLOT_ID_BYTES = 8
export const WRAPPED_BYTES: number = NONCE_BYTES + KEY_BYTES + TAG_BYTES
export const SEAL_BYTES: number = NONCE_BYTES + TAG_BYTES

export const KINDS: readonly SlotKind[] = ['password', 'recovery', 'device']

export function readKeys(reader: ByteReader): WrappedKey[] {
  const keys = Array.from({ length: countUpTo(reader, KEYS_MAX) }, () => ({
    id: reader.u32(),
    firstSequence: reader.varint(),
    firstPage: reader.varint(),
    wrapped: reader.raw(WRAPPED_BYTES).slice(),
  }))
  if (keys.length === 0) throw damaged()
  return keys
}

export function readDescription(reader: ByteReader): Pick<Slot, 'id' | 'kind' | 'label'> {
  const id = Array.from(reader.raw(SLOT_ID_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const kind = KINDS[reader.u8() - 1]
  if (kind === undefined) throw damaged()
  const label = new TextDecoder().decode(reader.raw(countUpTo(reader, 4 * LABEL_CHARS_MAX)))
  return { id, kind, label }
}

export function readDerivation(reader: ByteReader): Derivation | undefined {
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

export function isDamaged({ secret }: Slot): boolean {
  return secret instanceof Uint8Array
}

export function countUpTo(reader: ByteReader, most: number): number {
  const count = reader.varint()
  if (count > most) throw damaged()
  return count
}

export function damaged(): PannierError {
  return tampered('its header does not match its checksum, or makes no sense')
}
