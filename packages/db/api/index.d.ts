// What `pannier` offers. Written by `npm run api`.

export const BATCH_DOCUMENTS_MAX = 1000000;

export const COLLECTIONS_MAX = 1000;

export class Collection<T extends object, Input extends object = T> extends CollectionOperations<T, Input> {
    ready(): Promise<void>;
    migrationFailures(): Promise<MigrationFailure[]>;
    retryMigration(options?: RunOptions): Promise<RetryResult>;
    indexes(): Promise<IndexInfo[]>;
    dropIndex(name: string): Promise<boolean>;
}

export interface CollectionChange {
    readonly ids: readonly string[] | undefined;
    readonly dropped: boolean;
}

export interface CollectionDeclaration<Schema = unknown> extends SchemaOptions<Schema> {
    readonly indexes?: readonly IndexInput<FieldPath<Stored<SchemaOutput<Schema>>>>[];
}

export class CollectionOperations<T extends object, Input extends object = T> {
    readonly name: string;
    get(id: string): Promise<Stored<T> | undefined>;
    get(ids: readonly string[]): Promise<(Stored<T> | undefined)[]>;
    insert(document: DocumentInput<Input>): Promise<WriteResult>;
    insert(documents: readonly DocumentInput<Input>[]): Promise<WriteResult[]>;
    put(document: DocumentInput<Input>): Promise<WriteResult>;
    put(documents: readonly DocumentInput<Input>[]): Promise<WriteResult[]>;
    upsert(document: DocumentInput<Input>): Promise<WriteResult>;
    upsert(documents: readonly DocumentInput<Input>[]): Promise<WriteResult[]>;
    update(id: string, change: (document: Stored<T>) => DocumentInput<Input> | undefined): Promise<WriteResult>;
    update(ids: readonly string[], change: (document: Stored<T>) => DocumentInput<Input> | undefined): Promise<WriteResult[]>;
    delete(reference: DocumentReference): Promise<WriteResult | undefined>;
    delete(references: readonly DocumentReference[]): Promise<(WriteResult | undefined)[]>;
    find(selector?: Selector<Stored<T>>): Query<Stored<T>>;
}

export interface CollectionOptions<T extends object = JsonObject, Schema = unknown> extends SchemaOptions<Schema> {
    readonly indexes?: readonly IndexInput<FieldPath<Stored<T>>>[];
    readonly signal?: AbortSignal;
    readonly onProgress?: (done: number) => void;
}

export type Condition<Value> = unknown extends Value ? unknown : EqualTo<Operand<Value>> | (Operators<Operand<Value>> & InnerConditions<ObjectIn<Value>>);

export const DOCUMENT_BYTES_MAX: number;

export const DOCUMENT_DEPTH_MAX = 200;

