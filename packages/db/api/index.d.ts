// What `pannier` offers. Written by `npm run api`.

export const ATTACHMENTS_PER_DOCUMENT_MAX = 1000;

export const ATTACHMENT_BYTES_MAX: number;

export const ATTACHMENT_NAME_BYTES_MAX = 1024;

export type Aggregate<Path extends string = string> = {
    readonly $count: true;
} | {
    readonly $min: Path;
} | {
    readonly $max: Path;
} | {
    readonly $sum: Path;
} | {
    readonly $avg: Path;
} | {
    readonly $distinct: Path;
};

export interface AggregateExplanation {
    readonly way: 'index ends' | 'index groups' | 'one pass';
    readonly indexes: readonly string[];
    readonly plan?: Explanation;
}

export type AggregateValue<Document, One> = One extends {
    readonly $min: infer Path extends string;
} ? NonNullable<FieldValue<Document, Path>> | undefined : One extends {
    readonly $max: infer Path extends string;
} ? NonNullable<FieldValue<Document, Path>> | undefined : One extends {
    readonly $distinct: infer Path extends string;
} ? Exclude<FieldValue<Document, Path>, undefined>[] : One extends {
    readonly $avg: string;
} ? number | undefined : number;

export type Aggregated<Document, Wanted> = {
    -readonly [Name in keyof Wanted]: AggregateValue<Document, Wanted[Name]>;
};

export type Aggregates<Document> = {
    readonly [name: string]: Aggregate<FieldPath<Document>>;
};

export interface AtomicOptions {
    readonly atomic?: true;
}

export class Attachment {
    readonly name: string;
    readonly contentType: string;
    readonly digest: string;
    readonly length: number;
    bytes(range?: ByteRange): Promise<Uint8Array<ArrayBuffer>>;
    text(range?: ByteRange): Promise<string>;
    blob(range?: ByteRange): Promise<Blob>;
    stream(range?: ByteRange): ReadableStream<Uint8Array<ArrayBuffer>>;
}

export type AttachmentContent = AttachmentData | {
    readonly base64: string;
};

export type AttachmentData = Blob | ArrayBuffer | ArrayBufferView | string | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export type AttachmentForm = 'base64' | 'blob' | 'bytes';

export interface AttachmentInput {
    readonly data: AttachmentData;
    readonly content_type?: string;
}

export type AttachmentInputs = Readonly<Record<string, AttachmentInput | AttachmentStubInput>>;

export interface AttachmentStub {
    readonly content_type: string;
    readonly digest: string;
    readonly length: number;
    readonly revpos: number;
    readonly stub: true;
}

export interface AttachmentStubInput {
    readonly stub: true;
    readonly digest?: string;
}

export const BATCH_DOCUMENTS_MAX = 1000000;

export interface BatchOptions {
    readonly atomic?: boolean;
}

export type BuiltInReduce = '_sum' | '_count' | '_stats' | '_approx_count_distinct';

export type BuiltInResult<Reduce, Value> = Reduce extends '_sum' ? Value : Reduce extends '_stats' ? NumberStatistics : number;

export type BulkGetResult<T extends object, Document = RevisionDocument<T>> = {
    readonly id: string;
    readonly ok: Document;
} | {
    readonly id: string;
    readonly missing: string | undefined;
};

export interface ByteRange {
    readonly start?: number;
    readonly end?: number;
}

export type ByteSource = ReadableStream<Uint8Array> | Blob | Uint8Array | ArrayBuffer | string | AsyncIterable<Uint8Array | string>;

export const COLLECTIONS_MAX = 1000;

export const CONTENT_TYPE_CHARS_MAX = 256;

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
    readonly selector?: Selector<Identified<T> & {
        readonly _deleted?: true;
    }>;
    readonly dialect?: SelectorMeaning['dialect'] | undefined;
    readonly collation?: SelectorMeaning['collation'];
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

export type CheckpointSides = 'both' | 'source' | 'target' | 'none';

export interface Collation {
    readonly name: string;
    readonly key: (text: string) => string;
}

export class Collection<T extends object, Input extends object = T> extends CollectionOperations<T, Input> {
    ready(): Promise<void>;
    changes(options?: ChangesOptions<T>): ChangeFeed<T>;
    migrationFailures(): Promise<MigrationFailure[]>;
    retryMigration(options?: RunOptions): Promise<RetryResult>;
    indexes(): Promise<IndexInfo[]>;
    duplicates(name: string, options?: {
        readonly limit?: number;
    }): Promise<Duplicate[]>;
    dropIndex(name: string): Promise<boolean>;
    view<K, V>(name: string, definition: ViewDefinition<Stored<T>, K, V, undefined>): View<Stored<T>, K, V>;
    view<K, V, B extends BuiltInReduce>(name: string, definition: ViewDefinition<Stored<T>, K, V, B>): View<Stored<T>, K, V, BuiltInResult<B, V>>;
    view<K, V, R>(name: string, definition: ViewDefinition<Stored<T>, K, V, ReduceFunction<K, V, R>>): View<Stored<T>, K, V, R>;
    query<K, V>(definition: ViewDefinition<Stored<T>, K, V, undefined>, options?: ViewOptions): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, never>>>;
    query<K, V, B extends BuiltInReduce>(definition: ViewDefinition<Stored<T>, K, V, B>, options?: ViewOptions): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, BuiltInResult<B, V>>>>;
    query<K, V, R>(definition: ViewDefinition<Stored<T>, K, V, ReduceFunction<K, V, R>>, options?: ViewOptions): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, R>>>;
    export(options?: ExportOptions<T>): ReadableStream<Uint8Array>;
    import(source: ByteSource, options?: ImportOptions): Promise<ImportResult>;
    sync(target: ReplicationTarget, options?: ReplicationOptions): Replication;
    get replicate(): Replicate;
}

export interface CollectionChange {
    readonly ids: readonly string[] | undefined;
    readonly dropped: boolean;
}

export interface CollectionDeclaration<Schema = unknown> extends SchemaOptions<Schema> {
    readonly history?: boolean;
    readonly revisionsLimit?: number;
    readonly indexes?: readonly IndexInput<FieldPath<Identified<SchemaOutput<Schema>>>>[];
}

