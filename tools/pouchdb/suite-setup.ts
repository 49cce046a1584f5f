/** Loaded by mocha after PouchDB's own set-up: adds the adapter `pannier`, with the storage that PANNIER_STORAGE names. */
import { memory } from 'pannier/memory'
import { pannierAdapter } from 'pouchdb-adapter-pannier'

type Adapter = (this: object, options: object, ready: unknown) => void
interface Pouch {
  readonly adapters: Record<string, Adapter>
}

const { PouchDB } = globalThis as unknown as { readonly PouchDB: Pouch }
pannierAdapter(PouchDB)
if (process.env['PANNIER_STORAGE'] === 'memory') {
  const inFiles = PouchDB.adapters['pannier']!
  const storage = memory()
  const inMemory: Adapter = function (options, ready) {
    inFiles.call(this, { ...options, storage }, ready)
  }
  PouchDB.adapters['pannier'] = Object.assign(inMemory, inFiles)
}
