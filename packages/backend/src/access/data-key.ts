/** A secret that belongs to the data: what is made with it can be made and checked only where the data are, or were restored. */
import { hkdfSync, randomBytes } from 'node:crypto'
import type { Database } from 'pannier'

interface StoredKey {
  readonly _id: string
  /** 32 bytes, in base64. */
  readonly key: string
}

/** No CouchDB database can have this name. */
const KEY_COLLECTION = '$key'
const KEY_ID = 'key'
const KEY_BYTES = 32

export class DataKey {
  readonly #key: Uint8Array

  /** `key`: 32 bytes. */
  constructor(key: Uint8Array = randomBytes(KEY_BYTES)) {
    this.#key = key
  }

  /** The key of a database, which gets one if it has none. */
  static async open(database: Database): Promise<DataKey> {
    const stored = database.collection<StoredKey>(KEY_COLLECTION)
    const found = await stored.get(KEY_ID)
    if (found !== undefined) return new DataKey(Buffer.from(found.key, 'base64'))
    const key = randomBytes(KEY_BYTES)
    await stored.insert({ _id: KEY_ID, key: key.toString('base64') })
    return new DataKey(key)
  }

  /** A key of its own for each use: 32 bytes (HKDF, RFC 5869). */
  for(use: 'revisions' | 'sync tokens' | 'leases'): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#key, '', use, KEY_BYTES))
  }
}
