/** Reads the parameters of a GET of a document, and finds the document. */
import { toCouchDocument } from 'pannier/internal'
import { asBadRequest, badRequest, notFound } from '../http/http-error.ts'
import type { QueryParameters } from '../http/query-parameters.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { checkRevision } from './document-input.ts'

interface ReadFields {
  readonly revs: boolean
  readonly revsInfo: boolean
  readonly conflicts: boolean
  readonly deletedConflicts: boolean
}

export interface DocumentRead extends ReadFields {
  readonly rev: string | undefined
  readonly latest: boolean
  /** Include the content of attachments. */
  readonly attachments: boolean
  /** The client has these revisions, and so their attachments. */
  readonly attachmentsSince: readonly string[]
  readonly openRevisions: 'all' | readonly string[] | undefined
  readonly localSequence: boolean
}

export function documentRead(parameters: QueryParameters): DocumentRead {
  const meta = parameters.flag('meta')
  const rev = parameters.text('rev')
  const attachmentsSince = parameters.texts('atts_since')
  return {
    rev: rev === undefined ? undefined : checkRevision(rev),
    latest: parameters.flag('latest'),
    revs: parameters.flag('revs'),
    revsInfo: parameters.flag('revs_info', meta),
    conflicts: parameters.flag('conflicts', meta),
    deletedConflicts: parameters.flag('deleted_conflicts', meta),
    attachments: parameters.flag('attachments', attachmentsSince !== undefined),
    attachmentsSince: (attachmentsSince ?? []).map(checkRevision),
    openRevisions: openRevisions(parameters),
    localSequence: parameters.flag('local_seq'),
  }
}

/** Only the document as it is: then its revision says whether it is still the same. */
export function isPlainRead(read: DocumentRead): boolean {
  const { revs, revsInfo, conflicts, deletedConflicts, attachments, openRevisions, localSequence } = read
  return !revs && !revsInfo && !conflicts && !deletedConflicts && !attachments && !openRevisions && !localSequence
}

/**
 * Returns the document in CouchDB's JSON, with attachments as stubs.
 *
 * @throws HttpError 404
 */
export async function findDocument(
  collection: GuardedCollection,
  id: string,
  {
    rev,
    latest,
    revs,
    revsInfo,
    conflicts,
    deletedConflicts,
  }: ReadFields & { rev?: string | undefined; latest?: boolean },
): Promise<JsonObject> {
  const fields = { revs, revsInfo, conflicts, deletedConflicts }
  const found =
    rev === undefined
      ? await collection.get(id, fields)
      : await asBadRequest(() => collection.get(id, { ...fields, rev, ...(latest && { latest }) }))
  if (found !== undefined) return revsInfo || deletedConflicts ? toWire(found) : toCouchDocument(found)
  throw notFound(rev === undefined ? await whyMissing(collection, id) : 'missing')
}

/** Returns the document in CouchDB's JSON, with CouchDB's names of fields about revisions. */
function toWire(document: JsonObject): JsonObject {
  const { _revsInfo, _deletedConflicts, ...others } = toCouchDocument(document)
  return {
    ...others,
    ...(_revsInfo !== undefined && { _revs_info: _revsInfo }),
    ...(_deletedConflicts !== undefined && { _deleted_conflicts: _deletedConflicts }),
  }
}

export async function whyMissing(collection: GuardedCollection, id: string): Promise<'deleted' | 'missing'> {
  const [row] = await collection.list({ ids: [id] }).toArray()
  return row !== undefined && 'deleted' in row ? 'deleted' : 'missing'
}

function openRevisions(parameters: QueryParameters): 'all' | readonly string[] | undefined {
  const text = parameters.text('open_revs')
  if (text === undefined || text === 'all') return text
  const revs = parameters.json('open_revs')
  if (revs === 'all') return revs
  if (!Array.isArray(revs)) throw badRequest('open_revs is `all` or an array of revisions')
  return revs.map(checkRevision)
}
