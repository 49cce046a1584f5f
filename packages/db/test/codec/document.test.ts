/**
 * Documents come back as they went in, with every field in its order, whatever strings and numbers they hold; one field
 * reads as it decodes; and damaged bytes do no harm.
 */
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { PannierError } from '../../src/base/errors.ts'
import { ByteReader, ByteWriter } from '../../src/codec/bytes.ts'
import { decodeDocument, readField } from '../../src/codec/decode-document.ts'
import { DOCUMENT_BYTES_MAX, DOCUMENT_DEPTH_MAX, ELEMENT_TYPES } from '../../src/codec/document-format.ts'
import { encodeDocument } from '../../src/codec/encode-document.ts'
import { compileFieldPath, FieldPath, getField } from '../../src/codec/field-path.ts'
import { hashContent, Hash128, HASH_BYTES } from '../../src/codec/hash.ts'
import { toHex } from '../../src/codec/bytes.ts'
import { ShapeDictionary, SHAPES_MAX } from '../../src/codec/shape.ts'
import { jsonObject, nastyString, toObject } from './json-arbitrary.ts'
import { times } from '../../../../tools/test/seeds.ts'

function encode(
  document: object,
  shapes: ShapeDictionary = new ShapeDictionary(),
): { bytes: Uint8Array; shapes: ShapeDictionary } {
  const writer = new ByteWriter(1)
  encodeDocument(document, shapes, writer)
  return { bytes: writer.finish(), shapes }
}

function roundTrip(document: object, shapes?: ShapeDictionary): Record<string, unknown> {
  const encoded = encode(document, shapes)
  return decodeDocument(encoded.bytes, 0, encoded.bytes.length, encoded.shapes)
}

function contentHash(document: object, shapes: ShapeDictionary = new ShapeDictionary()): string {
  const { bytes } = encode(document, shapes)
  const hash = new Hash128()
  const target = new Uint8Array(HASH_BYTES)
  hash.reset()
  hashContent(hash, bytes, 0, bytes.length, shapes)
  hash.digest(target)
  return toHex(target)
}

/** A dictionary that takes no more shapes. */
function fullDictionary(): ShapeDictionary {
  const shapes = new ShapeDictionary()
  for (let i = 0; i < SHAPES_MAX; i++) shapes.resolve([`filler ${i}`])
  return shapes
}

/** JSON text says everything: names in their order, `__proto__` too, exact strings and numbers. */
function expectSame(actual: unknown, expected: unknown): void {
  expect(JSON.stringify(actual)).toBe(JSON.stringify(expected))
}

/** Fields that stay: names with '_' at the top level are not content, but for one that is nobody's. */
function contentOf(document: Record<string, unknown>): Record<string, unknown> {
  return toObject(Object.entries(document).filter(([name]) => !name.startsWith('_') || name === '__proto__'))
}