export class Database<Schemas extends object = object> {
    readonly name: string;
    get storage(): string;
    collection<Schema extends StandardSchema>(name: string, options: CollectionOptions<SchemaOutput<Schema>, Schema> & {
        readonly schema: Schema;
    }): Collection<SchemaOutput<Schema>, SchemaInput<Schema>>;
    collection<Name extends string>(name: Name, options?: CollectionOptions<DocumentOf<Schemas, Name>> & {
        readonly schema?: undefined;
    }): Collection<DocumentOf<Schemas, Name>, InputOf<Schemas, Name>>;
    collection<T extends object>(name: string, options?: CollectionOptions<NoInfer<T>>): Collection<T>;
    collections(): Promise<string[]>;
    dropCollection(name: string): Promise<boolean>;
    transaction<R>(body: (tx: Transaction<Schemas>) => R | Promise<R>): Promise<R>;
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

export type DocumentInput<T extends object> = ContentOf<T> & {
    readonly _id?: string;
    readonly _rev?: string;
};

export interface DocumentIssue {
    readonly message: string;
    readonly path: readonly (string | number)[];
}

export type DocumentReference = string | {
    readonly _id: string;
    readonly _rev?: string;
};

export type Durability = 'relaxed' | 'strict';

export type ErrorCode = 'PANNIER_LOCKED' | 'PANNIER_BLOCKED' | 'PANNIER_OPEN_FAILED' | 'PANNIER_UNAVAILABLE' | 'PANNIER_WRONG_FORMAT' | 'PANNIER_NEWER_FORMAT' | 'PANNIER_CLOSED' | 'PANNIER_CORRUPT' | 'PANNIER_IO' | 'PANNIER_QUOTA_EXCEEDED' | 'PANNIER_STALE' | 'PANNIER_RECOVERY_NEEDED' | 'PANNIER_SNAPSHOT_EXPIRED' | 'PANNIER_CONFLICT' | 'PANNIER_NOT_FOUND' | 'PANNIER_KEY_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_DEEP' | 'PANNIER_BATCH_TOO_LARGE' | 'PANNIER_INVALID_DOCUMENT' | 'PANNIER_NEWER_SCHEMA' | 'PANNIER_INDEX_MISMATCH' | 'PANNIER_LIMIT' | 'PANNIER_ABORTED';

export interface Explanation {
    readonly plan: PlanStep;
    readonly rows: number;
    readonly rowsExact: boolean;
    readonly sortedByIndex: boolean;
    readonly covering: boolean;
    readonly cost: number;
}

export type FieldPath<T> = IsLoose<T> extends true ? string : PathOf<T, Depth> | FreePath;

export type FieldValue<T, Path extends string> = unknown extends T ? unknown : string extends Path ? unknown : T extends readonly (infer Element)[] ? Path extends `${number}` ? Element | undefined : Path extends `${number}.${infer Rest}` ? FieldValue<Element, Rest> | undefined : undefined : T extends object ? Path extends keyof T ? T[Path] : Path extends `${infer Name}.${infer Rest}` ? Name extends keyof T ? FieldValue<T[Name], Rest> : undefined : undefined : undefined;

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

export type IndexInput<Path extends string = string> = OrderedPath<Path> | readonly OrderedPath<Path>[] | {
    readonly on: OrderedPath<Path> | readonly OrderedPath<Path>[];
    readonly multi?: boolean;
    readonly name?: string;
};

export type JsonObject = Record<string, unknown>;

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

export const NAME_CHARS_MAX = 200;

export interface OpenOptions<Schemas extends object = Record<string, unknown>> {
    readonly storage?: Storage;
    readonly durability?: Durability;
    readonly cacheBytesMax?: number;
    readonly collections?: {
        readonly [Name in keyof Schemas]: CollectionDeclaration<Schemas[Name]>;
    };
    readonly onProgress?: (done: number) => void;
    readonly signal?: AbortSignal;
}

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

export class Query<T extends object, Document extends object = T> implements AsyncIterable<T> {
    sort(...fields: OrderedPath<FieldPath<Document>>[]): Query<T, Document>;
    skip(rows: number): Query<T, Document>;
    limit(rows: number): Query<T, Document>;
    fields<Path extends FieldPath<Document>>(...paths: Path[]): Query<Projected<Document, Path> & object, Document>;
    signal(signal: AbortSignal): Query<T, Document>;
    toArray(): Promise<T[]>;
    first(): Promise<T | undefined>;
    count(): Promise<number>;
    explain(): Promise<Explanation>;
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
}

export interface RetryResult {
    readonly migrated: number;
    readonly failed: number;
}

export interface RunOptions {
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((done: number) => void) | undefined;
}

export interface SchemaOptions<Schema = unknown> {
    readonly schema?: Schema;
    readonly version?: number;
    readonly migrations?: Readonly<Record<number, Migration>>;
}

export type Selector<T> = FieldConditions<T> & Combinations<T>;

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

export type Stored<T extends object> = T & {
    readonly _id: string;
    readonly _rev: string;
};

export class Transaction<Schemas extends object = object> {
    collection<Name extends string>(name: Name): CollectionOperations<DocumentOf<Schemas, Name>, InputOf<Schemas, Name>>;
    collection<T extends object>(name: string): CollectionOperations<T>;
}

export interface WriteResult {
    readonly id: string;
    readonly rev: string;
}

export function isPannierError(error: unknown, code?: ErrorCode): error is PannierError;

export function open<Schemas extends object = object>(name: string, options?: OpenOptions<Schemas>): Promise<Database<Schemas>>;

type Brand<T, Name extends string> = T & {
    readonly [brand]: Name;
};

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
    readonly durability: Durability;
}

