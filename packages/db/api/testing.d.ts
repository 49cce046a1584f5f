// What `pannier/testing` offers. Written by `npm run api`.

import type {
  Durability,
  ErrorCode,
  Storage,
} from 'pannier'

export class CheckError extends Error {
    constructor(message: string);
}

export interface CountingStorage extends Storage {
    readonly counts: Readonly<StoreCounts>;
    take(): StoreCounts;
}

export type ExpectedError = string | (new (...parameters: never[]) => Error);

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

export interface PageStoreFixture {
    readonly storage: Storage;
    readonly name: string;
}

export interface PageStoreSuiteContext extends SuiteContext<() => Promise<PageStoreFixture>> {
    readonly seals?: boolean;
}

export class SimulatedDatabase {
    get destroyed(): boolean;
    destroy(): void;
    read(known: KnownState | undefined): StoreState;
    readPages(ids: readonly PageId[]): (Uint8Array | undefined)[];
    listPages(): PageId[];
    usedBytes(): number;
    append(record: LogRecord, durability: Durability, head: Uint8Array | undefined): void;
    putHeader(expected: Uint8Array | undefined, header: Uint8Array, durability: Durability): void;
    replacePages(header: Uint8Array, pages: readonly Page[]): void;
    claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): void;
    stage(token: string, pages: readonly Page[]): void;
    commit(commit: Commit): void;
    losePower(share: number): void;
}

export class SimulatedStorage implements Storage {
    readonly kind: string;
    readonly scope: SharingScope;
    calls: number;
    quotaBytes: number;
    onGone: () => void;
    readonly schedule: ((step: () => void) => void) | undefined;
    constructor({ random, schedule }?: SimulationOptions);
    failAt(call: number, fault: Fault): void;
    disarm(): void;
    identify(name: string): string;
    open(name: string): Promise<PageStore>;
    destroy(name: string): Promise<void>;
    losePower(): void;
    nextFault(): Fault | undefined;
    strike(handle: SimulatedPageStore | undefined, fault: Fault): Promise<never>;
}

export interface SimulationOptions {
    readonly random?: () => number;
    readonly schedule?: (step: () => void) => void;
}

export interface StoreCounts {
    opens: number;
    reads: number;
    recordsRead: number;
    pageBatches: number;
    pagesRead: number;
    bytesRead: number;
    appends: number;
    claims: number;
    stages: number;
    commits: number;
    headers: number;
    replacements: number;
    pagesWritten: number;
    pagesFreed: number;
    bytesWritten: number;
}

export interface SuiteContext<Create> {
    readonly test: Test;
    readonly create: Create;
}

export type Test = (name: string, body: () => void | Promise<void>) => void;

export function assertDefined<T>(value: T | undefined | null, what?: string): asserts value is T;

export function assertEqual<T>(actual: T, expected: T, what?: string): void;

export function assertRejects(promise: PromiseLike<unknown>, expected?: ExpectedError): Promise<unknown>;

export function assertThrows(body: () => unknown, expected?: ExpectedError): unknown;

export function assertTrue(condition: boolean, what?: string): asserts condition;

export function backendCalls(counts: Readonly<StoreCounts>): number;

export function backendWrites(counts: Readonly<StoreCounts>): number;

export function counting(storage: Storage): CountingStorage;

export function pageStoreSuite(context: PageStoreSuiteContext): void;

export function prefixed(test: Test, prefix: string): Test;

export function slow(storage: Storage, chance: number | Random, scope?: Storage['scope']): Storage;

type Brand<T, Name extends string> = T & {
    readonly [brand]: Name;
};

interface Commit {
    readonly expectedGeneration: Generation;
    readonly claim?: string;
    readonly pages: Iterable<Page>;
    readonly free: readonly PageId[];
    readonly meta: MetaRecord;
    readonly firstNewPageId: PageId;
    readonly record?: LogRecord;
    readonly head?: Uint8Array;
    readonly durability: Durability;
}

type CommitSequence = Brand<number, 'CommitSequence'>;

type Generation = Brand<number, 'Generation'>;

interface KnownState {
    readonly generation: Generation;
    readonly sequence: CommitSequence;
}

interface LogRecord {
    readonly sequence: CommitSequence;
    readonly bytes: Uint8Array;
}

type MaybePromise<T> = T | Promise<T>;

interface MetaRecord {
    readonly generation: Generation;
    readonly sequence: CommitSequence;
    readonly bytes: Uint8Array;
}

interface Page {
    readonly id: PageId;
    readonly bytes: Uint8Array;
}

type PageArrived = (index: number, bytes: Uint8Array) => void;

type PageId = Brand<number, 'PageId'>;

interface PageStore {
    read(known?: KnownState): MaybePromise<StoreState>;
    readPages(ids: readonly PageId[], arrived?: PageArrived): MaybePromise<readonly (Uint8Array | undefined)[]>;
    append(record: LogRecord, durability: Durability, head?: Uint8Array): MaybePromise<void>;
    claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void>;
    stage(token: string, pages: readonly Page[]): MaybePromise<void>;
    commit(commit: Commit): MaybePromise<void>;
    putHeader(expected: Uint8Array | undefined, header: Uint8Array, durability: Durability): MaybePromise<void>;
    replacePages(header: Uint8Array, pages: readonly Page[]): MaybePromise<void>;
    listPages(): MaybePromise<readonly PageId[]>;
    usedBytes(): MaybePromise<number | undefined>;
    close(): MaybePromise<void>;
}

interface Random {
    next(): number;
    below(limit: number): number;
    chance(probability: number): boolean;
    pick<T>(items: readonly T[]): T;
}

type SharingScope = 'process' | 'origin';

class SimulatedPageStore implements PageStore {
    gone: boolean;
    constructor(database: SimulatedDatabase, owner: SimulatedStorage);
    read(known?: KnownState): MaybePromise<StoreState>;
    readPages(ids: readonly PageId[]): MaybePromise<readonly (Uint8Array | undefined)[]>;
    append(record: LogRecord, durability: Durability, head?: Uint8Array): MaybePromise<void>;
    claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void>;
    stage(token: string, pages: readonly Page[]): MaybePromise<void>;
    commit(commit: Commit): MaybePromise<void>;
    putHeader(expected: Uint8Array | undefined, header: Uint8Array, durability: Durability): MaybePromise<void>;
    replacePages(header: Uint8Array, pages: readonly Page[]): MaybePromise<void>;
    listPages(): MaybePromise<readonly PageId[]>;
    usedBytes(): MaybePromise<number | undefined>;
    close(): MaybePromise<void>;
}

interface StoreState {
    readonly meta: MetaRecord | undefined;
    readonly log: readonly LogRecord[];
    readonly header: Uint8Array | undefined;
    readonly head: Uint8Array | undefined;
}

const brand: unique symbol;
