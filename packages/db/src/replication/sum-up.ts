/** Several directions and collections as one replication. */
import type { PannierError } from '../base/errors.ts'
import type { PartWatcher } from './part-watcher.ts'
import type { ReplicationPart, ReplicationProgress, ReplicationStatus } from './types.ts'

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

/** Always as it is now. */
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