export interface CollectionHost {
    readonly around?: (<T>(write: () => Promise<T>) => Promise<T>) | undefined;
    readonly admit?: ((documents: readonly JsonDocument[]) => Promise<readonly (JsonDocument | PannierError)[]>) | undefined;
    readonly accept?: ((documents: readonly JsonDocument[]) => Promise<readonly boolean[]>) | undefined;
}

export interface CollectionInfo {
    readonly name: string;
    readonly documents: number;
    readonly deleted: number;
    readonly lastSeq: number;
    readonly epoch: string | undefined;
    readonly revisionsLimit: number;
    readonly history: boolean;
    readonly storedBytes: number | undefined;
}

export class CollectionOperations<T extends object, Input extends object = T> extends RevisionOperations<T> {
    get(id: string): Promise<Stored<T> | undefined>;
    get(id: string, options: WithAttachments & RevisionReadOptions): Promise<DocumentWithAttachments<T> | undefined>;
    get(id: string, options: RevisionReadOptions): Promise<RevisionDocument<T> | undefined>;
    get(ids: readonly string[]): Promise<(Stored<T> | undefined)[]>;
    get(ids: readonly string[], options: WithAttachments & RevisionFields): Promise<(DocumentWithAttachments<T> | undefined)[]>;
    get(ids: readonly string[], options: RevisionFields): Promise<(RevisionDocument<T> | undefined)[]>;
    insert(document: DocumentInput<Input>, options?: AtomicOptions): Promise<WriteResult>;
    insert(documents: readonly DocumentInput<Input>[], options?: AtomicOptions): Promise<WriteResult[]>;
    insert(document: DocumentInput<Input>, options: BatchOptions): Promise<WriteOutcome>;
    insert(documents: readonly DocumentInput<Input>[], options: BatchOptions): Promise<WriteOutcome[]>;
    put(document: DocumentInput<Input>, options?: AtomicOptions & EditOptions): Promise<WriteResult>;
    put(documents: readonly DocumentInput<Input>[], options?: AtomicOptions & EditOptions): Promise<WriteResult[]>;
    put(document: DocumentInput<Input>, options: BatchOptions & EditOptions): Promise<WriteOutcome>;
    put(documents: readonly DocumentInput<Input>[], options: BatchOptions & EditOptions): Promise<WriteOutcome[]>;
    upsert(document: DocumentInput<Input>, options?: AtomicOptions): Promise<WriteResult>;
    upsert(documents: readonly DocumentInput<Input>[], options?: AtomicOptions): Promise<WriteResult[]>;
    upsert(document: DocumentInput<Input>, options: BatchOptions): Promise<WriteOutcome>;
    upsert(documents: readonly DocumentInput<Input>[], options: BatchOptions): Promise<WriteOutcome[]>;
    update<Ids extends string | readonly string[]>(ids: Ids, change: (document: Stored<T>) => DocumentInput<Input> | undefined): Promise<Ids extends string ? WriteResult : WriteResult[]>;
    delete(reference: DocumentReference, options?: AtomicOptions): Promise<WriteResult | undefined>;
    delete(references: readonly DocumentReference[], options?: AtomicOptions): Promise<(WriteResult | undefined)[]>;
    delete(reference: DocumentReference, options: BatchOptions): Promise<WriteOutcome | undefined>;
    delete(references: readonly DocumentReference[], options: BatchOptions): Promise<(WriteOutcome | undefined)[]>;
    putAttachment(id: string, name: string, content: AttachmentContent, options?: PutAttachmentOptions): Promise<WriteResult>;
    getAttachment(id: string, name: string, options?: GetAttachmentOptions): Promise<Attachment | undefined>;
    removeAttachment(id: string, name: string, options?: RemoveAttachmentOptions): Promise<WriteResult | undefined>;
    find(selector?: Selector<Identified<T>> | Filter, meaning?: SelectorMeaning): Query<Stored<T>, Identified<T>>;
    search(text: string, options?: SearchOptions<Identified<T>>): Search<Stored<T>, Identified<T>>;
    list(options: ListKeysOptions): DocumentList<ListRow<Stored<T>>>;
    list(options?: ListOptions): DocumentList<ListedRow<Stored<T>>>;
    get local(): LocalDocuments;
    info(): Promise<CollectionInfo>;
}

export interface CollectionOptions<T extends object = JsonObject, Schema = unknown> extends SchemaOptions<Schema> {
    readonly indexes?: readonly IndexInput<FieldPath<Identified<T>>>[];
    readonly history?: boolean;
    readonly revisionsLimit?: number;
    readonly signal?: AbortSignal;
    readonly onProgress?: (done: number) => void;
}

export interface CollectionSide extends CollectionHost {
    readonly collection: Exclude<ReplicationTarget, string | URL>;
}

export type Condition<Value> = unknown extends Value ? unknown : EqualTo<Operand<Value>> | (Operators<Operand<Value>> & InnerConditions<ObjectIn<Value>>);

export interface ConflictedDocument {
    readonly id: string;
    readonly rev: string;
    readonly conflicts: readonly string[];
}

export type Credential = {
    readonly password: string;
    readonly derivation?: 'argon2id' | 'pbkdf2';
} | {
    readonly key: CryptoKey;
} | {
    readonly recoveryKey: string;
};

export const DOCUMENT_BYTES_MAX: number;

export const DOCUMENT_DEPTH_MAX = 200;

export const DOCUMENT_TEXT_BYTES_MAX: number;

