// What `pannier` offers. Written by `npm run api`.

export const BATCH_DOCUMENTS_MAX = 1000000;

export type BuiltInReduce = '_sum' | '_count' | '_stats' | '_approx_count_distinct';

export type BuiltInResult<Reduce, Value> = Reduce extends '_sum' ? Value : Reduce extends '_stats' ? NumberStatistics : number;

export const COLLECTIONS_MAX = 1000;

export class Collection<T extends object> extends CollectionOperations<T> {
    ready(): Promise<void>;
    indexes(): Promise<IndexInfo[]>;
    dropIndex(name: string): Promise<boolean>;
    view<K, V>(name: string, definition: ViewDefinition<Stored<T>, K, V, undefined>): View<Stored<T>, K, V>;
    view<K, V, B extends BuiltInReduce>(name: string, definition: ViewDefinition<Stored<T>, K, V, B>): View<Stored<T>, K, V, BuiltInResult<B, V>>;
    view<K, V, R>(name: string, definition: ViewDefinition<Stored<T>, K, V, ReduceFunction<K, V, R>>): View<Stored<T>, K, V, R>;
    query<K, V>(definition: ViewDefinition<Stored<T>, K, V, undefined>, options?: ViewOptions): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, never>>>;
    query<K, V, B extends BuiltInReduce>(definition: ViewDefinition<Stored<T>, K, V, B>, options?: ViewOptions): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, BuiltInResult<B, V>>>>;
    query<K, V, R>(definition: ViewDefinition<Stored<T>, K, V, ReduceFunction<K, V, R>>, options?: ViewOptions): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, R>>>;
}

export interface CollectionChange {
    readonly ids: readonly string[] | undefined;
    readonly dropped: boolean;
}

export class CollectionOperations<T extends object> {
    readonly name: string;
    get(id: string): Promise<Stored<T> | undefined>;
    get(ids: readonly string[]): Promise<(Stored<T> | undefined)[]>;
    insert(document: DocumentInput<T>): Promise<WriteResult>;
    insert(documents: readonly DocumentInput<T>[]): Promise<WriteResult[]>;
    put(document: DocumentInput<T>): Promise<WriteResult>;
    put(documents: readonly DocumentInput<T>[]): Promise<WriteResult[]>;
    upsert(document: DocumentInput<T>): Promise<WriteResult>;
    upsert(documents: readonly DocumentInput<T>[]): Promise<WriteResult[]>;
    update(id: string, change: (document: Stored<T>) => DocumentInput<T> | undefined): Promise<WriteResult>;
    update(ids: readonly string[], change: (document: Stored<T>) => DocumentInput<T> | undefined): Promise<WriteResult[]>;
    delete(reference: DocumentReference): Promise<WriteResult | undefined>;
    delete(references: readonly DocumentReference[]): Promise<(WriteResult | undefined)[]>;
    find(selector?: Selector<T>): Query<Stored<T>>;
}

export interface CollectionOptions {
    readonly indexes?: readonly IndexInput[];
    readonly signal?: AbortSignal;
    readonly onProgress?: (done: number) => void;
}

export const DOCUMENT_BYTES_MAX: number;

export const DOCUMENT_DEPTH_MAX = 200;

