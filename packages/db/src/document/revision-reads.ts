/**
 * Reads revisions: chosen ones, histories, conflicts, and those that another replica lacks. Synchronous; may throw a
 * Miss.
 */
import { Miss, together } from '../base/miss.ts'
import { corruptBytes } from '../codec/bytes.ts'
import { decodeIdKey, idKey } from '../codec/key-encoding.ts'
import { inlineAttachments, type AttachmentForm } from './attachments/attachment.ts'
import type { BodyView } from './body.ts'
import { BATCH_BYTES_MAX, type DocumentReader, type StoredDocument } from './document-reader.ts'
import { loadRevisions, type StoredBody } from './document-plan.ts'
import { pathOf, possibleAncestors, statusOf } from './revision-tree.ts'
import type { RevisionNode, RevisionStatus, RevisionTree } from './revision-tree.ts'
import { historyOf, parseRevision, revisionText } from './revision.ts'
import { StoredRevisions } from './stored-revisions.ts'

/** The options of a read about revisions. */
export interface RevisionFields {
  /** Whether to add `_revisions` (revs): the known ancestors, newest first. */
  readonly revs?: boolean
  /** Adds `_revsInfo`: the same with what is known of each. */
  readonly revsInfo?: boolean
  /** Adds `_conflicts`, if there are any: the other live leaves. */
  readonly conflicts?: boolean
  /** `_attachments` hold the content as `data`, in that form, and not stubs; all of it is in memory then. */
  readonly attachments?: AttachmentForm
  /** Adds `_deletedConflicts`, if there are any: the other leaves that are tombstones. */
  readonly deletedConflicts?: boolean
}

/** Which revision of a document to read, and which facts about its revisions. */
export interface RevisionReadOptions extends RevisionFields {
  /** This revision, even if it does not win or is a tombstone. */
  readonly rev?: string
  /** With `rev`: the leaf that descends from it; if several do, the one that would win. */
  readonly latest?: boolean
}

/** One revision in the history of a document. */
export interface RevisionInfo {
  /** The revision. */
  readonly rev: string
  /** Whether its content is there; 'deleted': it is, and it is a tombstone. */
  readonly status: RevisionStatus
}

export type RevisionRead = { readonly ok: StoredDocument } | { readonly missing: string }

/** A document with conflicts: the revision that wins, and the other live leaves. */
export interface ConflictedDocument {
  /** The id of the document. */
  readonly id: string
  /** The winning revision. */
  readonly rev: string
  /** The other live leaf revisions. */
  readonly conflicts: readonly string[]
}

/** The revisions that a replica lacks of a document. */
export interface MissingRevisions {
  /** The missing revisions, which are not known here. */
  readonly missing: readonly string[]
  /** Possible ancestors: leaves that it has and that the missing ones may descend from; left out if empty. */
  readonly possibleAncestors?: readonly string[]
}

type StoredNode = RevisionNode<StoredBody>

export class RevisionReader {
  readonly documents: DocumentReader
  readonly #stored: StoredRevisions

  constructor(documents: DocumentReader) {
    this.documents = documents
    this.#stored = new StoredRevisions(documents.snapshot, documents.collection)
  }

  /** The winner of each document, live or a tombstone. */
  winners(ids: readonly string[]): (BodyView | undefined)[] {
    const { documents } = this
    const keys = ids.map(idKey)
    const numbers = documents.withDeleted(keys, documents.numbersOf(keys))
    const bodies = documents.bodiesOf(numbers.filter((number) => number !== undefined))
    let next = 0
    return numbers.map((number) => (number === undefined ? undefined : bodies[next++]))
  }

