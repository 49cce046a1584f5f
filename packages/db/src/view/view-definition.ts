/** The parts of a view's definition, and the name of its stored form. */
import { hash128 } from '../codec/hash.ts'
import { toHex } from '../codec/bytes.ts'
import { collationNamed, type Collation } from '../codec/registered-collation.ts'

/** Adds a row to a view. Keys and values are JSON; what JSON does not know becomes what JSON.stringify makes of it. */
export type Emit<Key = unknown, Value = unknown> = (key: Key, value?: Value) => void

/** Reducers that are built in, as in CouchDB. */
export type BuiltInReduce = '_sum' | '_count' | '_stats' | '_approx_count_distinct'

/**
 * Called with rows (`keys`: of each its key and the document's id), or with `rereduce` true and `keys` null with what it
 * returned before. Must be pure. It may give a promise; then rows are reduced one call after the other.
 */
export type ReduceFunction<Key = unknown, Value = unknown, Result = unknown> = (
  keys: (readonly [key: Key, id: string])[] | null,
  values: (Value | Result)[],
  rereduce: boolean,
) => Result

/** For each document, in order, the rows that `map` would emit for it, or why it has none. */
export type MapMany<Document> = (
  documents: readonly Document[],
) => Promise<readonly (readonly (readonly [key: unknown, value: unknown])[] | Error)[]>

export interface ViewFunctions {
  readonly map: (document: never, emit: Emit) => unknown
  readonly mapMany?: MapMany<never> | undefined
  readonly reduce?: BuiltInReduce | ReduceFunction<never, never> | undefined
  readonly version?: string | number | undefined
  readonly collation?: string | undefined
  /** Rows that leave the view are kept, for our own packages: remembered-rows.ts. */
  readonly remembers?: boolean | undefined
}

/** A definition that was checked. */
export interface CheckedView {
  /** The name of a named view, else its signature; with a mark that keeps them apart. */
  readonly storedName: string
  readonly signature: string
  /** Rows are stored in the database. Without a `version` nothing says what the functions have captured, so rows are private to them. */
  readonly isKept: boolean
  readonly map: (document: object, emit: Emit) => unknown
  readonly mapMany: MapMany<object> | undefined
  readonly reduce: BuiltInReduce | ReduceFunction | undefined
  /** The order of strings in keys; undefined: by code point. */
  readonly collation: Collation | undefined
  /** The reducer of the tree of rows. */
  readonly reducer: ReducerName | undefined
  readonly remembers: boolean
}

/** Built-in reducers that the tree of the rows is kept reduced by, with the numbers that they have in files. */
export const REDUCER_IDS = { _sum: 1, _stats: 2, _approx_count_distinct: 3 } as const

export type ReducerName = keyof typeof REDUCER_IDS

/** Named ones, of one collection. */
export const VIEWS_MAX = 64
/** How many views without a name, but with a version, a collection keeps for the next equal query. */
export const AD_HOC_VIEWS_MAX = 16

export const NAMED = 'n/'
export const AD_HOC = 'q/'
/** Part of each signature: raised when the same functions would store something else. */
const VIEW_FORMAT = 1

/** For functions that were checked. */
export function checkedView(functions: ViewFunctions, name: string | undefined): CheckedView {
  const { map, mapMany, reduce, version, remembers = false } = functions
  const collation = collationNamed(functions.collation)
  const reducer = typeof reduce === 'string' && reduce !== '_count' ? reduce : undefined
  // A view without a collation keeps the signature that it had before there were any.
  const order = collation === undefined ? [] : [collation.name]
  const kind = remembers ? ['remembers', 'number'] : []
  const signature = signatureOf([VIEW_FORMAT, map.toString(), version, reducer, ...order, ...kind])
  return {
    storedName: name === undefined ? AD_HOC + signature : NAMED + name,
    signature,
    isKept: version !== undefined,
    map: map as CheckedView['map'],
    mapMany: mapMany as CheckedView['mapMany'],
    reduce: reduce as CheckedView['reduce'],
    collation,
    reducer,
    remembers,
  }
}

export function signatureOf(parts: readonly unknown[]): string {
  return toHex(hash128(new TextEncoder().encode(JSON.stringify(parts))))
}
