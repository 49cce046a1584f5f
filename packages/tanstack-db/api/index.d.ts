// What `@pannier/tanstack-db` offers. Written by `npm run api`.

/** Options of TanStack DB that the app chooses. Pannier gives the others. */
export type CollectionSettings<Row extends object> = Omit<BaseCollectionConfig<Row, string>, 'getKey' | 'schema' | 'onInsert' | 'onUpdate' | 'onDelete' | 'utils'>;

/** A document as a row of TanStack DB. A row that the app inserts has an id, and gets its revision when it is stored. */
export type DocumentRow<T extends object> = T & {
    readonly _id: string;
    readonly _rev?: string;
};

/** A transaction of TanStack DB, as a `mutationFn` gets it. */
export interface Mutating {
    /** The transaction to store. */
    readonly transaction: {
        readonly mutations: readonly Mutation[];
    };
}

/** Options of `pannierClientCollectionOptions`. */
export interface PannierClientCollectionConfig<Types extends AppTypes<Types>, Name extends keyof Types & string> extends CollectionSettings<RecordRow<Types[Name]>> {
    /** The client of the app. */
    readonly client: Client<Types>;
    /** The name of the collection whose records are the rows. */
    readonly collection: Name;
}

/** Functions at `collection.utils` of a collection of a client. */
export interface PannierClientUtils extends PannierUtils {
    /**
     * The server's answer to a transaction, which may come days later. It rejects if the transaction was not stored on this device.
     *
     * @throws TypeError if the transaction has no writes of a client
     * @example
     * const answer = await tasks.utils.server(tasks.insert({ id, title: 'Buy milk' }))
     * if (answer.status === 'rejected') show(answer.rejected.message)
     */
    readonly server: (transaction: Settling) => Promise<ServerAnswer>;
}

/** Options of `pannierCollectionOptions`. */
export interface PannierCollectionConfig<T extends object> extends CollectionSettings<DocumentRow<T>> {
    /** The database of the collection. */
    readonly db: Database;
    /** The collection whose documents are the rows. */
    readonly collection: Collection<T>;
}

/** Options for `createCollection` of TanStack DB. */
export interface PannierOptions<Row extends object, Utils extends PannierUtils> extends Omit<CollectionConfig<Row, string, never, Utils>, 'utils' | 'schema'> {
    /** The functions at `collection.utils`. */
    readonly utils: Utils;
    /** A schema is declared for the collection of the database, and not here. */
    readonly schema?: never;
}

/** Functions at `collection.utils`. */
export interface PannierUtils {
    /**
     * Stores a transaction of the app, all or nothing. It may span several collections of one database.
     *
     * @example
     * const transaction = createTransaction({ mutationFn: people.utils.persist })
     */
    readonly persist: (mutating: Mutating) => Promise<void>;
}

/** A record as a row of TanStack DB. A row that the app inserts has an id, and the server fills fields later. */
export type RecordRow<Types extends CollectionTypes> = Partial<Types['record']> & Pick<Types['record'], NeededField<Types['create']> & keyof Types['record']> & {
    readonly id: string;
};

/** A transaction of TanStack DB, as `insert` and the like return it. */
export interface Settling {
    /** Resolves when the transaction is stored on this device. */
    when(state: 'settled'): Promise<unknown>;
}

/**
 * Options for a collection of TanStack DB that has the records of the account that is signed in. An optimistic write ends when it is stored on
 * this device. If the server refuses it later, the rows are as before, and `client.rejected()` has it.
 *
 * @example
 * import { createCollection } from '@tanstack/db'
 * const tasks = createCollection(pannierClientCollectionOptions({ client, collection: 'tasks' }))
 */
export function pannierClientCollectionOptions<Types extends AppTypes<Types>, Name extends keyof Types & string>({ client, collection, ...settings }: PannierClientCollectionConfig<Types, Name>): PannierOptions<RecordRow<Types[Name]>, PannierClientUtils>;

/**
 * Options for a collection of TanStack DB that has the documents of a collection. Writes of all tabs come in. An optimistic write is stored,
 * and rolled back with the error if that fails.
 *
 * @example
 * import { createCollection } from '@tanstack/db'
 * const people = createCollection(pannierCollectionOptions({ db, collection: db.collection<Person>('people') }))
 */
export function pannierCollectionOptions<T extends object>({ db, collection, ...settings }: PannierCollectionConfig<T>): PannierOptions<DocumentRow<T>, PannierUtils>;

/** A write to one row, as TanStack DB has it. */
interface Mutation {
    readonly collection: {
        readonly id: string;
    };
    readonly type: 'insert' | 'update' | 'delete';
    readonly key: unknown;
    /** The row after the write. */
    readonly modified: unknown;
    /** The fields that the write changes. */
    readonly changes: unknown;
}

/** The names of fields that a new record needs. */
type NeededField<Create> = {
    [Name in keyof Create]-?: object extends Pick<Create, Name> ? never : Name;
}[keyof Create];
