// What `pannier/storage` offers. Written by `npm run api`.

import type {
  PannierError,
} from 'pannier'

/** Pages and the meta record, put together. */
export interface Commit {
    /** Fence: fails with PANNIER_STALE unless the stored meta record has this generation (0: no meta record). */
    readonly expectedGeneration: Generation;
    /** The token given to `claim` when pages were staged for this commit; fails with PANNIER_STALE if another has claimed since. */
    readonly claim?: string;
    /** Pages beyond those staged. Every id is at least `claim`'s `firstNewPageId`. Pulled one by one, so that they need not all exist at once. */
    readonly pages: Iterable<Page>;
    /** Deleted, so that their room can be used again. Unknown ids are ignored. */
    readonly free: readonly PageId[];
    /** The meta record with the generation `expectedGeneration + 1`. */
    readonly meta: MetaRecord;
    /** The lowest page id that this commit may have written; what an abandoned claim left at or above it is deleted first. */
    readonly firstNewPageId: PageId;
    /**
     * For a commit that skips the log: its record (a mere mark), put in the same transaction. Its sequence is
     * `meta.sequence`. Fenced like `append`.
     */
    readonly record?: LogRecord;
    /** Replaces the log seal in the same transaction. Only together with `record`. */
    readonly logSeal?: Uint8Array;
    readonly durability: Durability;
}

/** Numbers the commits of one database: 1, 2, 3, … without gaps. */
export type CommitSequence = Brand<number, 'CommitSequence'>;

/** One handle among those of a database. */
export interface Coordinator {
    /** Handles in this realm whose coordinators have the same are handles of the same database. */
    readonly realm?: string;
    /**
     * Resolves when this handle has the lease. First come, first served. A holder that does not answer for
     * `WRITER_SILENCE_MS_MAX` (frozen tab or server) loses its lease. At most one request or lease a handle at a time.
     */
    acquireWriter(): Promise<WriterLease>;
    /** Tells every other handle. */
    announce(hint: Hint): void;
    /**
     * One listener a handle. Also called after this handle was asleep (thawed, restored from the back/forward cache), and at once if
     * something came before there was a listener.
     */
    onHint(listener: (hint: Hint | undefined) => void): void;
    /**
     * States the oldest generation whose pages this handle may still read; replaces what it stated before. Resolves when others
     * can see it. A pin may be lost while its handle is frozen, and the handle does
     * not learn of it. So a read that misses a page looks for a newer state.
     */
    pin(generation: Generation): Promise<void>;
    /** The oldest generation pinned by any handle, this one included; undefined without pins. */
    oldestPinned(): Promise<Generation | undefined>;
    /** Ends the lease, the pin and the listening. */
    close(): void;
}

/**
 * A kind of place for databases, as given to `open(name, { storage })`.
 */
export interface DatabaseStorage {
    /** The kind: 'indexeddb', 'sqlite', 'memory', … ; for people, never branched on. */
    readonly kind: string;
    /**
     * 'origin': tabs and workers of one origin share it (Web Locks). 'process': only handles in this process do. 'servers':
     * processes on any machine, by `coordinator`.
     */
    readonly scope: SharingScope;
    /** Names the database within the scope: two handles share a database exactly if this is equal. */
    identify(name: string): string;
    /** Whether a database is there; undefined: the storage can't know. Nothing is opened or made to find out. "I can't open it here" is no `false`. */
    has(name: string): Promise<boolean | undefined>;
    /** Opens or creates it. Reads only what it takes to open the backend. */
    open(name: string): Promise<PageStore>;
    /**
     * For handles that the library can't make known to one another: a handle of the group that `name` names. That is the name
     * of a database, or of a lock beside the databases.
     */
    readonly coordinator?: ((name: string, environment: Environment) => Coordinator) | undefined;
    /** Deletes the database and everything in it, also when no room is left; does nothing if it does not exist. */
    destroy(name: string): Promise<void>;
}

/** 'relaxed': survives the end of the process or tab. 'strict': survives a loss of power. */
export type Durability = 'relaxed' | 'strict';

/** Numbers the meta records of one database: each storage checkpoint raises it by one. 0: nothing was written yet. */
export type Generation = Brand<number, 'Generation'>;

/** `why`: PANNIER_CLOSED. */
export type GoneListener = (why: PannierError) => void;

/** A hint: "There may be more to read." May be lost, doubled or late. */
export interface Hint {
    /** The newest commit. */
    readonly sequence: CommitSequence;
    /** The newest meta record. */
    readonly generation: Generation;
}

