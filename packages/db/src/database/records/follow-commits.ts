/** Commits as they happen, and the state of a handle of a database that others write to as well. */
import type { Environment } from '../../base/environment.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { collectionTrees } from '../../document/catalog.ts'
import type { LiveState } from '../../query/live/live-types.ts'
import type { Explanation } from '../../query/planner/explanation.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { Database } from '../database.ts'

/**
 * Calls back inside each commit, with the names of the collections whose documents it has written, and whether this handle has made it.
 * `holdSnapshot` then gives the state that it has made. The function returned ends it.
 */
export function followCommits(
  database: Database,
  listener: (collections: ReadonlySet<string>, isLocal: boolean) => void,
): () => void {
  const { context } = database
  let names = namesOf(context)
  return context.store.onCommit(({ trees, local }) => {
    const written = new Set<string>()
    for (const tree of trees.keys()) {
      const number = Number.parseInt(tree, 10)
      if (tree !== collectionTrees(number).bodies) continue
      if (!names.has(number)) names = namesOf(context)
      const name = names.get(number)
      if (name !== undefined) written.add(name)
    }
    listener(written, local)
  })
}

/** The clock, timers and chance that the database was opened with. */
export function environmentOf(database: Database): Environment {
  return database.context.environment
}

/** Aborted when the handle is closed, with PANNIER_CLOSED, or lost: destroyed elsewhere, or to a storage that was put back (PANNIER_RESTORED). */
export function endOf(database: Database): AbortSignal {
  return database.context.closing
}

/** The number of the newest commit that the handle has seen. */
export function newestCommit(database: Database): number {
  const snapshot = database.context.store.snapshot()
  snapshot.release()
  return snapshot.sequence
}

/** Resolves when the listeners of `subscribe` have heard of all commits that the handle has seen. */
export function listenersHaveHeard(database: Database): Promise<void> {
  return database.heard()
}

/** A live query at work. */
export interface LiveFacts {
  /** The name of the collection. */
  readonly collection: string
  /** The selector, sort, skip, limit and fields. */
  readonly question: object
  /** Whether it asks for the number of all rows. */
  readonly counts: boolean
  /** The state that its subscribers see. */
  readonly state: LiveState
  /** Times that its rows were read. */
  readonly reads: number
  /** How many subscribe to it. */
  readonly subscribers: number
  /** The plan of its query, measured by running it again. */
  explain(): Promise<Explanation>
}

/** The live queries of a handle. */
export async function liveQueriesOf(database: Database): Promise<LiveFacts[]> {
  const { liveRunsOf } = await loadedModule(import('../collection/live-watcher.ts'))
  const { explainQuery, explainQuestion } = await loadedModule(import('../../query/planner/explain.ts'))
  return liveRunsOf(database.context).map(([collection, { request, state, reads, subscriptions }]) => ({
    collection,
    counts: request.counts === true,
    state,
    reads,
    subscribers: subscriptions.size,
    question: explainQuestion(request.specification),
    explain: async () => {
      const { source, query, related } = await request.open()
      return explainQuery(source, query, related, () => {}).finally(() => source.release())
    },
  }))
}

function namesOf({ store, catalog }: DatabaseContext): ReadonlyMap<number, string> {
  const snapshot = store.snapshot()
  try {
    return new Map(catalog.names(snapshot).map((name) => [catalog.collection(snapshot, name)!.number, name]))
  } finally {
    snapshot.release()
  }
}