export class Database<Schemas extends object = object> {
    readonly name: string;
    readonly encryption: Encryption | undefined;
    get storage(): string;
    get damage(): PannierError | undefined;
    collection<Schema extends StandardSchema>(name: string, options: CollectionOptions<SchemaOutput<Schema>, Schema> & {
        readonly schema: Schema;
    }): Collection<SchemaOutput<Schema>, SchemaInput<Schema>>;
    collection<Name extends KnownName<Schemas>>(name: Name, options?: CollectionOptions<DocumentOf<Schemas, Name>> & {
        readonly schema?: undefined;
    }): Collection<DocumentOf<Schemas, Name>, InputOf<Schemas, Name>>;
    collection<T extends object = UnknownCollection>(name: string, options?: CollectionOptions<NoInfer<T>>): Collection<T>;
    collections(): Promise<string[]>;
    createCollection(name: string, settings?: Pick<CollectionOptions, 'history' | 'revisionsLimit'>): Promise<boolean>;
    dropCollection(name: string): Promise<boolean>;
    transaction<R>(body: (tx: Transaction<Schemas>) => R | Promise<R>): Promise<R>;
    onChange(listener: (change: DatabaseChange) => void): () => void;
    refresh(): Promise<void>;
    checkpoint(): Promise<void>;
    check(): Promise<string[]>;
    snapshot(options?: SnapshotOptions): ReadableStream<Uint8Array>;
    changePassword(oldPassword: string, newPassword: string): Promise<void>;
    moveTo(storage: Storage, options?: MoveOptions): Promise<void>;
    sync(url: string | URL, options: DatabaseSyncOptions): Replication;
    replicate(source: ReplicationSide, target: ReplicationSide, options?: ReplicationOptions): Replication;
    close(): Promise<void>;
    destroy(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

export interface DatabaseChange {
    readonly collections: ReadonlyMap<string, CollectionChange>;
    readonly local: boolean;
}

export interface DatabaseSyncOptions extends ReplicationOptions {
    readonly collections: readonly string[] | Readonly<Record<string, ReplicationTarget>>;
}

export interface DeletedInput extends InputMeta {
    readonly _id: string;
    readonly _deleted: true;
}

export interface DeletedRow {
    readonly id: string;
    readonly rev: string;
    readonly deleted: true;
}

export interface DestroyOptions {
    readonly storage?: Storage;
}

export interface DirectionOptions {
    readonly ids?: readonly string[] | undefined;
    readonly selector?: Readonly<Record<string, unknown>> | undefined;
    readonly filter?: string | ((document: JsonObject) => unknown) | undefined;
    readonly parameters?: Readonly<Record<string, string>> | undefined;
    readonly view?: string | undefined;
    readonly since?: Sequence;
    readonly style?: 'winner' | 'all' | undefined;
    readonly batchSize?: number | undefined;
    readonly batchesAhead?: number | undefined;
    readonly checkpoint?: CheckpointSides | undefined;
    readonly checkpointIntervalMs?: number | undefined;
    readonly snapshot?: boolean | undefined;
}

export type DocumentInput<T extends object> = (ContentOf<T> & InputMeta) | (Partial<ContentOf<T>> & DeletedInput);

export interface DocumentIssue {
    readonly message: string;
    readonly path: readonly (string | number)[];
}

export class DocumentList<Row> implements AsyncIterable<Row> {
    page(): Promise<ListPage<Row>>;
    toArray(): Promise<Row[]>;
    [Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined>;
}

export type DocumentReference = string | {
    readonly _id: string;
    readonly _rev?: string;
};

export type DocumentWithAttachments<T extends object> = Omit<RevisionDocument<T>, '_attachments'> & {
    readonly _attachments?: Readonly<Record<string, InlineAttachment>>;
};

export interface Duplicate {
    readonly key: readonly unknown[];
    readonly ids: readonly string[];
}

export type Durability = 'relaxed' | 'strict';

export interface EditOptions {
    readonly newEdits?: boolean;
}

export type Emit<Key = unknown, Value = unknown> = (key: Key, value?: Value) => void;

export class Encryption {
    slots(): Promise<EncryptionSlot[]>;
    addPassword(password: string, options?: SlotOptions): Promise<EncryptionSlot>;
    addKey(key: CryptoKey, options?: SlotOptions): Promise<EncryptionSlot>;
    makeRecoveryKey(options?: SlotOptions): Promise<string>;
    removeSlot(id: string): Promise<boolean>;
    changePassword(oldPassword: string, newPassword: string): Promise<void>;
    rotateKey(options?: LongWork): Promise<void>;
    info(): Promise<EncryptionInfo>;
}

export interface EncryptionInfo {
    readonly keyUses: number;
    readonly isRotationDue: boolean;
    readonly isRotating: boolean;
}

export interface EncryptionSlot {
    readonly id: string;
    readonly kind: SlotKind;
    readonly label: string;
}

export type ErrorCode = 'PANNIER_LOCKED' | 'PANNIER_BLOCKED' | 'PANNIER_OPEN_FAILED' | 'PANNIER_UNAVAILABLE' | 'PANNIER_WRONG_FORMAT' | 'PANNIER_NEWER_FORMAT' | 'PANNIER_ENCRYPTED' | 'PANNIER_NOT_ENCRYPTED' | 'PANNIER_WRONG_KEY' | 'PANNIER_EXISTS' | 'PANNIER_CLOSED' | 'PANNIER_CORRUPT' | 'PANNIER_IO' | 'PANNIER_QUOTA_EXCEEDED' | 'PANNIER_STALE' | 'PANNIER_RECOVERY_NEEDED' | 'PANNIER_DEADLOCK' | 'PANNIER_TURN_TIMEOUT' | 'PANNIER_TRANSACTION_ENDED' | 'PANNIER_SNAPSHOT_EXPIRED' | 'PANNIER_CONFLICT' | 'PANNIER_NOT_FOUND' | 'PANNIER_UNIQUE' | 'PANNIER_KEY_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_DEEP' | 'PANNIER_BATCH_TOO_LARGE' | 'PANNIER_INVALID_DOCUMENT' | 'PANNIER_ATTACHMENT_TOO_LARGE' | 'PANNIER_ATTACHMENT_MISSING' | 'PANNIER_EPOCH_MISMATCH' | 'PANNIER_NEWER_SCHEMA' | 'PANNIER_INDEX_MISMATCH' | 'PANNIER_UNSAFE_REGEX' | 'PANNIER_LIMIT' | 'PANNIER_PEER_UNREACHABLE' | 'PANNIER_PEER_REFUSED' | 'PANNIER_MODULE_NOT_LOADED' | 'PANNIER_ABORTED';

export interface ExplainOptions {
    readonly run?: boolean;
}

export interface Explanation {
    readonly plan: PlanStep;
    readonly rows: number;
    readonly rowsExact: boolean;
    readonly sortedByIndex: boolean;
    readonly covering: boolean;
    readonly cost: number;
    readonly suggestion: IndexInput | undefined;
    readonly actual?: ActualWork;
}

export type ExportFormat = 'ndjson' | 'json' | 'couchdb' | 'couchdb-bulk' | 'replica';

export interface ExportOptions<T extends object> extends LongWork {
    readonly format?: ExportFormat | undefined;
    readonly selector?: Selector<Identified<T>> | undefined;
    readonly attachments?: boolean | undefined;
}

export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

export class FieldFilters {
    is(condition: Readonly<Record<string, unknown>>): Filter;
    eq(value: JsonValue): Filter;
    ne(value: JsonValue): Filter;
    gt(value: JsonValue): Filter;
    gte(value: JsonValue): Filter;
    lt(value: JsonValue): Filter;
    lte(value: JsonValue): Filter;
    between(from: JsonValue, to: JsonValue): Filter;
    in(values: readonly JsonValue[]): Filter;
    notIn(values: readonly JsonValue[]): Filter;
    has(value: JsonValue): Filter;
    hasAll(values: readonly JsonValue[]): Filter;
    beginsWith(prefix: string): Filter;
    matches(expression: RegExp): Filter;
    exists(exists?: boolean): Filter;
    type(type: ValueType): Filter;
    size(elements: number): Filter;
    mod(divisor: number, remainder: number): Filter;
    some(element: Filter | Readonly<Record<string, unknown>>): Filter;
    every(element: Filter | Readonly<Record<string, unknown>>): Filter;
    someKey(key: Readonly<Record<string, unknown>>): Filter;
}

export type FieldPath<T> = IsLoose<T> extends true ? string : PathOf<T, Depth> | FreePath;

export type FieldValue<T, Path extends string> = unknown extends T ? unknown : string extends Path ? unknown : T extends readonly (infer Element)[] ? Path extends `${number}` ? Element | undefined : Path extends `${number}.${infer Rest}` ? FieldValue<Element, Rest> | undefined : undefined : T extends object ? Path extends keyof T ? T[Path] : Path extends `${infer Name}.${infer Rest}` ? Name extends keyof T ? FieldValue<T[Name], Rest> : undefined : undefined : undefined;

export class Filter extends BuiltPredicate {
    and(...others: Filter[]): Filter;
    or(...others: Filter[]): Filter;
    not(): Filter;
}

export const GENERATION_MAX: number;

export interface GetAttachmentOptions extends ByteRange {
    readonly rev?: string;
}

export class Groups<Row extends object, Document extends object> implements AsyncIterable<Row> {
    aggregate<const Wanted extends Aggregates<Document>>(wanted: Wanted): Groups<Row & Aggregated<Document, Wanted>, Document>;
    having(selector: Selector<Row> | BuiltPredicate): Groups<Row, Document>;
    sort(...fields: OrderedPath<FieldPath<Row>>[]): Groups<Row, Document>;
    skip(rows: number): Groups<Row, Document>;
    limit(rows: number): Groups<Row, Document>;
    toArray(): Promise<Row[]>;
    first(): Promise<Row | undefined>;
    count(): Promise<number>;
    explain(): Promise<AggregateExplanation>;
    [Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined>;
}

export interface HttpOptions {
    readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>) | undefined;
    readonly auth?: {
        readonly username: string;
        readonly password: string;
    } | undefined;
    readonly fetch?: FetchFunction | undefined;
    readonly timeoutMs?: number | undefined;
    readonly connectionsMax?: number | undefined;
}

export interface HttpPeerOptions extends HttpOptions {
    readonly heartbeatMs?: number | undefined;
}

export const ID_BYTES_MAX = 4096;

export const IMPORT_FAILURES_MAX = 100;

export const INDEXES_MAX = 64;

export const INDEX_FIELDS_MAX = 4;

export interface ImportFailure {
    readonly position: number;
    readonly line: number;
    readonly id?: string;
    readonly error: PannierError;
}

export type ImportFormat = 'ndjson' | 'json' | 'couchdb';

export type ImportMode = 'insert' | 'upsert' | 'replicate';

export interface ImportOptions {
    readonly format?: ImportFormat | undefined;
    readonly mode?: ImportMode | undefined;
    readonly stubs?: 'fail' | 'drop' | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

export interface ImportProgress {
    readonly bytes: number;
    readonly bytesTotal: number | undefined;
    readonly imported: number;
    readonly failed: number;
}

export interface ImportResult {
    readonly imported: number;
    readonly skipped: number;
    readonly failedCount: number;
    readonly failed: readonly ImportFailure[];
}

export interface IndexField {
    readonly path: string;
    readonly descending: boolean;
}

export interface IndexInfo extends IndexDeclaration {
    readonly ready: boolean;
}

export type IndexInput<Path extends string = string> = OrderedPath<Path> | readonly OrderedPath<Path>[] | {
    readonly on: OrderedPath<Path> | readonly OrderedPath<Path>[];
    readonly multi?: boolean;
    readonly where?: IndexSelector;
    readonly dialect?: 'couchdb' | undefined;
    readonly collation?: string | undefined;
    readonly unique?: boolean;
    readonly text?: boolean;
    readonly language?: string;
    readonly name?: string;
};

export type InlineAttachment = Omit<AttachmentStub, 'length' | 'stub'> & {
    readonly data: string | Blob | Uint8Array;
};

export interface InputMeta extends Omit<RevisionMeta, '_deleted'> {
    readonly _id?: string;
    readonly _rev?: string;
    readonly _deleted?: boolean;
    readonly _attachments?: AttachmentInputs;
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

export type LiveChange<Row> = {
    readonly type: 'added';
    readonly id: string;
    readonly index: number;
    readonly row: Row;
}
 | {
    readonly type: 'removed';
    readonly id: string;
    readonly index: number;
    readonly row: Row;
}
 | {
    readonly type: 'changed';
    readonly id: string;
    readonly index: number;
    readonly from: Row;
    readonly row: Row;
}
 | {
    readonly type: 'moved';
    readonly id: string;
    readonly fromIndex: number;
    readonly index: number;
    readonly from: Row;
    readonly row: Row;
};

export class LiveCount implements AsyncIterable<number> {
    get ready(): Promise<void>;
    get value(): number | undefined;
    get status(): LiveStatus;
    get error(): unknown;
    subscribe(listener: (count: number) => void, onEnd?: (error: unknown) => void): () => void;
    [Symbol.asyncIterator](): AsyncIterableIterator<number, undefined, undefined>;
    close(): void;
    [Symbol.dispose](): void;
}

export interface LiveOptions {
    readonly signal?: AbortSignal | undefined;
}

export class LiveQuery<Row extends object> implements AsyncIterable<LiveUpdate<Row>> {
    readonly ready: Promise<void>;
    get value(): readonly Row[] | undefined;
    get status(): LiveStatus;
    get error(): unknown;
    subscribe(listener: (update: LiveUpdate<Row>) => void, onEnd?: (error: unknown) => void): () => void;
    [Symbol.asyncIterator](): AsyncIterableIterator<LiveUpdate<Row>, undefined, undefined>;
    close(): void;
    [Symbol.dispose](): void;
}

export type LiveStatus = 'loading' | 'live' | 'ended' | 'failed';

export interface LiveUpdate<Row> {
    readonly rows: readonly Row[];
    readonly changes: readonly LiveChange<Row>[];
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

export interface LongWork {
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((done: number) => void) | undefined;
}

export type Migration = (document: JsonObject & {
    readonly _id: string;
}) => JsonObject | Promise<JsonObject>;

export interface MigrationFailure {
    readonly id: string;
    readonly rev: string;
    readonly version: number;
    readonly message: string;
    readonly issues: readonly DocumentIssue[];
}

export interface MissingRevisions {
    readonly missing: readonly string[];
    readonly possibleAncestors?: readonly string[];
}

export interface MissingRow {
    readonly key: string;
    readonly error: 'not_found';
}

export interface MoveOptions extends LongWork {
    readonly encryption?: Credential;
}

export const NAME_CHARS_MAX = 200;

export interface Network {
    isOnline(): boolean;
    onChange(listener: () => void): () => void;
}

export interface NumberStatistics {
    readonly sum: number;
    readonly count: number;
    readonly min: number;
    readonly max: number;
    readonly sumsqr: number;
}

export interface OpenOptions<Schemas extends object = Record<string, unknown>> {
    readonly storage?: Storage;
    readonly durability?: Durability;
    readonly encryption?: Credential;
    readonly cacheBytesMax?: number;
    readonly writeWaitMsMax?: number;
    readonly collections?: {
        readonly [Name in keyof Schemas]: CollectionDeclaration<Schemas[Name]>;
    };
    readonly from?: ByteSource | (() => ByteSource | Promise<ByteSource>);
    readonly onProgress?: (done: number) => void;
    readonly signal?: AbortSignal;
}

export type OptionNames<Options> = Readonly<Record<AllKeys<Options>, true>>;

export type OrderedPath<Path extends string> = Path | `-${Path}`;

export class PannierError extends Error {
    readonly code: ErrorCode;
    readonly details: Readonly<Record<string, unknown>>;
    constructor(code: ErrorCode, message: string, options?: PannierErrorOptions);
}

export interface PannierErrorOptions {
    readonly cause?: unknown;
    readonly details?: Readonly<Record<string, unknown>>;
}

export type Projected<T, Path extends string> = IsLoose<T> extends true ? Partial<T> : string extends Path ? Partial<T> : T extends unknown ? Flat<Pick<T, Extract<Path, keyof T>> & {
    [Name in keyof T as Nested<T, Name, Path, true>]: Inner<T[Name], RestOf<Path, Name>>;
} & {
    [Name in keyof T as Nested<T, Name, Path, false>]?: Inner<T[Name], RestOf<Path, Name>>;
}> : never;

export interface PurgeResult {
    readonly purged: readonly string[];
    readonly gone: boolean;
}

export interface PutAttachmentOptions {
    readonly contentType?: string;
    readonly rev?: string;
    readonly signal?: AbortSignal;
}

export class Query<T extends object, Document extends object = T> implements AsyncIterable<T> {
    sort(...fields: OrderedPath<FieldPath<Document>>[]): Query<T, Document>;
    skip(rows: number): Query<T, Document>;
    limit(rows: number): Query<T, Document>;
    fields<Path extends FieldPath<Document>>(...paths: Path[]): Query<Projected<Document, Path> & object, Document>;
    signal(signal: AbortSignal): Query<T, Document>;
    aggregate<const Wanted extends Aggregates<Document>>(wanted: Wanted): Promise<Aggregated<Document, Wanted>>;
    distinct<Path extends FieldPath<Document>>(path: Path): Promise<DistinctValues<Document, Path>>;
    groupBy<Path extends FieldPath<Document>>(...paths: Path[]): Groups<Projected<Document, Path> & object, Document>;
    explainAggregate<const Wanted extends Aggregates<Document>>(wanted: Wanted): Promise<AggregateExplanation>;
    toArray(): Promise<T[]>;
    first(): Promise<T | undefined>;
    count(): Promise<number>;
    explain(options?: ExplainOptions): Promise<Explanation>;
    live(options?: LiveOptions): LiveQuery<T>;
    liveCount(options?: LiveOptions): LiveCount;
    isSame<U extends object, D extends object>(other: Query<U, D>): boolean;
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
}

export const REPAIR_IDS_MAX = 1000;

export const REVISIONS_LIMIT_MAX = 100000;

export const REVISION_SUFFIX_BYTES_MAX = 255;

export type ReduceFunction<Key = unknown, Value = unknown, Result = unknown> = (keys: (readonly [key: Key, id: string])[] | null, values: (Value | Result)[], rereduce: boolean) => Result;

export interface ReducedRow<Key = unknown, Value = unknown> {
    readonly key: Key;
    readonly value: Value;
}

export interface RemoteSide extends HttpPeerOptions {
    readonly url: string | URL;
}

export interface RemoveAttachmentOptions {
    readonly rev?: string;
}

export interface RepairOptions {
    readonly to: string;
    readonly storage?: Storage;
    readonly encryption?: Credential;
    readonly onProgress?: (done: number) => void;
    readonly signal?: AbortSignal;
}

export interface RepairReport {
    readonly problems: readonly string[];
    readonly isComplete: boolean;
    readonly collections: readonly RepairedCollection[];
    readonly commitsLost: number;
}

export interface RepairedCollection {
    readonly name: string;
    readonly documents: number;
    readonly tombstones: number;
    readonly fromLaterCommits: number;
    readonly documentsLost: number;
    readonly idsLost: readonly string[];
    readonly revisionsLost: readonly string[];
    readonly attachmentsLost: readonly {
        readonly id: string;
        readonly name: string;
    }[];
    readonly local: number;
    readonly indexesLost: readonly string[];
}

export interface Replicate {
    to(target: ReplicationTarget, options?: ReplicationOptions): Replication;
    from(source: ReplicationTarget, options?: ReplicationOptions): Replication;
}

export class Replication implements PromiseLike<ReplicationResult>, AsyncIterable<ReplicationEvent> {
    get status(): ReplicationStatus;
    get error(): unknown;
    get progress(): ReplicationProgress;
    get parts(): readonly ReplicationPart[];
    unsent(): Promise<number>;
    subscribe(listener: (event: ReplicationEvent) => void): () => void;
    pause(): void;
    resume(): void;
    cancel(): void;
    then<Result = ReplicationResult, Failure = never>(fulfilled?: ((result: ReplicationResult) => Result | PromiseLike<Result>) | null, rejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null): Promise<Result | Failure>;
    [Symbol.asyncIterator](): AsyncGenerator<ReplicationEvent, void, undefined>;
}

export type ReplicationDirection = 'push' | 'pull';

export type ReplicationEvent = 

export interface ReplicationOptions extends DirectionOptions, HttpPeerOptions {
    readonly live?: boolean | undefined;
    readonly retry?: boolean | undefined;
    readonly backOff?: ((delayMs: number) => number) | undefined;
    readonly create?: boolean | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly network?: Network | undefined;
    readonly push?: DirectionOptions | undefined;
    readonly pull?: DirectionOptions | undefined;
}

export interface ReplicationPart {
    readonly collection: string;
    readonly direction: ReplicationDirection;
    readonly status: ReplicationStatus;
    readonly progress: ReplicationProgress;
    readonly error: PannierError | undefined;
    readonly waitMs: number | undefined;
}

export interface ReplicationProgress {
    readonly docsRead: number;
    readonly docsWritten: number;
    readonly docsDenied: number;
    readonly changesChecked: number;
    readonly pending: number | undefined;
    readonly lastSeq: Sequence;
}

export interface ReplicationResult extends ReplicationProgress {
    readonly ok: boolean;
    readonly status: 'complete' | 'cancelled';
    readonly startTime: string;
    readonly endTime: string;
    readonly parts: readonly ReplicationPart[];
}

export type ReplicationSide = ReplicationTarget | RemoteSide | CollectionSide;

export type ReplicationStatus = 'active' | 'paused' | 'offline' | 'backing-off' | 'complete' | 'cancelled' | 'failed';

export type ReplicationTarget = string | URL | {
    readonly name: string;
    info(): Promise<unknown>;
};

export interface RetryResult {
    readonly migrated: number;
    readonly failed: number;
}

export type RevisionDocument<T extends object> = Stored<T> & RevisionMeta;

export interface RevisionFields {
    readonly revs?: boolean;
    readonly revsInfo?: boolean;
    readonly conflicts?: boolean;
    readonly attachments?: AttachmentForm;
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
    getRevisions(id: string, revs: 'all' | readonly string[], options: RevisionFields & WithAttachments & {
        readonly latest?: boolean;
    }): Promise<RevisionResult<T, DocumentWithAttachments<T>>[]>;
    getRevisions(id: string, revs: 'all' | readonly string[], options?: RevisionFields & {
        readonly latest?: boolean;
    }): Promise<RevisionResult<T>[]>;
    bulkGet(references: readonly RevisionReference[], options: RevisionFields & WithAttachments & {
        readonly latest?: boolean;
        readonly partial?: boolean;
    }): Promise<BulkGetResult<T, DocumentWithAttachments<T>>[]>;
    bulkGet(references: readonly RevisionReference[], options?: RevisionFields & {
        readonly latest?: boolean;
        readonly partial?: boolean;
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

export type RevisionResult<T extends object, Document = RevisionDocument<T>> = {
    readonly ok: Document;
} | {
    readonly missing: string;
};

export type RevisionStatus = 'available' | 'deleted' | 'missing';

export interface RunOptions {
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((done: number) => void) | undefined;
}

export interface SchemaOptions<Schema = unknown> {
    readonly schema?: Schema;
    readonly version?: number;
    readonly migrations?: Readonly<Record<number, Migration>>;
}

export interface ScoredRow<T> {
    readonly score: number;
    readonly document: T;
}

export class Search<T extends object, Document extends object = T> implements AsyncIterable<T> {
    skip(rows: number): Search<T, Document>;
    limit(rows: number): Search<T, Document>;
    fields<Path extends FieldPath<Document>>(...paths: Path[]): Search<Projected<Document, Path> & object, Document>;
    signal(signal: AbortSignal): Search<T, Document>;
    toArray(): Promise<T[]>;
    scored(): Promise<ScoredRow<T>[]>;
    first(): Promise<T | undefined>;
    count(): Promise<number>;
    explain(): Promise<SearchExplanation>;
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
}

export interface SearchExplanation {
    readonly index: string;
    readonly documents: number;
    readonly terms: readonly {
        readonly word: string;
        readonly isPrefix: boolean;
        readonly postings: number;
    }[];
    readonly phrases: readonly (readonly string[])[];
    readonly readsDocuments: boolean;
}

export interface SearchOptions<Document> {
    readonly selector?: Selector<Document> | BuiltPredicate;
    readonly match?: 'all' | 'any';
    readonly index?: string;
}

export type Selector<T> = FieldConditions<T> & Combinations<T>;

export interface SelectorMeaning {
    readonly dialect?: 'couchdb' | undefined;
    readonly collation?: string | undefined;
}

export type Sequence = unknown;

export interface SlotOptions {
    readonly label?: string;
}

export interface SnapshotOptions extends LongWork {
    readonly sealed?: boolean;
}

export interface StandardSchema<Input = unknown, Output = Input> {
    readonly '~standard': {
        readonly version: 1;
        readonly vendor: string;
        readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
        readonly types?: {
            readonly input: Input;
            readonly output: Output;
        } | undefined;
    };
}

export interface Storage {
    readonly kind: string;
    readonly scope: SharingScope;
    identify(name: string): string;
    open(name: string): Promise<PageStore>;
    destroy(name: string): Promise<void>;
}

export type Stored<T extends object> = Identified<T> & {
    readonly _attachments?: Readonly<Record<string, AttachmentStub>>;
};

export const TRANSACTION_ATTACHMENT_BYTES_MAX: number;

export interface Tombstone {
    readonly _id: string;
    readonly _rev: string;
    readonly _deleted: true;
}

export class Transaction<Schemas extends object = object> {
    collection<Name extends KnownName<Schemas>>(name: Name): CollectionOperations<DocumentOf<Schemas, Name>, InputOf<Schemas, Name>>;
    collection<T extends object = UnknownCollection>(name: string): CollectionOperations<T>;
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
    readonly mapMany?: MapMany<Document>;
    readonly reduce?: Reduce;
    readonly version?: string | number;
    readonly collation?: string;
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

export interface WriteFailure {
    readonly id: string;
    readonly error: PannierError;
}

export type WriteOutcome = WriteResult | WriteFailure;

export interface WriteResult {
    readonly id: string;
    readonly rev: string;
}

export function checkOptions(call: string, options: unknown, names: object): void;

export function destroy(name: string, options?: DestroyOptions): Promise<void>;

export function isPannierError(error: unknown, code?: ErrorCode): error is PannierError;

export function open<Schemas extends object = object>(name: string, options?: OpenOptions<Schemas>): Promise<Database<Schemas>>;

export function preload(): Promise<void>;

export function registerCollation(collation: Collation): void;

export function repair(name: string, options: RepairOptions): Promise<RepairReport>;

export function where(path: string): FieldFilters;

type AboutArrays = 'whole' | 'elements';

interface ActualWork {
    readonly rows: number;
    readonly documents: number;
    readonly pages: number;
}

type AllKeys<Options> = Options extends unknown ? keyof Options : never;

interface AllPredicate {
    readonly kind: 'all';
    readonly path: string;
    readonly values: readonly JsonValue[];
}

interface AndPredicate {
    readonly kind: 'and';
    readonly of: readonly Predicate[];
}

type Brand<T, Name extends string> = T & {
    readonly [brand]: Name;
};

class BuiltPredicate {
    readonly predicate: Predicate;
    constructor(predicate: Predicate);
}

interface Combinations<T> {
    readonly $and?: readonly Selector<T>[];
    readonly $or?: readonly Selector<T>[];
    readonly $nor?: readonly Selector<T>[];
    readonly $not?: Selector<T>;
}

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

type CompareOperator = '$eq' | '$gt' | '$gte' | '$lt' | '$lte' | '$in' | '$beginsWith';

interface ComparePredicate {
    readonly kind: 'compare';
    readonly path: string;
    readonly comparisons: readonly Comparison[];
    readonly arrays?: AboutArrays | undefined;
    readonly collation?: Collation | undefined;
}

interface Comparison {
    readonly operator: CompareOperator;
    readonly operand: JsonValue;
}

type ContentOf<T> = T extends unknown ? {
    [Name in keyof T as Exclude<Name, keyof InputMeta>]: HasDate<T[Name]> extends true ? DatesAreNotStored : T[Name];
} : never;

type DatesAreNotStored = 'a Date is not stored: make the field a string (toISOString) or a number (getTime)';

type Depth = 4;

type DistinctValues<Document, Path extends string> = Exclude<FieldValue<Document, Path>, undefined>[];

type DocumentOf<Schemas extends object, Name extends string> = SchemaOutput<SchemaOf<Schemas, Name>>;

type ElementCondition<Element> = [Element] extends [never] ? never : unknown extends Element ? Readonly<Record<string, unknown>> : Operators<Element> & InnerConditions<ObjectIn<Element>>;

type ElementIn<Value> = Value extends readonly (infer Element)[] ? Element : never;

interface ElementsPredicate {
    readonly kind: 'elements';
    readonly path: string;
    readonly which: 'some' | 'every' | 'keys';
    readonly of: Predicate;
}

type EqualTo<Value> = Value extends readonly unknown[] ? Value : Value extends object ? never : Value;

interface ExistsPredicate {
    readonly kind: 'exists';
    readonly path: string;
}

type FieldConditions<T> = IsLoose<T> extends true ? {
    readonly [Name in NamedKey<T>]?: Condition<T[Name]>;
} & {
    readonly [path: string]: unknown;
} : {
    readonly [Path in FieldPath<T>]?: Path extends FreePath ? unknown : Condition<FieldValue<T, Path>>;
};

type Flat<T> = {
    [Name in keyof T]: T[Name];
};

type FreePath = `${string}\\.${string}` | `${string}.${string}.${string}.${string}.${string}`;

type Generation = Brand<number, 'Generation'>;

type HasDate<Value, Left extends 0 | 1 | 2 | 3 = 3> = true extends (unknown extends Value ? false : Value extends Date ? true : Left extends 0 ? false : Value extends readonly (infer Element)[] ? HasDate<Element, [0, 0, 1, 2][Left]> : Value extends object ? HasDate<Value[keyof Value], [0, 0, 1, 2][Left]> : false) ? true : false;

interface IdRange {
    readonly gte?: string;
    readonly gt?: string;
    readonly lte?: string;
    readonly lt?: string;
    readonly prefix?: string;
}

type Identified<T extends object> = T & {
    readonly _id: string;
    readonly _rev: string;
};

type IndexDeclaration = Omit<IndexDefinition, 'number' | 'builtTo'>;

interface IndexDefinition {
    readonly number: number;
    readonly name: string;
    readonly fields: readonly IndexField[];
    readonly multi: boolean;
    readonly unique?: boolean;
    readonly where?: IndexSelector;
    readonly dialect?: 'couchdb';
    readonly collation?: string;
    readonly text?: TextSettings;
    readonly builtTo: number | undefined;
}

type IndexSelector = Readonly<Record<string, unknown>>;

type Inner<Value, Path extends string> = unknown extends Value ? unknown : Value extends readonly (infer Element)[] ? {
    [Index in `${number}`]?: Path extends `${number}` ? Element : unknown;
} : Value extends object ? Projected<Value, Path> : never;

type InnerConditions<Value> = [Value] extends [never] ? unknown : FieldConditions<Value>;

type InputOf<Schemas extends object, Name extends string> = SchemaInput<SchemaOf<Schemas, Name>>;

type IsLoose<T> = string extends keyof T ? true : false;

type IsSure<Value, Path extends string> = unknown extends Value ? false : [Value] extends [readonly unknown[]] ? false : [Value] extends [object] ? Partial<Record<never, never>> extends Inner<Value, Path> ? false : true : false;

type JsonDocument = Readonly<Record<string, unknown>>;

type JsonValue = null | boolean | number | string | readonly JsonValue[] | {
    readonly [name: string]: JsonValue;
};

type KnownName<Schemas extends object> = [keyof Schemas] extends [never] ? string : keyof Schemas & string;

interface KnownState {
    readonly generation: Generation;
    readonly sequence: CommitSequence;
}

type Less = [never, 0, 1, 2, 3];

interface ListHead {
    readonly total: number;
    readonly offset: number | undefined;
    readonly seq: number;
}

interface LogRecord {
    readonly sequence: CommitSequence;
    readonly bytes: Uint8Array;
}

type MapMany<Document> = (documents: readonly Document[]) => Promise<readonly (readonly (readonly [key: unknown, value: unknown])[] | Error)[]>;

type MaybePromise<T> = T | Promise<T>;

interface MetaRecord {
    readonly generation: Generation;
    readonly sequence: CommitSequence;
    readonly bytes: Uint8Array;
}

interface ModPredicate {
    readonly kind: 'mod';
    readonly path: string;
    readonly divisor: number;
    readonly remainder: number;
    readonly arrays?: 'whole' | undefined;
}

type NamedKey<T> = keyof {
    [Name in keyof T as string extends Name ? never : number extends Name ? never : Name]: unknown;
} & keyof T;

type Nested<T, Name extends keyof T, Path extends string, Sure extends boolean> = Name extends Path ? never : [RestOf<Path, Name>] extends [never] ? never : IsSure<T[Name], RestOf<Path, Name>> extends Sure ? Name : never;

interface NotPredicate {
    readonly kind: 'not';
    readonly of: Predicate;
}

type ObjectIn<Value> = Value extends readonly unknown[] ? never : Value extends object ? Value : never;

type Operand<Value> = Value extends undefined | Date ? never : Value extends readonly (infer Element)[] ? Value | Element : Value;

interface Operators<Value> {
    readonly $eq?: Value;
    readonly $ne?: Value;
    readonly $gt?: Wide<Value> | null;
    readonly $gte?: Wide<Value> | null;
    readonly $lt?: Wide<Value> | null;
    readonly $lte?: Wide<Value> | null;
    readonly $in?: readonly Value[];
    readonly $nin?: readonly Value[];
    readonly $exists?: boolean;
    readonly $beginsWith?: Text<Value>;
    readonly $regex?: Text<Value>;
    readonly $options?: Text<Value>;
    readonly $type?: ValueType;
    readonly $mod?: Extract<Value, number> extends never ? never : readonly [divisor: number, remainder: number];
    readonly $size?: number;
    readonly $all?: readonly ElementIn<Value>[];
    readonly $elemMatch?: ElementCondition<ElementIn<Value>>;
    readonly $allMatch?: ElementCondition<ElementIn<Value>>;
    readonly $keyMapMatch?: Operators<string>;
    readonly $not?: Condition<Value>;
    readonly $and?: readonly Condition<Value>[];
    readonly $or?: readonly Condition<Value>[];
    readonly $nor?: readonly Condition<Value>[];
}

interface OrPredicate {
    readonly kind: 'or';
    readonly of: readonly Predicate[];
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

type PathOf<T, Left extends Less[number] | Depth> = T extends unknown ? {
    [Name in keyof T & string]: Name extends `${string}.${string}` ? never : Name | `${Name}.${PathIn<T[Name], Less[Left]>}`;
}[keyof T & string] : never;

interface PlanStep {
    readonly step: 'full scan' | 'id scan' | 'index scan' | 'union' | 'intersection' | 'nothing' | 'fetch' | 'filter' | 'sort' | 'skip' | 'limit' | 'project';
    readonly [detail: string]: unknown;
}

type Predicate = AndPredicate | OrPredicate | NotPredicate | ComparePredicate | ExistsPredicate | RegexPredicate | TypePredicate | SizePredicate | ModPredicate | AllPredicate | ElementsPredicate;

interface RegexPredicate {
    readonly kind: 'regex';
    readonly path: string;
    readonly source: string;
    readonly flags: string;
    readonly arrays?: 'whole' | undefined;
}

type RestOf<Path extends string, Name> = Name extends string ? Path extends `${Name}.${infer Rest}` ? Rest : never : never;

type SchemaInput<Schema> = HasDate<TypeOf<Schema, 'output'>> extends true ? {
    readonly schema: DatesAreNotStored;
} : TypeOf<Schema, 'input'>;

interface SchemaIssue {
    readonly message: string;
    readonly path?: readonly (PropertyKey | {
        readonly key: PropertyKey;
    })[] | undefined;
}

type SchemaOf<Schemas extends object, Name extends string> = Name extends keyof Schemas ? Schemas[Name] : unknown;

type SchemaOutput<Schema> = TypeOf<Schema, 'output'>;

type SchemaResult<Output> = {
    readonly value: Output;
    readonly issues?: undefined;
} | {
    readonly issues: readonly SchemaIssue[];
};

type SharingScope = 'process' | 'origin';

interface SizePredicate {
    readonly kind: 'size';
    readonly path: string;
    readonly size: number;
}

type SlotKind = 'password' | 'recovery' | 'device';

interface StoreState {
    readonly meta: MetaRecord | undefined;
    readonly log: readonly LogRecord[];
    readonly header: Uint8Array | undefined;
    readonly head: Uint8Array | undefined;
}

type StoredDocument = {
    _id: string;
    _rev: string;
} & Record<string, unknown>;

type Text<Value> = Extract<Value, string> extends never ? never : string;

interface TextSettings {
    readonly language?: string;
}

type TypeOf<Schema, Side extends 'input' | 'output'> = Schema extends {
    readonly '~standard': {
        readonly types?: infer Types;
    };
} ? NonNullable<Types> extends {
    readonly [Name in Side]: infer Type extends object;
} ? Type : Record<string, unknown> : Record<string, unknown>;

interface TypePredicate {
    readonly kind: 'type';
    readonly path: string;
    readonly type: ValueType;
}

interface UnknownCollection {
    readonly 'open() was given no collection of this name: mend the name, or give the type of its documents': never;
}

type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

type Wide<Value> = Value extends string ? string : Value extends number ? number : Value extends boolean ? boolean : Value;

interface WithAttachments {
    readonly attachments: AttachmentForm;
}

const brand: unique symbol;
