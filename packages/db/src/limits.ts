/** Limits of documents and others, as numbers: `pannier/limits`. Each says what it bounds; most have their unit in the name. */
export { DOCUMENT_BYTES_MAX, DOCUMENT_DEPTH_MAX, DOCUMENT_TEXT_BYTES_MAX } from './codec/document-format.ts'
export { ID_BYTES_MAX } from './codec/key-encoding.ts'
export { REPAIR_IDS_MAX } from './database/check/repair-report.ts'
export { IMPORT_FAILURES_MAX } from './database/transfer/import-options.ts'
export {
  ATTACHMENT_BYTES_MAX,
  ATTACHMENT_NAME_BYTES_MAX,
  ATTACHMENTS_PER_DOCUMENT_MAX,
  CONTENT_TYPE_CHARS_MAX,
  TRANSACTION_ATTACHMENT_BYTES_MAX,
} from './document/attachments/attachment-section.ts'
export { COLLECTIONS_MAX } from './document/catalog.ts'
export { BATCH_DOCUMENTS_MAX } from './document/encoded-batch.ts'
export { GENERATION_MAX, REVISION_SUFFIX_BYTES_MAX, REVISIONS_LIMIT_MAX } from './document/revision.ts'
export { INDEX_FIELDS_MAX, INDEXES_MAX, NAME_CHARS_MAX } from './index/index-definition.ts'
