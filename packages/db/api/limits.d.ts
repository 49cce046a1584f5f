// What `pannier/limits` offers. Written by `npm run api`.

/** Attachments of one document. */
export const ATTACHMENTS_PER_DOCUMENT_MAX = 1000;

/** Bytes of one attachment: 64 GiB. */
export const ATTACHMENT_BYTES_MAX: number;

/** Bytes of an attachment's name in UTF-8. */
export const ATTACHMENT_NAME_BYTES_MAX = 1024;

/** Documents in one write. */
export const BATCH_DOCUMENTS_MAX = 1000000;

/** They are all in memory, always. */
export const COLLECTIONS_MAX = 1000;

/** Characters of a content type. */
export const CONTENT_TYPE_CHARS_MAX = 256;

/** Encoded bytes of a document's content. */
export const DOCUMENT_BYTES_MAX: number;

/** Objects and arrays inside one another, the document itself included. */
export const DOCUMENT_DEPTH_MAX = 200;

/** Bytes of the JSON of a document that is imported, its attachments included. */
export const DOCUMENT_TEXT_BYTES_MAX: number;

/** The highest generation of a revision: the number before the hyphen. */
export const GENERATION_MAX: number;

/** Encoded bytes of a document's id. */
export const ID_BYTES_MAX = 4096;

/** Failures that a result lists; the others are counted. */
export const IMPORT_FAILURES_MAX = 100;

/** Of one collection. */
export const INDEXES_MAX = 64;

/** Keys must stay well below the size of a page. */
export const INDEX_FIELDS_MAX = 4;

/** The characters that the name of a collection, an index or a view may have. */
export const NAME_CHARS_MAX = 200;

/** Ids that a report lists of each kind. */
export const REPAIR_IDS_MAX = 1000;

/** Revisions that a document's history may remember. */
export const REVISIONS_LIMIT_MAX = 100000;

/** Bytes of a suffix as WTF-8. */
export const REVISION_SUFFIX_BYTES_MAX = 255;

/** Bytes of all attachments that are written inside one transaction; outside of one they may be larger. */
export const TRANSACTION_ATTACHMENT_BYTES_MAX: number;
