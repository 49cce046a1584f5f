/** React hooks for Pannier. */
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
export { useCan, useRejected, useSync } from './use-client.ts'
export { useDraft } from './use-draft.ts'
export { useCount, useDocument, useLiveQuery } from './use-live.ts'
export { useReplication, useTabs } from './use-replication.ts'
