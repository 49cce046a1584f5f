/** React hooks for Pannier. */
export { useCount } from './use-count.ts'
export type { CountResult, CountSource } from './use-count.ts'
export { useDocument } from './use-document.ts'
export type { DocumentResult, DocumentSource } from './use-document.ts'
export { useLiveQuery } from './use-live-query.ts'
export type { LiveResult, LiveSource } from './use-live-query.ts'
export { useSync } from './use-sync.ts'
export type { SyncState } from './sync-store.ts'
