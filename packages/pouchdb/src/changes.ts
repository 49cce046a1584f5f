/** The change feed: `_changes`, once or live, over the feed of the collection. */
import { isPannierError } from 'pannier'
import { toCouchDocument } from 'pannier/internal'
import type { ChangesOptions, DocumentChange, JsonObject, Stored } from 'pannier'
import { filterChange } from 'pouchdb-utils'
import { failureOf } from './failures.ts'
import { withContents } from './lists.ts'
import type { AdapterMethods, Change, FeedOptions, Place } from './pouch.ts'

/** `end`: aborted when the instance ends, and its feeds with it. */
export function feedMethods(opening: Promise<Place>, end: AbortSignal): Pick<AdapterMethods, '_changes'> {
  return {
    _changes(options) {
      const { continuous, complete } = options
      const cancelling = new AbortController()
      const signal = AbortSignal.any([cancelling.signal, end])
      // A live feed has no result: it ends when it is cancelled.
      feed(opening, options, signal).then(
        (result) => void (continuous || complete(null, result)),
        (error: unknown) => void ((continuous && isEnd(error, signal)) || complete(failureOf(error))),
      )
      return { cancel: () => cancelling.abort() }
    },
  }
}

function isEnd(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || isPannierError(error, 'PANNIER_CLOSED')
}

interface FeedResult {
  readonly results: readonly Change[]
  readonly last_seq: number
}

async function feed(opening: Promise<Place>, options: FeedOptions, signal: AbortSignal): Promise<FeedResult> {
  const place = await opening
  const { docs } = place
  const { continuous = false, descending = false, return_docs: keepsRows } = options
  const { lastSeq } = await docs.info()
  const since = descending ? 0 : (options.since ?? 0)
  // The library refuses a sequence beyond the last one. A live feed of PouchDB waits for it, and any other ends at once.
  if (since > lastSeq && !continuous) return { results: [], last_seq: since }
  const rows = docs.changes(feedOptions(options, Math.min(since, lastSeq), signal))
  const limit = limitOf(options)
  const isWanted = filterChange(options)
  const results: Change[] = []
  let last = since
  let count = 0
  for await (const row of rows) {
    if (signal.aborted) break
    if (continuous && row.seq <= since) continue
    last = row.seq
    const change = changeOf(row)
    const verdict = isWanted(change)
    if (typeof verdict === 'object') throw verdict
    if (!verdict) continue
    if (options.include_docs && options.attachments) change.doc = await withContents(place, change.doc!, options)
    if (keepsRows) results.push(change)
    options.onChange(change)
    if (++count === limit) break
  }
  return { results, last_seq: last }
}

/** Only a filter of the library's counts towards its limit. */
function feedOptions(options: FeedOptions, since: number, signal: AbortSignal): ChangesOptions {
  const { continuous, descending, doc_ids: ids, style, filter, include_docs: shows, conflicts } = options
  const hasFilter = typeof filter === 'function'
  const limit = limitOf(options)
  return {
    since,
    signal,
    ...(continuous && { live: true }),
    ...(descending && { descending: true }),
    ...(ids && { ids: ids.filter((id) => typeof id === 'string') }),
    ...(style === 'all_docs' && { style: 'all' }),
    ...((shows || hasFilter) && { docs: true, ...(conflicts && { conflicts: true }) }),
    ...(!hasFilter && limit !== Infinity && { limit }),
  }
}

/** As in PouchDB's own adapters, a live feed has no limit. */
function limitOf({ continuous, limit = Infinity }: FeedOptions): number {
  return continuous || limit < 0 ? Infinity : limit
}

function changeOf({ id, seq, changes, deleted, doc }: DocumentChange<Stored<JsonObject>>): Change {
  return {
    id,
    seq,
    changes: changes.map(({ rev }) => ({ rev })),
    ...(deleted && { deleted: true }),
    ...(doc !== undefined && { doc: toCouchDocument(doc) as JsonObject }),
  }
}
