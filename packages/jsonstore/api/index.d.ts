// What `@pannier/jsonstore` offers. Written by `npm run api`.

/** A call of an adapter's procedure. */
export interface AdapterCall {
    /** The name of the adapter. */
    readonly adapter: string;
    /** The name of the procedure. */
    readonly procedure: string;
    /** For `push` one element: the document's JSON as text. For `load` the `params` that the collection was declared with. */
    readonly parameters: readonly unknown[];
}

/** How a collection talks to an adapter. */
export interface AdapterOptions {
    /** The name of the adapter. */
    readonly name: string;
    /** The procedures that are called with a document that was added, removed or replaced. */
    readonly add?: string | undefined;
    /** The procedure for documents that were removed. */
    readonly remove?: string | undefined;
    /** The procedure for documents that were replaced. */
    readonly replace?: string | undefined;
    /** How documents are loaded from the adapter. */
    readonly load?: LoadOptions | undefined;
    /**
     * Whether an answer means success: any truthy value does. Gets the answer, and for `push` the JSON of the document. When left out, an
     * answer means success if its `status` is below 400 or missing, and `invocationResult.isSuccessful` is not false.
     */
    readonly accept?: ((response: never, json?: never) => unknown) | undefined;
    /** Milliseconds; passed to the caller of the adapter. */
    readonly timeout?: number | undefined;
}

/** Options of `add`. */
export interface AddOptions extends WriteOptions {
    /** Values of additional search fields, for all documents of this call. */
    readonly additionalSearchFields?: Readonly<Record<string, unknown>> | undefined;
}

/** By their names. */
export const CODES: Readonly<Record<CodeName, number>>;

/** Options that every asynchronous function takes. Deprecated by JSONStore in favour of promises. */
export interface CallbackOptions {
    /** Called with the result. */
    readonly onSuccess?: ((result: never) => unknown) | undefined;
    /** Gets the code of the failure; where `replace` misses documents (-11), these in its place. The error itself comes second. */
    readonly onFailure?: ((codeOrDocuments: never, error: never) => unknown) | undefined;
}

/** Options of `change`. */
export interface ChangeOptions extends CallbackOptions {
    /** Adds what replaces nothing. False when left out. */
    readonly addNew?: boolean | undefined;
    /** False: the changes are not marked as dirty. */
    readonly markDirty?: boolean | undefined;
    /** The search fields in which a document equals the one that it replaces. */
    readonly replaceCriteria?: readonly string[] | undefined;
}

/** A document that was pushed, with its state at that time, if known. */
export interface CleanDocument {
    /** The id of the document. */
    readonly _id: number;
    /** When it was changed, in milliseconds since 1970. */
    readonly _dirty?: number | undefined;
}

/** The name of a code. */
export type CodeName = (typeof NAMES)[keyof typeof NAMES];

/** The declaration of a collection: its search fields and its adapter. */
export interface CollectionConfig {
    /** The fields of queries: paths (`address.city`, also through arrays) and types. */
    readonly searchFields?: Readonly<Record<string, SearchFieldType>> | undefined;
    /** Fields whose values are not in the documents, but are given with them to `add`. */
    readonly additionalSearchFields?: Readonly<Record<string, SearchFieldType>> | undefined;
    /** For `push` and `load`. */
    readonly adapter?: AdapterOptions | undefined;
    /** For `sync`. */
    readonly sync?: SyncOptions | undefined;
    /** Empties the collection first; its search fields may then be others. */
    readonly dropCollection?: boolean | undefined;
}

/** The result of `toString`. */
export interface CollectionListing<T extends object = JsonObject> {
    /** The collection and its first documents. */
    readonly collection: {
        readonly name: string;
        readonly username: string;
        readonly searchFields: Readonly<Record<string, string>>;
        readonly additionalSearchFields: SearchSchema['additionalSearchFields'];
    };
    /** Missing with a limit of 0. */
    readonly docs?: JSONStoreDocument<T>[];
}

/** A document with changes that were not pushed yet. */
export interface DirtyDocument<T extends object = JsonObject> extends JSONStoreDocument<T> {
    /** The last change of the document. */
    readonly _operation: Operation;
    /** When it became dirty, in milliseconds since 1970. */
    readonly _dirty: number;
    /** Whether it was deleted. */
    readonly _deleted?: boolean;
}

