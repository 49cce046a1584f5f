/** The one way of documents into a database: they pass the guards, and each gets an outcome of its own. */
import type { FastifyRequest } from 'fastify'
import { isPannierError } from 'pannier'
import type { WriteResult } from 'pannier'
import { DESIGN_PREFIX } from '../design/design-documents.ts'
import { asBadRequest, documentTooLarge, HttpError, toHttpError } from '../http/http-error.ts'
import { isLocalId } from '../service/documents.ts'
import { writeLocalDocument } from './local-documents.ts'
import type { ServerContext } from './server-context.ts'
import type { JsonObject } from '../service/documents.ts'
import { ServiceError } from '../service/service-error.ts'
import type { GuardedWrite, Refusal } from '../service/guards.ts'

export interface WriteRequest {
  readonly request: FastifyRequest
  /** As in the URL. */
  readonly database: string
  /** Checked (document-input.ts). */
  readonly documents: readonly JsonObject[]
  /** False: revisions of other replicas, taken up as they are. */
  readonly newEdits: boolean
}

const GROUPED_BYTES_MAX: number = 64 * 1024

export type WriteOutcome = WriteResult | HttpError

/** Aligned with the documents. @throws HttpError for what concerns all of them */
export function writeDocuments(context: ServerContext, write: WriteRequest): Promise<WriteOutcome[]> {
  const { request, database, newEdits } = write
  return context.databases.write(database, async (collection, room) => {
    const { principal } = request
    const guarded = { principal, database, collection, documents: write.documents, newEdits }
    const verdicts = await passGuards(context, guarded)
    const outcomes: (WriteOutcome | JsonObject)[] = verdicts.map((one) => (one instanceof Error ? known(one) : one))
    const all = placesOfDocuments(outcomes)
    const admitted = await room.admit(placedAt(outcomes, all))
    for (const [index, at] of all.entries()) outcomes[at] = admitted[index]!
    const places = all.filter((at) => !isLocal(outcomes[at]!))
    for (const at of all)
      if (isLocal(outcomes[at]!)) outcomes[at] = await writeLocalDocument(collection, outcomes[at] as JsonObject)
    const documents = placedAt(outcomes, places)
    const [first] = documents
    if (first === undefined) return outcomes as WriteOutcome[]
    const written = await asBadRequest(async () =>
      documents.length === 1 && newEdits && isSmall(request, first)
        ? [await context.databases.groups.put(collection, first)]
        : collection.put(documents, { atomic: false, newEdits }),
    )
    for (const [index, at] of places.entries()) {
      const outcome = written[index]!
      outcomes[at] = 'error' in outcome ? known(outcome.error) : outcome
    }
    if (documents.some(({ _id }) => typeof _id === 'string' && _id.startsWith(DESIGN_PREFIX)))
      context.designs.changed(collection)
    return outcomes as WriteOutcome[]
  })
}

/** What the guards leave of the documents, in their order. A replicated one that is refused is forbidden, which peers pass over. */
export async function passGuards(
  { writeGuards }: Pick<ServerContext, 'writeGuards'>,
  write: GuardedWrite,
): Promise<(JsonObject | Refusal)[]> {
  let outcomes: readonly (JsonObject | Refusal)[] = write.documents
  for (const guard of writeGuards) {
    const places = placesOfDocuments(outcomes).filter((at) => !isLocal(outcomes[at]!))
    if (places.length === 0) break
    const documents = placedAt(outcomes, places)
    const asked = guard(documents === write.documents ? write : { ...write, documents })
    const guarded = asked instanceof Promise ? await asked : asked
    if (guarded === documents) continue
    const next = [...outcomes]
    for (const [index, at] of places.entries()) next[at] = refusalOf(guarded[index]!, write.newEdits)
    outcomes = next
  }
  return [...outcomes]
}

function refusalOf(guarded: JsonObject | Refusal, newEdits: boolean): JsonObject | Refusal {
  const known = !newEdits && guarded instanceof Error ? toHttpError(guarded) : undefined
  return known?.status === 400
    ? new ServiceError('FORBIDDEN', known.message, { cause: guarded })
    : (guarded as JsonObject)
}

function isLocal(outcome: WriteOutcome | JsonObject | Refusal): boolean {
  return !(outcome instanceof Error) && isLocalId((outcome as JsonObject)['_id'])
}

/** @throws HttpError */
export async function writeDocument(
  context: ServerContext,
  write: Omit<WriteRequest, 'documents'> & { readonly document: JsonObject },
): Promise<WriteResult> {
  const [outcome] = await writeDocuments(context, { ...write, documents: [write.document] })
  if (outcome instanceof HttpError) throw outcome
  return outcome!
}

/** Larger ones, and attachments that may have to be waited for, must not hold up others. */
function isSmall({ headers }: FastifyRequest, document: JsonObject): boolean {
  return document['_attachments'] === undefined && Number(headers['content-length'] ?? 0) <= GROUPED_BYTES_MAX
}

function placesOfDocuments(outcomes: readonly (WriteOutcome | JsonObject | Refusal)[]): number[] {
  const places: number[] = []
  for (let at = 0; at < outcomes.length; at++) if (!(outcomes[at] instanceof Error)) places.push(at)
  return places
}

function placedAt(
  outcomes: readonly (WriteOutcome | JsonObject | Refusal)[],
  places: readonly number[],
): readonly JsonObject[] {
  if (places.length === outcomes.length) return outcomes as readonly JsonObject[]
  return places.map((at) => outcomes[at] as JsonObject)
}

function known(error: unknown): HttpError {
  // As many attachments, or edits, as no document may have.
  if (isPannierError(error, 'PANNIER_LIMIT')) return documentTooLarge(error.message)
  const found = toHttpError(error)
  // A replication passes over a document that is refused; what there is no room for must come again.
  if (found === undefined || found.status === 507) throw error
  return found
}
