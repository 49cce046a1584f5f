/** Vue composables for Pannier. */
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
export { useCan, useRejected, useReplication, useSync, useTabs } from './use-client.ts'
export { useDraft } from './use-draft.ts'
export type { DraftRefs } from './use-draft.ts'
export { useCount, useDocument, useLiveQuery } from './use-live.ts'
export type { Refs } from './use-store.ts'
