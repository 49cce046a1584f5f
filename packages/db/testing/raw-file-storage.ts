/** The file logic of storage/opfs/ over a simulated disk, as a storage: what its worker does, without the worker. */
import type { Generation, PageId } from '../src/base/brand.ts'
import { PannierError } from '../src/base/errors.ts'
import { FileDatabase } from '../src/storage/opfs/file-database.ts'
import type {
  Commit,
  Durability,
  KnownState,
  LogRecord,
  Page,
  PageStore,
  SharingScope,
  Storage,
  StoreState,
} from '../src/storage/page-store.ts'
import { seededRandom } from './random.ts'
import { SimulatedDisk } from './simulated-disk.ts'

let storagesMade = 0

export class RawFileStorage implements Storage {
  readonly kind: string = 'raw files'
  readonly scope: SharingScope = 'process'
  readonly disk: SimulatedDisk
  private readonly databases = new Map<string, FileDatabase>()
  private readonly number = ++storagesMade

  constructor(disk: SimulatedDisk = new SimulatedDisk(seededRandom(1))) {
    this.disk = disk
  }

  identify(name: string): string {
    return `raw-files:${this.number}:${name}`
  }

  async open(name: string): Promise<PageStore> {
    let database = this.databases.get(name)
    if (database === undefined) this.databases.set(name, (database = openDatabase(this.disk, name)))
    return new RawFilePageStore(database, () => this.databases.get(name) === database)
  }

  async destroy(name: string): Promise<void> {
    this.databases.delete(name)
    this.disk.remove(name)
  }

  /** What the process had in memory is gone; its files are read again by the next handle. */
  forget(): void {
    this.databases.clear()
  }
}

export function openDatabase(disk: SimulatedDisk, name: string): FileDatabase {
  const identity = Uint8Array.from({ length: 16 }, () => disk.random.below(256))
  return new FileDatabase(disk.open(name), identity)
}

class RawFilePageStore implements PageStore {
  private readonly database: FileDatabase
  private readonly exists: () => boolean
  private closed = false

  constructor(database: FileDatabase, exists: () => boolean) {
    this.database = database
    this.exists = exists
  }

  read(known?: KnownState): StoreState {
    return this.use().read(known)
  }

  readPages(ids: readonly PageId[]): (Uint8Array | undefined)[] {
    return this.use().readPages(ids)
  }

  append(record: LogRecord, durability: Durability, head?: Uint8Array): void {
    this.use().append(record, durability, head, false)
  }

  putHeader(expected: Uint8Array | undefined, header: Uint8Array, durability: Durability): void {
    this.use().putHeader(expected, header, durability, false)
  }

  replacePages(pages: readonly Page[]): void {
    this.use().replacePages(pages)
  }

  claim(token: string, expectedGeneration: Generation, _firstNewPageId: PageId): void {
    this.use().claim(token, expectedGeneration)
  }

  stage(token: string, pages: readonly Page[]): void {
    this.use().stage(token, pages)
  }

  commit(commit: Commit): void {
    this.use().commit(commit, false)
  }

  listPages(): PageId[] {
    return this.use().listPages()
  }

  usedBytes(): number {
    return this.use().usedBytes()
  }

  close(): void {
    this.closed = true
  }

  private use(): FileDatabase {
    if (this.closed || !this.exists()) throw new PannierError('PANNIER_CLOSED', 'This handle is closed.')
    return this.database
  }
}
