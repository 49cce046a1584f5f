/** Databases in the files of a browser's private file system: `open(name)` where it can, `open(name, { storage: opfs() })` only there. */
export { destroy, open, opfs } from './database/lifecycle/open-in-files.ts'
export type { OpfsDestroyOptions, OpfsOpenOptions } from './database/lifecycle/open-in-files.ts'
export type { OpfsOptions } from './storage/opfs/opfs.ts'
