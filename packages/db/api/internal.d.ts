// What `pannier/internal` offers. Written by `npm run api`.

import type {
  Collection,
  Database,
  DatabaseStorage,
  Emit,
  Explanation,
  JsonObject,
  PannierError,
  Query,
  TransactionCollection,
  View,
} from 'pannier'

/** A row that has departed. */
export interface DepartedRow extends Omit<RememberedRow, 'number'> {
    /** The sequence of the update that took it away. */
    readonly departedAt: number;
    /** Because its document was deleted. */
    readonly deleted: boolean;
}

/**
 * Gives why a document is refused. It is asked about each document of a batch before anything is changed. It must be
 * synchronous and do nothing else, as it may be asked again about the same document.
 */
export type DocumentGuard = (document: DocumentBeforeWrite) => PannierError | undefined;

/** The result that a function must have. */
export interface Expected<T> {
    /** The subject of the message: follows "must return". */
    readonly what: string;
    /** Whether it is. */
    readonly is: (value: unknown) => value is T;
}

/** The guard of what relations do to documents of a collection; undefined: nothing judges them. */
export type FollowingGuard = (collection: string) => DocumentGuard | undefined;

/**
 * Reads what a transaction sees, or what a snapshot has. A transaction sees what is committed, and what writes before it in its
 * group have written.
 */
export class GuardReader {
    constructor(snapshot: Snapshot, catalog: Catalog);
    /** The document of that id; undefined if there is no such document or collection. */
    get(collection: string, id: string): StoredDocument | undefined;
    /** As `get`, and when it was written last. */
    written(collection: string, id: string): WrittenDocument | undefined;
    /** Whether each id has a document. It reads none of them. */
    has(collection: string, ids: readonly string[]): boolean[];
    /** As `written` of each. What is missing in memory is fetched together. */
    writtenMany(collection: string, ids: readonly string[]): (WrittenDocument | undefined)[];
    /** As `writtenMany`, of documents with these numbers. Tombstones have `_deleted`; undefined: it was purged. */
    numbered(collection: string, numbers: readonly number[]): (WrittenDocument | undefined)[];
    /** As `get` of each. What is missing in memory is fetched together. */
    getMany(collection: string, ids: readonly string[]): (StoredDocument | undefined)[];
    /**
     * The documents whose field has the id, alone or in an array: by an index on the field, else of all documents. With `limit`
     * the first ones by creation.
     *
     * @throws PANNIER_LIMIT_EXCEEDED if there are too many.
     */
    via(collection: string, field: string, id: string, limit?: number): StoredDocument[];
    /**
     * All documents of a collection, in the order of their ids or of their creation.
     *
     * @throws PANNIER_LIMIT_EXCEEDED if there are too many.
     */
    all(collection: string, order?: 'id' | 'created'): StoredDocument[];
    /** The sequence of the last write to a collection, and the number of the collection, which another one of its name does not have. */
    lastWrite(collection: string): Readonly<Record<'number' | 'sequence' | 'count', number>> | undefined;
    /** The first documents of those that were written after a sequence, in the order of the last write. Tombstones have `_deleted`. */
    writtenAfter(collection: string, sequence: number): WrittenDocument[];
    /** Reads further state of a collection for the library; undefined without such a collection. */
    readState<T>(collection: string, read: (snapshot: Snapshot, state: CollectionState) => T): T | undefined;
}

/** Begins the ids of documents that belong to one copy of a collection, such as replication checkpoints. */
export const LOCAL_PREFIX = "_local/";

/** Which rows of a group, by the last element of their keys. */
export interface LastRange {
    /** The lower bound, included (`gte`). */
    readonly gte?: unknown;
    /** The lower bound, excluded (`gt`). */
    readonly gt?: unknown;
    /** The upper bound, included (`lte`). */
    readonly lte?: unknown;
    /** The upper bound, excluded (`lt`). */
    readonly lt?: unknown;
}

/** A linear regular expression (regex), whose tests do not backtrack. */
export class LinearRegex {
    /** The chars that were looked at so far. */
    chars: number;
    /** Instructions looked at so far. */
    instructions: number;
    constructor(source: string, flags: string);
    /** Characters and instructions looked at so far. */
    get work(): number;
    /** The size: how large it is. */
    get size(): number;
    /** @throws PANNIER_LIMIT_EXCEEDED if that takes more work than an expression may */
    test(text: string): boolean;
}

/** A live query at work. */
export interface LiveFacts {
    /** The name of the collection. */
    readonly collection: string;
    /** The selector, sort, skip, limit and fields. */
    readonly question: object;
    /** Whether it asks for the number of all rows. */
    readonly counts: boolean;
    /** The state that its subscribers see. */
    readonly state: LiveState;
    /** Times that its rows were read. */
    readonly reads: number;
    /** How many subscribe to it. */
    readonly subscribers: number;
    /** The plan of its query, measured by running it again. */
    explain(): Promise<Explanation>;
}

