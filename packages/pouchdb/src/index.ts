/** PouchDB on Pannier: `PouchDB.plugin(pannierAdapter)` and `new PouchDB(name, { adapter: 'pannier' })`. */
import { adapter } from './adapter.ts'

export type { PannierAdapterOptions } from './options.ts'

/**
 * The plug-in that gives PouchDB the adapter `pannier`, which is from then on its preferred one if no other came before.
 *
 * @example
 * import { pannierAdapter } from 'pouchdb-adapter-pannier'
 * PouchDB.plugin(pannierAdapter)
 * const db = new PouchDB('shop', { adapter: 'pannier' })
 */
export function pannierAdapter(PouchDB: object): void {
  const pouch = PouchDB as { adapter(name: string, made: unknown, isPreferred: boolean): void }
  pouch.adapter('pannier', adapter, true)
}
