// What `pannier/opfs` offers. Written by `npm run api`.

export interface OpfsOptions {
    readonly worker?: () => Worker;
    readonly fallback?: Storage;
}

export function opfs({ worker, fallback }?: OpfsOptions): Storage;

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

type Durability = 'relaxed' | 'strict';

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

type SharingScope = 'process' | 'origin';

interface Storage {
    readonly kind: string;
    readonly scope: SharingScope;
    identify(name: string): string;
    open(name: string): Promise<PageStore>;
    destroy(name: string): Promise<void>;
}

interface StoreState {
    readonly meta: MetaRecord | undefined;
    readonly log: readonly LogRecord[];
    readonly header: Uint8Array | undefined;
    readonly head: Uint8Array | undefined;
}

const brand: unique symbol;
