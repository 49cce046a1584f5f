/** What selectors mean, case by case: parsing, the naive evaluator and the normal form. */
import { expect, test } from 'vitest'
import { normalise } from '../../src/query/ast/normalise.ts'
import { parseSelector } from '../../src/query/ast/parse-selector.ts'
import { evaluate } from '../../testing/evaluate-predicate.ts'
import { compileCondition } from '../../src/query/match.ts'
import { compileFieldPath, getField } from '../../src/codec/field-path.ts'

/** By the naive evaluator and by the compiled normal form. */
function matches(selector: object, document: object): boolean {
  const predicate = parseSelector(selector)
  const compiled = compileCondition<object>(normalise(predicate), (path) => {
    const names = compileFieldPath(path)
    return (row) => getField(row, names)
  })
  const result = evaluate(predicate, document)
  expect(compiled(document)).toBe(result)
  return result
}

test.each<[string, object, object, boolean]>([
  ['nothing asked for', {}, {}, true],
  ['equality', { a: 1 }, { a: 1 }, true],
  ['all fields', { a: 1, b: 2 }, { a: 1, b: 3 }, false],
  ['the empty object is a value', { a: {} }, { a: {} }, true],
  ['objects are compared whole, in field order', { a: { $eq: { x: 1, y: 2 } } }, { a: { y: 2, x: 1 } }, false],
  ['nested fields', { address: { city: 'Oslo' } }, { address: { city: 'Oslo', zip: 1 } }, true],
  ['dotted fields', { 'address.city': 'Oslo' }, { address: { city: 'Oslo' } }, true],
  ['a dot in a name', { 'a\\.b': 1 }, { 'a.b': 1 }, true],
  ['conditions beside nested fields', { a: { $exists: true, b: 1 } }, { a: { b: 1 } }, true],
  ['order across types', { a: { $gt: 5 } }, { a: 'text' }, true],
  ['null is below numbers', { a: { $lt: 5 } }, { a: null }, true],
  ['missing is not null', { a: null }, {}, false],
  ['missing is below nothing', { a: { $lt: 5 } }, {}, false],
  ['missing is not unequal', { a: { $ne: 5 } }, {}, false],
  ['missing is in no complement', { a: { $nin: [5] } }, {}, false],
  ['missing under $not', { a: { $not: { $gt: 5 } } }, {}, false],
  ['missing under $nor', { $nor: [{ a: 5 }] }, {}, false],
  ['missing', { a: { $exists: false } }, {}, true],
  ['not missing', { a: { $not: { $exists: false } } }, { a: null }, true],
  ['an element', { tags: 'vip' }, { tags: ['new', 'vip'] }, true],
  ['no element', { tags: 'vip' }, { tags: [] }, false],
  ['an element in a range', { scores: { $gte: 80, $lt: 90 } }, { scores: [70, 85] }, true],
  ['one element must meet all', { scores: { $gte: 80, $lt: 90 } }, { scores: [70, 95] }, false],
  [
    'different elements may meet different conditions',
    { $and: [{ tags: 'a' }, { tags: 'b' }] },
    { tags: ['a', 'b'] },
    true,
  ],
  ['$ne: no element', { tags: { $ne: 'vip' } }, { tags: ['new', 'vip'] }, false],
  ['$ne: an empty array', { tags: { $ne: 'vip' } }, { tags: [] }, true],
  ['$nin: no element', { tags: { $nin: ['a', 'b'] } }, { tags: ['c', 'b'] }, false],
  ['an array as a whole', { tags: ['a', 'b'] }, { tags: ['a', 'b'] }, true],
  ['an array as an element', { tags: { $eq: ['a'] } }, { tags: [['a']] }, true],
  ['a scalar is no array', { a: [1] }, { a: 1 }, false],
  ['an array has no order among scalars', { a: { $gt: 5 } }, { a: [1, 2] }, false],
  ['a typed array has elements', { a: 3 }, { a: Uint8Array.of(1, 2, 3) }, true],
  ['an element by its position', { 'a.1': 2 }, { a: [1, 2] }, true],
  ['$contains: upper and lower case', { a: { $contains: 'OSL' } }, { a: 'near Oslo' }, true],
  ['$contains: accents count', { a: { $contains: 'e' } }, { a: 'É' }, false],
  ['$contains: the sigmas are one', { a: { $contains: 'ΟΔΟΣ' } }, { a: 'η οδοσός' }, true],
  ['$contains: an element', { a: { $contains: 'b' } }, { a: [5, 'abc'] }, true],
  ['$contains: not across elements', { a: { $contains: 'ab' } }, { a: ['a', 'b'] }, false],
  ['$contains: no element', { a: { $not: { $contains: 'b' } } }, { a: ['a', 'c'] }, true],
  ['$contains of nothing', { a: { $contains: '' } }, { a: 'x' }, true],
  ['$contains of nothing: no string', { a: { $contains: '' } }, { a: 5 }, false],
  ['$in', { a: { $in: [1, 'x', null] } }, { a: null }, true],
  ['$in nothing', { a: { $in: [] } }, { a: 1 }, false],
  ['$and of nothing', { $and: [] }, {}, true],
  ['$or of nothing', { $or: [] }, {}, false],
  ['$or', { $or: [{ a: 1 }, { b: 1 }] }, { b: 1 }, true],
  ['$or under a field', { a: { $or: [{ $lt: 2 }, { $gt: 8 }] } }, { a: 9 }, true],
  ['$not of several', { $not: { a: 1, b: 1 } }, { a: 1, b: 2 }, true],
  ['$nor', { $nor: [{ a: 1 }, { b: 1 }] }, { a: 2, b: 2 }, true],
  ['$beginsWith', { a: { $beginsWith: 'ab' } }, { a: 'abc' }, true],
  ['$beginsWith: not', { a: { $beginsWith: 'ab' } }, { a: 'b' }, false],
  ['$regex', { a: { $regex: '^A', $options: 'i' } }, { a: 'abc' }, true],
  ['$regex of a number', { a: { $regex: '1' } }, { a: 1 }, false],
  ['$not $regex', { a: { $not: { $regex: '1' } } }, { a: 1 }, true],
  ['$not $regex of a missing field', { a: { $not: { $regex: '1' } } }, {}, false],
  ['$regex with flags in front', { a: { $regex: '(?i)^AB' } }, { a: 'abc' }, true],
  ['$type', { a: { $type: 'object' } }, { a: { x: 1 } }, true],
  ['$type is of the value itself', { a: { $type: 'string' } }, { a: ['x'] }, false],
  ['$type of an array', { a: { $type: 'array' } }, { a: Uint8Array.of(1) }, true],
  ['$type of null', { a: { $type: 'null' } }, { a: null }, true],
  ['$not $type of a missing field', { a: { $not: { $type: 'null' } } }, {}, false],
  ['$size', { a: { $size: 2 } }, { a: [1, [2, 3]] }, true],
  ['$size of no array', { a: { $size: 2 } }, { a: 'ab' }, false],
  ['$not $size of no array', { a: { $not: { $size: 2 } } }, { a: 'ab' }, true],
  ['$mod', { a: { $mod: [3, 1] } }, { a: 7 }, true],
  ['$mod of a negative number', { a: { $mod: [2, 0] } }, { a: -4 }, true],
  ['$mod of a fraction', { a: { $mod: [2, 0] } }, { a: 4.5 }, false],
  ['$mod of an element', { a: { $mod: [2, 0] } }, { a: [1, 4] }, true],
  ['$all', { a: { $all: [2, 1] } }, { a: [1, 2, 3] }, true],
  ['$all: one is missing', { a: { $all: [2, 4] } }, { a: [1, 2, 3] }, false],
  ['$all of no array', { a: { $all: [1] } }, { a: 1 }, false],
  ['$all of nothing', { a: { $all: [] } }, { a: [] }, false],
  ['$all: an array has to be an element', { a: { $all: [[1]] } }, { a: [1] }, false],
  ['$not $all', { a: { $not: { $all: [1, 2] } } }, { a: [1] }, true],
  ['$elemMatch', { a: { $elemMatch: { $gt: 1, $lt: 3 } } }, { a: [0, 2, 4] }, true],
  ['$elemMatch: one element must meet all', { a: { $elemMatch: { $gt: 1, $mod: [2, 1] } } }, { a: [1, 2] }, false],
  ['$elemMatch of no array', { a: { $elemMatch: { $gt: 1 } } }, { a: 2 }, false],
  ['$elemMatch: fields of an element', { a: { $elemMatch: { x: 1, 'y.z': 2 } } }, { a: [{ x: 1, y: { z: 2 } }] }, true],
  ['$elemMatch: an element is whole', { a: { $elemMatch: { $eq: 1 } } }, { a: [[1]] }, false],
  ['$elemMatch in $elemMatch', { a: { $elemMatch: { $elemMatch: { $eq: 1 } } } }, { a: [[1]] }, true],
  ['$elemMatch $or', { a: { $elemMatch: { $or: [{ $eq: 1 }, { x: 2 }] } } }, { a: [{ x: 2 }] }, true],
  ['$not $elemMatch', { a: { $not: { $elemMatch: { $gt: 1 } } } }, { a: [1, 0] }, true],
  ['$not $elemMatch of a missing field', { a: { $not: { $elemMatch: { $gt: 1 } } } }, {}, false],
  ['$allMatch', { a: { $allMatch: { $gt: 1 } } }, { a: [2, 3] }, true],
  ['$allMatch: not all', { a: { $allMatch: { $gt: 1 } } }, { a: [2, 0] }, false],
  ['$allMatch of nothing', { a: { $allMatch: { $gt: 1 } } }, { a: [] }, false],
  ['$keyMapMatch', { a: { $keyMapMatch: { $beginsWith: 'x' } } }, { a: { y: 1, xy: 2 } }, true],
  ['$keyMapMatch of an array', { a: { $keyMapMatch: { $eq: '0' } } }, { a: ['x'] }, false],
  ['names of the prototype', { constructor: { $exists: true } }, {}, false],
  [
    'a field called __proto__',
    JSON.parse('{"__proto__": 1}') as object,
    JSON.parse('{"__proto__": 1}') as object,
    true,
  ],
])('%s', (_, selector, document, expected) => {
  expect(matches(selector, document)).toBe(expected)
})

