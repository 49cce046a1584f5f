import { expect, test } from 'vitest'
import { ByteWriter } from '../../src/codec/bytes.ts'
import { encodeIdKey } from '../../src/codec/key-encoding.ts'
import { BODY_HEADER_BYTES_MAX, BodyView, formatRevision, writeBodyHeader } from '../../src/document/body.ts'
import { idGenerator } from '../../src/document/document-id.ts'

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

test('a format that is not known, or a body that ends too early, is damage', () => {
  const bytes = bodyBytes('abc', 1, 5, false)
  const newer = bytes.slice()
  newer[0] = 4
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
