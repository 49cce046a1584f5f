/** Goal: patterns that Go takes mean here what they mean there. */
import { expect, test } from 'vitest'
import { PatternError, translatePattern } from '../../src/fields/translate-pattern.ts'

function matches(pattern: string, text: string): boolean {
  const { source, flags } = translatePattern(pattern)
  return new RegExp(source, flags).test(text)
}

/** A pattern, what it matches, and what not. */
const CASES: readonly (readonly [pattern: string, yes: string, no: string])[] = [
  ['^(?i)[a-z]+$', 'AbC', 'a1'],
  ['^(?s)a.b$', 'a\nb', 'ab'],
  [String.raw`^\_$`, '_', 'a'],
  [String.raw`^[\w-_]+$`, 'a-_', 'a.'],
  [String.raw`^[\d-z]+$`, '1-z', 'y'],
  ['^[[:punct:]]+$', '!`{~', 'a'],
  ['^[[:^alpha:]]+$', '1-é', 'a'],
  ['^[[:^digit:]x]+$', 'xy', '1'],
  [String.raw`^\p{Letter}+$`, 'é', '1'],
  [String.raw`^\P{Letter}+$`, '1', 'a'],
  [String.raw`^[\s-]+$`, ' -', 'a'],
  ['^x{0,1000}$', 'x'.repeat(1000), 'x'.repeat(1001)],
  ['^a(?s:.)b.$', 'a\nb-', 'a\nb\n'],
  ['a(?s)b.$', 'ab\n', 'aB-'],
  ['^(?m)a$', 'a\nx', 'x\na'],
  ['a\n(?m)^b', 'a\nb', 'a\nxb'],
  ['(?m:^b$)\nc$', 'a\nb\nc', 'a\nb\ncd'],
  [String.raw`(?m)\Aa$`, 'a\nb', 'b\na'],
  ['^(?U)a+$', 'aa', 'b'],
  ['^(?is)a(?-s).$', 'Ab', 'A\n'],
]

for (const [pattern, yes, no] of CASES)
  test(`${pattern} matches ${JSON.stringify(yes)}, and not ${JSON.stringify(no)}`, () => {
    expect([matches(pattern, yes), matches(pattern, no)]).toEqual([true, false])
  })

test('what Go refuses is refused', () => {
  const refused = [
    'a(?x)b',
    'a(?i)b',
    '(?i:a|b)c',
    '(?i)a(?-i)b',
    '(?i)a(?-i:b)',
    'a(?i-)b',
    '(?)',
    '(?-)a',
    '(?i',
    'x{1001}',
    '(x{100}){11}',
    '((x{10}){10}y?){11}',
    '(?i)*',
    '(a|*)',
  ]
  for (const pattern of refused) expect(() => translatePattern(pattern), pattern).toThrow(PatternError)
  for (const pattern of ['x{0,1000}', '(x{100}){10}', '((x{10}){10}y?){10}', '(x{1000})?', 'x{0,1000}y{0,1000}', '{*'])
    expect(() => translatePattern(pattern), pattern).not.toThrow()
})
