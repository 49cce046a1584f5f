/** A search that is live: it asks again after each commit. */
import type { DocumentSource, Live, RowsQuery } from './live-store.ts'
import { oneAtATime } from './store.ts'

/** The part of a collection that a search needs. */
export interface SearchSource<Row extends object, Options extends object> extends DocumentSource<Row> {
  /** The documents with the words of a text. */
  search(text: string, options?: Options): { limit(rows: number): { toArray(): Promise<Row[]> } }
}

/** A database, or a client of `@pannier/client`. */
export interface CommitSource {
  /** Calls back after each commit. The function returned ends it. */
  subscribe(listener: () => void): () => void
}

/** A search, as a query. */
interface Search<Row extends object> extends RowsQuery<Row> {
  /** A query without rows. It is of the same database or account as the search, and ends with that. */
  readonly companion: RowsQuery<Row>
  readonly key: string
}

/**
 * The documents with the words of a text, the best first, for a hook that shows rows. It asks again after each commit of `db`. Without
 * words nothing is asked for.
 *
 * @param options As `collection.search` takes them, and `limit`, the highest number of rows: 20 by default.
 * @example
 * const query = liveSearch(db, people, 'ann lee', { limit: 10 })
 */
export function liveSearch<Row extends object, Options extends object>(
  db: CommitSource,
  collection: SearchSource<Row, Options>,
  text: string,
  options?: Options & { readonly limit?: number },
): RowsQuery<Row> | undefined {
  if (!text.trim()) return undefined
  const key = JSON.stringify([text, options])
  const { limit = 20, ...own } = options ?? {}
  const companion = collection.find({ _id: '' })
  const find = (): Promise<Row[]> =>
    collection
      .search(text, own as Options)
      .limit(limit)
      .toArray()
  return {
    companion,
    key,
    isSame: (other: Partial<Search<Row>>) => other.key === key && companion.isSame(other.companion as never),
    live: () => started(companion.live(), db, find),
  } as Search<Row>
}

function started<Row>(
  companion: Live<readonly Row[]>,
  db: CommitSource,
  find: () => Promise<Row[]>,
): Live<readonly Row[]> {
  const live = {
    value: undefined as readonly Row[] | undefined,
    status: companion.status,
    error: undefined as unknown,
    subscribe(listener: () => void) {
      const ask = oneAtATime(async () => {
        let failure: unknown
        try {
          const found = await find()
          // The same rows make no render.
          if (JSON.stringify(found) !== JSON.stringify(live.value)) live.value = found
        } catch (error) {
          failure = error
        }
        const isEnded = companion.status === 'ended'
        live.error = isEnded ? undefined : (companion.error ?? failure)
        live.status = isEnded ? 'ended' : live.error === undefined ? 'live' : 'failed'
        listener()
      })
      ask()
      const stops = [companion.subscribe(() => {}, { onEnd: ask }), db.subscribe(ask)]
      return () => stops.forEach((stop) => stop())
    },
    close: () => companion.close(),
  }
  return live
}
