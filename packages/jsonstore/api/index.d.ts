// What `@pannier/jsonstore` offers. Written by `npm run api`.

export interface AdapterCall {
    readonly adapter: string;
    readonly procedure: string;
    readonly parameters: readonly unknown[];
}

export interface AdapterOptions {
    readonly name: string;
    readonly add?: string | undefined;
    readonly remove?: string | undefined;
    readonly replace?: string | undefined;
    readonly load?: LoadOptions | undefined;
    readonly accept?: ((response: never, json?: never) => unknown) | undefined;
    readonly timeout?: number | undefined;
}

export interface AddOptions extends WriteOptions {
    readonly additionalSearchFields?: Readonly<Record<string, unknown>> | undefined;
}

export const CODES: Readonly<Record<CodeName, number>>;

export interface CallbackOptions {
    readonly onSuccess?: ((result: never) => unknown) | undefined;
    readonly onFailure?: ((codeOrDocuments: never, error: never) => unknown) | undefined;
}

export interface ChangeOptions extends CallbackOptions {
    readonly addNew?: boolean | undefined;
    readonly markDirty?: boolean | undefined;
    readonly replaceCriteria?: readonly string[] | undefined;
}

export interface CleanDocument {
    readonly _id: number;
    readonly _dirty?: number | undefined;
}

export type CodeName = (typeof NAMES)[keyof typeof NAMES];

export interface CollectionConfig {
    readonly searchFields?: Readonly<Record<string, SearchFieldType>> | undefined;
    readonly additionalSearchFields?: Readonly<Record<string, SearchFieldType>> | undefined;
    readonly adapter?: AdapterOptions | undefined;
    readonly sync?: SyncOptions | undefined;
    readonly dropCollection?: boolean | undefined;
}

export interface CollectionListing<T extends object = JsonObject> {
    readonly collection: {
        readonly name: string;
        readonly username: string;
        readonly searchFields: Readonly<Record<string, string>>;
        readonly additionalSearchFields: SearchSchema['additionalSearchFields'];
    };
    readonly docs?: JSONStoreDocument<T>[];
}

export interface DirtyDocument<T extends object = JsonObject> extends JSONStoreDocument<T> {
    readonly _operation: Operation;
    readonly _dirty: number;
    readonly _deleted?: boolean;
}

export interface ExportedCollection {
    readonly documents: readonly object[];
    readonly dirty?: readonly object[] | undefined;
    readonly additional?: readonly object[] | undefined;
}

export interface ExportedData {
    readonly collections: Readonly<Record<string, ExportedCollection>>;
}

export interface FileInfo {
    readonly name: string;
    readonly size: number;
    readonly isEncrypted: boolean;
}

export interface FindOptions extends CallbackOptions {
    readonly exact?: boolean | undefined;
    readonly limit?: number | undefined;
    readonly offset?: number | undefined;
    readonly filter?: readonly string[] | undefined;
    readonly sort?: readonly Readonly<Record<string, string>>[] | undefined;
}

export interface ImportedCollection {
    readonly imported: number;
    readonly skipped: number;
}

export interface InitCollectionOptions extends InitOptions, CollectionConfig {
    readonly load?: boolean | undefined;
}

export interface InitOptions extends CallbackOptions {
    readonly username?: string | undefined;
    readonly password?: string | undefined;
    readonly localKeyGen?: boolean | undefined;
    readonly clear?: boolean | undefined;
    readonly dropCollection?: boolean | undefined;
    readonly pbkdf2Iterations?: number | undefined;
    readonly analytics?: boolean | undefined;
    readonly fipsEnabled?: boolean | undefined;
}

export type InvokeProcedure = (call: AdapterCall, options: {
    readonly timeout?: number;
}) => PromiseLike<unknown>;

export interface JQueryPromise<T> {
    done(...callbacks: readonly ((result: T, more: undefined) => unknown)[]): this;
    fail(...callbacks: readonly ((error: unknown) => unknown)[]): this;
    always(...callbacks: readonly ((resultOrError: unknown) => unknown)[]): this;
    progress(): this;
    then: Promise<T>['then'];
    promise(): this;
}

