/** Databases in memory: `open(name, { storage: memory() })`. */
export { memory } from './storage/memory/memory.ts'
