// What `@pannier/server` offers. Written by `npm run api`.

/** How the server signs users in. */
export interface AuthOptions {
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
    /** How many failed logins are allowed, and for how long. */
    readonly loginLimits?: Partial<LoginLimits>;
    /** How much memory and time hashing passwords may take. */
    readonly hashLimits?: Partial<HashQueueLimits>;
    /** The time in milliseconds since 1970. */
    readonly now?: () => number;
}

/** Says which changes a feed has. */
export interface ChangeFilter {
    /** For each document (tombstones have `_deleted: true`) whether the feed has its change. */
    accepts(documents: readonly JsonObject[]): Promise<readonly boolean[]>;
    /** The feed is over. */
    dispose(): void;
}

/** The limits of a server that is given none. */
export const DEFAULT_LIMITS: ServerLimits;

/** A filter of a change feed that is a function of a design document. */
export interface FilterRequest {
    /** Who asks. */
    readonly principal: Principal;
    /** The name of the database. */
    readonly database: string;
    /** The collection. */
    readonly collection: Collection<JsonObject>;
    /** What reads documents for the one who asks. */
    readonly reader: FilterReader;
    /** `ddoc/function`, or `_view`. */
    readonly filter: string;
    /** With `_view`: `ddoc/view`. */
    readonly view: string | undefined;
}

/** Finds filters. @throws ServiceError NOT_FOUND if there is no such function */
export type FilterSource = (request: FilterRequest) => Promise<ChangeFilter>;

/** Documents that somebody is about to write. */
export interface GuardedWrite {
    /** Who writes. */
    readonly principal: Principal;
    /** The name by which users know the collection. */
    readonly database: string;
    /** The collection. */
    readonly collection: Collection<JsonObject>;
    /** The documents that are to be written. */
    readonly documents: readonly JsonObject[];
    /** False: the revisions were made elsewhere, and are taken as they are. */
    readonly newEdits: boolean;
}

/** Where the server listens. */
export interface ListenOptions {
    /** The port; 0 takes a free one. */
    readonly port?: number;
    /** The address; '127.0.0.1' when left out. */
    readonly host?: string;
}

/** What a route asks of the principal; each includes those before it. */
export type Needs = 'anyone' | 'user' | 'member' | 'database-admin' | 'server-admin';

/** An admin that the first start made. */
export interface NewAdmin {
    /** The name of the admin. */
    readonly name: string;
    /** To be shown once; it is stored nowhere. */
    readonly password: string;
}

/** A server that is made by `createServer`. */
export interface PannierServer {
    /** Where it listens; undefined before `listen`. */
    readonly url: string | undefined;
    /** The database that it serves. */
    readonly database: Database;
    /** The admin that this start has made, as there was none: the password is to be shown, and is told nowhere else. */
    readonly newAdmin: NewAdmin | undefined;
    /** The HTTP server, for more routes and for tests without a socket. */
    readonly app: FastifyInstance;
    /** Loopback unless another host is named. Resolves with the URL. */
    listen(options?: ListenOptions): Promise<string>;
    /** Ends feeds, finishes the requests that run, then closes the database. Idempotent. */
    close(): Promise<void>;
}

/** Who acts. Every door of the server makes one: HTTP requests, replications that the server runs, the server itself. */
export interface Principal {
    /** Null: a guest, who has not logged in. */
    readonly name: string | null;
    /** The roles of the user. */
    readonly roles: readonly string[];
    /** Of the whole server: no rule stops an admin. */
    readonly isAdmin: boolean;
    /** What shows who it is. `delegation`: the server acts with the rights of a user who is not there. */
    readonly by: 'nothing' | 'session' | 'password' | 'delegation';
    /** From where; undefined for what the server does by itself. */
    readonly address?: string;
}

/** Why a document is not written. */
export type Refusal = ServiceError | PannierError;

