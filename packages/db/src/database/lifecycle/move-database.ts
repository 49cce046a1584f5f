/**
 * Moves a database from one storage to another. Loaded on first use.
 *
 * One handle moves at a time (the location lock), and nobody writes meanwhile: the handle keeps the lease. Others wait,
 * and are closed when the source is destroyed.
 *
 * Guarantees: the source is destroyed only after it was copied up to its last commit. A failed move leaves only the
 * unchanged source. An interrupted move may leave a complete copy beside the source, at its very end or if the source
 * could not be destroyed. The copy's id names its source. So the next move replaces the copy, if nobody has written to
 * it and the source is sound.
 */
import type { CheckReport } from '../check/check-database.ts'
import { retryWhenStale, RunningWork, type LongWork } from '../../base/long-work.ts'
import { badArgument, checkOptions, type OptionNames } from '../../base/options.ts'
import type { Environment } from '../../base/environment.ts'
import { isPannierError, PannierError } from '../../base/errors.ts'
import type { KeyValueStore } from '../../kv/key-value-store.ts'
import type { PagedKeyValueStore } from '../../kv/open.ts'
import { holdsDatabase } from '../../kv/restore-snapshot.ts'
import type { Credential } from '../../storage/encrypted/slots.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'
import { coordinatorFor, withLocationLock } from '../coordination/coordinator.ts'
import { assertSound, copyId, isCopyOf, openWith, stateIn } from './moved-copy.ts'
import { restore } from './restore.ts'
import { isChoice } from './storage-choice.ts'

/** Options of `db.moveTo`. */
export interface MoveOptions extends LongWork {
  /**
   * The password or key that opens the new database. It must also open the old one if that is encrypted; other passwords and keys are not
   * moved. A plain database becomes encrypted.
   */
  readonly encryption?: Credential
}

/** Where the database is now. */
export interface MoveSource {
  readonly name: string
  readonly storage: DatabaseStorage
  readonly store: KeyValueStore
  readonly handOver: PagedKeyValueStore['handOver']
  readonly environment: Environment
}

/** The part of the database's handle that a move needs. */
interface Mover {
  readonly encryption: object | undefined
  check(): Promise<CheckReport>
  close(): Promise<void>
}

const MOVE_OPTIONS: OptionNames<MoveOptions> = { encryption: true, signal: true, onProgress: true }

export async function moveDatabase(
  database: Mover,
  source: MoveSource,
  target: DatabaseStorage,
  options: MoveOptions,
): Promise<void> {
  checkOptions('moveTo()', options, MOVE_OPTIONS)
  if (typeof target?.identify !== 'function' || isChoice(target))
    throw badArgument('moveTo()', 'storage must be one storage like opfs()', target)
  const { name, storage, environment } = source
  if (target.identify(name) === storage.identify(name))
    throw badArgument('moveTo()', 'storage must be another one than the database is in', target.kind)
  const { encryption, signal, onProgress } = options
  const work = new RunningWork({ name: 'The move', environment, signal, onProgress })
  work.throwIfCancelled()
  if (database.encryption) {
    if (!encryption) {
      const message =
        'The database is encrypted: to be moved it needs a password or key again, as the option `encryption`.'
      throw new PannierError('PANNIER_ENCRYPTED', message)
    }
    await stateIn(storage, name, encryption)
  }
  const move = new Move(database, source, target, options, work)
  try {
    await withLocationLock({ name, storages: [storage, target], environment, signal }, () => move.run())
  } catch (error) {
    if (!isPannierError(error, 'PANNIER_CLOSED')) throw error
    const message = 'The database is not here any more: another handle has moved or destroyed it. Open it again.'
    throw new PannierError('PANNIER_CLOSED', message, { cause: error })
  }
  await database.close()
  work.complete()
}

class Move {
  readonly #database: Mover
  readonly #source: MoveSource
  readonly #target: DatabaseStorage
  readonly #options: MoveOptions
  readonly #work: RunningWork

  constructor(database: Mover, source: MoveSource, target: DatabaseStorage, options: MoveOptions, work: RunningWork) {
    this.#database = database
    this.#source = source
    this.#target = target
    this.#options = options
    this.#work = work
  }

  run(): Promise<void> {
    const refresh = (): Promise<void> => this.#source.store.refresh()
    return retryWhenStale(async () => {
      // Fails if another handle has moved it: then what is at the target is no copy any more.
      await refresh()
      if (await this.#hasCopy()) await assertSound(this.#database)
      await this.#source.handOver({ signal: this.#options.signal }, async (chunks, isNewest) => {
        await this.#discardCopy()
        try {
          await this.#copy(chunks, isNewest)
        } catch (error) {
          if (error instanceof NotDestroyed) throw error.cause
          await this.#discardCopy().catch(() => {})
          throw error
        }
      })
    }, refresh)
  }

  /** Copies the source and deletes it. */
  async #copy(chunks: AsyncIterable<Uint8Array>, isNewest: () => Promise<boolean>): Promise<void> {
    const { name, storage, store, environment } = this.#source
    const { encryption, signal } = this.#options
    const onProgress = (done: number): void => this.#work.report(done)
    const copy = await openWith(this.#target, name, encryption)
    const coordinator = coordinatorFor(this.#target, name, environment)
    try {
      const parts = { name, storage: this.#target, store: copy, coordinator, environment }
      const databaseId = copyId(store.databaseId)
      await restore(chunks, { ...parts, durability: 'strict', databaseId, signal, onProgress })
      this.#work.throwIfCancelled()
      // Nothing that takes long may come between these looks and the end of the source: a tab that is frozen loses the lease.
      if (!(await isNewest()) || !isCopyOf(await copy.read(), store.databaseId))
        throw new PannierError('PANNIER_STALE', 'Another handle wrote to the database while it was moved.')
      await this.#destroySource(storage, name)
    } finally {
      coordinator.close()
      await copy.close()
    }
  }

  /** A failure may have deleted it all the same. */
  async #destroySource(storage: DatabaseStorage, name: string): Promise<void> {
    try {
      await storage.destroy(name)
    } catch (error) {
      if (await isThere(storage, name)) throw new NotDestroyed('', { cause: error })
    }
  }

  /** Holds the lease of the source, which nobody has once that is gone. */
  async #discardCopy(): Promise<void> {
    if (await this.#hasCopy()) await this.#target.destroy(this.#source.name)
  }

  async #hasCopy(): Promise<boolean> {
    const { name, store } = this.#source
    return isCopyOf(await stateIn(this.#target, name, this.#options.encryption), store.databaseId)
  }
}

/** From here on the copy stays, whatever happens: it is not known what is left of the source. */
class NotDestroyed extends Error {}

/** The caller holds the lease there. */
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
