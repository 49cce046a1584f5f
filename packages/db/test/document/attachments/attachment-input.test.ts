import { expect, test } from 'vitest'
import { checkAttachments } from '../../../src/document/attachments/attachment-input.ts'
import {
  ATTACHMENT_NAME_BYTES_MAX,
  ATTACHMENTS_PER_DOCUMENT_MAX,
} from '../../../src/document/attachments/attachment-section.ts'
import { isPannierError } from '../../../src/base/errors.ts'

test('what is taken', () => {
  const [text, blob, bytes, stub] = checkAttachments({
    text: { data: 'aGVsbG8=', contentType: 'text/plain' },
    blob: { data: new Blob(['x'], { type: 'image/png' }) },
    bytes: { data: new Uint16Array([1, 2]), revpos: 4, digest: 'md5-whatever', length: 99 },
    stub: { stub: true, contentType: 'image/gif', digest: 'md5-x', length: 3, revpos: 2 },
  })
  expect(text).toEqual({ name: 'text', contentType: 'text/plain', data: new TextEncoder().encode('hello') })
  expect(blob?.contentType).toBe('image/png')
  expect(bytes).toMatchObject({ contentType: 'application/octet-stream', revpos: 4 })
  expect(stub).toMatchObject({ name: 'stub', data: undefined, digest: 'md5-x' })
})

test('wrong input is a TypeError that says where', () => {
  const wrong: [attachments: unknown, message: RegExp][] = [
    [null, /_attachments must be an object/],
    [[], /_attachments must be an object/],
    [{ a: 1 }, /_attachments\["a"\] must be an object/],
    [{ a: {} }, /_attachments\["a"\] must have data or stub/],
    [{ a: { stub: false } }, /_attachments\["a"\] must have data or stub/],
    [{ a: { stub: true, digest: 5 } }, /_attachments\["a"\].digest/],
    [{ a: { data: 5 } }, /_attachments\["a"\].data must be .*, got 5/],
    [{ a: { data: null } }, /got null/],
    [{ a: { data: ['x'] } }, /got an Array/],
    [{ a: { data: 'not base64!' } }, /_attachments\["a"\].data must be base64/],
    [{ a: { data: '', contentType: 5 } }, /contentType must be a string/],
    [{ a: { data: '', content_type: 'text/html' } }, /_attachments\["a"\] must use contentType, got 'content_type'/],
    [{ a: { stub: true, content_type: 'text/html' } }, /must use contentType/],
    [{ a: { data: '', contentType: 'text/html\r\nx: y' } }, /control characters/],
    [{ '': { data: '' } }, /must be a string that is not empty, got ''/],
    [{ _a: { data: '' } }, /must not start with '_'/],
  ]
  for (const [attachments, message] of wrong) {
    expect(() => checkAttachments(attachments), String(message)).toThrow(message)
    expect(() => checkAttachments(attachments)).toThrow(TypeError)
  }
})

test('limits', () => {
  const many = Object.fromEntries(
    Array.from({ length: ATTACHMENTS_PER_DOCUMENT_MAX + 1 }, (_, at) => [at, { data: '' }]),
  )
  expect(code(() => checkAttachments(many))).toBe('PANNIER_LIMIT_EXCEEDED')
  const name = 'ü'.repeat(ATTACHMENT_NAME_BYTES_MAX / 2)
  expect(checkAttachments({ [name]: { data: '' } })).toHaveLength(1)
  expect(code(() => checkAttachments({ [`${name}x`]: { data: '' } }))).toBe('PANNIER_KEY_TOO_LARGE')
})

function code(body: () => unknown): string | undefined {
  try {
    body()
  } catch (error) {
    if (isPannierError(error)) return error.code
    throw error
  }
  return undefined
}
