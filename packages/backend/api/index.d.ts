// What `@pannier/backend` offers. Written by `npm run api`.

/** Which acknowledged transactions stand in the state that a pull answers from, and which are not there. */
export interface Acknowledged {
    /** The name of this start of the server. */
    readonly boot: string;
    /** Numbers of transactions whose outcome stands in the state of the pull. */
    readonly covered: readonly number[];
    /** Numbers that the server does not know: it was restored from an older backup. They are sent again. */
    readonly unknown: readonly number[];
    /** Outcomes of this number and of smaller ones may be forgotten, as they are old. No backup without them will be restored. */
    readonly forgotten: number;
}

/** Somebody in a request. Every service of the backend takes one. */
export interface Actor {
    /** The principal that acts. */
    readonly principal: Principal;
    /** The request, as rules read it. */
    readonly request: RequestInfo;
    /** The budget of the answer. Without one it counts for no client. */
    readonly budget?: AnswerBudget | undefined;
}

/** A condition of a rule, with its answer when it is asked alone. */
export interface AnsweredCondition {
    /** As text, without needless parentheses. */
    readonly text: string;
    /** Whether the record meets it. */
    readonly isMet: boolean;
    /** `and` is `&&`. All its parts may hold while no single related record meets all of them. */
    readonly kind: 'and' | 'or' | 'comparison';
    /** The conditions that are its parts; a comparison has none. */
    readonly of: readonly AnsweredCondition[];
}

/** The types of collections whose fields are not known (any). */
export type AnyCollectionTypes = Readonly<Record<string, AnyRecordTypes>>;

/** Records whose fields are not known. */
export interface AnyRecordTypes {
    /** Any name may have a value. */
    readonly values: Record<string, unknown>;
    /** The changes: any name may be set. */
    readonly changes: Record<string, unknown>;
}

/** An application backend on a database. Get it by `openBackend`. */
export interface Backend {
    /** The collections of the application. */
    readonly definitions: Definitions;
    /** The records in them. */
    readonly records: Records;
    /** Writes of records by doors whose requests bring whole documents. A gateway takes these parts. */
    readonly documentWrites: DocumentWrites;
    /** Collections that CouchDB's door serves as databases. */
    readonly collections: AppCollections;
    /** Logins and tokens. */
    readonly accounts: RecordAccounts;
    /** Logins by other services. */
    readonly oauth2: OAuth2Logins;
    /** The settings of superusers. */
    readonly settings: Settings;
    /** The files that file fields name. */
    readonly files: Files;
    /** Messages about changes, for clients that subscribe. */
    readonly realtime: Realtime;
    /** Functions of the operator that run around all this. */
    readonly hooks: Hooks;
    /** Writes a mail to each superuser. Resolves when the mails are stored. */
    alert(subject: string, details: string): Promise<void>;
    /** The application as hooks see it. */
    readonly app: HookApp;
    /** The limiter of rates: counts requests, as the settings want it. */
    readonly rateLimits: RateLimiter;
    /** The writer of logs. */
    readonly logs: Logs;
    /** The reader of logs, for superusers. */
    readonly logReads: LogReads;
    /** Jobs that run at times of the day. */
    readonly schedules: Schedules;
    /** All databases in one file each. */
    readonly backups: Backups;
    /** Takes over the records of a PocketBase. */
    readonly imports: Imports;
    /** Statements of superusers. */
    readonly sql: SqlConsole;
    /** Reports: SELECTs that superusers keep, and others may run. */
    readonly reports: Reports;
    /** How large the copy of the records is that views and SQL read, and how far behind. */
    modelFigures(): ModelFigures;
    /** Whether the database is sound. */
    readonly check: DatabaseCheck;
    /** Replicas that have what the rules let their accounts see. */
    readonly sync: Sync;
    /** Previews of rules before they are stored. */
    readonly rulePreviews: RulePreviews;
    /** The environment: clock, timers and chance. */
    readonly environment: Environment;
    /** Closes it: stops what runs. The database stays open. */
    close(): Promise<void>;
}

/** The options of `openBackend`. */
export interface BackendOptions {
    /** The fleet of servers that serve the same database. It is alone when left out. The backend does not close it. */
    readonly fleet?: Fleet;
    /** How much memory and time hashing passwords may take. */
    readonly hashLimits?: Partial<HashQueueLimits>;
    /** How many failed logins are allowed, and for how long. They are not counted when left out. */
    readonly loginLimits?: Partial<LoginLimits>;
    /** Gets what is at a public address, and refuses all others. No pictures of users are fetched when left out. */
    readonly fetchPublic?: PublicFetch;
    /** The environment for tests: clock, timers and chance. Those of the database when left out. */
    readonly environment?: Environment;
    /** A replica that was away for longer than this begins again, in milliseconds; 30 days by default. */
    readonly syncHorizonMs?: number;
    /** False: mails stay in the database, for a later run. */
    readonly sendsMails?: boolean;
    /** Where logs are kept; in memory when left out. It stays open when the backend is closed. */
    readonly logs?: Database;
    /** Where backups are made and restored. Nowhere when left out. */
    readonly backups?: BackupHost;
    /** Encrypts the settings: 32 characters or more that nobody can guess. They are stored as they are when it is left out. */
    readonly settingsKey?: string;
    /** A folder that gets a migration file for each change of a definition. None when left out. */
    readonly automigrate?: string;
    /** Are asked about every write of a record, by whatever door it comes. */
    readonly guards?: readonly WriteGuard[];
    /** The limits of each collection. */
    readonly quota?: Quota;
    /** The read model for views and SQL: a file of plain text in the temporary folder, or the memory of one process, by default. */
    readonly readModel?: 'file' | 'memory';
    /** @internal The home of the read model, for tests without processes. */
    readonly modelHome?: ModelHome;
    /** Shows an operator what is logged, except for requests. */
    readonly print?: (entry: LogEntry) => void;
}

/** The host of backups: where a server has its databases. */
export interface BackupHost extends Pick<RestoreOptions, 'encryption' | 'settingsKey'> {
    /** The folder of the server's files. Backups are in a bucket only when it is left out. */
    readonly dir?: string;
    /** Closes the server and starts it again in the same folder. Only a command restores when it is left out. */
    readonly restart?: () => void;
}

/** A backup as it is listed. */
export interface BackupInfo {
    /** When it was modified: `2026-11-22 15:04:49.813Z` */
    readonly modified: string;
    /** The name of its file. */
    readonly key: string;
    /** The size in bytes. */
    readonly size: number;
}

/** The backups of a server. */
export class Backups {
    /** Is called when a scheduled backup could not be made. */
    onFailure: (error: string) => Promise<void>;
    /** @internal Runs hooks. */
    around: (event: 'onBackupCreate' | 'onBackupRestore', name: string, run: () => Promise<void>) => Promise<void>;
    /** Opens the place of the backups. */
    static open(options: BackupsOptions): Promise<Backups>;
    /** Whether a backup can be made now. */
    get canBackUp(): boolean;
    /** @throws ServiceError FORBIDDEN, INVALID if the place can't be reached */
    list(principal: Principal): Promise<BackupInfo[]>;
    /** A name is made when `name` is empty. @throws ServiceError FORBIDDEN, INVALID with data */
    create(principal: Principal, name: string): Promise<void>;
    /** Stores an uploaded file, whose content is only checked when it is restored. @throws ServiceError FORBIDDEN, INVALID with data */
    upload(principal: Principal, file: UploadedFile | undefined): Promise<void>;
    /** For whom a superuser's file token was made. @throws ServiceError FORBIDDEN, NOT_FOUND */
    download(token: string, address: string | undefined, key: string): Promise<BackupDownload>;
    /** @throws ServiceError FORBIDDEN, INVALID */
    delete(principal: Principal, key: string): Promise<void>;
    /**
     * Checks a backup, makes the files of it, and starts the server again with them. All that was written after the backup is gone
     * then.
     *
     * @throws ServiceError FORBIDDEN, INVALID; nothing has changed then
     */
    restore(principal: Principal, key: string): Promise<void>;
    /** Ends the backup that is made or restored, and begins no other one. The request for it gets an answer. */
    end(): void;
    /** Waits for the backup that has ended. */
    close(): Promise<void>;
}

/** One operation of a batch, and the request that it stands for. */
export type BatchOperation = BatchedWrite & {
    readonly show?: ShowOptions;
};

/** A database that stays open until it is given back: by `release`, or at the end of the block of `using`. */
export interface BorrowedDatabase extends Disposable {
    /** The database, which stays open until `release`. */
    readonly database: Database;
    /** Releases the database. Idempotent. Feeds, live queries and replications have to end before. */
    release(): void;
}

/** A channel to a client. */
export interface Channel {
    /** The address of the client: requests from elsewhere may not speak of it. */
    readonly address: string | undefined;
    /** Takes messages, in order. It returns at once, however slow the client is. */
    send(messages: readonly RealtimeMessage[]): void;
    /** Ends the channel: nothing more will be sent. `retryMs`: when a client may come back to a server that starts again. */
    end(retryMs?: number): void;
}

/** How the newest check stands. */
export interface CheckState {
    /** Whether it has not ended. */
    readonly running: boolean;
    /** The progress: the part that is done, 0 to 1. */
    readonly progress: number;
    /** `2026-11-22 15:04:49.813Z`; empty: none has ended since the start of the server. */
    readonly ended: string;
    /** The first problems that it has found. */
    readonly problems: readonly CheckProblem[];
    /** The count of problems that it has found. */
    readonly problemCount: number;
    /** The error that stopped it; empty if it has come to its end. */
    readonly error: string;
}

/** The settings of a collection, and its upkeep. */
export class CollectionAdministration {
    /** The name by which users know it. */
    readonly database: string;
    /** In the database of the server. */
    readonly name: string;
    /** @internal Use `gateway.administration`. */
    constructor(database: Database, databases: Databases, name: string, collection: Collection<JsonObject>);
    /** Forgets what no reader needs, and writes everything to its place. */
    compact(): Promise<void>;
    /** Forgets leaves of a document; gives those that were there. @throws ServiceError FORBIDDEN for a collection of the application */
    purge(id: string, revs: readonly string[]): Promise<readonly string[]>;
    /** The users that may use it: CouchDB's `_security`. */
    setSecurity(security: JsonObject): Promise<void>;
    /** How many revisions of a document are remembered. */
    setRevisionsLimit(revisionsLimit: number): Promise<void>;
    /** Whether the content of replaced revisions is kept. @throws ServiceError FORBIDDEN for a collection of the server's own */
    setHistory(history: boolean): Promise<void>;
}

/** A collection, for `createCollection` and `updateCollection`: what is not as it comes, or what is to change. */
export interface CollectionInput extends Partially<Omit<AuthDefinition, 'type' | 'fields'> & Pick<ViewDefinition, 'viewQuery'>> {
    /** The type; `base` when left out. */
    readonly type?: Definition['type'];
    /** The fields in their order. */
    readonly fields?: readonly FieldInput[];
}

/** The types of the records of all collections, by name. */
export type CollectionTypes = Readonly<Record<string, RecordTypes>>;

/** The cost of a rule for accounts that it means the same to. */
export interface CostForAccounts extends RuleCost {
    /** Names of collections; `null`: guests. */
    readonly accounts: readonly (string | null)[];
    /** Why it is of class E, or why the rule can't be asked for them. Such accounts are shown no record. */
    readonly problems: readonly RuleProblem[];
}

/** Get it from a backend. */
export class DatabaseCheck {
    constructor(parts: DatabaseCheckParts);
    /** @throws ServiceError FORBIDDEN */
    show(principal: Principal): CheckState;
    /** Starts a check. Does not wait for its end. @throws ServiceError FORBIDDEN, INVALID if one runs */
    start(principal: Principal): void;
    /** Cancels the check. Resolves when none runs. @throws ServiceError FORBIDDEN */
    cancel(principal: Principal): Promise<void>;
    /** Cancels the one that runs. */
    close(): Promise<void>;
}

/**
 * Opens databases by their names when they are needed, and closes those that are idle.
 *
 * @param open Opens the database of a name. It decides where that is, and how large its cache may be.
 * @example
 * const storage = postgres('postgres://app:secret@127.0.0.1/app')
 * const tenants = new DatabasePool((name) => open(name, { storage, cacheBytesMax: 4 * 1024 * 1024 }), { openMax: 200 })
 * const count = await tenants.use('tenant 17', (db) => db.collection('orders').find().count())
 */
export class DatabasePool {
    constructor(open: (name: string) => Promise<Database>, options?: DatabasePoolOptions);
    /** How many databases are open, opening or closing, and how many of them somebody has borrowed. */
    get counts(): {
        readonly open: number;
        readonly borrowed: number;
    };
    /**
     * Runs `work` with a database, which stays open until `work` has ended.
     *
     * @throws ServiceError as `borrow`, and whatever opening or `work` throws
     */
    use<T>(name: string, work: (database: Database) => Promise<T> | T): Promise<T>;
    /**
     * A database for longer: for a feed, a live query, a replication. Give it back.
     *
     * @throws ServiceError UNAVAILABLE if as many as may be open are borrowed for `waitMsMax`, or the pool is closed
     */
    borrow(name: string): Promise<BorrowedDatabase>;
    /** Waits for those who have borrowed some, and closes all. Idempotent. */
    close(): Promise<void>;
}

/** Options of `DatabasePool`. */
export interface DatabasePoolOptions {
    /** How many databases may be open at the same time; 100 when left out. It bounds memory: each has a cache. */
    readonly openMax?: number;
    /** A database that nobody has borrowed for so long is closed, in milliseconds; a minute when left out. */
    readonly idleMsMax?: number;
    /** How long a borrower waits while all that may be open are borrowed, in milliseconds; 30,000 when left out. */
    readonly waitMsMax?: number;
    /** The environment for tests: clock and timers. The real ones when left out. */
    readonly environment?: Environment;
}

/** A collection of the application: its type, fields, rules and indexes. */
export type Definition = BaseDefinition | ViewDefinition | AuthDefinition;

/** A collection in the form that `createSchema` takes, with its rules as a device gets them. */
export interface DeviceCollection {
    /** The id that relations refer to. */
    readonly id: string;
    /** The name in paths. */
    readonly name: string;
    /** The type: `auth` or `base`. */
    readonly type: string;
    /** Fields whose stored values a device has. */
    readonly fields: readonly DeviceField[];
    /** The index of each field whose values are unique. */
    readonly indexes: readonly string[];
    /** The account sees each of its records. */
    readonly isOpen: boolean;
    /** As far as the account may know them. */
    readonly rules: {
        readonly create: Rule;
        readonly update: Rule;
        readonly delete: Rule;
    };
}

/** A field that a device knows the values of, in the form that `createSchema` takes. */
export interface DeviceField {
    /** The name in paths. */
    readonly name: string;
    /** PocketBase's name of the type. */
    readonly type: string;
    /** The empty value: that of a new record if nothing is set. */
    readonly empty: unknown;
    /** The most values (select). The value is a list if this is more than 1. */
    readonly maxSelect?: number;
    /** The collection that a relation leads to. */
    readonly collectionId?: string;
    /** The rule of those who may set it. Left out: the rules of the collection decide. */
    readonly updateRule?: string | null;
}

/** The rules of some collections, for one account. */
export interface DeviceRules {
    /** The version: another answer has another one. */
    readonly version: string;
    /** The account as it sees itself; null: a guest. */
    readonly account: RecordJson | null;
    /** The collections of the pull, and the account's own. */
    readonly collections: readonly DeviceCollection[];
}

/** A file that somebody may have. */
export interface Download extends Content {
    /** Under which it is saved: a thumb has its size before the name. */
    readonly name: string;
    /** False: it is for saving only, as a browser might run what is in it. */
    readonly isShown: boolean;
    /** A rule has admitted the holder of the token: it is for nobody else. */
    readonly isProtected: boolean;
}

/** The options of a request for a file. */
export interface DownloadOptions {
    /** The thumb's size: `70x50` */
    readonly thumb?: string;
    /** The token of somebody who may see the record: protected files need one. */
    readonly token?: string;
}

/** Errors of an input, nested as the input is: `{ fields: { 1: { name: { code, message } } } }`. */
export interface ErrorData {
    /** The error of one value, or the errors inside it. */
    readonly [name: string]: FieldError | ErrorData;
}

/** A rule of a collection, explained. */
export interface ExplainedRule {
    /** `listRule` and the like; `salary.viewRule` is that of a field. */
    readonly name: string;
    /** `null`: superusers only. */
    readonly rule: Rule;
    /** The cost for the accounts for which it is highest; `null` if no rule is asked. */
    readonly cost: CutCost | null;
    /** The costs for accounts. Empty if superusers only may. */
    readonly costs: readonly CostForAccounts[];
}

/** The rules of a collection, explained. */
export interface ExplainedRules {
    /** The name of the collection. */
    readonly collection: string;
    /** The list rule is the first. */
    readonly rules: readonly ExplainedRule[];
    /** The reasons why the collection can't be synced; none if it can be. */
    readonly syncProblems: readonly RuleProblem[];
    /** The fields that have an index by themselves: relations, and what the list rule compares. */
    readonly indexes: readonly string[];
}

/** Fields that a migration changes; others stay. They are known by their ids. */
export interface FieldChanges {
    /** Replaces the field of that id, or adds one, at a place in the list: at its end when left out. */
    readonly put?: readonly {
        readonly at?: number;
        readonly field: FieldInput;
    }[];
    /** Ids of fields. Their values are lost. */
    readonly remove?: readonly string[];
}

/** The error of one value, in PocketBase's words. */
export interface FieldError {
    /** The code, which is stable: `validation_required`. */
    readonly code: string;
    /** The message for a person. */
    readonly message: string;
    /** The parameters of the message. */
    readonly params?: Readonly<Record<string, unknown>>;
}

/** A field, for `createCollection` and `updateCollection`: its type, its name, and the options that are not as they come. */
export type FieldInput = InputOf<FieldDefinition>;

/** The files that file fields name, for actors. */
export class Files {
    constructor(host: FilesHost);
    /** @throws ServiceError NOT_FOUND: also for a protected file of a record that the actor may not see */
    open(actor: Actor, collection: string, id: string, name: string, { thumb, token }?: DownloadOptions): Promise<Download>;
    /** The record that a file is asked of, as it is stored. No rule is asked. */
    recordOf(definition: Definition, id: string): Promise<JsonObject | undefined>;
    /** A token for protected files. @throws ServiceError UNAUTHENTICATED */
    newToken(actor: Actor): Promise<string>;
    /** The principal to whom a token for files belongs, at an address. Undefined: nobody's. */
    principalOf(token: string, address: string | undefined): Promise<Principal | undefined>;
    /** Tries the bucket of the files (`storage`) or that of the backups (`backups`). @throws ServiceError FORBIDDEN, INVALID */
    test({ principal }: Actor, filesystem: unknown): Promise<void>;
    /** Resolves when everything is deleted that no record names any more. */
    settled(): Promise<void>;
}

/** Values for the `{:name}` of a filter. */
export type FilterParameters = Readonly<Record<string, string | number | boolean | null | Date>>;

/** A guest: somebody who has not logged in. */
export const GUEST: Principal;

/** Collections and what is set for them, for a principal. Get it from a server: `server.gateway`. */
export class Gateway {
    /** @internal */
    constructor(database: Database, databases: Databases, rules: AccessRules, parts: GuardedWriterParts);
    /**
     * A collection as the principal may use it.
     *
     * @throws ServiceError NOT_FOUND, UNAUTHENTICATED, FORBIDDEN
     * @example
     * const people = await server.gateway.collection(SYSTEM, 'people')
     * const [outcome] = await people.put([{ _id: 'ann', age: 31 }])
     */
    collection(principal: Principal, database: string): Promise<GuardedCollection>;
    /** The settings of a collection. @throws ServiceError NOT_FOUND, UNAUTHENTICATED, FORBIDDEN */
    administration(principal: Principal, database: string): Promise<CollectionAdministration>;
    /** @internal For the server itself: what acts for somebody asks for `collection`. */
    exists(database: string): Promise<boolean>;
    /** The names of all served collections, sorted. @throws ServiceError FORBIDDEN */
    names(principal: Principal): Promise<string[]>;
    /** Makes a collection. @throws ServiceError FORBIDDEN, NAME_INVALID, EXISTS */
    create(principal: Principal, database: string): Promise<void>;
    /** Drops a collection, with all that is set for it. @throws ServiceError FORBIDDEN, NOT_FOUND */
    drop(principal: Principal, database: string): Promise<void>;
    /** @internal A collection as one end of a replication that the library runs. @throws as `collection`; FORBIDDEN unless all of it may be read */
    replicationEnd({ principal, database, filter, asOutcome, asError }: ReplicationEnd): Promise<CollectionSide>;
}

/** A document inside the transaction. */
export interface GuardedChange {
    /** The document as it is now; undefined if it is missing or deleted. A document in conflict gives its winner. */
    readonly old: JsonObject | undefined;
    /** The document as it will be. */
    readonly document: JsonObject;
    /** Documents of all collections, under the library's names. */
    readonly reader: GuardReader;
}

/** A collection for one principal. Its methods are those of the library's `Collection`; what is out of scope is FORBIDDEN. */
export class GuardedCollection {
    /** The principal for whom it is. */
    readonly principal: Principal;
    /** The name by which users know it. */
    readonly database: string;
    /** In the database of the server. */
    readonly name: string;
    /** @internal Use `gateway.collection`. */
    constructor(principal: Principal, database: string, collection: Collection<JsonObject>, scope: ReadScope, writer: GuardedWriter);
    /** A document. */
    get(id: string, options?: RevisionReadOptions): Promise<Stored | undefined>;
    /** An attachment; its content is read when asked for. */
    getAttachment(id: string, name: string, options?: {
        readonly rev?: string;
    }): Promise<Attachment | undefined>;
    /** Revisions of many documents. */
    bulkGet(references: readonly RevisionReference[], options: RevisionFields & {
        readonly latest?: boolean;
        readonly partial?: boolean;
    }): Promise<BulkGetResult<JsonObject>[]>;
    /** The revisions among these that are missing here. */
    revsDiff(revs: Readonly<Record<string, readonly string[]>>): Promise<Record<string, MissingRevisions>>;
    /** Documents in the order of their ids, or those with certain ids. */
    list(options: ListIdsOptions): DocumentList<ListRow<Stored>>;
    list(options: ListOptions): DocumentList<ListedRow<Stored>>;
    /** The change feed. */
    changes(options: ChangesOptions<JsonObject>): ChangeFeed<JsonObject>;
    /** A query. It reads nothing before it is asked for an answer. */
    find(selector: Selector<JsonObject>, meaning?: SelectorMeaning): Query<JsonObject, JsonObject>;
    /** A view that is defined like this, to be read. */
    view(name: string, definition: object): ReadableView;
    /** How many documents there are, and how far the change feed goes. */
    info(): Promise<CollectionInfo>;
    /** The epoch of the collection. */
    epoch(): Promise<string>;
    /** The users that may use it, as an admin has set it; undefined: never set. */
    security(): Promise<JsonObject | undefined>;
    /** The whole collection as a replica file. */
    exportReplica(signal: AbortSignal): AsyncIterable<Uint8Array>;
    /** Writes documents, if guards let them pass. The outcomes are aligned with them. Those with `_local/` ids belong to `local`. @throws ServiceError for what concerns all of them */
    put(documents: readonly JsonObject[], options?: PutOptions): Promise<GuardedOutcome[]>;
    /** A `_local/` document. */
    getLocal(id: string): Promise<Stored | undefined>;
    /** All `_local/` documents. */
    listLocal(): Promise<Stored[]>;
    /** Writes a `_local/` document. @throws ServiceError QUOTA_EXCEEDED */
    putLocal(document: JsonObject & {
        readonly _id: string;
    }): Promise<WriteResult>;
    /** Deletes a `_local/` document. */
    deleteLocal(id: string): Promise<void>;
}

