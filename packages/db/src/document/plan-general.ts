/**
 * Plans the writes that plan-writes.ts leaves: documents with several leaf revisions or a kept history, several writes
 * to one document, revisions from elsewhere, and histories at their limit.
 */
import { toHex } from '../codec/bytes.ts'
import { hashRevision } from './apply-writes.ts'
import { type StoredBody, DocumentPlan } from './document-plan.ts'
import type { BodyView } from './body.ts'
import { checkEdit, tooManyGenerations, type DocumentWrite, type Planner } from './document-write.ts'
import { keptLine, LINE_LIMIT_MIN } from './kept-line.ts'
import { revisionKey } from './revision-entry.ts'
import type { RevisionNode } from './revision-tree.ts'
import { GENERATION_MAX, revisionText, suffixArray, type Revision } from './revision.ts'
import { StoredRevisions } from './stored-revisions.ts'

export class GeneralPlanner {
  readonly #planner: Planner
  readonly #stored: StoredRevisions | undefined

  constructor(planner: Planner) {
    const { transaction, state } = planner.context
    this.#planner = planner
    this.#stored = state && new StoredRevisions(transaction, state)
  }

  /** An edit that is allowed, of a document with one leaf, whose history is as long as it may be. */
  stem(write: DocumentWrite, old: BodyView): void {
    if (old.generation === GENERATION_MAX) throw tooManyGenerations(write.id)
    if (this.#stemLine(write, old)) this.#planner.changes.push(write)
    else this.addGroup([write])
  }

  /** A revision that was made elsewhere, of a document that has one leaf at most. */
  replicate(write: DocumentWrite, path: readonly Revision[]): void {
    try {
      const outcome = this.#replicateLine(write, path)
      if (outcome === 'general') this.addGroup([write])
      else if (outcome === 'changes') this.#planner.changes.push(write)
    } catch (error) {
      this.#planner.refuse(write, error)
    }
  }

  /** A write to a document that has several leaves, or whose ancestors keep their content. */
  add(write: DocumentWrite): void {
    const { old, error } = write
    const { history, revisionsLimit } = this.#planner.context.settings
    const isLine = old !== undefined && !old.otherLeaves && history && revisionsLimit >= LINE_LIMIT_MIN
    if (!isLine || error !== undefined || !this.#lengthen(write, old)) this.addGroup([write])
  }

  /** The writes to one document. */
  addGroup(group: readonly DocumentWrite[]): void {
    const { id, old } = group[0]!
    const plan = new DocumentPlan(id, this.#stored, old)
    const made: DocumentWrite[] = []
    for (const write of group) {
      try {
        if (write.error !== undefined) throw write.error
        if (write.path !== undefined) this.#replicateInto(plan, write, write.path)
        else this.#extend(plan, write)
        made.push(write)
      } catch (error) {
        this.#planner.refuse(write, error)
      }
    }
    const [lead] = made
    if (lead !== undefined && plan.finish(lead, this.#planner.context.settings)) this.#planner.changes.push(lead)
  }

  /** Forgets the oldest revisions of a document with one leaf, for one more; false if that is not so simple. */
  #stemLine(write: DocumentWrite, old: BodyView): boolean {
    const { revisionsLimit } = this.#planner.context.settings
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

  /** False if the new revision does not follow the only leaf, or tells more of its ancestors. */
  #lengthen(write: DocumentWrite, old: BodyView): boolean {
    const { mode, settings, shapes } = this.#planner.context
    const { path } = write
    const stored = this.#stored!
    try {
      let revision: Revision
      if (path === undefined) {
        checkEdit(write, mode, old, mode === 'upsert' || old.revision === write.revision)
        if (old.generation === GENERATION_MAX) throw tooManyGenerations(write.id)
        const generation = old.generation + 1
        this.#planner.attach(write, generation, () => old.attachments)
        const suffix = toHex(hashRevision(write, suffixArray(old.suffix), old.hasTextSuffix, shapes))
        revision = { generation, suffix }
      } else {
        revision = path[0]!
        const isNext = path[1]?.suffix === old.suffix && path[1].generation === old.generation
        if (!isNext || path.at(-1)!.generation < stored.oldestGeneration(old)) return false
        this.#planner.attach(write, revision.generation, () => old.attachments)
      }
      write.rev = revisionText(revision)
      write.plan = keptLine(stored, write, { revision, old, revisionsLimit: settings.revisionsLimit })
      this.#planner.changes.push(write)
    } catch (error) {
      this.#planner.refuse(write, error)
    }
    return true
  }

  #replicateLine(write: DocumentWrite, path: readonly Revision[]): 'changes' | 'nothing' | 'general' {
    const { old } = write
    const { revisionsLimit } = this.#planner.context.settings
    const newest = path[0]!
    write.rev = revisionText(newest)
    const attach = (): void => this.#planner.attach(write, newest.generation, () => old?.attachments)
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

  #extend(plan: DocumentPlan, write: DocumentWrite): void {
    const parent = this.#parent(plan, write)
    this.#planner.attach(write, (parent?.generation ?? 0) + 1, () => plan.attachmentsOf(parent))
    plan.extend(write, parent, this.#planner.context.shapes)
  }

  #replicateInto(plan: DocumentPlan, write: DocumentWrite, path: readonly Revision[]): void {
    const { nodes } = plan.tree
    if (!nodes.has(revisionText(path[0]!))) {
      this.#planner.attach(write, path[0]!.generation, () => {
        const ancestors = path.map((revision) => nodes.get(revisionText(revision)))
        return plan.attachmentsOf(ancestors.find((node) => node?.body !== undefined))
      })
    }
    plan.replicate(write, path)
  }

  #parent(plan: DocumentPlan, write: DocumentWrite): RevisionNode<StoredBody | DocumentWrite> | undefined {
    const { mode } = this.#planner.context
    const winner = plan.tree.winner()
    const named = write.revision === undefined ? undefined : plan.tree.get(write.revision)
    const isLeaf = named?.children === 0 && !(mode === 'delete' && named.deleted)
    checkEdit(write, mode, winner, isLeaf)
    return mode === 'put' || mode === 'delete' ? (named ?? winner) : winner
  }
}
