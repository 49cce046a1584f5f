// What `@pannier/server` offers. Written by `npm run api`.

export interface AuthOptions {
    readonly sessionMsMax?: number;
    readonly sameSite?: 'Strict' | 'Lax' | 'None';
    readonly secureCookies?: boolean;
    readonly corsOrigins?: readonly string[];
    readonly passwordCharsMin?: number;
    readonly signUp?: boolean;
    readonly loginLimits?: Partial<LoginLimits>;
    readonly hashLimits?: Partial<HashQueueLimits>;
    readonly now?: () => number;
}

export interface ChangeFilter {
    accepts(documents: readonly JsonObject[]): Promise<readonly boolean[]>;
    dispose(): void;
}

export const DEFAULT_LIMITS: ServerLimits;

export interface FilterRequest {
    readonly request: FastifyRequest;
    readonly database: string;
    readonly collection: Collection<JsonObject>;
    readonly filter: string;
    readonly view: string | undefined;
}

export type FilterSource = (request: FilterRequest) => Promise<ChangeFilter>;

export interface GuardedWrite {
    readonly request: FastifyRequest;
    readonly database: string;
    readonly collection: Collection<JsonObject>;
    readonly documents: readonly JsonObject[];
    readonly newEdits: boolean;
}

export class HttpError extends Error {
    readonly status: number;
    readonly error: string;
    readonly reason: string;
    readonly retryAfterSeconds?: number;
    constructor(status: number, error: string, reason: string, options?: ErrorOptions);
}

export interface ListenOptions {
    readonly port?: number;
    readonly host?: string;
}

export type Needs = 'anyone' | 'user' | 'member' | 'database-admin' | 'server-admin';

export interface NewAdmin {
    readonly name: string;
    readonly password: string;
}

export interface PannierServer {
    readonly url: string | undefined;
    readonly database: Database;
    readonly newAdmin: NewAdmin | undefined;
    readonly app: FastifyInstance;
    listen(options?: ListenOptions): Promise<string>;
    close(): Promise<void>;
}

export interface ReplicatorOptions {
    readonly hosts?: readonly string[];
    readonly runningMax?: number;
    readonly turnMs?: number;
    readonly retryMsMin?: number;
    readonly retryMsMax?: number;
    readonly backOff?: (delayMs: number) => number;
    readonly resolve?: Resolve;
}

export interface ServerContext {
    readonly database: Database;
    readonly databases: Databases;
    readonly state: ServerState;
    readonly auth: Auth;
    readonly limits: ServerLimits;
    readonly metrics: Metrics;
    readonly bodies: BodyStore;
    readonly uuid: string;
    readonly features: Set<string>;
    readonly indexes: MangoIndexes;
    readonly designs: DesignDocuments;
    readonly tasks: ActiveTasks;
    readonly updates: DatabaseUpdates;
    readonly feeds: OpenFeeds;
    readonly closing: AbortSignal;
    readonly writeGuards: WriteGuard[];
    filterSource: FilterSource;
}

export interface ServerLimits {
    readonly requestBytesMax: number;
    readonly documentBytesMax: number;
    readonly attachmentBytesMax: number;
    readonly uploadBytesMax: number;
    readonly databaseBytesMax: number;
    readonly headerBytesMax: number;
    readonly headersMsMax: number;
    readonly requestMsMax: number;
    readonly idleMsMax: number;
    readonly stallMsMax: number;
    readonly connectionsMax: number;
    readonly feedMsMax: number;
    readonly heartbeatMsMin: number;
    readonly feedsMax: number;
    readonly feedsPerUserMax: number;
    readonly closeMsMax: number;
}

export interface ServerOptions {
    readonly dir?: string;
    readonly encryption?: OpenOptions['encryption'];
    readonly database?: Database;
    readonly history?: boolean;
    readonly durability?: Durability;
    readonly limits?: Partial<ServerLimits>;
    readonly admin?: string;
    readonly auth?: Omit<AuthOptions, 'corsOrigins' | 'secureCookies' | 'now'>;
    readonly secureCookies?: boolean;
    readonly trustProxy?: boolean | string | readonly string[];
    readonly allowedHosts?: readonly string[];
    readonly corsOrigins?: readonly string[];
    readonly replication?: ReplicatorOptions;
    readonly adminUi?: string;
    readonly logger?: Logger | LoggerOptions | false;
    readonly plugins?: readonly FastifyPluginAsync[];
}

export interface User {
    readonly name: string | null;
    readonly roles: readonly string[];
}

export type WriteGuard = (write: GuardedWrite) => GuardedDocuments | Promise<GuardedDocuments>;

export function createServer(options: ServerOptions): Promise<PannierServer>;

interface Account extends User {
    readonly name: string;
    readonly salt: string;
    readonly isAdmin: boolean;
    readonly credentials: JsonObject;
}