/** For each document what is written instead, or why it is not written. */
export type GuardedDocuments = readonly (JsonObject | Refusal)[];

/** Documents before the transaction. */
export interface GuardedWrite extends Write {
    /** The documents that are to be written. */
    readonly documents: readonly JsonObject[];
    /** The collection's documents of the write. */
    readonly stored: StoredDocuments;
}

/** The application, for hooks. No rule stops it. `All`: the types of its collections. */
export interface HookApp<All extends CollectionTypes = AnyCollectionTypes> {
    /** The settings of superusers, with the secrets. */
    settings(): SettingsValues;
    /** @throws ServiceError NOT_FOUND */
    findCollectionByNameOrId(nameOrId: string): Definition;
    /** A record that is not stored yet: `save` stores it. */
    newRecord<Name extends NameOf<All>>(collection: Name, values?: Readonly<Partial<All[Name]['changes']>>): HookRecord<All[Name]>;
    /** @throws ServiceError NOT_FOUND */
    findRecordById<Name extends NameOf<All>>(collection: Name, id: string): Promise<HookRecord<All[Name]>>;
    /** The records with these ids in their order, without those that are not there. @throws ServiceError NOT_FOUND: no such collection */
    findRecordsByIds<Name extends NameOf<All>>(collection: Name, ids: readonly string[]): Promise<HookRecord<All[Name]>[]>;
    /** @throws ServiceError NOT_FOUND; INVALID for a wrong filter */
    findFirstRecordByFilter<Name extends NameOf<All>>(collection: Name, filter: string, parameters?: FilterParameters): Promise<HookRecord<All[Name]>>;
    /** @throws ServiceError NOT_FOUND */
    findFirstRecordByData<Name extends NameOf<All>>(collection: Name, field: keyof All[Name]['values'] & string, value: string | number | boolean): Promise<HookRecord<All[Name]>>;
    /** @throws ServiceError NOT_FOUND */
    findAuthRecordByEmail<Name extends NameOf<All>>(collection: Name, email: string): Promise<HookRecord<All[Name]>>;
    /**
     * `sort` as in a request: `-created,title`. `limit` 0: all.
     *
     * @throws ServiceError INVALID for a wrong filter or sort
     */
    findRecordsByFilter<Name extends NameOf<All>>(collection: Name, filter: string, sort?: string, limit?: number, offset?: number, parameters?: FilterParameters): Promise<HookRecord<All[Name]>[]>;
    /** How many records meet a filter; all when it is left out. */
    countRecords(collection: NameOf<All>, filter?: string, parameters?: FilterParameters): Promise<number>;
    /** Validates and stores a record. @throws ServiceError INVALID with data */
    save(record: HookRecord): Promise<void>;
    /** Stores a record, also with values that its fields refuse, and without `onRecordValidate`. Unique values and ids are checked. */
    saveNoValidate(record: HookRecord): Promise<void>;
    /** @throws ServiceError NOT_FOUND; INVALID if another record needs it */
    delete(record: HookRecord): Promise<void>;
    /** Puts a mail on its way, by the mail server of the settings. It is stored first, and tried again for two days. @throws TypeError */
    sendMail(mail: HookMail): Promise<void>;
    /** Sends a message of realtime to all clients that have subscribed to the topic. */
    sendMessage(topic: string, data: object): void;
    /** Writes a line into the logs of the application. `data`: JSON without secrets. */
    log(message: string, data?: Readonly<Record<string, unknown>>, level?: 'debug' | 'info' | 'warn' | 'error'): void;
    /** A token of an account, as a login would give: without its password, and without a second factor. @throws ServiceError NOT_FOUND */
    newAuthToken(record: HookRecord): Promise<string>;
    /** The account that a token is for. @throws ServiceError NOT_FOUND for one that is not valid */
    findAuthRecordByToken(token: string): Promise<HookRecord>;
    /**
     * The records that paths of relations lead to, by path: as they are stored, whatever rules say. At most 1,000 by each step.
     *
     * @throws ServiceError INVALID for a path that leads nowhere
     * @example
     * import type { Hooks } from '@pannier/server'
     *
     * export default ({ onRecordAfterCreateSuccess }: Hooks): void =>
     *   onRecordAfterCreateSuccess(async (e) => {
     *     const { 'post.author': authors } = await e.app.expandRecord(e.record, ['post.author'])
     *     for (const author of authors!) e.app.log(`${author.get('email')} has a comment`)
     *     await e.next()
     *   }, 'comments')
     */
    expandRecord(record: HookRecord, paths: readonly string[]): Promise<Readonly<Record<string, readonly HookRecord[]>>>;
    /**
     * Whether a rule admits an account to a record as it is stored, as `e.collection.updateRule`. Null instead of an account: a guest;
     * instead of a rule: superusers only. A wrong rule admits nobody. What a request has sent is not known.
     */
    canAccessRecord(record: HookRecord, account: HookRecord | null, rule: string | null): Promise<boolean>;
    /** Whether it is the password of the account, as it is stored. */
    validatePassword(record: HookRecord, password: string): Promise<boolean>;
    /**
     * Runs a function that writes all or nothing. Nobody else writes meanwhile, so it must not wait for others; after 10 seconds it is
     * given up. Use `app` of the function inside it: what it reads has what it has written. After the first write it finds records by
     * their ids or by a value, and not by a filter. The hooks of its writes end when all is stored.
     *
     * @throws what the function throws: then nothing is written
     * @example
     * import type { HookApp } from '@pannier/server'
     *
     * const pay = (app: HookApp, id: string): Promise<void> =>
     *   app.runInTransaction(async (inside) => {
     *     const account = await inside.findRecordById('accounts', id)
     *     account.set('balance-', 10)
     *     await inside.save(account)
     *     await inside.save(inside.newRecord('payments', { account: id, amount: 10 }))
     *   })
     */
    runInTransaction<T>(run: (app: HookApp<All>) => Promise<T>): Promise<T>;
}

/** A mail of a hook. One of `html` and `text` is enough. */
export interface HookMail {
    /** An address. */
    readonly to: string;
    /** The subject in one line. */
    readonly subject: string;
    /** Derived from the text when it is left out. */
    readonly html?: string;
    /** The text for readers without HTML. */
    readonly text?: string;
}

/**
 * A record of a collection, for a hook. `Of`: the types of its fields.
 *
 * @example
 * import type { Hooks } from '@pannier/server'
 *
 * export default ({ onRecordUpdate }: Hooks): void =>
 *   onRecordUpdate((e) => {
 *     e.record.set('edits+', 1)
 *     return e.next()
 *   }, 'posts')
 */
