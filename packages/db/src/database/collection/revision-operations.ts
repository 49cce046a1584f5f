/** Operations on revisions of documents: conflicts and histories, for replication and its users. */
import { loadedModule } from '../../base/lazy-module.ts'
import type { WriteResult } from '../../document/apply-writes.ts'
import type {
  ConflictedDocument,
  MissingRevisions,
  RevisionFields,
  RevisionReadOptions,
} from '../../document/revision-reads.ts'
import type { PurgeResult } from '../../document/revision-writes.ts'
import type { CollectionAccess } from './collection-access.ts'
import type { DocumentInput, DocumentWithAttachments, RevisionDocument, WithAttachments } from './document-types.ts'
import type * as Revisions from './revision-access.ts'

/** One of the documents that `getRevisions` was asked for. */
export type RevisionResult<T extends object, Document = RevisionDocument<T>> =
  | { readonly ok: Document }
  | { readonly missing: string }

/** One of the documents that `bulkGet` was asked for. */
export type BulkGetResult<T extends object, Document = RevisionDocument<T>> =
  | { readonly id: string; readonly ok: Document }
  | { readonly id: string; readonly missing: string | undefined }

/** A document, or one revision of it. */
export interface RevisionReference {
  /** The id of the document. */
  readonly id: string
  /** The revision; the winner when left out. */
  readonly rev?: string
}

/** Most applications have no conflicts, so what deals with them is loaded on demand. */
export abstract class RevisionOperations<T extends object> {
  /** The name of the collection. */
  readonly name: string
  /** @internal */
  protected readonly access: CollectionAccess

  /** @internal */
  constructor(name: string, access: CollectionAccess) {
    this.name = name
    this.access = access
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
   * Which of the revisions that another replica has are not known here; documents that lack nothing are left out. A revision
   * whose content is no longer kept is known.
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
   * lost their content. It works in small steps: others write in between.
   *
   * @example
   * const forgotten = await people.compact()
   */
  compact(): Promise<number> {
    return this.#withRevisions(({ compact }, access) => compact(access))
  }

  /** @internal `get` with options. */
  protected readRevisions(ids: string | readonly string[], options: RevisionReadOptions): Promise<unknown> {
    return this.#withRevisions(({ readRevisions }, access) => readRevisions(access, ids, options))
  }

  #withRevisions<R>(work: (revisions: typeof Revisions, access: CollectionAccess) => Promise<unknown>): Promise<R> {
    const { access } = this
    return access.pending(
      loadedModule(import('./revision-access.ts')).then((revisions) => work(revisions, access) as Promise<R>),
    )
  }
}