/** The content of one collection, as the functions of the old app gave it. */
export interface ExportedCollection {
    /** The result of `findAll()`. */
    readonly documents: readonly object[];
    /** The result of `getAllDirty()`, removed documents included. */
    readonly dirty?: readonly object[] | undefined;
    /** The result of `findAll({ filter: ['_id', …] })`, with the additional search fields. */
    readonly additional?: readonly object[] | undefined;
}

/** The content of an export. */
export interface ExportedData {
    /** The documents of each collection. */
    readonly collections: Readonly<Record<string, ExportedCollection>>;
}

/** One store on this device. */
export interface FileInfo {
    /** The user name of the store. */
    readonly name: string;
    /** The approximate number of bytes. */
    readonly size: number;
    /** Whether it is encrypted: it has a password. */
    readonly isEncrypted: boolean;
}

/** Options of `find` and its kin. */
export interface FindOptions extends CallbackOptions {
    /** Values are equal, case and all, instead of containing what is looked for. */
    readonly exact?: boolean | undefined;
    /** The highest number of results; a negative number means that many of the newest, newest first. */
    readonly limit?: number | undefined;
    /** Skips this number at the start; needs a limit. */
    readonly offset?: number | undefined;
    /**
     * Gives these alone: search fields, `_id`, `json`, `_operation`, `_dirty`, `_deleted`. As in JSONStore's tables all are text but `_id` (a number)
     * and `json` (an object): `'38'`, and `'1'` for true.
     */
    readonly filter?: readonly string[] | undefined;
    /** The sort by search fields, the first one first; else by `_id`. */
    readonly sort?: readonly Readonly<Record<string, string>>[] | undefined;
}

/** The result of an import into one collection. */
export interface ImportedCollection {
    /** How many documents were imported. */
    readonly imported: number;
    /** The number of documents whose ids were in use: the stored documents stay as they are. */
    readonly skipped: number;
}

/** Options of one collection for `init`. */
export interface InitCollectionOptions extends InitOptions, CollectionConfig {
    /** Fills a collection that is empty from its adapter, as `load` does. */
    readonly load?: boolean | undefined;
}

/** Options of `init`. */
export interface InitOptions extends CallbackOptions {
    /** Each user has a store of their own; `jsonstore` when left out. */
    readonly username?: string | undefined;
    /** Encrypts the whole store. */
    readonly password?: string | undefined;
    /** False: the store is not made before the app's `secureRandom` has answered. */
    readonly localKeyGen?: boolean | undefined;
    /** Forgets the accessors that there are; documents stay. */
    readonly clear?: boolean | undefined;
    /** As in `CollectionConfig`, of all collections that are named. */
    readonly dropCollection?: boolean | undefined;
    /** The iterations of PBKDF2, without effect: Pannier chooses, and raises it with time. */
    readonly pbkdf2Iterations?: number | undefined;
    /** Analytics, without effect. */
    readonly analytics?: boolean | undefined;
    /** Whether FIPS is enabled, without effect; deprecated by JSONStore. */
    readonly fipsEnabled?: boolean | undefined;
}

/** Calls a procedure of an adapter and gives its answer. */
export type InvokeProcedure = (call: AdapterCall, options: {
    readonly timeout?: number;
}) => PromiseLike<unknown>;

/** The part of a jQuery promise that jQuery itself calls. Its callbacks get a second argument, undefined, as JSONStore's did. */
export interface JQueryPromise<T> {
    /** Calls back with the result. */
    done(...callbacks: readonly ((result: T, more: undefined) => unknown)[]): this;
    /** Calls back with the error. */
    fail(...callbacks: readonly ((error: unknown) => unknown)[]): this;
    /** Calls back at the end, whichever it is. */
    always(...callbacks: readonly ((resultOrError: unknown) => unknown)[]): this;
    /** Nothing is ever in progress. */
    progress(): this;
    /** As `then` of a promise. */
    then: Promise<T>['then'];
    /** The promise itself. */
    promise(): this;
}

/** The store of the app, with the default settings. */
export const JSONStore: JSONStoreApi;

