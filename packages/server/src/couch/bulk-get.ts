/** `_bulk_get`: several revisions of several documents, as JSON or in parts. */
import { isObject } from 'pannier/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DatabaseRoute } from '../http/declarations.ts'
import { badRequest, HttpError, tooLarge } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJsonObject } from '../http/request-body.ts'
import { sendPieces } from '../http/streamed-reply.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { documentPieces, knownGeneration } from './attachment-content.ts'
import { jsonLimits } from './server-context.ts'
import { checkDocumentId, checkRevision } from './document-input.ts'
import { leavesOf, readSome, REVISIONS_PER_READ } from './revision-content.ts'
import type { WantedRevision } from './revision-content.ts'
import type { Routes, ServerContext } from './server-context.ts'
import { mixedParts } from './write-multipart.ts'
import type { MixedResult } from './write-multipart.ts'

/** The most references, as CouchDB's default. */
const REFERENCES_MAX = 10_000

export const bulkGetRoutes: Routes = (app, context) => {
  app.post<DatabaseRoute>('/:db/_bulk_get', { config: { needs: 'member' } }, async (request, reply) =>
    postBulkGet(context, request, reply),
  )
}

interface Reference {
  readonly id: string
  readonly rev: string | undefined
  readonly attachmentsSince: readonly string[]
  /** The error: why it can't be looked for. */
  readonly error: HttpError | undefined
}

interface BulkRead {
  readonly revs: boolean
  readonly latest: boolean
  readonly attachments: boolean
}

async function postBulkGet(
  context: ServerContext,
  request: FastifyRequest<DatabaseRoute>,
  reply: FastifyReply,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, request.params.db)
  const body = await readJsonObject(request, jsonLimits(context))
  const { docs } = body
  if (!Array.isArray(docs)) throw badRequest('Missing JSON list of `docs`.')
  if (docs.length > REFERENCES_MAX)
    throw tooLarge(`\`docs\` has ${docs.length} entries: at most ${REFERENCES_MAX} are answered at once`)
  const parameters = new QueryParameters(request, body)
  const read = {
    revs: parameters.flag('revs'),
    latest: parameters.flag('latest'),
    attachments: parameters.flag('attachments'),
  }
  const references = docs.map(referenceOf)
  if (!/multipart\/(?:mixed|related)/i.test(request.headers.accept ?? ''))
    return sendPieces(reply, 'application/json', (gone) => bulkPieces(collection, references, read, gone), {
      gather: true,
    })
  const boundary = context.environment.randomId()
  const generations = new WeakMap<JsonObject, number>()
  return sendPieces(reply, `multipart/mixed; boundary="${boundary}"`, (gone) =>
    mixedParts(
      collection,
      mixedResults(collection, references, read, generations, gone),
      (document) => generations.get(document) ?? Infinity,
      boundary,
    ),
  )
}

