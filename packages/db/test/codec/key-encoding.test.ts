/**
 * Keys sort like values. Values are generated small and alike, so that long common prefixes are common; the order is checked
 * against a naive comparator, for single components and for tuples with descending ones among them.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareStrings, compareValues } from '../../src/codec/collation.ts'
import {
  decodeIdKey,
  encodeIdKey,
  ID_BYTES_MAX,
  prefixUpperBound,
  decodeKey,
  encodeKey,
  encodeKeyDescending,
  KEY_COMPONENT_BYTES_MAX,
  KEY_DEPTH_MAX,
  KEY_STRING_BYTES_MAX,
} from '../../src/codec/key-encoding.ts'
import { jsonNumber, jsonValue, nastyString } from './json-arbitrary.ts'
import { naiveCompare } from './naive-collation.ts'
import { times } from '../../../../tools/test/seeds.ts'

const similarString = fc.string({
  unit: fc.constantFrom('a', 'b', '\0', '\x01', '\x02', 'ÿ', '\ud800', '\udc00', '\ue000', '\uffff', '😀'),
  maxLength: 4,
})
const similarScalar = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, false, true, 0, 1, -1, 1.5, Infinity, -Infinity),
  jsonNumber,
  similarString,
)
const similarValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    similarScalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__', ''), tie('value'), { maxKeys: 3 }),
  ),
})).value

function sign(n: number): number {
  return n < 0 ? -1 : n > 0 ? 1 : 0
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function expectOrder(a: unknown, b: unknown): void {
  const expected = sign(naiveCompare(a, b))
  expect(sign(compareValues(a, b))).toBe(expected)
  expect(compareKeys(encodeKey(a), encodeKey(b))).toBe(expected)
  expect(compareKeys(encodeKeyDescending(b), encodeKeyDescending(a))).toBe(expected)
}

describe('order', () => {
  test('one of each kind', () => {
    const ascending = [
      undefined,
      null,
      false,
      true,
      -Infinity,
      -1e300,
      -2,
      -1.5,
      -1,
      -5e-324,
      0,
      5e-324,
      0.5,
      1,
      2,
      63,
      64,
      127,
      128,
      255,
      256,
      1e300,
      Infinity,
      '',
      '\0',
      '\0\0',
      '\x01',
      'a',
      'a\0',
      'aa',
      'b',
      '\ud7ff',
      '\ud800',
      '\udfff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      [],
      [undefined],
      [null],
      [[]],
      {},
      { a: 1 },
      { a: 1, b: 1 },
      { a: 2 },
      { b: 0 },
    ]
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) {
        expect(sign(naiveCompare(a, b))).toBe(sign(i - j))
        expectOrder(a, b)
      }
    }
  })

  test('any two values', () => {
    fc.assert(fc.property(similarValue, similarValue, expectOrder), { numRuns: times(2000) })
    fc.assert(fc.property(jsonNumber, jsonNumber, expectOrder), { numRuns: times(2000) })
    fc.assert(fc.property(similarString, similarString, expectOrder), { numRuns: times(1000) })
    fc.assert(
      fc.property(fc.uniqueArray(jsonNumber, { minLength: 2, maxLength: 2 }), ([a, b]) => expectOrder([a], [a, b])),
    )
  })

  test('strings compare by code point, lone surrogates too', () => {
    fc.assert(
      fc.property(nastyString, nastyString, (a, b) => {
        expect(sign(compareStrings(a, b))).toBe(sign(naiveCompare(a, b)))
        expect(compareKeys(encodeIdKey(a), encodeIdKey(b))).toBe(sign(naiveCompare(a, b)))
      }),
    )
  })

  test('components that follow one another compare like tuples', () => {
    const directions = fc.array(fc.boolean(), { minLength: 3, maxLength: 3 })
    const tuple = fc.array(fc.oneof(similarScalar, similarValue), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(directions, tuple, tuple, fc.integer({ min: 0, max: 3 }), (descending, a, b, shared) => {
        for (let i = 0; i < shared; i++) b[i] = a[i]
        const join = (values: unknown[]) =>
          values.map((v, i) => (descending[i] ? encodeKeyDescending(v) : encodeKey(v))).join('')
        const differences = a.map((value, i) => naiveCompare(value, b[i]) * (descending[i] ? -1 : 1))
        expect(compareKeys(join(a), join(b))).toBe(sign(differences.find((difference) => difference !== 0) ?? 0))
      }),
      { numRuns: times(1000) },
    )
  })

  test('typed arrays are arrays', () => {
    expect(encodeKey(new Uint8Array([1, 2]))).toBe(encodeKey([1, 2]))
    expect(compareValues(new Float64Array([1]), [1])).toBe(0)
  })
})

describe('decoding', () => {
  test('gives back what was encoded, and where the next component starts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.oneof(jsonValue, similarValue), fc.boolean()), { maxLength: 4 }),
        (components) => {
          const key = components
            .map(([value, descending]) => (descending ? encodeKeyDescending(value) : encodeKey(value)))
            .join('')
          let at = 0
          for (const [value, descending] of components) {
            const decoded = decodeKey(key, at, descending)
            if (decoded.exact) expect(JSON.stringify(decoded.value)).toBe(JSON.stringify(value))
            expect(encodeKey(decoded.value).length).toBeLessThanOrEqual(KEY_COMPONENT_BYTES_MAX)
            at = decoded.next
          }
          expect(at).toBe(key.length)
        },
      ),
      { numRuns: times(1000) },
    )
  })

  test('small things are exact', () => {
    for (const value of [undefined, null, 0, -1, '', 'a\0\x01é', '\ud800', [1, ['x']], { a: [], b: {} }, Infinity]) {
      expect(decodeKey(encodeKey(value), 0, false)).toStrictEqual({ value, next: encodeKey(value).length, exact: true })
    }
    expect(encodeKey(-0)).toBe(encodeKey(0))
    const proto = decodeKey(encodeKey(JSON.parse('{"__proto__":{"x":1}}')), 0, false).value as object
    expect(Object.getPrototypeOf(proto)).toBe(Object.prototype)
    expect(Object.keys(proto)).toEqual(['__proto__'])
  })

  test('damaged keys are an error, or decode to something', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)) }),
        fc.boolean(),
        (key, descending) => {
          try {
            decodeKey(key, 0, descending)
          } catch (error) {
            expect(error).toMatchObject({ code: 'PANNIER_CORRUPT' })
          }
        },
      ),
    )
  })
})

describe('limits', () => {
  test('integers are short', () => {
    for (const [value, bytes] of [
      [0, 2],
      [1, 4],
      [2, 2],
      [31, 4],
      [-31, 4],
      [90, 4],
      [1000, 4],
      [1e6, 5],
      [0.1, 10],
    ] as const) {
      expect(encodeKey(value).length, String(value)).toBeLessThanOrEqual(bytes)
    }
  })

  test('long strings are cut, and sort right against all that differ before the cut', () => {
    for (const char of ['x', 'é', '€', '😀', '\0', '\x01']) {
      for (let extra = -3; extra < 4; extra++) {
        const size = encodeKey(char).length - 2
        const long = char.repeat(Math.floor(KEY_STRING_BYTES_MAX / size) + extra)
        const isCut = long.length > 0 && size * (long.length / char.length) > KEY_STRING_BYTES_MAX
        for (const descending of [false, true]) {
          const key = descending ? encodeKeyDescending(long) : encodeKey(long)
          expect(key.length).toBeLessThanOrEqual(KEY_STRING_BYTES_MAX + 2)
          const decoded = decodeKey(`${key}${descending ? encodeKeyDescending(1) : encodeKey(1)}`, 0, descending)
          expect(decoded).toMatchObject({ exact: !isCut, next: key.length })
          expect(long.startsWith(decoded.value as string)).toBe(true)
        }
        const early = Math.floor(long.length / 2)
        for (const other of ['', 'a', long.slice(0, early), `${char.repeat(4)}\uffff`, `${char.repeat(4)}\0`]) {
          expect(compareKeys(encodeKey(long), encodeKey(other)), `${char} ${extra} ${other}`).toBe(
            sign(naiveCompare(long, other)),
          )
        }
      }
    }
    expect(encodeKey('y'.repeat(1001))).toBe(encodeKey('y'.repeat(5000)))
  })

  test('large components are cut and stay self-delimiting', () => {
    const values: unknown[] = [
      Array.from({ length: 3000 }, (_, i) => i),
      Array.from({ length: 3 }, () => 'x'.repeat(990)),
      { a: 'é'.repeat(900), b: 'ß'.repeat(499), c: 1 },
      Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`name${i}`, i % 3 === 0 ? { x: 0.1 } : '\0'])),
      ['x'.repeat(995), 'y'.repeat(995), [1, 2, 3]],
      ['x'.repeat(995), 'y'.repeat(993), 0.1, 0.1],
    ]
    for (const value of values) {
      for (const descending of [false, true]) {
        const key = descending ? encodeKeyDescending(value) : encodeKey(value)
        const next = descending ? encodeKeyDescending('next') : encodeKey('next')
        expect(key.length).toBe(KEY_COMPONENT_BYTES_MAX)
        const decoded = decodeKey(key + next, 0, descending)
        expect(decoded).toMatchObject({ exact: false, next: key.length })
        expect(decodeKey(key + next, decoded.next, descending)).toMatchObject({ exact: true, value: 'next' })
      }
    }
  })

  test('what is cut never overtakes what differs before the cut', () => {
    const wide = fc.array(fc.oneof(fc.constantFrom('x'.repeat(600), 'é'.repeat(400), 'short'), jsonNumber), {
      minLength: 1,
      maxLength: 6,
    })
    fc.assert(
      fc.property(wide, wide, (a, b) => {
        const order = compareKeys(encodeKey(a), encodeKey(b))
        if (order !== 0) expect(order).toBe(sign(naiveCompare(a, b)))
        else if (decodeKey(encodeKey(a), 0, false).exact) expect(a).toStrictEqual(b)
      }),
    )
  })

  test('deep and cyclic values end', () => {
    let deep: unknown = 1
    for (let i = 0; i < KEY_DEPTH_MAX + 5; i++) deep = i % 2 === 0 ? [deep] : { a: deep }
    expect(decodeKey(encodeKey(deep), 0, false)).toMatchObject({ exact: false, next: encodeKey(deep).length })
    const cyclic: unknown[] = []
    cyclic.push(cyclic, cyclic, cyclic)
    expect(encodeKey(cyclic).length).toBe(KEY_COMPONENT_BYTES_MAX)
    expect(decodeKey(encodeKeyDescending(cyclic), 0, true)).toMatchObject({
      exact: false,
      next: KEY_COMPONENT_BYTES_MAX,
    })
  })

  test('what cannot be a key is a TypeError', () => {
    for (const value of [NaN, 1n, Symbol('s'), () => 1, [NaN]]) expect(() => encodeKey(value)).toThrow(TypeError)
  })
})

describe('ids', () => {
  test('come back exactly', () => {
    fc.assert(
      fc.property(nastyString, (id) => {
        expect(decodeIdKey(encodeIdKey(id))).toBe(id)
      }),
    )
    expect(encodeIdKey('plain')).toBe('plain')
    expect(encodeIdKey('é')).toBe('Ã©')
  })

  test('have a limit', () => {
    expect(encodeIdKey('x'.repeat(ID_BYTES_MAX)).length).toBe(ID_BYTES_MAX)
    for (const id of ['x'.repeat(ID_BYTES_MAX + 1), '€'.repeat(1366)]) {
      expect(() => encodeIdKey(id)).toThrow(expect.objectContaining({ code: 'PANNIER_KEY_TOO_LARGE' }))
    }
  })
})

test('prefixUpperBound is the smallest key above all with the prefix', () => {
  expect(prefixUpperBound('ab')).toBe('ac')
  expect(prefixUpperBound('a\xff\xff')).toBe('b')
  expect(prefixUpperBound('\xff')).toBe(undefined)
  expect(prefixUpperBound('')).toBe(undefined)
  const bytes = fc.string({ unit: fc.constantFrom('\0', 'a', '\xfe', '\xff'), maxLength: 4 })
  fc.assert(
    fc.property(bytes, bytes, (prefix, key) => {
      const bound = prefixUpperBound(prefix)
      if (key >= prefix) expect(bound === undefined || key < bound).toBe(key.startsWith(prefix))
    }),
  )
})
