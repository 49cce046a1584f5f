/** Says of values whether they meet conditions. This is the meaning of queries; indexes only find candidates faster. */
import type { SearchCondition, SearchQuery } from './conditions.ts'
import { isTagOf, tagOf, textOfTag, VALUES_SEPARATOR } from './search-fields.ts'
import type { SearchValue } from './search-fields.ts'
import { idOf } from './stored-document.ts'
import type { StoredDocument } from './stored-document.ts'

export function matchesQuery(query: SearchQuery, document: StoredDocument & { readonly _id: string }): boolean {
  if (query.length === 0) return true
  const { _id, s, m = [] } = document
  return query.some((part) =>
    part.every((condition) => {
      const { field } = condition
      const value = field === '_id' ? idOf(_id) : Object.hasOwn(s, field) ? s[field] : undefined
      return meets(condition, value, m)
    }),
  )
}

/** Whether a condition holds by the stored text alone; undefined: it may have several values, so the document decides. */
export function meetsAlone(condition: SearchCondition, value: SearchValue | undefined): boolean | undefined {
  const mayBeSeveral = typeof value === 'string' && value.includes(VALUES_SEPARATOR)
  if (mayBeSeveral && condition.comparison !== 'like') return undefined
  return meets(condition, value, [])
}

/** `tags`: of documents in which fields have several values. */
function meets(condition: SearchCondition, value: SearchValue | undefined, tags: readonly string[]): boolean {
  return value !== undefined && compare(condition, value, tags) !== condition.negated
}

function compare(condition: SearchCondition, value: SearchValue, tags: readonly string[]): boolean {
  const { comparison, values } = condition
  const [first, second] = values as [SearchValue, SearchValue]
  switch (comparison) {
    case 'like':
      return textOf(value).includes(textOf(first))
    case 'leftLike':
      return eachText(condition, value, tags).some((text) => text.endsWith(textOf(first)))
    case 'rightLike':
      return eachText(condition, value, tags).some((text) => text.startsWith(textOf(first)))
    case 'equal':
    case 'inside':
      return values.some((one) => one === value || tags.includes(tagOf(condition.field, one)))
    case 'lessThan':
      return order(value, first) < 0
    case 'lessOrEqualThan':
      return order(value, first) <= 0
    case 'greaterThan':
      return order(value, first) > 0
    case 'greaterOrEqualThan':
      return order(value, first) >= 0
    case 'between':
      return order(value, first) >= 0 && order(value, second) <= 0
  }
}

/** The text, and if it is of several values each of them. */
function eachText({ field }: SearchCondition, value: SearchValue, tags: readonly string[]): readonly string[] {
  const several = tags.filter((tag) => isTagOf(tag, field)).map((tag) => textOf(textOfTag(tag, field)))
  return [textOf(value), ...several]
}

function textOf(value: SearchValue): string {
  return String(value).toLowerCase()
}

/** NaN between a number and a text, which are neither less nor greater than one another. */
function order(left: SearchValue, right: SearchValue): number {
  if (typeof left === 'number' || typeof right === 'number')
    return typeof left === typeof right ? (left as number) - (right as number) : NaN
  return compareText(left, right)
}

/** By code points, as the database orders text. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  let at = 0
  while (at < length && left[at] === right[at]) at++
  if (at === length) return left.length - right.length
  // Not in the midst of a character outside the basic plane.
  if (at > 0 && isLowSurrogate(left, at) && isLowSurrogate(right, at)) at--
  return left.codePointAt(at)! - right.codePointAt(at)!
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}
