/**
 * The general case of a write: a document that has several leaf revisions, or a history that is more than one line. All
 * its revisions are loaded and changed in memory, by any number of edits; `finish` returns the differences from what is
 * stored. Nothing here changes a tree of the database, so it may fail or miss.
 */
import { corruptBytes, toHex } from '../codec/bytes.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import { type BodyParts, type BodyView, composeBody, numberBytes } from './body.ts'
import type { CollectionSettings, CollectionState } from './catalog.ts'
import {
  type EncodedContent,
  type EntryChange,
  type RevisionChange,
  tooManyGenerations,
  type DocumentWrite,
} from './document-write.ts'
import { hashRevision, ensureTree } from './apply-writes.ts'
import { revisionValue, revisionKey } from './revision-entry.ts'
import { RevisionTree, type RevisionNode } from './revision-tree.ts'
import { GENERATION_MAX, isHashSuffix, revisionText, suffixArray, type Revision } from './revision.ts'
import type { StoredRevisions } from './stored-revisions.ts'
import type { Key } from '../base/brand.ts'
import { numberKey } from '../codec/key-encoding.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'

type PlanNode = RevisionNode<StoredBody | DocumentWrite>

export class DocumentPlan {
  readonly id: string
  readonly tree: RevisionTree<StoredBody | DocumentWrite>
  readonly #stored: StoredRevisions | undefined
  readonly #entries: ReadonlyMap<string, string>
  readonly #old: BodyView | undefined
  /** Ancestors whose bodies were kept before. */
  readonly #kept: ReadonlySet<PlanNode>
  readonly #bodiesBefore: ReadonlySet<number>
  readonly #wasInConflict: boolean
  /** There is a new revision, or one less. */
  #changed = false

  /** `old`: the winner that the document has; undefined if there is no such document. */
  constructor(id: string, stored: StoredRevisions | undefined, old: BodyView | undefined) {
    this.id = id
    this.#stored = stored
    this.#old = old
    const loaded = old === undefined || stored === undefined ? undefined : loadRevisions(stored, old)
    this.tree = loaded?.tree ?? new RevisionTree()
    this.#entries = loaded?.entries ?? new Map()
    const nodes = [...this.tree.nodes.values()]
    this.#kept = new Set(nodes.filter(({ children, body }) => children > 0 && body !== undefined))
    this.#bodiesBefore = new Set(nodes.flatMap(({ body }) => storedNumber(body) ?? []))
    this.#wasInConflict = liveLeaves(nodes) > 1
    const winner = this.tree.winner()
    if (old !== undefined && storedView(winner?.body) !== old) throw corruptBytes('a document has the wrong winner')
  }

  /** Extends `parent` by an edit; undefined: the document is new. */
  extend(write: DocumentWrite, parent: PlanNode | undefined, shapes: ShapeDictionary): void {
    const generation = parent === undefined ? 1 : parent.generation + 1
    if (generation > GENERATION_MAX) throw tooManyGenerations(write.id)
    const parentBytes = parent && suffixArray(parent.suffix)
    const suffix = toHex(hashRevision(write, parentBytes, parent !== undefined && !isHashSuffix(parent.suffix), shapes))
    this.#add(write, parent === undefined ? [{ generation, suffix }] : [{ generation, suffix }, parent])
  }

  /** Takes up a revision that was made elsewhere; of one that is known at most its ancestors are news. */
  replicate(write: DocumentWrite, path: readonly Revision[]): void {
    this.#add(write, path)
  }

  /** Forgets a leaf with what only it descends from. */
  purge(leaf: PlanNode): string[] {
    this.#changed = true
    return this.tree.remove(leaf).map(revisionText)
  }

