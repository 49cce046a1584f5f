/** The rows of a live query that follows relations: as they were read last. A commit that may change them has them read again. */
import { compileProjection } from '../operators/project.ts'
import { documentFields } from '../match.ts'
import type { QueryRun } from '../query-run.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import { isSame } from './held-rows.ts'
import type { LiveView } from './live-types.ts'
import { readWindow } from './read-rows.ts'

export class HeldWindow {
  #view: LiveView = { ids: [], rows: [] }

  /** Reads; the function returned takes in what was found. A row that did not change stays the same object. */
  async read({ source, query, populate }: QueryRun): Promise<() => void> {
    const documents = await readWindow(source, query)
    const { fields } = query
    const rows =
      fields === undefined ? documents : documents.map(compileProjection<StoredDocument>(fields, documentFields))
    const ids = documents.map(({ _id }) => _id)
    await populate?.(rows)
    return () => {
      const former = new Map(this.#view.ids.map((id, at) => [id, this.#view.rows[at]]))
      const kept = rows.map((row, at) => {
        const held = former.get(ids[at]!)
        return held !== undefined && isSame(held, row) ? held : row
      })
      this.#view = { ids, rows: kept }
    }
  }

  /** No change is taken in by itself: each has the rows read again. */
  apply(changes: ReadonlyMap<string, unknown>): boolean {
    return changes.size === 0
  }

  forget(): void {
    this.#view = { ids: [], rows: [] }
  }

  view(): LiveView {
    return this.#view
  }
}
