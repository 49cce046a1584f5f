/** The parts that Pannier's own packages share: `pannier/internal`. It may change with every version. */
export { andThen, answerText, isPromise, type MaybePromise } from './base/async.ts'
export { awaitUser, callUser, isThenable, notPromised, tellListener, type Expected } from './base/callback.ts'
export { LruMap } from './base/lru-map.ts'
export { badArgument, checkListener, checkOptions, isObject, type OptionNames } from './base/options.ts'
export { relateRecords, type RecordRelation } from './database/records/relate-records.ts'
export { isSame } from './codec/collation.ts'
export { NOCASE } from './codec/nocase.ts'
export { deriveValues, type ReadPath } from './index/index-key.ts'
export { guarded, type FollowingGuard } from './database/records/guarded-writes.ts'
export { fromCouchAttachment, toCouchAttachment, toCouchDocument } from './document/attachments/couch-attachments.ts'
export { LOCAL_PREFIX } from './document/document-id.ts'
export type { GuardReader, WrittenDocument } from './database/records/guard-reader.ts'
export {
  endOf,
  environmentOf,
  followCommits,
  listenersHaveHeard,
  liveQueriesOf,
  newestCommit,
  type LiveFacts,
} from './database/records/follow-commits.ts'
export { holdSnapshot, readSnapshot, type SnapshotReader } from './database/records/read-snapshot.ts'
export { forgetDepartedRows, rememberedRows, rememberingView } from './database/records/remembering-views.ts'
export type { DepartedRow } from './view/remembered-changes.ts'
export type { LastRange, Positioned, RememberedRows, RowsById } from './view/remembered-rows.ts'
export { forgetRevisions } from './database/records/forget-revisions.ts'
export { truncate } from './database/records/truncate.ts'
export { selectionQuery, type SelectionOptions } from './database/records/selection-query.ts'
export { hasSearched, parseSearch, wordsOf } from './query/search/match-terms.ts'
export type { SearchedText } from './query/ast/normalise.ts'
export type { DocumentGuard } from './database/records/document-guard.ts'
export { LinearRegex } from './query/regex/linear-regex.ts'
export { pauseIn, untilCancelled, type Pause } from './base/long-work.ts'
export { assert } from './base/errors.ts'
export { awaited, every, pause } from './base/environment.ts'
export { systemEnvironment } from './database/lifecycle/environment.ts'
export { exclusively } from './database/coordination/coordinator.ts'
export { WebLeader } from './database/coordination/web-leader.ts'
