/**
 * CouchDB's names for the options and results of views. In CouchDB `startkey` is where the scan starts, so it is the
 * upper bound if `descending`; here bounds do not depend on the direction.
 */
import { compareValues } from '../src/codec/collation.ts'
import type { ViewResult, ViewOptions } from '../src/view/view-options.ts'

/** Parsed from the query string or body of a request. Others are ignored, as in CouchDB. */
export interface CouchViewOptions {
  readonly key?: unknown
  readonly keys?: readonly unknown[]
  readonly startkey?: unknown
  readonly start_key?: unknown
  readonly endkey?: unknown
  readonly end_key?: unknown
  readonly startkey_docid?: string
  readonly start_key_doc_id?: string
  readonly endkey_docid?: string
  readonly end_key_doc_id?: string
  readonly inclusive_end?: boolean
  readonly descending?: boolean
  readonly skip?: number
  readonly limit?: number
  readonly reduce?: boolean
  readonly group?: boolean
  readonly group_level?: number
  readonly include_docs?: boolean
  readonly conflicts?: boolean
  readonly stale?: 'ok' | 'update_after' | false
  readonly update?: boolean | 'lazy' | 'true' | 'false'
  readonly update_seq?: boolean
}

/** What CouchDB answers. */
export interface CouchViewResult {
  readonly total_rows?: number
  readonly offset?: number
  readonly update_seq?: number
  readonly rows: readonly object[]
}

/** Throws a TypeError for what CouchDB calls a query_parse_error. */
export function fromCouchOptions(options: CouchViewOptions): ViewOptions {
  const { descending = false, inclusive_end: isInclusive = true } = options
  const start = options.startkey ?? ('startkey' in options ? options.startkey : options.start_key)
  const end = options.endkey ?? ('endkey' in options ? options.endkey : options.end_key)
  const startId = options.startkey_docid ?? options.start_key_doc_id
  const endId = options.endkey_docid ?? options.end_key_doc_id
  const [lowerName, upperName] = descending ? [isInclusive ? 'gte' : 'gt', 'lte'] : ['gte', isInclusive ? 'lte' : 'lt']
  const [lower, upper] = descending ? [end, start] : [start, end]
  const [fromId, toId] = descending ? [endId, startId] : [startId, endId]
  const isRange = options.keys === undefined && options.key === undefined
  if (isRange && lower !== undefined && upper !== undefined && compareValues(lower, upper) > 0)
    throw new TypeError('no rows can match the key range: reverse startkey and endkey or set descending to true')
  return defined({
    key: options.key,
    keys: options.keys,
    [lowerName]: isRange ? lower : undefined,
    [upperName]: isRange ? upper : undefined,
    fromId: (isRange && lower === undefined) || options.keys !== undefined ? undefined : fromId,
    toId: (isRange && upper === undefined) || options.keys !== undefined ? undefined : toId,
    descending: options.descending,
    skip: options.skip,
    limit: options.limit,
    reduce: options.reduce,
    group: options.group_level !== undefined && options.group !== true ? options.group_level : options.group,
    docs: options.include_docs,
    conflicts: options.conflicts,
    update: updateOf(options),
  })
}

export function toCouchResult(result: ViewResult<unknown, unknown>, options: CouchViewOptions = {}): CouchViewResult {
  const { total, offset, updateSeq, rows } = result
  return {
    ...(total === undefined ? {} : { total_rows: total, offset: offset ?? 0 }),
    ...(options.update_seq === true ? { update_seq: updateSeq } : {}),
    rows: rows.map((row) => ({ ...row })),
  }
}

function updateOf({ stale, update }: CouchViewOptions): ViewOptions['update'] {
  if (stale === 'ok') return 'never'
  if (stale === 'update_after' || update === 'lazy') return 'after'
  return update === false || update === 'false' ? 'never' : undefined
}

function defined(options: Record<string, unknown>): ViewOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ViewOptions
}
