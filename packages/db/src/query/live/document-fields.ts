/** Reads fields of decoded documents as bodyFields (operators/project.ts) reads those of encoded ones. */
import { compileFieldPath, getField } from '../../codec/field-path.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import type { ReadField } from '../match.ts'

/** Names that documents have beside their content. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['_id', '_rev', '_attachments'])

export function documentFields(path: string): ReadField<StoredDocument> {
  if (OWN_FIELDS.has(path)) return (document) => document[path]
  const compiled = compileFieldPath(path)
  // What lies inside them is no content.
  if (OWN_FIELDS.has(compiled.names[0]!)) return () => undefined
  return (document) => getField(document, compiled)
}
