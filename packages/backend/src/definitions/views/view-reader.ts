/** Reads views: once for all that wait, and again only when something that a view reads has changed. */
import type { Environment } from 'pannier/types'
import type { JsonObject } from '../../gateway/documents.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import type { ViewDefinition } from '../definition.ts'
import { QueryResults, type QuerySource, type ReadyQuery } from './query-results.ts'
import { documentMaker } from './view-documents.ts'
import { SqlRefusal, type TextRows } from './view-queries.ts'

/** Runs queries of views. */
interface ViewSource<Ready extends ReadyQuery> extends QuerySource<Ready> {
  /** Makes a view ready. The result stays the same until a definition changes. @throws SqlRefusal */
  ready(view: ViewDefinition): Promise<Ready>
  /** @throws SqlRefusal */
  rows(ready: Ready, sequence: number): Promise<TextRows>
  /** Undefined: its rows are not kept. */
  page(ready: Ready, wanted: PageWanted, sequence: number): Promise<(TextRows & RowsTotal) | undefined>
}

/** A column of a list's order. */
export interface OrderColumn {
  readonly name: string
  readonly kind: 'text' | 'number' | 'json'
  readonly descending: boolean
}

export interface PageWanted {
  /** Rows that agree in it are sorted by id. */
  readonly order: readonly OrderColumn[]
  readonly skip: number
  readonly limit: number
  readonly withTotal: boolean
}

interface RowsTotal {
  /** Undefined if it is not wanted. */
  readonly total: number | undefined
}

export interface ViewRows {
  /**
   * In the form of documents, at a commit or a later one. Never change them.
   *
   * @throws ServiceError INVALID if the query no longer fits what it reads
   */
  rows(view: ViewDefinition, sequence: number): Promise<readonly JsonObject[]>
  /** As `rows`, of one page. Undefined: all rows have to be read for it. */
  page(
    view: ViewDefinition,
    wanted: PageWanted,
    sequence: number,
  ): Promise<({ readonly documents: readonly JsonObject[] } & RowsTotal) | undefined>
}

/** A view with more rows is read again for each request. */
const KNOWN_ROWS_MAX = 100_000
const SLICE_ROWS = 1000

export class ViewReader<Ready extends ReadyQuery> implements ViewRows {
  readonly #source: ViewSource<Ready>
  readonly #environment: Environment
  readonly #results: QueryResults<Ready, readonly JsonObject[]>

  constructor(source: ViewSource<Ready>, environment: Environment) {
    this.#source = source
    this.#environment = environment
    this.#results = new QueryResults(source, ({ length }) => (length > KNOWN_ROWS_MAX ? Infinity : 0))
  }

  async rows(view: ViewDefinition, sequence: number): Promise<readonly JsonObject[]> {
    return this.#reading(view, async (ready) => {
      const read = (at: number): Promise<readonly JsonObject[]> => this.#read(view, ready, at)
      return (await this.#results.get(view.id, ready, read, sequence)).result
    })
  }

  page: ViewRows['page'] = (view, wanted, sequence) =>
    this.#reading(view, async (ready) => {
      const page = await this.#source.page(ready, wanted, sequence)
      return page && { documents: page.rows.map(documentMaker(view, page.columns)), total: page.total }
    })

  async #reading<T>(view: ViewDefinition, read: (ready: Ready) => Promise<T>): Promise<T> {
    try {
      return await read(await this.#source.ready(view))
    } catch (error) {
      throw error instanceof SqlRefusal ? new ServiceError('INVALID', '', { cause: error }) : error
    }
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
