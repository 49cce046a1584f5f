/**
 * Attachments of documents that are records: each new one is a file of a file field, which asks of it what it asks of an upload. Its
 * type is that of its content.
 */
import { isObject } from 'pannier/internal'
import type { Definition } from '../../definitions/definition.ts'
import { checkFile, type FileField } from '../../fields/types/file.ts'
import { fieldError } from '../../fields/field-errors.ts'
import { fileFieldOf } from '../../files/record-content.ts'
import { HEAD_BYTES, typeOf } from '../../fields/file-types.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { FieldError, ServiceError } from '../../gateway/service-error.ts'
import { failed } from './write-errors.ts'

const NO_FIELD = fieldError('validation_unknown_file', 'No file field of the record names this attachment.')

/** Content whose beginning is known. */
interface Content {
  readonly head: Uint8Array
  /** The data: the whole content. It can be read once if it is a stream. */
  readonly data: Uint8Array | string | AsyncIterable<Uint8Array>
  /** Undefined: it shows when it is read. */
  readonly size: number | undefined
}

/** The document with attachments that its fields take; or why one is refused. What a stream brings beyond the limit fails the write. */
export async function withCheckedFiles(
  definition: Definition,
  document: JsonObject,
): Promise<JsonObject | ServiceError> {
  const { _attachments: attachments } = document
  if (!isObject(attachments)) return document
  const errors: Record<string, FieldError> = {}
  const checked: Record<string, unknown> = { ...attachments }
  for (const [name, attachment] of Object.entries(attachments)) {
    if (!isObject(attachment) || attachment['data'] === undefined) continue
    const field = fileFieldOf(definition, document, name)
    if (field === undefined) {
      errors[name] = NO_FIELD
      continue
    }
    const { head, data, size } = await contentOf(attachment['data'])
    const type = typeOf(head)
    const check = (bytes: number): FieldError | undefined =>
      checkFile(field, { name, originalName: name, type, size: bytes })
    const error = check(size ?? head.length)
    if (error !== undefined) errors[field.name] = error
    checked[name] = { ...attachment, contentType: type, data: size === undefined ? limited(data, field, check) : data }
  }
  if (Object.keys(errors).length > 0) return failed('update', errors)
  return { ...document, _attachments: checked }
}

/** A stream is looked into once, however often its document is prepared. */
const looked = new WeakMap<object, Promise<Content>>()

async function contentOf(data: unknown): Promise<Content> {
  if (typeof data === 'string')
    return { head: Buffer.from(data).subarray(0, HEAD_BYTES), data, size: Buffer.byteLength(data) }
  if (data instanceof Uint8Array) return { head: data.subarray(0, HEAD_BYTES), data, size: data.length }
  const stream = data as AsyncIterable<Uint8Array>
  const known = looked.get(stream) ?? lookInto(stream)
  looked.set(stream, known)
  return known
}

async function lookInto(stream: AsyncIterable<Uint8Array>): Promise<Content> {
  const pieces = stream[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let length = 0
  while (length < HEAD_BYTES) {
    const { done, value } = await pieces.next()
    if (done === true) break
    first.push(value)
    length += value.length
  }
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* first
      for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value
    } finally {
      await pieces.return?.()
    }
  }
  const content: Content = { head: Buffer.concat(first).subarray(0, HEAD_BYTES), data: whole(), size: undefined }
  looked.set(content.data as object, Promise.resolve(content))
  return content
}

async function* limited(
  pieces: Content['data'],
  { name }: FileField,
  check: (bytes: number) => FieldError | undefined,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of pieces as AsyncIterable<Uint8Array>) {
    bytes += piece.length
    const error = check(bytes)
    if (error !== undefined) throw failed('update', { [name]: error })
    yield piece
  }
}
