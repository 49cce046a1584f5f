/** The shared parts of one open database. */
import type { Environment } from '../base/environment.ts'
import type { Catalog } from '../document/catalog.ts'
import type { IdGenerator } from '../document/document-id.ts'
import type { HeldSnapshot, KeyValueStore, Snapshot } from '../kv/key-value-store.ts'
import type { ColumnMemory, QuerySource } from '../query/query-source.ts'
import type { CollectionWriting, DatabaseRelations } from './collection/collection-access.ts'

export interface DatabaseContext {
  readonly store: KeyValueStore
  readonly catalog: Catalog
  readonly environment: Environment
  readonly newIds: IdGenerator
  /** Tokens of uploads of this handle that are under way. */
  readonly liveUploads: Set<string>
  /** Pending writes, which have not reached their transaction yet. `close()` waits for them. */
  readonly pending: Set<Promise<unknown>>
  /** Undefined: `open` declared none. */
  relations: DatabaseRelations | undefined
  /** The access to a collection that `open` declared. */
  readonly accessOf: (collection: string) => SnapshotAccess
  /** Where queries keep the columns of all collections. */
  readonly columns: ColumnMemory
  /** Nobody but `open` has the handle yet. */
  opening: boolean
  /** Names the database for all tabs that share it, where they can share a lease. */
  readonly tabs: string | undefined
  /** Aborted when the database is closed, with PANNIER_CLOSED, or lost: destroyed elsewhere, or to a storage that was put back (PANNIER_RESTORED). */
  readonly closing: AbortSignal
}

/** A collection as it is read beside others, in one snapshot. */
export interface SnapshotAccess {
  readonly writing: Pick<CollectionWriting, 'schema'>
  /** Whether documents have to be migrated before anybody reads them. */
  isBehind(snapshot: Snapshot): boolean
  /** Resolves when it is worth another look. */
  whenMigrated(): Promise<void>
  /** The caller has the snapshot, and releases it. */
  sourceOn(snapshot: HeldSnapshot, release?: () => void): QuerySource
}