/** How the replicator works. */
export interface ReplicatorOptions {
    /**
     * What is not public and may be replicated with all the same: names, addresses and ranges, each perhaps with a port: 'couch.lan',
     * '127.0.0.1:5985', '10.0.0.0/8'. None when left out.
     */
    readonly hosts?: readonly string[];
    /** Replications that run at a time; others wait. 500 when left out. */
    readonly runningMax?: number;
    /** How long a continuous one runs before it gives way to others that wait, and waits itself. A minute when left out. */
    readonly turnMs?: number;
    /** Until one that has failed is tried again: doubles from `retryMsMin` (5 s) to `retryMsMax` (an hour). */
    readonly retryMsMin?: number;
    /** The longest wait between two tries, in milliseconds. */
    readonly retryMsMax?: number;
    /** The wait for the next try within one that runs, of the one before; see `ReplicationOptions` of the library. */
    readonly backOff?: (delayMs: number) => number;
    /** In place of `dns.lookup`. */
    readonly resolve?: Resolve;
}

/** What routes and features share. */
export interface ServerContext {
    /** The database that is served. */
    readonly database: Database;
    /** CouchDB's databases: the collections. */
    readonly databases: Databases;
    /** What the server keeps across starts. */
    readonly state: ServerState;
    /** Sessions, users and permissions. */
    readonly auth: Auth;
    /** The limits in force. */
    readonly limits: ServerLimits;
    /** Counts of requests and times. */
    readonly metrics: Metrics;
    /** Of requests that bring documents. */
    readonly bodies: BodyStore;
    /** Of this server, for ever: replication ids are made of it. */
    readonly uuid: string;
    /** What `GET /` tells as `features`. */
    readonly features: Set<string>;
    /** Mango indexes. */
    readonly indexes: MangoIndexes;
    /** Design documents. */
    readonly designs: DesignDocuments;
    /** What runs in the background. */
    readonly tasks: ActiveTasks;
    /** The feed of created and deleted databases. */
    readonly updates: DatabaseUpdates;
    /** Change feeds that are open. */
    readonly feeds: OpenFeeds;
    /** Aborted when the server is being closed: feeds end. */
    readonly closing: AbortSignal;
    /** Asked in this order. */
    readonly writeGuards: WriteGuard[];
    /** Of filters that are functions in design documents. */
    filterSource: FilterSource;
}

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
    /** Of them those of one user, or of one address from where nobody has logged in. */
    readonly feedsPerUserMax: number;
    /** How long `close` waits for requests that run. */
    readonly closeMsMax: number;
}

/** Options of `createServer`. */
export interface ServerOptions extends AppOptions {
    /** Where `pannier.sqlite` and the key of its sessions are; made if need be, for this account alone. */
    readonly dir?: string;
    /** With `dir`: encrypts a new database file, and opens one that is encrypted. As for `open` of the library. */
    readonly encryption?: OpenOptions['encryption'];
    /** An open database instead, which stays open when the server is closed. Sessions end with the server then. */
    readonly database?: Database;
    /**
     * Databases that are made keep the content of revisions that were replaced, until they are compacted; false when left out. For one
     * database: `PUT /{db}/_pannier/history`.
     */
    readonly history?: boolean;
    /** 'strict': what was answered survives a loss of power as well; by default the end of the process. */
    readonly durability?: Durability;
    /** Limits; those left out keep their defaults. */
    readonly limits?: Partial<ServerLimits>;
    /**
     * `name:password` of a server admin, who then has this password. When left out, the first start makes `admin` with a random
     * password: `server.newAdmin`.
     */
    readonly admin?: string;
    /** Of passwords, sessions and logins. */
    readonly auth?: Omit<AuthOptions, 'corsOrigins' | 'secureCookies' | 'now'>;
    /** Session cookies for TLS only: where a proxy ends TLS. */
    readonly secureCookies?: boolean;
    /** With whom the server may replicate, and how persistently. */
    readonly replication?: ReplicatorOptions;
    /** A folder that is served at `/_utils`: the built pages of Fauxton. Anybody may read what is in it. */
    readonly adminUi?: string;
    /** Registered before the routes, after authentication. */
    readonly plugins?: readonly FastifyPluginAsync[];
}