/** A cache of what was used last, up to a weight. An entry weighs 1, unless `set` says otherwise. */
export class LruMap<Key, Value> {
    /** `onDelete` is called with each entry that leaves. */
    constructor(weightMax: number, onDelete?: (value: Value, key: Key) => void);
    /** The entry counts as used. */
    get(key: Key): Value | undefined;
    /** The new entry stays, whatever its weight is. An entry that it replaces leaves. */
    set(key: Key, value: Value, weight?: number): void;
    /** Does nothing if no entry has the key. */
    delete(key: Key): void;
    /** Deletes all entries. */
    clear(): void;
    /** The entry that was used last comes last. */
    [Symbol.iterator](): Generator<readonly [key: Key, value: Value]>;
}

/** There already where a backend or the cache is synchronous, and promised where it is not. */
export type MaybePromise<T> = T | Promise<T>;

/** SQLite's collation NOCASE: letters of ASCII count as their small ones, others as they are. It is known once this is loaded. */
export const NOCASE: Collation;

/** The names of all options of `Options`. The compiler ensures that the list is complete. */
export type OptionNames<Options> = Readonly<Record<AllKeys<Options>, true>>;

/**
 * Call it after each step, and await it if it returns a promise. It returns one when it is time to release the thread.
 */
export type Pause = () => MaybePromise<void>;

/** A row and where it stands. */
export type Positioned<Row> = Row & {
    readonly position: RowPosition;
};

/** Tells the value at a path. */
export type ReadPath = (path: string) => unknown;

/** A relation of records. */
export interface RecordRelation {
    /** The related collection; several if an id is of one of them. No query follows such a relation. */
    readonly to: string | readonly string[];
    /** The field holds an array of ids. False: it holds one id, or the empty text. */
    readonly many: boolean;
    /** A record whose last id goes is deleted. */
    readonly cascade: boolean;
    /** A delete is refused that would take the last id of a record. */
    readonly required: boolean;
    /** Is called with a record that loses an id. */
    readonly touch?: (record: JsonObject) => void;
}

/** The rows of a view that remembers, on one state of the database. What reads may miss. */
export class RememberedRows {
    /** The sequence whose state the rows are. */
    readonly builtTo: number;
    /** Rows that left up to this sequence are forgotten. */
    readonly forgottenTo: number;
    constructor(snapshot: Snapshot, collectionNumber: number, state: ViewState);
    /** The rows of a group in their order. */
    rows(group: readonly unknown[], range: LastRange, after?: RowPosition): Generator<Positioned<RememberedRow>>;
    /** The rows of one key, by the ids of their documents. */
    byId(key: readonly unknown[], after: IdPosition | undefined): RowsById;
    /** How many rows of a group there are. */
    count(group: readonly unknown[], range: LastRange): number;
    /** The rows of a group that have departed after a sequence, in the order in which they did. */
    departed(group: readonly unknown[], since: number, after?: RowPosition): Generator<Positioned<DepartedRow>>;
    /** All rows that have departed after a sequence, in the order in which they did. */
    departedSince(since: number, after?: RowPosition): Generator<Positioned<DepartedRow>>;
    /** How many rows have departed after a sequence. */
    countDepartedSince(since: number): number;
}

/** A walk over the rows of one key. It starts before the first one. */
export class RowsById {
    /** The id of the document at the row, as positions have it: in their order, and the same in all walks. */
    position: IdPosition;
    constructor(cursor: Cursor, from: number);
    /** The next row; false at the end. After a miss it stands where it was. */
    next(): boolean;
    /** The number of the document at the row. */
    get number(): number;
    /** The value of the row. */
    get value(): unknown;
}

/** Where words are looked for: in a text index. Where it is not built, or not there, documents are tested. */
export interface SearchedText {
    /** The name of the index. */
    readonly index: string;
    /** The paths of the fields that it is on. */
    readonly paths: readonly string[];
}

/** Options of `selectionQuery`. */
export interface SelectionOptions {
    /** The library's name of a collection that the selection names; the same by default. */
    readonly nameOf?: (collection: string) => string;
    /** Where `search` looks in the library's collection. */
    readonly textOf?: (collection: string) => SearchedText;
    /** For a selection that has too many documents: tells which are meant. It is synchronous, and may be asked again. */
    readonly residual?: (document: StoredDocument, reader: GuardReader) => boolean;
    /** By paths of a sort, of groups and aggregates: what a missing or null value counts as. */
    readonly empty?: EmptyValues;
}

/** Reads one state. */
export class SnapshotReader {
    constructor(database: Database);
    /** A collection, also for `selectionQuery`. */
    collection(name: string): ReadCollection;
    /** Runs a synchronous function that reads, such as a rule. It may run again. */
    read<T>(read: (reader: GuardReader) => T): Promise<T>;
    /** By each of the ids, the documents whose field has it, in the order of creation: all of them, or `limit`. */
    via(collection: string, field: string, ids: readonly string[], limit?: number): Promise<ReadonlyMap<string, readonly StoredDocument[]>>;
    /** The number of the newest commit that it has: a later state has a higher one. */
    get sequence(): number;
    /** Ends the reading. */
    end(): void;
}

