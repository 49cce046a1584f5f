/**
 * Goal: the splitter finds exactly the documents that JSON.parse of the whole finds, however the bytes are cut into chunks,
 * and what JSON.parse refuses it does not pass.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import { JsonSplitter, type JsonLayout, type JsonPiece } from '../../src/codec/json-splitter.ts'
import { times } from '../../../../tools/test/seeds.ts'

const encoder = new TextEncoder()

function split(bytes: Uint8Array, cuts: readonly number[] = [], accepted?: readonly JsonLayout[]): JsonPiece[] {
  const splitter = new JsonSplitter(accepted)
  const pieces: JsonPiece[] = []
  let from = 0
  for (const cut of [...cuts].filter((at) => at <= bytes.length).sort((a, b) => a - b)) {
    pieces.push(...splitter.push(bytes.subarray(from, cut)))
    from = cut
  }
  pieces.push(...splitter.push(bytes.subarray(from)))
  return [...pieces, ...splitter.end()]
}

function values(text: string, cuts?: readonly number[]): unknown[] {
  return split(encoder.encode(text), cuts).map(({ value, error }) => {
    if (error !== undefined) throw error
    return value
  })
}

/** Every text twice: whole, and byte by byte. */
function both(text: string): unknown[] {
  const whole = values(text)
  const each = Array.from({ length: encoder.encode(text).length }, (_, at) => at)
  expect(values(text, each)).toEqual(whole)
  return whole
}

const element = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.dictionary(fc.string(), fc.jsonValue()),
)
const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }))
const blank = fc.stringMatching(/^[ \n\r\t]{0,3}$/)
const cuts = fc.array(fc.nat(2000), { maxLength: 40 })

describe('with every chunking, the documents are those that JSON.parse finds', () => {
  test('arrays', () => {
    fc.assert(
      fc.property(fc.array(element), blank, blank, fc.nat(3), cuts, (elements, before, between, indent, at) => {
        const text = `${before}[${elements.map((each) => between + JSON.stringify(each, undefined, indent)).join(`${before},`)}${between}]${before}`
        expect(values(text, at)).toEqual(JSON.parse(text))
      }),
      { numRuns: times(150) },
    )
  })

  test('lines', () => {
    const breaks = fc.constantFrom('\n', '\r\n', '\n\n', '\n \r\n')
    fc.assert(
      fc.property(fc.array(object), breaks, fc.boolean(), cuts, (objects, end, last, at) => {
        const text = objects.map((each) => JSON.stringify(each)).join(end) + (last ? end : '')
        const pieces = split(encoder.encode(text), at, ['lines'])
        expect(pieces.map(({ value }) => value)).toEqual(JSON.parse(JSON.stringify(objects)))
        const lines = text.split('\n').flatMap((line, n) => (line.trim() === '' ? [] : [n + 1]))
        expect(pieces.map(({ line }) => line)).toEqual(lines)
      }),
      { numRuns: times(150) },
    )
  })

  test('envelopes', () => {
    const name = fc.constantFrom('rows', 'docs')
    fc.assert(
      fc.property(
        fc.array(element),
        name,
        fc.boolean(),
        blank,
        fc.nat(2),
        cuts,
        (elements, key, first, space, indent, at) => {
          const rest = { total_rows: 5, offset: 0, update_seq: '5-a]["}', new_edits: false }
          const whole = first ? { [key]: elements, ...rest } : { ...rest, [key]: elements }
          const text = space + JSON.stringify(whole, undefined, indent) + space
          expect(values(text, at)).toEqual(JSON.parse(JSON.stringify(elements)))
        },
      ),
      { numRuns: times(150) },
    )
  })

  test('arbitrary text: what JSON.parse takes is found, what it refuses fails', () => {
    const parts = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"',
      '\\',
      '"a"',
      '"docs"',
      '1',
      'null',
      ' ',
      '\n',
      '\\"',
      '{"a":1}',
      '\u{1f4a1}',
    )
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 14 }), cuts, (chosen, at) => {
        const text = `[${chosen.join('')}`
        let expected: unknown
        try {
          expected = JSON.parse(text)
        } catch {
          // Refused.
        }
        let found: unknown
        try {
          found = values(text, at)
        } catch (error) {
          expect(isPannierError(error)).toBe(true)
        }
        expect(found).toEqual(expected)
      }),
      { numRuns: times(2000) },
    )
  })
})