/** An error of the service: what was refused, and why. */
export class ServiceError extends Error {
    /** Stable: programs may compare it. */
    readonly code: ServiceErrorCode;
    /** When it may go well. */
    readonly retryAfterSeconds: number | undefined;
    /** `message` is shown to the principal. */
    constructor(code: ServiceErrorCode, message: string, options?: ErrorOptions & {
        readonly retryAfterSeconds?: number;
    });
}

/** What the domain refuses or can't do, in its own words. `http/http-error.ts` says which status each code becomes. */
export type ServiceErrorCode = 
/** It is not known who asks, and a guest may not. */
'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND'
/** Something else was written meanwhile, or has the name. */
 | 'CONFLICT'
/** A collection of this name. */
 | 'EXISTS' | 'INVALID' | 'INVALID_NAME' | 'INVALID_DESIGN' | 'COMPILATION_FAILED' | 'TOO_LARGE' | 'DOCUMENT_TOO_LARGE' | 'TOO_MANY_REQUESTS'
/** A collection takes no more bytes. */
 | 'FULL'
/** It may go well another time. */
 | 'UNAVAILABLE'
/** This place lacks what it takes. */
 | 'UNSUPPORTED'
/** A function of a design document has thrown. */
 | 'FUNCTION_FAILED'
/** A function of a design document took too much time or memory. */
 | 'FUNCTION_STOPPED';

/**
 * Is asked before documents are written, whatever way they come: gives for each the document to write instead, or why it is refused.
 * Guards are not asked about `_local/` documents.
 */
export type WriteGuard = (write: GuardedWrite) => GuardedDocuments | Promise<GuardedDocuments>;

/**
 * A server that speaks CouchDB's HTTP API on a Pannier database. docs/internals/http-api.md tells what it answers.
 *
 * @throws PANNIER_LOCKED if another process has the database open.
 * @example
 * const server = await createServer({ dir: './data' })
 * console.log(await server.listen({ port: 5984 }))
 */
export function createServer(options: ServerOptions): Promise<PannierServer>;

interface Account {
    readonly name: string;
    readonly roles: readonly string[];
    /** Changes with the password. */
    readonly salt: string;
    readonly isAdmin: boolean;
    /** Its fields are those of credentials in `_users`. */
    readonly credentials: JsonObject;
}

class Accounts {
    constructor(host: AuthHost, passwords: Passwords, passwordCharsMin: number);
    find(name: string): Promise<Account | undefined>;
    /** The account if the password is right. Takes as long if there is none. */
    verify(name: string, password: string): Promise<Account | undefined>;
    /** New credentials, with which no session of before goes on. @throws ServiceError INVALID */
    credentials(password: unknown): Promise<JsonObject>;
    adminNames(): Promise<string[]>;
    /** Makes an admin, or gives one a new password. @throws ServiceError INVALID */
    setAdmin(name: string, password: string): Promise<void>;
    /** @throws ServiceError NOT_FOUND; FORBIDDEN for the last one, without whom nobody could make another */
    removeAdmin(name: string): Promise<void>;
    /** Ends all sessions of a user or admin. */
    endSessions(name: string): Promise<void>;
    close(): void;
}

/** Long work that runs, for `/_active_tasks`. */
interface ActiveTask {
    update(facts: JsonObject): void;
    end(): void;
}

class ActiveTasks {
    start(type: string, facts: JsonObject): ActiveTask;
    list(): JsonObject[];
}

type Algorithm = 'argon2id' | 'scrypt';

/** What the HTTP server as such can be told. */
interface AppOptions {
    /** Addresses of proxies whose `X-Forwarded-…` headers are believed; `true`: any that connects. None when left out. */
    readonly trustProxy?: boolean | string | readonly string[];
    /**
     * Names of this server beside `localhost`, loopback addresses and the one it listens at: `couch.lan`, without a port. A request with
     * another `Host` is refused with 403. When left out, a server that listens beyond loopback answers to any name.
     */
    readonly allowedHosts?: readonly string[];
    /** Origins that pages may call from: `https://app.example.org`. None when left out. */
    readonly corsOrigins?: readonly string[];
    /** A pino logger, its options, or false for none. */
    readonly logger?: Logger | LoggerOptions | false;
}

