/** A search that is live: it asks again after each commit. */
import type { LiveStatus } from 'pannier/types'
import type { Live, RowsQuery } from './live-store.ts'
import { oneAtATime } from './store.ts'

/** The part of a collection that a search needs. */
export interface SearchSource<Row extends object, Options extends object> {
  /** The documents with the words of a text. */
  search(text: string, options?: Options): { limit(rows: number): { toArray(): Promise<Row[]> } }
}

/** A database, or a client of `@pannier/client`. */
export interface CommitSource {
  /** Calls back after each commit. The function returned ends it. */
  subscribe(listener: () => void): () => void
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
  const search = {
    parts: [db, collection, key],
    isSame: ({ parts }: { readonly parts?: readonly unknown[] }) =>
      search.parts.every((part, index) => part === parts?.[index]),
    live: () =>
      started(db, () =>
        collection
          .search(text, own as Options)
          .limit(limit)
          .toArray(),
      ),
  }
  return search
}

function started<Row>(db: CommitSource, find: () => Promise<Row[]>): Live<readonly Row[]> {
  const live = {
    value: undefined as readonly Row[] | undefined,
    status: 'loading' as LiveStatus,
    error: undefined as unknown,
    subscribe(listener: () => void) {
      const ask = oneAtATime(async () => {
        try {
          const found = await find()
          // The same rows make no render.
          if (JSON.stringify(found) !== JSON.stringify(live.value)) live.value = found
          Object.assign(live, { status: 'live', error: undefined })
        } catch (error) {
          Object.assign(live, { status: 'failed', error })
        }
        listener()
      })
      ask()
      return db.subscribe(ask)
    },
    // The end of its listener is its end.
    close() {},
  }
  return live
}