/** One tab's part in the election. */
export class WebLeader {
    constructor({ name, environment, onChange, tell }: WebLeaderOptions);
    /** Whether this tab leads. */
    get leads(): boolean;
    /** The last message of the leader; undefined: no message yet, or this one leads. */
    get news(): unknown;
    /** Wants to lead. Resolves when it does, or another one is known to. */
    want(): Promise<void>;
    /** Lets another one lead. */
    leave(): void;
    /** There is news for the others. */
    changed(): void;
    /** Ends the wish to lead, and all messages. */
    close(): void;
}

/** A document, and when it was written last. */
export interface WrittenDocument {
    /** The sequence of the commit. */
    readonly sequence: number;
    /** By creation: it never changes. */
    readonly number: number;
    /** As it was stored. */
    readonly document: StoredDocument;
}

/**
 * Calls `next` at once if the value is there, else when it arrives. (Not named `then`: a module that exports a `then`
 * is a thenable, and `await import()` of it never gives the module.)
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U>;

/** The text of an answer of a server. `onChunk`: something has come. @throws RangeError: it has more than 128 MiB */
export function answerText(response: Response, onChunk?: () => void): Promise<string>;

/** Asserts a condition. Cheap assertions always run. */
export function assert(condition: boolean, message: string): asserts condition;

/** For a function that may promise. */
export function awaitUser<T = unknown>(call: string, name: string, run: () => unknown, expected?: Expected<T>): Promise<T>;

/** A caller waits for this work: until its end a Node process stays alive, also where only timers that keep nothing alive lead there. */
export function awaited<T>(environment: Timers, work: Promise<T>): Promise<T>;

/**
 * For packages built on this one, too.
 *
 * @param call The function that the user called.
 * @param must What must be: `durability must be 'relaxed' or 'strict'`.
 * @param got The value that came. Never a secret.
 * @example
 * throw badArgument('open()', 'name must be a string', 5)
 */
export function badArgument(call: string, must: string, got: unknown): TypeError;

/**
 * Calls a function that nobody waits for. `call` is what the user called, `name` the function: 'filter'.
 *
 * @throws TypeError
 */
export function callUser<T = unknown>(call: string, name: string, run: () => unknown, expected?: Expected<T>): T;

/** Every `subscribe` checks its arguments so. */
export function checkListener(listener: unknown, options?: {}): void;

/**
 * Throws a TypeError if `options` is not an object or has an unknown option; the message has the nearest known name.
 * For packages built on this one, too. `call` names the function in the message; the keys of `names` are the options.
 *
 * @example
 * checkOptions('open()', options, { storage: true, collections: true })
 */
export function checkOptions(call: string, options: unknown, names: object): void;

/**
 * From now on indexes hold under some paths what `derive` makes of the whole document. It gives undefined for paths of fields. A value
 * must be a pure function of the document. Undefined: the document has no key, as one that lacks a field. A PannierError that is thrown
 * refuses the write of this document.
 *
 * Such an index needs a collation of its own, so that a process that can't derive its values drops it with the next write.
 */
export function deriveValues(derive: (path: string) => ((read: ReadPath) => unknown) | undefined): void;

/** Aborted when the handle is closed, with PANNIER_CLOSED, or lost: destroyed elsewhere, or to a storage that was put back (PANNIER_RESTORED). */
export function endOf(database: Database): AbortSignal;

/** The clock, timers and chance that the database was opened with. */
export function environmentOf(database: Database): Environment;

/** Calls back again and again; the function returned ends it. Keeps no process alive. */
export function every(environment: Timers, ms: number, callback: () => void): () => void;

/**
 * Runs `work` while no other handle, tab or server runs work of that name in the storage. One that is frozen for some seconds loses its
 * turn, so what `work` does has to be right without it.
 */
export function exclusively<T>(storage: DatabaseStorage, name: string, work: () => Promise<T>): Promise<T>;

/**
 * Calls back inside each commit, with the names of the collections whose documents it has written, and whether this handle has made it.
 * `holdSnapshot` then gives the state that it has made. The function returned ends it.
 */
export function followCommits(database: Database, listener: (collections: ReadonlySet<string>, isLocal: boolean) => void): () => void;

/** Forgets the rows that have left a view up to a sequence. */
export function forgetDepartedRows(database: Database, collection: string, view: string, upTo: number): Promise<void>;

/** Forgets the content of these revisions of a document. Leaves keep theirs. */
export function forgetRevisions(db: Database, name: string, id: string, revs: readonly string[]): Promise<void>;

/** The attachment in the library's form. */
export function fromCouchAttachment({ content_type: contentType, ...others }: Attachment): Attachment;

/**
 * The writes of a collection, each judged by `guard` inside the transaction that writes, alone or in a transaction.
 * Documents of one batch must have different ids, or the guard would not see the first of them. `following` judges what a delete does
 * to documents that refer to the deleted one: a refusal is one of the delete.
 */
export function guarded<T extends object, Input extends object>(collection: TransactionCollection<T, Input>, guard: DocumentGuard, following?: FollowingGuard): GuardedWrites<T, Input>;

/** Whether a document has all that is searched for. */
export function hasSearched({ terms, phrases }: ParsedSearch, words: DocumentWords): boolean;

