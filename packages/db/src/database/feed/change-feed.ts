/**
 * The change feed of a collection for callers. docs/internals/change-feed.md is the contract. The code that reads it is
 * loaded on first use.
 */
import { badArgument, checkCount, checkOptions, isCount, type OptionNames } from '../../base/options.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { ownCondition, type QueryRelations } from '../../query/query-run.ts'
import type { SelectorMeaning } from '../../query/ast/parse-selector.ts'
import type { DocumentChange } from '../../document/document-reader.ts'
import type { Selector } from '../../query/query.ts'
import type * as Reader from './change-feed-reader.ts'
import type { FeedSource, FeedSpecification } from './change-feed-reader.ts'
import type { Identified, Stored } from '../collection/document-types.ts'

/** Which changes a feed has, and from where on. */
export interface ChangesOptions<T extends object = Record<string, unknown>> {
  /** Only changes with a higher number: the `lastSeq` of an earlier read. 'now': only those after this call. Default: 0, all. */
  readonly since?: number | 'now'
  /** The epoch that `since` is of (`info()`): another one is PANNIER_EPOCH_MISMATCH. */
  readonly epoch?: string
  /** The highest number of rows. */
  readonly limit?: number
  /** Whether it is descending: newest first. Not with `live`. */
  readonly descending?: boolean
  /** Continues with new changes as they are committed, in this handle or another. */
  readonly live?: boolean
  /** Rows have the document. */
  readonly docs?: boolean
  /** With `docs`: a document that has other live leaf revisions lists them in `_conflicts`. */
  readonly conflicts?: boolean
  /** 'winner' (default): rows tell the winning revision; 'all': every leaf revision, the winner first. */
  readonly style?: 'winner' | 'all'
  /** Only documents that match it. For a deleted one it sees `_id`, `_rev`, `_deleted: true` and any content. */
  readonly selector?: Selector<Identified<T> & { readonly _deleted?: true }>
  /** How the selector is to be understood, as for `find`. */
  readonly dialect?: SelectorMeaning['dialect'] | undefined
  /** The name of a registered collation by which the selector compares strings. */
  readonly collation?: SelectorMeaning['collation']
  /** Only documents with these ids. */
  readonly ids?: readonly string[]
  /** Only documents that it returns true for. It sees what `selector` sees. */
  readonly filter?: (document: Stored<T> & { readonly _deleted?: true }) => unknown
  /** Once it is aborted the feed rejects with PANNIER_ABORTED. */
  readonly signal?: AbortSignal
}

const CHANGES_OPTIONS: OptionNames<ChangesOptions> = {
  since: true,
  epoch: true,
  limit: true,
  descending: true,
  live: true,
  docs: true,
  conflicts: true,
  style: true,
  selector: true,
  collation: true,
  dialect: true,
  ids: true,
  filter: true,
  signal: true,
}

/** Changes of one read, and where to continue. */
export interface ChangesPage<T extends object> {
  /** In the order of their sequence numbers. */
  readonly changes: DocumentChange<Stored<T>>[]
  /** The `since` of the next page. */
  readonly lastSeq: number
  /** Changes after `lastSeq`, filtered or not. */
  readonly pending: number
}

/**
 * Rows in the order of their sequence numbers. Each loop over it starts again at `since`.
 *
 * @example
 * let since = 0 // as it was kept
 * const feed = people.changes({ since, live: true, signal })
 * for await (const { id, deleted } of feed) {
 *   console.log(id, deleted)
 *   since = feed.lastSeq
 * }
 */
export class ChangeFeed<T extends object> implements AsyncIterable<DocumentChange<Stored<T>>> {
  readonly #source: FeedSource
  readonly #specification: FeedSpecification
  #lastSeq: number

  /** @internal Use `collection.changes`. */
  constructor(source: FeedSource, specification: FeedSpecification) {
    this.#source = source
    this.#specification = specification
    this.#lastSeq = specification.since
  }

  /**
   * Everything up to this sequence has been handed out or filtered out, by the loop that was started last. `since:
   * lastSeq` continues there, with nothing missed and nothing twice. A `descending` feed has it only at its end.
   */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /**
   * All rows. Not of a live feed without a limit, which has no end.
   *
   * @example
   * const all = await people.changes().toArray()
   */
  toArray(): Promise<DocumentChange<Stored<T>>[]> {
    this.#checkEnd()
    return this.#collect()
  }