class Accounts {
    constructor(host: AuthHost, passwords: Passwords, passwordCharsMin: number);
    find(name: string): Promise<Account | undefined>;
    verify(name: string, password: string): Promise<Account | undefined>;
    credentials(password: unknown): Promise<JsonObject>;
    adminNames(): Promise<string[]>;
    setAdmin(name: string, password: string): Promise<void>;
    removeAdmin(name: string): Promise<void>;
    endSessions(name: string): Promise<void>;
    close(): void;
}

interface ActiveTask {
    update(facts: JsonObject): void;
    end(): void;
}

class ActiveTasks {
    start(type: string, facts: JsonObject): ActiveTask;
    list(): JsonObject[];
}

type Algorithm = 'argon2id' | 'scrypt';

class Auth {
    readonly accounts: Accounts;
    readonly options: AuthOptions;
    readonly allowedOrigins: ReadonlySet<string>;
    readonly sessionMsMax: number;
    readonly guard: WriteGuard;
    static open(host: AuthHost, signingKey: Buffer, options?: AuthOptions): Promise<Auth>;
    identify(request: FastifyRequest): Promise<Identity>;
    identityOf(request: FastifyRequest): Identity;
    logIn(request: FastifyRequest, name: string, password: string): Promise<Account>;
    isSignUp({ method, routeOptions, params, ip }: FastifyRequest, user: User): boolean;
    cookieFor({ name, salt }: Account, id?: string): string;
    isRenewalDue({ issuedMs }: Identity): boolean;
    endSession({ sessionId }: Identity): Promise<void>;
    check(user: User, needs: Needs, database: string | undefined, documentId?: string): Promise<void>;
    whileAllowed(request: FastifyRequest, needs: Needs, database: string | undefined, revoked: (error: HttpError) => void): () => void;
    get version(): number;
    checkAgain(request: FastifyRequest, needs: Needs, database: string | undefined, documentId?: string): Promise<User>;
    close(): void;
}

interface AuthHost {
    readonly database: Database;
    readonly state: StateStore;
    readonly users: Collection<JsonObject>;
    security(database: string): Promise<JsonObject | undefined>;
}

class BodyStore {
    constructor(folder: string, limits?: Partial<BodyStoreLimits>);
    receive(pieces: AsyncIterable<Uint8Array>, look: (piece: Uint8Array) => void): Promise<StoredBody>;
}

interface BodyStoreLimits {
    readonly memoryBytesMax: number;
    readonly sharedBytesMax: number;
    readonly fileBytesMax: number;
}

interface DatabaseUpdate {
    readonly sequence: number;
    readonly name: string;
    readonly type: UpdateType;
}

class DatabaseUpdates {
    readonly epoch: string;
    constructor(database: Database, names: readonly string[]);
    get lastSequence(): number;
    created(name: string): void;
    deleted(name: string): void;
    sequenceOf(name: string): number;
    since(sequence: number): DatabaseUpdate[];
    next(signal: AbortSignal): Promise<void>;
    get listeners(): number;
    close(): void;
}

class Databases {
    readonly groups: WriteGroups;
    constructor(database: Database, state: ServerState, { bytesMax, history }?: DatabasesOptions);
    names(): Promise<string[]>;
    get(name: string): Promise<Collection<JsonObject>>;
    write<T>(name: string, run: (collection: Collection<JsonObject>, room: Room) => Promise<T>): Promise<T>;
    create(name: string): Promise<void>;
    ensure(name: string): Promise<void>;
    drop(name: string): Promise<void>;
    security(name: string): Promise<JsonObject | undefined>;
    setSecurity(name: string, security: JsonObject): Promise<void>;
    setRevisionsLimit(name: string, revisionsLimit: number): Promise<void>;
    setHistory(name: string, history: boolean): Promise<void>;
    close(): void;
}

interface DatabasesOptions {
    readonly bytesMax?: number;
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
    all(collection: Collection<JsonObject>): Promise<ReadonlyMap<string, Design>>;
    get(collection: Collection<JsonObject>, id: string): Promise<Design>;
    view(collection: Collection<JsonObject>, id: string, name: string): Promise<FoundView>;
    check(document: JsonObject, what: 'all' | 'validation', database: string): Promise<void>;
    changed({ name }: {
        readonly name: string;
    }): void;
    dropViews(collection: Collection<JsonObject>, previous: JsonObject, next: JsonObject | undefined): Promise<void>;
    close(): void;
}

type DesignFilter = (documents: readonly JsonObject[], request: FilterContext) => Promise<boolean[]>;

interface DesignFunctions {
    readonly views: ReadonlyMap<string, DesignView>;
    readonly filters: ReadonlyMap<string, DesignFilter>;
    readonly validate: ValidateFunction | undefined;
    check(what: 'all' | 'validation'): Promise<void>;
}