/** Holds a snapshot of the newest state, until its `end` is called. Meanwhile no page of it is reused, so it is not for long. */
export function holdSnapshot(database: Database): SnapshotReader;

/** Whether a value is an object: null and arrays are not. `isPlainObject` refuses instances of classes, too. */
export function isObject(value: unknown): value is Record<string, unknown>;

/** Whether the value is still to come. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T>;

/** Whether two values are equal, including the order of names: then their JSON is equal. */
export function isSame(left: unknown, right: unknown): boolean;

/** Whether a value is a promise, or would be awaited as one. */
export function isThenable(value: unknown): value is PromiseLike<unknown>;

/** Resolves when the listeners of `subscribe` have heard of all commits that the handle has seen. */
export function listenersHaveHeard(database: Database): Promise<void>;

/** The live queries of a handle. */
export function liveQueriesOf(database: Database): Promise<LiveFacts[]>;

/** The number of the newest commit that the handle has seen. */
export function newestCommit(database: Database): number;

/** The result of a function that nobody waits for: it would be taken for true, or for a value. */
export function notPromised(call: string, name: string, result: unknown): unknown;

/** Reads a search: its words, phrases and prefixes. It has at most 100; the others are left out. */
export function parseSearch(text: string, language: string | undefined): ParsedSearch;

/** Resolves when the time is over, or the signal is aborted. A Node process stays alive for it, unless `isAwaited` is false. */
export function pause(environment: Timers, ms: number, signal?: AbortSignal, isAwaited?: boolean): Promise<void>;

/** For long work: its thread is free again after some milliseconds. */
export function pauseIn(environment: Pick<Environment, 'now' | 'yield'>): Pause;

/**
 * Runs a function that reads the newest state, whatever is written meanwhile. The function may run again, if a collection has to be
 * migrated first.
 */
export function readSnapshot<R>(database: Database, run: (reader: SnapshotReader) => R | Promise<R>): Promise<R>;

/**
 * Replaces all relations of the database. Queries, deletes and populated rows follow the new ones at once; what is under way keeps
 * those that it began with. Resolves when their indexes are built. Until then deletes wait that need one.
 */
export function relateRecords(database: Database, relations: RecordRelations): Promise<void>;

/** The rows of a view in a state; undefined if it was never updated. */
export function rememberedRows(reader: GuardReader, collection: string, view: string): RememberedRows | undefined;

/** The view, to be updated. Its own queries are of no use: read it with `rememberedRows`. */
export function rememberingView<T extends object>(collection: Collection<T>, view: RememberingView<T>): View<unknown, unknown, unknown, unknown>;

/** The query for all documents that a selection has. Its paths name documents' fields, so `id` is `_id` in a sort. */
export function selectionQuery<T extends object>(collection: Pick<TransactionCollection<T>, 'name'>, selection: Selection, { nameOf, textOf, residual, empty }?: SelectionOptions): Query<StoredDocument>;

/** The real clock, chance and timers. */
export function systemEnvironment(): Environment;

/** A listener changes nothing for whom it listens to: what it throws becomes an uncaught error, as of event listeners. */
export function tellListener(listener: () => unknown): void;

/** An attachment as CouchDB's JSON has it. */
export function toCouchAttachment<A extends {
    readonly contentType?: unknown;
}>({ contentType, ...others }: A): Omit<A, 'contentType'> & {
    readonly content_type: A['contentType'];
};

/** A document as CouchDB's JSON has it; itself if it has no attachments. */
export function toCouchDocument<Document extends object>(document: Document): Document;

/**
 * Deletes all documents of a collection, with what follows from that, in one transaction that releases the thread. Resolves with
 * the number of documents that it had.
 *
 * @throws PANNIER_RELATION_BROKEN if other documents need them; PANNIER_ABORTED. Then nothing is deleted.
 */
export function truncate(database: Database, name: string, { signal }?: TruncateOptions): Promise<number>;

/** Waits for work until the signal is aborted. @throws PannierError as `cancelledError` makes it */
export function untilCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined, name: string): Promise<T>;

/** The words in the values of fields: in strings, and in the strings of arrays. */
export function wordsOf(values: readonly unknown[], language: string | undefined): DocumentWords;

type AllKeys<Options> = Options extends unknown ? keyof Options : never;

type Attachment = Readonly<Record<string, unknown>>;

type Brand<T, Name extends string> = T & {
    readonly [brand]: Name;
};

/** Some bytes. Short ones take far less memory as a byte string (each char one byte) than as an array. */
type Bytes = Uint8Array | string;

class Catalog {
    /** `randomId` as in base/environment.ts. */
    constructor(randomId: () => string);
    /** The collection in this snapshot or transaction, or undefined. */
    collection(snapshot: Snapshot, name: string): CollectionState | undefined;
    names(snapshot: Snapshot): string[];
    /**
     * As `collection`, for a write of documents. Indexes with an unknown collation can't be maintained, so they are
     * dropped. A later declaration builds them again.
     */
    collectionToWrite(transaction: WriteTransaction, name: string): CollectionState | undefined;
    /** No collection has that name yet. */
    create(transaction: WriteTransaction, name: string, chosen?: Partial<CollectionSettings>): CollectionState;
    /** Forgets the collection; `dropCollection` drops everything in it before. */
    forget(tree: TreeWriter, name: string): void;
    /** The collection with another definition. */
    change(transaction: WriteTransaction, state: CollectionState, changes: Partial<Omit<CollectionState, 'number' | 'name' | 'epoch' | 'shapes' | 'trees'>>): CollectionState;
    /** Takes up shapes that the collection does not have. */
    addShapes(transaction: WriteTransaction, state: CollectionState, added: readonly Shape[]): CollectionState;
}

