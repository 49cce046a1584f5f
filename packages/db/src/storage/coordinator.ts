/**
 * How the handles of one database (tabs, workers, several `open`s in one process) share one writer lease and tell one another of news.
 *
 * Correctness never rests on it: the page store's fences refuse a writer whose view is stale. The coordinator only makes
 * that rare, and keeps pages alive that another handle still reads.
 */
import type { CommitSequence, Generation } from '../base/brand.ts'

/** A hint: "There may be more to read." May be lost, doubled or late. */
export interface Hint {
  /** The newest commit. */
  readonly sequence: CommitSequence
  /** The newest meta record. */
  readonly generation: Generation
}

/** The right to write, until released or taken away. */
export interface WriterLease {
  /** Another handle waits for the lease: release it soon (after the group commit under way). */
  readonly wanted: boolean
  /** Taken away (this handle was frozen for too long): the fences will refuse what it tries to write. */
  readonly lost: boolean
  /** Handles that the coordinator can't see may write as well: only the fences keep them apart. */
  readonly isShared?: boolean
  /** Called when `wanted` becomes true, also when it is so already. */
  onWanted(callback: () => void): void
  /** Releases it. Idempotent. */
  release(): void
}

/** One handle among those of a database. */
export interface Coordinator {
  /** Handles in this realm whose coordinators have the same are handles of the same database. */
  readonly realm?: string
  /**
   * Resolves when this handle has the lease. First come, first served. A holder that does not answer for
   * `WRITER_SILENCE_MS_MAX` (frozen tab or server) loses its lease. At most one request or lease a handle at a time.
   */
  acquireWriter(): Promise<WriterLease>
  /** Tells every other handle. */
  announce(hint: Hint): void
  /**
   * One listener a handle. Also called after this handle was asleep (thawed, restored from the back/forward cache), and at once if
   * something came before there was a listener.
   */
  onHint(listener: (hint: Hint | undefined) => void): void
  /**
   * States the oldest generation whose pages this handle may still read; replaces what it stated before. Resolves when others
   * can see it. A pin may be lost while its handle is frozen, and the handle does
   * not learn of it. So a read that misses a page looks for a newer state.
   */
  pin(generation: Generation): Promise<void>
  /** The oldest generation pinned by any handle, this one included; undefined without pins. */
  oldestPinned(): Promise<Generation | undefined>
  /** Ends the lease, the pin and the listening. */
  close(): void
}

/** A holder of the lease that gives no sign of life for so long, though asked for it, loses it. */
export const WRITER_SILENCE_MS_MAX = 3000

/** For a database that nobody else can see: nobody shares its lease, and no page may go. */
export const ALONE: Coordinator = {
  acquireWriter: async () => ({ wanted: false, lost: false, onWanted() {}, release() {} }),
  announce() {},
  onHint() {},
  pin: async () => {},
  oldestPinned: async () => 0 as Generation,
  close() {},
}
