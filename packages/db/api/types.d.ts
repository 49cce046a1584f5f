// What `pannier/types` offers. Written by `npm run api`.

import type {
  AttachmentStub,
  Credential,
  DatabaseStorage,
  DocumentChange,
  Explanation,
  JsonObject,
  LongWork,
  Migration,
  PannierError,
  ReplicationOptions,
  ReplicationProgress,
  ReplicationStatus,
  ReplicationTarget,
  Selector,
  Stored,
  ViewRow,
  WhereFilter,
  WriteOutcome,
  WriteResult,
} from 'pannier'

/**
 * One result.
 *
 * - `$count`: of documents.
 * - `$min`, `$max`: by the order of all values; missing and null don't count. Arrays count as a whole, here and below.
 * - `$sum`, `$avg`: of numbers; whatever is no number does not count.
 * - `$distinct`: the different values, ascending; missing does not count.
 */
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

/** How an aggregate is answered, as `explain` tells it. */
export interface AggregateExplanation {
    /**
     * - 'index ends': counts, and first and last entries of indexes.
     * - 'index groups': from group to group of an index, one seek and one count each.
     * - 'one pass': over all rows, as `plan` says. (More than one pass if there are more groups than memory holds.)
     */
    readonly way: 'index ends' | 'index groups' | 'one pass';
    /** The indexes that give the answer, or the rows. */
    readonly indexes: readonly string[];
    /** The plan of the one walk. */
    readonly plan?: Explanation;
}

/** The type of one result of an aggregate: that of the field, or a number. */
export type AggregateValue<Document, One> = One extends {
    readonly $min: infer Path extends string;
} ? NonNullable<FieldValue<Document, Path>> | undefined : One extends {
    readonly $max: infer Path extends string;
} ? NonNullable<FieldValue<Document, Path>> | undefined : One extends {
    readonly $distinct: infer Path extends string;
} ? Exclude<FieldValue<Document, Path>, undefined>[] : One extends {
    readonly $avg: string;
} ? number | undefined : number;

/** The result of aggregates. */
export type Aggregated<Document, Wanted> = {
    -readonly [Name in keyof Wanted]: AggregateValue<Document, Wanted[Name]>;
};

/** Results by name. */
export type Aggregates<Document> = {
    readonly [name: string]: Aggregate<FieldPath<Document>>;
};

/** Options of an atomic batch, which is the default: it writes all documents or none. */
export interface AtomicOptions {
    /** The batch writes all documents or none. */
    readonly atomic?: true;
}

/**
 * Content of an attachment in a document. A string is base64, as in CouchDB's JSON. Streams are read once, a Blob in pieces: neither is ever
 * held in memory as a whole. Bytes must not be changed before the write has ended.
 */
export type AttachmentData = Blob | ArrayBuffer | ArrayBufferView | string | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** How the content of attachments is given inside of documents. */
export type AttachmentForm = 'base64' | 'blob' | 'bytes';

/** A new attachment in `_attachments` of a document that is written. */
export interface AttachmentInput {
    /** The content. */
    readonly data: AttachmentData;
    /** By default that of the Blob, else 'application/octet-stream'. */
    readonly contentType?: string;
}

/** `_attachments` of a document that is written: what is not named in it goes. */
export type AttachmentInputs = Readonly<Record<string, AttachmentInput | AttachmentStubInput>>;

/** Keeps the attachment of that name which the revision before has. The stubs of documents that were read are such. */
export interface AttachmentStubInput {
    /** Keeps the attachment that the document has under this name. */
    readonly stub: true;
    /** If given it must be that of the attachment. */
    readonly digest?: string;
}

/** Whether a batch is all or nothing. */
export interface BatchOptions {
    /** False: a document that can't be written does not keep the others from being written. */
    readonly atomic?: boolean;
}

/** Reducers that are built in, as in CouchDB. */
export type BuiltInReduce = '_sum' | '_count' | '_stats' | '_approx_count_distinct';

/** The result of a built-in reduce. */
export type BuiltInResult<Reduce, Value> = Reduce extends '_sum' ? Value : Reduce extends '_stats' ? NumberStatistics : number;

/** The result for a document that `bulkGet` was asked for. */
export type BulkGetResult<T extends object, Document = RevisionDocument<T>> = {
    readonly id: string;
    readonly ok: Document;
} | {
    readonly id: string;
    readonly missing: string | undefined;
};

/** A part of the content, as `slice` has it: up to but not including `end`. What lies beyond the content is left out. */
export interface ByteRange {
    /** The start: the first byte, from 0; 0 when left out. */
    readonly start?: number;
    /** The end: the byte after the last one; the length when left out. */
    readonly end?: number;
}

/** Where bytes come from. Text stands for its UTF-8. */
export type ByteSource = ReadableStream<Uint8Array> | Blob | Uint8Array | ArrayBuffer | string | AsyncIterable<Uint8Array | string>;

/** Changes of one read, and where to continue. */
export interface ChangesPage<T extends object> {
    /** In the order of their sequence numbers. */
    readonly changes: DocumentChange<Stored<T>>[];
    /** The `since` of the next page. */
    readonly lastSeq: number;
    /** Changes after `lastSeq`, filtered or not. */
    readonly pending: number;
}

/** The peers that keep replication checkpoints. One peer alone must trust that the other has lost nothing. */
export type CheckpointSides = 'both' | 'source' | 'target' | 'none';

/** An order of strings, for `registerCollation`. */
export interface Collation {
    /** The name with the version: 'icu-root 15'. */
    readonly name: string;
    /** The sort key of a text. Its code points order strings; it is equal for strings that count as equal. '' gives ''. Must be pure. */
    readonly key: (text: string) => string;
}

/** The changes of a commit in one collection. */
export interface CollectionChange {
    /** The ids of written, deleted and purged documents; undefined if they are too many to list, or not known. */
    readonly ids: readonly string[] | undefined;
    /** The collection was dropped. */
    readonly dropped: boolean;
}

/** Options of `collection.replicate`: `to` sends this collection's changes there, `from` fetches the changes of that one. */
export type CollectionReplicateOptions = ReplicationOptions & ({
    readonly to: ReplicationTarget;
    readonly from?: undefined;
} | {
    readonly from: ReplicationTarget;
    readonly to?: undefined;
});

/** A collection, and the rules of its owner for replicating from or to it. */
export interface CollectionSide extends CollectionHost {
    /** The collection to replicate from or to. */
    readonly collection: Exclude<ReplicationTarget, string | URL>;
}

/** A document with conflicts: the revision that wins, and the other live leaves. */
export interface ConflictedDocument {
    /** The id of the document. */
    readonly id: string;
    /** The winning revision. */
    readonly rev: string;
    /** The other live leaf revisions. */
    readonly conflicts: readonly string[];
}

/** Options of `db.replicate`. */
export interface DatabaseReplicateOptions extends ReplicationOptions {
    /** The source. */
    readonly from: ReplicationSide;
    /** The target. */
    readonly to: ReplicationSide;
}

/** Options of `deleteAttachment`. */
export interface DeleteAttachmentOptions {
    /** Only if this is the current revision of the document (or one of several in conflict). */
    readonly rev?: string;
}

