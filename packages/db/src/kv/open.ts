/** Opens the storage engine over a page store. */
import type { Generation } from '../base/brand.ts'
import type { PannierError } from '../base/errors.ts'
import type { RunningWork } from '../base/long-work.ts'
import type { MaybePromise } from '../base/async.ts'
import { loadedModule } from '../base/lazy-module.ts'
import { Core, joinRealm, type CoreOptions } from './core.ts'
import type {
  CommitNotice,
  HeldSnapshot,
  HeldTransaction,
  KeyValueStore,
  Snapshot,
  WriteTransaction,
} from './key-value-store.ts'
import { HeldStateSnapshot } from './snapshot.ts'
import type { PageStore } from '../storage/page-store.ts'
import type { SnapshotExport, SnapshotOptions, TakeOver } from './write-snapshot.ts'
import { Writer } from './writer.ts'

interface KeyValueStoreOptions extends Omit<CoreOptions, 'store'> {
  /** The store, which may still be on its way. */
  readonly store: MaybePromise<PageStore>
}

/** Reads the meta page and the log, and nothing else. */
export async function openKeyValueStore(options: KeyValueStoreOptions): Promise<PagedKeyValueStore> {
  // Until the newest generation is known and pinned, no page of any may go.
  const [store] = await Promise.all([options.store, options.coordinator.pin(0 as Generation)])
  const core = new Core({ ...options, store })
  store.onGone?.((why) => core.noticeLoss(why))
  core.adopt(await store.read())
  await core.pinNow()
  return new PagedKeyValueStore(core)
}

/** The storage engine on pages. */
export class PagedKeyValueStore implements KeyValueStore {
  readonly #core: Core
  readonly #leaveRealm: () => void
  readonly #writer: Writer
  #closing: Promise<void> | undefined

  constructor(core: Core) {
    this.#core = core
    const { realm } = core.options.coordinator
    this.#leaveRealm = realm === undefined ? () => {} : joinRealm(realm, core)
    this.#writer = new Writer(core)
  }

  get databaseId(): string {
    return this.#core.state.databaseId
  }

  /** PANNIER_CORRUPT: the log can't be replayed to its end, and nothing can be written. */
  get damage(): PannierError | undefined {
    return this.#core.damage
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    return this.#core.read(read)
  }

  snapshot(): HeldSnapshot {
    this.#core.assertOpen()
    const { state, cache, options } = this.#core
    const release = this.#core.hold(state.generation)
    return new HeldStateSnapshot(state, cache, options.store, release, () => this.#core.assertFound())
  }

  write<T>(write: (transaction: WriteTransaction) => T): Promise<T> {
    return this.#writer.write(write)
  }

  begin(name?: () => string): Promise<HeldTransaction> {
    this.#core.assertWritable()
    return this.#writer.begin(name)
  }

  onCommit(listener: (notice: CommitNotice) => void): () => void {
    return this.#core.onCommit(listener)
  }

  /** Calls `listener` once, if the database is gone, or was put back to an earlier state than this handle has seen. It is of no use then. */
  onLost(listener: (error: PannierError) => void): void {
    this.#core.onLost = listener
  }

  refresh(): Promise<void> {
    return this.#writer.refresh()
  }

  async checkpoint(): Promise<void> {
    this.#core.assertWritable()
    return this.#writer.checkpoint()
  }

  /** Throws PANNIER_CORRUPT for the first thing that is wrong with the pages, the trees or the reclaim list. */
  check(work?: RunningWork): Promise<void> {
    return this.#writer.withoutCheckpoint(async () => {
      const { checkStore } = await loadedModule(import('./check.ts'))
      return checkStore(this.#core, work)
    })
  }

  /**
   * The newest state as a snapshot file: every write that began before this call, and no later one. Its pages are held
   * until `release` is called. For a damaged database it holds what can be read.
   */
  async exportSnapshot(options: SnapshotOptions): Promise<SnapshotExport> {
    if (this.#core.damage !== undefined) {
      const { snapshotOfDamaged } = await loadedModule(import('./damaged-snapshot.ts'))
      return snapshotOfDamaged(this.#core, options)
    }
    return this.#writer.afterCheckpoint(async () => {
      const { writeSnapshot } = await loadedModule(import('./write-snapshot.ts'))
      const { state, options: parts } = this.#core
      return { chunks: writeSnapshot(state, parts, options), release: this.#core.hold(state.generation) }
    })
  }

  /**
   * Runs `work` with the newest state as a snapshot file, and lets nobody write meanwhile. A tab that is frozen loses the lease, so `isNewest`
   * looks whether another handle has written all the same.
   */
  async handOver<T>(options: SnapshotOptions, work: TakeOver<T>): Promise<T> {
    this.#core.assertWritable()
    return this.#writer.afterCheckpoint(async () => {
      const { handOver } = await loadedModule(import('./write-snapshot.ts'))
      return handOver(this.#core, options, work)
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#core.closed = true
    await this.#writer.close()
    this.#leaveRealm()
    this.#core.options.coordinator.close()
    await this.#core.options.store.close()
  }
}
