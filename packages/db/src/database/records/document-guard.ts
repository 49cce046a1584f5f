/**
 * Guards judge writes inside the transaction that writes. Nobody writes between the judgement and the write.
 * docs/internals/life-of-a-write.md is the contract.
 */
import type { PannierError } from '../../base/errors.ts'
import { together } from '../../base/miss.ts'
import { decodeDocument } from '../../codec/decode-document.ts'
import type { ShapeDictionary } from '../../codec/shape.ts'
import type { Catalog } from '../../document/catalog.ts'
import { GuardReader } from './guard-reader.ts'
import { DocumentReader, type StoredDocument } from '../../document/document-reader.ts'
import type { DocumentWrite } from '../../document/document-write.ts'
import type { WriteContext } from '../../document/write-documents.ts'

/** A document as it will be stored, without `_rev` and `_attachments`. A tombstone has `_deleted`. */
type NewDocument = { _id: string; _deleted?: true } & Record<string, unknown>

/** A write of one document, as a guard sees it. */
interface DocumentBeforeWrite {
  /** The place of the document in the batch; in a delete or update, among those that are there and change. */
  readonly position: number
  /** The id of the document. */
  readonly id: string
  /** The sequence of the document's last change, a deletion too; 0: it is new. */
  readonly sequence: number
  /** Documents of all collections. */
  readonly reader: GuardReader
  /** The document as it is; undefined if it is new or deleted. */
  old(): StoredDocument | undefined
  /** The document as it will be. */
  document(): NewDocument
}

/**
 * Gives why a document is refused. It is asked about each document of a batch before anything is changed. It must be
 * synchronous and do nothing else, as it may be asked again about the same document.
 */
export type DocumentGuard = (document: DocumentBeforeWrite) => PannierError | undefined

/** Asks the guard about each document of a batch that can be written at all. */
export function judgeBy(guard: DocumentGuard, catalog: Catalog): NonNullable<WriteContext['judge']> {
  return (transaction, state, { writes, shapes }) => {
    const reader = new GuardReader(transaction, catalog)
    const documents = state && new DocumentReader(transaction, state)
    const errors = together(writes, (write, position) => {
      const { id, old: body } = write
      const old = (): StoredDocument | undefined =>
        documents === undefined || body === undefined || body.deleted ? undefined : documents.decode(body)
      const document = (): NewDocument => newDocument(write, shapes)
      return write.error ?? guard({ position, id, sequence: body?.sequence ?? 0, reader, old, document })
    })
    const refused = new Map<DocumentWrite, PannierError>()
    writes.forEach((write, at) => {
      const error = errors[at]
      if (error !== undefined) refused.set(write, error)
    })
    return refused
  }
}

function newDocument(write: DocumentWrite, shapes: ShapeDictionary): NewDocument {
  const { id, deleted, bytes, contentStart, contentEnd } = write
  const document: NewDocument = { _id: id }
  if (deleted) document._deleted = true
  if (contentStart === contentEnd) return document
  return decodeDocument(bytes, contentStart, contentEnd, shapes, document) as NewDocument
}
