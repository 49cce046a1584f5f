/** Opens the storage engine over a page store. */
import type { Generation } from '../base/brand.ts'
import { attempt } from '../base/miss.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import { loadedModule } from '../base/lazy-module.ts'
import { Core, type CoreOptions } from './core.ts'
import type {
  CommitNotice,
  HeldSnapshot,
  HeldTransaction,
  KeyValueStore,
  ReducerName,
  Snapshot,
  TreeKind,
  TreeWriter,
  WriteTransaction,
} from './key-value-store.ts'
import { HeldStateSnapshot } from './snapshot.ts'
import { Transaction } from './transaction.ts'
import type { SnapshotOptions } from './write-snapshot.ts'
import { Writer } from './writer.ts'

export type KeyValueStoreOptions = CoreOptions

/** A snapshot file in the making. */
export interface SnapshotExport {
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>
  /** Idempotent. */
  release(): void
}

/** Reads the meta page and the log, and nothing else. */
export async function openKeyValueStore(options: KeyValueStoreOptions): Promise<PagedKeyValueStore> {
  const core = new Core(options)
  // Until the newest generation is known and pinned, no page of any may go.
  await options.coordinator.pin(0 as Generation)
  core.adopt(await options.store.read())
  await core.pinNow()
  return new PagedKeyValueStore(core)
}

/** The storage engine on pages. */
export class PagedKeyValueStore implements KeyValueStore {
  readonly #core: Core
  readonly #writer: Writer
  #closing: Promise<void> | undefined

  constructor(core: Core) {
    this.#core = core
    this.#writer = new Writer(core)
  }

  /** 32 hex digits, the same in all handles from the first commit on. Before that the database does not exist. */
  get databaseId(): string {
    return this.#core.state.databaseId
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    return this.#core.read(read)
  }

  snapshot(): HeldSnapshot {
    this.#core.assertOpen()
    const { state, cache } = this.#core
    return new HeldStateSnapshot(state, cache, this.#core.hold(state.generation))
  }

  write<T>(write: (transaction: WriteTransaction) => T): Promise<T> {
    return this.#writer.write(write)
  }

  begin(): Promise<HeldTransaction> {
    return new Promise((resolve, reject) => {
      // A quiet turn: nothing may move the pages under a transaction that can't be run again.
      this.#writer
        .inQuietTurn(() => {
          const transaction = new HeldPagedTransaction(this.#core, this.#writer)
          resolve(transaction)
          return transaction.ended
        })
        .catch(reject)
    })
  }

  onCommit(listener: (notice: CommitNotice) => void): () => void {
    return this.#core.onCommit(listener)
  }

  refresh(): Promise<void> {
    return this.#writer.refresh()
  }

  checkpoint(): Promise<void> {
    return this.#writer.checkpoint()
  }

  /** Throws PANNIER_CORRUPT for the first thing that is wrong with the pages, the trees or the reclaim list. */
  check(): Promise<void> {
    return this.#writer.inQuietTurn(async () => {
      const { checkStore } = await loadedModule(import('./check.ts'))
      return checkStore(this.#core)
    })
  }

  /**
   * The newest state as a snapshot file: every write that was asked for before this call, and no later one. Its pages are
   * held until `release` is called.
   */
  exportSnapshot(options: SnapshotOptions): Promise<SnapshotExport> {
    return this.#writer.inPagesTurn(async () => {
      const { writeSnapshot } = await loadedModule(import('./write-snapshot.ts'))
      const { state, options: parts } = this.#core
      return { chunks: writeSnapshot(state, parts, options), release: this.#core.hold(state.generation) }
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#core.closed = true
    await this.#writer.close()
    this.#core.options.coordinator.close()
    await this.#core.options.store.close()
  }
}

class HeldPagedTransaction implements HeldTransaction {
  readonly ended: Promise<void>
  readonly #transaction: Transaction
  readonly #writer: Writer
  #end: () => void = () => {}
  readonly #release: () => void

  constructor(core: Core, writer: Writer) {
    this.#transaction = new Transaction(core.state, core.cache)
    this.#writer = writer
    this.#release = core.hold(core.state.generation)
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  get sequence(): Transaction['sequence'] {
    return this.#transaction.sequence
  }

  tree(name: string): TreeWriter | undefined {
    return this.#transaction.tree(name)
  }

  treeNames(prefix?: string): string[] {
    return this.#transaction.treeNames(prefix)
  }

  createTree(name: string, kind: TreeKind, reducer?: ReducerName): TreeWriter {
    return this.#transaction.createTree(name, kind, reducer)
  }

  dropTree(name: string): void {
    this.#transaction.dropTree(name)
  }

  /** A step that throws, or that has to be repeated, leaves nothing of that attempt behind. */
  attempt<T>(step: () => T): MaybePromise<T> {
    const savepoint = this.#transaction.savepoint()
    return attempt(() => {
      try {
        return step()
      } catch (thrown) {
        this.#transaction.rollbackTo(savepoint)
        throw thrown
      }
    })
  }

  async commit(): Promise<void> {
    try {
      await this.#writer.commit(this.#transaction)
    } finally {
      this.rollback()
    }
  }

  rollback(): void {
    this.#release()
    this.#end()
  }
}
