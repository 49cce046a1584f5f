/**
 * A collection as one principal may use it: a subset of the library's collection.
 *
 * Guarantees: nothing outside the principal's scope is read, and nothing is written that a guard refuses. It exposes no
 * object that would bypass this.
 */
import { checkOptions } from 'pannier/internal'
import type {
  Attachment,
  ChangeFeed,
  ChangesOptions,
  Collection,
  CollectionInfo,
  Query,
  Selector,
  View,
  WriteResult,
} from 'pannier'
import type {
  BulkGetResult,
  DocumentList,
  ListedRow,
  ListIdsOptions,
  ListOptions,
  ListRow,
  MissingRevisions,
  RevisionFields,
  RevisionReadOptions,
  RevisionReference,
  SelectorMeaning,
} from 'pannier/types'
import type { JsonObject } from './documents.ts'
import { PUT_OPTIONS } from './guarded-writer.ts'
import type { GuardedOutcome, GuardedWriter, PutOptions } from './guarded-writer.ts'
import type { Principal } from './principal.ts'
import { forbidden } from './service-error.ts'

/** The readable documents: all, or the documents with these ids. */
export type ReadScope = 'all' | ReadonlySet<string>

type Stored = JsonObject & { readonly _id: string; readonly _rev: string }

/** The readable part of a view. */
export type ReadableView = Pick<View<unknown, unknown, unknown, unknown>, 'query' | 'rows' | 'info'>

/** A collection for one principal. Its methods are those of the library's `Collection`; what is out of scope is FORBIDDEN. */
export class GuardedCollection {
  /** The principal for whom it is. */
  readonly principal: Principal
  /** The name by which users know it. */
  readonly database: string
  /** In the database of the server. */
  readonly name: string
  readonly #collection: Collection<JsonObject>
  readonly #scope: ReadScope
  readonly #writer: GuardedWriter

  /** @internal Use `gateway.collection`. */
  constructor(
    principal: Principal,
    database: string,
    collection: Collection<JsonObject>,
    scope: ReadScope,
    writer: GuardedWriter,
  ) {
    this.principal = principal
    this.database = database
    this.name = collection.name
    this.#collection = collection
    this.#scope = scope
    this.#writer = writer
  }

  /** A document. */
  async get(id: string, options?: RevisionReadOptions): Promise<Stored | undefined> {
    this.#within([id])
    const found = options === undefined ? await this.#collection.get(id) : await this.#collection.get(id, options)
    return found as Stored | undefined
  }

  /** An attachment; its content is read when asked for. */
  async getAttachment(id: string, name: string, options?: { readonly rev?: string }): Promise<Attachment | undefined> {
    this.#within([id])
    return this.#collection.getAttachment(id, name, options)
  }

  /** Revisions of many documents. */
  async bulkGet(
    references: readonly RevisionReference[],
    options: RevisionFields & { readonly latest?: boolean; readonly partial?: boolean },
  ): Promise<BulkGetResult<JsonObject>[]> {
    this.#within(references.map(({ id }) => id))
    return this.#collection.bulkGet(references, options)
  }

  /** The revisions among these that are missing here. */
  async revsDiff(revs: Readonly<Record<string, readonly string[]>>): Promise<Record<string, MissingRevisions>> {
    this.#within(Object.keys(revs))
    return this.#collection.revsDiff(revs)
  }

  /** Documents in the order of their ids, or those with certain ids. */
  list(options: ListIdsOptions): DocumentList<ListRow<Stored>>
  list(options: ListOptions): DocumentList<ListedRow<Stored>>
  list(options: ListOptions | ListIdsOptions): DocumentList<unknown> {
    this.#within('ids' in options ? options.ids : undefined)
    return this.#collection.list(options as ListOptions)
  }

  /** The change feed. */
  changes(options: ChangesOptions<JsonObject>): ChangeFeed<JsonObject> {
    this.#within(options.ids)
    return this.#collection.changes(options)
  }

  /** A query. It reads nothing before it is asked for an answer. */
  find(selector: Selector<JsonObject>, meaning?: SelectorMeaning): Query<JsonObject, JsonObject> {
    this.#within(undefined)
    return this.#collection.find(selector as never, meaning) as unknown as Query<JsonObject, JsonObject>
  }

  /** A view that is defined like this, to be read. */
  view(name: string, definition: object): ReadableView {
    this.#within(undefined)
    const view = this.#collection.view(name, definition as never) as unknown as ReadableView
    return {
      query: (options?: object) => view.query(options),
      rows: (options?: object) => view.rows(options),
      info: () => view.info(),
    } as ReadableView
  }

  /** How many documents there are, and how far the change feed goes. */
  async info(): Promise<CollectionInfo> {
    this.#within(undefined)
    return this.#collection.info()
  }

  /** The epoch of the collection. */
  async epoch(): Promise<string> {
    return (await this.#collection.info()).epoch ?? ''
  }

  /** The users that may use it, as an admin has set it; undefined: never set. */
  async security(): Promise<JsonObject | undefined> {
    this.#within(undefined)
    return this.#writer.security(this)
  }

  /** The whole collection as a replica file. */
  exportReplica(signal: AbortSignal): AsyncIterable<Uint8Array> {
    this.#within(undefined)
    return this.#collection.export({ format: 'replica', signal }) as AsyncIterable<Uint8Array>
  }

  /** Writes documents, if guards let them pass. The outcomes are aligned with them. Those with `_local/` ids belong to `local`. @throws ServiceError for what concerns all of them */
  put(documents: readonly JsonObject[], options: PutOptions = {}): Promise<GuardedOutcome[]> {
    checkOptions('put()', options, PUT_OPTIONS)
    return this.#writer.put(this, this.#collection, documents, options)
  }

  /** A `_local/` document. */
  async getLocal(id: string): Promise<Stored | undefined> {
    this.#within(undefined)
    return this.#collection.local.get(id)
  }

  /** All `_local/` documents. */
  async listLocal(): Promise<Stored[]> {
    this.#within(undefined)
    // They tell what others replicate.
    if (!this.principal.isAdmin && this.#writer.isOfApp(this))
      throw forbidden(`Only superusers list the _local documents of ${this.database}.`)
    return this.#collection.local.list()
  }

  /** Writes a `_local/` document. @throws ServiceError QUOTA_EXCEEDED */
  putLocal(document: JsonObject & { readonly _id: string }): Promise<WriteResult> {
    this.#within(undefined)
    return this.#writer.whileWriting(this, async (room) => {
      await room.admit([document])
      return this.#collection.local.put(document)
    })
  }

  /** Deletes a `_local/` document. */
  async deleteLocal(id: string): Promise<void> {
    this.#within(undefined)
    await this.#writer.whileWriting(this, () => this.#collection.local.delete({ _id: id }))
  }

  /** `ids`: of what is to be read; undefined: anything. @throws ServiceError FORBIDDEN */
  #within(ids: readonly string[] | undefined): void {
    const scope = this.#scope
    if (scope === 'all' || (ids !== undefined && ids.every((id) => scope.has(id)))) return
    throw forbidden(`You may not read this of ${this.database}.`)
  }
}
