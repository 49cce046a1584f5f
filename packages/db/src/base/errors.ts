/**
 * The error class of the library, and all its codes.
 *
 * Programmer errors are assertions or, at the public boundary, `TypeError`s. Every operating failure is a
 * `PannierError` with a stable code.
 */

/** Every code, also of packages built on this one. The thing comes first, the problem last. Codes are stable: programs may match them. */
export type ErrorCode =
  // opening
  | 'PANNIER_LOCKED' // another process has the file open
  | 'PANNIER_BLOCKED' // another tab keeps an older version open and does not let go
  | 'PANNIER_OPEN_FAILED' // the backend could not be opened (or did not answer in time)
  | 'PANNIER_UNAVAILABLE' // no storage here: private mode, storage disabled, missing API
  | 'PANNIER_FORMAT_WRONG' // what is stored is not a Pannier database
  | 'PANNIER_FORMAT_NEWER' // written by a newer version of the library
  | 'PANNIER_ENCRYPTED' // the database is encrypted, and no key was given
  | 'PANNIER_NOT_ENCRYPTED' // a key was given for a database that is not encrypted
  | 'PANNIER_KEY_WRONG' // this password or key does not open the database
  | 'PANNIER_EXISTS' // a snapshot is to be restored where there is a database already
  | 'PANNIER_CLOSED' // the handle, or the database underneath, was closed or destroyed
  // reading and writing
  | 'PANNIER_CORRUPT' // a checksum or an invariant does not hold: never wrong data
  | 'PANNIER_IO_FAILED' // the backend failed for a reason of its own; nothing was written
  | 'PANNIER_OUTCOME_UNKNOWN' // a write failed, and the backend does not say whether it has happened
  | 'PANNIER_RESTORED' // the backend was put back to an earlier state than this handle has seen: open it again
  | 'PANNIER_QUOTA_EXCEEDED' // no room left
  | 'PANNIER_STALE' // fenced: another handle has written since; caught up with and retried inside the library
  | 'PANNIER_RECOVERY_NEEDED' // an earlier write failed and recovery has not succeeded yet
  | 'PANNIER_DEADLOCK' // a write of the database itself inside a transaction, which would wait for its own end
  | 'PANNIER_WRITE_TIMEOUT' // a write has waited as long as `writeWaitMsMax` allows
  | 'PANNIER_TRANSACTION_ENDED' // a transaction was used after its end
  | 'PANNIER_SNAPSHOT_EXPIRED' // the pages of an old snapshot were reclaimed
  // documents
  | 'PANNIER_CONFLICT' // the document exists, or the revision given is not the current one
  | 'PANNIER_NOT_FOUND' // there is no such document, collection or index
  | 'PANNIER_NOT_UNIQUE' // another document has the same key in a unique index
  | 'PANNIER_RELATION_BROKEN' // it refers to a document that does not exist, or is referred to and can't be deleted
  | 'PANNIER_KEY_TOO_LARGE'
  | 'PANNIER_DOCUMENT_TOO_LARGE'
  | 'PANNIER_DOCUMENT_TOO_DEEP'
  | 'PANNIER_BATCH_TOO_LARGE'
  | 'PANNIER_DOCUMENT_INVALID' // the schema refused it, or an index that can't hold it
  | 'PANNIER_ATTACHMENT_TOO_LARGE'
  | 'PANNIER_ATTACHMENT_MISSING' // a stub names an attachment that the revision before does not have
  | 'PANNIER_EPOCH_MISMATCH' // `since` is of another collection: dropped and made again, or its storage was lost
  | 'PANNIER_SCHEMA_NEWER' // newer code has migrated the collection to a version that this code does not know
  | 'PANNIER_INDEX_MISMATCH' // an index of that name exists with another definition
  | 'PANNIER_REGEX_UNSAFE' // a regular expression whose work could not be bounded
  | 'PANNIER_LIMIT_EXCEEDED' // one of the other named limits
  // replication
  | 'PANNIER_PEER_UNREACHABLE' // no answer from the other side, or none that is one: worth another try
  | 'PANNIER_PEER_REFUSED' // the other side said no; `details` has its `status`, `error` and `reason`
  | 'PANNIER_MODULE_NOT_LOADED' // offline, say; a later try loads it
  // clients of a server
  | 'PANNIER_SIGNED_OUT' // the session has ended, or nobody is signed in
  | 'PANNIER_MFA_NEEDED' // another way to sign in is needed too
  | 'PANNIER_SIGN_IN_FAILED' // a device or a provider did not sign the account in
  | 'PANNIER_WRITES_UNSENT' // a wipe would lose writes that the server does not have
  | 'PANNIER_ABORTED' // cancelled by an AbortSignal

/** The parts of an error besides its code and message. */
export interface PannierErrorOptions {
  /** The error underneath, kept for logs. */
  readonly cause?: unknown
  /** Facts about the failure that a program may use, e.g. `{ id, rev }` of a conflict. */
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * An operating failure.
 *
 * @example
 * try {
 *   await people.insert({ _id: 'ann', name: 'Ann', age: 31 })
 * } catch (error) {
 *   if (error instanceof PannierError && error.code === 'PANNIER_CONFLICT') console.log(error.details)
 * }
 */
export class PannierError extends Error {
  /** The code is stable; match this, never the message. */
  readonly code: ErrorCode
  /** Facts about the failure, e.g. the id of the document in conflict. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, options: PannierErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'PannierError'
    this.code = code
    this.details = options.details ?? {}
  }
}

/** True for a `PannierError`, and with `code` given only for one that carries it. */
export function isPannierError(error: unknown, code?: ErrorCode): error is PannierError {
  return error instanceof PannierError && (code === undefined || error.code === code)
}

/** The error that ends everything live when its own caller closes the handle: no failure. Any other reason is one. */
export function closedByCaller(): PannierError {
  return new PannierError('PANNIER_CLOSED', 'The database is closed.', { details: { by: 'close' } })
}

export function isClosedByCaller(reason: unknown): boolean {
  return isPannierError(reason, 'PANNIER_CLOSED') && reason.details['by'] === 'close'
}

/** A bug in this library, never a condition of operation. */
export class AssertionError extends Error {
  constructor(message: string) {
    super(`Pannier assertion failed: ${message}`)
    this.name = 'AssertionError'
  }
}

/** Asserts a condition. Cheap assertions always run. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** The value of the branch that the types already exclude. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`)
}
