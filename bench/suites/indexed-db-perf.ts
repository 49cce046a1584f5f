/**
 * Andy Balaam's indexed-db-perf: count, delete and arrays by the number of records, the length of keys, the size of
 * values and their encoding. Values are random numbers, as in the original.
 */
import type { Cell, CellChoice, Suite, ValueEncoding, Workload } from './suite.ts'
import { milliseconds, warmRead } from './suite.ts'
import { checksum, makePerson } from '../documents.ts'
import type { Person } from '../documents.ts'
import { time } from '../measure.ts'

type Valued = Person & { readonly value: unknown }

/** All records, so that reading them all is a query of every contender. */
const COUNTRY = 'ZZ'
const BASE: readonly [number, number, number, ValueEncoding] = [1_000, 16, 100, 'object']
const ENCODINGS: readonly ValueEncoding[] = ['object', 'numbers', 'base64', 'json', 'bytes']

const insert: Workload = {
  name: 'insert',
  needs: ['insertMany', 'nested'],
  metrics: [milliseconds('insert', 'insert all')],
  stage: true,
  async run({ contender, cell }) {
    const records = Array.from({ length: cell.documents }, (_, i) => makeRecord(cell, i))
    const { milliseconds: value } = await time(() => contender.insertMany(records))
    return { values: { insert: value }, answer: describe(await contender.findByCountry(COUNTRY)) }
  },
}

const index: Workload = {
  name: 'index',
  needs: ['buildIndexes', 'nested'],
  metrics: [milliseconds('index', 'two indexes')],
  async run({ contender }) {
    const { milliseconds: value } = await time(() => contender.buildIndexes())
    return { values: { index: value }, answer: '' }
  },
}

const remove: Workload = {
  name: 'delete',
  needs: ['dropStore', 'nested', 'keep'],
  metrics: [milliseconds('delete', 'delete all, close, open')],
  async run({ contender, place }) {
    const { milliseconds: value } = await time(async () => {
      await contender.dropStore()
      await contender.close()
      await contender.open(place, false)
    })
    return { values: { delete: value }, answer: describe(await contender.findByCountry(COUNTRY)) }
  },
}

export const indexedDbPerfSuite: Suite = {
  name: 'indexed-db-perf',
  title: 'indexed-db-perf (Andy Balaam, 2024)',
  source: 'https://artificialworlds.net/indexed-db-perf/',
  phases: [
    {
      name: 'load',
      indexed: false,
      workloads: [
        insert,
        warmRead(
          milliseconds('countRecords', 'count'),
          ['count', 'nested'],
          ({ contender }) => contender.count(),
          String,
        ),
        warmRead(
          milliseconds('readAll', 'read all'),
          ['findByCountry', 'nested'],
          ({ contender }) => contender.findByCountry(COUNTRY),
          describe,
        ),
        index,
        remove,
      ],
    },
  ],
  left: [],
  cells,
}

/** One parameter is varied at a time, from a common base. */
function cells({ full, seed }: CellChoice): readonly Cell[] {
  const [records, keyChars, valueBytes] = BASE
  const counts = full ? [records, 10_000, 50_000, 200_000] : [records]
  const keys = full ? [8, 50, 500, 2_000] : [8, 500]
  const sizes = full ? [1_000, 10_000, 50_000] : [10_000]
  return [
    ...counts.map((count) => makeCell(count, keyChars, valueBytes, 'object', seed)),
    ...keys.map((chars) => makeCell(records, chars, valueBytes, 'object', seed)),
    ...sizes.map((bytes) => makeCell(records, keyChars, bytes, 'object', seed)),
    ...ENCODINGS.slice(1).map((encoding) => makeCell(records, keyChars, 1_000, encoding, seed)),
  ]
}

export function makeCell(
  documents: number,
  keyChars: number,
  valueBytes: number,
  encoding: ValueEncoding,
  seed: number,
): Cell {
  const label = `${documents.toLocaleString('en-US')} records, keys of ${keyChars}, ${valueBytes.toLocaleString('en-US')} B as ${encoding}`
  return { documents, seed, ids: 'random', keyChars, valueBytes, encoding, label }
}

function makeRecord(cell: Cell, index: number): Valued {
  const person = makePerson(cell, index)
  const _id = person._id.slice(-(cell.keyChars ?? 16)).padStart(cell.keyChars ?? 16, 'k')
  const { city, age } = person
  return { _id, city, age, country: COUNTRY, value: makeValue(cell, index) } as unknown as Valued
}

function makeValue({ encoding = 'object', valueBytes = 100 }: Cell, index: number): unknown {
  const bytes = Uint8Array.from({ length: valueBytes }, (_, i) => (i * 131 + index * 17) % 251)
  if (encoding === 'bytes') return bytes
  if (encoding === 'numbers') return [...bytes]
  if (encoding === 'json') return JSON.stringify([...bytes])
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return encoding === 'base64' ? text : { text, at: index }
}

function describe(records: readonly Person[]): string {
  return checksum(records.map((record) => `${record._id} ${lengthOf((record as Valued).value)}`))
}

function lengthOf(value: unknown): number {
  if (value instanceof Uint8Array || Array.isArray(value) || typeof value === 'string') return value.length
  return JSON.stringify(value).length
}
