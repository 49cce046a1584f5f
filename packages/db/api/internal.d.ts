// What `pannier/internal` offers. Written by `npm run api`.

import type {
  Database,
  JsonObject,
  LiveUpdate,
  Migration,
  PannierError,
  Query,
  StandardSchema,
  TransactionCollection,
  WriteOutcome,
} from 'pannier'

/** What the one who has a collection has to say about its replication. */
export interface CollectionHost {
    /** Runs each write to the collection, or refuses it by throwing: then the replication fails. */
    readonly around?: (<T>(write: () => Promise<T>) => Promise<T>) | undefined;
    /**
     * Called before revisions are written, each with `_id`, `_rev` and perhaps `_attachments`. Returns for each what to
     * write instead, or why it is denied.
     */
    readonly admit?: ((documents: readonly JsonDocument[]) => Promise<readonly (JsonDocument | PannierError)[]>) | undefined;
    /**
     * Writes what is admitted, instead of `collection.put` with `atomic: false` and `newEdits: false`. It has the same
     * outcomes.
     */
    readonly store?: ((documents: readonly JsonDocument[]) => Promise<readonly WriteOutcome[]>) | undefined;
    /** Is asked which of the documents that have changed (winners, tombstones too) are to be replicated from here. */
    readonly accept?: ((documents: readonly JsonDocument[]) => Promise<readonly boolean[]>) | undefined;
}