  /** Makes `lead` stand for the whole document; false if nothing differs from what is stored. */
  finish(lead: DocumentWrite, { revisionsLimit, history }: CollectionSettings): boolean {
    const { tree } = this
    tree.stem(revisionsLimit)
    const nodes = [...tree.nodes.values()]
    for (const node of nodes) if (node.children > 0 && !history && !this.#kept.has(node)) node.body = undefined
    const winner = tree.winner()
    const promoted = storedNumber(winner?.body)
    const bodiesAfter = new Set(nodes.map(({ body }) => storedNumber(body)))
    const gone = [...this.#bodiesBefore].filter((number) => number === promoted || !bodiesAfter.has(number))
    const removedBodies = this.#stored?.bodies(gone.sort((left, right) => left - right)) ?? []
    const promotedBody = removedBodies.find(({ sequence }) => sequence === promoted)
    const entries = nodes.flatMap((node) => this.#entryOf(node, winner!) ?? [])
    const named = new Set(entries.map(({ revision }) => revisionText(revision)))
    const news = entries.filter((entry) => this.#isNews(entry))
    const removed = [...this.#entries.keys()].filter((rev) => !named.has(rev)).map(toRevision)
    if (!this.#changed && news.length === 0 && removed.length === 0) return false
    lead.old = this.#old
    lead.plan = revisionChange({
      winner: winner && { revision: winner, parts: partsOf(winner, promotedBody) },
      hasOtherLeaves: nodes.some((node) => node.children === 0 && node !== winner),
      entries: news,
      removed,
      removedBodies,
      ...this.#attachmentsChanged(nodes, promoted, removedBodies),
      wasInConflict: this.#wasInConflict,
      isInConflict: liveLeaves(nodes) > 1,
    })
    return true
  }

  /** The attachments of a revision, if its content is there; undefined if it has none. */
  attachmentsOf(node: PlanNode | undefined): Uint8Array | undefined {
    const body = node?.body
    if (body === undefined || !('extra' in body)) return body?.attachments
    const view = body.extra === undefined ? body.view : this.#stored!.bodies([body.extra])[0]
    return view?.attachments
  }

  /** A body that moves keeps its attachments. */
  #attachmentsChanged(
    nodes: readonly PlanNode[],
    promoted: number | undefined,
    removedBodies: readonly BodyView[],
  ): Pick<RevisionChange, 'attachmentsAdded' | 'attachmentsRemoved'> {
    const removed = removedBodies.filter(({ sequence }) => sequence !== promoted)
    const old = this.#old
    if (old !== undefined && !nodes.some(({ body }) => storedView(body) === old)) removed.push(old)
    return {
      attachmentsAdded: nodes.flatMap(({ body }) => (body && !('extra' in body) && body.attachments) || []),
      attachmentsRemoved: removed.flatMap(({ attachments }) => attachments ?? []),
    }
  }

  #add(write: DocumentWrite, path: readonly Revision[]): void {
    const rev = revisionText(path[0]!)
    const isNew = this.tree.get(rev) === undefined
    const node = this.tree.merge(path)
    write.rev = rev
    // One that is known already, by another way, has its content.
    if (!isNew) return
    this.#changed = true
    node.deleted = write.deleted
    node.body = write
  }

  #entryOf(node: PlanNode, winner: PlanNode): EntryChange | undefined {
    const body = node === winner ? undefined : (storedNumber(node.body) ?? (node.body && partsOf(node, undefined)))
    const parent = node.parent?.suffix
    if (parent === undefined && body === undefined) return undefined
    return {
      revision: node,
      known: this.#entries.has(revisionText(node)),
      parent,
      leaf: node !== winner && node.children === 0,
      deleted: body !== undefined && node.deleted,
      body,
    }
  }

  #isNews(entry: EntryChange): boolean {
    const { revision, parent, leaf, deleted, body } = entry
    if (!entry.known || typeof body === 'object') return true
    return this.#entries.get(revisionText(revision)) !== revisionValue({ parent, leaf, deleted, body })
  }
}

/** A change with what applies it. */
export function revisionChange(change: Omit<RevisionChange, 'body' | 'apply'>): RevisionChange {
  const plan: RevisionChange = {
    ...change,
    body: (number) => plannedBody(plan, number),
    apply: (transaction, state, write) => applyPlan(transaction, state, write, plan),
  }
  return plan
}

function liveLeaves(nodes: readonly PlanNode[]): number {
  return nodes.reduce((count, { children, deleted }) => count + (children === 0 && !deleted ? 1 : 0), 0)
}

function storedNumber(body: StoredBody | DocumentWrite | undefined): number | undefined {
  return body !== undefined && 'extra' in body ? body.extra : undefined
}

function storedView(body: StoredBody | DocumentWrite | undefined): BodyView | undefined {
  return body !== undefined && 'extra' in body ? body.view : undefined
}

/** The body of a leaf, or of an ancestor that keeps its own. `promoted`: what was read for it from `extra`. */
function partsOf({ body }: PlanNode, promoted: BodyView | undefined): BodyParts & EncodedContent {
  if (body !== undefined && !('extra' in body)) return body
  const view = promoted ?? body?.view
  if (view === undefined) throw corruptBytes('a leaf revision has no content')
  return view
}

function toRevision(rev: string): Revision {
  const at = rev.indexOf('-')
  return { generation: Number(rev.slice(0, at)), suffix: rev.slice(at + 1) }
}

/** A body that is stored: the winner's, or one in `extra`. */
export interface StoredBody {
  /** The number in `extra`; undefined for the winner's body. */
  readonly extra: number | undefined
  /** The winner's is at hand. */
  readonly view: BodyView | undefined
}

interface StoredTree {
  readonly tree: RevisionTree<StoredBody>
  /** The entries as they are stored, by the name of the revision. */
  readonly entries: ReadonlyMap<string, string>
}

/** Loads all known revisions of the document that has this winner. */
export function loadRevisions(stored: StoredRevisions, winner: BodyView): StoredTree {
  const tree = new RevisionTree<StoredBody>()
  const entries = new Map<string, string>()
  stored.each(winner.number, (entry) => {
    const { generation, parent, leaf, deleted, body } = entry
    const path = parent === undefined ? [entry] : [entry, { generation: generation - 1, suffix: parent }]
    const node = tree.merge(path)
    node.deleted = deleted
    if (body !== undefined) node.body = { extra: body, view: undefined }
    entries.set(revisionText(entry), revisionValue({ parent, leaf, deleted, body }))
  })
  const node = tree.node(winner)
  node.deleted = winner.deleted
  node.body = { extra: undefined, view: winner }
  return { tree, entries }
}

/** The body of the winner. If nothing is left of the document, an empty body, which is removed at once. */
function plannedBody({ winner, hasOtherLeaves }: RevisionChange, number: number | undefined): Uint8Array {
  return winner === undefined ? NOTHING : composeBody(winner.parts, winner.revision, number, hasOtherLeaves)
}

function applyPlan(
  transaction: WriteTransaction,
  state: CollectionState,
  { key, number }: { readonly key: Key; readonly number: number },
  plan: RevisionChange,
): void {
  const { trees } = state
  for (const { sequence, bytes } of plan.removedBodies) {
    transaction.tree(trees.otherBodies)!.remove(numberKey(sequence), bytes.length)
  }
  for (const revision of plan.removed) transaction.tree(trees.revisions)!.remove(revisionKey(number, revision))
  for (const entry of plan.entries) {
    const { revision, known, parent, leaf, deleted } = entry
    const value = revisionValue({ parent, leaf, deleted, body: bodyNumber(transaction, state, number, entry) })
    const revisions = ensureTree(transaction, trees.revisions, 'ordered')
    if (known) revisions.replace(revisionKey(number, revision), value)
    else revisions.insert(revisionKey(number, revision), value)
  }
  if (plan.isInConflict === plan.wasInConflict) return
  if (plan.isInConflict) ensureTree(transaction, trees.conflicts, 'ordered').insert(key, numberBytes(number))
  else transaction.tree(trees.conflicts)!.remove(key)
}

function bodyNumber(
  transaction: WriteTransaction,
  { trees }: CollectionState,
  number: number,
  { body, revision }: EntryChange,
): number | undefined {
  if (typeof body !== 'object') return body
  return ensureTree(transaction, trees.otherBodies, 'sequence').append(composeBody(body, revision, number, false))
}

const NOTHING: Uint8Array = new Uint8Array(1)
