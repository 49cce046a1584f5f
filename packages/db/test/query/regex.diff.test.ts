/**
 * Regular expressions: the automaton finds what RegExp finds, on random expressions and texts (a failure prints what replays it),
 * and its work is bounded, which is counted.
 */
import { createContext, Script } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import { checkRegex, isPlain, literalPrefix, REGEX_CHARS_MAX } from '../../src/query/regex/check-regex.ts'
import { LinearRegex } from '../../src/query/regex/linear-regex.ts'
import { REGEX_STATES_MAX } from '../../src/query/regex/parse-regex.ts'
import { times } from '../../../../tools/test/seeds.ts'

const ATOMS = String.raw`a b B K ſ ß _ 1 - \. \n . [^] [] [ab] [^ab] [a-z\d] \w \W \d \s \S \x61 \u0062 [\0] \t \cJ [\b]
[\]a] [^\W_] / } ] \u{62} \p{L} \P{Lu} \ud83d\ude00 \ud83d 😀 [😀a] [^😀] \u{1f600} { {,5} \/ \-`.split(/\s/)
const CHARS = ['a', 'b', 'B', 'k', 'K', 's', 'ſ', 'ß', 'A', '_', '1', ' ', '-', '.', '\n', '\r', '\u2028', '\0', '\t']
const OTHER_CHARS = ['😀', '\ud83d', '\ude00', 'é', '{', '}', ']', 'u', '/', ',', '5', 'p', 'L']
const QUANTIFIERS = ['', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{0,2}?', '{2,}', '{0}']

const { pattern } = fc.letrec<{ pattern: string; sequence: string; term: string }>((tie) => ({
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|')),
  sequence: fc.array(tie('term'), { maxLength: 4 }).map((parts) => parts.join('')),
  term: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(fc.constantFrom(...ATOMS), fc.constantFrom(...QUANTIFIERS)).map(([atom, quantifier]) => atom + quantifier),
    fc.constantFrom('^', '$', '\\b', '\\B'),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?<name>'), tie('pattern'), fc.constantFrom(...QUANTIFIERS))
      .map(([start, inner, quantifier]) => `${start}${inner})${quantifier}`),
  ),
}))
const flags = fc.subarray(['i', 'm', 's', 'u']).map((chosen) => chosen.join(''))
const text = fc
  .array(fc.constantFrom(...CHARS, ...CHARS, ...OTHER_CHARS), { maxLength: 8 })
  .map((chars) => chars.join(''))

/** Undefined when RegExp backtracks for ever, as it may on eight characters already: that is why there is an automaton. */
function nativeAnswers(source: string, flags: string, texts: readonly string[]): boolean[] | undefined {
  try {
    Object.assign(context, { source, flags, texts })
    return NATIVE.runInContext(context, { timeout: BACKTRACKING_MS_MAX }) as boolean[]
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  }
}

const NATIVE = new Script('texts.map((text) => new RegExp(source, flags).test(text))')
const context = createContext()
const BACKTRACKING_MS_MAX = 1000

test('the automaton finds what RegExp finds', () => {
  let tested = 0
  fc.assert(
    fc.property(pattern, flags, fc.array(text, { minLength: 1, maxLength: 8 }), (source, chosen, texts) => {
      let expected: readonly boolean[] | undefined
      let linear: LinearRegex
      try {
        expected = nativeAnswers(source, chosen, texts)
        linear = new LinearRegex(source, chosen)
      } catch (error) {
        // Not every pattern is one with these flags; nested repetitions may be too many to write out.
        if (isPannierError(error)) expect(error.code).toBe('PANNIER_LIMIT_EXCEEDED')
        return
      }
      if (expected === undefined) return
      for (const [at, one] of texts.entries()) {
        // Some engines find `\\B` in the middle of a character, which the standard does not allow.
        if (chosen.includes('u') && source.includes('\\B') && one.includes('😀')) continue
        expect([one, linear.test(one)]).toEqual([one, expected[at]])
      }
      tested++
    }),
    { numRuns: times(800) },
  )
  expect(tested).toBeGreaterThan(times(240))
})

