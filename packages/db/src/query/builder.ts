/**
 * Builds predicates in code: the same ones that selectors are parsed into, so either may be given to `find`.
 *
 * @example
 * people.find(where(people, 'age').gte(18).and(where(people, 'tags').has('vip')))
 */
import { calling } from '../base/options.ts'
import { checkFieldPath } from '../codec/field-path.ts'
import { either, freeze, not, parseFieldCondition } from './ast/parse-selector.ts'
import { BuiltPredicate, type Predicate } from './ast/predicate.ts'
import type { ValueType } from './ast/value-set.ts'
import type { Bound, Element, Equal, FieldPath, FieldValue, Prefix } from './field-types.ts'
import type { Query } from './query.ts'

/** A filter of `find` beside a selector. An immutable value. */
export class WhereFilter extends BuiltPredicate {
  /**
   * Documents that meet this filter and all of the others.
   *
   * @example
   * people.find(where(people, 'age').gte(18).and(where(people, 'city').eq('Oslo')))
   */
  and(...others: WhereFilter[]): WhereFilter {
    return new WhereFilter(freeze({ kind: 'and', of: freeze([this, ...others].map(predicateOf)) }))
  }

  /**
   * Documents that meet this filter or one of the others.
   *
   * @example
   * people.find(where(people, 'age').lt(18).or(where(people, 'age').gte(65)))
   */
  or(...others: WhereFilter[]): WhereFilter {
    return new WhereFilter(either(freeze([this, ...others].map(predicateOf))))
  }

  /**
   * A missing field meets neither a condition nor its negation.
   *
   * @example
   * people.find(where(people, 'city').eq('Oslo').not())
   */
  not(): WhereFilter {
    return new WhereFilter(not(this.predicate))
  }
}

/**
 * Begins a condition on the field at a path: 'age', 'address.city'. With the collection, the path and the values are
 * checked by the types of its documents.
 *
 * @example
 * await people.find(where(people, 'age').gte(18)).toArray()
 * await people.find(where('age').gte(18)).toArray()
 */
export function where<Document extends object, Path extends FieldPath<Document>>(
  collection: { find(): Query<object, Document> },
  path: Path,
): FieldFilters<FieldValue<Document, Path>>
export function where(path: string): FieldFilters
export function where(collection: unknown, path: unknown = collection): FieldFilters {
  return new FieldFilters(path as string)
}

/** Conditions on one field. Each method says what the operator of that name says in a selector. */
export class FieldFilters<Value = unknown> {
  readonly #path: string

  /** @internal Use `where`. */
  constructor(path: string) {
    this.#path = calling('where()', () => checkFieldPath(path))
  }

