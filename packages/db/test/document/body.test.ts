import { expect, test } from 'vitest'
import { ByteWriter } from '../../src/codec/bytes.ts'
import { encodeIdKey, numberKey } from '../../src/codec/key-encoding.ts'
import type { Key } from '../../src/base/brand.ts'
import {
  BODY_HEADER_BYTES_MAX,
  BodyView,
  composeBody,
  formatRevision,
  writeBodyHeader,
} from '../../src/document/body.ts'
import { idGenerator } from '../../src/document/document-id.ts'
import { readRevision, revisionKey, revisionValue } from '../../src/document/revision-entry.ts'
import { seededRandom } from '../../testing/random.ts'

const HASH: Uint8Array = Uint8Array.from({ length: 16 }, (_, at) => at * 17)

function bodyBytes(id: string, generation: number, number: number | undefined, deleted: boolean): Uint8Array {
  const writer = new ByteWriter()
  writer.length = BODY_HEADER_BYTES_MAX
  const key = encodeIdKey(id)
  writer.varint(key.length)
  writer.byteString(key)
  writer.raw(Uint8Array.of(1, 2, 3))
  const bytes = writer.finish()
  return bytes.subarray(writeBodyHeader(bytes, BODY_HEADER_BYTES_MAX, deleted, generation, HASH, number))
}

test('a body is read as it was written', () => {
  const view = new BodyView()
  for (const id of ['a', 'ü', '\ud800', '💡'.repeat(500)]) {
    for (const generation of [1, 9, 10, 127, 128, 123_456_789]) {
      for (const number of [undefined, 0, 127, 128, 2 ** 47]) {
        view.load(bodyBytes(id, generation, number, id === 'a'), 77)
        expect([view.id, view.generation, view.number, view.sequence, view.deleted]).toEqual([
          id,
          generation,
          number ?? 77,
          77,
          id === 'a',
        ])
        expect(view.revision).toBe(`${generation}-00112233445566778899aabbccddeeff`)
        expect([...view.bytes.subarray(view.contentStart, view.contentEnd)]).toEqual([1, 2, 3])
      }
    }
  }
  expect(formatRevision(12, HASH)).toBe('12-00112233445566778899aabbccddeeff')
})

const suffixes = [
  '00112233445566778899aabbccddeeff',
  'abc',
  'ABCDEFABCDEFABCDEFABCDEFABCDEFAB',
  'ü\ud800💡',
  'x'.repeat(255),
]

test('every kind of body is read as it was composed', () => {
  const view = new BodyView()
  for (const suffix of suffixes) {
    for (const attachments of [undefined, new Uint8Array(0), new Uint8Array(300).fill(7)]) {
      for (const number of [undefined, 5, 2 ** 40]) {
        for (const deleted of [false, true]) {
          for (const content of [new Uint8Array(0), Uint8Array.of(1, 2, 3)]) {
            const parts = {
              key: encodeIdKey('ü'),
              deleted,
              attachments,
              bytes: content,
              contentStart: 0,
              contentEnd: content.length,
            }
            view.load(composeBody(parts, { generation: 300, suffix }, number, deleted), 77)
            expect([view.id, view.revision, view.suffix, view.number, view.deleted, view.otherLeaves]).toEqual([
              'ü',
              `300-${suffix}`,
              suffix,
              number ?? 77,
              deleted,
              deleted,
            ])
            expect(view.attachments).toEqual(attachments)
            expect(view.bytes.subarray(view.contentStart, view.contentEnd)).toEqual(content)
          }
        }
      }
    }
  }
})

test('the plain body and the composed one are the same bytes', () => {
  const parts = {
    key: encodeIdKey('abc'),
    deleted: true,
    attachments: undefined,
    bytes: Uint8Array.of(1, 2, 3),
    contentStart: 0,
    contentEnd: 3,
  }
  const suffix = '00112233445566778899aabbccddeeff'
  expect([...composeBody(parts, { generation: 300, suffix }, 128, false)]).toEqual([
    ...bodyBytes('abc', 300, 128, true),
  ])
})

test('damaged bytes end in PANNIER_CORRUPT or in some body, never elsewhere', () => {
  const random = seededRandom(5)
  for (let run = 0; run < 3000; run++) {
    const bytes = Uint8Array.from({ length: random.below(60) }, () => random.below(256))
    if (bytes.length > 0) bytes[0] = random.below(40)
    try {
      const view = new BodyView().load(bytes, 1)
      void [view.id, view.revision, view.attachments, view.key]
    } catch (error) {
      expect(error).toMatchObject({ code: 'PANNIER_CORRUPT' })
    }
    try {
      readRevision(`${numberKey(1)}${numberKey(random.below(3))}${String.fromCharCode(...bytes)}` as Key, bytes)
    } catch (error) {
      expect(error).toMatchObject({ code: 'PANNIER_CORRUPT' })
    }
  }
})

test('entries of revisions are read as they were written', () => {
  for (const suffix of suffixes) {
    for (const parent of [undefined, ...suffixes]) {
      for (const body of [undefined, 0, 300]) {
        const entry = { parent, body, leaf: body === 300, deleted: body === 0 }
        const value = Uint8Array.from(revisionValue(entry), (char) => char.charCodeAt(0))
        const key = revisionKey(9, { generation: 2 ** 40, suffix })
        expect(readRevision(key, value)).toEqual({ generation: 2 ** 40, suffix, ...entry })
      }
    }
  }
})

test('a format that is not known, or a body that ends too early, is damage', () => {
  const bytes = bodyBytes('abc', 1, 5, false)
  const newer = bytes.slice()
  newer[0] = 32
  expect(() => new BodyView().load(newer, 1)).toThrow(expect.objectContaining({ code: 'PANNIER_CORRUPT' }))
  expect(() => new BodyView().load(bytes.subarray(0, 21), 1)).toThrow(
    expect.objectContaining({ code: 'PANNIER_CORRUPT' }),
  )
})

test('ids go up within a batch, between batches, and when the clock goes back', () => {
  let time = 1_700_000_000_000
  let chance = 0
  const generator = idGenerator(
    () => time,
    () => (chance++ * 1_000_003).toString(16).padStart(32, 'f'),
  )
  const ids: string[] = []
  const first = generator()
  for (let at = 0; at < 70_000; at++) ids.push(first())
  ids.push(generator()())
  time -= 5000
  ids.push(generator()())
  time += 100_000
  ids.push(generator()(), generator()())
  expect(new Set(ids).size).toBe(ids.length)
  expect([...ids].sort()).toEqual(ids)
})
