import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { COMPARISONS_MAX, FILTER_BYTES_MAX, parse, print, RuleError } from '../src/index.ts'
import type { Argument, Comparison, Expression, Operand } from '../src/index.ts'
import { times } from '../../../tools/test/seeds.ts'
import { CASES } from './cases.ts'

const RULES = CASES.flatMap(({ rule, filter }) => [rule, filter]).filter((text) => text !== undefined)

/** The expression, or the mistake. Any other error is thrown. */
function tryParse(text: string): Expression | RuleError {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof RuleError) return error
    throw error
  }
}

/** Positions are those of the text; a printed rule has others. */
function withoutPositions(expression: Expression): unknown {
  return JSON.parse(JSON.stringify(expression, (key, value: unknown) => (key === 'at' ? undefined : value)))
}

function isSound(text: string): void {
  const result = tryParse(text)
  if (result instanceof RuleError) {
    expect(result.position).toBeGreaterThanOrEqual(0)
    expect(result.position).toBeLessThanOrEqual(text.length)
    expect(result.message).not.toBe('')
  } else expect(withoutPositions(parse(print(result)))).toEqual(withoutPositions(result))
}

const PIECES = [
  '(',
  ')',
  '&&',
  '||',
  '//',
  '\n',
  "'",
  '"',
  '\\',
  '=',
  '?',
  '!',
  '~',
  '>',
  '-',
  '.',
  ':',
  '@',
  '1',
  'a',
  ' ',
  ',',
  '\0',
  'f(',
]

test('any text gives an expression or a RuleError', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), isSound), { numRuns: times(500) })
  const soup = fc
    .array(fc.constantFrom(...PIECES, 'a=1', "b ~ 'x'"), { maxLength: 60 })
    .map((pieces) => pieces.join(''))
  fc.assert(fc.property(soup, isSound), { numRuns: times(3000) })
})

test('a mutated rule gives an expression or a RuleError', () => {
  const mutation = fc.tuple(
    fc.constantFrom(...RULES),
    fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(3), fc.constantFrom(...PIECES)), {
      maxLength: 4,
    }),
  )
  const mutate = (rule: string, [where, deleted, inserted]: readonly [number, number, string]): string => {
    const at = Math.floor(where * rule.length)
    return rule.slice(0, at) + inserted + rule.slice(at + deleted)
  }
  fc.assert(
    fc.property(mutation, ([rule, changes]) => isSound(changes.reduce(mutate, rule))),
    { numRuns: times(3000) },
  )
})

test('parsing reads each character at most 12 times, whatever the text is', () => {
  const spy = vi.spyOn(String.prototype, 'charCodeAt')
  const patterns = [
    '(',
    ')',
    'a=1&&(',
    '(a=1)&&',
    "'",
    '"\'',
    '//',
    '(//x\n',
    "(a=1//'b'\n)&&",
    '-',
    'a.',
    'f(',
    'f(a,',
    ' ',
    '\\',
    "'\\",
    '((a=1',
    'a=1||',
    '=',
    '🙂',
    "search('a')&&",
    "search('a')(",
    "search('a') ",
  ]
  try {
    for (const pattern of patterns)
      for (const head of ['', '(', 'a=1&&', "a='", '(a=1 //', 'f('])
        for (const size of [1000, 4000]) {
          const text = head + pattern.repeat(size / pattern.length)
          spy.mockClear()
          tryParse(text)
          expect([pattern, head, spy.mock.calls.length <= 12 * text.length + 100]).toEqual([pattern, head, true])
        }
  } finally {
    spy.mockRestore()
  }
})

test('a search needs no operator', () => {
  for (const text of ["search('a')", "(search('a')) // words", "search('a') = true"])
    expect(print(parse(text))).toBe("search('a') = true")
  expect(print(parse("search('a')&&(b=1||search('c'))"))).toBe("search('a') = true && (b = 1 || search('c') = true)")
  expect(print(parse("search('a') = false"))).toBe("search('a') = false")
  for (const text of ["f('a')", "search('a') search('b')", "search('a' && b = 1", 'search', "search('a') ="])
    expect(tryParse(text)).toBeInstanceOf(RuleError)
})

