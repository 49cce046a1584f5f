/** React hooks for Pannier. */
export type { LiveResult, LiveSource } from './live-store.ts'
export { useDocument } from './use-document.ts'
export type { DocumentResult, DocumentSource } from './use-document.ts'
export { useLiveQuery } from './use-live-query.ts'
