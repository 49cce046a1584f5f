/** Reads of single documents: `_get`, attachments, trees of revisions, facts of the database. */
import type { RevisionReadOptions } from 'pannier/types'
import { toCouchDocument } from 'pannier/internal'
import { createError, MISSING_DOC } from 'pouchdb-errors'
import { binaryOf } from '#platform'
import { answer, unlessRefused } from './failures.ts'
import { contentForm, contentsOf, finishContents } from './attachments.ts'
import type { AdapterMethods, FoundDocument, GetOptions, Place, PouchDocument, RevisionTrees } from './pouch.ts'
import { lineageOf, treesOf, type DocumentWithHistory } from './revision-trees.ts'

type Reads = '_id' | '_info' | '_get' | '_getAttachment' | '_getRevisionTree'

export function readMethods(opening: Promise<Place>): Pick<AdapterMethods, Reads> {
  return {
    _id: (callback) => answer(callback, async () => (await (await opening).docs.info()).epoch),
    _info: (callback) => answer(callback, async () => infoOf(await opening)),
    _get: (id, options, callback) => answer(callback, async () => find(await opening, id, options)),
    _getRevisionTree: (id, callback) => answer(callback, async () => treesNamed(await opening, id)),
    _getAttachment: (id, name, _stub, { ctx }, callback) => {
      const { contents } = ctx ?? {}
      if (contents !== undefined) callback(null, contents[name])
      else answer(callback, async () => contentOf(await opening, id, name, ctx?.rev))
    },
  }
}

async function infoOf({ db, docs }: Place): Promise<PouchDocument> {
  const { documents, lastSeq } = await docs.info()
  return { doc_count: documents, update_seq: lastSeq, backend_adapter: db.storage }
}

async function find(place: Place, id: string, options: GetOptions): Promise<FoundDocument> {
  const { rev, revs, revs_info: revsInfo, conflicts } = options
  const stored = await read(place, id, options)
  if (stored === undefined) throw await missing(place, id, rev)
  const metadata = {
    id,
    rev: stored._rev,
    rev_tree: conflicts ? await treesNamed(place, id) : lineageOf(stored),
  }
  const { _revsInfo: _, ...document } = stored
  const doc = toCouchDocument(revs || revsInfo ? document : stored) as PouchDocument
  if (!options.attachments) return { doc, metadata, ctx: { rev: stored._rev, contents: undefined } }
  finishContents(doc, options)
  return { doc, metadata, ctx: { rev: stored._rev, contents: contentsOf(doc) } }
}

async function read({ docs }: Place, id: string, options: GetOptions): Promise<DocumentWithHistory | undefined> {
  const { rev, latest, revs, revs_info: revsInfo } = options
  const form = contentForm(options)
  const isPlain = !rev && !revs && !revsInfo && form.attachments === undefined
  const wanted: RevisionReadOptions = {
    ...(rev && { rev, latest: latest === true }),
    ...((revs || revsInfo) && { revsInfo: true }),
    ...form,
  }
  return await unlessRefused(() => (isPlain ? docs.get(id) : docs.get(id, wanted)))
}

/** Says whether the document was deleted, or lacks the revision that was asked for. */
export async function missing({ docs }: Place, id: string, rev?: string): Promise<Error> {
  const [row] = (await unlessRefused(() => docs.list({ ids: [id] }).toArray())) ?? []
  if (row === undefined || 'error' in row) return createError(MISSING_DOC, 'missing')
  return rev ? createError(MISSING_DOC) : createError(MISSING_DOC, 'deleted' in row ? 'deleted' : 'missing')
}

async function treesNamed({ docs }: Place, id: string): Promise<RevisionTrees> {
  const leaves = (await unlessRefused(() => docs.getRevisions(id, 'all', { revsInfo: true }))) ?? []
  if (leaves.length === 0) throw createError(MISSING_DOC)
  return treesOf(leaves.flatMap((leaf) => ('ok' in leaf ? [leaf.ok] : [])))
}

/** As binary, whatever the options: PouchDB asks for the content of a single attachment in no other form. */
async function contentOf({ docs }: Place, id: string, name: string, rev: unknown): Promise<unknown> {
  const attachment = await docs.getAttachment(id, name, typeof rev === 'string' ? { rev } : {})
  if (attachment === undefined) throw createError(MISSING_DOC)
  return binaryOf(await attachment.bytes(), attachment.contentType)
}
