/**
 * The library with all its parts in one file, for scripts that can load no part later: browsers forbid `import()` in service workers.
 * Published without any `import()` (tools/checks/join-modules.ts). Import everything from here, nothing from `pannier` beside it.
 */
export * from './index.ts'
export { indexedDb } from './indexeddb.ts'
export { memory } from './memory.ts'
