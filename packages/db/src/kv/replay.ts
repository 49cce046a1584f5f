/**
 * The state with the changes of commits that it has not seen: for recovery, for the commits of others, and after a storage checkpoint.
 *
 * Overlays are made when somebody looks at them: much of a log is of trees that the first reads after opening do not ask for.
 */
import type { CommitSequence } from '../base/brand.ts'
import { corruptBytes } from '../codec/bytes.ts'
import { OPERATION_INSERT, type CommitBody, type TreeOperations } from './commit-record.ts'
import type { Edit, Overlay, OverlayNode } from './overlay.ts'
import { overlayApply } from './overlay-edit.ts'
import {
  countUp,
  createTree,
  draftOf,
  draftTree,
  dropTree,
  finishDraft,
  type Draft,
  type DraftTree,
  type State,
} from './state.ts'

/** A commit as the log holds it. */
export interface LoggedCommit {
  readonly sequence: CommitSequence
  readonly body: CommitBody
}

interface Replay {
  readonly draft: Draft
  readonly slotOfId: Map<number, number>
  /** What is to be done to the tree in a slot. */
  readonly changes: Map<number, TreeOperations[]>
}

export function applyCommits(state: State, commits: readonly LoggedCommit[]): State {
  if (commits.length === 0) return state
  const replay: Replay = { draft: draftOf(state), slotOfId: new Map(), changes: new Map() }
  const { draft, slotOfId, changes } = replay
  draft.slots.forEach((tree, slot) => tree !== undefined && slotOfId.set(tree.id, slot))
  let { sequence } = state
  for (const commit of commits) {
    if (commit.sequence !== sequence + 1)
      throw corruptBytes(`the log goes from commit ${sequence} to ${commit.sequence}`)
    sequence = commit.sequence
    applyCommit(replay, commit)
  }
  for (const [slot, batch] of changes) changeTree(draftTree(draft, slot), batch)
  return finishDraft(state, draft, sequence)
}

function applyCommit({ draft, slotOfId, changes }: Replay, { sequence, body }: LoggedCommit): void {
  const slotOf = (id: number): number => {
    const slot = slotOfId.get(id)
    if (slot === undefined) throw corruptBytes(`commit ${sequence} changes a tree that does not exist`)
    return slot
  }
  for (const created of body.created) slotOfId.set(created.id, createTree(draft, created))
  for (const operations of body.trees) {
    const slot = slotOf(operations.tree)
    if (!changes.get(slot)?.push(operations)) changes.set(slot, [operations])
  }
  for (const id of body.dropped) {
    const slot = slotOf(id)
    dropTree(draft, slot)
    slotOfId.delete(id)
    changes.delete(slot)
  }
}

function changeTree(tree: DraftTree, batch: readonly TreeOperations[]): void {
  tree.overlay = new ReplayedOverlay(tree.overlay, batch)
  for (const { operations, keys } of batch)
    for (let i = 0; i < operations.length; i++) if (operations[i] === OPERATION_INSERT) countUp(tree, keys[i]!)
}

class ReplayedOverlay implements Overlay {
  #made: Overlay
  #batch: readonly TreeOperations[]

  /** Looks at the overlay before, so that no chain of them grows. */
  constructor({ root }: Overlay, batch: readonly TreeOperations[]) {
    this.#made = { root }
    this.#batch = batch
  }

  get root(): OverlayNode | undefined {
    if (this.#batch.length > 0) {
      this.#made = applyAll(this.#made, this.#batch)
      this.#batch = []
    }
    return this.#made.root
  }
}

function applyAll(overlay: Overlay, batch: readonly TreeOperations[]): Overlay {
  const edit: Edit = {}
  for (const { operations, keys, changes } of batch) {
    for (let i = 0; i < operations.length; i++)
      overlay = overlayApply(overlay, edit, operations[i]!, keys[i]!, changes[i]!)
  }
  return overlay
}
