/**
 * What can be done with the documents of a collection, on its own or inside a transaction: which of the two it is, only
 * `CollectionAccess` knows.
 */
import { andThen, isPromise } from '../base/maybe-promise.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import { isPlainObject } from '../codec/collation.ts'
import type { CollectionState } from '../document/collection-state.ts'
import type { IdGenerator } from '../document/document-id.ts'
import { DocumentReader } from '../document/document-reader.ts'
import type { StoredDocument } from '../document/document-reader.ts'
import { checkBatchSize, encodeBatch, guessShapes } from '../document/encoded-batch.ts'
import type { ShapeGuess } from '../document/encoded-batch.ts'
import { checkTargets, deleteDocuments, putDocuments, updateDocuments } from '../document/write-documents.ts'
import type { WriteResult } from '../document/apply-writes.ts'
import type { WriteContext, WriteMode } from '../document/write-documents.ts'
import type { Snapshot, WriteTransaction } from '../kv/key-value-store.ts'
import { createQuery } from '../query/query.ts'
import type { Query, Selector } from '../query/query.ts'
import type { QuerySource } from '../query/query-source.ts'
import type { DocumentInput, DocumentReference, Stored } from './document-types.ts'
import type { CollectionSchema } from './schema/collection-schema.ts'
import type { DocumentValidator } from './schema/validator.ts'

/** What the writes to a collection need. */
export interface CollectionWriting extends WriteContext {
  readonly newIds: IdGenerator
  readonly schema: CollectionSchema
}

/** Where reads and writes go. */
export interface CollectionAccess {
  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T>
  write<T>(write: (transaction: WriteTransaction) => T): Promise<T>
  openSource(): MaybePromise<QuerySource>
  /** `work` will end with a write: a transaction waits for it. */
  pending<T>(work: Promise<T>): Promise<T>
  /** The collection as far as it is known now, and whether that is committed. */
  known(): { readonly state: CollectionState | undefined; readonly committed: boolean }
  readonly writing: CollectionWriting
}

/** The documents of a collection. Every write takes one or many; many are all or nothing. */
export class CollectionOperations<T extends object, Input extends object = T> {
  readonly name: string
  /** @internal */
  protected readonly access: CollectionAccess
  #guess: ShapeGuess | undefined

  /** @internal */
  constructor(name: string, access: CollectionAccess) {
    this.name = name
    this.access = access
  }

  /**
   * The document with this id, undefined if there is none; for many ids an array in the same order.
   *
   * @example
   * const ann = await people.get('ann')
   * const [first, second] = await people.get(['ann', 'bob'])
   */
  get(id: string): Promise<Stored<T> | undefined>
  get(ids: readonly string[]): Promise<(Stored<T> | undefined)[]>
  get(ids: string | readonly string[]): Promise<unknown> {
    if (typeof ids === 'string') return promised(() => this.access.read((snapshot) => this.#readOne(snapshot, ids)))
    const list = checkedIds(ids)
    return promised(() => this.access.read((snapshot) => this.#readMany(snapshot, list)))
  }

  /**
   * Adds documents. One without an `_id` gets one that sorts by time.
   *
   * @throws PANNIER_CONFLICT if there is a document with that id; `details` has its `id` and `rev`.
   * @throws PANNIER_INVALID_DOCUMENT if the collection has a schema that refuses one; `details` has its `id`, the `issues`
   *   ({ message, path }[]) and, in a batch, its `position`. PANNIER_NEWER_SCHEMA
   * @throws PANNIER_DOCUMENT_TOO_LARGE, PANNIER_DOCUMENT_TOO_DEEP, PANNIER_KEY_TOO_LARGE, PANNIER_BATCH_TOO_LARGE
   * @example
   * await people.insert({ _id: 'ann', name: 'Ann', age: 31 })
   */
  insert(document: DocumentInput<Input>): Promise<WriteResult>
  insert(documents: readonly DocumentInput<Input>[]): Promise<WriteResult[]>
  insert(input: DocumentInput<Input> | readonly DocumentInput<Input>[]): Promise<WriteResult | WriteResult[]> {
    return this.#writeDocuments(input, 'insert')
  }

  /**
   * Creates a document, or replaces it when `_rev` is its current revision: so nobody's change is lost unseen.
   *
   * @throws PANNIER_CONFLICT if `_rev` is not the current revision; `details` has the `id` and the current `rev`. Otherwise
   *   as `insert`.
   * @example
   * const ann = await people.get('ann')
   * await people.put({ ...ann, age: 32 })
   */
  put(document: DocumentInput<Input>): Promise<WriteResult>
  put(documents: readonly DocumentInput<Input>[]): Promise<WriteResult[]>
  put(input: DocumentInput<Input> | readonly DocumentInput<Input>[]): Promise<WriteResult | WriteResult[]> {
    return this.#writeDocuments(input, 'put')
  }

  /**
   * Creates or replaces documents, whatever is there. Of several with one id the last one counts. Throws as `insert`, but
   * there are no conflicts.
   */
  upsert(document: DocumentInput<Input>): Promise<WriteResult>
  upsert(documents: readonly DocumentInput<Input>[]): Promise<WriteResult[]>
  upsert(input: DocumentInput<Input> | readonly DocumentInput<Input>[]): Promise<WriteResult | WriteResult[]> {
    return this.#writeDocuments(input, 'upsert')
  }

  /**
   * Replaces a document by what `change` makes of it, atomically: no other write comes between. `change` must be synchronous
   * and may be called again with the same document, so it should do nothing else. If it returns undefined the document
   * stays as it is.
   *
   * @throws PANNIER_NOT_FOUND if there is no such document; `details` has the `id`. What `change` throws is passed on.
   *   PANNIER_INVALID_DOCUMENT as for `insert`; a schema that is asynchronous is a TypeError here.
   * @example
   * await people.update('ann', (ann) => ({ ...ann, age: ann.age + 1 }))
   */
  update(id: string, change: (document: Stored<T>) => DocumentInput<Input> | undefined): Promise<WriteResult>
  update(
    ids: readonly string[],
    change: (document: Stored<T>) => DocumentInput<Input> | undefined,
  ): Promise<WriteResult[]>
  update(
    ids: string | readonly string[],
    change: (document: Stored<T>) => DocumentInput<Input> | undefined,
  ): Promise<WriteResult | WriteResult[]> {
    const many = typeof ids !== 'string'
    const list = many ? checkedIds(ids) : [ids]
    if (typeof change !== 'function')
      throw new TypeError('update takes a function that makes the new document of the old one')
    const changeStored = change as unknown as (document: StoredDocument) => unknown
    return promised(() => {
      checkBatchSize(list.length)
      return this.#withValidator((validator) => {
        const changeValid = validator?.checkUpdated(changeStored) ?? changeStored
        return this.#write(many, (transaction, writing) => updateDocuments(transaction, writing, list, changeValid))
      })
    })
  }

  /**
   * Deletes documents. Resolves with undefined for one that is not there.
   *
   * @throws PANNIER_CONFLICT if a `_rev` is given that is not the current one.
   * @example
   * await people.delete('ann')
   * await people.delete(await people.find({ age: { $lt: 18 } }).toArray())
   */
  delete(reference: DocumentReference): Promise<WriteResult | undefined>
  delete(references: readonly DocumentReference[]): Promise<(WriteResult | undefined)[]>
  delete(
    input: DocumentReference | readonly DocumentReference[],
  ): Promise<WriteResult | undefined | (WriteResult | undefined)[]> {
    const many = Array.isArray(input)
    return promised(() => {
      const targets = checkTargets(many ? input : [input])
      return this.#write(many, (transaction, writing) => deleteDocuments(transaction, writing, targets))
    })
  }

  /**
   * A query: nothing is read before it is asked for an answer.
   *
   * @example
   * const adults = await people.find({ age: { $gte: 18 } }).sort('name').limit(20).toArray()
   */
  find(selector?: Selector<Stored<T>>): Query<Stored<T>> {
    return createQuery<Stored<T>>(() => this.access.openSource(), selector ?? ({} as Selector<Stored<T>>))
  }

  #readOne(snapshot: Snapshot, id: string): StoredDocument | undefined {
    const state = this.access.writing.catalog.collection(snapshot, this.name)
    if (state === undefined) return undefined
    const reader = new DocumentReader(snapshot, state)
    const body = reader.get(id)
    return body && reader.decode(body)
  }

  #readMany(snapshot: Snapshot, ids: readonly string[]): (StoredDocument | undefined)[] {
    const state = this.access.writing.catalog.collection(snapshot, this.name)
    if (state === undefined) return ids.map(() => undefined)
    const reader = new DocumentReader(snapshot, state)
    return reader.getMany(ids).map((body) => body && reader.decode(body))
  }

