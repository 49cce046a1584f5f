// What `@pannier/server` offers. Written by `npm run api`.

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
    constructor(status: number, error: string, reason: string, options?: ErrorOptions);
}

export type Needs = 'anyone' | 'user' | 'member' | 'database-admin' | 'server-admin';

export interface PannierServer {
    readonly url: string | undefined;
    readonly database: Database;
    readonly app: FastifyInstance;
    listen(options?: {
        readonly port?: number;
        readonly host?: string;
    }): Promise<string>;
    close(): Promise<void>;
}

export interface ServerContext {
    readonly database: Database;
    readonly databases: Databases;
    readonly state: ServerState;
    readonly limits: ServerLimits;
    readonly metrics: Metrics;
    readonly uuid: string;
    readonly features: Set<string>;
    readonly indexes: MangoIndexes;
    readonly tasks: ActiveTasks;
    readonly updates: DatabaseUpdates;
    readonly feeds: OpenFeeds;
    readonly closing: AbortSignal;
    readonly writeGuards: WriteGuard[];
    filterSource: FilterSource;
}

export interface ServerLimits {
    readonly requestBytesMax: number;
    readonly attachmentBytesMax: number;
    readonly headerBytesMax: number;
    readonly headersMsMax: number;
    readonly requestMsMax: number;
    readonly idleMsMax: number;
    readonly stallMsMax: number;
    readonly connectionsMax: number;
    readonly feedMsMax: number;
    readonly heartbeatMsMin: number;
    readonly feedsMax: number;
    readonly closeMsMax: number;
}

export interface ServerOptions {
    readonly dir?: string;
    readonly database?: Database;
    readonly durability?: Durability;
    readonly limits?: Partial<ServerLimits>;
    readonly corsOrigins?: readonly string[];
    readonly logger?: Logger | LoggerOptions | false;
    readonly plugins?: readonly FastifyPluginAsync[];
}

export interface User {
    readonly name: string | null;
    readonly roles: readonly string[];
}

export type WriteGuard = (write: GuardedWrite) => Promise<readonly (JsonObject | HttpError)[]>;

export function createServer(options: ServerOptions): Promise<PannierServer>;

interface ActiveTask {
    update(facts: JsonObject): void;
    end(): void;
}

class ActiveTasks {
    start(type: string, facts: JsonObject): ActiveTask;
    list(): JsonObject[];
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
    since(sequence: number): DatabaseUpdate[];
    next(signal: AbortSignal): Promise<void>;
    get listeners(): number;
    close(): void;
}

class Databases {
    constructor(database: Database, state: ServerState);
    names(): Promise<string[]>;
    get(name: string): Promise<Collection<JsonObject>>;
    write<T>(name: string, run: (collection: Collection<JsonObject>) => Promise<T>): Promise<T>;
    create(name: string): Promise<void>;
    drop(name: string): Promise<void>;
    security(name: string): Promise<JsonObject | undefined>;
    setSecurity(name: string, security: JsonObject): Promise<void>;
    setRevisionsLimit(name: string, revisionsLimit: number): Promise<void>;
    close(): void;
}

type JsonObject = Record<string, unknown>;

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

class Metrics {
    readonly registry: Registry;
    readonly openFeeds: Gauge<'feed'>;
    constructor();
    observe(app: FastifyInstance): void;
}

class OpenFeeds {
    constructor(metrics: Metrics, most: number);
    get count(): number;
    enter(feed: string): () => void;
}

class ServerState {
    constructor(database: Database);
    get(id: string): Promise<JsonObject | undefined>;
    set(id: string, content: JsonObject): Promise<void>;
    delete(id: string): Promise<void>;
    ensure(id: string, make: () => JsonObject): Promise<JsonObject>;
}

type UpdateType = 'created' | 'updated' | 'deleted';
