// What `@pannier/react` offers. Written by `npm run api`.

/** A client of `@pannier/client`. */
export interface CanSource<Question extends readonly unknown[]> {
    /** Calls back with the answer, soon, and when it is another one. The function returned ends it. */
    subscribeCan(question: Question, listener: (answer: boolean | undefined) => void): () => void;
}

/** The result of `useCount`. */
export interface CountResult {
    /** Undefined until it is there. */
    readonly count: number | undefined;
    /** Whether it is still that of the query before, as this one is loading. */
    readonly isPrevious: boolean;
    /** 'idle' without a query. */
    readonly status: LiveStatus | 'idle';
    /** With the status 'failed': why. */
    readonly error: unknown;
}

/** A query whose count is to be live while the component is mounted, or a count that is live already and that its owner closes. */
export type CountSource = Pick<Query<object>, 'liveCount' | 'isSame'> | LiveCount;

/** The result of `useDocument`. */
export interface DocumentResult<Row extends object> {
    /** Undefined while it is loading, and for a missing document: `status` says which. */
    readonly document: Row | undefined;
    /** Whether the document is loaded. */
    readonly status: LiveResult<Row>['status'];
    /** With the status 'failed': why. */
    readonly error: unknown;
}

/** The part of a collection that `useDocument` needs. */
export interface DocumentSource<Row extends object> {
    /** A query on the collection. */
    find(selector: {
        readonly _id: string;
    }): Pick<Query<Row>, 'live' | 'isSame'>;
}

/** The result of `useDraft`. */
export interface Draft<Row extends object> {
    /** The document with what is typed. Undefined while the document is, and nothing is typed. */
    readonly draft: Row | undefined;
    /** Shows these fields at once, and saves them. */
    change(fields: DraftFields<Row>): void;
    /** 'failed': the last save. What is typed stays. */
    readonly status: 'saved' | 'saving' | 'failed';
    /** With the status 'failed': why. */
    readonly error: unknown;
}

/** Fields of a document, without those of the database. */
export type DraftFields<Row extends object> = {
    [Name in keyof Row as Name extends `_${string}` ? never : Name]?: Row[Name];
};

/** The result of `useLiveQuery`. */
export interface LiveResult<Row extends object> {
    /** Empty until they are there. A new array each time they change; a row that did not change is the same object. */
    readonly rows: readonly Row[];
    /** Whether they are still those of the query before, as this one is loading. */
    readonly isPrevious: boolean;
    /** 'idle' without a query. */
    readonly status: LiveStatus | 'idle';
    /** With the status 'failed': why. */
    readonly error: unknown;
}

/** A query that is to be live while the component is mounted, or one that is live already and that its owner closes. */
export type LiveSource<Row extends object> = Pick<Query<Row>, 'live' | 'isSame'> | LiveQuery<Row>;

/** A client of `@pannier/client`. */
export interface RejectedSource<Rejected> {
    /** Calls back with the refused writes, soon, and when they are others. The function returned ends it. */
    subscribeRejected(listener: (rejected: readonly Rejected[]) => void): () => void;
}

/** The result of `useReplication`. */
export interface ReplicationState {
    /** 'idle' without a replication. */
    readonly status: ReplicationStatus | 'idle';
    /** Why it waits to try again, or has failed. */
    readonly error: unknown;
    /** The status of all parts together; undefined without a replication. */
    readonly progress: ReplicationProgress | undefined;
    /** Changes here that are not sent yet, also while there is no network. Undefined until they are counted. */
    readonly unsent: number | undefined;
}

/** Saves the fields that were changed. */
export type Save<Row extends object> = (fields: DraftFields<Row>) => unknown;

/** A client of `@pannier/client`. */
export interface StateSource<State> {
    /** Another object when something has changed. */
    readonly state: State;
    /** Calls back with it, soon, and when it is another one. The function returned ends it. */
    subscribeState(listener: (state: State) => void): () => void;
}

/**
 * The answer of `client.can`: whether the rules admit a write. Undefined until it is known, and where that can't be
 * known on this device. The component renders again when the answer is another one.
 *
 * @example
 * const mayUpdate = useCan(client, 'update', task)
 * const mayCreate = useCan(client, 'create', 'tasks', { project })
 */
export function useCan<Question extends readonly unknown[]>(client: CanSource<Question>, ...question: Question): boolean | undefined;

/**
 * How many documents match a query, whatever its skip and limit, as `useLiveQuery` gives its rows. Cheap where `count()` is.
 *
 * @example
 * const { count } = useCount(messages.find({ read: false }))
 */
export function useCount(query: CountSource | undefined | (() => CountSource | undefined), deps?: DependencyList): CountResult;

/**
 * The document with this id as it is now; the component renders again when it changes. Without an id nothing is asked for.
 *
 * @example
 * const { document: ann, status } = useDocument(people, 'ann')
 */
export function useDocument<Row extends object>(collection: DocumentSource<Row>, id: string | undefined): DocumentResult<Row>;

/**
 * A document with what is typed into it. An input that is bound to a document of the database would lose letters. The document
 * comes back a moment after it was written. A draft shows each letter at once, until the document has it or somebody else changes the
 * field. A document with another id has another draft.
 *
 * @param save Gets the fields that were changed since its last call. It is not called again while its promise is pending.
 * @example
 * const { draft, change } = useDraft(ann, (fields) => people.update('ann', fields))
 * const onCity = (city: string): void => change({ city })
 */
export function useDraft<Row extends object>(document: Row | undefined, save: Save<Row>): Draft<Row>;

/**
 * The rows of a query as they are now; the component renders again when they change, through whichever tab. The query is live
 * as long as the component is mounted. One that asks for the same is the same, so each render may make it. While another query loads, the
 * rows of the one before stay, and `isPrevious` is true.
 *
 * @param query A query, or a function that makes it, which is called again when one of `deps` changes (without `deps`: in each
 *   render). Undefined: nothing is asked for yet. A `LiveQuery` is shown as well; who has started it closes it.
 * @example
 * const { rows, status, error } = useLiveQuery(people.find({ city }).sort('name').limit(20))
 */
export function useLiveQuery<Row extends object>(query: LiveSource<Row> | undefined | (() => LiveSource<Row> | undefined), deps?: DependencyList): LiveResult<Row>;

/**
 * The writes of a client that the server has refused, the oldest first. The component renders again when they are others.
 *
 * @example
 * const rejected = useRejected(client)
 * const messages = rejected.map(({ message }) => message)
 */
export function useRejected<Rejected>(client: RejectedSource<Rejected>): readonly Rejected[];

/**
 * How a replication is, and how many changes of this device it has not sent yet, also while there is no network. The
 * component renders again when that changes. It does not end the replication: its creator does.
 *
 * @param db The database of the replication, whose commits change what is not sent.
 * @param replication Undefined: no replication yet.
 * @example
 * const sync = db.sync('https://example.org', { collections: ['notes'], live: true })   // outside of components
 * const { status, unsent } = useReplication(db, sync)
 */
export function useReplication(db: Pick<Database, 'subscribe'>, replication: Replication | undefined): ReplicationState;

/**
 * The state of a client of `@pannier/client`: who is signed in, how its sync is, and how much waits. The component renders again
 * when it changes.
 *
 * @example
 * const { status, unsent, rejected } = useSync(client)
 */
export function useSync<State>(client: StateSource<State>): State;
