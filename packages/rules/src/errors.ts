/** Errors of a rule, and the nearest of the names that would have been right. */

/** The kind of mistake that a `RuleError` reports. */
export type RuleErrorKind =
  /** The text is not a rule. */
  | 'syntax'
  /** The rule is longer, or has more comparisons, than allowed. */
  | 'limit'
  /** A name, modifier or function leads nowhere. */
  | 'unknown'
  /** `search()` where no field is searchable. */
  | 'search'
  /** The path leads to what the caller may not ask for: a hidden field, or a collection whose list rule is null. */
  | 'forbidden'

/**
 * The only error that this package throws because of a rule.
 *
 * @example
 * import { parse, RuleError } from '@pannier/rules'
 *
 * try {
 *   parse('titel == 1')
 * } catch (error) {
 *   if (error instanceof RuleError) console.log(error.position, error.message) // 6 'Unknown operator "==". Write "=".'
 * }
 */
export class RuleError extends Error {
  /** The kind of mistake. */
  readonly kind: RuleErrorKind
  /** The position in the text. */
  readonly position: number
  /** The hint: the right form, if it is known. It also ends the message. */
  readonly hint: string

  constructor(kind: RuleErrorKind, problem: string, position: number, hint = '') {
    super(hint === '' ? problem : `${problem} ${hint}`)
    this.name = 'RuleError'
    this.kind = kind
    this.position = position
    this.hint = hint
  }
}

/** A misspelt name differs from the right one by at most this number of letters. */
const EDITS_MAX = 2

/** `Write "title".`, or nothing if no name is near. */
export function nearestHint(name: string, names: Iterable<string>): string {
  let best = ''
  let bestEdits = Math.min(EDITS_MAX, name.length - 1) + 1
  for (const candidate of names) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase(), bestEdits)
    if (edits < bestEdits) [best, bestEdits] = [candidate, edits]
  }
  return best === '' ? '' : `Write "${best}".`
}

/** Levenshtein's distance, or `limit` if it is not less. */
function editsBetween(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) >= limit) return limit
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++)
      next.push(Math.min(row[j]! + (one[i] === other[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1))
    row = next
  }
  return Math.min(row[other.length]!, limit)
}
