/** One comparison as a selection: a stored value beside a known one. */
import type { Selection } from 'pannier/types'
import { testOf, valueOf, type Row, type Work } from './evaluate.ts'
import { readBy, readByTest, valuesIn, type Join, type Test, type Value } from './plan.ts'
import type { RuleRecord } from './records.ts'
import { affinityOf, valueType } from './schema.ts'
import { ALL, both, MORE, not, NOTHING, type Compiled } from './selection.ts'
import { compare, numberIn, textOf, type Affinity, type Order, type Typed } from './values.ts'

/** A value of the record that a selection can name. It is never NULL. */
interface Column {
  readonly field: string
  readonly isLength: boolean
  readonly type: 'string' | 'number' | 'boolean'
  readonly affinity: Affinity
  /** Not a field: a search is 1 or 0. */
  readonly search?: Selection
}

/** The records of `here` for which the test is `wanted`. NULL is neither true nor false. */
export function compileTest(test: Test, wanted: boolean, here: Join, work: Work): Compiled {
  if (readByTest(test).every((join) => work.rows.has(join))) {
    const truth = testOf(test, work)
    return truth === undefined ? MORE : constant(truth === wanted)
  }
  return compareColumn(test, wanted, here, work) ?? recordTest(test, wanted, here, work)
}

/** A test of the record and of what is known. */
function recordTest(test: Test, wanted: boolean, here: Join, { rows, records, now }: Work): Compiled {
  const fields = fieldsOf(test, here)
  const read = readByTest(test)
  // Where a field is not known, the test has no answer.
  if (fields === undefined || !read.every((join) => join === here || rows.has(join)) || records.knows !== undefined)
    return MORE
  const known = new Map(rows)
  const holds = (record: RuleRecord): boolean => {
    const row = here.kind === 'each' ? (record[''] as Row) : record
    return testOf(test, { rows: new Map(known).set(here, row), records, now }) === wanted
  }
  return { selection: { kind: 'test', fields, holds }, isExact: true }
}

/** Undefined: a search among them reads the whole record. */
function fieldsOf(test: Test, here: Join): readonly string[] | undefined {
  let isPlain = true
  const fields = new Set<string>()
  const visit = (value: Value): void => {
    if (value.kind === 'lower' || value.kind === 'around') visit(value.of)
    else if (value.kind === 'call') value.of.forEach(visit)
    else if (value.kind === 'search') isPlain = false
    else if ('join' in value && value.join === here) fields.add(value.kind === 'element' ? '' : value.field.name)
  }
  valuesIn(test).forEach(visit)
  return isPlain ? [...fields] : undefined
}

/** Undefined if it is not a column of the record beside a known value. */
function compareColumn(test: Test, wanted: boolean, here: Join, work: Work): Compiled | undefined {
  switch (test.kind) {
    case 'empty': {
      const column = columnOf(test.of, here)
      return column && exact(isEmpty(column), wanted !== test.negated)
    }
    case 'like': {
      const column = columnOf(test.left, here)
      const pattern = knownOf(test.right, work)
      if (column?.type !== 'string' || pattern === undefined) return undefined
      if (pattern.value === null) return constant(false)
      const isMet = wanted !== test.negated
      const { literal, isWhole } = literalOf(textOf(pattern))
      const contained = contains(column, literal)
      if (isWhole) return exact(contained, isMet)
      const tested = recordTest(test, wanted, here, work)
      return isMet ? { ...tested, selection: both([contained, tested.selection]) } : tested
    }
    case 'coalesced':
    case 'compare':
      return comparison(test, wanted, here, work) ?? lowered(test, wanted, here, work)
    default:
      return undefined
  }
}

function comparison(
  test: Extract<Test, { kind: 'coalesced' | 'compare' }>,
  wanted: boolean,
  here: Join,
  work: Work,
): Compiled | undefined {
  const isSwapped = columnOf(test.left, here) === undefined
  const found = columnOf(isSwapped ? test.right : test.left, here)
  const known = knownOf(isSwapped ? test.left : test.right, work)
  if (found === undefined || known === undefined) return undefined
  if (test.kind === 'coalesced') {
    const value: Typed = { ...known, value: known.value ?? '', affinity: 'none' }
    return exact(ordered({ ...found, affinity: 'none' }, '=', value), wanted !== test.negated)
  }
  const { operator } = test
  if (operator === 'is' || operator === 'is not') {
    const same = known.value === null ? NOTHING : ordered(found, '=', known)
    return exact(same, wanted === (operator === 'is'))
  }
  if (known.value === null) return constant(false)
  return exact(ordered(found, isSwapped ? SWAPPED[operator] : operator, known), wanted)
}

