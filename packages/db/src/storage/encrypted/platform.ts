/**
 * The platform functions of encryption: random numbers, AES-256-GCM, HKDF, and the derivation of keys from passwords.
 */
import type { MaybePromise } from '../../base/async.ts'

/** AES-256-GCM under one key. */
export interface Aead {
  /** The ciphertext, followed by the tag of 16 bytes. */
  seal(nonce: Uint8Array, associated: Uint8Array, plain: Uint8Array): MaybePromise<Uint8Array>
  /** Undefined when the tag does not match. */
  open(nonce: Uint8Array, associated: Uint8Array, sealed: Uint8Array): MaybePromise<Uint8Array | undefined>
}

interface Argon2idCosts {
  readonly passes: number
  readonly memoryKib: number
  readonly lanes: number
}

export interface CryptoPlatform {
  /** Whether `seal` and `open` give their results at once. */
  readonly isSynchronous: boolean
  random(count: number): Uint8Array
  aead(key: Uint8Array): MaybePromise<Aead>
  /** As `aead`, of a key that a user holds. */
  deviceAead(key: CryptoKey): Aead
  /** HKDF with SHA-256; 32 bytes. */
  hkdf(key: Uint8Array, salt: Uint8Array, info: string): MaybePromise<Uint8Array>
  /** PBKDF2 with HMAC-SHA-256; 32 bytes. */
  pbkdf2(password: Uint8Array, salt: Uint8Array, iterations: number): Promise<Uint8Array>
  /** Argon2id, which gives 32 bytes. Undefined where the platform does not have it. */
  readonly argon2id: ((password: Uint8Array, salt: Uint8Array, costs: Argon2idCosts) => Promise<Uint8Array>) | undefined
}

export const KEY_BYTES = 32
export const NONCE_BYTES = 12
export const TAG_BYTES = 16
export const SALT_BYTES = 32
