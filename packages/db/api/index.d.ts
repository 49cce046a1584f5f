// What `pannier` offers. Written by `npm run api`.

export interface AtomicOptions {
    readonly atomic?: true;
}

export const BATCH_DOCUMENTS_MAX = 1000000;

export interface BatchOptions {
    readonly atomic?: boolean;
}

export type BulkGetResult<T extends object> = {
    readonly id: string;
    readonly ok: RevisionDocument<T>;
} | {
    readonly id: string;
    readonly missing: string | undefined;
};

export const COLLECTIONS_MAX = 1000;

export interface Change<T extends object = StoredDocument> {
    readonly seq: number;
    readonly id: string;
    readonly changes: readonly {
        readonly rev: string;
    }[];
    readonly deleted?: true;
    readonly doc?: T | Tombstone;
}

export class ChangeFeed<T extends object> implements AsyncIterable<Change<Stored<T>>> {
    get lastSeq(): number;
    toArray(): Promise<Change<Stored<T>>[]>;
    page(): Promise<ChangesPage<T>>;
    batches(): AsyncIterableIterator<readonly Change<Stored<T>>[]>;
    [Symbol.asyncIterator](): AsyncIterableIterator<Change<Stored<T>>>;
}

export interface ChangesOptions<T extends object = Record<string, unknown>> {
    readonly since?: number | 'now';
    readonly epoch?: string;
    readonly limit?: number;
    readonly descending?: boolean;
    readonly live?: boolean;
    readonly docs?: boolean;
    readonly conflicts?: boolean;
    readonly style?: 'winner' | 'all';
    readonly selector?: Selector<T>;
    readonly ids?: readonly string[];
    readonly filter?: (document: Stored<T> & {
        readonly _deleted?: true;
    }) => unknown;
    readonly signal?: AbortSignal;
}

export interface ChangesPage<T extends object> {
    readonly changes: Change<Stored<T>>[];
    readonly lastSeq: number;
    readonly pending: number;
}

export class Collection<T extends object> extends CollectionOperations<T> {
    ready(): Promise<void>;
    changes(options?: ChangesOptions<T>): ChangeFeed<T>;
    indexes(): Promise<IndexInfo[]>;
    dropIndex(name: string): Promise<boolean>;
}

export interface CollectionChange {
    readonly ids: readonly string[] | undefined;
    readonly dropped: boolean;
}

export interface CollectionInfo {
    readonly name: string;
    readonly documents: number;
    readonly deleted: number;
    readonly lastSeq: number;
    readonly epoch: string | undefined;
    readonly storedBytes: number | undefined;
}

export class CollectionOperations<T extends object> extends RevisionOperations<T> {
    get(id: string): Promise<Stored<T> | undefined>;
    get(id: string, options: RevisionReadOptions): Promise<RevisionDocument<T> | undefined>;
    get(ids: readonly string[]): Promise<(Stored<T> | undefined)[]>;
    get(ids: readonly string[], options: RevisionFields): Promise<(RevisionDocument<T> | undefined)[]>;
    insert(document: DocumentInput<T>, options?: AtomicOptions): Promise<WriteResult>;
    insert(documents: readonly DocumentInput<T>[], options?: AtomicOptions): Promise<WriteResult[]>;
    insert(document: DocumentInput<T>, options: BatchOptions): Promise<WriteOutcome>;
    insert(documents: readonly DocumentInput<T>[], options: BatchOptions): Promise<WriteOutcome[]>;
    put(document: DocumentInput<T>, options?: AtomicOptions & EditOptions): Promise<WriteResult>;
    put(documents: readonly DocumentInput<T>[], options?: AtomicOptions & EditOptions): Promise<WriteResult[]>;
    put(document: DocumentInput<T>, options: BatchOptions & EditOptions): Promise<WriteOutcome>;
    put(documents: readonly DocumentInput<T>[], options: BatchOptions & EditOptions): Promise<WriteOutcome[]>;
    upsert(document: DocumentInput<T>, options?: AtomicOptions): Promise<WriteResult>;
    upsert(documents: readonly DocumentInput<T>[], options?: AtomicOptions): Promise<WriteResult[]>;
    upsert(document: DocumentInput<T>, options: BatchOptions): Promise<WriteOutcome>;
    upsert(documents: readonly DocumentInput<T>[], options: BatchOptions): Promise<WriteOutcome[]>;
    update(id: string, change: (document: Stored<T>) => DocumentInput<T> | undefined): Promise<WriteResult>;
    update(ids: readonly string[], change: (document: Stored<T>) => DocumentInput<T> | undefined): Promise<WriteResult[]>;
    delete(reference: DocumentReference, options?: AtomicOptions): Promise<WriteResult | undefined>;
    delete(references: readonly DocumentReference[], options?: AtomicOptions): Promise<(WriteResult | undefined)[]>;
    delete(reference: DocumentReference, options: BatchOptions): Promise<WriteOutcome | undefined>;
    delete(references: readonly DocumentReference[], options: BatchOptions): Promise<(WriteOutcome | undefined)[]>;
    find(selector?: Selector<T>): Query<Stored<T>>;
    list(options: ListKeysOptions): DocumentList<ListRow<Stored<T>>>;
    list(options?: ListOptions): DocumentList<ListedRow<Stored<T>>>;
    get local(): LocalDocuments;
    info(): Promise<CollectionInfo>;
}

