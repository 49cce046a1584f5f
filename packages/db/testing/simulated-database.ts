/**
 * The state behind a simulated page store: a database in memory. It checks what the page store contract relies on, and
 * remembers changes, so that a loss of power can undo those that were not durable.
 *
 * A violation of the contract is an AssertionError, a bug of the caller. A refusing fence is not a violation.
 */
import { assert } from '../src/base/errors.ts'
import type { Generation, PageId } from '../src/base/brand.ts'
import { MemoryDatabase } from '../src/storage/memory/memory.ts'
import type { Commit, Durability, KnownState, LogRecord, Page, StoreState } from '../src/storage/page-store.ts'
import { KEYRING_BYTES_MAX, PAGE_BYTES_MAX, WRAPPER_BYTES_MAX } from '../src/storage/page-store.ts'

/** One database of a simulated storage. */
export class SimulatedDatabase {
  private state = new CheckedDatabase()
  /** Every change since the database was created, in order. */
  private history: ((state: CheckedDatabase) => void)[] = []
  /** The number of changes at the start of the history that survive a loss of power. */
  private durableCount = 0

  /** True after `destroy`. */
  get destroyed(): boolean {
    return this.state.closed
  }

  /** Deletes everything. */
  destroy(): void {
    this.state.closed = true
  }

  /** As `PageStore.read`. */
  read(known: KnownState | undefined): StoreState {
    return this.state.read(known)
  }

  /** As `PageStore.readPages`. */
  readPages(ids: readonly PageId[]): (Uint8Array | undefined)[] {
    return this.state.readPages(ids)
  }

  /** As `PageStore.listPages`. */
  listPages(): PageId[] {
    return this.state.listPages()
  }

  /** As `PageStore.usedBytes`. */
  usedBytes(): number {
    return this.state.usedBytes()
  }

  /** As `PageStore.append`. */
  append(record: LogRecord, durability: Durability, logSeal: Uint8Array | undefined): void {
    const kept = { ...record, bytes: record.bytes.slice() }
    const keptLogSeal = logSeal?.slice()
    this.change(durability, (state) => state.append(kept, durability, keptLogSeal))
  }

  /** As `PageStore.putKeyring`. */
  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): void {
    const [keptExpected, kept] = [expected?.slice(), keyring.slice()]
    this.change(durability, (state) => state.putKeyring(keptExpected, kept))
  }

  /** As `PageStore.replacePages`. */
  replacePages(keyring: Uint8Array, pages: readonly Page[]): void {
    const [keptKeyring, kept] = [keyring.slice(), pages.map(copyPage)]
    this.change('relaxed', (state) => state.replacePages(keptKeyring, kept))
  }

  /** As `PageStore.claim`. */
  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): void {
    this.change('relaxed', (state) => state.claim(token, expectedGeneration, firstNewPageId))
  }

  /** As `PageStore.stage`. */
  stage(token: string, pages: readonly Page[]): void {
    const kept = pages.map(copyPage)
    this.change('relaxed', (state) => state.stage(token, kept))
  }

  /** As `PageStore.commit`. */
  commit(commit: Commit): void {
    const kept = { ...commit, meta: { ...commit.meta, bytes: commit.meta.bytes.slice() }, free: [...commit.free] }
    if (commit.logSeal) Object.assign(kept, { logSeal: commit.logSeal.slice() })
    const pages = Array.from(commit.pages, copyPage)
    this.change(commit.durability, (state) => state.commit({ ...kept, pages }))
  }

  /** Takes back the newest changes that are not durable: those beyond `share` (0 to 1) of them. */
  losePower(share: number): void {
    const survivors = this.durableCount + Math.floor(share * (this.history.length - this.durableCount + 1))
    this.history.length = this.durableCount = Math.min(survivors, this.history.length)
    this.state = new CheckedDatabase()
    for (const change of this.history) change(this.state)
  }

  private change(durability: Durability, change: (state: CheckedDatabase) => void): void {
    change(this.state)
    this.history.push(change)
    if (durability === 'strict') this.durableCount = this.history.length
  }
}

