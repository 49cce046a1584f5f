/** The access of a collection's operations to the store. Transactions have another implementation. */
import type { MaybePromise } from '../../base/async.ts'
import type { UploadTarget } from '../../document/attachments/upload.ts'
import type { CollectionState } from '../../document/catalog.ts'
import type { IdGenerator } from '../../document/document-id.ts'
import type { WriteContext } from '../../document/write-documents.ts'
import type { IndexDeclaration } from '../../index/index-definition.ts'
import type { Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { LoadLiveHost } from '../../query/query.ts'
import type { QuerySource } from '../../query/query-source.ts'
import type { ChosenSettings } from './collection-settings.ts'
import type { CollectionSchema } from '../schema/collection-schema.ts'

/** What the writes to a collection need. */
export interface CollectionWriting extends WriteContext {
  readonly newIds: IdGenerator
  /** `initial`: settings where none are declared. */
  readonly create: (transaction: WriteTransaction, initial?: Readonly<ChosenSettings>) => CollectionState
  readonly schema: CollectionSchema
  /** What the collection gets when it is created. */
  declaredIndexes(): readonly IndexDeclaration[]
}

/** Where reads and writes go. */
export interface CollectionAccess {
  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T>
  write<T>(write: (transaction: WriteTransaction) => T): Promise<T>
  openSource(): MaybePromise<QuerySource>
  /** Where live queries hear of commits; undefined inside a transaction. */
  readonly loadLiveHost: LoadLiveHost
  /** Where content goes that is stored ahead of the write it belongs to; undefined inside a transaction. */
  uploads(): UploadTarget | undefined
  /** Work that ends in a write: a transaction, or the database, is not closed before it has ended. */
  pending<T>(work: Promise<T>): Promise<T>
  /** The collection as this handle last saw it, and whether that is committed. */
  known(): { readonly state: CollectionState | undefined; readonly committed: boolean }
  readonly writing: CollectionWriting
}

/** A transaction has met a collection that has to be migrated first: it starts over. */
export class MigrationNeeded extends Error {
  /** Resolves when it is done. */
  readonly migrate: () => Promise<void>

  constructor(migrate: () => Promise<void>) {
    super('The transaction starts over when the collection is migrated.')
    this.migrate = migrate
  }
}