export class HookRecord<Of extends RecordTypes = AnyRecordTypes> {
    /** `chance`: draws texts of patterns. */
    constructor(definition: Definition, state: RecordState, chance: Chance);
    /** A record as it is stored. */
    static of<Of extends RecordTypes = AnyRecordTypes>(definition: Definition, document: JsonObject, chance: Chance): HookRecord<Of>;
    /** The records of documents that were found. */
    static found(definition: Definition, documents: readonly (JsonObject | undefined)[], chance: Chance): HookRecord[];
    /** A new record, with empty values. */
    static empty<Of extends RecordTypes = AnyRecordTypes>(definition: Definition, chance: Chance): HookRecord<Of>;
    /** Empty until a new record is stored, if none was set. */
    get id(): string;
    /** The definition of its collection. */
    collection(): Definition;
    /** Whether it has never been stored. */
    isNew(): boolean;
    /** The record as it was before it was changed, also when the change is stored. That of a new one has empty values. */
    original(): HookRecord<Of>;
    /** The value of a field, or what `set` gave under a name that is no field; undefined if there is neither. A password is a text only while it is new. */
    get<Name extends keyof Of['values'] & string>(name: Name): Of['values'][Name];
    /** As a text; empty for what has no value. */
    getString(name: keyof Of['values'] & string): string;
    /** True only for `true`. */
    getBool(name: keyof Of['values'] & string): boolean;
    /** 0 for what is no number. */
    getFloat(name: keyof Of['values'] & string): number;
    /** Gets a number without decimals, as an integer. */
    getInt(name: keyof Of['values'] & string): number;
    /** The texts of a field that has many; one for a field that has one. */
    getStringSlice(name: keyof Of['values'] & string): string[];
    /**
     * Changes a field. A value of JSON is read as that of a request. A date takes a `Date`, a file takes a `File`, a `Blob`, bytes or an upload.
     * A relation takes a record, a JSON field takes a `Map` or a `Set`. A value that the field can't take throws.
     * A name may have a modifier: `tags+`, `+tags`, `tags-`, `slug:autogenerate`.
     * A name that is no field is kept for `withCustomData`, and never stored.
     *
     * @throws TypeError for a value that the field can't take
     */
    set<Name extends keyof Of['changes'] & string>(name: Name, value: Of['changes'][Name]): void;
    /** Sets many. */
    load(values: Readonly<Partial<Of['changes']>>): void;
    /** Keeps fields from clients, in `onRecordEnrich`. */
    hide(...names: readonly (keyof Of['values'] & string)[]): this;
    /** Shows hidden fields to clients, in `onRecordEnrich`. Passwords and keys of tokens stay hidden. */
    unhide(...names: readonly (keyof Of['values'] & string)[]): this;
    /** Shows what was set under names that are no fields, in `onRecordEnrich`. */
    withCustomData(isShown: boolean): this;
    /** The fields that everybody may see of a record that everybody may see. */
    publicExport(): Readonly<Record<string, unknown>>;
    /** As `publicExport`. */
    toJSON(): Readonly<Record<string, unknown>>;
    /** The JSON that a client would see, with the changes of hooks. */
    enrich(json: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
    /** The values that hooks have set, in order. */
    get changes(): readonly HookChange[];
    /** As it is stored, after the last time that it was. Undefined: the record is new. */
    get document(): JsonObject | undefined;
    /** The record has been stored: what was set is in it. */
    settle(document: JsonObject): void;
}

/** Why a definition can't be imported. */
export interface ImportProblem {
    /** The collection that is not taken. */
    readonly name: string;
    /** The errors of each part, as JSON. */
    readonly message: string;
}

/** A row of a table of PocketBase: texts, numbers and null by column. */
export type ImportedRow = JsonObject;

/** The result of an import of rows. */
export interface ImportedRows {
    /** How many records are new. */
    readonly created: number;
    /** How many were there, and are as the rows now. */
    readonly changed: number;
    /** Records that were there already, with all that they have, or with a later change. */
    readonly same: number;
    /** Records that were not taken. */
    readonly refused: readonly {
        readonly id: string;
        readonly message: string;
    }[];
    /** Records that were taken, with fields that would refuse their values. */
    readonly unfit: readonly {
        readonly id: string;
        readonly fields: readonly string[];
    }[];
}

/** Takes over the records of another server. Get it from a backend. */
export class Imports {
    constructor(parts: ImportsParts);
    /** The definitions that can't be imported. @throws ServiceError FORBIDDEN, INVALID with data */
    check(principal: Principal, list: unknown): Promise<readonly ImportProblem[]>;
    /** The files that rows name, and whose content is not here, by the id of the record. @throws ServiceError FORBIDDEN, NOT_FOUND */
    lacking(principal: Principal, collection: string, rows: readonly ImportedRow[]): Promise<Readonly<Record<string, readonly string[]>>>;
    /** Examines rows: checks the values as `write` would, without writing. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID */
    examine(principal: Principal, collection: string, rows: readonly ImportedRow[]): Promise<ImportedRows>;
    /**
     * Writes rows in their order: each makes a record, or changes the one with its id, unless that was changed here later. Files may come with a single row. Those that do
     * not come, and are not here, stay away.
     *
     * @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID, UNAVAILABLE
     */
    write(principal: Principal, collection: string, rows: readonly ImportedRow[], uploads?: readonly Upload[]): Promise<ImportedRows>;
}

/**
 * Judges a document inside the transaction that writes it: nobody writes between the judgement and the write. It delays all other
 * writers, so it is short and synchronous. It may be called again, so it does nothing else. Undefined: the document passes.
 */
export type Judge = (change: GuardedChange) => Refusal | undefined;

/** As PocketBase numbers them. */
export const LOG_LEVELS: {
    readonly debug: -4;
    readonly info: 0;
    readonly warn: 4;
    readonly error: 8;
};

/** The page, order and filter of a list. */
export interface ListOptions extends ShowOptions {
    /** The number of the page, from 1. */
    readonly page?: number;
    /** 1 to 1000 records; more means 1000. 30 when left out or not positive. */
    readonly perPage?: number;
    /** `-created,author.name`; of groups `-count,group.author`. */
    readonly sort?: string;
    /** `created > @now && author.name ~ "ann"` */
    readonly filter?: string;
    /** True: does not count the records. */
    readonly skipTotal?: boolean;
    /** `author,status`: the items are groups of the records that agree in these fields. */
    readonly group?: string;
    /** `count,sum:votes,avg:votes,min:created,max:created`: what is computed of each group; `count` when left out. */
    readonly aggregate?: string;
    /** The `nextCursor` of the page before. The empty text asks for the first page with a cursor. */
    readonly after?: string;
}

/** An entry of the log: something that has happened. */
export interface LogEntry {
    /** A level of `LOG_LEVELS`; `info` when left out. */
    readonly level?: number;
    /** The event, in a line. */
    readonly message: string;
    /** JSON. It must have no secrets. */
    readonly data?: JsonObject;
}

/** How many logs an hour has. */
export interface LogHour {
    /** The date of the hour: `2026-11-22 15:00:00.000Z` */
    readonly date: string;
    /** How many entries it has. */
    readonly total: number;
}

/** A log as it is shown, in PocketBase's order. */
export interface LogJson {
    /** The id of 15 characters. */
    readonly id: string;
    /** When it was created: `2026-11-22 15:04:49.813Z` */
    readonly created: string;
    /** The subject of the log. */
    readonly data: JsonObject;
    /** The event, in a line. */
    readonly message: string;
    /** The level. -4: debug, 0: info, 4: warning, 8: error. */
    readonly level: number;
}

/** A page of logs. */
export interface LogPage {
    /** The entries of the page, in order. */
    readonly items: readonly LogJson[];
    /** The number of the page, from 1. */
    readonly page: number;
    /** The most entries of a page. */
    readonly perPage: number;
    /** The number of all items; -1 if it was skipped. */
    readonly totalItems: number;
    /** The number of all pages; -1 if the count was skipped. */
    readonly totalPages: number;
}

/** The logs as superusers read them. */
export class LogReads {
    constructor(database: Database, environment: Environment);
    /** In the order in which they were stored, unless `sort` says another. @throws ServiceError FORBIDDEN, INVALID */
    list(actor: Actor, options: Omit<ListOptions, 'expand' | 'fields'>): Promise<LogPage>;
    /** @throws ServiceError FORBIDDEN, NOT_FOUND */
    view(actor: Actor, id: string): Promise<LogJson>;
    /** Hours that have logs, the first one first. @throws ServiceError FORBIDDEN, INVALID */
    stats(actor: Actor, filter: string): Promise<LogHour[]>;
}

/** A writer of logs, which takes what happens. It never waits and never throws. */
export interface LogWriter {
    /** Logs an entry some time later. */
    write(entry: LogEntry): void;
}

/** Keeps what happens, in batches, as long as the settings say. */
export class Logs implements LogWriter {
    /** As they are stored. */
    readonly documents: Collection<LogDocument>;
    constructor(options: LogsOptions);
    /** Keeps an entry, if its level is one that the settings keep. */
    write(entry: LogEntry): void;
    /** Stores what waits. */
    flush(): Promise<void>;
    /** Removes what the settings no longer keep. */
    removeOld(): Promise<void>;
    /** Removes all. */
    truncate(): Promise<void>;
    /** Stores what waits. What is written later is lost. */
    close(): Promise<void>;
}

/** The application, for migrations. No rule stops it, and no hook runs. */
export interface MigrationApp extends HookApp {
    /** @throws TypeError for an unknown option; ServiceError INVALID with data */
    createCollection(values: CollectionInput): Promise<Definition>;
    /**
     * Changes a definition; parts that are left out stay. @throws TypeError for an unknown option; ServiceError NOT_FOUND; INVALID with
     * data
     */
    updateCollection(nameOrId: string, values: CollectionInput, fields?: FieldChanges): Promise<Definition>;
    /** With its records. @throws ServiceError NOT_FOUND; INVALID if another collection refers to it */
    deleteCollection(nameOrId: string): Promise<void>;
    /** Makes and changes collections. `deleteMissing` deletes others, and fields that are not in the list. @throws as `createCollection` */
    importCollections(list: readonly CollectionInput[], deleteMissing?: boolean): Promise<void>;
    /** Makes a report, or changes the one of that name. @throws ServiceError INVALID with data */
    saveReport(values: ReportInput): Promise<void>;
    /** @throws ServiceError NOT_FOUND */
    deleteReport(name: string): Promise<void>;
    /** Changes settings; settings that are left out stay. @throws ServiceError INVALID with data */
    updateSettings(values: Readonly<Record<string, unknown>>): Promise<void>;
}

/** An earlier write of the device. */
export interface OwnWrite {
    /** The number of its transaction. */
    readonly n: number;
    /** The position among the writes of the transaction, from 0. */
    readonly at: number;
}

/** How much a page may have: rows, and entries that are looked at. */
export interface PageLimits {
    /** Rows that it gives, at most. */
    rows: number;
    /** Entries of indexes that it looks at, at most. */
    entries: number;
    /** Bytes of the documents that it reads, about. One row of them comes at least. */
    bytes: number;
}

/** A record, as the superuser sees it, and whether the rule admits it. */
export interface PreviewedRecord {
    /** The record with all its fields. */
    readonly record: RecordJson & {
        readonly id: string;
    };
    /** Whether the rule lets the account act on it. */
    readonly isAdmitted: boolean;
}

/** A principal: somebody who acts. */
export interface Principal {
    /** Null: a guest, who has not logged in. */
    readonly name: string | null;
    /** The roles of the user. */
    readonly roles: readonly string[];
    /** An admin of the whole server: no rule stops an admin. */
    readonly isAdmin: boolean;
    /**
     * The proof of the identity. `delegation`: the server acts with the rights of a user who is not there. `setup`: a guest who may make
     * the first superuser.
     */
    readonly by: 'nothing' | 'session' | 'password' | 'token' | 'delegation' | 'setup' | 'system';
    /** The record that has logged in, of an auth collection of the application, or that an API token acts as. */
    readonly account?: Account;
    /** The API token to whose scopes the account is narrowed. */
    readonly apiToken?: ApiTokenOf;
    /** The id of the session that its token is of. */
    readonly session?: string;
    /** The address from where; undefined for what the server does by itself. */
    readonly address?: string;
}

/** The options of `pull`, beside tokens. */
export interface PullOptions {
    /** How much each page may have. */
    readonly limits?: Partial<PageLimits>;
    /** By the names of collections. `*`: no record comes with a body, and the replica looks whether it has all of them. */
    readonly has?: Readonly<Record<string, SyncHas>>;
    /** Which part of each collection, by their names: filters over the own fields of records. The whole by default. */
    readonly filters?: Readonly<Record<string, string>>;
}

/**
 * The base of a write: a revision, or the result of write `at` of transaction `n`; null: any state. `rev`: that revision, as the device
 * knows it. It counts if the outcome of the transaction is forgotten.
 */
export type PushBase = string | {
    readonly n: number;
    readonly at: number;
    readonly rev?: string;
} | null;

/** The code of a rejected push: why. `DEPENDS`: it builds on one that was rejected, or that is not known. */
export type PushCode = 'FORBIDDEN' | 'INVALID' | 'CONFLICT' | 'NOT_FOUND' | 'DEPENDS';

/** New files by the keys of file fields, such as `photo` and `photos+`. They come beside the transactions, under the name of a part. */
export type PushFiles = Readonly<Record<string, readonly {
    readonly part: string;
    readonly name: string;
}[]>>;

/** As a device gets it. `current`: what the account may list of the record now. */
export type PushOutcome = {
    readonly n: number;
} & (Omit<Extract<StoredOutcome, {
    readonly status: 'ok';
}>, 'made'> | (Extract<StoredOutcome, {
    readonly status: 'rejected';
}> & {
    readonly current: RecordJson | null;
}));

/** Writes that are all or nothing. */
export interface PushTransaction {
    /** The number (`n`) of a transaction, from 1. The device gives each transaction a greater one. */
    readonly n: number;
    /** The writes in the order in which they are judged. */
    readonly writes: readonly PushWrite[];
}

/** One write of a transaction. `collection`: its name. */
export type PushWrite = {
    readonly collection: string;
    readonly action: 'create';
    readonly id: string;
    readonly values: RecordInput;
    readonly files?: PushFiles;
} | {
    readonly collection: string;
    readonly action: 'update';
    readonly id: string;
    readonly base: PushBase;
    /** Only the fields that change. */
    readonly values: RecordInput;
    readonly files?: PushFiles;
    /** The values of these fields when the device changed them: it merges by field. */
    readonly was?: Readonly<Record<string, unknown>>;
    /** By field, the write of this device that stored what it had. The server may have stored another value than was sent. */
    readonly own?: Readonly<Record<string, OwnWrite>>;
} | {
    readonly collection: string;
    readonly action: 'delete';
    readonly id: string;
    readonly base: PushBase;
};

/** The answer to a push. */
export interface Pushed {
    /** The name of this start of the server. */
    readonly boot: string;
    /** In the order of the transactions. Those at the end that have none are sent again. If no one has any, the device pulls before. */
    readonly outcomes: readonly PushOutcome[];
}

/** The device that pushes. */
export interface Pusher extends Limited {
    /** Asks who it is now: it may have changed since the request began. @throws ServiceError UNAUTHENTICATED */
    readonly actor: () => Promise<Actor>;
    /** The device's id, which the client has made. */
    readonly device: string;
    /** Files that came beside the transactions, by part. */
    readonly files: PushedFiles;
    /** Counts a write that is about to be judged. @throws ServiceError TOO_MANY_REQUESTS */
    readonly count: (principal: Principal, write: PushWrite) => void;
}

/** Realtime: the clients that are connected, and what they are sent. */
export class Realtime {
    /** @internal */
    messageHooks: MessageHooks | undefined;
    /** @internal */
    constructor(options: RealtimeOptions);
    /** The size: how many clients are connected. */
    get size(): number;
    /** The client of this id, while it is connected. */
    subscriber(clientId: string): Subscriber | undefined;
    /** A new client, without subscriptions. Call `disconnect` when its channel has closed. */
    connect(channel: Channel): Subscriber;
    /**
     * A client that gets cursors with its messages. It is sent what came after the one that it names. `begin` is called before anything
     * is sent, with the cursor of the beginning; with `isResumed` false if not all is known that came after.
     *
     * @throws ServiceError INVALID with data, UNAVAILABLE, TOO_MANY_REQUESTS
     */
    connectAgain(channel: Channel, { principal, topics: texts, after }: ReturningClient, begin: (subscriber: Subscriber, cursor: string, isResumed: boolean) => void): Promise<void>;
    /** Disconnects a subscriber: the client has gone. */
    disconnect(subscriber: Subscriber): void;
    /**
     * Replaces what a client is subscribed to. From now on it gets what the principal may see. A guest may log in. Nobody may
     * become somebody else.
     *
     * @throws ServiceError INVALID with data, NOT_FOUND, FORBIDDEN, UNAVAILABLE, TOO_MANY_REQUESTS
     */
    subscribe(principal: Principal, input: JsonObject): Promise<void>;
    /** As `deliver`, to a client of any server. */
    deliverAnywhere(clientId: string, topic: string, data: object, options: DeliverOptions): Promise<boolean>;
    /** Sends a message to one client of this server, if it has subscribed to the topic from that address. Says whether it has. */
    deliver(clientId: string, topic: string, data: object, { ip, once }: DeliverOptions): boolean;
    /** Sends a message to all that have subscribed to a topic of this name, with any options, at any server. */
    broadcast(name: string, data: object): void;
    /** A session or an API token of the account has ended. Its streams are those of guests when this resolves. */
    sessionEnded(account: Account): Promise<void>;
    /** Ends all channels. Resolves when nothing is sent any more. */
    close(): Promise<void>;
}

/** A message to a client. */
export interface RealtimeMessage {
    /** The text of the subscription. */
    readonly topic: string;
    /** Several clients may be sent the same object. */
    readonly data: object;
    /** For a client that can come back: names this message when it does. */
    readonly cursor?: string;
}

/** The values of a body by field, with modifiers such as `total+` in the keys. */
export type RecordInput = Readonly<Record<string, unknown>>;

/** Fields by name, with `id`, `collectionId`, `collectionName`, and `expand` if it was asked for. */
export type RecordJson = Readonly<Record<string, unknown>>;

/** A page of a list of records. */
export interface RecordPage {
    /** The number of the page, from 1. */
    readonly page: number;
    /** The most records of a page: 1 to 1000. */
    readonly perPage: number;
    /** The number of all items; -1 if it was skipped. */
    readonly totalItems: number;
    /** The number of all pages; -1 if the count was skipped. */
    readonly totalPages: number;
    /** The records of the page, in order. */
    readonly items: readonly RecordJson[];
    /** For `after` of the next page; null on the last one. It is there if the list was asked for with `after`. */
    readonly nextCursor?: string | null;
}

/** The types of the records of a collection, as the server writes them for hooks. */
export interface RecordTypes {
    /** The results of `get`, by field. */
    readonly values: object;
    /** The arguments of `set`: by field, and by field with a modifier. */
    readonly changes: object;
}

/** Records, for actors. */
export type Records = Pick<RecordReads, 'list' | 'listText' | 'view' | 'show' | 'explain'> & Pick<RecordWrites, 'assertOpen' | 'create' | 'update' | 'delete' | 'batch' | 'import'>;

/** Why a document is not written. */
export type Refusal = ServiceError | PannierError;

/** A report, as it is stored and shown to superusers. */
export interface Report {
    /** A part of its URL: small letters, digits, `_` and `-`. */
    readonly name: string;
    /** The description for people. */
    readonly description: string;
    /** The query: a SELECT. `:name` stands for a parameter. */
    readonly query: string;
    /** The parameters `:name` of the query. */
    readonly parameters: readonly ReportParameter[];
    /** The rule of callers that may run it. The rules of the collections that it reads are not asked. */
    readonly rule: Rule;
    /** When it was created: `2026-11-22 15:04:49.813Z` */
    readonly created: string;
    /** The time of the last change. */
    readonly updated: string;
}

/** A report, as a program writes it. What is left out is as in a new one. */
export type ReportInput = Pick<Report, 'name' | 'query'> & Partial<Pick<Report, 'description' | 'parameters' | 'rule'>>;

/** A value that a request gives to a report. */
export interface ReportParameter {
    /** `:name` in the query, and in the URL. */
    readonly name: string;
    /** An `integer` is bound as a whole number, a `date` as the text that records have. */
    readonly type: ParameterType;
    /** The default where a request has no value. Without a default a request must give a value. */
    readonly default?: string | number | boolean | null;
}

/** The answer of a report. */
export interface ReportResult extends JsonRows {
    /** The newest commit that the rows have, as this server counts them since its start. */
    readonly commit: number;
}

/** Keeps reports, and runs them. Get it from a backend. */
export class Reports {
    constructor(parts: ReportsParts);
    /** In the order of their names. @throws ServiceError FORBIDDEN */
    list(principal: Principal): Promise<readonly Report[]>;
    /** @throws ServiceError FORBIDDEN, INVALID with data */
    create(principal: Principal, input: unknown): Promise<Report>;
    /** Changes a report; parts that are left out stay. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID with data */
    update(principal: Principal, name: string, input: unknown): Promise<Report>;
    /** @throws ServiceError FORBIDDEN, NOT_FOUND */
    delete(principal: Principal, name: string): Promise<void>;
    /** Makes all reports of a list, or changes those of their names. `deleteMissing` deletes others. @throws ServiceError FORBIDDEN, INVALID with data */
    import(principal: Principal, list: readonly unknown[], deleteMissing: boolean): Promise<void>;
    /** As `import`, with an import of definitions. */
    importing(principal: Principal, list: readonly unknown[], deleteMissing: boolean): ImportedBeside;
    /**
     * Runs a report with the parameters of the request. The rules of collections are not asked: that of the report is.
     *
     * @throws ServiceError NOT_FOUND; UNAUTHENTICATED, FORBIDDEN; INVALID with data for a parameter, or with what SQLite says
     */
    run(actor: Actor, name: string): Promise<ReportResult>;
    /** Answers a report that is not stored, with the defaults of its parameters. @throws ServiceError FORBIDDEN, INVALID with data */
    preview(actor: Actor, input: JsonObject): Promise<ReportResult>;
}

/** The part of a request that rules can read. */
export interface RequestInfo {
    /** `default`, `oauth2`, `otp`, `password`, `realtime`, `protectedFile`, `batch` or `expand`. */
    readonly context: string;
    /** The method of the request: `GET`, `POST` and so on. */
    readonly method: string;
    /** The parameters of the URL, by name. */
    readonly query: Readonly<Record<string, string>>;
    /** Headers by their names in lower case, with `_` for `-`. */
    readonly headers: Readonly<Record<string, string>>;
    /** The body of a write, for the rules about its answer. */
    readonly body?: Readonly<Record<string, unknown>>;
}

/** The effect of a rule. */
export interface RulePreview {
    /** The rule that was asked. */
    readonly rule: Rule;
    /** All records that meet the filter; of a create 1. */
    readonly totalItems: number;
    /** How many of all records a list or a view gives; -1 for writes, and with a filter. */
    readonly admittedItems: number;
    /** The records of the page. */
    readonly items: readonly PreviewedRecord[];
    /** The parts of the rule, for one record or a create; undefined where no condition decides. */
    readonly condition?: AnsweredCondition;
    /** The account's view of a record that it may read. */
    readonly seen?: PreviewedRecord['record'];
    /** How a list is found: exactly by the plan, or each document of the plan is asked. Views have none. */
    readonly plan?: {
        readonly isExact: boolean;
        readonly text: string;
    };
}

/** Previews of rules, before they are stored. */
export class RulePreviews {
    /** @internal */
    constructor(parts: Parts);
    /**
     * The effect of a rule for an account or a guest.
     *
     * @param input - `action`, and what else the REST API documents
     * @throws ServiceError FORBIDDEN for all but superusers, NOT_FOUND, INVALID with data
     */
    preview(superuser: Actor, name: string, input: JsonObject): Promise<RulePreview>;
}

/** The problem of a rule: why something is not possible. */
export interface RuleProblem {
    /** The message: a sentence. */
    readonly message: string;
    /** Where in the rule, from 0. Among `syncProblems`: where in the list rule. `null`: it is not about that rule. */
    readonly position: number | null;
}

/** The system: the program around the server. */
export const SYSTEM: Principal;

/** A schedule, as it is listed. */
export interface Schedule {
    /** Names it: `__pbLogsCleanup__`. */
    readonly id: string;
    /** `0 * * * *`, `@daily` */
    readonly expression: string;
}

/** The jobs of a backend, run by the clock. */
export class Schedules {
    constructor(host: SchedulesHost);
    /**
     * Adds a job, in place of another of that id.
     *
     * @throws TypeError for a wrong expression
     */
    add(id: string, expression: string, run: Job): void;
    /** A job that runs ends by itself. */
    remove(id: string): void;
    /** The jobs of the application by their ids, then those of the system. @throws ServiceError FORBIDDEN */
    list({ isAdmin }: Principal): Schedule[];
    /** Starts a job now, and does not wait for its end. @throws ServiceError FORBIDDEN, NOT_FOUND */
    run({ isAdmin }: Principal, id: string): void;
    /** Whether a job has been started and has not ended. */
    isRunning(id: string): boolean;
    /** Starts no more jobs. Resolves when no job runs. */
    close(): Promise<void>;
}

/** A refusal of the server, or a failure. */
export class ServiceError extends Error {
    /** The code, which is stable: programs may compare it. */
    readonly code: ServiceErrorCode;
    /** The seconds after which it may go well. */
    readonly retryAfterSeconds: number | undefined;
    /** The error of each field of an input. */
    readonly data: ErrorData | undefined;
    /** `message` is shown to the principal. */
    constructor(code: ServiceErrorCode, message: string, options?: ErrorOptions & {
        readonly retryAfterSeconds?: number;
        readonly data?: ErrorData;
    });
}

/** Codes are stable. */
export type ServiceErrorCode = 
/** The identity of the caller is unknown, and a guest may not. */
'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND'
/** Something else was written meanwhile, or has the name. */
 | 'CONFLICT'
/** A collection of this name. */
 | 'EXISTS' | 'INVALID' | 'NAME_INVALID' | 'DESIGN_INVALID' | 'COMPILATION_FAILED' | 'TOO_LARGE' | 'DOCUMENT_TOO_LARGE' | 'TOO_MANY_REQUESTS'
/** A collection takes no more bytes. */
 | 'QUOTA_EXCEEDED'
/** The service is unavailable: the request may succeed another time. */
 | 'UNAVAILABLE'
/** This place lacks what it takes. */
 | 'UNSUPPORTED'
/** A function of a design document has thrown. */
 | 'FUNCTION_FAILED'
/** A function of a design document took too much time or memory. */
 | 'FUNCTION_STOPPED';

/** Options for the shown form of a record. */
export interface ShowOptions {
    /** Paths to expand: `author,comments_via_post.author` */
    readonly expand?: string;
    /** The fields of the answer: `id,title:excerpt(20,true)` */
    readonly fields?: string;
}

/** Runs statements of SQL on the collections. Get it from a backend. */
export class SqlConsole {
    constructor(parts: SqlConsoleParts);
    /**
     * Runs statements in one transaction, and answers what the last one selects. `app`: inside a transaction, they are a part of that.
     *
     * @throws ServiceError FORBIDDEN; INVALID with what SQLite says, or with data; CONFLICT if a record has changed meanwhile; UNAVAILABLE
     */
    run(principal: Principal, statements: string, { rowsMax, app }?: {
        readonly rowsMax?: number;
        readonly app?: HookApp;
    }): Promise<SqlResult>;
    /** Closes it, and waits for what is being written. Close the model first, which ends what runs. */
    close(): Promise<void>;
}

/** The result of SQL, as PocketBase answers. */
export interface SqlResult {
    /** The time of the execution in milliseconds. */
    readonly execTime: number;
    /** By the last statement that has written rows; 0 if the first statement is no write. */
    readonly affectedRows: number;
    /** The columns of the last statement; none if the first one is a write. */
    readonly columns: readonly ResultColumn[];
    /** The rows: at most 1000, unless the caller has asked for more. */
    readonly rows: readonly (readonly (string | null)[])[];
}

/**
 * The part of the collection that a guard may read. If a replicated document that it has judged was changed since, it is asked again. An
 * edit needs no such care: it names the revision that it replaces.
 */
export interface StoredDocuments {
    /** The name of the collection in the database of the server. */
    readonly name: string;
    /** The document, or undefined. */
    get(id: string, options?: RevisionReadOptions): Promise<JsonObject | undefined>;
    /** The live leaves of a document, and those that are deleted. */
    leaves(id: string): Promise<JsonObject[]>;
    /** Whether there was such a document. */
    wasDeleted(id: string): Promise<boolean>;
}

/** The outcome of a transaction, as it is stored: with no record. */
export type StoredOutcome = 
/** `revs`: of the record after each write; null after a delete. */
{
    readonly status: 'ok';
    readonly revs: readonly (string | null)[];
    readonly made?: GeneratedValues;
}
/** `at`: the first write that was refused. */
 | {
    readonly status: 'rejected';
    readonly at: number;
    readonly code: PushCode;
    readonly message: string;
    readonly data?: ErrorData;
};

/** A subscriber: a client of realtime. Get it by `realtime.connect`. */
export class Subscriber {
    /** Random: those who know it, at the address of the client, may subscribe for it. */
    readonly id: string;
    /** Whether it gets cursors, and may come back with one. */
    readonly canReturn: boolean;
    /** The channel that takes the messages. */
    readonly channel: Channel;
    /** The principal that has subscribed last. */
    principal: Principal;
    /** @internal */
    constructor(channel: Channel, canReturn: boolean, host: SubscriberHost);
    /** True after its channel has closed. */
    get isGone(): boolean;
    /** Whether the client is behind: messages wait for it. */
    get isBehind(): boolean;
    /** Topics by their texts. What waits for others is not sent. */
    get topics(): ReadonlyMap<string, Topic>;
    set topics(topics: ReadonlyMap<string, Topic>);
    /** Sends a message, after those that wait. */
    send(message: RealtimeMessage | LateMessage): void;
    /** Holds messages until `sendBefore` has sent what comes before them. */
    hold(sendBefore: () => Promise<void>): Promise<void>;
    /** @internal Sends messages before those that are held. Hooks run one after another: a slow one delays this client alone. */
    sendNow(messages: readonly (RealtimeMessage | LateMessage)[]): void;
    /** The client has gone: nothing waits for it any more. */
    leave(): void;
    /** Ends the channel, as the next message can't be sent. A client that connects again misses nothing. */
    cutOff(error: unknown): void;
}

/** Gives replicas what the rules let their accounts see. Get it by `openBackend`. */
export class Sync {
    /** @internal */
    constructor(host: SyncHost);
    /**
     * The next page of each collection, by their names, all of one state of the database.
     *
     * @throws ServiceError NOT_FOUND: no such collection; FORBIDDEN: superusers only, or an admin without an account; INVALID: it can't be synced
     *
     * @example
     * const { docs } = await backend.sync.pull(actor, { docs: undefined })
     * docs.rows // [{ record: { id: …, title: … }, mark: … }, …, { end: … }]
     */
    pull(actor: Actor, tokens: Readonly<Record<string, string | undefined>>, { limits, has, filters }?: PullOptions): Promise<Readonly<Record<string, SyncPage>>>;
    /**
     * The rules of collections that a device syncs, as far as its account may know them. Undefined: it has this version.
     *
     * @throws ServiceError as `pull`
     */
    rules(actor: Actor, names: readonly string[], version: string): Promise<DeviceRules | undefined>;
    /**
     * Writes the transactions of a device, one after another. One that is known is not written again. `boot`: the start of the server whose
     * answers the device has. If it is another one, nothing is judged: what the transactions build on may be lost, and a pull says so.
     *
     * @throws ServiceError INVALID: a number was used for other writes; FORBIDDEN: an admin without an account; what hinders the first one
     */
    push(pusher: Pusher, transactions: readonly PushTransaction[], boot?: string): Promise<Pushed>;
    /** Numbers of a device's acknowledged transactions that are in the state of a pull that begins afterwards. */
    acknowledged(actor: Actor, device: string | undefined, numbers: readonly number[]): Promise<Acknowledged>;
    /**
     * Gives the server's half of the key of a device's database, by the name of the device. It is the same for as long as the data are there.
     *
     * @throws ServiceError UNAUTHENTICATED: a guest; FORBIDDEN: an API token
     */
    lease({ principal: { account, apiToken } }: Actor): (device: string) => string;
    /** Forgets what no device asks for any more, and what only replicas need that were away for longer than the horizon. */
    removeOld(): Promise<void>;
    /**
     * The costs of the rules of a collection, and the reasons why it can't be synced. `rule`: in place of its list rule, which is explained
     * alone.
     *
     * @throws ServiceError FORBIDDEN for all but superusers, NOT_FOUND, INVALID if it is no rule
     */
    explain(principal: Principal, collection: string, rule?: string): ExplainedRules;
    /** Stops following what other servers start. */
    close(): Promise<void>;
}

/** The records that a replica has of a collection, as ids and revisions: where all records come again, these come without their bodies. */
export type SyncHas = '*' | Readonly<Record<string, string>>;

/** A page of one collection. */
export interface SyncPage {
    /** Rows to be applied in their order. */
    readonly rows: readonly SyncRow[];
    /** Stored with the rows in one transaction, and sent with the next request. */
    readonly token: string;
    /** False: there is more. True: the replica has exactly what the account may list. */
    readonly isComplete: boolean;
    /** The token that came was of no use, or there was none: all records come. */
    readonly isReset: boolean;
}

/** The steps of a replica, in this order. */
export type SyncRow = 
/** The replica forgets a record. `deleted`: nobody has it any more. */
{
    readonly left: string;
    readonly deleted: boolean;
}
/**
 * The replica has a record, with `_rev` and the fields that the account sees. `mark`: all records come, and those without it go at the
 * end.
 */
 | {
    readonly record: RecordJson;
    readonly mark?: string;
}
/** As before, and it has this revision already. Only where `has` says so. */
 | {
    readonly id: string;
    readonly rev: string;
    readonly mark: string;
}
/** The replica forgets all records that do not have this mark. */
 | {
    readonly end: string;
};

/** A file that is uploaded, as a value of a file field in a `RecordInput`. */
export interface UploadedFile {
    /** The name that the client gave. */
    readonly name: string;
    /** The size in bytes. */
    readonly size: number;
    /** The content as a stream. May be asked for more than once. */
    stream(): ReadableStream<Uint8Array>;
}

/** Somebody writes, or is about to. */
export interface Write {
    /** The principal who writes. */
    readonly principal: Principal;
    /** The name by which users know the collection. */
    readonly database: string;
    /** Whether edits are new. False: the revisions were made elsewhere, and are taken as they are. */
    readonly newEdits: boolean;
}

/** Is asked about every write, whatever way it comes, but not about `_local/` documents. */
export interface WriteGuard {
    /**
     * Before the transaction: what takes time, and what changes documents. Gives for each the document to write instead, or why it is
     * refused; `write.documents` itself if it has nothing to say.
     */
    prepare?(write: GuardedWrite): GuardedDocuments | Promise<GuardedDocuments>;
    /** Gives what judges inside the transaction; undefined if nothing has to. It is asked after all guards have prepared. */
    decide?(write: Write): Judge | undefined;
    /** Documents were written, these among them. */
    written?(write: Write, documents: readonly JsonObject[]): void;
}

/** Makes the system collections of a new database. The database stays open when the backend is closed. */
export function openBackend(database: Database, options?: BackendOptions): Promise<Backend>;

class Access {
    /** Revisions of records, as principals see them. */
    readonly revisions: ShownRevisions;
    /** Rules read the clock of `environment`. */
    constructor(definitions: KnownDefinitions, revisions: ShownRevisions, environment: Pick<Environment, 'wallClock'>);
    /** Whether the actor may not do it, as only superusers may. */
    isLocked({ principal }: Actor, definition: Definition, action: Action): boolean;
    /** Whether the rule admits a record. A rule that names what is no longer there admits nothing. */
    allows(actor: Actor, definition: Definition, action: Action, record: RuleRecord, options: AllowOptions): boolean;
    /** As `allows`, by any rule about records of the definition, such as that of a field. */
    meets(actor: Actor, definition: Definition, rule: Rule, record: RuleRecord, options: AllowOptions): boolean;
    /**
     * The rule and what a client asks for, as one: where both read a joined row, it is the same row. A locked rule is the caller's
     * to refuse.
     *
     * @throws RuleError
     */
    bindList(actor: Actor, definition: Definition, { action, filter, sort, context }: BindListOptions): BoundRule;
    /**
     * A rule about records of the definition, for an actor who is no superuser.
     *
     * @throws RuleError
     */
    bindRule(actor: Actor, definition: Definition, rule: string, context: string): BoundRule;
    /**
     * Whether the actor sees a field in every record, whatever is in it. Else to filter or sort by the field would tell what is hidden.
     * Only what is known of the request and the account may decide.
     */
    seesAlways(actor: Actor, definition: Definition, field: Pick<FieldDefinition, 'viewRule'>): boolean;
    /**
     * Whether the actor sees every record whole, whatever is stored, until the definition or the account changes. It is so for nobody but
     * superusers where fields are hidden, and of accounts.
     */
    seesAll(actor: Actor, definition: Definition): boolean;
}

/** The rights of principals, as authentication knows them. */
interface AccessRules {
    /** The scope that a principal may read. @throws ServiceError if it may not open the collection at all */
    scopeOf(principal: Principal, database: string): Promise<ReadScope>;
    /** @throws ServiceError unless the principal may change what is set for a collection */
    checkAdmin(principal: Principal, database: string): Promise<void>;
}

/** A record of an auth collection. */
interface Account {
    /** The id of the collection's definition. */
    readonly collection: string;
    /** The record as it is stored, with its hidden fields. */
    readonly record: Readonly<Record<string, unknown>>;
}

/** The passwords of an input. Empty: none was sent. */
interface AccountForm {
    readonly password: string;
    readonly passwordConfirm: string;
    readonly oldPassword: string;
    /** Whether an address was sent. */
    readonly hasEmail: boolean;
}

class AccountHoldings {
    constructor(definitions: KnownDefinitions);
    /**
     * The holdings of an account by the rules of a collection on one state. It may miss. `version`: that of the rules. `reads` notes what
     * is read if it is computed, also if that fails.
     */
    of(guard: GuardReader, rules: AccountRules, version: string, { account, isManager }: Holder, nowMs: number, reads?: Reads): Computed;
}

/** The mails that accounts get. */
type AccountMail = 'AuthAlert' | 'EmailChange' | 'OTP' | 'PasswordReset' | 'Verification';

/** A rule as it is cut for the accounts of one collection. */
interface AccountRule {
    readonly rule: Cut;
    /** The place of the side of each alternative. */
    readonly sides: readonly number[];
}

/** The rules of a collection as they are cut for the accounts of one collection. */
interface AccountRules {
    /** Which records are shown. */
    readonly list: AccountRule;
    /** Which fields of them are shown: one for each rule of `ruled`. */
    readonly fields: readonly AccountRule[];
    readonly ruled: RuledFields;
    /** The alternatives of all rules, in this order. Holdings have it, too. */
    readonly alternatives: readonly Alternative[];
}

interface AccountsHost {
    readonly database: Database;
    readonly definitions: Definitions;
    readonly fleet: Fleet;
    readonly settings: Settings;
    readonly passwords: Passwords;
    readonly sessions: Sessions;
    readonly principals: TokenPrincipals;
    readonly apiTokens: ApiTokens;
    readonly mails: Mails;
    readonly logs: LogWriter;
    readonly hooks: Hooks;
    readonly app: HookApp;
    readonly limiter: LoginLimiter;
    /** Whether a rule about logins admits a record, for the actor. */
    readonly admits: (actor: Actor, definition: AuthDefinition, rule: string | null, record: JsonObject) => Promise<boolean>;
    /**
     * Changes a record as the server itself does, unless somebody has changed it since it was read. Resolves with the new one.
     *
     * @throws ServiceError CONFLICT, INVALID with data, NOT_FOUND
     */
    readonly write: (definition: AuthDefinition, record: JsonObject, input: JsonObject) => Promise<JsonObject>;
    /** A session or an API token of the account has ended: streams of it are those of a guest when this resolves. */
    readonly sessionEnded: (account: Account) => Promise<void>;
    readonly environment: Environment;
}

/** The action that a rule of a definition is about. */
type Action = ReadAction | 'create' | 'update' | 'delete';

type Algorithm = 'argon2id' | 'scrypt';

/** The conditions of an answer, beside the record. */
interface AllowOptions {
    /** The records that the rule leads to, all of one state of the database. */
    readonly records: RuleRecords;
    /** `@request.body`: values as their fields read them, modifiers applied. */
    readonly body?: Readonly<Record<string, unknown>>;
    /** The record is not stored yet, as in a create. */
    readonly unsaved?: boolean;
}

/** The memory that one answer may still take. One record has any size. */
interface AnswerBudget {
    /** @throws ServiceError INVALID, UNAVAILABLE, TOO_MANY_REQUESTS */
    take(bytes: number): void;
}

/** An API token, as superusers see it. */
interface ApiTokenInfo {
    readonly id: string;
    readonly name: string;
    /** The account that it acts as: the name of the collection, and the id. */
    readonly collection: string;
    readonly record: string;
    /** Actions by the names of collections. */
    readonly scopes: Readonly<Record<string, readonly ScopedAction[]>>;
    /** Dates as records have them; empty: never. */
    readonly created: string;
    /** The time of the last use, to ten minutes. */
    readonly used: string;
    readonly expires: string;
}

/** An API token that somebody acts by. */
interface ApiTokenOf {
    readonly id: string;
    readonly name: string;
    /** Actions by the id of the definition. */
    readonly scopes: Scopes;
}

class ApiTokens {
    constructor(host: ApiTokensHost);
    /** The token is in the answer, and nowhere else. @throws ServiceError FORBIDDEN, INVALID with data */
    create(principal: Principal, input: JsonObject): Promise<ApiTokenInfo & {
        readonly token: string;
    }>;
    /** The newest one first. @throws ServiceError FORBIDDEN */
    list(principal: Principal): Promise<readonly ApiTokenInfo[]>;
    /** Resolves with the account that it acted as, if that is still there. @throws ServiceError FORBIDDEN, NOT_FOUND */
    delete(principal: Principal, id: string): Promise<Holder | undefined>;
    /** Undefined for a text that is no valid token. */
    read(token: string): Promise<KnownToken | undefined>;
    /** Whether the API token of a principal is no longer valid. */
    hasEnded({ apiToken }: Principal): Promise<boolean>;
    /** Stores that one is used now. */
    noteUse(id: string): Promise<void>;
}

interface ApiTokensHost {
    readonly database: Database;
    readonly definitions: Definitions;
    readonly environment: Environment;
}

/** Collections of the application. Each is a database too, for admins and for those who see all of it. */
interface AppCollections {
    /** The library's name of a collection. */
    find(name: string): string | undefined;
    /** The name of a collection of the library; undefined: it is not of the application. */
    nameOf(collection: string): string | undefined;
    /** Whether no database can have the name, as a collection has it, in any case of its letters. */
    isTaken(name: string): boolean;
    names(): readonly string[];
    /** Whether the principal sees every record whole. It is so for superusers alone of what has no such name. */
    isOpenTo(principal: Principal, name: string): boolean;
    /** Tells when that may have changed for anybody. The result ends it. */
    subscribeRules(listener: () => void): () => void;
}

interface AppEvent {
    readonly app: HookApp;
}

/** Runs code of the operator around changes. `check` throws if they are wrong. */
type AroundDefinitions = (pairs: readonly DefinitionPair[], check: () => Promise<void>, write: () => Promise<void>) => Promise<void>;

/** Runs code of the operator around a write. `put` writes documents; gives an outcome for each that was to be written. */
type AroundWrites = (write: GuardedWrite, put: (documents: readonly JsonObject[]) => Promise<GuardedOutcome[]>) => Promise<GuardedOutcome[]>;

interface AskOptions {
    /** Gets the rows. */
    readonly onRows?: (rows: JsonRows['rows']) => void;
    /** The signal that ends the statement. */
    readonly signal?: AbortSignal;
    readonly timeMsMax?: number;
}

/** The name of an account in a request: an identity, the address or the token of a mail, or the id of a one-time password. */
type AskedBy = 'identity' | 'email' | 'otpId' | Exclude<TokenType, 'auth' | 'file'>;

/** A collection of accounts, and how they log in. */
interface AuthDefinition extends DefinitionBase {
    /** Tells it from base and view collections. */
    readonly type: 'auth';
    /** The condition for an account to log in. */
    readonly authRule: Rule;
    /** The condition for other accounts to do to an account what else only itself may do. */
    readonly manageRule: Rule;
    /** The mail about a login from a new place. */
    readonly authAlert: {
        readonly enabled: boolean;
        readonly emailTemplate: MailTemplate;
    };
    /** Logins by OAuth2 and OpenID Connect: the providers, and which fields take what they tell. */
    readonly oauth2: {
        readonly enabled: boolean;
        readonly mappedFields: Readonly<Record<'id' | 'name' | 'username' | 'avatarURL', string>>;
        readonly providers: readonly ProviderOptions[];
    };
    /** Logins by password. An identity field names the account. */
    readonly passwordAuth: {
        readonly enabled: boolean;
        readonly identityFields: readonly string[];
    };
    /** A second method for accounts that meet `rule`. `duration` in seconds is the time for it. */
    readonly mfa: {
        readonly enabled: boolean;
        readonly duration: number;
        readonly rule: string;
    };
    /** Logins by one-time password (`otp`). `duration` is in seconds, `length` in digits. */
    readonly otp: {
        readonly enabled: boolean;
        readonly duration: number;
        readonly length: number;
        readonly emailTemplate: MailTemplate;
    };
    /** The passkey option; left out where it was never turned on. */
    readonly passkey?: {
        readonly enabled: boolean;
    };
    /** The secret and the life of a session's token. */
    readonly authToken: TokenOptions;
    /** Options of links that reset a password. */
    readonly passwordResetToken: TokenOptions;
    /** Options of links that change an address. */
    readonly emailChangeToken: TokenOptions;
    /** Options of links that verify an address. */
    readonly verificationToken: TokenOptions;
    /** Options of tokens for protected files. */
    readonly fileToken: TokenOptions;
    /** The mail with the link that verifies an address. */
    readonly verificationTemplate: MailTemplate;
    /** The mail with the link that resets a password. */
    readonly resetPasswordTemplate: MailTemplate;
    /** The mail with the link that changes an address. */
    readonly confirmEmailChangeTemplate: MailTemplate;
}

interface AutodateField extends FieldBase {
    readonly type: 'autodate';
    readonly onCreate: boolean;
    readonly onUpdate: boolean;
}

/** A backup that is read. */
interface BackupDownload extends FileHead {
    /** All bytes, or those of a range. @throws ServiceError NOT_FOUND if it was deleted meanwhile */
    stream(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;
}

/** A backup is made or restored. */
interface BackupEvent extends AppEvent {
    /** The name of its file. */
    readonly name: string;
}

interface BackupsOptions {
    readonly fileTokens: FileTokens;
    readonly databases: Databases;
    readonly settings: Settings;
    readonly schedules: Schedules;
    readonly logs: LogWriter;
    readonly environment: Environment;
    readonly host: BackupHost | undefined;
}

interface BaseDefinition extends DefinitionBase {
    readonly type: 'base';
}

interface BatchOptions {
    /** How long its work may take. The wait for other writes is not counted. */
    readonly workMsMax: number;
    /** The memory for records in the answer, and until then. */
    readonly budget?: AnswerBudget | undefined;
    /** How often a file is named. */
    readonly namings?: number;
    /** How many operations are refused before it ends; 1 when left out. */
    readonly refusedMax?: number;
    /** Nothing is written: it ends with `BatchTried` where it would have been. */
    readonly isTrial?: boolean;
    /** Begins the transaction. */
    readonly first?: (transaction: Transaction) => Promise<void>;
    /** Ends it: what it writes is of the same commit. */
    readonly last?: (transaction: Transaction, written: readonly (WrittenRecord | undefined)[]) => Promise<void>;
}

/** A write, and the request that it stands for. */
type BatchedWrite = RecordOperation & {
    readonly request: RequestInfo;
};

/** `api`: a token that a superuser has made. */
type BearerType = 'auth' | 'file' | 'api';

interface BeginOptions {
    /** How often a file is named. */
    readonly namings?: number;
    /** The transaction in which it takes place. */
    readonly place?: CollectionSource;
    /** The application for hooks. */
    readonly app?: HookApp;
}

interface BindListOptions {
    /** The rule of this action admits the records; without one, the filter alone. */
    readonly action?: ReadAction;
    readonly filter?: string;
    /** Paths, without their directions. */
    readonly sort?: readonly string[];
    /** The context of the request, if it is another than the actor's. */
    readonly context?: string;
}

interface BoolField extends FieldBase, Requirable {
    readonly type: 'bool';
}

/** A handler of an event. */
interface BoundHook extends PlacedHandler {
    /** Which event it is for. */
    readonly name: HookName;
    /** Names or ids of collections; empty: all. */
    readonly tags: readonly string[];
}

/** Bytes from `start` up to `end`, which is not among them. */
interface ByteRange {
    readonly start: number;
    readonly end: number;
}

/** A value of SQLite, in and out. */
type Cell = string | number | bigint | null | Uint8Array;

/** The source of chance. */
type Chance = Pick<Environment, 'randomBytes'>;

/** A filter of one change feed. Call `dispose` when the feed ends. */
interface ChangeFilter {
    /** For each document (tombstones have `_deleted: true`) whether the feed has its change. */
    accepts(documents: readonly JsonObject[]): Promise<readonly boolean[]>;
    /** The feed is over. */
    dispose(): void;
}

interface ChangeOptions extends ShowOptions {
    /** The write is a CONFLICT unless this is the revision of the record. */
    readonly rev?: string;
}

/** The problem of a check: something that is wrong. */
interface CheckProblem {
    readonly code: string;
    readonly where: string;
    readonly message: string;
}

/** An answer to whether the old password is right, for one hash. */
interface CheckedPassword {
    readonly hash: string;
    readonly isRight: boolean;
}

/** The definition of a collection could not be changed. */
interface CollectionErrorEvent extends CollectionEvent {
    readonly error: unknown;
}

/** The definition of a collection is made, changed or deleted. */
interface CollectionEvent extends AppEvent {
    /** As it will be; of a delete, as it is. */
    readonly collection: Definition;
    readonly type: 'create' | 'update' | 'delete' | 'validate';
}

/** Where a write takes place. */
interface CollectionSource {
    collection<T extends object>(name: string): TransactionCollection<T>;
}

/** A commit, or several between which no state was held. */
interface CommitStep {
    /** The number of its last commit. */
    readonly sequence: number;
    readonly before: SnapshotReader;
    readonly after: SnapshotReader;
    /** The library's names of the collections whose documents it has written. */
    readonly collections: ReadonlySet<string>;
}

/** Documents as the collection has them. They come in the last turn of a transaction, when the table is as its collection. */
interface CompareStep extends Pick<Overlay, 'rows' | 'gone'> {
    readonly kind: 'compare';
    readonly table: string;
    readonly isFirst: boolean;
    readonly isLast: boolean;
}

/** How a table differs from its collection. */
interface Compared {
    readonly table: string;
    /** Records of the collection. */
    readonly rows: number;
    /** Rows that are missing, that differ, and that should not be there. */
    readonly different: number;
}

/** How a table of the read model differs from its collection. */
interface ComparedTable {
    readonly table: string;
    readonly rows: number;
    readonly different: number;
}

/** The holdings of an account, and the collections that were read to compute them. */
interface Computed {
    readonly holdings: Holdings;
    readonly reads: ReadonlySet<string>;
}

/** Content that can be read, also in parts. */
interface Content extends Pick<FileHead, 'size' | 'type' | 'modifiedMs'> {
    stream(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;
}

class DataKey {
    /** `key`: 32 bytes. */
    constructor(key: Uint8Array);
    /** The key of a database, which gets one if it has none. */
    static open(database: Database, chance: Chance): Promise<DataKey>;
    /** A key of its own for each use: 32 bytes (HKDF, RFC 5869). */
    for(use: 'revisions' | 'sync tokens' | 'leases'): Uint8Array;
}

interface DatabaseCheckParts {
    readonly database: Database;
    readonly model: {
        compare(signal: AbortSignal): Promise<readonly ComparedTable[]>;
    };
    readonly now: () => number;
}

/** The CouchDB databases of one Pannier database, by name. */
class Databases {
    constructor(database: Database, state: ServerState, { quota, history, app }?: DatabasesOptions);
    /** Sorted. */
    names(): Promise<string[]>;
    /** Whether there is a database of this name. */
    has(name: string): Promise<boolean>;
    /** @throws ServiceError NOT_FOUND */
    get(name: string): Promise<Collection<JsonObject>>;
    /**
     * Runs `run`, which writes to the database; the database is not dropped meanwhile. Documents need `room`.
     *
     * @throws ServiceError NOT_FOUND
     */
    write<T>(name: string, run: (collection: Collection<JsonObject>, room: Room) => Promise<T>): Promise<T>;
    /** @throws ServiceError NAME_INVALID, EXISTS */
    create(name: string): Promise<void>;
    /** Makes it unless it is there. */
    ensure(name: string): Promise<void>;
    /** @throws ServiceError NOT_FOUND */
    drop(name: string): Promise<void>;
    /** The `_security` object as it was put; undefined if it never was. */
    security(name: string): Promise<JsonObject | undefined>;
    /** Replaces the `_security` object. @throws ServiceError NOT_FOUND, FORBIDDEN for a collection of the application */
    setSecurity(name: string, security: JsonObject): Promise<void>;
    /** Sets how many revisions a document remembers. @throws ServiceError as `setSecurity` */
    setRevisionsLimit(name: string, revisionsLimit: number): Promise<void>;
    /** @throws ServiceError FORBIDDEN for a database of the server's own: what was replaced there has hashes of old passwords */
    setHistory(name: string, history: boolean): Promise<void>;
    /** Whether it is a collection of the application: what is set for it stands in its definition. */
    isOfApp(name: string): boolean;
    /** The name by which users know a collection of the library. */
    nameOf(collection: string): string | undefined;
    /** Stops listening to the database, which stays open. */
    close(): void;
}

/** The databases of a server, by their names in the archive. */
interface Databases {
    readonly 'data.db': Database;
    readonly 'auxiliary.db': Database;
}

interface DatabasesOptions {
    /** Limit of each database. None when left out. */
    readonly quota?: Quota;
    /** Databases that are made keep the content of replaced revisions. */
    readonly history?: boolean | undefined;
    readonly app?: AppCollections;
}

interface DateField extends FieldBase, Requirable {
    readonly type: 'date';
    readonly min: string;
    readonly max: string;
}

interface DefinitionBase {
    /** Stays when the collection is renamed. */
    readonly id: string;
    readonly name: string;
    readonly system: boolean;
    readonly listRule: Rule;
    readonly viewRule: Rule;
    readonly createRule: Rule;
    readonly updateRule: Rule;
    readonly deleteRule: Rule;
    readonly fields: readonly FieldDefinition[];
    /** `CREATE INDEX …` */
    readonly indexes: readonly string[];
    /** When it was created: `2026-11-22 15:04:49.813Z` */
    readonly created: string;
    readonly updated: string;
}

/** Writes changes of single definitions down. */
interface DefinitionJournal {
    /** Undefined: nothing to keep. @throws ServiceError, which keeps the change from happening */
    begin(pair: DefinitionPair): Promise<JournalEntry | undefined>;
}

interface DefinitionListOptions {
    /** The number of the page, from 1. */
    readonly page?: number;
    readonly perPage?: number;
    /** The sort: `-created,name` */
    readonly sort?: string;
    readonly filter?: string;
    readonly skipTotal?: boolean;
}

interface DefinitionPage {
    readonly page: number;
    readonly perPage: number;
    /** The number of all items; -1 if it was skipped. */
    readonly totalItems: number;
    readonly totalPages: number;
    readonly items: readonly JsonObject[];
}

/** A definition before and after a change; undefined where no definition is. */
interface DefinitionPair {
    readonly before: Definition | undefined;
    readonly after: Definition | undefined;
}

/** Reads one state of the database: that of a guard, of a snapshot. */
interface DefinitionReader {
    get(collection: string, id: string): Readonly<Record<string, unknown>> | undefined;
}

/**
 * The definitions of the application's collections. Only admins change it.
 *
 * @example
 * const definitions = await Definitions.open(database)
 * await definitions.create(SYSTEM, { name: 'posts', fields: [{ name: 'title', type: 'text' }] })
 * definitions.find('Posts')?.fields
 */
class Definitions {
    /** @internal Runs hooks. */
    around: AroundDefinitions;
    /** Makes the system collections of a new database. */
    static open(database: Database, options?: DefinitionsOptions): Promise<Definitions>;
    /** By name in any case, or by id. */
    find(nameOrId: string): Definition | undefined;
    /** @throws ServiceError NOT_FOUND */
    get(nameOrId: string): Definition;
    /** All definitions, in the order in which they were made. */
    all(): readonly Definition[];
    /** The names that rules may use, from all definitions. Another one after every change. */
    get schema(): Schema;
    /** The library's collection that has the records. */
    records(definition: Definition): Collection<JsonObject>;
    /** Whether `definition` is what the reader sees. A write that was prepared with an older one is prepared again. */
    isCurrent(definition: Definition, reader: DefinitionReader): boolean;
    /** Runs what reads records, again if definitions have changed meanwhile: rules of one state never meet records of another one. */
    steadily<T>(read: () => Promise<T>): Promise<T>;
    /** A page of them, as the API shows them. @throws ServiceError FORBIDDEN, INVALID */
    list(principal: Principal, options: DefinitionListOptions): DefinitionPage;
    /** The definitions with which new collections of each type begin, as the API shows them. @throws ServiceError FORBIDDEN */
    scaffolds(principal: Principal): JsonObject;
    /** @throws ServiceError FORBIDDEN, INVALID with data */
    create(principal: Principal, input: unknown): Promise<Definition>;
    /**
     * Changes a definition; parts that are left out stay. Fields are known by their ids. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID
     * with data
     */
    update(principal: Principal, nameOrId: string, input: unknown): Promise<Definition>;
    /**
     * Finds the effects of `update` on records, without doing it: which values would be lost, and which would no longer be right. They may
     * stay: PocketBase keeps them too.
     *
     * @throws ServiceError FORBIDDEN, NOT_FOUND, and INVALID with data where `update` does
     */
    check(principal: Principal, nameOrId: string, input: unknown): Promise<readonly Misfit[]>;
    /** A definition, and what `update` would make of it. @throws ServiceError as `update` */
    proposed(principal: Principal, nameOrId: string, input: unknown): Promise<DefinitionPair>;
    /** With its records. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID */
    delete(principal: Principal, nameOrId: string): Promise<void>;
    /** Deletes all records. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID if records of others need them */
    truncate(principal: Principal, nameOrId: string): Promise<void>;
    /** Whether a delete in another collection may take superusers along. */
    mayTakeSuperusers(definition: Definition): boolean;
    /** Whether there is a superuser, as a transaction sees it. */
    hasSuperuser(place: Pick<Transaction, 'collection'>): Promise<boolean>;
    /**
     * Makes and changes all that the list has, or nothing. Fields that it lacks stay, unless `deleteMissing`, which also deletes
     * collections.
     *
     * @throws ServiceError FORBIDDEN, INVALID with data
     */
    import(principal: Principal, list: unknown, deleteMissing: boolean, beside?: ImportedBeside): Promise<void>;
    /** The errors that stop an import of this list, in any of its collections. @throws ServiceError FORBIDDEN, INVALID with data */
    checkImport(principal: Principal, list: unknown): Promise<readonly WrongDefinition[]>;
    /** The fields and the first rows that a view of this query would have. @throws ServiceError FORBIDDEN, INVALID */
    dryRunView(principal: Principal, query: string): Promise<ViewSample>;
    /** TypeScript types of all collections, for PocketBase's SDK or for `@pannier/client`. @throws ServiceError FORBIDDEN */
    typeDeclarations(principal: Principal, app?: TypesFor): string;
    /** TypeScript types of all collections, for hooks. */
    hookDeclarations(): string;
    /** Calls the listener after each change, until the function that it gives is called. What it throws is logged. */
    subscribe(listener: () => void): () => void;
    /** Resolves when changes of other servers that this one has seen are known. */
    settled(): Promise<void>;
    /** Ends when the changes have ended that were asked for. */
    close(): Promise<void>;
}

interface DefinitionsOptions {
    readonly journal?: DefinitionJournal | undefined;
    /** The fleet; the server is alone when it is left out. */
    readonly fleet?: Fleet;
    /** The environment of the database when it is left out. */
    readonly environment?: Environment;
    /** Reports what a listener of `subscribe` throws. */
    readonly report?: ReportFailure | undefined;
    /** Is asked about the queries of views. Without it there are no views. */
    readonly queries?: ViewQueries;
}

interface DeliverOptions {
    /** The address (`ip`) that the client must have. */
    readonly ip: string | undefined;
    /** Whether the subscription ends with one message (`once`). */
    readonly once?: boolean;
}

/** A query, as SQLite has prepared it. */
interface DescribedQuery {
    /** The error: why it can't be. */
    readonly error?: string;
    readonly columns: readonly string[];
    /** `[table, column, view]`: what is read, and by which view; in the query itself by none. A count reads the column ''. */
    readonly reads: readonly (readonly [table: string, column: string, by: string])[];
    /** The functions in lower case. */
    readonly functions: readonly string[];
}

/** The parts of the gateway that know records. */
interface DocumentWrites extends Required<Pick<GuardedWriterParts, 'around' | 'store'>> {
    /** Judges documents as records. It passes those of collections without a definition. */
    readonly guard: WriteGuard;
}

interface DomainOptions extends FieldBase, Requirable {
    readonly onlyDomains: readonly string[] | null;
    readonly exceptDomains: readonly string[] | null;
}

interface Draft extends PreparedInput {
    /** The stored document. Undefined: the record is new. */
    readonly old: JsonObject | undefined;
    /** The values of all fields, `id` too. They may be `NewPassword`s and `NewFile`s. */
    readonly values: JsonObject;
    /** The values before hooks, which rules are asked about. */
    readonly asked: JsonObject;
    /** `@request.body` */
    readonly body: JsonObject;
    /** The form of an account. */
    readonly form: AccountForm | undefined;
    /** Whether the old password of the form is right. */
    readonly checked: CheckedPassword | undefined;
    /** Errors that fields find by themselves. */
    readonly errors: Readonly<Record<string, FieldError>>;
}

interface EditorField extends FieldBase, Requirable {
    readonly type: 'editor';
    readonly maxSize: number;
    readonly convertURLs: boolean;
}

class EmailChange {
    constructor(host: AccountsHost);
    /** `holder`: the account that asks. @throws ServiceError INVALID with data */
    request(holder: Holder, input: JsonObject): Promise<void>;
    /** @throws ServiceError INVALID with data, TOO_MANY_REQUESTS */
    confirm(actor: Actor, definition: AuthDefinition, input: JsonObject): Promise<void>;
}

interface EmailField extends DomainOptions {
    readonly type: 'email';
}

interface Enricher {
    /** Whether hooks are bound to the collection of one of the records, expanded ones too. */
    isFor(records: readonly ShownRecord[]): boolean;
    /** @throws what a hook throws */
    run(actor: Actor, records: readonly ShownRecord[]): Promise<void>;
}

interface ExternalAccount {
    /** As it is stored. */
    readonly record: JsonObject;
    readonly isNew: boolean;
}

/** Somebody whom a provider knows, who logs in to a collection. */
interface ExternalLogin {
    /** The account of its principal, if it has one, is linked. */
    readonly actor: Actor;
    readonly definition: AuthDefinition;
    readonly provider: string;
    /** The id of the user at the provider. */
    readonly providerId: string;
    /** The e-mail address that the provider has verified; empty: unknown. */
    readonly email: string;
    /** The values of the record, if a new one has to be made. */
    readonly signUpInput: () => Promise<JsonObject>;
}

/** The effect of a turn of the feed. */
interface Fed {
    /** The columns of tables that have changed; undefined: rows came or went. */
    readonly changed: readonly (readonly [table: string, columns: readonly string[] | undefined])[];
    /** Views whose rows are kept now. */
    readonly kept: readonly ModelView[];
    /** Tables that have been compared whole. */
    readonly compared: readonly Compared[];
    /** The bytes of the whole model. */
    readonly bytes: number;
}

/** A part of what has changed. `table` makes an empty one. */
type FeedStep = {
    readonly kind: 'drop';
    readonly table: string;
} | {
    readonly kind: 'table';
    readonly table: ModelTable;
} | {
    readonly kind: 'rows';
    readonly table: string;
    readonly rows: readonly NumberedRow[];
} | {
    readonly kind: 'gone';
    readonly table: string;
    readonly numbers: readonly number[];
} | {
    readonly kind: 'keep';
    readonly view: KeptView;
} | {
    readonly kind: 'forget';
    readonly view: string;
} | {
    readonly kind: 'order';
    readonly view: string;
    readonly order: PageWanted['order'];
} | CompareStep;

/** The common part of all fields. */
interface FieldBase {
    /** The id stays when the field is renamed. */
    readonly id: string;
    /** As PocketBase names it: `text`. */
    readonly type: string;
    /** The key in records. */
    readonly name: string;
    /** Whether the field is hidden: shown to superusers only. */
    readonly hidden: boolean;
    /** Stands for the record in the admin page. */
    readonly presentable: boolean;
    /** Whether the field is the system's: it can't be removed. */
    readonly system: boolean;
    /** The help on the admin page. */
    readonly help?: string;
    /** `search()` looks for words in it. Undefined: it does not. */
    readonly searchable?: true;
    /** An actor that it admits sees the field in records that it sees; null: superusers. Undefined: the rules of the collection decide alone. */
    readonly viewRule?: string | null;
    /** An actor that it admits sets the field in records that it writes. Undefined: as `viewRule`. */
    readonly updateRule?: string | null;
}

/** A field of a collection, as PocketBase's API has it. */
type FieldDefinition = Fields[keyof Fields];

/** A rule that shows fields of those records that it admits. */
interface FieldRule {
    readonly text: string;
    /** The fields that have it as their view rule. The manage rule has none. */
    readonly names: readonly string[];
    /** True for the manage rule. */
    readonly isManage: boolean;
}

interface Fields {
    readonly autodate: AutodateField;
    readonly bool: BoolField;
    readonly date: DateField;
    readonly editor: EditorField;
    readonly email: EmailField;
    readonly file: FileField;
    readonly geoPoint: GeoPointField;
    readonly json: JsonField;
    readonly number: NumberField;
    readonly password: PasswordField;
    readonly relation: RelationField;
    readonly select: SelectField;
    readonly text: TextField;
    readonly url: UrlField;
}

interface FileField extends FieldBase, Requirable {
    readonly type: 'file';
    readonly maxSelect: number;
    readonly maxSize: number;
    readonly mimeTypes: readonly string[] | null;
    readonly thumbs: readonly string[] | null;
    readonly protected: boolean;
}

/** The facts of one key that was asked about. */
interface FileHead extends FileInfo {
    /** The media type, as it was put. */
    readonly type: string;
}

/** The facts of a key that its place knows. */
interface FileInfo {
    readonly key: string;
    readonly size: number;
    /** When it was modified, in milliseconds since 1970. */
    readonly modifiedMs: number;
}

type FileStore = Pick<RecordFiles, 'store' | 'adopt'>;

class FileTokens {
    constructor(host: FileTokensHost);
    /** @throws ServiceError UNAUTHENTICATED, FORBIDDEN */
    create({ principal }: Actor): Promise<string>;
    /** The principal to whom the token belongs, if it counts at this address. Undefined: nobody's. */
    principalOf(token: string, address: string | undefined): Promise<Principal | undefined>;
}

type FileTokensHost = Pick<AccountsHost, 'definitions' | 'settings' | 'principals' | 'environment'>;

interface FilesHost {
    readonly database: Database;
    readonly fleet: Fleet;
    readonly definitions: Definitions;
    readonly settings: Settings;
    readonly environment: Environment;
    readonly logs: LogWriter;
}

interface FilesHost {
    readonly environment: Environment;
    readonly definitions: Definitions;
    readonly settings: Settings;
    readonly files: RecordFiles;
    readonly tokens: FileTokens;
    readonly reads: {
        /** A record, or a row of a view, whatever the rules say. */
        stored(definition: Definition, id: string): Promise<JsonObject | undefined>;
        admits(actor: Actor, definition: Definition, action: 'view', record: JsonObject): Promise<boolean>;
    };
}

class FirstSuperuser {
    constructor(host: FirstSuperuserHost);
    /** A secret for 30 minutes, which is in memory only. The one before ends. Undefined: there is a superuser. */
    offer(): Promise<string | undefined>;
    /** Somebody who may make the first superuser. Undefined for any other text, and once there is one. */
    principalOf(token: string): Promise<Principal | undefined>;
}

interface FirstSuperuserHost {
    readonly database: Database;
    readonly definitions: Definitions;
    readonly environment: Environment;
}

/** A server among those that share its database. */
interface Fleet {
    /** The id of this server among the others. Letters and digits, `ID_CHARS` of them; empty: it is alone. */
    readonly id: string;
    /** Whether this server does what one does for all: it sends mails, replicates and sweeps files. */
    readonly leads: boolean;
    /** Is called when that changes. The result ends it. */
    subscribeLeads(listener: (leads: boolean) => void): () => void;
    /** Whether this server has joined others, which were there already with the same data. */
    readonly joined: boolean;
    /** True for one caller of all servers. What was claimed may be claimed again after an hour. */
    claim(what: string): Promise<boolean>;
    /** A secret of 32 random bytes that all servers have, and no backup. */
    secret(name: string): Promise<Buffer>;
    /** Runs `work` while no other server runs work of that name. One that is frozen for seconds loses its turn. */
    exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
    /** The answer of another server. Undefined: it is gone, or says nothing in time. */
    ask(server: string, message: Message): Promise<unknown>;
    /** Sends a message to all other servers. Nobody waits for them. */
    tell(message: Message): void;
    /** Hears what is said or asked about a topic. */
    listen(topic: string, listener: Listener): void;
    /** Aborted when it is closed, or of no use any more: then with PANNIER_RESTORED. */
    readonly ended: AbortSignal;
    /** Closes it: the other servers know that this one is gone. */
    close(): Promise<void>;
}

/** Records that are read, and not shown yet. */
interface FoundRecords {
    /** Whether hooks change what this actor sees of them. */
    readonly isEnriched: boolean;
    /** Actors with the same text are shown the same of the same documents. Undefined: `show` for each. */
    readonly sameFor: string | undefined;
    /** Bytes of their JSON, about. */
    bytes(): number;
    /** @throws what a hook throws: ServiceError UNAVAILABLE if it takes too long */
    show(): Promise<RecordJson[]>;
}

/** By write: digests of fields that are stored otherwise than they were sent. */
type GeneratedValues = readonly Readonly<Record<string, string>>[];

interface GeoPointField extends FieldBase, Requirable {
    readonly type: 'geoPoint';
}

/** Guards in their order, as one. */
class GuardChain {
    /** Guards are asked in this order. What one of them throws after a write is logged. */
    constructor(guards: readonly WriteGuard[], logs: LogWriter);
    /** Whether any of them wants to see documents before the transaction. */
    get prepares(): boolean;
    /** The documents as the guards return them, in their order; or why one is refused. */
    prepare(write: GuardedWrite): Promise<readonly (JsonObject | Refusal)[]>;
    /** The judges inside the transaction. Ask it after `prepare`. */
    decide(write: Write): readonly Judge[];
    /**
     * The judges of documents that a delete takes along, or changes. A refusal is one of the delete. `nameOf`: by which users know a
     * collection of the library.
     */
    following(write: Write, nameOf: (collection: string) => string | undefined): FollowingGuard;
    /** The documents are stored: what a guard throws now refuses nothing. */
    written(write: Write, documents: readonly JsonObject[]): void;
}

/** The outcome of one document. */
type GuardedOutcome = WriteResult | {
    readonly id: string;
    readonly error: Refusal;
};

class GuardedWriter {
    constructor(environment: Pick<Environment, 'yield'>, databases: Databases, { guards, following, around, store }: GuardedWriterParts);
    security({ database }: Writer): Promise<JsonObject | undefined>;
    /** Whether it is a collection of the application. */
    isOfApp({ database }: Writer): boolean;
    /**
     * Runs `write`, of `_local` documents; the collection is not dropped meanwhile. No rule judges them, so guests write none to a
     * collection of the application.
     *
     * @throws ServiceError NOT_FOUND, UNAUTHENTICATED
     */
    whileWriting<T>({ principal, database }: Writer, write: (room: Room) => Promise<T>): Promise<T>;
    /** Aligned with the documents. @throws ServiceError for what concerns all of them */
    put({ principal, database }: Writer, collection: Collection<JsonObject>, documents: readonly JsonObject[], { newEdits, grouped }: PutOptions): Promise<GuardedOutcome[]>;
}

interface GuardedWriterParts {
    /** In the order in which they are asked, inside `around`. */
    readonly guards: GuardChain;
    /** Judge what a delete takes along. */
    readonly following?: GuardChain;
    readonly around?: AroundWrites;
    readonly store?: StoreWrites;
}

/** A login by one method, where two are needed: half of what logs in. */
interface HalfLoggedIn {
    /** The id for the login by the other method. */
    readonly mfaId: string;
}

/** The limits of a `HashQueue`. */
type HashQueueLimits = WorkQueueLimits;

/** A record, and the auth collection that has it. */
interface Holder {
    readonly definition: AuthDefinition;
    readonly record: JsonObject;
}

/** The account that holds. */
interface Holder {
    readonly account: SyncedAccount;
    /** Whether the manage rule is asked. It admits no API token. */
    readonly isManager: boolean;
}

/** A call of `set`. */
type HookChange = readonly [key: string, value: unknown];

/** The arguments of handlers, by the name of the event. */
type HookEvents = {
    readonly [Step in Steps as `on${'Model' | 'Record'}${Step}`]: RecordEvent;
} & {
    readonly [Step in Steps as `onCollection${Step}`]: CollectionEvent;
} & {
    readonly [Step in Kind as `onCollectionAfter${Step}Error`]: CollectionErrorEvent;
} & {
    readonly [Step in Kind as `on${'Model' | 'Record'}After${Step}Error`]: RecordErrorEvent;
} & {
    readonly [Step in Kind as `onRecord${Step}Request`]: RecordRequestEvent;
} & {
    readonly [Mail in AccountMail as `onMailerRecord${Mail}Send`]: MailerRecordEvent;
} & {
    readonly onRecordAuthRequest: RecordAuthRequestEvent;
    readonly onRecordsListRequest: RecordsListRequestEvent;
    readonly onRecordViewRequest: RecordViewRequestEvent;
    readonly onRecordEnrich: RecordEnrichEvent;
    readonly onRecordAuthWithOAuth2Request: RecordAuthWithOAuth2RequestEvent;
    readonly onMailerSend: MailerEvent;
    readonly onRealtimeMessageSend: RealtimeMessageEvent;
    readonly onBackupCreate: BackupEvent;
    readonly onBackupRestore: BackupEvent;
    readonly onSettingsReload: AppEvent;
    readonly onBootstrap: AppEvent;
    readonly onTerminate: AppEvent;
};

/** Tells the operator what went wrong. */
type HookLog = (message: string, details: {
    readonly hook: string;
    readonly source: string;
    readonly error: unknown;
}) => void;

/** The name of an event: `onRecordCreate`. */
type HookName = keyof HookEvents;

class Hooks {
    /** Tells the operator what went wrong. */
    readonly log: HookLog;
    /** Is called when a handler begins, and what it gives when that ends: something may watch the thread. */
    onRun: (handler: PlacedHandler) => () => void;
    constructor({ environment, log, handlerMsMax }: HooksOptions);
    /** Takes the place of all that were bound. Chains that run keep theirs. */
    replace(bound: readonly BoundHook[]): void;
    /** Subscribes a listener to the binding of other handlers. The result ends it. */
    subscribe(listener: () => void): () => void;
    /** Whether nothing is bound: then a write has no more to ask. */
    get isEmpty(): boolean;
    /** Whether anything is bound to one of the events, for these tags; for any tags when they are left out. */
    has(names: readonly HookName[], tags?: readonly string[]): boolean;
    /**
     * Runs the handlers of an event, one inside the other, and `last` inside all. A handler that does not call `next()` keeps the rest
     * from running.
     *
     * @throws what a handler or `last` throws. An error that is no ServiceError is logged, and becomes INVALID.
     */
    trigger<Name extends HookName>(name: Name, event: HookEvents[Name], tags: readonly string[], last?: () => Promise<void>): Promise<void>;
    /** Runs handlers of a request one inside the other, and `last` inside all. @throws as `trigger` */
    run(handlers: readonly PlacedHandler[], event: object, last: () => Promise<void>): Promise<void>;
    /** Runs what is no event: a job, the load of a file. What it begins is known as its work. */
    begin(handler: PlacedHandler, body: () => unknown): Promise<void>;
    /** Logs an error that nobody waits for, if a hook has begun the work that threw it. False: no hook has. */
    noteStray(error: unknown): boolean;
}

interface HooksOptions {
    readonly environment: Environment;
    readonly log?: HookLog;
    /** A handler that takes longer is given up, in milliseconds. 60,000 when left out. */
    readonly handlerMsMax?: number;
}

interface ImportOptions extends Pick<BatchOptions, 'workMsMax' | 'budget' | 'isTrial'> {
    /** The action for each record. `create` refuses a record whose id is in use. */
    readonly action: 'create' | 'upsert';
}

/** The parts that an import stores with the definitions. */
interface ImportedBeside {
    /** `all`: the definitions that there will be. @throws ServiceError, which keeps the import from happening */
    check(all: readonly Definition[]): Promise<void>;
    store(transaction: Transaction): Promise<void>;
}

interface ImportsParts {
    readonly database: Database;
    readonly environment: Environment;
    readonly definitions: Definitions;
    readonly passwords: Passwords;
    readonly files: RecordFiles;
    readonly judge: Judge;
    readonly gate: WriteGate;
}

/** The body of an index. */
interface IndexBody {
    readonly columns: readonly Pick<IndexColumn, 'sql' | 'sort'>[];
    readonly where: string;
}

interface IndexColumn {
    /** A column without quotes, or an expression. */
    readonly name: string;
    /** Whether it is no expression. */
    readonly isNamed: boolean;
    /** The expression that SQLite compares: with the collation, without the order. */
    readonly sql: string;
    readonly collate: string;
    readonly sort: '' | 'ASC' | 'DESC';
}

/** An index on what its text names of a collection. */
interface IndexProgram extends IndexBody {
    readonly name: string;
    readonly table: string;
    readonly fields: readonly {
        readonly name: string;
        readonly declaration: string;
    }[];
}

type InputOf<Field extends FieldDefinition> = Field extends FieldDefinition ? Partially<Omit<Field, 'type' | 'name'>> & Pick<Field, 'type' | 'name'> : never;

/** The work of a schedule. */
type Job = () => unknown;

/** The journal's note of a change that is about to be stored. */
interface JournalEntry {
    /** Stores more with it. */
    note(transaction: Transaction): Promise<void>;
    /** The change was not stored. */
    undo(): Promise<void>;
}

interface JsonField extends FieldBase, Requirable {
    readonly type: 'json';
    readonly maxSize: number;
}

/** An object of any fields, as JSON has it. */
type JsonObject = Record<string, unknown>;

/** Rows with values that JSON has. */
interface JsonRows {
    readonly columns: readonly string[];
    readonly rows: readonly (readonly (string | number | null)[])[];
}

/** Safe JSON as text, in place of the value. */
class JsonText {
    readonly text: string;
    constructor(text: string);
}

class Judge {
    constructor({ definitions, access, views }: JudgeParts);
    /** Why a record is not made; undefined: it is right. */
    create(actor: Actor, draft: Draft, reader: GuardReader): ServiceError | undefined;
    /** Why a record is not changed. */
    update(actor: Actor, draft: Draft, write: StoredWrite, reader: GuardReader): ServiceError | undefined;
    /** Why a record is not deleted. */
    delete(actor: Actor, definition: Definition, write: StoredWrite, reader: GuardReader): ServiceError | undefined;
    /** Whether the rule admits a write. `draft`: what it asks for, of a delete nothing. */
    admits(actor: Actor, definition: Definition, { old, draft }: {
        readonly old: JsonObject | undefined;
        readonly draft: Draft | undefined;
    }, reader: GuardReader): boolean;
    /** Whether the actor may manage the account, as the write finds it. */
    mayManage(actor: Actor, draft: Draft, reader: GuardReader): boolean;
    /** Whether a rule lets the actor set a field. */
    maySet(actor: Actor, draft: Draft, rule: Rule, reader: GuardReader): boolean;
    /** Errors of fields, and of the whole record. */
    fieldErrors({ definition, old, values, errors: found, isUnchecked }: JudgedFields, reader: GuardReader): ErrorData | undefined;
    /** Whether another collection has an account of this id: tokens name it by its id. */
    isAccount(definition: Definition, id: string, reader: GuardReader): boolean;
}

interface JudgeParts {
    readonly definitions: Definitions;
    readonly access: Access;
    readonly views: WriteViews;
}

type JudgedFields = Pick<Draft, 'definition' | 'old' | 'values' | 'errors'> & Partial<Pick<Draft, 'isUnchecked'>>;

const KINDS: readonly ['Create', 'Update', 'Delete'];

/** A view whose rows are kept by their ids. */
interface KeptView extends ModelView {
    /** Where it reads: which ids of the view a row of the table with the id `?` has. */
    readonly sources: readonly {
        readonly table: string;
        readonly ids: string;
    }[];
    /** Columns by which it joins its tables, and by which it groups. */
    readonly joins: readonly {
        readonly table: string;
        readonly column: string;
    }[];
}

type Kind = (typeof KINDS)[number];

interface KnownCollections {
    find(id: string): Definition | undefined;
    all(): readonly Definition[];
    steadily?<T>(read: () => Promise<T>): Promise<T>;
}

/** The methods of `Definitions` that rules need. */
interface KnownDefinitions {
    /** By its name, in any case, or by its id. */
    find(nameOrId: string): Definition | undefined;
    /** All definitions, in no order. */
    all(): readonly Definition[];
    /** The schema of all definitions. */
    readonly schema: Schema;
}

interface KnownToken {
    readonly principal: Principal;
    readonly expiresMs: number;
    /** When one of its session was used last, as far as that is stored. */
    usedMs: number;
}

/** A message that hooks have still to make. */
interface LateMessage {
    /** The text of the subscription. */
    readonly topic: string;
    /** Bytes that are held until it is made, about. */
    bytes(): number;
    /** Undefined: a hook has refused it. @throws if it can't be made: the client is cut off */
    make(): Promise<RealtimeMessage | undefined>;
}

/** The limit of a client's writes. */
interface Limited {
    /** The rate limit that a write counts for. */
    readonly limitOf: (principal: Principal, write: PushWrite) => RateLimitRule | undefined;
}

/** How a list would be answered. */
interface ListExplanation {
    /** False: each document of the plan is asked about. */
    readonly isExact: boolean;
    /** Empty if the sort is computed for each record. */
    readonly order: readonly string[];
    /** The plan, as the library's explanation. */
    readonly plan: Explanation;
}

/** A listener of messages. Gives what is answered; undefined: nothing. */
type Listener = (message: Message) => unknown;

/** A log as it is stored. */
interface LogDocument extends JsonObject {
    /** The id of the entry. */
    readonly _id: string;
    /** When it was created: `2026-11-22 15:04:49.813Z` */
    readonly created: string;
    /** A level of `LOG_LEVELS`. */
    readonly level: number;
    /** The event, in a line. */
    readonly message: string;
    /** The subject of the log. */
    readonly data: JsonObject;
    /** The hour of `created`, for statistics: `2026-11-22 15:00:00.000Z`. */
    readonly hour: string;
}

/** Somebody who has logged in. */
interface LoggedIn {
    /** The auth collection of the record. */
    readonly definition: AuthDefinition;
    /** The principal, whose account has the record. */
    readonly principal: Principal;
    /** A token of the record, for later requests. */
    readonly token: string;
    /** Data of another service about its user. */
    readonly meta?: JsonObject;
}

class LoginLimiter {
    constructor(limits: Partial<LoginLimits> | undefined, environment: Environment, fleet?: Fleet);
    /** Runs the work that compares a secret. Undefined and false: the secret was wrong. Any other result, or an error, is no failed login. @throws ServiceError TOO_MANY_REQUESTS */
    compare<T>(address: string, name: string, work: () => Promise<T>): Promise<T>;
    /** An attempt of a login with the name. Call the result when it has succeeded. An attempt that is refused leaves no trace. @throws ServiceError TOO_MANY_REQUESTS */
    attempt(address: string, name: string): () => void;
}

/** The limits of failed logins: how many there may be in a window of time. */
interface LoginLimits {
    /** The time of a window, in milliseconds. */
    readonly windowMs: number;
    /** Failed logins with one name from one address. */
    readonly sameMax: number;
    /** Failed logins from one address (IPv6: one /64). */
    readonly addressMax: number;
    /** Failed logins with one name, from everywhere. High, because anybody can use it up. */
    readonly nameMax: number;
}

interface LogsOptions {
    readonly database: Database;
    readonly settings: Settings;
    readonly environment: Environment;
    /** Prints an entry at once that is no request: nobody has to look for it. */
    readonly print: (entry: LogEntry) => void;
}

/** A mail to one address. */
interface Mail {
    readonly to: string;
    readonly subject: string;
    readonly html: string;
    /** The text of the mail for readers without HTML. */
    readonly text: string;
}

/** Hears what became of mails that have an `about`. */
type MailListener = (about: string, outcome: MailOutcome, to: string) => Promise<void>;

/** The parts of a mail that a handler may change. */
interface MailMessage {
    to: string;
    subject: string;
    html: string;
    text: string;
}

/** The outcome of a mail: a server has it, nobody has it, or nobody knows. */
type MailOutcome = 'sent' | 'failed' | 'unknown';

interface MailTemplate {
    readonly subject: string;
    readonly body: string;
}

/** A mail is about to be sent. */
interface MailerEvent extends AppEvent {
    readonly message: MailMessage;
}

/** A mail is about to be sent to an account. */
interface MailerRecordEvent extends MailerEvent {
    readonly record: HookRecord;
    /** The secrets of the mail: `token`, `newEmail`, `otpId`, `password`, `info`. */
    readonly meta: Readonly<Record<string, string>>;
}

class Mails {
    constructor(host: MailsHost);
    /** Sends what an earlier run has left. */
    start(listener: MailListener): Promise<void>;
    /** The length: how many are on their way. */
    get length(): number;
    /**
     * Resolves when the mail is stored, with what `also` writes. It is sent later. The log has a mail for which the queue has no room.
     */
    queue(mail: QueuedMail, also?: (transaction: Transaction) => Promise<unknown>): Promise<void>;
    /** Sends it at once. Without a server the log has it. @throws MailError */
    sendNow(mail: Mail): Promise<void>;
    /** Mails that no server has yet stay stored. */
    close(): Promise<void>;
}

interface MailsHost {
    readonly database: Database;
    readonly fleet: Fleet;
    readonly settings: Settings;
    readonly logs: LogWriter & {
        flush(): Promise<void>;
    };
    readonly environment: Environment;
    /** Runs hooks around a mail. They may change what is sent, or keep it from being sent. */
    readonly around: (mail: Mail & Pick<QueuedMail, 'account'>, send: (mail: Mail) => Promise<void>) => Promise<void>;
}

/** A part of the model. */
interface Member {
    /** Whether the member is alive. False: it has to be replaced. */
    readonly isAlive: boolean;
    /** @throws SqlRefusal; MemberLost; the reason of the signal */
    ask<K extends ModelRequest['kind']>(request: Extract<ModelRequest, {
        readonly kind: K;
    }>, options?: AskOptions): Promise<ModelAnswers[K]>;
    end(): Promise<void>;
}

interface MemberOptions {
    /** Whether the priority is low: other requests come first. */
    readonly isLow?: boolean;
}

/** A message from one server to another. JSON. */
interface Message {
    /** The topic names the listener: 'realtime'. */
    readonly topic: string;
    readonly [field: string]: unknown;
}

/** Runs code of the operator around messages. */
interface MessageHooks {
    /** Without any, messages are sent at once. */
    areThere(): boolean;
    around(subscriber: Subscriber, message: RealtimeMessage, send: (message: RealtimeMessage) => void): Promise<void>;
}

/**
 * The folder of migrations, where files are made. As a journal it writes a file for each change of one definition, as PocketBase's
 * automigrate does. The change and the note that its file was applied are one transaction. A process that is killed between file and
 * transaction leaves a file that the next start applies.
 */
class MigrationFolder implements DefinitionJournal {
    /** `now`: the time, by which files are named. */
    constructor(path: string, now: () => number);
    /** Makes a file to be filled in, and returns its name. @throws ServiceError INVALID */
    addBlank(name: string): Promise<string>;
    /** Makes a file of all collections and reports as they are. It counts as applied in the database. @throws ServiceError INVALID */
    addSnapshot(database: Database, all: readonly Definition[], reports: readonly Report[]): Promise<string>;
    /** A definition is about to change. */
    begin(pair: DefinitionPair): Promise<JournalEntry | undefined>;
    /** A report is about to change. */
    beginReport(pair: ReportPair): Promise<JournalEntry>;
}

/** Values of one field that a change does not leave as they are, or not right. */
interface Misfit {
    /** The name of the field: after the change, or before it if the field goes. */
    readonly field: string;
    /** The error, as for a write. `change_loses_value`: the change does not keep it. */
    readonly error: FieldError;
    readonly count: number;
    /** The first records that have it. */
    readonly ids: readonly string[];
}

/** The answers to requests. */
interface ModelAnswers {
    readonly open: undefined;
    readonly feed: Fed;
    readonly describe: DescribedQuery;
    /** Why each can't be; undefined: it can. */
    readonly indexes: readonly (string | undefined)[];
    /** Rows have come before, in pieces. */
    readonly rows: readonly string[];
    readonly page: TextRows & {
        readonly total: number | undefined;
    };
    readonly run: StatementsResult;
}

interface ModelColumn {
    readonly name: string;
    /** The declaration of a column: `TEXT DEFAULT '' NOT NULL` */
    readonly declaration: string;
    /** True for a column that is empty here, and that no statement sets. */
    readonly isSecret?: boolean;
    /** True for a column of times or numbers alone. */
    readonly isTimeOrNumber?: boolean;
    /** SQLite computes it of others: rows have no value for it. */
    readonly isGenerated?: boolean;
}

/** Figures of the model for an operator. All 0 while nothing runs, except for `ended`. */
interface ModelFigures {
    /** The file, or what the process has in memory. */
    readonly bytes: number;
    /** How long the oldest change waits that it does not have. */
    readonly lagMs: number;
    /** Processes that were lost or ended, as a query had exceeded a limit. Counted since the start. */
    readonly ended: number;
}

/** Where the model is, and its sources. */
interface ModelHome {
    readonly start: StartMember;
    /** False: one process has it in memory, and no plain text of a record reaches a file. */
    readonly isFile: boolean;
}

type ModelRequest = 
/** The request that opens the file, which comes first. Without `file` the model is in the memory of the process. */
{
    readonly kind: 'open';
    readonly role: 'keeper' | 'reader';
    readonly file: string | undefined;
}
/** The steps up to one with `isLast` are one transaction. */
 | {
    readonly kind: 'feed';
    readonly steps: readonly FeedStep[];
    readonly isLast: boolean;
}
/** Prepares a query on empty tables. It needs no model. */
 | {
    readonly kind: 'describe';
    readonly schema: ModelSchema;
    readonly query: ModelSource;
}
/** Makes indexes on empty tables. */
 | {
    readonly kind: 'indexes';
    readonly programs: readonly IndexProgram[];
} | RowsRequest | PageRequest | RunRequest;

/** The schema of the model: names that a statement may use. A view stands behind those that it reads. */
interface ModelSchema {
    readonly tables: readonly ModelTable[];
    readonly views: readonly ModelView[];
}

/** A view, or a SELECT without a name. Values of a SELECT are as JSON has them, those of a view are texts. */
type ModelSource = ModelView | {
    readonly name?: undefined;
    readonly query: string;
};

/** A table that stands for a collection. */
interface ModelTable {
    readonly name: string;
    readonly columns: readonly ModelColumn[];
    /** Statements `CREATE INDEX`. SQLite plans with them, as it does in PocketBase. */
    readonly indexes: readonly string[];
    /** Whether it is read only: no statement writes it. */
    readonly isReadOnly?: boolean;
}

interface ModelView {
    readonly name: string;
    readonly query: string;
}

type NameOf<All> = keyof All & string;

/** An upload that has its name in the record. */
class NewFile {
    /** The name in lower case, with a random part. */
    readonly name: string;
    readonly originalName: string;
    readonly size: number;
    readonly stream: () => ReadableStream<Uint8Array>;
    /** Makes a file of a program, which has its name at once. Its type is known after `look`. */
    static ofProgram(upload: Upload, chance: Chance): NewFile;
    static from(upload: Upload, chance: Chance): Promise<NewFile>;
    /** Makes a file that has had its name before. */
    static named(upload: Upload): Promise<NewFile>;
    /** The type by the content: `image/png`. Empty before it was looked at. */
    get type(): string;
    /** Finds the type out. */
    look(): Promise<void>;
}

/** A password that was made for somebody who gets no mail. */
interface NewOneTimePassword {
    /** The id that the login names. */
    readonly otpId: string;
    /** The password, in digits. */
    readonly password: string;
    /** How long it is valid. */
    readonly seconds: number;
}

/** The facts of a login about the session that it begins. */
interface NewSession {
    /** The id of the session; a random one when left out. */
    readonly id?: string | undefined;
    readonly method: SessionMethod;
    /** The duration in seconds. */
    readonly duration: number;
}

interface NotifierOptions {
    readonly database: Database;
    readonly definitions: Definitions;
    readonly access: Access;
    readonly reads: Pick<RecordReads, 'snapshotOf' | 'findIn'>;
    readonly makeSignals: (host: SignalHost) => Signals;
    readonly environment: Environment;
}

interface NumberField extends FieldBase, Requirable {
    readonly type: 'number';
    readonly min: number | null;
    readonly max: number | null;
    readonly onlyInt: boolean;
}

/** A row, and the number that its document has by creation. */
type NumberedRow = readonly [number: number, ...cells: Cell[]];

interface OAuth2Host extends AccountsHost {
    /** The logs that say why providers fail. */
    readonly logs: LogWriter;
    /** The account that somebody would log in to; undefined: a new one would be made. */
    readonly find: (login: ExternalLogin) => Promise<JsonObject | undefined>;
    /** The account of somebody, found, linked or made. @throws ServiceError */
    readonly enter: (login: ExternalLogin) => Promise<ExternalAccount>;
    /** Sends a message to the client of realtime with this id, if it waits for one from this address. Says whether it does. */
    readonly deliver: (clientId: string, message: JsonObject, address: string | undefined) => Promise<boolean>;
    /** A GET of a public address: all others are refused. Undefined: no pictures are fetched. */
    readonly fetchPublic: PublicFetch | undefined;
}

class OAuth2Logins {
    constructor(host: OAuth2Host);
    /**
     * Logs in the account of the user that a provider knows. `input` is read if the collection admits such logins.
     *
     * @throws ServiceError FORBIDDEN, INVALID with data
     */
    logIn(actor: Actor, definition: AuthDefinition, input: () => Promise<JsonObject>): Promise<LoggedIn | HalfLoggedIn>;
    /** Sends the code to the client that waits for it, and calls `logIn` next. False: no client waits, or no code came. */
    redirected({ state, code, error, user }: OAuth2Redirect, address: string | undefined): Promise<boolean>;
    /** Closes it: ends what providers are asked. */
    close(): void;
}

/** The parameters of a provider's redirect. */
interface OAuth2Redirect {
    /** The id of the client of realtime that waits for it. */
    readonly state: string;
    readonly code: string;
    readonly error: string;
    /** The user as JSON, which Apple sends once. */
    readonly user: string;
}

/** Where a definition says how long tokens of a type are valid. */
const OPTIONS: {
    readonly auth: 'authToken';
    readonly file: 'fileToken';
    readonly verification: 'verificationToken';
    readonly passwordReset: 'passwordResetToken';
    readonly emailChange: 'emailChangeToken';
};

class OneTimePasswords {
    constructor(host: AccountsHost);
    /** Resolves with the id that the login takes. @throws ServiceError FORBIDDEN, INVALID with data, TOO_MANY_REQUESTS */
    request(definition: AuthDefinition, input: JsonObject): Promise<string>;
    /** Makes one without a mail, for the operator to hand over. @throws ServiceError FORBIDDEN */
    make(holder: Holder): Promise<NewOneTimePassword>;
    /** Finds the account of a password, and uses the password up. @throws ServiceError FORBIDDEN, INVALID with data, TOO_MANY_REQUESTS */
    verify({ principal }: Actor, definition: AuthDefinition, input: JsonObject): Promise<Holder>;
    /** The account whose login a one-time password is for, while it is valid. */
    accountOf(definition: AuthDefinition, otpId: string): Promise<JsonObject | undefined>;
    /** A password that nobody got is worth nothing. One that was sent proves its address. */
    mailed(otpId: string, outcome: MailOutcome, to: string): Promise<void>;
    /** Deletes those that are no longer valid. */
    deleteExpired(): Promise<void>;
}

/** A column of a list's order. */
interface OrderColumn {
    readonly name: string;
    readonly kind: 'text' | 'number' | 'json';
    readonly descending: boolean;
}

/** Rows of one table that a statement sees in place of those that the model has. */
interface Overlay {
    readonly table: ModelTable;
    readonly rows: readonly NumberedRow[];
    readonly gone: readonly number[];
}

/** Rows that are kept. Rows that agree in the order are sorted by id. */
interface PageRequest extends PageWanted {
    readonly kind: 'page';
    readonly view: string;
}

interface PageWanted {
    /** Rows that agree in it are sorted by id. */
    readonly order: readonly OrderColumn[];
    readonly skip: number;
    readonly limit: number;
    readonly withTotal: boolean;
}

/** The type of a parameter's values. */
type ParameterType = 'text' | 'number' | 'integer' | 'bool' | 'date';

/** A type whose parts may be left out, at any depth. */
type Partially<T> = T extends readonly (infer One)[] ? readonly Partially<One>[] : T extends object ? {
    readonly [Name in keyof T]?: Partially<T[Name]>;
} : T;

interface Parts extends JudgeParts {
    readonly environment: Environment;
    readonly reads: RecordReads;
}

/** A passkey, as its account sees it. */
interface PasskeyInfo {
    readonly id: string;
    readonly name: string;
    /** Whether other devices of the person may have it. */
    readonly synced: boolean;
    /** Dates as records have them; empty: never. */
    readonly created: string;
    readonly used: string;
}

class Passkeys {
    constructor(host: AccountsHost);
    /**
     * The options with which a browser makes a passkey. `loginAgeMs`: how long ago the account has logged in. @throws ServiceError
     * FORBIDDEN
     */
    registrationOptions({ definition, record }: Holder, loginAgeMs: number): Promise<PublicKeyCredentialCreationOptionsJSON>;
    /** `loginAgeMs`: how long ago the account has logged in. @throws ServiceError FORBIDDEN, INVALID with data */
    register({ definition, record }: Holder, input: JsonObject, loginAgeMs: number): Promise<PasskeyInfo>;
    /** Passkeys of an account, the newest one first. */
    list(account: Account): Promise<readonly PasskeyInfo[]>;
    /** @throws ServiceError INVALID with data, NOT_FOUND */
    rename(account: Account, id: string, input: JsonObject): Promise<PasskeyInfo>;
    /** @throws ServiceError NOT_FOUND */
    delete(account: Account, id: string): Promise<void>;
    /** The options with which a browser asks for a passkey: the same for all accounts, as they name none. @throws ServiceError FORBIDDEN */
    loginOptions(definition: AuthDefinition): Promise<PublicKeyCredentialRequestOptionsJSON>;
    /** The account of a passkey. `identity` of the input: it must be this account. @throws ServiceError FORBIDDEN, INVALID */
    verify(definition: AuthDefinition, input: JsonObject): Promise<Holder>;
}

interface PasswordField extends FieldBase, Requirable {
    readonly type: 'password';
    readonly min: number;
    readonly max: number;
    readonly pattern: string;
    readonly cost: number;
}

class PasswordReset {
    constructor(host: AccountsHost);
    /** @throws ServiceError INVALID with data */
    request(definition: AuthDefinition, input: JsonObject): Promise<void>;
    /** Confirms the reset, and so verifies the address that the mail went to. @throws ServiceError INVALID with data */
    confirm(definition: AuthDefinition, input: JsonObject): Promise<void>;
}

/** Makes and checks hashes of passwords, as PHC strings. */
class Passwords {
    /** `chance`: makes salts. */
    constructor(chance: Chance, limits?: Partial<HashQueueLimits>, algorithm?: Algorithm);
    /** A PHC string. */
    hash(password: string): Promise<string>;
    /** A PHC string of a password that nobody knows. It costs nothing. */
    unknownHash(): string;
    /** Verifies a password: compares hashes in constant time. False for a record that is too weak or too expensive. */
    verify(record: string, password: string): Promise<boolean>;
    /** Takes as long as `verify`, so that timing does not reveal whether a name is known. */
    waste(password: string): Promise<void>;
    /** Whether `verify` reads the record. */
    isReadable(record: string): boolean;
    /** A record to be made again at the next login: of another algorithm, or with other parameters. */
    isOutdated(record: string): boolean;
    /** @throws ServiceError INVALID for a password that can't be taken as a new one */
    checkNew(password: unknown, charsMin?: number): string;
    /** Runs another derivation in the same queue. */
    queued<T>(work: () => Promise<T>): Promise<T>;
}

/** A function of the operator, and where it stands. */
interface PlacedHandler {
    /** The subject of the handler, in logs: `onRecordCreate`, `GET /hello`. */
    readonly name: string;
    /** A `HookHandler`. */
    readonly handler: (event: never) => unknown;
    /** For logs: `hooks/posts.ts:12`. */
    readonly source: string;
}

/** A table, and how far the model has its collection. */
type PlacedTable = readonly [table: TableSource, position: number];

/** The input of a write after all work on it that takes time. */
interface PreparedInput {
    readonly definition: Definition;
    /** With `NewFile`s. */
    readonly input: RecordInput;
    /** Whether a superuser writes: hidden fields are read too. */
    readonly isSuperuser: boolean;
    /** The time of the write, now: `2026-11-22 15:04:49.813Z` */
    readonly now: string;
    /** Hashes of new passwords, by field. */
    readonly hashes: ReadonlyMap<string, string>;
    /** The changes of hooks to the input, in order. No rule is asked about it. */
    readonly changes: readonly HookChange[];
    /** An account's passwords have to be confirmed. */
    readonly isForm: boolean;
    /** Whether fields take values that they refuse. */
    readonly isUnchecked: boolean;
    /** Values of autodate fields, in place of those that come by themselves. */
    readonly autodates?: Readonly<Record<string, string>>;
    /** Files whose content is not in the database, by name. */
    readonly elsewhere?: ReadonlySet<string>;
    /** Draws texts of patterns. */
    readonly chance: Chance;
    /** Values of a new record that are drawn already, by field. */
    readonly drawn?: Readonly<Record<string, string>>;
    /** A draft of it with these changes. Values of this draft are not read and checked again. */
    readonly begun?: Draft;
}

/** A provider of OAuth2 that a collection admits. What is empty is as the provider has it. */
interface ProviderOptions {
    readonly name: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly authURL: string;
    readonly tokenURL: string;
    readonly userInfoURL: string;
    readonly displayName: string;
    readonly pkce: boolean | null;
    readonly extra: Readonly<Record<string, unknown>> | null;
}

type PublicFetch = (url: string, signal: AbortSignal) => Promise<Response>;

interface PushHost {
    readonly database: Database;
    readonly definitions: Definitions;
    readonly access: Access;
    readonly reads: RecordReads;
    readonly writes: RecordWrites;
    readonly settings: Settings;
    readonly environment: Environment;
}

/** Files of a push, by the names of their parts. */
type PushedFiles = ReadonlyMap<string, UploadedFile>;

/** Puts documents that guards have let pass: by themselves, or in a transaction. */
type PutDocuments = (documents: readonly JsonObject[], place?: Pick<Transaction, 'collection'>) => Promise<readonly WriteOutcome[]>;

interface PutOptions {
    /** Whether edits are new. False: the revisions were made elsewhere, and are taken as they are. */
    readonly newEdits?: boolean;
    /** True for a small write, which may share one commit with writes of others. */
    readonly grouped?: boolean;
}

interface QueuedMail extends Mail {
    /** The account that gets it, for hooks. */
    readonly account?: {
        readonly kind: AccountMail;
        readonly collection: string;
        readonly id: string;
        readonly meta: Readonly<Record<string, string>>;
    };
    /** Until when, in milliseconds since 1970. After that the mail is worth nothing: its token has expired. */
    readonly untilMs: number;
    /** The subject of the mail for the listener. */
    readonly about?: string;
    /** Whether it is a decoy: nobody gets it. It takes the time of a mail to an account that exists. */
    readonly isDecoy?: boolean;
}

/** The quota limits what each database may take. */
class Quota {
    constructor(bytesMax?: number);
    /** For one write: what it brings counts until it leaves. */
    enter(name: string, collection: Collection<JsonObject>): Room;
}

/** A rule of rate limits: how often something may be asked for. */
interface RateLimitRule {
    /** `*:auth`, `posts:create`, `/api/batch`, `/api/` */
    readonly label: string;
    readonly audience: '' | '@guest' | '@auth' | (string & {});
    /** The duration in seconds. */
    readonly duration: number;
    readonly maxRequests: number;
}

class RateLimiter {
    constructor(settings: Settings, environment: Environment, fleet?: Fleet);
    /** Whether no rule can hold for a request of this kind, so that nothing has to be counted. `tags`: the actions on its collection. */
    isUnlimited({ isAdmin }: Principal, tags: readonly string[]): boolean;
    /**
     * Counts a request. The first of the labels that a rule has decides; a rule that ends in `/` is for all paths that begin so. `what`
     * is counted apart from others, and so is each API token.
     *
     * @throws ServiceError TOO_MANY_REQUESTS
     */
    check(principal: Principal, what: string, labels: readonly string[]): void;
    /** The rule that a request with these labels counts for. Undefined: there is no limit. */
    ruleOf({ account, isAdmin, address }: Principal, labels: readonly string[]): RateLimitRule | undefined;
}

/** Actions whose rules are asked about records that are stored. */
type ReadAction = 'list' | 'view' | 'manage' | 'auth';

class ReadModel implements ViewQueries {
    constructor(parts: ReadModelParts);
    /** Definitions ask the model about views, so they come later. */
    follow(definitions: KnownCollections): void;
    describe(views: readonly ViewDefinition[], all: readonly Definition[]): Promise<readonly DescribedQuery[]>;
    indexErrors(programs: readonly IndexProgram[]): Promise<readonly (string | undefined)[]>;
    sample(view: ViewDefinition, all: readonly Definition[], limit: number): Promise<TextRows>;
    /** @throws SqlRefusal if its query no longer fits what it reads */
    ready(view: ViewDefinition): Promise<ReadyView>;
    /** As `ready`, of a SELECT that may have parameters and read databases. @throws SqlRefusal */
    readySelect(query: string): Promise<ReadyView>;
    /** SQLite's error for a SELECT, with these definitions. */
    selectError(query: string, all: readonly Definition[]): Promise<string | undefined>;
    /** The rows at a commit, or at a later one. @throws SqlRefusal */
    rows(ready: Pick<ReadyView, 'request' | 'collections'>, sequence?: number): Promise<TextRows>;
    /** As `rows`, of a SELECT, with the values of its parameters. @throws SqlRefusal */
    selectRows({ request, collections, kept }: Pick<ReadyView, 'request' | 'collections'> & Partial<ReadyView>, values: Readonly<Record<string, Cell>>, sequence?: number): Promise<JsonRows>;
    /** A page of rows that are kept. Undefined: they are not. */
    page(view: ReadyView, wanted: PageWanted, sequence: number): Promise<ModelAnswers['page'] | undefined>;
    /** Waits for a commit. `changedAt`: the newest one that has changed what the view reads. */
    upTo(view: ReadyView, sequence?: number): Promise<{
        readonly at: number;
        readonly changedAt: number;
    }>;
    /** The writes of a transaction that the model does not have. Undefined: too much, also when the model has all that is committed. */
    overlays({ collections }: ReadyView, reader: GuardReader): readonly Overlay[] | 'behind' | undefined;
    /**
     * Runs statements; `positions` tells how far each collection had come before. `overlaid`: they see the writes of a transaction.
     *
     * @throws SqlRefusal
     */
    run(statements: string, rowsMax: number, overlaid?: (tables: readonly PlacedTable[]) => Promise<readonly Overlay[]>): Promise<{
        readonly result: StatementsResult;
        readonly positions: ReadonlyMap<string, number>;
    }>;
    /** Compares the tables that there are with their collections, while these change. One call at a time. */
    compare(cancelled: AbortSignal): Promise<readonly Compared[]>;
    figures(): ModelFigures;
    /** Ends what runs. */
    close(): Promise<void>;
}

interface ReadModelParts {
    readonly database: Database;
    readonly environment: Environment;
    readonly home: ModelHome;
}

/** The readable documents: all, or the documents with these ids. */
type ReadScope = 'all' | ReadonlySet<string>;

/** The readable part of a view. */
type ReadableView = Pick<View<unknown, unknown, unknown, unknown>, 'query' | 'rows' | 'info'>;

/** The reads of one computation, as short texts. */
class Reads {
    /** Records whose reads are noted. */
    of(records: RuleRecords): RuleRecords;
    get noted(): ReadonlySet<string>;
}

interface ReadsOptions {
    readonly database: Database;
    readonly environment: Environment;
    /** The definitions. A fixed set of definitions has no `steadily`. */
    readonly definitions: KnownDefinitions & Partial<Pick<Definitions, 'steadily'>>;
    readonly access: Access;
    /** Reads views. */
    readonly viewReader: ViewRows;
    /** Lets hooks change what is shown. */
    readonly enrich?: Enricher;
}

/** A view, or a SELECT, that can be read. */
interface ReadyView {
    readonly request: RowsRequest;
    /** The collections of the query, and those of the views that it reads. */
    readonly collections: readonly TableSource[];
    readonly reads: DescribedQuery['reads'];
    /** True if the rows may change by themselves. */
    readonly isVolatile: boolean;
    /** The same query where a parameter is the present, and may be a time of it. */
    readonly atPresent?: ReadyView;
    /** How its rows can be kept. */
    readonly kept: KeptView | undefined;
}

/** A client of realtime is sent a message. */
interface RealtimeMessageEvent extends AppEvent {
    readonly client: {
        readonly id: string;
        /** The account that has subscribed; undefined for guests. */
        readonly auth: HookRecord | undefined;
    };
    /** Handlers may change it. */
    readonly message: {
        name: string;
        data: object;
    };
}

interface RealtimeOptions extends NotifierOptions {
    readonly fleet: Fleet;
    readonly logs: LogWriter;
    readonly principals: {
        /** Whether what the principal is known by is no longer valid. */
        hasEnded(principal: Principal): Promise<boolean>;
    };
}

class RecordAccounts {
    /** The verification of e-mail addresses. */
    readonly verification: Verification;
    /** Passwords that were forgotten. */
    readonly passwordReset: PasswordReset;
    /** The change of an e-mail address into another. */
    readonly emailChange: EmailChange;
    /** How a new server gets a superuser. */
    readonly firstSuperuser: FirstSuperuser;
    /** Logins by keys of devices. */
    readonly passkeys: Passkeys;
    /** Logins by passwords that come by mail. */
    readonly oneTimePasswords: OneTimePasswords;
    /** The passwords of all doors, whose hashes it makes and checks. */
    readonly passwords: Passwords;
    /** The limiter of failed logins at all doors. */
    readonly limiter: LoginLimiter;
    constructor(host: AccountsHost);
    /** The principal to whom the token belongs. Undefined for a text that is no valid token: then somebody is a guest. */
    principalOf(token: string): Promise<Principal | undefined>;
    /** As `principalOf`, for doors that API tokens and the secret of the first superuser open too. */
    bearerOf(token: string): MaybePromise<Principal | undefined>;
    /** Which account a request is about, before it has proven anything. @throws ServiceError NOT_FOUND */
    askedAccount(collection: string, by: AskedBy, form: JsonObject): Promise<JsonObject | undefined>;
    /**
     * Logs in with an identity and a password.
     *
     * @throws ServiceError NOT_FOUND, FORBIDDEN, INVALID with data, TOO_MANY_REQUESTS
     */
    authWithPassword(actor: Actor, collection: string, input: JsonObject): Promise<LoggedIn | HalfLoggedIn>;
    /**
     * Logs in with a one-time password.
     *
     * @throws ServiceError NOT_FOUND, FORBIDDEN, INVALID with data, TOO_MANY_REQUESTS
     */
    authWithOtp(actor: Actor, collection: string, input: JsonObject): Promise<LoggedIn | HalfLoggedIn>;
    /** Logs in with a passkey. @throws ServiceError NOT_FOUND, FORBIDDEN, INVALID */
    authWithPasskey(actor: Actor, collection: string, input: JsonObject): Promise<LoggedIn | HalfLoggedIn>;
    /** The options with which the actor's browser makes a passkey. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
    passkeyOptions(actor: Actor, collection: string, id: string): ReturnType<Passkeys['registrationOptions']>;
    /** Stores a passkey of the actor. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID with data */
    addPasskey(actor: Actor, collection: string, id: string, input: JsonObject): Promise<PasskeyInfo>;
    /** A one-time password of a superuser, for the operator to hand over. @throws ServiceError NOT_FOUND, FORBIDDEN */
    superuserOtp(email: string): Promise<NewOneTimePassword>;
    /** A mail to try the SMTP server with. @throws ServiceError FORBIDDEN, INVALID with data */
    sendTestMail({ principal }: Actor, input: JsonObject): Promise<void>;
    /** Deletes logins by one of two methods that have expired, and sessions that have ended. */
    deleteExpired(): Promise<void>;
    /** The sessions of an account, for itself and for superusers. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
    sessions(actor: Actor, collection: string, id: string): Promise<readonly SessionInfo[]>;
    /** Ends a session: its tokens are refused from now on. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
    endSession(actor: Actor, collection: string, id: string, session: string): Promise<void>;
    /** Ends all but that of the actor. Tokens without a session end too. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
    endOtherSessions(actor: Actor, collection: string, id: string): Promise<void>;
    /** Makes an API token. The answer alone has it whole. @throws ServiceError FORBIDDEN, INVALID with data */
    createApiToken({ principal }: Actor, input: JsonObject): Promise<ApiTokenInfo & {
        readonly token: string;
    }>;
    /** The API tokens, the newest one first. @throws ServiceError FORBIDDEN */
    apiTokens({ principal }: Actor): Promise<readonly ApiTokenInfo[]>;
    /** An API token that is deleted is refused from now on. @throws ServiceError FORBIDDEN, NOT_FOUND */
    deleteApiToken({ principal }: Actor, id: string): Promise<void>;
    /** The account of the actor, by its id. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
    itself(actor: Actor, collection: string, id: string): Holder;
    /**
     * An account of the collection: the one of the actor, or any for a superuser.
     *
     * @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND
     */
    ownAccount(actor: Actor, collection: string, id: string): Promise<Account>;
    /** Exchanges the token of the actor for one of its session that is valid for longer. @throws ServiceError UNAUTHENTICATED, FORBIDDEN */
    authRefresh(actor: Actor, collection: string, token: string, input?: JsonObject): Promise<LoggedIn>;
    /**
     * A token of a record for an admin. It is valid for `duration` seconds, 0: as long as others, and gets no longer.
     *
     * @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID with data
     */
    impersonate(actor: Actor, collection: string, id: string, duration?: unknown): Promise<LoggedIn>;
    /** How records of a collection can log in. @throws ServiceError NOT_FOUND */
    authMethods(collection: string): JsonObject;
    /** @throws ServiceError NOT_FOUND */
    authDefinition(collection: string): AuthDefinition;
    /** The superuser with this e-mail address. */
    superuser(email: string): Promise<JsonObject | undefined>;
    /** The account of the actor, which has to be of this collection. @throws ServiceError UNAUTHENTICATED, FORBIDDEN */
    accountOf({ principal }: Actor, collection: string): Holder;
    /** The names of principals that a change concerns; 'all' if anybody may be. */
    changedNames({ collections }: DatabaseChange): 'all' | readonly string[];
}

/** Somebody has shown who it is, by a login or a token, and is about to get a token. */
interface RecordAuthRequestEvent extends RecordRequestEvent {
    /** The method of the login (auth): `password`, `otp`, `oauth2`. Empty for a refresh. */
    readonly authMethod: string;
    /** The token of the login, after `await e.next()`. */
    readonly token?: string;
}

/** Somebody logs in by another service, which has said who that is. */
interface RecordAuthWithOAuth2RequestEvent extends RequestEvent {
    readonly collection: Definition;
    /** The account, before it is linked; undefined: a new one will be made. */
    readonly record: HookRecord | undefined;
    readonly isNewRecord: boolean;
    readonly providerName: string;
    /** The service's data about its user. */
    readonly oAuth2User: Readonly<Record<string, unknown>>;
    /** Values of a new account. Handlers may change them. */
    readonly createData: Record<string, unknown>;
}

/** A record is about to be shown, in an answer or a message. */
interface RecordEnrichEvent extends RequestEvent {
    readonly record: HookRecord;
}

/** A record could not be written. */
interface RecordErrorEvent extends RecordEvent {
    readonly error: unknown;
}

/** Something is done with a record. */
interface RecordEvent extends AppEvent {
    readonly record: HookRecord;
    readonly type: 'create' | 'update' | 'delete' | 'validate';
}

class RecordFiles {
    static open(host: FilesHost): Promise<RecordFiles>;
    /** Undefined if the content is nowhere. */
    open(definition: Definition, record: JsonObject, name: string): Promise<Content | undefined>;
    /** A thumb, made if need be. Undefined if it can't be made: the log has the reason. */
    openThumb(definition: Definition, record: JsonObject, name: string, size: string, original: Content): Promise<Content | undefined>;
    /**
     * Puts new files of a record into the bucket, if there is one. Call `release` when the record is written, or not: what it does not
     * name goes again.
     */
    store(definition: Definition, record: string, files: readonly NewFile[]): Promise<{
        readonly names: ReadonlySet<string>;
        release(): void;
    } | undefined>;
    /** Notes what a record has in the bucket since before it was ours, so that a change of the record can delete it. */
    adopt(definition: Definition, id: string): Promise<void>;
    /** Resolves when nothing is left to delete. */
    settled(): Promise<void>;
    close(): Promise<void>;
}

/** A write of one record. */
type RecordOperation = ({
    readonly action: 'create';
    readonly collection: string;
} & WantedFields)
/** Changes the record with the id of the input, or makes it. */
 | ({
    readonly action: 'upsert';
    readonly collection: string;
} & WantedFields) | ({
    readonly action: 'update';
    readonly collection: string;
    readonly id: string;
    /** Only if this is the revision of the record. */
    readonly rev?: string;
    /** Or if the fields that change have these values, which the sender has seen. */
    readonly was?: Readonly<Record<string, unknown>>;
    /** Or if an earlier write of the sender has made the value. */
    readonly isOwn?: (field: string, value: unknown) => boolean;
} & WantedFields) | {
    readonly action: 'delete';
    readonly collection: string;
    readonly id: string;
    readonly rev?: string;
};

class RecordReads {
    constructor(options: ReadsOptions);
    /**
     * A page of the records that the list rule admits.
     *
     * @throws ServiceError NOT_FOUND, FORBIDDEN if the collection is locked, INVALID for a wrong filter, sort or `fields`
     */
    list(actor: Actor, name: string, options?: ListOptions): Promise<RecordPage>;
    /** As `list`, for a door that sends it: its text where the records have kept ones. */
    listText(actor: Actor, name: string, options: ListOptions): Promise<RecordPage | JsonText>;
    /** The documents of a list as they are stored, from `offset` on; all of them without a limit. @throws ServiceError as `list` */
    select(actor: Actor, name: string, { limit, offset, ...options }: SelectOptions): Promise<readonly JsonObject[]>;
    /** How many records meet a filter. @throws ServiceError as `list` */
    count(actor: Actor, name: string, filter: string): Promise<number>;
    /** @throws ServiceError NOT_FOUND: also if the view rule does not admit the record; FORBIDDEN if the collection is locked */
    view(actor: Actor, name: string, id: string, options?: ShowOptions): Promise<RecordJson>;
    /** The actor's view of stored documents of one collection. No rule but that of expanded records is asked. */
    show(actor: Actor, definition: Definition, documents: readonly JsonObject[], options?: ShowOptions): Promise<RecordJson[]>;
    /** As `show`, where it is known which fields of each document are not shown. No rule is asked. */
    showWithout(actor: Actor, definition: Definition, documents: readonly WithoutFields[], options?: ShowOptions): Promise<RecordJson[]>;
    /** A record, or a row of a view, as it is stored. No rule is asked. */
    stored(definition: Definition, id: string): Promise<JsonObject | undefined>;
    /** A state of the database that is held, for `findIn` and for rules. */
    snapshotOf(reader: SnapshotReader): RecordSnapshot;
    /** The records that `show` shows, in a given state. The state may end before hooks run. */
    findIn(snapshot: RecordSnapshot, actor: Actor, definition: Definition, documents: readonly JsonObject[], options: ShowOptions): Promise<FoundRecords>;
    /** Whether a rule admits a document, as it is stored. Nothing is locked to superusers. */
    admits(actor: Actor, definition: Definition, action: ReadAction, document: JsonObject): Promise<boolean>;
    /**
     * How a list would be answered now: what the library plans.
     *
     * @throws ServiceError FORBIDDEN for all but superusers, INVALID for a view, and as `list`
     */
    explain(actor: Actor, name: string, options?: ListOptions): Promise<ListExplanation>;
    /** Runs what reads one state of the database. @throws ServiceError INVALID if a rule reads or tries too much */
    inSnapshot<T>(read: (snapshot: RecordSnapshot) => Promise<T>): Promise<T>;
}

/** Somebody asks to do something with a record. */
interface RecordRequestEvent extends RequestEvent {
    readonly collection: Definition;
    readonly record: HookRecord;
}

class RecordSnapshot {
    readonly reader: SnapshotReader;
    readonly environment: Environment;
    /** The budget that is left for the request. */
    readonly budget: RequestBudget;
    constructor(reader: SnapshotReader, { definitions, viewReader, environment }: SnapshotParts);
    /** Makes the views that a rule reads. */
    prepare(bound: BoundRule): Promise<void>;
    /** Runs what asks rules. They have to be prepared; it may run again. */
    read<T>(reading: (records: RuleRecords) => T): Promise<T>;
    /** The answer of `ask` about each document. It must be synchronous, and may be asked again. */
    readEach<T>(documents: readonly JsonObject[], ask: (document: JsonObject, records: RuleRecords) => T): Promise<T[]>;
    /** The records for rules, through a reader of this snapshot. */
    rules(guard: GuardReader): RuleRecords;
    /** The documents of these ids. */
    get(definition: Definition, ids: readonly string[]): Promise<(JsonObject | undefined)[]>;
    /**
     * As `get`, without those that are not there, for an answer. Few are read at a time, so that no more is in memory than the budget has.
     */
    getWithin(definition: Definition, ids: readonly string[], budget: AnswerBudget): Promise<JsonObject[]>;
    /** The records whose relation has one of the ids, by these. */
    via(definition: Definition, field: string, ids: readonly string[], limit: number): Promise<ReadonlyMap<string, readonly JsonObject[]>>;
    /** A page of a view whose rows are kept. Undefined: they are not, or this request has read all of them. */
    page(definition: ViewDefinition, wanted: PageWanted): ReturnType<ViewRows['page']>;
    /** The rows of a view, made once. @throws ServiceError INVALID if it no longer fits what it reads */
    rows(definition: ViewDefinition): Promise<readonly JsonObject[]>;
}

interface RecordState {
    /** The stored document; undefined: the record is new. */
    readonly stored: JsonObject | undefined;
    /** The values: all fields have one, `id` too. */
    readonly values: JsonObject;
}

/** A transaction, for `HookApp`. */
interface RecordTransaction {
    /** The place of the writes: the library's transaction. */
    readonly place: Transaction;
    readonly environment: Environment;
    readonly isOpen: boolean;
    readonly hasWritten: boolean;
    records(definition: Definition): TransactionCollection<JsonObject>;
    /** Reads what is stored, and what it has written. `collection`: any one that there is. */
    read<T>(collection: string, read: (reader: GuardReader) => T): Promise<T>;
    /** Writes as the server itself, without hooks. @throws ServiceError: then the transaction ends with it, also if the caller catches it */
    apply(operations: readonly RecordOperation[]): Promise<void>;
    /** `app`: what hooks of the write get. @throws ServiceError */
    save(record: HookRecord, app: HookApp, isUnchecked?: boolean): Promise<void>;
    delete(record: HookRecord, app: HookApp): Promise<void>;
    /** Resolves with undefined after a delete. @throws ServiceError */
    write(actor: Actor, operation: RecordOperation, options: WriteOptions): Promise<WrittenRecord | undefined>;
}

/** A record is about to be answered. */
interface RecordViewRequestEvent extends RecordRequestEvent {
    /** The result: the answer to the client. Handlers may change it. */
    readonly result: Record<string, unknown>;
}

interface RecordWriterParts extends JudgeParts {
    readonly database: Database;
    readonly environment: Environment;
    readonly passwords: Passwords;
    /** Counts guesses of old passwords with failed logins. */
    readonly limiter: LoginLimiter;
    readonly hooks: Hooks;
    readonly app: HookApp;
    readonly files: FileStore;
    /** The operator's gate of every write. */
    readonly gate: WriteGate;
}

class RecordWrites {
    constructor(parts: RecordWritesParts);
    /**
     * Refuses a write that no input can make right. Ask it before you read a body. Gives the definition of the collection.
     *
     * @throws ServiceError NOT_FOUND; INVALID for a view; FORBIDDEN if the collection is locked
     */
    assertOpen(actor: Actor, collection: string, action: 'create' | 'update'): Definition;
    /**
     * Makes a record.
     *
     * @throws ServiceError NOT_FOUND, FORBIDDEN if the collection is locked; INVALID with data
     */
    create(actor: Actor, collection: string, input: RecordInput, options?: ShowOptions): Promise<RecordJson>;
    /**
     * Changes the fields of a record that the input names.
     *
     * @throws ServiceError NOT_FOUND: also if the rule does not admit the record; FORBIDDEN if the collection is locked; CONFLICT; INVALID with
     *   data
     */
    update(actor: Actor, collection: string, id: string, input: RecordInput, { rev, ...options }?: ChangeOptions): Promise<RecordJson>;
    /**
     * Changes a record as the server itself does, unless somebody has changed it since it was read. Resolves with what is stored.
     *
     * @throws ServiceError NOT_FOUND, CONFLICT, INVALID with data
     */
    change({ id: collection }: Definition, read: JsonObject, input: RecordInput): Promise<JsonObject>;
    /**
     * Deletes a record, with those that can't be without it.
     *
     * @throws ServiceError as `update`; INVALID if a record needs it
     */
    delete(actor: Actor, collection: string, id: string, { rev }?: Pick<ChangeOptions, 'rev'>): Promise<void>;
    /** Runs a function that writes all or nothing. @throws what it throws, or a hook of its writes */
    inTransaction<T>(actor: Actor, body: (transaction: RecordTransaction) => Promise<T>): Promise<T>;
    /** Stores what a hook has set: a new record, or the changes of one. @throws ServiceError */
    save(actor: Actor, record: HookRecord, isUnchecked?: boolean): Promise<void>;
    /**
     * Writes all or nothing, one after another. Resolves with a record for each operation; undefined for a delete. An error stands
     * for an operation that is refused already.
     *
     * @throws BatchError for the first operation that is refused; ServiceError INVALID if it takes too long
     */
    batch(principal: Principal, operations: readonly (BatchOperation | ServiceError)[], options: Pick<BatchOptions, 'workMsMax' | 'budget'>): Promise<readonly (RecordJson | undefined)[]>;
    /**
     * Writes records of a collection, all or none. Resolves with those that are refused; none: all are written, or would be after a trial.
     *
     * @throws ServiceError NOT_FOUND; INVALID for a view, or if it takes too long; FORBIDDEN if the collection is locked
     */
    import(actor: Actor, collection: string, records: readonly RecordInput[], { action, ...options }: ImportOptions): Promise<readonly RefusedOperation[]>;
    /** As `batch`, without what is shown. `first` and `last` are of the same transaction. @throws as `batch`, or what they throw */
    writeTogether(principal: Principal, operations: readonly (BatchedWrite | ServiceError)[], options: Pick<BatchOptions, 'workMsMax' | 'first' | 'last'>): Promise<readonly (WrittenRecord | undefined)[]>;
    /**
     * Writes all or nothing, as the server itself, without hooks. A record that is gone already is one that is deleted. `check` throws
     * if definitions are no longer those that the operations are about.
     *
     * @throws ServiceError for the first operation that is refused
     */
    apply(operations: readonly RecordOperation[], check: () => void): Promise<void>;
}

interface RecordWritesParts extends RecordWriterParts {
    readonly reads: Pick<RecordReads, 'show' | 'findIn' | 'inSnapshot'>;
}

/** A page of records is about to be answered. */
interface RecordsListRequestEvent extends RequestEvent {
    readonly collection: Definition;
    /** Handlers may change it. */
    readonly result: {
        items: Readonly<Record<string, unknown>>[];
    };
}

/** An operation that was refused. */
interface RefusedOperation {
    /** The position in the batch, from 0. */
    readonly index: number;
    readonly reason: ServiceError;
}

interface RelationField extends FieldBase, Requirable {
    readonly type: 'relation';
    /** The id of a definition. */
    readonly collectionId: string;
    readonly cascadeDelete: boolean;
    readonly minSelect: number;
    readonly maxSelect: number;
}

interface ReplicationEnd {
    /** As of now: rights may change while it runs. */
    readonly principal: () => Principal;
    readonly database: string;
    /** Filter of the documents that are read from here. */
    readonly filter: ChangeFilter | undefined;
    /** Why a document is not written, as the other side is to see it. */
    readonly asOutcome: (outcome: GuardedOutcome) => WriteOutcome;
    /** The error that says why nothing is written. */
    readonly asError: (error: unknown) => unknown;
}

/** Reports what a listener has thrown. */
type ReportFailure = (error: unknown) => void;

/** A report before and after a change; undefined where no report is. */
interface ReportPair {
    readonly before: Report | undefined;
    readonly after: Report | undefined;
}

interface ReportsParts {
    readonly environment: Environment;
    readonly database: Database;
    readonly definitions: Definitions;
    readonly model: Pick<ReadModel, 'readySelect' | 'selectError' | 'selectRows' | 'upTo'>;
    readonly access: Pick<Access, 'revisions'>;
    readonly reads: Pick<RecordReads, 'inSnapshot'>;
    readonly journal: MigrationFolder | undefined;
}

class RequestBudget implements RowBudget {
    left: number;
    constructor(environment: Pick<Environment, 'now'>, rows?: number);
    /** Call it before work that is not counted. @throws ServiceError INVALID */
    check(): void;
    /** @throws ServiceError INVALID */
    spend(rows: number): void;
}

/** The event of a request: somebody asks for something. */
interface RequestEvent {
    /** The application for the hook. */
    readonly app: HookApp;
    /** The account that asks; undefined for guests. */
    readonly auth: HookRecord | undefined;
    /** Whether a superuser asks. */
    hasSuperuserAuth(): boolean;
    /** The request as rules read it. */
    requestInfo(): RequestInfo & {
        readonly body: Readonly<Record<string, unknown>>;
    };
    /** The real address (IP) that the request came from. */
    realIP(): string | undefined;
}

/** The option `required` of all types but `autodate`: the value must not be empty. */
interface Requirable {
    readonly required: boolean;
}

/** The options of the databases of a restored server. `onProgress` gets bytes. */
interface RestoreOptions extends Pick<OpenOptions, 'encryption' | 'signal' | 'onProgress'> {
    /** The key of the settings. */
    readonly settingsKey?: string;
}

/** A column of an answer. */
interface ResultColumn {
    /** The name: the alias, or the expression. */
    readonly name: string;
    /** The type as its table declares it: `TEXT`. Empty for an expression. */
    readonly type: string;
    /** PocketBase says true of all. */
    readonly nullable: boolean;
}

/** The message of a client that can come back, when it connects. */
interface ReturningClient {
    readonly principal: Principal;
    /** The topics of its subscriptions. */
    readonly topics: readonly string[];
    /** The cursor of the last message that it has got; undefined: it is new. */
    readonly after: string | undefined;
}

class Room {
    readonly leave: () => void;
    constructor(name: string, collection: Collection<JsonObject>, bytesMax: number, count: (bytes: number) => number, leave: () => void);
    /** The documents, with attachments that are counted as they are read. @throws ServiceError QUOTA_EXCEEDED; so does reading them */
    admit(documents: readonly JsonObject[]): Promise<readonly JsonObject[]>;
}

type Row = readonly Cell[];

interface RowsRequest {
    readonly kind: 'rows';
    /** The source of the rows: the name of a view, or a SELECT. */
    readonly from: ModelSource;
    /** The views; a view stands behind the views that it reads. */
    readonly views: readonly ModelView[];
    /** Collections and views that may be read. */
    readonly names: readonly string[];
    readonly limit?: number | undefined;
    /** Values of the parameters that a SELECT may have. */
    readonly values?: Readonly<Record<string, Cell>>;
    readonly overlays?: readonly Overlay[];
}

interface RowsTotal {
    /** Undefined if it is not wanted. */
    readonly total: number | undefined;
}

/** `null`: superusers only. `''`: everybody. Else a rule. */
type Rule = string | null;

/** The rules that decide which fields of a record are shown. */
interface RuledFields {
    readonly rules: readonly FieldRule[];
    /** Fields that are hidden: only superusers see them. */
    readonly hidden: readonly string[];
    /** An address is shown as its record says, to the account itself, and to those whom the manage rule admits. */
    readonly hasAddresses: boolean;
}

interface RunRequest {
    readonly kind: 'run';
    readonly schema: ModelSchema;
    readonly statements: string;
    readonly rowsMax: number;
    /** The writes of a transaction that the statements see. */
    readonly overlays: readonly Overlay[];
}

/** A place for files that speaks S3. */
interface S3Settings {
    readonly enabled: boolean;
    readonly bucket: string;
    readonly region: string;
    /** The endpoint with or without `https://`. */
    readonly endpoint: string;
    readonly accessKey: string;
    readonly secret: string;
    /** The bucket stands in the path, not in the name of the host. */
    readonly forcePathStyle: boolean;
}

interface SchedulesHost {
    readonly environment: Environment;
    /** Gets errors of jobs. */
    readonly logs: LogWriter;
    readonly fleet: Pick<Fleet, 'claim'>;
}

/** The actions on records of a collection that an API token may allow. */
type ScopedAction = 'list' | 'view' | 'create' | 'update' | 'delete';

/** Which actions are allowed, by the id of the definition. */
type Scopes = ReadonlyMap<string, ReadonlySet<ScopedAction>>;

interface SelectField extends FieldBase, Requirable {
    readonly type: 'select';
    readonly values: readonly string[];
    /** The most values that are selected; more than 1: the value is a list. */
    readonly maxSelect: number;
}

interface SelectOptions {
    readonly filter?: string;
    readonly sort?: string;
    readonly limit?: number;
    readonly offset?: number;
}

/** The state of the server: small documents that are never served. */
class ServerState {
    constructor(database: Database);
    /** The document; undefined if it is missing. */
    get(id: string): Promise<JsonObject | undefined>;
    /** Writes the document in place of an older one. */
    set(id: string, content: JsonObject): Promise<void>;
    /** Writes what `change` makes of the document, whatever other servers write meanwhile. `old`: {} if it is missing. */
    change(id: string, change: (old: JsonObject) => JsonObject): Promise<void>;
    /** Deletes the document. */
    delete(id: string): Promise<void>;
    /** Writes the result of `make` unless the document is there; returns the document. */
    ensure(id: string, make: () => JsonObject): Promise<JsonObject>;
}

/** A session, as its account sees it. */
interface SessionInfo {
    /** The id that the session's tokens have as `sid`. */
    readonly id: string;
    readonly method: SessionMethod;
    /** The address where it began. */
    readonly address: string;
    readonly userAgent: string;
    /** Dates as records have them. */
    readonly created: string;
    /** When a token of it was used last, to ten minutes. */
    readonly used: string;
    readonly expires: string;
    /** Whether the token of the request is one of it. */
    readonly current: boolean;
}

/** How a session has begun. */
type SessionMethod = 'password' | 'otp' | 'oauth2' | 'passkey' | 'impersonate' | 'refresh';

class Sessions {
    constructor(host: SessionsHost);
    /** Resolves with the id of a new session. One that is there is kept. */
    begin({ principal, request }: Actor, account: Account, session: NewSession): Promise<string>;
    /** A token of it is made. `duration`: how many seconds it is valid. */
    extend(account: Account, id: string, duration: number): Promise<'extended' | 'ended' | 'unknown'>;
    /**
     * When a token was used last, as far as it is stored; undefined: its session has ended. `id`: as its claims have it. The session of
     * a token may be unknown: it is from before there were sessions, or from after the backup that was restored.
     */
    usedMsOf(account: Account, id: string | undefined): Promise<number | undefined>;
    /** How long ago the account of a principal has logged in; Infinity if that is not known. */
    loginAgeMsOf({ account, session }: Principal): Promise<number>;
    /** Whether the session of the principal has ended, if it has an account. */
    hasEnded({ account, session }: Principal): Promise<boolean>;
    /** Stores that a session is used now. */
    noteUse(account: Account, id: string | undefined): Promise<void>;
    /** Sessions of an account that have not ended, the one that was used last first. `current`: of the request. */
    list(account: Account, current: string | undefined): Promise<readonly SessionInfo[]>;
    /** False: there is no such session. */
    end(account: Account, id: string): Promise<boolean>;
    /** Ends all but `kept`, and those that are not stored. */
    endOthers(account: Account, kept: string | undefined): Promise<void>;
    /** Deletes those whose tokens are worth nothing any more. */
    deleteEnded(): Promise<void>;
}

interface SessionsHost {
    readonly database: Database;
    readonly definitions: Definitions;
    readonly environment: Environment;
}

/** The settings of superusers, checked and stored. Get it by `openBackend`. */
class Settings {
    /** With a key they are stored encrypted from here on. @throws ServiceError INVALID if the key is wrong or missing */
    static open(database: Database, options?: SettingsOptions): Promise<Settings>;
    /** Stores encrypted settings as they are, so that they need no key. @throws ServiceError INVALID if the key is wrong */
    static decrypt(database: Database, key: string): Promise<void>;
    /** The values with their secrets: for the server itself. */
    get values(): SettingsValues;
    /** As an admin sees them. @throws ServiceError FORBIDDEN */
    show({ isAdmin }: Principal): JsonObject;
    /** Changes settings; settings that are left out stay. @throws ServiceError FORBIDDEN, INVALID with data */
    update(principal: Principal, input: JsonObject): Promise<JsonObject>;
    /** Calls `listener` after each change, until the function that it returns is called. What it throws is logged. */
    subscribe(listener: () => void): () => void;
    /** Whether a superuser may act from there. */
    allowsSuperuserAt(address: string | undefined): boolean;
    /** Resolves when changes of other servers that this one has seen are known. */
    settled(): Promise<void>;
    /** Stops the work on stored settings. */
    close(): Promise<void>;
}

interface SettingsOptions {
    readonly key?: string | undefined;
    /** The fleet; the server is alone when it is left out. */
    readonly fleet?: Fleet;
    /** The chance of the database when it is left out. */
    readonly chance?: Chance;
    /** Reports what a listener of `subscribe` throws. */
    readonly report?: ReportFailure | undefined;
}

/** The values of settings, with their secrets. */
interface SettingsValues {
    /** Networks (IPs) from where superusers may act; from everywhere if the list is empty. */
    readonly superuserIPs: readonly string[];
    readonly smtp: {
        readonly enabled: boolean;
        readonly port: number;
        readonly host: string;
        readonly username: string;
        readonly password: string;
        readonly authMethod: string;
        readonly tls: boolean;
        readonly localName: string;
    };
    readonly backups: {
        readonly cron: string;
        readonly cronMaxKeep: number;
        readonly s3: S3Settings;
    };
    readonly s3: S3Settings;
    readonly meta: {
        readonly accentColor: string;
        readonly appName: string;
        readonly appURL: string;
        readonly senderName: string;
        readonly senderAddress: string;
        readonly hideControls: boolean;
    };
    readonly rateLimits: {
        readonly rules: readonly RateLimitRule[];
        readonly excludedIPs: readonly string[];
        readonly enabled: boolean;
    };
    readonly trustedProxy: {
        readonly headers: readonly string[];
        readonly useLeftmostIP: boolean;
    };
    readonly batch: {
        readonly enabled: boolean;
        readonly maxRequests: number;
        /** The timeout in seconds. */
        readonly timeout: number;
        readonly maxBodySize: number;
    };
    readonly logs: {
        readonly maxDays: number;
        readonly minLevel: number;
        readonly logIP: boolean;
        readonly logAuthId: boolean;
    };
}

/** A record on its way to a client. Each expanded path adds to it. */
interface ShownRecord {
    readonly definition: Definition;
    readonly document: JsonObject;
    /** Shown although `emailVisibility` is off. */
    readonly hasEmail: boolean;
    /** Fields whose view rules do not admit the actor. */
    readonly without: ReadonlySet<string>;
    /** By the keys of a request's `expand`; undefined: nothing was asked for that leads somewhere. */
    expand: Map<string, ShownRecord | readonly ShownRecord[]> | undefined;
    /** The JSON with the changes of hooks. */
    enrich?: (json: RecordJson) => RecordJson;
}

class ShownRevisions {
    constructor(key: DataKey);
    /** The revision of a record, as a principal sees it. What the principal sends is compared with it. */
    of({ isAdmin }: Principal, { id: collection }: Pick<Definition, 'id'>, id: string, rev: string): string;
}

/** The parts that send signals. */
interface SignalHost {
    /** Sends a signal, as of a commit. */
    signal(subscriber: Subscriber, topic: Topic, sequence: number): void;
    /** Wakes it: `isWaiting` has become true. */
    wake(): void;
}

/** Finds out who gets a signal. It is given one step after another. */
interface Signals {
    /** Whether nobody is subscribed. */
    readonly isEmpty: boolean;
    /** Whether it is waiting for `catchUp` to do something. */
    readonly isWaiting: boolean;
    /**
     * `after`: the number of the commit after which the session gets signals. `was`: whose session it was until now. Another account has
     * another replica, as when a token has ended.
     */
    join(subscriber: Subscriber, topic: Topic, after: number, was?: Principal): void;
    /** `principal`: whose session it was. Gives the commit after which it got signals; undefined if it did not. */
    leave(subscriber: Subscriber, topic: Topic, principal: Principal): number | undefined;
    /** Forgets subscriptions whose sessions have gone. */
    tidy(): void;
    /** Computes what new subscriptions hold, as of a state, and signals what time has changed. */
    catchUp(state: SnapshotReader, sequence: number): Promise<void>;
    /** Signals what a step has changed for somebody. */
    notify(step: CommitStep): Promise<void>;
}

interface SnapshotParts {
    readonly definitions: KnownDefinitions;
    readonly viewReader: ViewRows;
    readonly environment: Environment;
}

interface SqlConsoleParts {
    readonly environment: Environment;
    readonly database: Database;
    readonly definitions: Definitions;
    readonly model: Pick<ReadModel, 'run'>;
    readonly writes: RecordWrites;
}

/** Starts parts of the model. */
type StartMember = (options?: MemberOptions) => Member;

/** The result of the statements. */
interface StatementsResult {
    readonly affectedRows: number;
    readonly columns: readonly ResultColumn[];
    readonly rows: readonly (readonly (string | null)[])[];
    /** In the order in which the tables were first written. */
    readonly changes: readonly TableChanges[];
}

/** The steps of records and of definitions. */
type Steps = 'Validate' | `${Kind}${'' | 'Execute'}` | `After${Kind}Success`;

/** Stores documents by `put`, with all that follows from them. The outcomes are aligned with them. */
type StoreWrites = (write: Write, documents: readonly JsonObject[], put: PutDocuments) => Promise<readonly WriteOutcome[]>;

type Stored = JsonObject & {
    readonly _id: string;
    readonly _rev: string;
};

/** A write of a stored record. */
interface StoredWrite {
    /** The record as it is. */
    readonly old: JsonObject;
    /** The revision that it must have. */
    readonly rev: string | undefined;
    /** If it has another one: the values that the sender has seen in the fields that change. */
    readonly was?: Readonly<Record<string, unknown>>;
    /** Whether an earlier write of the sender has made the value of a field. */
    readonly isOwn?: (field: string, value: unknown) => boolean;
}

/** The parts that all clients of a server share. */
interface SubscriberHost {
    /** The prefix of the ids of its clients. */
    readonly server: string;
    readonly environment: Environment;
    hooks(): MessageHooks | undefined;
    /** Bytes that wait for hooks, of all clients. */
    waitingBytes: number;
    /** A client was cut off, as it can't be sent what is next. */
    cutOff(subscriber: Subscriber, error: unknown): void;
}

interface SyncHost extends PushHost {
    readonly logs: LogWriter;
    readonly accountHoldings: AccountHoldings;
    readonly fleet: Pick<Fleet, 'joined'>;
    readonly key: DataKey;
    /** A replica that was away for longer begins again. 30 days by default. */
    readonly horizonMs: number | undefined;
}

/** The account of a replica: the definition of its collection, and its id. `null`: a guest. */
type SyncedAccount = readonly [collection: string, id: string] | null;

/** The changes of statements in one table. Rows have the columns in the order of the table. */
interface TableChanges {
    readonly table: string;
    /** Undefined before: the row is new. */
    readonly written: readonly {
        readonly before: Row | undefined;
        readonly after: Row;
    }[];
    readonly deleted: readonly string[];
}

interface TableSource {
    readonly id: string;
    /** The collection of the library. */
    readonly collection: string;
    readonly table: ModelTable;
    /** The table as a text. Another text: the table has to be made again. */
    readonly version: string;
    /** Undefined: the document is no row. */
    readonly rowOf: (document: JsonObject) => Row | undefined;
}

interface TextField extends FieldBase, Requirable {
    readonly type: 'text';
    readonly min: number;
    /** 0: 5000. */
    readonly max: number;
    readonly pattern: string;
    readonly autogeneratePattern: string;
    readonly primaryKey: boolean;
}

/** Rows of a view, as texts. */
interface TextRows {
    readonly columns: readonly string[];
    readonly rows: readonly (readonly (string | null)[])[];
}

/** How long tokens of a kind are valid, and what they are signed with, beside the key of the record. */
interface TokenOptions {
    /** The duration in seconds. */
    readonly duration: number;
    readonly secret: string;
}

class TokenPrincipals {
    constructor(host: TokenPrincipalsHost);
    /**
     * The principal to whom the token belongs, at once if the token is known. Undefined for a text that is no valid token of this type: then
     * somebody is a guest.
     */
    find(type: BearerType, token: string): MaybePromise<Principal | undefined>;
    /** Whether what a principal was known by is no longer valid. */
    hasEnded(principal: Principal): Promise<boolean>;
    /** Resolves when what is noted is stored. */
    close(): Promise<void>;
}

interface TokenPrincipalsHost {
    readonly database: Database;
    readonly definitions: Definitions;
    readonly sessions: Sessions;
    readonly apiTokens: ApiTokens;
    readonly logs: LogWriter;
    readonly environment: Environment;
}

type TokenType = keyof typeof OPTIONS;

/** The subject of a subscription. */
interface Topic {
    /** The text as the client has sent it: messages have it. */
    readonly text: string;
    /** The name without the options. */
    readonly name: string;
    /** Parameters as the request for a record would have them in its URL: `filter`, `expand`, `fields`, and parameters that rules read. */
    readonly query: Readonly<Record<string, string>>;
    /** Headers by their names in lower case, with `_` for `-`. */
    readonly headers: Readonly<Record<string, string>>;
}

/** The client for which types are declared: PocketBase's SDK, or `@pannier/client`. */
type TypesFor = 'pocketbase' | 'client';

/** An uploaded file. */
interface Upload {
    readonly name: string;
    readonly size: number;
    /** The content as a stream. May be asked for more than once. */
    stream(): ReadableStream<Uint8Array>;
}

interface UrlField extends DomainOptions {
    readonly type: 'url';
}

class Verification {
    constructor(host: AccountsHost);
    /** @throws ServiceError INVALID with data */
    request(definition: AuthDefinition, input: JsonObject): Promise<void>;
    /** @throws ServiceError INVALID with data */
    confirm(definition: AuthDefinition, input: JsonObject): Promise<void>;
}

interface ViewDefinition extends DefinitionBase {
    readonly type: 'view';
    readonly viewQuery: string;
}

type ViewModel = Pick<ReadModel, 'ready' | 'upTo' | 'overlays' | 'rows'>;

interface ViewQueries {
    /** Prepares views without running them, with all definitions that they may read. */
    describe(views: readonly ViewDefinition[], all: readonly Definition[]): Promise<readonly DescribedQuery[]>;
    /** Why each of these can't be, on an empty table; undefined: it can. */
    indexErrors(programs: readonly IndexProgram[]): Promise<readonly (string | undefined)[]>;
    /** The first rows of a view that is not stored yet. @throws SqlRefusal */
    sample(view: ViewDefinition, all: readonly Definition[], limit: number): Promise<TextRows>;
}

interface ViewRows {
    /**
     * In the form of documents, at a commit or a later one. Never change them.
     *
     * @throws ServiceError INVALID if the query no longer fits what it reads
     */
    rows(view: ViewDefinition, sequence: number): Promise<readonly JsonObject[]>;
    /** As `rows`, of one page. Undefined: all rows have to be read for it. */
    page(view: ViewDefinition, wanted: PageWanted, sequence: number): Promise<({
        readonly documents: readonly JsonObject[];
    } & RowsTotal) | undefined>;
}

interface ViewSample {
    readonly fields: readonly FieldDefinition[];
    /** As records are shown. */
    readonly sample: readonly JsonObject[];
}

/** Fields of a record, as somebody wants them. */
interface WantedFields {
    readonly input: RecordInput;
    /** The changes of hooks, in order. */
    readonly changes?: readonly HookChange[];
    /** Whether it is a form. False: a program writes, which confirms no passwords. */
    readonly isForm?: boolean;
    /** Whether fields take values that they refuse. */
    readonly isUnchecked?: boolean;
    /** Values of autodate fields, in place of those that come by themselves. */
    readonly autodates?: Readonly<Record<string, string>>;
    /** The draft that hooks have seen, with their changes. */
    readonly begun?: Draft;
}

/** A document, and the fields of it that are not shown. */
type WithoutFields = Pick<ShownRecord, 'document' | 'without'>;

/** The limits of a `WorkQueue`. */
interface WorkQueueLimits {
    /** The most that is done at the same time (concurrency). */
    readonly concurrencyMax: number;
    /** Pieces that may wait. One client has a quarter of them. */
    readonly waitingMax: number;
}

/** The gate of every write. */
interface WriteGate {
    /** The guards of the operator. */
    readonly guards: GuardChain;
    readonly quota: Quota;
}

type WriteOptions = Required<Pick<BeginOptions, 'app'>> & Pick<BeginOptions, 'namings'>;

class WriteViews {
    constructor(model: ViewModel);
    /** @throws MissingRows; RuleError for a view that no longer fits what it reads, or has too many rows */
    rows(view: ViewDefinition, all: readonly Definition[], reader: GuardReader): readonly JsonObject[];
}

/** The principal as of now, and the name by which users know the collection. */
interface Writer {
    readonly principal: Principal;
    readonly database: string;
}

/** A record as it is stored now. */
interface WrittenRecord {
    readonly definition: Definition;
    readonly document: JsonObject;
    /** `@request.body` of the write, if it was a request. */
    readonly body?: JsonObject;
}

interface WrongDefinition {
    readonly definition: Definition;
    readonly errors: ErrorData;
}
