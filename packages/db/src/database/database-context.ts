/** What the parts of one open database share. */
import type { Environment } from '../base/environment.ts'
import type { Catalog } from '../document/catalog.ts'
import type { IdGenerator } from '../document/document-id.ts'
import type { KeyValueStore } from '../kv/key-value-store.ts'
import type { RelationGraph } from '../relations/relation-graph.ts'
import type { WriteRelations } from './collection/collection-access.ts'

export interface DatabaseContext {
  readonly store: KeyValueStore
  readonly catalog: Catalog
  readonly environment: Environment
  readonly newIds: IdGenerator
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  /** Tokens of uploads of this handle that are under way. */
  readonly liveUploads: Set<string>
  /** Writes that have not reached their transaction yet. `close()` waits for them. */
  readonly pending: Set<Promise<unknown>>
  /** Undefined: `open` declared none. */
  relations: RelationGraph | undefined
  /** What they do to writes. */
  writeRelations: WriteRelations | undefined
  /** Nobody but `open` has the handle yet. */
  opening: boolean
  /** Names the database for all tabs that share it, where they can share a lease. */
  readonly tabs: string | undefined
  /** Aborted when the database is closed. */
  readonly closing: AbortSignal
}
