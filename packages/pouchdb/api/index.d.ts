// What `pouchdb-adapter-pannier` offers. Written by `npm run api`.

/** Options of `new PouchDB(name, options)` with the adapter `pannier`, beside PouchDB's own. */
export interface PannierAdapterOptions {
    /**
     * Where to keep the database: `memory()`, `opfs()`, `sqlite()`, … of `pannier`. By default IndexedDB in a browser, and an SQLite file in
     * Node, with the name as its path.
     */
    readonly storage?: OpenOptions['storage'];
    /** Encrypts a new database, and opens one that is encrypted. */
    readonly encryption?: OpenOptions['encryption'];
    /** 'strict': a write that has succeeded survives a loss of power too. 'relaxed' by default. */
    readonly durability?: OpenOptions['durability'];
    /** Memory for cached pages. */
    readonly cacheBytesMax?: OpenOptions['cacheBytesMax'];
}

/**
 * The plug-in that gives PouchDB the adapter `pannier`, which is from then on its preferred one if no other came before.
 *
 * @example
 * import { pannierAdapter } from 'pouchdb-adapter-pannier'
 * PouchDB.plugin(pannierAdapter)
 * const db = new PouchDB('shop', { adapter: 'pannier' })
 */
export function pannierAdapter(PouchDB: object): void;
