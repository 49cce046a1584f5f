/** The options and the report of `repair`. */
import type { LongWork } from '../../base/long-work.ts'
import type { Credential } from '../../storage/encrypted/slots.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'
import type { Problem } from './check-database.ts'

/** Ids of each kind that a report lists. The others are only counted, so that memory is bounded. */
export const REPAIR_IDS_MAX = 1000

/** Nothing of the new database stays when it is cancelled. */
export interface RepairOptions extends LongWork {
  /** The name of the database that is made. There must be none of that name. */
  readonly to: string
  /** The storage of the damaged database, and of the other one that is made; as for `open`. */
  readonly storage?: DatabaseStorage
  /** Opens the damaged one, if it is encrypted, and encrypts the other, which this alone opens then. */
  readonly encryption?: Credential
}

/** The result of a repair for one collection: saved parts, and lost ones. */
export interface RepairedCollection {
  /** The name of the collection. */
  readonly name: string
  /** Documents that were saved, and tombstones. */
  readonly documents: number
  /** Deleted documents that were saved. */
  readonly tombstones: number
  /** The number of these documents that were taken from commits behind the damage of the log. */
  readonly fromLaterCommits: number
  /** Documents and tombstones that could not be read. */
  readonly documentsLost: number
  /** The ids of lost documents, as far as they are known, at most `REPAIR_IDS_MAX`. */
  readonly idsLost: readonly string[]
  /** Documents that lost conflicting revisions or their history, at most `REPAIR_IDS_MAX`. */
  readonly revisionsLost: readonly string[]
  /** Attachments that could not be read; their documents are there without them. At most `REPAIR_IDS_MAX`. */
  readonly attachmentsLost: readonly { readonly id: string; readonly name: string }[]
  /** Local documents that were saved. */
  readonly local: number
  /** Unique indexes that the saved documents do not fit. They are dropped. */
  readonly indexesLost: readonly string[]
}

/** The result of `repair`: the problems that it found, and the parts that it saved. */
export interface RepairReport {
  /** The problems. Empty: nothing, as far as documents go. */
  readonly problems: readonly Problem[]
  /** Everything that the damaged database is known to have held is in the new one. */
  readonly isComplete: boolean
  /** The saved parts of each collection. */
  readonly collections: readonly RepairedCollection[]
  /** Commits behind the damage of the log that can't be read. */
  readonly commitsLost: number
}
