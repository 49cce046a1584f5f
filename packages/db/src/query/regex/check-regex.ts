/**
 * Regular expressions in selectors: which are allowed, and how their work is bounded
 * (docs/adr/0004-regular-expressions.md).
 *
 * A _plain_ expression (no groups, no repetition) can't backtrack, so it runs on the engine's own RegExp. All others
 * run on linear-regex.ts, which is loaded when a query has one.
 */
import { assert, PannierError } from '../../base/errors.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import type { MaybePromise } from '../../base/async.ts'
import type { LinearRegex } from './linear-regex.ts'

/** Characters of an expression. */
export const REGEX_CHARS_MAX = 2000
/** States of all expressions of one query. */
const QUERY_STATES_MAX = 4000

interface RegexSource {
  readonly source: string
  readonly flags: string
}

/** Tells whether the expression is found in a text. */
type RegexTest = (text: string) => boolean

/** Throws an Error for what is no regular expression. Flags may stand in front as in PCRE: `(?i)abc`. */
export function checkRegex(operand: unknown, options: unknown): RegexSource {
  if (typeof operand !== 'string' || typeof options !== 'string') throw new Error(EXPECTED)
  if (operand.length > REGEX_CHARS_MAX) {
    throw new PannierError('PANNIER_LIMIT_EXCEEDED', `A regular expression has over ${REGEX_CHARS_MAX} characters.`)
  }
  const [front, inFront] = /^\(\?([ims]+)\)/.exec(operand) ?? ['', '']
  const flags = [...new Set(options + inFront)].sort().join('')
  if (!/^[imsu]*$/.test(flags) || new Set(options).size < options.length) throw new Error(EXPECTED)
  const source = operand.slice(front.length)
  new RegExp(source, flags)
  return { source, flags }
}

const EXPECTED = 'it takes the source of a RegExp, and $options its flags (of i, m, s and u)'

/** Without groups and repetition the work is at most the text's length times the expression's. */
export function isPlain(source: string): boolean {
  return /^(?:[^\\[(*+?{]|\\[^]|\[(?:[^\]\\]|\\[^])*\])*$/.test(source)
}

/**
 * The prefix of every string in which it is found, and whether the prefix is the whole condition; '' if unknown. Only
 * for characters that mean themselves in every order of strings.
 */
export function literalPrefix({ source, flags }: RegexSource): { readonly prefix: string; readonly isAll: boolean } {
  const [found] = /^\^(?:[^\\[(*+?{^$.|)\ud800-\udfff]|\\[^\w\ud800-\udfff])*/.exec(source) ?? []
  if (found === undefined || source.includes('|') || /[im]/.test(flags)) return { prefix: '', isAll: false }
  const isAll = found.length === source.length
  const isRepeated = /[*+?{]/.test(source[found.length] ?? '')
  const chars: string[] = found.slice(1).match(/\\?[^]/g) ?? []
  if (isRepeated) chars.pop()
  return { prefix: chars.map((char) => char.at(-1)).join(''), isAll }
}

let Engine: typeof LinearRegex | undefined

/**
 * Call and await it before `regexTest` gets any of these.
 *
 * @throws PANNIER_REGEX_UNSAFE if the work of one can't be bounded, PANNIER_LIMIT_EXCEEDED if one or all together are too large
 */
export function prepareRegexes(expressions: readonly RegexSource[]): MaybePromise<void> {
  const others = expressions.filter(({ source }) => !isPlain(source))
  if (others.length === 0) return undefined
  if (Engine !== undefined) return checkSizes(others)
  return loadedModule(import('./linear-regex.ts')).then((loaded) => {
    Engine = loaded.LinearRegex
    checkSizes(others)
  })
}

function checkSizes(expressions: readonly RegexSource[]): void {
  let states = 0
  for (const { source, flags } of expressions) {
    states += new Engine!(source, flags).size
    if (states > QUERY_STATES_MAX) {
      throw new PannierError(
        'PANNIER_LIMIT_EXCEEDED',
        `The regular expressions of a query have more than ${QUERY_STATES_MAX} states.`,
      )
    }
  }
}

export function regexTest({ source, flags }: RegexSource): RegexTest {
  if (isPlain(source)) {
    const expression = new RegExp(source, flags)
    return (text) => expression.test(text)
  }
  assert(Engine !== undefined, 'the engine of regular expressions is not loaded')
  const expression = new Engine(source, flags)
  return (text) => expression.test(text)
}
