// What `@pannier/postgres` offers. Written by `npm run api`.

/** Options of `postgres`. */
export interface PostgresOptions {
    /** The schema that holds the tables. It is made if it is missing. By default 'pannier'. */
    readonly schema?: string;
    /** Certificates and checks of TLS, as of Node's `tls.connect`. The URL's `sslmode` says whether TLS is used. */
    readonly ssl?: ConnectionOptions;
    /** How many connections this process uses for its calls, 1 to 100. By default 4. One more listens for news. */
    readonly connectionsMax?: number;
    /** How long a call waits, in milliseconds, while PostgreSQL can't be reached, as in a failover. By default 30,000. */
    readonly waitMsMax?: number;
    /** Whether servers tell one another of commits by NOTIFY. By default true. Without it they find them by `pollMs`. */
    readonly notify?: boolean;
    /** A URL for the connection that listens, where the other one leads to a pooler in transaction mode. Of several, one for each. */
    readonly listenUrl?: string | readonly string[];
    /** How often this process polls for what others have written. By default each second with NOTIFY, else every 50 ms. */
    readonly pollMs?: number;
    /** Whether statements are prepared by name. By default true. False for poolers that can't do that. */
    readonly prepare?: boolean;
}

/** A storage on PostgreSQL, and what it has cost. */
export interface PostgresStorage extends DatabaseStorage {
    /** Statements and round trips of this process so far. */
    readonly counts: {
        readonly statements: number;
        readonly trips: number;
    };
    /** The host, port and database of the PostgreSQL that has a database, without a password. Undefined: there is no such database. */
    placeOf(name: string): Promise<string | undefined>;
    /**
     * Moves a database to another PostgreSQL of this storage while servers use it. Their writes wait at the end, for less than a second
     * as a rule and for at most five. Whatever is killed meanwhile, the database is at one of both, whole. Call it again to finish.
     *
     * @param to The URL of the other PostgreSQL, as `postgres` has it.
     * @throws TypeError for a URL that is not one of this storage; PANNIER_NOT_FOUND, PANNIER_ABORTED, PANNIER_IO_FAILED. PANNIER_STALE if another
     *   move of the database has begun, or this one has stopped the writers for too long. Then nothing has happened.
     * @example
     * const storage = postgres(['postgres://app:secret@one/app', 'postgres://app:secret@two/app'])
     * await storage.move('shop', 'postgres://app:secret@two/app', { onProgress: (done) => console.log(done) })
     */
    move(name: string, to: string, options?: LongWork): Promise<void>;
}

/**
 * Keeps databases in PostgreSQL 14 or newer. Any number of processes on any machines may open one at the same time.
 *
 * The tables are made when the first database is opened. 'relaxed' commits survive the end of the process, not a crash of PostgreSQL.
 * What 'strict' survives, `synchronous_commit` of PostgreSQL says.
 *
 * @param url `postgres://user:password@host:5432/database?sslmode=require`. Several hosts are separated by commas: the first that takes
 *   writes is used. A list of URLs spreads databases over several PostgreSQLs by name. The first one knows where each database is.
 * @throws TypeError for a URL or options that are not as described. Opening fails with PANNIER_OPEN_FAILED where PostgreSQL can't be used.
 *   The message says what to do. It fails with PANNIER_FORMAT_NEWER or PANNIER_FORMAT_WRONG where the tables are not of this version.
 * @example
 * import { open } from 'pannier'
 * import { postgres } from '@pannier/postgres'
 *
 * const db = await open('shop', { storage: postgres('postgres://app:secret@127.0.0.1/app') })
 */
export function postgres(url: string | readonly string[], options?: PostgresOptions): PostgresStorage;
