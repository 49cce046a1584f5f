/** The parts that Pannier's own packages share: `pannier/internal`. It may change with every version. */
export { awaitUser, callUser, isThenable, notPromised, tellListener, type Expected } from './base/callback.ts'
export { LruMap } from './base/lru-map.ts'
export { badArgument, checkOptions } from './base/options.ts'
export type { OptionNames } from './base/options.ts'
export { relateRecords, type RecordRelation, type RecordRelations } from './database/records/relate-records.ts'
export { isSame } from './codec/collation.ts'
export { NOCASE } from './codec/nocase.ts'
export { deriveValues, type ReadPath } from './index/index-key.ts'
export { guarded } from './database/records/guarded-writes.ts'
export { fromCouchAttachment, toCouchAttachment, toCouchDocument } from './document/attachments/couch-attachments.ts'
export { LOCAL_PREFIX } from './document/document-id.ts'
export type { FollowingGuard, GuardedWrites } from './database/records/guarded-writes.ts'
export type { GuardReader, WrittenDocument } from './database/records/guard-reader.ts'
export { endOf, followCommits, listenersHaveHeard, newestCommit } from './database/records/follow-commits.ts'
export { holdSnapshot, readSnapshot } from './database/records/read-snapshot.ts'
export type { ReadCollection, SnapshotReader } from './database/records/read-snapshot.ts'
export { forgetLeft, rememberedRows, rememberingView } from './database/records/remembering-views.ts'
export type { RememberingView } from './database/records/remembering-views.ts'
export type { LeftRow, RememberedRow } from './view/remembered-changes.ts'
export type { LastRange, Positioned, RememberedRows, RowPosition } from './view/remembered-rows.ts'
export { truncate, type TruncateOptions } from './database/records/truncate.ts'
export { selectionQuery, type SelectionOptions } from './database/records/selection-query.ts'
export { hasSearched, parseSearch, wordsOf } from './query/search/match-terms.ts'
export type { SearchedText } from './query/ast/normalise.ts'
export type { DocumentBeforeWrite, DocumentGuard, NewDocument } from './database/records/document-guard.ts'
export { LinearRegex } from './query/regex/linear-regex.ts'
export type { CollectionHost } from './database/replication/local-peer.ts'
export { pauseIn, type Pause } from './base/long-work.ts'
// For storages outside this package.
export { assert } from './base/errors.ts'
export type { CommitSequence, Generation, PageId } from './base/brand.ts'
export { awaited, every, pause, type Environment } from './base/environment.ts'
export { environmentOf } from './database/records/follow-commits.ts'
export { systemEnvironment } from './database/lifecycle/environment.ts'
export { exclusively } from './database/coordination/coordinator.ts'
export { WebLeader } from './database/coordination/web-leader.ts'
export { Lease } from './database/coordination/lease.ts'
export { handleOn, type SharedDatabase } from './storage/handle.ts'
export { WRITER_SILENCE_MS_MAX } from './storage/coordinator.ts'
export type { Coordinator, Hint, WriterLease } from './storage/coordinator.ts'
export type {
  Commit,
  DatabaseStorage,
  Durability,
  KnownState,
  LogRecord,
  Page,
  PageStore,
  SharingScope,
  StoreState,
} from './storage/page-store.ts'
