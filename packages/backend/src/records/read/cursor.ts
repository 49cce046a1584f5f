/**
 * Cursors: the place of a record in the order of a list. They hold what the list is sorted by, so they stay right when records
 * come, change and go. docs/internals/backend-reads.md is normative.
 */
import { isObject } from 'pannier/internal'
import type { SortPath } from '@pannier/rules/compile'
import type { Selection } from 'pannier/types'
import type { JsonObject } from '../../gateway/documents.ts'
import { invalid, type ServiceError } from '../../gateway/service-error.ts'

/** A key of a list's total order. The last one is unique: `$created`, or `_id`. */
export interface OrderKey {
  /** The path in documents. */
  readonly path: string
  readonly descending: boolean
  /** The value that a missing one counts as; undefined if that is not known. */
  readonly empty: SortPath['empty'] | undefined
}

/** The value of a record for a key. Flags are 1 and 0; null is there where a path leads to no record. */
type CursorValue = string | number | null

/** Beyond the number of records that a collection can have. */
const CREATED_MAX = 2 ** 47

/** The text that a client sends to get what follows the record with these values. */
export function cursorText(keys: readonly OrderKey[], values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify({ order: orderOf(keys), values })).toString('base64url')
}

/**
 * The values of the record before the page, for each key. Undefined for the empty text: the page is the first one.
 *
 * @throws ServiceError INVALID
 */
export function readCursor(text: string, keys: readonly OrderKey[]): readonly CursorValue[] | undefined {
  if (text === '') return undefined
  const { order, values } = objectIn(text)
  if (typeof order !== 'string' || !Array.isArray(values)) throw unknown()
  if (order !== orderOf(keys))
    throw invalid('The cursor in "after" belongs to a list in another order. Send the sort that it came with.')
  if (values.length !== keys.length || !keys.every((key, at) => canBe(key, values[at]))) throw unknown()
  return values as CursorValue[]
}

function orderOf(keys: readonly OrderKey[]): string {
  return keys.map(sortField).join(',')
}

/** As the library sorts. */
export function sortField({ path, descending }: Pick<OrderKey, 'path' | 'descending'>): string {
  return `${descending ? '-' : ''}${path}`
}

function objectIn(text: string): JsonObject {
  try {
    const found: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (isObject(found)) return found
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw unknown()
}

function unknown(): ServiceError {
  return invalid('The value of "after" is no cursor. Send the "nextCursor" of the page before, or nothing.')
}

function canBe({ path, empty }: OrderKey, value: unknown): boolean {
  if (path === CREATED) return Number.isInteger(value) && (value as number) >= 0 && (value as number) < CREATED_MAX
  if (path === '_id') return typeof value === 'string'
  if (value === null) return empty === undefined || path.includes('.')
  if (empty === undefined) return typeof value === 'string' || typeof value === 'number'
  return empty === false ? value === 0 || value === 1 : typeof value === typeof empty
}

/** The order of creation, as documents have it. */
export const CREATED = '$created'

/** Records that agree with the cursor in some first keys, and come after it by the next one. */
interface CursorPart {
  readonly selection: Selection
  /** The keys in which they differ, as the library sorts by them. */
  readonly order: readonly string[]
}

/**
 * All records behind the cursor, in parts that follow each other. Each part is a range of an index on its keys, so no part walks
 * what lies before the cursor. `collectionOf`: where a path of relations leads.
 */
export function partsBehind(
  keys: readonly OrderKey[],
  values: readonly CursorValue[],
  collectionOf: (path: readonly string[]) => string,
): readonly CursorPart[] {
  const parts = keys.map((key, at): CursorPart => {
    const same = keys.slice(0, at).map((other, place) => beside(other, '=', values[place]!, collectionOf))
    const behind = beside(key, key.descending ? '<' : '>', values[at]!, collectionOf)
    return { selection: { kind: 'and', of: [...same, behind] }, order: keys.slice(at).map(sortField) }
  })
  return parts.toReversed()
}

const ALL: Selection = { kind: 'and', of: [] }
const NOTHING: Selection = { kind: 'or', of: [] }

/** The records whose key is before the value, at it or behind it. Where a path leads to no record, it is before all values. */
function beside(
  { path, empty }: OrderKey,
  operator: '=' | '<' | '>',
  value: CursorValue,
  collectionOf: (path: readonly string[]) => string,
): Selection {
  // It is the last key.
  if (path === CREATED && operator !== '=') return { kind: 'created', operator, value: value as number }
  const names = path === '_id' ? ['id'] : path.split('.')
  const steps = names.slice(0, -1)
  const led = (last: Selection): Selection =>
    steps.reduceRight<Selection>((of, field, at) => {
      const collection = collectionOf(names.slice(0, at + 1))
      return { kind: 'related', step: 'to', collection, field, on: [], of }
    }, last)
  const nowhere: Selection = { kind: 'not', of: led(ALL) }
  if (value === null) return operator === '<' ? NOTHING : operator === '=' ? nowhere : led(ALL)
  const known = empty === false ? value === 1 : value
  const compared = led({ kind: 'compare', field: names.at(-1)!, isLength: false, operator, value: known })
  return operator === '<' && steps.length > 0 ? { kind: 'or', of: [compared, nowhere] } : compared
}
