import fc from 'fast-check'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { applyInput, meant } from '../../src/fields/apply-input.ts'
import { checkField } from '../../src/fields/check-field.ts'
import { completeFields } from '../../src/fields/complete-fields.ts'
import { castValue, checkValue, emptyValue } from '../../src/fields/field-types.ts'
import { checkPattern, generate, isMatch } from '../../src/fields/pattern.ts'

const chance = virtualEnvironment()
const ALL = completeFields([
  { name: 'text', type: 'text', min: 2, max: 5, pattern: '^[a-z]+$' },
  { name: 'editor', type: 'editor', maxSize: 20 },
  { name: 'number', type: 'number', min: -5, max: 5, onlyInt: true },
  { name: 'bool', type: 'bool', required: true },
  { name: 'email', type: 'email', onlyDomains: ['a.com'] },
  { name: 'url', type: 'url', exceptDomains: ['a.com'] },
  { name: 'date', type: 'date', min: '2020-01-01' },
  { name: 'autodate', type: 'autodate', onCreate: true },
  { name: 'select', type: 'select', values: ['a', 'b', 'c'] },
  { name: 'selects', type: 'select', values: ['a', 'b', 'c'], maxSelect: 2 },
  { name: 'file', type: 'file' },
  { name: 'files', type: 'file', maxSelect: 3 },
  { name: 'relation', type: 'relation', collectionId: 'c' },
  { name: 'relations', type: 'relation', collectionId: 'c', maxSelect: 3 },
  { name: 'json', type: 'json', maxSize: 20 },
  { name: 'geoPoint', type: 'geoPoint' },
  { name: 'password', type: 'password' },
])

const NASTY = [
  '',
  '[',
  '[]',
  '["a","b"]',
  '["a",1]',
  '[["a"]]',
  '["[\\"a\\"]"]',
  '{"lon":1,"lat":2}',
  '1e999',
  'inf',
  '2024-02-30',
  '2024-01-01T00:00:00+25:00',
  '9999-12-31T23:59:59-01:00',
  'a@b.co',
  'http://[::1]/%zz',
]
const anything = fc.oneof(
  fc.anything({ withNullPrototype: false }),
  fc.json(),
  fc.string({ unit: 'binary' }),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom<unknown>(...NASTY),
  fc.array(fc.oneof(fc.string(), fc.constantFrom(...NASTY), fc.integer(), fc.constant(null))),
)

test('every field reads and checks every value without an error', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ALL), anything, (field, input) => {
      checkValue(field, castValue(field, input), { old: undefined })
    }),
    { numRuns: 5000 },
  )
})

test('a value that was read stays the same when it is read again, except texts in JSON fields', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ALL.filter(({ type }) => type !== 'json')), anything, (field, input) => {
      const once = castValue(field, input)
      expect(castValue(field, once)).toEqual(once)
    }),
    { numRuns: 5000 },
  )
})

test('an empty value stays empty when it is read', () => {
  for (const field of ALL) expect(castValue(field, emptyValue(field))).toEqual(emptyValue(field))
})

test('every input gives every field a value', () => {
  const key = fc.tuple(
    fc.constantFrom('', '+'),
    fc.constantFrom(...ALL),
    fc.constantFrom('', '+', '-', ':autogenerate'),
  )
  const input = fc
    .array(fc.tuple(key, anything))
    .map((entries) =>
      Object.fromEntries(entries.map(([[before, field, after], value]) => [before + field.name + after, value])),
    )
  fc.assert(
    fc.property(input, (given) => {
      const options = { now: '2026-11-22 15:04:49.813Z', isSuperuser: true, chance }
      const created = applyInput(ALL, undefined, given, options)
      const updated = applyInput(ALL, created, given, options)
      for (const field of ALL) {
        expect(created[field.name]).not.toBeUndefined()
        expect(updated[field.name]).not.toBeUndefined()
      }
    }),
    { numRuns: 1000 },
  )
})

test('several keys of one field count, shorter ones first, and those of one length as they come', () => {
  const options = { now: '', isSuperuser: true, chance }
  const select = (input: object): unknown =>
    applyInput(ALL, { selects: ['a'] }, input as Record<string, unknown>, options)['selects']
  expect(select({ 'selects+': 'b', selects: ['c'] })).toEqual(['c', 'b'])
  expect(select({ 'selects+': 'b', 'selects-': 'b' })).toEqual(['a'])
  expect(select({ 'selects-': 'b', 'selects+': 'b' })).toEqual(['a', 'b'])
  expect(select({ '+selects': 'b', 'selects+': 'c' })).toEqual(['b', 'a', 'c'])
  // Its type has no such modifier, so it is no key of the field.
  expect(meant(ALL, 'text+')).toBeUndefined()
})

test('a date whose offset is over 24 hours is no date', () => {
  const dates = ['2024-01-01T00:00:00+24:00', '2024-01-01T00:00:00+25:00', '2024-01-01 00:00:00 -00:61']
  const read = dates.map((date) =>
    castValue(
      ALL.find(({ name }) => name === 'date')!,
      date,
    ),
  )
  expect(read).toEqual(['2023-12-31 00:00:00.000Z', '', ''])
})

test('every pattern is refused, or matches without an error', () => {
  const part = fc.constantFrom(
    ...'abz019()[]{}*+?|^$.-,:\\'.split(''),
    '\\d',
    '\\S',
    '[:alpha:]',
    '(?i)',
    '(?:',
    '\\p{L}',
    '{2}',
  )
  fc.assert(
    fc.property(fc.array(part), fc.string(), (parts, text) => {
      const pattern = parts.join('')
      if (checkPattern(pattern) === undefined) isMatch(pattern, text)
    }),
    { numRuns: 5000 },
  )
})

test('a pattern that would take exponential time elsewhere takes little', () => {
  expect(isMatch('^(a+)+$', `${'a'.repeat(100_000)}b`)).toBe(false)
})

test('generated texts match their pattern', () => {
  for (const pattern of ['[a-z0-9]{15}', '\\d{3}-[[:upper:]]+x*', 'a|b.c?', '[^\\x00-\\x40]{2}'])
    for (let count = 0; count < 50; count++) expect(isMatch(`^(?:${pattern})$`, generate(pattern, chance))).toBe(true)
})

test('every field with right options passes the check of options', () => {
  const definition = { type: 'base', fields: ALL } as const
  for (const field of ALL)
    expect(checkField(field, { definition, old: undefined, typeOf: () => 'base', chance })).toBeUndefined()
})
