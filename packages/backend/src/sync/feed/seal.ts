/**
 * Tokens as clients get them: nobody can read or change one, and its length says nothing. AES-256-GCM with a random nonce (NIST SP
 * 800-38D); the key belongs to the data.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Chance } from '../../gateway/chance.ts'
import type { FeedToken } from './feed-token.ts'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Lengths of tokens are multiples of it. */
const BLOCK_BYTES = 512

export class Seal {
  readonly #key: Uint8Array
  readonly #chance: Chance

  /** `key`: 32 bytes. */
  constructor(key: Uint8Array, chance: Chance) {
    this.#key = key
    this.#chance = chance
  }

  close(token: FeedToken): string {
    const text = Buffer.from(JSON.stringify(token))
    const padded = Buffer.alloc(Math.ceil((text.length + 1) / BLOCK_BYTES) * BLOCK_BYTES, ' ')
    text.copy(padded)
    const nonce = this.#chance.randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#key, nonce)
    const sealed = Buffer.concat([cipher.update(padded), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  /** Undefined: it is not one of ours. */
  open(sealed: string): FeedToken | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
      return JSON.parse(text.toString()) as FeedToken
    } catch {
      return undefined
    }
  }
}