/** An order of strings, for `registerCollation`. */
interface Collation {
    /** The name with the version: 'icu-root 15'. */
    readonly name: string;
    /** The sort key of a text. Its code points order strings; it is equal for strings that count as equal. '' gives ''. Must be pure. */
    readonly key: (text: string) => string;
}

/** The settings that can be chosen for a collection. */
interface CollectionSettings {
    /** The content of revisions that were replaced is kept until it is compacted away. */
    readonly history: boolean;
    /** The number of revisions that are remembered, from each leaf up. */
    readonly revisionsLimit: number;
}

/** Never changed: a change of the catalog makes a new one. */
interface CollectionState {
    /** Names the collection's trees; never used again. */
    readonly number: number;
    readonly name: string;
    /** Random: a collection that was dropped and made again under its name has another one, and so has one in a wiped storage. */
    readonly epoch: string;
    readonly shapes: ShapeDictionary;
    readonly indexes: readonly IndexDefinition[];
    /** Indexes whose collation this process does not know. It neither reads them nor can keep them up to date. */
    readonly unknownIndexes?: readonly IndexDefinition[] | undefined;
    /** The number of the index that is defined next. */
    readonly nextIndexNumber: number;
    readonly settings: CollectionSettings;
    /** Undefined: version 1, and nothing is being migrated. */
    readonly schema?: SchemaState | undefined;
    readonly trees: CollectionTrees;
}

/** Names of a collection's trees; docs/internals/architecture.md says what they hold. */
interface CollectionTrees {
    readonly bodies: string;
    readonly ids: string;
    readonly deleted: string;
    /** By document number: the sequence number of its body, where that is another number. Stored as `moved`. */
    readonly sequences: string;
    /** Trees that, like all that follow, exist only once there is something in them. */
    readonly revisions: string;
    /** Bodies of revisions that did not win. Stored as `extra`. */
    readonly otherBodies: string;
    readonly conflicts: string;
}

/** Numbers the commits of one database: 1, 2, 3, … without gaps. */
type CommitSequence = Brand<number, 'CommitSequence'>;

/**
 * Walks entries in key order. Starts before the first one.
 *
 * @example
 * const cursor = tree.cursor({ gte: a, lt: b })
 * while (cursor.next()) use(cursor.key, cursor.value)
 */
interface Cursor {
    /** Moves on to the next; false at the end. When it throws a Miss the cursor has not moved. */
    next(): boolean;
    /** The key at the cursor; made when asked for. */
    readonly key: Key;
    /** The last `KEY_NUMBER_BYTES` bytes of the key as a number (codec/key-encoding.ts), without making the key. */
    readonly keyNumber: number;
    /** The value at the cursor. A view: never change it. */
    readonly value: Uint8Array;
}

interface CursorOptions {
    readonly reverse?: boolean;
    /** Leaves out that many entries at the start, by rank: costs no walk. */
    readonly skip?: number;
    /** The number of entries that will be read, if there are that many. Their pages are fetched together. */
    readonly expected?: number;
}

/** A write of one document, as a guard sees it. */
interface DocumentBeforeWrite {
    /** The place of the document in the batch; in a delete or update, among those that are there and change. */
    readonly position: number;
    /** The id of the document. */
    readonly id: string;
    /** The sequence of the document's last change, a deletion too; 0: it is new. */
    readonly sequence: number;
    /** Documents of all collections. */
    readonly reader: GuardReader;
    /** The document as it is; undefined if it is new or deleted. */
    old(): StoredDocument | undefined;
    /** The document as it will be. */
    document(): NewDocument;
}

/** The words of a document: of each of its texts, and all of them. */
type DocumentWords = Readonly<{
    texts: readonly (readonly string[])[];
    all: ReadonlySet<string>;
}>;

/** By paths: what a missing or null value counts as. */
type EmptyValues = ReadonlyMap<string, '' | 0 | false>;

interface Entry {
    readonly key: Key;
    readonly value: Uint8Array;
}

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

/** The writes that a guard judges. */
type GuardedWrites<T extends object, Input extends object = T> = Pick<TransactionCollection<T, Input>, 'insert' | 'put' | 'upsert' | 'update' | 'delete' | 'putAttachment' | 'deleteAttachment'>;

/** Continues a walk behind a document. */
type IdPosition = string;

