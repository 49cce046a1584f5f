/**
 * Goal: a partial index is used only if that is right. Whatever is said to be implied holds for every document there is a way to
 * make; and what has to be found is found.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalise } from '../../src/query/ast/normalise.ts'
import { parseSelector } from '../../src/query/ast/parse-selector.ts'
import { evaluate } from '../../testing/evaluate-predicate.ts'
import { implies } from '../../src/query/planner/implication.ts'
import { times } from '../../../../tools/test/seeds.ts'

const VALUES: readonly unknown[] = [
  undefined,
  null,
  false,
  0,
  1,
  2,
  1.5,
  'a',
  'b',
  '',
  [],
  [1],
  [1, 'a'],
  [0, 2],
  [[1]],
  {},
]
const DOCUMENTS = VALUES.flatMap((a) =>
  VALUES.map((b) => ({ ...(a !== undefined && { a }), ...(b !== undefined && { b }) })),
)

const operand = fc.constantFrom(...VALUES.slice(1))
const condition = fc.oneof(
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'].map((name) => operand.map((value) => ({ [name]: value }))),
  fc.array(operand, { maxLength: 3 }).map(($in) => ({ $in })),
  fc.array(operand, { maxLength: 3 }).map(($nin) => ({ $nin })),
  fc.boolean().map(($exists) => ({ $exists })),
  fc.constantFrom('number', 'string', 'array', 'null').map(($type) => ({ $type })),
  fc.constantFrom(0, 1, 2).map(($size) => ({ $size })),
  operand.map((value) => ({ $elemMatch: { $gte: value } })),
  operand.map((value) => ({ $not: { $gt: value } })),
  operand.map((value) => ({ $all: [value] })),
)
const leaf = fc.tuple(fc.constantFrom('a', 'b'), condition).map(([path, one]) => ({ [path]: one }))
const { selector } = fc.letrec<{ selector: object }>((tie) => ({
  selector: fc.oneof(
    { depthSize: 'small' },
    leaf,
    leaf,
    fc.array(tie('selector'), { maxLength: 3 }).map(($and) => ({ $and })),
    fc.array(tie('selector'), { maxLength: 3 }).map(($or) => ({ $or })),
    tie('selector').map(($not) => ({ $not })),
  ),
}))

test('what is implied holds', () => {
  let implied = 0
  fc.assert(
    fc.property(selector, selector, (given, wanted) => {
      const predicates = [parseSelector(given), parseSelector(wanted)] as const
      if (!implies(normalise(predicates[0]), normalise(predicates[1]))) return
      implied++
      for (const document of DOCUMENTS)
        if (evaluate(predicates[0], document))
          expect(evaluate(predicates[1], document), JSON.stringify(document)).toBe(true)
    }),
    { numRuns: times(2000) },
  )
  expect(implied).toBeGreaterThan(300)
})

test.each<[object, object]>([
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ active: true, age: 3 }, { active: true }],
  [{ age: { $gte: 18, $lt: 30 } }, { age: { $gt: 17 } }],
  [{ age: { $gte: 18 } }, { age: { $exists: true } }],
  [{ age: { $in: [1, 2] } }, { age: { $in: [3, 2, 1] } }],
  [{ $or: [{ age: 1 }, { age: 2, b: 3 }] }, { age: { $lte: 2 } }],
  [{ age: 2 }, { $or: [{ city: 'x' }, { age: { $gt: 1 } }] }],
  [{ name: { $beginsWith: 'ab' } }, { name: { $beginsWith: 'a' } }],
  [{ age: { $type: 'number' }, $and: [{ age: { $gte: 3 } }] }, { age: { $gt: 2, $lt: 'x' } }],
  [{ tags: 'vip' }, { tags: { $in: ['vip', 'staff'] } }],
  [{ name: { $regex: 'a+' }, b: 1 }, { name: { $regex: 'a+' } }],
  [{ $or: [] }, { a: 1 }],
  [{ a: 1 }, {}],
])('%j implies %j', (given, wanted) => {
  expect(implies(normalise(parseSelector(given)), normalise(parseSelector(wanted)))).toBe(true)
})
