/** Databases in LevelDB, or any other abstract-level database: `open(name, { storage: level(…) })`. */
export { level } from './storage/level/level.ts'
export type { Level } from './storage/level/abstract-level.ts'