interface IndexDefinition {
    /** Names the index's tree; never used again in the same collection. */
    readonly number: number;
    readonly name: string;
    readonly fields: readonly IndexField[];
    /** The only field may hold an array: one entry per distinct element. */
    readonly multi: boolean;
    /** No two live documents have one key, except where a replication that no guard judges brought them; documents that lack a field have none. */
    readonly unique?: boolean;
    /** A selector: only documents that it matches have entries. */
    readonly where?: IndexSelector;
    /** How `where` is to be understood (query/ast/parse-selector.ts). */
    readonly dialect?: 'couchdb';
    /** The name of the order of strings in `where` and in the keys of entries (codec/registered-collation.ts); ids keep theirs. */
    readonly collation?: string;
    /** The entries are the words of the fields (index/text/text-entries.ts). */
    readonly text?: TextSettings;
    /**
     * Undefined: the index is ready. Else it is being built: exactly the bodies whose sequence is at most this have entries.
     */
    readonly builtTo: number | undefined;
}

/** One field of an index. */
interface IndexField {
    /** Dotted path of the field: 'age', 'address.city'; '_id' is the document's id. */
    readonly path: string;
    /** Whether it is descending: from the highest value down. */
    readonly descending: boolean;
}

/** A selector as JSON. */
type IndexSelector = Readonly<Record<string, unknown>>;

/**
 * A key of an ordered tree, as a *byte string*: each UTF-16 unit is one byte, 0..255. JavaScript compares and sorts such
 * strings natively, in byte order, and much faster than any loop over a Uint8Array.
 */
type Key = Brand<string, 'Key'>;

/** The entries with `gte <= key < lt`; a bound that is left out does not bound. */
interface KeyRange {
    readonly gte?: Key | undefined;
    readonly lt?: Key | undefined;
}

/** The state that `live` shows at once; the lazy module sets it. */
interface LiveState {
    view: LiveView | undefined;
    status: LiveStatus;
    error: unknown;
}

/** 'loading' until the first rows are there; 'failed' with an error; 'ended' by `close`, its signal, or with the database. */
type LiveStatus = 'loading' | 'live' | 'ended' | 'failed';

/** Rows with the ids of their documents. Never changed. */
interface LiveView {
    readonly ids: readonly string[];
    readonly rows: readonly object[];
}

/** A document as it will be stored, without `_rev` and `_attachments`. A tombstone has `_deleted`. */
type NewDocument = {
    _id: string;
    _deleted?: true;
} & Record<string, unknown>;

interface ParsedSearch {
    /** The terms, each once. */
    readonly terms: readonly SearchTerm[];
    /** At least two words. */
    readonly phrases: readonly (readonly string[])[];
}

/** Bodies whose sequence number is higher than `after`, and at most `upTo`, have the version `from`. */
interface PendingMigration {
    readonly after: number;
    readonly upTo: number;
    readonly from: number;
}

/** Built-in reducers that the tree of the rows is kept reduced by, with the numbers that they have in files. */
const REDUCER_IDS: {
    readonly _sum: 1;
    readonly _stats: 2;
    readonly _approx_count_distinct: 3;
};

/** The readable part of a collection. */
type ReadCollection = Pick<TransactionCollection<JsonObject>, 'name' | 'get' | 'find' | 'list' | 'info'>;

/** By collection, then by field. */
type RecordRelations = Readonly<Record<string, Readonly<Record<string, RecordRelation>>>>;

/** Some entries, in key order. */
interface ReducedEntries {
    readonly count: number;
    key(index: number): Key;
    /** A view: never change it. Undefined where it is too large to be at hand. */
    value(index: number): Uint8Array | undefined;
    /** The result of `read` for the value if it needs no subarray; otherwise undefined. */
    read?<T>(index: number, read: (bytes: Uint8Array, start: number, end: number) => T): T | undefined;
}

/** Both functions must be pure: their results are kept for as long as a page exists. */
interface Reducer<Result> {
    /** At least one entry. Undefined only if a value is needed that is not at hand. */
    reduce(entries: ReducedEntries): Result | undefined;
    /** At least one part. */
    combine(parts: readonly Result[]): Result;
}

/**
 * The number of a reducer in files, 1 to 15. The layer that owns the reducer chooses the number, which never changes.
 */
type ReducerId = number;

type ReducerName = keyof typeof REDUCER_IDS;

/** A row of a view that remembers, on one state. */
interface RememberedRow {
    /** The document's. */
    readonly id: string;
    /** The key as the map function has emitted it. */
    readonly key: readonly unknown[];
    /** The value as the map function has emitted it. */
    readonly value: unknown;
    /** The number of its document. */
    readonly number: number;
    /** The sequence of the update that brought it. */
    readonly cameAt: number;
}

/** The definition of a view that remembers. */
interface RememberingView<T extends object> {
    /** The name of the view in its collection. */
    readonly name: string;
    /** Keys are arrays of at most some hundred characters. All rows of a document have different keys. */
    readonly map: (document: T, emit: Emit<readonly unknown[]>) => void;
    /** Another version is another view: nothing is remembered of the one before. */
    readonly version: string;
}

/** Continues a walk behind a row. */
type RowPosition = string;

/**
 * The catalog's entry about the version of a collection's schema. It lives here because a collection's state has it; the database layer
 * knows what versions mean.
 */
interface SchemaState {
    /** The version, 1 or more. The version of every document, except those in `pending` and failures. */
    readonly version: number;
    /** Ranges that are not migrated yet, ascending and disjoint; empty when the migration is done. */
    readonly pending: readonly PendingMigration[];
}

