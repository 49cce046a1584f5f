/**
 * Counts what passes through a storage: calls and bytes of each kind. Costs are a contract (docs/internals/costs.md), and these
 * counts are exact, so that tests can assert them.
 */
import type { Generation, PageId } from '../src/base/brand.ts'
import { andThen, type MaybePromise } from '../src/base/async.ts'
import type {
  Commit,
  Durability,
  KnownState,
  LogRecord,
  Page,
  PageArrived,
  PageStore,
  SharingScope,
  DatabaseStorage,
  StoreState,
} from '../src/storage/page-store.ts'

/** Calls are counted when made, bytes read when they arrive, bytes written when they are handed over. */
export interface StoreCounts {
  /** Calls of `open`. */
  opens: number
  /** Calls that read. */
  reads: number
  /** Log records that were read. */
  recordsRead: number
  /** Calls of `readPages`: batches. */
  pageBatches: number
  /** Pages that were read. */
  pagesRead: number
  /** Bytes that were read. */
  bytesRead: number
  /** Log records that were appended. */
  appends: number
  /** Calls of `claim`. */
  claims: number
  /** Calls of `stage`. */
  stages: number
  /** Calls of `commit`. */
  commits: number
  /** Keyrings that were written. */
  keyrings: number
  /** Calls of `replacePages`; their pages count as written. */
  replacements: number
  /** Pages that were written. */
  pagesWritten: number
  /** Pages that were freed. */
  pagesFreed: number
  /** Bytes that were written. */
  bytesWritten: number
}

/** A storage whose handles all count into one place. */
export interface CountingStorage extends DatabaseStorage {
  /** What was counted since the last `take`. */
  readonly counts: Readonly<StoreCounts>
  /** Returns the counts and starts again from zero. */
  take(): StoreCounts
}

/**
 * @example
 * const storage = counting(memory())
 * const db = await open('shop', { storage })
 * storage.take()
 * await people.put(ann)
 * assertEqual(backendCalls(storage.take()), 1)
 */
export function counting(storage: DatabaseStorage): CountingStorage {
  return new CountingStorageOver(storage)
}

/** Calls that cost a transaction of the backend; opening is not among them. */
export function backendCalls(counts: Readonly<StoreCounts>): number {
  return counts.reads + counts.pageBatches + backendWrites(counts)
}

/** As `backendCalls`, those that write. */
export function backendWrites(counts: Readonly<StoreCounts>): number {
  return counts.appends + counts.claims + counts.stages + counts.commits + counts.keyrings + counts.replacements
}

class CountingStorageOver implements CountingStorage {
  counts: StoreCounts = zero()
  readonly kind: string
  readonly scope: SharingScope
  readonly coordinator: DatabaseStorage['coordinator']
  private readonly inner: DatabaseStorage

  constructor(inner: DatabaseStorage) {
    this.inner = inner
    this.kind = inner.kind
    this.scope = inner.scope
    this.coordinator = inner.coordinator?.bind(inner)
  }

  take(): StoreCounts {
    const { counts } = this
    this.counts = zero()
    return counts
  }

  identify(name: string): string {
    return this.inner.identify(name)
  }

  has(name: string): Promise<boolean | undefined> {
    return this.inner.has(name)
  }

  async open(name: string): Promise<PageStore> {
    this.counts.opens++
    return new CountingPageStore(await this.inner.open(name), this)
  }

  destroy(name: string): Promise<void> {
    return this.inner.destroy(name)
  }
}

class CountingPageStore implements PageStore {
  private readonly inner: PageStore
  private readonly owner: CountingStorageOver

  constructor(inner: PageStore, owner: CountingStorageOver) {
    this.inner = inner
    this.owner = owner
  }

  read(known?: KnownState): MaybePromise<StoreState> {
    this.owner.counts.reads++
    return andThen(this.inner.read(known), (state) => {
      const { counts } = this.owner
      counts.recordsRead += state.log.length
      for (const { bytes } of state.log) counts.bytesRead += bytes.length
      counts.bytesRead += (state.meta?.bytes.length ?? 0) + (state.keyring?.length ?? 0) + (state.logSeal?.length ?? 0)
      return state
    })
  }

  readPages(ids: readonly PageId[], arrived?: PageArrived): MaybePromise<readonly (Uint8Array | undefined)[]> {
    const { counts } = this.owner
    counts.pageBatches++
    counts.pagesRead += ids.length
    return andThen(this.inner.readPages(ids, arrived), (pages) => {
      for (const bytes of pages) this.owner.counts.bytesRead += bytes?.length ?? 0
      return pages
    })
  }

  append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): MaybePromise<void> {
    this.owner.counts.appends++
    this.owner.counts.bytesWritten += record.bytes.length + (logSeal?.length ?? 0)
    return this.inner.append(record, durability, logSeal)
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void> {
    this.owner.counts.claims++
    return this.inner.claim(token, expectedGeneration, firstNewPageId)
  }

  stage(token: string, pages: readonly Page[]): MaybePromise<void> {
    this.owner.counts.stages++
    for (const page of pages) this.countPage(page)
    return this.inner.stage(token, pages)
  }

  commit(commit: Commit): MaybePromise<void> {
    const { counts } = this.owner
    counts.commits++
    counts.pagesFreed += commit.free.length
    counts.bytesWritten += commit.meta.bytes.length + (commit.record?.bytes.length ?? 0) + (commit.logSeal?.length ?? 0)
    return this.inner.commit({ ...commit, pages: this.counted(commit.pages) })
  }

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): MaybePromise<void> {
    this.owner.counts.keyrings++
    this.owner.counts.bytesWritten += keyring.length
    return this.inner.putKeyring(expected, keyring, durability)
  }

  replacePages(keyring: Uint8Array, pages: readonly Page[]): MaybePromise<void> {
    this.owner.counts.replacements++
    for (const page of pages) this.countPage(page)
    return this.inner.replacePages(keyring, pages)
  }

  listPages(): MaybePromise<readonly PageId[]> {
    return this.inner.listPages()
  }

  usedBytes(): MaybePromise<number | undefined> {
    return this.inner.usedBytes()
  }

  close(): MaybePromise<void> {
    return this.inner.close()
  }

  private *counted(pages: Iterable<Page>): Generator<Page> {
    for (const page of pages) {
      this.countPage(page)
      yield page
    }
  }

  private countPage({ bytes }: Page): void {
    this.owner.counts.pagesWritten++
    this.owner.counts.bytesWritten += bytes.length
  }
}

function zero(): StoreCounts {
  return {
    opens: 0,
    reads: 0,
    recordsRead: 0,
    pageBatches: 0,
    pagesRead: 0,
    bytesRead: 0,
    appends: 0,
    claims: 0,
    stages: 0,
    commits: 0,
    keyrings: 0,
    replacements: 0,
    pagesWritten: 0,
    pagesFreed: 0,
    bytesWritten: 0,
  }
}
