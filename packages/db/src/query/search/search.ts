/** A search for words: an immutable value, with methods that answer it, like `Query`. */
import { throwIfCancelled } from '../../base/long-work.ts'
import { checkedCount, checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { checkFieldPaths, outermostPaths } from '../../codec/field-path.ts'
import type { FieldPath, Projected, Selector } from '../field-types.ts'
import { openFor, ownCondition, type OpenSource, type QueryRelations } from '../query-run.ts'
import type { QuerySource } from '../query-source.ts'
import type { SearchRun } from './run-search.ts'
import type { ScoredRow, SearchExplanation, SearchOptions, SearchSpecification } from './search-specification.ts'

const SEARCH_OPTIONS: OptionNames<SearchOptions<object>> = { selector: true, match: true, index: true }

/** Creates a search. Throws a TypeError for wrong arguments. */
export function createSearch<T extends object, Document extends object>(
  open: OpenSource,
  text: string,
  options: SearchOptions<Document>,
  relations: QueryRelations | undefined,
): SearchQuery<T, Document> {
  checkOptions('search()', options, SEARCH_OPTIONS)
  const { selector = {} as Selector<Document>, match = 'all', index } = options
  if (typeof text !== 'string') throw badArgument('search()', 'text must be a string', text)
  if (match !== 'all' && match !== 'any') throw badArgument('search()', "match must be 'all' or 'any'", match)
  const condition = ownCondition('search()', selector, {}, relations)
  const specification = { text, index, match, condition, skip: 0, limit: Infinity, fields: undefined }
  return new SearchQuery<T, Document>(openFor(condition, open), specification, undefined)
}

/** Rows come best first. `T`: the rows; `Document`: the documents behind them. */
export class SearchQuery<T extends object, Document extends object = T> implements AsyncIterable<T> {
  readonly #open: OpenSource
  readonly #specification: SearchSpecification
  readonly #abortSignal: AbortSignal | undefined

  /** @internal Use `collection.search`. */
  constructor(open: OpenSource, specification: SearchSpecification, abortSignal: AbortSignal | undefined) {
    this.#open = open
    this.#specification = specification
    this.#abortSignal = abortSignal
  }

  /**
   * Skips this number of rows at the start.
   *
   * @example
   * await search.skip(20).limit(10).toArray()
   */
  skip(rows: number): SearchQuery<T, Document> {
    return this.#with<T>({ skip: checkedCount(rows, 'skip') })
  }

  /**
   * The highest number of rows.
   *
   * @example
   * await search.limit(10).toArray()
   */
  limit(rows: number): SearchQuery<T, Document> {
    return this.#with<T>({ limit: checkedCount(rows, 'limit') })
  }

  /**
   * Exactly these fields of each document, as `Query.fields`.
   *
   * @example
   * const names = await search.fields('name').toArray()
   */
  fields<Path extends FieldPath<Document>>(
    ...paths: Path[]
  ): SearchQuery<Projected<Document, Path> & object, Document> {
    return this.#with({ fields: outermostPaths(checkFieldPaths(paths, 'fields()')) })
  }

  /**
   * Once it is aborted, what this search has under way ends with PANNIER_ABORTED.
   *
   * @example
   * await search.signal(AbortSignal.timeout(1000)).toArray()
   */
  signal(signal: AbortSignal): SearchQuery<T, Document> {
    return new SearchQuery<T, Document>(this.#open, this.#specification, signal)
  }

  /**
   * @throws PANNIER_NOT_FOUND if there is no text index, or it is not ready yet.
   *
   * @example
   * const found = await search.toArray()
   */
  async toArray(): Promise<T[]> {
    return (await this.scored()).map(({ document }) => document)
  }

  /**
   * With the score of each.
   *
   * @example
   * for (const { score, document } of await search.limit(10).scored()) console.log(score, document.name)
   */
  async scored(): Promise<ScoredRow<T>[]> {
    const all: ScoredRow<T>[] = []
    for await (const rows of this.#batches()) for (const row of rows) all.push(row)
    return all
  }

  /**
   * The best document, or undefined.
   *
   * @example
   * const best = await search.first()
   */
  async first(): Promise<T | undefined> {
    const { limit } = this.#specification
    const [row] = await this.#with<T>({ limit: Math.min(limit, 1) }).toArray()
    return row
  }

  /**
   * How many documents are found, whatever skip and limit say.
   *
   * @example
   * const found = await search.count()
   */
  count(): Promise<number> {
    return this.#use((run) => run.count())
  }

  /**
   * Explains the search: its terms, and how many documents each has.
   *
   * @example
   * const { index } = await search.explain()
   */
  explain(): Promise<SearchExplanation> {
    return this.#use((run) => run.explain())
  }

  /** From one snapshot, which is held until the loop ends or is left. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const rows of this.#batches()) for (const { document } of rows) yield document
  }

  #with<U extends object>(changes: Partial<SearchSpecification>): SearchQuery<U, Document> {
    return new SearchQuery<U, Document>(this.#open, { ...this.#specification, ...changes }, this.#abortSignal)
  }

  async *#batches(): AsyncGenerator<ScoredRow<T>[], void, undefined> {
    const { run, source } = await this.#start()
    try {
      yield* (await run()).rows() as AsyncGenerator<ScoredRow<T>[], void, undefined>
    } finally {
      source.release()
    }
  }

  async #use<R>(read: (run: SearchRun) => Promise<R>): Promise<R> {
    const { run, source } = await this.#start()
    try {
      return await read(await run())
    } finally {
      source.release()
    }
  }

  async #start(): Promise<{ readonly run: () => Promise<SearchRun>; readonly source: QuerySource }> {
    this.#checkAborted()
    const source = await this.#open()
    const run = async (): Promise<SearchRun> => {
      // Most applications don't search.
      const { SearchRun } = await loadedModule(import('./run-search.ts'))
      return new SearchRun(source, this.#specification, () => this.#checkAborted())
    }
    return { run, source }
  }

  #checkAborted(): void {
    throwIfCancelled(this.#abortSignal, 'The search')
  }
}
