// What `@pannier/backend/internal` offers. Written by `npm run api`.

import type {
  Actor,
  AnyRecordTypes,
  CollectionAdministration,
  Definition,
  ErrorData,
  FieldError,
  GuardedCollection,
  GuardedWrite,
  HookApp,
  Judge,
  LogWriter,
  MigrationApp,
  Principal,
  RecordTypes,
  Refusal,
  Report,
  RequestInfo,
  ServiceError,
  Write,
  WriteGuard,
} from '@pannier/backend'

/** The rights of principals, as authentication knows them. */
export interface AccessRules {
    /** The scope that a principal may read. @throws ServiceError if it may not open the collection at all */
    scopeOf(principal: Principal, database: string): Promise<ReadScope>;
    /** @throws ServiceError unless the principal may change what is set for a collection */
    checkAdmin(principal: Principal, database: string): Promise<void>;
}

/** The room of all answers of a process. */
export class AnswerRoom {
    constructor(limits?: Partial<ShareLimits>);
    /** Gives a new answer its budget, until `leave`. */
    enter(holder: AnswerHolder): HeldBudget;
    /** Releases what it has. */
    leave(budget: HeldBudget): void;
}

/** A value is required. */
export const BLANK: FieldError;

/** An operation of a batch was refused, so nothing was written. */
export class BatchError extends ServiceError {
    /** The first operation that failed. */
    readonly index: number;
    /** Why that operation failed. */
    readonly reason: ServiceError;
    /** Operations that are refused: all that are known to fail. */
    readonly refused: readonly RefusedOperation[];
    constructor(index: number, reason: ServiceError, others?: readonly RefusedOperation[]);
}

/** A handler of an event. */
export interface BoundHook extends PlacedHandler {
    /** Which event it is for. */
    readonly name: HookName;
    /** Names or ids of collections; empty: all. */
    readonly tags: readonly string[];
}

/** A filter of one change feed. Call `dispose` when the feed ends. */
export interface ChangeFilter {
    /** For each document (tombstones have `_deleted: true`) whether the feed has its change. */
    accepts(documents: readonly JsonObject[]): Promise<readonly boolean[]>;
    /** The feed is over. */
    dispose(): void;
}

/** The file of each database in the folder of a server. */
export const DATABASE_FILES: Readonly<Record<DatabaseName, string>>;

/** The collection of definitions: no CouchDB database can have this name. */
export const DEFINITIONS_COLLECTION = "$definitions";

/** The newest event of each database, in order. It is in memory: each start of the server begins again. */
export class DatabaseUpdates {
    /** A new one for each start of the server. */
    readonly epoch: string;
    /** `names`: of the databases that are there. */
    constructor(database: Database, names: readonly string[]);
    /** The sequence of the newest event; 0 without one. */
    get lastSequence(): number;
    /** Adds the event of a database that was made. */
    created(name: string): void;
    /** Adds the event of a database that was dropped, unless that is its newest event already. */
    deleted(name: string): void;
    /** Sequence of the newest event of a database; 0 without an event. */
    sequenceOf(name: string): number;
    /** The events after a sequence, in order. */
    since(sequence: number): DatabaseUpdate[];
    /** Resolves when there is news, or `signal` is aborted. */
    next(signal: AbortSignal): Promise<void>;
    /** How many wait. */
    get listeners(): number;
    /** Stops listening to the database. */
    close(): void;
}

