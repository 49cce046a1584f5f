/** The `_local/` documents of a collection for callers. The code that reads and writes them is loaded on first use. */
import { loadedModule } from '../../base/lazy-module.ts'
import { badArgument, checkOptions, promised, type OptionNames } from '../../base/options.ts'
import type { MaybePromise } from '../../base/async.ts'
import type { WriteResult } from '../../document/apply-writes.ts'
import { idKeyRange, type IdRange } from '../../document/document-id.ts'
import { encodeLocal, localKey } from '../../document/local-input.ts'
import type * as localDocuments from '../../document/local-documents.ts'
import type { WriteContext } from '../../document/write-documents.ts'
import type { Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { CollectionAccess } from './collection-access.ts'
import type { DocumentReference, JsonObject, Stored } from './document-types.ts'

/** A local document as it is handed in. */
export type LocalInput = JsonObject & { readonly _id: string; readonly _rev?: string }

/** Which local documents a list has. */
export interface LocalListOptions extends IdRange {
  /** The highest number of rows. */
  readonly limit?: number
}

const LIST_OPTIONS: OptionNames<LocalListOptions> = {
  gte: true,
  gt: true,
  lte: true,
  lt: true,
  prefix: true,
  limit: true,
}

type LocalModule = typeof localDocuments

/**
 * Documents that belong to this replica of the collection, such as replication checkpoints. They are not replicated,
 * and are in neither the change feed nor counts, lists or queries. Their revisions are `0-1`, `0-2`, …; a deleted one
 * leaves nothing behind. Ids may be given with or without the `_local/` that documents carry.
 *
 * @example
 * const seen = await people.local.get('seen')
 * await people.local.put({ ...seen, _id: 'seen', seq })
 */
export class LocalDocuments {
  readonly #access: CollectionAccess

  /** @internal Use `collection.local`. */
  constructor(access: CollectionAccess) {
    this.#access = access
  }

  /**
   * The local document with this id, or undefined.
   *
   * @example
   * const seen = await people.local.get('seen')
   */
  get(id: string): Promise<Stored<JsonObject> | undefined> {
    return promised('local.get()', () => {
      const key = localKey(id)
      return this.#read(({ getLocal }, snapshot, number) => getLocal(snapshot, number, key))
    })
  }

  /**
   * Creates a document, or replaces it when `_rev` is its current revision.
   *
   * @throws PANNIER_CONFLICT if it is not; `details` has the `id` and the current `rev`. PANNIER_KEY_TOO_LARGE,
   *   PANNIER_DOCUMENT_TOO_LARGE, PANNIER_DOCUMENT_TOO_DEEP
   * @example
   * await people.local.put({ _id: 'seen', seq })
   */
  put(document: LocalInput): Promise<WriteResult> {
    return promised('local.put()', () => {
      const write = encodeLocal(document)
      return this.#write(({ putLocal }, transaction, writing) => putLocal(transaction, writing, write))
    })
  }

  /**
   * Resolves with undefined if it does not exist.
   *
   * @throws PANNIER_CONFLICT if a `_rev` is given that is not the current one.
   * @example
   * await people.local.delete('seen')
   */
  delete(reference: DocumentReference): Promise<WriteResult | undefined> {
    const { _id, _rev } = typeof reference === 'string' ? { _id: reference } : reference
    if (_rev !== undefined && typeof _rev !== 'string')
      throw badArgument('local.delete()', '_rev must be a string', _rev)
    return promised('local.delete()', () => {
      const key = localKey(_id)
      return this.#write(({ deleteLocal }, transaction, writing) => deleteLocal(transaction, writing, key, _rev))
    })
  }

  /**
   * In the order of their ids.
   *
   * @example
   * const all = await people.local.list({ limit: 10 })
   */
  async list(options: LocalListOptions = {}): Promise<Stored<JsonObject>[]> {
    checkOptions('local.list()', options, LIST_OPTIONS)
    const { limit = Infinity, ...bounds } = options
    const range = idKeyRange(bounds)
    const found = await this.#read(({ listLocal }, snapshot, number) => listLocal(snapshot, number, range, limit))
    return found ?? []
  }

  #read<R>(read: (module: LocalModule, snapshot: Snapshot, number: number) => R): Promise<R | undefined> {
    const { catalog, name } = this.#access.writing
    return this.#loaded((module, access) =>
      access.read((snapshot) => {
        const state = catalog.collection(snapshot, name)
        return state && read(module, snapshot, state.number)
      }),
    )
  }

  #write<R>(write: (module: LocalModule, transaction: WriteTransaction, writing: WriteContext) => R): Promise<R> {
    return this.#loaded((module, access) => access.write((transaction) => write(module, transaction, access.writing)))
  }

  #loaded<R>(work: (module: LocalModule, access: CollectionAccess) => MaybePromise<R>): Promise<R> {
    const access = this.#access
    return access.pending(
      loadedModule(import('../../document/local-documents.ts')).then((module) => work(module, access)),
    )
  }
}