/** A write of one document, as a guard sees it. */
export interface DocumentBeforeWrite {
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

/**
 * Gives why a document is refused. It is asked about each document of a batch before anything is changed. It must be
 * synchronous and do nothing else, as it may be asked again about the same document.
 */
export type DocumentGuard = (document: DocumentBeforeWrite) => PannierError | undefined;

/** What followed from a delete, by collection: ids of documents. */
export interface FollowedChanges {
    /** They were deleted too. */
    readonly deleted: ReadonlyMap<string, ReadonlySet<string>>;
    /** They have lost ids. */
    readonly changed: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Reads what a transaction sees, or what a snapshot has. A transaction sees what is committed, and what writes before it in its
 * group have written.
 */
export class GuardReader {
    constructor(snapshot: Snapshot, catalog: Catalog);
    /** The document of that id; undefined if there is no such document or collection. */
    get(collection: string, id: string): StoredDocument | undefined;
    /** As `get` of each. What is missing in memory is fetched together. */
    getMany(collection: string, ids: readonly string[]): (StoredDocument | undefined)[];
    /**
     * The documents whose field has the id, alone or in an array: by an index on the field, else of all documents. With `limit`
     * the first ones by creation.
     *
     * @throws PANNIER_LIMIT if there are too many.
     */
    via(collection: string, field: string, id: string, limit?: number): StoredDocument[];
    /**
     * All documents of a collection, in the order of their ids or of their creation.
     *
     * @throws PANNIER_LIMIT if there are too many.
     */
    all(collection: string, order?: 'id' | 'created'): StoredDocument[];
    /** The sequence of the last write to a collection, and the number of the collection, which another one of its name does not have. */
    lastWrite(collection: string): {
        readonly number: number;
        readonly sequence: number;
    } | undefined;
    /** The first documents of those that were written after a sequence, in the order of the last write. Tombstones have `_deleted`. */
    writtenAfter(collection: string, sequence: number): WrittenDocument[];
}

/** The writes that a guard judges. */
export type GuardedWrites<T extends object, Input extends object = T> = Pick<TransactionCollection<T, Input>, 'insert' | 'put' | 'upsert' | 'update' | 'delete' | 'putAttachment' | 'deleteAttachment'>;

/** Begins the ids of documents that belong to one copy of a collection, such as replication checkpoints. */
export const LOCAL_PREFIX = "_local/";

/** A regular expression whose tests do not backtrack. */
export class LinearRegex {
    /** Characters looked at so far. */
    chars: number;
    /** Instructions looked at so far. */
    instructions: number;
    constructor(source: string, flags: string);
    /** Characters and instructions looked at so far. */
    get work(): number;
    /** How large it is. */
    get size(): number;
    /** @throws PANNIER_LIMIT if that takes more work than an expression may */
    test(text: string): boolean;
}

/** SQLite's collation NOCASE: letters of ASCII count as their small ones, others as they are. It is known once this is loaded. */
export const NOCASE: Collation;

/** A document as it will be stored, without `_rev` and `_attachments`. A tombstone has `_deleted`. */
export type NewDocument = {
    _id: string;
    _deleted?: true;
} & Record<string, unknown>;

/** The names of all options of `Options`. The compiler ensures that the list is complete. */
export type OptionNames<Options> = Readonly<Record<AllKeys<Options>, true>>;

/** What can be read of a collection. */
export type ReadCollection = Pick<TransactionCollection<JsonObject>, 'name' | 'get' | 'find' | 'list' | 'info' | 'access'>;

/** A relation of records. */
export interface RecordRelation {
    /** The related collection. */
    readonly to: string;
    /** The field holds an array of ids. False: it holds one id, or the empty text. */
    readonly many: boolean;
    /** A record whose last id goes is deleted. */
    readonly cascade: boolean;
    /** A delete is refused that would take the last id of a record. */
    readonly required: boolean;
}

/** By collection, then by field. */
export type RecordRelations = Readonly<Record<string, Readonly<Record<string, RecordRelation>>>>;

/**
 * Which documents are meant, as a tree: what `compile` of `@pannier/rules` makes. A field of a document that is missing or
 * null counts as the empty value: `''`, 0, false, no elements. The field `id` is `_id`.
 * docs/internals/backend-contract.md is normative.
 */
export type Selection = SelectionCombination | SelectionComplement | SelectionComparison | SelectionTest | SelectionElement | SelectionRelated | SelectionCreation;

/** All of them hold, or one of them. An empty `and` has every document, an empty `or` has no document. */
export interface SelectionCombination {
    /** `and`: all of them hold. `or`: at least one of them holds. */
    readonly kind: 'and' | 'or';
    /** The selections that it combines. */
    readonly of: readonly Selection[];
}

/** A stored value beside a known one. `contains` ignores the case of ASCII only. */
export interface SelectionComparison {
    /** Tells it from the other selections. */
    readonly kind: 'compare';
    /** `''` is the element of a list. */
    readonly field: string;
    /** The number of a list's elements is compared. */
    readonly isLength: boolean;
    /** How the stored value, on the left, is compared with `value`. */
    readonly operator: '=' | '<' | '<=' | '>' | '>=' | 'contains';
    /** Its type is that of the field. */
    readonly value: string | number | boolean;
}

/** Every document that the selection does not have. */
export interface SelectionComplement {
    /** Tells it from the other selections. */
    readonly kind: 'not';
    /** The selection whose documents it leaves out. */
    readonly of: Selection;
}

/** A list has an element that meets a selection, in which the field `''` is the element. */
export interface SelectionElement {
    /** Tells it from the other selections. */
    readonly kind: 'element';
    /** The field that holds the list. */
    readonly field: string;
    /** What the element meets. */
    readonly of: Selection;
}

/** Options of `selectionQuery`. */
export interface SelectionOptions {
    /** The library's name of a collection that the selection names; the same by default. */
    readonly nameOf?: (collection: string) => string;
    /** For a selection that has too many documents: tells which are meant. It is synchronous, and may be asked again. */
    readonly residual?: (document: StoredDocument, reader: GuardReader) => boolean;
    /** By paths of a sort, of groups and aggregates: what a missing or null value counts as. */
    readonly empty?: EmptyValues;
}

/** Some document one step away meets all of `of`. An id that leads nowhere leads to no document. */
export interface SelectionRelated {
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
    /** What the related document meets. */
    readonly of: Selection;
}

/** A function of one document alone. */
export interface SelectionTest {
    /** Tells it from the other selections. */
    readonly kind: 'test';
    /** The fields that it reads; `''` is the element of a list. */
    readonly fields: readonly string[];
    /** Gets these fields as far as they are there, or `{ '': ELEMENT }`. */
    readonly holds: (record: Readonly<Record<string, unknown>>) => boolean;
}

/** Reads one state. */
export class SnapshotReader {
    constructor(database: Database);
    /** A collection, also for `selectionQuery`. */
    collection(name: string): ReadCollection;
    /** What a synchronous function reads, such as a rule. It may run again. */
    read<T>(read: (reader: GuardReader) => T): Promise<T>;
    /** By each of the ids, the documents whose field has it, in the order of creation: all of them, or `limit`. */
    via(collection: string, field: string, ids: readonly string[], limit?: number): Promise<ReadonlyMap<string, readonly StoredDocument[]>>;
    /** The number of the newest commit that it has: a later state has a higher one. */
    get sequence(): number;
    /** It is not read any more. */
    end(): void;
}

/** Options of `truncate`. */
export interface TruncateOptions {
    /** Cancels it: nothing is deleted then. */
    readonly signal?: AbortSignal;
    /** Is called with what followed from it. */
    readonly followed?: (changes: FollowedChanges) => void;
}

/** A document, and when it was written last. */
export interface WrittenDocument {
    /** That of its commit. */
    readonly sequence: number;
    /** As it was stored. */
    readonly document: StoredDocument;
}

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
 * Throws a TypeError if `options` is not an object or has an unknown option; the message has the nearest known name.
 * For packages built on this one, too. `call` names the function in the message; the keys of `names` are the options.
 *
 * @example
 * checkOptions('open()', options, { storage: true, collections: true })
 */
export function checkOptions(call: string, options: unknown, names: object): void;

/**
 * Calls back inside each commit, with the names of the collections whose documents it has written. `holdSnapshot` then gives the
 * state that it has made. The function returned ends it.
 */
export function followCommits(database: Database, listener: (collections: ReadonlySet<string>) => void): () => void;

/** The same in the library. */
export function fromCouchAttachment({ content_type: contentType, ...others }: Attachment): Attachment;

/**
 * The writes of a collection, each judged by `guard` inside the transaction that writes, alone or in a transaction.
 * Documents of one batch must have different ids, or the guard would not see the first of them. `followed` is called after a
 * delete that changed other documents; in a transaction before its end.
 */
export function guarded<T extends object, Input extends object>(collection: TransactionCollection<T, Input>, guard: DocumentGuard, followed?: CollectionWriting['followed']): GuardedWrites<T, Input>;

/** The newest state, until its `end` is called. Meanwhile no page of it is reused, so it is not for long. */
export function holdSnapshot(database: Database): SnapshotReader;

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

/** The query for all documents that a selection has. Its paths name documents' fields, so `id` is `_id` in a sort. */
export function selectionQuery<T extends object>({ name, access }: Pick<TransactionCollection<T>, 'name' | 'access'>, selection: Selection, { nameOf, residual, empty }?: SelectionOptions): Query<StoredDocument>;

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
 * @throws PANNIER_RELATION if other documents need them; PANNIER_ABORTED. Then nothing is deleted.
 */
export function truncate(database: Database, name: string, { signal, followed }?: TruncateOptions): Promise<number>;

/**
 * What of an array a condition is about: 'whole': only the array itself, 'elements': only its elements. Undefined: its elements, and
 * it itself where an operand of a comparison is an array.
 */
type AboutArrays = 'whole' | 'elements';

interface AccessPath {
    readonly kind: 'scan' | 'ids' | 'index' | 'numbers' | 'missing' | 'set' | 'union' | 'intersection' | 'complement';
    /** For the kind 'index'. */
    readonly index?: IndexDefinition;
    /** For the kind 'numbers'. */
    readonly numbers?: NumberSet;
    /** The fields whose columns gave it. */
    readonly columns?: readonly string[];
    /** Ascending and disjoint; of kinds 'ids' and 'index'. */
    readonly ranges: readonly KeyRange[];
    /** For each range the entries in it. */
    readonly counts: readonly number[];
    /**
     * No part scans. The first part of an intersection gives the rows and their order; the others must have them too. A
     * complement has all documents that its part lacks, and stands only in an intersection. The part of 'missing' is the
     * entries without a value: its documents lack the field, the others have an empty array. A 'set' has the documents of
     * its part, in the order of their numbers.
     */
    readonly branches: readonly AccessPath[];
    /** Entries in all: at least the number of documents. */
    readonly rows: number;
    /** How many documents are expected: `rows`, or less for an intersection, whose branches are taken for independent. */
    readonly expected: number;
    /** How many entries are walked for the set of the documents, and for their number alone. */
    readonly toCollect: number;
    readonly toCount: number;
    /** No document comes up twice; of a union: in no two parts. */
    readonly distinct: boolean;
    /** The conditions that every row meets, so that they need not be tested. */
    readonly met: ReadonlySet<Condition>;
    /**
     * What the entries are sorted by: the fields that they hold, then the order of creation. None if entries for different
     * elements of one array come up.
     */
    readonly fields: readonly {
        readonly path: string;
        readonly descending: boolean;
    }[];
    /** By which order of strings they are sorted; undefined: by code point. */
    readonly collation?: string | undefined;
    /** The number of fields with one and the same value in all rows. */
    readonly fixed: number;
    /** The values of the ranges, for explain. */
    readonly bounds: readonly {
        readonly path: string;
        readonly values: ValueSet;
    }[];
}

type AllKeys<Options> = Options extends unknown ? keyof Options : never;

interface AllOf {
    readonly kind: 'and';
    /** Never `and`. */
    readonly of: readonly Condition[];
}

/** The value is an array in which each of these is an element; of none: never true. */
interface AllPredicate {
    readonly kind: 'all';
    readonly path: string;
    readonly values: readonly JsonValue[];
}

/** All of them hold; with none: always true. */
interface AndPredicate {
    readonly kind: 'and';
    readonly of: readonly Predicate[];
}

interface AnyOf {
    readonly kind: 'or';
    /** Never `or`. */
    readonly of: readonly Condition[];
}

type Attachment = Readonly<Record<string, unknown>>;

/**
 * Content of an attachment in a document. A string is base64, as in CouchDB's JSON. Streams are read once, a Blob in pieces: neither is ever
 * held in memory as a whole. Bytes must not be changed before the write has ended.
 */
type AttachmentData = Blob | ArrayBuffer | ArrayBufferView | string | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** What a body is made of. */
interface BodyParts {
    readonly key: Key;
    readonly deleted: boolean;
    readonly attachments: Uint8Array | undefined;
    /** Holds the content, among other things. */
    readonly bytes: Uint8Array;
    readonly contentStart: number;
    readonly contentEnd: number;
}

/** Looks at one body at a time; made once and loaded again and again. Text is only made when asked for. */
class BodyView implements BodyParts {
    bytes: Uint8Array;
    sequence: number;
    /** The document's number: stable over its whole life. */
    number: number;
    generation: number;
    contentStart: number;
    contentEnd: number;
    /** Where the suffix of the revision stands. */
    suffixStart: number;
    suffixEnd: number;
    /** `bytes` is looked at, not copied. */
    load(bytes: Uint8Array, sequence: number): this;
    /** The id as a key of `ids`. */
    get key(): Key;
    get id(): string;
    get deleted(): boolean;
    get otherLeaves(): boolean;
    get hasTextSuffix(): boolean;
    get suffix(): string;
    /** 'N-suffix', as documents carry it in `_rev`. */
    get revision(): string;
    get hasAttachments(): boolean;
    /** The section of its attachments, or undefined. */
    get attachments(): Uint8Array | undefined;
}

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

/** A document that a commit has written or deleted, as it is now. */
interface ChangedDocument {
    readonly id: string;
    readonly document: StoredDocument | undefined;
    /** As it was at the commit that was announced before. Only where queries of this or another collection follow relations. */
    readonly before?: StoredDocument | undefined;
}

/** One attachment as it was handed in. */
interface CheckedAttachment {
    readonly name: string;
    readonly contentType: string;
    /** Bytes where they were base64. Undefined: a stub. */
    readonly data: Exclude<AttachmentData, string> | undefined;
    /** The digest of a stub, if it has one. */
    readonly digest: string | undefined;
    /** Generation that the attachment came with, if the document says so. */
    readonly revpos: number | undefined;
}

/** Those that were declared; they are added to by later declarations. */
type ChosenSettings = {
    -readonly [Name in keyof CollectionSettings]?: CollectionSettings[Name];
};

/** An order of strings, for `registerCollation`. */
interface Collation {
    /** With its version: 'icu-root 15'. */
    readonly name: string;
    /** Its code points order strings; equal for strings that count as equal. '' gives ''. Must be pure. */
    readonly key: (text: string) => string;
}

/** Where reads and writes go. */
interface CollectionAccess {
    read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T>;
    write<T>(write: (transaction: WriteTransaction) => T): Promise<T>;
    /** Waits until these collections are migrated too, which are then read in the same snapshot. */
    openSource(related?: readonly string[]): MaybePromise<QuerySource>;
    readonly relations: QueryRelations | undefined;
    /** Where columns are; undefined inside a transaction, which makes none. */
    readonly columns: ColumnMemory | undefined;
    /** Where live queries hear of commits; undefined inside a transaction. */
    readonly loadLiveHost: LoadLiveHost;
    /** For content that is stored ahead of the write it belongs to (upload-target.ts); undefined inside a transaction. */
    uploads(): UploadContext | undefined;
    /** Work that ends in a write: a transaction, or the database, is not closed before it has ended. */
    pending<T>(work: Promise<T>): Promise<T>;
    /** The collection as this handle last saw it, and whether that is committed. */
    known(): {
        readonly state: CollectionState | undefined;
        readonly committed: boolean;
    };
    readonly writing: CollectionWriting;
}

class CollectionSchema {
    /** Loaded for collections that have a schema only. */
    validator: MaybePromise<DocumentValidator> | undefined;
    /** Undefined: nothing was declared; whatever is there is read as it is. */
    version: number | undefined;
    migrations: Readonly<Record<number, Migration>>;
    /** True if that is news. Wrong options, and others than before, are a TypeError. */
    declare({ schema, version, migrations }: SchemaOptions): boolean;
    /**
     * Whether documents have to be migrated before anybody reads or writes them.
     *
     * @throws PANNIER_NEWER_SCHEMA if the collection has a version that this code does not know. Code that declares none may
     *   read whatever is there; it writes documents of the first version.
     */
    needsMigration(state: CollectionState | undefined, writes: boolean): boolean;
    /** For a collection that was made just now. */
    markNew(transaction: WriteTransaction, catalog: Catalog, state: CollectionState): CollectionState;
}

/** What can be chosen for a collection. */
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
    /** Those whose collation this process does not know. It neither reads them nor can keep them up to date. */
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
    /** They, and what follows, exist only once there is something in them. */
    readonly revisions: string;
    /** Bodies of revisions that did not win. Stored as `extra`. */
    readonly otherBodies: string;
    readonly conflicts: string;
}

/** What the writes to a collection need. */
interface CollectionWriting extends WriteContext {
    readonly newIds: IdGenerator;
    /** `initial`: settings where none are declared. */
    readonly create: (transaction: WriteTransaction, initial?: Readonly<ChosenSettings>) => CollectionState;
    readonly schema: CollectionSchema;
    /** Undefined: no relation acts on a delete. */
    readonly deleteRules: DeleteRules | undefined;
    /** Is called with what followed from a delete, once that is written. */
    readonly followed?: ((changes: FollowedChanges) => void) | undefined;
    /** What the collection gets when it is created. */
    declaredIndexes(): readonly IndexDeclaration[];
}

/** A place for the columns of a database. */
interface ColumnMemory {
    /** About how much memory all of them may take. */
    readonly bytesMax: number;
    /** Made by the first query that needs a column. */
    store: KeptColumns | undefined;
}

/** What a commit changed: for each tree (by name) its keys, in key order per commit. Too large a commit lists none: `keys` is undefined. */
interface CommitNotice {
    readonly sequence: CommitSequence;
    readonly trees: ReadonlyMap<string, {
        readonly keys: readonly Key[] | undefined;
    }>;
    /** False when another handle (tab, worker) made the commit. */
    readonly local: boolean;
}

/** Numbers the commits of one database: 1, 2, 3, … without gaps. */
type CommitSequence = Brand<number, 'CommitSequence'>;

type CompareOperator = '$eq' | '$gt' | '$gte' | '$lt' | '$lte' | '$in' | '$beginsWith';

/** One value (of an array: one and the same element) meets all comparisons. */
interface ComparePredicate {
    readonly kind: 'compare';
    readonly path: string;
    readonly comparisons: readonly Comparison[];
    readonly arrays?: AboutArrays | undefined;
    /** Undefined: strings are in the order of their code points. */
    readonly collation?: Collation | undefined;
}

interface Comparison {
    readonly operator: CompareOperator;
    /** A string for $beginsWith, an array for $in. */
    readonly operand: JsonValue;
}

/** The document does not meet the condition, whatever its fields are. A negated leaf asks for its field to be there. */
interface ComplementCondition {
    readonly kind: 'complement';
    readonly of: Condition;
}

type Condition = AllOf | AnyOf | WithinCondition | TestCondition | HoldsCondition | NumbersCondition | ComplementCondition | RelatedCondition;

interface ContainsCondition extends ContainsPredicate, Negatable {
    /** By what texts are the same; undefined: by Unicode. */
    readonly fold?: Collation | undefined;
}

/** The value, or an element of an array, is a string in which this text stands, upper or lower case (match.ts, `foldText`). */
interface ContainsPredicate {
    readonly kind: 'contains';
    readonly path: string;
    readonly text: string;
}

/** What names content, up to collisions. */
interface ContentName {
    readonly digest: Uint8Array;
    readonly length: number;
}

/**
 * Walks entries in key order. Starts before the first one.
 *
 * @example
 * const cursor = tree.cursor({ gte: a, lt: b })
 * while (cursor.next()) use(cursor.key, cursor.value)
 */
interface Cursor {
    /** Moves on; false at the end. When it throws a Miss the cursor has not moved. */
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

/** The place right below or right above a value. */
interface Cut {
    readonly value: unknown;
    readonly above: boolean;
}

/** Writes that delete documents which others refer to. */
interface DeleteRules {
    /** Runs `write`, and what follows from the documents that it deletes, as one. */
    write<T>(access: CollectionAccess, write: (transaction: WriteTransaction) => T): Promise<T>;
    /** As deletes with `atomic: false`. `many`: the outcome is an array. */
    deleteEach(access: CollectionAccess, targets: readonly DeleteTarget[], many: boolean): Promise<unknown>;
    /** As puts with `atomic: false`. */
    putEach(access: CollectionAccess, batch: EncodedBatch, mode: WriteMode, many: boolean): Promise<unknown>;
}

/** A document to be deleted; with `revision` only that leaf of it. */
interface DeleteTarget {
    readonly id: string;
    readonly key: Key;
    readonly revision: string | undefined;
}

/** Walks live documents in the order of their sequence numbers. Starts before the first one. */
interface DocumentCursor {
    /** Moves on; false at the end. When it throws a Miss it has not moved: call it again. */
    next(): boolean;
    /** The document at the cursor; the same object each time, so copy what is to be kept. */
    readonly body: BodyView;
}

class DocumentReader {
    readonly snapshot: Snapshot;
    readonly collection: CollectionState;
    readonly bodies: TreeReader;
    constructor(snapshot: Snapshot, collection: CollectionState);
    /** Live documents. */
    count(): number;
    /** Documents will be read: the roots of the trees that takes are fetched along with what is missed next. */
    prefetch(): void;
    get(id: string): BodyView | undefined;
    /** For each key the number of the live document with that id. Fastest when ascending. */
    numbersOf(idKeys: readonly Key[]): (number | undefined)[];
    /** `numbers` (of live documents), and where that has none the number of the deleted document with that id. */
    withDeleted(idKeys: readonly Key[], numbers: readonly (number | undefined)[]): readonly (number | undefined)[];
    /** For each id its body if it is live; everything that is missing in memory is fetched together, tree by tree. */
    getMany(ids: readonly string[]): (BodyView | undefined)[];
    /**
     * The current bodies of the documents with these numbers, aligned. They are looked up in ascending order, and what is
     * missing in memory is fetched for all of them together.
     */
    bodiesOf(numbers: readonly number[]): BodyView[];
    /** As `bodiesOf` the first numbers: as many as have at most `BATCH_BYTES_MAX` together, and one at least. */
    someBodiesOf(numbers: readonly number[]): BodyView[];
    /** As `getMany` of the first ids, within the same bound. */
    getSome(ids: readonly string[]): (BodyView | undefined)[];
    /** Live documents in the order in which they were last written. */
    scan(options?: ScanOptions): DocumentCursor;
    /** Live documents by id: keys are ids (`decodeIdKey`), `numberAt` tells the numbers. */
    ids(range?: KeyRange, options?: CursorOptions): Cursor;
    /** Exact, and without a walk. */
    countIds(range?: KeyRange): number;
    /** The number of the document at a cursor made by `ids`. */
    numberAt(cursor: Cursor): number;
    /** Also for a tombstone, which then has `_deleted`. */
    decode(body: BodyView): StoredDocument;
}

class DocumentValidator {
    constructor(schema: StandardSchema);
    /** All of them as they are to be stored. Throws, or rejects, for the first that is not valid. */
    checkAll(inputs: readonly unknown[], many: boolean): MaybePromise<Fields[]>;
    /** For each the document as it is to be stored, or what is wrong with it. `many`: errors name the position. */
    checkEach(inputs: readonly unknown[], many: boolean): MaybePromise<(Fields | PannierError)[]>;
    /** The document as it is to be stored, or what is wrong with it. A TypeError for what is no document. */
    check(input: unknown, position?: number): MaybePromise<Fields | PannierError>;
    /**
     * For `update`, whose function runs inside the write: what it makes of a document is validated there. That is done at once,
     * or another write could come between and would be lost.
     */
    checkUpdated(change: (document: StoredDocument) => unknown): (document: StoredDocument) => unknown;
}

/** One object for each document on its whole way, because bulk writes have very many. */
class DocumentWrite implements BodyParts {
    readonly id: string;
    readonly key: Key;
    /** `_rev` as handed in, if there was one. */
    readonly revision: string | undefined;
    /** What is written is a tombstone. */
    readonly deleted: boolean;
    /** For a replicated revision: it and its ancestors, newest first. */
    readonly path: readonly Revision[] | undefined;
    /** Holds the encoded document; shared with others. There is room for the header of the body before `idStart`. */
    bytes: Uint8Array;
    /** Where the length of the id stands, followed by the id. */
    idStart: number;
    /** A tombstone may have no content: then it ends where it starts. */
    contentStart: number;
    contentEnd: number;
    /** `_attachments` as handed in, if there are any; not looked at yet. */
    attachmentInputs: unknown;
    /** The same, with their content at hand. */
    prepared: readonly PreparedAttachment[] | undefined;
    /** Why it can't be written, as its encoding has found. */
    error: PannierError | undefined;
    /** What the body keeps of its attachments. */
    attachments: Uint8Array | undefined;
    /** The winner that the document had: a live one or a tombstone. */
    old: BodyView | undefined;
    /** The general case; undefined where the new body simply is the winner. */
    plan: RevisionChange | undefined;
    /** The number of revisions of `path` that get an entry in `revisions`. */
    pathEntries: number;
    /** Entries of the oldest revisions, which are forgotten. */
    stemmed: readonly Key[];
    number: number;
    sequence: number;
    /** The revision that it makes, as text. */
    rev: string;
    /** Key of its entry in `revisions`, for an edit that has a parent and no plan. */
    entryKey: Key;
    constructor(id: string, key: Key, revision: string | undefined, deleted: boolean, path?: readonly Revision[]);
    /** Forgets what an earlier run has found out. */
    restart(): void;
    /** Something is to be done about attachments before it is planned. */
    get hasAttachments(): boolean;
    /** What the document holds afterwards; undefined if it is deleted. */
    get live(): EncodedContent | undefined;
    /** Nothing of the document is left, not even a tombstone. */
    get isGone(): boolean;
}

interface ElementsCondition extends Omit<ElementsPredicate, 'of'>, Negatable {
    /** Its paths begin at the element. */
    readonly of: Condition;
}

/**
 * - 'some': the value is an array with an element that meets the predicate.
 * - 'every': the value is an array that is not empty, and each element of it does.
 * - 'keys': the value is an object with a field whose name does.
 *
 * Paths in the predicate begin at the element; '' is the element itself, which counts as a whole even if it is an array.
 */
interface ElementsPredicate {
    readonly kind: 'elements';
    readonly path: string;
    readonly which: 'some' | 'every' | 'keys';
    readonly of: Predicate;
}

/** By paths: what a missing or null value counts as. */
type EmptyValues = Readonly<Record<string, '' | 0 | false>>;

class EncodedBatch {
    readonly writes: readonly DocumentWrite[];
    constructor(writes: readonly DocumentWrite[], guess: ShapeGuess);
    /** What the content refers to. */
    get shapes(): ShapeDictionary;
    /** A part of it. */
    only(writes: readonly DocumentWrite[]): EncodedBatch;
    /** Makes the batch fit the collection as it is now. Returns the shapes that the collection lacks. */
    matchShapes(state: CollectionState): Shape[];
}

/** Encoded fields of a document: of a BodyView or of a DocumentWrite. */
interface EncodedContent {
    readonly id: string;
    readonly bytes: Uint8Array;
    readonly contentStart: number;
    readonly contentEnd: number;
}

interface Entry {
    readonly key: Key;
    readonly value: Uint8Array;
}

interface EntryChange {
    readonly revision: Revision;
    /** There is one that is replaced. */
    readonly known: boolean;
    readonly parent: string | undefined;
    readonly leaf: boolean;
    readonly deleted: boolean;
    /** The body's number in `extra`, or the body that is to be put there. */
    readonly body: number | BodyParts | undefined;
}

type EntryTree = Pick<TreeReader, 'count' | 'cursor'>;

/**
 * The engine's only access to time, chance and the event loop. It is passed in, so that a seed replays a whole run.
 * Nothing below `database/` calls `Date.now`, `Math.random`, `setTimeout` and the like itself.
 */
interface Environment {
    /** Milliseconds on a clock that never runs backwards; for slices and statistics, never stored. */
    now(): number;
    /** 128 random bits as 32 lower-case hex digits. */
    randomId(): string;
    /** Resolves in a later task, after the event loop had a chance to do other work (paint, input, I/O). */
    yield(): Promise<void>;
    /** Calls back once, not before `delayMs`; the function returned cancels it. Must not keep a Node process alive. */
    after(delayMs: number, callback: () => void): () => void;
}

interface ExistsPredicate {
    readonly kind: 'exists';
    readonly path: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** An upload that has ended. */
interface FinishedUpload {
    readonly token: string;
    /** The number that its blob has if it becomes one. */
    readonly blob: number;
    readonly name: ContentName;
    /** A blob, or another upload for the same write, that has the same bytes. */
    readonly same: number | undefined;
}

/** How a live query follows relations. */
interface FollowedQuery {
    /** All that it reads, its own first. */
    readonly collections: readonly [string, ...string[]];
    open(): MaybePromise<QuerySource>;
    /** Whether it reads something else of the document now. */
    reads(collection: string, changed: ChangedDocument): boolean;
    /** The ids of the documents whose rows the news may have changed; undefined: it takes too much to tell. */
    affected(source: QuerySource, news: readonly News[]): Promise<ReadonlySet<string> | undefined>;
    /** Those of the documents that match; undefined: it takes too much to tell. */
    matching(source: QuerySource, ids: readonly string[]): Promise<MatchingDocuments | undefined>;
}

/** A snapshot that is kept over several attempts; its pages stay until it is released. */
interface HeldSnapshot extends Snapshot {
    /** Runs `read` until nothing is missing. Synchronous when everything is in memory. */
    attempt<T>(read: () => T): MaybePromise<T>;
    /** Idempotent. */
    release(): void;
}

/**
 * A write transaction that a caller drives step by step; no other writer gets the lease until it ends. Whatever touches it after
 * `commit` or `rollback` was called is PANNIER_TRANSACTION_ENDED.
 */
interface HeldTransaction extends WriteTransaction {
    /**
     * Runs `step` until nothing is missing. Overlapping steps take effect one after another, in the order of their calls.
     * A step that throws leaves nothing behind, and so does each try that misses. Synchronous if nothing has to be
     * loaded.
     */
    attempt<T>(step: () => T): MaybePromise<T>;
    /**
     * Call it between steps, and await it: many changes go to pages, which nobody else reads before the commit. So a large
     * transaction takes little memory. If it fails, roll back.
     */
    relieve(): MaybePromise<void>;
    /** What it has written so far, to be read: what it writes later does not change that. Of no use once the transaction has ended. */
    view(): MaybePromise<HeldSnapshot>;
    /** Finishes the steps that were asked for. Resolves when durable. */
    commit(): Promise<void>;
    /** Idempotent; nothing of it stays. */
    rollback(): void;
}

/** A function says so. Only relations/selection makes it. */
interface HoldsCondition {
    readonly kind: 'holds';
    readonly path?: undefined;
    /** The fields that it is given; '' is the element itself. */
    readonly paths: readonly string[];
    readonly compile: <Row>(reader: (path: string) => (row: Row) => unknown) => (row: Row) => boolean;
}

/**
 * Makes ids that sort by their time: 48 bits of milliseconds, a counter of 16 bits, 64 random bits, as 32 hex digits.
 * Ids that are made together share the random bits.
 */
type IdGenerator = () => () => string;

/** A declaration in full: a definition that has no number yet. */
type IndexDeclaration = Omit<IndexDefinition, 'number' | 'builtTo'>;

interface IndexDefinition {
    /** Names the index's tree; never used again in the same collection. */
    readonly number: number;
    readonly name: string;
    readonly fields: readonly IndexField[];
    /** The only field may hold an array: one entry per distinct element. */
    readonly multi: boolean;
    /** No two live documents have one key, except where replication brought them; documents that lack a field have none. */
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
    /** From the highest value down. */
    readonly descending: boolean;
}

/** Keeps indexes in step with documents; `index/` has it. */
interface IndexMaintenance {
    /**
     * Before any change: reads what `apply` needs, and says which writes a unique index refuses. May miss. A collection
     * that does not exist yet has its declared indexes.
     */
    prepare(transaction: WriteTransaction, collection: CollectionState | undefined, work: PreparedWork): Refusals;
    /** After the bodies were written. The collection's shapes are what old and new content refers to. Must not miss. */
    apply(transaction: WriteTransaction, collection: CollectionState, writes: readonly DocumentWrite[]): void;
}

/** A selector as JSON. */
type IndexSelector = Readonly<Record<string, unknown>>;

type JsonDocument = Readonly<Record<string, unknown>>;

/** Any value that a document can hold. */
type JsonValue = null | boolean | number | string | readonly JsonValue[] | {
    readonly [name: string]: JsonValue;
};

/** What columns/column-store.ts keeps, as the database sees it. */
interface KeptColumns {
    /** About how much memory the columns of a collection take. */
    bytesOf(collection: Pick<CollectionState, 'number' | 'epoch'>): number;
    /** The collection was dropped. */
    forget(collection: Pick<CollectionState, 'number' | 'epoch'>): void;
}

/** A place for what is kept of a collection. */
interface KeptMemory {
    sets?: KeptSets | undefined;
    readonly columns: ColumnMemory;
}

/** What columns/kept-sets.ts keeps, as of a snapshot. */
interface KeptSets {
    /** That of the collection. */
    readonly epoch: string;
    /** The last sequence that was read. */
    readonly upTo: number;
    readonly live: NumberSet;
    /** By the path that these documents lack. */
    readonly missing: Map<string, NumberSet>;
}

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

interface KeyValueStore {
    /** 32 hexadecimal digits, the same in all handles from the first commit on. */
    readonly databaseId: string;
    /** Runs `read` on the newest state, until nothing is missing. Synchronous when everything is in memory. */
    read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T>;
    /** The newest state, held. */
    snapshot(): HeldSnapshot;
    /**
     * Runs `write` in a transaction and resolves with its result when that is durable. If it throws, nothing of it stays and
     * the promise is rejected with what it threw. Writes that are asked for at the same time run one after another, in
     * order, and share one log append.
     */
    write<T>(write: (transaction: WriteTransaction) => T): Promise<T>;
    /** Waits for the lease, then hands out a transaction. `name` says what it is to those who wait for it for long. */
    begin(name?: () => string): Promise<HeldTransaction>;
    /** Called after each commit, local or not, once it is durable and visible. The function returned ends it. */
    onCommit(listener: (notice: CommitNotice) => void): () => void;
    /** Sees what other handles have committed up to now. */
    refresh(): Promise<void>;
    /** Writes everything that is only in the log to pages. */
    checkpoint(): Promise<void>;
    /** Finishes pending work, then releases everything. Idempotent. */
    close(): Promise<void>;
}

/** The source of commits for the live queries of one collection. */
interface LiveHost {
    start(request: LiveRequest, state: LiveState): LiveWork;
}

interface LiveRequest {
    readonly specification: QuerySpecification;
    open(): MaybePromise<QueryRun>;
    /** Undefined: it follows no relations. */
    readonly followed: FollowedQuery | undefined;
    readonly signal: AbortSignal | undefined;
    /** The only row is how many documents match (CountRow). */
    readonly counts?: true;
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

/** A live query at work. */
interface LiveWork {
    /** Settles with the first rows, or when there will be none. */
    readonly ready: Promise<void>;
    subscribe(subscriber: Subscriber): () => void;
    iterate(): AsyncIterator<LiveUpdate<object> | number, undefined, undefined>;
    close(): void;
}

/** Loads what live queries need. One function for each collection; undefined where queries cannot be live. */
type LoadLiveHost = (() => Promise<LiveHost>) | undefined;

/** Documents, and what makes rows of them. */
interface MatchingDocuments extends Pick<QueryRun, 'query' | 'populate'> {
    readonly documents: readonly StoredDocument[];
}

/** There already where a backend or the cache is synchronous, and promised where it is not. */
type MaybePromise<T> = T | Promise<T>;

/** All of the content in memory: chunks of `CHUNK_BYTES`, the last one shorter. Never changed. */
interface MemoryContent extends ContentName {
    readonly chunks: readonly Uint8Array[];
}

interface ModCondition extends ModPredicate, Negatable {
}

/** The value, or an element of an array, is a whole number that leaves this remainder. */
interface ModPredicate {
    readonly kind: 'mod';
    readonly path: string;
    readonly divisor: number;
    readonly remainder: number;
    readonly arrays?: 'whole' | undefined;
}

interface Negatable {
    /** The field is there and does not meet it. */
    readonly negated: boolean;
}

/** What a commit has changed in a collection. */
interface News {
    readonly sequence: number;
    readonly collection: string;
    readonly changed: readonly ChangedDocument[];
}

/** Negation as CouchDB has it: the leaves are negated one by one, and a negated leaf still asks for the field to be there. */
interface NotPredicate {
    readonly kind: 'not';
    readonly of: Predicate;
}

class NumberSet {
    readonly count: number;
    /** Ascending numbers take the least time. */
    static of(numbers: Iterable<number>): NumberSet;
    /** Those of ascending numbers that have the mark 1; the others have 0. */
    static marked(numbers: Float64Array, marks: Uint8Array): NumberSet;
    has(number: number): boolean;
    /** How many numbers of the set are lower. */
    rank(number: number): number;
    /** The number with `rank` lower ones; undefined if the set has no more than these. */
    select(rank: number): number | undefined;
    /** Other text than that of any other set: conditions are compared as text (`identityOf`). */
    toJSON(): string;
    /** In order, at most `limit` numbers behind the first `skip`. */
    page(skip: number, limit: number, descending?: boolean): number[];
    /** Those that are greater. */
    above(number: number): NumberSet;
    /** All numbers in order. */
    values(descending?: boolean): Generator<number, void, undefined>;
    or(other: NumberSet): NumberSet;
    and(other: NumberSet): NumberSet;
    andNot(other: NumberSet): NumberSet;
}

/** The document's number is in the set, which has only numbers of live documents. */
interface NumbersCondition {
    readonly kind: 'numbers';
    readonly numbers: NumberSet;
    /** The field whose column gave the set, for explain. */
    readonly column?: string;
}

/** `related`: the collections that are read too, in the same snapshot. */
type OpenSource = (related?: readonly string[]) => MaybePromise<QuerySource>;

/** At least one of them holds; with none: never true. */
interface OrPredicate {
    readonly kind: 'or';
    readonly of: readonly Predicate[];
}

/**
 * Call it after each step, and await it if it returns a promise. It returns one when it is time to release the thread.
 */
type Pause = () => MaybePromise<void>;

/** Bodies whose sequence number is higher than `after`, and at most `upTo`, have the version `from`. */
interface PendingMigration {
    readonly after: number;
    readonly upTo: number;
    readonly from: number;
}

interface Plan {
    readonly access: AccessPath;
    /** Walks from the last entry to the first. */
    readonly reverse: boolean;
    /** The condition that remains to be tested. */
    readonly residual: Condition;
    readonly filter: Reads;
    /** Undefined: rows come in the order asked for. */
    readonly sort: Reads | undefined;
    /** 'entries': no document is read. */
    readonly project: Reads;
    /** Every entry is a row, each document's once: counting and skipping need no walk. */
    readonly byRank: boolean;
    /** Every row of the walk is one, so skipping needs no walk. */
    readonly skips: boolean;
    /** Rows before skip and limit; exact where `byRank`, else at most. */
    readonly rows: number;
    readonly cost: number;
}

/** The part that planning reads: counts, and positions of index entries. */
interface PlanSource {
    readonly documents: Pick<DocumentReader, 'count' | 'countIds'>;
    /** It may include indexes that are being built; they are ignored. */
    readonly indexes: readonly IndexDefinition[];
    /** The entries of an index. */
    index(definition: IndexDefinition): EntryTree;
}

/** A query, and the plan for it if there is one. */
interface Planned {
    readonly query: QuerySpecification;
    readonly plan?: Plan;
}

type Predicate = AndPredicate | OrPredicate | NotPredicate | ComparePredicate | ExistsPredicate | RegexPredicate | ContainsPredicate | TypePredicate | SizePredicate | ModPredicate | AllPredicate | ElementsPredicate | QuantifiedPredicate;

/** An attachment whose content is at hand. */
interface PreparedAttachment extends Omit<CheckedAttachment, 'data'> {
    /** Undefined: a stub. */
    readonly content: MemoryContent | FinishedUpload | undefined;
}

interface PreparedWork {
    /** Each document once; where two want one key the earlier gets it. */
    readonly writes: readonly DocumentWrite[];
    /** What the content of the writes refers to. */
    readonly shapes: ShapeDictionary;
    /** False: whatever comes is taken up, as replicas must not differ. */
    readonly isRefusable: boolean;
}

/**
 * The related documents to which the path leads: 'some' document meets the predicate, 'every' one does (and one is there), or
 * 'none' does. Paths in the predicate begin at the related document.
 */
interface QuantifiedPredicate {
    readonly kind: 'quantified';
    readonly path: string;
    readonly which: 'some' | 'every' | 'none';
    readonly of: Predicate;
}

/** How the queries of a collection follow relations (relations/). */
interface QueryRelations {
    /** What missing values count as in groups and aggregates. */
    readonly empty?: EmptyValues;
    /** Throws an ArgumentError for a wrong selector. */
    condition(selector: unknown): Condition;
    /** All collections that relations can lead to. */
    readonly collections: readonly string[];
    /** How a live query follows relations; undefined: it does not. */
    followed(open: OpenSource, query: QuerySpecification): FollowedQuery | undefined;
    /** Throws a TypeError for a path through a relation, where `call` takes none. */
    checkOwn(call: string, paths: readonly string[]): void;
    /** As `checkOwn`, for all paths of a condition. */
    checkCondition(call: string, condition: Condition): void;
    /** As `checkOwn`, for all paths of an index. */
    checkIndex(index: IndexDeclaration): void;
    /** Throws a TypeError for a path that sort, fields or populate do not take. */
    check(query: QuerySpecification): void;
    /** Opens a source, and makes a plain query of one that follows relations. `check` may throw. */
    begin(open: OpenSource, query: QuerySpecification, check: () => void): MaybePromise<QueryRun>;
}

/** A query on its snapshot; its source has to be released. */
interface QueryRun extends Planned {
    readonly source: QuerySource;
    /** Gives a query for the same rows of fewer documents. */
    readonly narrow?: ((query: QuerySpecification) => Promise<QuerySpecification>) | undefined;
    /** Changes rows: they get related documents in place of ids. */
    readonly populate?: ((rows: readonly object[]) => Promise<void>) | undefined;
    /** How relations were followed, for explain. */
    readonly related?: readonly RelatedStep[];
}

interface QuerySource extends PlanSource {
    /** The sequence of the newest commit that is in it. */
    readonly sequence: CommitSequence;
    readonly documents: DocumentReader;
    index(definition: IndexDefinition): TreeReader;
    /** Runs `step` until nothing is missing in memory. Synchronous when nothing is. */
    attempt<T>(step: () => T): MaybePromise<T>;
    /** Call it between steps: it releases the thread after a slice. */
    readonly pause: Pause;
    /** What queries keep in memory from one to the next; undefined: what is read here may never be committed. */
    readonly kept?: KeptMemory | undefined;
    /** A clock, in milliseconds. */
    readonly now: () => number;
    /** Another collection in the same snapshot, which is released with this one. Only where relations are declared. */
    readonly other?: ((name: string) => QuerySource) | undefined;
    /** Idempotent. Called once when the query is done with it, however it ends. */
    release(): void;
}

/** The query to plan. */
interface QuerySpecification {
    readonly condition: Condition;
    readonly sort: readonly SortField[];
    readonly skip: number;
    /** Infinity: all. */
    readonly limit: number;
    /** The order of strings in `sort`; undefined: by code point. */
    readonly collation?: Collation | undefined;
    /** Paths of relations whose documents rows get in place of ids. */
    readonly populate?: readonly string[];
    /** Paths of the fields that are wanted; undefined: whole documents; none: rows are only counted. */
    readonly fields: readonly string[] | undefined;
}

/** The source of the fields that a step needs. */
type Reads = 'entries' | 'documents';

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

type Refusals = ReadonlyMap<DocumentWrite, PannierError>;

interface RegexCondition extends RegexPredicate, Negatable {
}

/** The value, or an element of an array, is a string in which the regular expression is found. */
interface RegexPredicate {
    readonly kind: 'regex';
    readonly path: string;
    readonly source: string;
    readonly flags: string;
    readonly arrays?: 'whole' | undefined;
}

/** Some related document meets the condition. Only relations/ makes it, and resolves it before a query is planned. */
interface RelatedCondition {
    readonly kind: 'related';
    readonly path?: undefined;
    /** The related collection. */
    readonly to: string;
    /** The field that holds the ids: of the document, or (`back`) of the related ones. */
    readonly field: string;
    readonly back: boolean;
    /** It holds an array of ids. */
    readonly many: boolean;
    /**
     * The related documents are those with equal texts, and no field leads to them: pairs of a field of theirs and one of the
     * document. A missing text is the empty one. Without pairs they are all documents.
     */
    readonly on?: readonly (readonly [related: string, own: string])[];
    readonly of: Condition;
}

/** One step along a relation, as it was answered. */
interface RelatedStep {
    readonly condition: RelatedCondition;
    /** For the related documents. */
    readonly plan: Plan;
    readonly query: QuerySpecification;
    /** From what the ids were read. */
    readonly way: 'documents' | 'entries' | 'column';
    /** How many ids there were; undefined: a column needs none. */
    readonly ids: number | undefined;
    /** The steps of the condition that related documents have to meet. */
    readonly related: readonly RelatedStep[];
}

interface RelatedValues {
    /** As it was asked for. */
    readonly path: string;
    readonly values: ValuesById;
}

interface Revision {
    readonly generation: number;
    readonly suffix: string;
}

/** What is to be done to the trees of a collection for one document. */
interface RevisionChange {
    /** Undefined: nothing is left of the document. */
    readonly winner: {
        readonly revision: Revision;
        readonly parts: BodyParts & EncodedContent;
    } | undefined;
    readonly hasOtherLeaves: boolean;
    readonly entries: readonly EntryChange[];
    /** Revisions whose entries go. */
    readonly removed: readonly Revision[];
    /** Bodies that leave `extra`; their `sequence` is their number there. */
    readonly removedBodies: readonly BodyView[];
    /** The attachments of bodies that come, and of those that go for good. */
    readonly attachmentsAdded: readonly Uint8Array[];
    readonly attachmentsRemoved: readonly Uint8Array[];
    /** Whether the document is listed among those with conflicts: before, and from now on. */
    readonly wasInConflict: boolean;
    readonly isInConflict: boolean;
    /** The body that the document gets. `number`: the document's, undefined for a new one. */
    body(number: number | undefined): Uint8Array;
    /** Changes the trees of revisions. Methods, so that nobody has to load them who has no plan. */
    apply(transaction: WriteTransaction, state: CollectionState, write: {
        readonly key: Key;
        readonly number: number;
    }): void;
}

interface ScanOptions {
    readonly reverse?: boolean;
    /** Only bodies with a higher sequence number. */
    readonly after?: number;
}

/** The schema of a collection, its version, and how older documents get there. */
interface SchemaOptions<Schema = unknown> {
    /** Any Standard Schema (zod, valibot, arktype, …): it checks and types what is written, and what it gives is stored. */
    readonly schema?: Schema;
    /** The version of the schema; 1 by default. Raise it when stored documents have to change. */
    readonly version?: number;
    /** By the version that they lead to: one for each version from 2 on. */
    readonly migrations?: Readonly<Record<number, Migration>>;
}

/**
 * What the catalog says of the version of a collection's schema. It lives here because a collection's state has it; the database
 * layer knows what versions mean.
 */
interface SchemaState {
    /** 1 or more. The version of every document, except those in `pending` and failures. */
    readonly version: number;
    /** What is not migrated yet, ascending and disjoint; empty when the migration is done. */
    readonly pending: readonly PendingMigration[];
}

/** Documents that came after or before another one: their place in the order `$created`. `@pannier/rules` does not make it. */
interface SelectionCreation {
    /** Tells it from the other selections. */
    readonly kind: 'created';
    /** `>`: after it. */
    readonly operator: '<' | '>';
    /** As the field `$created` of a query gives it. */
    readonly value: number;
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
    /** Those that `resolve` has added since this dictionary was made: to be stored. */
    readonly added: readonly Shape[];
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

/** What the ids of shapes in encoded content refer to. */
interface ShapeGuess {
    /** The collection whose dictionary `base` is; undefined if there was none. */
    readonly collectionNumber: number | undefined;
    readonly base: ShapeDictionary;
    /** False if `base` may be rolled back. */
    readonly committed: boolean;
    /** `base` and what the documents added. */
    readonly shapes: ShapeDictionary;
}

interface SizeCondition extends SizePredicate, Negatable {
}

/** The value is an array with this number of elements. */
interface SizePredicate {
    readonly kind: 'size';
    readonly path: string;
    readonly size: number;
}

interface Snapshot {
    /** Every commit up to and including this one, and nothing else. */
    readonly sequence: CommitSequence;
    /** Undefined if there is no such tree. */
    tree(name: string): TreeReader | undefined;
    /** Names with that prefix, ascending. */
    treeNames(prefix?: string): string[];
}

interface SortField {
    readonly path: string;
    readonly descending: boolean;
    /** Rows are sorted by the value of a related document; `path` is the field that holds its id. */
    readonly through?: RelatedValues;
}

/** As the library hands it out: `_id` and `_rev` first. */
type StoredDocument = {
    _id: string;
    _rev: string;
} & Record<string, unknown>;

interface Subscriber {
    /** For a count: the number. */
    update(update: LiveUpdate<object> | number): void;
    end?: ((error: unknown) => void) | undefined;
}

/** Conditions that no set of values can express. */
type TestCondition = RegexCondition | ContainsCondition | SizeCondition | ModCondition | ElementsCondition;

interface TextSettings {
    /** A BCP 47 tag, for finding words and for lower case. */
    readonly language?: string;
}

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
    /** Exact, and without a walk. Without a range: no page is read. */
    count(range?: KeyRange): number;
    /** How many entries have a lower key. */
    rank(key: Key): number;
    /** The entry with exactly `rank` entries before it. */
    select(rank: number): Entry | undefined;
    cursor(range?: KeyRange, options?: CursorOptions): Cursor;
    /** The tree will be read: what any read of it begins with is fetched along with what is missed next. */
    prefetch(): void;
    /**
     * What the entries of a range fold into; undefined for an empty range. With the tree's own reducer it costs no walk.
     * With another reducer it costs no walk where nothing has changed since the same object was used. Ordered trees.
     */
    reduce<Result>(range: KeyRange, reducer: Reducer<Result>): Result | undefined;
    /** Sequence trees: the number that `append` gave last, 0 before the first; also when its entry was removed. Reads nothing. */
    readonly lastNumber: number;
    /** About how many bytes the entries take in storage, without what is only in the log; undefined if that is not known. */
    readonly storedBytes: number | undefined;
}

/**
 * What a caller knows about a key decides which write it uses: `insert`, `replace` and `remove` never read;
 * `put` and `delete` look first. A caller that is wrong about it corrupts the counts, which the integrity check reports.
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
    /** False if there was none. */
    delete(key: Key): boolean;
    /** Sequence trees only: inserts under the next number and returns it (`numberKey(n)` is the key). Never used twice. */
    append(value: Uint8Array): number;
    /** `append` of many: returns the number of the first. Takes the array. */
    appendMany(values: readonly Uint8Array[]): number;
}

/** The value itself has the type. */
interface TypePredicate {
    readonly kind: 'type';
    readonly path: string;
    readonly type: ValueType;
}

/** What uploads need of the database. */
interface UploadContext extends Pick<UploadTarget, 'environment' | 'wallClock' | 'closing'> {
    readonly store: KeyValueStore;
    /** Tokens of uploads of this handle that are under way. */
    readonly liveUploads: Set<string>;
}

/** Where uploads go. */
interface UploadTarget {
    readonly environment: Pick<Environment, 'after' | 'randomId'>;
    /** Milliseconds since 1970. */
    readonly wallClock: () => number;
    /** A transaction of its own. */
    write<T>(run: (transaction: WriteTransaction) => T): Promise<T>;
    snapshot(): HeldSnapshot;
    /** The number of the collection, which is made if it is not there. */
    create(transaction: WriteTransaction): number;
    /** The number of the collection, or undefined. */
    find(transaction: WriteTransaction): number | undefined;
    /** Aborted when the database is closed. */
    readonly closing: AbortSignal;
    /** Tokens of the uploads of this handle that are under way. */
    readonly live: Set<string>;
}

/** Ascending, none twice: values after the first cut are in the set, those after the second are not, and so on. */
type ValueSet = readonly Cut[];

type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** By the ids of the documents to which a field leads. */
interface ValuesById {
    /** Undefined for what is no such id. May throw a Miss. */
    get(id: unknown): unknown;
}

/**
 * The value is in the set. For an array: some element is or, with `every`, every element is.
 */
interface WithinCondition {
    readonly kind: 'within';
    readonly path: string;
    readonly values: ValueSet;
    readonly every: boolean;
    /** An array as a whole counts like one more of its elements. */
    readonly whole: boolean;
    /** Tests the value as a whole, even if it is an array. */
    readonly self: boolean;
    /** The set holds collated values (codec/registered-collation.ts). Undefined also where the order of strings has no say. */
    readonly collation?: Collation | undefined;
}

/** What the writes to one collection need. */
interface WriteContext {
    readonly catalog: Catalog;
    readonly name: string;
    /** Creates the collection, with the indexes and settings that were declared. */
    readonly create: (transaction: WriteTransaction) => CollectionState;
    readonly maintenance: IndexMaintenance;
    /** Refuses documents before anything is planned; in the order of the batch. May miss. */
    readonly judge?: (transaction: WriteTransaction, state: CollectionState | undefined, batch: EncodedBatch) => Refusals;
    /** Those that the collection gets when it is created. */
    readonly settings?: () => CollectionSettings;
}

/**
 * - 'insert': there must be no such document.
 * - 'put': creates, or extends the leaf whose revision is the `_rev` given.
 * - 'upsert': creates or replaces, whatever is there.
 * - 'delete': the document must be there; `_rev`, where it is given, must be a live leaf.
 * - 'replicate': takes up a revision that was made elsewhere.
 */
type WriteMode = 'insert' | 'put' | 'upsert' | 'delete' | 'replicate';

interface WriteTransaction extends Snapshot {
    tree(name: string): TreeWriter | undefined;
    /** `reducer`: by which an ordered tree is kept reduced; it is registered (btree/reducer.ts). */
    createTree(name: string, kind: TreeKind, reducer?: ReducerId): TreeWriter;
    /** Forgets the tree at once, whatever its size; its room is reclaimed later. */
    dropTree(name: string): void;
}

function above(value: unknown): Cut;

/** Numbers and strings that must not be confused with one another. The brand exists only in the types. */
const brand: unique symbol;
