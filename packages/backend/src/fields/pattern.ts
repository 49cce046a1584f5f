/**
 * Patterns that users give: Go's regular expressions, as in PocketBase.
 *
 * Both engines here read JavaScript's expressions. So a pattern is translated first. Matching never backtracks: it takes
 * a bounded number of steps, whatever the pattern is (docs/adr/0004-regular-expressions.md).
 */
import { PannierError } from 'pannier'
import { LinearRegex, LruMap } from 'pannier/internal'
import randexp from 'randexp'
import { randomFraction, randomText, type Chance } from '../gateway/chance.ts'
import type { FieldError } from '../gateway/service-error.ts'
import { fieldError } from './field-errors.ts'
import { DOT, DOT_ALL, PatternError, translatePattern } from './translate-pattern.ts'

/** The class with its real type: its declarations promise a property `default`, which Node does not show. */
const RandExp = randexp as unknown as typeof randexp.default
type RandExp = InstanceType<typeof RandExp>

const KEPT_MAX = 1000
/** How often `*` and `+` repeat in generated texts. */
const REPEAT_MAX = 6
/** The plain characters that `.` generates. */
const PLAIN = '[a-zA-Z0-9]'

const matchers = new LruMap<string, LinearRegex>(KEPT_MAX)
const generators = new LruMap<string, (chance: Chance) => string>(KEPT_MAX)

/** The pattern, which `checkPattern` has let pass, is somewhere in the text. A text that takes too many steps does not match. */
export function isMatch(pattern: string, text: string): boolean {
  try {
    return kept(matchers, pattern, compile).test(text)
  } catch (error) {
    if (!isLimit(error)) throw error
    // What it has taken counts for all texts: the next one begins again.
    matchers.delete(pattern)
    return false
  }
}

/**
 * A random text that matches.
 *
 * @throws PatternError
 */
export function generate(pattern: string, chance: Chance): string {
  return kept(generators, pattern, generator)(chance)
}

/** Undefined if it can be used. Empty patterns can. */
export function checkPattern(pattern: string): FieldError | undefined {
  try {
    if (pattern !== '') compile(pattern)
    return undefined
  } catch (error) {
    if (error instanceof PatternError) return fieldError('validation_invalid_regex', error.message)
    throw error
  }
}

function compile(pattern: string): LinearRegex {
  const { source, flags } = translatePattern(pattern)
  try {
    return new LinearRegex(source, flags)
  } catch (error) {
    if (error instanceof SyntaxError) throw new PatternError(`error parsing regexp: ${error.message}`)
    if (isLimit(error)) throw new PatternError('error parsing regexp: expression too large')
    throw error
  }
}

function generator(pattern: string): (chance: Chance) => string {
  const [, characters, length] = CHARACTERS.exec(pattern) ?? []
  if (characters !== undefined) {
    const alphabet = alphabetOf(characters)
    return (chance) => randomText(chance, Number(length), alphabet)
  }
  const { source, flags, isGenerative } = translatePattern(pattern)
  if (!isGenerative) throw new PatternError('unsupported pattern operator')
  const made = new RandExp(source.replaceAll(DOT, PLAIN).replaceAll(DOT_ALL, PLAIN), flags.replace('u', ''))
  made.max = REPEAT_MAX
  return (chance) => {
    made.randInt = (low, high) => low + Math.floor(randomFraction(chance) * (high + 1 - low))
    return made.gen()
  }
}

/** As in `[a-z0-9]{15}`: every record has such an id, so it has a way of its own. */
const CHARACTERS = /^\[((?:a-z|A-Z|0-9)+)\]\{(\d{1,3})\}$/

function alphabetOf(ranges: string): string {
  const lower = 'abcdefghijklmnopqrstuvwxyz'
  const parts = [...new Set(ranges.match(/.-./g))]
  return parts.map((part) => (part === 'a-z' ? lower : part === 'A-Z' ? lower.toUpperCase() : '0123456789')).join('')
}

function isLimit(error: unknown): boolean {
  return (
    error instanceof PannierError && (error.code === 'PANNIER_LIMIT_EXCEEDED' || error.code === 'PANNIER_REGEX_UNSAFE')
  )
}

function kept<T>(cache: LruMap<string, T>, pattern: string, make: (pattern: string) => T): T {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  const made = make(pattern)
  cache.set(pattern, made)
  return made
}
