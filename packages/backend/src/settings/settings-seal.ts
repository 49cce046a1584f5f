/** Settings as they are stored when the operator has given a key: AES-256-GCM, with a key of their own made from that. */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid, ServiceError } from '../gateway/service-error.ts'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The purpose in the seal, so that no other sealed text passes for settings. */
const PURPOSE = 'pannier settings 1'
const KEY_CHARS_MIN = 32

export class SettingsSeal {
  readonly #key: Buffer
  readonly #chance: Chance

  /** @throws ServiceError INVALID for a key that is too short */
  constructor(key: string, chance: Chance) {
    if (key.length < KEY_CHARS_MIN)
      throw invalid(`The key of the settings must have ${KEY_CHARS_MIN} characters or more, got ${key.length}.`)
    this.#chance = chance
    this.#key = Buffer.from(hkdfSync('sha256', key, '', PURPOSE, KEY_BYTES))
  }

  seal(values: JsonObject): string {
    const nonce = this.#chance.randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(PURPOSE))
    const content = Buffer.concat([cipher.update(JSON.stringify(values), 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), content]).toString('base64')
  }

  /** @throws ServiceError INVALID for another key */
  open(sealed: string): JsonObject {
    const bytes = Buffer.from(sealed, 'base64')
    const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)]
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    try {
      decipher.setAAD(Buffer.from(PURPOSE)).setAuthTag(tag)
      const content = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
      return JSON.parse(content.toString('utf8')) as JsonObject
    } catch (error) {
      throw new ServiceError(
        'INVALID',
        'The settings are encrypted with another key. Nothing was changed. Give that key.',
        { cause: error },
      )
    }
  }
}
