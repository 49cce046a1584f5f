/**
 * Hooks of records that are written through other doors, such as CouchDB's. They run outside of the transaction, as those of
 * `WriteHooks`, and once, however often the documents are judged.
 */
import { isObject } from 'pannier/internal'
import { isPannierError } from 'pannier'
import { holdsFiles, ownValue, typeOfField } from '../fields/field-types.ts'
import type { Passwords } from '../accounts/passwords.ts'
import type { Definition } from '../definitions/definition.ts'
import { toText } from '../fields/cast.ts'
import { meant } from '../fields/apply-input.ts'
import { NewFile } from '../fields/new-file.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { AroundWrites, GuardedOutcome } from '../gateway/guarded-writer.ts'
import type { GuardedWrite, Refusal } from '../gateway/guards.ts'
import { conflicting, forbidden, ServiceError } from '../gateway/service-error.ts'
import { HookRecord } from '../hooks/hook-record.ts'
import type { Suspended } from '../hooks/suspended.ts'
import { actorOf, definitionServedAs, draftOfDocument, preparedDocument, type DocumentParts } from './records-guard.ts'
import { changedDraft, listOf, storedValue, type Draft } from './write/draft.ts'
import { Judge, type JudgeParts } from './write/judge.ts'
import { prepareInput } from './write/prepare-input.ts'
import { WriteHooks, type WriteHooksParts } from './write/write-hooks.ts'

export interface DocumentHooksParts extends Omit<WriteHooksParts, 'judge' | 'definitions'>, JudgeParts, DocumentParts {
  readonly passwords: Passwords
}

/** A document, and its hooks if there are any. */
interface Begun {
  /** With what hooks have changed. */
  readonly document: JsonObject
  readonly hooked: { readonly suspended: Suspended; readonly record: HookRecord } | undefined
}

/** Runs hooks around writes of documents that are records. Those of a revision that was made elsewhere can refuse it, and no more. */
export function documentHooks(parts: DocumentHooksParts): AroundWrites {
  const hooks = new WriteHooks({ ...parts, judge: new Judge(parts) })
  return async (write, put) => {
    const definition = definitionServedAs(write.database, parts.definitions)
    if (definition === undefined || !hooks.areAbout(definition)) return put(write.documents)
    const begun: (Begun | ServiceError)[] = []
    for (const document of write.documents)
      begun.push(await begin(hooks, parts, write, definition, document).catch(asRefused))
    return end(write.documents, begun, put)
  }
}

/** Runs the hooks of a document as far as its write. None run for what is refused anyway. @throws what a hook throws */
async function begin(
  hooks: WriteHooks,
  parts: DocumentHooksParts,
  write: GuardedWrite,
  definition: Definition,
  document: JsonObject,
): Promise<Begun> {
  const { principal, newEdits } = write
  const { environment } = parts
  const unhooked: Begun = { document, hooked: undefined }
  const old = await storedBefore(write, document)
  const isDelete = document['_deleted'] === true
  if (old === 'known' || (isDelete && old === undefined)) return unhooked
  const prepared = await preparedDocument(parts, write, definition, document)
  if (prepared instanceof Error) return unhooked
  const draft = isDelete ? undefined : draftOfDocument({ principal, definition, old, chance: environment }, prepared)
  const actor = actorOf(principal, old)
  if (!(await hooks.admits(actor, definition, { old, draft }))) return unhooked
  const record =
    draft === undefined
      ? HookRecord.of(definition, old!, environment)
      : new HookRecord(definition, { stored: old, values: withoutHashes(draft) }, environment)
  const kind = draft === undefined ? 'Delete' : old === undefined ? 'Create' : 'Update'
  const again = draft && ((): Draft => changedDraft(draft, record.changes))
  const suspended = await hooks.start({ actor, definition, kind, record, draft: again })
  if (!suspended.wantsRest) throw forbidden('A hook has stopped the write: it has not called next().')
  const isChanged = newEdits && draft !== undefined && record.changes.length > 0
  const wanted = isChanged ? await changedDocument(prepared, changedDraft(draft, record.changes), parts) : document
  return { document: wanted, hooked: { suspended, record } }
}