/** A parsed search: `quick bro*` (words, and the start of a word), `"brown fox"` (a phrase). */
interface SearchTerm {
    readonly word: string;
    /** True for all words that begin with the term. */
    readonly isPrefix: boolean;
}

/**
 * Documents by their fields and by related documents, as a tree that a query planner can answer. `compile` of `@pannier/rules`
 * makes it, and `selectionQuery` takes it. A field that is missing or null counts as the empty value of its type: `''`, 0, false, no
 * elements. The field `id` is `_id`. docs/internals/backend-contract.md is normative.
 */
type Selection = 
/** A combination: all parts hold, or one of them. An empty `and` has every document, an empty `or` has no document. */
{
    readonly kind: 'and' | 'or';
    readonly of: readonly Selection[];
}
/** Every document that the selection does not have. */
 | {
    readonly kind: 'not';
    readonly of: Selection;
} | SelectionComparison
/** The document has the words: words, starts of words and phrases, as `collection.search` finds them. */
 | {
    readonly kind: 'search';
    readonly text: string;
} | SelectionTest
/** The list in `field` has an element that meets `of`, in which the field `''` is the element. */
 | {
    readonly kind: 'element';
    readonly field: string;
    readonly of: Selection;
} | SelectionRelated
/** Documents after (`>`) or before another one, whose `$created` is `value`. `@pannier/rules` does not make it. */
 | {
    readonly kind: 'created';
    readonly operator: '<' | '>';
    readonly value: number;
};

/** A stored value beside a known one. `contains` ignores the case of ASCII only. Texts are in the order of their code points. */
interface SelectionComparison {
    /** The kind tells it from the other selections. */
    readonly kind: 'compare';
    /** `''` is the element of a list. */
    readonly field: string;
    /** The number of a list's elements is compared. */
    readonly isLength: boolean;
    /** How the stored value, on the left, is compared with `value`. */
    readonly operator: '=' | '<' | '<=' | '>' | '>=' | 'contains';
    /** The value, of the type of the field; a length is a number. */
    readonly value: string | number | boolean;
}

/** Some document one step away meets all of `of`. An id that leads nowhere leads to no document. */
interface SelectionRelated {
    /** Tells it from the other selections. */
    readonly kind: 'related';
    /** `to`: those whose ids are in `field`. `from`: those whose `field` has this document's id. `any`: all of the collection. */
    readonly step: 'to' | 'from' | 'any';
    /** The collection of the related document. */
    readonly collection: string;
    /** `''` is the element of a list. */
    readonly field: string;
    /** Pairs of equal texts: a field of the related document, and one of this document. For `any` only. */
    readonly on: readonly (readonly [related: string, own: string])[];
    /** The selection of the related document. */
    readonly of: Selection;
}

/** A function of one document alone, which no index answers. */
interface SelectionTest {
    readonly kind: 'test';
    /** The fields that it reads; `''` is the element of a list. */
    readonly fields: readonly string[];
    /** Whether it holds for a record. Gets these fields as far as they are there, or `{ '': ELEMENT }`. */
    readonly holds: (record: Readonly<Record<string, unknown>>) => boolean;
}

class Shape {
    readonly id: number;
    readonly names: readonly string[];
    /** As stored; see `encodeShape`. */
    readonly encoded: Uint8Array;
    /** Some field has a name that every object inherits (`__proto__`, …): these must be defined, as assigning may do otherwise. */
    readonly mustDefine: boolean;
    /** The hash of the names alone, the same in every database; kept here by hash-content.ts. */
    hash: Uint8Array | undefined;
    constructor(id: number, names: readonly string[], encoded: Uint8Array);
    /** The position of a field, else -1. */
    indexOf(name: string): number;
}

class ShapeDictionary {
    /** Shapes that `resolve` has added since this dictionary was made: to be stored. */
    readonly added: readonly Shape[];
    readonly byId: (Shape | undefined)[];
    /** Takes stored entries: ids and encoded shapes. */
    constructor(entries?: Iterable<readonly [number, Uint8Array]>, parent?: ShapeDictionary);
    get(id: number): Shape;
    /** A stored shape, e.g. one that another handle has committed. A known one is ignored. */
    add(id: number, encoded: Uint8Array): void;
    /** The shape with the names from `from` to `to`, if it is in the dictionary. Fast. */
    find(names: readonly string[], from?: number, to?: number): Shape | undefined;
    /** As `find`; a shape that is new is added, or local if it is not worth that. Keeps `names`. */
    resolve(names: readonly string[]): Shape;
    /** A dictionary that starts as this one and grows on its own: for a transaction, which may fail. Cheap. */
    fork(): ShapeDictionary;
}

interface Snapshot {
    /** Every commit up to and including this one, and nothing else. */
    readonly sequence: CommitSequence;
    /** Undefined if there is no such tree. */
    tree(name: string): TreeReader | undefined;
    /** Names with that prefix, ascending. */
    treeNames(prefix?: string): string[];
}

