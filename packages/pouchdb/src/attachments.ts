/** Attachments on their way in and out: names, forms of content, and malformed base64. */
import { BINARY_FORM, binaryOf } from '#platform'
import type { JsonObject } from 'pannier'
import { BAD_ARG, createError } from 'pouchdb-errors'
import type { ContentOptions, PouchDocument } from './pouch.ts'

type Attachments = Record<string, JsonObject>

/** The library's option for reading attachments, if their content is asked for. */
export function contentForm({ attachments, binary }: ContentOptions): {
  readonly attachments?: 'base64' | 'bytes' | 'blob'
} {
  return attachments === true ? { attachments: binary === true ? BINARY_FORM : 'base64' } : {}
}

/** `_attachments` as the library takes them. @throws PouchDB's error for data that is not base64 */
export function attachmentsIn(given: unknown): Attachments {
  const entries = Object.entries(given as Attachments).map(([name, attachment]): [string, JsonObject] => {
    const { content_type: contentType, data, stub, digest, revpos } = attachment
    if (data === undefined && stub) return [name, { stub: true, ...(digest !== undefined && { digest }) }]
    if (typeof data === 'string' && !isBase64(data))
      throw createError(BAD_ARG, 'Attachment is not a valid base64 string')
    const isReplicated = digest !== undefined && revpos !== undefined
    return [name, { data, ...(contentType ? { contentType } : {}), ...(isReplicated && { revpos }) }]
  })
  return Object.fromEntries(entries)
}

function isBase64(text: string): boolean {
  try {
    atob(text)
    return true
  } catch {
    return false
  }
}

/** Stubs as the feed and lists of PouchDB show them. Changes the document. */
export function markStubs(document: PouchDocument): void {
  for (const attachment of attachmentsOf(document)) attachment['stub'] = true
}

/** Attachments that were read with their content, as PouchDB hands them out. Changes the document. */
export function finishContents(document: PouchDocument, { binary }: ContentOptions): void {
  for (const attachment of attachmentsOf(document)) {
    delete attachment['length']
    delete attachment['stub']
    if (binary === true) attachment['data'] = binaryOf(attachment['data'], attachment['content_type'])
  }
}

/** By name; undefined if the document has no attachments. */
export function contentsOf({
  _attachments: attachments,
}: PouchDocument): Readonly<Record<string, unknown>> | undefined {
  if (attachments === undefined) return undefined
  return Object.fromEntries(Object.entries(attachments as Attachments).map(([name, { data }]) => [name, data]))
}

function attachmentsOf({ _attachments: attachments }: PouchDocument): JsonObject[] {
  return attachments === undefined ? [] : Object.values(attachments as Attachments)
}
