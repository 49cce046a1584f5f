/** Cryptography of Node: synchronous, as its SQLite is, and with Argon2id. */
import * as nodeCrypto from 'node:crypto'
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, pbkdf2, randomFillSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { KEY_BYTES, TAG_BYTES, type Aead, type CryptoPlatform } from '../../storage/encrypted/platform.ts'
import { webPlatform } from './web-platform.ts'

export function cryptoPlatform(): CryptoPlatform {
  return nodePlatform
}

/** Since Node 24.7. */
const argon2 = (nodeCrypto as Partial<typeof nodeCrypto>).argon2
const argon2Async = argon2 && promisify(argon2)
const pbkdf2Async = promisify(pbkdf2)

const nodePlatform: CryptoPlatform = {
  isSynchronous: true,
  random: (count) => randomFillSync(new Uint8Array(count)),
  aead: (key) => new NodeAead(createSecretKey(key)),
  deviceAead: (key) => webPlatform.deviceAead(key),
  hkdf: (key, salt, info) => new Uint8Array(hkdfSync('sha256', key, salt, info, KEY_BYTES)),
  pbkdf2: async (password, salt, iterations) =>
    new Uint8Array(await pbkdf2Async(password, salt, iterations, KEY_BYTES, 'sha256')),
  argon2id:
    argon2Async &&
    (async (message, nonce, { passes, memoryKib: memory, lanes: parallelism }) =>
      new Uint8Array(
        await argon2Async('argon2id', { message, nonce, passes, memory, parallelism, tagLength: KEY_BYTES }),
      )),
}

const CIPHER = 'aes-256-gcm'

class NodeAead implements Aead {
  readonly #key: KeyObject

  constructor(key: KeyObject) {
    this.#key = key
  }

  seal(nonce: Uint8Array, associated: Uint8Array, plain: Uint8Array): Uint8Array {
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(associated)
    const sealed = new Uint8Array(plain.length + TAG_BYTES)
    sealed.set(cipher.update(plain))
    cipher.final()
    sealed.set(cipher.getAuthTag(), plain.length)
    return sealed
  }

  open(nonce: Uint8Array, associated: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
    const end = sealed.length - TAG_BYTES
    if (end < 0) return undefined
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(associated)
    decipher.setAuthTag(sealed.subarray(end))
    const plain = decipher.update(sealed.subarray(0, end))
    try {
      decipher.final()
    } catch {
      return undefined
    }
    return new Uint8Array(plain.buffer, plain.byteOffset, plain.length)
  }
}