class Auth {
    readonly accounts: Accounts;
    readonly options: AuthOptions;
    readonly allowedOrigins: ReadonlySet<string>;
    readonly sessionMsMax: number;
    /** For the writes of documents. */
    readonly guard: WriteGuard;
    /** `signingKey`: of session cookies (auth/signing-key.ts). It is never in the database. */
    static open(host: AuthHost, signingKey: Buffer, options?: AuthOptions): Promise<Auth>;
    /** Who sends the request; credentials of other schemes are passed over, as in CouchDB. @throws ServiceError UNAUTHENTICATED for wrong Basic ones, TOO_MANY_REQUESTS */
    identify(request: FastifyRequest): Promise<Identity>;
    identityOf(request: FastifyRequest): Identity;
    /** The account, if name and password are right. @throws ServiceError UNAUTHENTICATED, TOO_MANY_REQUESTS */
    logIn(request: FastifyRequest, name: string, password: string): Promise<Account>;
    /** Whether somebody who is no admin sends this to make a user. Each one counts as a failed login. @throws ServiceError TOO_MANY_REQUESTS */
    isSignUp({ method, routeOptions, params, ip, principal }: FastifyRequest): boolean;
    /** The value of a session cookie. `id`: of the session that it renews. */
    cookieFor({ name, salt }: Account, id?: string): string;
    /** A cookie that is to be renewed: a tenth of its time is over. */
    isRenewalDue({ issuedMs }: Identity): boolean;
    /** Its cookies, renewed ones too, are refused from now on. */
    endSession({ sessionId }: Identity): Promise<void>;
    /** @throws ServiceError UNAUTHENTICATED, FORBIDDEN; NOT_FOUND if there is no such database, but for server admins, who may do anything there */
    check(principal: Principal, needs: Needs, database: string | undefined, documentId?: string): Promise<void>;
    /**
     * For answers that go on, such as change feeds: calls `revoked`, once, when whoever sent the request may not see them any more:
     * logged out, deleted, with another password or other roles, or by `_security`. Call the result when the answer has ended.
     */
    whileAllowed(request: FastifyRequest, needs: Needs, database: string | undefined, revoked: (error: ServiceError) => void): () => void;
    /** Changes with all that decides about permissions. */
    get version(): number;
    /** The user as of now, whose body has come in the meantime. @throws ServiceError UNAUTHENTICATED, FORBIDDEN if they may not any more */
    checkAgain(request: FastifyRequest, needs: Needs, database: string | undefined, documentId?: string): Promise<Principal>;
    close(): void;
}

interface AuthHost {
    readonly database: Database;
    readonly state: StateStore;
    /** The collection of the `_users` database. */
    readonly users: Collection<JsonObject>;
    /** `_security` of a database as it was put; undefined if it never was. @throws ServiceError NOT_FOUND if there is no such database */
    security(database: string): Promise<JsonObject | undefined>;
}

class BodyStore {
    /** `folder`: for the files; made when there is one. */
    constructor(folder: string, limits?: Partial<BodyStoreLimits>);
    /** Reads it to its end; `look` sees each piece as it comes. @throws HttpError 503 if there is no room for it now; what `pieces` or `look` throws */
    receive(pieces: AsyncIterable<Uint8Array>, look: (piece: Uint8Array) => void): Promise<StoredBody>;
}

interface BodyStoreLimits {
    /** Of one body; a longer one is in a file. */
    readonly memoryBytesMax: number;
    /** Of all bodies that are in memory. */
    readonly sharedBytesMax: number;
    /** Of all files. */
    readonly fileBytesMax: number;
}

interface DatabaseUpdate {
    readonly sequence: number;
    readonly name: string;
    readonly type: UpdateType;
}

