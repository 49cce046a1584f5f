/**
 * The effects of deleted documents, in the transaction that deletes them: `onDelete` of the relations that lead to them.
 *
 * The work needs no list. A tombstone is a new body, and bodies are in the order of their writing. So what is left to do is
 * found behind a position in the bodies of each collection. Three passes: cascades, until nothing new is deleted; then
 * what restricts; then ids are removed.
 */
import { PannierError } from '../base/errors.ts'
import { together } from '../base/miss.ts'
import { numberKey } from '../codec/key-encoding.ts'
import { BodyView } from '../document/body.ts'
import { checkId } from '../document/document-id.ts'
import type { StoredDocument } from '../document/document-reader.ts'
import type { DeleteTarget } from '../document/encoded-batch.ts'
import { deleteDocuments, updateDocuments, type WriteContext } from '../document/write-documents.ts'
import type { TreeReader, WriteTransaction } from '../kv/key-value-store.ts'
import { indexOf, Referrers } from './references.ts'
import { backName, type OnDelete, type Relation, type RelationGraph } from './relation-graph.ts'

/** Referring documents that one step changes, and bodies that it looks at. */
const STEP_DOCUMENTS_MAX = 100
const STEP_BODIES_MAX = 2000

const PASSES: readonly OnDelete[] = ['cascade', 'restrict', 'unset']

/** Relations that act when documents of a collection, or what follows from that, are deleted. */
export interface ActingRelations {
  readonly relations: readonly Relation[]
  /** By the collection that they lead to. */
  readonly byTarget: ReadonlyMap<string, readonly Relation[]>
  /** Every collection that is read or written. */
  readonly collections: readonly string[]
}

/** Undefined: a delete in the collection changes nothing else. */
export function actingRelations(graph: RelationGraph, collection: string): ActingRelations | undefined {
  const byTarget = new Map<string, readonly Relation[]>()
  const collections = new Set([collection])
  for (const target of collections) {
    const acting = graph.relationsTo(target).filter(({ onDelete }) => onDelete !== 'keep')
    byTarget.set(target, acting)
    for (const { from, onDelete } of acting) if (onDelete === 'cascade') collections.add(from)
  }
  if (byTarget.get(collection)!.length === 0) return undefined
  const relations = [...byTarget.values()].flat()
  for (const { from } of relations) collections.add(from)
  return { relations, byTarget, collections: [...collections] }
}

/** Follows what a transaction deletes from now on. */
export class DeleteWork {
  readonly #acting: ActingRelations
  readonly #contextOf: (collection: string) => WriteContext
  readonly #starts = new Map<string, number>()
  #positions: ReadonlyMap<string, number>
  #pass = 0
  #count = 0

  constructor(transaction: WriteTransaction, acting: ActingRelations, contextOf: (collection: string) => WriteContext) {
    this.#acting = acting
    this.#contextOf = contextOf
    for (const name of acting.byTarget.keys())
      this.#starts.set(name, this.#bodiesOf(transaction, name)?.lastNumber ?? 0)
    this.#positions = this.#starts
  }

  /** Documents that were deleted or changed. */
  get count(): number {
    return this.#count
  }

  /**
   * Does a part of the work; false when nothing is left. What it throws undoes nothing here: the changes of this call are
   * to be undone. After a miss it may be called again.
   *
   * @throws PANNIER_RELATION_BROKEN
   */
  step(transaction: WriteTransaction): boolean {
    const onDelete = PASSES[this.#pass]
    if (onDelete === undefined) return false
    for (const [target, acting] of this.#acting.byTarget) {
      const relations = acting.filter((relation) => passOf(relation) === onDelete)
      const { tombstones, end } = relations.length === 0 ? NO_BODIES : this.#read(transaction, target)
      if (end === undefined) continue
      const handled = this.#handle(transaction, relations, tombstones, onDelete)
      const position = handled === tombstones.length ? end : tombstones[handled - 1]?.sequence
      if (position !== undefined) this.#positions = new Map(this.#positions).set(target, position)
      return true
    }
    this.#pass++
    this.#positions = this.#starts
    return true
  }

  /** The next bodies of a collection. */
  #read(transaction: WriteTransaction, target: string): NewBodies {
    const after = this.#positions.get(target)!
    const bodies = this.#bodiesOf(transaction, target)
    if (bodies === undefined || bodies.lastNumber === after) return NO_BODIES
    const cursor = bodies.cursor({ gte: numberKey(after + 1) })
    const body = new BodyView()
    const tombstones: Tombstone[] = []
    let end: number | undefined
    for (let looks = 0; looks < STEP_BODIES_MAX && tombstones.length < STEP_DOCUMENTS_MAX && cursor.next(); looks++) {
      end = cursor.keyNumber
      if (body.load(cursor.value, end).deleted) tombstones.push({ id: body.id, sequence: end })
    }
    return { tombstones, end }
  }

