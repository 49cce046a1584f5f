/** What Pannier's own packages share: `pannier/internal`. It may change with every version. */
export { badArgument, checkOptions } from './base/options.ts'
export type { OptionNames } from './base/options.ts'
export { relateRecords } from './database/records/relate-records.ts'
export type { RecordRelation, RecordRelations } from './database/records/relate-records.ts'
export { NOCASE } from './codec/nocase.ts'
export { guarded } from './database/records/guarded-writes.ts'
export { fromCouchAttachment, toCouchAttachment, toCouchDocument } from './document/attachments/couch-attachments.ts'
export { LOCAL_PREFIX } from './document/document-id.ts'
export type { GuardedWrites } from './database/records/guarded-writes.ts'
export type { GuardReader, WrittenDocument } from './database/records/guard-reader.ts'
export { followCommits } from './database/records/follow-commits.ts'
export { holdSnapshot, readSnapshot } from './database/records/read-snapshot.ts'
export type { ReadCollection, SnapshotReader } from './database/records/read-snapshot.ts'
export { truncate } from './database/records/truncate.ts'
export type { TruncateOptions } from './database/records/truncate.ts'
export { selectionQuery } from './database/records/selection-query.ts'
export type { SelectionOptions } from './database/records/selection-query.ts'
export type { DocumentBeforeWrite, DocumentGuard, NewDocument } from './database/records/document-guard.ts'
export { LinearRegex } from './query/regex/linear-regex.ts'
export type { CollectionHost } from './database/replication/local-peer.ts'
export type {
  Selection,
  SelectionCombination,
  SelectionComparison,
  SelectionComplement,
  SelectionElement,
  SelectionRelated,
  SelectionTest,
} from './relations/selection/selection.ts'
