/**
 * One try to bring the target up to date with the source. It starts at their common replication checkpoint, and ends
 * with the source's feed or, if live, runs on.
 *
 * Guarantees: a replication checkpoint covers only revisions that the target has taken, or has refused with an event.
 * Revisions keep the order of the feed. Memory is bounded by `batchesAhead` batches of names and a few requests of
 * revisions, whose size adapts to the documents. An attempt may fail anywhere and be followed by another: everything it
 * does can be repeated.
 */
import { throwIfCancelled } from '../base/long-work.ts'
import { CheckpointLog } from './checkpoint.ts'
import { asksForRestart, checkpointLost, isTransient, unreachable } from './errors.ts'
import { filterPlace, filterText } from './filter.ts'
import type {
  JsonDocument,
  PeerChange,
  PeerChanges,
  PeerRevision,
  ReplicationPeer,
  RevisionFailure,
  RevisionName,
  RevisionsRead,
  ReplicationSequence,
} from './peer.ts'
import { mapAhead } from './pipeline.ts'
import { addressOf, replicationId } from './replication-id.ts'
import type { RunOptions } from './types.ts'
import { keyOf, type FailingDocuments } from './failing-documents.ts'

/** Hears of what is done. */
export interface AttemptWatcher {
  began(since: ReplicationSequence): void
  /** Notes that a snapshot was tried, once: the feed takes a connection that breaks more lightly. */
  triedSnapshot(): void
  /** A page of the feed was looked at. */
  page(changes: number, pending: number | undefined): void
  written(documents: readonly JsonDocument[], read: number, failures: readonly RevisionFailure[]): void
  conflict(id: string): void
  reached(sequence: ReplicationSequence, caughtUp: boolean): void
  checkpoint(sequence: ReplicationSequence): void
}

/** The desired size of a request of revisions, and limits of its count. */
const REQUEST_BYTES: number = 2 * 1024 * 1024
const REQUEST_REVISIONS_MAX = 1000
const DOCUMENT_BYTES_GUESS = 8 * 1024
const REQUESTS_AHEAD = 2
/** Pages of a feed in a row that announce more, but do not advance. */
const STUCK_PAGES_MAX = 3
/** The time for a last replication checkpoint after a cancellation. */
const LAST_CHECKPOINT_MS_MAX = 2000

/** A page of the feed, and what the target lacks of it. */
interface Page extends PeerChanges {
  readonly missing: readonly RevisionName[]
}

interface FetchRequest {
  readonly page: Page
  readonly names: readonly RevisionName[]
  /** The page is done with it. */
  readonly last: boolean
}

interface Fetched extends FetchRequest {
  readonly read: RevisionsRead
}

/** Failing documents of all attempts: those that can't be read and those that can't be written. */
interface FailuresByKind {
  readonly read: FailingDocuments
  readonly written: FailingDocuments
}

/** How far a run is that records nothing: its next attempt continues from there. */
export interface ReachedPlace {
  name?: string
  sequence?: ReplicationSequence
}

export class Attempt {
  readonly #source: ReplicationPeer
  readonly #target: ReplicationPeer
  readonly #options: RunOptions
  readonly #watcher: AttemptWatcher
  readonly #failing: FailuresByKind
  readonly #signal: AbortSignal
  readonly #startTime: string
  #log: CheckpointLog | undefined
  /** Names of the stores at the beginning. */
  #names: ReadonlyMap<ReplicationPeer, string> = new Map()
  #reached: ReplicationSequence
  #name = ''
  readonly #place: ReachedPlace
  #checkpointMs = 0
  /** Ends what is read ahead, with the failure of the attempt. */
  readonly #over = new AbortController()
  #cancelTimer: () => void = () => {}
  #writing: Promise<void> = Promise.resolve()
  #documentBytes = DOCUMENT_BYTES_GUESS

  constructor(
    source: ReplicationPeer,
    target: ReplicationPeer,
    options: RunOptions,
    watcher: AttemptWatcher,
    failing: FailuresByKind,
    place: ReachedPlace,
    signal: AbortSignal,
  ) {
    this.#source = source
    this.#target = target
    this.#options = options
    this.#watcher = watcher
    this.#failing = failing
    this.#place = place
    this.#signal = AbortSignal.any([signal, this.#over.signal])
    this.#startTime = new Date(options.environment.wallClock()).toISOString()
  }

