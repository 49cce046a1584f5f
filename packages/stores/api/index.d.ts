// What `@pannier/stores` offers. Written by `npm run api`.

/** The kind of a query's count. */
export const COUNT: LiveKind<number, CountResult>;

/** A client of `@pannier/client`. */
export interface CanSource<Question extends readonly unknown[]> {
    /** Calls back with the answer, soon, and when it is another one. The function returned ends it. */
    subscribeCan(question: Question, listener: (answer: boolean | undefined) => void): () => void;
}

/** A database, or a client of `@pannier/client`. */
export interface CommitSource {
    /** Calls back after each commit. The function returned ends it. */
    subscribe(listener: () => void): () => void;
}

/** The part of a query that a store of its count needs. */
export interface CountQuery {
    /** Makes the count live. */
    liveCount(): Live<number>;
    /** Whether the other query is the same: it asks for the same. */
    isSame(other: never): boolean;
}

/** The count of the documents that match a query. */
export interface CountResult extends LiveState {
    /** The count. Undefined until it is there. */
    readonly count: number | undefined;
}

/** A query whose count is to be live while a component shows it, or a count that is live already and that its owner closes. */
export type CountSource = CountQuery | Live<number>;

/** A document of a collection. */
export interface DocumentResult<Row extends object> extends LiveState {
    /** Undefined while it is loading, and for a missing document: `status` says which. */
    readonly document: Row | undefined;
}

/** The part of a collection that a document needs. */
export interface DocumentSource<Row extends object> {
    /** A query on the collection. */
    find(selector: {
        readonly _id: string;
    }): RowsQuery<Row>;
}

/** A document with what is typed into it. */
export interface Draft<Row extends object> {
    /** The document with what is typed. Undefined while the document is. */
    readonly draft: Row | undefined;
    /** Shows these fields at once, and saves them. Without a document it does nothing. */
    change(fields: DraftFields<Row>): void;
    /** 'failed': the last save. What is typed stays. */
    readonly status: 'saved' | 'saving' | 'failed';
    /** The error of the last save, with the status 'failed'. */
    readonly error: unknown;
}

/** Fields of a document, without those of the database. */
export type DraftFields<Row extends object> = {
    [Name in keyof Row as Name extends `_${string}` ? never : Name]?: Row[Name];
};

/** The typed fields that the document does not show yet, and how their save is. */
export interface DraftState extends Pick<Draft<object>, 'status' | 'error'> {
    /** The values of the typed fields by name. Undefined: no field is typed. */
    readonly typed: object | undefined;
}

/** A store of what is typed into one document. */
export interface DraftStore<Row extends object> extends Store<DraftState> {
    /** Shows these fields at once, and saves them. */
    change(fields: DraftFields<Row>, document: Row | undefined, save: Save<Row>): void;
    /** The document shows what was typed, or what somebody else has written since. */
    shown(document: Row | undefined): void;
}

/** A value, or a function that reads it: a signal, an accessor, a getter. */
export type Given<Value> = Value | (() => Value);

/** A store, and the inputs that it is of. */
export type Kept<Of extends Store<unknown>> = Of & {
    readonly inputs: readonly unknown[];
};

/** The part of a `LiveQuery` and of a `LiveCount` that a store needs. */
export interface Live<Value> {
    /** The value. Undefined until it is there. */
    readonly value: Value | undefined;
    /** The status of the value: whether it is loaded, and up to date. */
    readonly status: LiveStatus;
    /** The error, with the status 'failed'. */
    readonly error: unknown;
    /** Calls back when the value is another one, and at the end. The function returned ends that. */
    subscribe(listener: () => void, options: {
        readonly onEnd: (error: unknown) => void;
    }): () => void;
    /** Closes the live value. */
    close(): void;
}

/** The way to make a source live, and what is shown of that. */
export interface LiveKind<Value, Result extends LiveState> {
    /** The method that makes a source live. */
    readonly method: 'live' | 'liveCount';
    /** While another source loads, the value of the one before is shown. So a list doesn't collapse while its next page loads. */
    readonly keepsPrevious: boolean;
    /** The result that a component shows, from the value and the state. */
    readonly result: (value: Value | undefined, state: LiveState) => Result;
}

/** Options of what shows a live value. */
export interface LiveOptions<Initial> {
    /** The initial value: what a server has read. It is shown until the first own value is there, on the server too. */
    readonly initial?: Initial | undefined;
}

/** The rows of a query. */
export interface LiveResult<Row extends object> extends LiveState {
    /** The rows, none until they are there. A new array each time they change; a row that did not change is the same object. */
    readonly rows: readonly Row[];
}

/** A query that is to be live while a component shows it, or one that is live already and that its owner closes. */
export type LiveSource<Row extends object> = RowsQuery<Row> | Live<readonly Row[]>;

/** How a live value is. */
export interface LiveState {
    /** Whether the value is still that of the query before, or the initial one, as this query is loading. */
    readonly isPrevious: boolean;
    /** The status of the query: 'idle' without one. */
    readonly status: LiveStatus | 'idle';
    /** The error, with the status 'failed'. */
    readonly error: unknown;
}

/** A store of one source. */
export interface LiveStore<Value, Result extends LiveState> extends Store<Result> {
    /** Undefined: nothing is asked for. */
    readonly source: object | undefined;
    /** The result before anything is live: on a server, and in the page that takes over from it. */
    readonly onServer: Result;
    /** The value that is shown. */
    readonly value: () => Value | undefined;
}

/** A client of `@pannier/client`. */
export interface RejectedSource<Rejected> {
    /** Calls back with the refused writes, soon, and when they are others. The function returned ends it. */
    subscribeRejected(listener: (rejected: readonly Rejected[]) => void): () => void;
}