describe('layouts', () => {
  test('differ in how they begin', () => {
    const layoutOf = (text: string): JsonLayout | undefined => {
      const splitter = new JsonSplitter()
      for (const _ of splitter.push(encoder.encode(text))) continue
      for (const _ of splitter.end()) continue
      return splitter.layout
    }
    expect(layoutOf(' [1]')).toBe('array')
    expect(layoutOf('{"_id":"a"}\n{"_id":"b"}')).toBe('lines')
    expect(layoutOf('{"total_rows":1,"offset":0,"rows":[\r\n]}')).toBe('rows')
    expect(layoutOf('{"update_seq":[1,"x"],"rows":[]}')).toBe('rows')
    expect(layoutOf('{"new_edits":false,"docs":[{}]}')).toBe('docs')
    // A document that has such a field.
    expect(layoutOf('{"_id":"a","docs":[1]}')).toBe('lines')
    expect(layoutOf('{"tags":["a"],"docs":[1]}')).toBe('lines')
    expect(layoutOf('{"a":{"docs":[1]}}')).toBe('lines')
    expect(layoutOf(`{"text":"${'x'.repeat(100_000)}"}`)).toBe('lines')
    expect(layoutOf('')).toBe(undefined)
  })

  test('a byte order mark is skipped once', () => {
    expect(both('\ufeff[{"a":"\ufeff"}]')).toEqual([{ a: '\ufeff' }])
    expect(both('\ufeff{"a":1}\r\n{"a":2}\r\n')).toEqual([{ a: 1 }, { a: 2 }])
  })

  test.each([
    'nothing like it',
    '\ufffe',
    '[1,2',
    '[{"a":1}',
    '[{"a":"]',
    '[1]]',
    '[1] 2',
    '[1}',
    '{"docs":[1]',
    '{"docs":[1]]',
    '{"docs":[1],}',
    '{"docs":[1],"docs":[2]}',
    '{"new_edits":false,"new_edits":true,"docs":[1]}',
    '{"docs":[1]} x',
    `{"docs":[1]${' '.repeat(70_000)}}`,
  ])('the text around the documents is wrong: %j', (text) => {
    expect(() => both(text)).toThrow(expect.objectContaining({ code: 'PANNIER_FORMAT_WRONG' }))
  })

  test('a format that is asked for and is not there', () => {
    const wrong = expect.objectContaining({ code: 'PANNIER_FORMAT_WRONG' })
    expect(() => split(encoder.encode('{"a":1}'), [], ['array'])).toThrow(wrong)
    expect(() => split(encoder.encode('{"a":1}'), [], ['rows', 'docs'])).toThrow(wrong)
    expect(() => split(encoder.encode('[1]'), [], ['rows', 'docs'])).toThrow(wrong)
    expect(() => split(encoder.encode(' '), [], ['array'])).toThrow(wrong)
  })
})

describe('one document that is wrong does not disturb the others', () => {
  const codes = (text: string | Uint8Array): unknown[] =>
    split(typeof text === 'string' ? encoder.encode(text) : text).map(({ value, error }) => error?.code ?? value)

  test('in lines and in arrays', () => {
    expect(codes('{"a":1}\n{"a":}\n{"a":2}\n{"a":"x\n"}')).toEqual([
      { a: 1 },
      'PANNIER_DOCUMENT_INVALID',
      { a: 2 },
      'PANNIER_DOCUMENT_INVALID',
      'PANNIER_DOCUMENT_INVALID',
    ])
    expect(codes('[{"a":1},{"a":},,{a:1},{"a":2},]')).toEqual([
      { a: 1 },
      'PANNIER_DOCUMENT_INVALID',
      'PANNIER_DOCUMENT_INVALID',
      'PANNIER_DOCUMENT_INVALID',
      { a: 2 },
      'PANNIER_DOCUMENT_INVALID',
    ])
  })

  test('a name that is there twice, at any depth (CVE-2017-12635)', () => {
    const twice = 'PANNIER_DOCUMENT_INVALID'
    expect(
      codes('[{"roles":["_admin"],"roles":[]},{"a":{"b":1,"b":1}},{"a":[{"\\u0061":1,"a":2}]},{"b":{"b":1}}]'),
    ).toEqual([twice, twice, twice, { b: { b: 1 } }])
    expect(codes('{"__proto__":1,"__proto__":2}')).toEqual([twice])
  })

  test('__proto__ and the like are data', () => {
    const [value] = values('[{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a:b":"{[:,"}]')
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor', 'a:b'])
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a:b":"{[:,"}',
    )
    expect(({} as Record<string, unknown>)['polluted']).toBe(undefined)
  })

  test('depth is looked at before anything is parsed', () => {
    const deep = 100_000
    expect(codes(`[{"a":1},${'[{"a":'.repeat(deep)}1${'}]'.repeat(deep)},2]`)).toEqual([
      { a: 1 },
      'PANNIER_DOCUMENT_TOO_DEEP',
      2,
    ])
    expect(codes(`{"a":${'['.repeat(deep)}\n{"a":2}`)).toEqual(['PANNIER_DOCUMENT_TOO_DEEP', { a: 2 }])
  })

  test('bytes that are not UTF-8; surrogates and U+0000 that are', () => {
    const bad = Uint8Array.from([...encoder.encode('{"a":"'), 0xc3, 0x28, ...encoder.encode('"}\n{"a":1}')])
    expect(codes(bad)).toEqual(['PANNIER_DOCUMENT_INVALID', { a: 1 }])
    const surrogate = Uint8Array.from([...encoder.encode('["'), 0xed, 0xa0, 0x80, ...encoder.encode('",1]')])
    expect(codes(surrogate)).toEqual(['PANNIER_DOCUMENT_INVALID', 1])
    expect(both(String.raw`[{"a":"\ud800","\u0000":"\ud83d\udca1"}]`)).toEqual([{ a: '\ud800', '\u0000': '\u{1f4a1}' }])
  })
})