describe('round trip', () => {
  test('any JSON, with a dictionary, with a full one, side by side', () => {
    const full = fullDictionary()
    fc.assert(
      fc.property(fc.array(jsonObject, { minLength: 1, maxLength: 4 }), (documents) => {
        for (const shapes of [new ShapeDictionary(), full]) {
          const writer = new ByteWriter(8)
          writer.u8(255)
          const ends = documents.map((document) => {
            encodeDocument(document, shapes, writer)
            return writer.length
          })
          const bytes = writer.finish()
          documents.forEach((document, i) => {
            const start = i === 0 ? 1 : ends[i - 1]!
            expectSame(decodeDocument(bytes, start, ends[i]!, shapes), contentOf(document))
            expectSame(decodeDocument(bytes.subarray(start), 0, ends[i]! - start, shapes), contentOf(document))
          })
        }
      }),
      { numRuns: times(200) },
    )
  })

  test('fields with underscores at the top are left out, the rest follows what the caller gives', () => {
    const { bytes, shapes } = encode({ b: 1, _id: 'x', a: { _id: 2 }, _rev: '1-x', _attachments: {} })
    const target = { _id: 'x', _rev: '1-x' }
    expect(decodeDocument(bytes, 0, bytes.length, shapes, target)).toBe(target)
    expectSame(target, { _id: 'x', _rev: '1-x', b: 1, a: { _id: 2 } })
  })

  test('integers, doubles and lengths at every boundary', () => {
    const numbers = [5e-324, 1.7976931348623157e308, 0.1, 2 ** 53, -(2 ** 53), 1e21]
    for (let power = 0; power <= 53; power++) {
      for (const n of [2 ** power - 1, 2 ** power, 2 ** power + 1]) if (n <= 2 ** 53) numbers.push(n, -n + 0, -n - 1)
    }
    for (const n of numbers) expect(roundTrip({ n })).toEqual({ n })
    for (const length of [0, 1, 62, 63, 64, 65, 127, 128, 129, 16383, 16384, 70000]) {
      const document = {
        ascii: 'x'.repeat(length),
        text: 'é'.repeat(length),
        wide: '😀'.repeat(length),
        lone: '\udc00'.repeat(length),
        array: Array.from({ length }, () => 'a'),
        nested: { inner: 'y'.repeat(length) },
        numbers: Array.from({ length }, (_, i) => i),
      }
      expectSame(roundTrip(document), document)
    }
  })

  test('many shapes in one document', () => {
    const document = { list: Array.from({ length: 300 }, (_, i) => ({ [`field ${i % 200}`]: i, x: {} })) }
    expectSame(roundTrip(document), document)
    expectSame(roundTrip(document, fullDictionary()), document)
  })

  test('names that are none of our business', () => {
    const document = JSON.parse(
      '{"__proto__":{"__proto__":null,"polluted":true},"constructor":1,"":2,"\\u0000":3,"toString":4,"2":5,"1":6}',
    )
    const decoded = roundTrip(document)
    expectSame(decoded, document)
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype)
    expect(({} as { polluted?: boolean }).polluted).toBe(undefined)
  })

  test('packed arrays of numbers stay plain arrays', () => {
    const arrays = [
      [1, 2, 3, 4],
      [-128, 127, 0, 0],
      [0, 255, 1, 1],
      [-1, 255, 1, 1],
      [-32768, 32767, 0, 0],
      [-32769, 0, 0, 0],
      [2 ** 31 - 1, 0, 0, -(2 ** 31)],
      [2 ** 31, 0, 0, 0],
      [0.5, 1, 2, 3],
      [5e-324, 1e308, -1, 2 ** 53],
    ]
    for (const a of arrays) expect(roundTrip({ a })).toStrictEqual({ a })
    expect(Object.is((roundTrip({ a: [-0, 0.5, 1, -0] })['a'] as number[])[0], 0)).toBe(true)
    expect(Object.is((roundTrip({ a: [-0, 5, 1, -0] })['a'] as number[])[0], 0)).toBe(true)
    expect(Object.is(roundTrip({ a: -0 })['a'], 0)).toBe(true)
    expect(encode({ a: Array.from({ length: 1000 }, () => 7) }).bytes.length).toBeLessThan(1010)
  })

  test('typed arrays keep their type and are copies', () => {
    for (const type of ELEMENT_TYPES) {
      const source = new type([1, 2, 250])
      const { a } = roundTrip({ odd: 'x', a: source }) as { a: Float64Array }
      expect(a.constructor).toBe(type)
      expect(a).toEqual(source)
      expect(a.buffer.byteLength).toBe(source.byteLength)
    }
    expect(roundTrip({ a: new Float64Array([1, 2, 3]).subarray(1, 2) })).toEqual({ a: new Float64Array([2]) })
    expect(roundTrip({ a: Buffer.from('hi') })).toEqual({ a: new Uint8Array([104, 105]) })
  })
})

