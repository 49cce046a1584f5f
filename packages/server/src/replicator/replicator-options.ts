/** Options of a server's replications: which hosts are allowed, and how persistently it tries. */
import type { Resolve } from '../outgoing/guarded-fetch.ts'

/** How the replicator works. */
export interface ReplicatorOptions {
  /**
   * Hosts that are not public and allowed all the same: names, addresses and ranges, each perhaps with a port:
   * 'couch.lan', '127.0.0.1:5985', '10.0.0.0/8'. None when left out.
   */
  readonly hosts?: readonly string[]
  /** Replications that run at a time; others wait. 500 when left out. */
  readonly runningMax?: number
  /** How long a continuous one runs before it gives way to others that wait, and waits itself. A minute when left out. */
  readonly runMsMax?: number
  /** Until one that has failed is tried again: doubles from `retryMsMin` (5 s) to `retryMsMax` (an hour). */
  readonly retryMsMin?: number
  /** The longest wait before a retry, in milliseconds. */
  readonly retryMsMax?: number
  /** The wait for the next try within one that runs, of the one before; see `ReplicationOptions` of the library. */
  readonly backOff?: (delayMs: number) => number
  /** In place of `dns.lookup`. */
  readonly resolve?: Resolve
}
