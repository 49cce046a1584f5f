// What `@pannier/svelte` offers. Written by `npm run api`.

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

/** A value that is read where it is shown. */
export interface Current<Value> {
    /** The value now. */
    readonly current: Value;
}

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

/** A value, or a function that reads it: a signal, an accessor, a getter. */
export type Given<Value> = Value | (() => Value);

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

/** The tabs of an app. */
export interface TabsState {
    /** How many tabs show this, with this one. Undefined until they are counted, and where a page has no locks. */
    readonly tabs: number | undefined;
    /** Whether this tab leads. One tab does, for work that only one must do. For a moment two may lead. */
    readonly leads: boolean;
}

/**
 * The answer of `client.can`: whether the rules admit a write. Undefined until it is known, and where that can't be
 * known on this device.
 *
 * @example
 * const mayUpdate = createCan(client, () => ['update', task])
 * const isLocked = () => mayUpdate.current === false
 */
export function createCan<const Question extends readonly unknown[]>(client: Given<CanSource<Question>>, question: Given<Question>): Current<boolean | undefined>;

/**
 * How many documents match a query, whatever its skip and limit. Cheap where `count()` is.
 *
 * @example
 * const unread = createCount(messages.find({ read: false }))
 * const text = () => `${unread.count} new`
 */
export function createCount(query: Given<CountSource | undefined>, options?: LiveOptions<number>): CountResult;

/**
 * The document with this id as it is now. Without a collection or an id nothing is asked for.
 *
 * @example
 * const person = createDocument(people, () => id)
 * const name = () => person.document?.name
 */
export function createDocument<Row extends object>(collection: Given<DocumentSource<Row> | undefined>, id: Given<string | undefined>, options?: LiveOptions<Row>): DocumentResult<Row>;

/**
 * A document with what is typed into it. An input that is bound to a document of the database would lose letters. The document
 * comes back a moment after it was written. A draft shows each letter at once, until the document has it or somebody else changes the
 * field. A document with another id has another draft.
 *
 * @param save Gets the fields that were changed since its last success, and the id of the document that they belong to. It is not
 *   called again while its promise is pending.
 * @example
 * const form = createDraft(ann, (fields, id) => people.update(id, fields))
 * const onCity = (city: string): void => form.change({ city })
 */
export function createDraft<Row extends object>(document: Given<Row | undefined>, save: Save<Row>): Draft<Row>;

/**
 * The rows of a query as they are now, through whichever tab they came. The query is live while a template or an effect reads it. While another
 * query loads, the rows of the one before stay, and `isPrevious` is true.
 *
 * @param query A query, or a function that makes it from what is reactive. Undefined: nothing is asked for yet. A `LiveQuery` is shown as
 *   well; who has started it closes it.
 * @example
 * const list = createLiveQuery(() => people.find({ city }).sort('name'))
 * const names = () => list.rows.map(({ name }) => name)
 */
export function createLiveQuery<Row extends object>(query: Given<LiveSource<Row> | undefined>, options?: LiveOptions<readonly Row[]>): LiveResult<Row>;

/**
 * The writes of a client that the server has refused, the oldest first.
 *
 * @example
 * const refused = createRejected(client)
 * const messages = () => refused.current.map(({ message }) => message)
 */
export function createRejected<Rejected>(client: Given<RejectedSource<Rejected>>): Current<readonly Rejected[]>;

/**
 * How a replication is, and how many changes of this device it has not sent yet, also while there is no network. It does not end the
 * replication: its creator does.
 *
 * @param db The database of the replication, whose commits change what is not sent.
 * @param replication Undefined: no replication yet.
 * @example
 * const sync = db.sync('https://example.org', { collections: ['notes'], live: true }) // outside of components
 * const replication = createReplication(db, sync)
 * const text = () => `${replication.status}, ${replication.unsent} wait`
 */
export function createReplication(db: Pick<Database, 'subscribe'>, replication: Given<Replication | undefined>): ReplicationState;

/**
 * The state of a client of `@pannier/client`: who is signed in, how its sync is, and how much waits.
 *
 * @example
 * const state = createSync(client)
 * const waits = () => state.current.unsent > 0
 */
export function createSync<State extends object>(client: Given<StateSource<State>>): Current<State>;

/**
 * The tabs of this origin that show a component with this, and whether this one leads: for work that only one of them must do. All components
 * of a page are one tab. `name` names the app.
 *
 * @example
 * const app = createTabs('shop')
 * const text = () => `open ${app.tabs} times${app.leads ? ', and this one leads' : ''}`
 */
export function createTabs(name: Given<string>): TabsState;

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

/** How a live value is. */
interface LiveState {
    /** Whether the value is still that of the query before, or the initial one, as this query is loading. */
    readonly isPrevious: boolean;
    /** The status of the query: 'idle' without one. */
    readonly status: LiveStatus | 'idle';
    /** The error, with the status 'failed'. */
    readonly error: unknown;
}
