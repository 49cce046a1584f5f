/**
 * Reads a change feed batch by batch.
 *
 * Guarantees: between two batches only the last batch is held. The end of the feed always removes its listeners. No
 * commit is missed.
 */
import { pauseIn, retryWhenStale, throwIfCancelled } from '../../base/long-work.ts'
import { isPromise, type MaybePromise } from '../../base/async.ts'
import { isClosedByCaller, isPannierError, PannierError } from '../../base/errors.ts'
import type { Environment } from '../../base/environment.ts'
import { numberKey } from '../../codec/key-encoding.ts'
import { collectionTrees } from '../../document/catalog.ts'
import type { DocumentChange } from '../../document/document-reader.ts'
import type { KeyValueStore } from '../../kv/key-value-store.ts'
import { expressionsOf } from '../../query/ast/normalise.ts'
import { ChangeWalk, type ChangeBatch, type ChangeRequest } from '../../query/change-feed/change-walk.ts'
import type { QuerySource } from '../../query/query-source.ts'
import { prepareRegexes } from '../../query/regex/check-regex.ts'

/** Where a feed reads from. */
export interface FeedSource {
  readonly store: KeyValueStore
  readonly environment: Environment
  /** Aborted when the database is closed, or lost: then its reason is why. */
  readonly closing: AbortSignal
  /** The newest state; waits while the collection is migrated. */
  openSource(): MaybePromise<QuerySource>
}

/** The options of a feed, checked. */
export interface FeedSpecification {
  readonly since: number
  readonly epoch: string | undefined
  /** The limit; Infinity: all. */
  readonly limit: number
  readonly live: boolean
  readonly signal: AbortSignal | undefined
  readonly request: ChangeRequest
}

/** The collection that a feed is of, by its number; undefined while there is none. */
type Bound = number | undefined

/** `stop`: ends it quietly. */
async function* readFeed(
  feed: FeedSource,
  specification: FeedSpecification,
  stop: AbortSignal,
): AsyncGenerator<ChangeBatch, void, undefined> {
  const { live, limit, signal, request } = specification
  checkAborted(signal)
  if (limit === 0) return
  if (request.condition !== undefined) await prepareRegexes(expressionsOf(request.condition))
  const { closing, environment } = feed
  let bound = await bind(feed, specification)
  const walk = new ChangeWalk(request, specification.since)
  const waiting = live
    ? new ChangeWait(feed, () => bound, [closing, stop, ...(signal === undefined ? [] : [signal])])
    : undefined
  // What is in memory is read without ever waiting.
  const pause = pauseIn(environment)
  try {
    for (let left = limit; left > 0;) {
      checkAborted(signal)
      if (closing.aborted && !isClosedByCaller(closing.reason)) throw closing.reason
      if (stop.aborted || (live && closing.aborted)) return
      waiting?.clear()
      const batch = await retryWhenStale(
        () => readBatch(feed, walk, left, bound),
        () => feed.store.refresh(),
      )
      if (typeof batch === 'string') {
        if (live) return
        throw new PannierError('PANNIER_NOT_FOUND', 'The collection was dropped during the read of its changes.')
      }
      bound = batch.bound
      left -= batch.rows.length
      yield batch
      if (batch.ended && !live) return
      if (batch.caughtUp) await waiting?.end()
      else await pause()
    }
  } catch (error) {
    // A live feed has no other end than this; one that is not would seem to be complete.
    if (!(live && isClosedByCaller(closing.reason) && isPannierError(error, 'PANNIER_CLOSED'))) throw error
  } finally {
    waiting?.stop()
  }
}

/**
 * The rows in arrays. `reached` gets their position before they are handed out: a caller that leaves the loop then has
 * had them.
 */
export async function* feedBatches(
  feed: FeedSource,
  specification: FeedSpecification,
  stop: AbortSignal,
  reached: (lastSeq: number) => void,
): AsyncGenerator<readonly DocumentChange[], void, undefined> {
  for await (const { rows, lastSeq } of readFeed(feed, specification, stop)) {
    reached(lastSeq)
    if (rows.length > 0) yield rows
  }
}

