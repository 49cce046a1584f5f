/**
 * The keys of an encrypted database as one handle knows them: the newest keyring that it saw, the master key, the data
 * keys.
 *
 * The master key is wrapped in each key slot and wraps the data keys. A data key gives one key for each kind of record.
 * So a new password wraps only 32 bytes again, and a new data key needs no password.
 */
import { PannierError } from '../../base/errors.ts'
import { isPromise, type MaybePromise } from '../../base/async.ts'
import { sameBytes } from '../../codec/bytes.ts'
import {
  associatedData,
  damagedRecord,
  ID_BYTES,
  keyIdOf,
  KIND_DATA_KEY,
  KIND_KEYRING,
  KIND_LOG,
  KIND_META,
  KIND_PAGE,
  openRecord,
  sealRecord,
  tampered,
  type RecordPlace,
} from './envelope.ts'
import {
  decodeKeyring,
  encodeKeyring,
  finishKeyring,
  SEAL_BYTES,
  type Keyring,
  type StoredKeyring,
  type WrappedKey,
} from './keyring.ts'
import { KEY_BYTES, NONCE_BYTES, type Aead, type CryptoPlatform } from './platform.ts'
import { makeSlot, openSlots, wrongKey, type Credential } from './slots.ts'

/** Kinds of records that have a key of their own, with their names for HKDF. */
const SUBKEYS: readonly (readonly [number, string])[] = [
  [KIND_PAGE, 'pannier page'],
  [KIND_LOG, 'pannier log'],
  [KIND_META, 'pannier meta'],
]

interface DataKey extends WrappedKey {
  readonly subkeys: ReadonlyMap<number, Aead>
}

interface Opened {
  readonly bytes: Uint8Array
  readonly keyring: Keyring
  readonly isWhole: boolean
  readonly keys: ReadonlyMap<number, DataKey>
  readonly active: DataKey
}

export class Vault {
  readonly platform: CryptoPlatform
  readonly #credential: Credential
  readonly #makesNew: boolean
  #masterKey: Uint8Array | undefined
  #opened: Opened | undefined
  #opening: { readonly bytes: Uint8Array; readonly done: Promise<Keyring> } | undefined

  /**
   * `makesNew`: the credential may create a new database. By default a recovery key may not: it is for an existing one.
   */
  constructor(platform: CryptoPlatform, credential: Credential, makesNew: boolean = !('recoveryKey' in credential)) {
    this.platform = platform
    this.#credential = credential
    this.#makesNew = makesNew
  }

  get isOpen(): boolean {
    return this.#opened !== undefined
  }

  /** As stored. */
  get keyringBytes(): Uint8Array {
    return this.#known().bytes
  }

  get keyring(): Keyring {
    return this.#known().keyring
  }

  /** False: the keyring is to be put again before anything else is written (keyring.ts). */
  get isWhole(): boolean {
    return this.#known().isWhole
  }

  get active(): WrappedKey {
    return this.#known().active
  }

