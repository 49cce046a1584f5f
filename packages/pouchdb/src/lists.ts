/** Lists of documents: `_allDocs`. */
import type { ListRow, ListOptions as LibraryOptions } from 'pannier/types'
import { toCouchDocument } from 'pannier/internal'
import type { JsonObject } from 'pannier'
import { answer } from './failures.ts'
import { contentForm, finishContents, markStubs } from './attachments.ts'
import type { AdapterMethods, ContentOptions, ListAnswer, ListOptions, Place, PouchDocument } from './pouch.ts'

export function listMethods(opening: Promise<Place>): Pick<AdapterMethods, '_allDocs'> {
  return { _allDocs: (options, callback) => answer(callback, async () => list(await opening, options)) }
}

async function list(place: Place, options: ListOptions): Promise<ListAnswer> {
  const { docs } = place
  const { keys, key, skip, limit, update_seq: withSeq } = options
  const ids = keys ?? (key === undefined ? undefined : [key])
  if (limit === 0 || (ids === undefined && isReversed(options))) {
    const { documents, lastSeq } = await docs.info()
    return { total_rows: documents, offset: skip, rows: [], ...(withSeq && { update_seq: lastSeq }) }
  }
  const how = { docs: options.include_docs === true, conflicts: options.conflicts === true }
  const asked =
    ids === undefined ? docs.list({ ...rangeOf(options), ...how }) : docs.list({ ids: ids.map(String), ...how })
  const page = await asked.page()
  const rows: JsonObject[] = []
  for (const row of page.rows as readonly ListRow<JsonObject>[]) {
    const shown = await shownRow(place, row, options)
    if (shown !== undefined) rows.push(shown)
  }
  return { total_rows: page.total, offset: skip, rows, ...(withSeq && { update_seq: page.seq }) }
}

/** Undefined: a list with `key` has no row for a missing document. */
async function shownRow(place: Place, row: ListRow<JsonObject>, options: ListOptions): Promise<JsonObject | undefined> {
  const { id } = row
  const isByKeys = options.keys !== undefined
  if ('error' in row) return isByKeys ? { key: id, error: 'not_found' } : undefined
  const { rev } = row
  if ('deleted' in row) return isByKeys ? { id, key: id, value: { rev, deleted: true }, doc: null } : undefined
  const shown: JsonObject = { id, key: id, value: { rev } }
  if (options.include_docs) shown['doc'] = await withContents(place, toCouchDocument(row.doc!), options)
  return shown
}

/** The document with the content of its attachments, or with stubs. */
export async function withContents(
  { docs }: Place,
  document: PouchDocument,
  options: ContentOptions,
): Promise<PouchDocument> {
  if (document['_attachments'] === undefined) return document
  const { attachments } = contentForm(options)
  if (attachments === undefined) {
    markStubs(document)
    return document
  }
  const { _id, _rev } = document as { readonly _id: string; readonly _rev: string }
  const read = await docs.get(_id, { rev: _rev, attachments })
  if (read === undefined) return document
  const complete: PouchDocument = { ...document, _attachments: toCouchDocument(read)._attachments }
  finishContents(complete, options)
  return complete
}

function rangeOf({
  startkey,
  endkey,
  inclusive_end: isInclusive,
  descending,
  skip,
  limit,
}: ListOptions): LibraryOptions {
  const [low, high] = descending ? [endkey, startkey] : [startkey, endkey]
  const isOpen = isInclusive === false
  return {
    ...(isBound(low) && { [descending && isOpen ? 'gt' : 'gte']: String(low) }),
    ...(isBound(high) && { [!descending && isOpen ? 'lt' : 'lte']: String(high) }),
    ...(descending && { descending: true }),
    ...(skip && { skip }),
    ...(typeof limit === 'number' && limit >= 0 && { limit }),
  }
}

function isReversed({ startkey, endkey, descending }: ListOptions): boolean {
  if (!isBound(startkey) || !isBound(endkey)) return false
  return descending ? String(startkey) < String(endkey) : String(startkey) > String(endkey)
}

function isBound(key: unknown): boolean {
  return key !== undefined && key !== null
}