describe('what goes in is taken as by JSON', () => {
  test('undefined, holes, toJSON, -0', () => {
    const document = {
      a: undefined,
      b: Object.assign([undefined], { 2: 1 }),
      d: { toJSON: (key: string) => `was ${key}` },
      e: -0,
      f: { g: undefined },
      i: { toJSON: () => undefined },
    }
    expectSame(roundTrip(document), JSON.parse(JSON.stringify(document)))
  })

  test('toJSON may encode another document', () => {
    const document = { a: 'x'.repeat(300), b: { toJSON: () => roundTrip({ inner: ['y'.repeat(500)] }) }, c: 1 }
    expectSame(roundTrip(document), { a: document.a, b: { inner: ['y'.repeat(500)] }, c: 1 })
  })

  test('inherited fields stay out, also when Object.prototype is polluted', () => {
    const withoutPrototype = Object.assign(Object.create(null), { a: 1 })
    expectSame(roundTrip({ x: withoutPrototype }), { x: { a: 1 } })
    Object.defineProperty(Object.prototype, 'polluted', { value: 1, enumerable: true, configurable: true })
    let decoded: unknown
    try {
      decoded = [roundTrip({ x: { a: 1 } }), roundTrip({ polluted: 2 })]
    } finally {
      delete (Object.prototype as { polluted?: number }).polluted
    }
    expectSame(decoded, [{ x: { a: 1 } }, { polluted: 2 }])
  })

  test('what JSON would lose is a TypeError that names the path', () => {
    class Point {
      x = 1
    }
    const bad: [unknown, string][] = [
      [NaN, 'NaN'],
      [Infinity, 'Infinity'],
      [() => 1, 'function'],
      [Symbol('s'), 'Symbol'],
      [1n, '1n'],
      [new Map(), 'Map'],
      [new Set(), 'Set'],
      [new Point(), 'a Point'],
      [new Date(0), 'toISOString.* a Date'],
      [new Date(NaN), 'a Date'],
      [Object.assign(new Date(0), { toJSON: () => 'own' }), 'a Date'],
      [/x/, 'RegExp'],
      [new ArrayBuffer(1), 'ArrayBuffer'],
      [new DataView(new ArrayBuffer(1)), 'DataView'],
      [new BigInt64Array(1), 'BigInt64Array'],
      [new Number(1), 'Number'],
    ]
    for (const [value, kind] of bad) {
      const writer = new ByteWriter()
      writer.u8(1)
      const run = (document: object) => () => encodeDocument(document, new ShapeDictionary(), writer)
      expect(run({ z: [1], a: { b: [1, 2, value] } })).toThrow(new RegExp(`^\\$\\.a\\.b\\[2\\] .*${kind}`))
      expect(run({ z: [1], a: { 'b c': value } })).toThrow('$.a["b c"] ')
      expect(run({ a: value })).toThrow(TypeError)
      expect(run([value] as unknown as object)).toThrow(/^\$ /)
      expect(writer.length).toBe(1)
    }
    expectSame(roundTrip({ a: 1 }), { a: 1 })
  })

  test('too deep, too large', () => {
    const nested = (depth: number): object =>
      depth === 1 ? {} : { a: depth % 2 === 0 ? nested(depth - 1) : [nested(depth - 2)] }
    const deep = nested(DOCUMENT_DEPTH_MAX - 1)
    expectSame(roundTrip({ a: deep }), { a: deep })
    expect(() => encode({ a: [deep] })).toThrow(expect.objectContaining({ code: 'PANNIER_DOCUMENT_TOO_DEEP' }))
    const cyclic: { self?: object } = {}
    cyclic.self = cyclic
    expect(() => encode(cyclic)).toThrow(expect.objectContaining({ code: 'PANNIER_DOCUMENT_TOO_DEEP' }))
    const piece = new Uint8Array(DOCUMENT_BYTES_MAX / 4)
    expect(() => encode({ a: [piece, piece, piece, piece] })).toThrow(
      expect.objectContaining({ code: 'PANNIER_DOCUMENT_TOO_LARGE' }),
    )
  })
})