export interface CollectionOptions {
    readonly indexes?: readonly IndexInput[];
    readonly history?: boolean;
    readonly revisionsLimit?: number;
    readonly signal?: AbortSignal;
    readonly onProgress?: (done: number) => void;
}

export interface ConflictedDocument {
    readonly id: string;
    readonly rev: string;
    readonly conflicts: readonly string[];
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

export interface DeletedInput extends InputMeta {
    readonly _id: string;
    readonly _deleted: true;
    readonly [field: string]: unknown;
}

export interface DeletedRow {
    readonly id: string;
    readonly rev: string;
    readonly deleted: true;
}

export type DocumentInput<T extends object> = (Omit<T, keyof InputMeta> & InputMeta) | DeletedInput;

export class DocumentList<Row> implements AsyncIterable<Row> {
    page(): Promise<ListPage<Row>>;
    toArray(): Promise<Row[]>;
    [Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined>;
}

export type DocumentReference = string | {
    readonly _id: string;
    readonly _rev?: string;
};

export type Durability = 'relaxed' | 'strict';

export interface EditOptions {
    readonly newEdits?: boolean;
}

export type ErrorCode = 'PANNIER_LOCKED' | 'PANNIER_BLOCKED' | 'PANNIER_OPEN_FAILED' | 'PANNIER_UNAVAILABLE' | 'PANNIER_WRONG_FORMAT' | 'PANNIER_NEWER_FORMAT' | 'PANNIER_CLOSED' | 'PANNIER_CORRUPT' | 'PANNIER_IO' | 'PANNIER_QUOTA_EXCEEDED' | 'PANNIER_STALE' | 'PANNIER_RECOVERY_NEEDED' | 'PANNIER_SNAPSHOT_EXPIRED' | 'PANNIER_CONFLICT' | 'PANNIER_NOT_FOUND' | 'PANNIER_KEY_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_DEEP' | 'PANNIER_BATCH_TOO_LARGE' | 'PANNIER_INVALID_DOCUMENT' | 'PANNIER_EPOCH_MISMATCH' | 'PANNIER_INDEX_MISMATCH' | 'PANNIER_LIMIT' | 'PANNIER_ABORTED';

export interface Explanation {
    readonly plan: PlanStep;
    readonly rows: number;
    readonly rowsExact: boolean;
    readonly sortedByIndex: boolean;
    readonly covering: boolean;
    readonly cost: number;
}

export const GENERATION_MAX: number;

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

export interface InputMeta extends Omit<RevisionMeta, '_deleted'> {
    readonly _id?: string;
    readonly _rev?: string;
    readonly _deleted?: boolean;
}

export type JsonObject = Record<string, unknown>;

export interface ListKeysOptions extends Omit<ListOptions, keyof IdRange> {
    readonly keys: readonly string[];
}

export interface ListOptions extends IdRange {
    readonly descending?: boolean;
    readonly skip?: number;
    readonly limit?: number;
    readonly docs?: boolean;
    readonly conflicts?: boolean;
}

export interface ListPage<Row> extends ListHead {
    readonly rows: Row[];
}

export type ListRow<T extends object = StoredDocument> = ListedRow<T> | DeletedRow | MissingRow;

export interface ListedRow<T extends object = StoredDocument> {
    readonly id: string;
    readonly rev: string;
    readonly doc?: T;
}

export class LocalDocuments {
    get(id: string): Promise<Stored<JsonObject> | undefined>;
    put(document: LocalInput): Promise<WriteResult>;
    delete(reference: DocumentReference): Promise<WriteResult | undefined>;
    list(options?: LocalListOptions): Promise<Stored<JsonObject>[]>;
}

export type LocalInput = JsonObject & {
    readonly _id: string;
    readonly _rev?: string;
};

export interface LocalListOptions extends IdRange {
    readonly limit?: number;
}

export interface MissingRevisions {
    readonly missing: readonly string[];
    readonly possibleAncestors?: readonly string[];
}

export interface MissingRow {
    readonly key: string;
    readonly error: 'not_found';
}

export const NAME_CHARS_MAX = 200;

export interface OpenOptions {
    readonly storage?: Storage;
    readonly durability?: Durability;
    readonly cacheBytesMax?: number;
    readonly collections?: Readonly<Record<string, Pick<CollectionOptions, 'indexes' | 'history' | 'revisionsLimit'>>>;
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

export interface PurgeResult {
    readonly purged: readonly string[];
    readonly gone: boolean;
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

export const REVISIONS_LIMIT_MAX = 100000;

export const REVISION_SUFFIX_BYTES_MAX = 255;

export type RevisionDocument<T extends object> = Stored<T> & RevisionMeta;

export interface RevisionFields {
    readonly revs?: boolean;
    readonly revsInfo?: boolean;
    readonly conflicts?: boolean;
    readonly deletedConflicts?: boolean;
}

export interface RevisionHistory {
    readonly start: number;
    readonly ids: readonly string[];
}

export interface RevisionInfo {
    readonly rev: string;
    readonly status: RevisionStatus;
}

export interface RevisionMeta {
    readonly _deleted?: true;
    readonly _revisions?: RevisionHistory;
    readonly _revs_info?: readonly RevisionInfo[];
    readonly _conflicts?: readonly string[];
    readonly _deleted_conflicts?: readonly string[];
}

export abstract class RevisionOperations<T extends object> {
    readonly name: string;
    getRevisions(id: string, revs: 'all' | readonly string[], options?: RevisionFields & {
        readonly latest?: boolean;
    }): Promise<RevisionResult<T>[]>;
    bulkGet(references: readonly RevisionReference[], options?: RevisionFields & {
        readonly latest?: boolean;
    }): Promise<BulkGetResult<T>[]>;
    revsDiff(revs: Readonly<Record<string, readonly string[]>>): Promise<Record<string, MissingRevisions>>;
    conflicts(): Promise<ConflictedDocument[]>;
    resolve(id: string, choose: (leaves: RevisionDocument<T>[]) => DocumentInput<T> | undefined): Promise<WriteResult>;
    purge(id: string, revs?: string | readonly string[]): Promise<PurgeResult>;
    compact(): Promise<number>;
}

export interface RevisionReadOptions extends RevisionFields {
    readonly rev?: string;
    readonly latest?: boolean;
}

export interface RevisionReference {
    readonly id: string;
    readonly rev?: string;
}

export type RevisionResult<T extends object> = {
    readonly ok: RevisionDocument<T>;
} | {
    readonly missing: string;
};

export type RevisionStatus = 'available' | 'deleted' | 'missing';

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

export interface Tombstone {
    readonly _id: string;
    readonly _rev: string;
    readonly _deleted: true;
}

export class Transaction {
    collection<T extends object = JsonObject>(name: string): CollectionOperations<T>;
}

export interface WriteFailure {
    readonly id: string;
    readonly error: PannierError;
}

export type WriteOutcome = WriteResult | WriteFailure;

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

interface IdRange {
    readonly gte?: string;
    readonly gt?: string;
    readonly lte?: string;
    readonly lt?: string;
    readonly prefix?: string;
}

interface KnownState {
    readonly generation: Generation;
    readonly sequence: CommitSequence;
}

interface ListHead {
    readonly total: number;
    readonly offset: number | undefined;
    readonly seq: number;
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

type StoredDocument = {
    _id: string;
    _rev: string;
} & Record<string, unknown>;

const brand: unique symbol;