  /** Gives how many of the tombstones, from the first on, are done with. */
  #handle(
    transaction: WriteTransaction,
    relations: readonly Relation[],
    tombstones: readonly Tombstone[],
    onDelete: OnDelete,
  ): number {
    const searches = relations.flatMap((relation) => this.#referrers(transaction, relation) ?? [])
    const counts = together(tombstones, ({ id }) => together(searches, (search) => search.count(id)))
    const first = counts.findIndex((one) => one.some((count) => count > 0))
    if (first === -1) return tombstones.length
    if (onDelete === 'restrict') {
      const at = counts[first]!.findIndex((count) => count > 0)
      const { relation } = searches[at]!
      const { id } = tombstones[first]!
      throw restricted(relation, { id, referring: searches[at]!.of(id, 1)[0]?.id, count: counts[first]![at]! })
    }
    const found = new Referring()
    let handled = first
    for (let room = STEP_DOCUMENTS_MAX; handled < tombstones.length; handled++) {
      const { id } = tombstones[handled]!
      const wanted = counts[handled]!.reduce((sum, count) => sum + count, 0)
      const bodies = wanted === 0 ? [] : together(searches, (search) => search.of(id, room))
      for (const [at, some] of bodies.entries()) for (const body of some) found.add(searches[at]!, id, body)
      // Those that are left are found when it is looked at again.
      if (wanted > room) break
      room -= wanted
    }
    for (const [collection, referring] of found.byCollection) {
      const context = this.#contextOf(collection)
      const isDeleted = (id: string): boolean => onDelete === 'cascade' && isOver(referring.get(id)!)
      const ids = [...referring.keys()]
      const [deleted, changed] = [ids.filter(isDeleted), ids.filter((id) => !isDeleted(id))]
      for (const id of changed) assertFilled(id, referring.get(id)!)
      if (deleted.length > 0) deleteDocuments(transaction, context, deleted.map(targetOf))
      if (changed.length > 0)
        updateDocuments(transaction, context, changed, (document) => unset(document, referring.get(document._id)!))
      this.#count += ids.length
    }
    // A leaf that wins now may refer to any document that is gone.
    if (found.hasConflicts) this.#positions = this.#starts
    return found.hasConflicts ? 0 : handled
  }

  #referrers(transaction: WriteTransaction, relation: Relation): Referrers | undefined {
    const state = this.#contextOf(relation.from).catalog.collection(transaction, relation.from)
    return state && new Referrers(transaction, state, relation, indexOf(state, relation)!)
  }

  #bodiesOf(transaction: WriteTransaction, name: string): TreeReader | undefined {
    const state = this.#contextOf(name).catalog.collection(transaction, name)
    return state && transaction.tree(state.trees.bodies)
  }
}

interface Tombstone {
  readonly id: string
  readonly sequence: number
}

interface NewBodies {
  readonly tombstones: readonly Tombstone[]
  /** The last one that was read; undefined: nothing is left. */
  readonly end: number | undefined
}

const NO_BODIES: NewBodies = { tombstones: [], end: undefined }

/** Deleted ids that a document refers to, by field. */
type DeletedIds = Map<string, FieldReferences>

interface FieldReferences {
  readonly relation: Relation
  readonly ids: Set<string>
  /** No other id is in the field. */
  readonly isOnly: () => boolean
}

/** Documents that refer to deleted ones. */
class Referring {
  readonly byCollection: Map<string, Map<string, DeletedIds>> = new Map()
  /** True if a document has leaves beside its winner. */
  hasConflicts = false

  add(search: Referrers, deleted: string, body: BodyView): void {
    const { relation } = search
    const { id } = body
    this.hasConflicts ||= body.otherLeaves
    const documents = entryOf(this.byCollection, relation.from, () => new Map<string, DeletedIds>())
    const byField = entryOf(documents, id, (): DeletedIds => new Map())
    entryOf(byField, relation.field, (): FieldReferences => {
      const ids = new Set<string>()
      const all = relation.ofRecords ? search.idsIn(body) : []
      return { relation, ids, isOnly: () => all.every((one) => ids.has(one)) }
    }).ids.add(deleted)
  }
}

/** The pass in which documents that refer to a deleted one are looked at. Whether one loses its last id is known at the end. */
function passOf({ onDelete, many, ofRecords }: Relation): OnDelete {
  return ofRecords && many && onDelete === 'restrict' ? 'unset' : onDelete
}

/** Whether a cascade takes the document along. */
function isOver(deleted: DeletedIds): boolean {
  return Array.from(deleted.values()).some(({ isOnly }) => isOnly())
}

/** @throws PANNIER_RELATION_BROKEN where a field would lose its last id that needs one. */
function assertFilled(referring: string, deleted: DeletedIds): void {
  for (const { relation, ids, isOnly } of deleted.values()) {
    if (relation.onDelete !== 'restrict' || !isOnly()) continue
    const [id] = [...ids]
    throw restricted(relation, { id, referring, count: 1 })
  }
}

function entryOf<Name, Value>(map: Map<Name, Value>, name: Name, make: () => Value): Value {
  let value = map.get(name)
  if (value === undefined) map.set(name, (value = make()))
  return value
}

function targetOf(id: string): DeleteTarget {
  return { id, key: checkId(id), revision: undefined }
}

/** The document without the deleted ids. */
function unset(document: StoredDocument, deleted: DeletedIds): StoredDocument {
  for (const [field, { relation, ids }] of deleted) {
    const { [field]: value } = document
    if (Array.isArray(value)) document[field] = value.filter((one) => !ids.has(one as string))
    else if (relation.ofRecords) document[field] = relation.many ? [] : ''
    else delete document[field]
    relation.touch?.(document)
  }
  return document
}

function restricted(
  relation: Relation,
  found: { readonly id: string | undefined; readonly referring: string | undefined; readonly count: number },
): PannierError {
  const { id, referring, count } = found
  const message = `The document '${id}' can't be deleted: ${count} of '${relation.from}' refer to it by '${relation.field}', as '${referring}' does.`
  return new PannierError('PANNIER_RELATION_BROKEN', message, { details: { ...found, relation: backName(relation) } })
}