/** The record as it is. `known`: the revision is here, or names one that is not, so nothing will be written. */
async function storedBefore(
  { newEdits, stored }: GuardedWrite,
  { _id: id, _rev: rev }: JsonObject,
): Promise<JsonObject | undefined | 'known'> {
  if (typeof id !== 'string') return undefined
  if (id.startsWith('_')) return 'known'
  const old = await stored.get(id)
  if (old === undefined || (newEdits && old['_rev'] === rev)) return old
  const isThere = (await stored.leaves(id)).some((leaf) => leaf['_rev'] === rev)
  return isThere === newEdits ? old : 'known'
}

/** Writes what no hook refuses, and runs the hooks to their end. What they throw after a write comes too late to refuse it. */
async function end(
  documents: readonly JsonObject[],
  begun: readonly (Begun | ServiceError)[],
  put: Parameters<AroundWrites>[1],
): Promise<GuardedOutcome[]> {
  const wanted = begun.filter((one): one is Begun => !(one instanceof ServiceError))
  let written: GuardedOutcome[]
  try {
    written = wanted.length === 0 ? [] : await put(wanted.map(({ document }) => document))
  } catch (error) {
    for (const { hooked } of wanted) await hooked?.suspended.fail(asServiceError(error)).catch(() => {})
    throw error
  }
  const ended = await Promise.all(wanted.map((one, at) => endOne(one, written[at]!)))
  return begun.map((one, at) =>
    one instanceof ServiceError ? { id: toText(documents[at]!['_id']), error: one } : ended.shift()!,
  )
}

async function endOne({ document, hooked }: Begun, outcome: GuardedOutcome): Promise<GuardedOutcome> {
  if (hooked === undefined) return outcome
  const { suspended, record } = hooked
  if (!('error' in outcome)) {
    if (document['_deleted'] !== true) record.settle({ ...document, _id: outcome.id, _rev: outcome.rev })
    await suspended.resume().catch(() => {})
    return outcome
  }
  const shown = asServiceError(outcome.error)
  const refusal: unknown = await suspended.fail(shown).catch((error: unknown) => error)
  return refusal === shown ? outcome : { id: outcome.id, error: refusal as Refusal }
}

/** Files that no field names any more go with the change. */
async function changedDocument(
  document: JsonObject,
  draft: Draft,
  parts: Pick<DocumentHooksParts, 'environment' | 'passwords'>,
): Promise<JsonObject> {
  const { definition, changes, values, isSuperuser } = draft
  const { fields } = definition
  const { hashes } = await prepareInput({ definition, input: {}, changes, isSuperuser, namings: 1 }, parts)
  const changed = new Set(changes.flatMap(([key]) => meant(fields, key)?.[0] ?? []))
  const attachments = isObject(document['_attachments']) ? { ...document['_attachments'] } : {}
  const made: JsonObject = { ...document }
  for (const field of changed) {
    const { name } = field
    made[name === 'id' ? '_id' : name] = storedValue(field, values[name], hashes)
    if (!holdsFiles(field)) continue
    const names = new Set(listOf(ownValue(made, name)))
    for (const gone of listOf(ownValue(document, name))) if (!names.has(gone)) delete attachments[gone as string]
    for (const file of listOf(ownValue(values, name)))
      if (file instanceof NewFile) attachments[file.name] = { data: file.stream(), contentType: file.type }
  }
  if (Object.keys(attachments).length > 0 || document['_attachments'] !== undefined) made['_attachments'] = attachments
  return made
}

function withoutHashes({ definition: { fields }, values }: Draft): JsonObject {
  const empty = fields.filter((field) => typeOfField(field).isHashed).map(({ name }) => [name, ''] as const)
  return { ...values, ...Object.fromEntries(empty) }
}

/** As hooks know errors. */
function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const isConflict = isPannierError(error, 'PANNIER_CONFLICT')
  return isConflict ? conflicting() : new ServiceError('INVALID', 'The document can not be written.', { cause: error })
}

function asRefused(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  throw error
}
