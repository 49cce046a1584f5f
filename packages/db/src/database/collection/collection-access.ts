/** The access of a collection's operations to the store. Transactions have another implementation. */
import type { MaybePromise } from '../../base/async.ts'
import type { UploadTarget } from '../../document/attachments/upload.ts'
import type { CollectionState } from '../../document/catalog.ts'
import type { IdGenerator } from '../../document/document-id.ts'
import type { IndexMaintenance } from '../../document/document-write.ts'
import type { DeleteTarget, EncodedBatch } from '../../document/encoded-batch.ts'
import type { WriteContext, WriteMode } from '../../document/write-documents.ts'
import type { IndexDeclaration } from '../../index/index-definition.ts'
import type { KeyValueStore, Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { LoadLiveHost } from '../../query/query.ts'
import type { QueryRelations } from '../../query/query-run.ts'
import type { ColumnMemory, QuerySource } from '../../query/query-source.ts'
import type { ChosenSettings } from './collection-settings.ts'
import type { CollectionSchema } from '../schema/collection-schema.ts'

/** The parts that writes to a collection need. */
export interface CollectionWriting extends WriteContext {
  readonly newIds: IdGenerator
  /** `initial`: settings where none are declared. */
  readonly create: (transaction: WriteTransaction, initial?: Readonly<ChosenSettings>) => CollectionState
  readonly schema: CollectionSchema
  /** Undefined: no relation acts on a delete. */
  readonly deleteRules: DeleteRules | undefined
  /** The indexes that the collection gets when it is created. */
  declaredIndexes(): readonly IndexDeclaration[]
}

/** Writes that delete documents which others refer to. */
export interface DeleteRules {
  /** Runs `write`, and what follows from the documents that it deletes, as one. */
  write<T>(access: CollectionAccess, write: (transaction: WriteTransaction) => T): Promise<T>
  /** As deletes with `atomic: false`. `many`: the outcome is an array. */
  deleteEach(access: CollectionAccess, targets: readonly DeleteTarget[], many: boolean): Promise<unknown>
  /** As puts with `atomic: false`. */
  putEach(access: CollectionAccess, batch: EncodedBatch, mode: WriteMode, many: boolean): Promise<unknown>
}

/** The effects of declared relations on a collection. */
export interface DatabaseRelations {
  /** How its queries follow them. */
  readonly queriesOf: (name: string) => QueryRelations
  maintenanceOf(name: string, maintenance: IndexMaintenance): IndexMaintenance
  deleteRulesOf(name: string): DeleteRules | undefined
}

/** The parts of the database that uploads need. */
interface UploadContext extends Pick<UploadTarget, 'environment' | 'closing'> {
  readonly store: KeyValueStore
  /** Tokens of uploads of this handle that are under way. */
  readonly liveUploads: Set<string>
}

/** Where reads and writes go. */
export interface CollectionAccess {
  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T>
  write<T>(write: (transaction: WriteTransaction) => T): Promise<T>
  /** Waits until these collections are migrated too, which are then read in the same snapshot. */
  openSource(related?: readonly string[]): MaybePromise<QuerySource>
  readonly relations: QueryRelations | undefined
  /** Where columns are; undefined inside a transaction, which makes none. */
  readonly columns: ColumnMemory | undefined
  /** Where live queries hear of commits; undefined inside a transaction. */
  readonly loadLiveHost: LoadLiveHost
  /** For content that is stored ahead of the write it belongs to (upload-target.ts); undefined inside a transaction. */
  uploads(): UploadContext | undefined
  /** Work that ends in a write: a transaction, or the database, is not closed before it has ended. */
  pending<T>(work: Promise<T>): Promise<T>
  /** The collection as this handle last saw it, and whether that is committed. */
  known(): { readonly state: CollectionState | undefined; readonly committed: boolean }
  readonly writing: CollectionWriting
  /** Judges what a delete does to documents of a collection that refer to the deleted one. It throws its refusals. */
  readonly judgeFollowing?: ((collection: string) => CollectionWriting['judge']) | undefined
}

/** A transaction has met a collection that has to be migrated first, or whose index is not built: it starts over. */
export class MigrationNeeded extends Error {
  /** Migrates; resolves when it is done. */
  readonly migrate: () => Promise<void>

  constructor(migrate: () => Promise<void>) {
    super('The transaction starts over when the collection is migrated.')
    this.migrate = migrate
  }
}
