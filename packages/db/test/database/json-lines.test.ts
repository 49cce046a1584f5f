/** Lines of JSON in chunks that are cut anywhere. */
import { expect, test } from 'vitest'
import { DOCUMENT_TEXT_BYTES_MAX } from '../../src/codec/document-format.ts'
import { JsonLines } from '../../src/database/transfer/import-documents.ts'

const TEXT = '{"a":"ü💡\\n"}\n[1,2]\n"\u2028"\n'
const VALUES = [{ a: 'ü💡\n' }, [1, 2], '\u2028']

function valuesOf(chunks: readonly Uint8Array[]): { readonly values: unknown[]; readonly isAtEnd: boolean } {
  const lines = new JsonLines()
  const values = chunks.flatMap((chunk) => Array.from(lines.push(chunk), ({ value }) => value))
  return { values, isAtEnd: lines.isAtEnd }
}

test('lines come out whole wherever chunks end, in the midst of characters too', () => {
  const bytes = new TextEncoder().encode(TEXT)
  for (let size = 1; size <= bytes.length; size++) {
    const chunks: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
    expect(valuesOf(chunks)).toEqual({ values: VALUES, isAtEnd: true })
  }
})

test('a last line without an end is no row', () => {
  expect(valuesOf([new TextEncoder().encode('1\n2')])).toEqual({ values: [1], isAtEnd: false })
})

test('what is no JSON, no UTF-8 or longer than a document can be is thrown', () => {
  for (const bytes of [new TextEncoder().encode('{]\n'), new Uint8Array([0x22, 0xff, 0x22, 0x0a])])
    expect(() => valuesOf([bytes])).toThrow()
  const lines = new JsonLines()
  const long = new Uint8Array(DOCUMENT_TEXT_BYTES_MAX / 2 + 1).fill(0x20)
  expect([...lines.push(long)]).toEqual([])
  expect(() => lines.push(long)).toThrow(RangeError)
})
