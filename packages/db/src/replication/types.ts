/** The reports of a replication to its users, and the options of a run in one direction. */
import type { PannierError } from '../base/errors.ts'
import type { JsonDocument, ReplicationSequence, PeerFilter } from './peer.ts'
import type { Environment } from '../base/environment.ts'
import type { CheckpointSides } from './checkpoint.ts'

/**
 * - 'active': something is under way.
 * - 'paused': a live one has everything there is and waits for more; or `pause()` was called.
 * - 'offline': waits for the network to come back.
 * - 'backing-off': something failed that another try may mend, and the next try is waited for.
 * - 'complete', 'cancelled', 'failed': it is over.
 */
export type ReplicationStatus = 'active' | 'paused' | 'offline' | 'backing-off' | 'complete' | 'cancelled' | 'failed'

/** 'push' sends changes from here, 'pull' fetches them. */
export type ReplicationDirection = 'push' | 'pull'

/** How far a replication is, in documents. */
export interface ReplicationProgress {
  /** Revisions read from the source, and those of them that the target has taken. */
  readonly docsRead: number
  /** Revisions written to the target. */
  readonly docsWritten: number
  /** Revisions that could not be read or were refused. Each caused an event 'denied'. */
  readonly docsDenied: number
  /** Changes of the source that were looked at. */
  readonly changesChecked: number
  /** Changes of the source that are to be looked at, as far as it says; undefined: not known. */
  readonly pending: number | undefined
  /** How far it is in the change feed of the source: opaque; undefined at the beginning. Of several: of none. */
  readonly lastSeq: ReplicationSequence
}

/** One direction of one collection. */
export interface ReplicationPart {
  /** The name of the collection. */
  readonly collection: string
  /** The direction: whether it sends or fetches. */
  readonly direction: ReplicationDirection
  /** Whether it works, waits or has ended. */
  readonly status: ReplicationStatus
  /** The progress: how far it is. */
  readonly progress: ReplicationProgress
  /** Why it waits to try again, or has failed. */
  readonly error: PannierError | undefined
  /** How long it waits in all until it tries again. */
  readonly waitMs: number | undefined
}

/** How a replication ended. */
export interface ReplicationResult extends ReplicationProgress {
  /** True if it is complete and no document was denied. */
  readonly ok: boolean
  /** Whether it came to its end or was cancelled. */
  readonly status: 'complete' | 'cancelled'
  /** The time of the start, in ISO 8601. */
  readonly startTime: string
  /** When it ended, as an ISO 8601 string. */
  readonly endTime: string
  /** Each direction of each collection. */
  readonly parts: readonly ReplicationPart[]
}

interface EventOf<Type extends string> {
  readonly type: Type
  readonly collection: string
  readonly direction: ReplicationDirection
}

/** The event for a replication's listeners. */
export type ReplicationEvent =
  /** Revisions were written to the target. Of attachments there is nothing in them. */
  | (EventOf<'change'> & { readonly docs: readonly JsonDocument[]; readonly progress: ReplicationProgress })
  /** A document here has several live leaf revisions since it was written. */
  | (EventOf<'conflict'> & { readonly id: string })
  /** A revision could not be read, or the target refuses it; all others continue. */
  | (EventOf<'denied'> & { readonly id: string; readonly rev: string; readonly error: PannierError })
  /** How far it is was recorded on both sides. */
  | (EventOf<'checkpoint'> & { readonly lastSeq: ReplicationSequence })
  /** The status of this part is another one; `error` says why it waits or has failed, `waitMs` how long until the next try. */
  | (EventOf<'status'> & {
      readonly status: ReplicationStatus
      readonly error?: PannierError
      readonly waitMs?: number
    })

/** Tells whether there is a network. */
export interface NetworkStatus {
  /** Whether it is online. False if requests are sure to fail. */
  isOnline(): boolean
  /** Calls back when that changes. The function returned ends it. */
  subscribe(listener: () => void): () => void
}

/** The name of the user's call, in messages. */
export const CALL = 'sync() or replicate()'

export const BATCH_SIZE_DEFAULT = 500
export const BATCHES_AHEAD_DEFAULT = 3
export const BACK_OFF_MS_MIN = 500
export const BACK_OFF_MS_MAX: number = 5 * 60 * 1000

/** The options of a run of one direction, checked. */
export interface RunOptions {
  readonly collection: string
  readonly direction: ReplicationDirection
  readonly live: boolean
  /** Whether to retry: failures that another try may mend are tried again. */
  readonly retry: boolean
  /** Milliseconds to wait, of those waited before (0 at first); without it they double, with some chance. */
  readonly backOff: ((delayMs: number) => number) | undefined
  readonly filter: PeerFilter
  readonly style: 'winner' | 'all'
  /** Where to begin, whatever the replication checkpoints say; undefined: where they say. */
  readonly since: ReplicationSequence
  readonly batchSize: number
  readonly batchesAhead: number
  readonly checkpoint: CheckpointSides
  /** Milliseconds between two replication checkpoints during work. */
  readonly checkpointIntervalMs: number
  /** Whether a source that offers a snapshot may be loaded from it. */
  readonly snapshot: boolean
  /** Whether the source and the target are created if they are not there. */
  readonly createSource: boolean
  readonly createTarget: boolean
  readonly network: NetworkStatus | undefined
  readonly environment: Environment
}
