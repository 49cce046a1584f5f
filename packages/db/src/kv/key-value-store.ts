/**
 * The contract between the storage engine and everything above it: named ordered trees of byte-string keys and byte
 * values, snapshots, and atomic write transactions. No page, page id or cache is visible here, so that another engine (a
 * distributed one, say) can stand below it.
 *
 * **Reads are synchronous.** A method that needs something which is not in memory throws a `Miss`, having noted what it
 * needs (base/miss.ts); `attempt` catches it, waits, and calls the function again. So a function given to `attempt`, `read` or `write`
 * may run several times: it must not have effects of its own except those that are harmless to repeat. A cursor
 * is the exception that makes streaming cheap: a `next()` that throws leaves it where it was, so the function may be
 * resumed instead of starting over.
 */
import type { CommitSequence, Key } from '../base/brand.ts'
import type { MaybePromise } from '../base/async.ts'
import type { Reducer, ReducerId } from '../btree/reducer.ts'
import type { Bytes } from '../codec/bytes.ts'

/** The entries with `gte <= key < lt`; a bound that is left out does not bound. */
export interface KeyRange {
  readonly gte?: Key | undefined
  readonly lt?: Key | undefined
}

export interface Entry {
  readonly key: Key
  readonly value: Uint8Array
}

/**
 * Walks entries in key order. Starts before the first one.
 *
 * @example
 * const cursor = tree.cursor({ gte: a, lt: b })
 * while (cursor.next()) use(cursor.key, cursor.value)
 */
export interface Cursor {
  /** Moves on to the next; false at the end. When it throws a Miss the cursor has not moved. */
  next(): boolean
  /** The key at the cursor; made when asked for. */
  readonly key: Key
  /** The last `KEY_NUMBER_BYTES` bytes of the key as a number (codec/key-encoding.ts), without making the key. */
  readonly keyNumber: number
  /** The value at the cursor. A view: never change it. */
  readonly value: Uint8Array
}

export interface CursorOptions {
  readonly reverse?: boolean
  /** Leaves out that many entries at the start, by rank: costs no walk. */
  readonly skip?: number
  /** The number of entries that will be read, if there are that many. Their pages are fetched together. */
  readonly expected?: number
}

export interface TreeReader {
  get(key: Key): Uint8Array | undefined
  /** As `get` for each, but what is missing in memory is fetched for all of them together. Fastest when ascending. */
  getMany(keys: readonly Key[]): (Uint8Array | undefined)[]
  /** As `getMany` of the first keys: as many as have values of at most `bytesMax` bytes together, and one at least. */
  getSome(keys: readonly Key[], bytesMax: number): (Uint8Array | undefined)[]
  /** Counts exactly, and without a walk. Without a range: no page is read. */
  count(range?: KeyRange): number
  /** How many entries have a lower key. */
  rank(key: Key): number
  /** The entry with exactly `rank` entries before it. */
  select(rank: number): Entry | undefined
  cursor(range?: KeyRange, options?: CursorOptions): Cursor
  /** The tree will be read: what any read of it begins with is fetched along with what is missed next. */
  prefetch(): void
  /**
   * The reduction of a range; undefined for an empty range. With the tree's own reducer it costs no walk. With another reducer it costs
   * no walk where nothing has changed since the same object was used. Ordered trees.
   */
  reduce<Result>(range: KeyRange, reducer: Reducer<Result>): Result | undefined
  /** Sequence trees: the number that `append` gave last, 0 before the first; also when its entry was removed. Reads nothing. */
  readonly lastNumber: number
  /** About how many bytes the entries take in storage, without what is only in the log; undefined if that is not known. */
  readonly storedBytes: number | undefined
}

/**
 * The writer of a tree: `insert`, `replace` and `remove` never read, so the caller must know the key; `put` and `delete` look first. A
 * caller that is wrong about it corrupts the counts, which the integrity check reports.
 */
export interface TreeWriter extends TreeReader {
  /** The key is known to be absent. */
  insert(key: Key, value: Bytes): void
  /** `insert` of many, in ascending order. Takes the arrays: they must not be changed afterwards. */
  insertMany(keys: readonly Key[], values: readonly Bytes[]): void
  /** The key is known to be present. */
  replace(key: Key, value: Bytes): void
  /** The key is known to be present. `valueBytes`: length of the value there, which sequence trees use to know their garbage. */
  remove(key: Key, valueBytes?: number): void
  put(key: Key, value: Bytes): void
  /** Deletes a key. False if there was none. */
  delete(key: Key): boolean
  /** Sequence trees only: inserts under the next number and returns it (`numberKey(n)` is the key). Never used twice. */
  append(value: Uint8Array): number
  /** `append` of many: returns the number of the first. Takes the array. */
  appendMany(values: readonly Uint8Array[]): number
}

