/** Turns a selection into the condition of a query. Missing and null values count as the empty value of the field's type. */
import { unreachable } from '../../base/errors.ts'
import { NOCASE } from '../../codec/nocase.ts'
import { combine, type Condition, type SearchedText } from '../../query/ast/normalise.ts'
import {
  above,
  below,
  complement,
  intersect,
  MISSING,
  pointAt,
  STRINGS,
  TYPES,
  unite,
  type ValueSet,
} from '../../query/ast/value-set.ts'
import { CREATED } from '../../query/planner/access-path.ts'
import { ALWAYS, complementOf, NEVER } from '../relate.ts'
import { escapedName } from '../relation-path.ts'
import type { Selection, SelectionComparison, SelectionRelated } from './selection.ts'

/** The meaning of names. */
interface SelectionNames {
  /** The library's name of a collection. */
  readonly nameOf: (collection: string) => string
  /** Whether a relation holds an array of ids. */
  readonly isMany: (collection: string, field: string) => boolean
  /** Where words are looked for in a collection; needed for a search. */
  readonly textOf: ((collection: string) => SearchedText) | undefined
}

/** The values of a field without a value. */
const NO_VALUE: ValueSet = [...pointAt(undefined), ...pointAt(null)]
/** The values of an element of a list. */
const ELEMENTS: ValueSet = [above(null)]

/** `collection`: of the documents that the selection is about. */
export function conditionOf(selection: Selection, collection: string, names: SelectionNames): Condition {
  const of = (part: Selection): Condition => conditionOf(part, collection, names)
  switch (selection.kind) {
    case 'and':
    case 'or':
      return combine(selection.kind, selection.of.map(of))
    case 'not':
      return negated(of(selection.of))
    case 'compare':
      return comparison(selection)
    case 'test': {
      const { fields, holds } = selection
      return holding(fields.map(pathOf), (values) => holds(recordOf(fields, values)))
    }
    case 'element': {
      const path = pathOf(selection.field)
      return elementOf(path, of(selection.of))
    }
    case 'related':
      return related(selection, collection, names)
    case 'search':
      return { ...selection, ...names.textOf!(collection) }
    case 'created':
      return within(CREATED, valuesOf(selection.operator, selection.value))
    default:
      return unreachable(selection)
  }
}

/** The path of a field in documents; '' is the element of a list. */
function pathOf(field: string): string {
  return field === 'id' ? '_id' : escapedName(field)
}

/** The values of a field for texts; also those that count as the empty text, if it is among them. */
export function textValues(texts: ValueSet, hasEmpty: boolean): ValueSet {
  return hasEmpty ? [...NO_VALUE, ...texts] : texts
}

/** A function of the values at some paths says so. */
export function holding(paths: readonly string[], holds: (values: readonly unknown[]) => boolean): Condition {
  return {
    kind: 'holds',
    paths,
    compile: (reader) => {
      const reads = paths.map(reader)
      return (row) => holds(reads.map((read) => read(row)))
    },
  }
}

/** Everything but these, also no value. */
function othersThan(set: ValueSet): ValueSet {
  return complement(set, MISSING)
}

function negated(condition: Condition): Condition {
  // Ranges of an index say it.
  if (condition.kind === 'within' && condition.self) return within(condition.path, othersThan(condition.values))
  return complementOf(condition)
}

function within(path: string, values: ValueSet): Condition {
  return values.length === 0 ? NEVER : { kind: 'within', path, values, every: false, whole: true, self: true }
}

function comparison(selection: SelectionComparison): Condition {
  const { field, isLength, operator, value } = selection
  const path = pathOf(field)
  if (operator !== 'contains') {
    if (isLength) return lengthOf(path, operator, value as number)
    const values = valuesOf(operator, value)
    return within(path, isMet(operator, emptyOf(value), value) ? [...NO_VALUE, ...values] : values)
  }
  const text = String(value)
  if (text === '') return within(path, [...NO_VALUE, ...STRINGS])
  return { kind: 'contains', path, text, fold: NOCASE, negated: false }
}

/** An index tells whether a list has elements at all. */
function lengthOf(path: string, operator: Order, value: number): Condition {
  const isMetBy = (length: number): boolean => isMet(operator, length, value)
  if (value < 1 || (value === 1 && (operator === '<' || operator === '>='))) {
    const some = elementOf(path, ALWAYS)
    const [empty, filled] = [isMetBy(0), isMetBy(1)]
    if (empty === filled) return filled ? ALWAYS : NEVER
    return filled ? some : complementOf(some)
  }
  return holding([path], ([list]) =>
    isMetBy(Array.isArray(list) ? list.length : list === undefined || list === null ? 0 : 1),
  )
}

type Order = Exclude<SelectionComparison['operator'], 'contains'>

function valuesOf(operator: Order, value: SelectionComparison['value']): ValueSet {
  return intersect(TYPES[typeof value as 'string' | 'number' | 'boolean'], orderedSet(operator, value))
}

function orderedSet(operator: Order, value: SelectionComparison['value']): ValueSet {
  switch (operator) {
    case '=':
      return pointAt(value)
    case '<':
      return othersThan([below(value)])
    case '<=':
      return othersThan([above(value)])
    case '>':
      return [above(value)]
    case '>=':
      return [below(value)]
    default:
      return unreachable(operator)
  }
}

/** `value` is compared with a number, or with the empty value of its type: the order of code points has no say. */
function isMet(
  operator: SelectionComparison['operator'],
  stored: string | number | boolean,
  value: SelectionComparison['value'],
): boolean {
  switch (operator) {
    case '=':
      return stored === value
    case '<':
      return stored < value
    case '<=':
      return stored <= value
    case '>':
      return stored > value
    default:
      return stored >= value
  }
}

function emptyOf(value: SelectionComparison['value']): string | number | boolean {
  return typeof value === 'string' ? '' : typeof value === 'number' ? 0 : false
}

/** Conditions on the element alone are a set of values, which a multi index finds. */
function elementOf(path: string, of: Condition): Condition {
  const values = elementValues(of)
  if (values === undefined)
    return of.kind === 'contains' && of.path === ''
      ? { ...of, path }
      : { kind: 'elements', path, which: 'some', of, negated: false }
  const set = intersect(values, ELEMENTS)
  return set.length === 0 ? NEVER : { kind: 'within', path, values: set, every: false, whole: false, self: false }
}

/** The values of elements that meet the condition; undefined if no set of values says it. */
function elementValues(condition: Condition): ValueSet | undefined {
  switch (condition.kind) {
    case 'within':
      return condition.values
    case 'and':
    case 'or': {
      const sets = condition.of.map(elementValues)
      if (!sets.every((set) => set !== undefined)) return undefined
      return condition.kind === 'or' ? unite(sets) : sets.reduce(intersect, othersThan([]))
    }
    default:
      return undefined
  }
}

function related(selection: SelectionRelated, collection: string, names: SelectionNames): Condition {
  const { step, field, on } = selection
  const to = names.nameOf(selection.collection)
  const of = conditionOf(selection.of, to, names)
  const back = step === 'from'
  const many = field !== '' && names.isMany(back ? to : collection, field)
  const pairs = step === 'any' ? { on: on.map(([theirs, own]) => [pathOf(theirs), pathOf(own)] as const) } : {}
  return { kind: 'related', to, field: pathOf(field), back, many, ...pairs, of }
}

function recordOf(fields: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  fields.forEach((field, at) => {
    if (values[at] !== undefined) record[field] = values[at]
  })
  return record
}
