/**
 * Brings a predicate into the form of the matcher and the planner. Negations remain only at leaves without a
 * complement. Nested and/or are flat. Comparisons are sets of values.
 */
import { unreachable } from '../../base/errors.ts'
import { collate, holdsText, type Collation } from '../../codec/registered-collation.ts'
import { literalPrefix } from '../regex/check-regex.ts'
import type { NumberSet } from '../sets/number-set.ts'
import {
  ARRAYS,
  beginningWith,
  COMPARISONS,
  complement,
  EVERYTHING,
  intersect,
  intersectAll,
  MISSING,
  pointAt,
  TYPES,
  unite,
  type ValueSet,
} from './value-set.ts'
import type {
  AllPredicate,
  ContainsPredicate,
  ComparePredicate,
  ElementsPredicate,
  ModPredicate,
  Predicate,
  RegexPredicate,
  SizePredicate,
} from './predicate.ts'

export type Condition =
  | AllOf
  | AnyOf
  | WithinCondition
  | TestCondition
  | HoldsCondition
  | SearchCondition
  | NumbersCondition
  | ComplementCondition
  | RelatedCondition

interface AllOf {
  readonly kind: 'and'
  /** The parts of the condition; never `and`. */
  readonly of: readonly Condition[]
}

export interface AnyOf {
  readonly kind: 'or'
  /** The parts of the condition; never `or`. */
  readonly of: readonly Condition[]
}

/** The value is in the set. For an array: some element is or, with `every`, every element is. */
export interface WithinCondition {
  readonly kind: 'within'
  readonly path: string
  readonly values: ValueSet
  readonly every: boolean
  /** An array as a whole counts like one more of its elements. */
  readonly whole: boolean
  /** Tests the value as a whole, even if it is an array. */
  readonly self: boolean
  /** The set holds collated values (codec/registered-collation.ts). Undefined also where the order of strings has no say. */
  readonly collation?: Collation | undefined
}

/** A condition that a function holds to be met. Only relations/selection makes it. */
interface HoldsCondition {
  readonly kind: 'holds'
  readonly path?: undefined
  /** The paths of the fields that it is given; '' is the element itself. */
  readonly paths: readonly string[]
  readonly compile: <Row>(reader: (path: string) => (row: Row) => unknown) => (row: Row) => boolean
}

/** The document has the words. Only relations/selection makes it, and relations/ resolves it before a query is planned. */
export interface SearchCondition extends SearchedText {
  readonly kind: 'search'
  readonly path?: undefined
  readonly text: string
}

/** Where words are looked for: in a text index. Where it is not built, or not there, documents are tested. */
export interface SearchedText {
  /** The name of the index. */
  readonly index: string
  /** The paths of the fields that it is on. */
  readonly paths: readonly string[]
}

/** The document's number is in the set, which has only numbers of live documents. */
interface NumbersCondition {
  readonly kind: 'numbers'
  readonly numbers: NumberSet
  /** The field whose column gave the set, or the words of a search, for explain. */
  readonly column?: string
  readonly search?: string
}

/** The document does not meet the condition, whatever its fields are. A negated leaf asks for its field to be there. */
interface ComplementCondition {
  readonly kind: 'complement'
  readonly of: Condition
}

/** Some related document meets the condition. Only relations/ makes it, and resolves it before a query is planned. */
export interface RelatedCondition {
  readonly kind: 'related'
  readonly path?: undefined
  /** The related collection. */
  readonly to: string
  /** The field that holds the ids: of the document, or (`back`) of the related ones. */
  readonly field: string
  readonly back: boolean
  /** True if the field holds an array of ids. */
  readonly many: boolean
  /**
   * The related documents are those with equal texts, and no field leads to them: pairs of a field of theirs and one of the
   * document. A missing text is the empty one. Without pairs they are all documents.
   */
  readonly on?: readonly (readonly [related: string, own: string])[]
  readonly of: Condition
}

/** A condition about one field. */
export type FieldCondition = WithinCondition | TestCondition

/** A condition without conditions on the document within it. */
export type LeafCondition = FieldCondition | HoldsCondition | SearchCondition

/** Conditions that no set of values can express. */
export type TestCondition = RegexCondition | ContainsCondition | SizeCondition | ModCondition | ElementsCondition

