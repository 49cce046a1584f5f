/** Goal: what is exported as CSV comes back the same, and what is no CSV is refused with its place. */
import { expect, test } from 'vitest'
import type { Collection, Field } from '../src/api/collections.ts'
import { csvLine, csvOf, parseCsv } from '../src/views/records/transfer/csv.ts'
import { readImport } from '../src/views/records/transfer/import-values.ts'

const FIELDS = (
  [
    ['id', 'text'],
    ['title', 'text'],
    ['count', 'number'],
    ['done', 'bool'],
    ['tags', 'select'],
    ['extra', 'json'],
    ['home', 'geoPoint'],
  ] as const
).map(([name, type]) => ({ id: name, name, type, system: false, hidden: false, presentable: false }) satisfies Field)
const COLLECTION = {
  fields: [
    ...FIELDS,
    { ...FIELDS[0]!, name: 'cover', type: 'file' },
    { ...FIELDS[0]!, name: 'made', type: 'autodate' },
  ],
} as unknown as Collection

test('every value comes back from CSV', () => {
  const rows = [
    {
      id: 'a',
      title: 'one, "two"\r\nthree',
      count: -1.5,
      done: true,
      tags: ['x', 'y'],
      extra: '5',
      home: { lon: 1, lat: 2 },
    },
    { id: 'b', title: '[no list]', count: 0, done: false, tags: 'x', extra: { a: [null] }, home: { lon: 0, lat: 0 } },
    { id: 'c', title: '12', count: 3, done: true, tags: [], extra: 'text', home: { lon: 0, lat: 0 } },
  ]
  const text = csvLine(FIELDS.map(({ name }) => name)) + csvOf(FIELDS, rows)
  expect(readImport(COLLECTION, 'rows.csv', text)).toEqual({ rows, leftOut: [] })
})

test('spreadsheets end lines in their own ways, and begin with a mark', () => {
  for (const end of ['\n', '\r\n', '\r'])
    expect(parseCsv(`\uFEFFa,b${end}1,"2"${end}${end}3,${end}`)).toEqual([
      { a: '1', b: '2' },
      { a: '3', b: '' },
    ])
  expect(parseCsv('a\n""')).toEqual([{ a: '' }])
  expect(parseCsv('')).toEqual([])
})

test('a line that is no record is refused with its number', () => {
  expect(() => parseCsv('a,b\n1,2\n3')).toThrow('record 2 has 1 values, and the first line has 2 names')
  for (const text of ['a\n"1', 'a\n1"2', 'a\n"1"2']) expect(() => parseCsv(text)).toThrow('a quote in record 1')
})

test('JSON is a list of records, or the answer of a list', () => {
  const rows = [{ title: 'x', made: '2026', cover: 'a.png', other: 1 }]
  const expected = { rows: [{ title: 'x' }], leftOut: ['made', 'cover', 'other'] }
  for (const given of [rows, { items: rows }])
    expect(readImport(COLLECTION, 'rows.json', JSON.stringify(given))).toEqual(expected)
  for (const given of [1, null, {}, [1], [[]], { items: 'x' }])
    expect(() => readImport(COLLECTION, 'rows.json', JSON.stringify(given))).toThrow('a list of objects')
})