/** The whole API, as `WL.JSONStore` has it. */
export class JSONStoreApi {
    /** Makes parts of queries: conditions for `advancedFind`. */
    readonly QueryPart: QueryPartConstructor;
    /** The values of `syncPolicy`, by name. */
    readonly syncOptions: typeof SYNC_POLICIES;
    constructor(settings?: JSONStoreSettings);
    /**
     * Opens the user's store, making it if need be, and these collections. Resolves with the accessors of all collections that are open, by
     * their names. May be called again for more collections; the password is needed the first time only.
     *
     * @example
     * const { people } = await JSONStore.init({ people: { searchFields: { name: 'string', age: 'integer' } } }, { password })
     */
    init<Names extends string>(collections: Readonly<Record<Names, CollectionConfig>>, options?: InitOptions | null): JSONStorePromise<Record<Names, JSONStoreCollection>>;
    /** The accessor of a collection that was opened. */
    get<T extends object = JsonObject>(name: string): JSONStoreCollection<T> | undefined;
    /** Closes the store: the user is logged out. */
    closeAll(options?: CallbackOptions | null): JSONStorePromise<number>;
    /** Closes the store that is open, and deletes the stores of all users, or that of one, without their passwords. */
    destroy(username?: string | CallbackOptions | null, options?: CallbackOptions | null): JSONStorePromise<number>;
    /**
     * For the user whose store is open; `jsonstore` by default. Nothing is encrypted again: the key of the data is
     * wrapped in another key.
     */
    changePassword(oldPassword: string, newPassword: string, username?: string | CallbackOptions | null, options?: CallbackOptions | null): JSONStorePromise<number>;
    /** From now on everything is one transaction, until it is committed or rolled back. One at a time; other tabs wait. */
    startTransaction(options?: CallbackOptions | null): JSONStorePromise<number>;
    /** Commits the transaction that was started. */
    commitTransaction(options?: CallbackOptions | null): JSONStorePromise<number>;
    /** Takes back what the transaction has written. */
    rollbackTransaction(options?: CallbackOptions | null): JSONStorePromise<number>;
    /** The facts of the stores of all users, in the order of their names; empty if no store is open. */
    fileInfo(options?: CallbackOptions | null): JSONStorePromise<FileInfo[]>;
    /** The name of a code, else 'Not found'. */
    getErrorMessage(code: number): string;
    /** @deprecated Documents are `{ _id, json }`. */
    documentify<T extends object>(id: number, data: T): JSONStoreDocument<T>;
    /**
     * Returns the accessor at once. Use it when its `promise` has resolved: with 0 if the collection was created, with 1
     * if it existed. `onSuccess` gets the same.
     *
     * @deprecated Use `init`.
     * @returns The accessor; for wrong arguments a code, as JSONStore does. `onFailure` has it before that.
     * @example
     * JSONStore.initCollection('users', { id: 'integer' }, { onSuccess: () => show('users are there') })
     */
    initCollection<T extends object = JsonObject>(name: string, searchFields?: Readonly<Record<string, SearchFieldType>> | null, options?: InitCollectionOptions | null): JSONStoreCollection<T> | number;
    /** @deprecated Use the `password` of `init`. For the calls of `initCollection` that follow. False for what is no password. */
    usePassword(password: string): boolean;
    /** @deprecated Forgets what `usePassword` was given. False if there was nothing. */
    clearPassword(): boolean;
}