  /**
   * Several at once, as in a selector: of an array one and the same element has to meet all comparisons.
   *
   * @example
   * people.find(where(people, 'age').is({ $gte: 18, $lt: 65 }))
   */
  is(condition: Readonly<Record<string, unknown>>): WhereFilter {
    return new WhereFilter(calling('where()', () => parseFieldCondition(this.#path, condition)))
  }

  /**
   * The field equals the value.
   *
   * @example
   * people.find(where(people, 'city').eq('Oslo'))
   */
  eq(value: Equal<Value>): WhereFilter {
    return this.is({ $eq: value })
  }

  /**
   * The field is there and differs from the value.
   *
   * @example
   * people.find(where(people, 'city').ne('Oslo'))
   */
  ne(value: Equal<Value>): WhereFilter {
    return this.is({ $ne: value })
  }

  /**
   * The field is greater than the value.
   *
   * @example
   * people.find(where(people, 'age').gt(17))
   */
  gt(value: Bound<Value>): WhereFilter {
    return this.is({ $gt: value })
  }

  /**
   * The field is greater than the value or equals it.
   *
   * @example
   * people.find(where(people, 'age').gte(18))
   */
  gte(value: Bound<Value>): WhereFilter {
    return this.is({ $gte: value })
  }

  /**
   * The field is lower than the value.
   *
   * @example
   * people.find(where(people, 'age').lt(18))
   */
  lt(value: Bound<Value>): WhereFilter {
    return this.is({ $lt: value })
  }

  /**
   * The field is lower than the value or equals it.
   *
   * @example
   * people.find(where(people, 'age').lte(17))
   */
  lte(value: Bound<Value>): WhereFilter {
    return this.is({ $lte: value })
  }

  /**
   * From the first to the second, both included.
   *
   * @example
   * people.find(where(people, 'age').between(18, 30))
   */
  between(from: Bound<Value>, to: Bound<Value>): WhereFilter {
    return this.is({ $gte: from, $lte: to })
  }

  /**
   * The field equals one of the values.
   *
   * @example
   * people.find(where(people, 'city').in(['Oslo', 'Bergen']))
   */
  in(values: readonly Equal<Value>[]): WhereFilter {
    return this.is({ $in: values })
  }

  /**
   * The field is there and equals none of the values.
   *
   * @example
   * people.find(where(people, 'city').notIn(['Oslo', 'Bergen']))
   */
  notIn(values: readonly Equal<Value>[]): WhereFilter {
    return this.is({ $nin: values })
  }

  /**
   * An array that has this element.
   *
   * @example
   * people.find(where(people, 'tags').has('vip'))
   */
  has(value: Element<Value>): WhereFilter {
    return this.is({ $all: [value] })
  }

  /**
   * An array that has all of these elements.
   *
   * @example
   * people.find(where(people, 'tags').hasAll(['vip', 'new']))
   */
  hasAll(values: readonly Element<Value>[]): WhereFilter {
    return this.is({ $all: values })
  }

  /**
   * A string that begins with the prefix.
   *
   * @example
   * people.find(where(people, 'name').beginsWith('A'))
   */
  beginsWith(prefix: Prefix<Value>): WhereFilter {
    return this.is({ $beginsWith: prefix })
  }

  /**
   * A string in which the text stands somewhere, upper or lower case.
   *
   * @example
   * people.find(where(people, 'name').contains('ann'))
   */
  contains(text: Prefix<Value>): WhereFilter {
    return this.is({ $contains: text })
  }

  /**
   * `g` and `y` make no difference to whether an expression is found.
   *
   * @example
   * people.find(where(people, 'name').matches(/^a/i))
   */
  matches(expression: RegExp): WhereFilter {
    return this.is({ $regex: expression.source, $options: expression.flags.replace(/[dgy]/g, '') })
  }

  /**
   * The field is there; with false, it is missing.
   *
   * @example
   * people.find(where(people, 'email').exists(false))
   */
  exists(exists: boolean = true): WhereFilter {
    return this.is({ $exists: exists })
  }

  /**
   * The field has a value of this type: 'null', 'boolean', 'number', 'string', 'array' or 'object'.
   *
   * @example
   * people.find(where(people, 'tags').type('array'))
   */
  type(type: ValueType): WhereFilter {
    return this.is({ $type: type })
  }

  /**
   * An array of that many elements.
   *
   * @example
   * people.find(where(people, 'tags').size(2))
   */
  size(elements: number): WhereFilter {
    return this.is({ $size: elements })
  }

  /**
   * An integer that leaves the remainder when it is divided.
   *
   * @example
   * people.find(where(people, 'age').mod(10, 0))
   */
  mod(divisor: number, remainder: number): WhereFilter {
    return this.is({ $mod: [divisor, remainder] })
  }

  /**
   * Some element of the array meets it: conditions on the element itself, `{ $gt: 5 }`, or on fields of it.
   *
   * @example
   * people.find(where(people, 'tags').some({ $beginsWith: 'v' }))
   */
  some(element: WhereFilter | Readonly<Record<string, unknown>>): WhereFilter {
    return this.#elements('some', element)
  }

  /**
   * The array is not empty, and every element of it meets it.
   *
   * @example
   * people.find(where(people, 'tags').every({ $ne: 'spam' }))
   */
  every(element: WhereFilter | Readonly<Record<string, unknown>>): WhereFilter {
    return this.#elements('every', element)
  }

  /**
   * The name of some field of the object meets it.
   *
   * @example
   * people.find(where('scores').someKey({ $eq: 'chess' }))
   */
  someKey(key: Readonly<Record<string, unknown>>): WhereFilter {
    return this.#elements('keys', key)
  }

  #elements(which: 'some' | 'every' | 'keys', element: WhereFilter | Readonly<Record<string, unknown>>): WhereFilter {
    const of =
      element instanceof WhereFilter ? element.predicate : calling('where()', () => parseFieldCondition('', element))
    return new WhereFilter(freeze({ kind: 'elements', path: this.#path, which, of }))
  }
}

function predicateOf(filter: WhereFilter): Predicate {
  return filter.predicate
}
