/**
 * Moves a database from one storage to another. Loaded when it is asked for.
 *
 * Guarantees: what is deleted at the end has been copied to its last commit, and the copy is there: it is looked at in the source's turn
 * at writing, without which no copy is taken away either. A move that fails leaves the source as it is and nothing else. Cut off, it may
 * leave a complete copy beside the source (in its last moment, or where the source could not be deleted); the copy's id tells whose it is,
 * so that the next move replaces it, if nobody has written to it since and the source is sound. Of several handles that move it at once one
 * does, and the others find it moved.
 */
import type { CheckReport } from '../check/check-database.ts'
import { throwIfCancelled, type LongWork } from '../../base/long-work.ts'
import { checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import type { CommitSequence } from '../../base/brand.ts'
import type { Environment } from '../../base/environment.ts'
import { isPannierError, PannierError } from '../../base/errors.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { Hash128, HASH_BYTES } from '../../codec/hash128.ts'
import type { HeldTransaction, KeyValueStore } from '../../kv/key-value-store.ts'
import { decodeMeta } from '../../kv/meta-body.ts'
import { holdsDatabase, isUntouchedCopy } from '../../kv/restore-snapshot.ts'
import type { SnapshotOptions } from '../../kv/write-snapshot.ts'
import type { Credential } from '../../storage/encrypted/slots.ts'
import type { PageStore, DatabaseStorage, StoreState } from '../../storage/page-store.ts'
import type { Sealing } from '../encryption/encryption.ts'
import { coordinatorFor } from '../coordination/coordinator.ts'
import { inPlaceTurn } from './place-turn.ts'
import { restore } from './restore.ts'

/** Options of `db.moveTo`. */
export interface MoveOptions extends LongWork {
  /**
   * What opens the new database. It must also open the old one if that is encrypted; other passwords and keys are not
   * moved. A plain database becomes encrypted.
   */
  readonly encryption?: Credential
}

/** Where the database is now. */
interface MoveSource {
  readonly name: string
  readonly storage: DatabaseStorage
  readonly store: KeyValueStore
  readonly environment: Environment
}

/** What of the database's handle it takes. */
interface Mover {
  readonly encryption: object | undefined
  snapshot(options: SnapshotOptions): ReadableStream<Uint8Array>
  check(): Promise<CheckReport>
  close(): Promise<void>
}

const MOVE_OPTIONS: OptionNames<MoveOptions> = { encryption: true, signal: true, onProgress: true }

/** A database that another handle writes to while it is copied is copied again, this often at most. */
const ATTEMPTS_MAX = 10

export async function moveDatabase(
  database: Mover,
  source: MoveSource,
  target: DatabaseStorage,
  work: MoveOptions,
): Promise<void> {
  checkOptions('moveTo()', work, MOVE_OPTIONS)
  if (typeof target?.identify !== 'function')
    throw badArgument('moveTo()', 'target must be a storage like opfs()', target)
  const { name, storage } = source
  if (target.identify(name) === storage.identify(name))
    throw badArgument('moveTo()', 'target must be another storage than the present one', target.identify(name))
  if (database.encryption && !work.encryption) {
    const message =
      'The database is encrypted: to be moved it needs a password or key again, as the option `encryption`.'
    throw new PannierError('PANNIER_ENCRYPTED', message)
  }
  const move = new Move(database, source, target, work, await sealingOf(work))
  const { environment } = source
  await inPlaceTurn({ name, storages: [storage, target], environment, signal: work.signal }, async () => {
    try {
      await move.run()
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CLOSED') || !(await move.isDoneByAnother())) throw error
    }
  })
  await database.close()
}

/**
 * Deletes what a move that was cut off has left at the target, if the database is sound. False if there is no copy of it. The caller has its
 * turn (place-turn.ts).
 *
 * @throws PANNIER_CORRUPT
 */
export async function discardCopy(
  database: Mover,
  source: MoveSource,
  target: DatabaseStorage,
  work: MoveOptions,
): Promise<boolean> {
  return new Move(database, source, target, work, await sealingOf(work)).discardEarlierCopy()
}

async function sealingOf({ encryption }: MoveOptions): Promise<Sealing | undefined> {
  return encryption && (await loadedModule(import('../encryption/encryption.ts'))).sealing(encryption, true)
}

class Move {
  readonly #database: Mover
  readonly #source: MoveSource
  readonly #target: DatabaseStorage
  readonly #work: MoveOptions
  readonly #sealing: Sealing | undefined

  constructor(
    database: Mover,
    source: MoveSource,
    target: DatabaseStorage,
    work: MoveOptions,
    sealing: Sealing | undefined,
  ) {
    this.#database = database
    this.#source = source
    this.#target = target
    this.#work = work
    this.#sealing = sealing
  }

  async run(): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) if (await this.#attempt()) return
    const message = `Others wrote to the database whenever it was copied, ${ATTEMPTS_MAX} times.`
    throw new PannierError('PANNIER_LIMIT', message)
  }

  /** After a failure that says that the source is closed. */
  async isDoneByAnother(): Promise<boolean> {
    const { storage, name, environment } = this.#source
    const moved = await this.#stateOfTarget()
    if (moved === undefined || decodeMeta(moved.meta!).databaseId !== copyId(this.#source)) return false
    // To look is to make an empty one, in which nobody may write before it goes.
    const coordinator = await coordinatorFor(storage, name, environment)
    try {
      await coordinator.acquireWriter()
      return !(await isThere(storage, name))
    } finally {
      coordinator.close()
    }
  }

  async discardEarlierCopy(): Promise<boolean> {
    if (!(await this.#hasCopy())) return false
    // It may be all that there is.
    const [problem] = (await this.#database.check()).problems
    if (problem !== undefined)
      throw new PannierError(
        'PANNIER_CORRUPT',
        `The database is damaged, and a move has left a copy: ${problem.message}`,
      )
    await this.#discardCopy()
    return true
  }

  /** False if somebody wrote meanwhile, or took the copy away. */
  async #attempt(): Promise<boolean> {
    const copied = await this.#inTurn(async (turn) => turn.sequence)
    await this.discardEarlierCopy()
    try {
      if (await this.#replace(copied)) return true
    } catch (error) {
      if (error instanceof NotDestroyed) throw error.cause
      await this.#discardCopy().catch(() => {})
      throw error
    }
    await this.#discardCopy()
    return false
  }

  /** Copies and deletes the source; false, and nothing is deleted, if it is no longer as of `copied`, or the copy is gone. */
  async #replace(copied: CommitSequence): Promise<boolean> {
    const copy = await this.#openTarget()
    try {
      await this.#fill(copy)
      return await this.#inTurn(async ({ sequence }) => {
        throwIfCancelled(this.#work.signal, 'The move')
        // Nothing that takes long may come between the look at both and the end of the source: a frozen tab loses its turn.
        if (sequence !== copied || !this.#isCopy(await copy.read())) return false
        await this.#destroySource()
        return true
      })
    } finally {
      await copy.close()
    }
  }

  /** Nobody else writes, moves the database or takes its copy away meanwhile. Fails if the source is gone. */
  async #inTurn<T>(work: (turn: HeldTransaction) => Promise<T>): Promise<T> {
    const { store } = this.#source
    // A handle that was frozen may have lost its turn, and not have heard it yet.
    await store.refresh()
    const turn = await store.begin()
    try {
      return await work(turn)
    } finally {
      turn.rollback()
    }
  }

  async #fill(store: PageStore): Promise<void> {
    const { name, environment } = this.#source
    const { signal, onProgress } = this.#work
    const snapshot = this.#database.snapshot({ signal })
    const coordinator = await coordinatorFor(this.#target, name, environment)
    try {
      await restore(snapshot, {
        name,
        storage: this.#target,
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
    }
  }

  async #discardCopy(): Promise<void> {
    await this.#inTurn(async () => {
      if (await this.#hasCopy()) await this.#target.destroy(this.#source.name)
    })
  }

  /** Whether there is a complete one of this database, in which nobody has written. */
  async #hasCopy(): Promise<boolean> {
    const found = await this.#stateOfTarget()
    return found !== undefined && this.#isCopy(found)
  }

  #isCopy(found: StoreState): boolean {
    return isUntouchedCopy(found) && decodeMeta(found.meta!).databaseId === copyId(this.#source)
  }

  /** Undefined where there is none, or an encrypted one that the key at hand does not open. */
  async #stateOfTarget(): Promise<StoreState | undefined> {
    // Opening an encrypted one where there is none makes one.
    const found = await stateOf(await this.#target.open(this.#source.name))
    if (found.meta === undefined || (found.header && !this.#sealing)) return undefined
    return stateOf(await this.#openTarget())
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

/** The caller has the turn at writing there. */
async function isThere(storage: DatabaseStorage, name: string): Promise<boolean> {
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