/** The selection of a condition on a text in lower case: an equal value contains the text in any case. */
function lowered(
  test: Extract<Test, { kind: 'coalesced' | 'compare' }>,
  wanted: boolean,
  here: Join,
  work: Work,
): Compiled | undefined {
  const isEqual = test.kind === 'compare' ? test.operator === '=' && wanted : test.negated !== wanted
  const [value, other] = test.left.kind === 'lower' ? [test.left, test.right] : [test.right, test.left]
  const column = value.kind === 'lower' ? columnOf(value.of, here) : undefined
  const known = knownOf(other, work)
  if (!isEqual || column?.type !== 'string' || typeof known?.value !== 'string') return undefined
  const tested = recordTest(test, wanted, here, work)
  return { ...tested, selection: both([contains(column, known.value), tested.selection]) }
}

const SWAPPED: Readonly<Record<Order, Order>> = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

function constant(holds: boolean): Compiled {
  return { selection: holds ? ALL : NOTHING, isExact: true }
}

function exact(selection: Selection, wanted: boolean): Compiled {
  return { selection: wanted ? selection : not(selection), isExact: true }
}

/** As SQLite compares the column. A value of another type is before or after all of the column's. */
function ordered(column: Column, operator: Order, known: Typed): Selection {
  const { field, isLength, type, affinity, search } = column
  const holds = (value: string | number): boolean => compare({ value, affinity, real: false }, operator, known) === true
  if (type === 'boolean') {
    const values = [true, false].filter((value) => holds(value ? 1 : 0))
    const [value] = values
    if (value === undefined || values.length === 2) return value === undefined ? NOTHING : ALL
    if (search === undefined) return { kind: 'compare', field, isLength, operator: '=', value }
    return value ? search : not(search)
  }
  const value = convert(known, affinity)
  if (typeof value !== type) return holds(type === 'string' ? '' : 0) ? ALL : NOTHING
  return { kind: 'compare', field, isLength, operator, value }
}

function convert(known: Typed, affinity: Affinity): string | number {
  if (affinity === 'text') return textOf(known)
  return affinity === 'number' && typeof known.value === 'string'
    ? (numberIn(known.value) ?? known.value)
    : known.value!
}

function isEmpty({ field, isLength, type }: Column): Selection {
  return type === 'string' ? { kind: 'compare', field, isLength, operator: '=', value: '' } : NOTHING
}

function contains({ field, isLength }: Column, value: string): Selection {
  return value === '' ? ALL : { kind: 'compare', field, isLength, operator: 'contains', value }
}

/** The longest text that stands in all that the pattern matches. `isWhole`: what has it matches. */
function literalOf(pattern: string): { readonly literal: string; readonly isWhole: boolean } {
  const inner = /^%((?:[^%_\\]|\\[^])*)%$/.exec(pattern)?.[1]
  const parts = (inner ?? pattern).match(/(?:[^%_\\]|\\[^])+/g) ?? ['']
  const literals = parts.map((part) => part.replaceAll(/\\([^])/g, '$1'))
  return {
    literal: literals.reduce((longest, next) => (next.length > longest.length ? next : longest)),
    isWhole: inner !== undefined,
  }
}

function columnOf(value: Value, here: Join): Column | undefined {
  if (!('join' in value) || value.join !== here) return undefined
  if (value.kind === 'element') return { field: '', isLength: false, type: 'string', affinity: 'none' }
  if (value.kind === 'search') {
    const { kind, text } = value
    return { field: '', isLength: false, type: 'boolean', affinity: 'none', search: { kind, text } }
  }
  const { kind, field } = value
  const { name, isMany } = field
  if (kind === 'length') return isMany ? { field: name, isLength: true, type: 'number', affinity: 'none' } : undefined
  const type = valueType(field)
  if (kind !== 'field' || type === 'object') return undefined
  const isUnsaved = here.kind === 'record' && here.isUnsaved
  return { field: name, isLength: false, type, affinity: isUnsaved ? 'none' : affinityOf(field) }
}

function knownOf(value: Value, work: Work): Typed | undefined {
  return readBy(value).every((join) => work.rows.has(join)) ? valueOf(value, work) : undefined
}
