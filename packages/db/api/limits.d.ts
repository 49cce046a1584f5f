// What `pannier/limits` offers. Written by `npm run api`.

/** Attachments of one document. Each read of the document reads the names of all. */
export const ATTACHMENTS_PER_DOCUMENT_MAX = 1000;

/** Bytes of one attachment. A guard against streams that never end. */
export const ATTACHMENT_BYTES_MAX: number;

/** Bytes of an attachment's name in UTF-8. The document keeps all names. */
export const ATTACHMENT_NAME_BYTES_MAX = 1024;

/** Documents in one write. They are one commit, and encoded in memory. */
export const BATCH_DOCUMENTS_MAX = 1000000;

/** Collections of a database. What describes them is always in memory. */
export const COLLECTIONS_MAX = 1000;

/** Characters of a content type. The document keeps that of each attachment. */
export const CONTENT_TYPE_CHARS_MAX = 256;

/** Encoded bytes of a document's content. A document is read and written in one piece. */
export const DOCUMENT_BYTES_MAX: number;

/** Objects and arrays inside one another, the document itself included. Deeper ones could exhaust the stack. */
export const DOCUMENT_DEPTH_MAX = 200;

/** Bytes of the JSON of an imported document, its attachments included. It is parsed in one piece. */
export const DOCUMENT_TEXT_BYTES_MAX: number;

/** The highest generation of a revision, the number before the hyphen: the largest number that a key holds. */
export const GENERATION_MAX: number;

/** Encoded bytes of a document's id. Keys must stay well below the size of a page. */
export const ID_BYTES_MAX = 4096;

/** Failures that the result of an import lists. The others are only counted, so that memory is bounded. */
export const IMPORT_FAILURES_MAX = 100;

/** Indexes of one collection. Each write keeps all of them up to date. */
export const INDEXES_MAX = 64;

/** Fields of one index. Keys must stay well below the size of a page. A text index has up to 32: its keys are words. */
export const INDEX_FIELDS_MAX = 4;

/** Characters of the name of a collection, an index or a view. Long enough for any name, short enough for a key. */
export const NAME_CHARS_MAX = 200;

/** Ids of each kind that a report lists. The others are only counted, so that memory is bounded. */
export const REPAIR_IDS_MAX = 1000;

/** Revisions that a document's history may remember. Each takes some 45 bytes. */
export const REVISIONS_LIMIT_MAX = 100000;

/** Bytes of a suffix as WTF-8. */
export const REVISION_SUFFIX_BYTES_MAX = 255;

/** Bytes of all attachments that one transaction writes. They are in memory; outside a transaction they are streamed. */
export const TRANSACTION_ATTACHMENT_BYTES_MAX: number;
