/** Databases in the files of a browser's private file system: `open(name, { storage: firstOf(opfs(), indexedDb()) })`. */
export { opfs, type OpfsOptions } from './storage/opfs/opfs.ts'
