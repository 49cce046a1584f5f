/** Pannier: a JSON document database for apps that must keep working offline. */
export { isPannierError, PannierError } from './base/errors.ts'
export type { ErrorCode, PannierErrorOptions } from './base/errors.ts'
export { DOCUMENT_BYTES_MAX, DOCUMENT_DEPTH_MAX } from './codec/document-format.ts'
export { ID_BYTES_MAX } from './codec/key-encoding.ts'
export { open } from './database/open.ts'
export type { OpenOptions } from './database/open.ts'
export type { Database } from './database/database.ts'
export type { CollectionChange, DatabaseChange } from './database/change-notifier.ts'
export type { Collection, CollectionOptions, IndexInfo } from './database/collection.ts'
export type { CollectionOperations } from './database/collection-operations.ts'
export type { DocumentInput, DocumentReference, JsonObject, Stored } from './database/document-types.ts'
export type {
  BuiltInReduce,
  BuiltInResult,
  Emit,
  ReduceFunction,
  View,
  ViewAnswer,
  ViewDefinition,
} from './database/view.ts'
export type { NumberStatistics, ReducedRow, ViewInfo, ViewOptions, ViewResult, ViewRow } from './database/view.ts'
export type { Transaction } from './database/transaction.ts'
export type { WriteResult } from './document/apply-writes.ts'
export { COLLECTIONS_MAX } from './document/catalog.ts'
export { BATCH_DOCUMENTS_MAX } from './document/encoded-batch.ts'
export { INDEX_FIELDS_MAX, INDEXES_MAX, NAME_CHARS_MAX } from './index/index-definition.ts'
export type { IndexField, IndexInput } from './index/index-definition.ts'
export type { Explanation, Query, Selector } from './query/query.ts'
export type { Durability, Storage } from './storage/page-store.ts'