test('a prefix is what all strings begin with in which the expression is found', () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    'é',
    '\\.',
    '\\\\',
    '/',
    '}',
    '.',
    '\\w',
    '$',
    '😀',
    '*',
    '?',
    '(a|b)',
    '|',
    '[ab]',
  )
  const source = fc.array(atom, { maxLength: 5 }).map((atoms) => `^${atoms.join('')}`)
  const subject = fc.array(fc.constantFrom('a', 'b', 'é', '.', '\\', '/', '}', '\n', '😀'), { maxLength: 5 })
  fc.assert(
    fc.property(source, flags, subject, (pattern, chosen, chars) => {
      let expected: RegExp
      try {
        expected = new RegExp(pattern, chosen)
      } catch {
        return
      }
      const one = chars.join('')
      const { prefix, isAll } = literalPrefix({ source: pattern, flags: chosen })
      if (expected.test(one)) expect(one.startsWith(prefix)).toBe(true)
      if (isAll) expect(expected.test(one)).toBe(one.startsWith(prefix))
    }),
    { numRuns: times(800) },
  )
})

test.each([
  '^(a+)+$',
  '(a|aa)+$',
  '(.*)*b',
  '(a?){50}a{50}b',
  '(?:a|a)*(?:a|a)*c',
  '(\\w+\\s?)*:$',
  '(x+x+)+y',
  'a.*b.*c.*d',
])('the work of %s is linear in the text', (source) => {
  const workOf = (length: number): number => {
    const expression = new LinearRegex(source, '')
    expect(expression.test(`${'a'.repeat(length)}!`)).toBe(false)
    return expression.work
  }
  const length = 100_000
  expect(workOf(length)).toBeLessThan(length * 1.2 + 20_000)
})

test('an expression with more states than are kept stays within characters times states', () => {
  const expression = new LinearRegex('[ab]*a[ab]{15}c', '')
  let text = ''
  for (let at = 0, state = 1; at < 20_000; at++) {
    state = (state * 1103515245 + 12345) % 2 ** 31
    text += state % 65536 < 32768 ? 'a' : 'b'
  }
  expect(expression.test(text)).toBe(false)
  expect(expression.work).toBeLessThan(text.length * 60)
})

test('an expression that needs more work than that is given up, in one text and in many', () => {
  const hard = '(a?){300}a{300}b'
  expect(() => new LinearRegex(hard, '')).not.toThrow()
  const one = new LinearRegex(hard, '')
  expect(() => one.test(`${'a'.repeat(400)}!`.repeat(3000))).toThrow(
    expect.objectContaining({ code: 'PANNIER_LIMIT_EXCEEDED' }),
  )
  expect(one.work).toBeLessThan(6_000_000)
  const many = new LinearRegex(hard, '')
  const tests = (): void => {
    for (let at = 0; at < 10_000; at++) many.test('a'.repeat(400))
  }
  expect(tests).toThrow(expect.objectContaining({ code: 'PANNIER_LIMIT_EXCEEDED' }))
  expect(many.work).toBeLessThan(6_000_000)
})

test.each(['(a)\\1', '(?=a)', '(?!a)b', '(?<=a)b', '(?<!a)b', '(?<x>a)\\k<x>', '(a)\\012'])(
  '%s is refused',
  (source) => {
    expect(() => new LinearRegex(source, '')).toThrow(expect.objectContaining({ code: 'PANNIER_REGEX_UNSAFE' }))
  },
)

test.each(['a{1001}', '((a{100}){100}){100}', '(?:){100000}', '(?:a?){0,1500}', '(((a{1000})?){1000})*'])(
  '%s is too large',
  (source) => {
    expect(() => new LinearRegex(source, '')).toThrow(expect.objectContaining({ code: 'PANNIER_LIMIT_EXCEEDED' }))
  },
)

test('limits, flags in front, and what is plain', () => {
  expect(REGEX_STATES_MAX).toBe(1000)
  expect(() => checkRegex('a'.repeat(REGEX_CHARS_MAX + 1), '')).toThrow(
    expect.objectContaining({ code: 'PANNIER_LIMIT_EXCEEDED' }),
  )
  expect(checkRegex('(?i)a', 's')).toEqual({ source: 'a', flags: 'is' })
  for (const wrong of ['g', 'y', 'v', 'ii', 1]) expect(() => checkRegex('a', wrong)).toThrow()
  expect(() => checkRegex('(', '')).toThrow()
  for (const source of ['', 'abc', '^a$', 'cat|dog', '[(*+]', 'a\\+b', '\\bx', '\\[.'])
    expect(isPlain(source)).toBe(true)
  for (const source of ['a*', 'a+', 'a?', 'a{2}', '(a)', '[a]*', '\\\\*']) expect(isPlain(source)).toBe(false)
})
