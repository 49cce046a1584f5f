/**
 * Databases in memory: for tests, caches and everything that may be forgotten when the process ends.
 *
 * One `memory()` holds any number of named databases. Handles on the same name share their data; a database lives as long as
 * the storage object does, or until it is destroyed. Every call is synchronous, its failures included. Bytes are copied on
 * the way in and on the way out, so that neither side can change what the other holds.
 */
import {
  Handle,
  checkClaim,
  checkFirst,
  checkGeneration,
  checkKeyring,
  checkNext,
  tellDestroyed,
  type SharedDatabase,
} from '../handle.ts'
import type {
  PageStore,
  SharingScope,
  DatabaseStorage,
  Commit,
  Durability,
  KnownState,
  LogRecord,
  MetaRecord,
  Page,
  StoreState,
} from '../page-store.ts'
import type { Generation, PageId } from '../../base/brand.ts'

/** A storage of its own: its databases are not those of any other `memory()`. */
export function memory(): DatabaseStorage {
  return new MemoryStorage()
}

let storagesMade = 0

class MemoryStorage implements DatabaseStorage {
  readonly kind: string = 'memory'
  readonly scope: SharingScope = 'process'
  private readonly databases = new Map<string, MemoryDatabase>()
  private readonly number = ++storagesMade

  identify(name: string): string {
    return `memory:${this.number}:${name}`
  }

  async has(name: string): Promise<boolean> {
    return this.databases.has(name)
  }

  async open(name: string): Promise<PageStore> {
    let database = this.databases.get(name)
    if (!database) this.databases.set(name, (database = new MemoryDatabase()))
    return new Handle(database)
  }

  async destroy(name: string): Promise<void> {
    const database = this.databases.get(name)
    this.databases.delete(name)
    if (database === undefined) return
    database.closed = true
    tellDestroyed(database)
  }
}

/** The state of one database. Every method is synchronous and happens whole, or throws before anything has changed. */
export class MemoryDatabase implements SharedDatabase {
  /** Set by `destroy`: handles that still have it open fail with PANNIER_CLOSED. */
  closed = false
  private readonly pages = new Map<PageId, Uint8Array>()
  private log: LogRecord[] = []
  private meta: MetaRecord | undefined
  private claimToken: string | undefined
  private keyring: Uint8Array | undefined
  private logSeal: Uint8Array | undefined

  read(known: KnownState | undefined): StoreState {
    const { generation = 0, sequence = 0 } = this.meta ?? {}
    const after = known?.generation === generation ? Math.max(known.sequence, sequence) : sequence
    return {
      meta: this.meta && { ...this.meta, bytes: this.meta.bytes.slice() },
      log: this.log.filter((record) => record.sequence > after).map(copyRecord),
      keyring: this.keyring?.slice(),
      logSeal: this.logSeal?.slice(),
    }
  }

  readPages(ids: readonly PageId[]): (Uint8Array | undefined)[] {
    return ids.map((id) => this.pages.get(id)?.slice())
  }

  append(record: LogRecord, _durability: Durability, logSeal?: Uint8Array): void {
    checkNext(this.newest, record.sequence)
    checkFirst(record, logSeal, this.keyring)
    this.log.push(copyRecord(record))
    if (logSeal) this.logSeal = logSeal.slice()
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): void {
    checkGeneration(this.generation, expectedGeneration)
    this.deleteFrom(firstNewPageId)
    this.claimToken = token
  }

  stage(token: string, pages: readonly Page[]): void {
    checkClaim(this.claimToken, token)
    for (const { id, bytes } of pages) this.pages.set(id, bytes.slice())
  }

  commit(commit: Commit): void {
    checkGeneration(this.generation, commit.expectedGeneration)
    if (commit.claim !== undefined) checkClaim(this.claimToken, commit.claim)
    if (commit.record) {
      checkNext(this.newest, commit.record.sequence)
      checkFirst(commit.record, commit.logSeal, this.keyring)
    }
    // The caller's iterator may throw: it is run to its end before the first change.
    const pages = Array.from(commit.pages, ({ id, bytes }) => ({ id, bytes: bytes.slice() }))
    if (commit.claim === undefined && this.claimToken !== undefined) this.deleteFrom(commit.firstNewPageId)
    for (const { id, bytes } of pages) this.pages.set(id, bytes)
    for (const id of commit.free) this.pages.delete(id)
    this.meta = { ...commit.meta, bytes: commit.meta.bytes.slice() }
    this.claimToken = undefined
    if (commit.record) this.log.push(copyRecord(commit.record))
    if (commit.logSeal) this.logSeal = commit.logSeal.slice()
    this.log = this.log.filter((record) => record.sequence >= commit.meta.sequence)
  }

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array): void {
    checkKeyring(this.keyring, expected, this.meta === undefined && this.log.length === 0)
    this.keyring = keyring.slice()
  }

  replacePages(keyring: Uint8Array, pages: readonly Page[]): void {
    checkKeyring(this.keyring, keyring)
    for (const { id, bytes } of pages) if (this.pages.has(id)) this.pages.set(id, bytes.slice())
  }

  listPages(): PageId[] {
    return [...this.pages.keys()].sort((a, b) => a - b)
  }

  usedBytes(): number {
    let total = (this.meta?.bytes.length ?? 0) + (this.keyring?.length ?? 0) + (this.logSeal?.length ?? 0)
    for (const bytes of this.pages.values()) total += bytes.length
    for (const { bytes } of this.log) total += bytes.length
    return total
  }

  private deleteFrom(first: PageId): void {
    for (const id of this.pages.keys()) if (id >= first) this.pages.delete(id)
  }

  private get newest(): number {
    return this.log.at(-1)?.sequence ?? 0
  }

  private get generation(): number {
    return this.meta?.generation ?? 0
  }
}

function copyRecord({ sequence, bytes }: LogRecord): LogRecord {
  return { sequence, bytes: bytes.slice() }
}
