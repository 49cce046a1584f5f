/** Cryptography of browsers and other runtimes: WebCrypto. There is no Argon2id in it. */
import { PannierError } from '../../base/errors.ts'
import type { Aead, CryptoPlatform } from '../../storage/encrypted/platform.ts'

export function cryptoPlatform(): CryptoPlatform {
  // Browsers give it to pages from https and localhost only.
  if (globalThis.crypto?.subtle === undefined)
    throw new PannierError('PANNIER_UNAVAILABLE', 'There is no WebCrypto here: encryption needs a secure context.')
  return webPlatform
}

type Bytes = Uint8Array<ArrayBuffer>

export const webPlatform: CryptoPlatform = {
  isSynchronous: false,
  random: (count) => crypto.getRandomValues(new Uint8Array(count)),
  async aead(key) {
    return new WebAead(await crypto.subtle.importKey('raw', key as Bytes, 'AES-GCM', false, ['encrypt', 'decrypt']))
  },
  deviceAead: (key) => new WebAead(key),
  hkdf: (key, salt, info) =>
    derive(key, { name: 'HKDF', hash: 'SHA-256', salt: salt as Bytes, info: new TextEncoder().encode(info) }),
  pbkdf2: (password, salt, iterations) =>
    derive(password, { name: 'PBKDF2', hash: 'SHA-256', salt: salt as Bytes, iterations }),
  argon2id: undefined,
}

async function derive(secret: Uint8Array, algorithm: HkdfParams | Pbkdf2Params): Promise<Uint8Array> {
  const base = await crypto.subtle.importKey('raw', secret as Bytes, algorithm.name, false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, base, 256))
}

class WebAead implements Aead {
  readonly #key: CryptoKey

  constructor(key: CryptoKey) {
    this.#key = key
  }

  async seal(nonce: Uint8Array, associated: Uint8Array, plain: Uint8Array): Promise<Uint8Array> {
    const algorithm = { name: 'AES-GCM', iv: nonce as Bytes, additionalData: associated as Bytes }
    return new Uint8Array(await crypto.subtle.encrypt(algorithm, this.#key, plain as Bytes))
  }

  async open(nonce: Uint8Array, associated: Uint8Array, sealed: Uint8Array): Promise<Uint8Array | undefined> {
    const algorithm = { name: 'AES-GCM', iv: nonce as Bytes, additionalData: associated as Bytes }
    try {
      return new Uint8Array(await crypto.subtle.decrypt(algorithm, this.#key, sealed as Bytes))
    } catch (error) {
      if ((error as DOMException).name === 'OperationError') return undefined
      throw error
    }
  }
}