  /** As `read` of the first ones: as many as a batch may hold, and one at least. */
  readSome(
    wanted: readonly { readonly id: string; readonly rev: string | undefined }[],
    options: RevisionReadOptions,
  ): (StoredDocument | undefined)[] {
    const { documents } = this
    const keys = wanted.map(({ id }) => idKey(id))
    const numbers = documents.withDeleted(keys, documents.numbersOf(keys))
    const winners = documents.someBodiesOf(numbers.filter((number) => number !== undefined))
    const found: (StoredDocument | undefined)[] = []
    // A document with thousands of leaves is asked for once for each.
    const trees = new Map<string, RevisionTree<StoredBody>>()
    const treeOf = (winner: BodyView): RevisionTree<StoredBody> => {
      const tree = trees.get(winner.id) ?? loadRevisions(this.#stored, winner).tree
      trees.set(winner.id, tree)
      return tree
    }
    let next = 0
    let bytes = 0
    let miss: Miss | undefined
    for (const [at, { rev }] of wanted.entries()) {
      const isThere = numbers[at] !== undefined
      if ((isThere && next === winners.length) || (found.length > 0 && bytes >= BATCH_BYTES_MAX)) break
      const winner = isThere ? winners[next++]! : undefined
      const chosen = rev === undefined ? options : { ...options, rev }
      try {
        found.push(winner && this.#read(winner, chosen, treeOf, (read) => (bytes += read)))
      } catch (error) {
        // Revisions that don't win may be of any size, so no two of them are fetched together.
        if (!(error instanceof Miss) || (rev !== undefined && rev !== winner?.revision)) throw error
        miss = error
        found.push(undefined)
      }
    }
    if (miss !== undefined) throw miss
    return found
  }

  /** Undefined if there is no such document, or not in the revision asked for. */
  read(id: string, options: RevisionReadOptions): StoredDocument | undefined {
    const [winner] = this.winners([id])
    return winner && this.#read(winner, options)
  }

  /** `tally` counts the bytes that are read. */
  #read(
    winner: BodyView,
    options: RevisionReadOptions,
    treeOf = (body: BodyView): RevisionTree<StoredBody> => loadRevisions(this.#stored, body).tree,
    tally?: (bytes: number) => void,
  ): StoredDocument | undefined {
    if (winner.deleted && options.rev === undefined) return undefined
    const tree = treeOf(winner)
    const found = tree.get(options.rev ?? winner.revision)
    return found && this.#document(tree, options.latest === true ? tree.latest(found) : found, options, tally)
  }

  /** The stored form of each revision. 'all': the leaves. */
  revisions(id: string, revs: readonly string[] | 'all', options: RevisionReadOptions): RevisionRead[] {
    const [winner] = this.winners([id])
    if (winner === undefined) return revs === 'all' ? [] : revs.map((missing) => ({ missing }))
    const { tree } = loadRevisions(this.#stored, winner)
    const results = new Map<string, RevisionRead>()
    for (const rev of revs === 'all' ? tree.leaves().map(revisionText) : revs) {
      const node = tree.get(rev)
      const shown = node && (options.latest === true ? tree.latest(node) : node)
      const ok = shown && this.#document(tree, shown, options)
      results.set(ok === undefined ? rev : ok._rev, ok === undefined ? { missing: rev } : { ok })
    }
    return [...results.values()]
  }

  /** Every leaf of the document, the winner first, with its history and the content of its attachments in base64. */
  leaves(winner: BodyView): StoredDocument[] {
    const { tree } = loadRevisions(this.#stored, winner)
    return tree.leaves().map((leaf) => {
      const document = this.#document(tree, leaf, { revs: true, attachments: 'base64' })
      if (document === undefined) throw corruptBytes('the content of a leaf revision is missing')
      return document
    })
  }

  /**
   * As far as is known, with their histories and stubs of attachments: always the winner, and the other leaves that are
   * stored.
   */
  leavesThere(winner: BodyView): StoredDocument[] {
    const { tree } = loadRevisions(this.#stored, winner)
    return tree.leaves().flatMap((leaf) => {
      const document = this.#document(tree, leaf, { revs: true })
      return document === undefined ? [] : [document]
    })
  }

  /** The unknown ones of the revisions; undefined if all are known. */
  missing(id: string, revs: readonly string[]): MissingRevisions | undefined {
    const [winner] = this.winners([id])
    if (winner === undefined) return revs.length === 0 ? undefined : { missing: revs }
    // The usual question is whether the newest revision is known.
    if (revs.every((rev) => rev === winner.revision)) return undefined
    const { tree } = loadRevisions(this.#stored, winner)
    const missing = revs.filter((rev) => tree.get(rev) === undefined)
    if (missing.length === 0) return undefined
    const ancestors = possibleAncestors(tree.leaves(), missing.map(parseRevision))
    return { missing, ...(ancestors.length > 0 && { possibleAncestors: ancestors }) }
  }

  /** In the order of their ids. */
  conflicts(): ConflictedDocument[] {
    const { snapshot, collection } = this.documents
    const cursor = snapshot.tree(collection.trees.conflicts)?.cursor()
    const ids: string[] = []
    while (cursor?.next() === true) ids.push(decodeIdKey(cursor.key))
    const winners = this.winners(ids)
    return together(ids, (id, at) => {
      const winner = winners[at]
      if (winner === undefined) throw corruptBytes('a document with conflicts is missing')
      const [first, ...others] = loadRevisions(this.#stored, winner).tree.leaves()
      return { id, rev: revisionText(first!), conflicts: others.filter(({ deleted }) => !deleted).map(revisionText) }
    })
  }

  #document(
    tree: RevisionTree<StoredBody>,
    node: StoredNode,
    options: RevisionFields,
    tally?: (bytes: number) => void,
  ): StoredDocument | undefined {
    if (node.body === undefined) return undefined
    const body = node.body.view ?? this.#stored.bodies([node.body.extra!])[0]!
    tally?.(body.bytes.length)
    const document = this.documents.decode(body)
    const { revs, revsInfo, conflicts, deletedConflicts, attachments } = options
    if (attachments !== undefined && body.attachments !== undefined) {
      const { snapshot, collection } = this.documents
      document['_attachments'] = inlineAttachments(snapshot, collection.number, body.attachments, attachments)
    }
    const path = pathOf(node)
    if (revs === true) document['_revisions'] = historyOf(path)
    if (revsInfo === true) {
      document['_revsInfo'] = path.map((at): RevisionInfo => ({ rev: revisionText(at), status: statusOf(at) }))
    }
    const addLeaves = (field: string, deleted: boolean): void => {
      const [, ...others] = tree.leaves()
      const leaves = others.filter((leaf) => leaf.deleted === deleted)
      if (leaves.length > 0) document[field] = leaves.map(revisionText)
    }
    if (conflicts === true) addLeaves('_conflicts', false)
    if (deletedConflicts === true) addLeaves('_deletedConflicts', true)
    return document
  }
}
