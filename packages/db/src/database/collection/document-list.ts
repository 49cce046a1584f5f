/** Lists of documents for callers. The code that reads them is loaded on first use. */
import { badArgument, checkCount, checkOptions, type OptionNames } from '../../base/options.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { idKeyRange, type IdRange } from '../../document/document-id.ts'
import type * as Reading from '../../document/list-documents.ts'
import type { ListPage, ListRequest } from '../../document/list-documents.ts'
import type { CollectionAccess } from './collection-access.ts'

/** Where a list begins and ends, in the order of ids: by code point. */
export interface ListOptions extends IdRange {
  /** Whether it is descending: from the last id to the first. */
  readonly descending?: boolean
  /** Skips this number of rows at the start, without a walk. */
  readonly skip?: number
  /** The highest number of rows. */
  readonly limit?: number
  /** Rows have the document. */
  readonly docs?: boolean
  /** With `docs`: a document that has other live leaf revisions lists them in `_conflicts`. */
  readonly conflicts?: boolean
}

/** The documents with these ids, in this order, instead of a range. */
export interface ListIdsOptions extends Omit<ListOptions, keyof IdRange> {
  /** The ids, in the order of the rows. An id may occur more than once. */
  readonly ids: readonly string[]
}

const LIST_OPTIONS: OptionNames<ListOptions | ListIdsOptions> = {
  gte: true,
  gt: true,
  lte: true,
  lt: true,
  prefix: true,
  ids: true,
  descending: true,
  skip: true,
  limit: true,
  docs: true,
  conflicts: true,
}

/**
 * A list of documents. Nothing is read before it is asked for; each answer comes from one snapshot.
 *
 * @example
 * const { total, offset, rows } = await people.list({ prefix: 'a', skip: 1000, limit: 20, docs: true }).page()
 * for await (const { id, rev } of people.list()) console.log(id, rev) // any number of rows, a few at a time
 */
export class DocumentList<Row> implements AsyncIterable<Row> {
  readonly #access: CollectionAccess
  readonly #request: ListRequest

  /** @internal Use `collection.list`. */
  constructor(access: CollectionAccess, request: ListRequest) {
    this.#access = access
    this.#request = request
  }

  /**
   * The rows, with the number of all documents, how many of them come before, and the sequence number it is as of.
   *
   * @example
   * const { total, rows } = await people.list({ prefix: 'a', limit: 20 }).page()
   */
  page(): Promise<ListPage<Row>> {
    return this.#access.pending(this.#readPage())
  }

  /**
   * All rows, as an array.
   *
   * @example
   * const rows = await people.list({ ids: ['ann', 'bob'] }).toArray()
   */
  async toArray(): Promise<Row[]> {
    return (await this.page()).rows
  }

  /** Rows as they are read, from one snapshot, which is held until the loop ends or is left. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    const { eachRow } = await this.#load()
    yield* eachRow(await this.#access.openSource(), this.#request) as AsyncGenerator<Row, void, undefined>
  }

  async #readPage(): Promise<ListPage<Row>> {
    const { readPage } = await this.#load()
    return (await readPage(await this.#access.openSource(), this.#request)) as ListPage<Row>
  }

  #load(): Promise<typeof Reading> {
    return loadedModule(import('../../document/list-documents.ts'))
  }
}

/** Checks the options: a TypeError tells what is wrong with them. */
export function listRequest(options: ListOptions | ListIdsOptions): ListRequest {
  checkOptions('list()', options, LIST_OPTIONS)
  const { descending = false, skip = 0, limit = Infinity, docs = false, conflicts = false } = options
  const { ids, ...bounds } = options as ListOptions & Partial<ListIdsOptions>
  checkCount('list()', 'skip', skip)
  if (limit !== Infinity) checkCount('list()', 'limit', limit)
  const named = BOUNDS.filter((name) => bounds[name] !== undefined)
  for (const name of named)
    if (typeof bounds[name] !== 'string') throw badArgument('list()', `${name} must be an id`, bounds[name])
  if (ids !== undefined) {
    if (!Array.isArray(ids) || ids.some((id) => typeof id !== 'string'))
      throw badArgument('list()', 'ids must be an array of ids', ids)
    if (named.length > 0) throw badArgument('list()', 'ids must be given without a range', named.join())
  }
  return { range: idKeyRange(bounds), ids: ids && [...ids], descending, skip, limit, docs, conflicts }
}

const BOUNDS: readonly (keyof IdRange)[] = ['gte', 'gt', 'lte', 'lt', 'prefix']
