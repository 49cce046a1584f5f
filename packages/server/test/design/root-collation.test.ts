/**
 * Goal: sort keys order strings as ICU's root collation does, and never change, as they are stored.
 * Method: random strings of many scripts beside Node's own `Intl.Collator`, and a digest of keys. The ICU of Node is newer than the table,
 * which is of the ICU that CouchDB is mostly built with; characters that newer versions have moved are left out.
 */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { ROOT_COLLATION } from '../../src/design/collation/root-collation.ts'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'

const { key } = ROOT_COLLATION
const SCRIPTS: readonly (readonly [first: number, last: number])[] = [
  [0x20, 0x7e],
  [0x61, 0x7a],
  [0x30, 0x39],
  [0xa0, 0x180],
  [0x1e00, 0x1eff],
  [0x370, 0x3ff],
  [0x400, 0x52f],
  [0x5d0, 0x5ea],
  [0x620, 0x655],
  [0x900, 0x97f],
  [0xe01, 0xe3a],
  [0xe40, 0xe5b],
  [0x3041, 0x3096],
  [0x30a0, 0x30ff],
  [0x4e00, 0x4e40],
  [0xac00, 0xd7a3],
  [0x300, 0x344],
  [0x2100, 0x214f],
  [0xff21, 0xff5a],
  [0x1d400, 0x1d454],
  [0x1f300, 0x1f64f],
]
/** Quotes and radicals that CLDR 43 to 48 have put in another place, or that the table does not have. */
const MOVED = /[\u0149\u2018-\u201f\uff02\uff07'"倻値値僷劳労\p{Cn}]|[\u{10000}-\u{1ffff}]\p{M}/u

const seed = FIRST_SEED
const count = times(20_000)

function strings(): string[] {
  let state = (seed * 2654435761) >>> 0 || 1
  const choose = (below: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % below
  }
  const charOf = ([first, last]: readonly [number, number]): string =>
    String.fromCodePoint(first + choose(last - first + 1))
  const all = Array.from({ length: count }, () => {
    const script = SCRIPTS[choose(SCRIPTS.length)]!
    const chars = Array.from({ length: 1 + choose(6) }, () =>
      charOf(choose(3) > 0 ? script : SCRIPTS[choose(SCRIPTS.length)]!),
    )
    return chars.join('')
  })
  const near = all.map(
    (text) => [text.toUpperCase(), `${text}\u0301`, text.normalize('NFC'), text.slice(0, -1)][choose(4)]!,
  )
  return [...all, ...near].filter((text) => !MOVED.test(text.normalize('NFD')))
}

test(`random strings are in the order of Intl.Collator (seed ${seed})`, () => {
  const intl = new Intl.Collator('en')
  const sorted = strings().sort(intl.compare)
  expect(sorted.length).toBeGreaterThan(count)
  for (const [at, right] of sorted.entries()) {
    const left = sorted[at - 1]
    if (left === undefined) continue
    const order = key(left) < key(right) ? -1 : key(left) > key(right) ? 1 : 0
    if (order !== Math.sign(intl.compare(left, right)))
      expect.fail(`${JSON.stringify([left, right])} of seed ${seed}: ${order}, ${intl.compare(left, right)}`)
  }
})

const DIGEST = 'ad61bbdade192055'

test('keys never change: what is stored is in their order', () => {
  const text = SCRIPTS.map(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => key(String.fromCodePoint(first + at))).join('\0'),
  ).join('\0')
  const digest = createHash('sha256').update(text).digest('hex')
  expect([ROOT_COLLATION.name, digest.slice(0, 16)]).toEqual(['icu-root 42.1', DIGEST])
})

test('the order of words, of what is equal, and of the ends', () => {
  const sorted = [
    '',
    ' ',
    '-',
    '1',
    '10',
    '2',
    'a',
    'A',
    'ä',
    'aa',
    'apfel',
    'Äpfel',
    'apple',
    'b',
    'Zoo',
    'я',
    'あ',
    '一',
    '\ufff0',
    '\uffff',
  ]
  expect(sorted.toSorted(() => 1).sort((left, right) => (key(left) < key(right) ? -1 : 1))).toEqual(sorted)
  expect(key('e\u0301')).toBe(key('é'))
  expect([key(''), key('\0'), key('abc').length, key('ABC') === key('abc')]).toEqual(['', '', 3, false])
  // oxlint-disable-next-line no-control-regex
  for (const text of sorted) expect(key(text)).toMatch(/^[\x02-\x7f]*$/)
})
