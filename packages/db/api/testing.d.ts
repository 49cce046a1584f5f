// What `pannier/testing` offers. Written by `npm run api`.

import type {
  DatabaseStorage,
  ErrorCode,
  PannierError,
} from 'pannier'

/** Thrown by a check that does not hold. */
export class CheckError extends Error {
    constructor(message: string);
}

/** A storage whose handles all count into one place. */
export interface CountingStorage extends DatabaseStorage {
    /** What was counted since the last `take`. */
    readonly counts: Readonly<StoreCounts>;
    /** Returns the counts and starts again from zero. */
    take(): StoreCounts;
}

/** A stable code (`PANNIER_CLOSED`) or an error class (`TypeError`). */
export type ExpectedError = string | (new (...parameters: never[]) => Error);

/** `happens`: whether the call takes effect all the same. */
export type Fault = {
    readonly kind: 'error';
    readonly code: ErrorCode;
    readonly happens: boolean;
} | {
    readonly kind: 'gone';
    readonly happens: boolean;
} | {
    readonly kind: 'power';
    readonly happens: boolean;
} | {
    readonly kind: 'closed';
};

/** A storage and the name of a database in it, made for one test. */
export interface PageStoreFixture {
    /** The storage under test. */
    readonly storage: DatabaseStorage;
    /** The name of the test's database. */
    readonly name: string;
}

/** What the suite of page stores needs: a test function, and a storage for each test. */
export interface PageStoreSuiteContext extends SuiteContext<() => Promise<PageStoreFixture>> {
    /** It keeps the keyring and the log seal for itself: the cases about these are left out. */
    readonly seals?: boolean;
}

/** One database of a simulated storage. */
export class SimulatedDatabase {
    /** True after `destroy`. */
    get destroyed(): boolean;
    /** Deletes everything. */
    destroy(): void;
    /** As `PageStore.read`. */
    read(known: KnownState | undefined): StoreState;
    /** As `PageStore.readPages`. */
    readPages(ids: readonly PageId[]): (Uint8Array | undefined)[];
    /** As `PageStore.listPages`. */
    listPages(): PageId[];
    /** As `PageStore.usedBytes`. */
    usedBytes(): number;
    /** As `PageStore.append`. */
    append(record: LogRecord, durability: Durability, logSeal: Uint8Array | undefined): void;
    /** As `PageStore.putKeyring`. */
    putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): void;
    /** As `PageStore.replacePages`. */
    replacePages(keyring: Uint8Array, pages: readonly Page[]): void;
    /** As `PageStore.claim`. */
    claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): void;
    /** As `PageStore.stage`. */
    stage(token: string, pages: readonly Page[]): void;
    /** As `PageStore.commit`. */
    commit(commit: Commit): void;
    /** Takes back the newest changes that are not durable: those beyond `share` (0 to 1) of them. */
    losePower(share: number): void;
}

/** A storage in memory that fails, delays and loses what a real one may. */
export class SimulatedStorage implements DatabaseStorage {
    /** 'simulated'. */
    readonly kind: string;
    /** Who shares its databases. */
    readonly scope: SharingScope;
    /** Calls made up to now: opens, reads, reads of pages and whatever writes, of all handles. */
    calls: number;
    /** Writes beyond it fail with PANNIER_QUOTA_EXCEEDED. */
    quotaBytes: number;
    /** Called when a fault has made handles go: what waits for them waits for ever. */
    onGone: () => void;
    /** Runs an answer, at once or later. */
    readonly schedule: ((step: () => void) => void) | undefined;
    constructor({ random, schedule }?: SimulationOptions);
    /** The call with that number (`calls` counts them, the first is 1) meets the fault. */
    failAt(call: number, fault: Fault): void;
    /** No call meets a fault from now on. */
    disarm(): void;
    /** Names a database. */
    identify(name: string): string;
    /** Whether a database was opened under that name. */
    has(name: string): Promise<boolean>;
    /** Opens a database, and makes it if there is none. */
    open(name: string): Promise<PageStore>;
    /** Deletes a database. */
    destroy(name: string): Promise<void>;
    /** Every handle is gone; what was not durable is lost, or the newest part of it. */
    losePower(): void;
    /** Used by the handles: counts a call and tells its fate. */
    nextFault(): Fault | undefined;
    /** Used by the handles: the process, or all of them, went. */
    strike(handle: SimulatedPageStore | undefined, fault: Fault): Promise<never>;
}

/** Which faults a simulated storage has. */
export interface SimulationOptions {
    /** Makes every choice: 0 <= random() < 1. Left out: a loss of power loses everything that may be lost. */
    readonly random?: () => number;
    /** Runs a step later. Left out: every call is synchronous. `randomOrder` makes one. */
    readonly schedule?: (step: () => void) => void;
}

