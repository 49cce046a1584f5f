/**
 * Reports each commit to the live queries of a collection that it concerns; other queries cost nothing. Documents lead
 * to the queries that hold them, and to the queries whose condition they meet.
 */
import { assert } from '../../base/errors.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import type { ChangedDocument } from '../query-run.ts'
import { ConditionIndex } from './condition-index.ts'
import type { ChangedEntries } from './held-count.ts'
import { LiveRun, type RunOwner } from './live-run.ts'
import type { LiveHost, LiveRequest, LiveState, LiveWork } from './live-types.ts'
import { tellListener } from '../../base/callback.ts'

/** The parts of the database that a watch of one collection needs. */
interface WatchOptions {
  /** The name of the collection. */
  readonly name: string
  /** Aborted when the database is closed. */
  readonly closing: AbortSignal
  /** Called before the first query begins. */
  onActive(): void
  /** Called before the first query begins that follows relations to here. */
  onFollow(): void
  /** Called when the last query has ended. */
  onIdle(): void
  /** The watch of another collection. */
  other(name: string): CollectionWatch
}

export class CollectionWatch implements LiveHost, RunOwner {
  /** Aborted when the database is closed. */
  readonly closing: AbortSignal
  collection = 0
  /** The last commit that was announced; -1: it is not known. */
  sequence = -1
  readonly conditions: ConditionIndex<LiveRun> = new ConditionIndex()
  readonly runs: Set<LiveRun> = new Set()
  /** Queries that follow relations, of this collection and of those whose relations lead here. */
  readonly #followers = new Set<LiveRun>()
  /** One query or several; most documents are held by one. */
  readonly #holders = new Map<string, LiveRun | Set<LiveRun>>()
  readonly #loading = new Set<LiveRun>()
  readonly #deep = new Set<LiveRun>()
  readonly #byRank = new Set<LiveRun>()
  /** The result has changed, and no listener knows it yet. */
  #changed = new Set<LiveRun>()
  /** Loops that wait for the next commit. */
  #waiting: (() => void)[] = []
  readonly #options: WatchOptions

  constructor(options: WatchOptions) {
    this.#options = options
    this.closing = options.closing
  }

  /** Queries need to know what documents were before they changed. */
  get isFollowed(): boolean {
    return this.#followers.size > 0
  }

  start(request: LiveRequest, state: LiveState): LiveWork {
    if (this.#isIdle) this.#options.onActive()
    const run = new LiveRun(this, request, state)
    this.runs.add(run)
    if (run.isDeep) this.#deep.add(run)
    for (const name of request.followed?.collections ?? []) this.#options.other(name).follow(run)
    if (this.closing.aborted) run.closed(this.closing.reason)
    else run.begin()
    return run
  }

  /** These documents have changed, and no others; and these entries of them. */
  apply(sequence: number, changed: readonly ChangedDocument[], changedEntries: ChangedEntries = () => undefined): void {
    const affected = new Map<LiveRun, Map<string, StoredDocument | undefined>>()
    const affect = (run: LiveRun, id: string, document: StoredDocument | undefined): void => {
      let changes = affected.get(run)
      if (changes === undefined) affected.set(run, (changes = new Map()))
      changes.set(id, document)
    }
    for (const { id, document } of changed) {
      const holders = this.#holders.get(id)
      if (holders instanceof LiveRun) affect(holders, id, undefined)
      else if (holders !== undefined) for (const run of holders) affect(run, id, undefined)
      if (document !== undefined)
        for (const { queries } of this.conditions.matching(document))
          for (const run of queries) affect(run, id, document)
      for (const run of this.#loading) run.keep(sequence, id, document)
    }
    for (const [run, changes] of affected) if (!run.loading && !run.isDeep) run.apply(sequence, changes)
    if (changed.length === 0) return
    for (const run of this.#deep) run.invalidate(sequence)
    for (const run of this.#followers) run.note(sequence, this.#options.name, changed)
    for (const run of this.#byRank) run.recount(sequence, changedEntries)
  }

  /** Anything may have changed. */
  invalidate(sequence: number): void {
    for (const run of [...this.runs, ...this.#followers]) run.invalidate(sequence)
  }

  /** Tells the subscribers of all queries that have changed; after all of them have. */
  notify(): void {
    const changed = this.#changed
    this.#changed = new Set()
    for (const run of changed) run.notify()
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** Settles with the next commit. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  close(reason: unknown): void {
    for (const run of this.runs) tellListener(() => run.closed(reason))
  }

  loading(run: LiveRun): void {
    this.#loading.add(run)
  }

  loaded(run: LiveRun): (document: StoredDocument) => boolean {
    this.#loading.delete(run)
    if (run.isByRank) this.#byRank.add(run)
    else this.#byRank.delete(run)
    return this.conditions.add(run.request.specification.condition, run).test
  }

  changed(run: LiveRun): void {
    this.#changed.add(run)
  }

  hold(id: string, run: LiveRun): void {
    const holders = this.#holders.get(id)
    if (holders === undefined) this.#holders.set(id, run)
    else if (holders instanceof LiveRun) this.#holders.set(id, new Set([holders, run]))
    else holders.add(run)
  }

  release(id: string, run: LiveRun): void {
    const holders = this.#holders.get(id)
    if (holders === run) this.#holders.delete(id)
    else if (holders instanceof Set && holders.delete(run) && holders.size === 0) this.#holders.delete(id)
  }

  remove(run: LiveRun): void {
    if (!this.runs.delete(run)) return
    this.#loading.delete(run)
    this.#deep.delete(run)
    this.#byRank.delete(run)
    this.#changed.delete(run)
    this.conditions.remove(run)
    for (const name of run.request.followed?.collections ?? []) this.#options.other(name).unfollow(run)
    if (this.runs.size > 0) return
    assert(this.conditions.isEmpty, 'conditions of queries that have ended are gone')
    if (this.#isIdle) this.#options.onIdle()
  }

  /** Changes here may change the answer of this query. */
  follow(run: LiveRun): void {
    if (this.#isIdle) this.#options.onActive()
    if (!this.isFollowed) this.#options.onFollow()
    this.#followers.add(run)
  }

  unfollow(run: LiveRun): void {
    if (this.#followers.delete(run) && this.#isIdle) this.#options.onIdle()
  }

  get #isIdle(): boolean {
    return this.runs.size === 0 && this.#followers.size === 0
  }
}
