/** The progress of each direction of each collection, and their sum: the progress of one replication. */
import type { PannierError } from '../base/errors.ts'
import type { JsonDocument, RevisionFailure, ReplicationSequence } from './peer.ts'
import type { RunOptions, ReplicationEvent, ReplicationProgress, ReplicationStatus, ReplicationPart } from './types.ts'
import type { Supervised } from './supervisor.ts'

type Untagged<Event> = Event extends unknown ? Omit<Event, 'collection' | 'direction'> : never

/** States that are final: nothing that comes late changes them. */
const FINAL: ReadonlySet<ReplicationStatus> = new Set(['complete', 'cancelled', 'failed'])

export class PartWatcher implements Supervised {
  readonly collection: string
  readonly direction: 'push' | 'pull'
  readonly emit: (event: ReplicationEvent) => void
  readonly #live: boolean
  #status: ReplicationStatus = 'active'
  #error: PannierError | undefined
  #waitMs: number | undefined
  #progress: ReplicationProgress = {
    docsRead: 0,
    docsWritten: 0,
    docsDenied: 0,
    changesChecked: 0,
    pending: undefined,
    lastSeq: undefined,
  }

  constructor({ collection, direction, live }: RunOptions, emit: (event: ReplicationEvent) => void) {
    this.collection = collection
    this.direction = direction
    this.emit = emit
    this.#live = live
  }

  get currentStatus(): ReplicationStatus {
    return this.#status
  }

  get progress(): ReplicationProgress {
    return this.#progress
  }

  get error(): PannierError | undefined {
    return this.#error
  }

  get waitMs(): number | undefined {
    return this.#waitMs
  }

  status(status: ReplicationStatus, error?: PannierError, waitMs?: number): void {
    if (FINAL.has(this.#status)) return
    this.#error = error
    this.#waitMs = waitMs
    if (status === this.#status && error === undefined) return
    this.#status = status
    const wait = waitMs === undefined ? {} : { waitMs }
    this.#tell({ type: 'status', status, ...(error === undefined ? {} : { error }), ...wait })
  }

  began(since: ReplicationSequence): void {
    this.#progress = { ...this.#progress, lastSeq: since }
  }

  page(changes: number, pending: number | undefined): void {
    const { changesChecked } = this.#progress
    this.#progress = { ...this.#progress, changesChecked: changesChecked + changes, pending }
    if (changes > 0) this.status('active')
  }

  written(documents: readonly JsonDocument[], read: number, failures: readonly RevisionFailure[]): void {
    const { docsRead, docsWritten, docsDenied } = this.#progress
    this.#progress = {
      ...this.#progress,
      docsRead: docsRead + read,
      docsWritten: docsWritten + documents.length,
      docsDenied: docsDenied + failures.length,
    }
    if (documents.length > 0) this.#tell({ type: 'change', docs: documents, progress: this.#progress })
    for (const failure of failures) this.#tell({ type: 'denied', ...failure })
  }

  conflict(id: string): void {
    this.#tell({ type: 'conflict', id })
  }

  reached(sequence: ReplicationSequence, caughtUp: boolean): void {
    this.#progress = { ...this.#progress, lastSeq: sequence, ...(caughtUp ? { pending: 0 } : {}) }
    if (caughtUp && this.#live) this.status('paused')
  }

  checkpoint(sequence: ReplicationSequence): void {
    this.#tell({ type: 'checkpoint', lastSeq: sequence })
  }

  #tell(event: Untagged<ReplicationEvent>): void {
    this.emit({ ...event, collection: this.collection, direction: this.direction } as ReplicationEvent)
  }
}

/** The first that any part has is that of all. */
const BY_IMPORTANCE: readonly ReplicationStatus[] = [
  'failed',
  'active',
  'backing-off',
  'offline',
  'paused',
  'cancelled',
  'complete',
]

/** The sum of all watchers, always as it is now. */
export function sumUp(watchers: readonly PartWatcher[]): {
  readonly status: ReplicationStatus
  readonly error: PannierError | undefined
  readonly progress: ReplicationProgress
  readonly parts: readonly ReplicationPart[]
} {
  /** The part that matters most. */
  const first = (): PartWatcher | undefined => {
    const found = BY_IMPORTANCE.map((status) => watchers.find(({ currentStatus }) => currentStatus === status))
    return found.find((watcher) => watcher !== undefined)
  }
  return {
    get status() {
      return first()?.currentStatus ?? 'complete'
    },
    get error() {
      return first()?.error
    },
    get progress() {
      return watchers.map(({ progress }) => progress).reduce(added)
    },
    get parts() {
      return watchers.map(({ collection, direction, currentStatus: status, progress, error, waitMs }) => ({
        collection,
        direction,
        status,
        progress,
        error,
        waitMs,
      }))
    },
  }
}

function added(left: ReplicationProgress, right: ReplicationProgress): ReplicationProgress {
  return {
    docsRead: left.docsRead + right.docsRead,
    docsWritten: left.docsWritten + right.docsWritten,
    docsDenied: left.docsDenied + right.docsDenied,
    changesChecked: left.changesChecked + right.changesChecked,
    pending: left.pending === undefined || right.pending === undefined ? undefined : left.pending + right.pending,
    lastSeq: undefined,
  }
}