/** Calls are counted when made, bytes read when they arrive, bytes written when they are handed over. */
export interface StoreCounts {
    /** Calls of `open`. */
    opens: number;
    /** Calls that read. */
    reads: number;
    /** Log records that were read. */
    recordsRead: number;
    /** Calls of `readPages`: batches. */
    pageBatches: number;
    /** Pages that were read. */
    pagesRead: number;
    /** Bytes that were read. */
    bytesRead: number;
    /** Log records that were appended. */
    appends: number;
    /** Calls of `claim`. */
    claims: number;
    /** Calls of `stage`. */
    stages: number;
    /** Calls of `commit`. */
    commits: number;
    /** Keyrings that were written. */
    keyrings: number;
    /** Calls of `replacePages`; their pages count as written. */
    replacements: number;
    /** Pages that were written. */
    pagesWritten: number;
    /** Pages that were freed. */
    pagesFreed: number;
    /** Bytes that were written. */
    bytesWritten: number;
}

/** What a suite is given. `Create` is the function that makes a fresh instance of what is under test. */
export interface SuiteContext<Create> {
    /** Registers a test, as the test runner's `test` does. */
    readonly test: Test;
    /** Makes what a test works on. */
    readonly create: Create;
}

/** Declares one case. A case fails if its body throws or rejects. */
export type Test = (name: string, body: () => void | Promise<void>) => void;

/** A clock that a test moves. */
export interface VirtualEnvironment extends Environment {
    /** How many timers wait. */
    readonly timerCount: number;
    /** Resolves when nothing is left but what waits for a timer or for somebody outside. The clock stands still. */
    idle(): Promise<void>;
    /** Moves the clock by `ms` milliseconds. Timers that are due meanwhile fire in order, each when all before it has gone idle. */
    advance(ms: number): Promise<void>;
    /**
     * Moves the clock from timer to timer until the condition holds.
     *
     * @throws CheckError if it does not hold after `msMax` milliseconds of this clock (a day by default), or no timer is left
     */
    until(condition: () => unknown, msMax?: number): Promise<void>;
    /** Sets the wall clock forward, or back, while the other clock stands still: as an operator or a bad battery does. */
    jump(ms: number): void;
}

/** How a virtual environment begins. */
export interface VirtualOptions {
    /** What chance follows from: 1 by default. */
    readonly seed?: number;
    /** What the wall clock shows at first, in milliseconds since 1970. */
    readonly startMs?: number;
}

/** Throws if the value is undefined. */
export function assertDefined<T>(value: T | undefined | null, what?: string): asserts value is T;

/** Deep equality: plain objects, arrays, bytes, Maps, Sets, Dates, errors (name, code, message); NaN equals NaN, -0 differs from 0. */
export function assertEqual<T>(actual: T, expected: T, what?: string): void;

/** Fails unless `promise` rejects; with `expected`, with an error of that class or with that `code`. Returns the reason. */
export function assertRejects(promise: PromiseLike<unknown>, expected?: ExpectedError): Promise<unknown>;

/** Fails unless `body` throws; with `expected`, an error of that class or with that `code`. Returns what was thrown. */
export function assertThrows(body: () => unknown, expected?: ExpectedError): unknown;

/** Throws if the condition does not hold. */
export function assertTrue(condition: boolean, what?: string): asserts condition;

/** Calls that cost a transaction of the backend; opening is not among them. */
export function backendCalls(counts: Readonly<StoreCounts>): number;

/** As `backendCalls`, those that write. */
export function backendWrites(counts: Readonly<StoreCounts>): number;

/**
 * @example
 * const storage = counting(memory())
 * const db = await open('shop', { storage })
 * storage.take()
 * await people.put(ann)
 * assertEqual(backendCalls(storage.take()), 1)
 */
export function counting(storage: DatabaseStorage): CountingStorage;

/** The conformance suite of page stores: registers one test for each promise of the contract. */
export function pageStoreSuite(context: PageStoreSuiteContext): void;

/** Puts `prefix` before the name of each case, so that one suite can run over several instances in one report. */
export function prefixed(test: Test, prefix: string): Test;

/**
 * As `storage`, later. With another `scope` its handles do not hear of those of `storage`, as if the lease had been taken away.
 *
 * @param chance A seed, which gives the same pauses in the same order, or a source of chance.
 * @example
 * const db = await open('shop', { storage: slow(memory(), 1) })
 */
export function slow(storage: DatabaseStorage, chance: number | Random, scope?: DatabaseStorage['scope']): DatabaseStorage;