/** No keyring may be larger. A log seal has at most 256 bytes. Neither is ever empty. */
export const KEYRING_BYTES_MAX: number;

/** The state that a handle has seen already, so that `read` gives it only the news. */
export interface KnownState {
    /** The meta record. */
    readonly generation: Generation;
    /** The newest log record. */
    readonly sequence: CommitSequence;
}

/** A lease that its coordinator can want back, and take away. */
export class Lease implements WriterLease {
    /** Another handle waits for it. */
    wanted: boolean;
    /** Another handle has it. */
    lost: boolean;
    /** Handles that the coordinator can't see may write as well. */
    isShared: boolean;
    /** `letGo` passes the right on. It is called once, unless the lease is lost first. */
    constructor(letGo: () => void);
    /** Called once, also if it is wanted already. */
    onWanted(callback: () => void): void;
    /** Lets another handle have it. Idempotent. */
    release(): void;
    /** Used by the coordinator: another handle waits. */
    want(): void;
    /** Used by the coordinator: another handle has it now. The holder hears of it as if it were wanted. */
    lose(): void;
}

/** A commit in the log. */
export interface LogRecord {
    /** Dense: each record's sequence is its predecessor's plus one, starting at 1. */
    readonly sequence: CommitSequence;
    /** The changes, encoded. */
    readonly bytes: Uint8Array;
}

/** There already where a backend or the cache is synchronous, and promised where it is not. */
export type MaybePromise<T> = T | Promise<T>;

/** The root of everything that is stored in pages. One exists per database, replaced whole by `commit`. */
export interface MetaRecord {
    /** Raised by one with each `commit`. The first is 1. */
    readonly generation: Generation;
    /** The pages hold every commit up to and including this one; log records after it are to be replayed. */
    readonly sequence: CommitSequence;
    /** The roots of all trees, encoded. */
    readonly bytes: Uint8Array;
}

/** No page may be larger: beyond 64 KiB IndexedDB engines store a record out of line, which costs several times more. */
export const PAGE_BYTES_MAX: number;

/** A page: trees consist of pages. */
export interface Page {
    /** The id, never used twice. */
    readonly id: PageId;
    /** Up to `PAGE_BYTES_MAX`, and what a wrapper adds. */
    readonly bytes: Uint8Array;
}

/** `index`: the position in the ids that were asked for. */
export type PageArrived = (index: number, bytes: Uint8Array) => void;

/**
 * Names one page of one database for ever. A page never changes after its write, and its id is never used for another
 * page. So a cached page can never be stale, in any tab. Positive safe integer.
 */
export type PageId = Brand<number, 'PageId'>;

/** One handle on a database of a backend. */
export interface PageStore {
    /**
     * The meta record, and the log after `meta.sequence`. With `known` whose generation is still current, only the log
     * records after `known.sequence`. The keyring and the log seal in any case. One backend transaction.
     */
    read(known?: KnownState): MaybePromise<StoreState>;
    /**
     * The bytes of each page in the order asked for, undefined for a missing one. How they are fetched (parallel gets, a
     * range, everything) is the store's business. At least one id; no id twice.
     *
     * `arrived` may be called for a page before all are read, with its position in `ids`. So the caller's work on it
     * overlaps with the reading of others. Never, for any of them, or more than once: the result alone counts. It does
     * not throw.
     */
    readPages(ids: readonly PageId[], arrived?: PageArrived): MaybePromise<readonly (Uint8Array | undefined)[]>;
    /**
     * Appends one log record. Fence: fails with PANNIER_STALE unless the newest record in the log is `record.sequence - 1`
     * (or the log is empty and `record.sequence` is 1). To keep that checkable, the log always retains its newest record. Also
     * fails with it if `record.sequence` is 1, no log seal is given, and there is a keyring: that was put by another handle since.
     *
     * `logSeal`, where it is given, replaces the log seal in the same transaction. It costs nothing where it is not given. After an append that
     * failed its record may be there without its log seal; the next one that succeeds sets it right.
     */
    append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): MaybePromise<void>;
    /**
     * Takes over the right to stage pages: from now on `stage` and `commit` with an earlier token fail with
     * PANNIER_STALE. Deletes every page whose id is at least `firstNewPageId` (left by a writer that died while it was
     * staging). Fails with PANNIER_STALE unless the stored meta record has `expectedGeneration` (0: no meta record).
     */
    claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void>;
    /** Writes pages that nothing refers to yet, in one transaction. Fails with PANNIER_STALE if another has claimed since. */
    stage(token: string, pages: readonly Page[]): MaybePromise<void>;
    /**
     * Atomically puts and frees pages, replaces the meta record, ends any claim, and truncates the log. Records with a
     * sequence lower than `meta.sequence` are deleted; the equal one stays, as the fence of `append`.
     */
    commit(commit: Commit): MaybePromise<void>;
    /**
     * Replaces the keyring. Fails with PANNIER_STALE unless the stored keyring equals `expected`, byte by byte. With
     * `expected` undefined the database must be empty: no keyring, no meta record, no log.
     */
    putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): MaybePromise<void>;
    /**
     * Replaces the bytes of existing pages, in one transaction; ignores missing ones. Generation, claim and log stay as
     * they are. As `stage`, it is durable not later than the next `append`, `commit` or `putKeyring`. Fails with
     * PANNIER_STALE unless the keyring that is stored equals `keyring`.
     */
    replacePages(keyring: Uint8Array, pages: readonly Page[]): MaybePromise<void>;
    /** Ids of all stored pages, ascending; for integrity checks. */
    listPages(): MaybePromise<readonly PageId[]>;
    /** Bytes used in the backend as far as it can tell; undefined where it can't. */
    usedBytes(): MaybePromise<number | undefined>;
    /**
     * Calls `listener` once, as soon as the handle is of no use because its database is gone: destroyed, or moved. The calls of a store
     * that can't know fail with PANNIER_CLOSED, which is heard later.
     */
    onGone?(listener: GoneListener): void;
    /** Closes it. Idempotent. Later calls fail with PANNIER_CLOSED. */
    close(): MaybePromise<void>;
}

