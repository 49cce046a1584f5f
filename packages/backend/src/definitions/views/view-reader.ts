/** Reads views: from one state of the database, and again only when something that a view reads has changed. */
import type { TransactionCollection } from 'pannier'
import type { Environment } from 'pannier/types'
import type { JsonObject } from '../../gateway/documents.ts'
import { invalid } from '../../gateway/service-error.ts'
import { recordsName, type Definition, type ViewDefinition } from '../definition.ts'
import { SqlError } from '../sql/tokens.ts'
import { inTurns } from './steps.ts'
import { collectionsOf, rowsOf } from './view-rows.ts'

/** Reads one state of the database. */
interface ViewSource {
  collection(name: string): Pick<TransactionCollection<JsonObject>, 'find' | 'info'>
}

interface KnownRows {
  /** What they were made with. */
  readonly all: readonly Definition[]
  readonly sequences: string
  /** Those who ask at the same time wait for the same rows. */
  readonly rows: Promise<readonly JsonObject[]>
}

/** A view with more rows is made again for each request. */
const KNOWN_ROWS_MAX = 100_000

/** @throws ServiceError INVALID if the query no longer fits what it reads */
async function attempt<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof SqlError ? invalid('') : error
  }
}

export class ViewReader {
  readonly #definitions: { all(): readonly Definition[] }
  readonly #environment: Environment
  readonly #known = new Map<string, KnownRows>()

  constructor(definitions: { all(): readonly Definition[] }, environment: Environment) {
    this.#definitions = definitions
    this.#environment = environment
  }

  /** In the form of documents. Never change them. @throws ServiceError INVALID if the query no longer fits what it reads */
  async rows(view: ViewDefinition, source: ViewSource): Promise<readonly JsonObject[]> {
    const all = this.#definitions.all()
    const collections = await attempt(() => collectionsOf(view, all))
    const infos = await Promise.all(Array.from(collections, (one) => source.collection(recordsName(one)).info()))
    const sequences = JSON.stringify(infos.map(({ epoch, lastSeq }) => [epoch, lastSeq]))
    const known = this.#known.get(view.id)
    if (known?.all === all && known.sequences === sequences) return known.rows
    const made = { all, sequences, rows: this.#made(view, all, collections, source) }
    this.#known.set(view.id, made)
    const forget = (): void => {
      if (this.#known.get(view.id) === made) this.#known.delete(view.id)
    }
    const rows = await made.rows.catch((error: unknown) => {
      forget()
      throw error
    })
    if (rows.length > KNOWN_ROWS_MAX) forget()
    return rows
  }

  async #made(
    view: ViewDefinition,
    all: readonly Definition[],
    collections: ReadonlySet<Definition>,
    source: ViewSource,
  ): Promise<readonly JsonObject[]> {
    const documents = new Map<Definition, readonly JsonObject[]>()
    for (const one of collections)
      documents.set(one, await source.collection(recordsName(one)).find({}).sort('$created').toArray())
    return attempt(() =>
      inTurns(
        this.#environment,
        rowsOf(view, all, (one) => documents.get(one)!),
      ),
    )
  }
}
