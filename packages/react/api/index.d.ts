// What `@pannier/react` offers. Written by `npm run api`.

export interface CountResult {
    readonly count: number | undefined;
    readonly status: LiveStatus | 'idle';
    readonly error: unknown;
}

export type CountSource = Pick<Query<object>, 'liveCount' | 'isSame'> | LiveCount;

export interface DocumentResult<Row extends object> {
    readonly document: Row | undefined;
    readonly status: LiveResult<Row>['status'];
    readonly error: unknown;
}

export interface DocumentSource<Row extends object> {
    find(selector: {
        readonly _id: string;
    }): Pick<Query<Row>, 'live' | 'isSame'>;
}

export interface LiveResult<Row extends object> {
    readonly rows: readonly Row[];
    readonly isPrevious: boolean;
    readonly status: LiveStatus | 'idle';
    readonly error: unknown;
}

export type LiveSource<Row extends object> = Pick<Query<Row>, 'live' | 'isSame'> | LiveQuery<Row>;

export interface SyncState {
    readonly status: ReplicationStatus | 'idle';
    readonly error: unknown;
    readonly progress: ReplicationProgress | undefined;
    readonly unsent: number | undefined;
}

export function useCount(query: CountSource | undefined | (() => CountSource | undefined), deps?: DependencyList): CountResult;

export function useDocument<Row extends object>(collection: DocumentSource<Row>, id: string | undefined): DocumentResult<Row>;

export function useLiveQuery<Row extends object>(query: LiveSource<Row> | undefined | (() => LiveSource<Row> | undefined), deps?: DependencyList): LiveResult<Row>;

export function useSync(db: Pick<Database, 'onChange'>, sync: Replication | undefined): SyncState;
