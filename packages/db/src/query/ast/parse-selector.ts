/**
 * Parses a selector (CouchDB's Mango language) into a predicate. A malformed selector is a TypeError that names the
 * place. A selector beyond a limit, which may come from a stranger, is PANNIER_LIMIT_EXCEEDED.
 *
 * `{ address: { city: 'Oslo' } }` and `{ 'address.city': 'Oslo' }` are the same; `{}` as a condition means "equals {}".
 *
 * In the dialect 'couchdb' a selector has CouchDB's meaning (docs/internals/query-planner.md, "Dialects").
 */
import { PannierError } from '../../base/errors.ts'
import { ArgumentError } from '../../base/options.ts'
import { isPlainObject } from '../../codec/collation.ts'
import { fieldNames } from '../../codec/field-path.ts'
import { collationNamed, type Collation } from '../../codec/registered-collation.ts'
import { checkRegex } from '../regex/check-regex.ts'
import {
  BuiltPredicate,
  type AboutArrays,
  type Comparison,
  type ElementsPredicate,
  type JsonValue,
  type Predicate,
} from './predicate.ts'
import { COMPARISONS, TYPES, type CompareOperator, type ValueType } from './value-set.ts'

/** How deep a selector, or a value in it, may nest. */
const SELECTOR_DEPTH_MAX = 200
/** Objects and fields of one selector (`{ a: 1 }` is two): each may be tested for each document. */
const SELECTOR_CONDITIONS_MAX = 10_000
/** Values in one selector, those inside arrays and objects counted too. */
const SELECTOR_VALUES_MAX = 100_000

/** How a selector is to be understood. */
export interface SelectorMeaning {
  /** The dialect. Left out: ours. */
  readonly dialect?: 'couchdb' | undefined
  /** The name of an order of strings, with the dialect 'couchdb' only; left out: by code point. */
  readonly collation?: string | undefined
}

/** Also takes what was built (builder.ts). */
export function parseSelector(
  selector: unknown,
  meaning: SelectorMeaning = {},
  parser: SelectorParser = new SelectorParser(meaning),
): Predicate {
  if (selector instanceof BuiltPredicate) return selector.predicate
  return parser.condition(selector, '', 0, false)
}

/** The order of strings of a checked meaning. */
export function checkedCollation({ dialect, collation }: SelectorMeaning): Collation | undefined {
  if (dialect !== undefined && dialect !== 'couchdb')
    throw new ArgumentError("dialect must be 'couchdb' or undefined", dialect)
  if (collation !== undefined && dialect === undefined)
    throw new ArgumentError("dialect must be 'couchdb' with collation", dialect)
  return collation === undefined ? undefined : collationNamed(collation)
}

/** Parses an object as a condition on the value at `path`. '' is the element itself, in $elemMatch and the like. */
export function parseFieldCondition(path: string, condition: object): Predicate {
  return new SelectorParser({}).condition(condition, path, 0, path === '')
}

export class SelectorParser {
  private readonly isCouch: boolean
  private readonly collation: Collation | undefined
  private conditions = 0
  private values = 0

  constructor(meaning: SelectorMeaning) {
    this.collation = checkedCollation(meaning)
    this.isCouch = meaning.dialect === 'couchdb'
  }

  /**
   * Parses a condition on the value at `path`. '' is the document, or (`isElement`) an element. Unlike a document, an
   * element can be compared itself.
   */
  condition(condition: unknown, path: string, depth: number, isElement: boolean): Predicate {
    if (!isPlainObject(condition)) fail(path, 'must be an object', condition)
    this.check(path, depth)
    const parts: Predicate[] = []
    const comparisons: Comparison[] = []
    for (const [key, operand] of Object.entries(condition)) {
      const isField = !key.startsWith('$')
      const name = key.startsWith('\\$') ? key.slice(1) : key
      const place = path === '' ? name : `${path}.${name}`
      if (isField) parts.push(this.field(operand, checkedPath(place), depth))
      else if (COMBINATIONS.has(name)) {
        const saysNothing = this.isCouch && isEmpty(operand) && Object.keys(condition).length > 1
        if (!saysNothing) parts.push(this.combination(name, operand, path, depth, isElement))
      } else if (path === '' && !isElement) fail(place, 'must be inside a field', name)
      else if (Object.hasOwn(COMPARISONS, name))
        comparisons.push(this.comparison(name as CompareOperator, operand, place))
      else if (ELEMENTS.has(name)) parts.push(this.elements(name, operand, path, place, depth))
      else if (name !== '$options') parts.push(this.test(name, operand, path, place, depth, condition))
      else if (!('$regex' in condition)) fail(place, 'must stand beside $regex', name)
    }
    if (comparisons.length > 0) parts.unshift(...this.compared(path, comparisons))
    return parts.length === 1 ? parts[0]! : freeze({ kind: 'and', of: freeze(parts) })
  }