/** A database of a backend, without the handle that is closed for itself. */
export interface SharedDatabase extends Omit<PageStore, 'close' | 'onGone'> {
    /** True after the database was closed or destroyed: no handle can use it any more. */
    readonly closed: boolean;
}

/** Where the handles of one database can be: they must find one another to share the writer lease. */
export type SharingScope = 'process' | 'origin' | 'servers';

/** The result of `read`. */
export interface StoreState {
    /** Undefined while nothing was ever committed. */
    readonly meta: MetaRecord | undefined;
    /** The log's records, ascending and dense. */
    readonly log: readonly LogRecord[];
    /** The keyring that `putKeyring` put last. */
    readonly keyring: Uint8Array | undefined;
    /** The log seal that came last with an `append` or a `commit`: it vouches for the end of the log. */
    readonly logSeal: Uint8Array | undefined;
}

/** By so much a wrapper may make a page larger: a store takes pages of `PAGE_BYTES_MAX + WRAPPER_BYTES_MAX`. */
export const WRAPPER_BYTES_MAX = 64;

/** A holder of the lease that gives no sign of life for so long, though asked for it, loses it. */
export const WRITER_SILENCE_MS_MAX = 3000;

/** The right to write, until released or taken away. */
export interface WriterLease {
    /** Another handle waits for the lease: release it soon (after the group commit under way). */
    readonly wanted: boolean;
    /** Taken away (this handle was frozen for too long): the fences will refuse what it tries to write. */
    readonly lost: boolean;
    /** Handles that the coordinator can't see may write as well: only the fences keep them apart. */
    readonly isShared?: boolean;
    /** Called when `wanted` becomes true, also when it is so already. */
    onWanted(callback: () => void): void;
    /** Releases it. Idempotent. */
    release(): void;
}

/** A page store over a database that others may use too. `leave` is called once, when it is closed. */
export function handleOn(database: SharedDatabase, leave: () => MaybePromise<void>): PageStore;

type Brand<T, Name extends string> = T & {
    readonly [brand]: Name;
};

/**
 * The only access to time, chance and the event loop. It is passed in, so that a seed replays a whole run. Only the
 * entries of packages call `Date.now`, `Math.random` and `setTimeout`; lint forbids the rest.
 */
interface Environment {
    /** Milliseconds on a clock that never runs backwards; for slices and statistics, never stored. */
    now(): number;
    /** Milliseconds since 1970, by the clock on the wall. It may jump, both ways. */
    wallClock(): number;
    /** Bytes that nobody can guess. */
    randomBytes(length: number): Uint8Array<ArrayBuffer>;
    /** 128 random bits as 32 lower-case hex digits. */
    randomId(): string;
    /** Resolves in a later task, after the event loop had a chance to do other work (paint, input, I/O). */
    yield(): Promise<void>;
    /** Calls back once, not before `delayMs`; the function returned cancels it. A Node process stays alive for it only if `isAwaited`. */
    after(delayMs: number, callback: () => void, isAwaited?: boolean): () => void;
}

/** Numbers and strings that must not be confused with one another. The brand exists only in the types. */
const brand: unique symbol;