  #writeDocuments(input: unknown, mode: WriteMode): Promise<WriteResult | WriteResult[]> {
    const many = Array.isArray(input)
    const { validator: ready } = this.access.writing.schema
    const inputs: readonly unknown[] = many ? (ready === undefined ? input : [...(input as unknown[])]) : [input]
    return promised(() => {
      checkBatchSize(inputs.length)
      if (ready !== undefined && !inputs.every(isPlainObject)) throw new TypeError('a document is a plain object')
      return this.#withValidator((validator) => {
        const documents = validator === undefined ? inputs : validator.checkAll(inputs, many)
        const written = andThen(documents, (valid): MaybePromise<WriteResult | WriteResult[]> => {
          const batch = encodeBatch(valid, this.#guessShapes(), this.access.writing.newIds())
          return this.#write(many, (transaction, writing) => putDocuments(transaction, writing, batch, mode))
        })
        return isPromise(documents) ? this.access.pending(Promise.resolve(written)) : written
      })
    })
  }

  /** `write` is called at once, unless the validator has to be waited for. */
  #withValidator<R>(write: (validator: DocumentValidator | undefined) => MaybePromise<R>): MaybePromise<R> {
    const { validator } = this.access.writing.schema
    return isPromise(validator) ? this.access.pending(validator.then(write)) : write(validator)
  }

  #write<R>(many: boolean, write: (transaction: WriteTransaction, writing: WriteContext) => R[]): Promise<R | R[]> {
    const { access } = this
    const written = access.write((transaction) => write(transaction, access.writing))
    return many ? written : written.then(([result]) => result!)
  }

  /** Kept as long as the collection's shapes stay what they are. */
  #guessShapes(): ShapeGuess {
    const { state, committed } = this.access.known()
    const guess = this.#guess
    if (guess === undefined || guess.base !== state?.shapes || guess.committed !== committed) {
      this.#guess = guessShapes(state, committed)
    }
    return this.#guess!
  }
}

/** Wrong arguments throw at once; everything else rejects. */
export function promised<T>(body: () => T | Promise<T>): Promise<T> {
  try {
    const result = body()
    return isPromise(result) ? result : Promise.resolve(result)
  } catch (error) {
    if (error instanceof TypeError) throw error
    return Promise.reject(error as Error)
  }
}

/** A copy: what the caller does to the array meanwhile changes nothing. */
function checkedIds(ids: unknown): string[] {
  if (!Array.isArray(ids) || ids.some((id) => typeof id !== 'string'))
    throw new TypeError('an id or an array of ids is needed')
  return [...(ids as string[])]
}
