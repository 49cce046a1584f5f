/** Failures of replication, and which of them are worth another try. */
import { isPannierError, PannierError } from '../base/errors.ts'

export function unreachable(peer: string, what: string, cause?: unknown, details: object = {}): PannierError {
  return new PannierError('PANNIER_PEER_UNREACHABLE', `${peer}: ${what}.`, {
    ...(cause === undefined ? {} : { cause }),
    details: { ...details },
  })
}

/** `status` is that of HTTP, also where a document was refused inside an answer. */
export function refused(peer: string, status: number, error: string, reason: string): PannierError {
  return new PannierError('PANNIER_PEER_REFUSED', `${peer}: ${error}: ${reason}`, {
    details: { status, error, reason },
  })
}

/** Of one that was refused by status. */
export function refusalStatus(error: unknown): number | undefined {
  return isPannierError(error, 'PANNIER_PEER_REFUSED') ? (error.details['status'] as number) : undefined
}

export function isTransient(error: unknown): boolean {
  return isPannierError(error, 'PANNIER_PEER_UNREACHABLE')
}

/** It is about what was sent, not about who sends it or where to: parts of it may be taken. */
export function isAboutContent(error: unknown): boolean {
  const status = refusalStatus(error)
  return status !== undefined && [400, 412, 413, 415, 417, 422, 431].includes(status)
}

/** A peer was wiped, or another has gone on from somewhere else: where to go on has to be found out anew. */
export function checkpointLost(peer: string): PannierError {
  return unreachable(peer, 'the replication checkpoint is not the one that was written', undefined, { restart: true })
}

/** What was to be read was replaced since it was named. */
export function replaced(peer: string, what: string, cause?: unknown): PannierError {
  return unreachable(peer, `${what} was replaced or removed meanwhile`, cause, { restart: true })
}

export function asksForRestart(error: unknown): boolean {
  return isTransient(error) && (error as PannierError).details['restart'] === true
}
