/**
 * Decides what each write of a batch comes to, or refuses it. Reads whatever it needs and changes nothing, so it may fail and
 * miss. Most documents are new or have one leaf, which needs no look at their revisions; the others get a DocumentPlan.
 */
import { PannierError } from '../base/errors.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { Miss } from '../base/miss.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { AttachmentWork } from './attachments/attachment-work.ts'
import type { BodyView } from './body.ts'
import type { CollectionSettings } from './collection-state.ts'
import type { DocumentPlan } from './document-plan.ts'
import type { DocumentWrite, Refusals } from './document-write.ts'
import { revisionKey } from './revision-entry.ts'
import type { StoredBody } from './load-revisions.ts'
import type { RevisionNode } from './revision-tree.ts'
import { GENERATION_MAX, revisionText } from './revision.ts'
import type { Revision } from './revision.ts'
import type { StoredRevisions } from './stored-revisions.ts'
import { conflict, tooManyGenerations } from './write-errors.ts'

/** Most applications have no conflicts. */
const planning = lazyModule(() => import('./document-plan.ts'))

/**
 * - 'insert': there must be no such document.
 * - 'put': creates, or extends the leaf whose revision is the `_rev` given.
 * - 'upsert': creates or replaces, whatever is there.
 * - 'delete': the document must be there; `_rev`, where it is given, must be a live leaf.
 * - 'replicate': takes up a revision that was made elsewhere.
 */
export type WriteMode = 'insert' | 'put' | 'upsert' | 'delete' | 'replicate'

export interface PlannedWrites {
  /** One for each document that changes. */
  readonly changes: readonly DocumentWrite[]
  /** Why the others are refused. Empty if the batch is all or nothing: then the first reason is thrown. */
  readonly refused: ReadonlyMap<DocumentWrite, PannierError>
}

/**
 * @param byKey The writes in the order of their keys, those to one document in the order of the batch; their `old` is found.
 * @param shapes What their content refers to.
 * @param settings Of the collection, or those that it will have.
 * @param attachments Gets to know what becomes of attachments.
 * @param prepare Reads what the indexes need, and tells which changes they refuse.
 */
export function planWrites(
  stored: StoredRevisions | undefined,
  settings: CollectionSettings,
  byKey: readonly DocumentWrite[],
  shapes: ShapeDictionary,
  mode: WriteMode,
  atomic: boolean,
  attachments: AttachmentWork,
  prepare: (changes: readonly DocumentWrite[]) => Refusals,
): PlannedWrites {
  const planner = new WritePlanner(stored, settings, shapes, mode, atomic, attachments)
  let miss: Miss | undefined
  for (let at = 0, end = 1; at < byKey.length; at = end++) {
    while (end < byKey.length && byKey[end]!.key === byKey[at]!.key) end++
    try {
      if (end - at === 1) planner.add(byKey[at]!)
      else planner.addGroup(byKey.slice(at, end))
    } catch (error) {
      // The others go on, so that what they miss is fetched with it.
      if (!(error instanceof Miss)) throw error
      miss = error
    }
  }
  if (miss !== undefined) throw miss
  const refusals = prepare(planner.changes)
  if (refusals.size > 0) planner.refuse(refusals, byKey)
  attachments.count(planner.changes)
  return planner
}

class WritePlanner implements PlannedWrites {
  changes: DocumentWrite[] = []
  readonly refused = new Map<DocumentWrite, PannierError>()
  readonly #stored: StoredRevisions | undefined
  readonly #settings: CollectionSettings
  readonly #shapes: ShapeDictionary
  readonly #mode: WriteMode
  readonly #atomic: boolean
  readonly #attachments: AttachmentWork

  constructor(
    stored: StoredRevisions | undefined,
    settings: CollectionSettings,
    shapes: ShapeDictionary,
    mode: WriteMode,
    atomic: boolean,
    attachments: AttachmentWork,
  ) {
    this.#stored = stored
    this.#settings = settings
    this.#shapes = shapes
    this.#mode = mode
    this.#atomic = atomic
    this.#attachments = attachments
  }