/** The rows one by one. */
export async function* feedRows(
  feed: FeedSource,
  specification: FeedSpecification,
  stop: AbortSignal,
  reached: (lastSeq: number) => void,
): AsyncGenerator<DocumentChange, void, undefined> {
  const { signal, request } = specification
  for await (const { rows, lastSeq } of readFeed(feed, specification, stop)) {
    for (const row of rows) {
      checkAborted(signal)
      if (!request.descending) reached(row.seq)
      yield row
    }
    reached(lastSeq)
  }
}

/** How many changes come after a sequence number. */
export async function countChanges(feed: FeedSource, since: number): Promise<number> {
  const source = await feed.openSource()
  try {
    const { bodies } = source.documents
    // A feed that has read everything costs nothing.
    if (since >= bodies.lastNumber) return 0
    return await source.attempt(() => bodies.count({ gte: numberKey(since + 1) }))
  } finally {
    source.release()
  }
}

function checkAborted(signal: AbortSignal | undefined): void {
  throwIfCancelled(signal, 'The change feed')
}

/** Finds out which collection it is, and that `since` can be of it. */
async function bind(feed: FeedSource, { since, epoch }: FeedSpecification): Promise<Bound> {
  let found = await look(feed)
  const isOther = (): boolean => since > found.lastSeq || (epoch !== undefined && epoch !== found.epoch)
  // Another handle may have newer commits, or may have created it again.
  if (isOther()) {
    await feed.store.refresh()
    found = await look(feed)
  }
  if (isOther()) {
    const message = `There is no sequence number ${since} of this epoch: the collection was dropped, or its storage was lost.`
    throw new PannierError('PANNIER_EPOCH_MISMATCH', message, {
      details: { epoch: found.epoch, lastSeq: found.lastSeq },
    })
  }
  return found.bound
}

async function look(feed: FeedSource): Promise<{ bound: Bound; epoch: string; lastSeq: number }> {
  const source = await feed.openSource()
  const { collection, bodies } = source.documents
  source.release()
  return { bound: numberOf(source), epoch: collection.epoch, lastSeq: bodies.lastNumber }
}

async function readBatch(
  feed: FeedSource,
  walk: ChangeWalk,
  limit: number,
  bound: Bound,
): Promise<(ChangeBatch & { bound: Bound }) | 'dropped'> {
  const opened = feed.openSource()
  const source = isPromise(opened) ? await opened : opened
  try {
    const number = numberOf(source)
    if (bound !== undefined && number !== bound) return 'dropped'
    const attempted = source.attempt(walk.step(source, limit))
    return { ...(isPromise(attempted) ? await attempted : attempted), bound: number }
  } finally {
    source.release()
  }
}

/** The number of the collection. Those that exist are numbered from 1. */
function numberOf({ documents }: QuerySource): Bound {
  return documents.collection.number || undefined
}

/** Waits for commits to a collection. One that comes while nobody waits is not forgotten. */
class ChangeWait {
  readonly #unlisten: () => void
  readonly #signals: readonly AbortSignal[]
  readonly #wake = (): void => {
    this.#woken = true
    this.#resolve?.()
  }
  #woken = false
  #resolve: (() => void) | undefined

  constructor({ store }: FeedSource, bound: () => Bound, signals: readonly AbortSignal[]) {
    this.#signals = signals
    this.#unlisten = store.onCommit(({ trees }) => {
      const number = bound()
      if (number === undefined || trees.has(collectionTrees(number).bodies)) this.#wake()
    })
    for (const signal of signals) signal.addEventListener('abort', this.#wake)
  }

  /** From now on commits are news. */
  clear(): void {
    this.#woken = false
  }

  /** Resolves when there is news, or one of the signals is aborted. */
  async end(): Promise<void> {
    if (!this.#woken && !this.#signals.some(({ aborted }) => aborted))
      await new Promise<void>((resolve) => (this.#resolve = resolve))
    this.#resolve = undefined
  }

  stop(): void {
    this.#unlisten()
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#wake)
  }
}