  /** Parses the operand of a field: conditions, nested fields, or the value to equal. */
  private field(operand: unknown, path: string, depth: number): Predicate {
    if (isPlainObject(operand) && Object.keys(operand).length > 0)
      return this.condition(operand, path, depth + 1, false)
    this.check(path, depth)
    return this.compare(path, [this.comparison('$eq', operand, path)])
  }

  /** Ours are about one element, all of them; CouchDB's each stand for themselves. */
  private compared(path: string, comparisons: readonly Comparison[]): Predicate[] {
    if (!this.isCouch) return [this.compare(path, comparisons)]
    const alone = comparisons.filter(({ operator }) => COMPARISONS[operator].takes !== undefined)
    const ordered = comparisons.filter(({ operator }) => COMPARISONS[operator].takes === undefined)
    return [...alone.map((one) => [one]), ...(ordered.length > 0 ? [ordered] : [])].map((one) =>
      this.compare(path, one),
    )
  }

  private compare(path: string, given: readonly Comparison[]): Predicate {
    const comparisons = this.isCouch && path === '_id' ? given.map(beforeIds) : given
    const all = freeze({ kind: 'compare', path, comparisons: freeze(comparisons) } as const)
    if (!this.isCouch) return all
    const [{ operator }] = comparisons as [Comparison]
    const arrays: AboutArrays = operator === '$in' ? 'elements' : 'whole'
    const isCollated = this.collation !== undefined && COMPARISONS[operator].takes !== 'a string' && path !== '_id'
    return freeze({ ...all, arrays, ...(isCollated && { collation: this.collation }) })
  }

  private combination(name: string, operand: unknown, path: string, depth: number, isElement: boolean): Predicate {
    const part = (one: unknown): Predicate => this.condition(one, path, depth + 1, isElement)
    if (name === '$not') return not(part(operand))
    if (!Array.isArray(operand)) fail(path === '' ? name : `${path}.${name}`, 'must be an array of selectors', operand)
    if (this.isCouch && operand.length === 0) return either(freeze([]))
    const of = freeze(operand.map(part))
    return name === '$and' ? freeze({ kind: 'and', of }) : name === '$or' ? either(of) : not(either(of))
  }

  protected elements(name: string, operand: unknown, path: string, place: string, depth: number): Predicate {
    if (!isPlainObject(operand)) fail(place, 'must be a selector', operand)
    // For CouchDB `{}` is a value that elements can equal.
    const of =
      this.isCouch && Object.keys(operand).length === 0
        ? this.field(operand, '', depth + 1)
        : this.condition(operand, '', depth + 1, true)
    return freeze({ kind: 'elements', path, which: ELEMENTS.get(name)!, of })
  }

  private comparison(operator: CompareOperator, operand: unknown, place: string): Comparison {
    const { takes } = COMPARISONS[operator]
    const type = Array.isArray(operand) ? 'an array' : `a ${typeof operand}`
    if (takes !== undefined && takes !== type) fail(place, `must be ${takes}`, operand)
    return freeze({ operator, operand: this.frozenCopy(operand, place, 0) })
  }

  /** The operators that stand for themselves. */
  protected test(
    name: string,
    operand: unknown,
    path: string,
    place: string,
    _depth: number,
    condition: PlainObject,
  ): Predicate {
    switch (name) {
      case '$ne':
        return not(this.compare(path, [this.comparison('$eq', operand, place)]))
      case '$nin':
        return not(this.compare(path, [this.comparison('$in', operand, place)]))
      case '$exists': {
        if (typeof operand !== 'boolean') fail(place, 'must be a boolean', operand)
        const exists: Predicate = freeze({ kind: 'exists', path })
        return operand ? exists : not(exists)
      }
      case '$type':
        if (typeof operand !== 'string' || !Object.hasOwn(TYPES, operand))
          fail(place, `must be one of ${Object.keys(TYPES).join(', ')}`, operand)
        return freeze({ kind: 'type', path, type: operand as ValueType })
      case '$size':
        if (!isNumber(operand) || operand < 0) fail(place, 'must be a whole number from 0', operand)
        return freeze({ kind: 'size', path, size: operand })
      case '$mod': {
        const [divisor, remainder] = Array.isArray(operand) && operand.length === 2 ? operand : []
        if (!isNumber(divisor) || !isNumber(remainder) || divisor === 0) {
          fail(place, 'must be [divisor, remainder]', operand)
        }
        return freeze({ kind: 'mod', path, divisor, remainder, ...this.aboutArrays() })
      }
      case '$contains':
        if (this.isCouch) fail(place, "must not be used in the dialect 'couchdb'", name)
        if (typeof operand !== 'string') fail(place, 'must be a string', operand)
        return freeze({ kind: 'contains', path, text: operand })
      case '$all':
        if (!Array.isArray(operand)) fail(place, 'must be an array', operand)
        return this.all(path, this.frozenCopy(operand, place, 0) as readonly JsonValue[])
      case '$regex':
        try {
          const expression = checkRegex(operand, condition['$options'] ?? '')
          return freeze({ kind: 'regex', path, ...expression, ...this.aboutArrays() })
        } catch (error) {
          if (error instanceof PannierError) throw error
          fail(place, `must be a regular expression (${(error as Error).message})`, operand)
        }
      default:
        return this.unknown(name, place)
    }
  }

