/** Documents by ranges of ids. */
import type { DocumentReader } from '../../document/document-reader.ts'
import { decodeIdKey } from '../../codec/key-encoding.ts'
import type { AccessPath } from '../planner/access-path.ts'
import type { EntryRow } from './entry-row.ts'
import { keyScan } from './key-scan.ts'
import type { Operator } from './operator.ts'

export interface IdScanOptions {
  readonly reverse: boolean
  readonly skip: number
  /** The rows carry the id. */
  readonly withId: boolean
}

export function idScan(documents: DocumentReader, access: AccessPath, options: IdScanOptions): Operator<EntryRow> {
  const { reverse, skip, withId } = options
  return keyScan(access, {
    cursor: (range, cursorOptions) => documents.ids(range, cursorOptions),
    reverse,
    skip,
    read: (cursor) => ({
      number: documents.numberAt(cursor),
      values: withId ? [decodeIdKey(cursor.key)] : undefined,
    }),
  })
}