export const JSONStore: JSONStoreApi;

export class JSONStoreApi {
    readonly QueryPart: QueryPartConstructor;
    readonly syncOptions: typeof SYNC_POLICIES;
    constructor(settings?: JSONStoreSettings);
    init<Names extends string>(collections: Readonly<Record<Names, CollectionConfig>>, options?: InitOptions | null): JSONStorePromise<Record<Names, JSONStoreCollection>>;
    get<T extends object = JsonObject>(name: string): JSONStoreCollection<T> | undefined;
    closeAll(options?: CallbackOptions | null): JSONStorePromise<number>;
    destroy(username?: string | CallbackOptions | null, options?: CallbackOptions | null): JSONStorePromise<number>;
    changePassword(oldPassword: string, newPassword: string, username?: string | CallbackOptions | null, options?: CallbackOptions | null): JSONStorePromise<number>;
    startTransaction(options?: CallbackOptions | null): JSONStorePromise<number>;
    commitTransaction(options?: CallbackOptions | null): JSONStorePromise<number>;
    rollbackTransaction(options?: CallbackOptions | null): JSONStorePromise<number>;
    fileInfo(options?: CallbackOptions | null): JSONStorePromise<FileInfo[]>;
    getErrorMessage(code: number): string;
    documentify<T extends object>(id: number, data: T): JSONStoreDocument<T>;
    initCollection<T extends object = JsonObject>(name: string, searchFields?: Readonly<Record<string, SearchFieldType>> | null, options?: InitCollectionOptions | null): JSONStoreCollection<T> | number;
    usePassword(password: string): boolean;
    clearPassword(): boolean;
}

export class JSONStoreCollection<T extends object = JsonObject> {
    readonly name: string;
    readonly username: string;
    promise: JSONStorePromise<number>;
    get adapter(): AdapterOptions | undefined;
    get searchFields(): SearchSchema['searchFields'];
    get additionalSearchFields(): SearchSchema['additionalSearchFields'];
    add(data: T | readonly T[], options?: AddOptions | null): JSONStorePromise<number>;
    find(query: SearchCriteria | readonly SearchCriteria[], options?: FindOptions | null): JSONStorePromise<JSONStoreDocument<T>[]>;
    findAll(options?: FindOptions | null): JSONStorePromise<JSONStoreDocument<T>[]>;
    findById(ids: number | readonly number[], options?: CallbackOptions | null): JSONStorePromise<JSONStoreDocument<T>[]>;
    advancedFind(parts: QueryPartConditions | QueryConditions | readonly (QueryPartConditions | QueryConditions)[], options?: FindOptions | null): JSONStorePromise<JSONStoreDocument<T>[]>;
    count(query?: SearchCriteria | readonly SearchCriteria[] | CallbackOptions | null, options?: (Pick<FindOptions, 'exact'> & CallbackOptions) | null): JSONStorePromise<number>;
    replace(documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[], options?: WriteOptions | null): JSONStorePromise<number>;
    remove(target: RemoveTarget<T> | readonly RemoveTarget<T>[], options?: RemoveOptions | null): JSONStorePromise<number>;
    store(data: T | readonly T[], options?: AddOptions | null): JSONStorePromise<number>;
    refresh(documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[], options?: WriteOptions | null): JSONStorePromise<number>;
    erase(target: RemoveTarget<T> | readonly RemoveTarget<T>[], options?: RemoveOptions | null): JSONStorePromise<number>;
    change(data: readonly T[], options?: ChangeOptions | null): JSONStorePromise<number>;
    getAllDirty(options?: CallbackOptions | null): JSONStorePromise<DirtyDocument<T>[]>;
    getPushRequired(options?: CallbackOptions | null): JSONStorePromise<DirtyDocument<T>[]>;
    isDirty(document: JSONStoreDocument<T> | number, options?: CallbackOptions | null): JSONStorePromise<boolean>;
    isPushRequired(document: JSONStoreDocument<T> | number, options?: CallbackOptions | null): JSONStorePromise<boolean>;
    countAllDirty(options?: CallbackOptions | null): JSONStorePromise<number>;
    pushRequiredCount(options?: CallbackOptions | null): JSONStorePromise<number>;
    markClean(documents: readonly CleanDocument[], options?: CallbackOptions | null): JSONStorePromise<number>;
    push(target?: PushTarget<T> | CallbackOptions | null, options?: CallbackOptions | null): JSONStorePromise<JSONStoreError[]>;
    pushSelected(documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[], options?: CallbackOptions | null): JSONStorePromise<JSONStoreError[]>;
    load(options?: CallbackOptions | null): JSONStorePromise<number>;
    sync(options?: CallbackOptions | null): JSONStorePromise<{
        readonly received: number;
        readonly sent: number;
    }>;
    clear(options?: CallbackOptions | null): JSONStorePromise<number>;
    removeCollection(options?: CallbackOptions | null): JSONStorePromise<number>;
    enhance(name: string, enhancement: (this: JSONStoreCollection<T>, ...parameters: never[]) => unknown): number;
    toString(limit?: number, offset?: number): JSONStorePromise<CollectionListing<T>>;
}

