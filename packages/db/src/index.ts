/** Pannier: a JSON document database for apps that must keep working offline. */
export { isPannierError, PannierError, type ErrorCode } from './base/errors.ts'
export type { CheckReport, Problem } from './database/check/check-database.ts'
export { destroy } from './database/lifecycle/destroy.ts'
export { firstOf } from './database/lifecycle/first-of.ts'
export type { FirstOfOptions, FoundDatabase } from './database/lifecycle/storage-choice.ts'
export { repair } from './database/check/repair.ts'
export type { RepairReport } from './database/check/repair-report.ts'
export { open, type OpenOptions } from './database/lifecycle/open.ts'
export { preload } from './database/lifecycle/preload.ts'
export type { Database } from './database/database.ts'
export type { Encryption } from './database/encryption/encryption.ts'
export type { Credential } from './storage/encrypted/slots.ts'
export type { DatabaseChange } from './database/feed/change-notifier.ts'
export type { LongWork } from './base/long-work.ts'
export type { Collection, IndexInfo } from './database/collection/collection.ts'
export type { CollectionOptions, DeclaredCollection } from './database/collection/declarations.ts'
export type { ChangeFeed, ChangesOptions } from './database/feed/change-feed.ts'
export type { CollectionInfo } from './database/collection/collection-info.ts'
export type { TransactionCollection } from './database/collection/collection-operations.ts'
export type { DocumentInput, DocumentPatch, JsonObject, Stored } from './database/collection/document-types.ts'
export type { ImportResult } from './database/transfer/import-options.ts'
export type { Replication } from './database/replication/replication.ts'
export type {
  DatabaseSyncOptions,
  ReplicationOptions,
  ReplicationTarget,
} from './database/replication/replication-options.ts'
export type {
  ReplicationEvent,
  ReplicationProgress,
  ReplicationResult,
  ReplicationStatus,
} from './replication/types.ts'
export type { Migration } from './database/schema/collection-schema.ts'
export type { StandardSchema } from './database/schema/standard-schema.ts'
export type { Emit, View, ViewDefinition, ViewOptions, ViewResult, ViewRow } from './database/collection/view.ts'
export type { Transaction } from './database/collection/transaction.ts'
export type { WriteResult } from './document/apply-writes.ts'
export type { AttachmentContent } from './document/attachments/attachment-input.ts'
export type { AttachmentStub } from './document/attachments/attachment-section.ts'
export type { Attachment } from './document/attachments/attachment.ts'
export type { DocumentChange } from './document/document-reader.ts'
export type { WriteFailure, WriteOutcome } from './document/write-documents.ts'
export type { IndexInput } from './index/index-definition.ts'
export { where, type WhereFilter } from './query/builder.ts'
export { registerCollation } from './codec/registered-collation.ts'
export type { Selector } from './query/field-types.ts'
export type { LiveCount, LiveQuery } from './query/live/live-query.ts'
export type { LiveOptions, LiveUpdate, SubscribeOptions } from './query/live/live-types.ts'
export type { Explanation, Page, Query } from './query/query.ts'
export type { SearchQuery } from './query/search/search.ts'
export type { DatabaseStorage } from './storage/page-store.ts'
