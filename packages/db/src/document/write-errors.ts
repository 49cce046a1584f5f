/** Why writes to documents are refused. */
import { PannierError } from '../base/errors.ts'
import type { BodyView } from './body.ts'
import { revisionText } from './revision.ts'
import type { Revision } from './revision.ts'

/** `current`: the live winner, if there is one. */
export function conflict(id: string, current: BodyView | Revision | undefined): PannierError {
  const rev = current && revisionText(current)
  const what = current === undefined ? 'does not exist' : `exists with the revision ${rev}`
  return new PannierError('PANNIER_CONFLICT', `The document '${id}' ${what}.`, { details: { id, rev } })
}

export function notFound(id: string): PannierError {
  return new PannierError('PANNIER_NOT_FOUND', `There is no document '${id}'.`, { details: { id } })
}

export function tooManyGenerations(id: string): PannierError {
  return new PannierError('PANNIER_LIMIT', `The document '${id}' has had too many edits.`, { details: { id } })
}
