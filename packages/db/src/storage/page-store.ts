/**
 * The contract of a backend: a transactional map from integers to bytes, plus a log. This is the only file that a new
 * backend has to read.
 *
 * What a page store guarantees:
 * - Each call is atomic: after a failure, a crash or a kill it has happened whole or not at all.
 * - `append` and `commit` resolve when their effect is durable: with 'relaxed' it survives the end of the process, with
 *   'strict' also a loss of power. A later call is never durable before an earlier one that resolved.
 * - The fences below hold across every handle (tab, worker, process) on the same database.
 * - Every failure is a `PannierError`; no error type of the backend gets out. What is left after a failed call is either
 *   the state before it or the state after it; `read` tells which. What a failed call has left under way happens before
 *   the next `read` of that handle resolves, or never.
 * - Bytes handed in are not kept: they are copied or written before the call returns or resolves; the caller does not
 *   change them meanwhile. Bytes handed out belong to the caller and are never changed by the store.
 *
 * What it relies on: ids of pages are never used twice, pages are never rewritten (but by `replacePages`, which means the same
 * by other bytes), sequences of log records are dense.
 *
 * A wrapper (encryption, fault injection, latency, counting) implements this interface over the one that it wraps. For wrappers
 * that seal what passes through them there are the keyring and the log seal, two small records of their own, and `replacePages`;
 * nothing else uses these.
 */
import type { CommitSequence, Generation, PageId } from '../base/brand.ts'
import type { MaybePromise } from '../base/async.ts'
import type { Environment } from '../base/environment.ts'
import type { PannierError } from '../base/errors.ts'
import type { Coordinator } from './coordinator.ts'

/** 'relaxed': survives the end of the process or tab. 'strict': survives a loss of power. */
export type Durability = 'relaxed' | 'strict'

/** No page may be larger: beyond 64 KiB IndexedDB engines store a record out of line, which costs several times more. */
export const PAGE_BYTES_MAX: number = 60 * 1024

/** By so much a wrapper may make a page larger: a store takes pages of `PAGE_BYTES_MAX + WRAPPER_BYTES_MAX`. */
export const WRAPPER_BYTES_MAX = 64

/** No keyring may be larger. A log seal has at most 256 bytes. Neither is ever empty. */
export const KEYRING_BYTES_MAX: number = 32 * 1024

/** A page: trees consist of pages. */
export interface Page {
  /** The id, never used twice. */
  readonly id: PageId
  /** Up to `PAGE_BYTES_MAX`, and what a wrapper adds. */
  readonly bytes: Uint8Array
}

/** A commit in the log. */
export interface LogRecord {
  /** Dense: each record's sequence is its predecessor's plus one, starting at 1. */
  readonly sequence: CommitSequence
  /** The changes, encoded. */
  readonly bytes: Uint8Array
}

/** The root of everything that is stored in pages. One exists per database, replaced whole by `commit`. */
export interface MetaRecord {
  /** Raised by one with each `commit`. The first is 1. */
  readonly generation: Generation
  /** The pages hold every commit up to and including this one; log records after it are to be replayed. */
  readonly sequence: CommitSequence
  /** The roots of all trees, encoded. */
  readonly bytes: Uint8Array
}

/** The result of `read`. */
export interface StoreState {
  /** Undefined while nothing was ever committed. */
  readonly meta: MetaRecord | undefined
  /** The log's records, ascending and dense. */
  readonly log: readonly LogRecord[]
  /** The keyring that `putKeyring` put last. */
  readonly keyring: Uint8Array | undefined
  /** The log seal that came last with an `append` or a `commit`: it vouches for the end of the log. */
  readonly logSeal: Uint8Array | undefined
}

/** The state that a handle has seen already, so that `read` gives it only the news. */
export interface KnownState {
  /** The meta record. */
  readonly generation: Generation
  /** The newest log record. */
  readonly sequence: CommitSequence
}

/** Pages and the meta record, put together. */
export interface Commit {
  /** Fence: fails with PANNIER_STALE unless the stored meta record has this generation (0: no meta record). */
  readonly expectedGeneration: Generation
  /** The token given to `claim` when pages were staged for this commit; fails with PANNIER_STALE if another has claimed since. */
  readonly claim?: string
  /** Pages beyond those staged. Every id is at least `claim`'s `firstNewPageId`. Pulled one by one, so that they need not all exist at once. */
  readonly pages: Iterable<Page>
  /** Deleted, so that their room can be used again. Unknown ids are ignored. */
  readonly free: readonly PageId[]
  /** The meta record with the generation `expectedGeneration + 1`. */
  readonly meta: MetaRecord
  /** The lowest page id that this commit may have written; what an abandoned claim left at or above it is deleted first. */
  readonly firstNewPageId: PageId
  /**
   * For a commit that skips the log: its record (a mere mark), put in the same transaction. Its sequence is
   * `meta.sequence`. Fenced like `append`.
   */
  readonly record?: LogRecord
  /** Replaces the log seal in the same transaction. Only together with `record`. */
  readonly logSeal?: Uint8Array
  readonly durability: Durability
}

