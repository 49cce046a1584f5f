/** Angular signals for Pannier. */
export { liveSearch } from '@pannier/stores'
export type {
  CanSource,
  CommitSource,
  CountQuery,
  CountResult,
  CountSource,
  DocumentResult,
  DocumentSource,
  Draft,
  DraftFields,
  Given,
  Live,
  LiveOptions,
  LiveResult,
  LiveSource,
  RejectedSource,
  ReplicationState,
  RowsQuery,
  Save,
  SearchSource,
  StateSource,
  TabsState,
} from '@pannier/stores'
export { injectCan, injectRejected, injectReplication, injectSync, injectTabs } from './inject-client.ts'
export { injectDraft } from './inject-draft.ts'
export type { DraftSignals } from './inject-draft.ts'
export { injectCount, injectDocument, injectLiveQuery } from './inject-live.ts'
export type { Signals } from './inject-store.ts'