describe('content hash', () => {
  test('does not depend on the dictionary', () => {
    const full = fullDictionary()
    const grown = new ShapeDictionary()
    fc.assert(
      fc.property(jsonObject, (document) => {
        const expected = contentHash(document)
        expect(contentHash(document, full)).toBe(expected)
        expect(contentHash(document, grown)).toBe(expected)
        expect(contentHash({ _id: 'a', ...document, _rev: 'b' }, grown)).toBe(expected)
      }),
    )
    const dynamic = { a: Array.from({ length: 40 }, (_, i) => ({ [`k${i % 30}`]: 1, [`l${i % 20}`]: { m: 1 } })) }
    expect(contentHash(dynamic, full)).toBe(contentHash(dynamic))
  })

  test('differs where content does', () => {
    const documents = [
      {},
      { a: 1 },
      { b: 1 },
      { a: '1' },
      { a: [1] },
      { a: { b: 1 } },
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: null },
      { a: [1, 2, 3, 4] },
      { a: new Int8Array([1, 2, 3, 4]) },
    ]
    expect(new Set(documents.map((document) => contentHash(document))).size).toBe(documents.length)
  })

  test('stays as it is: revisions are named by it', () => {
    expect(
      contentHash({ name: 'Ann', age: 31, tags: ['vip', 'é'], at: { x: 1.5, y: -70000 }, data: [1, 2, 3, 400] }),
    ).toBe('6e0f2cb017d8f930e77a3aed751b4842')
  })
})

describe('fields', () => {
  test('paths', () => {
    const names = (path: string) => compileFieldPath(path).names
    expect(names('a.b')).toEqual(['a', 'b'])
    expect(names('a\\.b.c')).toEqual(['a.b', 'c'])
    expect(names('a\\\\.b\\c')).toEqual(['a\\', 'b\\c'])
    expect(names('')).toEqual([''])
    expect(names('a.')).toEqual(['a', ''])
    fc.assert(
      fc.property(fc.array(nastyString, { minLength: 1 }), (path) => {
        expect(names(path.map((name) => name.replace(/[\\.]/g, '\\$&')).join('.'))).toEqual(path)
      }),
    )
  })

  test('read as they decode', () => {
    const full = fullDictionary()
    fc.assert(
      fc.property(
        jsonObject,
        fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
        nastyString,
        (document, choices, stray) => {
          for (const shapes of [new ShapeDictionary(), full]) {
            const { bytes } = encode(document, shapes)
            const decoded = decodeDocument(bytes, 0, bytes.length, shapes)
            const names: string[] = []
            let value: unknown = decoded
            for (const choice of choices) {
              const known = typeof value === 'object' && value !== null ? Object.keys(value) : []
              const next = known[choice % known.length] ?? stray
              names.push(next)
              const path = new FieldPath(names.slice())
              value = getField(decoded, path)
              expectSame(readField(bytes, 0, bytes.length, shapes, path), value)
              const wrong = new FieldPath([...names.slice(0, -1), stray])
              expectSame(readField(bytes, 0, bytes.length, shapes, wrong), getField(decoded, wrong))
            }
          }
        },
      ),
      { numRuns: times(200) },
    )
  })

  test('into arrays, packed and typed ones too', () => {
    const document = { list: ['a', { b: [10, 20, 30, 40] }], typed: new Float32Array([1.5]), text: 'abc', n: null }
    const { bytes, shapes } = encode(document)
    const read = (path: string) => readField(bytes, 0, bytes.length, shapes, compileFieldPath(path))
    const expected: [string, unknown][] = [
      ['list.0', 'a'],
      ['list.1.b.3', 40],
      ['list.1.b.4', undefined],
      ['list.1.b.3.0', undefined],
      ['list.2', undefined],
      ['list.-1', undefined],
      ['list.01', undefined],
      ['list.length', undefined],
      ['typed.0', 1.5],
      ['typed.1', undefined],
      ['typed.length', undefined],
      ['text.0', undefined],
      ['n.x', undefined],
      ['n', null],
      ['x', undefined],
      ['_id', undefined],
    ]
    for (const [path, value] of expected) {
      expect(read(path), path).toBe(value)
      expect(getField(document, compileFieldPath(path)), path).toBe(value)
    }
  })

  test('a path follows documents of changing shapes', () => {
    const shapes = new ShapeDictionary()
    const path = compileFieldPath('a.x')
    const documents = [
      { a: { x: 1 } },
      { b: 0, a: { y: 0, x: 2 } },
      { b: 1 },
      { a: { x: 3 } },
      { b: 0, a: { y: 0, x: 4 } },
    ]
    const encoded = documents.map((document) => encode(document, shapes).bytes)
    expect(encoded.map((bytes) => readField(bytes, 0, bytes.length, shapes, path))).toEqual([1, 2, undefined, 3, 4])
  })
})

