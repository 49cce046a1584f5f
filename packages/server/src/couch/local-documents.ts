/**
 * Writes of `_local/` documents, with CouchDB's rules: the last write wins, whatever revision it names. One exception:
 * a write may name a revision that this database has not reached. It then belongs to an earlier database of this name,
 * and the replication that sends it must learn this.
 */
import { LOCAL_PREFIX } from 'pannier/internal'
import type { WriteResult } from 'pannier'
import { isPannierError } from 'pannier'
import { asBadRequest, badRequest, conflict, HttpError } from '../http/http-error.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'

/** CouchDB's own fields of documents. Local documents ignore them. */
export const META_FIELDS: readonly string[] = [
  '_id',
  '_rev',
  '_deleted',
  '_attachments',
  '_revisions',
  '_revs_info',
  '_local_seq',
  '_conflicts',
  '_deleted_conflicts',
]

/**
 * Returns the fields to store, and whether the document is deleted.
 *
 * @throws HttpError 400
 */
export function checkLocalDocument(id: string, document: JsonObject): JsonObject {
  if (id === LOCAL_PREFIX) throw new HttpError(400, 'illegal_docid', 'Document id must not be empty')
  const content: JsonObject = {}
  for (const [field, value] of Object.entries(document)) {
    if (!field.startsWith('_') || field === '__proto__')
      Object.defineProperty(content, field, { value, enumerable: true, configurable: true, writable: true })
    else if (!META_FIELDS.includes(field))
      throw new HttpError(400, 'doc_validation', `Bad special document member: ${field.slice(0, 80)}`)
  }
  const { _rev, _deleted } = document
  if (_rev !== undefined && typeof _rev !== 'string') throw badRequest('Invalid rev format')
  return { ...content, _id: id, ...(_rev !== undefined && { _rev }), ...(_deleted === true && { _deleted }) }
}

/** Writes a local document, which was checked. */
export async function writeLocalDocument(
  collection: GuardedCollection,
  { _id, _rev: rev, _deleted, ...content }: JsonObject,
): Promise<WriteResult> {
  const id = _id as string
  if (_deleted === true) {
    await asBadRequest(() => collection.deleteLocal(id))
    return { id, rev: '0-0' }
  }
  for (;;) {
    const current = await asBadRequest(() => collection.getLocal(id))
    if (typeof rev === 'string' && versionOf(rev) > versionOf(current?._rev)) throw conflict()
    const document = { ...content, _id: id, ...(current !== undefined && { _rev: current._rev }) }
    try {
      return await asBadRequest(() => collection.putLocal(document))
    } catch (error) {
      // Somebody else was faster.
      if (!isPannierError(error, 'PANNIER_CONFLICT')) throw error
    }
  }
}

/** N of `0-N`. */
function versionOf(rev = '0-0'): number {
  return Number(/^0-(\d{1,15})$/.exec(rev)?.[1] ?? 0)
}