class DatabaseUpdates {
    readonly epoch: string;
    /** `names`: of the databases that are there. */
    constructor(database: Database, names: readonly string[]);
    get lastSequence(): number;
    created(name: string): void;
    deleted(name: string): void;
    /** Of its newest event; 0: there was none. */
    sequenceOf(name: string): number;
    since(sequence: number): DatabaseUpdate[];
    /** Resolves when there is news, or `signal` is aborted. */
    next(signal: AbortSignal): Promise<void>;
    /** How many wait. */
    get listeners(): number;
    close(): void;
}

class Databases {
    /** Of single documents. */
    readonly groups: WriteGroups;
    constructor(database: Database, state: ServerState, { bytesMax, history }?: DatabasesOptions);
    /** Sorted. */
    names(): Promise<string[]>;
    /** @throws ServiceError NOT_FOUND */
    get(name: string): Promise<Collection<JsonObject>>;
    /** Runs what writes to the database, which is not dropped meanwhile; documents need `room`. @throws ServiceError NOT_FOUND */
    write<T>(name: string, run: (collection: Collection<JsonObject>, room: Room) => Promise<T>): Promise<T>;
    /** @throws ServiceError INVALID_NAME, EXISTS */
    create(name: string): Promise<void>;
    /** Makes it unless it is there. */
    ensure(name: string): Promise<void>;
    /** @throws ServiceError NOT_FOUND */
    drop(name: string): Promise<void>;
    /** The `_security` object as it was put; undefined if it never was. */
    security(name: string): Promise<JsonObject | undefined>;
    setSecurity(name: string, security: JsonObject): Promise<void>;
    setRevisionsLimit(name: string, revisionsLimit: number): Promise<void>;
    /** @throws ServiceError FORBIDDEN for a database of the server's own: what was replaced there has hashes of old passwords */
    setHistory(name: string, history: boolean): Promise<void>;
    close(): void;
}

interface DatabasesOptions {
    /** Of each database. */
    readonly bytesMax?: number;
    /** Databases that are made keep the content of replaced revisions. */
    readonly history?: boolean | undefined;
}

interface Design {
    readonly id: string;
    readonly rev: string;
    readonly document: JsonObject;
    readonly functions: DesignFunctions;
}

class DesignDocuments {
    constructor(database: Database, sandbox: Sandbox, log: DesignLog);
    /** All of a database, by id. */
    all(collection: Collection<JsonObject>): Promise<ReadonlyMap<string, Design>>;
    /** `id` without `_design/`. @throws ServiceError NOT_FOUND */
    get(collection: Collection<JsonObject>, id: string): Promise<Design>;
    /** @throws ServiceError NOT_FOUND */
    view(collection: Collection<JsonObject>, id: string, name: string): Promise<FoundView>;
    /** Checks a document that is about to be written. @throws ServiceError INVALID */
    check(document: JsonObject, what: 'all' | 'validation', database: string): Promise<void>;
    /** The caller has written a design document, or dropped the database, and does not wait for the news of it. */
    changed({ name }: {
        readonly name: string;
    }): void;
    /** Forgets what is stored for views that are not in the document any more. `next` undefined: it is deleted. */
    dropViews(collection: Collection<JsonObject>, previous: JsonObject, next: JsonObject | undefined): Promise<void>;
    close(): void;
}

/** For each document whether it passes. @throws DesignFunctionError what the function throws: left out, a document would never come again. */
type DesignFilter = (documents: readonly JsonObject[], request: FilterContext) => Promise<boolean[]>;

interface DesignFunctions {
    readonly views: ReadonlyMap<string, DesignView>;
    readonly filters: ReadonlyMap<string, DesignFilter>;
    readonly validate: ValidateFunction | undefined;
    /** @throws DesignFunctionError naming the first function that is none, to be answered with 400 `compilation_error` */
    check(what: 'all' | 'validation'): Promise<void>;
}

interface DesignLog {
    /** A function has failed for a document, or was stopped. */
    warn(details: JsonObject, message: string): void;
}

interface DesignView {
    /** For `collection.view`. */
    readonly definition: DesignViewDefinition;
    /** What its `reduce` names, if there is no such function. */
    readonly unknownReduce: string | undefined;
    /** Whether the map function emits anything for each document: `filter=_view`. */
    emits(documents: readonly JsonObject[]): Promise<boolean[]>;
}