/** A collection of a store. */
export class JSONStoreCollection<T extends object = JsonObject> {
    /** The name of the collection. */
    readonly name: string;
    /** The user whose store it was opened in. */
    readonly username: string;
    /** Resolves once the collection is open: with 0 if it was made, with 1 if it was there. */
    promise: JSONStorePromise<number>;
    /** The adapter as it was declared. */
    get adapter(): AdapterOptions | undefined;
    /** The search fields, by lower-case names. */
    get searchFields(): SearchSchema['searchFields'];
    /** Search fields that are not part of the documents, with their types. */
    get additionalSearchFields(): SearchSchema['additionalSearchFields'];
    /**
     * Adds one document or several, all or nothing. Resolves with their number.
     *
     * @example
     * await JSONStore.get('people')!.add({ name: 'Ann', age: 31 }, { additionalSearchFields: { team: 'blue' } })
     */
    add(data: T | readonly T[], options?: AddOptions | null): JSONStorePromise<number>;
    /**
     * Documents that match all fields of the query, or of one of several; none of no queries. A value matches where it is contained, whatever
     * its case; with `exact` where it is equal.
     */
    find(query: SearchCriteria | readonly SearchCriteria[], options?: FindOptions | null): JSONStorePromise<JSONStoreDocument<T>[]>;
    /** All documents. */
    findAll(options?: FindOptions | null): JSONStorePromise<JSONStoreDocument<T>[]>;
    /** Finds the documents that have these ids, in the order of ids. */
    findById(ids: number | readonly number[], options?: CallbackOptions | null): JSONStorePromise<JSONStoreDocument<T>[]>;
    /**
     * Documents that match one of the query parts.
     *
     * @example
     * await JSONStore.get('people')!.advancedFind([JSONStore.QueryPart().like('name', 'ann').lessThan('age', 30)], { sort: [{ age: 'desc' }] })
     */
    advancedFind(parts: QueryPartConditions | QueryConditions | readonly (QueryPartConditions | QueryConditions)[], options?: FindOptions | null): JSONStorePromise<JSONStoreDocument<T>[]>;
    /**
     * The number of all documents, or of those that `find` would give. It may have callbacks, as `count({ onSuccess })`.
     */
    count(query?: SearchCriteria | readonly SearchCriteria[] | CallbackOptions | null, options?: (Pick<FindOptions, 'exact'> & CallbackOptions) | null): JSONStorePromise<number>;
    /**
     * Replaces documents by those with the same `_id`, all or nothing. Additional search fields keep their values. Resolves with the
     * number of documents; a failure (-11) has those that are not there as `doc`.
     */
    replace(documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[], options?: WriteOptions | null): JSONStorePromise<number>;
    /** Removes documents, given by themselves, by their ids or by queries. Resolves with the number of those that were there. */
    remove(target: RemoveTarget<T> | readonly RemoveTarget<T>[], options?: RemoveOptions | null): JSONStorePromise<number>;
    /** As `add`, and not to be pushed. */
    store(data: T | readonly T[], options?: AddOptions | null): JSONStorePromise<number>;
    /** As `replace`, and not to be pushed. */
    refresh(documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[], options?: WriteOptions | null): JSONStorePromise<number>;
    /** As `remove`, and not to be pushed. */
    erase(target: RemoveTarget<T> | readonly RemoveTarget<T>[], options?: RemoveOptions | null): JSONStorePromise<number>;
    /** Replaces documents by those that equal them in all criteria, and adds others if wanted. Resolves with the number of both. */
    change(data: readonly T[], options?: ChangeOptions | null): JSONStorePromise<number>;
    /** Documents that were added, replaced and removed and are not pushed yet, in that order. */
    getAllDirty(options?: CallbackOptions | null): JSONStorePromise<DirtyDocument<T>[]>;
    /** Another name of `getAllDirty`. */
    getPushRequired(options?: CallbackOptions | null): JSONStorePromise<DirtyDocument<T>[]>;
    /** Whether the document has changes that were not pushed. */
    isDirty(document: JSONStoreDocument<T> | number, options?: CallbackOptions | null): JSONStorePromise<boolean>;
    /** Another name of `isDirty`. */
    isPushRequired(document: JSONStoreDocument<T> | number, options?: CallbackOptions | null): JSONStorePromise<boolean>;
    /** How many documents are dirty. */
    countAllDirty(options?: CallbackOptions | null): JSONStorePromise<number>;
    /** Another name of `countAllDirty`. */
    pushRequiredCount(options?: CallbackOptions | null): JSONStorePromise<number>;
    /** Marks documents of `getAllDirty` as pushed, unless they were changed since. Resolves with their number. */
    markClean(documents: readonly CleanDocument[], options?: CallbackOptions | null): JSONStorePromise<number>;
    /**
     * Hands dirty documents to the adapter, one by one: all, or the given documents or ids. Resolves with the failures.
     * Calls `onSuccess` with 0 for each pushed document, or once if nothing was dirty, and `onFailure` with the code of
     * each failure.
     */
    push(target?: PushTarget<T> | CallbackOptions | null, options?: CallbackOptions | null): JSONStorePromise<JSONStoreError[]>;
    /** As `push`, for these documents alone; those that are not dirty are ignored. */
    pushSelected(documents: JSONStoreDocument<T> | readonly JSONStoreDocument<T>[], options?: CallbackOptions | null): JSONStorePromise<JSONStoreError[]>;
    /** Stores what the adapter has, not to be pushed. Resolves with the number of documents. */
    load(options?: CallbackOptions | null): JSONStorePromise<number>;
    /**
     * Exchanges changes with a CouchDB database, as `sync` in the collection's configuration says. Resolves with the numbers of documents
     * that came and went.
     */
    sync(options?: CallbackOptions | null): JSONStorePromise<{
        readonly received: number;
        readonly sent: number;
    }>;
    /** Removes all documents; new ids continue after the old ones. */
    clear(options?: CallbackOptions | null): JSONStorePromise<number>;
    /** Takes the collection with its search fields; `init` makes it again. */
    removeCollection(options?: CallbackOptions | null): JSONStorePromise<number>;
    /**
     * Gives this collection a further function, for which `this` is the collection.
     *
     * @returns 0, or a code: 2 and 3 for wrong arguments, 14 if JSONStore has a function of that name.
     */
    enhance(name: string, enhancement: (this: JSONStoreCollection<T>, ...parameters: never[]) => unknown): number;
    /**
     * Logs the collection and documents of it, and resolves with both: the first 100, or `limit` after `offset`. A
     * negative limit means the newest. A wrong limit or offset is ignored. It never rejects: it resolves with an error.
     */
    toString(limit?: number, offset?: number): JSONStorePromise<CollectionListing<T>>;
}