export class Database {
    readonly name: string;
    get storage(): string;
    collection<T extends object = JsonObject>(name: string, options?: CollectionOptions): Collection<T>;
    collections(): Promise<string[]>;
    dropCollection(name: string): Promise<boolean>;
    transaction<R>(body: (tx: Transaction) => R | Promise<R>): Promise<R>;
    onChange(listener: (change: DatabaseChange) => void): () => void;
    refresh(): Promise<void>;
    checkpoint(): Promise<void>;
    check(): Promise<string[]>;
    close(): Promise<void>;
    destroy(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

export interface DatabaseChange {
    readonly collections: ReadonlyMap<string, CollectionChange>;
    readonly local: boolean;
}

export type DocumentInput<T extends object> = Omit<T, '_id' | '_rev'> & {
    readonly _id?: string;
    readonly _rev?: string;
};

export type DocumentReference = string | {
    readonly _id: string;
    readonly _rev?: string;
};

export type Durability = 'relaxed' | 'strict';

export type Emit<Key = unknown, Value = unknown> = (key: Key, value?: Value) => void;

export type ErrorCode = 'PANNIER_LOCKED' | 'PANNIER_BLOCKED' | 'PANNIER_OPEN_FAILED' | 'PANNIER_UNAVAILABLE' | 'PANNIER_WRONG_FORMAT' | 'PANNIER_NEWER_FORMAT' | 'PANNIER_CLOSED' | 'PANNIER_CORRUPT' | 'PANNIER_IO' | 'PANNIER_QUOTA_EXCEEDED' | 'PANNIER_STALE' | 'PANNIER_RECOVERY_NEEDED' | 'PANNIER_SNAPSHOT_EXPIRED' | 'PANNIER_CONFLICT' | 'PANNIER_NOT_FOUND' | 'PANNIER_KEY_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_DEEP' | 'PANNIER_BATCH_TOO_LARGE' | 'PANNIER_INVALID_DOCUMENT' | 'PANNIER_INDEX_MISMATCH' | 'PANNIER_LIMIT' | 'PANNIER_ABORTED';

export interface Explanation {
    readonly plan: PlanStep;
    readonly rows: number;
    readonly rowsExact: boolean;
    readonly sortedByIndex: boolean;
    readonly covering: boolean;
    readonly cost: number;
}

export const ID_BYTES_MAX = 4096;

export const INDEXES_MAX = 64;

export const INDEX_FIELDS_MAX = 4;

export interface IndexField {
    readonly path: string;
    readonly descending: boolean;
}

export interface IndexInfo {
    readonly name: string;
    readonly fields: readonly IndexField[];
    readonly multi: boolean;
    readonly ready: boolean;
}

export type IndexInput = string | readonly string[] | {
    readonly on: string | readonly string[];
    readonly multi?: boolean;
    readonly name?: string;
};

export type JsonObject = Record<string, unknown>;

export const NAME_CHARS_MAX = 200;

export interface NumberStatistics {
    readonly sum: number;
    readonly count: number;
    readonly min: number;
    readonly max: number;
    readonly sumsqr: number;
}

export interface OpenOptions {
    readonly storage?: Storage;
    readonly durability?: Durability;
    readonly cacheBytesMax?: number;
    readonly collections?: Readonly<Record<string, Pick<CollectionOptions, 'indexes'>>>;
    readonly onProgress?: (done: number) => void;
    readonly signal?: AbortSignal;
}

export class PannierError extends Error {
    readonly code: ErrorCode;
    readonly details: Readonly<Record<string, unknown>>;
    constructor(code: ErrorCode, message: string, options?: PannierErrorOptions);
}

export interface PannierErrorOptions {
    readonly cause?: unknown;
    readonly details?: Readonly<Record<string, unknown>>;
}

export class Query<T extends object> implements AsyncIterable<T> {
    sort(...fields: string[]): Query<T>;
    skip(rows: number): Query<T>;
    limit(rows: number): Query<T>;
    fields<Name extends keyof T & string>(...names: Name[]): Query<Pick<T, Name>>;
    fields(...paths: string[]): Query<Partial<T>>;
    signal(signal: AbortSignal): Query<T>;
    toArray(): Promise<T[]>;
    first(): Promise<T | undefined>;
    count(): Promise<number>;
    explain(): Promise<Explanation>;
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
}

export type ReduceFunction<Key = unknown, Value = unknown, Result = unknown> = (keys: (readonly [key: Key, id: string])[] | null, values: (Value | Result)[], rereduce: boolean) => Result;

export interface ReducedRow<Key = unknown, Value = unknown> {
    readonly key: Key;
    readonly value: Value;
}

export type Selector<T> = {
    readonly [Name in keyof T]?: unknown;
} & {
    readonly [path: string]: unknown;
};

export interface Storage {
    readonly kind: string;
    readonly scope: SharingScope;
    identify(name: string): string;
    open(name: string): Promise<PageStore>;
    destroy(name: string): Promise<void>;
}

export type Stored<T extends object> = T & {
    readonly _id: string;
    readonly _rev: string;
};

export class Transaction {
    collection<T extends object = JsonObject>(name: string): CollectionOperations<T>;
}

export class View<Document, Key = unknown, Value = unknown, Result = never> {
    readonly name: string | undefined;
    query(options: ViewOptions & {
        readonly reduce: false;
    }): Promise<ViewResult<Key, Value, ViewRow<Key, Value, Document>>>;
    query(options?: ViewOptions): Promise<ViewResult<Key, Value, ViewAnswer<Document, Key, Value, Result>>>;
    rows(options: ViewOptions & {
        readonly reduce: false;
    }): AsyncGenerator<ViewRow<Key, Value, Document>, void, undefined>;
    rows(options?: ViewOptions): AsyncGenerator<ViewAnswer<Document, Key, Value, Result>, void, undefined>;
    update(options?: Pick<ViewOptions, 'signal' | 'onProgress'>): Promise<void>;
    info(): Promise<ViewInfo>;
    drop(): Promise<boolean>;
}

export type ViewAnswer<Document, Key, Value, Result> = [Result] extends [never] ? ViewRow<Key, Value, Document> : ReducedRow<Key | null, Result>;

export interface ViewDefinition<Document, Key, Value, Reduce> {
    readonly map: (document: Document, emit: Emit<Key, Value>) => unknown;
    readonly reduce?: Reduce;
    readonly version?: string | number;
}

export interface ViewInfo {
    readonly name: string;
    readonly rows: number;
    readonly updateSeq: number;
    readonly pending: number;
    readonly failures: number;
    readonly lastFailure: {
        readonly id: string;
        readonly message: string;
    } | undefined;
}

export interface ViewOptions {
    readonly key?: unknown;
    readonly keys?: readonly unknown[];
    readonly gte?: unknown;
    readonly gt?: unknown;
    readonly lte?: unknown;
    readonly lt?: unknown;
    readonly fromId?: string;
    readonly toId?: string;
    readonly descending?: boolean;
    readonly skip?: number;
    readonly limit?: number;
    readonly reduce?: boolean;
    readonly group?: boolean | number;
    readonly includeDocs?: boolean;
    readonly conflicts?: boolean;
    readonly update?: 'before' | 'after' | 'never';
    readonly signal?: AbortSignal;
    readonly onProgress?: (done: number) => void;
}

export interface ViewResult<Key = unknown, Value = unknown, Row = ViewRow<Key, Value> | ReducedRow<Key, Value>> {
    readonly total?: number;
    readonly offset?: number;
    readonly updateSeq: number;
    readonly rows: Row[];
}

export interface ViewRow<Key = unknown, Value = unknown, Document = unknown> {
    readonly id: string;
    readonly key: Key;
    readonly value: Value;
    readonly doc?: Document | null;
}

export interface WriteResult {
    readonly id: string;
    readonly rev: string;
}

export function isPannierError(error: unknown, code?: ErrorCode): error is PannierError;

export function open(name: string, options?: OpenOptions): Promise<Database>;

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

type PageId = Brand<number, 'PageId'>;

interface PageStore {
    read(known?: KnownState): MaybePromise<StoreState>;
    readPages(ids: readonly PageId[]): MaybePromise<readonly (Uint8Array | undefined)[]>;
    append(record: LogRecord, durability: Durability): MaybePromise<void>;
    claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void>;
    stage(token: string, pages: readonly Page[]): MaybePromise<void>;
    commit(commit: Commit): MaybePromise<void>;
    listPages(): MaybePromise<readonly PageId[]>;
    usedBytes(): MaybePromise<number | undefined>;
    close(): MaybePromise<void>;
}

interface PlanStep {
    readonly step: 'full scan' | 'id scan' | 'index scan' | 'union' | 'nothing' | 'fetch' | 'filter' | 'sort' | 'skip' | 'limit' | 'project';
    readonly [detail: string]: unknown;
}

type SharingScope = 'process' | 'origin';

interface StoreState {
    readonly meta: MetaRecord | undefined;
    readonly log: readonly LogRecord[];
}

const brand: unique symbol;
