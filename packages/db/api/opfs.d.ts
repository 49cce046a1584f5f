// What `pannier/opfs` offers. Written by `npm run api`.

import type {
  Database,
  DatabaseStorage,
  OpenOptions,
} from 'pannier'

export interface OpfsDestroyOptions extends DestroyOptions, Pick<OpfsOptions, 'worker'> {
}

export interface OpfsOpenOptions<Schemas extends object = Record<string, unknown>> extends OpenOptions<Schemas>, Pick<OpfsOptions, 'worker'> {
}

export interface OpfsOptions {
    /**
     * Starts the worker, whose script is `pannier/opfs-worker`. Give it if your bundler does not find the script, or it
     * comes from another place. A dedicated worker does not call it: it reads and writes the files itself.
     */
    readonly worker?: () => Worker;
    /** Taken where a browser has no private file system, or no workers. It is asked for before anything is opened. */
    readonly fallback?: DatabaseStorage;
}

/**
 * Destroys a database wherever it is; does nothing if it does not exist. As `destroy` of `pannier` with `storage`, or
 * not in a browser.
 */
export function destroy(name: string, options?: OpfsDestroyOptions): Promise<void>;

/**
 * As `open` of `pannier`, but it picks the storage. An existing database is opened where it is. A new one goes to the
 * private file system if the page may use it, else to IndexedDB. `db.storage` says which; `db.moveTo` moves it. Outside
 * browsers it is `open` of `pannier`.
 *
 * @param options `storage` overrides; `worker` is as for `opfs`.
 * @throws as `open`; PANNIER_UNAVAILABLE if it is in the file system and the worker can't be started; PANNIER_EXISTS if there is one of that
 *   name in each storage, made apart.
 * @example
 * import { open, opfs } from 'pannier/opfs'
 * let db = await open('shop')
 * if (db.storage === 'indexeddb' && (await user.wantsItFaster())) {
 *   await db.moveTo(opfs())
 *   db = await open('shop')
 * }
 */
export function open<Schemas extends object = object>(name: string, options?: OpfsOpenOptions<Schemas>): Promise<Database<Schemas>>;

/** The files of a browser's private file system, as a storage. @throws TypeError for an unknown option. */
export function opfs(options?: OpfsOptions): DatabaseStorage;

/** Options of `destroy`. */
interface DestroyOptions {
    /** Where it is kept; as for `open`. */
    readonly storage?: DatabaseStorage;
}