function referenceOf(wanted: unknown): Reference {
  if (!isObject(wanted)) throw badRequest('`docs` must be an array of objects.')
  const { id, rev, atts_since } = wanted
  const attachmentsSince = Array.isArray(atts_since) ? atts_since.filter((one) => typeof one === 'string') : []
  const given = { id: textOf(id), rev: rev === undefined || rev === null ? undefined : textOf(rev), attachmentsSince }
  try {
    checkDocumentId(id)
    if (given.rev !== undefined) checkRevision(given.rev)
    return { ...given, error: undefined }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { ...given, error }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

/** The revisions to read for a reference. */
interface Item {
  readonly reference: Reference
  readonly wanted: WantedRevision
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** A reference without a revision is for all leaves. */
async function itemsOf(collection: GuardedCollection, references: readonly Reference[]): Promise<Item[]> {
  const open = references.filter(({ rev, error }) => rev === undefined && error === undefined).map(({ id }) => id)
  const leaves = await leavesOf(collection, [...new Set(open)])
  return references.flatMap((reference) => {
    const { id, rev, error } = reference
    const named =
      error !== undefined ? [undefined] : rev !== undefined ? [{ id, rev }] : (leaves.get(id) ?? [undefined])
    return named.map((wanted, at) => ({ reference, wanted, isFirst: at === 0, isLast: at === named.length - 1 }))
  })
}

/** Calls `use` with each item and its document, some at a time, until the client leaves; nothing of it is kept in between. */
async function* inBatches<Made>(
  collection: GuardedCollection,
  references: readonly Reference[],
  { latest }: BulkRead,
  gone: AbortSignal,
  use: (item: Item, document: JsonObject | undefined) => Made,
): AsyncGenerator<readonly Made[]> {
  for (let at = 0; at < references.length; at += REVISIONS_PER_READ) {
    let items = await itemsOf(collection, references.slice(at, at + REVISIONS_PER_READ))
    while (items.length > 0 && !gone.aborted) {
      const some = items.slice(0, REVISIONS_PER_READ)
      const wanted = some.map((item) => item.wanted)
      const made = await readSome(collection, wanted, latest).then((documents) =>
        documents.map((document, place) => use(some[place]!, document)),
      )
      items = items.slice(made.length)
      yield made
    }
  }
}

/** One part for each reference, in their order. `generations` selects the attachments to include. */
async function* mixedResults(
  collection: GuardedCollection,
  references: readonly Reference[],
  read: BulkRead,
  generations: WeakMap<JsonObject, number>,
  gone: AbortSignal,
): AsyncGenerator<MixedResult> {
  const batches = inBatches(collection, references, read, gone, ({ reference }, document): MixedResult => {
    if (document === undefined) return missingOf(reference)
    // One document may be asked for with several generations.
    const ok = { ...shown(document, read) }
    if (read.attachments) generations.set(ok, knownGeneration(document, reference.attachmentsSince))
    return { ok }
  })
  for await (const results of batches) yield* results
}

function missingOf({ id, rev, error }: Reference): { readonly error: JsonObject } {
  const reason = error?.reason ?? 'missing'
  return { error: { id, rev: rev ?? 'undefined', error: error?.error ?? 'not_found', reason } }
}

/** The answer in JSON, in pieces. */
async function* bulkPieces(
  collection: GuardedCollection,
  references: readonly Reference[],
  read: BulkRead,
  gone: AbortSignal,
): AsyncGenerator<string> {
  let last: { readonly document: JsonObject; readonly text: string } | undefined
  const batches = inBatches(collection, references, read, gone, ({ reference, isFirst, isLast }, document) => {
    const start = isFirst ? `\n{"id":${JSON.stringify(reference.id)},"docs":[` : ','
    const end = isLast ? ']}' : ''
    if (document === undefined) return { isFirst, start, ok: JSON.stringify(missingOf(reference)), end }
    const ok = shown(document, read)
    if (read.attachments) return { isFirst, start, ok: () => contentPieces(collection, reference, ok, document), end }
    if (last?.document !== document) last = { document, text: JSON.stringify(ok) }
    return { isFirst, start, ok: `{"ok":${last.text}}`, end }
  })
  yield '{"results":['
  let separator = ''
  for await (const batch of batches) {
    last = undefined
    let text = ''
    for (const { isFirst, start, ok, end } of batch) {
      text += isFirst ? separator + start : start
      separator = ','
      if (typeof ok === 'string') text += ok
      else {
        yield text
        yield* await ok()
        text = ''
      }
      text += end
      if (text.length >= PIECE_CHARS) {
        yield text
        text = ''
      }
    }
    yield text
  }
  yield '\n]}\n'
}

const PIECE_CHARS: number = 16 * 1024

async function contentPieces(
  collection: GuardedCollection,
  reference: Reference,
  ok: JsonObject,
  document: JsonObject,
): Promise<AsyncGenerator<string> | string[]> {
  try {
    const generation = knownGeneration(document, reference.attachmentsSince)
    return okPieces(await documentPieces(collection, ok, generation))
  } catch (failure) {
    if (!(failure instanceof HttpError)) throw failure
    return [JSON.stringify(missingOf(reference))]
  }
}

export async function* okPieces(document: AsyncIterable<string>): AsyncGenerator<string> {
  yield '{"ok":'
  yield* document
  yield '}'
}

function shown(document: JsonObject, { revs }: BulkRead): JsonObject {
  if (revs) return document
  const { _revisions, ...rest } = document
  return rest
}