  /** The keyring of a new database. It is not adopted before it was put. */
  async create(): Promise<Uint8Array> {
    const { platform } = this
    if (!this.#makesNew) {
      const message = 'There is no such database, and none is made of a recovery key: give a password or a key.'
      throw new PannierError('PANNIER_NOT_FOUND', message)
    }
    const database = platform.random(ID_BYTES)
    const masterKey = platform.random(KEY_BYTES)
    const slots = [await makeSlot(platform, database, masterKey, this.#credential, { label: '' })]
    const keys = [await this.#wrapKey(database, masterKey, { id: 1, firstSequence: 0, firstPage: 0 })]
    return this.#seal(masterKey, { database, revision: 1, generation: 0, sequence: 0, slots, keys })
  }

  /**
   * Takes over a keyring that was read. The first time the credential has to open it: PANNIER_KEY_WRONG. Later it has to be sealed
   * by the same master key. Gives what it says.
   */
  adopt(bytes: Uint8Array): MaybePromise<Keyring> {
    if (sameBytes(this.#opened?.bytes, bytes)) return this.#opened!.keyring
    if (sameBytes(this.#opening?.bytes, bytes)) return this.#opening!.done
    const done = this.#adopt(bytes).finally(() => {
      if (this.#opening?.done === done) this.#opening = undefined
    })
    this.#opening = { bytes, done }
    return done
  }

  /** The keyring with changes, sealed; its revision is the next one. */
  changed(change: Partial<Keyring> & Pick<Keyring, 'generation' | 'sequence'>): Promise<Uint8Array> {
    const { keyring } = this.#known()
    return this.#seal(this.#masterKey!, { ...keyring, ...change, revision: keyring.revision + 1 })
  }

  newKey(firstSequence: number, firstPage: number): Promise<WrappedKey> {
    const { database, keys } = this.keyring
    const id = Math.max(...keys.map((key) => key.id)) + 1
    return this.#wrapKey(database, this.#masterKey!, { id, firstSequence, firstPage })
  }

  /** Wraps the master key for somebody else. */
  newSlot(credential: Credential, as: { readonly id?: string; readonly label: string }): ReturnType<typeof makeSlot> {
    return makeSlot(this.platform, this.keyring.database, this.#masterKey!, credential, as)
  }

  /** A key of the master key's, for one purpose. */
  async derive(salt: Uint8Array, info: string): Promise<Aead> {
    return this.platform.aead(await this.platform.hkdf(this.#masterKey!, salt, info))
  }

  newNonce(): Uint8Array {
    return this.random(NONCE_BYTES)
  }

  /** Never in advance: a process that is copied with its memory, and continues twice, would use it twice. */
  random(count: number): Uint8Array {
    return this.platform.random(count)
  }

  seal(place: RecordPlace, plain: Uint8Array, nonce: Uint8Array = this.newNonce()): MaybePromise<Uint8Array> {
    const { active, keyring } = this.#known()
    const key = { id: active.id, aead: active.subkeys.get(place.kind)! }
    return sealRecord(keyring.database, key, nonce, place, plain)
  }

  /** Whether the key that it was sealed with is known; what can't be a sealed record counts as known. */
  knowsKeyOf(bytes: Uint8Array): boolean {
    const id = keyIdOf(bytes)
    return id === undefined || this.#known().keys.has(id)
  }

  isCurrent(bytes: Uint8Array): boolean {
    return keyIdOf(bytes) === this.#known().active.id
  }

  /** Throws PANNIER_CORRUPT unless it was sealed for that place. */
  open(place: RecordPlace, bytes: Uint8Array): MaybePromise<Uint8Array> {
    const { keys, keyring } = this.#known()
    const key = keys.get(keyIdOf(bytes) ?? -1)
    if (key === undefined) throw damagedRecord(place)
    return openRecord(keyring.database, { id: key.id, aead: key.subkeys.get(place.kind)! }, place, bytes)
  }

  #known(): Opened {
    if (this.#opened === undefined) throw wrongKey()
    return this.#opened
  }

  async #adopt(bytes: Uint8Array): Promise<Keyring> {
    const stored = decodeKeyring(bytes)
    const { keyring } = stored
    const before = this.#opened
    if (before && !sameBytes(before.keyring.database, keyring.database))
      throw tampered('its keyring is that of another database')
    // Of a read that was on its way while a newer one came. One that was put back is noticed by what was written since.
    if (before && keyring.revision < before.keyring.revision) return keyring
    const masterKey = this.#masterKey ?? (await this.#unlock(keyring))
    await this.#checkSeal(masterKey, stored)
    const keys = new Map<number, DataKey>()
    for (const key of keyring.keys) {
      const known = before?.keys.get(key.id)
      keys.set(key.id, known ?? (await this.#dataKey(masterKey, keyring.database, key)))
    }
    // Meanwhile another read may have brought a newer one.
    if (this.#opened !== before && this.#opened!.keyring.revision >= keyring.revision) return keyring
    // A read that was on its way, while any number of keyrings came, may bring what was sealed with a key that has gone.
    for (const [id, key] of this.#opened?.keys ?? []) if (!keys.has(id)) keys.set(id, key)
    this.#masterKey = masterKey
    const active = keys.get(keyring.keys.at(-1)!.id)!
    this.#opened = { bytes: new Uint8Array(bytes), keyring, isWhole: stored.isWhole, keys, active }
    return keyring
  }

  async #unlock({ database, slots }: Keyring): Promise<Uint8Array> {
    const found = await openSlots(this.platform, database, slots, this.#credential)
    if (found === undefined) throw wrongKey()
    return found.masterKey
  }

  /** The label is the keyring's former name: another one would be another key. */
  async #keyringKey(masterKey: Uint8Array, database: Uint8Array): Promise<Aead> {
    return this.platform.aead(await this.platform.hkdf(masterKey, database, 'pannier header'))
  }

  async #seal(masterKey: Uint8Array, keyring: Keyring): Promise<Uint8Array> {
    const unsealed = encodeKeyring(keyring)
    const nonce = this.newNonce()
    const aead = await this.#keyringKey(masterKey, keyring.database)
    const seal = new Uint8Array(SEAL_BYTES)
    seal.set(nonce)
    seal.set(await aead.seal(nonce, sealOf(keyring.database, unsealed), new Uint8Array(0)), NONCE_BYTES)
    return finishKeyring(unsealed, seal, keyring.slots)
  }

  async #checkSeal(masterKey: Uint8Array, { keyring: { database }, sealed, seal }: StoredKeyring): Promise<void> {
    const aead = await this.#keyringKey(masterKey, database)
    const associated = sealOf(database, sealed)
    const isSound = await aead.open(seal.subarray(0, NONCE_BYTES), associated, seal.subarray(NONCE_BYTES))
    if (isSound === undefined) throw tampered('its keyring is not sealed by its master key')
  }

  async #wrapKey(database: Uint8Array, masterKey: Uint8Array, key: Omit<WrappedKey, 'wrapped'>): Promise<WrappedKey> {
    const aead = await this.platform.aead(await this.platform.hkdf(masterKey, database, 'pannier data keys'))
    const nonce = this.newNonce()
    const sealed = await aead.seal(nonce, wrappingOf(database, key.id), this.platform.random(KEY_BYTES))
    const wrapped = new Uint8Array(NONCE_BYTES + sealed.length)
    wrapped.set(nonce)
    wrapped.set(sealed, NONCE_BYTES)
    return { ...key, wrapped }
  }

  async #dataKey(masterKey: Uint8Array, database: Uint8Array, key: WrappedKey): Promise<DataKey> {
    const { platform } = this
    const aead = await platform.aead(await platform.hkdf(masterKey, database, 'pannier data keys'))
    const { wrapped } = key
    const nonce = wrapped.subarray(0, NONCE_BYTES)
    const plain = await aead.open(nonce, wrappingOf(database, key.id), wrapped.subarray(NONCE_BYTES))
    if (plain === undefined) throw tampered('a data key can not be unwrapped')
    const subkeys = new Map<number, Aead>()
    for (const [kind, info] of SUBKEYS)
      subkeys.set(kind, await platform.aead(await platform.hkdf(plain, database, info)))
    plain.fill(0)
    return { ...key, subkeys }
  }
}

function sealOf(database: Uint8Array, unsealed: Uint8Array): Uint8Array {
  return associatedData(database, 0, { kind: KIND_KEYRING, number: 0, more: unsealed })
}

function wrappingOf(database: Uint8Array, id: number): Uint8Array {
  return associatedData(database, id, { kind: KIND_DATA_KEY, number: 0 })
}

/** The values at once when none of them is promised. */
export function allOf<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return values.some((value) => isPromise(value)) ? Promise.all(values) : (values as readonly T[])
}
