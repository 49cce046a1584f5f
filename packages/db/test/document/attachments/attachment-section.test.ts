import { expect, test } from 'vitest'
import { attachmentStubs, decodeAttachments } from '../../../src/document/attachments/attachment-section.ts'
import { encodeAttachments } from '../../../src/document/attachments/encode-attachments.ts'
import type { AttachmentEntry } from '../../../src/document/attachments/attachment-section.ts'
import { isPannierError } from '../../../src/base/errors.ts'
import { seededRandom } from '../../../testing/random.ts'

const entry = (name: string, more: Partial<AttachmentEntry> = {}): AttachmentEntry => ({
  name,
  contentType: 'image/png',
  digest: new Uint8Array(16).fill(7),
  length: 12,
  revpos: 1,
  blob: 3,
  ...more,
})

const ENTRIES = [
  entry('a'),
  entry('__proto__', { contentType: 'text/plain; charset=utf-8' }),
  entry('ü/💡.png', { length: 2 ** 40, revpos: 2 ** 33, blob: 2 ** 47 }),
  entry('\ud800', { contentType: 'x/ü' }),
  entry('constructor', { length: 0 }),
]

test('comes back as it went in, in the order of the bytes of the names', () => {
  const decoded = decodeAttachments(encodeAttachments(ENTRIES))
  expect(decoded.map(({ name }) => name)).toEqual(['__proto__', 'a', 'constructor', '\ud800', 'ü/💡.png'].sort(byBytes))
  expect(new Map(decoded.map((one) => [one.name, one]))).toEqual(new Map(ENTRIES.map((one) => [one.name, one])))
  expect(encodeAttachments(decoded)).toEqual(encodeAttachments(ENTRIES))
})

test('a hundred pictures take 37 bytes each', () => {
  const many = Array.from({ length: 100 }, (_, at) => entry(`picture-${at}.png`, { blob: at + 1000, length: 50_000 }))
  expect(encodeAttachments(many).length).toBeLessThanOrEqual(100 * 40)
})

test('stubs are what CouchDB gives', () => {
  const stubs = attachmentStubs(encodeAttachments(ENTRIES))
  expect(Object.keys(stubs)).toContain('__proto__')
  expect(Object.getOwnPropertyDescriptor(stubs, 'a')?.value).toEqual({
    contentType: 'image/png',
    digest: 'md5-BwcHBwcHBwcHBwcHBwcHBw==',
    length: 12,
    revpos: 1,
    stub: true,
  })
})

test('damage is found, or gives entries that are well formed', () => {
  const random = seededRandom(5)
  const bytes = encodeAttachments(ENTRIES)
  for (let round = 0; round < 5000; round++) {
    const damaged = bytes.slice(0, random.chance(0.3) ? random.below(bytes.length) : bytes.length)
    if (damaged.length > 0 && random.chance(0.8)) damaged[random.below(damaged.length)] = random.below(256)
    try {
      for (const { digest, name } of decodeAttachments(damaged))
        expect([digest.length, typeof name]).toEqual([16, 'string'])
    } catch (error) {
      expect(isPannierError(error, 'PANNIER_CORRUPT'), String(error)).toBe(true)
    }
  }
  for (let end = 0; end < bytes.length; end++)
    expect(() => decodeAttachments(bytes.subarray(0, end))).toThrow(/damaged/)
})

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
