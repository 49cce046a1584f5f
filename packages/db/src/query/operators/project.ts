/** The fields of a row that the caller gets, and how to read a field of each kind of row. */
import { readField } from '../../codec/decode-document.ts'
import { compileFieldPath, defineField, fieldNames } from '../../codec/field-path.ts'
import { attachmentStubs } from '../../document/attachments/attachment-section.ts'
import type { BodyView } from '../../document/body.ts'
import type { DocumentReader } from '../../document/document-reader.ts'
import type { ReadField } from '../match.ts'
import { CREATED, type AccessPath } from '../planner/access-path.ts'
import type { EntryRow } from './operator.ts'

export function bodyFields(documents: DocumentReader): (path: string) => ReadField<BodyView> {
  const { shapes } = documents.collection
  return (path) => {
    if (path === '_id') return (body) => body.id
    if (path === '_rev') return (body) => body.revision
    if (path === CREATED) return (body) => body.number
    if (path === '_attachments') return ({ attachments }) => attachments && attachmentStubs(attachments)
    const compiled = compileFieldPath(path)
    return (body) => readField(body.bytes, body.contentStart, body.contentEnd, shapes, compiled)
  }
}

export function entryFields({ fields }: AccessPath): (path: string) => ReadField<EntryRow> {
  return (path) => {
    if (path === CREATED) return ({ number }) => number
    const at = fields.findIndex((field) => field.path === path)
    return ({ values }) => values![at]
  }
}

/** An object of exactly these fields, as far as they are there; a dotted path makes objects inside it. */
export function compileProjection<Row>(
  paths: readonly string[],
  reader: (path: string) => ReadField<Row>,
): (row: Row) => object {
  const fields = paths.map((path) => ({ names: fieldNames(path), read: reader(path) }))
  return (row) => {
    const projected = {}
    for (const { names, read } of fields) {
      const value = read(row)
      if (value !== undefined) setField(projected, names, value)
    }
    return projected
  }
}

/** Makes objects inside it as far as they are needed. */
export function setField(target: Record<string, unknown>, names: readonly string[], value: unknown): void {
  const name = names[0]!
  const inner = names.length === 1 ? value : Object.hasOwn(target, name) ? target[name] : {}
  if (name === '__proto__') defineField(target, name, inner)
  else target[name] = inner
  if (names.length > 1) setField(inner as Record<string, unknown>, names.slice(1), value)
}