/** A document as apps see it. */
export interface JSONStoreDocument<T extends object = JsonObject> {
    /** The id of the document. */
    readonly _id: number;
    /** The content of the document. */
    readonly json: T;
}

/** JSONStore's error object, as an Error. As text it is JSON, as apps for JSONStore log it. */
export class JSONStoreError extends Error {
    /** The source (src): the function that failed. */
    readonly src: string;
    /** The error code (err); stable. */
    readonly err: number;
    /** The name of the code. */
    readonly msg: string;
    /** The collection, if the error is about one. */
    readonly col: string;
    /** The user name, if the error is about a store. */
    readonly usr: string;
    /** The document, if the error is about one. */
    readonly doc: unknown;
    /** The work that was done before the failure. */
    readonly res: unknown;
    constructor(err: number, facts?: ErrorFacts);
    /** The error as a string. */
    toString(): string;
}

/**
 * A promise with the methods of jQuery's that apps written for JSONStore call. `then` with two functions, `await`, `catch` and
 * `finally` are those of any promise.
 *
 * - `done`, `fail` and `always` give the same promise, so that they chain: `find(…).then(show).done(hide).fail(report)`.
 * - What a function given to them throws is an unhandled rejection, and changes nothing for others.
 * - A failure with `fail` or `always` on its promise is handled; so is one with `done` alone, as with jQuery.
 * - `promise` is what `$.when` of jQuery asks for; with it `$.when(one, two)` waits for both, and gives each as `[result]`, as with JSONStore.
 * - A function given to `then` may return `$.when(one, two)`: the next function gets both results. `await` gives the first.
 */
export interface JSONStorePromise<T> extends Promise<T> {
    /** Calls back with the result. */
    done(...callbacks: readonly ((result: T) => unknown)[]): this;
    /** Calls back with the failure. */
    fail(...callbacks: readonly ((error: unknown) => unknown)[]): this;
    /** Calls back with the result or the failure. */
    always(...callbacks: readonly ((resultOrError: unknown) => unknown)[]): this;
    /** This promise as jQuery 1 and 2 take it. */
    promise(): JQueryPromise<T>;
    /** A promise that follows is again such a promise. */
    then<A = T, B = never>(onFulfilled?: ((value: T) => A | PromiseLike<A>) | null, onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): JSONStorePromise<A | B>;
}

