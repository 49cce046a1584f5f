/**
 * Sequences on the wire: `N-epoch`. A database that is dropped and created again, or restored, has another epoch. A
 * client with a sequence of another epoch starts from the beginning, so it misses nothing.
 */
import { badRequest } from '../http/http-error.ts'
import type { GuardedCollection } from '@pannier/backend'

export function sequenceText(sequence: number, epoch: string | undefined): string {
  return `${sequence}-${epoch ?? '0'}`
}

/** A `since` of a client, for this collection as it is now. */
export async function resolveSince(
  collection: GuardedCollection,
  since: string | undefined,
): Promise<{ readonly since: number; readonly epoch: string; readonly isOtherLife: boolean }> {
  const { epoch = '', lastSeq } = await collection.info()
  if (since === undefined || since === '' || since === '0') return { since: 0, epoch, isOtherLife: false }
  if (since === 'now') return { since: lastSeq, epoch, isOtherLife: false }
  const parts = SEQUENCE.exec(since)
  if (parts === null) throw badRequest('Malformed sequence supplied in the parameter since.')
  const sequence = Number(parts[1])
  // A bare number counts as one of this epoch. A sequence that the collection has not reached is of another epoch.
  const isOwn = (parts[2] === undefined || parts[2] === epoch) && sequence <= lastSeq
  return { since: isOwn ? sequence : 0, epoch, isOtherLife: !isOwn }
}

/** A sequence. Some clients quote it, as JSON. */
const SEQUENCE = /^"?(\d{1,15})(?:-([^"]*))?"?$/
