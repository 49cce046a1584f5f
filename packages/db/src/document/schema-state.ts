/**
 * What the catalog says of the version of a collection's schema. It lives here because a collection's state has it; the database
 * layer knows what versions mean.
 */

export interface SchemaState {
  /** 1 or more. That of every document, but for those that `pending` names and for failures. */
  readonly version: number
  /** What is not migrated yet, ascending and disjoint; empty when the migration is done. */
  readonly pending: readonly PendingMigration[]
}

/** Bodies whose sequence number is higher than `after`, and at most `upTo`, have the version `from`. */
export interface PendingMigration {
  readonly after: number
  readonly upTo: number
  readonly from: number
}

export const SCHEMA_VERSION_FIRST = 1

/** Documents that could not be migrated: the tree `<collection>/failures`, made with the first of them. */
export function migrationFailuresTree(collectionNumber: number): string {
  return `${collectionNumber}/failures`
}
