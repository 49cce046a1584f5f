/** The state of a replica, and how far a sweep has come: docs/internals/ruled-sync.md. */
import type { SyncedAccount } from '../rules/ruled-fields.ts'

/**
 * A state of a replica between two bounds, as of a sequence. It has all that `must` shows at all times from `fromMs` to `toMs`. It has
 * nothing that `may` does not show at `fromMs`. Records that were written later are in any state.
 */
export interface Reached {
  readonly sequence: number
  /** Names of holdings. */
  readonly may: string
  readonly must: string
  readonly fromMs: number
  readonly toMs: number
}

/** A way to a state, and the place on it. Its holdings are those of the state, and what all pages agree on. */
export interface Sweep extends Reached {
  /** Which walk, which span of it, and behind which row. */
  readonly part: number
  readonly span: number
  readonly after: string
  /** All records come, each with this mark; undefined: only changes do. */
  readonly mark: string | undefined
  /** A first sync begins with the holdings without a range, in the order of ids. */
  readonly byId: boolean
  /** Changes are found by the holdings, not by the sequence. (The name is stored in tokens.) */
  readonly byHeld: boolean
  /** Records with other fields are found by the holdings of the list rule, not by the rules of fields. */
  readonly shownByHeld: boolean
  /** Rows that have left are found by time, not by ground. */
  readonly byTime: boolean
}

/** The position of a replica in the feed of one collection, for one account. */
export interface FeedToken {
  /** The collection of the library, which another one of its name is not. */
  readonly collection: number
  readonly account: SyncedAccount
  /** The start of the server that made it, and how far the index was then. */
  readonly boot: string
  readonly builtTo: number
  /** The version of the rules. */
  readonly rules: string
  /** The version of the part of the collection that the replica has; undefined: all. */
  readonly part: string | undefined
  /**
   * By which fields and holdings all records of the replica are shown, as they are in their revisions. Undefined: some may be shown
   * otherwise than others.
   */
  readonly shape: string | undefined
  readonly reached: Reached | undefined
  readonly sweep: Sweep | undefined
}
