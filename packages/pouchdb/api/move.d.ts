// What `pouchdb-adapter-pannier/move` offers. Written by `npm run api`.

/** The methods of a PouchDB database that a move calls; `replicate` comes with the plug-in pouchdb-replication, and with `pouchdb`. */
export interface MovableDatabase {
    /** The name, for errors. */
    readonly name: string;
    /** The methods of pouchdb-replication. */
    readonly replicate: {
        /** Copies what the target lacks. */
        to(target: MovableDatabase, options: object): Copying;
    };
    /** The id that the database was made with. */
    id(): Promise<string>;
    /** The facts of the database, with the newest sequence. */
    info(): Promise<{
        readonly update_seq: unknown;
    }>;
    /** The change feed. */
    changes(options: object): PromiseLike<{
        readonly results: readonly {
            readonly id: string;
            readonly changes: readonly {
                readonly rev: string;
            }[];
        }[];
        readonly last_seq: unknown;
    }>;
    /** Revisions with their content. */
    bulkGet(options: object): Promise<{
        readonly results: readonly FoundRevisions[];
    }>;
    /** Deletes the database. */
    destroy(): Promise<unknown>;
}

/** Options of `movePouch`. */
export interface MoveOptions {
    /** Deletes the source when both are the same. False by default. */
    readonly deleteSource?: boolean;
    /** Documents that are copied at a time, 500 by default. */
    readonly batchSize?: number;
    /** Called with the part that is done, 0 to 1. */
    readonly onProgress?: (done: number) => void;
    /** Stops the copy of documents. The next move continues where it was. */
    readonly signal?: AbortSignal;
}

/**
 * Copies all documents with their conflicts, tombstones and attachments, and compares the two databases. A move that was interrupted
 * continues where it was. Local documents (`_local/…`) stay behind, because no adapter lists them. So do the contents of replaced revisions.
 *
 * @throws PouchDB's errors. `not_the_same`: a document is not the same in both, as the source was written meanwhile, say. Nothing is deleted
 *   then.
 * @example
 * const old = new PouchDB('shop', { adapter: 'idb' })
 * const db = new PouchDB('shop', { adapter: 'pannier' })
 * await movePouch(old, db, { deleteSource: true, onProgress: (done) => show(done) })
 */
export function movePouch(source: MovableDatabase, target: MovableDatabase, options?: MoveOptions): Promise<void>;

interface Copying extends PromiseLike<unknown> {
    /** Called after each batch of documents. */
    on(event: 'change', listener: (result: {
        readonly last_seq: unknown;
    }) => void): unknown;
    /** Stops the replication. */
    cancel(): void;
}

interface FoundRevisions {
    /** The id of the document. */
    readonly id: string;
    /** A document for each revision, or an error. */
    readonly docs: readonly object[];
}
