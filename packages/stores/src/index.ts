/** The stores that the packages for frameworks share. A store has `read()` and `subscribe(listener)`. */
export { nextCan, nextRejected, nextState } from './client-stores.ts'
export type { CanSource, RejectedSource, StateSource } from './client-stores.ts'
export { draftOf, nextDraft } from './draft-store.ts'
export type { Draft, DraftFields, DraftState, DraftStore, Save } from './draft-store.ts'
export { liveSearch } from './live-search.ts'
export type { CommitSource, SearchSource } from './live-search.ts'
export { COUNT, documentKind, nextLive, nextStore, rowsKind, sourceOf } from './live-store.ts'
export type {
  CountQuery,
  CountResult,
  CountSource,
  DocumentResult,
  DocumentSource,
  Live,
  LiveKind,
  LiveOptions,
  LiveResult,
  LiveSource,
  LiveState,
  LiveStore,
  RowsQuery,
} from './live-store.ts'
export { nextReplication } from './replication-store.ts'
export type { ReplicationState } from './replication-store.ts'
export { nextTabs } from './tabs-store.ts'
export type { TabsState } from './tabs-store.ts'
export { given, partsOf, viewOf } from './store.ts'
export type { Given, Kept, Store } from './store.ts'
