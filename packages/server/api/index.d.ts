// What `@pannier/server` offers. Written by `npm run api`.

/** A certificate that the server gets and renews by ACME, as from Let's Encrypt. You accept the terms of that service. */
export interface AcmeOptions {
    /** The public names of this server: `example.org`. The first one is in the server's URL. */
    readonly names: readonly string[];
    /** Where the service may write to about this account. */
    readonly email?: string;
    /** The directory of the ACME service; Let's Encrypt when left out. */
    readonly directoryUrl?: string;
    /** Where the service asks, and where http is redirected to https; 80 when left out. The service always asks at port 80. */
    readonly httpPort?: number;
}

/**
 * An answer with a status from 400 to 599. An empty message means the usual one of the status.
 *
 * @example
 * throw new ApiError(402, 'Your plan has 3 projects.', { plan: { code: 'plan_full', message: 'Choose another plan.' } })
 */
export class ApiError extends ServiceError {
    /** The status, 400 to 599. */
    readonly status: number;
    constructor(status: number, message?: string, data?: ErrorData);
}

/** The application on the server: its code, its pages, and the key of its settings. */
export interface ApplicationOptions {
    /** A folder of hooks, TypeScript or JavaScript. `watch`: they are loaded again when a file changes; true when left out. */
    readonly hooks?: {
        readonly dir: string;
        readonly watch?: boolean;
    };
    /**
     * A folder of migrations, which are applied before the server begins: whole, or with `storage` after a try in a copy. `automigrate`: each
     * change of a collection writes a file there; false when left out.
     */
    readonly migrations?: {
        readonly dir: string;
        readonly automigrate?: boolean;
    };
    /** The folder of a PocketBase project: its `pb_hooks` and `pb_migrations` run as they are, beside the hooks and migrations. */
    readonly pocketbase?: {
        readonly dir: string;
    };
    /**
     * A folder of pages that anybody may read, at the URLs that nothing else answers. `indexFallback`: an unknown page is answered with
     * `index.html` of the folder; true when left out.
     */
    readonly public?: PublicFilesOptions;
    /** Encrypts the application's settings, which have secrets: 32 characters or more that nobody can guess. */
    readonly settingsKey?: string;
}

/** Options of logins (auth): how the server signs users in. */
export interface AuthOptions extends Pick<BackendOptions, 'loginLimits' | 'hashLimits'> {
    /** Sessions that are not used for so long end: 10 minutes when left out. */
    readonly sessionMsMax?: number;
    /** 'Lax' when left out. 'None' is for pages of other sites, and needs TLS. */
    readonly sameSite?: 'Strict' | 'Lax' | 'None';
    /** Cookies for TLS only, where a proxy ends TLS. They are so anyway where the server does. */
    readonly secureCookies?: boolean;
    /** Origins whose pages may change something: those that CORS allows. */
    readonly corsOrigins?: readonly string[];
    /** The characters that a new password must have at least. */
    readonly passwordCharsMin?: number;
    /** True: anybody may make a user without roles, in CouchDB's way (docs/internals/http-api.md). False when left out. */
    readonly signUp?: boolean;
}

/** A database that stays open until it is given back: by `release`, or at the end of the block of `using`. */
export interface BorrowedDatabase extends Disposable {
    /** The database, which stays open until `release`. */
    readonly database: Database;
    /** Releases the database. Idempotent. Feeds, live queries and replications have to end before. */
    release(): void;
}

