/** Collections for TanStack DB: Pannier stores and syncs below, TanStack DB queries and writes optimistically above. */
export { pannierClientCollectionOptions } from './client-collection.ts'
export type { PannierClientCollectionConfig, PannierClientUtils, RecordRow, Settling } from './client-collection.ts'
export { pannierCollectionOptions } from './database-collection.ts'
export type {
  CollectionSettings,
  DocumentRow,
  PannierCollectionConfig,
  PannierOptions,
  PannierUtils,
} from './database-collection.ts'
export type { Mutating } from './sync-run.ts'
