/** `bulkDocs`, `put` and `post` without PouchDB's copies of documents. They are PouchDB's in all else. */
import { isObject } from 'pannier/internal'
import {
  BAD_REQUEST,
  createError,
  INVALID_REV,
  MISSING_BULK_DOCS,
  NOT_AN_OBJECT,
  type PouchError,
} from 'pouchdb-errors'
import { guardedConsole, invalidIdError } from 'pouchdb-utils'
import type { JsonObject } from 'pannier'
import { isLocal } from './documents.ts'
import { replaceMethod } from './methods.ts'
import type { BulkRequest, Pouch, PouchDocument, WriteAnswer, WriteOptions } from './pouch.ts'

/** PouchDB's own check of a revision. */
const REVISION = /^\d+-[^-]*$/

export function replaceFronts(api: Pouch): void {
  replaceMethod(api, 'bulkDocs', (request: BulkRequest | readonly PouchDocument[], options?: WriteOptions) =>
    bulkDocs(api, request, options ?? {}),
  )
  replaceMethod(api, 'post', (document: PouchDocument, options?: WriteOptions) => writeOne(api, document, options))
  const { put } = api
  replaceMethod(api, 'put', async (document: PouchDocument, options?: WriteOptions) => {
    checkDocument(document)
    invalidIdError(document['_id'])
    checkRevision(document)
    return isLocal(document['_id']) || options?.force ? put(document, options ?? {}) : writeOne(api, document, options)
  })
}

async function bulkDocs(
  api: Pouch,
  given: BulkRequest | readonly PouchDocument[],
  options: WriteOptions,
): Promise<WriteAnswer[]> {
  const request = isList(given) ? { docs: given } : given
  if (!isList(request?.docs)) throw createError(MISSING_BULK_DOCS)
  const docs = request.docs.map((document) => {
    checkDocument(document)
    checkRevision(document)
    return withoutDeletedContent(document)
  })
  for (const document of docs) checkAttachments(document)
  const newEdits = options.new_edits ?? request.new_edits ?? true
  // PouchDB takes the revisions of one document in the order of their generations.
  if (!newEdits) docs.sort(byIdAndGeneration)
  const answers = await new Promise<WriteAnswer[]>((resolve, reject) => {
    api._bulkDocs({ docs }, { ...options, new_edits: newEdits }, (error, result) =>
      error ? reject(error as Error) : resolve(result!),
    )
  })
  for (const [at, answer] of answers.entries()) answer.id ??= docs[at]!['_id']
  return newEdits ? answers : answers.filter(({ error }) => error)
}

/** By the name of `bulkDocs`: plug-ins that encrypt or transform documents put their own in its place. */
async function writeOne(api: Pouch, document: PouchDocument, options: WriteOptions = {}): Promise<WriteAnswer> {
  checkDocument(document)
  const answers = await api.bulkDocs({ docs: [document] }, options)
  const [answer = answers as WriteAnswer] = answers
  if (answer.error) throw Object.assign(answer as PouchError, { docId: document['_id'] })
  return answer
}

function isList(value: unknown): value is readonly PouchDocument[] {
  return Array.isArray(value)
}

function checkDocument(document: unknown): void {
  if (!isObject(document)) throw createError(NOT_AN_OBJECT)
}

function checkRevision({ _rev: rev }: PouchDocument): void {
  if (rev !== undefined && (typeof rev !== 'string' || !REVISION.test(rev))) throw createError(INVALID_REV)
}

function checkAttachments({ _id: id, _attachments: attachments }: PouchDocument): void {
  for (const [name, attachment] of Object.entries((attachments ?? {}) as Record<string, JsonObject>)) {
    if (name.startsWith('_'))
      throw createError(BAD_REQUEST, `${name} is not a valid attachment name, attachment names cannot start with '_'`)
    if (!attachment['content_type'])
      guardedConsole('warn', 'Attachment', name, 'on document', id, 'is missing content_type')
  }
}

/** A tombstone has no attachments. */
function withoutDeletedContent(document: PouchDocument): PouchDocument {
  if (!document['_deleted'] || document['_attachments'] === undefined) return document
  const { _attachments: _, ...rest } = document
  return rest
}

function byIdAndGeneration(left: PouchDocument, right: PouchDocument): number {
  if (left['_id'] === right['_id']) return generationIn(left) - generationIn(right)
  return String(left['_id']) < String(right['_id']) ? -1 : 1
}

function generationIn({ _revisions: revisions }: PouchDocument): number {
  return (revisions as { readonly start?: number } | undefined)?.start ?? 0
}
