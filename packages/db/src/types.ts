/** Types that few applications name: `pannier/types`. What the others return and take, `pannier` has. */
export type { PannierErrorOptions } from './base/errors.ts'
export type { Environment } from './base/environment.ts'
export type { ProblemCode } from './database/check/check-database.ts'
export type { DestroyOptions } from './database/lifecycle/destroy.ts'
export type { RepairedCollection, RepairOptions } from './database/check/repair-report.ts'
export type {
  GetAttachmentOptions,
  PutAttachmentOptions,
  DeleteAttachmentOptions,
} from './database/collection/collection-attachments.ts'
export type { SnapshotOptions } from './kv/write-snapshot.ts'
export type { EncryptionInfo, EncryptionSlot, SlotOptions } from './database/encryption/encryption.ts'
export type { CollectionChange } from './database/feed/change-notifier.ts'
export type { ByteSource } from './database/transfer/byte-stream.ts'
export type { MoveOptions } from './database/lifecycle/move-database.ts'
export type { ExportOptions } from './database/collection/collection.ts'
export type { ChangesPage } from './database/feed/change-feed.ts'
export type { DocumentList, ListIdsOptions, ListOptions } from './database/collection/document-list.ts'
export type { LocalDocuments, LocalInput, LocalListOptions } from './database/collection/local-collection.ts'
export type {
  AtomicOptions,
  BatchOptions,
  BulkGetResult,
  DeletedInput,
  DocumentReference,
  DocumentWithAttachments,
  EditOptions,
  InputMeta,
  RevisionDocument,
  RevisionMeta,
  RevisionReference,
  RevisionResult,
} from './database/collection/document-types.ts'
export type { ExportFormat } from './database/transfer/export-documents.ts'
export type {
  ImportFailure,
  ImportFormat,
  ImportMode,
  ImportOptions,
  ImportProgress,
} from './database/transfer/import-options.ts'
export type {
  CollectionReplicateOptions,
  DatabaseReplicateOptions,
  CollectionSide,
  DirectionOptions,
  RemoteSide,
  ReplicationSide,
} from './database/replication/replication-options.ts'
export type { FetchFunction, HttpClientOptions } from './replication/http/http-client.ts'
export type { HttpPeerOptions } from './replication/http/http-peer.ts'
export type { CheckpointSides } from './replication/checkpoint.ts'
export type { ReplicationSequence } from './replication/peer.ts'
export type { NetworkStatus, ReplicationDirection, ReplicationPart } from './replication/types.ts'
export type { SchemaOptions } from './database/schema/collection-schema.ts'
export type { OnDelete, RelationInput, RelationInputs, RelationOptions } from './relations/relation-graph.ts'
export type { Related } from './database/schema/relation-types.ts'
export type { Quantifiers, Target, FieldCondition, FieldPath, FieldValue, Projected } from './query/field-types.ts'
export type { Selection } from './relations/selection/selection.ts'
export type { MigrationFailure, RetryResult } from './database/schema/migration-failures.ts'
export type { DocumentIssue } from './database/schema/validator.ts'
export type {
  BuiltInReduce,
  BuiltInResult,
  ReduceFunction,
  ViewAnswer,
  NumberStatistics,
  ReducedRow,
  ViewInfo,
} from './database/collection/view.ts'
export type {
  AttachmentData,
  AttachmentInput,
  AttachmentInputs,
  AttachmentStubInput,
} from './document/attachments/attachment-input.ts'
export type { AttachmentForm, InlineAttachment, ByteRange } from './document/attachments/attachment.ts'
export type { Tombstone } from './document/document-reader.ts'
export type { DeletedRow, ListedRow, ListRow, MissingRow, ListPage } from './document/list-documents.ts'
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
export type { IndexField, OrderedPath } from './index/index-definition.ts'
export type { DuplicateKey } from './index/unique.ts'
export type { FieldFilters } from './query/builder.ts'
export type { AggregateExplanation } from './query/aggregate/run-aggregate.ts'
export type { Groups } from './query/aggregate/groups.ts'
export type { Aggregate, Aggregated, Aggregates, AggregateValue } from './query/aggregate/specification.ts'
export type { Collation } from './codec/registered-collation.ts'
export type { SelectorMeaning } from './query/ast/parse-selector.ts'
export type { LiveChange, LiveStatus } from './query/live/live-types.ts'
export type { ExplainOptions } from './query/query.ts'
export type { ScoredRow, SearchExplanation, SearchOptions } from './query/search/search-specification.ts'
export type { Durability } from './storage/page-store.ts'
