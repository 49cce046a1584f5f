/** Pannier: a JSON document database for apps that must keep working offline. */
export { badArgument, checkOptions } from './base/options.ts'
export type { OptionNames } from './base/options.ts'
export { isPannierError, PannierError } from './base/errors.ts'
export type { ErrorCode, PannierErrorOptions } from './base/errors.ts'
export { DOCUMENT_BYTES_MAX, DOCUMENT_DEPTH_MAX, DOCUMENT_TEXT_BYTES_MAX } from './codec/document-format.ts'
export { ID_BYTES_MAX } from './codec/key-encoding.ts'
export type { CheckReport, Problem, ProblemCode } from './database/check/check-database.ts'
export { destroy } from './database/lifecycle/destroy.ts'
export type { DestroyOptions } from './database/lifecycle/destroy.ts'
export { repair } from './database/check/repair.ts'
export { REPAIR_IDS_MAX } from './database/check/repair-report.ts'
export type { RepairedCollection, RepairOptions, RepairReport } from './database/check/repair-report.ts'
export { open } from './database/lifecycle/open.ts'
export { preload } from './database/lifecycle/preload.ts'
export type { OpenOptions } from './database/lifecycle/open.ts'
export type {
  GetAttachmentOptions,
  PutAttachmentOptions,
  DeleteAttachmentOptions,
} from './database/collection/collection-attachments.ts'
export type { Database } from './database/database.ts'
export type { SnapshotOptions } from './kv/write-snapshot.ts'
export type { Encryption, EncryptionInfo, EncryptionSlot, SlotOptions } from './database/encryption/encryption.ts'
export type { Credential } from './storage/encrypted/slots.ts'
export type { CollectionChange, DatabaseChange } from './database/feed/change-notifier.ts'
export type { LongWork } from './base/long-work.ts'
export type { ByteSource } from './database/transfer/byte-stream.ts'
export type { MoveOptions } from './database/lifecycle/move-database.ts'
export type { Collection, ExportOptions, IndexInfo } from './database/collection/collection.ts'
export type { CollectionOptions } from './database/collection/declarations.ts'
export type { ChangeFeed, ChangesOptions, ChangesPage } from './database/feed/change-feed.ts'
export { putGuarded } from './database/collection/collection-operations.ts'
export type { DocumentBeforeWrite, DocumentGuard } from './document/write-documents.ts'
export type { CollectionHost } from './database/replication/local-peer.ts'
export type { CollectionInfo } from './database/collection/collection-settings.ts'
export type { DocumentList, ListIdsOptions, ListOptions, ListPage } from './database/collection/document-list.ts'
export type { LocalDocuments, LocalInput, LocalListOptions } from './database/collection/local-collection.ts'
export type {
  AtomicOptions,
  BatchOptions,
  CollectionOperations,
  EditOptions,
} from './database/collection/collection-operations.ts'
export type {
  DeletedInput,
  DocumentInput,
  DocumentPatch,
  DocumentReference,
  DocumentWithAttachments,
  InputMeta,
  JsonObject,
  RevisionDocument,
  RevisionMeta,
  Stored,
} from './database/collection/document-types.ts'
export type { ExportFormat } from './database/transfer/export-documents.ts'
export { IMPORT_FAILURES_MAX } from './database/transfer/import-options.ts'
export type {
  ImportFailure,
  ImportFormat,
  ImportMode,
  ImportOptions,
  ImportProgress,
  ImportResult,
} from './database/transfer/import-options.ts'
export type {
  BulkGetResult,
  RevisionOperations,
  RevisionReference,
  RevisionResult,
} from './database/collection/revision-operations.ts'
export type { Replication } from './database/replication/replication.ts'
export type {
  CollectionReplicateOptions,
  DatabaseReplicateOptions,
  DatabaseSyncOptions,
  CollectionSide,
  DirectionOptions,
  RemoteSide,
  ReplicationOptions,
  ReplicationSide,
  ReplicationTarget,
} from './database/replication/replication-options.ts'
export type { FetchFunction, HttpOptions } from './replication/http/http-client.ts'
export type { HttpPeerOptions } from './replication/http/http-peer.ts'
export type { CheckpointSides } from './replication/checkpoint.ts'
export type { ReplicationSequence } from './replication/peer.ts'
export type {
  NetworkStatus,
  ReplicationDirection,
  ReplicationEvent,
  ReplicationPart,
  ReplicationProgress,
  ReplicationResult,
  ReplicationStatus,
} from './replication/types.ts'
export type { Migration, SchemaOptions } from './database/schema/collection-schema.ts'
export type { MigrationFailure, RetryResult } from './database/schema/migration-failures.ts'
export type { StandardSchema } from './database/schema/standard-schema.ts'
export type { DocumentIssue } from './database/schema/validator.ts'
export type {
  BuiltInReduce,
  BuiltInResult,
  Emit,
  ReduceFunction,
  View,
  ViewAnswer,
  ViewDefinition,
} from './database/collection/view.ts'
export type {
  NumberStatistics,
  ReducedRow,
  ViewInfo,
  ViewOptions,
  ViewResult,
  ViewRow,
} from './database/collection/view.ts'
export type { Transaction } from './database/collection/transaction.ts'
export type { WriteResult } from './document/apply-writes.ts'
export type {
  AttachmentContent,
  AttachmentData,
  AttachmentInput,
  AttachmentInputs,
  AttachmentStubInput,
} from './document/attachments/attachment-input.ts'
export {
  ATTACHMENT_BYTES_MAX,
  ATTACHMENT_NAME_BYTES_MAX,
  ATTACHMENTS_PER_DOCUMENT_MAX,
  CONTENT_TYPE_CHARS_MAX,
  TRANSACTION_ATTACHMENT_BYTES_MAX,
} from './document/attachments/attachment-limits.ts'
export type { AttachmentForm, InlineAttachment } from './document/attachments/attachment.ts'
export type { AttachmentStub } from './document/attachments/attachment-section.ts'
export type { Attachment, ByteRange } from './document/attachments/attachment.ts'
export type { DocumentChange, Tombstone } from './document/document-reader.ts'
export type { DeletedRow, ListedRow, ListRow, MissingRow } from './document/list-documents.ts'
export { COLLECTIONS_MAX } from './document/catalog.ts'
export { BATCH_DOCUMENTS_MAX } from './document/encoded-batch.ts'
export { GENERATION_MAX, REVISION_SUFFIX_BYTES_MAX, REVISIONS_LIMIT_MAX } from './document/revision.ts'
export type { RevisionHistory } from './document/revision.ts'
export type {
  ConflictedDocument,
  MissingRevisions,
  RevisionFields,
  RevisionInfo,
  RevisionReadOptions,
} from './document/revision-reads.ts'
export type { RevisionStatus } from './document/revision-tree.ts'
export type { PurgeResult } from './document/revision-writes.ts'
export type { WriteFailure, WriteOutcome } from './document/write-documents.ts'
export { INDEX_FIELDS_MAX, INDEXES_MAX, NAME_CHARS_MAX } from './index/index-definition.ts'
export type { IndexField, IndexInput, OrderedPath } from './index/index-definition.ts'
export type { DuplicateKey } from './index/unique.ts'
export { where } from './query/builder.ts'
export type { FieldFilters, WhereFilter } from './query/builder.ts'
export type { AggregateExplanation } from './query/aggregate/run-aggregate.ts'
export type { Groups } from './query/aggregate/groups.ts'
export type { Aggregate, Aggregated, Aggregates, AggregateValue } from './query/aggregate/specification.ts'
export { registerCollation } from './codec/registered-collation.ts'
export type { Collation } from './codec/registered-collation.ts'
export type { SelectorMeaning } from './query/ast/parse-selector.ts'
export type { FieldCondition, FieldPath, FieldValue, Projected, Selector } from './query/field-types.ts'
export type { LiveCount } from './query/live/live-query.ts'
export type { LiveQuery } from './query/live/live-query.ts'
export type { LiveChange, LiveOptions, LiveStatus, LiveUpdate } from './query/live/live-types.ts'
export type { ExplainOptions, Explanation, Query } from './query/query.ts'
export type { SearchQuery } from './query/search/search.ts'
export type { ScoredRow, SearchExplanation, SearchOptions } from './query/search/search-specification.ts'
export type { Durability, DatabaseStorage } from './storage/page-store.ts'
