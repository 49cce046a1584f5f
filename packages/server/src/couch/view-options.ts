/**
 * Translates CouchDB's parameters of a view into options of the library. In CouchDB `startkey` is where the scan
 * starts, so it is the upper bound if `descending`. In the library bounds do not depend on the direction.
 */
import type { ViewOptions } from 'pannier'
import { ROOT_COLLATION } from '../design/collation/root-collation.ts'
import type { DesignViewDefinition } from '../design/functions.ts'
import { compareKeys } from '../design/key-order.ts'
import { badRequest, HttpError } from '../http/http-error.ts'
import type { QueryParameters } from '../http/query-parameters.ts'

export interface ViewRead {
  readonly options: ViewOptions
  readonly updateSequence: boolean
  /** False: the answer has no `total_rows` and no `offset`. */
  readonly sorted: boolean
  /** Documents have the content of their attachments. */
  readonly attachments: boolean
}

/**
 * The library finds contradictions.
 *
 * @throws HttpError 400
 */
export function viewRead(parameters: QueryParameters, definition: DesignViewDefinition): ViewRead {
  const includeDocs = parameters.flag('include_docs')
  const reduce = parameters.has('reduce') ? parameters.flag('reduce', true) : undefined
  if (definition.reduce !== undefined && reduce !== false && parameters.has('conflicts'))
    throw parseError('`conflicts` is invalid for reduce views.')
  const options: Record<string, unknown> = {
    ...range(parameters, definition),
    descending: parameters.flag('descending'),
    skip: parameters.count('skip'),
    limit: parameters.count('limit'),
    reduce,
    group: group(parameters),
    docs: includeDocs,
    // As in CouchDB, ignored without documents.
    conflicts: includeDocs && parameters.flag('conflicts'),
    update: update(parameters),
  }
  return {
    options: defined(options),
    updateSequence: parameters.flag('update_seq'),
    sorted: parameters.flag('sorted', true),
    attachments: includeDocs && parameters.flag('attachments'),
  }
}

function range(parameters: QueryParameters, definition: DesignViewDefinition): Record<string, unknown> {
  const keys = parameters.json('keys')
  if (keys !== undefined && !Array.isArray(keys)) throw badRequest('`keys` body member must be an array.')
  const descending = parameters.flag('descending')
  const isInclusive = parameters.flag('inclusive_end', true)
  const startId = parameters.text('startkey_docid') ?? parameters.text('start_key_doc_id')
  const endId = parameters.text('endkey_docid') ?? parameters.text('end_key_doc_id')
  const [fromId, toId] = descending ? [endId, startId] : [startId, endId]
  if (keys !== undefined) {
    if (keys.length > 0 && BOUNDS.some((name) => parameters.has(name)))
      throw parseError('`keys` is incompatible with `key`, `start_key` and `end_key`')
    return { keys: descending ? keys.toReversed() : keys, fromId, toId }
  }
  if (parameters.has('key')) return { key: parameters.json('key'), fromId, toId }
  const start = parameters.json('startkey', 'start_key')
  const end = parameters.json('endkey', 'end_key')
  const [lower, upper] = descending ? [end, start] : [start, end]
  const sortKey = definition.collation === undefined ? codePoints : ROOT_COLLATION.key
  if (lower !== undefined && upper !== undefined && compareKeys(lower, upper, sortKey) > 0)
    throw parseError(
      `No rows can match your key range, reverse your start_key and end_key or set descending=${!descending}`,
    )
  const lowerName = descending && !isInclusive ? 'gt' : 'gte'
  const upperName = descending || isInclusive ? 'lte' : 'lt'
  return {
    [lowerName]: lower,
    [upperName]: upper,
    // A document counts only among the rows of a key that is given.
    fromId: lower === undefined ? undefined : fromId,
    toId: upper === undefined ? undefined : toId,
  }
}

/** The library's order of code points, without a collation. */
function codePoints(text: string): string {
  return Buffer.from(text).toString('latin1')
}

const BOUNDS = ['key', 'startkey', 'start_key', 'endkey', 'end_key']

/** A level counts more than `group=true`. */
function group(parameters: QueryParameters): boolean | number | undefined {
  const level = parameters.count('group_level')
  if (level === undefined) return parameters.flag('group') || undefined
  if (level > 0 && !parameters.flag('group', true))
    throw parseError("Can't specify group=false and group_level>0 at the same time")
  return level === 0 ? undefined : level
}

function update(parameters: QueryParameters): ViewOptions['update'] {
  const stale = parameters.text('stale')
  const wanted = parameters.text('update') ?? 'true'
  if (stale === 'ok') return 'never'
  if (stale === 'update_after') return 'after'
  if (stale !== undefined && stale !== 'false') throw parseError('Invalid value for `stale`.')
  if (wanted === 'lazy') return 'after'
  if (wanted === 'true') return 'before'
  if (wanted === 'false') return 'never'
  throw parseError('Invalid value for `update`.')
}

function defined(options: Record<string, unknown>): ViewOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ViewOptions
}

function parseError(reason: string): HttpError {
  return new HttpError(400, 'query_parse_error', reason)
}
