/** Checks options of view queries, and declares their rows. Loaded with the first query. */
import { badArgument, checkCount, checkOptions, isCount, type OptionNames } from '../base/options.ts'

/** Which rows of a view a query has, and in which form. */
export interface ViewOptions {
  /** Rows with this key only. */
  readonly key?: unknown
  /** Rows with these keys only, in the order given. */
  readonly keys?: readonly unknown[]
  /** Rows whose key is not lower, in key order (null, false, true, numbers, strings, arrays, objects). */
  readonly gte?: unknown
  /** Rows whose key is greater. */
  readonly gt?: unknown
  /** Rows whose key is not greater. */
  readonly lte?: unknown
  /** Rows whose key is lower. */
  readonly lt?: unknown
  /** With `gte`, `gt` or `key`: of the rows with exactly that key, those from this document on (`gt`: after it). */
  readonly fromId?: string
  /** With `lte`, `lt` or `key`: of the rows with exactly that key, those up to this document (`lt`: before it). */
  readonly toId?: string
  /** From the highest key down. Bounds stay what they are. */
  readonly descending?: boolean
  /** Leaves out that many rows at the start: by rank, without walking them. */
  readonly skip?: number
  /** At most that many rows. */
  readonly limit?: number
  /** False: the rows as they were emitted. By default a view that has a reduce gives its results. */
  readonly reduce?: boolean
  /** True: a result for each key; a number: for each different start of that many elements of keys that are arrays. */
  readonly group?: boolean | number
  /** Adds to each row its document: `doc`. Where the value has an `_id`, the document with that id. */
  readonly docs?: boolean
  /** Adds to each document its other leaf revisions, `_conflicts`. */
  readonly conflicts?: boolean
  /** When what was written since is taken in: 'before' the query (default), 'after' it, or 'never'. */
  readonly update?: 'before' | 'after' | 'never'
  /** Cancels the query and the update that it may have to wait for: PANNIER_ABORTED. */
  readonly signal?: AbortSignal
  /** Called during the update that the query may have to wait for, with the part that is done, 0 to 1. */
  readonly onProgress?: (done: number) => void
}

/** Throws a TypeError for what can't be meant. `isReduced`: the view has a reduce. Returns whether results are asked for. */
export function checkViewOptions(options: ViewOptions, isReduced: boolean): boolean {
  checkOptions(CALL, options, NAMES)
  const { keys, key, skip = 0, limit, group = false, reduce = isReduced } = options
  for (const name of FLAGS) {
    const value: unknown = options[name]
    if (value !== undefined && typeof value !== 'boolean') throw badArgument(CALL, `${name} must be a boolean`, value)
  }
  for (const name of IDS) {
    const value: unknown = options[name]
    if (value !== undefined && typeof value !== 'string')
      throw badArgument(CALL, `${name} must be the id of a document`, value)
  }
  if (keys !== undefined && !Array.isArray(keys)) throw badArgument(CALL, 'keys must be an array', keys)
  const ranges = RANGES.filter((name) => options[name] !== undefined)
  const isOne = key !== undefined || keys !== undefined
  if (isOne && ranges.length > 1)
    throw new TypeError(`${CALL}: key and keys must be given alone, got ${ranges.join(' and ')}`)
  for (const [name, count] of Object.entries({ skip, limit: limit ?? 0 })) checkCount(CALL, name, count)
  if (typeof group !== 'boolean' && !isCount(group))
    throw badArgument(CALL, 'group must be a boolean or a number of elements', group)
  if (options.update !== undefined && !UPDATES.has(options.update))
    throw badArgument(CALL, `update must be 'before', 'after' or 'never'`, options.update)
  if (reduce && !isReduced) throw badArgument(CALL, 'reduce must be false: the view has no reduce function', reduce)
  checkReduced(options, reduce)
  return reduce
}

function checkReduced({ group = false, keys, docs, conflicts }: ViewOptions, reduce: boolean): void {
  if (!reduce && group !== false) throw badArgument(CALL, 'group must not be given without a reduce function', group)
  if (reduce && keys !== undefined && group !== true)
    throw badArgument(CALL, 'group must be true with keys and reduce', group)
  if (reduce && docs === true) throw badArgument(CALL, 'reduce must be false with docs', reduce)
  if (conflicts === true && docs !== true) throw badArgument(CALL, 'docs must be true with conflicts', docs)
}

const CALL = 'query()'
const FLAGS = ['descending', 'reduce', 'docs', 'conflicts'] as const
const IDS = ['fromId', 'toId'] as const
const RANGES = ['key', 'keys', 'gte', 'gt', 'lte', 'lt'] as const
const UPDATES: ReadonlySet<unknown> = new Set(['before', 'after', 'never'])
const NAMES: OptionNames<ViewOptions> = {
  key: true,
  keys: true,
  gte: true,
  gt: true,
  lte: true,
  lt: true,
  fromId: true,
  toId: true,
  descending: true,
  skip: true,
  limit: true,
  reduce: true,
  group: true,
  docs: true,
  conflicts: true,
  update: true,
  signal: true,
  onProgress: true,
}

/** A row as it was emitted. */
export interface ViewRow<Key = unknown, Value = unknown, Document = unknown> {
  /** The id of the document that it was emitted for. */
  readonly id: string
  /** The key that `map` emitted. */
  readonly key: Key
  /** The value that `map` emitted. */
  readonly value: Value
  /** With `docs`: the document, or null if it is gone. */
  readonly doc?: Document | null
}

/** A row that stands for reduced rows. */
export interface ReducedRow<Key = unknown, Value = unknown> {
  /** The key of the group; null without groups. */
  readonly key: Key
  /** The result of the reduce. */
  readonly value: Value
}

/** The answer of a query of a view. */
export interface ViewResult<Key = unknown, Value = unknown, Row = ViewRow<Key, Value> | ReducedRow<Key, Value>> {
  /** Rows that the view has in all. Undefined of reduced ones. */
  readonly total?: number
  /** Rows that stand before the first one given, in the direction of the query. Undefined of reduced ones. */
  readonly offset?: number
  /** The view holds what was written up to this sequence number. */
  readonly updateSeq: number
  /** The rows, in the order of their keys. */
  readonly rows: Row[]
}

/** The result of `view.info()`. */
export interface ViewInfo {
  /** The name of the view. */
  readonly name: string
  /** Rows that the view has. */
  readonly rows: number
  /** The view holds what was written up to this sequence number. */
  readonly updateSeq: number
  /** Documents that were written since. */
  readonly pending: number
  /** Documents that were left out because map threw, since the view was made. */
  readonly failures: number
  /** The last document for which `map` threw, with the error. */
  readonly lastFailure: { readonly id: string; readonly message: string } | undefined
}
