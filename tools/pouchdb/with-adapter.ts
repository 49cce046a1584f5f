/**
 * Loaded before PouchDB's tests: adds the adapter `pannier` to each PouchDB that they load, with the storage that PANNIER_STORAGE names.
 * POUCHDB is the checkout.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { memory } from 'pannier/memory'
import { pannierAdapter } from 'pouchdb-adapter-pannier'

type Adapter = (this: object, options: object, ready: unknown) => void
interface Pouch {
  readonly adapters: Record<string, Adapter>
}
interface TestUtils {
  loadPouchDB(options?: object): Pouch
}

const require = createRequire(import.meta.url)
const utils = require(join(process.env['POUCHDB']!, 'tests/common-utils.js')) as TestUtils
const { loadPouchDB } = utils
const storage = memory()

utils.loadPouchDB = (options) => {
  const PouchDB = loadPouchDB(options)
  pannierAdapter(PouchDB)
  if (process.env['PANNIER_STORAGE'] !== 'memory') return PouchDB
  const inFiles = PouchDB.adapters['pannier']!
  const inMemory: Adapter = function (given, ready) {
    inFiles.call(this, { ...given, storage }, ready)
  }
  PouchDB.adapters['pannier'] = Object.assign(inMemory, inFiles)
  return PouchDB
}
