/**
 * Moves a database from one storage to another. Loaded when it is asked for.
 *
 * Guarantees: what is deleted at the end has been copied to its last commit: between the comparison and the end nobody else can write. A
 * move that fails leaves the source as it is and nothing else. Cut off, it may leave a complete copy beside the source (in its last moment,
 * or where the source could not be deleted); the copy's id tells whose it is, so that the next move replaces it, if nobody has
 * written to it since and the source is sound.
 */
import { throwIfAborted } from '../base/abort.ts'
import type { CommitSequence } from '../base/brand.ts'
import type { Environment } from '../base/environment.ts'
import { PannierError } from '../base/errors.ts'
import { loadedModule } from '../base/lazy-module.ts'
import { Hash128, HASH_BYTES } from '../codec/hash128.ts'
import type { KeyValueStore } from '../kv/key-value-store.ts'
import { decodeMeta } from '../kv/meta-body.ts'
import { holdsDatabase, isUntouchedCopy } from '../kv/restore-snapshot.ts'
import type { PageStore, Storage, StoreState } from '../storage/page-store.ts'
import type { Database } from './database.ts'
import type { Sealing } from './encryption/encryption.ts'
import type { MoveOptions } from './move-options.ts'
import { coordinatorFor } from './open.ts'
import { restore } from './restore.ts'

/** Where the database is now. */
export interface MoveSource {
  readonly name: string
  readonly storage: Storage
  readonly store: KeyValueStore
  readonly environment: Environment
}

type Mover = Pick<Database, 'snapshot' | 'check' | 'close' | 'encryption'>

/** So often another one may write while the database is copied; then it is copied anew. */
const ATTEMPTS_MAX = 10

export async function moveDatabase(
  database: Mover,
  source: MoveSource,
  target: Storage,
  work: MoveOptions,
): Promise<void> {
  const { name, storage } = source
  if (target.identify(name) === storage.identify(name)) throw new TypeError('that is where the database is')
  if (database.encryption && !work.encryption) {
    const message =
      'The database is encrypted: to be moved it needs a password or key again, as the option `encryption`.'
    throw new PannierError('PANNIER_ENCRYPTED', message)
  }
  const { encryption } = work
  const sealing = encryption && (await loadedModule(import('./encryption/encryption.ts'))).sealing(encryption)
  const move = new Move(database, source, target, work, sealing)
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) if (await move.attempt()) return database.close()
  throw new PannierError('PANNIER_LIMIT', `Others wrote to the database whenever it was copied, ${ATTEMPTS_MAX} times.`)
}

class Move {
  readonly #database: Mover
  readonly #source: MoveSource
  readonly #target: Storage
  readonly #work: MoveOptions
  readonly #sealing: Sealing | undefined

  constructor(database: Mover, source: MoveSource, target: Storage, work: MoveOptions, sealing: Sealing | undefined) {
    this.#database = database
    this.#source = source
    this.#target = target
    this.#work = work
    this.#sealing = sealing
  }

  /** False if somebody wrote meanwhile. */
  async attempt(): Promise<boolean> {
    const { store } = this.#source
    const copied = await sequenceAfterTurn(store)
    await this.#discardCopy(async () => {
      // It may be all that there is.
      const [problem] = await this.#database.check()
      if (problem !== undefined)
        throw new PannierError('PANNIER_CORRUPT', `The database is damaged, and a move has left a copy: ${problem}`)
    })
    try {
      await this.#copy()
      const turn = await store.begin()
      try {
        throwIfAborted(this.#work.signal, 'The move')
        if (turn.sequence === copied) {
          await this.#destroySource()
          return true
        }
      } finally {
        turn.rollback()
      }
    } catch (error) {
      if (error instanceof NotDestroyed) throw error.cause
      await this.#discardCopy().catch(() => {})
      throw error
    }
    await this.#discardCopy()
    return false
  }

  async #copy(): Promise<void> {
    const { name, environment } = this.#source
    const { signal, onProgress } = this.#work
    const target = this.#target
    const store = await this.#openTarget()
    const snapshot = this.#database.snapshot(this.#work)
    const coordinator = await coordinatorFor(target, name, environment)
    try {
      await restore(snapshot, {
        name,
        storage: target,
        store,
        coordinator,
        environment,
        durability: 'strict',
        databaseId: copyId(this.#source),
        unseal: this.#sealing?.unseal,
        ...(signal !== undefined && { signal }),
        ...(onProgress !== undefined && { onProgress }),
      })
    } finally {
      coordinator.close()
      await store.close()
    }
  }

  /** Only a copy of this database in which nobody has written. */
  async #discardCopy(check: () => Promise<void> = async () => {}): Promise<void> {
    const { name } = this.#source
    // Opening an encrypted one where there is none makes one.
    const found = await stateOf(await this.#target.open(name))
    if (!isUntouchedCopy(found) || (found.header && !this.#sealing)) return
    const { meta } = await stateOf(await this.#openTarget())
    if (decodeMeta(meta!).databaseId !== copyId(this.#source)) return
    await check()
    await this.#target.destroy(name)
  }

  #openTarget(): Promise<PageStore> {
    const { name } = this.#source
    return this.#sealing?.open(this.#target, name) ?? this.#target.open(name)
  }

  /** A failure may have deleted it all the same. */
  async #destroySource(): Promise<void> {
    const { storage, name } = this.#source
    try {
      await storage.destroy(name)
    } catch (error) {
      if (await isThere(storage, name)) throw new NotDestroyed('', { cause: error })
    }
  }
}

/** From here on the copy stays, whatever happens: it is not known what is left of the source. */
class NotDestroyed extends Error {}

async function isThere(storage: Storage, name: string): Promise<boolean> {
  try {
    const store = await storage.open(name)
    const isFound = await holdsDatabase(store)
    await store.close()
    if (!isFound) await storage.destroy(name)
    return isFound
  } catch {
    return true
  }
}

async function stateOf(store: PageStore): Promise<StoreState> {
  try {
    return await store.read()
  } finally {
    await store.close()
  }
}

/** Of this database's copy, and no other one's. */
function copyId({ store }: MoveSource): string {
  const hash = new Hash128()
  hash.reset()
  hash.update(new TextEncoder().encode(`moved ${store.databaseId}`))
  const digest = new Uint8Array(HASH_BYTES)
  hash.digest(digest, 0)
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** As of when everything that was asked for before is written. */
async function sequenceAfterTurn(store: KeyValueStore): Promise<CommitSequence> {
  const turn = await store.begin()
  turn.rollback()
  return turn.sequence
}
