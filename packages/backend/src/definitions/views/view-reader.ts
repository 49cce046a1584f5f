/** Reads views: from one state of the database, and again only when something that a view reads has changed. */
import type { TransactionCollection } from 'pannier'
import type { JsonObject } from '../../gateway/documents.ts'
import { invalid } from '../../gateway/service-error.ts'
import { recordsName, type Definition, type ViewDefinition } from '../definition.ts'
import { SqlError } from '../sql/tokens.ts'
import { collectionsOf, rowsOf } from './view-rows.ts'

/** Reads one state of the database. */
interface ViewSource {
  collection(name: string): Pick<TransactionCollection<JsonObject>, 'find' | 'info'>
}

interface KnownRows {
  /** What they were made with. */
  readonly all: readonly Definition[]
  readonly sequences: string
  readonly rows: readonly JsonObject[]
}

/** A view with more rows is made again for each request. */
const KNOWN_ROWS_MAX = 100_000

export class ViewReader {
  readonly #definitions: { all(): readonly Definition[] }
  readonly #known = new Map<string, KnownRows>()

  constructor(definitions: { all(): readonly Definition[] }) {
    this.#definitions = definitions
  }

  /** In the form of documents. Never change them. @throws ServiceError INVALID if the query no longer fits what it reads */
  async rows(view: ViewDefinition, source: ViewSource): Promise<readonly JsonObject[]> {
    const all = this.#definitions.all()
    const collections = this.#attempt(() => collectionsOf(view, all))
    const infos = await Promise.all(Array.from(collections, (one) => source.collection(recordsName(one)).info()))
    const sequences = JSON.stringify(infos.map(({ epoch, lastSeq }) => [epoch, lastSeq]))
    const known = this.#known.get(view.id)
    if (known?.all === all && known.sequences === sequences) return known.rows
    const documents = new Map<Definition, readonly JsonObject[]>()
    for (const one of collections)
      documents.set(one, await source.collection(recordsName(one)).find({}).sort('$created').toArray())
    const rows = this.#attempt(() => rowsOf(view, all, (one) => documents.get(one)!))
    this.#known.delete(view.id)
    if (rows.length <= KNOWN_ROWS_MAX) this.#known.set(view.id, { all, sequences, rows })
    return rows
  }

  #attempt<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      throw error instanceof SqlError ? invalid('') : error
    }
  }
}