/** A tombstone as it is handed in. */
export interface DeletedInput extends InputMeta {
    /** The id of the document. */
    readonly _id: string;
    /** Marks a tombstone. */
    readonly _deleted: true;
}

/** A row of a deleted document that was asked for by its id. */
export interface DeletedRow {
    /** The id of the document. */
    readonly id: string;
    /** The revision of its tombstone. */
    readonly rev: string;
    /** Marks a deleted document. */
    readonly deleted: true;
}

/** Options of `destroy`. */
export interface DestroyOptions {
    /** The storage where it is kept; as for `open`. */
    readonly storage?: DatabaseStorage;
}

/** Options of one direction. */
export interface DirectionOptions {
    /** Only documents with these ids. */
    readonly ids?: readonly string[] | undefined;
    /** Only documents that it matches, and deletions: a tombstone has no fields that it could match. */
    readonly selector?: Readonly<Record<string, unknown>> | undefined;
    /**
     * Only documents that it returns true for, at once; or the name of a filter of the source (over HTTP): 'design/filter'. A function
     * begins from the start in each run, unless `version` or `parameters` say which filter it is.
     */
    readonly filter?: string | ((document: JsonObject, parameters: FilterParameters) => unknown) | undefined;
    /** Which deletions pass a selector: 'all' (default), or 'selected' ones, whose tombstones it matches, as in CouchDB. */
    readonly tombstones?: 'all' | 'selected' | undefined;
    /** The parameters of the filter, beside the document. Another run with the same source and parameters continues. */
    readonly parameters?: FilterParameters;
    /** Names a filter function: another run with the same source, version and parameters continues. */
    readonly version?: string | number | undefined;
    /** A view of the source (over HTTP), 'design/view': only documents for which it emits something. */
    readonly view?: string | undefined;
    /** Where to begin in the feed of the source, whatever was done before: a `lastSeq`, or 'now'. */
    readonly since?: ReplicationSequence;
    /** 'winner': only winning revisions, so conflicts stay where they are. 'all' (default) makes replicas equal. */
    readonly style?: 'winner' | 'all' | undefined;
    /** Changes that are looked at together; 500 when left out. */
    readonly batchSize?: number | undefined;
    /** Batches that are under way at a time; 3 when left out. */
    readonly batchesAhead?: number | undefined;
    /** Where it is recorded how far it is: on 'both' sides (default), on one, or nowhere. */
    readonly checkpoint?: CheckpointSides | undefined;
    /** Milliseconds between two records of that while there is work; 5,000 when left out. */
    readonly checkpointIntervalMs?: number | undefined;
    /** False: everything goes through the feed, also where the source offers a snapshot. */
    readonly snapshot?: boolean | undefined;
}

/** A problem of a document and its path, as `details.issues` of PANNIER_DOCUMENT_INVALID has it. */
export interface DocumentIssue {
    /** The schema's message. */
    readonly message: string;
    /** From the document inwards; empty for the document itself. */
    readonly path: readonly (string | number)[];
}

/**
 * A list of documents. Nothing is read before it is asked for; each answer comes from one snapshot.
 *
 * @example
 * const { total, offset, rows } = await people.list({ prefix: 'a', skip: 1000, limit: 20, docs: true }).page()
 * for await (const { id, rev } of people.list()) console.log(id, rev) // any number of rows, a few at a time
 */
