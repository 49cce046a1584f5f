/** Opens the storage engine over a page store. */
import type { Generation } from '../base/brand.ts'
import type { PannierError } from '../base/errors.ts'
import { isPromise, type MaybePromise } from '../base/async.ts'
import { loadedModule, moduleOnDemand } from '../base/lazy-module.ts'
import { Core, type CoreOptions } from './core.ts'
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
import { joinRealm } from './realm.ts'
import type { SnapshotOptions } from './write-snapshot.ts'
import type { Writer } from './writer.ts'

export interface KeyValueStoreOptions extends Omit<CoreOptions, 'store'> {
  /** May still be on its way. */
  readonly store: MaybePromise<PageStore>
}

/** A snapshot file in the making. */
export interface SnapshotExport {
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>
  /** Idempotent. */
  release(): void
}

/** Whatever writes, and takes its turn for that. Opening and reading do without. */
const writing = moduleOnDemand(() => import('./writer.ts'))

/** Reads the meta page and the log, and nothing else. */
export async function openKeyValueStore(options: KeyValueStoreOptions): Promise<PagedKeyValueStore> {
  // Until the newest generation is known and pinned, no page of any may go.
  const [store] = await Promise.all([options.store, options.coordinator.pin(0 as Generation)])
  const core = new Core({ ...options, store })
  core.adopt(await store.read())
  await core.pinNow()
  return new PagedKeyValueStore(core)
}

/** The storage engine on pages. */
export class PagedKeyValueStore implements KeyValueStore {
  readonly #core: Core
  readonly #leaveRealm: () => void
  #writer: Writer | undefined
  #loading: Promise<void> | undefined
  #heard: Promise<unknown> | undefined
  /** What has to wait for the writer to be loaded. */
  #asked: Asked[] = []
  #closing: Promise<void> | undefined

  constructor(core: Core) {
    this.#core = core
    const { realm } = core.options.coordinator
    this.#leaveRealm = realm === undefined ? () => {} : joinRealm(realm, core)
    // Until there is a writer to hear of it.
    core.options.coordinator.onHint(() => {
      if (!core.closed) this.refresh().catch(() => {})
    })
    // So that it is there when it is needed; whether it can be loaded is the matter of those who need it.
    this.#load()
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
    return new HeldStateSnapshot(state, cache, options.store, this.#core.hold(state.generation))
  }

  write<T>(write: (transaction: WriteTransaction) => T): Promise<T> {
    this.#core.assertWritable()
    return this.#asWriter((writer) => writer.write(write))
  }

  begin(name?: () => string): Promise<HeldTransaction> {
    this.#core.assertWritable()
    return this.#asWriter((writer) => writer.begin(name))
  }

  onCommit(listener: (notice: CommitNotice) => void): () => void {
    return this.#core.onCommit(listener)
  }

  async refresh(): Promise<void> {
    return this.#asWriter((writer) => writer.refresh())
  }

  async checkpoint(): Promise<void> {
    this.#core.assertWritable()
    return this.#asWriter((writer) => writer.checkpoint())
  }

  /** Throws PANNIER_CORRUPT for the first thing that is wrong with the pages, the trees or the reclaim list. */
  check(): Promise<void> {
    return this.#asWriter((writer) =>
      writer.inQuietTurn(async () => {
        const { checkStore } = await loadedModule(import('./check.ts'))
        return checkStore(this.#core)
      }),
    )
  }

  /**
   * The newest state as a snapshot file: every write that was asked for before this call, and no later one. Its pages are
   * held until `release` is called. Of a damaged database it holds what can be read.
   */
  async exportSnapshot(options: SnapshotOptions): Promise<SnapshotExport> {
    if (this.#core.damage !== undefined) {
      const { snapshotOfDamaged } = await loadedModule(import('./damaged-snapshot.ts'))
      return snapshotOfDamaged(this.#core, options)
    }
    return this.#asWriter((writer) =>
      writer.inPagesTurn(async () => {
        const { writeSnapshot } = await loadedModule(import('./write-snapshot.ts'))
        const { state, options: parts } = this.#core
        return { chunks: writeSnapshot(state, parts, options), release: this.#core.hold(state.generation) }
      }),
    )
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#core.closed = true
    if (this.#asked.length > 0) await this.#loading
    await this.#writer?.close()
    this.#leaveRealm()
    this.#core.options.coordinator.close()
    await this.#core.options.store.close()
  }

  /** Whatever needs the writer; in the order in which it is asked for, also while the writer is being loaded. */
  #asWriter<T>(work: (writer: Writer) => Promise<T>): Promise<T> {
    this.#core.assertOpen()
    if (this.#writer !== undefined) return work(this.#writer)
    return new Promise<T>((resolve, reject) => {
      this.#asked.push({ start: (writer) => void work(writer).then(resolve, reject), reject })
      this.#load()
    })
  }

  #load(): void {
    const module = writing()
    if (!isPromise(module)) return this.#startAsked(module)
    // One that has failed is followed by another before all have heard of it: each is listened to.
    if (module === this.#heard) return
    this.#heard = module
    this.#loading = module.then(
      (loaded) => this.#startAsked(loaded),
      (error: unknown) => {
        for (const { reject } of this.#takeAsked()) reject(error)
      },
    )
  }

  /** The only writer is made once, also when a hint has asked for it before the constructor does. */
  #startAsked(module: { readonly Writer: new (core: Core) => Writer }): void {
    const core = this.#core
    const writer = (this.#writer ??= new module.Writer(core))
    // What was asked for before it was closed is finished.
    const { closed } = core
    core.closed = false
    for (const { start } of this.#takeAsked()) start(writer)
    core.closed = closed
  }

  #takeAsked(): Asked[] {
    const asked = this.#asked
    this.#asked = []
    return asked
  }
}

interface Asked {
  readonly start: (writer: Writer) => void
  readonly reject: (error: unknown) => void
}
