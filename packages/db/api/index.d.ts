// What `pannier` offers. Written by `npm run api`.

/**
 * The result of `getAttachment`. The content is read when it is asked for, as of then. Content without any reference is gone by then, but
 * it stays during a read.
 */
export class Attachment {
    /** The name, unique within its document. */
    readonly name: string;
    /** The media type, such as 'image/jpeg'. */
    readonly contentType: string;
    /** `md5-` and the MD5 of the content in base64. */
    readonly digest: string;
    /** Bytes of the whole content. */
    readonly length: number;
    /**
     * @throws PANNIER_NOT_FOUND if the attachment was removed since.
     *
     * @example
     * const bytes = await attachment.bytes({ start: 0, end: 1024 })
     */
    bytes(range?: ByteRange): Promise<Uint8Array<ArrayBuffer>>;
    /**
     * The content as UTF-8. @throws as `bytes`.
     *
     * @example
     * show(await attachment.text())
     */
    text(range?: ByteRange): Promise<string>;
    /**
     * With the attachment's content type. @throws as `bytes`.
     *
     * @example
     * image.src = URL.createObjectURL(await attachment.blob())
     */
    blob(range?: ByteRange): Promise<Blob>;
    /**
     * Reads as fast as it is read from, and takes the memory of one piece. Read it to its end or cancel it: until then
     * the pages that it has not read can't be used again.
     *
     * @example
     * const response = new Response(attachment.stream(), { headers: { 'content-type': attachment.contentType } })
     */
    stream(range?: ByteRange): ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Content as `putAttachment` takes it: a string is text; base64 is said. */
export type AttachmentContent = AttachmentData | {
    readonly base64: string;
};

/** The facts of an attachment in a document's `_attachments`. */
export interface AttachmentStub {
    /** The media type. */
    readonly contentType: string;
    /** `md5-` and the MD5 of the content in base64, as CouchDB has it. */
    readonly digest: string;
    /** Bytes of the content. */
    readonly length: number;
    /** Generation of the revision that the attachment came with. */
    readonly revpos: number;
    /** Marks an entry without content. */
    readonly stub: true;
}

/**
 * Rows in the order of their sequence numbers. Each loop over it starts again at `since`.
 *
 * @example
 * let since = 0 // as it was kept
 * const feed = people.changes({ since, live: true, signal })
 * for await (const { id, deleted } of feed) {
 *   console.log(id, deleted)
 *   since = feed.lastSeq
 * }
 */
export class ChangeFeed<T extends object> implements AsyncIterable<DocumentChange<Stored<T>>> {
    /**
     * Everything up to this sequence has been handed out or filtered out, by the loop that was started last. `since:
     * lastSeq` continues there, with nothing missed and nothing twice. A `descending` feed has it only at its end.
     */
    get lastSeq(): number;
    /**
     * All rows. Not of a live feed without a limit, which has no end.
     *
     * @example
     * const all = await people.changes().toArray()
     */
    toArray(): Promise<DocumentChange<Stored<T>>[]>;
    /**
     * All rows, and where to continue.
     *
     * @example
     * const { changes, lastSeq, pending } = await people.changes({ since, limit: 100 }).page()
     */
    page(): Promise<ChangesPage<T>>;
    /**
     * The rows in arrays, as they are read.
     *
     * @example
     * for await (const changes of people.changes({ since }).batches()) show(changes.length)
     */
    batches(): AsyncIterableIterator<readonly DocumentChange<Stored<T>>[]>;
    /** The changes, one after another. */
    [Symbol.asyncIterator](): AsyncIterableIterator<DocumentChange<Stored<T>>>;
}

/** Which changes a feed has, and from where on. */
export interface ChangesOptions<T extends object = Record<string, unknown>> {
    /** Only changes with a higher number: the `lastSeq` of an earlier read. 'now': only those after this call. Default: 0, all. */
    readonly since?: number | 'now';
    /** The epoch that `since` is of (`info()`): another one is PANNIER_EPOCH_MISMATCH. */
    readonly epoch?: string;
    /** The highest number of rows. */
    readonly limit?: number;
    /** Whether it is descending: newest first. Not with `live`. */
    readonly descending?: boolean;
    /** Continues with new changes as they are committed, in this handle or another. */
    readonly live?: boolean;
    /** Rows have the document. */
    readonly docs?: boolean;
    /** With `docs`: a document that has other live leaf revisions lists them in `_conflicts`. */
    readonly conflicts?: boolean;
    /** 'winner' (default): rows tell the winning revision; 'all': every leaf revision, the winner first. */
    readonly style?: 'winner' | 'all';
    /** Only documents that match it. For a deleted one it sees `_id`, `_rev`, `_deleted: true` and any content. */
    readonly selector?: Selector<Identified<T> & {
        readonly _deleted?: true;
    }>;
    /** How the selector is to be understood, as for `find`. */
    readonly dialect?: SelectorMeaning['dialect'] | undefined;
    /** The name of a registered collation by which the selector compares strings. */
    readonly collation?: SelectorMeaning['collation'];
    /** Only documents with these ids. */
    readonly ids?: readonly string[];
    /** Only documents that it returns true for. It sees what `selector` sees. */
    readonly filter?: (document: Stored<T> & {
        readonly _deleted?: true;
    }) => unknown;
    /** Once it is aborted the feed rejects with PANNIER_ABORTED. */
    readonly signal?: AbortSignal;
}

/** The result of `db.check()`. */
export interface CheckReport {
    /** True if there are no problems. */
    readonly ok: boolean;
    /** The problems; empty if all is well. */
    readonly problems: readonly Problem[];
}

/** The documents of one collection, with its indexes, views, feeds and replications. */
export class Collection<T extends object, Input extends object = T, Asked extends object = Identified<T>> extends TransactionCollection<T, Input, Asked> {
    /**
     * Resolves when documents of older versions are migrated and every declared index is built. Reads and writes wait for
     * the migration, not for indexes. (A collection without documents needs neither.) An index that is declared here and
     * was dropped elsewhere is built again.
     *
     * @throws PANNIER_INDEX_MISMATCH if an index of the same name exists with another definition; PANNIER_SCHEMA_NEWER if newer
     *   code has migrated the collection; PANNIER_ABORTED if it was cancelled.
     * @example
     * const people = db.collection('people', { indexes: ['age'] })
     * await people.ready()
     */
    ready(): Promise<void>;
    /**
     * The changes, in their order: each document that was written or deleted after `since`, once, with its newest
     * revision. docs/internals/change-feed.md is the contract.
     *
     * @throws While it is read: PANNIER_ABORTED; PANNIER_EPOCH_MISMATCH if `since` cannot be of this collection.
     *   PANNIER_NOT_FOUND if the collection is dropped meanwhile, and PANNIER_CLOSED; a live feed just ends in both
     *   cases.
     * @example
     * for await (const { seq, id, doc } of people.changes({ since, live: true, docs: true, signal })) show(id, doc)
     */
    changes(options?: ChangesOptions<T>): ChangeFeed<T>;
    /**
     * The documents that could not be migrated, each with the reason. They are kept as they were.
     *
     * @example
     * for (const { id, message } of await people.migrationFailures()) console.warn(id, message)
     */
    migrationFailures(): Promise<MigrationFailure[]>;
    /**
     * Tries again to migrate the documents that could not be migrated.
     *
     * @throws PANNIER_ABORTED
     * @example
     * const { migrated, failed } = await people.retryMigration()
     */
    retryMigration(options?: LongWork): Promise<RetryResult>;
    /**
     * The indexes that the collection has.
     *
     * @example
     * for (const { name, ready } of await people.indexes()) console.log(name, ready)
     */
    indexes(): Promise<IndexInfo[]>;
    /**
     * Documents that share a key of a unique index. Replication may bring them, because replicas must not differ. Reports
     * at most `limit` keys (100 by default).
     *
     * @throws PANNIER_NOT_FOUND if there is no such index, or it is being built.
     * @example
     * for (const { key, ids } of await people.duplicates('email')) console.log(key, ids)
     */
    duplicates(name: string, options?: {
        readonly limit?: number;
    }): Promise<DuplicateKey[]>;
    /**
     * Drops an index at once, whatever its size; false if it does not exist. It is no longer declared here. Other handles
     * that have declared it build it again when they declare it again or call `ready()`.
     *
     * @example
     * await people.dropIndex('age')
     */
    dropIndex(name: string): Promise<boolean>;
    /**
     * A map/reduce view. It is stored under this name, so it need not be built again after the next `open`. A view with
     * another source (or `version`) replaces it.
     *
     * @throws PANNIER_LIMIT_EXCEEDED (when it is queried) if the collection has too many views.
     * @example
     * const byCity = people.view('byCity', { map: (person, emit) => emit(person.city), reduce: '_count', version: 1 })
     * const { rows } = await byCity.query({ group: true })
     */
    view<K, V>(name: string, definition: ViewDefinition<Stored<T>, K, V, undefined>): View<Stored<T>, K, V>;
    view<K, V, B extends BuiltInReduce>(name: string, definition: ViewDefinition<Stored<T>, K, V, B>): View<Stored<T>, K, V, BuiltInResult<B, V>>;
    view<K, V, R>(name: string, definition: ViewDefinition<Stored<T>, K, V, ReduceFunction<K, V, R>>): View<Stored<T>, K, V, R>;
    /**
     * Runs a query of a view that has no name. What it builds serves the next query with the same function objects. With a `version` it is
     * kept in the database, for equal source and version, as long as there are not too many others.
     *
     * @example
     * await people.mapReduce({ map: (person, emit) => emit(person.age) }, { gte: 18, limit: 10 })
     */
    mapReduce<K, V>(definition: ViewDefinition<Stored<T>, K, V, undefined>, options?: ViewOptions): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, never>>>;
    mapReduce<K, V, B extends BuiltInReduce>(definition: ViewDefinition<Stored<T>, K, V, B>, options?: ViewOptions): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, BuiltInResult<B, V>>>>;
    mapReduce<K, V, R>(definition: ViewDefinition<Stored<T>, K, V, ReduceFunction<K, V, R>>, options?: ViewOptions): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, R>>>;
    /**
     * The documents as JSON text, as they are now, made as it is read. docs/internals/import-export.md describes the formats.
     *
     * @throws (the stream) PANNIER_ABORTED, PANNIER_CLOSED
     * @example
     * await people.export({ format: 'ndjson' }).pipeTo(Writable.toWeb(createWriteStream('people.ndjson')))
     */
    export(options?: ExportOptions<T>): ReadableStream<Uint8Array>;
    /**
     * Reads documents from JSON text: lines, an array, or CouchDB's `_all_docs` or `_bulk_docs`. They are written in
     * batches, each all or nothing; one that can't be written is reported and the others are written all the same.
     *
     * @throws PANNIER_FORMAT_WRONG if the text around the documents is damaged or cut off; PANNIER_ABORTED, PANNIER_CLOSED,
     *   PANNIER_QUOTA_EXCEEDED; what the source throws. `details` tells what was imported until then.
     * @example
     * const { imported, failed } = await people.import(await openAsBlob('people.ndjson'), { mode: 'upsert' })
     */
    import(source: ByteSource, options?: ImportOptions): Promise<ImportResult>;
    /**
     * Keeps this collection and another one, or a CouchDB database, in step: what changes on either side comes to the other.
     * docs/internals/replication.md is the contract.
     *
     * @throws (when it is awaited) PANNIER_PEER_UNREACHABLE, if it is not to try again; PANNIER_PEER_REFUSED, PANNIER_NOT_FOUND,
     *   PANNIER_ABORTED, and what storages throw. Wrong options reject with a TypeError.
     * @example
     * const sync = people.sync('https://example.org/people', { live: true })
     */
    sync(target: ReplicationTarget, options?: ReplicationOptions): Replication;
    /**
     * Replicates in one direction: `to` sends changes of this collection, `from` fetches changes of another one.
     * Takes the same targets and options as `sync`.
     *
     * @throws TypeError if not exactly one of `to` and `from` is given. When awaited, as `sync`.
     * @example
     * const { docsWritten } = await people.replicate({ from: 'https://example.org/people', selector: { city: 'Oslo' } })
     */
    replicate(options: CollectionReplicateOptions): Replication;
}

/** The result of `collection.info()`. Reads no page. */
export interface CollectionInfo {
    /** The name of the collection. */
    readonly name: string;
    /** Live documents. */
    readonly documents: number;
    /** Tombstones. */
    readonly deleted: number;
    /** The sequence number given last; 0 before the first. */
    readonly lastSeq: number;
    /**
     * Random, made with the collection. A collection that was dropped and created again, or lost with its storage, has
     * another epoch and other sequences. Undefined while the collection does not exist.
     */
    readonly epoch: string | undefined;
    /** The number of revisions that a document remembers, from each leaf up. */
    readonly revisionsLimit: number;
    /** The content of revisions that were replaced is kept, until `compact()`. */
    readonly history: boolean;
    /** About how many bytes its documents and indexes take in storage, without what is only in the log yet; undefined if not known. */
    readonly storedBytes: number | undefined;
    /** About how many bytes of memory its columns take: what queries have made to search texts and follow relations. */
    readonly columnBytes: number;
}

/** The declaration of a collection: its indexes, its schema and its settings. */
export interface CollectionOptions<T extends object = JsonObject, Schema = unknown> extends SchemaOptions<Schema> {
    /**
     * Indexes that the collection is to have, beside those that it has. They are built in the background: `ready()` waits for
     * them; until then queries do without them.
     */
    readonly indexes?: readonly IndexInput<FieldPath<Identified<T>>>[];
    /** Keeps the content of revisions that were replaced, until `compact()`. Persisted; false at first. */
    readonly history?: boolean;
    /**
     * The number of revisions that a document remembers, from each leaf up, each in some 45 bytes. Persisted; 200 at
     * first. A change takes effect as documents change. More edits of a document than this between two replications are a
     * conflict on the other side.
     */
    readonly revisionsLimit?: number;
    /** Cancels migrating and building. They continue when the database is opened next. */
    readonly signal?: AbortSignal;
    /** Called while documents are migrated, and again while indexes are built, with the part that is done, 0 to 1. */
    readonly onProgress?: (done: number) => void;
}

/** The password or key of an encrypted database. */
export type Credential = {
    /** Any text; the same text in another Unicode form is the same password. */
    readonly password: string;
    /**
     * How a key is made from a new password: Argon2id where the platform has it (Node), else PBKDF2. Use 'pbkdf2' in
     * Node for sealed snapshots that browsers will open.
     */
    readonly derivation?: 'argon2id' | 'pbkdf2';
} | {
    /** The key: AES-GCM with 256 bits, for 'encrypt' and 'decrypt'; it need not be extractable. */
    readonly key: CryptoKey;
} | {
    /** As `makeRecoveryKey` gave it. */
    readonly recoveryKey: string;
};

/** `Schemas`, `Relations`: those that it was opened with, by the names of the collections. */
export class Database<Schemas extends object = object, Relations extends object = object> {
    /** The name as given to `open`. */
    readonly name: string;
    /** The passwords and keys that open it; undefined when it is not encrypted. */
    readonly encryption: Encryption | undefined;
    /**
     * Resolves when the handle has ended: with undefined after `close()`, else with the reason. PANNIER_CLOSED: another handle (a tab, say)
     * has destroyed or moved the database, or the browser has thrown it away.
     *
     * @example
     * const db = await open('shop')
     * void db.closed.then((reason) => reason && location.reload())
     */
    readonly closed: Promise<PannierError | undefined>;
    /** The kind of the storage: 'indexeddb', 'sqlite', 'memory', … */
    get storage(): string;
    /**
     * PANNIER_CORRUPT if the log of the database is damaged: commits after some point can't be replayed. The database is then read-only, in
     * its newest state before that: reading, exporting and snapshots work, and whatever writes rejects with this error. `repair` makes a healthy
     * database of it. Undefined while all is well.
     *
     * @example
     * const db = await open('shop')
     * if (db.damage) offerExport(db, db.damage.message)
     */
    get damage(): PannierError | undefined;
    /**
     * A collection; it need not exist, as the first write creates it. Called again with more indexes it gets these as well.
     *
     * Its documents have the type that the schema gives, here or in `open`, else the type that is named. Where `open` was given
     * collections the compiler knows their names; another one is named with its type: `db.collection<Note>('notes')`.
     *
     * @throws PANNIER_INDEX_MISMATCH if an index was declared before with another definition.
     * @example
     * const people = db.collection<Person>('people', { indexes: ['age', ['city', '-age'], { on: 'tags', multi: true }] })
     */
    collection<Schema extends StandardSchema>(name: string, options: CollectionOptions<SchemaOutput<Schema>, Schema> & {
        readonly schema: Schema;
    }): Collection<SchemaOutput<Schema>, SchemaInput<Schema>>;
    collection<Name extends KnownName<Schemas>>(name: Name, options?: CollectionOptions<DocumentOf<Schemas, Name>> & {
        readonly schema?: undefined;
    }): Collection<DocumentOf<Schemas, Name>, InputOf<Schemas, Name>, Related<Schemas, Relations, Name>>;
    collection<T extends object = UnknownCollection>(name: string, options?: NoInfer<CollectionOptions<T>>): Collection<T>;
    /**
     * The names of the collections that exist, sorted.
     *
     * @example
     * const names = await db.collections() // ['people', 'places']
     */
    collections(): Promise<string[]>;
    /**
     * Makes a collection that has no documents yet, which the first write would do as well; false if there is one of that name.
     * `settings`: what it begins with where nothing is declared.
     *
     * @throws PANNIER_LIMIT_EXCEEDED if there are too many collections.
     * @example
     * await db.createCollection('places', { history: true })
     */
    createCollection(name: string, settings?: Pick<CollectionOptions, 'history' | 'revisionsLimit'>): Promise<boolean>;
    /**
     * Drops a collection with its documents and indexes at once, whatever its size; false if it does not exist.
     *
     * @example
     * await db.dropCollection('places')
     */
    dropCollection(name: string): Promise<boolean>;
    /**
     * Runs `body` in a transaction. When `body` resolves, everything that it wrote through `tx` is committed. When it
     * throws, nothing is. Resolves with what `body` returns.
     *
     * Transactions and other writes take turns, in all tabs. So inside `body` write through `tx` only. Awaiting a write
     * of the database itself (`people.insert(…)`) would wait for ever. Keep it short: others wait meanwhile. In a rare
     * case `body` runs again: this tab was frozen in the middle, and another one has written since.
     * docs/internals/transactions.md
     *
     * @throws PANNIER_DEADLOCK for writes of the database itself in `body`, where they can be detected: in Node
     *   everywhere, in a browser up to the first `await`. The console reports a long wait. PANNIER_WRITE_TIMEOUT after
     *   `writeWaitMsMax`
     * @example
     * await db.transaction(async (tx) => {
     *   const accounts = tx.collection<Account>('accounts')
     *   await accounts.update('a', (a) => ({ ...a, amount: a.amount - 10 }))
     *   await accounts.update('b', (b) => ({ ...b, amount: b.amount + 10 }))
     * })
     */
    transaction<R>(body: (tx: Transaction<Schemas, Relations>) => R | Promise<R>): Promise<R>;
    /**
     * Calls back after each commit, of this handle or another, with what it changed. The function returned ends it.
     *
     * @example
     * const stop = db.subscribe(({ collections }) => { if (collections.has('people')) refresh() })
     */
    subscribe(listener: (change: DatabaseChange) => void): () => void;
    /**
     * Makes sure that commits of other handles (tabs, workers) are seen. They notify each other anyway: handles of one
     * page or process at once, others in a moment. Call it when you hear of a change in another way and want to read it.
     *
     * @example
     * await db.refresh()
     */
    refresh(): Promise<void>;
    /**
     * Writes everything that is only in the log to pages. It is done by itself in time; before a backup, say, it is of use.
     *
     * @example
     * await db.flush()
     */
    flush(): Promise<void>;
    /**
     * Reads everything and compares: pages, trees, documents with ids, indexes with documents. Takes as long as reading the
     * whole database. Others may read meanwhile. Writes wait while it reads the pages, which is its first half.
     *
     * @throws PANNIER_ABORTED
     * @example
     * const { ok, problems } = await db.check()
     * if (!ok) console.warn(problems.map(({ code, where, message }) => `${code} ${where}: ${message}`))
     */
    check(options?: LongWork): Promise<CheckReport>;
    /**
     * The whole database as one portable file, for backups or to ship data. `open(name, { from })` makes a database of
     * it, in any storage. It holds every write that began before this call and no later one. Reads and writes continue
     * meanwhile. Pages are copied as they are, so it is as fast as reading. The room of what is deleted meanwhile is not
     * used again before the stream was read to its end or cancelled.
     *
     * The file of an encrypted database is sealed: anyone who can open the database at this time can restore it. With
     * `sealed: false` it is plain.
     *
     * @throws (the stream) PANNIER_ABORTED, PANNIER_CLOSED, PANNIER_CORRUPT, PANNIER_QUOTA_EXCEEDED
     * @example
     * await db.snapshot().pipeTo(Writable.toWeb(createWriteStream('shop.snapshot')))
     */
    snapshot(options?: SnapshotOptions): ReadableStream<Uint8Array>;
    /**
     * Replaces a password of an encrypted database. Only a few stored bytes change.
     *
     * @throws PANNIER_KEY_WRONG if `oldPassword` does not open it; PANNIER_NOT_ENCRYPTED.
     * @example
     * await db.changePassword('old password', 'new password')
     */
    changePassword(oldPassword: string, newPassword: string): Promise<void>;
    /**
     * Moves the database to another storage, under the same name, and closes it. From then on it is opened there. The
     * original is deleted when the copy is complete; if the move fails, the original is unchanged. An interrupted move may
     * leave a complete copy, which the next move replaces if nobody has written to it. Other handles can read meanwhile;
     * their writes wait. They are closed with the deletion: PANNIER_CLOSED.
     *
     * @throws PANNIER_EXISTS if there is a database of that name; PANNIER_CLOSED if another handle has moved it; PANNIER_ENCRYPTED,
     *   PANNIER_KEY_WRONG, PANNIER_ABORTED, PANNIER_QUOTA_EXCEEDED
     * @example
     * await db.moveTo(opfs(), { onProgress: show })
     * const moved = await open('shop', { storage: firstOf(opfs(), indexedDb()) })
     */
    moveTo(storage: DatabaseStorage, options?: MoveOptions): Promise<void>;
    /**
     * Keeps collections in step with CouchDB databases, all of them as one: `collection.sync` for each. Of collections that are named
     * in a list the database is the one of that name below `url`.
     *
     * @example
     * const sync = db.sync('https://example.org', { collections: ['people', 'places'], live: true })
     * sync.subscribe(() => show(sync.status, sync.progress.pending))
     */
    sync(url: string | URL, options: DatabaseSyncOptions): Replication;
    /**
     * Replicates from one database or collection to another. Each may be anywhere and have options of its own. Two
     * servers replicate through here.
     *
     * @example
     * const target = { url: 'https://b.example.org/people', auth: { username: 'ann', password } }
     * await db.replicate({ from: 'https://a.example.org/people', to: target, create: false })
     */
    replicate(options: DatabaseReplicateOptions): Replication;
    /**
     * Finishes pending writes and releases everything. Idempotent.
     *
     * @example
     * await db.close()
     */
    close(): Promise<void>;
    /**
     * Closes the database and deletes it with everything in it, also when no room is left.
     *
     * @example
     * await db.destroy()
     */
    destroy(): Promise<void>;
    /** Closes the database, for `await using`. */
    [Symbol.asyncDispose](): Promise<void>;
}

/** The changes of a commit. */
export interface DatabaseChange {
    /** By name of the collection. */
    readonly collections: ReadonlyMap<string, CollectionChange>;
    /** False when another handle (a tab, a worker) made the commit. */
    readonly local: boolean;
}

/**
 * A kind of place for databases, as given to `open(name, { storage })`.
 */
export interface DatabaseStorage {
    /** The kind: 'indexeddb', 'sqlite', 'memory', … ; for people, never branched on. */
    readonly kind: string;
    /**
     * 'origin': tabs and workers of one origin share it (Web Locks). 'process': only handles in this process do. 'servers':
     * processes on any machine, by `coordinator`.
     */
    readonly scope: SharingScope;
    /** Names the database within the scope: two handles share a database exactly if this is equal. */
    identify(name: string): string;
    /** Whether a database is there; undefined: the storage can't know. Nothing is opened or made to find out. "I can't open it here" is no `false`. */
    has(name: string): Promise<boolean | undefined>;
    /** Opens or creates it. Reads only what it takes to open the backend. */
    open(name: string): Promise<PageStore>;
    /**
     * For handles that the library can't make known to one another: a handle of the group that `name` names. That is the name
     * of a database, or of a lock beside the databases.
     */
    readonly coordinator?: ((name: string, environment: Environment) => Coordinator) | undefined;
    /** Deletes the database and everything in it, also when no room is left; does nothing if it does not exist. */
    destroy(name: string): Promise<void>;
}

/** Options of `db.sync`. */
export interface DatabaseSyncOptions extends ReplicationOptions {
    /** The names of the collections, or the target of each of them. */
    readonly collections: readonly string[] | Readonly<Record<string, ReplicationTarget>>;
}

/** A collection as `open` declares it. */
export interface DeclaredCollection<T extends object = JsonObject, Schema = unknown> extends CollectionOptions<T, Schema> {
    /**
     * Fields that hold ids, each with the collection to which they lead. Queries follow them: `author.name`. Each has an
     * index by itself. docs/internals/relations.md is the contract.
     */
    readonly relations?: RelationInputs;
}

/** One change in a feed: the document with its newest revision. */
export interface DocumentChange<T extends object = StoredDocument> {
    /** The sequence of the document's last change. */
    readonly seq: number;
    /** The id of the document. */
    readonly id: string;
    /** The winner first; with `style: 'all'` every leaf revision. */
    readonly changes: readonly {
        readonly rev: string;
    }[];
    /** The winner is a tombstone. */
    readonly deleted?: true;
    /** With `docs`: the winner. */
    readonly doc?: T | Tombstone;
}

/** A document as it is handed in. */
export type DocumentInput<T extends object> = (ContentOf<T> & InputMeta) | (Partial<ContentOf<T>> & DeletedInput);

/** Fields that `update` changes in a document; undefined removes a field that may be missing. */
export type DocumentPatch<T extends object> = PatchOf<ContentOf<T>> & Omit<InputMeta, '_id'> & {
    readonly _id?: undefined;
};

/** Adds a row to a view. Keys and values are JSON; what JSON does not know becomes what JSON.stringify makes of it. */
export type Emit<Key = unknown, Value = unknown> = (key: Key, value?: Value) => void;

/** The passwords and keys of an encrypted database. */
export class Encryption {
    /**
     * Everybody who can open the database.
     *
     * @example
     * for (const { id, kind, label } of await db.encryption!.slots()) console.log(id, kind, label)
     */
    slots(): Promise<EncryptionSlot[]>;
    /**
     * Lets another password open the database too.
     *
     * @example
     * await db.encryption!.addPassword('another password', { label: 'phone' })
     */
    addPassword(password: string, options?: SlotOptions): Promise<EncryptionSlot>;
    /**
     * Lets a key that a device or an account keeps open the database: AES-GCM with 256 bits; it need not be extractable.
     *
     * @example
     * const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
     * await db.encryption!.addKey(key, { label: 'this device' })
     */
    addKey(key: CryptoKey, options?: SlotOptions): Promise<EncryptionSlot>;
    /**
     * Makes a random key that opens the database, as text for a safe place. It is shown only now.
     *
     * @example
     * show(await db.encryption!.makeRecoveryKey())
     */
    makeRecoveryKey(options?: SlotOptions): Promise<string>;
    /**
     * Deletes a slot: its password or key no longer opens the database; false if the slot does not exist. The last one must stay:
     * PANNIER_LIMIT_EXCEEDED. Anyone who has opened the database may have kept its keys: see `rotateKey`.
     *
     * @example
     * const { id } = await db.encryption!.addPassword('for a day')
     * await db.encryption!.deleteSlot(id)
     */
    deleteSlot(id: string): Promise<boolean>;
    /**
     * As `db.changePassword`.
     *
     * @example
     * await db.encryption!.changePassword('old password', 'new password')
     */
    changePassword(oldPassword: string, newPassword: string): Promise<void>;
    /**
     * Changes the key that seals pages and log. New writes use a new key at once. Then everything stored is sealed again
     * in the background, while reads and writes continue. An interrupted rotation continues when the database is opened
     * again.
     *
     * @throws PANNIER_ABORTED, PANNIER_CLOSED, PANNIER_CORRUPT, PANNIER_QUOTA_EXCEEDED
     * @example
     * await db.encryption!.rotateKey({ onProgress: (done) => show(done) })
     */
    rotateKey(options?: LongWork): Promise<void>;
    /**
     * How often the key was used, and whether it should be rotated.
     *
     * @example
     * const { isRotationDue } = await db.encryption!.info()
     */
    info(): Promise<EncryptionInfo>;
}

/** Every code, also of packages built on this one. The thing comes first, the problem last. Codes are stable: programs may match them. */
export type ErrorCode = 'PANNIER_LOCKED' | 'PANNIER_BLOCKED' | 'PANNIER_OPEN_FAILED' | 'PANNIER_UNAVAILABLE' | 'PANNIER_FORMAT_WRONG' | 'PANNIER_FORMAT_NEWER' | 'PANNIER_ENCRYPTED' | 'PANNIER_NOT_ENCRYPTED' | 'PANNIER_KEY_WRONG' | 'PANNIER_EXISTS' | 'PANNIER_CLOSED' | 'PANNIER_CORRUPT' | 'PANNIER_IO_FAILED' | 'PANNIER_OUTCOME_UNKNOWN' | 'PANNIER_RESTORED' | 'PANNIER_QUOTA_EXCEEDED' | 'PANNIER_STALE' | 'PANNIER_RECOVERY_NEEDED' | 'PANNIER_DEADLOCK' | 'PANNIER_WRITE_TIMEOUT' | 'PANNIER_TRANSACTION_ENDED' | 'PANNIER_SNAPSHOT_EXPIRED' | 'PANNIER_CONFLICT' | 'PANNIER_NOT_FOUND' | 'PANNIER_NOT_UNIQUE' | 'PANNIER_RELATION_BROKEN' | 'PANNIER_KEY_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_DEEP' | 'PANNIER_BATCH_TOO_LARGE' | 'PANNIER_DOCUMENT_INVALID' | 'PANNIER_ATTACHMENT_TOO_LARGE' | 'PANNIER_ATTACHMENT_MISSING' | 'PANNIER_EPOCH_MISMATCH' | 'PANNIER_SCHEMA_NEWER' | 'PANNIER_INDEX_MISMATCH' | 'PANNIER_REGEX_UNSAFE' | 'PANNIER_LIMIT_EXCEEDED' | 'PANNIER_PEER_UNREACHABLE' | 'PANNIER_PEER_REFUSED' | 'PANNIER_MODULE_NOT_LOADED' | 'PANNIER_SIGNED_OUT' | 'PANNIER_MFA_NEEDED' | 'PANNIER_SIGN_IN_FAILED' | 'PANNIER_WRITES_UNSENT' | 'PANNIER_ABORTED';

/** How a query is answered: its plan, its indexes and its costs. */
export interface Explanation {
    /** The steps, each with the steps below it. */
    readonly plan: PlanStep;
    /** Rows before skip and limit. */
    readonly rows: number;
    /** True: `rows` is exact; false: there may be fewer. */
    readonly rowsExact: boolean;
    /** The index alone gives the order. */
    readonly sortedByIndex: boolean;
    /** No document is read. */
    readonly covering: boolean;
    /** In units of testing one document in a scan. */
    readonly cost: number;
    /**
     * The index that would help most, as `collection(name, { indexes })` takes it. Undefined if none would, as for a few documents:
     * a scan of them is fastest.
     */
    readonly suggestion: IndexInput | undefined;
    /** The steps along relations that were answered before, each with its own plan. */
    readonly related?: readonly RelatedExplanation[];
    /** For a query that was run. */
    readonly actual?: ActualWork;
    /**
     * The whole explanation as text: the steps are drawn as a tree.
     *
     * @example
     * console.log(String(await people.find({ city: 'Oslo' }).explain()))
     */
    toString(): string;
}

/** The last argument of `firstOf`. */
export interface FirstOfOptions {
    /** Several storages have a database of that name: gives the one to open. The first has the most commits. The others stay as they are. */
    readonly onSeveral?: (found: readonly FoundDatabase[]) => FoundDatabase;
}

/** A database that `firstOf` has found, beside another one of that name. */
export interface FoundDatabase {
    /** The storage with which `open` opens this database. */
    readonly storage: DatabaseStorage;
    /** How many commits were ever made to it. */
    readonly commits: number;
}

/** How an import ended. */
export interface ImportResult {
    /** Documents that were written. */
    readonly imported: number;
    /** Deleted ones, which only 'replicate' imports. */
    readonly skipped: number;
    /** Documents that were not written. */
    readonly failedCount: number;
    /** The first of them, `IMPORT_FAILURES_MAX` at most. */
    readonly failed: readonly ImportFailure[];
}

/** The result of `collection.indexes()` for one index. */
export interface IndexInfo extends IndexDeclaration {
    /** Whether it is ready. False while it is being built. */
    readonly ready: boolean;
}

/**
 * How an index is declared: a field ('age', descending '-age'), several (['city', '-age']), or the long form (docs/internals/indexes.md):
 *
 * - `multi`: the field may hold an array. Each distinct element gets an entry. Such an index has one field.
 * - `where`: only documents that this selector matches are in the index.
 * - `unique`: a write that would give two documents the same values fails with PANNIER_NOT_UNIQUE.
 * - `dialect`, `collation`: how `where` is to be understood, and the order of strings, as for `find`.
 * - `text`: for `collection.search`; `language` is a BCP 47 tag.
 */
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

/** The type of any document. */
export type JsonObject = Record<string, unknown>;

/**
 * How many documents match, now and after each commit that changes it, of whichever handle. It is at work until it is closed:
 * by `close`, its signal, or the database.
 *
 * @example
 * using unread = messages.find({ read: false }).liveCount()
 * unread.subscribe((count) => show(count))
 */
export class LiveCount implements AsyncIterable<number> {
    /** Resolves when it is ready: the first count is there. Rejects when there will be none, with the reason. */
    get ready(): Promise<void>;
    /** The count now; undefined before the first. */
    get value(): number | undefined;
    /** The status: whether the count is loaded, and whether it is up to date. */
    get status(): LiveStatus;
    /** The error of a failed count. */
    get error(): unknown;
    /**
     * Calls back with the count, soon, then once for each commit that changes it. The function returned ends that, not the count.
     *
     * @example
     * const unread = messages.find({ read: false }).liveCount()
     * const stop = unread.subscribe((count) => show(count))
     */
    subscribe(listener: (count: number) => void, options?: SubscribeOptions): () => void;
    /** The counts in a loop, as of a live query: commits that come while the loop is at work make one step. */
    [Symbol.asyncIterator](): AsyncIterableIterator<number, undefined, undefined>;
    /**
     * Ends it and releases everything. `value` stays as it is. Idempotent.
     *
     * @example
     * const unread = messages.find({ read: false }).liveCount()
     * unread.close()
     */
    close(): void;
    /** Closes it, for `using`. */
    [Symbol.dispose](): void;
}

/** Options of `live` and `liveCount`. */
export interface LiveOptions {
    /** The signal that ends it. */
    readonly signal?: AbortSignal | undefined;
}

/**
 * The rows of a query as they are now, and how they change with each commit, of whichever handle. It is at work until it is
 * closed: by `close`, its signal, or the database.
 *
 * @example
 * using live = people.find({ city: 'Oslo' }).sort('name').limit(20).live()
 * live.subscribe(({ rows, changes }) => render(rows))
 */
export class LiveQuery<Row extends object> implements AsyncIterable<LiveUpdate<Row>> {
    /** Resolves when the first rows are there. Rejects when there will be none, with the reason. */
    readonly ready: Promise<void>;
    /** The rows now; undefined before the first. Never change them: other live queries may share them. */
    get value(): readonly Row[] | undefined;
    /** Whether the rows are loaded, and whether they are up to date. */
    get status(): LiveStatus;
    /** The error of a failed query. */
    get error(): unknown;
    /**
     * Calls back with the rows, soon, then once for each commit that changes them. The function returned ends that, not the query.
     *
     * @example
     * const live = query.live()
     * const stop = live.subscribe(({ rows }) => render(rows))
     */
    subscribe(listener: (update: LiveUpdate<Row>) => void, options?: SubscribeOptions): () => void;
    /**
     * The updates in a loop. Commits that come while the loop is at work make one update, so nothing piles up. Leaving it ends the loop,
     * not the query. It ends with the query; rejects if that failed, and with PANNIER_ABORTED if its signal fired.
     */
    [Symbol.asyncIterator](): AsyncIterableIterator<LiveUpdate<Row>, undefined, undefined>;
    /**
     * Ends it and releases everything. `value` stays as it is. Idempotent.
     *
     * @example
     * const live = query.live()
     * live.close()
     */
    close(): void;
    /** Closes it, for `using`. */
    [Symbol.dispose](): void;
}

/** The new answer of a live query, and how it differs from the one before. */
export interface LiveUpdate<Row> {
    /** All rows now. A new array each time; a row that did not change is the same object. */
    readonly rows: readonly Row[];
    /** How they came from the rows of the update before; of the first one, from none. */
    readonly changes: readonly LiveChange<Row>[];
}

/** Options of long work. */
export interface LongWork {
    /** Cancels it: it fails with PANNIER_ABORTED, whose `cause` is the signal's reason. */
    readonly signal?: AbortSignal | undefined;
    /** Called with the part that is done, 0 to 1. It never falls. */
    readonly onProgress?: ((done: number) => void) | undefined;
}

/**
 * Makes a document of one version from one of the version before. It gets a copy with its `_id`, which must stay the
 * same. `{ _deleted: true }` deletes the document. An exception or undefined is a failure: the document stays as it is.
 */
export type Migration = (document: JsonObject & {
    readonly _id: string;
}) => JsonObject | Promise<JsonObject>;

/** Options of `open`. */
export interface OpenOptions<Schemas extends object = Record<string, unknown>, Relations extends object = object> {
    /** Where to keep it: `memory()`, `indexedDb()`, `sqlite()`. By default IndexedDB in a browser and an SQLite file in Node. */
    readonly storage?: DatabaseStorage;
    /**
     * When a write has succeeded: 'relaxed' (default): it survives the end of the tab or process; 'strict': also a loss of power.
     */
    readonly durability?: Durability;
    /**
     * Encrypts a new database, and opens one that is encrypted. One of a password, a `CryptoKey` and a recovery key, which opens only.
     */
    readonly encryption?: Credential;
    /**
     * Memory for cached pages. By default 64 MiB. In Node the databases that a process has open share a 16th of the
     * machine's memory, if that is more. Columns, which some queries make, take as much again at most; by default 64 MiB.
     */
    readonly cacheBytesMax?: number;
    /**
     * How long a write, or a transaction, may wait for others of all tabs, in milliseconds. After that it fails with
     * PANNIER_WRITE_TIMEOUT, and nothing of it is written. A write that the storage has not answered by then fails with
     * PANNIER_OUTCOME_UNKNOWN. By default there is no limit; the console reports a long wait.
     */
    readonly writeWaitMsMax?: number;
    /** Clock, timers and chance, for tests (`virtualEnvironment` of `pannier/testing`). The real ones when left out. */
    readonly environment?: Environment;
    /** Collections with their indexes, settings and schemas, as for `db.collection(name, options)`, and their relations. */
    readonly collections?: {
        readonly [Name in keyof Schemas]: DeclaredCollection<SchemaOutput<Schemas[Name]>, Schemas[Name]>;
    } & {
        readonly [Name in keyof Relations]: {
            readonly relations?: Relations[Name];
        };
    };
    /**
     * A snapshot (`db.snapshot()`) to make the database from. The database must not exist yet. A function is called only
     * if it does not exist; otherwise the existing database is opened.
     */
    readonly from?: ByteSource | (() => ByteSource | Promise<ByteSource>);
    /** Called while a snapshot is read, then while indexes are built, with the part that is done, 0 to 1. */
    readonly onProgress?: (done: number) => void;
    /** Gives up reading a snapshot, opening, and later building indexes, with PANNIER_ABORTED. */
    readonly signal?: AbortSignal;
}

/** The result of `page`. */
export interface Page<T extends object> {
    /** As skip and limit say. */
    readonly rows: T[];
    /** All documents that match, whatever skip and limit say. */
    readonly total: number;
}

/**
 * An operating failure.
 *
 * @example
 * try {
 *   await people.insert({ _id: 'ann', name: 'Ann', age: 31 })
 * } catch (error) {
 *   if (error instanceof PannierError && error.code === 'PANNIER_CONFLICT') console.log(error.details)
 * }
 */
export class PannierError extends Error {
    /** The code is stable; match this, never the message. */
    readonly code: ErrorCode;
    /** Facts about the failure, e.g. the id of the document in conflict. */
    readonly details: Readonly<Record<string, unknown>>;
    constructor(code: ErrorCode, message: string, options?: PannierErrorOptions);
}

/** One thing that is wrong with a stored database. */
export interface Problem {
    /** The code is stable: programs may compare it. */
    readonly code: ProblemCode;
    /** The name of the collection; undefined if the problem is not one collection's. */
    readonly where: string | undefined;
    /** The message for people. Its wording may change. */
    readonly message: string;
}

/** `T`: the rows; `Document`: the documents behind them. */
export class Query<T extends object, Document extends object = T> implements AsyncIterable<T> {
    /**
     * Sorts by these fields, '-' before one for descending; replaces an earlier sort. The order among rows that agree in all
     * of them is unspecified: add '_id' for a total order. `'$created'` is the order in which this database got the documents.
     *
     * @example
     * await people.find().sort('-age', 'name').toArray()
     */
    sort(...fields: OrderedPath<FieldPath<Document> | typeof CREATED>[]): Query<T, Document>;
    /**
     * Skips this number of rows at the start.
     *
     * @example
     * await people.find().sort('name').skip(20).limit(10).toArray()
     */
    skip(rows: number): Query<T, Document>;
    /**
     * The highest number of rows.
     *
     * @example
     * await people.find().sort('-age').limit(10).toArray()
     */
    limit(rows: number): Query<T, Document>;
    /**
     * Exactly these fields of each document; `_id` and `_rev` only if they are named. A dotted path gives objects inside it.
     *
     * @example
     * const names = await people.find().fields('name', 'city').toArray()
     */
    fields<Path extends FieldPath<Document>>(...paths: Path[]): Query<Projected<Document, Path> & object, Document>;
    /**
     * Rows get related documents in place of ids, from the same snapshot: of a relation of many, or of a back-relation, an
     * array. A related document that does not exist is null, and left out of an array. Replaces earlier paths.
     *
     * @example
     * const db = await open('blog', { collections: { users: {}, posts: { relations: { author: 'users' } } } })
     * const rows = await db.collection('posts').find().populate('author').toArray()
     */
    populate(...paths: string[]): Query<Readonly<Record<string, unknown>>, Document>;
    /**
     * Once it is aborted, what this query has under way ends with PANNIER_ABORTED.
     *
     * @example
     * await people.find().signal(AbortSignal.timeout(1000)).toArray()
     */
    signal(signal: AbortSignal): Query<T, Document>;
    /**
     * Computes aggregates over all documents that match, whatever skip and limit say.
     *
     * @example
     * const { people, oldest } = await query.aggregate({ people: { $count: true }, oldest: { $max: 'age' } })
     */
    aggregate<const Wanted extends Aggregates<Document>>(wanted: Wanted): Promise<Aggregated<Document, Wanted>>;
    /**
     * The different values of a field, ascending. An array counts as a whole.
     *
     * @example
     * const cities = await people.find().distinct('city')
     */
    distinct<Path extends FieldPath<Document>>(path: Path): Promise<DistinctValues<Document, Path>>;
    /**
     * Groups the documents that match, whatever skip and limit say, by the values of fields. An array counts as a whole.
     *
     * @example
     * const cities = await people.find({ active: true }).groupBy('city')
     *   .aggregate({ people: { $count: true }, age: { $avg: 'age' } })
     *   .having({ people: { $gte: 10 } }).sort('-people').limit(20).toArray()
     */
    groupBy<Path extends FieldPath<Document>>(...paths: Path[]): Groups<Projected<Document, Path> & object, Document>;
    /**
     * How `aggregate` would compute it now; nothing is computed.
     *
     * @example
     * const { way } = await query.explainAggregate({ oldest: { $max: 'age' } })
     */
    explainAggregate<const Wanted extends Aggregates<Document>>(wanted: Wanted): Promise<AggregateExplanation>;
    /**
     * The documents, as an array.
     *
     * @example
     * const adults = await people.find({ age: { $gte: 18 } }).toArray()
     */
    toArray(): Promise<T[]>;
    /**
     * The first document, or undefined. Reads no more than it needs.
     *
     * @example
     * const oldest = await people.find().sort('-age').first()
     */
    first(): Promise<T | undefined>;
    /**
     * How many documents the selector matches, whatever skip and limit say.
     *
     * @example
     * const adults = await people.find({ age: { $gte: 18 } }).count()
     */
    count(): Promise<number>;
    /**
     * A page of a list: the rows, and how many documents the selector matches in all. Both are as of one moment.
     *
     * @example
     * const { rows, total } = await people.find({ city: 'Oslo' }).sort('name').skip(40).limit(20).page()
     */
    page(): Promise<Page<T>>;
    /**
     * How the query would be answered now. It is planned but not run. With `run` it is run, and the result has the rows
     * of each step and the pages that were read. As text it is a tree.
     *
     * @example
     * console.log(String(await people.find({ age: { $gte: 18 } }).explain()))
     */
    explain(options?: ExplainOptions): Promise<Explanation>;
    /**
     * The rows as they are now and as they change with each commit, of whichever handle. Ties of the sort are in the order of
     * their ids. It begins at once and is at work until it is closed. docs/internals/live-queries.md is the contract.
     *
     * @example
     * const live = people.find({ city: 'Oslo' }).sort('name').limit(20).live({ signal })
     * for await (const { rows, changes } of live) render(rows)
     */
    live(options?: LiveOptions): LiveQuery<T>;
    /**
     * The count as it is now and as it changes with each commit, of whichever handle: that of `count()`. It begins at once and
     * is at work until it is closed. docs/internals/live-queries.md is the contract.
     *
     * @example
     * const unread = messages.find({ read: false }).liveCount({ signal })
     * for await (const count of unread) show(count)
     */
    liveCount(options?: LiveOptions): LiveCount;
    /**
     * Whether the other query asks for the same of the same collection (of this handle), so that it would give the same.
     *
     * @example
     * people.find({ age: 31 }).isSame(people.find({ age: 31 })) // true
     */
    isSame<U extends object, D extends object>(other: Query<U, D>): boolean;
    /** Rows as they are read, from one snapshot, which is held until the loop ends or is left. */
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
}

/** The result of `repair`: the problems that it found, and the parts that it saved. */
export interface RepairReport {
    /** The problems. Empty: nothing, as far as documents go. */
    readonly problems: readonly Problem[];
    /** Everything that the damaged database is known to have held is in the new one. */
    readonly isComplete: boolean;
    /** The saved parts of each collection. */
    readonly collections: readonly RepairedCollection[];
    /** Commits behind the damage of the log that can't be read. */
    readonly commitsLost: number;
}

/**
 * Under way since it was made. Awaiting it gives the result, when it is complete or was cancelled; of a live one that is only then.
 *
 * @example
 * const sync = people.sync('https://example.org/people', { live: true })
 * sync.subscribe((event) => { if (event.type === 'status') show(sync.status) })
 * const { docsWritten } = await people.replicate({ from: 'https://example.org/people' })
 */
export class Replication implements PromiseLike<ReplicationResult>, AsyncIterable<ReplicationEvent> {
    /** The most important status of several parts (push and pull, collections). */
    get status(): ReplicationStatus;
    /** The error: why it waits to try again, or has failed. */
    get error(): unknown;
    /** The sum of all parts. */
    get progress(): ReplicationProgress;
    /** Each direction of each collection. */
    get parts(): readonly ReplicationPart[];
    /**
     * How many local changes are not sent yet, as far as is known here; also without a network. Never too low: it ignores
     * filters, and changes that have just arrived count until the push has looked at them. Always 0 for a pull.
     * `close()` of the database waits for counts, also those of listeners that hear of the end. Later calls fail.
     *
     * @throws PANNIER_CLOSED
     * @example
     * const left = await sync.unsent()
     * show(left === 0 ? 'Everything is saved on the server.' : `${left} changes wait to be sent.`)
     */
    unsent(): Promise<number>;
    /**
     * Calls back with each event from now on. The function returned ends it.
     *
     * @example
     * const stop = sync.subscribe((event) => show(event.type))
     */
    subscribe(listener: (event: ReplicationEvent) => void): () => void;
    /**
     * Releases connections until `resume()`.
     *
     * @example
     * sync.pause()
     */
    pause(): void;
    /**
     * Continues after `pause()`.
     *
     * @example
     * sync.pause()
     * sync.resume()
     */
    resume(): void;
    /**
     * Ends it; what was done stays done. Awaiting it then gives the result, with the status 'cancelled'.
     *
     * @example
     * sync.cancel()
     * const { status } = await sync // 'cancelled'
     */
    cancel(): void;
    /** Makes it awaitable: resolves with the result. */
    then<Result = ReplicationResult, Failure = never>(fulfilled?: ((result: ReplicationResult) => Result | PromiseLike<Result>) | null, rejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null): Promise<Result | Failure>;
    /**
     * As of a promise.
     *
     * @example
     * sync.catch((error) => show(error))
     */
    catch<Failure = never>(rejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null): Promise<ReplicationResult | Failure>;
    /**
     * As of a promise.
     *
     * @example
     * sync.finally(() => show('The sync has ended.')).catch(() => {})
     */
    finally(ended?: (() => void) | null): Promise<ReplicationResult>;
    /** Events from now on, to the end of the replication. Its failure is thrown. */
    [Symbol.asyncIterator](): AsyncGenerator<ReplicationEvent, void, undefined>;
}

/** The event for a replication's listeners. */
export type ReplicationEvent = 
/** Revisions were written to the target. Of attachments there is nothing in them. */
(EventOf<'change'> & {
    readonly docs: readonly JsonDocument[];
    readonly progress: ReplicationProgress;
})
/** A document here has several live leaf revisions since it was written. */
 | (EventOf<'conflict'> & {
    readonly id: string;
})
/** A revision could not be read, or the target refuses it; all others continue. */
 | (EventOf<'denied'> & {
    readonly id: string;
    readonly rev: string;
    readonly error: PannierError;
})
/** How far it is was recorded on both sides. */
 | (EventOf<'checkpoint'> & {
    readonly lastSeq: ReplicationSequence;
})
/** The status of this part is another one; `error` says why it waits or has failed, `waitMs` how long until the next try. */
 | (EventOf<'status'> & {
    readonly status: ReplicationStatus;
    readonly error?: PannierError;
    readonly waitMs?: number;
});

/** Options of `sync` and `replicate`. */
export interface ReplicationOptions extends DirectionOptions, HttpPeerOptions {
    /** Continues with changes as they are made. */
    readonly live?: boolean | undefined;
    /** Tries again, for as long as it takes, when the other side can't be reached. Default: if `live`. */
    readonly retry?: boolean | undefined;
    /** Milliseconds to wait before the next try, of those waited before (0 at first). */
    readonly backOff?: ((delayMs: number) => number) | undefined;
    /** False: a missing database is not created. */
    readonly create?: boolean | undefined;
    /** Ends it: awaiting it rejects with PANNIER_ABORTED. */
    readonly signal?: AbortSignal | undefined;
    /** Tells whether there is a network; by default the browser does. */
    readonly network?: NetworkStatus | undefined;
    /** Other options for one direction of a `sync`. */
    readonly push?: DirectionOptions | undefined;
    /** Other options for the direction from the other side to here. */
    readonly pull?: DirectionOptions | undefined;
}

/** How far a replication is, in documents. */
export interface ReplicationProgress {
    /** Revisions read from the source, and those of them that the target has taken. */
    readonly docsRead: number;
    /** Revisions written to the target. */
    readonly docsWritten: number;
    /** Revisions that could not be read or were refused. Each caused an event 'denied'. */
    readonly docsDenied: number;
    /** Changes of the source that were looked at. */
    readonly changesChecked: number;
    /** Changes of the source that are to be looked at, as far as it says; undefined: not known. */
    readonly pending: number | undefined;
    /** How far it is in the change feed of the source: opaque; undefined at the beginning. Of several: of none. */
    readonly lastSeq: ReplicationSequence;
}

/** How a replication ended. */
export interface ReplicationResult extends ReplicationProgress {
    /** True if it is complete and no document was denied. */
    readonly ok: boolean;
    /** Whether it came to its end or was cancelled. */
    readonly status: 'complete' | 'cancelled';
    /** The time of the start, in ISO 8601. */
    readonly startTime: string;
    /** When it ended, as an ISO 8601 string. */
    readonly endTime: string;
    /** Each direction of each collection. */
    readonly parts: readonly ReplicationPart[];
}

/**
 * - 'active': something is under way.
 * - 'paused': a live one has everything there is and waits for more; or `pause()` was called.
 * - 'offline': waits for the network to come back.
 * - 'backing-off': something failed that another try may mend, and the next try is waited for.
 * - 'complete', 'cancelled', 'failed': it is over.
 */
export type ReplicationStatus = 'active' | 'paused' | 'offline' | 'backing-off' | 'complete' | 'cancelled' | 'failed';

/** The URL of a CouchDB database (or of one that speaks its protocol), or a collection, of this database or another one. */
export type ReplicationTarget = string | URL | {
    readonly name: string;
    info(): Promise<unknown>;
};

/** Rows come best first. `T`: the rows; `Document`: the documents behind them. */
export class SearchQuery<T extends object, Document extends object = T> implements AsyncIterable<T> {
    /**
     * Skips this number of rows at the start.
     *
     * @example
     * await search.skip(20).limit(10).toArray()
     */
    skip(rows: number): SearchQuery<T, Document>;
    /**
     * The highest number of rows.
     *
     * @example
     * await search.limit(10).toArray()
     */
    limit(rows: number): SearchQuery<T, Document>;
    /**
     * Exactly these fields of each document, as `Query.fields`.
     *
     * @example
     * const names = await search.fields('name').toArray()
     */
    fields<Path extends FieldPath<Document>>(...paths: Path[]): SearchQuery<Projected<Document, Path> & object, Document>;
    /**
     * Once it is aborted, what this search has under way ends with PANNIER_ABORTED.
     *
     * @example
     * await search.signal(AbortSignal.timeout(1000)).toArray()
     */
    signal(signal: AbortSignal): SearchQuery<T, Document>;
    /**
     * @throws PANNIER_NOT_FOUND if there is no text index, or it is not ready yet.
     *
     * @example
     * const found = await search.toArray()
     */
    toArray(): Promise<T[]>;
    /**
     * With the score of each.
     *
     * @example
     * for (const { score, document } of await search.limit(10).scored()) console.log(score, document.name)
     */
    scored(): Promise<ScoredRow<T>[]>;
    /**
     * The best document, or undefined.
     *
     * @example
     * const best = await search.first()
     */
    first(): Promise<T | undefined>;
    /**
     * How many documents are found, whatever skip and limit say.
     *
     * @example
     * const found = await search.count()
     */
    count(): Promise<number>;
    /**
     * Explains the search: its terms, and how many documents each has.
     *
     * @example
     * const { index } = await search.explain()
     */
    explain(): Promise<SearchExplanation>;
    /** From one snapshot, which is held until the loop ends or is left. */
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
}

/** Conditions by field, as in CouchDB's Mango; docs/internals/query-planner.md has all of them. */
export type Selector<T> = FieldConditions<T> & Combinations<T>;

/** A schema by the Standard Schema specification, version 1: zod, valibot, arktype and others make them. */
export interface StandardSchema<Input = unknown, Output = Input> {
    /** The properties that the standard asks for. */
    readonly '~standard': {
        readonly version: 1;
        readonly vendor: string;
        readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
        /** The types of input and output, not there at run time. */
        readonly types?: {
            readonly input: Input;
            readonly output: Output;
        } | undefined;
    };
}

/** A document as it is handed out. */
export type Stored<T extends object> = Identified<T> & {
    readonly _attachments?: Readonly<Record<string, AttachmentStub>>;
};

/** Options of `subscribe` of a live query or a live count. */
export interface SubscribeOptions {
    /** Called when nothing more will come: with an error if that is why. */
    readonly onEnd?: ((error: unknown) => void) | undefined;
}

/** `Schemas`, `Relations`: those that the database was opened with, by the names of the collections. */
export class Transaction<Schemas extends object = object, Relations extends object = object> {
    /**
     * The collection inside the transaction. Reads include what the transaction has written, which nobody else sees
     * before its end. Steps that overlap take effect in the order in which they were asked for. A query answers by what
     * was written before it began. What is written meanwhile changes nothing in a loop over its rows.
     * docs/internals/transactions.md is the contract.
     *
     * @example
     * await db.transaction(async (tx) => {
     *   const accounts = tx.collection<Account>('accounts')
     *   await accounts.upsert({ _id: 'a', amount: 10 })
     * })
     */
    collection<Name extends KnownName<Schemas>>(name: Name): TransactionCollection<DocumentOf<Schemas, Name>, InputOf<Schemas, Name>, Related<Schemas, Relations, Name>>;
    collection<T extends object = UnknownCollection>(name: string): TransactionCollection<T>;
}

/**
 * The documents of a collection. Every write takes one or many; many are all or nothing. `Asked`: documents as queries see
 * them, with those that relations lead to.
 */
export class TransactionCollection<T extends object, Input extends object = T, Asked extends object = Identified<T>> {
    /** The name of the collection. */
    readonly name: string;
    /**
     * The document with this id, or undefined. Many ids give an array in the same order.
     *
     * @example
     * const ann = await people.get('ann')
     * const [first, second] = await people.get(['ann', 'bob'])
     * const withConflicts = await people.get('ann', { conflicts: true })   // has `_conflicts`
     * const withPhoto = await people.get('ann', { attachments: 'blob' })   // or 'bytes', 'base64'
     */
    get(id: string): Promise<Stored<T> | undefined>;
    get(id: string, options: WithAttachments & RevisionReadOptions): Promise<DocumentWithAttachments<T> | undefined>;
    get(id: string, options: RevisionReadOptions): Promise<RevisionDocument<T> | undefined>;
    get(ids: readonly string[]): Promise<(Stored<T> | undefined)[]>;
    get(ids: readonly string[], options: WithAttachments & RevisionFields): Promise<(DocumentWithAttachments<T> | undefined)[]>;
    get(ids: readonly string[], options: RevisionFields): Promise<(RevisionDocument<T> | undefined)[]>;
    /**
     * Adds documents. One without an `_id` gets one that sorts by time.
     *
     * @param options With `atomic: false` those that can be written are, and each document has a result of its own.
     * @throws PANNIER_CONFLICT if there is a document with that id; `details` has its `id` and `rev`.
     * @throws PANNIER_DOCUMENT_INVALID if the collection has a schema that refuses one; `details` has its `id`, the `issues`
     *   ({ message, path }[]) and, in a batch, its `position`. PANNIER_SCHEMA_NEWER
     * @throws PANNIER_DOCUMENT_TOO_LARGE, PANNIER_DOCUMENT_TOO_DEEP, PANNIER_KEY_TOO_LARGE, PANNIER_BATCH_TOO_LARGE
     * @throws PANNIER_NOT_UNIQUE, PANNIER_RELATION_BROKEN
     * @example
     * await people.insert({ _id: 'eve', name: 'Eve', age: 31 })
     */
    insert(document: DocumentInput<Input>, options?: AtomicOptions): Promise<WriteResult>;
    insert(documents: readonly DocumentInput<Input>[], options?: AtomicOptions): Promise<WriteResult[]>;
    insert(document: DocumentInput<Input>, options: BatchOptions): Promise<WriteOutcome>;
    insert(documents: readonly DocumentInput<Input>[], options: BatchOptions): Promise<WriteOutcome[]>;
    /**
     * Creates a document, or replaces it when `_rev` is its current revision. So nobody's change is lost unseen. In a
     * document with conflicts `_rev` may be any leaf, and that leaf is replaced. A document with `_deleted: true` is
     * deleted.
     *
     * @param options With `newEdits: false`, stores revisions of another replica with their `_rev` and `_revisions`. They
     *   never conflict with the write, but may become conflicts in the document; known revisions change nothing. `atomic`
     *   as in `insert`.
     * @throws PANNIER_CONFLICT if `_rev` is not the current revision; `details` has the `id` and the current `rev`. Otherwise
     *   as `insert`. TypeError for a malformed `_rev` or `_revisions` of a replicated revision.
     * @example
     * const ann = await people.get('ann')
     * await people.put({ ...ann!, age: 32 })
     * await people.put({ _id: 'ann', _rev: '2-b', _revisions: { start: 2, ids: ['b', 'a'] }, name: 'Ann', age: 33 }, { newEdits: false })
     */
    put(document: DocumentInput<Input>, options?: AtomicOptions & EditOptions): Promise<WriteResult>;
    put(documents: readonly DocumentInput<Input>[], options?: AtomicOptions & EditOptions): Promise<WriteResult[]>;
    put(document: DocumentInput<Input>, options: BatchOptions & EditOptions): Promise<WriteOutcome>;
    put(documents: readonly DocumentInput<Input>[], options: BatchOptions & EditOptions): Promise<WriteOutcome[]>;
    /**
     * Creates or replaces documents, whatever is there. If several have the same id, the last one counts. Throws as
     * `insert`, but never PANNIER_CONFLICT.
     *
     * @example
     * await people.upsert({ _id: 'ann', name: 'Ann', age: 32 })
     */
    upsert(document: DocumentInput<Input>, options?: AtomicOptions): Promise<WriteResult>;
    upsert(documents: readonly DocumentInput<Input>[], options?: AtomicOptions): Promise<WriteResult[]>;
    upsert(document: DocumentInput<Input>, options: BatchOptions): Promise<WriteOutcome>;
    upsert(documents: readonly DocumentInput<Input>[], options: BatchOptions): Promise<WriteOutcome[]>;
    /**
     * Changes documents atomically: no other write comes between. A patch names the fields that change: its fields replace
     * those of the document, and a field that is `undefined` is removed. A `_rev` in it must be the current revision.
     *
     * A function gets the document and returns the new one; if it returns undefined, the document stays as it is. The function
     * must be synchronous and do nothing else, because it may be called again.
     *
     * @throws PANNIER_NOT_FOUND if there is no such document; `details` has the `id`. PANNIER_CONFLICT if the patch has another
     *   `_rev`. PANNIER_DOCUMENT_INVALID as for `insert`; an asynchronous schema is a TypeError here. What the function throws.
     * @example
     * await people.update('ann', { city: 'Bergen' })
     * await people.update(['ann', 'bob'], (person) => ({ ...person, age: person.age + 1 }))
     */
    update<Ids extends string | readonly string[]>(ids: Ids, change: DocumentPatch<Input> | ((document: Stored<T>) => DocumentInput<Input> | undefined)): Promise<Ids extends string ? WriteResult : WriteResult[]>;
    /**
     * Deletes documents. Resolves with undefined for a missing one. In a document with conflicts the winner is deleted,
     * or the leaf that `_rev` names, and the next leaf wins.
     *
     * @param options `atomic` as in `insert`.
     * @throws PANNIER_CONFLICT if a `_rev` is given that is not the current one (or another live leaf). PANNIER_RELATION_BROKEN if
     *   a document that refers to it restricts that.
     * @example
     * await people.delete('ann')
     * await people.delete(await people.find({ age: { $lt: 18 } }).toArray())
     */
    delete(reference: DocumentReference, options?: AtomicOptions): Promise<WriteResult | undefined>;
    delete(references: readonly DocumentReference[], options?: AtomicOptions): Promise<(WriteResult | undefined)[]>;
    delete(reference: DocumentReference, options: BatchOptions): Promise<WriteOutcome | undefined>;
    delete(references: readonly DocumentReference[], options: BatchOptions): Promise<(WriteOutcome | undefined)[]>;
    /**
     * Gives a document an attachment, or replaces the one of that name; all else of the document stays. Without `rev` a
     * document that does not exist is created, if the collection's schema takes one without fields. A string is text (UTF-8);
     * base64 is said: `{ base64: 'aGVsbG8=' }`. An attachment of any length takes little memory; it is seen when all of it is there.
     *
     * Inside a transaction it takes memory, and is limited.
     *
     * @throws PANNIER_CONFLICT if `rev` is not current; PANNIER_DOCUMENT_INVALID; PANNIER_ATTACHMENT_TOO_LARGE, PANNIER_KEY_TOO_LARGE, PANNIER_LIMIT_EXCEEDED,
     *   PANNIER_ABORTED. What the source fails with is passed on. Wrong arguments reject with a TypeError.
     * @example
     * await people.putAttachment('ann', 'photo.jpg', file)
     * await people.putAttachment('ann', 'note.txt', 'She called.')
     * await people.putAttachment('ann', 'film.mp4', response.body, { contentType: 'video/mp4', signal })
     */
    putAttachment(id: string, name: string, content: AttachmentContent, options?: PutAttachmentOptions): Promise<WriteResult>;
    /**
     * An attachment, or undefined. Its content is read when asked for: `bytes()`, `text()`, `blob()`, `stream()`.
     *
     * @example
     * const photo = await people.getAttachment('ann', 'photo.jpg')
     * image.src = URL.createObjectURL(await photo!.blob())
     */
    getAttachment(id: string, name: string, options?: GetAttachmentOptions): Promise<Attachment | undefined>;
    /**
     * Deletes an attachment of a document. Resolves with undefined if it does not exist.
     *
     * @throws PANNIER_CONFLICT if `rev` is not current.
     * @example
     * await people.deleteAttachment('ann', 'photo.jpg')
     */
    deleteAttachment(id: string, name: string, options?: DeleteAttachmentOptions): Promise<WriteResult | undefined>;
    /**
     * A query. It reads nothing before it is asked for an answer.
     *
     * With `dialect: 'couchdb'` the selector means what it means to CouchDB, above all for arrays
     * (docs/internals/query-planner.md, "Dialects"). With `collation` strings are compared and sorted in an order of
     * `registerCollation`.
     *
     * @example
     * const adults = await people.find({ age: { $gte: 18 } }).sort('name').limit(20).toArray()
     * @example
     * const same = await people.find({ tags: ['a', 'b'] }, { dialect: 'couchdb' }).toArray()
     */
    find(selector?: Selector<Asked> | WhereFilter, meaning?: SelectorMeaning): Query<Stored<T>, Asked>;
    /**
     * A search for words in the fields of a text index. `quick bro*` finds documents with the word "quick" and a word
     * that begins with "bro". `"brown fox"` finds the two words next to each other. Case and diacritics don't matter. The
     * best come first (BM25).
     *
     * @example
     * const posts = db.collection<Post>('posts', { indexes: [{ on: ['title', 'body'], text: true }] })
     * const found = await posts.search('quick bro*', { selector: { draft: false } }).limit(20).toArray()
     */
    search(text: string, options?: SearchOptions<Identified<T>>): SearchQuery<Stored<T>, Identified<T>>;
    /**
     * Documents in the order of their ids (by code point), with their revisions. With `ids`, those documents in the order
     * given; their rows say which are deleted or missing. CouchDB's `_all_docs`.
     *
     * @example
     * const { total, offset, rows } = await people.list({ prefix: 'a', skip: 1000, limit: 20, docs: true }).page()
     */
    list(options: ListIdsOptions): DocumentList<ListRow<Stored<T>>>;
    list(options?: ListOptions): DocumentList<ListedRow<Stored<T>>>;
    /** Documents that belong to this copy of the collection and are not replicated. */
    get local(): LocalDocuments;
    /**
     * How many documents there are, and how far the change feed goes.
     *
     * @example
     * const { documents, lastSeq } = await people.info()
     */
    info(): Promise<CollectionInfo>;
    /**
     * Revisions of a document: the named ones, or all its leaves, the winner first. A revision that is gone, or never
     * was, is `missing`.
     *
     * @param options With `revs` each has `_revisions`; with `latest` a revision that was replaced gives the leaf that
     *   descends from it.
     * @throws TypeError for a malformed revision.
     * @example
     * for (const result of await people.getRevisions('ann', 'all')) if ('ok' in result) show(result.ok)
     */
    getRevisions(id: string, revs: 'all' | readonly string[], options: RevisionFields & WithAttachments & {
        readonly latest?: boolean;
    }): Promise<RevisionResult<T, DocumentWithAttachments<T>>[]>;
    getRevisions(id: string, revs: 'all' | readonly string[], options?: RevisionFields & {
        readonly latest?: boolean;
    }): Promise<RevisionResult<T>[]>;
    /**
     * Many documents, each in the revision that is named or else as it is now; aligned with the references.
     *
     * @param options With `partial` the result may be shorter: it ends where the documents read have taken about a mebibyte.
     *   At least one is read. Ask again for the others.
     * @throws TypeError for a malformed id or revision.
     * @example
     * const [ann, bob] = await people.bulkGet([{ id: 'ann', rev: '2-…' }, { id: 'bob' }], { revs: true })
     */
    bulkGet(references: readonly RevisionReference[], options: RevisionFields & WithAttachments & {
        readonly latest?: boolean;
        readonly partial?: boolean;
    }): Promise<BulkGetResult<T, DocumentWithAttachments<T>>[]>;
    bulkGet(references: readonly RevisionReference[], options?: RevisionFields & {
        readonly latest?: boolean;
        readonly partial?: boolean;
    }): Promise<BulkGetResult<T>[]>;
    /**
     * The revisions of another replica that are not known here; documents that lack nothing are left out. A revision whose content is no
     * longer kept is known.
     *
     * @throws TypeError for a malformed id or revision.
     * @example
     * const { ann } = await people.revsDiff({ ann: ['3-…', '2-…'] })   // { missing: ['3-…'], possibleAncestors: ['2-…'] }
     */
    revsDiff(revs: Readonly<Record<string, readonly string[]>>): Promise<Record<string, MissingRevisions>>;
    /**
     * The documents that have several live leaves, by id. Costs as much as there are such documents, however many others.
     *
     * @example
     * for (const { id } of await people.conflicts()) await people.resolve(id, ([mine, ...others]) => merge(mine, others))
     */
    conflicts(): Promise<ConflictedDocument[]>;
    /**
     * Ends the conflicts of a document. `choose` gets its live leaves, the winner first. What it returns replaces the
     * winner, and the other leaves are deleted, all in one commit. `choose` must be synchronous and may be called again.
     * If it returns undefined everything stays as it is.
     *
     * @throws PANNIER_NOT_FOUND if there is no such document. What `choose` throws is passed on.
     * @example
     * await people.resolve('ann', (leaves) => ({ ...leaves[0]!, tags: leaves.flatMap(({ tags }) => tags ?? []) }))
     */
    resolve(id: string, choose: (leaves: RevisionDocument<T>[]) => DocumentInput<T> | undefined): Promise<WriteResult>;
    /**
     * Removes leaf revisions without a trace, each with the ancestors that only it has. Other replicas don't learn of it,
     * and may bring them back. Without `revs` nothing is left of the document, not even a tombstone. Revisions that are
     * not leaves stay.
     *
     * @throws TypeError for a malformed revision.
     * @example
     * await people.purge('ann')
     */
    purge(id: string, revs?: string | readonly string[]): Promise<PurgeResult>;
    /**
     * Removes the content of replaced revisions, which a collection with `history` keeps. Also removes what interrupted
     * uploads of attachments have left, if they ended at least 15 minutes ago. Resolves with the number of revisions that
     * lost their content. It works in small steps: others write in between. A signal ends it after a step.
     *
     * @example
     * const forgotten = await people.compact()
     */
    compact(options?: Pick<LongWork, 'signal'>): Promise<number>;
}

/**
 * A map/reduce view. It is built by the first query and kept up to date by those that follow, each with what was written since. A view
 * with a `version` is kept in the database.
 *
 * @example
 * const byCity = people.view('byCity', {
 *   map: (person, emit: Emit<string, number>) => emit(person.city ?? '', person.age),
 *   reduce: '_stats',
 *   version: 1,
 * })
 * const { rows } = await byCity.query({ group: true })
 */
export class View<Document, Key = unknown, Value = unknown, Result = never> {
    /** Undefined: an ad-hoc view. */
    readonly name: string | undefined;
    /**
     * The rows that the options ask for, or what they reduce to.
     *
     * @throws PANNIER_ABORTED if it was cancelled. A TypeError for options that go against each other.
     * @example
     * await byCity.query({ gte: 'A', lt: 'B', reduce: false, limit: 20 })
     */
    query(options: ViewOptions & {
        readonly reduce: false;
    }): Promise<ViewResult<Key, Value, ViewRow<Key, Value, Document>>>;
    query(options?: ViewOptions): Promise<ViewResult<Key, Value, ViewAnswer<Document, Key, Value, Result>>>;
    /**
     * As `query`, one row after another, so that they need not all be in memory.
     *
     * @example
     * for await (const { key, value } of byCity.rows({ reduce: false })) console.log(key, value)
     */
    rows(options: ViewOptions & {
        readonly reduce: false;
    }): AsyncGenerator<ViewRow<Key, Value, Document>, void, undefined>;
    rows(options?: ViewOptions): AsyncGenerator<ViewAnswer<Document, Key, Value, Result>, void, undefined>;
    /**
     * Takes in what was written; a query does so by itself. Of use when a first build is to be done before it is needed.
     *
     * @example
     * await byCity.update({ onProgress: (done) => show(done) })
     */
    update(options?: Pick<ViewOptions, 'signal' | 'onProgress'>): Promise<void>;
    /**
     * How large the view is, and how much of the collection it has taken in.
     *
     * @example
     * const { rows, pending } = await byCity.info()
     */
    info(): Promise<ViewInfo>;
    /**
     * Forgets what was built at once, whatever its size; the next query builds it again. False if nothing was built.
     *
     * @example
     * await byCity.drop()
     */
    drop(): Promise<boolean>;
}

/** The parts of a view. Functions must be pure: the same for the same document each time. */
export interface ViewDefinition<Document, Key, Value, Reduce> {
    /**
     * Called with each document; what it emits are the rows. To have rows typed, say what `emit` takes: `emit: Emit<string, number>`.
     * A document for which it throws is left out (`info()` tells).
     */
    readonly map: (document: Document, emit: Emit<Key, Value>) => unknown;
    /**
     * Maps many documents at a time, instead of `map`: for functions that run elsewhere, in a thread or a sandbox. Needs
     * a `version`. If it rejects, the update of the view ends with that error and continues with the next query.
     */
    readonly mapMany?: MapMany<Document>;
    /** The function that reduces rows of equal keys (or all rows). The built-in ones are kept in the tree and cost no walk. */
    readonly reduce?: Reduce;
    /**
     * With it the database keeps what was built, for later runs and other tabs. Change it when the functions mean something else although
     * the source of `map` is the same: they use another value from outside, say. Without it the rows are in memory, and belong to this very
     * function: another one with the same source starts again.
     */
    readonly version?: string | number;
    /** The order of strings in keys: the name of one that `registerCollation` was given. By default that of code points. */
    readonly collation?: string;
}

/** Which rows of a view a query has, and in which form. */
export interface ViewOptions {
    /** Rows with this key only. */
    readonly key?: unknown;
    /** Rows with these keys only, in the order given. */
    readonly keys?: readonly unknown[];
    /** Rows whose key is not lower, in key order (null, false, true, numbers, strings, arrays, objects). */
    readonly gte?: unknown;
    /** Rows whose key is greater. */
    readonly gt?: unknown;
    /** Rows whose key is not greater. */
    readonly lte?: unknown;
    /** Rows whose key is lower. */
    readonly lt?: unknown;
    /** With `gte`, `gt` or `key`: of the rows with exactly that key, those from this document on (`gt`: after it). */
    readonly fromId?: string;
    /** With `lte`, `lt` or `key`: of the rows with exactly that key, those up to this document (`lt`: before it). */
    readonly toId?: string;
    /** From the highest key down. Bounds stay what they are. */
    readonly descending?: boolean;
    /** Leaves out that many rows at the start: by rank, without walking them. */
    readonly skip?: number;
    /** At most that many rows. */
    readonly limit?: number;
    /** False: the rows as they were emitted. By default a view that has a reduce gives its results. */
    readonly reduce?: boolean;
    /** True: a result for each key; a number: for each different start of that many elements of keys that are arrays. */
    readonly group?: boolean | number;
    /** Adds to each row its document: `doc`. Where the value has an `_id`, the document with that id. */
    readonly docs?: boolean;
    /** Adds to each document its other leaf revisions, `_conflicts`. */
    readonly conflicts?: boolean;
    /** When what was written since is taken in: 'before' the query (default), 'after' it, or 'never'. */
    readonly update?: 'before' | 'after' | 'never';
    /** Cancels the query and the update that it may have to wait for: PANNIER_ABORTED. */
    readonly signal?: AbortSignal;
    /** Called during the update that the query may have to wait for, with the part that is done, 0 to 1. */
    readonly onProgress?: (done: number) => void;
}

/** The answer of a query of a view. */
export interface ViewResult<Key = unknown, Value = unknown, Row = ViewRow<Key, Value> | ReducedRow<Key, Value>> {
    /** Rows that the view has in all. Undefined of reduced ones. */
    readonly total?: number;
    /** Rows that stand before the first one given, in the direction of the query. Undefined of reduced ones. */
    readonly offset?: number;
    /** The view holds what was written up to this sequence number. */
    readonly updateSeq: number;
    /** The rows, in the order of their keys. */
    readonly rows: Row[];
}

/** A row as it was emitted. */
export interface ViewRow<Key = unknown, Value = unknown, Document = unknown> {
    /** The id of the document that it was emitted for. */
    readonly id: string;
    /** The key that `map` emitted. */
    readonly key: Key;
    /** The value that `map` emitted. */
    readonly value: Value;
    /** With `docs`: the document, or null if it is gone. */
    readonly doc?: Document | null;
}

/** A filter of `find` beside a selector. An immutable value. */
export class WhereFilter extends BuiltPredicate {
    /**
     * Documents that meet this filter and all of the others.
     *
     * @example
     * people.find(where(people, 'age').gte(18).and(where(people, 'city').eq('Oslo')))
     */
    and(...others: WhereFilter[]): WhereFilter;
    /**
     * Documents that meet this filter or one of the others.
     *
     * @example
     * people.find(where(people, 'age').lt(18).or(where(people, 'age').gte(65)))
     */
    or(...others: WhereFilter[]): WhereFilter;
    /**
     * A missing field meets neither a condition nor its negation.
     *
     * @example
     * people.find(where(people, 'city').eq('Oslo').not())
     */
    not(): WhereFilter;
}

/** A document of a batch with `atomic: false` that was not written. */
export interface WriteFailure {
    /** The id of the document. */
    readonly id: string;
    /** The error: why it was not written. */
    readonly error: PannierError;
}

/** The outcome of a document in a batch that is not all or nothing. */
export type WriteOutcome = WriteResult | WriteFailure;

/** The id and the new revision of a document that was written. */
export interface WriteResult {
    /** The id of the document. */
    readonly id: string;
    /** The new revision, `N-hash`. */
    readonly rev: string;
}

/**
 * Destroys a database with everything in it; does nothing if it does not exist. Unlike `db.destroy()` it needs no key.
 * Handles that are open elsewhere end at once: their calls reject with PANNIER_CLOSED, what is live fails, and `db.closed` resolves.
 *
 * @throws PANNIER_BLOCKED if another tab does not release it; PANNIER_LOCKED
 */
export function destroy(name: string, options?: DestroyOptions): Promise<void>;

/**
 * A storage that stands for several. A database is opened in the storage that has it. A new one is created in the first
 * that works here. `db.storage` says which that is, `db.moveTo` moves it.
 *
 * A database that is there is never made again elsewhere: if it can't be opened where it is, `open` fails.
 *
 * @throws (`open`) PANNIER_UNAVAILABLE if none of them works here, or the one that has the database does not. PANNIER_EXISTS if two of
 *   them have that database, and neither is the copy of an interrupted move; `onSeveral` says which one to open.
 * @example
 * import { firstOf, open } from 'pannier'
 * import { indexedDb } from 'pannier/indexeddb'
 * import { opfs } from 'pannier/opfs'
 * const db = await open('shop', { storage: firstOf(opfs(), indexedDb()) })
 */
export function firstOf(...parts: readonly DatabaseStorage[] | readonly [...DatabaseStorage[], FirstOfOptions]): DatabaseStorage;

/** True for a `PannierError`, and with `code` given only for one that carries it. */
export function isPannierError(error: unknown, code?: ErrorCode): error is PannierError;

/**
 * Opens a database, creating it if need be. The same one may be opened several times, in one or in many tabs.
 *
 * @param name In Node the path of a file. In a browser any name; it is shared by all pages of the origin.
 * @throws PANNIER_LOCKED if another process has the file open; PANNIER_OPEN_FAILED, PANNIER_UNAVAILABLE,
 *   PANNIER_ENCRYPTED, PANNIER_NOT_ENCRYPTED, PANNIER_KEY_WRONG, PANNIER_FORMAT_WRONG, PANNIER_FORMAT_NEWER, PANNIER_CORRUPT, PANNIER_QUOTA_EXCEEDED; with `from` also PANNIER_EXISTS. When
 *   a snapshot can't be restored nothing of it stays.
 * @example
 * await using db = await open('shop', { collections: { people: { indexes: ['age', ['city', '-age']] } } })
 * const people = db.collection<Person>('people')
 * @example
 * const db = await open('notes', { encryption: { password } })
 * @example
 * // The first time, the database comes from a snapshot that is downloaded.
 * const db = await open('shop', { from: async () => (await fetch('/shop.snapshot')).body! })
 */
export function open<Schemas extends object = object, const Relations extends object = object>(name: string, options?: OpenOptions<Schemas, Relations>): Promise<Database<Schemas, Relations>>;

/**
 * Loads all parts of the library that are otherwise loaded on demand, some 170 KiB compressed. Afterwards the page
 * needs no file of the library. It keeps working without a network, and after a new version of the app has replaced the
 * old files. Call it when the page is idle. Calling it again loads what could not be loaded.
 *
 * @throws PANNIER_MODULE_NOT_LOADED if a part can't be loaded; the others are.
 * @example
 * const db = await open('shop')
 * requestIdleCallback(() => preload().catch(console.warn))
 */
export function preload(): Promise<void>;

/**
 * Registers an order of strings in this process, for the `collation` of queries, indexes and views. Pannier stores the
 * name, so one name must always mean the same order.
 *
 * @throws TypeError for a wrong name or key.
 * @example
 * registerCollation({ name: 'lower case 1', key: (text) => text.toLowerCase() })
 */
export function registerCollation(collation: Collation): void;

/**
 * Makes a healthy database from what can be read of a damaged one: documents with revisions and attachments, local
 * documents, settings and indexes. The damaged database must not be open, and stays unchanged. `repair` reads past
 * damaged pages, and takes documents from commits behind a damaged one. From an encrypted database it takes what
 * authenticates. The new database is another replica: its sequences begin again, and views are built on first use.
 *
 * @throws PANNIER_EXISTS if a database `to` exists; PANNIER_NOT_FOUND if no database `name` exists. PANNIER_CORRUPT if
 *   nothing can be read, because the meta record is damaged; PANNIER_ABORTED; as `open`.
 * @example
 * const report = await repair('shop', { to: 'shop-repaired' })
 * if (!report.isComplete) show(report.problems, report.collections)
 */
export function repair(name: string, options: RepairOptions): Promise<RepairReport>;

/**
 * Begins a condition on the field at a path: 'age', 'address.city'. With the collection, the path and the values are
 * checked by the types of its documents.
 *
 * @example
 * await people.find(where(people, 'age').gte(18)).toArray()
 * await people.find(where('age').gte(18)).toArray()
 */
export function where<Document extends object, Path extends FieldPath<Document>>(collection: {
    find(): Query<object, Document>;
}, path: Path): FieldFilters<FieldValue<Document, Path>>;
export function where(path: string): FieldFilters;

/**
 * The part of an array that a condition is about: 'whole': only the array itself, 'elements': only its elements. Undefined: its elements,
 * and it itself where an operand of a comparison is an array.
 */
type AboutArrays = 'whole' | 'elements';

interface ActualWork {
    /** Rows that the query gave. */
    readonly rows: number;
    /** Documents that were read. */
    readonly documents: number;
    /** Pages that were read because they were not in memory. */
    readonly pages: number;
}

/**
 * One result.
 *
 * - `$count`: of documents.
 * - `$min`, `$max`: by the order of all values; missing and null don't count. Arrays count as a whole, here and below.
 * - `$sum`, `$avg`: of numbers; whatever is no number does not count.
 * - `$distinct`: the different values, ascending; missing does not count.
 */
type Aggregate<Path extends string = string> = {
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
interface AggregateExplanation {
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
type AggregateValue<Document, One> = One extends {
    readonly $min: infer Path extends string;
} ? NonNullable<FieldValue<Document, Path>> | undefined : One extends {
    readonly $max: infer Path extends string;
} ? NonNullable<FieldValue<Document, Path>> | undefined : One extends {
    readonly $distinct: infer Path extends string;
} ? Exclude<FieldValue<Document, Path>, undefined>[] : One extends {
    readonly $avg: string;
} ? number | undefined : number;

/** The result of aggregates. */
type Aggregated<Document, Wanted> = {
    -readonly [Name in keyof Wanted]: AggregateValue<Document, Wanted[Name]>;
};

/** Results by name. */
type Aggregates<Document> = {
    readonly [name: string]: Aggregate<FieldPath<Document>>;
};

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

/** Options of an atomic batch, which is the default: it writes all documents or none. */
interface AtomicOptions {
    /** The batch writes all documents or none. */
    readonly atomic?: true;
}

/**
 * Content of an attachment in a document. A string is base64, as in CouchDB's JSON. Streams are read once, a Blob in pieces: neither is ever
 * held in memory as a whole. Bytes must not be changed before the write has ended.
 */
type AttachmentData = Blob | ArrayBuffer | ArrayBufferView | string | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** How the content of attachments is given inside of documents. */
type AttachmentForm = 'base64' | 'blob' | 'bytes';

/** A new attachment in `_attachments` of a document that is written. */
interface AttachmentInput {
    /** The content. */
    readonly data: AttachmentData;
    /** By default that of the Blob, else 'application/octet-stream'. */
    readonly contentType?: string;
}

/** `_attachments` of a document that is written: what is not named in it goes. */
type AttachmentInputs = Readonly<Record<string, AttachmentInput | AttachmentStubInput>>;

/** Keeps the attachment of that name which the revision before has. The stubs of documents that were read are such. */
interface AttachmentStubInput {
    /** Keeps the attachment that the document has under this name. */
    readonly stub: true;
    /** If given it must be that of the attachment. */
    readonly digest?: string;
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

/** Whether a batch is all or nothing. */
interface BatchOptions {
    /** False: a document that can't be written does not keep the others from being written. */
    readonly atomic?: boolean;
}

/** The operand of an order for a field. */
type Bound<Value> = unknown extends Value ? JsonValue : Wide<Operand<Value>> | null;

type Brand<T, Name extends string> = T & {
    readonly [brand]: Name;
};

/** Reducers that are built in, as in CouchDB. */
type BuiltInReduce = '_sum' | '_count' | '_stats' | '_approx_count_distinct';

/** The result of a built-in reduce. */
type BuiltInResult<Reduce, Value> = Reduce extends '_sum' ? Value : Reduce extends '_stats' ? NumberStatistics : number;

/** A predicate that need not be parsed: what builder.ts makes. */
class BuiltPredicate {
    readonly predicate: Predicate;
    constructor(predicate: Predicate);
}

/** The result for a document that `bulkGet` was asked for. */
type BulkGetResult<T extends object, Document = RevisionDocument<T>> = {
    readonly id: string;
    readonly ok: Document;
} | {
    readonly id: string;
    readonly missing: string | undefined;
};

/** A part of the content, as `slice` has it: up to but not including `end`. What lies beyond the content is left out. */
interface ByteRange {
    /** The start: the first byte, from 0; 0 when left out. */
    readonly start?: number;
    /** The end: the byte after the last one; the length when left out. */
    readonly end?: number;
}

/** Where bytes come from. Text stands for its UTF-8. */
type ByteSource = ReadableStream<Uint8Array> | Blob | Uint8Array | ArrayBuffer | string | AsyncIterable<Uint8Array | string>;

/** In a sort: the order of creation, which is that of the documents' numbers. */
const CREATED = "$created";

/** Changes of one read, and where to continue. */
interface ChangesPage<T extends object> {
    /** In the order of their sequence numbers. */
    readonly changes: DocumentChange<Stored<T>>[];
    /** The `since` of the next page. */
    readonly lastSeq: number;
    /** Changes after `lastSeq`, filtered or not. */
    readonly pending: number;
}

/** The peers that keep replication checkpoints. One peer alone must trust that the other has lost nothing. */
type CheckpointSides = 'both' | 'source' | 'target' | 'none';

/** An order of strings, for `registerCollation`. */
interface Collation {
    /** The name with the version: 'icu-root 15'. */
    readonly name: string;
    /** The sort key of a text. Its code points order strings; it is equal for strings that count as equal. '' gives ''. Must be pure. */
    readonly key: (text: string) => string;
}

/** The changes of a commit in one collection. */
interface CollectionChange {
    /** The ids of written, deleted and purged documents; undefined if they are too many to list, or not known. */
    readonly ids: readonly string[] | undefined;
    /** The collection was dropped. */
    readonly dropped: boolean;
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

/** Options of `collection.replicate`: `to` sends this collection's changes there, `from` fetches the changes of that one. */
type CollectionReplicateOptions = ReplicationOptions & ({
    readonly to: ReplicationTarget;
    readonly from?: undefined;
} | {
    readonly from: ReplicationTarget;
    readonly to?: undefined;
});

/** A collection, and the rules of its owner for replicating from or to it. */
interface CollectionSide extends CollectionHost {
    /** The collection to replicate from or to. */
    readonly collection: Exclude<ReplicationTarget, string | URL>;
}

/** Selectors that are joined. */
interface Combinations<T> {
    readonly $and?: readonly Selector<T>[];
    readonly $or?: readonly Selector<T>[];
    readonly $nor?: readonly Selector<T>[];
    readonly $not?: Selector<T>;
}

/** Pages and the meta record, put together. */
interface Commit {
    /** Fence: fails with PANNIER_STALE unless the stored meta record has this generation (0: no meta record). */
    readonly expectedGeneration: Generation;
    /** The token given to `claim` when pages were staged for this commit; fails with PANNIER_STALE if another has claimed since. */
    readonly claim?: string;
    /** Pages beyond those staged. Every id is at least `claim`'s `firstNewPageId`. Pulled one by one, so that they need not all exist at once. */
    readonly pages: Iterable<Page>;
    /** Deleted, so that their room can be used again. Unknown ids are ignored. */
    readonly free: readonly PageId[];
    /** The meta record with the generation `expectedGeneration + 1`. */
    readonly meta: MetaRecord;
    /** The lowest page id that this commit may have written; what an abandoned claim left at or above it is deleted first. */
    readonly firstNewPageId: PageId;
    /**
     * For a commit that skips the log: its record (a mere mark), put in the same transaction. Its sequence is
     * `meta.sequence`. Fenced like `append`.
     */
    readonly record?: LogRecord;
    /** Replaces the log seal in the same transaction. Only together with `record`. */
    readonly logSeal?: Uint8Array;
    readonly durability: Durability;
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
    /** As `takes` of the operator says. */
    readonly operand: JsonValue;
}

/** A document with conflicts: the revision that wins, and the other live leaves. */
interface ConflictedDocument {
    /** The id of the document. */
    readonly id: string;
    /** The winning revision. */
    readonly rev: string;
    /** The other live leaf revisions. */
    readonly conflicts: readonly string[];
}

/** The value, or an element of an array, is a string in which this text stands, upper or lower case (match.ts, `foldText`). */
interface ContainsPredicate {
    readonly kind: 'contains';
    readonly path: string;
    readonly text: string;
}

/** Unlike `Omit` it keeps the members of a union apart, and known fields beside an index signature. */
type ContentOf<T> = T extends unknown ? {
    [Name in keyof T as Exclude<Name, keyof InputMeta>]: HasDate<T[Name]> extends true ? DatesAreNotStored : T[Name];
} : never;

/** One handle among those of a database. */
interface Coordinator {
    /** Handles in this realm whose coordinators have the same are handles of the same database. */
    readonly realm?: string;
    /**
     * Resolves when this handle has the lease. First come, first served. A holder that does not answer for
     * `WRITER_SILENCE_MS_MAX` (frozen tab or server) loses its lease. At most one request or lease a handle at a time.
     */
    acquireWriter(): Promise<WriterLease>;
    /** Tells every other handle. */
    announce(hint: Hint): void;
    /**
     * One listener a handle. Also called after this handle was asleep (thawed, restored from the back/forward cache), and at once if
     * something came before there was a listener.
     */
    onHint(listener: (hint: Hint | undefined) => void): void;
    /**
     * States the oldest generation whose pages this handle may still read; replaces what it stated before. Resolves when others
     * can see it. A pin may be lost while its handle is frozen, and the handle does
     * not learn of it. So a read that misses a page looks for a newer state.
     */
    pin(generation: Generation): Promise<void>;
    /** The oldest generation pinned by any handle, this one included; undefined without pins. */
    oldestPinned(): Promise<Generation | undefined>;
    /** Ends the lease, the pin and the listening. */
    close(): void;
}

/** Options of `db.replicate`. */
interface DatabaseReplicateOptions extends ReplicationOptions {
    /** The source. */
    readonly from: ReplicationSide;
    /** The target. */
    readonly to: ReplicationSide;
}

/** The value that a field of a type with Dates takes: none. What is read back would be a string that the type calls a Date. */
type DatesAreNotStored = 'a Date is not stored: make the field a string (toISOString) or a number (getTime)';

/** Options of `deleteAttachment`. */
interface DeleteAttachmentOptions {
    /** Only if this is the current revision of the document (or one of several in conflict). */
    readonly rev?: string;
}

/** A tombstone as it is handed in. */
interface DeletedInput extends InputMeta {
    /** The id of the document. */
    readonly _id: string;
    /** Marks a tombstone. */
    readonly _deleted: true;
}

/** A row of a deleted document that was asked for by its id. */
interface DeletedRow {
    /** The id of the document. */
    readonly id: string;
    /** The revision of its tombstone. */
    readonly rev: string;
    /** Marks a deleted document. */
    readonly deleted: true;
}

/** Names of a path that is checked; longer ones are not. */
type Depth = 4;

/** Options of `destroy`. */
interface DestroyOptions {
    /** The storage where it is kept; as for `open`. */
    readonly storage?: DatabaseStorage;
}

/** Options of one direction. */
interface DirectionOptions {
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

type DistinctValues<Document, Path extends string> = Exclude<FieldValue<Document, Path>, undefined>[];

/** A problem of a document and its path, as `details.issues` of PANNIER_DOCUMENT_INVALID has it. */
interface DocumentIssue {
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
class DocumentList<Row> implements AsyncIterable<Row> {
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

/** Documents of the collection `Name`; `Schemas` has the schema of each collection by its name. */
type DocumentOf<Schemas extends object, Name extends string> = SchemaOutput<SchemaOf<Schemas, Name>>;

/** A document, or what names it: with `_rev` it is meant in that revision only. */
type DocumentReference = string | {
    readonly _id: string;
    readonly _rev?: string;
};

/** A document that is read with the content of its attachments. */
type DocumentWithAttachments<T extends object> = Omit<RevisionDocument<T>, '_attachments'> & {
    readonly _attachments?: Readonly<Record<string, InlineAttachment>>;
};

/** Documents with one key. */
interface DuplicateKey {
    /** The values of the index's fields. */
    readonly key: readonly unknown[];
    /** The documents that have this key. */
    readonly ids: readonly string[];
}

/** 'relaxed': survives the end of the process or tab. 'strict': survives a loss of power. */
type Durability = 'relaxed' | 'strict';

/** Whether a write makes a new revision or takes up one that another replica has made. */
interface EditOptions {
    /** Whether edits are new. False: the revisions were made elsewhere, and are taken up as they are. */
    readonly newEdits?: boolean;
}

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

/** The result of `encryption.info()`. */
interface EncryptionInfo {
    /** Records that the key has sealed, at most. */
    readonly keyUses: number;
    /** Time for `rotateKey`: the key was used 2^28 times. At 2^31 writes are refused. */
    readonly isRotationDue: boolean;
    /** A rotation is running; an interrupted one continues by itself. */
    readonly isRotating: boolean;
}

/** A password or key that can open the database. */
interface EncryptionSlot {
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

/** The operand of equality for a field; any JSON value if its type is unknown. */
type Equal<Value> = unknown extends Value ? JsonValue : Operand<Value> | null;

/** An object is not compared with but has conditions inside. */
type EqualTo<Value> = Value extends Primitive | readonly unknown[] ? Value : Value extends object ? never : Value;

interface EventOf<Type extends string> {
    readonly type: Type;
    readonly collection: string;
    readonly direction: ReplicationDirection;
}

interface ExistsPredicate {
    readonly kind: 'exists';
    readonly path: string;
}

/** Options of `explain`. */
interface ExplainOptions {
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
type ExportFormat = 'ndjson' | 'json' | 'couchdb' | 'couchdb-bulk' | 'replica';

/** Options of `collection.export`. */
interface ExportOptions<T extends object> extends LongWork {
    /** The format; 'ndjson' when left out. */
    readonly format?: ExportFormat | undefined;
    /** Only documents that it matches. */
    readonly selector?: Selector<Identified<T>> | undefined;
    /** The content of attachments too, as base64, and not only their names. */
    readonly attachments?: boolean | undefined;
}

/** Sends an HTTP request, as the platform's `fetch` does. */
type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** A condition on a field: a value that it must equal, operators, or conditions on fields inside it. */
type FieldCondition<Value> = unknown extends Value ? unknown : EqualTo<Operand<Value>> | (Operators<Operand<Value>> & InnerConditions<ObjectIn<Value>> & QuantifiersOf<Value>);

type FieldConditions<T> = IsLoose<T> extends true ? {
    readonly [Name in NamedKey<T>]?: FieldCondition<T[Name]>;
} & {
    readonly [path: string]: unknown;
} : {
    readonly [Path in FieldPath<T>]?: Path extends FreePath ? unknown : FieldCondition<FieldValue<T, Path>>;
};

/** Conditions on one field. Each method says what the operator of that name says in a selector. */
class FieldFilters<Value = unknown> {
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
type FieldPath<T> = IsLoose<T> extends true ? string : PathOf<T, Depth> | FreePath;

/** The value at a path; undefined is part of it where the field may be missing. */
type FieldValue<T, Path extends string> = unknown extends T ? unknown : string extends Path ? unknown : T extends readonly (infer Element)[] ? Path extends `${number}` ? Element | undefined : Path extends `${number}.${infer Rest}` ? FieldValue<Element, Rest> | undefined : undefined : T extends object ? Path extends keyof T ? T[Path] : Path extends `${infer Name}.${infer Rest}` ? Name extends keyof T ? FieldValue<T[Name], Rest> : undefined : undefined : undefined;

/** Data for a filter. */
type FilterParameters = Readonly<Record<string, string>> | undefined;

type Flat<T> = {
    [Name in keyof T]: T[Name];
};

/** Unchecked paths: names with dots, and paths of more names than `Depth`. One pattern for all is fast to compare. */
type FreePath = `${string}\\.${string}` | `${string}.${string}.${string}.${string}.${string}`;

/** Numbers the meta records of one database: each storage checkpoint raises it by one. 0: nothing was written yet. */
type Generation = Brand<number, 'Generation'>;

/** Options of `getAttachment`: a range of bytes, and the revision of the document. */
interface GetAttachmentOptions extends ByteRange {
    /** The revision of the document. */
    readonly rev?: string;
}

/** `why`: PANNIER_CLOSED. */
type GoneListener = (why: PannierError) => void;

/**
 * Rows have the fields that documents are grouped by, as far as they are there, and the aggregates. They come in the order of
 * the former, unless they are sorted. `Row`: the rows; `Document`: what is grouped.
 */
class Groups<Row extends object, Document extends object> implements AsyncIterable<Row> {
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

/** Whether values of the type hold Dates, as far as can be seen in few steps. */
type HasDate<Value, Left extends 0 | 1 | 2 | 3 = 3> = true extends (unknown extends Value ? false : Value extends Date ? true : Left extends 0 ? false : Value extends readonly (infer Element)[] ? HasDate<Element, [0, 0, 1, 2][Left]> : Value extends object ? HasDate<Value[keyof Value], [0, 0, 1, 2][Left]> : false) ? true : false;

/** A hint: "There may be more to read." May be lost, doubled or late. */
interface Hint {
    /** The newest commit. */
    readonly sequence: CommitSequence;
    /** The newest meta record. */
    readonly generation: Generation;
}

/** How requests to a server are made. */
interface HttpClientOptions {
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
interface HttpPeerOptions extends HttpClientOptions {
    /** How often an idle server sends a heartbeat; 10,000 when left out. */
    readonly heartbeatMs?: number | undefined;
}

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

/** A document that was not imported. */
interface ImportFailure {
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
type ImportFormat = 'ndjson' | 'json' | 'couchdb';

/**
 * - 'insert': a document whose id is taken fails.
 * - 'upsert': it replaces what is there.
 * - 'replicate': the revisions of the source are taken up as they are, as by `put(documents, { newEdits: false })`.
 */
type ImportMode = 'insert' | 'upsert' | 'replicate';

/** Options of `collection.import`. */
interface ImportOptions {
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
interface ImportProgress {
    /** The bytes read up to now, and in all where that is known. */
    readonly bytes: number;
    /** The length of the source in bytes; undefined if it is not known. */
    readonly bytesTotal: number | undefined;
    /** Documents that were written, and those that could not be. */
    readonly imported: number;
    /** Documents that could not be written. */
    readonly failed: number;
}

/** A declaration in full: a definition that has no number yet. */
type IndexDeclaration = Omit<IndexDefinition, 'number' | 'builtTo'>;

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

/** An attachment in a document that is read with its attachments. */
type InlineAttachment = Omit<AttachmentStub, 'length' | 'stub'> & {
    readonly data: string | Blob | Uint8Array;
};

/** Also parts of an array come as an object. */
type Inner<Value, Path extends string> = unknown extends Value ? unknown : Value extends readonly (infer Element)[] ? {
    [Index in `${number}`]?: Path extends `${number}` ? Element : unknown;
} : Value extends object ? Projected<Value, Path> : never;

type InnerConditions<Value> = [Value] extends [never] ? unknown : FieldConditions<Value>;

/** The fields of a written document beside its content. The fields that reads give about revisions are ignored. */
interface InputMeta extends Omit<RevisionMeta, '_deleted'> {
    /** The id. Without one it gets one. */
    readonly _id?: string;
    /** The revision that the write replaces. */
    readonly _rev?: string;
    /** The document is deleted; what else it holds stays readable in its tombstone. */
    readonly _deleted?: boolean;
    /** The attachments that the document is to have; a stub keeps the attachment of the revision before under that name. */
    readonly _attachments?: AttachmentInputs;
}

/** The input of a collection: documents as they are written. */
type InputOf<Schemas extends object, Name extends string> = SchemaInput<SchemaOf<Schemas, Name>>;

type IsLoose<T> = string extends keyof T ? true : false;

/** Whether the object is there whenever the document is: only with a field that is. */
type IsSure<Value, Path extends string> = unknown extends Value ? false : [Value] extends [readonly unknown[]] ? false : [Value] extends [object] ? Partial<Record<never, never>> extends Inner<Value, Path> ? false : true : false;

type JsonDocument = Readonly<Record<string, unknown>>;

/** Any value that a document can hold. */
type JsonValue = null | boolean | number | string | readonly JsonValue[] | {
    readonly [name: string]: JsonValue;
};

/** Names of collections: any, or where the database was opened with some, these. Another one takes the type of its documents. */
type KnownName<Schemas extends object> = [keyof Schemas] extends [never] ? string : keyof Schemas & string;

/** The state that a handle has seen already, so that `read` gives it only the news. */
interface KnownState {
    /** The meta record. */
    readonly generation: Generation;
    /** The newest log record. */
    readonly sequence: CommitSequence;
}

type Less = [never, 0, 1, 2, 3];

interface ListHead {
    /** Documents in the collection. */
    readonly total: number;
    /** Documents before the first row, in the direction of the list; undefined for a list by ids, which has no place of its own. */
    readonly offset: number | undefined;
    /** The collection's last sequence number: a feed from here on has what is not in the list. */
    readonly seq: number;
}

/** The documents with these ids, in this order, instead of a range. */
interface ListIdsOptions extends Omit<ListOptions, keyof IdRange> {
    /** The ids, in the order of the rows. An id may occur more than once. */
    readonly ids: readonly string[];
}

/** Where a list begins and ends, in the order of ids: by code point. */
interface ListOptions extends IdRange {
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
interface ListPage<Row> extends ListHead {
    /** The rows. */
    readonly rows: Row[];
}

/** A row of a list by ids: a document, a deleted one, or none. */
type ListRow<T extends object = StoredDocument> = ListedRow<T> | DeletedRow | MissingRow;

/** A document. */
interface ListedRow<T extends object = StoredDocument> {
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
type LiveChange<Row> = {
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
type LiveStatus = 'loading' | 'live' | 'ended' | 'failed';

/**
 * Documents that belong to this replica of the collection, such as replication checkpoints. They are not replicated,
 * and are in neither the change feed nor counts, lists or queries. Their revisions are `0-1`, `0-2`, …; a deleted one
 * leaves nothing behind. Ids may be given with or without the `_local/` that documents carry.
 *
 * @example
 * const seen = await people.local.get('seen')
 * await people.local.put({ ...seen, _id: 'seen', seq })
 */
class LocalDocuments {
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
type LocalInput = JsonObject & {
    readonly _id: string;
    readonly _rev?: string;
};

/** Which local documents a list has. */
interface LocalListOptions extends IdRange {
    /** The highest number of rows. */
    readonly limit?: number;
}

/** A commit in the log. */
interface LogRecord {
    /** Dense: each record's sequence is its predecessor's plus one, starting at 1. */
    readonly sequence: CommitSequence;
    /** The changes, encoded. */
    readonly bytes: Uint8Array;
}

/** For each document, in order, the rows that `map` would emit for it, or why it has none. */
type MapMany<Document> = (documents: readonly Document[]) => Promise<readonly (readonly (readonly [key: unknown, value: unknown])[] | Error)[]>;

/** There already where a backend or the cache is synchronous, and promised where it is not. */
type MaybePromise<T> = T | Promise<T>;

/** The root of everything that is stored in pages. One exists per database, replaced whole by `commit`. */
interface MetaRecord {
    /** Raised by one with each `commit`. The first is 1. */
    readonly generation: Generation;
    /** The pages hold every commit up to and including this one; log records after it are to be replayed. */
    readonly sequence: CommitSequence;
    /** The roots of all trees, encoded. */
    readonly bytes: Uint8Array;
}

/** A document that is kept as it was, because it could not be migrated. */
interface MigrationFailure {
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
interface MissingRevisions {
    /** The missing revisions, which are not known here. */
    readonly missing: readonly string[];
    /** Possible ancestors: leaves that it has and that the missing ones may descend from; left out if empty. */
    readonly possibleAncestors?: readonly string[];
}

/** There never was a document with this id. */
interface MissingRow {
    /** The id that was asked for. */
    readonly id: string;
    /** Says that there is no such document. */
    readonly error: 'not_found';
}

/** The value, or an element of an array, is a whole number that leaves this remainder. */
interface ModPredicate {
    readonly kind: 'mod';
    readonly path: string;
    readonly divisor: number;
    readonly remainder: number;
    readonly arrays?: 'whole' | undefined;
}

/** Options of `db.moveTo`. */
interface MoveOptions extends LongWork {
    /**
     * The password or key that opens the new database. It must also open the old one if that is encrypted; other passwords and keys are not
     * moved. A plain database becomes encrypted.
     */
    readonly encryption?: Credential;
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

/** Tells whether there is a network. */
interface NetworkStatus {
    /** Whether it is online. False if requests are sure to fail. */
    isOnline(): boolean;
    /** Calls back when that changes. The function returned ends it. */
    subscribe(listener: () => void): () => void;
}

/** Negation as CouchDB has it: the leaves are negated one by one, and a negated leaf still asks for the field to be there. */
interface NotPredicate {
    readonly kind: 'not';
    readonly of: Predicate;
}

type Nothing = Record<never, never>;

/** The result of the reduce `_stats` for numbers. */
interface NumberStatistics {
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

type ObjectIn<Value> = Value extends Primitive | readonly unknown[] ? never : Value extends object ? Value : never;

/** The fate of documents that refer to a deleted one. */
type OnDelete = 'keep' | 'unset' | 'restrict' | 'cascade';

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

/** A path, '-' before it for descending. */
type OrderedPath<Path extends string> = Path | `-${Path}`;

/** A page: trees consist of pages. */
interface Page {
    /** The id, never used twice. */
    readonly id: PageId;
    /** Up to `PAGE_BYTES_MAX`, and what a wrapper adds. */
    readonly bytes: Uint8Array;
}

/** `index`: the position in the ids that were asked for. */
type PageArrived = (index: number, bytes: Uint8Array) => void;

/**
 * Names one page of one database for ever. A page never changes after its write, and its id is never used for another
 * page. So a cached page can never be stale, in any tab. Positive safe integer.
 */
type PageId = Brand<number, 'PageId'>;

/** One handle on a database of a backend. */
interface PageStore {
    /**
     * The meta record, and the log after `meta.sequence`. With `known` whose generation is still current, only the log
     * records after `known.sequence`. The keyring and the log seal in any case. One backend transaction.
     */
    read(known?: KnownState): MaybePromise<StoreState>;
    /**
     * The bytes of each page in the order asked for, undefined for a missing one. How they are fetched (parallel gets, a
     * range, everything) is the store's business. At least one id; no id twice.
     *
     * `arrived` may be called for a page before all are read, with its position in `ids`. So the caller's work on it
     * overlaps with the reading of others. Never, for any of them, or more than once: the result alone counts. It does
     * not throw.
     */
    readPages(ids: readonly PageId[], arrived?: PageArrived): MaybePromise<readonly (Uint8Array | undefined)[]>;
    /**
     * Appends one log record. Fence: fails with PANNIER_STALE unless the newest record in the log is `record.sequence - 1`
     * (or the log is empty and `record.sequence` is 1). To keep that checkable, the log always retains its newest record. Also
     * fails with it if `record.sequence` is 1, no log seal is given, and there is a keyring: that was put by another handle since.
     *
     * `logSeal`, where it is given, replaces the log seal in the same transaction. It costs nothing where it is not given. After an append that
     * failed its record may be there without its log seal; the next one that succeeds sets it right.
     */
    append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): MaybePromise<void>;
    /**
     * Takes over the right to stage pages: from now on `stage` and `commit` with an earlier token fail with
     * PANNIER_STALE. Deletes every page whose id is at least `firstNewPageId` (left by a writer that died while it was
     * staging). Fails with PANNIER_STALE unless the stored meta record has `expectedGeneration` (0: no meta record).
     */
    claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void>;
    /** Writes pages that nothing refers to yet, in one transaction. Fails with PANNIER_STALE if another has claimed since. */
    stage(token: string, pages: readonly Page[]): MaybePromise<void>;
    /**
     * Atomically puts and frees pages, replaces the meta record, ends any claim, and truncates the log. Records with a
     * sequence lower than `meta.sequence` are deleted; the equal one stays, as the fence of `append`.
     */
    commit(commit: Commit): MaybePromise<void>;
    /**
     * Replaces the keyring. Fails with PANNIER_STALE unless the stored keyring equals `expected`, byte by byte. With
     * `expected` undefined the database must be empty: no keyring, no meta record, no log.
     */
    putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): MaybePromise<void>;
    /**
     * Replaces the bytes of existing pages, in one transaction; ignores missing ones. Generation, claim and log stay as
     * they are. As `stage`, it is durable not later than the next `append`, `commit` or `putKeyring`. Fails with
     * PANNIER_STALE unless the keyring that is stored equals `keyring`.
     */
    replacePages(keyring: Uint8Array, pages: readonly Page[]): MaybePromise<void>;
    /** Ids of all stored pages, ascending; for integrity checks. */
    listPages(): MaybePromise<readonly PageId[]>;
    /** Bytes used in the backend as far as it can tell; undefined where it can't. */
    usedBytes(): MaybePromise<number | undefined>;
    /**
     * Calls `listener` once, as soon as the handle is of no use because its database is gone: destroyed, or moved. The calls of a store
     * that can't know fail with PANNIER_CLOSED, which is heard later.
     */
    onGone?(listener: GoneListener): void;
    /** Closes it. Idempotent. Later calls fail with PANNIER_CLOSED. */
    close(): MaybePromise<void>;
}

/** The parts of an error besides its code and message. */
interface PannierErrorOptions {
    /** The error underneath, kept for logs. */
    readonly cause?: unknown;
    /** Facts about the failure that a program may use, e.g. `{ id, rev }` of a conflict. */
    readonly details?: Readonly<Record<string, unknown>>;
}

type PatchOf<T> = T extends unknown ? {
    readonly [Name in keyof T]?: Partial<Record<never, never>> extends Pick<T, Name> ? T[Name] | undefined : T[Name];
} : never;

type PathOf<T, Left extends Less[number] | Depth> = T extends unknown ? {
    [Name in keyof T & string]: Name extends `${string}.${string}` ? never : Name | `${Name}.${PathIn<T[Name], Less[Left]>}`;
}[keyof T & string] : never;

interface PlanStep {
    readonly step: 'full scan' | 'id scan' | 'index scan' | 'number set' | 'union' | 'intersection' | 'complement' | 'missing field' | 'nothing' | 'fetch' | 'filter' | 'sort' | 'skip' | 'limit' | 'project';
    readonly [detail: string]: unknown;
}

type Predicate = AndPredicate | OrPredicate | NotPredicate | ComparePredicate | ExistsPredicate | RegexPredicate | ContainsPredicate | TypePredicate | SizePredicate | ModPredicate | AllPredicate | ElementsPredicate | QuantifiedPredicate;

/** The beginning of a string; never, where the field holds none. */
type Prefix<Value> = unknown extends Value ? string : Text<Operand<Value>>;

/** Asked before `object`: a branded text or number (`string & { __brand: 'Id' }`) is both. */
type Primitive = string | number | boolean | null | undefined;

/**
 * The kind of a problem. The log or a page cannot be read; or trees, documents, revisions, attachments, local documents, indexes or views
 * of a collection do not match each other.
 */
type ProblemCode = 'LOG_DAMAGED' | 'PAGE_DAMAGED' | 'TREE_WRONG' | 'DOCUMENT_WRONG' | 'REVISION_WRONG' | 'ATTACHMENT_WRONG' | 'LOCAL_DOCUMENT_WRONG' | 'INDEX_WRONG' | 'VIEW_WRONG';

/** Exactly these fields of a document; a dotted path gives objects inside it. */
type Projected<T, Path extends string> = IsLoose<T> extends true ? Partial<T> : string extends Path ? Partial<T> : T extends unknown ? Flat<Pick<T, Extract<Path, keyof T>> & {
    [Name in keyof T as Nested<T, Name, Path, true>]: Inner<T[Name], RestOf<Path, Name>>;
} & {
    [Name in keyof T as Nested<T, Name, Path, false>]?: Inner<T[Name], RestOf<Path, Name>>;
}> : never;

/** The result of `purge`. */
interface PurgeResult {
    /** The purged revisions, which were forgotten, ancestors included. */
    readonly purged: readonly string[];
    /** Whether nothing is left of the document. */
    readonly gone: boolean;
}

/** Options of `putAttachment`. */
interface PutAttachmentOptions {
    /** By default that of the Blob, of a text 'text/plain;charset=utf-8', else 'application/octet-stream'. */
    readonly contentType?: string;
    /** Only if this is the current revision of the document (or one of several in conflict). */
    readonly rev?: string;
    /** Gives up: the source is cancelled, and what was stored of it is forgotten. */
    readonly signal?: AbortSignal;
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

/** Conditions on a path that ends with a relation. */
interface Quantifiers<Document> {
    /** Some related document meets all of it. */
    readonly $some?: Selector<Document>;
    /** There are related documents, and all of them meet it. */
    readonly $every?: Selector<Document>;
    /** No related document meets it. */
    readonly $none?: Selector<Document>;
}

type QuantifiersOf<Value> = [TargetOf<Value>] extends [never] ? unknown : Quantifiers<TargetOf<Value>>;

/**
 * Called with rows (`keys`: of each its key and the document's id), or with `rereduce` true and `keys` null with what it
 * returned before. Must be pure. It may give a promise; then rows are reduced one call after the other.
 */
type ReduceFunction<Key = unknown, Value = unknown, Result = unknown> = (keys: (readonly [key: Key, id: string])[] | null, values: (Value | Result)[], rereduce: boolean) => Result;

/** A row that stands for reduced rows. */
interface ReducedRow<Key = unknown, Value = unknown> {
    /** The key of the group; null without groups. */
    readonly key: Key;
    /** The result of the reduce. */
    readonly value: Value;
}

/** The value, or an element of an array, is a string in which the regular expression is found. */
interface RegexPredicate {
    readonly kind: 'regex';
    readonly path: string;
    readonly source: string;
    readonly flags: string;
    readonly arrays?: 'whole' | undefined;
}

/** The documents of a collection as queries see them: with those that relations lead to, forward and back. */
type Related<Schemas extends object, Relations extends object, Name extends string> = Identified<keyof RelationsOf<Relations, Name> extends never ? DocumentOf<Schemas, Name> : WithTargets<Schemas, Relations, Name>> & Back<Schemas, Relations, Name>;

/** How a step along a relation was answered. */
interface RelatedExplanation {
    /** The related collection. */
    readonly collection: string;
    /** The field that holds the ids: of the document, or (`back`) of the related ones. */
    readonly field: string;
    /** The way back along a relation. */
    readonly back: boolean;
    /** From what it was answered: related documents, entries of the relation's index, or its column in memory. */
    readonly way: 'documents' | 'entries' | 'column';
    /** How many different ids there were; undefined: a column needs none. */
    readonly ids: number | undefined;
    /** For the related documents. */
    readonly plan: PlanStep;
    /** The related steps on which that depends. */
    readonly related: readonly RelatedExplanation[];
}

/** `'users'`: one related document, its id in the field. `['permissions']`: many, an array of ids. */
type RelationInput = string | readonly [to: string] | RelationOptions;

/** Inputs for relations, by the field that holds the ids. */
type RelationInputs = Readonly<Record<string, RelationInput>>;

/** The long form of a relation. */
interface RelationOptions {
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

type RelationsOf<Relations extends object, Name extends string> = Name extends keyof Relations ? Relations[Name] extends object ? Relations[Name] : Nothing : Nothing;

/** A CouchDB database with options of its own. */
interface RemoteSide extends HttpPeerOptions {
    /** The URL of the database. It may have a user name and a password. */
    readonly url: string | URL;
}

/** Nothing of the new database stays when it is cancelled. */
interface RepairOptions extends LongWork {
    /** The name of the database that is made. There must be none of that name. */
    readonly to: string;
    /** The storage of the damaged database, and of the other one that is made; as for `open`. */
    readonly storage?: DatabaseStorage;
    /** Opens the damaged one, if it is encrypted, and encrypts the other, which this alone opens then. */
    readonly encryption?: Credential;
}

/** The result of a repair for one collection: saved parts, and lost ones. */
interface RepairedCollection {
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
type ReplicationDirection = 'push' | 'pull';

/** One direction of one collection. */
interface ReplicationPart {
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
type ReplicationSequence = unknown;

/** The source or the target of `db.replicate`. */
type ReplicationSide = ReplicationTarget | RemoteSide | CollectionSide;

/** Headers of HTTP: an object, a `Headers`, or pairs. */
type RequestHeaders = Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]>;

type RestOf<Path extends string, Name> = Name extends string ? Path extends `${Name}.${infer Rest}` ? Rest : never : never;

/** The result of a retry. */
interface RetryResult {
    /** Documents that are migrated now. */
    readonly migrated: number;
    /** Documents that failed again. */
    readonly failed: number;
}

/** A document in one of its revisions. */
type RevisionDocument<T extends object> = Stored<T> & RevisionMeta;

/** The options of a read about revisions. */
interface RevisionFields {
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
interface RevisionHistory {
    /** The generation of the first id. */
    readonly start: number;
    /** The ids, hashes, the newest first. */
    readonly ids: readonly string[];
}

/** One revision in the history of a document. */
interface RevisionInfo {
    /** The revision. */
    readonly rev: string;
    /** Whether its content is there; 'deleted': it is, and it is a tombstone. */
    readonly status: RevisionStatus;
}

/** The result of a read about a document's revisions, as far as it was asked for. */
interface RevisionMeta {
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
interface RevisionReadOptions extends RevisionFields {
    /** This revision, even if it does not win or is a tombstone. */
    readonly rev?: string;
    /** With `rev`: the leaf that descends from it; if several do, the one that would win. */
    readonly latest?: boolean;
}

/** A document, or one revision of it. */
interface RevisionReference {
    /** The id of the document. */
    readonly id: string;
    /** The revision; the winner when left out. */
    readonly rev?: string;
}

/** The result for a document that `getRevisions` was asked for. */
type RevisionResult<T extends object, Document = RevisionDocument<T>> = {
    readonly ok: Document;
} | {
    readonly missing: string;
};

/** Whether the content of a revision is still stored: 'available', 'missing' or 'deleted'. */
type RevisionStatus = 'available' | 'deleted' | 'missing';

/** The input of a schema; any document without a schema. Nothing where it gives Dates, which are not stored. */
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

/** The schema of a collection, its version, and how older documents get there. */
interface SchemaOptions<Schema = unknown> {
    /** Any Standard Schema (zod, valibot, arktype, …): it checks and types what is written, and what it gives is stored. */
    readonly schema?: Schema;
    /** The version of the schema; 1 by default. Raise it when stored documents have to change. */
    readonly version?: number;
    /** By the version that they lead to: one for each version from 2 on. */
    readonly migrations?: Readonly<Record<number, Migration>>;
}

/** The output of a schema, which is stored; any document without a schema. */
type SchemaOutput<Schema> = TypeOf<Schema, 'output'>;

type SchemaResult<Output> = {
    readonly value: Output;
    readonly issues?: undefined;
} | {
    readonly issues: readonly SchemaIssue[];
};

/** A document that a search found, with its score. */
interface ScoredRow<T> {
    /** The score by BM25: comparable within one search. */
    readonly score: number;
    /** The document. */
    readonly document: T;
}

/** How a search is answered. */
interface SearchExplanation {
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
interface SearchOptions<Document> {
    /** Only documents that it matches. */
    readonly selector?: Selector<Document> | BuiltPredicate;
    /** 'all': documents that have all of the words, which is the default; 'any': those that have one of them. */
    readonly match?: 'all' | 'any';
    /** The name of the text index; may be left out if there is one only. */
    readonly index?: string;
}

/** How a selector is to be understood. */
interface SelectorMeaning {
    /** The dialect. Left out: ours. */
    readonly dialect?: 'couchdb' | undefined;
    /** The name of an order of strings, with the dialect 'couchdb' only; left out: by code point. */
    readonly collation?: string | undefined;
}

/** Where the handles of one database can be: they must find one another to share the writer lease. */
type SharingScope = 'process' | 'origin' | 'servers';

/** The value is an array with this number of elements. */
interface SizePredicate {
    readonly kind: 'size';
    readonly path: string;
    readonly size: number;
}

type SlotKind = 'password' | 'recovery' | 'device';

/** Options of a new password or key. */
interface SlotOptions {
    /** A label for people, up to 100 characters. Anyone who can read the files can read it. */
    readonly label?: string;
}

/** Options of `db.snapshot`. */
interface SnapshotOptions extends LongWork {
    /** Whether it takes a password or key of the database to restore it. By default it does if the database is encrypted. */
    readonly sealed?: boolean;
}

/** The result of `read`. */
interface StoreState {
    /** Undefined while nothing was ever committed. */
    readonly meta: MetaRecord | undefined;
    /** The log's records, ascending and dense. */
    readonly log: readonly LogRecord[];
    /** The keyring that `putKeyring` put last. */
    readonly keyring: Uint8Array | undefined;
    /** The log seal that came last with an `append` or a `commit`: it vouches for the end of the log. */
    readonly logSeal: Uint8Array | undefined;
}

/** As the library hands it out: `_id` and `_rev` first. */
type StoredDocument = {
    _id: string;
    _rev: string;
} & Record<string, unknown>;

/** A related document where its id stands. */
interface Target<Document> {
    /** Not there at run time. */
    readonly [target]?: Document;
}

type TargetIn<Schemas extends object, Relations extends object, Name extends string> = Related<Schemas, Relations, Name> & Target<Related<Schemas, Relations, Name>>;

type TargetOf<Value> = Value extends Target<infer Document> ? (unknown extends Document ? never : Document) : never;

type Text<Value> = Extract<Value, string> extends never ? never : string;

interface TextSettings {
    /** A BCP 47 tag, for finding words and for lower case. */
    readonly language?: string;
}

/** A deleted document as the feed hands it out. */
interface Tombstone {
    /** The id of the document. */
    readonly _id: string;
    /** The revision that deleted it. */
    readonly _rev: string;
    /** Marks a tombstone. */
    readonly _deleted: true;
}

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

/**
 * Documents of a collection that is not among the `collections` of `open`, without a type: probably its name is
 * misspelt.
 */
interface UnknownCollection {
    readonly 'open() was given no collection of this name: mend the name, or give the type of its documents': never;
}

/** The names of types in selectors. */
type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** The result of a query without `reduce: false`. */
type ViewAnswer<Document, Key, Value, Result> = [Result] extends [never] ? ViewRow<Key, Value, Document> : ReducedRow<Key | null, Result>;

/** The result of `view.info()`. */
interface ViewInfo {
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

/** Any string where literals are declared: bounds need not be one of them. */
type Wide<Value> = Value extends string ? string : Value extends number ? number : Value extends boolean ? boolean : Value;

/** Asks for the content of attachments in that form, in place of stubs. */
interface WithAttachments {
    readonly attachments: AttachmentForm;
}

type WithTargets<Schemas extends object, Relations extends object, Name extends string> = {
    [Field in keyof DocumentOf<Schemas, Name>]: DocumentOf<Schemas, Name>[Field] | (Field extends keyof RelationsOf<Relations, Name> ? TargetIn<Schemas, Relations, NameIn<RelationsOf<Relations, Name>[Field]>> : never);
};

/** The right to write, until released or taken away. */
interface WriterLease {
    /** Another handle waits for the lease: release it soon (after the group commit under way). */
    readonly wanted: boolean;
    /** Taken away (this handle was frozen for too long): the fences will refuse what it tries to write. */
    readonly lost: boolean;
    /** Handles that the coordinator can't see may write as well: only the fences keep them apart. */
    readonly isShared?: boolean;
    /** Called when `wanted` becomes true, also when it is so already. */
    onWanted(callback: () => void): void;
    /** Releases it. Idempotent. */
    release(): void;
}

/** Numbers and strings that must not be confused with one another. The brand exists only in the types. */
const brand: unique symbol;

/** Marks a related document among the values of a field. */
const target: unique symbol;