  add(write: DocumentWrite): void {
    const { old, revision, path, error } = write
    // Most documents of large batches are new.
    const isPlain = path === undefined && error === undefined && !write.hasAttachments
    if (old === undefined && revision === undefined && isPlain) {
      this.changes.push(write)
      return
    }
    if (!this.#isSimple(write)) return this.addGroup([write])
    this.#trying(write, () => {
      if (write.error !== undefined) throw write.error
      const outcome = write.path === undefined ? this.#edit(write) : this.#replicate(write, write.path)
      if (outcome === 'general') this.addGroup([write])
      else if (outcome === 'changes') this.changes.push(write)
    })
  }

  /** The document has one leaf at most, and no content of ancestors. */
  #isSimple({ old }: DocumentWrite): boolean {
    return old === undefined || (!old.otherLeaves && !this.#settings.history)
  }

  #edit(write: DocumentWrite): 'changes' | 'general' {
    const { old, id } = write
    this.#checkEdit(write, old, old !== undefined && old.revision === write.revision)
    this.#attachments.attach(write, (old?.generation ?? 0) + 1, () => old?.attachments)
    if (old === undefined || old.generation < this.#settings.revisionsLimit) return 'changes'
    if (old.generation === GENERATION_MAX) throw tooManyGenerations(id)
    return this.#stem(write, old) ? 'changes' : 'general'
  }

  /** `isLeaf`: the revision given is a leaf that may be extended. */
  #checkEdit(write: DocumentWrite, winner: BodyView | Revision | undefined, isLeaf: boolean): void {
    const live = winner !== undefined && !(winner as { deleted: boolean }).deleted
    const { revision } = write
    if (this.#mode === 'upsert') return
    const allowed =
      this.#mode === 'insert'
        ? !live
        : revision !== undefined
          ? isLeaf
          : this.#mode === 'delete' || winner === undefined || !(live || write.deleted)
    if (!allowed) throw conflict(write.id, live ? winner : undefined)
  }

  /** Forgets the oldest revisions of a document with one leaf, for one more; false if that is not so simple. */
  #stem(write: DocumentWrite, old: BodyView): boolean {
    const { revisionsLimit } = this.#settings
    if (revisionsLimit < 2) return false
    const stemmed: Revision[] = []
    let surplus: number | undefined
    let simple = true
    this.#stored!.each(old.number, (entry) => {
      surplus ??= old.generation + 1 - (entry.generation - 1) + 1 - revisionsLimit
      if (surplus <= stemmed.length) return false
      stemmed.push(entry)
      simple = entry.parent !== undefined && entry.body === undefined
      return simple
    })
    if (simple) write.stemmed = stemmed.map((revision) => revisionKey(old.number, revision))
    return simple
  }

  #replicate(write: DocumentWrite, path: readonly Revision[]): 'changes' | 'nothing' | 'general' {
    const { old } = write
    const { revisionsLimit } = this.#settings
    const newest = path[0]!
    write.rev = revisionText(newest)
    const attach = (): void => this.#attachments.attach(write, newest.generation, () => old?.attachments)
    if (old === undefined) {
      attach()
      write.pathEntries = Math.min(path.length, revisionsLimit) - 1
      return 'changes'
    }
    const steps = newest.generation - old.generation
    const joint = path[steps]
    if (joint === undefined || steps < 0 || joint.suffix !== old.suffix) return 'general'
    const oldest = path.at(-1)!.generation
    const tellsMore = oldest < old.generation && this.#stored!.oldestGeneration(old) > oldest
    if (tellsMore) return 'general'
    if (steps === 0) return 'nothing'
    if (newest.generation > revisionsLimit) return 'general'
    attach()
    write.pathEntries = steps
    return 'changes'
  }

  /** With a change all writes to its document are refused. */
  refuse(refusals: Refusals, byKey: readonly DocumentWrite[]): void {
    const reasons = new Map(Array.from(refusals, ([{ key }, error]) => [key, error]))
    for (const write of byKey) {
      const error = reasons.get(write.key)
      if (error === undefined || this.refused.has(write)) continue
      if (this.#atomic) throw error
      this.refused.set(write, error)
    }
    this.changes = this.changes.filter((write) => !refusals.has(write))
  }

  /** The writes to one document. */
  addGroup(group: readonly DocumentWrite[]): void {
    const { id, old } = group[0]!
    const plan = new (planning().DocumentPlan)(id, this.#stored, old)
    const made: DocumentWrite[] = []
    for (const write of group) {
      this.#trying(write, () => {
        if (write.error !== undefined) throw write.error
        if (write.path !== undefined) this.#replicateInto(plan, write, write.path)
        else this.#extend(plan, write)
        made.push(write)
      })
    }
    const [lead] = made
    if (lead !== undefined && plan.finish(lead, this.#settings)) this.changes.push(lead)
  }

  #extend(plan: DocumentPlan, write: DocumentWrite): void {
    const parent = this.#parent(plan, write)
    this.#attachments.attach(write, (parent?.generation ?? 0) + 1, () => plan.attachmentsOf(parent))
    plan.extend(write, parent, this.#shapes)
  }

  #replicateInto(plan: DocumentPlan, write: DocumentWrite, path: readonly Revision[]): void {
    const { nodes } = plan.tree
    if (!nodes.has(revisionText(path[0]!))) {
      this.#attachments.attach(write, path[0]!.generation, () => {
        const ancestors = path.map((revision) => nodes.get(revisionText(revision)))
        return plan.attachmentsOf(ancestors.find((node) => node?.body !== undefined))
      })
    }
    plan.replicate(write, path)
  }

  #parent(plan: DocumentPlan, write: DocumentWrite): RevisionNode<StoredBody | DocumentWrite> | undefined {
    const winner = plan.tree.winner()
    const named = write.revision === undefined ? undefined : plan.tree.get(write.revision)
    const isLeaf = named?.children === 0 && !(this.#mode === 'delete' && named.deleted)
    this.#checkEdit(write, winner, isLeaf)
    return this.#mode === 'put' || this.#mode === 'delete' ? (named ?? winner) : winner
  }

  #trying(write: DocumentWrite, body: () => void): void {
    try {
      body()
    } catch (error) {
      if (this.#atomic || !(error instanceof PannierError) || error.code === 'PANNIER_CORRUPT') throw error
      this.refused.set(write, error)
    }
  }
}
