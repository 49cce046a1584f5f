/** Local documents: `_local/…`. */
import { isPannierError } from 'pannier'
import { createError, MISSING_DOC } from 'pouchdb-errors'
import { answer, unlessRefused } from './failures.ts'
import type { AdapterMethods, Callback, LocalRest, Place, PouchDocument, WriteAnswer } from './pouch.ts'

/**
 * The library refuses names that begin with an underscore, and PouchDB stores them. A document with such names lies whole under this
 * name.
 */
const WRAPPED = '$pouchdb'
/** As PouchDB says it of a local document that is gone. */
const REMOVED = '0-0'

type Locals = '_getLocal' | '_putLocal' | '_removeLocal'

export function localMethods(opening: Promise<Place>): Pick<AdapterMethods, Locals> {
  return {
    _getLocal: (id, callback) => answer(callback, async () => getLocal(await opening, id)),
    _putLocal: (document, ...rest) => answer(callbackOf(rest), async () => putLocal(await opening, document)),
    _removeLocal: (document, ...rest) => answer(callbackOf(rest), async () => removeLocal(await opening, document)),
  }
}

function callbackOf(rest: LocalRest): Callback<WriteAnswer> {
  return rest.at(-1) as Callback<WriteAnswer>
}

async function getLocal({ docs }: Place, id: string): Promise<PouchDocument> {
  const stored = await unlessRefused(() => docs.local.get(id))
  if (stored === undefined) throw createError(MISSING_DOC)
  const content = WRAPPED in stored ? (stored[WRAPPED] as PouchDocument) : stored
  return { ...content, _id: id, _rev: stored._rev }
}

export async function putLocal({ docs }: Place, document: PouchDocument): Promise<WriteAnswer> {
  const { _revisions: _, _id: id, _rev: rev, ...fields } = document
  const isPlain = !Object.keys(fields).some((name) => name.startsWith('_'))
  const content = isPlain ? fields : { [WRAPPED]: fields }
  const written = await docs.local.put({
    ...content,
    _id: id as string,
    ...(rev !== undefined && { _rev: rev as string }),
  })
  return { ok: true, id, rev: written.rev }
}

export async function removeLocal({ docs }: Place, { _id: id, _rev: rev }: PouchDocument): Promise<WriteAnswer> {
  const reference = rev === undefined ? (id as string) : { _id: id as string, _rev: rev as string }
  try {
    if ((await unlessRefused(() => docs.local.delete(reference))) !== undefined) return { ok: true, id, rev: REMOVED }
  } catch (error) {
    if (!isPannierError(error, 'PANNIER_CONFLICT')) throw error
  }
  // In PouchDB another revision is one that does not exist.
  throw createError(MISSING_DOC)
}