export class DocumentList<Row> implements AsyncIterable<Row> {
    /**
     * The rows, with the number of all documents, how many of them come before, and the sequence number it is as of.
     *
     * @example
     * const { total, rows } = await people.list({ prefix: 'a', limit: 20 }).page()
     */
    page(): Promise<ListPage<Row>>;
    /**
     * All rows, as an array.
     *
     * @example
     * const rows = await people.list({ ids: ['ann', 'bob'] }).toArray()
     */
    toArray(): Promise<Row[]>;
    /** Rows as they are read, from one snapshot, which is held until the loop ends or is left. */
    [Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined>;
}

/** A document, or what names it: with `_rev` it is meant in that revision only. */
export type DocumentReference = string | {
    readonly _id: string;
    readonly _rev?: string;
};

/** A document that is read with the content of its attachments. */
export type DocumentWithAttachments<T extends object> = Omit<RevisionDocument<T>, '_attachments'> & {
    readonly _attachments?: Readonly<Record<string, InlineAttachment>>;
};

/** Documents with one key. */
export interface DuplicateKey {
    /** The values of the index's fields. */
    readonly key: readonly unknown[];
    /** The documents that have this key. */
    readonly ids: readonly string[];
}

/** 'relaxed': survives the end of the process or tab. 'strict': survives a loss of power. */
export type Durability = 'relaxed' | 'strict';

/** Whether a write makes a new revision or takes up one that another replica has made. */
export interface EditOptions {
    /** Whether edits are new. False: the revisions were made elsewhere, and are taken up as they are. */
    readonly newEdits?: boolean;
}

/** The result of `encryption.info()`. */
export interface EncryptionInfo {
    /** Records that the key has sealed, at most. */
    readonly keyUses: number;
    /** Time for `rotateKey`: the key was used 2^28 times. At 2^31 writes are refused. */
    readonly isRotationDue: boolean;
    /** A rotation is running; an interrupted one continues by itself. */
    readonly isRotating: boolean;
}

/** A password or key that can open the database. */
export interface EncryptionSlot {
    /** Names the slot, for `deleteSlot`. */
    readonly id: string;
    /** The kind of the slot: a password, a key or a recovery key. */
    readonly kind: SlotKind;
    /** The label as given when it was added; not secret. */
    readonly label: string;
}

/**
 * The only access to time, chance and the event loop. It is passed in, so that a seed replays a whole run. Only the
 * entries of packages call `Date.now`, `Math.random` and `setTimeout`; lint forbids the rest.
 */
export interface Environment {
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

/** Options of `explain`. */
export interface ExplainOptions {
    /** Answer the query too, and tell what that took. */
    readonly run?: boolean;
}

/**
 * - 'ndjson': a document a line.
 * - 'json': an array of documents.
 * - 'couchdb': what CouchDB answers to `_all_docs?include_docs=true`.
 * - 'couchdb-bulk': what CouchDB's `_bulk_docs` takes, so that it keeps the revisions.
 * - 'replica': everything that a replica has, all leaf revisions, tombstones and attachments too; not with a selector.
 */
export type ExportFormat = 'ndjson' | 'json' | 'couchdb' | 'couchdb-bulk' | 'replica';

/** Options of `collection.export`. */
export interface ExportOptions<T extends object> extends LongWork {
    /** The format; 'ndjson' when left out. */
    readonly format?: ExportFormat | undefined;
    /** Only documents that it matches. */
    readonly selector?: Selector<Identified<T>> | undefined;
    /** The content of attachments too, as base64, and not only their names. */
    readonly attachments?: boolean | undefined;
}

/** Sends an HTTP request, as the platform's `fetch` does. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** A condition on a field: a value that it must equal, operators, or conditions on fields inside it. */
export type FieldCondition<Value> = unknown extends Value ? unknown : EqualTo<Operand<Value>> | (Operators<Operand<Value>> & InnerConditions<ObjectIn<Value>> & QuantifiersOf<Value>);

/** Conditions on one field. Each method says what the operator of that name says in a selector. */
export class FieldFilters<Value = unknown> {
    /**
     * Several at once, as in a selector: of an array one and the same element has to meet all comparisons.
     *
     * @example
     * people.find(where(people, 'age').is({ $gte: 18, $lt: 65 }))
     */
    is(condition: Readonly<Record<string, unknown>>): WhereFilter;
    /**
     * The field equals the value.
     *
     * @example
     * people.find(where(people, 'city').eq('Oslo'))
     */
    eq(value: Equal<Value>): WhereFilter;
    /**
     * The field is there and differs from the value.
     *
     * @example
     * people.find(where(people, 'city').ne('Oslo'))
     */
    ne(value: Equal<Value>): WhereFilter;
    /**
     * The field is greater than the value.
     *
     * @example
     * people.find(where(people, 'age').gt(17))
     */
    gt(value: Bound<Value>): WhereFilter;
    /**
     * The field is greater than the value or equals it.
     *
     * @example
     * people.find(where(people, 'age').gte(18))
     */
    gte(value: Bound<Value>): WhereFilter;
    /**
     * The field is lower than the value.
     *
     * @example
     * people.find(where(people, 'age').lt(18))
     */
    lt(value: Bound<Value>): WhereFilter;
    /**
     * The field is lower than the value or equals it.
     *
     * @example
     * people.find(where(people, 'age').lte(17))
     */
    lte(value: Bound<Value>): WhereFilter;
    /**
     * From the first to the second, both included.
     *
     * @example
     * people.find(where(people, 'age').between(18, 30))
     */
    between(from: Bound<Value>, to: Bound<Value>): WhereFilter;
    /**
     * The field equals one of the values.
     *
     * @example
     * people.find(where(people, 'city').in(['Oslo', 'Bergen']))
     */
    in(values: readonly Equal<Value>[]): WhereFilter;
    /**
     * The field is there and equals none of the values.
     *
     * @example
     * people.find(where(people, 'city').notIn(['Oslo', 'Bergen']))
     */
    notIn(values: readonly Equal<Value>[]): WhereFilter;
    /**
     * An array that has this element.
     *
     * @example
     * people.find(where(people, 'tags').has('vip'))
     */
    has(value: Element<Value>): WhereFilter;
    /**
     * An array that has all of these elements.
     *
     * @example
     * people.find(where(people, 'tags').hasAll(['vip', 'new']))
     */
    hasAll(values: readonly Element<Value>[]): WhereFilter;
    /**
     * A string that begins with the prefix.
     *
     * @example
     * people.find(where(people, 'name').beginsWith('A'))
     */
    beginsWith(prefix: Prefix<Value>): WhereFilter;
    /**
     * A string in which the text stands somewhere, upper or lower case.
     *
     * @example
     * people.find(where(people, 'name').contains('ann'))
     */
    contains(text: Prefix<Value>): WhereFilter;
    /**
     * `g` and `y` make no difference to whether an expression is found.
     *
     * @example
     * people.find(where(people, 'name').matches(/^a/i))
     */
    matches(expression: RegExp): WhereFilter;
    /**
     * The field is there; with false, it is missing.
     *
     * @example
     * people.find(where(people, 'email').exists(false))
     */
    exists(exists?: boolean): WhereFilter;
    /**
     * The field has a value of this type: 'null', 'boolean', 'number', 'string', 'array' or 'object'.
     *
     * @example
     * people.find(where(people, 'tags').type('array'))
     */
    type(type: ValueType): WhereFilter;
    /**
     * An array of that many elements.
     *
     * @example
     * people.find(where(people, 'tags').size(2))
     */
    size(elements: number): WhereFilter;
    /**
     * An integer that leaves the remainder when it is divided.
     *
     * @example
     * people.find(where(people, 'age').mod(10, 0))
     */
    mod(divisor: number, remainder: number): WhereFilter;
    /**
     * Some element of the array meets it: conditions on the element itself, `{ $gt: 5 }`, or on fields of it.
     *
     * @example
     * people.find(where(people, 'tags').some({ $beginsWith: 'v' }))
     */
    some(element: WhereFilter | Readonly<Record<string, unknown>>): WhereFilter;
    /**
     * The array is not empty, and every element of it meets it.
     *
     * @example
     * people.find(where(people, 'tags').every({ $ne: 'spam' }))
     */
    every(element: WhereFilter | Readonly<Record<string, unknown>>): WhereFilter;
    /**
     * The name of some field of the object meets it.
     *
     * @example
     * people.find(where('scores').someKey({ $eq: 'chess' }))
     */
    someKey(key: Readonly<Record<string, unknown>>): WhereFilter;
}

/** Dotted paths of the fields of a document: 'age', 'address.city', 'tags.0'. A dot in a name is written '\\.', unchecked. */
export type FieldPath<T> = IsLoose<T> extends true ? string : PathOf<T, Depth> | FreePath;

/** The value at a path; undefined is part of it where the field may be missing. */
export type FieldValue<T, Path extends string> = unknown extends T ? unknown : string extends Path ? unknown : T extends readonly (infer Element)[] ? Path extends `${number}` ? Element | undefined : Path extends `${number}.${infer Rest}` ? FieldValue<Element, Rest> | undefined : undefined : T extends object ? Path extends keyof T ? T[Path] : Path extends `${infer Name}.${infer Rest}` ? Name extends keyof T ? FieldValue<T[Name], Rest> : undefined : undefined : undefined;

/** Options of `getAttachment`: a range of bytes, and the revision of the document. */
export interface GetAttachmentOptions extends ByteRange {
    /** The revision of the document. */
    readonly rev?: string;
}

/**
 * Rows have the fields that documents are grouped by, as far as they are there, and the aggregates. They come in the order of
 * the former, unless they are sorted. `Row`: the rows; `Document`: what is grouped.
 */
export class Groups<Row extends object, Document extends object> implements AsyncIterable<Row> {
    /**
     * Adds aggregates of each group to its row.
     *
     * @example
     * const cities = await people.find().groupBy('city').aggregate({ people: { $count: true }, oldest: { $max: 'age' } }).toArray()
     */
    aggregate<const Wanted extends Aggregates<Document>>(wanted: Wanted): Groups<Row & Aggregated<Document, Wanted>, Document>;
    /**
     * Only groups whose rows match.
     *
     * @example
     * await people.find().groupBy('city').aggregate({ n: { $count: true } }).having({ n: { $gte: 10 } }).toArray()
     */
    having(selector: Selector<Row> | BuiltPredicate): Groups<Row, Document>;
    /**
     * Sorts by fields of the rows; of equals those with lower groups come first.
     *
     * @example
     * await people.find().groupBy('city').aggregate({ n: { $count: true } }).sort('-n').toArray()
     */
    sort(...fields: OrderedPath<FieldPath<Row>>[]): Groups<Row, Document>;
    /**
     * Skips this number of rows at the start.
     *
     * @example
     * await people.find().groupBy('city').aggregate({ n: { $count: true } }).sort('-n').skip(1).toArray()
     */
    skip(rows: number): Groups<Row, Document>;
    /**
     * The highest number of rows.
     *
     * @example
     * await people.find().groupBy('city').aggregate({ n: { $count: true } }).sort('-n').limit(5).toArray()
     */
    limit(rows: number): Groups<Row, Document>;
    /**
     * @throws PANNIER_LIMIT_EXCEEDED if the distinct values of a single group don't fit into memory; PANNIER_ABORTED.
     *
     * @example
     * const cities = await people.find().groupBy('city').aggregate({ n: { $count: true } }).toArray()
     */
    toArray(): Promise<Row[]>;
    /**
     * The first group, or undefined.
     *
     * @example
     * const largest = await people.find().groupBy('city').aggregate({ n: { $count: true } }).sort('-n').first()
     */
    first(): Promise<Row | undefined>;
    /**
     * How many groups there are that `having` lets through, whatever skip and limit say.
     *
     * @example
     * const cities = await people.find().groupBy('city').aggregate({ n: { $count: true } }).count()
     */
    count(): Promise<number>;
    /**
     * How they would be computed now.
     *
     * @example
     * const { way } = await people.find().groupBy('city').aggregate({ n: { $count: true } }).explain()
     */
    explain(): Promise<AggregateExplanation>;
    /** Iterates over the groups, one after another. */
    [Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined>;
}

/** How requests to a server are made. */
export interface HttpClientOptions {
    /** Sent with each request. A function is asked each time, and may promise: for tokens that expire. */
    readonly headers?: RequestHeaders | (() => RequestHeaders | Promise<RequestHeaders>) | undefined;
    /** The credentials (auth) of HTTP's Basic authentication; the URL may have them as well. */
    readonly auth?: {
        readonly username: string;
        readonly password: string;
    } | undefined;
    /** Replaces the global `fetch`. */
    readonly fetch?: FetchFunction | undefined;
    /** So long a connection may be silent; 30,000 when left out. */
    readonly silenceMsMax?: number | undefined;
    /**
     * How many connections to one server may be in use at a time, of those that wait for changes two. Default: in browsers 5 of the 6
     * that all tabs share over HTTP/1.1, elsewhere no limit.
     */
    readonly connectionsMax?: number | undefined;
}

/** How a replication talks to a server. */
export interface HttpPeerOptions extends HttpClientOptions {
    /** How often an idle server sends a heartbeat; 10,000 when left out. */
    readonly heartbeatMs?: number | undefined;
}

/** A document that was not imported. */
export interface ImportFailure {
    /** The position among the documents of the source; 0 is the first. */
    readonly position: number;
    /** The line where it begins; 1 is the first. */
    readonly line: number;
    /** The id where it is known. */
    readonly id?: string;
    /** The error: why it was not written. */
    readonly error: PannierError;
}

/** 'ndjson': a document a line. 'json': an array of documents. 'couchdb': `_all_docs` with documents, or a body of `_bulk_docs`. */
export type ImportFormat = 'ndjson' | 'json' | 'couchdb';

/**
 * - 'insert': a document whose id is taken fails.
 * - 'upsert': it replaces what is there.
 * - 'replicate': the revisions of the source are taken up as they are, as by `put(documents, { newEdits: false })`.
 */
export type ImportMode = 'insert' | 'upsert' | 'replicate';

/** Options of `collection.import`. */
export interface ImportOptions {
    /** The format; found out when left out. */
    readonly format?: ImportFormat | undefined;
    /** The mode; 'insert' when left out. */
    readonly mode?: ImportMode | undefined;
    /** The treatment of a document whose attachments are named without their data: 'fail' (default), or 'drop' the attachments. */
    readonly stubs?: 'fail' | 'drop' | undefined;
    /** Ends it with PANNIER_ABORTED; batches that were written stay. */
    readonly signal?: AbortSignal | undefined;
    /** Called after each batch. */
    readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

/** How far an import is. */
export interface ImportProgress {
    /** The bytes read up to now, and in all where that is known. */
    readonly bytes: number;
    /** The length of the source in bytes; undefined if it is not known. */
    readonly bytesTotal: number | undefined;
    /** Documents that were written, and those that could not be. */
    readonly imported: number;
    /** Documents that could not be written. */
    readonly failed: number;
}

/** One field of an index. */
export interface IndexField {
    /** Dotted path of the field: 'age', 'address.city'; '_id' is the document's id. */
    readonly path: string;
    /** Whether it is descending: from the highest value down. */
    readonly descending: boolean;
}

/** An attachment in a document that is read with its attachments. */
export type InlineAttachment = Omit<AttachmentStub, 'length' | 'stub'> & {
    readonly data: string | Blob | Uint8Array;
};

/** The fields of a written document beside its content. The fields that reads give about revisions are ignored. */
export interface InputMeta extends Omit<RevisionMeta, '_deleted'> {
    /** The id. Without one it gets one. */
    readonly _id?: string;
    /** The revision that the write replaces. */
    readonly _rev?: string;
    /** The document is deleted; what else it holds stays readable in its tombstone. */
    readonly _deleted?: boolean;
    /** The attachments that the document is to have; a stub keeps the attachment of the revision before under that name. */
    readonly _attachments?: AttachmentInputs;
}

/** The documents with these ids, in this order, instead of a range. */
export interface ListIdsOptions extends Omit<ListOptions, keyof IdRange> {
    /** The ids, in the order of the rows. An id may occur more than once. */
    readonly ids: readonly string[];
}

/** Where a list begins and ends, in the order of ids: by code point. */
export interface ListOptions extends IdRange {
    /** Whether it is descending: from the last id to the first. */
    readonly descending?: boolean;
    /** Skips this number of rows at the start, without a walk. */
    readonly skip?: number;
    /** The highest number of rows. */
    readonly limit?: number;
    /** Rows have the document. */
    readonly docs?: boolean;
    /** With `docs`: a document that has other live leaf revisions lists them in `_conflicts`. */
    readonly conflicts?: boolean;
}

/** Rows, and where they stand in the whole. */
export interface ListPage<Row> extends ListHead {
    /** The rows. */
    readonly rows: Row[];
}

/** A row of a list by ids: a document, a deleted one, or none. */
export type ListRow<T extends object = StoredDocument> = ListedRow<T> | DeletedRow | MissingRow;

/** A document. */
export interface ListedRow<T extends object = StoredDocument> {
    /** The id of the document. */
    readonly id: string;
    /** The revision of the document. */
    readonly rev: string;
    /** With `docs`. */
    readonly doc?: T;
}

/**
 * One step from the former rows to the new ones. Steps are applied in the order given: an index is one in the rows as the steps
 * before have left them.
 */
export type LiveChange<Row> = {
    readonly type: 'added';
    readonly id: string;
    readonly index: number;
    readonly row: Row;
}
/** `row`: as it was. */
 | {
    readonly type: 'removed';
    readonly id: string;
    readonly index: number;
    readonly row: Row;
}
/** At its place; `from`: as it was. */
 | {
    readonly type: 'changed';
    readonly id: string;
    readonly index: number;
    readonly from: Row;
    readonly row: Row;
}
/** Taken out at `fromIndex`, then put in at `index`. `row` is `from` if nothing else has changed. */
 | {
    readonly type: 'moved';
    readonly id: string;
    readonly fromIndex: number;
    readonly index: number;
    readonly from: Row;
    readonly row: Row;
};

/** 'loading' until the first rows are there; 'failed' with an error; 'ended' by `close`, its signal, or with the database. */
export type LiveStatus = 'loading' | 'live' | 'ended' | 'failed';

/**
 * Documents that belong to this replica of the collection, such as replication checkpoints. They are not replicated,
 * and are in neither the change feed nor counts, lists or queries. Their revisions are `0-1`, `0-2`, …; a deleted one
 * leaves nothing behind. Ids may be given with or without the `_local/` that documents carry.
 *
 * @example
 * const seen = await people.local.get('seen')
 * await people.local.put({ ...seen, _id: 'seen', seq })
 */
export class LocalDocuments {
    /**
     * The local document with this id, or undefined.
     *
     * @example
     * const seen = await people.local.get('seen')
     */
    get(id: string): Promise<Stored<JsonObject> | undefined>;
    /**
     * Creates a document, or replaces it when `_rev` is its current revision.
     *
     * @throws PANNIER_CONFLICT if it is not; `details` has the `id` and the current `rev`. PANNIER_KEY_TOO_LARGE,
     *   PANNIER_DOCUMENT_TOO_LARGE, PANNIER_DOCUMENT_TOO_DEEP
     * @example
     * await people.local.put({ _id: 'seen', seq })
     */
    put(document: LocalInput): Promise<WriteResult>;
    /**
     * Resolves with undefined if it does not exist.
     *
     * @throws PANNIER_CONFLICT if a `_rev` is given that is not the current one.
     * @example
     * await people.local.delete('seen')
     */
    delete(reference: DocumentReference): Promise<WriteResult | undefined>;
    /**
     * In the order of their ids.
     *
     * @example
     * const all = await people.local.list({ limit: 10 })
     */
    list(options?: LocalListOptions): Promise<Stored<JsonObject>[]>;
}

/** A local document as it is handed in. */
export type LocalInput = JsonObject & {
    readonly _id: string;
    readonly _rev?: string;
};

/** Which local documents a list has. */
export interface LocalListOptions extends IdRange {
    /** The highest number of rows. */
    readonly limit?: number;
}

/** A document that is kept as it was, because it could not be migrated. */
export interface MigrationFailure {
    /** The id of the document. */
    readonly id: string;
    /** The revision of the document. */
    readonly rev: string;
    /** The version that the document still has. */
    readonly version: number;
    /** The message: why it could not be migrated. */
    readonly message: string;
    /** The issues of the schema; empty if the migration itself failed. */
    readonly issues: readonly DocumentIssue[];
}

/** The revisions that a replica lacks of a document. */
export interface MissingRevisions {
    /** The missing revisions, which are not known here. */
    readonly missing: readonly string[];
    /** Possible ancestors: leaves that it has and that the missing ones may descend from; left out if empty. */
    readonly possibleAncestors?: readonly string[];
}

/** There never was a document with this id. */
export interface MissingRow {
    /** The id that was asked for. */
    readonly id: string;
    /** Says that there is no such document. */
    readonly error: 'not_found';
}

/** Options of `db.moveTo`. */
export interface MoveOptions extends LongWork {
    /**
     * The password or key that opens the new database. It must also open the old one if that is encrypted; other passwords and keys are not
     * moved. A plain database becomes encrypted.
     */
    readonly encryption?: Credential;
}

/** Tells whether there is a network. */
export interface NetworkStatus {
    /** Whether it is online. False if requests are sure to fail. */
    isOnline(): boolean;
    /** Calls back when that changes. The function returned ends it. */
    subscribe(listener: () => void): () => void;
}

/** The result of the reduce `_stats` for numbers. */
export interface NumberStatistics {
    /** The sum. */
    readonly sum: number;
    /** The count: how many numbers there are. */
    readonly count: number;
    /** The lowest number (min). */
    readonly min: number;
    /** The highest number (max). */
    readonly max: number;
    /** The sum of the squares. */
    readonly sumsqr: number;
}

/** The fate of documents that refer to a deleted one. */
export type OnDelete = 'keep' | 'unset' | 'restrict' | 'cascade';

/** A path, '-' before it for descending. */
export type OrderedPath<Path extends string> = Path | `-${Path}`;

/** The parts of an error besides its code and message. */
export interface PannierErrorOptions {
    /** The error underneath, kept for logs. */
    readonly cause?: unknown;
    /** Facts about the failure that a program may use, e.g. `{ id, rev }` of a conflict. */
    readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * The kind of a problem. The log or a page cannot be read; or trees, documents, revisions, attachments, local documents, indexes or views
 * of a collection do not match each other.
 */
export type ProblemCode = 'LOG_DAMAGED' | 'PAGE_DAMAGED' | 'TREE_WRONG' | 'DOCUMENT_WRONG' | 'REVISION_WRONG' | 'ATTACHMENT_WRONG' | 'LOCAL_DOCUMENT_WRONG' | 'INDEX_WRONG' | 'VIEW_WRONG';

/** Exactly these fields of a document; a dotted path gives objects inside it. */
export type Projected<T, Path extends string> = IsLoose<T> extends true ? Partial<T> : string extends Path ? Partial<T> : T extends unknown ? Flat<Pick<T, Extract<Path, keyof T>> & {
    [Name in keyof T as Nested<T, Name, Path, true>]: Inner<T[Name], RestOf<Path, Name>>;
} & {
    [Name in keyof T as Nested<T, Name, Path, false>]?: Inner<T[Name], RestOf<Path, Name>>;
}> : never;

/** The result of `purge`. */
export interface PurgeResult {
    /** The purged revisions, which were forgotten, ancestors included. */
    readonly purged: readonly string[];
    /** Whether nothing is left of the document. */
    readonly gone: boolean;
}

/** Options of `putAttachment`. */
export interface PutAttachmentOptions {
    /** By default that of the Blob, of a text 'text/plain;charset=utf-8', else 'application/octet-stream'. */
    readonly contentType?: string;
    /** Only if this is the current revision of the document (or one of several in conflict). */
    readonly rev?: string;
    /** Gives up: the source is cancelled, and what was stored of it is forgotten. */
    readonly signal?: AbortSignal;
}

/** Conditions on a path that ends with a relation. */
export interface Quantifiers<Document> {
    /** Some related document meets all of it. */
    readonly $some?: Selector<Document>;
    /** There are related documents, and all of them meet it. */
    readonly $every?: Selector<Document>;
    /** No related document meets it. */
    readonly $none?: Selector<Document>;
}

/**
 * Called with rows (`keys`: of each its key and the document's id), or with `rereduce` true and `keys` null with what it
 * returned before. Must be pure. It may give a promise; then rows are reduced one call after the other.
 */
export type ReduceFunction<Key = unknown, Value = unknown, Result = unknown> = (keys: (readonly [key: Key, id: string])[] | null, values: (Value | Result)[], rereduce: boolean) => Result;

/** A row that stands for reduced rows. */
export interface ReducedRow<Key = unknown, Value = unknown> {
    /** The key of the group; null without groups. */
    readonly key: Key;
    /** The result of the reduce. */
    readonly value: Value;
}

/** The documents of a collection as queries see them: with those that relations lead to, forward and back. */
export type Related<Schemas extends object, Relations extends object, Name extends string> = Identified<keyof RelationsOf<Relations, Name> extends never ? DocumentOf<Schemas, Name> : WithTargets<Schemas, Relations, Name>> & Back<Schemas, Relations, Name>;

/** `'users'`: one related document, its id in the field. `['permissions']`: many, an array of ids. */
export type RelationInput = string | readonly [to: string] | RelationOptions;

/** Inputs for relations, by the field that holds the ids. */
export type RelationInputs = Readonly<Record<string, RelationInput>>;

/** The long form of a relation. */
export interface RelationOptions {
    /** The name of the related collection. */
    readonly to: string;
    /** The field holds an array of ids. False: it holds one id. */
    readonly many?: boolean;
    /** A write fails if a document that it refers to does not exist. False by default: it may come later. */
    readonly check?: boolean;
    /**
     * When a related document is deleted: 'keep' (default) leaves its id and 'unset' removes it. The delete is refused with
     * 'restrict'. It takes the documents that refer to it along with 'cascade'.
     */
    readonly onDelete?: OnDelete;
}

/** A CouchDB database with options of its own. */
export interface RemoteSide extends HttpPeerOptions {
    /** The URL of the database. It may have a user name and a password. */
    readonly url: string | URL;
}

/** Nothing of the new database stays when it is cancelled. */
export interface RepairOptions extends LongWork {
    /** The name of the database that is made. There must be none of that name. */
    readonly to: string;
    /** The storage of the damaged database, and of the other one that is made; as for `open`. */
    readonly storage?: DatabaseStorage;
    /** Opens the damaged one, if it is encrypted, and encrypts the other, which this alone opens then. */
    readonly encryption?: Credential;
}

/** The result of a repair for one collection: saved parts, and lost ones. */
export interface RepairedCollection {
    /** The name of the collection. */
    readonly name: string;
    /** Documents that were saved, and tombstones. */
    readonly documents: number;
    /** Deleted documents that were saved. */
    readonly tombstones: number;
    /** The number of these documents that were taken from commits behind the damage of the log. */
    readonly fromLaterCommits: number;
    /** Documents and tombstones that could not be read. */
    readonly documentsLost: number;
    /** The ids of lost documents, as far as they are known, at most `REPAIR_IDS_MAX`. */
    readonly idsLost: readonly string[];
    /** Documents that lost conflicting revisions or their history, at most `REPAIR_IDS_MAX`. */
    readonly revisionsLost: readonly string[];
    /** Attachments that could not be read; their documents are there without them. At most `REPAIR_IDS_MAX`. */
    readonly attachmentsLost: readonly {
        readonly id: string;
        readonly name: string;
    }[];
    /** Local documents that were saved. */
    readonly local: number;
    /** Unique indexes that the saved documents do not fit. They are dropped. */
    readonly indexesLost: readonly string[];
}

/** 'push' sends changes from here, 'pull' fetches them. */
export type ReplicationDirection = 'push' | 'pull';

/** One direction of one collection. */
export interface ReplicationPart {
    /** The name of the collection. */
    readonly collection: string;
    /** The direction: whether it sends or fetches. */
    readonly direction: ReplicationDirection;
    /** Whether it works, waits or has ended. */
    readonly status: ReplicationStatus;
    /** The progress: how far it is. */
    readonly progress: ReplicationProgress;
    /** Why it waits to try again, or has failed. */
    readonly error: PannierError | undefined;
    /** How long it waits in all until it tries again. */
    readonly waitMs: number | undefined;
}

/** A place in the change feed of a peer: any JSON, which only that peer understands. */
export type ReplicationSequence = unknown;

/** The source or the target of `db.replicate`. */
export type ReplicationSide = ReplicationTarget | RemoteSide | CollectionSide;

/** The result of a retry. */
export interface RetryResult {
    /** Documents that are migrated now. */
    readonly migrated: number;
    /** Documents that failed again. */
    readonly failed: number;
}

/** A document in one of its revisions. */
export type RevisionDocument<T extends object> = Stored<T> & RevisionMeta;

/** The options of a read about revisions. */
export interface RevisionFields {
    /** Whether to add `_revisions` (revs): the known ancestors, newest first. */
    readonly revs?: boolean;
    /** Adds `_revsInfo`: the same with what is known of each. */
    readonly revsInfo?: boolean;
    /** Adds `_conflicts`, if there are any: the other live leaves. */
    readonly conflicts?: boolean;
    /** `_attachments` hold the content as `data`, in that form, and not stubs; all of it is in memory then. */
    readonly attachments?: AttachmentForm;
    /** Adds `_deletedConflicts`, if there are any: the other leaves that are tombstones. */
    readonly deletedConflicts?: boolean;
}

/** `_revisions` of a document: its revision and the known ancestors, newest first. */
export interface RevisionHistory {
    /** The generation of the first id. */
    readonly start: number;
    /** The ids, hashes, the newest first. */
    readonly ids: readonly string[];
}

/** One revision in the history of a document. */
export interface RevisionInfo {
    /** The revision. */
    readonly rev: string;
    /** Whether its content is there; 'deleted': it is, and it is a tombstone. */
    readonly status: RevisionStatus;
}

/** The result of a read about a document's revisions, as far as it was asked for. */
export interface RevisionMeta {
    /** The document is a tombstone, which need not have the fields of a document. */
    readonly _deleted?: true;
    /** The history, with the option `revs`. */
    readonly _revisions?: RevisionHistory;
    /** The history and which revisions are stored, with the option `revsInfo`. */
    readonly _revsInfo?: readonly RevisionInfo[];
    /** Other live leaf revisions, with the option `conflicts`. */
    readonly _conflicts?: readonly string[];
    /** Deleted leaf revisions, with the option `deletedConflicts`. */
    readonly _deletedConflicts?: readonly string[];
}

/** Which revision of a document to read, and which facts about its revisions. */
export interface RevisionReadOptions extends RevisionFields {
    /** This revision, even if it does not win or is a tombstone. */
    readonly rev?: string;
    /** With `rev`: the leaf that descends from it; if several do, the one that would win. */
    readonly latest?: boolean;
}

/** A document, or one revision of it. */
export interface RevisionReference {
    /** The id of the document. */
    readonly id: string;
    /** The revision; the winner when left out. */
    readonly rev?: string;
}

/** The result for a document that `getRevisions` was asked for. */
export type RevisionResult<T extends object, Document = RevisionDocument<T>> = {
    readonly ok: Document;
} | {
    readonly missing: string;
};

/** Whether the content of a revision is still stored: 'available', 'missing' or 'deleted'. */
export type RevisionStatus = 'available' | 'deleted' | 'missing';

/** The schema of a collection, its version, and how older documents get there. */
export interface SchemaOptions<Schema = unknown> {
    /** Any Standard Schema (zod, valibot, arktype, …): it checks and types what is written, and what it gives is stored. */
    readonly schema?: Schema;
    /** The version of the schema; 1 by default. Raise it when stored documents have to change. */
    readonly version?: number;
    /** By the version that they lead to: one for each version from 2 on. */
    readonly migrations?: Readonly<Record<number, Migration>>;
}

/** A document that a search found, with its score. */
export interface ScoredRow<T> {
    /** The score by BM25: comparable within one search. */
    readonly score: number;
    /** The document. */
    readonly document: T;
}

/** How a search is answered. */
export interface SearchExplanation {
    /** The text index that it uses. */
    readonly index: string;
    /** Documents in the index: those with any words. */
    readonly documents: number;
    /** `postings`: how many documents have the word; for a prefix how many entries there are. */
    readonly terms: readonly {
        readonly word: string;
        readonly isPrefix: boolean;
        readonly postings: number;
    }[];
    /** The words of each phrase. */
    readonly phrases: readonly (readonly string[])[];
    /** A selector or a phrase has to be looked for in the documents that are found. */
    readonly readsDocuments: boolean;
}

/** Options of `collection.search`. */
export interface SearchOptions<Document> {
    /** Only documents that it matches. */
    readonly selector?: Selector<Document> | BuiltPredicate;
    /** 'all': documents that have all of the words, which is the default; 'any': those that have one of them. */
    readonly match?: 'all' | 'any';
    /** The name of the text index; may be left out if there is one only. */
    readonly index?: string;
}

/**
 * Documents by their fields and by related documents, as a tree that a query planner can answer. `compile` of `@pannier/rules`
 * makes it, and `selectionQuery` takes it. A field that is missing or null counts as the empty value of its type: `''`, 0, false, no
 * elements. The field `id` is `_id`. docs/internals/backend-contract.md is normative.
 */
export type Selection = 
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

/** How a selector is to be understood. */
export interface SelectorMeaning {
    /** The dialect. Left out: ours. */
    readonly dialect?: 'couchdb' | undefined;
    /** The name of an order of strings, with the dialect 'couchdb' only; left out: by code point. */
    readonly collation?: string | undefined;
}

/** Options of a new password or key. */
export interface SlotOptions {
    /** A label for people, up to 100 characters. Anyone who can read the files can read it. */
    readonly label?: string;
}

/** Options of `db.snapshot`. */
export interface SnapshotOptions extends LongWork {
    /** Whether it takes a password or key of the database to restore it. By default it does if the database is encrypted. */
    readonly sealed?: boolean;
}

/** A related document where its id stands. */
export interface Target<Document> {
    /** Not there at run time. */
    readonly [target]?: Document;
}

/** A deleted document as the feed hands it out. */
export interface Tombstone {
    /** The id of the document. */
    readonly _id: string;
    /** The revision that deleted it. */
    readonly _rev: string;
    /** Marks a tombstone. */
    readonly _deleted: true;
}

/** The result of a query without `reduce: false`. */
export type ViewAnswer<Document, Key, Value, Result> = [Result] extends [never] ? ViewRow<Key, Value, Document> : ReducedRow<Key | null, Result>;

/** The result of `view.info()`. */
export interface ViewInfo {
    /** The name of the view. */
    readonly name: string;
    /** Rows that the view has. */
    readonly rows: number;
    /** The view holds what was written up to this sequence number. */
    readonly updateSeq: number;
    /** Documents that were written since. */
    readonly pending: number;
    /** Documents that were left out because map threw, since the view was made. */
    readonly failures: number;
    /** The last document for which `map` threw, with the error. */
    readonly lastFailure: {
        readonly id: string;
        readonly message: string;
    } | undefined;
}

/**
 * The part of an array that a condition is about: 'whole': only the array itself, 'elements': only its elements. Undefined: its elements,
 * and it itself where an operand of a comparison is an array.
 */
type AboutArrays = 'whole' | 'elements';

/** The value is an array in which each of these is an element; of none: never true. */
interface AllPredicate {
    readonly kind: 'all';
    readonly path: string;
    readonly values: readonly JsonValue[];
}

/** A predicate of all parts (a conjunction): without any it is always true. */
interface AndPredicate {
    readonly kind: 'and';
    readonly of: readonly Predicate[];
}

type Back<Schemas extends object, Relations extends object, Name extends string> = {
    readonly [Path in BackName<Relations, Name>]?: Path extends `${infer From}_via_${string}` ? TargetIn<Schemas, Relations, From> : never;
};

/** `posts_via_author` */
type BackName<Relations extends object, Name extends string> = {
    [From in keyof Relations & string]: {
        [Field in keyof RelationsOf<Relations, From> & string]: NameIn<RelationsOf<Relations, From>[Field]> extends Name ? `${From}_via_${Field}` : never;
    }[keyof RelationsOf<Relations, From> & string];
}[keyof Relations & string];

/** The operand of an order for a field. */
type Bound<Value> = unknown extends Value ? JsonValue : Wide<Operand<Value>> | null;

/** A predicate that need not be parsed: what builder.ts makes. */
class BuiltPredicate {
    readonly predicate: Predicate;
    constructor(predicate: Predicate);
}

/** The conditions of a collection's owner for its replication. */
interface CollectionHost {
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
    /** As `takes` of the operator says. */
    readonly operand: JsonValue;
}

/** The value, or an element of an array, is a string in which this text stands, upper or lower case (match.ts, `foldText`). */
interface ContainsPredicate {
    readonly kind: 'contains';
    readonly path: string;
    readonly text: string;
}

/** Names of a path that is checked; longer ones are not. */
type Depth = 4;

/** Documents of the collection `Name`; `Schemas` has the schema of each collection by its name. */
type DocumentOf<Schemas extends object, Name extends string> = SchemaOutput<SchemaOf<Schemas, Name>>;

/** The element of an array. */
type Element<Value> = unknown extends Value ? JsonValue : ElementIn<NonNullable<Value>>;

type ElementCondition<Element> = [Element] extends [never] ? never : unknown extends Element ? Readonly<Record<string, unknown>> : Operators<Element> & InnerConditions<ObjectIn<Element>>;

type ElementIn<Value> = Value extends readonly (infer Element)[] ? Element : never;

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

/** The operand of equality for a field; any JSON value if its type is unknown. */
type Equal<Value> = unknown extends Value ? JsonValue : Operand<Value> | null;

/** An object is not compared with but has conditions inside. */
type EqualTo<Value> = Value extends Primitive | readonly unknown[] ? Value : Value extends object ? never : Value;

interface ExistsPredicate {
    readonly kind: 'exists';
    readonly path: string;
}

type FieldConditions<T> = IsLoose<T> extends true ? {
    readonly [Name in NamedKey<T>]?: FieldCondition<T[Name]>;
} & {
    readonly [path: string]: unknown;
} : {
    readonly [Path in FieldPath<T>]?: Path extends FreePath ? unknown : FieldCondition<FieldValue<T, Path>>;
};

/** Data for a filter. */
type FilterParameters = Readonly<Record<string, string>> | undefined;

type Flat<T> = {
    [Name in keyof T]: T[Name];
};

/** Unchecked paths: names with dots, and paths of more names than `Depth`. One pattern for all is fast to compare. */
type FreePath = `${string}\\.${string}` | `${string}.${string}.${string}.${string}.${string}`;

/** Ranges of ids as callers name them, as ranges of keys: by code point. */
interface IdRange {
    readonly gte?: string;
    readonly gt?: string;
    readonly lte?: string;
    readonly lt?: string;
    /** The prefix: only ids that begin with it, by code points. */
    readonly prefix?: string;
}

/** The document of queries: its fields, its id and its revision, `N-hash`. */
type Identified<T extends object> = T & {
    readonly _id: string;
    readonly _rev: string;
};

/** Also parts of an array come as an object. */
type Inner<Value, Path extends string> = unknown extends Value ? unknown : Value extends readonly (infer Element)[] ? {
    [Index in `${number}`]?: Path extends `${number}` ? Element : unknown;
} : Value extends object ? Projected<Value, Path> : never;

type InnerConditions<Value> = [Value] extends [never] ? unknown : FieldConditions<Value>;

type IsLoose<T> = string extends keyof T ? true : false;

/** Whether the object is there whenever the document is: only with a field that is. */
type IsSure<Value, Path extends string> = unknown extends Value ? false : [Value] extends [readonly unknown[]] ? false : [Value] extends [object] ? Partial<Record<never, never>> extends Inner<Value, Path> ? false : true : false;

type JsonDocument = Readonly<Record<string, unknown>>;

/** Any value that a document can hold. */
type JsonValue = null | boolean | number | string | readonly JsonValue[] | {
    readonly [name: string]: JsonValue;
};

type Less = [never, 0, 1, 2, 3];

interface ListHead {
    /** Documents in the collection. */
    readonly total: number;
    /** Documents before the first row, in the direction of the list; undefined for a list by ids, which has no place of its own. */
    readonly offset: number | undefined;
    /** The collection's last sequence number: a feed from here on has what is not in the list. */
    readonly seq: number;
}

/** The value, or an element of an array, is a whole number that leaves this remainder. */
interface ModPredicate {
    readonly kind: 'mod';
    readonly path: string;
    readonly divisor: number;
    readonly remainder: number;
    readonly arrays?: 'whole' | undefined;
}

/** The collection that a declared relation leads to. */
type NameIn<Relation> = Relation extends string ? Relation : Relation extends readonly [infer Name extends string] ? Name : Relation extends {
    readonly to: infer Name extends string;
} ? Name : never;

/** The keys of a loose type that it names. */
type NamedKey<T> = keyof {
    [Name in keyof T as string extends Name ? never : number extends Name ? never : Name]: unknown;
} & keyof T;

/** The name of a field if only parts of it are wanted: required if it surely exists, otherwise optional. */
type Nested<T, Name extends keyof T, Path extends string, Sure extends boolean> = Name extends Path ? never : [RestOf<Path, Name>] extends [never] ? never : IsSure<T[Name], RestOf<Path, Name>> extends Sure ? Name : never;

/** Negation as CouchDB has it: the leaves are negated one by one, and a negated leaf still asks for the field to be there. */
interface NotPredicate {
    readonly kind: 'not';
    readonly of: Predicate;
}

type Nothing = Record<never, never>;

type ObjectIn<Value> = Value extends Primitive | readonly unknown[] ? never : Value extends object ? Value : never;

/** The operand of a condition. A condition on an array concerns its elements, or the whole. */
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
    /** Text that stands in it somewhere, upper or lower case. */
    readonly $contains?: Text<Value>;
    /** The source of a RegExp; `$options` are its flags. */
    readonly $regex?: Text<Value>;
    readonly $options?: Text<Value>;
    readonly $type?: ValueType;
    readonly $mod?: Extract<Value, number> extends never ? never : readonly [divisor: number, remainder: number];
    readonly $size?: number;
    readonly $all?: readonly ElementIn<Value>[];
    /** Conditions on the element itself, or on its fields. */
    readonly $elemMatch?: ElementCondition<ElementIn<Value>>;
    readonly $allMatch?: ElementCondition<ElementIn<Value>>;
    /** Conditions on the names of an object's fields. */
    readonly $keyMapMatch?: Operators<string>;
    readonly $not?: FieldCondition<Value>;
    readonly $and?: readonly FieldCondition<Value>[];
    readonly $or?: readonly FieldCondition<Value>[];
    readonly $nor?: readonly FieldCondition<Value>[];
}

/** At least one of them holds; with none: never true. */
interface OrPredicate {
    readonly kind: 'or';
    readonly of: readonly Predicate[];
}

type PathOf<T, Left extends Less[number] | Depth> = T extends unknown ? {
    [Name in keyof T & string]: Name extends `${string}.${string}` ? never : Name | `${Name}.${PathIn<T[Name], Less[Left]>}`;
}[keyof T & string] : never;

type Predicate = AndPredicate | OrPredicate | NotPredicate | ComparePredicate | ExistsPredicate | RegexPredicate | ContainsPredicate | TypePredicate | SizePredicate | ModPredicate | AllPredicate | ElementsPredicate | QuantifiedPredicate;

/** The beginning of a string; never, where the field holds none. */
type Prefix<Value> = unknown extends Value ? string : Text<Operand<Value>>;

/** Asked before `object`: a branded text or number (`string & { __brand: 'Id' }`) is both. */
type Primitive = string | number | boolean | null | undefined;

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

type QuantifiersOf<Value> = [TargetOf<Value>] extends [never] ? unknown : Quantifiers<TargetOf<Value>>;

/** The value, or an element of an array, is a string in which the regular expression is found. */
interface RegexPredicate {
    readonly kind: 'regex';
    readonly path: string;
    readonly source: string;
    readonly flags: string;
    readonly arrays?: 'whole' | undefined;
}

type RelationsOf<Relations extends object, Name extends string> = Name extends keyof Relations ? Relations[Name] extends object ? Relations[Name] : Nothing : Nothing;

/** Headers of HTTP: an object, a `Headers`, or pairs. */
type RequestHeaders = Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]>;

type RestOf<Path extends string, Name> = Name extends string ? Path extends `${Name}.${infer Rest}` ? Rest : never : never;

type SchemaOf<Schemas extends object, Name extends string> = Name extends keyof Schemas ? Schemas[Name] : unknown;

/** The output of a schema, which is stored; any document without a schema. */
type SchemaOutput<Schema> = TypeOf<Schema, 'output'>;

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

/** The value is an array with this number of elements. */
interface SizePredicate {
    readonly kind: 'size';
    readonly path: string;
    readonly size: number;
}

type SlotKind = 'password' | 'recovery' | 'device';

/** As the library hands it out: `_id` and `_rev` first. */
type StoredDocument = {
    _id: string;
    _rev: string;
} & Record<string, unknown>;

type TargetIn<Schemas extends object, Relations extends object, Name extends string> = Related<Schemas, Relations, Name> & Target<Related<Schemas, Relations, Name>>;

type TargetOf<Value> = Value extends Target<infer Document> ? (unknown extends Document ? never : Document) : never;

type Text<Value> = Extract<Value, string> extends never ? never : string;

type TypeOf<Schema, Side extends 'input' | 'output'> = Schema extends {
    readonly '~standard': {
        readonly types?: infer Types;
    };
} ? NonNullable<Types> extends {
    readonly [Name in Side]: infer Type extends object;
} ? Type : Record<string, unknown> : Record<string, unknown>;

/** The value itself has the type. */
interface TypePredicate {
    readonly kind: 'type';
    readonly path: string;
    readonly type: ValueType;
}

/** The names of types in selectors. */
type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** Any string where literals are declared: bounds need not be one of them. */
type Wide<Value> = Value extends string ? string : Value extends number ? number : Value extends boolean ? boolean : Value;

type WithTargets<Schemas extends object, Relations extends object, Name extends string> = {
    [Field in keyof DocumentOf<Schemas, Name>]: DocumentOf<Schemas, Name>[Field] | (Field extends keyof RelationsOf<Relations, Name> ? TargetIn<Schemas, Relations, NameIn<RelationsOf<Relations, Name>[Field]>> : never);
};

/** Marks a related document among the values of a field. */
const target: unique symbol;
