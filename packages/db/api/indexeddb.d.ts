// What `pannier/indexeddb` offers. Written by `npm run api`.

import type {
  DatabaseStorage,
} from 'pannier'

/** Databases in IndexedDB, the default in browsers. */
export function indexedDb(options?: IndexedDbOptions): DatabaseStorage;

interface IndexedDbOptions {
    /** How long the browser may take to open or delete a database before it counts as failed. Default 10,000. */
    readonly openMsMax?: number;
}