interface Negatable {
  /** Whether it is negated: the field is there and does not meet it. */
  readonly negated: boolean
}

interface RegexCondition extends RegexPredicate, Negatable {}
export interface ContainsCondition extends ContainsPredicate, Negatable {
  /** By what texts are the same; undefined: by Unicode. */
  readonly fold?: Collation | undefined
}

interface SizeCondition extends SizePredicate, Negatable {}
interface ModCondition extends ModPredicate, Negatable {}
export interface ElementsCondition extends Omit<ElementsPredicate, 'of'>, Negatable {
  /** The condition on the element, whose paths begin at the element. */
  readonly of: Condition
}

export function normalise(predicate: Predicate, negated = false): Condition {
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return combine(
        (predicate.kind === 'and') === negated ? 'or' : 'and',
        predicate.of.map((part) => normalise(part, negated)),
      )
    case 'not':
      return normalise(predicate.of, !negated)
    case 'exists':
      return itself(predicate.path, negated ? MISSING : EVERYTHING)
    case 'type':
      return itself(predicate.path, TYPES[predicate.type], negated)
    case 'compare':
      return comparing(predicate, negated)
    case 'all':
      return containing(predicate, negated)
    case 'regex':
      return finding(predicate, negated)
    case 'elements':
      return ofElements(predicate, negated)
    case 'contains':
    case 'size':
    case 'mod':
      return { ...predicate, negated }
    default:
      // A kind without a case is an error of the compiler.
      return unreachable(predicate satisfies { readonly kind: 'quantified' } as never)
  }
}

export function isAlways(condition: Condition): boolean {
  return condition.kind === 'and' && condition.of.length === 0
}

export function isNever(condition: Condition): boolean {
  return condition.kind === 'or' && condition.of.length === 0
}

/** `and` and `or` of conditions, without needless nesting. Alternatives of one field become one set of values. */
export function combine(kind: 'and' | 'or', parts: readonly Condition[]): Condition {
  const flat = parts.flatMap((part) => (part.kind === kind ? part.of : [part]))
  const other = kind === 'and' ? 'or' : 'and'
  const decided = flat.find((part) => part.kind === other && part.of.length === 0)
  if (decided !== undefined) return decided
  const of = kind === 'or' ? uniteAlternatives(flat) : flat
  return of.length === 1 ? of[0]! : { kind, of }
}

/** The conjuncts: conditions that all have to hold. */
export function conjuncts(condition: Condition): readonly Condition[] {
  return condition.kind === 'and' ? condition.of : [condition]
}

/** Every leaf that is about a field, also of related documents; those about elements not opened. */
export function leavesOf(condition: Condition): readonly LeafCondition[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.of.flatMap(leavesOf)
    case 'complement':
    case 'related':
      return leavesOf(condition.of)
    case 'numbers':
      return []
    default:
      return [condition]
  }
}

/** Every path that the condition reads. */
export function pathsOf(condition: Condition): readonly string[] {
  return leavesOf(condition).flatMap((leaf) => leaf.path ?? leaf.paths)
}

/** The regular expressions in it, wherever they are. */
export function expressionsOf(condition: Condition): readonly RegexCondition[] {
  return leavesOf(condition).flatMap((leaf) =>
    leaf.kind === 'regex' ? [leaf] : leaf.kind === 'elements' ? expressionsOf(leaf.of) : [],
  )
}

/** `a = 1 or a = 2` is `a in [1, 2]`: for some element, not for every. */
function uniteAlternatives(parts: readonly Condition[]): readonly Condition[] {
  const groups = new Map<Condition | string, Condition[]>()
  for (const part of parts) {
    const isSome = part.kind === 'within' && !part.every && part.values !== MISSING
    const key = isSome ? JSON.stringify([part.whole, part.self, part.path, part.collation?.name]) : part
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [part])
    else group.push(part)
  }
  return Array.from(groups.values(), (group) =>
    group.length === 1
      ? group[0]!
      : { ...(group[0] as WithinCondition), values: unite((group as WithinCondition[]).map(({ values }) => values)) },
  )
}