type DesignViewDefinition = ViewDefinition<JsonObject, unknown, unknown, BuiltInReduce | ReduceFunction | undefined>;

/** CouchDB's `req`, as far as it is harmless. */
interface FilterContext {
    readonly method: string;
    readonly path: readonly string[];
    readonly query: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, string>>;
    readonly userCtx: UserContext;
    readonly secObj: JsonObject;
    readonly id: null;
    readonly cookie: Readonly<Record<string, never>>;
    readonly peer: string;
}

/** What a change filter may know of the one who reads: no credentials, and no place. */
interface FilterReader {
    readonly method: string;
    readonly path: readonly string[];
    readonly query: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, string>>;
}

interface FoundView {
    readonly collection: Collection<JsonObject>;
    readonly definition: DesignViewDefinition;
    readonly view: ServedView;
}

type GuardedDocuments = readonly (JsonObject | Refusal)[];

class HashQueue {
    constructor(limits?: Partial<HashQueueLimits>);
    /** @throws ServiceError TOO_MANY_REQUESTS if too many wait already */
    run<T>(work: () => Promise<T>): Promise<T>;
}

interface HashQueueLimits {
    /** Made at the same time. */
    readonly concurrencyMax: number;
    /** That wait. */
    readonly waitingMax: number;
}

/** Who sends a request, and how that is known. */
interface Identity {
    readonly principal: Principal;
    /** Of whoever has authenticated. */
    readonly account: Account | undefined;
    /** Of a session. */
    readonly sessionId: string | undefined;
    readonly issuedMs: number | undefined;
}

/** Documents as the server handles them: JSON objects of any fields. */
type JsonObject = Record<string, unknown>;

interface LoginLimits {
    readonly windowMs: number;
    /** Failed logins with one name from one address. */
    readonly sameMax: number;
    /** From one address (IPv6: one /64). */
    readonly addressMax: number;
    /** With one name, from everywhere; high, as anybody can use it up. */
    readonly nameMax: number;
}

interface MangoField {
    readonly path: string;
    readonly descending: boolean;
}

interface MangoIndex {
    /** `_design/…` */
    readonly designId: string;
    readonly name: string;
    readonly fields: readonly MangoField[];
    readonly partialFilter: JsonObject | undefined;
}

class MangoIndexes {
    constructor(database: Database, log: Pick<Logger, 'warn'>);
    /** The indexes of a database, which the collection has from now on; those that are new may still be being built. */
    settled(_name: string, collection: Collection<JsonObject>): Promise<readonly MangoIndex[]>;
    /** Resolves when the indexes are built, as far as they can be: queries use them from then on. */
    built(name: string, collection: Collection<JsonObject>): Promise<void>;
    /** A design document was written by the caller, who does not wait for the news of it. */
    changed(collection: Collection<JsonObject>): void;
    close(): void;
}

type Method = 'check' | 'map' | 'reduce' | 'filter' | 'emits' | 'validate';

class Metrics {
    readonly registry: Registry;
    readonly openFeeds: Gauge<'feed'>;
    constructor();
    /** Counts every request under its route, so that names of documents make no labels. */
    observe(app: FastifyInstance): void;
}

class OpenFeeds {
    constructor(metrics: Metrics, most: number, mostOfUser: number);
    get count(): number;
    /** The function returned tells that it has ended. @throws HttpError 503 */
    enter(feed: string, request: Pick<FastifyRequest, 'principal' | 'ip'>): () => void;
}

class Passwords {
    constructor(queue?: HashQueue, algorithm?: Algorithm);
    /** A PHC string. */
    hash(password: string): Promise<string>;
    /** In constant time as far as the hash is concerned. False for a record that can't be relied on. */
    verify(record: string, password: string): Promise<boolean>;
    /** Takes as long as verifying takes, so that time does not tell whether a name is known. */
    waste(password: string): Promise<void>;
    /** A record to be made again at the next login: of another algorithm, or with other parameters. */
    isOutdated(record: string): boolean;
    /** Runs another derivation in the same queue. */
    queued<T>(work: () => Promise<T>): Promise<T>;
}

