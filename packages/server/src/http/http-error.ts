/** Errors on the wire, `{ "error", "reason" }`, and the status of each error of the domain and of the library. */
import { isPannierError } from 'pannier'
import type { ErrorCode, PannierError } from 'pannier'
import { ServiceError } from '@pannier/backend'
import type { ServiceErrorCode } from '@pannier/backend'

/** The error of a request. The client gets only the fields below. */
export class HttpError extends Error {
  readonly status: number
  /** CouchDB's word for it: `not_found`, `conflict`, … */
  readonly error: string
  readonly reason: string
  /** When it may go well: the header `Retry-After`. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    error: string,
    reason: string,
    options: ErrorOptions & { readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(`${error}: ${reason}`, options)
    this.name = 'HttpError'
    this.status = status
    this.error = error
    this.reason = reason
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

export function badRequest(reason: string): HttpError {
  return new HttpError(400, 'bad_request', reason)
}

export function notFound(reason: 'missing' | 'deleted' | 'Database does not exist.' | (string & {})): HttpError {
  return new HttpError(404, 'not_found', reason)
}

export function conflict(): HttpError {
  return new HttpError(409, 'conflict', 'Document update conflict.')
}

export function tooLarge(reason: string): HttpError {
  return new HttpError(413, 'too_large', reason)
}

/** An error of one document among others: a replication skips the document. */
export function documentTooLarge(reason: string): HttpError {
  return new HttpError(413, 'document_too_large', reason)
}

/** The answer to an error of any kind; undefined if it is internal: then it is a 500. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error
  if (isPannierError(error)) return fromPannier(error)
  if (error instanceof ServiceError) return fromService(error, error.message)
  // Fastify's errors: a malformed URL, an unsupported content type.
  const { statusCode, message } = (error ?? {}) as { statusCode?: unknown; message?: unknown }
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode >= 500) return undefined
  return new HttpError(statusCode, WORDS.get(statusCode) ?? 'bad_request', String(message))
}

/** Why a replicated document is refused: a malformed one is forbidden, because peers skip only that. */
export function toReplicaError(error: ServiceError): HttpError {
  const known = fromService(error, error.message)
  return known.status === 400 ? new HttpError(403, 'forbidden', known.message, { cause: error }) : known
}

/**
 * Runs a call that checks its arguments itself. The library throws a TypeError for a malformed id, revision, document
 * or selector, which here came from the client.
 */
export async function asBadRequest<T>(run: () => Promise<T> | T, word = 'bad_request'): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof TypeError) throw new HttpError(400, word, error.message, { cause: error })
    throw error
  }
}

type Mapping = readonly [status: number, error: string, reason?: string, retryAfterSeconds?: number]

/** A storage that is away comes back by itself, as in a failover. The error itself names hosts, which are nobody's business. */
const STORAGE_RETRY_SECONDS = 5

const MAPPINGS: Readonly<Partial<Record<ErrorCode, Mapping>>> = {
  PANNIER_CONFLICT: [409, 'conflict', 'Document update conflict.'],
  PANNIER_NOT_FOUND: [404, 'not_found', 'missing'],
  // The words of the library name other documents, which the sender may not know of.
  PANNIER_NOT_UNIQUE: [409, 'conflict', 'Another document has the same key in a unique index.'],
  PANNIER_RELATION_BROKEN: [
    409,
    'conflict',
    'Other documents need it, or it refers to a document that does not exist.',
  ],
  PANNIER_KEY_TOO_LARGE: [413, 'document_too_large'],
  PANNIER_DOCUMENT_TOO_LARGE: [413, 'document_too_large'],
  PANNIER_DOCUMENT_TOO_DEEP: [413, 'document_too_large'],
  PANNIER_BATCH_TOO_LARGE: [413, 'too_large'],
  PANNIER_DOCUMENT_INVALID: [403, 'forbidden'],
  PANNIER_ATTACHMENT_TOO_LARGE: [413, 'attachment_too_large'],
  PANNIER_ATTACHMENT_MISSING: [412, 'missing_stub'],
  PANNIER_EPOCH_MISMATCH: [404, 'not_found', 'The database was made again.'],
  PANNIER_INDEX_MISMATCH: [400, 'bad_request'],
  PANNIER_REGEX_UNSAFE: [400, 'bad_request'],
  PANNIER_LIMIT_EXCEEDED: [400, 'bad_request'],
  PANNIER_QUOTA_EXCEEDED: [507, 'insufficient_storage', 'The disk is full.'],
  PANNIER_IO_FAILED: [
    503,
    'service_unavailable',
    "The storage can't be reached. Nothing was written.",
    STORAGE_RETRY_SECONDS,
  ],
  PANNIER_RECOVERY_NEEDED: [
    503,
    'service_unavailable',
    "The storage can't be reached since an earlier write. Nothing was written.",
    STORAGE_RETRY_SECONDS,
  ],
  PANNIER_OUTCOME_UNKNOWN: [
    503,
    'service_unavailable',
    'The storage did not answer. Read whether the write has happened before you repeat it.',
    STORAGE_RETRY_SECONDS,
  ],
  PANNIER_ABORTED: [503, 'service_unavailable', 'It was cancelled.'],
  PANNIER_CLOSED: [503, 'service_unavailable', 'The server is shutting down.'],
  PANNIER_RESTORED: [
    503,
    'service_unavailable',
    'The storage was put back to an earlier state: the server starts again.',
  ],
}

const SERVICE_ERRORS: Readonly<Record<ServiceErrorCode, readonly [status: number, error: string]>> = {
  UNAUTHENTICATED: [401, 'unauthorized'],
  FORBIDDEN: [403, 'forbidden'],
  NOT_FOUND: [404, 'not_found'],
  CONFLICT: [409, 'conflict'],
  EXISTS: [412, 'file_exists'],
  INVALID: [400, 'bad_request'],
  NAME_INVALID: [400, 'illegal_database_name'],
  DESIGN_INVALID: [400, 'invalid_design_doc'],
  COMPILATION_FAILED: [400, 'compilation_error'],
  TOO_LARGE: [413, 'too_large'],
  DOCUMENT_TOO_LARGE: [413, 'document_too_large'],
  TOO_MANY_REQUESTS: [429, 'too_many_requests'],
  QUOTA_EXCEEDED: [507, 'insufficient_storage'],
  UNAVAILABLE: [503, 'service_unavailable'],
  UNSUPPORTED: [500, 'internal_server_error'],
  FUNCTION_FAILED: [500, 'compilation_error'],
  FUNCTION_STOPPED: [500, 'os_process_error'],
}

const WORDS: ReadonlyMap<number, string> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [413, 'too_large'],
  [415, 'bad_content_type'],
  [429, 'too_many_requests'],
])

function fromService(error: ServiceError, reason: string): HttpError {
  const [status, word] = SERVICE_ERRORS[error.code]
  return new HttpError(status, word, reason, { cause: error, retryAfterSeconds: error.retryAfterSeconds })
}

function fromPannier(error: PannierError): HttpError | undefined {
  if (error.cause instanceof ServiceError) return fromService(error.cause, error.message)
  const mapping = MAPPINGS[error.code]
  if (mapping === undefined) return undefined
  const [status, word, reason = error.message, retryAfterSeconds] = mapping
  return new HttpError(status, word, reason, { cause: error, retryAfterSeconds })
}
