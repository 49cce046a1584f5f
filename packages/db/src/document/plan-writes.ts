/**
 * Decides the effect of each write of a batch, or refuses it. It reads and changes nothing, so it may fail and miss.
 * Most documents are new or have one leaf revision, so their revisions need not be read. plan-general.ts plans all
 * others.
 */
import { PannierError } from '../base/errors.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { Miss } from '../base/miss.ts'
import { attachmentWriting } from './apply-writes.ts'
import type { AttachmentWork } from './attachments/attachment-changes.ts'
import type { BodyView } from './body.ts'
import {
  checkEdit,
  type DocumentWrite,
  type PlanContext,
  type PlannedWrites,
  type Planner,
  type Refusals,
  type Sections,
} from './document-write.ts'
import type { GeneralPlanner } from './plan-general.ts'

/** Most applications have no conflicts. */
const planning = lazyModule(() => import('./plan-general.ts'))

/**
 * @param writes In the order of the batch.
 * @param byKey The same in the order of their keys, those to one document in the order of the batch; their `old` is found. Those that a
 *   guard has refused may be left out.
 */
export function planWrites(
  context: PlanContext,
  writes: readonly DocumentWrite[],
  byKey: readonly DocumentWrite[],
): PlannedWrites {
  const planner = new WritePlanner(context)
  let miss: Miss | undefined
  for (let at = 0, end = 1; at < byKey.length; at = end++) {
    while (end < byKey.length && byKey[end]!.key === byKey[at]!.key) end++
    try {
      if (end - at === 1) planner.add(byKey[at]!)
      else planner.general.addGroup(byKey.slice(at, end))
    } catch (error) {
      // The others continue, so that what they miss is fetched with it.
      if (error instanceof Miss) miss = error
      // Which failure is the first must not depend on what is in memory: all run again.
      else if (miss === undefined) throw error
    }
  }
  if (miss !== undefined) throw miss
  const { transaction, state, maintenance, shapes, isRefusable } = context
  const work = { writes: onlyOf(writes, planner.changes), shapes, isRefusable }
  const refusals = maintenance.prepare(transaction, state, work)
  if (refusals.size > 0) planner.refuseChanges(refusals, byKey)
  planner.countAttachments()
  return planner
}

/** The writes that change something. */
export function onlyOf(writes: readonly DocumentWrite[], changes: readonly DocumentWrite[]): readonly DocumentWrite[] {
  if (changes.length === writes.length) return writes
  const changing = new Set(changes)
  return writes.filter((write) => changing.has(write))
}

class WritePlanner implements Planner {
  changes: DocumentWrite[] = []
  readonly refused: Map<DocumentWrite, PannierError> = new Map()
  readonly context: PlanContext
  attachments: AttachmentWork | undefined
  #general: GeneralPlanner | undefined

  constructor(context: PlanContext) {
    this.context = context
  }

  get general(): GeneralPlanner {
    return (this.#general ??= new (planning().GeneralPlanner)(this))
  }

  add(write: DocumentWrite): void {
    const { old } = write
    // Most documents of large batches are new, or replace one that has one leaf and no content of ancestors.
    const isSimple = old === undefined || (!old.otherLeaves && !this.context.settings.history)
    if (!isSimple) this.general.add(write)
    else if (write.error !== undefined) this.refuse(write, write.error)
    else if (write.path !== undefined) this.general.replicate(write, write.path)
    else this.#edit(write, old)
  }

  attach(write: DocumentWrite, generation: number, parents: () => Sections): void {
    if (write.hasAttachments) this.#attachmentWork.attach(write, generation, parents)
  }

  /** Counts attachments. Also reads what is needed to apply them. */
  countAttachments(): void {
    const { changes } = this
    const some = changes.some(
      ({ plan, attachments, old }) => plan !== undefined || attachments !== undefined || old?.hasAttachments === true,
    )
    if (some) this.#attachmentWork.count(changes)
  }

  refuse(write: DocumentWrite, error: unknown): void {
    if (this.context.atomic || !(error instanceof PannierError) || error.code === 'PANNIER_CORRUPT') throw error
    this.refused.set(write, error)
  }

  /** With a change all writes to its document are refused. */
  refuseChanges(refusals: Refusals, byKey: readonly DocumentWrite[]): void {
    const reasons = new Map(Array.from(refusals, ([{ key }, error]) => [key, error]))
    for (const write of byKey) {
      const error = reasons.get(write.key)
      if (error !== undefined && !this.refused.has(write)) this.refuse(write, error)
    }
    this.changes = this.changes.filter((write) => !refusals.has(write))
  }

  #edit(write: DocumentWrite, old: BodyView | undefined): void {
    const { mode, settings } = this.context
    try {
      const isLeaf = mode === 'upsert' || (old !== undefined && old.revision === write.revision)
      checkEdit(write, mode, old, isLeaf)
      this.attach(write, (old?.generation ?? 0) + 1, () => old?.attachments)
      if (old !== undefined && old.generation >= settings.revisionsLimit) this.general.stem(write, old)
      else this.changes.push(write)
    } catch (error) {
      this.refuse(write, error)
    }
  }

  get #attachmentWork(): AttachmentWork {
    const { transaction, state } = this.context
    return (this.attachments ??= new (attachmentWriting().AttachmentWork)(transaction, state?.number))
  }
}
