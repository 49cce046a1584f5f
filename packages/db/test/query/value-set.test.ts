/** Sets of values, against testing the conditions that they come from one by one. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareValues } from '../../src/codec/collation.ts'
import {
  above,
  beginningWith,
  below,
  compileSet,
  complement,
  EVERYTHING,
  intersect,
  intersectAll,
  points,
  unite,
  type ValueSet,
} from '../../src/query/ast/value-set.ts'
import { narrowed } from '../../src/query/planner/access-path.ts'
import { times } from '../../../../tools/test/seeds.ts'

interface TestedSet {
  readonly set: ValueSet
  readonly has: (value: unknown) => boolean
}

const value = fc.oneof(
  fc.integer({ min: 0, max: 4 }),
  fc.constantFrom<unknown>(null, true, 'a', 'ab', 'b', [], [1], {}, { a: 1 }),
)
const basic: fc.Arbitrary<TestedSet> = fc.oneof(
  value.map((from) => ({ set: [above(from)], has: (one: unknown) => compareValues(one, from) > 0 })),
  value.map((from) => ({ set: [below(from)], has: (one: unknown) => compareValues(one, from) >= 0 })),
  fc.array(value, { maxLength: 4 }).map((some) => ({
    set: points(some),
    has: (one: unknown) => some.some((other) => compareValues(one, other) === 0),
  })),
)
const { any } = fc.letrec<{ any: TestedSet }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    basic,
    tie('any').map(({ set, has }) => ({ set: complement(set), has: (one: unknown) => !has(one) })),
    fc.tuple(tie('any'), tie('any')).map(([left, right]) => ({
      set: intersect(left.set, right.set),
      has: (one: unknown) => left.has(one) && right.has(one),
    })),
  ),
}))

test('sets made by intersection and complement hold what they should', () => {
  fc.assert(
    fc.property(any, value, ({ set, has }, candidate) => {
      expect(compileSet(set)(candidate)).toBe(has(candidate))
      expect(compileSet(set)(undefined)).toBe(false)
    }),
    { numRuns: times(1000) },
  )
})

test('many sets are intersected and united as one after the other', () => {
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 7 }), value, (sets, candidate) => {
      const all = sets.map(({ set }) => set)
      expect(compileSet(intersectAll(all))(candidate)).toBe(sets.every(({ has }) => has(candidate)))
      expect(compileSet(unite(all))(candidate)).toBe(sets.some(({ has }) => has(candidate)))
    }),
    { numRuns: times(500) },
  )
})

test('nothing is outside of everything', () => {
  expect(complement(EVERYTHING)).toEqual([])
  expect(complement([])).toEqual(EVERYTHING)
})

test('strings that begin with a prefix, by code points', () => {
  const unit = fc.constantFrom(
    'a',
    'b',
    '\ud7ff',
    '\ud800',
    '\udbff',
    '\udc00',
    '\udfff',
    '\ue000',
    '\uffff',
    '\u{10ffff}',
  )
  const text = fc.array(unit, { maxLength: 3 }).map((units) => units.join(''))
  fc.assert(
    fc.property(text, text, (prefix, tail) => {
      for (const candidate of [prefix + tail, tail, tail + prefix]) {
        const [chars, start] = [Array.from(candidate), Array.from(prefix)]
        const expected = start.every((char, at) => chars[at] === char)
        expect(compileSet(beginningWith(prefix))(candidate)).toBe(expected)
      }
    }),
    { numRuns: times(1000) },
  )
})

test('a set that is narrowed to few intervals has all that it had', () => {
  fc.assert(
    fc.property(any, value, fc.integer({ min: 0, max: 2 }), ({ set, has }, one, intervalsMax) => {
      if (has(one)) expect(compileSet(narrowed(set, intervalsMax))(one)).toBe(true)
    }),
    { numRuns: times(300) },
  )
})
