import { expect, test } from 'vitest'
import { encodeKey, encodeKeyDescending, numberKey } from '../../src/codec/key-encoding.ts'
import { parseIndexInput, sameIndex } from '../../src/index/index-definition.ts'
import type { IndexInput } from '../../src/index/index-definition.ts'
import { indexKeys } from '../../src/index/index-key.ts'

const definition = (input: IndexInput) => ({ ...parseIndexInput(input), number: 1, builtTo: undefined })
const keys = (input: IndexInput, document: Record<string, unknown>) =>
  indexKeys(definition(input), (path) => document[path], 7)

test('declarations', () => {
  expect(parseIndexInput('age')).toEqual({ name: 'age', fields: [{ path: 'age', descending: false }], multi: false })
  expect(parseIndexInput(['city', '-age']).name).toBe('city,-age')
  expect(parseIndexInput({ on: 'tags', multi: true, name: 'mine' })).toMatchObject({ name: 'mine', multi: true })
  expect(sameIndex(parseIndexInput('-age'), parseIndexInput({ on: ['-age'], name: 'x' }))).toBe(true)
  expect(sameIndex(parseIndexInput('age'), parseIndexInput('-age'))).toBe(false)
  for (const id of ['_id', '-_id', '__proto__']) expect(parseIndexInput(id).fields).toHaveLength(1)
  const wrong: unknown[] = [
    '',
    '-',
    [],
    ['a', '-a'],
    ['a', 'b', 'c', 'd', 'e'],
    5,
    null,
    {},
    { on: 5 },
    { on: 'a', multi: 1 },
    { on: 'a', name: '' },
    { on: 'a', sparse: true },
    '_rev',
    '-_deleted',
    '_a.b',
  ]
  for (const input of wrong)
    expect(() => parseIndexInput(input as IndexInput), JSON.stringify(input)).toThrow(TypeError)
})

test('an index without a field says what an index is', () => {
  for (const input of [5, null, undefined, true, {}, { text: ['title'] }, { fields: ['title'] }])
    expect(() => parseIndexInput(input as unknown as IndexInput)).toThrow(
      'collection(): an index must be a path, paths or { on, … }, got ',
    )
})

test('one entry for each document, also where fields are missing', () => {
  const suffix = numberKey(7)
  expect(keys(['city', '-age'], { city: 'Oslo', age: 5 })).toEqual([
    encodeKey('Oslo') + encodeKeyDescending(5) + suffix,
  ])
  expect(keys(['city', '-age'], { age: 5 })).toEqual([encodeKey(undefined) + encodeKeyDescending(5) + suffix])
})

test('a multi index has an entry for each distinct element, and at least one', () => {
  const on: IndexInput = { on: 'tags', multi: true }
  const entries = (...values: unknown[]) => values.map((value) => encodeKey(value) + numberKey(7))
  expect(keys(on, { tags: ['b', 'a', 'b', 1] })).toEqual(entries('b', 'a', 1))
  expect(keys(on, { tags: [] })).toEqual(entries(undefined))
  expect(keys(on, {})).toEqual(entries(undefined))
  expect(keys(on, { tags: 'a' })).toEqual(entries('a'))
  expect(keys(on, { tags: [['a', 'b'], null] })).toEqual(entries(['a', 'b'], null))
  expect(keys(on, { tags: Uint8Array.of(3, 3, 4) })).toEqual(entries(3, 4))
})