/** A certificate that the operator renews. */
export interface CertificateFiles {
    /** The file of the certificate and its chain, in PEM. */
    readonly cert: string;
    /** The file of its private key, in PEM. */
    readonly key: string;
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

/** CouchDB's API: what it keeps, replicates and shows. */
export interface CouchOptions {
    /**
     * Databases that are made keep the content of revisions that were replaced, until they are compacted; false when left out. For one
     * database: `PUT /{db}/_pannier/history`.
     */
    readonly history?: boolean;
    /** With whom the server may replicate, and how persistently. */
    readonly replicator?: ReplicatorOptions;
    /** A folder that is served at `/_utils`: the built pages of Fauxton. Anybody may read what is in it. */
    readonly fauxton?: string;
}

/** The limits of a server that is given none. */
export const DEFAULT_LIMITS: ServerLimits;

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

/** A field, for `createCollection` and `updateCollection`: its type, its name, and the options that are not as they come. */
export type FieldInput = InputOf<FieldDefinition>;

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

/**
 * The argument of the function that a hook file exports. Names are those of PocketBase. `All`: the types of the
 * collections, which the server writes into `types.d.ts` beside the files.
 *
 * @example
 * import type { Hooks } from '@pannier/server'
 *
 * export default ({ onRecordCreate, routerAdd }: Hooks): void => {
 *   onRecordCreate(async (e) => {
 *     e.record.set('slug', e.record.getString('title').toLowerCase())
 *     await e.next()
 *   }, 'posts')
 *   routerAdd('GET', '/hello/{name}', (e) => e.json(200, { hello: e.request.pathValue('name') }))
 * }
 */
export interface Hooks<All extends CollectionTypes = AnyCollectionTypes> extends Binders<All>, RequestBinders<All> {
    /** Reads and writes without rules. */
    readonly app: HookApp<All>;
    /** Middlewares that let some requests pass. */
    readonly apis: RouteChecks<HookApp<All>>;
    /** An error with a status of its own. */
    readonly ApiError: typeof ApiError;
    /** Paths as in Go: `/files/{id}`, `/assets/{path...}`. Middlewares run before the handler. */
    routerAdd(method: string, path: string, handler: RouteHandler<HookApp<All>>, ...middlewares: readonly RouteHandler<HookApp<All>>[]): void;
    /** Runs around every request of the API and of custom routes. */
    routerUse(handler: RouteHandler<HookApp<All>>): void;
    /** `expression`: five segments, in UTC, or a macro such as `@daily`. */
    cronAdd(id: string, expression: string, run: () => unknown): void;
}

/** The HTTP server: its names, its certificate, and whose requests it takes. */
export interface HttpOptions extends RequestOptions {
    /** Speaks HTTPS, with a certificate in files or with one that the server gets by ACME. HTTP when left out. */
    readonly https?: HttpsOptions;
    /** Session cookies for TLS only: where a proxy ends TLS. */
    readonly secureCookies?: boolean;
    /** Plugins of fastify. They are registered before the routes, after authentication. */
    readonly plugins?: readonly FastifyPluginAsync[];
}

/** How a server comes to its certificate: from files, or by ACME. */
export type HttpsOptions = CertificateFiles | AcmeOptions;

/**
 * Judges a document inside the transaction that writes it: nobody writes between the judgement and the write. It delays all other
 * writers, so it is short and synchronous. It may be called again, so it does nothing else. Undefined: the document passes.
 */
export type Judge = (change: GuardedChange) => Refusal | undefined;

/** Where the server listens. */
export interface ListenOptions {
    /** The port; 0 takes a free one. */
    readonly port?: number;
    /** The host's address; '127.0.0.1' when left out. */
    readonly host?: string;
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

/** The principal that a route requires; each value includes those before it. */
export type Needs = 'anyone' | 'user' | 'member' | 'database-admin' | 'server-admin';

/** A server that is made by `createServer`. */
export interface PannierServer {
    /** Where it listens; undefined before `listen`. */
    readonly url: string | undefined;
    /** The database that it serves. */
    readonly database: Database;
    /**
     * Collections with the guards of the server, for the program around it: `server.gateway.collection(SYSTEM,
     * 'people')`.
     */
    readonly gateway: Gateway;
    /** The application backend: collections with fields and rules, accounts, settings. */
    readonly backend: Backend;
    /** The HTTP server, for more routes and for tests without a socket. */
    readonly http: FastifyInstance;
    /** Listens on loopback unless another host is named. Resolves with the URL. */
    listen(options?: ListenOptions): Promise<string>;
    /** Ends feeds, finishes the requests that run, then closes the database. Idempotent. */
    close(): Promise<void>;
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

/** Why a document is not written. */
export type Refusal = ServiceError | PannierError;

/** How the replicator works. */
export interface ReplicatorOptions {
    /**
     * Hosts that are not public and allowed all the same: names, addresses and ranges, each perhaps with a port:
     * 'couch.lan', '127.0.0.1:5985', '10.0.0.0/8'. None when left out.
     */
    readonly hosts?: readonly string[];
    /** Replications that run at a time; others wait. 500 when left out. */
    readonly runningMax?: number;
    /** How long a continuous one runs before it gives way to others that wait, and waits itself. A minute when left out. */
    readonly runMsMax?: number;
    /** Until one that has failed is tried again: doubles from `retryMsMin` (5 s) to `retryMsMax` (an hour). */
    readonly retryMsMin?: number;
    /** The longest wait before a retry, in milliseconds. */
    readonly retryMsMax?: number;
    /** The wait for the next try within one that runs, of the one before; see `ReplicationOptions` of the library. */
    readonly backOff?: (delayMs: number) => number;
    /** In place of `dns.lookup`. */
    readonly resolve?: Resolve;
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

/** Requests that the server takes: from whom, and to which names. */
export interface RequestOptions {
    /** Addresses of proxies whose `X-Forwarded-…` headers are believed; `true`: any that connects. None when left out. */
    readonly trustProxy?: boolean | string | readonly string[];
    /**
     * Names of this server beside `localhost`, loopback addresses and the one it listens at: `couch.lan`, without a port. A request with
     * another `Host` is refused with 403. When left out, a server that listens beyond loopback answers to any name.
     */
    readonly allowedHosts?: readonly string[];
    /** Origins that pages may call from: `https://app.example.org`. None when left out. */
    readonly corsOrigins?: readonly string[];
}

/**
 * `backup`: a backup was restored. `restored`: the storage was put back to an earlier state than this server has seen. `newer`: a server
 * of a newer version has come, whose data this one does not know.
 */
export type RestartReason = 'backup' | 'restored' | 'newer';

/**
 * A request to a custom route. One of the methods that answer is called at most once.
 *
 * @example
 * import type { Hooks } from '@pannier/server'
 *
 * export default ({ routerAdd }: Hooks): void =>
 *   routerAdd('GET', '/hello/{name}', (e) => e.json(200, { hello: e.request.pathValue('name') }))
 */
export class RouteEvent<App = HookApp> {
    /** Reads and writes without rules. */
    readonly app: App;
    /** The account that asks; undefined for guests. */
    readonly auth: HookRecord | undefined;
    /** The request as the handler reads it. */
    readonly request: RouteRequest;
    /** The collection that the URL names. */
    readonly collection: Definition | undefined;
    /** The record that an event of requests is about; undefined where no record is meant. */
    readonly record: HookRecord | undefined;
    /** The headers of the answer. */
    readonly response: {
        readonly headers: Headers;
    };
    constructor(parts: RouteEventParts<App>);
    /** Runs the rest of the chain. */
    next: () => Promise<void>;
    /** Whether a superuser asks. */
    hasSuperuserAuth(): boolean;
    /** The real IP: the address that the request came from, also through proxies that the settings trust. */
    realIP(): string;
    /** The address of the connection. */
    remoteIP(): string;
    /** Whether the connection is encrypted, also through proxies that the server trusts. */
    isTLS(): boolean;
    /**
     * The part of the request that rules read, and its body. @throws ServiceError INVALID for a body that can't be read
     */
    requestInfo(): Promise<RequestInfo & {
        readonly body: Readonly<Record<string, unknown>>;
    }>;
    /** The values of the body: JSON, or a form. @throws ServiceError INVALID */
    bindBody(): Promise<Readonly<Record<string, unknown>>>;
    /** The bytes of the body as it came, up to 32 MiB: for signatures of webhooks. The body can be read again. */
    bytes(): Promise<Uint8Array>;
    /** The uploads of a form under a name. They can be read until the answer is sent. */
    findUploadedFiles(name: string): Promise<readonly UploadedFile[]>;
    /** A value that another handler of the chain has kept under a name. */
    get(name: string): unknown;
    /** Keeps a value for other handlers of the chain. */
    set(name: string, value: unknown): void;
    /** Answers with JSON. */
    json(status: number, value: unknown): void;
    /** Answers with plain text. */
    string(status: number, text: string): void;
    /** Answers with HTML, as it is. */
    html(status: number, text: string): void;
    /** Answers with bytes of this type: `image/png`. */
    blob(status: number, type: string, bytes: Uint8Array): void;
    /** Answers with the bytes of a stream. */
    stream(status: number, type: string, stream: Readable): void;
    /** Answers without content, with no body. */
    noContent(status?: number): void;
    /** Sends the client to another URL. */
    redirect(status: 301 | 302 | 303 | 307 | 308, url: string): void;
    /** An error to throw: 400. */
    badRequestError(message?: string, data?: ErrorData): ApiError;
    /** An error to throw: 401. */
    unauthorizedError(message?: string, data?: ErrorData): ApiError;
    /** An error to throw: 403. */
    forbiddenError(message?: string, data?: ErrorData): ApiError;
    /** An error to throw: 404. */
    notFoundError(message?: string, data?: ErrorData): ApiError;
    /** An error to throw: 429. */
    tooManyRequestsError(message?: string, data?: ErrorData): ApiError;
    /** An error to throw: 500. */
    internalServerError(message?: string, data?: ErrorData): ApiError;
    /** To throw: any status from 400 to 599. */
    error(status: number, message?: string, data?: ErrorData): ApiError;
    /** Whether a handler has answered. */
    get isAnswered(): boolean;
    /** Sends what handlers have answered: 200 without a body if they have not. */
    send(): FastifyReply;
    /** To an answer that is another's. */
    addHeaders(): FastifyReply;
}

/** A handler of a request. */
export type RouteHandler<App = HookApp> = (event: RouteEvent<App>) => unknown;

/** The system: the program around the server. */
export const SYSTEM: Principal;

/** The limits of a server with their defaults: docs/internals/http-api.md has them. */
export interface ServerLimits {
    /** Bytes of a body in JSON that has no documents, and of what is around documents; unpacked. */
    readonly requestBytesMax: number;
    /** Bytes of a document in JSON without the content of its attachments. */
    readonly documentBytesMax: number;
    /** Bytes of an attachment, unpacked. */
    readonly attachmentBytesMax: number;
    /** Bytes of a body that has documents or attachments. */
    readonly uploadBytesMax: number;
    /** Bytes that one database may take: documents, attachments and indexes, about. A full one takes no more (507); Infinity: no bound. */
    readonly databaseBytesMax: number;
    /** Bytes of all headers, the URL among them. */
    readonly headerBytesMax: number;
    /** Until the headers of a request have come. */
    readonly headersMsMax: number;
    /** Until a whole request has come. */
    readonly requestMsMax: number;
    /** A connection on which nothing is read or written for that long is closed. */
    readonly idleMsMax: number;
    /** A client that stops in the midst of a body is given up. */
    readonly stallMsMax: number;
    /** Connections at a time. */
    readonly connectionsMax: number;
    /** A change feed without a heartbeat ends when nothing has happened for that long. */
    readonly feedMsMax: number;
    /** The shortest heartbeat of a feed, in milliseconds. */
    readonly heartbeatMsMin: number;
    /** Change feeds that wait at the same time. */
    readonly feedsMax: number;
    /** Change feeds of one user, or of one address from where nobody has logged in. */
    readonly feedsPerUserMax: number;
    /** A stream of `/api/realtime` ends when it had no message for that long, */
    readonly realtimeIdleMsMax: number;
    /** and when it is that old. Clients connect again. */
    readonly realtimeMsMax: number;
    /** How long `close` waits for requests that run. */
    readonly closeMsMax: number;
}

/** Options of `createServer`. */
export interface ServerOptions {
    /** Where `pannier.sqlite` and the key of its sessions are; made if need be, for this account alone. */
    readonly dir?: string;
    /**
     * Instead of files in `dir`: where any number of servers keep one database, `{ storage: postgres(url) }`. `dir` then has what is this
     * server's alone: hooks, pages, backups without a bucket.
     */
    readonly storage?: SharedStorage;
    /** An open database instead, which stays open when the server is closed. Sessions end with the server then. */
    readonly database?: Database;
    /** With `dir`: encrypts a new database file, and opens one that is encrypted. As for `open` of the library. */
    readonly encryption?: OpenOptions['encryption'];
    /** 'strict': what was answered survives a loss of power as well; by default the end of the process. */
    readonly durability?: Durability;
    /**
     * `email:password` of a superuser, who then has this password: as `pannier superuser upsert` makes them. Without a superuser,
     * `server.backend.accounts.firstSuperuser` offers the link that makes the first one.
     */
    readonly superuser?: string;
    /** `name:password` of a server admin, who then has this password. CouchDB's door alone knows server admins. */
    readonly couchAdmin?: string;
    /** Settings of passwords, sessions and logins. */
    readonly auth?: Omit<AuthOptions, 'corsOrigins' | 'secureCookies'>;
    /** Names, certificate and plugins of the HTTP server. */
    readonly http?: HttpOptions;
    /** Limits; those left out keep their defaults. */
    readonly limits?: Partial<ServerLimits>;
    /** Hooks, migrations, pages and the key of the settings. */
    readonly app?: ApplicationOptions;
    /** Settings of CouchDB's API. */
    readonly couch?: CouchOptions;
    /** Guards are asked about every write of documents, after the server's own. */
    readonly guards?: readonly WriteGuard[];
    /** A pino logger, its options, or false for none. */
    readonly logger?: Logger | LoggerOptions | false;
    /**
     * Is called when the server is of no use any more: close it, and make it again with the same options. Without it only the command
     * line restores backups.
     */
    readonly onRestart?: (reason: RestartReason) => void;
    /** Clock, timers and chance, for tests (`virtualEnvironment` of `pannier/testing`). Those of `database`, or the real ones, when left out. */
    readonly environment?: Environment;
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

/** Where several servers keep one database. */
export interface SharedStorage {
    /** As of `postgres(url)`. */
    readonly storage: DatabaseStorage;
    /** The name of the database there; 'app' when left out. */
    readonly name?: string;
    /** `onRestart` was called with 'restored' before: devices begin again where they have seen what is gone. */
    readonly isRestored?: boolean;
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

/**
 * A server that speaks CouchDB's HTTP API on a Pannier database. docs/internals/http-api.md tells what it answers.
 *
 * @throws PANNIER_LOCKED if another process has the file open; PANNIER_FORMAT_NEWER if a newer version serves the storage.
 * @example
 * const server = await createServer({ dir: './data' })
 * console.log(await server.listen({ port: 5984 }))
 */
export function createServer(options: ServerOptions): Promise<PannierServer>;

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

/** The types of collections whose fields are not known (any). */
type AnyCollectionTypes = Readonly<Record<string, AnyRecordTypes>>;

/** Records whose fields are not known. */
interface AnyRecordTypes {
    /** Any name may have a value. */
    readonly values: Record<string, unknown>;
    /** The changes: any name may be set. */
    readonly changes: Record<string, unknown>;
}

/** An API token that somebody acts by. */
interface ApiTokenOf {
    readonly id: string;
    readonly name: string;
    /** Actions by the id of the definition. */
    readonly scopes: Scopes;
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

/** Runs code of the operator around a write. `put` writes documents; gives an outcome for each that was to be written. */
type AroundWrites = (write: GuardedWrite, put: (documents: readonly JsonObject[]) => Promise<GuardedOutcome[]>) => Promise<GuardedOutcome[]>;

/** A record, as it is stored. */
interface AskedRecord {
    readonly definition: Definition;
    readonly document: JsonObject;
}

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

interface BaseDefinition extends DefinitionBase {
    readonly type: 'base';
}

/** Names at the end choose collections. */
type Binders<All extends CollectionTypes = AnyCollectionTypes> = {
    readonly [Name in keyof HookEvents]: <Tags extends readonly (keyof All & string)[]>(handler: HookHandler<EventOf<HookEvents[Name], All, Tags[number], CustomData<Name>>>, ...tags: Tags) => void;
};

interface BoolField extends FieldBase, Requirable {
    readonly type: 'bool';
}

/** The source of chance. */
type Chance = Pick<Environment, 'randomBytes'>;

/** A filter of one change feed. Call `dispose` when the feed ends. */
interface ChangeFilter {
    /** For each document (tombstones have `_deleted: true`) whether the feed has its change. */
    accepts(documents: readonly JsonObject[]): Promise<readonly boolean[]>;
    /** The feed is over. */
    dispose(): void;
}

/** The types of the records of all collections, by name. */
type CollectionTypes = Readonly<Record<string, RecordTypes>>;

/** `onRecordEnrich` may show more than fields: what was set under other names. */
type CustomData<Name> = Name extends 'onRecordEnrich' ? AnyRecordTypes['changes'] : unknown;

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

/** A collection of the application: its type, fields, rules and indexes. */
type Definition = BaseDefinition | ViewDefinition | AuthDefinition;

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

/** Errors of an input, nested as the input is: `{ fields: { 1: { name: { code, message } } } }`. */
interface ErrorData {
    /** The error of one value, or the errors inside it. */
    readonly [name: string]: FieldError | ErrorData;
}

/** An event of these collections. */
type EventOf<Event, All extends CollectionTypes, Name extends keyof All, More> = {
    [Key in keyof Event]: Key extends 'app' ? HookApp<All> : Key extends 'record' ? NamedRecord<All, Name, More> | Extract<Event[Key], undefined> : Event[Key];
};

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

/** The error of one value, in PocketBase's words. */
interface FieldError {
    /** The code, which is stable: `validation_required`. */
    readonly code: string;
    /** The message for a person. */
    readonly message: string;
    /** The parameters of the message. */
    readonly params?: Readonly<Record<string, unknown>>;
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

/** Values for the `{:name}` of a filter. */
type FilterParameters = Readonly<Record<string, string | number | boolean | null | Date>>;

/** The content of a request. */
interface Form {
    /** By name; those of a form as texts, numbers or booleans, as they look. */
    readonly values: JsonObject;
    /** As they were sent, of a form. The values of JSON. */
    readonly texts: JsonObject;
    /** The files by name. */
    readonly files: ReadonlyMap<string, readonly UploadedFile[]>;
    /** Forgets the files. */
    dispose(): Promise<void>;
}

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

/** A call of `set`. */
type HookChange = readonly [key: string, value: unknown];

/** A mail of a hook. One of `html` and `text` is enough. */
interface HookMail {
    /** An address. */
    readonly to: string;
    /** The subject in one line. */
    readonly subject: string;
    /** Derived from the text when it is left out. */
    readonly html?: string;
    /** The text for readers without HTML. */
    readonly text?: string;
}

type InputOf<Field extends FieldDefinition> = Field extends FieldDefinition ? Partially<Omit<Field, 'type' | 'name'>> & Pick<Field, 'type' | 'name'> : never;

interface JsonField extends FieldBase, Requirable {
    readonly type: 'json';
    readonly maxSize: number;
}

/** An object of any fields, as JSON has it. */
type JsonObject = Record<string, unknown>;

/** An entry of the log: something that has happened. */
interface LogEntry {
    /** A level of `LOG_LEVELS`; `info` when left out. */
    readonly level?: number;
    /** The event, in a line. */
    readonly message: string;
    /** JSON. It must have no secrets. */
    readonly data?: JsonObject;
}

/** A writer of logs, which takes what happens. It never waits and never throws. */
interface LogWriter {
    /** Logs an entry some time later. */
    write(entry: LogEntry): void;
}

interface MailTemplate {
    readonly subject: string;
    readonly body: string;
}

type NameOf<All> = keyof All & string;

/** A record of one of these collections; of any of them if no name is given. */
type NamedRecord<All extends CollectionTypes, Name extends keyof All, More> = [Name] extends [never] ? HookRecord : HookRecord<{
    readonly values: All[Name]['values'];
    readonly changes: All[Name]['changes'] & More;
}>;

interface NumberField extends FieldBase, Requirable {
    readonly type: 'number';
    readonly min: number | null;
    readonly max: number | null;
    readonly onlyInt: boolean;
}

/** The type of a parameter's values. */
type ParameterType = 'text' | 'number' | 'integer' | 'bool' | 'date';

/** A type whose parts may be left out, at any depth. */
type Partially<T> = T extends readonly (infer One)[] ? readonly Partially<One>[] : T extends object ? {
    readonly [Name in keyof T]?: Partially<T[Name]>;
} : T;

interface PasswordField extends FieldBase, Requirable {
    readonly type: 'password';
    readonly min: number;
    readonly max: number;
    readonly pattern: string;
    readonly cost: number;
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

interface PublicFilesOptions {
    readonly dir: string;
    /** Unknown pages are answered with the folder's `index.html`; true when left out. */
    readonly indexFallback?: boolean;
}

/** Puts documents that guards have let pass: by themselves, or in a transaction. */
type PutDocuments = (documents: readonly JsonObject[], place?: Pick<Transaction, 'collection'>) => Promise<readonly WriteOutcome[]>;

interface PutOptions {
    /** Whether edits are new. False: the revisions were made elsewhere, and are taken as they are. */
    readonly newEdits?: boolean;
    /** True for a small write, which may share one commit with writes of others. */
    readonly grouped?: boolean;
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

/** The readable documents: all, or the documents with these ids. */
type ReadScope = 'all' | ReadonlySet<string>;

/** The readable part of a view. */
type ReadableView = Pick<View<unknown, unknown, unknown, unknown>, 'query' | 'rows' | 'info'>;

/** Events that are about a record: their handlers run where there is one. */
type RecordRequestEventName = 'onFileDownloadRequest' | 'onFileTokenRequest' | 'onRecordAuthWithOTPRequest' | 'onRecordAuthRefreshRequest' | `onRecord${'Request' | 'Confirm'}${'PasswordReset' | 'Verification' | 'EmailChange'}Request`;

/** A handler of a request that is about a record. */
type RecordRouteHandler<App> = (event: RouteEvent<App> & {
    readonly record: HookRecord;
}) => unknown;

interface RecordState {
    /** The stored document; undefined: the record is new. */
    readonly stored: JsonObject | undefined;
    /** The values: all fields have one, `id` too. */
    readonly values: JsonObject;
}

/** The types of the records of a collection, as the server writes them for hooks. */
interface RecordTypes {
    /** The results of `get`, by field. */
    readonly values: object;
    /** The arguments of `set`: by field, and by field with a modifier. */
    readonly changes: object;
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

/** A report, as it is stored and shown to superusers. */
interface Report {
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

/** The functions that bind handlers of requests. */
type RequestBinders<All extends CollectionTypes = AnyCollectionTypes> = {
    readonly [Name in RequestEventName]: (handler: Name extends RecordRequestEventName ? RecordRouteHandler<HookApp<All>> : RouteHandler<HookApp<All>>, ...tags: readonly (keyof All & string)[]) => void;
};

/** The name of a request that is an event. */
type RequestEventName = 'onCollectionsListRequest' | 'onCollectionCreateRequest' | 'onCollectionsImportRequest' | 'onCollectionViewRequest' | 'onCollectionUpdateRequest' | 'onCollectionDeleteRequest' | 'onSettingsListRequest' | 'onSettingsUpdateRequest' | 'onBatchRequest' | 'onRealtimeConnectRequest' | 'onRealtimeSubscribeRequest' | 'onFileDownloadRequest' | 'onFileTokenRequest' | 'onRecordAuthWithPasswordRequest' | 'onRecordAuthWithOTPRequest' | 'onRecordAuthRefreshRequest' | 'onRecordRequestOTPRequest' | 'onRecordRequestPasswordResetRequest' | 'onRecordConfirmPasswordResetRequest' | 'onRecordRequestVerificationRequest' | 'onRecordConfirmVerificationRequest' | 'onRecordRequestEmailChangeRequest' | 'onRecordConfirmEmailChangeRequest';

/** The option `required` of all types but `autodate`: the value must not be empty. */
interface Requirable {
    readonly required: boolean;
}

/** As `dns.lookup` does with `all: true`. */
type Resolve = (host: string, options: {
    readonly all: true;
}, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

class Room {
    readonly leave: () => void;
    constructor(name: string, collection: Collection<JsonObject>, bytesMax: number, count: (bytes: number) => number, leave: () => void);
    /** The documents, with attachments that are counted as they are read. @throws ServiceError QUOTA_EXCEEDED; so does reading them */
    admit(documents: readonly JsonObject[]): Promise<readonly JsonObject[]>;
}

/** Checks of routes: handlers that let some requests pass. */
interface RouteChecks<App = HookApp> {
    /** Somebody has logged in: an account of one of these collections, or of any. */
    requireAuth(...collections: readonly string[]): RouteHandler<App>;
    requireGuestOnly(): RouteHandler<App>;
    requireSuperuserAuth(): RouteHandler<App>;
}

interface RouteEventParts<App> {
    readonly app: App & HookApp;
    readonly definitions: Backend['definitions'];
    readonly environment: Environment;
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly pathValues: Readonly<Record<string, string>>;
    /** Reads the form of the body once. */
    form(): Promise<Form>;
    /** Reads the bytes of the body. */
    bytes(): Promise<Uint8Array>;
    /** The subject of an event of requests. */
    readonly record?: AskedRecord | undefined;
}

/** A request, as handlers of routes read it. */
interface RouteRequest {
    readonly method: string;
    /** The URL as the client sent it. */
    readonly url: URL;
    readonly headers: Headers;
    /** The part of the path that `{name}` stands for; empty if the path has no such part. */
    pathValue(name: string): string;
    /** The signal that ends when the client has gone. */
    readonly signal: AbortSignal;
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

/** Stores documents by `put`, with all that follows from them. The outcomes are aligned with them. */
type StoreWrites = (write: Write, documents: readonly JsonObject[], put: PutDocuments) => Promise<readonly WriteOutcome[]>;

type Stored = JsonObject & {
    readonly _id: string;
    readonly _rev: string;
};

interface TextField extends FieldBase, Requirable {
    readonly type: 'text';
    readonly min: number;
    /** 0: 5000. */
    readonly max: number;
    readonly pattern: string;
    readonly autogeneratePattern: string;
    readonly primaryKey: boolean;
}

/** How long tokens of a kind are valid, and what they are signed with, beside the key of the record. */
interface TokenOptions {
    /** The duration in seconds. */
    readonly duration: number;
    readonly secret: string;
}

interface UrlField extends DomainOptions {
    readonly type: 'url';
}

interface ViewDefinition extends DefinitionBase {
    readonly type: 'view';
    readonly viewQuery: string;
}

/** The principal as of now, and the name by which users know the collection. */
interface Writer {
    readonly principal: Principal;
    readonly database: string;
}
