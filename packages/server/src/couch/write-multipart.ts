/**
 * Answers in parts: a document with its attachments (multipart/related), or several revisions of one (multipart/mixed).
 */
import { contentDisposition } from '../http/content-disposition.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { lackingAttachments, openAttachment, stubsOf } from './attachment-content.ts'

type Part = string | Uint8Array

/**
 * A document, then each attachment that is newer than `generation`, in the order of `_attachments`, where it `follows`; the others
 * are stubs.
 */
export async function* relatedParts(
  collection: GuardedCollection,
  document: JsonObject,
  generation: number,
  boundary: string,
): AsyncGenerator<Part> {
  const names = lackingAttachments(document, generation)
  const opened = []
  for (const name of names) opened.push(await openAttachment(collection, document, name))
  yield `--${boundary}\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(following(document, names))}`
  for (const attachment of opened) {
    const { name, contentType, length } = attachment
    yield (
      `\r\n--${boundary}\r\nContent-Disposition: ${contentDisposition(name)}\r\nContent-Type: ${contentType}\r\n` +
        `Content-Length: ${length}\r\n\r\n`
    )
    yield* attachment.stream() as AsyncIterable<Uint8Array>
  }
  yield `\r\n--${boundary}--`
}

/** A part of multipart/mixed: a document, or why it is missing. */
export type MixedResult = { readonly ok: JsonObject } | { readonly missing: string } | { readonly error: JsonObject }

/** Documents with attachments are multipart/related themselves. */
export async function* mixedParts(
  collection: GuardedCollection,
  results: Iterable<MixedResult> | AsyncIterable<MixedResult>,
  generationOf: (document: JsonObject) => number,
  boundary: string,
): AsyncGenerator<Part> {
  for await (const result of results) {
    yield `--${boundary}\r\n`
    if (!('ok' in result)) {
      const why = 'error' in result ? result.error : result
      yield `Content-Type: application/json; error="true"\r\n\r\n${JSON.stringify(why)}\r\n`
      continue
    }
    const { ok } = result
    const generation = generationOf(ok)
    if (lackingAttachments(ok, generation).length === 0) {
      yield `Content-Type: application/json\r\n\r\n${JSON.stringify(ok)}\r\n`
      continue
    }
    const inner = `related${boundary}`
    yield `Content-Type: multipart/related; boundary="${inner}"\r\n\r\n`
    yield* relatedParts(collection, ok, generation, inner)
    yield '\r\n'
  }
  yield `--${boundary}--`
}

function following(document: JsonObject, names: readonly string[]): JsonObject {
  const attachments: JsonObject = { ...stubsOf(document) }
  for (const name of names) {
    const { stub: _, ...rest } = stubsOf(document)![name]!
    attachments[name] = { ...rest, follows: true }
  }
  return { ...document, _attachments: attachments }
}