/** One handle on a database of a backend. */
export interface PageStore {
  /**
   * The meta record, and the log after `meta.sequence`. With `known` whose generation is still current, only the log
   * records after `known.sequence`. The keyring and the log seal in any case. One backend transaction.
   */
  read(known?: KnownState): MaybePromise<StoreState>

  /**
   * The bytes of each page in the order asked for, undefined for a missing one. How they are fetched (parallel gets, a
   * range, everything) is the store's business. At least one id; no id twice.
   *
   * `arrived` may be called for a page before all are read, with its position in `ids`. So the caller's work on it
   * overlaps with the reading of others. Never, for any of them, or more than once: the result alone counts. It does
   * not throw.
   */
  readPages(ids: readonly PageId[], arrived?: PageArrived): MaybePromise<readonly (Uint8Array | undefined)[]>

  /**
   * Appends one log record. Fence: fails with PANNIER_STALE unless the newest record in the log is `record.sequence - 1`
   * (or the log is empty and `record.sequence` is 1). To keep that checkable, the log always retains its newest record. Also
   * fails with it if `record.sequence` is 1, no log seal is given, and there is a keyring: that was put by another handle since.
   *
   * `logSeal`, where it is given, replaces the log seal in the same transaction. It costs nothing where it is not given. After an append that
   * failed its record may be there without its log seal; the next one that succeeds sets it right.
   */
  append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): MaybePromise<void>

  /**
   * Takes over the right to stage pages: from now on `stage` and `commit` with an earlier token fail with
   * PANNIER_STALE. Deletes every page whose id is at least `firstNewPageId` (left by a writer that died while it was
   * staging). Fails with PANNIER_STALE unless the stored meta record has `expectedGeneration` (0: no meta record).
   */
  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void>

  /** Writes pages that nothing refers to yet, in one transaction. Fails with PANNIER_STALE if another has claimed since. */
  stage(token: string, pages: readonly Page[]): MaybePromise<void>

  /**
   * Atomically puts and frees pages, replaces the meta record, ends any claim, and truncates the log. Records with a
   * sequence lower than `meta.sequence` are deleted; the equal one stays, as the fence of `append`.
   */
  commit(commit: Commit): MaybePromise<void>

  /**
   * Replaces the keyring. Fails with PANNIER_STALE unless the stored keyring equals `expected`, byte by byte. With
   * `expected` undefined the database must be empty: no keyring, no meta record, no log.
   */
  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): MaybePromise<void>

  /**
   * Replaces the bytes of existing pages, in one transaction; ignores missing ones. Generation, claim and log stay as
   * they are. As `stage`, it is durable not later than the next `append`, `commit` or `putKeyring`. Fails with
   * PANNIER_STALE unless the keyring that is stored equals `keyring`.
   */
  replacePages(keyring: Uint8Array, pages: readonly Page[]): MaybePromise<void>

  /** Ids of all stored pages, ascending; for integrity checks. */
  listPages(): MaybePromise<readonly PageId[]>

  /** Bytes used in the backend as far as it can tell; undefined where it can't. */
  usedBytes(): MaybePromise<number | undefined>

  /**
   * Calls `listener` once, as soon as the handle is of no use because its database is gone: destroyed, or moved. The calls of a store
   * that can't know fail with PANNIER_CLOSED, which is heard later.
   */
  onGone?(listener: GoneListener): void

  /** Closes it. Idempotent. Later calls fail with PANNIER_CLOSED. */
  close(): MaybePromise<void>
}

/** `why`: PANNIER_CLOSED. */
export type GoneListener = (why: PannierError) => void

/** `index`: the position in the ids that were asked for. */
export type PageArrived = (index: number, bytes: Uint8Array) => void

/** Where the handles of one database can be: they must find one another to share the writer lease. */
export type SharingScope = 'process' | 'origin' | 'servers'

/**
 * A kind of place for databases, as given to `open(name, { storage })`.
 */
export interface DatabaseStorage {
  /** The kind: 'indexeddb', 'sqlite', 'memory', … ; for people, never branched on. */
  readonly kind: string
  /**
   * 'origin': tabs and workers of one origin share it (Web Locks). 'process': only handles in this process do. 'servers':
   * processes on any machine, by `coordinator`.
   */
  readonly scope: SharingScope
  /** Names the database within the scope: two handles share a database exactly if this is equal. */
  identify(name: string): string
  /** Whether a database is there; undefined: the storage can't know. Nothing is opened or made to find out. "I can't open it here" is no `false`. */
  has(name: string): Promise<boolean | undefined>
  /** Opens or creates it. Reads only what it takes to open the backend. */
  open(name: string): Promise<PageStore>
  /**
   * For handles that the library can't make known to one another: a handle of the group that `name` names. That is the name
   * of a database, or of a lock beside the databases.
   */
  readonly coordinator?: ((name: string, environment: Environment) => Coordinator) | undefined
  /** Deletes the database and everything in it, also when no room is left; does nothing if it does not exist. */
  destroy(name: string): Promise<void>
}