  /**
   * All rows, and where to continue.
   *
   * @example
   * const { changes, lastSeq, pending } = await people.changes({ since, limit: 100 }).page()
   */
  page(): Promise<ChangesPage<T>> {
    this.#checkEnd()
    return this.#readPage()
  }

  /**
   * The rows in arrays, as they are read.
   *
   * @example
   * for await (const changes of people.changes({ since }).batches()) show(changes.length)
   */
  batches(): AsyncIterableIterator<readonly DocumentChange<Stored<T>>[]> {
    return stoppable((stop) => this.#batches(stop))
  }

  /** The changes, one after another. */
  [Symbol.asyncIterator](): AsyncIterableIterator<DocumentChange<Stored<T>>> {
    return stoppable((stop) => this.#rows(stop))
  }

  #checkEnd(): void {
    const { live, limit } = this.#specification
    if (live && limit === Infinity)
      throw badArgument('toArray()', 'a live feed must have a limit (or loop over it)', limit)
  }

  async #collect(): Promise<DocumentChange<Stored<T>>[]> {
    const changes: DocumentChange<Stored<T>>[] = []
    for await (const rows of this.batches()) for (const row of rows) changes.push(row)
    return changes
  }

  async #readPage(): Promise<ChangesPage<T>> {
    const changes = await this.#collect()
    const { countChanges } = await loadReader()
    return { changes, lastSeq: this.#lastSeq, pending: await countChanges(this.#source, this.#lastSeq) }
  }

  async *#batches(stop: AbortSignal): AsyncGenerator<readonly DocumentChange<Stored<T>>[], void, undefined> {
    const { feedBatches } = await loadReader()
    yield* feedBatches(this.#source, this.#specification, stop, this.#reached) as AsyncGenerator<
      DocumentChange<Stored<T>>[]
    >
  }

  async *#rows(stop: AbortSignal): AsyncGenerator<DocumentChange<Stored<T>>, void, undefined> {
    const { feedRows } = await loadReader()
    yield* feedRows(this.#source, this.#specification, stop, this.#reached) as AsyncGenerator<DocumentChange<Stored<T>>>
  }

  readonly #reached = (lastSeq: number): void => {
    this.#lastSeq = lastSeq
  }
}

function loadReader(): Promise<typeof Reader> {
  return loadedModule(import('./change-feed-reader.ts'))
}

/** Checks the options: a TypeError tells what is wrong with them. */
export function feedSpecification<T extends object>(
  options: ChangesOptions<T>,
  now: () => number,
  relations: QueryRelations | undefined,
): FeedSpecification {
  checkOptions('changes()', options, CHANGES_OPTIONS)
  const { since = 0, epoch, limit = Infinity, descending = false, live = false } = options
  const { docs = false, conflicts = false, style = 'winner', selector, ids, filter, signal } = options
  const { dialect, collation } = options
  if (since !== 'now' && !isCount(since)) throw badArgument('changes()', "since must be a sequence or 'now'", since)
  if (limit !== Infinity) checkCount('changes()', 'limit', limit)
  if (live && descending) throw badArgument('changes()', 'descending must be false with live', descending)
  if (style !== 'winner' && style !== 'all') throw badArgument('changes()', "style must be 'winner' or 'all'", style)
  if (ids !== undefined && !(Array.isArray(ids) && ids.every((id) => typeof id === 'string')))
    throw badArgument('changes()', 'ids must be an array of ids', ids)
  if (filter !== undefined && typeof filter !== 'function')
    throw badArgument('changes()', 'filter must be a function', filter)
  return {
    since: since === 'now' ? now() : since,
    epoch,
    limit,
    live,
    signal,
    request: {
      condition:
        selector === undefined ? undefined : ownCondition('changes()', selector, { dialect, collation }, relations),
      ids: ids && new Set(ids),
      accept: filter as FeedSpecification['request']['accept'],
      docs,
      descending,
      leaves: style === 'all',
      conflicts,
    },
  }
}

/**
 * An iterator that can be left at any time: `return()` also ends a `next()` that waits, which a generator's own would wait
 * for.
 */
function stoppable<Row>(
  start: (stop: AbortSignal) => AsyncGenerator<Row, void, undefined>,
): AsyncIterableIterator<Row> {
  const stop = new AbortController()
  const rows = start(stop.signal)
  return {
    next: () => rows.next(),
    return: () => {
      stop.abort()
      return rows.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