/**
 * - 'ordered': any keys, small values; the default.
 * - 'sequence': keys are numbers handed out by `append`; values may be large. Entries are packed in that order and
 *   never rewritten by an append; removed ones leave garbage behind that is reclaimed once it is worth it.
 * - 'inline': a few small entries (definitions and the like), always in memory, read together with the meta record.
 */
export type TreeKind = 'ordered' | 'sequence' | 'inline'

export interface Snapshot {
  /** Every commit up to and including this one, and nothing else. */
  readonly sequence: CommitSequence
  /** Undefined if there is no such tree. */
  tree(name: string): TreeReader | undefined
  /** Names with that prefix, ascending. */
  treeNames(prefix?: string): string[]
}

export interface WriteTransaction extends Snapshot {
  tree(name: string): TreeWriter | undefined
  /** `reducer`: by which an ordered tree is kept reduced; it is registered (btree/reducer.ts). */
  createTree(name: string, kind: TreeKind, reducer?: ReducerId): TreeWriter
  /** Forgets the tree at once, whatever its size; its room is reclaimed later. */
  dropTree(name: string): void
}

/** A snapshot that is kept over several attempts; its pages stay until it is released. */
export interface HeldSnapshot extends Snapshot {
  /** Runs `read` until nothing is missing. Synchronous when everything is in memory. */
  attempt<T>(read: () => T): MaybePromise<T>
  /** Releases it. Idempotent. */
  release(): void
}

/**
 * A write transaction that a caller drives step by step; no other writer gets the lease until it ends. Whatever touches it after
 * `commit` or `rollback` was called is PANNIER_TRANSACTION_ENDED.
 */
export interface HeldTransaction extends WriteTransaction {
  /**
   * Runs `step` until nothing is missing. Overlapping steps take effect one after another, in the order of their calls.
   * A step that throws leaves nothing behind, and so does each try that misses. Synchronous if nothing has to be
   * loaded.
   */
  attempt<T>(step: () => T): MaybePromise<T>
  /**
   * Call it between steps, and await it: many changes go to pages, which nobody else reads before the commit. So a large
   * transaction takes little memory. If it fails, roll back.
   */
  relieve(): MaybePromise<void>
  /** A view of the writes so far: later writes do not change it. Of no use once the transaction has ended. */
  view(): MaybePromise<HeldSnapshot>
  /** Commits the steps that were asked for. Resolves when durable. */
  commit(): Promise<void>
  /** Idempotent; nothing of it stays. */
  rollback(): void
}

/**
 * The changes of a commit: for each tree (by name) its keys, in key order per commit. Too large a commit lists none: `keys` is undefined.
 */
export interface CommitNotice {
  readonly sequence: CommitSequence
  readonly trees: ReadonlyMap<string, { readonly keys: readonly Key[] | undefined }>
  /** False when another handle (tab, worker) made the commit. */
  readonly local: boolean
}

export interface KeyValueStore {
  /** 32 hexadecimal digits, the same in all handles from the first commit on. */
  readonly databaseId: string
  /** Runs `read` on the newest state, until nothing is missing. Synchronous when everything is in memory. */
  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T>
  /** The newest state, held. */
  snapshot(): HeldSnapshot
  /**
   * Runs `write` in a transaction and resolves with its result when that is durable. If it throws, nothing of it stays and
   * the promise is rejected with what it threw. Writes that are asked for at the same time run one after another, in
   * order, and share one log append.
   */
  write<T>(write: (transaction: WriteTransaction) => T): Promise<T>
  /** Waits for the lease, then hands out a transaction. `name` says what it is to those who wait for it for long. */
  begin(name?: () => string): Promise<HeldTransaction>
  /** Called after each commit, local or not, once it is durable and visible. The function returned ends it. */
  onCommit(listener: (notice: CommitNotice) => void): () => void
  /** Sees what other handles have committed up to now. */
  refresh(): Promise<void>
  /** Writes everything that is only in the log to pages. */
  checkpoint(): Promise<void>
  /** Finishes pending work, then releases everything. Idempotent. */
  close(): Promise<void>
}
