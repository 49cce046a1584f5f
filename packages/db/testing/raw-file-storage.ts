/** The file logic of storage/opfs/ over a simulated disk, as a storage: what its worker does, without the worker. */
import type { Generation, PageId } from '../src/base/brand.ts'
import { PannierError } from '../src/base/errors.ts'
import type { MaybePromise } from '../src/base/async.ts'
import { FileDatabase } from '../src/storage/opfs/file-database.ts'
import type {
  Commit,
  Durability,
  KnownState,
  LogRecord,
  Page,
  PageStore,
  SharingScope,
  DatabaseStorage,
  StoreState,
} from '../src/storage/page-store.ts'
import { seededRandom } from './random.ts'
import { GoneError, SimulatedDisk } from './simulated-disk.ts'
import type { Fault } from './simulated-page-store.ts'

let storagesMade = 0

export class RawFileStorage implements DatabaseStorage {
  readonly kind: string = 'raw files'
  readonly scope: SharingScope = 'process'
  readonly disk: SimulatedDisk
  /** Called when the process has gone, or the power: what waits for an answer waits for ever. */
  onGone: () => void = () => {}
  private readonly databases = new Map<string, FileDatabase>()
  private readonly number = ++storagesMade

  /** By default the disk draws from a stream that does not count: handles at the same time decide how much it draws. */
  constructor(disk: SimulatedDisk = new SimulatedDisk(seededRandom(1).fork())) {
    this.disk = disk
  }

  /** Here what counts, and fails, are the operations of the disk. */
  get calls(): number {
    return this.disk.operations
  }

  failAt(operation: number, fault: Fault): void {
    this.disk.failAt(operation, fault.kind === 'closed' ? { kind: 'gone' } : fault)
  }

  disarm(): void {
    this.disk.disarm()
  }

  identify(name: string): string {
    return `raw-files:${this.number}:${name}`
  }

  async has(name: string): Promise<boolean> {
    return this.disk.has(name)
  }

  async open(name: string): Promise<PageStore> {
    return this.attempt(() => {
      let database = this.databases.get(name)
      if (database === undefined) this.databases.set(name, (database = openDatabase(this.disk, name)))
      return new RawFilePageStore(this, database, () => this.databases.get(name) === database)
    })
  }

  /** In the order of storage/opfs/ownership.ts. */
  async destroy(name: string): Promise<void> {
    this.databases.delete(name)
    return this.attempt(() => {
      const { pages, journals } = this.disk.open(name)
      for (const file of [...journals, pages]) file.truncate(0)
      this.disk.remove(name)
    })
  }

  /** Used by the handles: never answers once the process is gone. */
  attempt<T>(work: () => T): MaybePromise<T> {
    const { life } = this.disk
    try {
      const result = work()
      if (life === this.disk.life) return result
    } catch (error) {
      if (!(error instanceof GoneError)) throw error
    }
    this.databases.clear()
    this.onGone()
    return new Promise(() => {})
  }
}

export function openDatabase(disk: SimulatedDisk, name: string): FileDatabase {
  const identity = Uint8Array.from({ length: 16 }, () => disk.random.below(256))
  return new FileDatabase(disk.open(name), identity)
}

class RawFilePageStore implements PageStore {
  private readonly owner: RawFileStorage
  private readonly database: FileDatabase
  private readonly exists: () => boolean
  private readonly life: number
  private closed = false

  constructor(owner: RawFileStorage, database: FileDatabase, exists: () => boolean) {
    this.owner = owner
    this.database = database
    this.exists = exists
    this.life = owner.disk.life
  }

  read(known?: KnownState): MaybePromise<StoreState> {
    return this.use((database) => database.read(known))
  }

  readPages(ids: readonly PageId[]): MaybePromise<(Uint8Array | undefined)[]> {
    return this.use((database) => database.readPages(ids))
  }

  append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): MaybePromise<void> {
    return this.use((database) => database.append(record, durability, logSeal, false))
  }

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): MaybePromise<void> {
    return this.use((database) => database.putKeyring(expected, keyring, durability, false))
  }

  replacePages(keyring: Uint8Array, pages: readonly Page[]): MaybePromise<void> {
    return this.use((database) => database.replacePages(keyring, pages))
  }

  claim(token: string, expectedGeneration: Generation, _firstNewPageId: PageId): MaybePromise<void> {
    return this.use((database) => database.claim(token, expectedGeneration))
  }

  stage(token: string, pages: readonly Page[]): MaybePromise<void> {
    return this.use((database) => database.stage(token, pages))
  }

  commit(commit: Commit): MaybePromise<void> {
    return this.use((database) => database.commit(commit, false))
  }

  listPages(): MaybePromise<PageId[]> {
    return this.use((database) => database.listPages())
  }

  usedBytes(): MaybePromise<number> {
    return this.use((database) => database.usedBytes())
  }

  close(): void {
    this.closed = true
  }

  private use<T>(work: (database: FileDatabase) => T): MaybePromise<T> {
    if (this.life !== this.owner.disk.life) return new Promise(() => {})
    if (this.closed || !this.exists()) throw new PannierError('PANNIER_CLOSED', 'The handle is closed.')
    return this.owner.attempt(() => work(this.database))
  }
}
