/** Batches of writes: `_bulkDocs`. */
import { isPannierError, type WriteResult } from 'pannier'
import { createError, MISSING_DOC, REV_CONFLICT } from 'pouchdb-errors'
import { answer, failureOf } from './failures.ts'
import { inputOf, isLocal, type Input } from './documents.ts'
import { putLocal, removeLocal } from './local-documents.ts'
import { putUnderOwnNames } from './own-revisions.ts'
import type { AdapterMethods, BulkRequest, Place, PouchDocument, WriteAnswer, WriteOptions } from './pouch.ts'

/** `isDeterministic`: the content names revisions, as it does in the library. */
export function writeMethods(opening: Promise<Place>, isDeterministic: boolean): Pick<AdapterMethods, '_bulkDocs'> {
  let place: Place | undefined
  opening.then(
    (opened) => (place = opened),
    () => undefined,
  )
  return {
    _bulkDocs: (request, options, callback) =>
      answer(callback, async () => {
        // Nothing is awaited before the library has encoded the documents: their owner may change them afterwards.
        const there = place ?? (await opening)
        return await bulkDocs(there, request, { ...options, isDeterministic })
      }),
  }
}

/** The fate of a document. */
type Outcome = WriteResult | { readonly id: string; readonly error: Error }

interface BulkOptions extends WriteOptions {
  readonly isDeterministic: boolean
}

async function bulkDocs(place: Place, { docs }: BulkRequest, options: BulkOptions): Promise<WriteAnswer[]> {
  const { new_edits: newEdits = true } = options
  const inputs = docs.flatMap((document) => (isLocal(document['_id']) ? [] : [inputOf(document, newEdits)]))
  const written = await writeInputs(place, inputs, options)
  let next = 0
  const answers: WriteAnswer[] = []
  for (const document of docs)
    answers.push(isLocal(document['_id']) ? await writeLocal(place, document) : written[next++]!)
  return answers
}

async function writeLocal(place: Place, document: PouchDocument): Promise<WriteAnswer> {
  try {
    return await (document['_deleted'] ? removeLocal(place, document) : putLocal(place, document))
  } catch (error) {
    return failureOf(error) as WriteAnswer
  }
}

async function writeInputs(place: Place, inputs: readonly Input[], options: BulkOptions): Promise<WriteAnswer[]> {
  const { new_edits: newEdits = true, was_delete: isRemoval = false, isDeterministic } = options
  const [first] = inputs
  if (first === undefined) return []
  if (isRemoval) {
    const state = await stateOf(place, first._id)
    if (state === 'missing') return [createError(MISSING_DOC, 'deleted')]
    if (state === 'deleted') return [createError(REV_CONFLICT)]
  }
  const outcomes =
    newEdits && !isDeterministic ? await putUnderOwnNames(place, inputs) : await put(place, inputs, newEdits)
  return outcomes.map(answerOf)
}

/** A stub without an attachment fails the whole request, as in PouchDB. */
function answerOf(outcome: Outcome): WriteAnswer {
  if (!('error' in outcome)) return { ok: true, id: outcome.id, rev: outcome.rev }
  const { error } = outcome
  if (isPannierError(error, 'PANNIER_ATTACHMENT_MISSING')) throw error
  return failureOf(error) as WriteAnswer
}

async function stateOf({ docs }: Place, id: string): Promise<'live' | 'deleted' | 'missing'> {
  const [row] = await docs.list({ ids: [id] }).toArray()
  if (row === undefined || 'error' in row) return 'missing'
  return 'deleted' in row ? 'deleted' : 'live'
}

/** A request may edit a document several times, in its order. The library takes each document once in a batch. */
async function put(place: Place, inputs: readonly Input[], newEdits: boolean): Promise<Outcome[]> {
  const ids = new Set(inputs.map(({ _id }) => _id))
  return newEdits && ids.size < inputs.length ? putEach(place, inputs, newEdits) : putBatch(place, inputs, newEdits)
}

/** In one commit where that is possible. The library refuses a batch with a malformed document, and PouchDB that document only. */
async function putBatch(place: Place, inputs: readonly Input[], newEdits: boolean): Promise<Outcome[]> {
  const { docs } = place
  const options = { atomic: false, newEdits } as const
  try {
    return await docs.put(inputs, options)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    if (inputs.length > 1) return await putEach(place, inputs, newEdits)
  }
  const [input] = inputs
  try {
    return await docs.put([asJson(input!)], options)
  } catch (error) {
    if (error instanceof TypeError) return [{ id: input!._id, error }]
    throw error
  }
}

async function putEach(place: Place, inputs: readonly Input[], newEdits: boolean): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const input of inputs) outcomes.push(...(await putBatch(place, [input], newEdits)))
  return outcomes
}

/** With null for numbers that JSON does not have, as PouchDB stores them. */
function asJson({ _attachments: attachments, ...content }: Input): Input {
  const copy = JSON.parse(JSON.stringify(content)) as Input
  return attachments === undefined ? copy : { ...copy, _attachments: attachments }
}
