/** The document operations of a collection, alone or inside a transaction. Only `CollectionAccess` knows which. */
import type { LongWork } from '../../base/long-work.ts'
import { andThen, isPromise } from '../../base/async.ts'
import { lazyModule, loadedModule } from '../../base/lazy-module.ts'
import { checkPlainObject } from '../../codec/collation.ts'
import type { AttachmentContent } from '../../document/attachments/attachment-input.ts'
import type { Attachment } from '../../document/attachments/attachment.ts'
import {
  checkTargets,
  checkBatchSize,
  encodeBatch,
  guessShapes,
  type ShapeGuess,
} from '../../document/encoded-batch.ts'
import { checkedIds } from '../../document/document-id.ts'
import { patching } from '../../document/document-write.ts'
import { DocumentReader, type StoredDocument } from '../../document/document-reader.ts'
import type { ListedRow, ListRow } from '../../document/list-documents.ts'
import type { WriteResult } from '../../document/apply-writes.ts'
import type {
  ConflictedDocument,
  MissingRevisions,
  RevisionFields,
  RevisionReadOptions,
} from '../../document/revision-reads.ts'
import type { PurgeResult } from '../../document/revision-writes.ts'
import {
  deleteDocuments,
  putDocuments,
  updateDocuments,
  type WriteContext,
  type WriteMode,
  type WriteOutcome,
} from '../../document/write-documents.ts'
import type { Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { WhereFilter } from '../../query/builder.ts'
import type { SelectorMeaning } from '../../query/ast/parse-selector.ts'
import { createQuery, type Query, type Selector } from '../../query/query.ts'
import { createSearch, type SearchQuery } from '../../query/search/search.ts'
import type { SearchOptions } from '../../query/search/search-specification.ts'
import type * as Attachments from './collection-attachments.ts'
import type { GetAttachmentOptions, PutAttachmentOptions, DeleteAttachmentOptions } from './collection-attachments.ts'
import { checkOptions, type OptionNames, calling, named, promised } from '../../base/options.ts'
import type { CollectionAccess } from './collection-access.ts'
import type { CollectionInfo } from './collection-info.ts'
import { DocumentList, listRequest, type ListIdsOptions, type ListOptions } from './document-list.ts'
import type {
  AtomicOptions,
  BatchOptions,
  BulkGetResult,
  DocumentInput,
  DocumentPatch,
  DocumentReference,
  DocumentWithAttachments,
  EditOptions,
  Identified,
  RevisionDocument,
  RevisionReference,
  RevisionResult,
  Stored,
  WithAttachments,
} from './document-types.ts'
import { LocalDocuments } from './local-collection.ts'
import type * as Revisions from './revision-access.ts'
import type { DocumentValidator } from '../schema/validator.ts'

const infos = lazyModule(() => import('./collection-info.ts'))

const BATCH_OPTIONS: OptionNames<BatchOptions> = { atomic: true }
const PUT_OPTIONS: OptionNames<BatchOptions & EditOptions> = { atomic: true, newEdits: true }

/**
 * The documents of a collection. Every write takes one or many; many are all or nothing. `Asked`: documents as queries see
 * them, with those that relations lead to.
 */
export class TransactionCollection<T extends object, Input extends object = T, Asked extends object = Identified<T>> {
  /** The name of the collection. */
  readonly name: string
  /** @internal */
  readonly access: CollectionAccess
  #guess: ShapeGuess | undefined

  /** @internal */
  constructor(name: string, access: CollectionAccess) {
    this.name = name
    this.access = access
  }

  /**
   * The document with this id, or undefined. Many ids give an array in the same order.
   *
   * @example
   * const ann = await people.get('ann')
   * const [first, second] = await people.get(['ann', 'bob'])
   * const withConflicts = await people.get('ann', { conflicts: true })   // has `_conflicts`
   * const withPhoto = await people.get('ann', { attachments: 'blob' })   // or 'bytes', 'base64'
   */
  get(id: string): Promise<Stored<T> | undefined>
  get(id: string, options: WithAttachments & RevisionReadOptions): Promise<DocumentWithAttachments<T> | undefined>
  get(id: string, options: RevisionReadOptions): Promise<RevisionDocument<T> | undefined>
  get(ids: readonly string[]): Promise<(Stored<T> | undefined)[]>
  get(
    ids: readonly string[],
    options: WithAttachments & RevisionFields,
  ): Promise<(DocumentWithAttachments<T> | undefined)[]>
  get(ids: readonly string[], options: RevisionFields): Promise<(RevisionDocument<T> | undefined)[]>
  get(ids: string | readonly string[], options?: RevisionReadOptions): Promise<unknown> {
    if (options !== undefined)
      return this.#withRevisions(({ readRevisions }, access) => readRevisions(access, ids, options))
    if (typeof ids === 'string')
      return promised('get()', () => this.access.read((snapshot) => this.#readOne(snapshot, ids)))
    const list = checkedIds(ids, 'get()')
    return promised('get()', () => this.access.read((snapshot) => this.#readMany(snapshot, list)))
  }

  /**
   * Adds documents. One without an `_id` gets one that sorts by time.
   *
   * @param options With `atomic: false` those that can be written are, and each document has a result of its own.
   * @throws PANNIER_CONFLICT if there is a document with that id; `details` has its `id` and `rev`.
   * @throws PANNIER_DOCUMENT_INVALID if the collection has a schema that refuses one; `details` has its `id`, the `issues`
   *   ({ message, path }[]) and, in a batch, its `position`. PANNIER_SCHEMA_NEWER
   * @throws PANNIER_DOCUMENT_TOO_LARGE, PANNIER_DOCUMENT_TOO_DEEP, PANNIER_KEY_TOO_LARGE, PANNIER_BATCH_TOO_LARGE
   * @throws PANNIER_NOT_UNIQUE, PANNIER_RELATION_BROKEN
   * @example
   * await people.insert({ _id: 'eve', name: 'Eve', age: 31 })
   */
  insert(document: DocumentInput<Input>, options?: AtomicOptions): Promise<WriteResult>
  insert(documents: readonly DocumentInput<Input>[], options?: AtomicOptions): Promise<WriteResult[]>
  insert(document: DocumentInput<Input>, options: BatchOptions): Promise<WriteOutcome>
  insert(documents: readonly DocumentInput<Input>[], options: BatchOptions): Promise<WriteOutcome[]>
  insert(input: DocumentInput<Input> | readonly DocumentInput<Input>[], options?: BatchOptions): Promise<unknown> {
    return this.#writeDocuments(input, 'insert', options)
  }

  /**
   * Creates a document, or replaces it when `_rev` is its current revision. So nobody's change is lost unseen. In a
   * document with conflicts `_rev` may be any leaf, and that leaf is replaced. A document with `_deleted: true` is
   * deleted.
   *
   * @param options With `newEdits: false`, stores revisions of another replica with their `_rev` and `_revisions`. They
   *   never conflict with the write, but may become conflicts in the document; known revisions change nothing. `atomic`
   *   as in `insert`.
   * @throws PANNIER_CONFLICT if `_rev` is not the current revision; `details` has the `id` and the current `rev`. Otherwise
   *   as `insert`. TypeError for a malformed `_rev` or `_revisions` of a replicated revision.
   * @example
   * const ann = await people.get('ann')
   * await people.put({ ...ann!, age: 32 })
   * await people.put({ _id: 'ann', _rev: '2-b', _revisions: { start: 2, ids: ['b', 'a'] }, name: 'Ann', age: 33 }, { newEdits: false })
   */
  put(document: DocumentInput<Input>, options?: AtomicOptions & EditOptions): Promise<WriteResult>
  put(documents: readonly DocumentInput<Input>[], options?: AtomicOptions & EditOptions): Promise<WriteResult[]>
  put(document: DocumentInput<Input>, options: BatchOptions & EditOptions): Promise<WriteOutcome>
  put(documents: readonly DocumentInput<Input>[], options: BatchOptions & EditOptions): Promise<WriteOutcome[]>
  put(
    input: DocumentInput<Input> | readonly DocumentInput<Input>[],
    options: BatchOptions & EditOptions = {},
  ): Promise<unknown> {
    return this.#writeDocuments(input, options.newEdits === false ? 'replicate' : 'put', options)
  }

  /** @internal The same documents with another access. */
  by(change: (access: CollectionAccess) => CollectionAccess): TransactionCollection<T, Input> {
    const copy = new TransactionCollection<T, Input>(this.name, change(this.access))
    copy.#guess = this.#guessShapes()
    return copy
  }

  /**
   * Creates or replaces documents, whatever is there. If several have the same id, the last one counts. Throws as
   * `insert`, but never PANNIER_CONFLICT.
   *
   * @example
   * await people.upsert({ _id: 'ann', name: 'Ann', age: 32 })
   */
  upsert(document: DocumentInput<Input>, options?: AtomicOptions): Promise<WriteResult>
  upsert(documents: readonly DocumentInput<Input>[], options?: AtomicOptions): Promise<WriteResult[]>
  upsert(document: DocumentInput<Input>, options: BatchOptions): Promise<WriteOutcome>
  upsert(documents: readonly DocumentInput<Input>[], options: BatchOptions): Promise<WriteOutcome[]>
  upsert(input: DocumentInput<Input> | readonly DocumentInput<Input>[], options?: BatchOptions): Promise<unknown> {
    return this.#writeDocuments(input, 'upsert', options)
  }

  /**
   * Changes documents atomically: no other write comes between. A patch names the fields that change: its fields replace
   * those of the document, and a field that is `undefined` is removed. A `_rev` in it must be the current revision.
   *
   * A function gets the document and returns the new one; if it returns undefined, the document stays as it is. The function
   * must be synchronous and do nothing else, because it may be called again.
   *
   * @throws PANNIER_NOT_FOUND if there is no such document; `details` has the `id`. PANNIER_CONFLICT if the patch has another
   *   `_rev`. PANNIER_DOCUMENT_INVALID as for `insert`; an asynchronous schema is a TypeError here. What the function throws.
   * @example
   * await people.update('ann', { city: 'Bergen' })
   * await people.update(['ann', 'bob'], (person) => ({ ...person, age: person.age + 1 }))
   */
  // One signature, so that what is wrong with the function is said of the function.
  update<Ids extends string | readonly string[]>(
    ids: Ids,
    change: DocumentPatch<Input> | ((document: Stored<T>) => DocumentInput<Input> | undefined),
  ): Promise<Ids extends string ? WriteResult : WriteResult[]>
  update(ids: string | readonly string[], change: unknown): Promise<WriteResult | WriteResult[]> {
    const many = typeof ids !== 'string'
    const list = many ? checkedIds(ids, 'update()') : [ids]
    const changeStored =
      typeof change === 'function' ? (change as (document: StoredDocument) => unknown) : patching(change)
    return promised('update()', () => {
      checkBatchSize(list.length)
      const update = (validator?: DocumentValidator): Promise<WriteResult | WriteResult[]> => {
        const changeValid = validator?.checkUpdated(changeStored) ?? changeStored
        return this.#write(
          many,
          (transaction, writing) => updateDocuments(transaction, writing, list, changeValid),
          true,
        )
      }
      const { validator } = this.access.writing.schema
      return isPromise(validator) ? this.access.pending(validator.then(update)) : update(validator)
    })
  }

  /**
   * Deletes documents. Resolves with undefined for a missing one. In a document with conflicts the winner is deleted,
   * or the leaf that `_rev` names, and the next leaf wins.
   *
   * @param options `atomic` as in `insert`.
   * @throws PANNIER_CONFLICT if a `_rev` is given that is not the current one (or another live leaf). PANNIER_RELATION_BROKEN if
   *   a document that refers to it restricts that.
   * @example
   * await people.delete('ann')
   * await people.delete(await people.find({ age: { $lt: 18 } }).toArray())
   */
  delete(reference: DocumentReference, options?: AtomicOptions): Promise<WriteResult | undefined>
  delete(references: readonly DocumentReference[], options?: AtomicOptions): Promise<(WriteResult | undefined)[]>
  delete(reference: DocumentReference, options: BatchOptions): Promise<WriteOutcome | undefined>
  delete(references: readonly DocumentReference[], options: BatchOptions): Promise<(WriteOutcome | undefined)[]>
  delete(input: DocumentReference | readonly DocumentReference[], options: BatchOptions = {}): Promise<unknown> {
    const many = Array.isArray(input)
    checkOptions('delete()', options, BATCH_OPTIONS)
    const { atomic = true } = options
    return promised('delete()', () => {
      const targets = checkTargets(many ? input : [input])
      const { access } = this
      const { deleteRules } = access.writing
      if (deleteRules !== undefined && !atomic) return deleteRules.deleteEach(access, targets, many)
      return this.#write(many, (transaction, writing) => deleteDocuments(transaction, writing, targets, atomic), true)
    })
  }

  /**
   * Gives a document an attachment, or replaces the one of that name; all else of the document stays. Without `rev` a
   * document that does not exist is created, if the collection's schema takes one without fields. A string is text (UTF-8);
   * base64 is said: `{ base64: 'aGVsbG8=' }`. An attachment of any length takes little memory; it is seen when all of it is there.
   *
   * Inside a transaction it takes memory, and is limited.
   *
   * @throws PANNIER_CONFLICT if `rev` is not current; PANNIER_DOCUMENT_INVALID; PANNIER_ATTACHMENT_TOO_LARGE, PANNIER_KEY_TOO_LARGE, PANNIER_LIMIT_EXCEEDED,
   *   PANNIER_ABORTED. What the source fails with is passed on. Wrong arguments reject with a TypeError.
   * @example
   * await people.putAttachment('ann', 'photo.jpg', file)
   * await people.putAttachment('ann', 'note.txt', 'She called.')
   * await people.putAttachment('ann', 'film.mp4', response.body, { contentType: 'video/mp4', signal })
   */
  putAttachment(
    id: string,
    name: string,
    content: AttachmentContent,
    options: PutAttachmentOptions = {},
  ): Promise<WriteResult> {
    return this.#withAttachments((attachments, access) => attachments.putAttachment(access, id, name, content, options))
  }

  /**
   * An attachment, or undefined. Its content is read when asked for: `bytes()`, `text()`, `blob()`, `stream()`.
   *
   * @example
   * const photo = await people.getAttachment('ann', 'photo.jpg')
   * image.src = URL.createObjectURL(await photo!.blob())
   */
  getAttachment(id: string, name: string, options: GetAttachmentOptions = {}): Promise<Attachment | undefined> {
    return this.#withAttachments((attachments, access) => attachments.getAttachment(access, id, name, options))
  }

  /**
   * Deletes an attachment of a document. Resolves with undefined if it does not exist.
   *
   * @throws PANNIER_CONFLICT if `rev` is not current.
   * @example
   * await people.deleteAttachment('ann', 'photo.jpg')
   */
  deleteAttachment(id: string, name: string, options: DeleteAttachmentOptions = {}): Promise<WriteResult | undefined> {
    return this.#withAttachments((attachments, access) => attachments.deleteAttachment(access, id, name, options))
  }

  /**
   * A query. It reads nothing before it is asked for an answer.
   *
   * With `dialect: 'couchdb'` the selector means what it means to CouchDB, above all for arrays
   * (docs/internals/query-planner.md, "Dialects"). With `collation` strings are compared and sorted in an order of
   * `registerCollation`.
   *
   * @example
   * const adults = await people.find({ age: { $gte: 18 } }).sort('name').limit(20).toArray()
   * @example
   * const same = await people.find({ tags: ['a', 'b'] }, { dialect: 'couchdb' }).toArray()
   */
  find(selector?: Selector<Asked> | WhereFilter, meaning?: SelectorMeaning): Query<Stored<T>, Asked> {
    const { access } = this
    return createQuery<Stored<T>, Asked>(
      (related) => access.openSource(related),
      selector ?? ({} as Selector<Asked>),
      access.loadLiveHost,
      meaning,
      access.relations,
    )
  }

  /**
   * A search for words in the fields of a text index. `quick bro*` finds documents with the word "quick" and a word
   * that begins with "bro". `"brown fox"` finds the two words next to each other. Case and diacritics don't matter. The
   * best come first (BM25).
   *
   * @example
   * const posts = db.collection<Post>('posts', { indexes: [{ on: ['title', 'body'], text: true }] })
   * const found = await posts.search('quick bro*', { selector: { draft: false } }).limit(20).toArray()
   */
  search(text: string, options: SearchOptions<Identified<T>> = {}): SearchQuery<Stored<T>, Identified<T>> {
    const { access } = this
    return createSearch<Stored<T>, Identified<T>>(() => access.openSource(), text, options, access.relations)
  }

  /**
   * Documents in the order of their ids (by code point), with their revisions. With `ids`, those documents in the order
   * given; their rows say which are deleted or missing. CouchDB's `_all_docs`.
   *
   * @example
   * const { total, offset, rows } = await people.list({ prefix: 'a', skip: 1000, limit: 20, docs: true }).page()
   */
  list(options: ListIdsOptions): DocumentList<ListRow<Stored<T>>>
  list(options?: ListOptions): DocumentList<ListedRow<Stored<T>>>
  list(options: ListOptions | ListIdsOptions = {}): DocumentList<unknown> {
    return new DocumentList(this.access, listRequest(options))
  }

  /** Documents that belong to this copy of the collection and are not replicated. */
  get local(): LocalDocuments {
    return new LocalDocuments(this.access)
  }

  /**
   * How many documents there are, and how far the change feed goes.
   *
   * @example
   * const { documents, lastSeq } = await people.info()
   */
  info(): Promise<CollectionInfo> {
    return promised('info()', () =>
      this.access.read((snapshot) =>
        infos().collectionInfo(
          snapshot,
          this.access.writing.catalog.collection(snapshot, this.name),
          this.name,
          this.access.columns,
        ),
      ),
    )
  }

  /**
   * Revisions of a document: the named ones, or all its leaves, the winner first. A revision that is gone, or never
   * was, is `missing`.
   *
   * @param options With `revs` each has `_revisions`; with `latest` a revision that was replaced gives the leaf that
   *   descends from it.
   * @throws TypeError for a malformed revision.
   * @example
   * for (const result of await people.getRevisions('ann', 'all')) if ('ok' in result) show(result.ok)
   */
  getRevisions(
    id: string,
    revs: 'all' | readonly string[],
    options: RevisionFields & WithAttachments & { readonly latest?: boolean },
  ): Promise<RevisionResult<T, DocumentWithAttachments<T>>[]>
  getRevisions(
    id: string,
    revs: 'all' | readonly string[],
    options?: RevisionFields & { readonly latest?: boolean },
  ): Promise<RevisionResult<T>[]>
  getRevisions(
    id: string,
    revs: 'all' | readonly string[],
    options: RevisionFields & { readonly latest?: boolean } = {},
  ): Promise<unknown> {
    return this.#withRevisions(({ getRevisions }, access) => getRevisions(access, id, revs, options))
  }

  /**
   * Many documents, each in the revision that is named or else as it is now; aligned with the references.
   *
   * @param options With `partial` the result may be shorter: it ends where the documents read have taken about a mebibyte.
   *   At least one is read. Ask again for the others.
   * @throws TypeError for a malformed id or revision.
   * @example
   * const [ann, bob] = await people.bulkGet([{ id: 'ann', rev: '2-…' }, { id: 'bob' }], { revs: true })
   */
  bulkGet(
    references: readonly RevisionReference[],
    options: RevisionFields & WithAttachments & { readonly latest?: boolean; readonly partial?: boolean },
  ): Promise<BulkGetResult<T, DocumentWithAttachments<T>>[]>
  bulkGet(
    references: readonly RevisionReference[],
    options?: RevisionFields & { readonly latest?: boolean; readonly partial?: boolean },
  ): Promise<BulkGetResult<T>[]>
  bulkGet(
    references: readonly RevisionReference[],
    options: RevisionFields & { readonly latest?: boolean; readonly partial?: boolean } = {},
  ): Promise<unknown> {
    return this.#withRevisions(({ bulkGet }, access) => bulkGet(access, references, options))
  }

  /**
   * The revisions of another replica that are not known here; documents that lack nothing are left out. A revision whose content is no
   * longer kept is known.
   *
   * @throws TypeError for a malformed id or revision.
   * @example
   * const { ann } = await people.revsDiff({ ann: ['3-…', '2-…'] })   // { missing: ['3-…'], possibleAncestors: ['2-…'] }
   */
  revsDiff(revs: Readonly<Record<string, readonly string[]>>): Promise<Record<string, MissingRevisions>> {
    return this.#withRevisions(({ revsDiff }, access) => revsDiff(access, revs))
  }

  /**
   * The documents that have several live leaves, by id. Costs as much as there are such documents, however many others.
   *
   * @example
   * for (const { id } of await people.conflicts()) await people.resolve(id, ([mine, ...others]) => merge(mine, others))
   */
  conflicts(): Promise<ConflictedDocument[]> {
    return this.#withRevisions(({ listConflicts }, access) => listConflicts(access))
  }

  /**
   * Ends the conflicts of a document. `choose` gets its live leaves, the winner first. What it returns replaces the
   * winner, and the other leaves are deleted, all in one commit. `choose` must be synchronous and may be called again.
   * If it returns undefined everything stays as it is.
   *
   * @throws PANNIER_NOT_FOUND if there is no such document. What `choose` throws is passed on.
   * @example
   * await people.resolve('ann', (leaves) => ({ ...leaves[0]!, tags: leaves.flatMap(({ tags }) => tags ?? []) }))
   */
  resolve(id: string, choose: (leaves: RevisionDocument<T>[]) => DocumentInput<T> | undefined): Promise<WriteResult> {
    return this.#withRevisions(({ resolve }, access) => resolve(access, id, choose))
  }

  /**
   * Removes leaf revisions without a trace, each with the ancestors that only it has. Other replicas don't learn of it,
   * and may bring them back. Without `revs` nothing is left of the document, not even a tombstone. Revisions that are
   * not leaves stay.
   *
   * @throws TypeError for a malformed revision.
   * @example
   * await people.purge('ann')
   */
  purge(id: string, revs?: string | readonly string[]): Promise<PurgeResult> {
    return this.#withRevisions(({ purge }, access) => purge(access, id, revs))
  }

  /**
   * Removes the content of replaced revisions, which a collection with `history` keeps. Also removes what interrupted
   * uploads of attachments have left, if they ended at least 15 minutes ago. Resolves with the number of revisions that
   * lost their content. It works in small steps: others write in between. A signal ends it after a step.
   *
   * @example
   * const forgotten = await people.compact()
   */
  compact(options: Pick<LongWork, 'signal'> = {}): Promise<number> {
    return this.#withRevisions(({ compact }, access) => compact(access, options))
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

  #writeDocuments(input: unknown, mode: WriteMode, options: BatchOptions & EditOptions = {}): Promise<unknown> {
    const isReplicated = mode === 'replicate'
    const call = isReplicated ? 'put()' : `${mode}()`
    checkOptions(call, options, isReplicated || mode === 'put' ? PUT_OPTIONS : BATCH_OPTIONS)
    const { atomic = true } = options
    const many = Array.isArray(input)
    const inputs: readonly unknown[] = many ? input : [input]
    return promised(call, () => {
      // What other replicas have made is taken up as it is, or the replicas would differ.
      const validator = isReplicated ? undefined : this.access.writing.schema.validator
      if (validator === undefined) return this.#writeValid(call, inputs, many, mode, atomic)
      checkBatchSize(inputs.length)
      const copy = [...inputs]
      copy.forEach(checkPlainObject)
      // As they are to be stored; if not all or nothing, also what is wrong with those that are refused.
      const checked = andThen<DocumentValidator, readonly unknown[]>(validator, (loaded) =>
        atomic ? loaded.checkAll(copy, many) : loaded.checkEach(copy, many),
      )
      if (!isPromise(checked)) return this.#writeValid(call, checked, many, mode, atomic)
      const write = (valid: readonly unknown[]): Promise<unknown> =>
        calling(call, () => this.#writeValid(call, valid, many, mode, atomic))
      return this.access.pending(checked.then(write))
    })
  }

  #writeValid(
    call: string,
    documents: readonly unknown[],
    many: boolean,
    mode: WriteMode,
    atomic: boolean,
  ): Promise<unknown> {
    const { access } = this
    let nextId: (() => string) | undefined
    const newId = (): string => (nextId ??= access.writing.newIds())()
    const batch = encodeBatch(documents, this.#guessShapes(), newId, { replicated: mode === 'replicate', atomic })
    // What a replica has deleted has no further consequences: it sends these itself.
    const deletes = mode !== 'replicate' && batch.writes.some(({ deleted }) => deleted)
    const { deleteRules } = access.writing
    const write = (): Promise<unknown> =>
      deletes && deleteRules !== undefined && !atomic
        ? deleteRules.putEach(access, batch, mode, many)
        : this.#write(many, (transaction, writing) => putDocuments(transaction, writing, batch, mode, atomic), deletes)
    return batch.writes.some((one) => one.hasAttachments)
      ? this.#withAttachments((attachments, access) =>
          attachments.writeWithAttachments(access, batch.writes, atomic, write),
        ).catch((error: unknown) => {
          throw named(call, error)
        })
      : write()
  }

  #withRevisions<R>(work: (revisions: typeof Revisions, access: CollectionAccess) => Promise<unknown>): Promise<R> {
    const { access } = this
    return access.pending(
      loadedModule(import('./revision-access.ts')).then((revisions) => work(revisions, access) as Promise<R>),
    )
  }

  #withAttachments<R>(work: (attachments: typeof Attachments, access: CollectionAccess) => Promise<R>): Promise<R> {
    const { access } = this
    return access.pending(
      loadedModule(import('./collection-attachments.ts')).then((attachments) => work(attachments, access)),
    )
  }

  /** `deletes`: it may delete documents. */
  #write<R>(
    many: boolean,
    write: (transaction: WriteTransaction, writing: WriteContext) => R[],
    deletes: boolean,
  ): Promise<R | R[]> {
    const { access } = this
    const { writing } = access
    const run = (transaction: WriteTransaction): R | R[] => {
      const results = write(transaction, writing)
      return many ? results : results[0]!
    }
    return deletes && writing.deleteRules !== undefined ? writing.deleteRules.write(access, run) : access.write(run)
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
