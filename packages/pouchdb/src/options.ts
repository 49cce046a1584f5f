/** The options of a database that only this adapter has. */
import type { OpenOptions } from 'pannier'

/** Options of `new PouchDB(name, options)` with the adapter `pannier`, beside PouchDB's own. */
export interface PannierAdapterOptions {
  /**
   * Where to keep the database: `memory()`, `opfs()`, `sqlite()`, … of `pannier`. By default IndexedDB in a browser, and an SQLite file in
   * Node, with the name as its path.
   */
  readonly storage?: OpenOptions['storage']
  /** Encrypts a new database, and opens one that is encrypted. */
  readonly encryption?: OpenOptions['encryption']
  /** 'strict': a write that has succeeded survives a loss of power too. 'relaxed' by default. */
  readonly durability?: OpenOptions['durability']
  /** Memory for cached pages. */
  readonly cacheBytesMax?: OpenOptions['cacheBytesMax']
}

declare global {
  /** The name of PouchDB's types, which this adds to. */
  namespace PouchDB {
    namespace Configuration {
      interface LocalDatabaseConfiguration extends PannierAdapterOptions {}
    }
  }
}