/**
 * Makes an environment for `open` whose clock stands still until the test moves it.
 *
 * @example
 * const clock = virtualEnvironment({ seed: 7 })
 * const db = await open('notes', { storage: memory(), environment: clock })
 * await clock.advance(60_000)
 */
export function virtualEnvironment({ seed, startMs }?: VirtualOptions): VirtualEnvironment;

type Brand<T, Name extends string> = T & {
    readonly [brand]: Name;
};

/** Pages and the meta record, put together. */
interface Commit {
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
type CommitSequence = Brand<number, 'CommitSequence'>;

/** 'relaxed': survives the end of the process or tab. 'strict': survives a loss of power. */
type Durability = 'relaxed' | 'strict';

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

/** Numbers the meta records of one database: each storage checkpoint raises it by one. 0: nothing was written yet. */
type Generation = Brand<number, 'Generation'>;

/** `why`: PANNIER_CLOSED. */
type GoneListener = (why: PannierError) => void;

/** The state that a handle has seen already, so that `read` gives it only the news. */
interface KnownState {
    /** The meta record. */
    readonly generation: Generation;
    /** The newest log record. */
    readonly sequence: CommitSequence;
}

/** A commit in the log. */
interface LogRecord {
    /** Dense: each record's sequence is its predecessor's plus one, starting at 1. */
    readonly sequence: CommitSequence;
    /** The changes, encoded. */
    readonly bytes: Uint8Array;
}

/** There already where a backend or the cache is synchronous, and promised where it is not. */
type MaybePromise<T> = T | Promise<T>;

/** The root of everything that is stored in pages. One exists per database, replaced whole by `commit`. */
interface MetaRecord {
    /** Raised by one with each `commit`. The first is 1. */
    readonly generation: Generation;
    /** The pages hold every commit up to and including this one; log records after it are to be replayed. */
    readonly sequence: CommitSequence;
    /** The roots of all trees, encoded. */
    readonly bytes: Uint8Array;
}

/** A page: trees consist of pages. */
interface Page {
    /** The id, never used twice. */
    readonly id: PageId;
    /** Up to `PAGE_BYTES_MAX`, and what a wrapper adds. */
    readonly bytes: Uint8Array;
}

/** `index`: the position in the ids that were asked for. */
type PageArrived = (index: number, bytes: Uint8Array) => void;

/**
 * Names one page of one database for ever. A page never changes after its write, and its id is never used for another
 * page. So a cached page can never be stale, in any tab. Positive safe integer.
 */
type PageId = Brand<number, 'PageId'>;

/** One handle on a database of a backend. */
interface PageStore {
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

/** Seeded chance for tests: the same seed, the same run. */
interface Random {
    /** 0 <= x < 1 */
    next(): number;
    /** 0 <= n < limit, a whole number. */
    below(limit: number): number;
    chance(probability: number): boolean;
    pick<T>(items: readonly T[]): T;
    /**
     * A stream for one of several that run at the same time: what each draws does not depend on who comes first. Its start counts as
     * drawn. What it draws does not count, as the others decide how far it gets.
     */
    fork(): Random;
}

/** Where the handles of one database can be: they must find one another to share the writer lease. */
type SharingScope = 'process' | 'origin' | 'servers';

class SimulatedPageStore implements PageStore {
    gone: boolean;
    constructor(database: SimulatedDatabase, owner: SimulatedStorage);
    read(known?: KnownState): MaybePromise<StoreState>;
    readPages(ids: readonly PageId[]): MaybePromise<readonly (Uint8Array | undefined)[]>;
    append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): MaybePromise<void>;
    claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void>;
    stage(token: string, pages: readonly Page[]): MaybePromise<void>;
    commit(commit: Commit): MaybePromise<void>;
    putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): MaybePromise<void>;
    replacePages(keyring: Uint8Array, pages: readonly Page[]): MaybePromise<void>;
    /** Never fails and counts as no call: it is for checks. */
    listPages(): MaybePromise<readonly PageId[]>;
    usedBytes(): MaybePromise<number | undefined>;
    close(): MaybePromise<void>;
}

/** The result of `read`. */
interface StoreState {
    /** Undefined while nothing was ever committed. */
    readonly meta: MetaRecord | undefined;
    /** The log's records, ascending and dense. */
    readonly log: readonly LogRecord[];
    /** The keyring that `putKeyring` put last. */
    readonly keyring: Uint8Array | undefined;
    /** The log seal that came last with an `append` or a `commit`: it vouches for the end of the log. */
    readonly logSeal: Uint8Array | undefined;
}

/** Numbers and strings that must not be confused with one another. The brand exists only in the types. */
const brand: unique symbol;
