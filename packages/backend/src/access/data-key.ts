/** A secret that belongs to the data: what is made with it can be made and checked only where the data are, or were restored. */
import { hkdfSync } from 'node:crypto'
import { isPannierError, type Database } from 'pannier'
import type { Chance } from '../gateway/chance.ts'

interface StoredKey {
  readonly _id: string
  /** A key of 32 bytes, in base64. */
  readonly key: string
}

/** The collection of the key: no CouchDB database can have this name. */
const KEY_COLLECTION = '$key'
const KEY_ID = 'key'
const KEY_BYTES = 32

export class DataKey {
  readonly #key: Uint8Array

  /** `key`: 32 bytes. */
  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** The key of a database, which gets one if it has none. */
  static async open(database: Database, chance: Chance): Promise<DataKey> {
    const stored = database.collection<StoredKey>(KEY_COLLECTION)
    if ((await stored.get(KEY_ID)) === undefined) {
      const key = Buffer.from(chance.randomBytes(KEY_BYTES)).toString('base64')
      await stored.insert({ _id: KEY_ID, key }).catch((error: unknown) => {
        // Another server was first.
        if (!isPannierError(error, 'PANNIER_CONFLICT')) throw error
      })
    }
    return new DataKey(Buffer.from((await stored.get(KEY_ID))!.key, 'base64'))
  }

  /** A key of its own for each use: 32 bytes (HKDF, RFC 5869). */
  for(use: 'revisions' | 'sync tokens' | 'leases'): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#key, '', use, KEY_BYTES))
  }
}
