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
]

for (const [pattern, yes, no] of CASES)
  test(`${pattern} matches ${JSON.stringify(yes)}, and not ${JSON.stringify(no)}`, () => {
    expect([matches(pattern, yes), matches(pattern, no)]).toEqual([true, false])
  })

test('flags elsewhere are refused', () => {
  for (const pattern of ['^(?m)a', 'a(?i)b', '(a(?i)b)']) expect(() => translatePattern(pattern)).toThrow(PatternError)
})
