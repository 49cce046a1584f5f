/** The errors of replication, and which of them deserve a retry. */
import { isPannierError, PannierError } from '../base/errors.ts'

export function unreachable(peer: string, what: string, cause?: unknown, details: object = {}): PannierError {
  return new PannierError('PANNIER_PEER_UNREACHABLE', `${peer}: ${what}.`, {
    ...(cause === undefined ? {} : { cause }),
    details: { ...details },
  })
}

/** Chars of a peer's own message. */
const WORDS_CHARS_MAX = 300

/** `status` is that of HTTP, also where a document was refused inside an answer. */
export function refused(peer: string, status: number, said: string, why: string): PannierError {
  const error = said.slice(0, WORDS_CHARS_MAX)
  const reason = why.slice(0, WORDS_CHARS_MAX)
  return new PannierError('PANNIER_PEER_REFUSED', `${peer}: ${error}: ${reason}`, {
    details: { status, error, reason },
  })
}

/** The status of a refusal. */
export function refusalStatus(error: unknown): number | undefined {
  return isPannierError(error, 'PANNIER_PEER_REFUSED') ? (error.details['status'] as number) : undefined
}

/** A function of the caller threw: another try may help it. Without one, the caller gets its error as it is. */
export function callbackFailed(peer: string, name: string, cause: unknown): PannierError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return unreachable(peer, `the function \`${name}\` failed: ${why}`, cause, { callback: true })
}

/** The error for the caller, when nothing is tried any more. */
export function finalError(error: unknown): unknown {
  return isTransient(error) && (error as PannierError).details['callback'] === true ? (error as Error).cause : error
}

export function isTransient(error: unknown): boolean {
  return isPannierError(error, 'PANNIER_PEER_UNREACHABLE')
}

/** Whether a refusal is about the content, not about its sender or address: parts of it may be taken. */
export function isAboutContent(error: unknown): boolean {
  const status = refusalStatus(error)
  return status !== undefined && [400, 412, 413, 414, 415, 417, 422, 431].includes(status)
}

/** A peer was wiped, or another replication has recorded something else: find the starting point again. */
export function checkpointLost(peer: string): PannierError {
  return unreachable(peer, 'the replication checkpoint is not the one that was written', undefined, { restart: true })
}

/** Other sessions were recorded since, so it is unknown whether the last one is lost. Continue from theirs. */
export function checkpointContested(peer: string): PannierError {
  const details = { restart: true, contested: true }
  return unreachable(peer, 'others have recorded replication checkpoints there', undefined, details)
}

/**
 * Relaxed writes may be lost in a power failure, or an older copy may be there now. Continue from what was recorded
 * last.
 */
export function restarted(peer: string): PannierError {
  return unreachable(peer, 'the server was started anew', undefined, { restart: true })
}

/** A collection is gone while its changes are waited for: there may be another one of its name, or will be. */
export function dropped(peer: string): PannierError {
  return unreachable(peer, 'it was dropped', undefined, { restart: true })
}

/** The requested content was replaced since it was named. */
export function replaced(peer: string, what: string, cause?: unknown): PannierError {
  return unreachable(peer, `${what} was replaced or removed meanwhile`, cause, { restart: true, missing: true })
}

/** The source's answer is incomplete. */
export function incomplete(peer: string, what: string): PannierError {
  return unreachable(peer, what, undefined, { incomplete: true })
}

/** Another try may help, or else it is one revision for which it always fails. */
export function mayBeOneRevision(error: unknown): boolean {
  if (!isTransient(error)) return false
  const { status, missing, incomplete: cut } = (error as PannierError).details
  return status === 500 || missing === true || cut === true
}

/** The source says that it does not have what it has named. */
export function isMissing({ details }: PannierError): boolean {
  return details['missing'] === true
}

/** Nothing is wrong: it begins again at once, without an event. */
export function isContested(error: unknown): boolean {
  return isTransient(error) && (error as PannierError).details['contested'] === true
}

export function asksForRestart(error: unknown): boolean {
  return isTransient(error) && (error as PannierError).details['restart'] === true
}