/** As the library hands it out: `_id` and `_rev` first. */
type StoredDocument = {
    _id: string;
    _rev: string;
} & Record<string, unknown>;

interface TextSettings {
    /** A BCP 47 tag, for finding words and for lower case. */
    readonly language?: string;
}

type Timers = Pick<Environment, 'after'>;

/**
 * - 'ordered': any keys, small values; the default.
 * - 'sequence': keys are numbers handed out by `append`; values may be large. Entries are packed in that order and
 *   never rewritten by an append; removed ones leave garbage behind that is reclaimed once it is worth it.
 * - 'inline': a few small entries (definitions and the like), always in memory, read together with the meta record.
 */
type TreeKind = 'ordered' | 'sequence' | 'inline';

interface TreeReader {
    get(key: Key): Uint8Array | undefined;
    /** As `get` for each, but what is missing in memory is fetched for all of them together. Fastest when ascending. */
    getMany(keys: readonly Key[]): (Uint8Array | undefined)[];
    /** As `getMany` of the first keys: as many as have values of at most `bytesMax` bytes together, and one at least. */
    getSome(keys: readonly Key[], bytesMax: number): (Uint8Array | undefined)[];
    /** Counts exactly, and without a walk. Without a range: no page is read. */
    count(range?: KeyRange): number;
    /** How many entries have a lower key. */
    rank(key: Key): number;
    /** The entry with exactly `rank` entries before it. */
    select(rank: number): Entry | undefined;
    cursor(range?: KeyRange, options?: CursorOptions): Cursor;
    /** The tree will be read: what any read of it begins with is fetched along with what is missed next. */
    prefetch(): void;
    /**
     * The reduction of a range; undefined for an empty range. With the tree's own reducer it costs no walk. With another reducer it costs
     * no walk where nothing has changed since the same object was used. Ordered trees.
     */
    reduce<Result>(range: KeyRange, reducer: Reducer<Result>): Result | undefined;
    /** Sequence trees: the number that `append` gave last, 0 before the first; also when its entry was removed. Reads nothing. */
    readonly lastNumber: number;
    /** About how many bytes the entries take in storage, without what is only in the log; undefined if that is not known. */
    readonly storedBytes: number | undefined;
}

/**
 * The writer of a tree: `insert`, `replace` and `remove` never read, so the caller must know the key; `put` and `delete` look first. A
 * caller that is wrong about it corrupts the counts, which the integrity check reports.
 */
interface TreeWriter extends TreeReader {
    /** The key is known to be absent. */
    insert(key: Key, value: Bytes): void;
    /** `insert` of many, in ascending order. Takes the arrays: they must not be changed afterwards. */
    insertMany(keys: readonly Key[], values: readonly Bytes[]): void;
    /** The key is known to be present. */
    replace(key: Key, value: Bytes): void;
    /** The key is known to be present. `valueBytes`: length of the value there, which sequence trees use to know their garbage. */
    remove(key: Key, valueBytes?: number): void;
    put(key: Key, value: Bytes): void;
    /** Deletes a key. False if there was none. */
    delete(key: Key): boolean;
    /** Sequence trees only: inserts under the next number and returns it (`numberKey(n)` is the key). Never used twice. */
    append(value: Uint8Array): number;
    /** `append` of many: returns the number of the first. Takes the array. */
    appendMany(values: readonly Uint8Array[]): number;
}

/** Options of `truncate`. */
interface TruncateOptions {
    /** Cancels it: nothing is deleted then. */
    readonly signal?: AbortSignal;
}

interface ViewState {
    readonly storedName: string;
    /** Names the view's trees; never used again in the same collection. */
    readonly number: number;
    readonly signature: string;
    readonly reducer?: ReducerName;
    /** Bodies up to this sequence number were mapped. */
    readonly builtTo: number;
    /** Raised by each update: what was gathered on another state is not written. */
    readonly updates: number;
    /** Purged documents up to this one were taken out. */
    readonly purgesSeen: number;
    /** Documents that were left out because map threw, since the view was made. */
    readonly failures: number;
    readonly lastFailure?: {
        readonly id: string;
        readonly message: string;
    };
    /** The number of documents, tombstones included, when the last update of private rows came to its end. */
    readonly documents?: number;
    /** The sequence up to which rows that left are forgotten; undefined: nothing is remembered. Beyond `builtTo` while the view is built. */
    readonly forgottenTo?: number;
}

interface WebLeaderOptions {
    /** Name of the led work, the same in all tabs. */
    readonly name: string;
    readonly environment: Environment;
    /** Called when `leads` or `news` is another one. */
    readonly onChange: () => void;
    /** The leader's answer to a question. */
    readonly tell: () => unknown;
}

interface WriteTransaction extends Snapshot {
    tree(name: string): TreeWriter | undefined;
    /** `reducer`: by which an ordered tree is kept reduced; it is registered (btree/reducer.ts). */
    createTree(name: string, kind: TreeKind, reducer?: ReducerId): TreeWriter;
    /** Forgets the tree at once, whatever its size; its room is reclaimed later. */
    dropTree(name: string): void;
}

/** Numbers and strings that must not be confused with one another. The brand exists only in the types. */
const brand: unique symbol;