/** Settings of an instance of JSONStore. */
export interface JSONStoreSettings {
    /** The databases are called `NAME` and `NAME-USERNAME`; in Node these are paths of files. `jsonstore` when left out. */
    readonly name?: string | undefined;
    /** The storage where they are kept; as for Pannier's `open`. */
    readonly storage?: DatabaseStorage | undefined;
    /** Where the events are sent; the body of the document, if there is one, when left out. */
    readonly events?: EventTarget | undefined;
    /** Calls procedures of adapters; `WL.Client.invokeProcedure`, if there is one, when left out. */
    readonly invokeProcedure?: InvokeProcedure | undefined;
    /** Asked before a store is made with `localKeyGen: false`; its failure is code 16. Keys are Pannier's own in any case. */
    readonly secureRandom?: (() => unknown) | undefined;
    /** The output of `toString`; the console when left out. */
    readonly log?: ((text: string) => void) | undefined;
    /** For `sync`; the platform's own when left out. */
    readonly fetch?: typeof fetch | undefined;
    /** The environment for tests, with clock, timers and chance; as for Pannier's `open`. */
    readonly environment?: Environment | undefined;
}

/** An object that an app stores. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** How documents are loaded from an adapter. */
export interface LoadOptions {
    /** The name of the procedure. */
    readonly procedure: string;
    /** The parameters of the procedure. */
    readonly params?: readonly unknown[] | undefined;
    /**
     * Where in the answer the documents are: an object or an array. If the answer has an `invocationResult` (adapters of Worklight), or a
     * `responseJSON` (`WLResourceRequest`), the path begins there.
     */
    readonly key: string;
}

/** The change of a dirty document. */
export type Operation = 'add' | 'store' | 'replace' | 'refresh' | 'remove';

/** The argument of `push`: documents or their ids. */
export type PushTarget<T extends object = JsonObject> = JSONStoreDocument<T> | number | readonly (JSONStoreDocument<T> | number)[];

/** Conditions by their names: `{ $like: [{ name: 'ann' }], $lessThan: [{ age: 30 }] }`. */
export type QueryConditions = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Makes a part of a query for `advancedFind`: conditions that all have to hold. */
export const QueryPart: QueryPartConstructor;

/** The conditions of a query part. Each method adds one and returns the part. */
export class QueryPartConditions {
    /** A field that has the value in it (like), whatever its case. */
    like(field: string, value: QueryValue): this;
    /** The field does not contain the value. */
    notLike(field: string, value: QueryValue): this;
    /** Ends with the text: what is unknown is on its left. */
    leftLike(field: string, value: QueryValue): this;
    /** The field does not end with the value. */
    notLeftLike(field: string, value: QueryValue): this;
    /** A field that starts with the value (right). */
    rightLike(field: string, value: QueryValue): this;
    /** The field does not begin with the value. */
    notRightLike(field: string, value: QueryValue): this;
    /** The field equals the value. */
    equal(field: string, value: QueryValue): this;
    /** The field differs from the value. */
    notEqual(field: string, value: QueryValue): this;
    /** The field is lower than the value. */
    lessThan(field: string, value: QueryValue): this;
    /** The field is lower than the value or equals it. */
    lessOrEqualThan(field: string, value: QueryValue): this;
    /** The field is greater than the value. */
    greaterThan(field: string, value: QueryValue): this;
    /** The field is greater than the value or equals it. */
    greaterOrEqualThan(field: string, value: QueryValue): this;
    /** A field from one value to another; both ends are included. */
    between(field: string, from: QueryValue, to: QueryValue): this;
    between(field: string, range: readonly QueryValue[]): this;
    /** The field is outside the two values. */
    notBetween(field: string, from: QueryValue, to: QueryValue): this;
    notBetween(field: string, range: readonly QueryValue[]): this;
    /** Finds documents with one of the values. */
    inside(field: string, values: readonly QueryValue[]): this;
    /** The field equals none of the values. */
    notInside(field: string, values: readonly QueryValue[]): this;
}

/** With or without `new`. */
export interface QueryPartConstructor {
    /** As `WL.JSONStore.QueryPart()`, with `new`. */
    new (): QueryPartConditions;
    /** A part without conditions yet. */
    (): QueryPartConditions;
}

/** A value that is looked for. */
export type QueryValue = SearchValue | boolean;