export interface JSONStoreDocument<T extends object = JsonObject> {
    readonly _id: number;
    readonly json: T;
}

export class JSONStoreError extends Error {
    readonly src: string;
    readonly err: number;
    readonly msg: string;
    readonly col: string;
    readonly usr: string;
    readonly doc: unknown;
    readonly res: unknown;
    constructor(err: number, facts?: ErrorFacts);
    toString(): string;
}

export interface JSONStorePromise<T> extends Promise<T> {
    done(...callbacks: readonly ((result: T) => unknown)[]): this;
    fail(...callbacks: readonly ((error: unknown) => unknown)[]): this;
    always(...callbacks: readonly ((resultOrError: unknown) => unknown)[]): this;
    promise(): JQueryPromise<T>;
    then<A = T, B = never>(onFulfilled?: ((value: T) => A | PromiseLike<A>) | null, onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): JSONStorePromise<A | B>;
}

export interface JSONStoreSettings {
    readonly name?: string | undefined;
    readonly storage?: Storage | undefined;
    readonly events?: EventTarget | undefined;
    readonly invokeProcedure?: InvokeProcedure | undefined;
    readonly secureRandom?: (() => unknown) | undefined;
    readonly log?: ((text: string) => void) | undefined;
    readonly fetch?: typeof fetch | undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export interface LoadOptions {
    readonly procedure: string;
    readonly params?: readonly unknown[] | undefined;
    readonly key: string;
}

export type Operation = 'add' | 'store' | 'replace' | 'refresh' | 'remove';

export type PushTarget<T extends object = JsonObject> = JSONStoreDocument<T> | number | readonly (JSONStoreDocument<T> | number)[];

export type QueryConditions = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

export const QueryPart: QueryPartConstructor;

export class QueryPartConditions {
    like(field: string, value: QueryValue): this;
    notLike(field: string, value: QueryValue): this;
    leftLike(field: string, value: QueryValue): this;
    notLeftLike(field: string, value: QueryValue): this;
    rightLike(field: string, value: QueryValue): this;
    notRightLike(field: string, value: QueryValue): this;
    equal(field: string, value: QueryValue): this;
    notEqual(field: string, value: QueryValue): this;
    lessThan(field: string, value: QueryValue): this;
    lessOrEqualThan(field: string, value: QueryValue): this;
    greaterThan(field: string, value: QueryValue): this;
    greaterOrEqualThan(field: string, value: QueryValue): this;
    between(field: string, from: QueryValue, to: QueryValue): this;
    between(field: string, range: readonly QueryValue[]): this;
    notBetween(field: string, from: QueryValue, to: QueryValue): this;
    notBetween(field: string, range: readonly QueryValue[]): this;
    inside(field: string, values: readonly QueryValue[]): this;
    notInside(field: string, values: readonly QueryValue[]): this;
}

export interface QueryPartConstructor {
    new (): QueryPartConditions;
    (): QueryPartConditions;
}

export type QueryValue = SearchValue | boolean;

export interface RemoveOptions extends WriteOptions {
    readonly exact?: boolean | undefined;
}

export type RemoveTarget<T extends object = JsonObject> = JSONStoreDocument<T> | {
    readonly _id: number;
} | SearchCriteria | number;

export type SearchCriteria = Readonly<Record<string, QueryValue>>;

export type SearchFieldType = 'string' | 'integer' | 'number' | 'boolean';

export type SearchFields = Readonly<Record<string, SearchFieldType>>;

export interface SyncOptions {
    readonly syncPolicy: 0 | 1 | 2;
    readonly syncAdapterPath?: ReplicationTarget | undefined;
    readonly onSyncSuccess?: ((result: SyncResult) => unknown) | undefined;
    readonly onSyncFailure?: ((error: unknown) => unknown) | undefined;
}

export const WL: WorklightObject;

export type WorklightObject = Additions & (typeof globalThis extends {
    readonly WL: infer Existing extends object;
} ? Existing : object);

export interface WriteOptions extends CallbackOptions {
    readonly markDirty?: boolean | undefined;
    readonly push?: boolean | undefined;
}

export function createJSONStore(settings?: JSONStoreSettings): JSONStoreApi;

export function importJSONStore(store: JSONStoreApi, exported: ExportedData | string): Promise<Record<string, ImportedCollection>>;

interface Additions {
    readonly JSONStore: JSONStoreApi;
    readonly constant: {
        readonly ASCENDING: 'asc';
        readonly DESCENDING: 'desc';
    };
}

interface ErrorFacts {
    readonly src?: string;
    readonly col?: string;
    readonly usr?: string;
    readonly doc?: unknown;
    readonly res?: unknown;
    readonly cause?: unknown;
}

const NAMES: {
    readonly '-100': 'UNKNOWN_FAILURE';
    readonly '-75': 'OS_SECURITY_FAILURE';
    readonly '-50': 'PERSISTENT_STORE_NOT_OPEN';
    readonly '-48': 'TRANSACTION_FAILURE_DURING_ROLLBACK';
    readonly '-47': 'TRANSACTION_FAILURE_DURING_REMOVE_COLLECTION';
    readonly '-46': 'TRANSACTION_FAILURE_DURING_DESTROY';
    readonly '-45': 'TRANSACTION_FAILURE_DURING_CLOSE_ALL';
    readonly '-44': 'TRANSACTION_FAILURE_DURING_INIT';
    readonly '-43': 'TRANSACTION_FAILURE';
    readonly '-42': 'NO_TRANSACTION_IN_PROGRESS';
    readonly '-41': 'TRANSACTION_IN_PROGRESS';
    readonly '-40': 'FIPS_ENABLEMENT_FAILURE';
    readonly '-24': 'JSON_STORE_FILE_INFO_ERROR';
    readonly '-23': 'JSON_STORE_REPLACE_DOCUMENTS_FAILURE';
    readonly '-22': 'JSON_STORE_REMOVE_WITH_QUERIES_FAILURE';
    readonly '-21': 'JSON_STORE_STORE_DATA_PROTECTION_KEY_FAILURE';
    readonly '-20': 'JSON_STORE_INVALID_JSON_STRUCTURE';
    readonly '-19': 'DESTROY_FAILED_METADATA_REMOVAL_FAILURE';
    readonly '-18': 'DESTROY_FAILED_FILE_ERROR';
    readonly '-12': 'INVALID_SEARCH_FIELD_TYPES';
    readonly '-11': 'OPERATION_FAILED_ON_SPECIFIC_DOCUMENT';
    readonly '-10': 'ACCEPT_CONDITION_FAILED';
    readonly '-9': 'OFFSET_WITHOUT_LIMIT';
    readonly '-8': 'INVALID_LIMIT_OR_OFFSET';
    readonly '-7': 'INVALID_USERNAME';
    readonly '-6': 'USERNAME_MISMATCH_DETECTED';
    readonly '-5': 'DESTROY_REMOVE_PERSISTENT_STORE_FAILED';
    readonly '-4': 'DESTROY_REMOVE_KEYS_FAILED';
    readonly '-3': 'INVALID_KEY_ON_PROVISION';
    readonly '-2': 'PROVISION_TABLE_SEARCH_FIELDS_MISMATCH';
    readonly '-1': 'PERSISTENT_STORE_FAILURE';
    readonly '0': 'SUCCESS';
    readonly '1': 'BAD_PARAMETER_EXPECTED_INT';
    readonly '2': 'BAD_PARAMETER_EXPECTED_STRING';
    readonly '3': 'BAD_PARAMETER_EXPECTED_FUNCTION';
    readonly '4': 'BAD_PARAMETER_EXPECTED_ALPHANUMERIC_STRING';
    readonly '5': 'BAD_PARAMETER_EXPECTED_OBJECT';
    readonly '6': 'BAD_PARAMETER_EXPECTED_SIMPLE_OBJECT';
    readonly '7': 'BAD_PARAMETER_EXPECTED_DOCUMENT';
    readonly '8': 'FAILED_TO_GET_UNPUSHED_DOCUMENTS_FROM_DB';
    readonly '9': 'NO_ADAPTER_LINKED_TO_COLLECTION';
    readonly '10': 'BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ARRAY_OF_DOCUMENTS';
    readonly '11': 'INVALID_PASSWORD_EXPECTED_ALPHANUMERIC_STRING_WITH_LENGTH_GREATER_THAN_ZERO';
    readonly '12': 'ADAPTER_FAILURE';
    readonly '13': 'BAD_PARAMETER_EXPECTED_DOCUMENT_OR_ID';
    readonly '14': 'CAN_NOT_REPLACE_DEFAULT_FUNCTIONS';
    readonly '15': 'COULD_NOT_MARK_DOCUMENT_PUSHED';
    readonly '16': 'COULD_NOT_GET_SECURE_KEY';
    readonly '17': 'FAILED_TO_LOAD_INITIAL_DATA_FROM_ADAPTER';
    readonly '18': 'FAILED_TO_LOAD_INITIAL_DATA_FROM_ADAPTER_INVALID_LOAD_OBJ';
    readonly '19': 'INVALID_KEY_IN_LOAD_OBJECT';
    readonly '20': 'UNDEFINED_PUSH_OPERATION';
    readonly '21': 'INVALID_ADD_INDEX_KEY';
    readonly '22': 'INVALID_SEARCH_FIELD';
    readonly '23': 'ERROR_CLOSING_ALL';
    readonly '24': 'ERROR_CHANGING_PASSWORD';
    readonly '25': 'ERROR_DURING_DESTROY';
    readonly '26': 'ERROR_CLEARING_COLLECTION';
    readonly '27': 'INVALID_PARAMETER_FOR_FIND_BY_ID';
    readonly '28': 'INVALID_SORT_OBJECT';
    readonly '29': 'INVALID_FILTER_ARRAY';
    readonly '30': 'BAD_PARAMETER_EXPECTED_ARRAY_OF_OBJECTS';
    readonly '31': 'BAD_PARAMETER_EXPECTED_ARRAY_OF_CLEAN_DOCUMENTS';
    readonly '32': 'BAD_PARAMETER_WRONG_SEARCH_CRITERIA';
};

const SYNC_POLICIES: {
    readonly SYNC_DOWNSTREAM: 0;
    readonly SYNC_UPSTREAM: 1;
    readonly SYNC_NONE: 2;
};

interface SearchSchema {
    readonly searchFields: SearchFields;
    readonly additionalSearchFields: SearchFields;
}

type SearchValue = string | number;

interface SyncResult {
    readonly received: number;
    readonly sent: number;
}
