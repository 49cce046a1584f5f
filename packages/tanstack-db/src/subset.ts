/** The part of a collection that a query of TanStack DB asks for, as a query of Pannier. */
import { compileSingleRowExpression, toBooleanPredicate, type IR, type LoadSubsetOptions } from '@tanstack/db'

/** A selector of `find`. */
export type Selector = Readonly<Record<string, unknown>>

/** The part of a collection that finds rows in order. */
export interface FoundRows {
  find(selector: Selector): { sort(field: string): { limit(count: number): { toArray(): Promise<readonly object[]> } } }
}

type Expression = IR.BasicExpression
type Condition = Readonly<Record<string, unknown>>
type Scalar = string | number | boolean

/** Strings longer than that have no exact order in an index. */
const BOUNDARY_LENGTH_MAX = 300
/** Strings with these code units are in another order in Pannier: by code points. */
const SURROGATES = /[\ud800-\uffff]/

/**
 * A selector that all rows of the subset meet, and perhaps others. TanStack DB leaves those out. With a limit it ends at the value of the last
 * row, so that the rows up to there are whole, whatever is written later.
 */
export async function selectorOf(rows: FoundRows, options: LoadSubsetOptions): Promise<Selector> {
  const { where, cursor, limit, orderBy, offset = 0 } = options
  const matching = where === undefined ? {} : (selectorFor(where) ?? {})
  const [first] = orderBy ?? []
  const field = first && pathOf(first.expression)
  if (!limit || first === undefined || field === undefined) return matching
  const following = cursor && (selectorFor(cursor.whereFrom) ?? {})
  const tests = [where, cursor?.whereFrom].flatMap((expression) => (expression ? [testOf(expression)] : []))
  const boundary = await boundaryOf(rows, {
    selector: allOf(matching, following ?? {}),
    isMatch: (row) => tests.every((test) => test(row)),
    count: cursor ? limit : offset + limit,
    field,
    order: first.compareOptions,
  })
  if (boundary === undefined) return matching
  const upTo = { $or: upToSelectors(field, boundary, first.compareOptions.direction) }
  if (cursor === undefined) return allOf(matching, upTo)
  return allOf(matching, { $or: [allOf(following!, upTo), selectorFor(cursor.whereCurrent) ?? {}] })
}

interface BoundaryQuery {
  readonly selector: Selector
  isMatch(row: object): boolean
  /** Rows up to the boundary, with it. */
  readonly count: number
  readonly field: string
  readonly order: IR.OrderBy[number]['compareOptions']
}

/** The value of the last row in order; undefined if there are fewer rows, or if Pannier's order is another one. */
async function boundaryOf(
  rows: FoundRows,
  { selector, isMatch, count, field, order }: BoundaryQuery,
): Promise<Scalar | undefined> {
  const ordered = rows
    .find(allOf(selector, { [field]: { $gt: true, $lt: [] } }))
    .sort((order.direction === 'asc' ? '' : '-') + field)
  for (let size = count; ; size *= 4) {
    const read = await ordered.limit(size).toArray()
    const values = read.filter(isMatch).flatMap((row) => scalarOf(valueAt(row, field)) ?? [])
    const value = values[count - 1]
    if (typeof value === 'string') return order.stringSort === 'lexical' && hasOneOrder(value) ? value : undefined
    if (value !== undefined) return value
    if (read.length < size) return undefined
  }
}

function valueAt(row: object, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], row)
}

/** All rows up to the boundary, and those whose values have no order with it in Pannier. */
function upToSelectors(field: string, boundary: Scalar, direction: 'asc' | 'desc'): Selector[] {
  const isNumber = typeof boundary === 'number'
  const conditions: Condition[] =
    direction === 'asc'
      ? [{ $lte: boundary }, ...(isNumber ? [{ $gte: '' }] : [])]
      : [{ $gte: boundary }, isNumber ? { $lte: true } : { $lt: '' }]
  return [...conditions, { $gte: [] }, { $exists: false }].map((condition) => ({ [field]: condition }))
}

function testOf(expression: Expression): (row: object) => boolean {
  const evaluate = compileSingleRowExpression(expression)
  return (row) => toBooleanPredicate(evaluate(row as Record<string, unknown>) as boolean | null)
}

/** Undefined: nothing is known of the rows that meet the expression. */
function selectorFor(expression: Expression): Selector | undefined {
  if (expression.type !== 'func') return undefined
  const { name, args } = expression
  if (name === 'and') return allOf(...args.map((part) => selectorFor(part) ?? {}))
  if (name === 'or') {
    const parts = args.map(selectorFor)
    return parts.includes(undefined) ? undefined : { $or: parts }
  }
  const isFlipped = args[0]?.type === 'val'
  const [left, right] = isFlipped ? args.toReversed() : args
  const field = left && pathOf(left)
  if (field === undefined) return undefined
  // Below a null TanStack DB reads null.
  if (name === 'isNull') return { $or: [{ [field]: null }, { [field]: { $exists: false } }] }
  if (name === 'isUndefined') return { [field]: { $exists: false } }
  if (right?.type !== 'val') return undefined
  if (name === 'in' && !isFlipped) return inSelector(field, right.value)
  const value = scalarOf(right.value)
  if (value === undefined) return undefined
  if (name === 'eq' || name === 'in') return { [field]: value }
  const isRange = name === 'gt' || name === 'gte' || name === 'lt' || name === 'lte'
  return isRange ? rangeSelector(field, value, name.startsWith('g') !== isFlipped) : undefined
}

/**
 * The rows beyond a value. Values of other types are among them: TanStack DB compares as JavaScript does, where '10' is more than 5 and true is
 * more than 0.
 */
function rangeSelector(field: string, value: Scalar, isAbove: boolean): Selector | undefined {
  if (typeof value === 'boolean' || (typeof value === 'string' && SURROGATES.test(value))) return undefined
  const [lowest, highest] = typeof value === 'number' ? [{ $lte: true }, { $gte: '' }] : [{ $lt: '' }, { $gte: [] }]
  return isAbove
    ? { $or: [{ [field]: { $gte: false, ...lowest } }, { [field]: { $gte: value } }] }
    : { $or: [{ [field]: { $gte: false, $lte: value } }, { [field]: highest }] }
}

function inSelector(field: string, values: unknown): Selector | undefined {
  if (!Array.isArray(values)) return undefined
  const known = values.filter((value) => value !== null && value !== undefined)
  const scalars = known.flatMap((value) => scalarOf(value) ?? [])
  return scalars.length === known.length ? { [field]: { $in: scalars } } : undefined
}

/** A value as JSON has it. TanStack DB compares a Date by its milliseconds. */
function scalarOf(value: unknown): Scalar | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  const number = value instanceof Date ? value.getTime() : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** The path of a field, if Pannier reads the same there. */
function pathOf(expression: Expression): string | undefined {
  if (expression.type !== 'ref') return undefined
  const isPlain = expression.path.every((name) => /^(?![\d$])[^.\\]+$/.test(name) && name !== 'length')
  return isPlain && expression.path.length > 0 ? expression.path.join('.') : undefined
}

function hasOneOrder(value: string): boolean {
  return value.length <= BOUNDARY_LENGTH_MAX && !SURROGATES.test(value)
}

export function allOf(...selectors: readonly Selector[]): Selector {
  const parts = selectors.filter((selector) => Object.keys(selector).length > 0)
  return parts.length > 1 ? { $and: parts } : (parts[0] ?? {})
}