/** Whose functions they are. */
interface ProgramOwner {
    /** Calls for one database wait for each other. */
    readonly database: string;
    /** Programs share a heap only if this is the same, and their source. */
    readonly design: string;
}

/** Functions of one design document, and what they may `require`. */
interface ProgramSource {
    /** Source text of each function, by a name of the caller's. */
    readonly functions: Readonly<Record<string, string>>;
    /** What `require` finds its modules in: JSON whose strings are modules. */
    readonly modules: unknown;
}

/** As `dns.lookup` does with `all: true`. */
type Resolve = (host: string, options: {
    readonly all: true;
}, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

class Room {
    readonly leave: () => void;
    constructor(name: string, collection: Collection<JsonObject>, bytesMax: number, count: (bytes: number) => number, leave: () => void);
    /** The documents, with attachments that are counted as they are read. @throws ServiceError FULL; so does reading them */
    admit(documents: readonly JsonObject[]): Promise<readonly JsonObject[]>;
}

class Sandbox {
    constructor(options?: SandboxOptions);
    /** Equal sources of one owner share what is compiled. */
    program(source: ProgramSource, owner?: ProgramOwner): SandboxProgram;
    close(): Promise<void>;
}

interface SandboxLimits {
    /** Of one program, in all. */
    readonly memoryBytesMax: number;
    readonly stackBytesMax: number;
    /** QuickJS looks every 10,000 steps, about, whether it shall go on: so often it may look for one document. */
    readonly interruptsMax: number;
    /** For one call: QuickJS is asked to stop. */
    readonly callMsMax: number;
    /** For one call: the thread is ended. For loops inside built-in functions, where QuickJS does not look. */
    readonly threadMsMax: number;
    /** Of what one call returns, as JSON. */
    readonly resultCharsMax: number;
    /** For one document. */
    readonly rowsMax: number;
}

interface SandboxOptions {
    readonly limits?: Partial<SandboxLimits>;
    /** Called with what functions log. */
    readonly onLog?: (line: string) => void;
}

/** Functions of one design document. Each function throws a DesignFunctionError if it fails as a whole. */
class SandboxProgram {
    call(method: Method, name: string, args: readonly unknown[]): Promise<unknown>;
}

type ServedView = View<unknown, unknown, unknown, unknown>;

class ServerState implements StateStore {
    constructor(database: Database);
    get(id: string): Promise<JsonObject | undefined>;
    set(id: string, content: JsonObject): Promise<void>;
    delete(id: string): Promise<void>;
    ensure(id: string, make: () => JsonObject): Promise<JsonObject>;
}

/** Small documents that are never served. */
interface StateStore {
    get(id: string): Promise<JsonObject | undefined>;
    set(id: string, content: JsonObject): Promise<void>;
    /** What is there, or else what `make` gives, which then is there. */
    ensure(id: string, make: () => JsonObject): Promise<JsonObject>;
}

interface StoredBody {
    readonly length: number;
    /** All bytes of a range. */
    read(start: number, end: number): Promise<Uint8Array>;
    dispose(): Promise<void>;
}

type UpdateType = 'created' | 'updated' | 'deleted';

/** Who reads or writes, as functions see them. */
interface UserContext {
    readonly db: string;
    readonly name: string | null;
    readonly roles: readonly string[];
}

/** @throws ServiceError FORBIDDEN, UNAUTHENTICATED if the document is refused, or if the function fails. DesignFunctionError if it could not be run. */
type ValidateFunction = (newDocument: JsonObject, oldDocument: JsonObject | undefined, user: UserContext, security: JsonObject) => Promise<void>;

class WriteGroups {
    /** As `collection.put(document)`, with what concerns the document alone as an outcome. */
    put(collection: Collection<JsonObject>, document: JsonObject): Promise<WriteOutcome>;
}

/** The name of a built-in function of a view that there is not here. */
function unknownReduce(view: JsonObject): string | undefined;