test('no depth of parentheses overflows the stack', () => {
  const depth = 200_000
  expect(print(parse(`${'('.repeat(depth)}a = 1${')'.repeat(depth)}`))).toBe('a = 1')
  expect(tryParse('('.repeat(depth))).toBeInstanceOf(RuleError)
})

const argument: fc.Arbitrary<Argument> = fc.oneof(
  fc.stringMatching(/^[@#_a-zA-Z][a-z0-9_.:]{0,8}[a-z0-9_]$/).map((name) => ({ kind: 'name' as const, name, at: 0 })),
  fc.string({ unit: 'binary' }).map((value) => ({ kind: 'text' as const, value: value.replaceAll('\0', ''), at: 0 })),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => ({ kind: 'number' as const, value: value + 0, at: 0 })),
)
const operand: fc.Arbitrary<Operand> = fc.oneof(
  { weight: 4, arbitrary: argument },
  fc.record({
    kind: fc.constant('call' as const),
    name: fc.constantFrom('f', 'strftime'),
    of: fc.array(argument, { maxLength: 4 }),
    at: fc.constant(0),
  }),
)
const comparison: fc.Arbitrary<Comparison> = fc.record({
  kind: fc.constant('comparison' as const),
  operator: fc.constantFrom('=', '!=', '>', '>=', '<', '<=', '~', '!~'),
  any: fc.boolean(),
  left: operand,
  right: operand,
})
const { expression } = fc.letrec<{ readonly expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    comparison,
    fc.record({ kind: fc.constantFrom('and', 'or'), of: fc.array(tie('expression'), { minLength: 2, maxLength: 4 }) }),
  ),
}))

test('a random expression prints as text that parses to it', () => {
  const prints = (each: Expression): void => {
    expect(withoutPositions(parse(print(each)))).toEqual(withoutPositions(each))
  }
  fc.assert(fc.property(expression, prints), { numRuns: times(1000) })
})

test('an expression is frozen', () => {
  const { of } = parse("a = 1 && (b = f(1, 'x') || c ?~ 'y')") as { readonly of: readonly unknown[] }
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    expect(Object.isFrozen(value)).toBe(true)
    Object.values(value).forEach(walk)
  }
  walk(of)
})

test.each([
  ['a == 1', 2, 'Write "=".'],
  ['a = 1 and b = 2', 6, 'Write "&&".'],
  ['a = 1 or b = 2', 6, 'Write "||".'],
  ['a <> 1', 2, 'Write "!=".'],
  ['a = 1 & b = 2', 6, 'Write "&&".'],
  ['a = ', 4, ''],
  ["a = 'x", 4, ''],
  ['(a = 1', 0, ''],
  ['a = 1)', 5, ''],
  ['a = 5.', 4, ''],
  ['a = 1 / b', 6, 'A comment begins with "//".'],
  ['', 0, ''],
])('%s is refused at %i', (text, position, hint) => {
  expect(tryParse(text)).toMatchObject({ name: 'RuleError', kind: 'syntax', position, hint })
})

test('limits are those of PocketBase', () => {
  const many = (count: number): string => Array.from({ length: count }, () => 'a=1').join('&&')
  expect(tryParse(many(COMPARISONS_MAX))).not.toBeInstanceOf(RuleError)
  expect(tryParse(many(COMPARISONS_MAX + 1))).toMatchObject({ kind: 'limit', position: 5 * COMPARISONS_MAX })
  const long = (bytes: number): string => `a = '${'ä'.repeat((bytes - 6) / 2)}'`
  expect(() => parse(long(FILTER_BYTES_MAX), { bytesMax: FILTER_BYTES_MAX })).not.toThrow()
  expect(() => parse(long(FILTER_BYTES_MAX + 2), { bytesMax: FILTER_BYTES_MAX })).toThrow(RuleError)
  expect(() => parse(long(FILTER_BYTES_MAX + 2))).not.toThrow()
})
