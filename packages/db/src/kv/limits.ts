/** The thresholds of the log and of storage checkpoints: one decision, docs/adr/0002-immutable-pages-overlay-log.md. */

/** A storage checkpoint starts when the log has grown to this; a transaction that is larger skips the log. */
export const LOG_BYTES_MAX: number = 1024 * 1024
/** A storage checkpoint starts when the log holds this many records, whatever their size. */
export const LOG_RECORDS_MAX = 2500
/** Writes wait for the storage checkpoint when the log has grown beyond this. */
export const WAITING_LOG_BYTES: number = 4 * LOG_BYTES_MAX
/** Writes fail with its error beyond this: storage checkpoints were tried, without room for pages, say. */
export const FAILING_LOG_BYTES: number = 16 * LOG_BYTES_MAX
/** A failed storage checkpoint is tried again when the log has grown by this. */
export const RETRY_BYTES: number = 256 * 1024
/** An idle storage checkpoint starts this long after a write. */
export const IDLE_CHECKPOINT_DELAY_MS = 3000
/** A smaller log is not worth an idle storage checkpoint. */
export const IDLE_CHECKPOINT_BYTES_MIN: number = 64 * 1024
/** Pages of one background storage checkpoint gathered before they are staged. */
export const STAGE_BYTES: number = 512 * 1024
/** Share of the cache that the pages of a commit that skips the log may take before they are staged. */
export const DIRECT_STAGE_SHARE = 0.6
/** The most bytes of such pages, however large the cache is. */
export const DIRECT_STAGE_BYTES_MAX: number = 40 * 1024 * 1024
/** Pages of dropped trees freed by one storage checkpoint. */
export const RECLAIM_PAGES_MAX = 10_000
/** Smaller ones always go to the log: one small write is what a single put may cost. */
export const DIRECT_BYTES_MIN: number = 16 * 1024
/** The least bytes of a write that fills the log for which the log goes to pages. */
export const FILLING_BYTES_MIN: number = 256 * 1024
