/** Limits of attachments. */

/** Bytes of one attachment: 64 GiB. */
export const ATTACHMENT_BYTES_MAX: number = 2 ** 36
/** Attachments of one document. */
export const ATTACHMENTS_PER_DOCUMENT_MAX = 1000
/** Bytes of an attachment's name in UTF-8. */
export const ATTACHMENT_NAME_BYTES_MAX = 1024
/** Characters of a content type. */
export const CONTENT_TYPE_CHARS_MAX = 256
/** Bytes of all attachments that are written inside one transaction; outside of one they may be larger. */
export const TRANSACTION_ATTACHMENT_BYTES_MAX: number = 64 * 1024 * 1024