/** Options of `remove`. */
export interface RemoveOptions extends WriteOptions {
    /** Whether it is exact, as for `find`. */
    readonly exact?: boolean | undefined;
}

/** A document, an id, or a query. */
export type RemoveTarget<T extends object = JsonObject> = JSONStoreDocument<T> | {
    readonly _id: number;
} | SearchCriteria | number;

/** Values by search fields, as `find` takes them. */
export type SearchCriteria = Readonly<Record<string, QueryValue>>;

/** The type of a search field. */
export type SearchFieldType = 'string' | 'integer' | 'number' | 'boolean';

/** By their names, dotted paths for what is inside. */
export type SearchFields = Readonly<Record<string, SearchFieldType>>;

/** How a collection is synchronized. */
export interface SyncOptions {
    /** SYNC_DOWNSTREAM: documents come from the database; SYNC_UPSTREAM: they go there; SYNC_NONE: neither. */
    readonly syncPolicy: 0 | 1 | 2;
    /** The URL of the database. */
    readonly syncAdapterPath?: ReplicationTarget | undefined;
    /** Called after each sync that succeeded. */
    readonly onSyncSuccess?: ((result: SyncResult) => unknown) | undefined;
    /** Called after each sync that failed (failure). */
    readonly onSyncFailure?: ((error: unknown) => unknown) | undefined;
}

/**
 * As apps know it: `WL.JSONStore`. If the app has its own `WL`, JSONStore and the constants for sorting are added to
 * it. So `WL.Logger` and `WL.Client` stay.
 */
export const WL: WorklightObject;

/** The app's own `WL`, as its typings declare it, with JSONStore. */
export type WorklightObject = Additions & (typeof globalThis extends {
    readonly WL: infer Existing extends object;
} ? Existing : object);

/** Options of writes. */
export interface WriteOptions extends CallbackOptions {
    /** False: the change is not pushed. True by default, except for `change`. */
    readonly markDirty?: boolean | undefined;
    /** Another name of `markDirty`, deprecated by JSONStore. */
    readonly push?: boolean | undefined;
}

/**
 * A JSONStore with settings of its own: where databases are kept, how adapters are called. @throws TypeError for an
 * unknown one.
 */
export function createJSONStore(settings?: JSONStoreSettings): JSONStoreApi;

/**
 * Imports into collections that `init` has opened, each all or nothing. Ids and what is to be pushed stay as they were.
 * Existing documents stay, so an interrupted import can be repeated.
 *
 * @param exported Also as JSON text.
 * @throws JSONStoreError -20 for what is no JSON, 5, 7 or 30 for what is not of the format, -50 for a collection that is not open.
 * @example
 * const { people } = await importJSONStore(JSONStore, await (await fetch('/export.json')).json())
 */
export function importJSONStore(store: JSONStoreApi, exported: ExportedData | string): Promise<Record<string, ImportedCollection>>;

/** The additions to `WL`. */
interface Additions {
    readonly JSONStore: JSONStoreApi;
    /** For `sort`: `[{ age: WL.constant.DESCENDING }]`. */
    readonly constant: {
        readonly ASCENDING: 'asc';
        readonly DESCENDING: 'desc';
    };
}

interface ErrorFacts {
    /** The function that failed: 'find', 'initCollection', … */
    readonly src?: string;
    /** The name of the collection. */
    readonly col?: string;
    readonly usr?: string;
    /** The documents that the failure is about. */
    readonly doc?: unknown;
    /** The wrong name or value. The message shows it; JSONStore's own fields don't. */
    readonly given?: unknown;
    /** The result of the operation so far, or the answer of an adapter. */
    readonly res?: unknown;
    readonly cause?: unknown;
}

/** Every code that an operation of JSONStore may give, with its name. Codes are stable: apps match them. */
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

/** Which way `sync` goes. */
const SYNC_POLICIES: {
    readonly SYNC_DOWNSTREAM: 0;
    readonly SYNC_UPSTREAM: 1;
    readonly SYNC_NONE: 2;
};

/** The search fields of a collection, by lower-case names. */
interface SearchSchema {
    readonly searchFields: SearchFields;
    readonly additionalSearchFields: SearchFields;
}

type SearchValue = string | number;

interface SyncResult {
    readonly received: number;
    readonly sent: number;
}