type CommitSequence = Brand<number, 'CommitSequence'>;

type ContentOf<T> = T extends unknown ? {
    [Name in keyof T as Exclude<Name, '_id' | '_rev'>]: T[Name];
} : never;

type Depth = 4;

type DocumentOf<Schemas extends object, Name extends string> = SchemaOutput<SchemaOf<Schemas, Name>>;

type EqualTo<Value> = Value extends readonly unknown[] ? Value : Value extends object ? never : Value;

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

type Inner<Value, Path extends string> = unknown extends Value ? unknown : Value extends readonly (infer Element)[] ? {
    [Index in `${number}`]?: Path extends `${number}` ? Element : unknown;
} : Value extends object ? Projected<Value, Path> : never;

type InnerConditions<Value> = [Value] extends [never] ? unknown : FieldConditions<Value>;

type InputOf<Schemas extends object, Name extends string> = SchemaInput<SchemaOf<Schemas, Name>>;

type IsLoose<T> = string extends keyof T ? true : false;

type IsSure<Value, Path extends string> = unknown extends Value ? false : [Value] extends [readonly unknown[]] ? false : [Value] extends [object] ? Partial<Record<never, never>> extends Inner<Value, Path> ? false : true : false;

interface KnownState {
    readonly generation: Generation;
    readonly sequence: CommitSequence;
}

type Less = [never, 0, 1, 2, 3];

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

type NamedKey<T> = keyof {
    [Name in keyof T as string extends Name ? never : number extends Name ? never : Name]: unknown;
} & keyof T;

type Nested<T, Name extends keyof T, Path extends string, Sure extends boolean> = Name extends Path ? never : [RestOf<Path, Name>] extends [never] ? never : IsSure<T[Name], RestOf<Path, Name>> extends Sure ? Name : never;

type ObjectIn<Value> = Value extends readonly unknown[] ? never : Value extends object ? Value : never;

type Operand<Value> = Value extends undefined ? never : Value extends readonly (infer Element)[] ? Value | Element : Value;

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
    readonly $not?: Condition<Value>;
    readonly $and?: readonly Condition<Value>[];
    readonly $or?: readonly Condition<Value>[];
    readonly $nor?: readonly Condition<Value>[];
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

type PathOf<T, Left extends Less[number] | Depth> = T extends unknown ? {
    [Name in keyof T & string]: Name extends `${string}.${string}` ? never : Name | `${Name}.${PathIn<T[Name], Less[Left]>}`;
}[keyof T & string] : never;

interface PlanStep {
    readonly step: 'full scan' | 'id scan' | 'index scan' | 'union' | 'nothing' | 'fetch' | 'filter' | 'sort' | 'skip' | 'limit' | 'project';
    readonly [detail: string]: unknown;
}

type RestOf<Path extends string, Name> = Name extends string ? Path extends `${Name}.${infer Rest}` ? Rest : never : never;

type SchemaInput<Schema> = TypeOf<Schema, 'input'>;

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

interface StoreState {
    readonly meta: MetaRecord | undefined;
    readonly log: readonly LogRecord[];
}

type Text<Value> = Extract<Value, string> extends never ? never : string;

type TypeOf<Schema, Side extends 'input' | 'output'> = Schema extends {
    readonly '~standard': {
        readonly types?: infer Types;
    };
} ? NonNullable<Types> extends {
    readonly [Name in Side]: infer Type extends object;
} ? Type : Record<string, unknown> : Record<string, unknown>;

type Wide<Value> = Value extends string ? string : Value extends number ? number : Value extends boolean ? boolean : Value;

const brand: unique symbol;
