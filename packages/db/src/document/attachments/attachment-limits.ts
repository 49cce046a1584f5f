/** Limits of attachments. */

/** Bytes of one attachment. A guard against streams that never end. */
export const ATTACHMENT_BYTES_MAX: number = 2 ** 36
/** Attachments of one document. Each read of the document reads the names of all. */
export const ATTACHMENTS_PER_DOCUMENT_MAX = 1000
/** Bytes of an attachment's name in UTF-8. The document keeps all names. */
export const ATTACHMENT_NAME_BYTES_MAX = 1024
/** Characters of a content type. The document keeps that of each attachment. */
export const CONTENT_TYPE_CHARS_MAX = 256
/** Bytes of all attachments that one transaction writes. They are in memory; outside a transaction they are streamed. */
export const TRANSACTION_ATTACHMENT_BYTES_MAX: number = 64 * 1024 * 1024
