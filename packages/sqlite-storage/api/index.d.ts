// What `@pannier/sqlite-storage` offers. Written by `npm run api`.

/** The part of `ctx.storage` of a Durable Object that a database uses. */
export interface DurableObjectStorage {
    /** The object's SQLite. */
    readonly sql: {
        exec(sql: string, ...parameters: unknown[]): {
            toArray(): SqliteRow[];
            readonly rowsWritten: number;
        };
        readonly databaseSize: number;
    };
    /** Runs the body in one transaction; what it throws rolls it back. */
    transactionSync<T>(body: () => T): T;
    /** Syncs: resolves when all writes of the storage are on disks. */
    sync(): Promise<void>;
}

/** The part of the module `expo-sqlite` that a database uses. */
export interface ExpoSqlite {
    /** Opens a file, or makes it. */
    openDatabaseSync(name: string): {
        getAllSync<Row>(sql: string, parameters: SqliteValue[]): Row[];
        runSync(sql: string, parameters: SqliteValue[]): {
            readonly changes: number;
        };
        closeSync(): void;
    };
    /** Deletes a file. */
    deleteDatabaseSync(name: string): void;
}

/** The part of the module `@op-engineering/op-sqlite` that a database uses. */
export interface OpSqlite {
    /** Opens a file, or makes it. */
    open(options: {
        name: string;
        location?: string;
    }): {
        executeSync(sql: string, parameters?: SqliteValue[]): {
            readonly rows: readonly SqliteRow[];
            readonly rowsAffected: number;
        };
        close(): void;
        delete(): void;
    };
}

/** An SQLite whose calls are synchronous: makes and deletes files. */
export interface SqliteDriver {
    /** The kind of storage, for people: `database.storage` gives it. */
    readonly kind: string;
    /** Opens the file of a database, or makes it. */
    open(name: string): SqliteFile;
    /** Deletes the file of a database, which nobody has open. A missing file is no error. */
    destroy(name: string): void;
    /** Whether the file is there, where the driver can know without making it. */
    has?(name: string): boolean;
}

/** An open database file of an SQLite whose calls are synchronous. Each call throws where the statement fails. */
export interface SqliteFile {
    /** Runs a statement that gives rows. */
    all(sql: string, parameters: readonly SqliteValue[]): readonly SqliteRow[];
    /** Runs a statement that gives no rows, and says how many it has written. */
    run(sql: string, parameters: readonly SqliteValue[]): number;
    /** Closes the file. */
    close(): void;
}

/** A row. A blob is a `Uint8Array` or an `ArrayBuffer`. */
export type SqliteRow = Readonly<Record<string, unknown>>;

/** A parameter of a statement. */
export type SqliteValue = string | number | null | Uint8Array;

/**
 * Databases of a Durable Object, in its own SQLite.
 *
 * @example
 * import { DurableObject } from 'cloudflare:workers'
 * export class Room extends DurableObject {
 *   db = open('room', { storage: durableObject(this.ctx.storage) })
 * }
 */
export function durableObject(storage: DurableObjectStorage): DatabaseStorage;

/**
 * Databases of an Expo app, in files of `expo-sqlite`.
 *
 * @example
 * import * as SQLite from 'expo-sqlite'
 *
 * const db = await open('notes', { storage: expoSqlite(SQLite) })
 */
export function expoSqlite(module: ExpoSqlite): DatabaseStorage;

/**
 * Databases of a React Native app, in files of `@op-engineering/op-sqlite`.
 *
 * @example
 * import * as OPSQLite from '@op-engineering/op-sqlite'
 *
 * const db = await open('notes', { storage: opSqlite(OPSQLite) })
 */
export function opSqlite(module: OpSqlite): DatabaseStorage;

/**
 * Databases in files of an SQLite that you bring: a driver is an object of a few short functions.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite'
 * import { rmSync } from 'node:fs'
 *
 * const storage = sqliteStorage({
 *   kind: 'node:sqlite',
 *   open(path) {
 *     const file = new DatabaseSync(path)
 *     return {
 *       all: (sql, parameters) => file.prepare(sql).all(...parameters),
 *       run: (sql, parameters) => Number(file.prepare(sql).run(...parameters).changes),
 *       close: () => file.close(),
 *     }
 *   },
 *   destroy: (path) => rmSync(path, { force: true }),
 * })
 */
export function sqliteStorage(driver: SqliteDriver): DatabaseStorage;
