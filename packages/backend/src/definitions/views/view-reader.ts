/** Reads views: once for all that wait, and again only when something that a view reads has changed. */
import type { Environment } from 'pannier/types'
import type { JsonObject } from '../../gateway/documents.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import type { ViewDefinition } from '../definition.ts'
import { documentMaker } from './view-documents.ts'
import { SqlRefusal, type TextRows } from './view-queries.ts'

/** A query that can be run. */
interface ReadyQuery {
  /** Its rows may change by themselves. */
  readonly isVolatile: boolean
}

/** Runs queries of views. */
interface ViewSource<Ready extends ReadyQuery> {
  /** The same for as long as no definition changes. @throws SqlRefusal */
  ready(view: ViewDefinition): Promise<Ready>
  /** Waits for a commit. `changedAt`: the newest one that has changed what is read. */
  upTo(ready: Ready, sequence: number): Promise<{ readonly at: number; readonly changedAt: number }>
  /** @throws SqlRefusal */
  rows(ready: Ready, sequence: number): Promise<TextRows>
}

export interface ViewRows {
  /**
   * In the form of documents, at a commit or a later one. Never change them.
   *
   * @throws ServiceError INVALID if the query no longer fits what it reads
   */
  rows(view: ViewDefinition, sequence: number): Promise<readonly JsonObject[]>
}

interface KnownRows {
  readonly ready: ReadyQuery
  /** The commit that they have at least. */
  readonly at: number
  readonly rows: Promise<readonly JsonObject[]>
  isRunning: boolean
}

/** A view with more rows is read again for each request. */
const KNOWN_ROWS_MAX = 100_000
const SLICE_ROWS = 1000

export class ViewReader<Ready extends ReadyQuery> implements ViewRows {
  readonly #source: ViewSource<Ready>
  readonly #environment: Environment
  readonly #known = new Map<string, KnownRows>()

  constructor(source: ViewSource<Ready>, environment: Environment) {
    this.#source = source
    this.#environment = environment
  }

  async rows(view: ViewDefinition, sequence: number): Promise<readonly JsonObject[]> {
    try {
      const ready = await this.#source.ready(view)
      for (;;) {
        const { at, changedAt } = await this.#source.upTo(ready, sequence)
        const known = this.#known.get(view.id)
        const isCurrent = known?.ready === ready && known.at >= changedAt
        if (isCurrent && (known.isRunning || !ready.isVolatile)) return await known.rows
        if (known?.isRunning === true) await known.rows.catch(() => {})
        else return await this.#start(view, ready, at)
      }
    } catch (error) {
      throw error instanceof SqlRefusal ? new ServiceError('INVALID', '', { cause: error }) : error
    }
  }

  #start(view: ViewDefinition, ready: Ready, at: number): Promise<readonly JsonObject[]> {
    const forget = (): void => {
      if (this.#known.get(view.id) === made) this.#known.delete(view.id)
    }
    const made: KnownRows = {
      ready,
      at,
      isRunning: true,
      rows: this.#read(view, ready, at)
        .then((rows) => {
          if (rows.length > KNOWN_ROWS_MAX) forget()
          return rows
        })
        .catch((error: unknown) => {
          forget()
          throw error
        })
        .finally(() => (made.isRunning = false)),
    }
    this.#known.set(view.id, made)
    return made.rows
  }

  async #read(view: ViewDefinition, ready: Ready, at: number): Promise<readonly JsonObject[]> {
    const { columns, rows } = await this.#source.rows(ready, at)
    const make = documentMaker(view, columns)
    const documents: JsonObject[] = []
    for (const [place, row] of rows.entries()) {
      if ((place + 1) % SLICE_ROWS === 0) await this.#environment.yield()
      documents.push(make(row))
    }
    return documents
  }
}
