/** The encryption of an open database: its passwords and keys. Loaded with the first encrypted database. */
import { cryptoPlatform } from '#crypto-platform'
import { PannierError } from '../../base/errors.ts'
import type { KeyValueStore } from '../../kv/key-value-store.ts'
import { checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import type { PagedKeyValueStore } from '../../kv/open.ts'
import type { SnapshotExport, SnapshotOptions } from '../../kv/write-snapshot.ts'
import {
  SLOTS_MAX,
  LABEL_CHARS_MAX,
  type Keyring,
  type KeySlot,
  type SlotKind,
  type SlotSecret,
} from '../../storage/encrypted/keyring.ts'
import { KEY_BYTES } from '../../storage/encrypted/platform.ts'
import { EncryptedStorage } from '../../storage/encrypted/encrypted-storage.ts'
import type { EncryptedPageStore } from '../../storage/encrypted/encrypted-page-store.ts'
import {
  formatRecoveryKey,
  checkCredential,
  checkPassword,
  openSlots,
  wrongKey,
  type Credential,
} from '../../storage/encrypted/slots.ts'
import { rotateKey } from '../../storage/encrypted/rotate.ts'
import { openSnapshot, sealSnapshot } from '../../storage/encrypted/sealed-snapshot.ts'
import { eitherSignal, retryWhenStale, type LongWork } from '../../base/long-work.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'
import type { DatabaseContext } from '../database-context.ts'
import { assertOutside } from '../collection/transaction-scope.ts'

/** A password or key that can open the database. */
export interface EncryptionSlot {
  /** Names the slot, for `deleteSlot`. */
  readonly id: string
  /** The kind of the slot: a password, a key or a recovery key. */
  readonly kind: SlotKind
  /** The label as given when it was added; not secret. */
  readonly label: string
}

/** The result of `encryption.info()`. */
export interface EncryptionInfo {
  /** Records that the key has sealed, at most. */
  readonly keyUses: number
  /** Time for `rotateKey`: the key was used 2^28 times. At 2^31 writes are refused. */
  readonly isRotationDue: boolean
  /** A rotation is running; an interrupted one continues by itself. */
  readonly isRotating: boolean
}

/** Options of a new password or key. */
export interface SlotOptions {
  /** A label for people, up to 100 characters. Anyone who can read the files can read it. */
  readonly label?: string
}

const SLOT_OPTIONS: OptionNames<SlotOptions> = { label: true }
/** Made and dropped by a commit that changes nothing. */
const FENCE_TREE = 'fence'
const ROTATE_OPTIONS: OptionNames<LongWork> = { signal: true, onProgress: true }
const ROTATION_DUE_USES: number = 2 ** 28

/** The work of `open` with `encryption`. */
interface Sealing {
  open(storage: DatabaseStorage, name: string): Promise<EncryptedPageStore>
  /** For a repair: see EncryptedPageStore. */
  openDamaged(storage: DatabaseStorage, name: string, problems: Set<string>): Promise<EncryptedPageStore>
  /** The parts that are different in an encrypted database. */
  parts(pages: EncryptedPageStore, store: PagedKeyValueStore): EncryptedParts
  unseal(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

interface EncryptedParts {
  encryption(context: DatabaseContext): Encryption
  exportSnapshot(options: SnapshotOptions): Promise<SnapshotExport>
}

/** `restores`: the database is made from another one; a recovery key of that one is enough. */
export function sealing(credential: Credential, restores: boolean): Sealing {
  checkCredential(credential, 'open()')
  const platform = cryptoPlatform()
  const sealedIn = (storage: DatabaseStorage): EncryptedStorage =>
    new EncryptedStorage(storage, platform, credential, restores || undefined)
  return {
    open: (storage, name) => sealedIn(storage).open(name),
    openDamaged: (storage, name, problems) => sealedIn(storage).openDamaged(name, problems),
    parts: (pages, store) => ({
      encryption: (context) => new Encryption(pages, store, context),
      async exportSnapshot({ sealed = true, ...work }) {
        const made = await store.exportSnapshot(work)
        return sealed ? { ...made, chunks: sealSnapshot(pages.vault, made.chunks) } : made
      },
    }),
    unseal: (source) => openSnapshot(platform, credential, source),
  }
}

/** The passwords and keys of an encrypted database. */
export class Encryption {
  readonly #pages: EncryptedPageStore
  readonly #store: PagedKeyValueStore
  readonly #context: DatabaseContext
  #rotation: Promise<void> | undefined

  /** @internal Use `open`. */
  constructor(pages: EncryptedPageStore, store: PagedKeyValueStore, context: DatabaseContext) {
    this.#pages = pages
    this.#store = store
    this.#context = context
    // A failure shows itself to the next one who asks for it.
    if (pages.vault.keyring.keys.length > 1) this.rotateKey().catch(() => {})
  }

  /**
   * Everybody who can open the database.
   *
   * @example
   * for (const { id, kind, label } of await db.encryption!.slots()) console.log(id, kind, label)
   */
  async slots(): Promise<EncryptionSlot[]> {
    await this.#pages.read()
    return this.#pages.vault.keyring.slots.map(describe)
  }

  /**
   * Lets another password open the database too.
   *
   * @example
   * await db.encryption!.addPassword('another password', { label: 'phone' })
   */
  async addPassword(password: string, options: SlotOptions = {}): Promise<EncryptionSlot> {
    checkPassword(password, 'addPassword()')
    return this.#addSlot({ password }, options, 'addPassword()')
  }

  /**
   * Lets a key that a device or an account keeps open the database: AES-GCM with 256 bits; it need not be extractable.
   *
   * @example
   * const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
   * await db.encryption!.addKey(key, { label: 'this device' })
   */
  async addKey(key: CryptoKey, options: SlotOptions = {}): Promise<EncryptionSlot> {
    checkCredential({ key }, 'addKey()')
    return this.#addSlot({ key }, options, 'addKey()')
  }

  /**
   * Makes a random key that opens the database, as text for a safe place. It is shown only now.
   *
   * @example
   * show(await db.encryption!.makeRecoveryKey())
   */
  async makeRecoveryKey(options: SlotOptions = {}): Promise<string> {
    const recoveryKey = formatRecoveryKey(this.#pages.vault.platform.random(KEY_BYTES))
    await this.#addSlot({ recoveryKey }, options, 'makeRecoveryKey()')
    return recoveryKey
  }

  /**
   * Deletes a slot: its password or key no longer opens the database; false if the slot does not exist. The last one must stay:
   * PANNIER_LIMIT_EXCEEDED. Anyone who has opened the database may have kept its keys: see `rotateKey`.
   *
   * @example
   * const { id } = await db.encryption!.addPassword('for a day')
   * await db.encryption!.deleteSlot(id)
   */
  async deleteSlot(id: string): Promise<boolean> {
    let removed = false
    await this.#changeSlots(async ({ slots }) => {
      const left = slots.filter((slot) => slot.id !== id)
      removed = left.length < slots.length
      if (left.length === 0)
        throw new PannierError(
          'PANNIER_LIMIT_EXCEEDED',
          'The last password or key must stay: nobody could open the database.',
        )
      return removed ? left : undefined
    })
    return removed
  }

  /**
   * As `db.changePassword`.
   *
   * @example
   * await db.encryption!.changePassword('old password', 'new password')
   */
  async changePassword(oldPassword: string, newPassword: string): Promise<void> {
    checkPassword(oldPassword, 'changePassword()')
    checkPassword(newPassword, 'changePassword()')
    const { vault } = this.#pages
    await this.#changeSlots(async ({ database, slots }) => {
      const found = await openSlots(vault.platform, database, slots, { password: oldPassword })
      if (found === undefined) throw wrongKey()
      const { slot } = found
      const derivation = (slot.secret as SlotSecret).derivation!.name
      const replacement = await vault.newSlot({ password: newPassword, derivation }, slot)
      return slots.map((other) => (other.id === slot.id ? replacement : other))
    })
  }

  /**
   * Changes the key that seals pages and log. New writes use a new key at once. Then everything stored is sealed again
   * in the background, while reads and writes continue. An interrupted rotation continues when the database is opened
   * again.
   *
   * @throws PANNIER_ABORTED, PANNIER_CLOSED, PANNIER_CORRUPT, PANNIER_QUOTA_EXCEEDED
   * @example
   * await db.encryption!.rotateKey({ onProgress: (done) => show(done) })
   */
  async rotateKey(options: LongWork = {}): Promise<void> {
    checkOptions('rotateKey()', options, ROTATE_OPTIONS)
    assertOutside(this.#context, 'rotateKey()', 'Call it before or after.')
    const { signal, onProgress } = options
    if (this.#rotation !== undefined) return this.#rotation
    const { environment, closing, pending } = this.#context
    const rotation = rotateKey(this.#pages, {
      fence: () => fence(this.#store),
      environment,
      signal: eitherSignal(closing, signal),
      onProgress,
    }).finally(() => {
      this.#rotation = undefined
      pending.delete(rotation)
    })
    this.#rotation = rotation
    // Closing waits for the slice under way.
    pending.add(rotation)
    return rotation
  }

  /**
   * How often the key was used, and whether it should be rotated.
   *
   * @example
   * const { isRotationDue } = await db.encryption!.info()
   */
  async info(): Promise<EncryptionInfo> {
    const pages = this.#pages
    await pages.read()
    const { active, keyring } = pages.vault
    const pageIds = await pages.listPages()
    // Pages that were there when the key came were sealed with it later, once each.
    const keyUses = Math.max(pages.sequence - active.firstSequence, pageIds.at(-1) ?? 0)
    return { keyUses, isRotationDue: keyUses >= ROTATION_DUE_USES, isRotating: keyring.keys.length > 1 }
  }

  async #addSlot(credential: Credential, options: SlotOptions, call: string): Promise<EncryptionSlot> {
    checkOptions(call, options, SLOT_OPTIONS)
    const { label = '' } = options
    if (typeof label !== 'string' || label.length > LABEL_CHARS_MAX)
      throw badArgument(call, `label must be a string of up to ${LABEL_CHARS_MAX} characters`, label)
    let added: KeySlot | undefined
    await this.#changeSlots(async ({ slots }) => {
      if (slots.length >= SLOTS_MAX)
        throw new PannierError('PANNIER_LIMIT_EXCEEDED', `A database has at most ${SLOTS_MAX} passwords and keys.`)
      added = await this.#pages.vault.newSlot(credential, { label })
      return [...slots, added]
    })
    return describe(added!)
  }

  async #changeSlots(change: (keyring: Keyring) => Promise<readonly KeySlot[] | undefined>): Promise<void> {
    assertOutside(this.#context, 'A change of passwords and keys', 'Make it before or after.')
    const { vault } = this.#pages
    await this.#pages.changeKeyring(async () => {
      const slots = await change(vault.keyring)
      return slots && { slots }
    })
    // From now on the keyring before can't be put back unnoticed. Should it fail, the next write does the same.
    await fence(this.#store).catch(() => {})
  }
}

function describe({ id, kind, label }: KeySlot): EncryptionSlot {
  return { id, kind, label }
}

/**
 * A commit that changes nothing, then a storage checkpoint. A handle that has not seen what is stored by now must read before
 * it can append, commit or stage pages, even if it was frozen. All that was in the log before is in pages, and what was
 * staged and not committed is gone.
 *
 * Relies on: a transaction that is held begins when no storage checkpoint runs, so the one here begins after it.
 */
export function fence(store: KeyValueStore): Promise<void> {
  return retryWhenStale(async () => {
    await commitNothing(store)
    await store.checkpoint()
  })
}

async function commitNothing(store: KeyValueStore): Promise<void> {
  const held = await store.begin()
  try {
    held.createTree(FENCE_TREE, 'inline')
    held.dropTree(FENCE_TREE)
    await held.commit()
  } finally {
    held.rollback()
  }
}
