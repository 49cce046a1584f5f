/**
 * Guards that design documents bring. They must compile, and the `validate_doc_update` of each judges every write of
 * other documents, by any principal and route.
 */
import { isObject } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { DEFAULT_SECURITY } from '../auth/permissions.ts'
import { toHttpError } from '../http/http-error.ts'
import { ServiceError } from '@pannier/backend'
import type { GuardedDocuments, GuardedWrite, Refusal, StoredDocuments, WriteGuard } from '@pannier/backend'
import { asInvalid, conflicting } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { DESIGN_PREFIX, type DesignDocuments } from './design-documents.ts'
import type { ValidateFunction } from './functions.ts'

type Verdict = JsonObject | Refusal

/**
 * Call it after the check that the user may write design documents. A replicated one is stored as it is, and fails when
 * it is used. But with a `validate_doc_update` that is not a function nothing more could be written.
 */
export function compilationGuard(designs: DesignDocuments): WriteGuard {
  const prepare = ({ database, stored, documents, newEdits }: GuardedWrite): ReturnType<Prepare> => {
    if (!documents.some(isDesign)) return documents
    return eachInOrder(documents, async (document) => {
      if (!isDesign(document)) return document
      const isDeleted = document['_deleted'] === true
      if (!isDeleted) await designs.check(document, newEdits ? 'all' : 'validation', database)
      const previous = await stored.get(document['_id'] as string)
      if (previous !== undefined) await designs.dropViews(stored, previous, isDeleted ? undefined : document)
      return document
    })
  }
  return {
    prepare,
    written: ({ database }, documents) => {
      if (documents.some(isDesign)) designs.changed(database)
    },
  }
}

type Prepare = NonNullable<WriteGuard['prepare']>

export function validationGuard(
  environment: Environment,
  designs: DesignDocuments,
  securityOf: (database: string) => Promise<JsonObject | undefined>,
): WriteGuard {
  const prepare = async (write: GuardedWrite): Promise<GuardedDocuments> => {
    const { principal, database, stored, documents } = write
    const validators = [...(await designs.all(stored)).values()].flatMap(({ functions }) => functions.validate ?? [])
    if (validators.length === 0) return documents
    const { name, roles } = principal
    const user = { db: database, name, roles }
    const security = (await securityOf(database)) ?? DEFAULT_SECURITY
    const validate: Validate = async (document, previous) => {
      for (const validator of validators) await validator(document, previous, user, security)
    }
    return eachInOrder(documents, (document) =>
      isDesign(document) ? document : validated(environment, write, document, validate),
    )
  }
  return { prepare }
}

type Validate = (document: JsonObject, previous: JsonObject | undefined) => ReturnType<ValidateFunction>

async function validated(
  environment: Environment,
  { stored, newEdits }: GuardedWrite,
  document: JsonObject,
  validate: Validate,
): Promise<Verdict> {
  const { _id = environment.randomId() } = document
  const id = _id as string
  const previous = newEdits ? await editedRevision(stored, id, document) : await knownAncestor(stored, id, document)
  if (previous instanceof ServiceError) return previous
  const named = { ...document, _id: id }
  await validate(withoutContent(named), previous)
  return named
}

/**
 * The leaf revision that an edit replaces. It is still true when the document is written: a write in between makes the
 * edit a conflict.
 */
async function editedRevision(
  stored: StoredDocuments,
  id: string,
  { _rev: rev }: JsonObject,
): Promise<JsonObject | ServiceError | undefined> {
  const current = await asInvalid(() => stored.get(id, rev === undefined ? {} : { rev: rev as string }))
  return (current === undefined) === (rev === undefined) ? current : conflicting()
}

/** The newest ancestor of a replicated revision whose content is there. */
async function knownAncestor(
  stored: StoredDocuments,
  id: string,
  { _rev: rev, _revisions: history }: JsonObject,
): Promise<JsonObject | undefined> {
  const { start, ids } = isObject(history) ? (history as { start: number; ids: string[] }) : { start: 0, ids: [] }
  const path = new Set(ids.map((suffix, index) => `${start - index}-${suffix}`))
  path.delete(rev as string)
  if (path.size === 0) return undefined
  const leaves = await asInvalid(() => stored.leaves(id))
  return leaves.find((leaf) => path.has(leaf['_rev'] as string))
}

/** Attachments become stubs: functions don't see content, and it may not have arrived yet. */
function withoutContent(document: JsonObject): JsonObject {
  const { _attachments: attachments } = document
  if (!isObject(attachments)) return document
  const stubs = Object.entries(attachments).map(([name, attachment]) => {
    const { data, ...rest } = attachment as JsonObject
    const length = data instanceof Uint8Array ? { length: data.length } : {}
    return [name, { ...length, ...rest, stub: true }]
  })
  return { ...document, _attachments: Object.fromEntries(stubs) as JsonObject }
}

async function eachInOrder(
  documents: readonly JsonObject[],
  judge: (document: JsonObject) => Promise<Verdict> | Verdict,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const document of documents) {
    try {
      verdicts.push(await judge(document))
    } catch (error) {
      // A failure that may pass must not look like a decision about this document.
      const status = toHttpError(error)?.status ?? 500
      if (status >= 500) throw error
      verdicts.push(error as Refusal)
    }
  }
  return verdicts
}

function isDesign({ _id }: JsonObject): boolean {
  return typeof _id === 'string' && _id.startsWith(DESIGN_PREFIX)
}