interface DesignLog {
    warn(details: JsonObject, message: string): void;
}

interface DesignView {
    readonly definition: DesignViewDefinition;
    readonly unknownReduce: string | undefined;
    emits(documents: readonly JsonObject[]): Promise<boolean[]>;
}

type DesignViewDefinition = ViewDefinition<JsonObject, unknown, unknown, BuiltInReduce | ReduceFunction | undefined>;

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

interface FoundView {
    readonly collection: Collection<JsonObject>;
    readonly definition: DesignViewDefinition;
    readonly view: ServedView;
}

type GuardedDocuments = readonly (JsonObject | HttpError)[];

class HashQueue {
    constructor(limits?: Partial<HashQueueLimits>);
    run<T>(work: () => Promise<T>): Promise<T>;
}

interface HashQueueLimits {
    readonly concurrencyMax: number;
    readonly waitingMax: number;
}

interface Identity {
    readonly user: User;
    readonly by: 'cookie' | 'default' | undefined;
    readonly account: Account | undefined;
    readonly sessionId: string | undefined;
    readonly issuedMs: number | undefined;
}

type JsonObject = Record<string, unknown>;

interface LoginLimits {
    readonly windowMs: number;
    readonly sameMax: number;
    readonly addressMax: number;
    readonly nameMax: number;
}

interface MangoField {
    readonly path: string;
    readonly descending: boolean;
}

interface MangoIndex {
    readonly designId: string;
    readonly name: string;
    readonly fields: readonly MangoField[];
    readonly partialFilter: JsonObject | undefined;
}

class MangoIndexes {
    constructor(database: Database, log: Pick<Logger, 'warn'>);
    settled(_name: string, collection: Collection<JsonObject>): Promise<readonly MangoIndex[]>;
    built(name: string, collection: Collection<JsonObject>): Promise<void>;
    changed(collection: Collection<JsonObject>): void;
    close(): void;
}

type Method = 'check' | 'map' | 'reduce' | 'filter' | 'emits' | 'validate';

class Metrics {
    readonly registry: Registry;
    readonly openFeeds: Gauge<'feed'>;
    constructor();
    observe(app: FastifyInstance): void;
}

class OpenFeeds {
    constructor(metrics: Metrics, most: number, mostOfUser: number);
    get count(): number;
    enter(feed: string, request: Pick<FastifyRequest, 'user' | 'ip'>): () => void;
}

class Passwords {
    constructor(queue?: HashQueue, algorithm?: Algorithm);
    hash(password: string): Promise<string>;
    verify(record: string, password: string): Promise<boolean>;
    waste(password: string): Promise<void>;
    isOutdated(record: string): boolean;
    queued<T>(work: () => Promise<T>): Promise<T>;
}

interface ProgramOwner {
    readonly database: string;
    readonly design: string;
}

interface ProgramSource {
    readonly functions: Readonly<Record<string, string>>;
    readonly modules: unknown;
}

type Resolve = (host: string, options: {
    readonly all: true;
}, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

class Room {
    readonly leave: () => void;
    constructor(name: string, collection: Collection<JsonObject>, bytesMax: number, count: (bytes: number) => number, leave: () => void);
    admit(documents: readonly JsonObject[]): Promise<readonly JsonObject[]>;
}

class Sandbox {
    constructor(options?: SandboxOptions);
    program(source: ProgramSource, owner?: ProgramOwner): SandboxProgram;
    close(): Promise<void>;
}

interface SandboxLimits {
    readonly memoryBytesMax: number;
    readonly stackBytesMax: number;
    readonly interruptsMax: number;
    readonly callMsMax: number;
    readonly threadMsMax: number;
    readonly resultCharsMax: number;
    readonly rowsMax: number;
}

interface SandboxOptions {
    readonly limits?: Partial<SandboxLimits>;
    readonly onLog?: (line: string) => void;
}

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

interface StateStore {
    get(id: string): Promise<JsonObject | undefined>;
    set(id: string, content: JsonObject): Promise<void>;
    ensure(id: string, make: () => JsonObject): Promise<JsonObject>;
}

interface StoredBody {
    readonly length: number;
    read(start: number, end: number): Promise<Uint8Array>;
    dispose(): Promise<void>;
}

type UpdateType = 'created' | 'updated' | 'deleted';

interface UserContext {
    readonly db: string;
    readonly name: string | null;
    readonly roles: readonly string[];
}

type ValidateFunction = (newDocument: JsonObject, oldDocument: JsonObject | undefined, user: UserContext, security: JsonObject) => Promise<void>;

class WriteGroups {
    put(collection: Collection<JsonObject>, document: JsonObject): Promise<WriteOutcome>;
}

function unknownReduce(view: JsonObject): string | undefined;