test('normal forms that an index can use', () => {
  const same = (left: object, right: object): void =>
    expect(normalise(parseSelector(left))).toEqual(normalise(parseSelector(right)))
  same({ $or: [{ a: 2 }, { a: 1 }, { a: { $in: [1, 3] } }] }, { a: { $in: [1, 2, 3] } })
  same({ a: { $regex: '^a\\.b' } }, { a: { $beginsWith: 'a.b' } })
  same({ a: { $not: { $regex: '^ab' } } }, { a: { $not: { $beginsWith: 'ab' } } })
  same({ a: { $all: [1, 1] } }, { $and: [{ a: 1 }, { a: 1 }, { a: { $type: 'array' } }] })
  same({ a: { $all: [1, 2] } }, { $and: [{ a: 1 }, { a: 2 }] })
  same({ a: { $elemMatch: { $gt: 1, $lt: 3 } } }, { $and: [{ a: { $gt: 1, $lt: 3 } }, { a: { $type: 'array' } }] })
})

test('predicates are frozen data that does not follow what the caller does later', () => {
  const values = [1, 2]
  const predicate = parseSelector({ a: { $in: values } })
  values.push(3)
  expect(JSON.parse(JSON.stringify(predicate))).toEqual({
    kind: 'compare',
    path: 'a',
    comparisons: [{ operator: '$in', operand: [1, 2] }],
  })
  expect(Object.isFrozen(predicate)).toBe(true)
})

test('an error names the place', () => {
  expect(() => parseSelector({ $or: [{ a: { b: { $gt: undefined } } }] })).toThrow("'a.b.$gt'")
})

test('CouchDB has no $contains', () => {
  expect(() => parseSelector({ a: { $contains: 'x' } }, { dialect: 'couchdb' })).toThrow(
    "at 'a.$contains' must not be used in the dialect 'couchdb'",
  )
  expect(() => parseSelector({ a: { $contains: 5 } })).toThrow("at 'a.$contains' must be a string, got 5")
})

test.each([
  ['objects', (inner: unknown): unknown => ({ x: inner })],
  ['arrays', (inner: unknown): unknown => [inner]],
])('%s in a value may be nested 200 levels deep, and no deeper', (_, around) => {
  const nested = (levels: number): unknown => {
    let value: unknown = 1
    for (let level = 0; level < levels; level++) value = around(value)
    return value
  }
  parseSelector({ a: { $eq: nested(190) } })
  expect(() => parseSelector({ a: { $eq: nested(220) } })).toThrow('levels')
})