/** The CouchDB databases of one Pannier database, by name. */
export class Databases {
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

/** A filter of a change feed that is a function of a design document. */
export interface FilterRequest {
    /** The reader of the feed. */
    readonly principal: Principal;
    /** The name by which users know the collection. */
    readonly database: string;
    /** The collection, as the principal may use it. */
    readonly collection: GuardedCollection;
    /** The reader's request, as the function sees it. */
    readonly reader: FilterReader;
    /** `ddoc/function`, or `_view`. */
    readonly filter: string;
    /** With `_view`: `ddoc/view`. */
    readonly view: string | undefined;
}

/** The source of change filters: finds them. @throws ServiceError NOT_FOUND if there is no such function */
export type FilterSource = (request: FilterRequest) => Promise<ChangeFilter>;

/** A server among those that share its database. */
export interface Fleet {
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

/** Guards in their order, as one. */
export class GuardChain {
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
export type GuardedOutcome = WriteResult | {
    readonly id: string;
    readonly error: Refusal;
};

/** The names of all hooks. */
export const HOOK_NAMES: readonly HookName[];

/** The memory that the answer to one request may still take. */
export class HeldBudget implements AnswerBudget {
    /** The client that gets the answer. */
    readonly holder: AnswerHolder;
    /** The names of the client in shares. */
    readonly clients: readonly string[];
    /** The bytes that count for its clients. */
    counted: number;
    constructor(holder: AnswerHolder, hold: (budget: HeldBudget, bytes: number) => void);
    /** @throws ServiceError INVALID, UNAVAILABLE, TOO_MANY_REQUESTS */
    take(bytes: number): void;
    /** Notes that the answer has moved: its client has taken something. */
    moved(): void;
    /** How long its client has taken nothing. */
    get silentMs(): number;
}

/** The arguments of handlers, by the name of the event. */
export type HookEvents = {
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

/** A handler of a hook: a function that runs when something happens. What it throws refuses that, if it has not happened yet. */
export type HookHandler<Event> = (event: Chained<Event>) => unknown;

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

/** An object of any fields, as JSON has it. */
export type JsonObject = Record<string, unknown>;

/**
 * The folder of migrations, where files are made. As a journal it writes a file for each change of one definition, as PocketBase's
 * automigrate does. The change and the note that its file was applied are one transaction. A process that is killed between file and
 * transaction leaves a file that the next start applies.
 */
export class MigrationFolder implements DefinitionJournal {
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

/** The history: which migrations have been applied. */
export class MigrationHistory {
    constructor(database: Database);
    /** Names of files. */
    applied(): Promise<readonly string[]>;
    /** Replaces the names. */
    replace(applied: readonly string[]): Promise<void>;
}

/** The migrations of a folder, in the order of their names: `1790000000_created_posts.ts`. */
export class Migrations {
    /** The migrations that a folder has now, and those of a folder in another language. Either may be missing. */
    static in(folder: string | undefined, other?: string): Promise<Migrations>;
    /** Whether there are no files. */
    get isEmpty(): boolean;
    /** The names of migrations that the database does not have. */
    pending(database: Database): Promise<readonly string[]>;
    /** Applies what is pending, and returns the names. @throws ServiceError INVALID that names the file */
    up(database: Database, app: MigrationApp, steps?: StepsOfFile): Promise<readonly string[]>;
    /**
     * Reverts the last `count` that were applied, the newest first, and returns the names. Migrations without a file are ignored.
     *
     * @throws ServiceError INVALID that names the file
     */
    down(database: Database, app: MigrationApp, count: number, steps?: StepsOfFile): Promise<readonly string[]>;
    /** Forgets applied migrations that have no file, and returns their names. */
    forgetMissing(database: Database): Promise<readonly string[]>;
}

/** Makes and checks hashes of passwords, as PHC strings. */
export class Passwords {
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
export interface PlacedHandler {
    /** The subject of the handler, in logs: `onRecordCreate`, `GET /hello`. */
    readonly name: string;
    /** A `HookHandler`. */
    readonly handler: (event: never) => unknown;
    /** For logs: `hooks/posts.ts:12`. */
    readonly source: string;
}

/** The quota limits what each database may take. */
export class Quota {
    constructor(bytesMax?: number);
    /** For one write: what it brings counts until it leaves. */
    enter(name: string, collection: Collection<JsonObject>): Room;
}

/** The readable documents: all, or the documents with these ids. */
export type ReadScope = 'all' | ReadonlySet<string>;

/** The readable part of a view. */
export type ReadableView = Pick<View<unknown, unknown, unknown, unknown>, 'query' | 'rows' | 'info'>;

/** The folder of a server whose databases are replaced. */
export class RestoreFolder {
    constructor(dir: string);
    /**
     * Makes the files that the next start takes. Nothing else in the folder changes.
     *
     * @throws ServiceError INVALID for an archive that is damaged, or no backup of a server
     */
    prepare(path: string, options: RestoreOptions): Promise<void>;
    /** Whether files wait for the next start. */
    isReady(): Promise<boolean>;
    /** @throws PANNIER_LOCKED if another process has the databases of the folder open */
    checkUnused(options: Pick<OpenOptions, 'encryption'>): Promise<void>;
    /**
     * Puts the files that wait in their places. Call `checkUnused` before. `forget` removes what does not belong to the new ones.
     */
    complete(forget: () => Promise<void>): Promise<void>;
    /** Removes what a process has left that was killed. */
    clean(): Promise<void>;
}

/** Where the server keeps its state: no CouchDB database can have this name. */
export const STATE_COLLECTION = "$server";

/** The state of the server: small documents that are never served. */
export class ServerState {
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

/** The settings of superusers, checked and stored. Get it by `openBackend`. */
export class Settings {
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

/** The steps of a file in another language than modules. */
export type StepsOfFile = (path: string) => Steps;

/** Something that runs around something else, held at the place where that begins. */
export class Suspended {
    /** Whether what is around wants the rest to run. */
    readonly wantsRest: boolean;
    /** Runs `around` until it calls what it is given, or ends. @throws what it throws before that */
    static start(around: (rest: () => Promise<void>) => Promise<void>): Promise<Suspended>;
    /** The rest has ended well. @throws what is around it throws */
    resume(): Promise<void>;
    /** The rest has failed. @throws `error`, or what is around it makes of it */
    fail(error: unknown): Promise<never>;
}

/** How long ago something was, in milliseconds. What lies ahead was written by a clock that was wrong, and is as old as can be. */
export function ageMs(nowMs: number, thenMs: number): number;

/** The fleet of a server whose database nobody else serves. */
export function aloneIn(chance: Chance): Fleet;

/** `input`: `clientId`, `teamId`, `keyId`, `privateKey` (PEM), and `duration` in seconds. @throws ServiceError FORBIDDEN, INVALID with data */
export function appleClientSecret({ isAdmin }: Principal, input: JsonObject, nowMs: number): Promise<string>;

/** Runs what the library checks: its TypeErrors are about what the principal has sent. */
export function asInvalid<T>(run: () => Promise<T>): Promise<T>;

/** Runs what a request from an address starts. */
export function askedFrom(address: string, run: () => void): void;

/** The address is known better now: a proxy has said it. */
export function askedInsteadFrom(address: string): void;

/** Calls all of them, whatever one of them throws. */
export function callAll(listeners: readonly (() => unknown)[], report?: ReportFailure): void;

/** Undefined if nothing has changed that a migration has. */
export function changeMigration({ before, after }: DefinitionPair): string | undefined;

/**
 * Refuses a misspelt name, which nobody would read: a trial would write, a token would never end. Routes of PocketBase's take any name.
 *
 * @throws ServiceError INVALID
 */
export function checkNames(what: string, input: object, names: readonly string[]): void;

/** Names of Pannier's own start with '_' like CouchDB's; those with '$' are of no CouchDB database. */
export function collectionName(name: string): string;

/** A ServiceError CONFLICT, in CouchDB's words. */
export function conflicting(): ServiceError;

/** The error of the expression, in PocketBase's words; undefined if it is right. */
export function cronProblem(expression: string): string | undefined;

/** A thrown value, and where it was thrown, for the data of an entry. */
export function errorFacts(error: unknown): {
    readonly error: string;
    readonly stack?: string;
};

/** `{max}` in the message is the parameter `max`. Parameters are in the order of the alphabet, as PocketBase shows them. */
export function fieldError(code: string, message: string, params?: Params): FieldError;

/**
 * A function that picks the fields to show; undefined: all of them. A name that nothing has is ignored. Keys come in the order of the
 * alphabet.
 *
 * @throws ServiceError INVALID for a modifier that is unknown or has wrong arguments
 */
export function fieldPicker(fields: string | undefined): ((value: unknown) => unknown) | undefined;

/** The bytes of a file. It is opened when the first are asked for: nobody would close it if they never are. */
export function fileBytes(path: string, { start, end }: ByteRange): AsyncGenerator<Uint8Array, void, undefined>;

/** A ServiceError FORBIDDEN. */
export function forbidden(message: string): ServiceError;

/** The input that a form brings: values, and files by file field. The names of files that are to stay may come with new ones. */
export function formInput(fields: readonly FieldDefinition[], values: Readonly<Record<string, unknown>>, files: ReadonlyMap<string, readonly unknown[]>): Record<string, unknown>;

/** Whether fields of a type hold names of files or ids of records. Undefined: neither, or there is no such type. */
export function holdsOf(type: unknown): 'files' | 'records' | undefined;

/** The most bytes that an input of the field adds to those of a usual body. */
export function inputBytesMax(field: FieldDefinition): number;

/** A ServiceError INVALID. */
export function invalid(message: string): ServiceError;

/** Whether the clock is trusted. Notes the time. Whether it may be used to forget what is old. `doubtMs`: how long it is doubted after a jump. */
export function isClockTrusted(database: Database, now: number, doubtMs?: number): Promise<boolean>;

/** Whether JSON is so large that it is sent in pieces. */
export function isLargeJson(value: unknown): boolean;

/** Guards are not asked about these documents. */
export function isLocalId(id: unknown): id is string;

/** Whether the field has hashes of passwords, or what tokens are signed with. */
export function isSecret({ type }: Pick<Definition, 'type'>, field: FieldDefinition): boolean;

/** The text that `safeJson` makes, of values that JSON has. */
export function jsonPieces(value: unknown): Generator<string>;

/** The size of JSON in characters, about. It stops counting beyond `most`. */
export function jsonSize(value: unknown, most?: number): number;

/** The name, display name and logo of each, as PocketBase's API lists them. */
export function listProviders(): readonly object[];

/** Makes what the functions of a migration get. */
export function migrationApp({ app, definitions, settings, reports }: MigrationAppParts): MigrationApp;

/** A ServiceError NOT_FOUND. */
export function missing(message: string): ServiceError;

/** One server among those of a storage. */
export function openFleet(options: FleetOptions): Promise<Fleet>;

/** Everything but what signs tokens, and the secrets of OAuth2. */
export function presentDefinition(definition: Definition): JsonObject;

/** The definitions with which new collections of each type begin. */
export function presentScaffolds(chance: Chance): JsonObject;

/** The name of the asset that this process is to run. */
export function programOfProcess(): string | undefined;

/** Characters of an alphabet, each as likely as the others. It has at most 256. */
export function randomText(chance: Chance, length: number, alphabet?: string): string;

/** A record that a request is about, as it is stored. */
export function recordOfEvent(definition: Definition, document: JsonObject, chance: Chance): HookRecord;

/** The collection of the library that has the records: it keeps its name when the collection is renamed. */
export function recordsName({ id }: Pick<Definition, 'id'>): string;

/** The event of a request. `body`: its values, if they are read. */
export function requestEvent({ app, definitions, environment }: EventParts, { principal, request }: Actor, body?: Readonly<Record<string, unknown>>): RequestEvent;

/**
 * Makes the databases of a server in a storage that has no data of one, while no server uses it. The data come last: where they are, all
 * is. A restore that was killed is begun again.
 *
 * @param names Of the databases in that storage.
 * @throws ServiceError CONFLICT if there are data already, INVALID for an archive that is damaged, or no backup of a server
 */
export function restoreInto(storage: DatabaseStorage, names: Target['names'], path: string, options: RestoreOptions): Promise<void>;

/** JSON that is safe inside HTML. */
export function safeJson(value: unknown): string;

/** With a capital, and a full stop unless there is another end. */
export function sentence(text: string): string;

/** `beside`: the URL of a module in the folder of the program. `name`: of its file, without the extension. */
export function startThread(beside: string, name: string, options: WorkerOptions): Worker;

/** A text or a list with more bytes or items than `max`. */
export function tooLong(max: number): FieldError;

/** The type of this very field. */
export function typeOfField(field: Pick<FieldDefinition, 'type'>): FieldType<FieldDefinition>;

/**
 * JSON as JSON.stringify makes it, with U+FFFD for each half of a surrogate pair. Such a half may have come into a database by other ways
 * than HTTP, and CouchDB's parser refuses a whole answer with one.
 */
export function wellFormed(json: string): string;

/** The mails that accounts get. */
type AccountMail = 'AuthAlert' | 'EmailChange' | 'OTP' | 'PasswordReset' | 'Verification';

type Algorithm = 'argon2id' | 'scrypt';

/** The memory that one answer may still take. One record has any size. */
interface AnswerBudget {
    /** @throws ServiceError INVALID, UNAVAILABLE, TOO_MANY_REQUESTS */
    take(bytes: number): void;
}

/** A client that gets an answer. */
interface AnswerHolder {
    /** The address and the account of a principal have a share each. */
    readonly principal: Principal;
    /** The clock that says what is now. */
    readonly now: () => number;
    /** The answer begins to count for its clients. Call `leave` when it was sent. */
    readonly begin: () => void;
    /** Cuts the answer off. */
    readonly cut: () => void;
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

interface AutodateField extends FieldBase {
    readonly type: 'autodate';
    readonly onCreate: boolean;
    readonly onUpdate: boolean;
}

/** A backup is made or restored. */
interface BackupEvent extends AppEvent {
    /** The name of its file. */
    readonly name: string;
}

interface BoolField extends FieldBase, Requirable {
    readonly type: 'bool';
}

/** Bytes from `start` up to `end`, which is not among them. */
interface ByteRange {
    readonly start: number;
    readonly end: number;
}

/** Adds what calls the rest of the chain. */
type Chained<Event> = Event & {
    next(): Promise<void>;
};

/** The source of chance. */
type Chance = Pick<Environment, 'randomBytes'>;

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

type DatabaseName = keyof Databases;

interface DatabaseUpdate {
    readonly sequence: number;
    readonly name: string;
    readonly type: UpdateType;
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

interface DomainOptions extends FieldBase, Requirable {
    readonly onlyDomains: readonly string[] | null;
    readonly exceptDomains: readonly string[] | null;
}

interface EditorField extends FieldBase, Requirable {
    readonly type: 'editor';
    readonly maxSize: number;
    readonly convertURLs: boolean;
}

interface EmailField extends DomainOptions {
    readonly type: 'email';
}

interface EventParts {
    readonly app: HookApp;
    readonly definitions: KnownDefinitions;
    readonly environment: Environment;
}

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

/** The context of the check of a field's options. */
interface FieldContext<F extends FieldBase> {
    readonly definition: {
        readonly type: 'base' | 'auth' | 'view';
        readonly fields: readonly FieldBase[];
    };
    /** The stored field of the same id. */
    readonly old: F | undefined;
    /** Draws texts of patterns. */
    readonly chance: Chance;
    /** The type of the collection with this id. */
    typeOf(collectionId: string): 'base' | 'auth' | 'view' | undefined;
}

/** A field of a collection, as PocketBase's API has it. */
type FieldDefinition = Fields[keyof Fields];

interface FieldType<F extends FieldBase> {
    /** The options of this type. `null` and options that are missing are read from `undefined`. */
    readonly options: Readonly<Record<string, OptionReader>>;
    /** SQLite's column of one value. A list is JSON, whatever its type. */
    readonly column: 'TEXT' | 'NUMERIC' | 'BOOLEAN' | 'JSON';
    /** As what SQLite orders the column as records are ordered. Undefined: it does not. */
    readonly order?: 'number' | 'json' | 'text';
    /** Whether a field holds names of files or ids of records. */
    readonly holds?: 'files' | 'records';
    /** The stored value is a hash, and is shown to nobody. */
    readonly isHashed?: true;
    /** Whether the field is automatic: the server sets it, and no input does. */
    readonly isAutomatic?: true;
    /** The value is a time, however the input writes it. */
    readonly isTime?: true;
    /** The value has words that `search()` finds. */
    readonly isSearchable?: true;
    /** An index finds the values as they are stored. */
    readonly isIndexable?: true;
    /** Any JSON value may be stored, null included. */
    readonly takesAll?: true;
    empty(field: F): unknown;
    /** Reads any value of JSON, or of a form. */
    cast(field: F, value: unknown): unknown;
    /** Reads an input where that is not what `cast` does. */
    accept?(input: unknown): unknown;
    /** Reads a value of JavaScript that is neither null nor undefined. @throws TypeError */
    ofProgram(value: unknown, place: Place): unknown;
    /** The value with what comes by itself. */
    fill?(field: F, value: unknown, filling: Filling): unknown;
    /** The error of a value that `cast` has made. */
    check(field: F, value: unknown, context: ValueContext): FieldError | undefined;
    /** Checks options, each by itself. Undefined options are right. */
    checkOptions?(field: F, context: FieldContext<F>): Readonly<Record<string, FieldError | ErrorData | undefined>>;
    /** The most bytes of an input, where that is more than some kilobytes. */
    bytesMax?(field: F): number;
    /** The modifiers that `modify` knows; none when left out. */
    readonly modifiers?: readonly Modifier[];
    /** The value after `f+`, `+f`, `f-` or `f:autogenerate`. */
    modify?(field: F, modifier: Modifier, value: unknown, input: unknown, chance: Chance): unknown;
    /** The type of TypeScript of the input of a modifier. Undefined: this field has no use for it. */
    modifierType?(field: F, modifier: Modifier, types: InputTypes): string | undefined;
    /** The type of TypeScript of the value. */
    readType(field: F): string;
    /** The type of TypeScript of an input, where that is not `readType`. */
    writeType?(field: F, types: InputTypes): string;
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

/** The parts of a value that comes by itself. */
interface Filling {
    /** The time: now, as `2026-11-22 15:04:49.813Z`. */
    readonly now: string;
    /** Whether the record is new. */
    readonly isNew: boolean;
    /** Draws texts of patterns. */
    readonly chance: Chance;
    /** Texts that are drawn already, by field. */
    readonly drawn?: Readonly<Record<string, string>>;
}

/** The part of a request for a feed that a change filter may know: no credentials, and no place. */
interface FilterReader {
    readonly method: string;
    readonly path: readonly string[];
    readonly query: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, string>>;
}

interface FleetOptions {
    readonly storage: DatabaseStorage;
    /** The name of the database that is served. */
    readonly name: string;
    readonly encryption?: OpenOptions['encryption'];
    /** The storage was put back to an earlier state, and this server knows a later one. */
    readonly isRestored?: boolean;
    /** Wall clocks of servers may differ by some seconds. */
    readonly environment: Environment;
}

interface GeoPointField extends FieldBase, Requirable {
    readonly type: 'geoPoint';
}

interface GuardedWriterParts {
    /** In the order in which they are asked, inside `around`. */
    readonly guards: GuardChain;
    /** Judge what a delete takes along. */
    readonly following?: GuardChain;
    readonly around?: AroundWrites;
    readonly store?: StoreWrites;
}

/** The limits of a `HashQueue`. */
type HashQueueLimits = WorkQueueLimits;

/** A call of `set`. */
type HookChange = readonly [key: string, value: unknown];

/** The name of an event: `onRecordCreate`. */
type HookName = keyof HookEvents;

/** The parts that an import stores with the definitions. */
interface ImportedBeside {
    /** `all`: the definitions that there will be. @throws ServiceError, which keeps the import from happening */
    check(all: readonly Definition[]): Promise<void>;
    store(transaction: Transaction): Promise<void>;
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

/** Types of TypeScript for inputs that are read otherwise: of one file, and of a date. */
interface InputTypes {
    readonly file: string;
    readonly date: string;
}

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

const KINDS: readonly ['Create', 'Update', 'Delete'];

type Kind = (typeof KINDS)[number];

/** The methods of `Definitions` that rules need. */
interface KnownDefinitions {
    /** By its name, in any case, or by its id. */
    find(nameOrId: string): Definition | undefined;
    /** All definitions, in no order. */
    all(): readonly Definition[];
    /** The schema of all definitions. */
    readonly schema: Schema;
}

/** A listener of messages. Gives what is answered; undefined: nothing. */
type Listener = (message: Message) => unknown;

/** The parts of a mail that a handler may change. */
interface MailMessage {
    to: string;
    subject: string;
    html: string;
    text: string;
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

/** A message from one server to another. JSON. */
interface Message {
    /** The topic names the listener: 'realtime'. */
    readonly topic: string;
    readonly [field: string]: unknown;
}

interface MigrationAppParts {
    readonly app: HookApp;
    readonly definitions: Definitions;
    readonly settings: Settings;
    readonly reports: {
        import(principal: Principal, list: readonly unknown[], deleteMissing: boolean): Promise<void>;
        delete(principal: Principal, name: string): Promise<void>;
    };
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

type Modifier = 'add' | 'prepend' | 'remove' | 'generate';

interface NumberField extends FieldBase, Requirable {
    readonly type: 'number';
    readonly min: number | null;
    readonly max: number | null;
    readonly onlyInt: boolean;
}

/** Reads an option as JSON has it. Undefined: it is of a wrong type. */
type OptionReader = (value: unknown) => unknown;

type Params = Readonly<Record<string, unknown>>;

interface PasswordField extends FieldBase, Requirable {
    readonly type: 'password';
    readonly min: number;
    readonly max: number;
    readonly pattern: string;
    readonly cost: number;
}

/** The place that a value comes from. */
interface Place {
    readonly call: string;
    /** The field, or a part of it: `data.at`. */
    readonly name: string;
    readonly chance: Chance;
}

/** Puts documents that guards have let pass: by themselves, or in a transaction. */
type PutDocuments = (documents: readonly JsonObject[], place?: Pick<Transaction, 'collection'>) => Promise<readonly WriteOutcome[]>;

/** A rule of rate limits: how often something may be asked for. */
interface RateLimitRule {
    /** `*:auth`, `posts:create`, `/api/batch`, `/api/` */
    readonly label: string;
    readonly audience: '' | '@guest' | '@auth' | (string & {});
    /** The duration in seconds. */
    readonly duration: number;
    readonly maxRequests: number;
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

/** Somebody asks to do something with a record. */
interface RecordRequestEvent extends RequestEvent {
    readonly collection: Definition;
    readonly record: HookRecord;
}

interface RecordState {
    /** The stored document; undefined: the record is new. */
    readonly stored: JsonObject | undefined;
    /** The values: all fields have one, `id` too. */
    readonly values: JsonObject;
}

/** A record is about to be answered. */
interface RecordViewRequestEvent extends RecordRequestEvent {
    /** The result: the answer to the client. Handlers may change it. */
    readonly result: Record<string, unknown>;
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

class Room {
    readonly leave: () => void;
    constructor(name: string, collection: Collection<JsonObject>, bytesMax: number, count: (bytes: number) => number, leave: () => void);
    /** The documents, with attachments that are counted as they are read. @throws ServiceError QUOTA_EXCEEDED; so does reading them */
    admit(documents: readonly JsonObject[]): Promise<readonly JsonObject[]>;
}

/** `null`: superusers only. `''`: everybody. Else a rule. */
type Rule = string | null;

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

interface SelectField extends FieldBase, Requirable {
    readonly type: 'select';
    readonly values: readonly string[];
    /** The most values that are selected; more than 1: the value is a list. */
    readonly maxSelect: number;
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

interface ShareLimits {
    readonly allMax: number;
    /** The share: one client has at most this. */
    readonly shareMax: number;
}

/** A migration, as its file exports it. */
type Steps = Readonly<Partial<Record<'up' | 'down', (app: MigrationApp) => unknown>>>;

/** The steps of records and of definitions. */
type Steps = 'Validate' | `${Kind}${'' | 'Execute'}` | `After${Kind}Success`;

/** Stores documents by `put`, with all that follows from them. The outcomes are aligned with them. */
type StoreWrites = (write: Write, documents: readonly JsonObject[], put: PutDocuments) => Promise<readonly WriteOutcome[]>;

/** The databases that are made, by their names there. */
interface Target {
    readonly names: Readonly<Record<DatabaseName, string>>;
    readonly storage?: DatabaseStorage;
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

/** The client for which types are declared: PocketBase's SDK, or `@pannier/client`. */
type TypesFor = 'pocketbase' | 'client';

type UpdateType = 'created' | 'updated' | 'deleted';

interface UrlField extends DomainOptions {
    readonly type: 'url';
}

/** The context of a value's check, beside its field. */
interface ValueContext {
    /** The stored value. Undefined: the record is new. */
    readonly old: unknown;
}

interface ViewDefinition extends DefinitionBase {
    readonly type: 'view';
    readonly viewQuery: string;
}

interface ViewQueries {
    /** Prepares views without running them, with all definitions that they may read. */
    describe(views: readonly ViewDefinition[], all: readonly Definition[]): Promise<readonly DescribedQuery[]>;
    /** Why each of these can't be, on an empty table; undefined: it can. */
    indexErrors(programs: readonly IndexProgram[]): Promise<readonly (string | undefined)[]>;
    /** The first rows of a view that is not stored yet. @throws SqlRefusal */
    sample(view: ViewDefinition, all: readonly Definition[], limit: number): Promise<TextRows>;
}

interface ViewSample {
    readonly fields: readonly FieldDefinition[];
    /** As records are shown. */
    readonly sample: readonly JsonObject[];
}

/** The limits of a `WorkQueue`. */
interface WorkQueueLimits {
    /** The most that is done at the same time (concurrency). */
    readonly concurrencyMax: number;
    /** Pieces that may wait. One client has a quarter of them. */
    readonly waitingMax: number;
}

interface WrongDefinition {
    readonly definition: Definition;
    readonly errors: ErrorData;
}