/** How a replication is. */
export interface ReplicationState {
    /** The status of the replication: 'idle' without one. */
    readonly status: ReplicationStatus | 'idle';
    /** The error for which it waits to try again, or has failed. */
    readonly error: unknown;
    /** The status of all parts together; undefined without a replication. */
    readonly progress: ReplicationProgress | undefined;
    /** Changes here that are not sent yet, also while there is no network. Undefined until they are counted. */
    readonly unsent: number | undefined;
}

/** The part of a query that a store of its rows needs. */
export interface RowsQuery<Row extends object> {
    /** Makes the query live. */
    live(): Live<readonly Row[]>;
    /** Whether the other query is the same: it asks for the same. */
    isSame(other: never): boolean;
}

/** Saves the fields that were changed into the document with this id. The form may show another one by then. */
export type Save<Row extends object> = (fields: DraftFields<Row>, id: string) => unknown;

/** The part of a collection that a search needs. */
export interface SearchSource<Row extends object, Options extends object> extends DocumentSource<Row> {
    /** The documents with the words of a text. */
    search(text: string, options?: Options): {
        limit(rows: number): {
            toArray(): Promise<Row[]>;
        };
    };
}

/** A client of `@pannier/client`. */
export interface StateSource<State> {
    /** Another object when something has changed. */
    readonly state: State;
    /** Calls back with it, soon, and when it is another one. The function returned ends it. */
    subscribeState(listener: (state: State) => void): () => void;
}

/** A state that a component shows. */
export interface Store<State> {
    /** The state now: the same object until something in it changes. */
    readonly read: () => State;
    /** Calls back when the state is another one. The first listener begins it, and the end of the last one ends it. */
    readonly subscribe: (listener: () => void) => () => void;
}

/** The tabs of an app. */
export interface TabsState {
    /** How many tabs show this, with this one. Undefined until they are counted, and where a page has no locks. */
    readonly tabs: number | undefined;
    /** Whether this tab leads. One tab does, for work that only one must do. For a moment two may lead. */
    readonly leads: boolean;
}

/** The kind of a document: never that of the id before. */
export function documentKind<Row extends object>(): LiveKind<readonly Row[], DocumentResult<Row>>;

/** The document with what is typed, and how the save of that is. */
export function draftOf<Row extends object>(document: Row | undefined, { typed, status, error }: DraftState): Omit<Draft<Row>, 'change'>;

/** The value that is given. */
export function given<Value extends object | string | undefined>(value: Given<Value>): Value;

/**
 * The documents with the words of a text, the best first, for a hook that shows rows. It asks again after each commit of `db`. Without
 * words nothing is asked for.
 *
 * @param options As `collection.search` takes them, and `limit`, the highest number of rows: 20 by default.
 * @example
 * const query = liveSearch(db, people, 'ann lee', { limit: 10 })
 */
export function liveSearch<Row extends object, Options extends object>(db: CommitSource, collection: SearchSource<Row, Options>, text: string, options?: Options & {
    readonly limit?: number;
}): RowsQuery<Row> | undefined;

/** The store of the answer of `client.can`. */
export function nextCan<Question extends readonly unknown[]>(before: Kept<Store<boolean | undefined>> | undefined, client: CanSource<Question>, question: Question): Kept<Store<boolean | undefined>>;

/** The store of a document: `before`, if that is of the same document. */
export function nextDraft<Row extends object>(before: Kept<DraftStore<Row>> | undefined, document: Row | undefined): Kept<DraftStore<Row>>;

/** The store of the source that a component gives, derived from the store before. */
export function nextLive<Value, Result extends LiveState>(hook: string, source: Given<object | undefined>, kind: LiveKind<Value, Result>, initial: Value | undefined): (before: LiveStore<Value, Result> | undefined) => LiveStore<Value, Result>;

/** The store of the writes that the server has refused. */
export function nextRejected<Rejected>(before: Kept<Store<readonly Rejected[]>> | undefined, client: RejectedSource<Rejected>): Kept<Store<readonly Rejected[]>>;

/** The store of a replication. Commits of `db` change what is not sent. */
export function nextReplication(before: Kept<Store<ReplicationState>> | undefined, db: Pick<Database, 'subscribe'>, replication: Replication | undefined): Kept<Store<ReplicationState>>;

/** The store of the state of a client: who is signed in, how its sync is, and how much waits. */
export function nextState<State>(before: Kept<Store<State>> | undefined, client: StateSource<State>): Kept<Store<State>>;

/**
 * The store of a source. It is `before` if the source asks for the same. `initial` is shown until the first source has a value: rows that a
 * server has rendered.
 */
export function nextStore<Value, Result extends LiveState>(before: LiveStore<Value, Result> | undefined, source: object | undefined, kind: LiveKind<Value, Result>, initial?: Value): LiveStore<Value, Result>;

/** The store of the tabs that have the same name. With an environment it is that of a tab of its own. */
export function nextTabs(before: Kept<Store<TabsState>> | undefined, name: string, environment?: Environment): Kept<Store<TabsState>>;

/** Each part of a state, made by `make`. */
export function partsOf<State extends object, Made>(state: State, make: (name: keyof State & string) => Made): Record<keyof State & string, Made>;

/** The kind of a query's rows. */
export function rowsKind<Row extends object>(): LiveKind<readonly Row[], LiveResult<Row>>;

/**
 * The source that a component gives: itself, or by a function.
 *
 * @throws TypeError
 */
export function sourceOf<Source extends object>(hook: string, source: Given<Source | undefined>, { method }: Pick<LiveKind<unknown, LiveState>, 'method'>): Source | undefined;

/** An object whose parts are read when they are asked for. */
export function viewOf<State extends object>(read: () => State): State;
