/**
 * The contracts of storages, for people who write one: `pannier/storage`. A storage is a `DatabaseStorage`, which opens a `PageStore`.
 * One whose handles are on several machines has a `Coordinator` too. The suite of `pannier/testing` says whether a store keeps its
 * contract.
 */
export { Lease } from './database/coordination/lease.ts'
export { WRITER_SILENCE_MS_MAX, type Coordinator, type Hint, type WriterLease } from './storage/coordinator.ts'
export { handleOn, type SharedDatabase } from './storage/handle.ts'
export { KEYRING_BYTES_MAX, PAGE_BYTES_MAX, WRAPPER_BYTES_MAX } from './storage/page-store.ts'
export type {
  Commit,
  DatabaseStorage,
  Durability,
  GoneListener,
  KnownState,
  LogRecord,
  MetaRecord,
  Page,
  PageArrived,
  PageStore,
  SharingScope,
  StoreState,
} from './storage/page-store.ts'
export type { CommitSequence, Generation, PageId } from './base/brand.ts'
export type { MaybePromise } from './base/async.ts'
