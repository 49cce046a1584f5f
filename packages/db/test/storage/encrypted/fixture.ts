/** Encrypted storages whose key needs no stretching, so that tests of what is sealed do not wait for passwords. */
import { cryptoPlatform } from '../../../src/database/encryption/node-platform.ts'
import { webPlatform } from '../../../src/database/encryption/web-platform.ts'
import { EncryptedStorage } from '../../../src/storage/encrypted/encrypted-storage.ts'
import type { CryptoPlatform } from '../../../src/storage/encrypted/platform.ts'
import type { DatabaseStorage } from '../../../src/storage/page-store.ts'

export const platforms: readonly (readonly [string, CryptoPlatform])[] = [
  ['node:crypto', cryptoPlatform()],
  ['WebCrypto', webPlatform],
]

export const deviceKey: CryptoKey = await newDeviceKey()

export function newDeviceKey(): Promise<CryptoKey> {
  return crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

export function encrypted(
  storage: DatabaseStorage,
  platform: CryptoPlatform = cryptoPlatform(),
  key: CryptoKey = deviceKey,
): EncryptedStorage {
  return new EncryptedStorage(storage, platform, { key })
}