  protected unknown(name: string, place: string): never {
    const isQuantifier = ['$some', '$every', '$none'].includes(name)
    return fail(place, isQuantifier ? 'must be on a relation that open() declares' : 'must be a known operator', name)
  }

  private aboutArrays(): { readonly arrays: 'whole' } | undefined {
    return this.isCouch ? { arrays: 'whole' } : undefined
  }

  /** For CouchDB a single array in the list may also equal the whole array. */
  private all(path: string, values: readonly JsonValue[]): Predicate {
    const all: Predicate = freeze({ kind: 'all', path, values })
    const [only] = values
    if (!this.isCouch || values.length !== 1 || !Array.isArray(only)) return all
    return either(freeze([all, this.compare(path, [freeze({ operator: '$eq', operand: only })])]))
  }

  /** JSON only; later changes of what the caller gave do not reach the copy. */
  private frozenCopy(value: unknown, place: string, depth: number): JsonValue {
    if (++this.values > SELECTOR_VALUES_MAX) exceed(place, 'values', SELECTOR_VALUES_MAX)
    if (value === null || typeof value === 'boolean' || typeof value === 'string' || Number.isFinite(value)) {
      return value as JsonValue
    }
    if (depth > SELECTOR_DEPTH_MAX) exceed(place, 'levels', SELECTOR_DEPTH_MAX)
    if (Array.isArray(value)) return freeze(value.map((element) => this.frozenCopy(element, place, depth + 1)))
    if (!isPlainObject(value)) fail(place, `must be a JSON value${hintFor(value)}`, value)
    const fields = Object.entries(value).map(
      ([name, inner]) => [name, this.frozenCopy(inner, place, depth + 1)] as const,
    )
    return freeze(Object.fromEntries(fields))
  }

  private check(path: string, depth: number): void {
    if (depth > SELECTOR_DEPTH_MAX) exceed(path, 'levels', SELECTOR_DEPTH_MAX)
    if (++this.conditions > SELECTOR_CONDITIONS_MAX) exceed(path, 'conditions', SELECTOR_CONDITIONS_MAX)
  }
}

const COMBINATIONS: ReadonlySet<string> = new Set(['$and', '$or', '$nor', '$not'])
const ELEMENTS: ReadonlyMap<string, ElementsPredicate['which']> = new Map([
  ['$elemMatch', 'some'],
  ['$allMatch', 'every'],
  ['$keyMapMatch', 'keys'],
])

export type PlainObject = Readonly<Record<string, unknown>>

/** A dotted path; each name in it is at least one character long. */
function checkedPath(path: string): string {
  if (fieldNames(path).includes('')) fail(path, 'must have no empty name', path)
  return path
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

/** CouchDB compares ids as Erlang does: arrays and objects come before strings. */
function beforeIds(comparison: Comparison): Comparison {
  const { operator, operand } = comparison
  return /^.[gl]/.test(operator) && typeof operand === 'object' ? freeze({ operator, operand: null }) : comparison
}

function isEmpty(operand: unknown): boolean {
  return Array.isArray(operand) && operand.length === 0
}

export function either(of: readonly Predicate[]): Predicate {
  return freeze({ kind: 'or', of })
}

export function not(of: Predicate): Predicate {
  return freeze({ kind: 'not', of })
}

export function freeze<T extends object>(value: T): Readonly<T> {
  return Object.freeze(value)
}

/** Suggests a value to compare with instead. */
function hintFor(value: unknown): string {
  if (value instanceof Date) return ' (a date as it is stored, e.g. date.toISOString())'
  return value instanceof RegExp ? ` (write { $regex: ${JSON.stringify(value.source)} })` : ''
}

function exceed(place: string, what: string, max: number): never {
  throw new PannierError('PANNIER_LIMIT_EXCEEDED', `The selector has more than ${max} ${what} at "${place}".`)
}

export function fail(place: string, must: string, got: unknown): never {
  throw new ArgumentError(`the selector${place === '' ? '' : ` at '${place}'`} ${must}`, got)
}
