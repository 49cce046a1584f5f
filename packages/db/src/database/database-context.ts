/** What the parts of one open database share. */
import type { Environment } from '../base/environment.ts'
import type { Catalog } from '../document/catalog.ts'
import type { IdGenerator } from '../document/document-id.ts'
import type { KeyValueStore } from '../kv/key-value-store.ts'

export interface DatabaseContext {
  readonly store: KeyValueStore
  readonly catalog: Catalog
  readonly environment: Environment
  readonly newIds: IdGenerator
  /** Aborted when the database is closed. */
  readonly closing: AbortSignal
}