class CheckedDatabase extends MemoryDatabase {
  /** Pages up to this id are part of a committed state, or were once: they must not be written again. */
  private lastCommitted = 0
  private metaSequence = 0
  private newestRecord = 0
  /** Written under the claim under way. */
  private readonly staged = new Set<PageId>()

  override readPages(ids: readonly PageId[]): (Uint8Array | undefined)[] {
    assert(ids.length > 0, 'readPages was asked for nothing')
    assert(new Set(ids).size === ids.length, `readPages was asked for an id twice: ${ids.join(' ')}`)
    return super.readPages(ids)
  }

  override append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): void {
    checkLogSeal(logSeal)
    super.append(record, durability, logSeal)
    this.newestRecord = record.sequence
  }

  override putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array): void {
    assert(keyring.length > 0 && keyring.length <= KEYRING_BYTES_MAX, `the keyring has ${keyring.length} bytes`)
    super.putKeyring(expected, keyring)
  }

  override replacePages(keyring: Uint8Array, pages: readonly Page[]): void {
    for (const { id, bytes } of pages) checkLength(id, bytes)
    super.replacePages(keyring, pages)
  }

  override claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): void {
    super.claim(token, expectedGeneration, firstNewPageId)
    this.checkFirstNew(firstNewPageId)
    this.staged.clear()
  }

  override stage(token: string, pages: readonly Page[]): void {
    super.stage(token, pages)
    for (const page of pages) this.checkNewPage(page)
  }

  override commit(commit: Commit): void {
    const { meta, record, firstNewPageId } = commit
    assert(meta.generation === commit.expectedGeneration + 1, 'a commit raises the generation by one')
    assert(!record || record.sequence === meta.sequence, "the sequence of a commit's record is that of its meta record")
    assert(commit.logSeal === undefined || record !== undefined, 'a log seal comes with a record')
    checkLogSeal(commit.logSeal)
    super.commit(commit)
    if (commit.claim === undefined) this.staged.clear()
    this.checkFirstNew(firstNewPageId)
    for (const page of commit.pages) {
      assert(page.id >= firstNewPageId, `page ${page.id} lies below firstNewPageId ${firstNewPageId}`)
      this.checkNewPage(page)
    }
    if (record) this.newestRecord = record.sequence
    assert(meta.sequence >= this.metaSequence, 'the sequence of the meta record never falls')
    assert(meta.sequence <= this.newestRecord, 'the log retains its newest record, as the fence of append')
    this.metaSequence = meta.sequence
    for (const id of this.staged) this.lastCommitted = Math.max(this.lastCommitted, id)
    this.staged.clear()
  }

  private checkFirstNew(firstNewPageId: PageId): void {
    assert(
      firstNewPageId > this.lastCommitted,
      `firstNewPageId ${firstNewPageId} would delete or reuse committed pages`,
    )
  }

  private checkNewPage({ id, bytes }: Page): void {
    assert(Number.isSafeInteger(id) && id > 0, `${id} is not a page id`)
    assert(id > this.lastCommitted, `page ${id} was committed before and is written again`)
    assert(!this.staged.has(id), `page ${id} is written twice`)
    checkLength(id, bytes)
    this.staged.add(id)
  }
}

function checkLength(id: PageId, bytes: Uint8Array): void {
  assert(bytes.length <= PAGE_BYTES_MAX + WRAPPER_BYTES_MAX, `page ${id} has ${bytes.length} bytes`)
}

function checkLogSeal(logSeal: Uint8Array | undefined): void {
  assert(
    logSeal === undefined || (logSeal.length > 0 && logSeal.length <= 256),
    `a log seal has ${logSeal?.length} bytes`,
  )
}

function copyPage({ id, bytes }: Page): Page {
  return { id, bytes: bytes.slice() }
}
