/** Parses selectors where relations are declared: quantifiers may stand on fields of documents. */
import { nearest } from '../base/options.ts'
import type { Predicate, QuantifiedPredicate } from '../query/ast/predicate.ts'
import { fail, freeze, parseSelector, SelectorParser, type PlainObject } from '../query/ast/parse-selector.ts'

const QUANTIFIERS: ReadonlyMap<string, QuantifiedPredicate['which']> = new Map([
  ['$some', 'some'],
  ['$every', 'every'],
  ['$none', 'none'],
])

/** As `parseSelector`. */
export function parseRelated(selector: unknown): Predicate {
  return parseSelector(selector, {}, new RelatedParser({}))
}

class RelatedParser extends SelectorParser {
  /** Elements are no documents. */
  #isInElement = false

  protected override elements(name: string, operand: unknown, path: string, place: string, depth: number): Predicate {
    const outside = this.#isInElement
    this.#isInElement = true
    const elements = super.elements(name, operand, path, place, depth)
    this.#isInElement = outside
    return elements
  }

  protected override test(
    name: string,
    operand: unknown,
    path: string,
    place: string,
    depth: number,
    condition: PlainObject,
  ): Predicate {
    const which = QUANTIFIERS.get(name)
    if (which === undefined || this.#isInElement) return super.test(name, operand, path, place, depth, condition)
    return freeze({ kind: 'quantified', path, which, of: this.condition(operand, '', depth + 1, false) })
  }

  protected override unknown(name: string, place: string): never {
    const near = nearest(name, [...QUANTIFIERS.keys()])
    if (near === undefined || near === name) super.unknown(name, place)
    return fail(place, `must be a known operator (did you mean '${near}'?)`, name)
  }
}
