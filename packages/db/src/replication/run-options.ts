/** What a run of one direction needs to know, checked. */
import type { Environment } from '../base/environment.ts'
import type { CheckpointSides } from './checkpoint.ts'
import type { PeerFilter, Sequence } from './peer.ts'
import type { Network, ReplicationDirection } from './types.ts'

export const BATCH_SIZE_DEFAULT = 500
export const BATCHES_AHEAD_DEFAULT = 3
export const BACK_OFF_MS_MIN = 500
export const BACK_OFF_MS_MAX: number = 5 * 60 * 1000

export interface RunOptions {
  readonly collection: string
  readonly direction: ReplicationDirection
  readonly live: boolean
  /** Whether failures that another try may mend are tried again. */
  readonly retry: boolean
  /** Milliseconds to wait, of those waited before (0 at first); without it they double, with some chance. */
  readonly backOff: ((delayMs: number) => number) | undefined
  readonly filter: PeerFilter
  readonly style: 'winner' | 'all'
  /** Where to begin, whatever the checkpoints say; undefined: where they say. */
  readonly since: Sequence
  readonly batchSize: number
  readonly batchesAhead: number
  readonly checkpoint: CheckpointSides
  /** Milliseconds between two checkpoints while there is work. */
  readonly checkpointIntervalMs: number
  /** Whether a source that offers a snapshot may be loaded from it. */
  readonly snapshot: boolean
  /** Whether they are made if they are not there. */
  readonly createSource: boolean
  readonly createTarget: boolean
  readonly network: Network | undefined
  readonly environment: Environment
  /** Milliseconds since 1970; only told, never compared. */
  readonly wallClock: () => number
}
