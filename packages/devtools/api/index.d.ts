// What `@pannier/devtools` offers. Written by `npm run api`.

/** A client of `@pannier/client`, whatever the types of its collections are. */
export type AnyClient = Pick<ShownClient, 'account' | 'state' | 'token' | 'subscribeState' | 'subscribeRejected'>;

/** A database of `pannier`, whatever the types of its collections are. */
export type AnyDatabase = Pick<Database, 'name' | 'closed' | 'storage'>;

/** The parts of an app that devtools show. */
export interface DevtoolsSources {
    /** Databases that the app has opened. */
    readonly databases?: readonly AnyDatabase[];
    /** Clients of a server. */
    readonly clients?: readonly AnyClient[];
    /** Replications, as `collection.sync` and `db.sync` return them. */
    readonly replications?: readonly Replication[];
}

/** Options of `offerDevtools`. */
export interface OfferOptions {
    /** The letter that opens and closes them, with Alt and Shift; 'D' by default. Null: no key does. */
    readonly key?: string | null;
    /** The look; by default that of the system. */
    readonly theme?: 'light' | 'dark';
}

/** Devtools that wait to be opened. */
export interface OfferedDevtools {
    /** Loads them, and shows them at the lower edge of the page. */
    open(): Promise<void>;
    /** Takes them out of the page. They can be opened again. */
    close(): void;
    /** Opens them if they are closed, and closes them if they are open. */
    toggle(): Promise<void>;
    /** Offers them no longer. */
    end(): void;
}

/**
 * Offers devtools: Alt+Shift+D opens and closes them, and so does the button of the browser extension. Nothing is loaded before. Without a
 * page, as on a server, it does nothing.
 *
 * @example
 * const devtools = offerDevtools({ databases: [db], clients: [client], replications: [sync] })
 * await devtools.open()
 */
export function offerDevtools(sources: DevtoolsSources, options?: OfferOptions): OfferedDevtools;

type ShownClient = Client<UntypedCollections>;
