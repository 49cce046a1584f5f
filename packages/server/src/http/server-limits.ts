/** The limits of a server with their defaults: docs/internals/http-api.md has them. */

const KIBIBYTE = 1024
const MEBIBYTE: number = 1024 * KIBIBYTE

export interface ServerLimits {
  /** Bytes of a body in JSON that has no documents, and of what is around documents; unpacked. */
  readonly requestBytesMax: number
  /** Bytes of a document in JSON without the content of its attachments. */
  readonly documentBytesMax: number
  /** Bytes of an attachment, unpacked. */
  readonly attachmentBytesMax: number
  /** Bytes of a body that has documents or attachments. */
  readonly uploadBytesMax: number
  /** Bytes that one database may take: documents, attachments and indexes, about. A full one takes no more (507); Infinity: no bound. */
  readonly databaseBytesMax: number
  /** Bytes of all headers, the URL among them. */
  readonly headerBytesMax: number
  /** Until the headers of a request have come. */
  readonly headersMsMax: number
  /** Until a whole request has come. */
  readonly requestMsMax: number
  /** A connection on which nothing is read or written for that long is closed. */
  readonly idleMsMax: number
  /** A client that stops in the midst of a body is given up. */
  readonly stallMsMax: number
  /** Connections at a time. */
  readonly connectionsMax: number
  /** A change feed without a heartbeat ends when nothing has happened for that long. */
  readonly feedMsMax: number
  /** The shortest heartbeat of a feed, in milliseconds. */
  readonly heartbeatMsMin: number
  /** Change feeds that wait at the same time. */
  readonly feedsMax: number
  /** Change feeds of one user, or of one address from where nobody has logged in. */
  readonly feedsPerUserMax: number
  /** A stream of `/api/realtime` ends when it had no message for that long, */
  readonly realtimeIdleMsMax: number
  /** and when it is that old. Clients connect again. */
  readonly realtimeMsMax: number
  /** How long `close` waits for requests that run. */
  readonly closeMsMax: number
}

/** The limits of a server that is given none. */
export const DEFAULT_LIMITS: ServerLimits = {
  requestBytesMax: 8 * MEBIBYTE,
  documentBytesMax: 8 * MEBIBYTE,
  attachmentBytesMax: 1024 * MEBIBYTE,
  uploadBytesMax: 4096 * MEBIBYTE,
  databaseBytesMax: Infinity,
  headerBytesMax: 32 * KIBIBYTE,
  headersMsMax: 15_000,
  requestMsMax: 300_000,
  idleMsMax: 120_000,
  stallMsMax: 30_000,
  connectionsMax: 20_000,
  feedMsMax: 60_000,
  heartbeatMsMin: 5000,
  feedsMax: 10_000,
  feedsPerUserMax: 1000,
  realtimeIdleMsMax: 300_000,
  realtimeMsMax: 1_800_000,
  closeMsMax: 10_000,
}
