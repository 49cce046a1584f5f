/** All documents, in the order in which they were written. */
import type { BodyView } from '../../document/body.ts'
import type { DocumentCursor, DocumentReader } from '../../document/document-reader.ts'
import { STEP_ROWS_MAX, type Operator } from './operator.ts'

export class FullScanOperator<Row> implements Operator<Row> {
  private readonly documents: DocumentReader
  private readonly read: (body: BodyView) => Row | undefined
  private cursor: DocumentCursor | undefined
  private ended = false
  private rows: Row[] = []

  /** `read` gives the row of a document; undefined: it has none. */
  constructor(documents: DocumentReader, read: (body: BodyView) => Row | undefined) {
    this.documents = documents
    this.read = read
  }

  next(count: number): Row[] | undefined {
    this.cursor ??= this.documents.scan()
    const { cursor, read } = this
    for (let looked = 0; looked < STEP_ROWS_MAX && this.rows.length < count && !this.ended; looked++) {
      if (!cursor.next()) this.ended = true
      else {
        const row = read(cursor.body)
        if (row !== undefined) this.rows.push(row)
      }
    }
    const { rows } = this
    if (rows.length === 0 && this.ended) return undefined
    this.rows = []
    return rows
  }
}
