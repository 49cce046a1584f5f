/** Sets of numbers beside plain ones, with sizes around those at which a chunk ends or changes its form. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberSet, NumberSetBuilder } from '../../src/query/sets/number-set.ts'
import { times } from '../../../../tools/test/seeds.ts'

const CHUNK = 65_536
const SIZES = [0, 1, 2, 8, 9, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 8192, CHUNK - 1, CHUNK, CHUNK + 1]
const STARTS = [0, 1, CHUNK - 2, CHUNK, 2 * CHUNK + 5, 2 ** 32 - 3, 2 ** 47 + 1, 2 ** 48 - CHUNK]

/** Numbers in steps from a start on. */
const run = fc
  .record({
    start: fc.oneof(fc.constantFrom(...STARTS), fc.nat(3 * CHUNK)),
    step: fc.constantFrom(1, 1, 2, 3, 31, 32, 97, CHUNK),
    size: fc.oneof({ weight: 3, arbitrary: fc.nat(300) }, { weight: 1, arbitrary: fc.constantFrom(...SIZES) }),
  })
  .map(({ start, step, size }) => Array.from({ length: size }, (_, at) => start + at * step))
  .map((numbers) => numbers.filter((number) => number < 2 ** 48))
const scattered = fc.array(fc.oneof(fc.nat(2 * CHUNK), fc.constantFrom(...STARTS)), { maxLength: 50 })
/** In no order, some of them twice. */
const numbers = fc
  .tuple(fc.array(run, { maxLength: 3 }), scattered, fc.boolean())
  .map(([runs, others, reversed]) => (reversed ? [...others, ...runs.flat()].reverse() : [...runs.flat(), ...others]))

function ascending(values: Iterable<number>): number[] {
  return [...new Set(values)].sort((left, right) => left - right)
}

/** The set has these ascending numbers, and no others. */
function check(set: NumberSet, expected: readonly number[]): void {
  expect(set.count).toBe(expected.length)
  expect([...set.values()]).toEqual(expected)
  expect([...set.values(true)]).toEqual(expected.toReversed())
}

test('a set has the numbers that it was made of', () => {
  fc.assert(
    fc.property(numbers, scattered, (given, others) => {
      const expected = ascending(given)
      const set = NumberSet.of(given)
      check(set, expected)
      check(NumberSet.of(expected), expected)
      const plain = new Set(given)
      for (const number of others) {
        expect(set.has(number)).toBe(plain.has(number))
        expect(set.rank(number)).toBe(expected.filter((other) => other < number).length)
      }
    }),
    { numRuns: times(25) },
  )
})

test('a builder says which numbers are new', () => {
  fc.assert(
    fc.property(numbers, (given) => {
      const builder = new NumberSetBuilder()
      const plain = new Set<number>()
      for (const number of given) {
        const isNew = !plain.has(number)
        if (builder.has(number) === isNew || builder.add(number) !== isNew) throw new Error(`wrong for ${number}`)
        plain.add(number)
      }
      expect(builder.build().count).toBe(plain.size)
    }),
    { numRuns: times(20) },
  )
})

test('a page is a slice of the numbers in order', () => {
  fc.assert(
    fc.property(numbers, fc.nat(), fc.nat(5000), (given, place, limit) => {
      const expected = ascending(given)
      const set = NumberSet.of(given)
      for (const skip of [0, place % (expected.length + 2), Math.max(0, expected.length - limit), expected.length]) {
        expect(set.page(skip, limit)).toEqual(expected.slice(skip, skip + limit))
        expect(set.page(skip, limit, true)).toEqual(expected.toReversed().slice(skip, skip + limit))
        const number = expected[skip]
        expect(set.select(skip)).toBe(number)
        if (number !== undefined) expect([set.rank(number), set.has(number)]).toEqual([skip, true])
      }
    }),
    { numRuns: times(25) },
  )
})

test('or, and, and-not of sets', () => {
  fc.assert(
    fc.property(numbers, numbers, (one, other) => {
      const [left, right] = [NumberSet.of(one), NumberSet.of(other)]
      const [lefts, rights] = [new Set(one), new Set(other)]
      check(left.or(right), ascending([...one, ...other]))
      check(left.and(right), ascending(one.filter((number) => rights.has(number))))
      check(left.andNot(right), ascending(one.filter((number) => !rights.has(number))))
      check(right.andNot(left), ascending(other.filter((number) => !lefts.has(number))))
      check(left, ascending(one))
      check(left.and(right).or(left.andNot(right)), ascending(one))
    }),
    { numRuns: times(10) },
  )
})
