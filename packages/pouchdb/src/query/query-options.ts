/** The options of `query()`: PouchDB's checks, and the library's names for them. */
import type { ViewOptions } from 'pannier'
import { collate } from 'pouchdb-collate'
import type { ContentOptions } from '../pouch.ts'
import { queryParseError } from '../failures.ts'

export interface QueryOptions extends ContentOptions {
  readonly key?: unknown
  readonly keys?: readonly unknown[]
  readonly startkey?: unknown
  readonly start_key?: unknown
  readonly endkey?: unknown
  readonly end_key?: unknown
  readonly inclusive_end?: boolean
  readonly descending?: boolean
  readonly skip?: number
  readonly limit?: number
  readonly reduce?: unknown
  readonly group?: boolean
  readonly group_level?: number
  readonly include_docs?: boolean
  readonly conflicts?: boolean
  readonly update_seq?: boolean
  readonly stale?: 'ok' | 'update_after'
}

/** @throws PouchDB's errors */
export function checkQuery(options: QueryOptions, isReduced: boolean): void {
  const [low, high] = boundsOf(options)
  if (low !== undefined && high !== undefined && collate(low, high) > 0)
    throw queryParseError(
      'No rows can match your key range, reverse your start_key and end_key or set {descending : true}',
    )
  if (isReduced && options.reduce !== false) checkReduced(options)
  for (const name of ['group_level', 'limit', 'skip'] as const) {
    const number: unknown = options[name]
    if (!number) continue
    if (typeof number !== 'number') throw queryParseError(`Invalid value for integer: "${String(number as string)}"`)
    if (number < 0) throw queryParseError(`Invalid value for positive integer: "${number}"`)
  }
}

function checkReduced({ include_docs: withDocs, keys, group, group_level: level }: QueryOptions): void {
  if (withDocs) throw queryParseError('{include_docs:true} is invalid for reduce')
  if (keys !== undefined && keys.length > 1 && !group && !level)
    throw queryParseError('Multi-key fetches for reduce views must use {group: true}')
}

export function libraryOptions(options: QueryOptions): ViewOptions {
  const { keys, descending, skip, limit, reduce, include_docs: docs, conflicts, stale } = options
  const group = options.group_level || options.group
  return {
    ...(keys?.length === 0 ? { limit: 0 } : rangeOf(options)),
    ...(descending && { descending }),
    ...(skip && { skip }),
    ...(typeof limit === 'number' && keys?.length !== 0 && { limit }),
    ...(reduce === false && { reduce }),
    ...(group && { group }),
    ...(docs && { docs, ...(conflicts && { conflicts }) }),
    ...(stale === 'ok' && { update: 'never' }),
    ...(stale === 'update_after' && { update: 'after' }),
  }
}

function rangeOf(options: QueryOptions): ViewOptions {
  const { key, keys, descending, inclusive_end: isInclusive } = options
  if (key !== undefined) return { key: keyOf(key) }
  if (keys !== undefined) return { keys: keys.map(keyOf) }
  const [low, high] = boundsOf(options)
  const isOpen = isInclusive === false
  return {
    ...(low !== undefined && { [descending && isOpen ? 'gt' : 'gte']: keyOf(low) }),
    ...(high !== undefined && { [!descending && isOpen ? 'lt' : 'lte']: keyOf(high) }),
  }
}

function boundsOf(options: QueryOptions): readonly [low: unknown, high: unknown] {
  const { startkey = options.start_key, endkey = options.end_key, descending } = options
  return descending ? [endkey, startkey] : [startkey, endkey]
}

/** A key as PouchDB takes it: dates as text, and null for what JSON does not have. */
export function keyOf(key: unknown): unknown {
  if (typeof key === 'string' || Number.isFinite(key)) return key
  return key === undefined ? null : (JSON.parse(JSON.stringify(key) ?? 'null') as unknown)
}
