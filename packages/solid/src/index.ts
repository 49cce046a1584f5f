/** Solid primitives for Pannier. */
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
export { createCan, createRejected, createReplication, createSync, createTabs } from './create-client.ts'
export { createDraft } from './create-draft.ts'
export { createCount, createDocument, createLiveQuery } from './create-live.ts'