describe('a document with names of its own, as many as an attacker likes', () => {
  const full = fullDictionary()
  const names = Array.from({ length: 5000 }, (_, n) => [`name ${n}`, n])
  const { bytes: large } = encode({ title: 'large', map: Object.fromEntries(names) }, full)
  const { bytes: small, shapes } = encode({ title: 'small' })
  const title = compileFieldPath('title')
  const read = (bytes: Uint8Array, dictionary: ShapeDictionary): unknown =>
    readField(bytes, 0, bytes.length, dictionary, title)

  test('many conditions read them once', () => {
    const looked = vi.spyOn(ByteReader.prototype, 'varint')
    for (let n = 0; n < 500; n++) expect(read(large, full)).toBe('large')
    expect(looked.mock.calls.length).toBeLessThan(2 * names.length)
    looked.mockRestore()
  })

  test('documents in turn, and another dictionary, are each read as they are', () => {
    const other = encode({ title: 'other', map: { b: Object.fromEntries(names) } }, full).bytes
    for (let n = 0; n < 3; n++)
      expect([read(large, full), read(other, full), read(small, shapes), read(large, full)]).toEqual([
        'large',
        'other',
        'small',
        'large',
      ])
    expect(() => read(large.subarray(0, 40), full)).toThrow(PannierError)
    expect(readField(large, 0, large.length, full, compileFieldPath('map.name 4999'))).toBe(4999)
  })
})

describe('damage', () => {
  test('is PANNIER_CORRUPT or gives something, and ends', () => {
    const path = compileFieldPath('a.b')
    const shapes = new ShapeDictionary()
    const flip = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }))
    fc.assert(
      fc.property(
        jsonObject,
        fc.array(flip, { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat()),
        (document, flips, cut) => {
          const { bytes } = encode({ a: { b: 1 }, ...document }, shapes.fork())
          for (const [at, byte] of flips) bytes[at % bytes.length] = byte
          const end = cut === null ? bytes.length : cut % bytes.length
          for (const run of [
            () => decodeDocument(bytes, 0, end, shapes),
            () => readField(bytes, 0, end, shapes, path),
          ]) {
            try {
              run()
            } catch (error) {
              expect(error).toBeInstanceOf(PannierError)
              expect(error).toMatchObject({ code: 'PANNIER_CORRUPT' })
            }
          }
        },
      ),
      { numRuns: times(1000) },
    )
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  test('arbitrary bytes, unknown shapes, endless nesting', () => {
    const shapes = new ShapeDictionary()
    shapes.resolve(['a', '__proto__'])
    shapes.resolve([])
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (tail) => {
        const bytes = Uint8Array.from([1, 1, ...tail])
        try {
          decodeDocument(bytes, 0, bytes.length, shapes)
        } catch (error) {
          expect(error).toMatchObject({ code: 'PANNIER_CORRUPT' })
        }
      }),
      { numRuns: times(1000) },
    )
    expect(() => decodeDocument(Uint8Array.of(1, 9), 0, 2, shapes)).toThrow(
      expect.objectContaining({ code: 'PANNIER_CORRUPT' }),
    )
    expect(() => decodeDocument(Uint8Array.of(0), 0, 1, shapes)).toThrow(
      expect.objectContaining({ code: 'PANNIER_CORRUPT' }),
    )
    const nested = new Uint8Array(300_000).fill(0xa6)
    for (let at = nested.length - 1, length = 0; at > 4; length = nested.length - at) {
      const size = length < 128 ? 1 : length < 16384 ? 2 : 3
      at -= size
      for (let i = 0, rest = length; i < size; i++, rest = Math.floor(rest / 128))
        nested[at + i] = (rest % 128) | (i < size - 1 ? 128 : 0)
      nested[--at] = 0xa6
    }
    nested.set([1, 1])
    expect(() => decodeDocument(nested, 0, nested.length, shapes)).toThrow(
      expect.objectContaining({ code: 'PANNIER_CORRUPT' }),
    )
  })
})