/** Whether the order of strings affects what is in the set. */
export function ordersText(values: ValueSet): boolean {
  return values.some(({ value }) => holdsText(value))
}

const NEVER: Condition = { kind: 'or', of: [] }

/** The value as a whole. */
function itself(path: string, values: ValueSet, negated = false): Condition {
  const set = negated ? complement(values) : values
  return set.length === 0 ? NEVER : { kind: 'within', path, values: set, every: false, whole: true, self: true }
}

/** Some element of it, or with `negated` no one. Inside $elemMatch '' is the element, whose own elements don't count. */
function within(path: string, values: ValueSet, whole: boolean, negated: boolean): Condition {
  if (path === '') return itself(path, values, negated)
  if (values.length === 0 && !negated) return NEVER
  return { kind: 'within', path, values: negated ? complement(values) : values, every: negated, whole, self: false }
}

function comparing({ path, comparisons, arrays, collation }: ComparePredicate, negated: boolean): Condition {
  const values = intersectAll(
    comparisons.map(({ operator, operand }) =>
      COMPARISONS[operator].valuesOf(collation === undefined ? operand : collate(operand, collation)),
    ),
  )
  if (arrays !== undefined) {
    const condition = arrays === 'whole' ? itself(path, values, negated) : within(path, values, false, negated)
    const isCollated = collation !== undefined && condition.kind === 'within' && ordersText(values)
    return isCollated ? { ...condition, collation } : condition
  }
  const whole = comparisons.some(({ operator, operand }) =>
    operator === '$in' ? (operand as unknown[]).some(Array.isArray) : Array.isArray(operand),
  )
  return within(path, values, whole, negated)
}

/** An array that has an element in each of these sets; with `negated`, one that has not. */
function arrayWith(path: string, sets: readonly ValueSet[], negated: boolean): Condition {
  const elements = sets.map((values) => within(path, values, false, negated))
  // Only an array is in two sets that have nothing in common.
  const isArray = sets.some((values) => intersect(values, sets[0]!).length === 0)
  return combine(negated ? 'or' : 'and', isArray ? elements : [...elements, itself(path, ARRAYS, negated)])
}

function containing({ path, values }: AllPredicate, negated: boolean): Condition {
  if (values.length === 0) return negated ? itself(path, EVERYTHING) : NEVER
  if (path !== '') return arrayWith(path, values.map(pointAt), negated)
  // An element which is an array: only $elemMatch looks into it.
  const each = values.map((value): Condition => ({
    kind: 'elements',
    path,
    which: 'some',
    of: itself('', pointAt(value)),
    negated,
  }))
  return combine(negated ? 'or' : 'and', each)
}

/** A literal start narrows like $beginsWith. */
function finding(predicate: RegexPredicate, negated: boolean): Condition {
  const { prefix, isAll } = literalPrefix(predicate)
  const test: Condition = { ...predicate, negated }
  const { path, arrays } = predicate
  const beginning = (not: boolean): Condition =>
    arrays === 'whole' ? itself(path, beginningWith(prefix), not) : within(path, beginningWith(prefix), false, not)
  if (isAll) return beginning(negated)
  return prefix === '' || negated ? test : combine('and', [beginning(false), test])
}

/** Conditions on the element itself can be looked up; all others are tested. */
function ofElements({ of, ...predicate }: ElementsPredicate, negated: boolean): Condition {
  const { path, which } = predicate
  const inner = normalise(of)
  const test: Condition = { ...predicate, of: inner, negated }
  if (which !== 'some' || path === '') return test
  const sets = conjuncts(inner).flatMap((part) =>
    part.kind === 'within' && part.path === '' && part.collation === undefined ? [part.values] : [],
  )
  const values = intersectAll(sets)
  if (sets.length === conjuncts(inner).length && sets.length > 0) return arrayWith(path, [values], negated)
  return sets.length === 0 || negated ? test : combine('and', [within(path, values, false, false), test])
}

/** Text that identifies queries and conditions: equal only for the same meaning. */
export function identityOf(value: object): string {
  return JSON.stringify(value, distinct)
}

/** JSON leaves out what is missing and makes null of numbers that are not finite; these are texts here, so texts are marked. */
function distinct(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return `'${value}`
  if (value === undefined) return 'undefined'
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}
