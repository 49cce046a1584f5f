// What `pannier/opfs` offers. Written by `npm run api`.

import type {
  DatabaseStorage,
} from 'pannier'

export interface OpfsOptions {
    /**
     * Starts the worker, whose script is `pannier/opfs-worker`. Give it if your bundler does not find the script, or it
     * comes from another place. A dedicated worker does not call it: it reads and writes the files itself.
     */
    readonly worker?: () => Worker;
}

/**
 * The files of a browser's private file system, as a storage.
 *
 * @throws PANNIER_UNAVAILABLE (`open`) where the browser has no private file system, lets the page keep no files, or can't start the worker.
 * @example
 * const db = await open('shop', { storage: firstOf(opfs(), indexedDb()) })
 */
export function opfs(options?: OpfsOptions): DatabaseStorage;
