/** Writes documents of requests through the gateway; each has its own outcome. */
import type { FastifyRequest } from 'fastify'
import { isPannierError } from 'pannier'
import type { WriteResult } from 'pannier'
import { asBadRequest, documentTooLarge, HttpError, toHttpError, toReplicaError } from '../http/http-error.ts'
import { ServiceError } from '@pannier/backend'
import type { Principal } from '@pannier/backend'
import { isLocalId } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { writeLocalDocument } from './local-documents.ts'
import type { ServerContext } from './server-context.ts'

export interface WriteRequest {
  readonly request: FastifyRequest
  /** The database as in the URL. */
  readonly database: string
  /** Checked (document-input.ts). */
  readonly documents: readonly JsonObject[]
  /** False: revisions of other replicas, taken up as they are. */
  readonly newEdits: boolean
}

const GROUPED_BYTES_MAX: number = 64 * 1024

/** The answer for one document. */
export type WireOutcome = WriteResult | HttpError

/** Aligned with the documents. @throws HttpError, ServiceError for what concerns all of them */
export async function writeDocuments(
  { gateway, countWrites }: ServerContext,
  { request, database, documents, newEdits }: WriteRequest,
): Promise<WireOutcome[]> {
  const collection = await gateway.collection(request.principal, database)
  countWrites(request.principal, database, documents)
  const outcomes: WireOutcome[] = []
  const places: number[] = []
  for (const [place, document] of documents.entries()) {
    if (isLocalId(document['_id'])) outcomes[place] = await writeLocalDocument(collection, document)
    else places.push(place)
  }
  const wanted = places.length === documents.length ? documents : places.map((place) => documents[place]!)
  if (wanted.length === 0) return outcomes
  const grouped = newEdits && wanted.length === 1 && isSmall(request, wanted[0]!)
  const written = await asBadRequest(() => collection.put(wanted, { newEdits, grouped }))
  for (const [index, place] of places.entries()) {
    const outcome = written[index]!
    outcomes[place] = 'error' in outcome ? known(outcome.error, newEdits, request.principal) : outcome
  }
  return outcomes
}

/** @throws HttpError, ServiceError */
export async function writeDocument(
  context: ServerContext,
  write: Omit<WriteRequest, 'documents'> & { readonly document: JsonObject },
): Promise<WriteResult> {
  const [outcome] = await writeDocuments(context, { ...write, documents: [write.document] })
  if (outcome instanceof HttpError) throw outcome
  return outcome!
}

/** Larger ones, and attachments that may have to be waited for, must not delay others. */
function isSmall({ headers }: FastifyRequest, document: JsonObject): boolean {
  return document['_attachments'] === undefined && Number(headers['content-length'] ?? 0) <= GROUPED_BYTES_MAX
}

function known(error: unknown, newEdits: boolean, { isAdmin }: Principal): HttpError {
  // As many attachments, or edits, as no document may have.
  if (isPannierError(error, 'PANNIER_LIMIT_EXCEEDED')) return documentTooLarge(error.message)
  const found = !newEdits && error instanceof ServiceError ? toReplicaError(error) : toHttpError(error)
  // A replication skips a refused document, but must send it again if only room was missing.
  if (found === undefined || found.status === 507) throw error
  const isNotUnique = isPannierError(error, 'PANNIER_NOT_UNIQUE')
  if (!isNotUnique && !isPannierError(error, 'PANNIER_RELATION_BROKEN')) return found
  const reason = isAdmin ? error.message : found.reason
  return !newEdits && isNotUnique
    ? new HttpError(403, 'forbidden', reason)
    : new HttpError(found.status, found.error, reason)
}