  /** Resolves when the target has everything; never while it is live. */
  async run(): Promise<void> {
    const since = await this.#begin()
    this.#reached = since
    this.#checkpointMs = this.#options.environment.now()
    try {
      await this.#replicate(since)
      await this.#writing
      await this.#record(this.#signal)
    } catch (error) {
      if (this.#over.signal.aborted) throw this.#over.signal.reason
      this.#over.abort(error)
      await this.#recordLast()
      throw error
    } finally {
      this.#cancelTimer()
      this.#over.abort()
    }
  }

  async #begin(): Promise<ReplicationSequence> {
    const { filter, style, checkpoint, environment, createSource, createTarget, since } = this.#options
    const [source, target] = await Promise.all([
      this.#source.identify(createSource, this.#signal),
      this.#target.identify(createTarget, this.#signal),
    ])
    this.#names = new Map([
      [this.#source, source],
      [this.#target, target],
    ])
    const design = filterPlace(filter)
    const text = design && filterText(filter, (await this.#source.readDesign(design.id, this.#signal)) ?? {})
    const name = replicationId(source, target, filter, style, text)
    this.#log = new CheckpointLog(
      this.#source,
      this.#target,
      name,
      addressOf(this.#source, this.#target, filter, style),
      checkpoint,
      environment,
    )
    const recorded = await this.#log.open(this.#startTime, this.#signal)
    this.#name = name
    const kept = this.#place.name === name ? this.#place.sequence : undefined
    const from = since ?? recorded ?? kept
    this.#watcher.began(from)
    return from ?? (await this.#loadSnapshot())
  }

  /** A first replication of everything may be one download. Undefined: the feed has to bring it. */
  async #loadSnapshot(): Promise<ReplicationSequence> {
    const { ids, selector, accept, name } = this.#options.filter
    const filtered = (ids ?? selector ?? accept ?? name) !== undefined || this.#options.style !== 'all'
    const { openSnapshot } = this.#source
    if (filtered || !this.#options.snapshot || openSnapshot === undefined) return undefined
    let told = 0
    const loading = this.#target.loadSnapshot?.(
      () => {
        this.#watcher.triedSnapshot()
        return openSnapshot.call(this.#source, this.#signal)
      },
      ({ documents, documentsTotal }) => {
        const more = Math.max(0, documents - told)
        told += more
        this.#watcher.page(more, documentsTotal - told)
        this.#watcher.written(new Array<JsonDocument>(more), more, [])
      },
      this.#signal,
    )
    const loaded = await loading?.catch((error: unknown) => {
      // The feed makes up for one that is damaged, or does not come.
      if (!isTransient(error) || asksForRestart(error)) throw error
    })
    // The feed tries failed documents again, and reports why they fail.
    if (loaded === undefined || !loaded.isComplete) return undefined
    this.#watcher.reached(loaded.sequence, false)
    await this.#checkpoint(loaded.sequence, this.#signal)
    this.#watcher.checkpoint(loaded.sequence)
    return loaded.sequence
  }

  get #testsContent(): boolean {
    const { selector, accept, name } = this.#options.filter
    return (selector ?? accept ?? name) !== undefined
  }

  async #replicate(since: ReplicationSequence): Promise<void> {
    const { batchesAhead, checkpoint } = this.#options
    const pages = mapAhead(this.#pages(since), batchesAhead, (page) => this.#compare(page))
    const fetched = mapAhead(this.#requests(pages), REQUESTS_AHEAD, (request) => this.#fetch(request))
    for await (const { page, read, last } of fetched) {
      await this.#write(read)
      if (!last) continue
      this.#reached = page.lastSeq
      if (checkpoint === 'none') Object.assign(this.#place, { name: this.#name, sequence: page.lastSeq })
      this.#watcher.reached(page.lastSeq, page.ended)
      this.#recordInTime()
    }
  }

  async *#pages(since: ReplicationSequence): AsyncGenerator<PeerChanges, void, undefined> {
    const { live, batchSize, style, filter } = this.#options
    let from = since
    let stuck = 0
    for (let ended = false; ;) {
      const request = { since: from, limit: batchSize, wait: ended, style, filter, signal: this.#signal }
      const page = await this.#source.readChanges(request)
      // An attempt that has failed in the meantime sends no more events.
      throwIfCancelled(this.#signal, 'The replication')
      this.#watcher.page(page.changes.length, page.pending)
      const isElsewhere = JSON.stringify(page.lastSeq) !== JSON.stringify(from)
      // Once: what was written after the page was read counts as more.
      stuck = page.ended || isElsewhere ? 0 : stuck + 1
      if (stuck === STUCK_PAGES_MAX)
        throw unreachable(this.#source.name, 'its feed has more changes, but does not go on')
      from = page.lastSeq
      // A wait without changes is no end. But it may return another sequence: the replication checkpoint then shows
      // whether the store is the same.
      if (page.changes.length > 0 || !ended || isElsewhere) yield page
      ended = page.ended
      if (ended && !live) return
    }
  }

  async #compare(page: PeerChanges): Promise<Page> {
    const revisions = new Map<string, readonly string[]>()
    for (const { id, revs } of page.changes) revisions.set(id, merged(revisions.get(id), { id, revs }))
    if (revisions.size === 0) return { ...page, missing: [] }
    const missing = await this.#target.missingRevisions(revisions, this.#signal)
    return { ...page, missing: [...missing].flatMap(([id, revs]) => revs.map((rev) => ({ id, rev }))) }
  }

  /** Splits names into requests, sized by the documents so far. */
  async *#requests(pages: AsyncIterable<Page>): AsyncGenerator<FetchRequest, void, undefined> {
    for await (const page of pages) {
      const { missing } = page
      let at = 0
      do {
        const count = Math.max(1, Math.min(REQUEST_REVISIONS_MAX, Math.floor(REQUEST_BYTES / this.#documentBytes)))
        const names = missing.slice(at, at + count)
        at += count
        yield { page, names, last: at >= missing.length }
      } while (at < missing.length)
    }
  }

  async #fetch(request: FetchRequest): Promise<Fetched> {
    const { names } = request
    if (names.length === 0) return { ...request, read: { revisions: [], failures: [], bytes: 0 } }
    const { results, failures, error } = await this.#failing.read.guard(
      names,
      (name) => name,
      (some) => this.#source.readRevisions(some, this.#signal),
      () => this.#log!.look(this.#signal),
    )
    if (error !== undefined) throw error
    const revisions = results.flatMap((result) => result.revisions)
    const asked = this.#testsContent ? new Set(names.map(keyOf)) : undefined
    const read = {
      // A revision that replaced the requested one has passed no filter. If it passes, it comes with the feed.
      revisions:
        asked === undefined ? revisions : revisions.filter(({ document }) => asked.has(keyOf(nameOf(document)))),
      failures: [...failures, ...results.flatMap((result) => result.failures)],
      bytes: results.reduce((sum, { bytes }) => sum + bytes, 0),
    }
    // Larger documents count at once, smaller ones bit by bit.
    const mean = read.bytes / Math.max(1, read.revisions.length)
    this.#documentBytes = Math.max(64, mean, (this.#documentBytes + mean) / 2)
    return { ...request, read }
  }

  async #write({ revisions, failures }: RevisionsRead): Promise<void> {
    if (revisions.length === 0 && failures.length === 0) return
    const written = await this.#failing.written.guard(
      revisions,
      ({ document }) => nameOf(document),
      (some) => this.#target.writeRevisions(some, this.#signal),
      () => this.#log!.touch(this.#startTime, this.#signal),
    )
    const refused = written.results.flatMap((result) => result.failures)
    const failed = new Set([...refused, ...written.failures].map(keyOf))
    const taken = revisions
      .map(({ document }) => document)
      .filter((document) => failed.size === 0 || !failed.has(keyOf(nameOf(document))))
    this.#watcher.written(taken, revisions.length, [
      ...failures,
      ...refused,
      ...(written.error === undefined ? written.failures : []),
    ])
    for (const id of written.results.flatMap(({ conflicts }) => conflicts)) this.#watcher.conflict(id)
    if (written.error !== undefined) throw written.error
  }

  /** Not with every batch: at once if the last one was long ago, else in a while. */
  #recordInTime(): void {
    const { environment, checkpointIntervalMs } = this.#options
    const waitMs = this.#checkpointMs + checkpointIntervalMs - environment.now()
    this.#cancelTimer()
    const record = (): void => {
      this.#writing = this.#writing
        .then(() => this.#record(this.#signal))
        .catch((error: unknown) => {
          // Other failures show in the next request; the next replication checkpoint makes up for this one.
          if (asksForRestart(error)) this.#over.abort(error)
        })
    }
    if (waitMs <= 0) record()
    else this.#cancelTimer = environment.after(waitMs, record)
  }

  async #record(signal: AbortSignal): Promise<void> {
    const sequence = this.#reached
    this.#checkpointMs = this.#options.environment.now()
    if (sequence === undefined) return
    if (await this.#checkpoint(sequence, signal)) this.#watcher.checkpoint(sequence)
  }

  /**
   * A collection that was created again accepts a first replication checkpoint like the old one. Only its name differs.
   */
  async #checkpoint(sequence: ReplicationSequence, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#log!.write(sequence, this.#startTime, signal))) return false
    for (const [peer, name] of this.#names)
      if (!peer.remote && (await peer.identify(false, signal)) !== name) throw checkpointLost(peer.name)
    return true
  }

  /**
   * After a failure or a cancellation, so that finished work need not be repeated. Kept short; its own failure is
   * ignored.
   */
  async #recordLast(): Promise<void> {
    const stop = new AbortController()
    this.#cancelTimer()
    const cancel = this.#options.environment.after(LAST_CHECKPOINT_MS_MAX, () => stop.abort(), true)
    try {
      await this.#writing
      await this.#record(stop.signal)
    } catch {
      // It is repeated then.
    } finally {
      cancel()
    }
  }
}

function merged(known: readonly string[] | undefined, { revs }: PeerChange): readonly string[] {
  return known === undefined ? revs : [...new Set([...known, ...revs])]
}

function nameOf({ _id: id, _rev: rev }: PeerRevision['document']): RevisionName {
  return { id, rev }
}
