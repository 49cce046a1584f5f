/** Goal: what is exported as CSV comes back the same, and what is no CSV is refused with its place. */
import { expect, test } from 'vitest'
import type { Collection, Field } from '../src/api/collections.ts'
import { csvLine, csvOf, parseCsv } from '../src/views/records/transfer/csv.ts'
import { guessMapping, readImport, valuesOf } from '../src/views/records/transfer/import-values.ts'

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

/** As the dialog brings it, before somebody chooses other fields. */
function brought(name: string, text: string): unknown {
  const file = readImport(name, text)
  return valuesOf(COLLECTION, file, guessMapping(COLLECTION, file.columns))
}

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
  expect(brought('rows.csv', text)).toEqual({ values: rows, wrong: [] })
})

test('no text is a formula of a spreadsheet, and each comes back', () => {
  const formulas = ['=1+1', '@SUM(A1)', '+A1', "-2+cmd|' /C calc'!A0", '\t=1', '\r=1', "'=1", "''@x"]
  const plain = ['-1.5', '+41 79 123 45 67', '-1e-7', "'tis", '1=1', '', '- ', 'a']
  for (const text of formulas) expect(csvLine([text])).toMatch(/^"?'/)
  for (const text of plain) expect(csvLine([text])).toBe(`${text}\r\n`)
  for (const text of [...formulas, ...plain])
    expect(parseCsv(csvLine(['a', 'b']) + csvLine(['x', text]))).toEqual([{ a: 'x', b: text }])
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
  for (const given of [rows, { items: rows }])
    expect(brought('rows.json', JSON.stringify(given))).toEqual({ values: [{ title: 'x' }], wrong: [] })
  for (const given of [1, null, {}, [1], [[]], { items: 'x' }])
    expect(() => readImport('rows.json', JSON.stringify(given))).toThrow('a list of objects')
})

test('columns find their fields by name, however a spreadsheet writes it', () => {
  const fields = ['in_stock', 'unitPrice', 'title', 'Title'].map((name) => ({ ...FIELDS[1]!, id: name, name }))
  const collection = { fields } as unknown as Collection
  const found = guessMapping(collection, ['In stock', 'Unit price', 'TITLE', 'Title', 'constructor'])
  expect(Object.fromEntries(found)).toEqual({
    'In stock': 'in_stock',
    'Unit price': 'unitPrice',
    Title: 'Title',
    TITLE: 'title',
  })
})

test('a column goes to the field that was chosen for it, or is left out', () => {
  const file = readImport('rows.csv', 'name,n,rest\nx,1,y\n')
  const mapping = new Map([
    ['name', 'title'],
    ['n', 'count'],
  ])
  expect(valuesOf(COLLECTION, file, mapping)).toEqual({ values: [{ title: 'x', count: 1 }], wrong: [] })
})

test('what is no value of its type is said before anything is sent', () => {
  const cells = [
    ['count', ['1,5', 'abc', 'Infinity', '1 000'], 'is not a number.'],
    ['done', ['maybe', '2'], 'is neither yes nor no.'],
    ['extra', ['{a'], 'This is not JSON'],
    ['tags', ['[x'], 'This is not JSON'],
  ] as const
  for (const [name, wrong, message] of cells)
    for (const cell of wrong) {
      const text = csvLine([name]) + csvLine(['']) + csvLine([cell])
      expect(brought('rows.csv', text)).toMatchObject({
        wrong: [{ row: 1, message: expect.stringContaining(message) }],
      })
    }
  for (const [cell, value] of [
    ['TRUE', true],
    ['no', false],
    ['0', false],
    [' yes ', true],
  ] as const)
    expect(brought('rows.csv', csvLine(['done', 'title']) + csvLine([cell, 'x']))).toMatchObject({
      values: [{ done: value }],
      wrong: [],
    })
  expect(brought('rows.csv', 'count\n 7 \n')).toMatchObject({ values: [{ count: 7 }] })
})
