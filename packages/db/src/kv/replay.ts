/**
 * Applies commits to a state that has not seen them: for recovery, for the commits of others, and after a storage
 * checkpoint.
 *
 * Overlays are made on first use: the first reads after opening need only some of the log's trees. Keys alone show at
 * once whether a commit fits. A commit that does not fit never belonged to the database, and is not shown.
 */
import type { CommitSequence, Key } from '../base/brand.ts'
import type { PannierError } from '../base/errors.ts'
import { corruptBytes } from '../codec/bytes.ts'
import type { CommitBody, TreeOperations } from './commit-record.ts'
import {
  overlayApply,
  overlayGet,
  type Edit,
  type Overlay,
  type OverlayNode,
  OPERATION_INSERT,
  OPERATION_REMOVE,
} from './overlay.ts'
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
  type TreeState,
} from './state.ts'

/** A commit as the log holds it. */
export interface LoggedCommit {
  readonly sequence: CommitSequence
  readonly body: CommitBody
}

/** How far a log could be replayed. */
interface Replayed {
  readonly state: State
  /** How many of the commits are in the state. */
  readonly count: number
  /** Why the next one is not. */
  readonly failure: PannierError | undefined
}

interface Replay {
  readonly draft: Draft
  readonly slotOfId: Map<number, number>
  /** What is to be done to the tree in a slot. */
  readonly changes: Map<number, TreeOperations[]>
  /** By the id of the tree, the keys that the commits have changed so far: whether there is an entry. */
  readonly present: Map<number, Map<Key, boolean>>
}

/** @throws PANNIER_CORRUPT if one of them does not fit. */
export function applyCommits(state: State, commits: readonly LoggedCommit[]): State {
  const { state: after, failure } = replay(state, commits)
  if (failure !== undefined) throw failure
  return after
}

/** Applies commits up to the first that does not fit what is there: one that can't have been made on that state. */
export function replay(state: State, commits: readonly LoggedCommit[]): Replayed {
  if (commits.length === 0) return { state, count: 0, failure: undefined }
  const work: Replay = { draft: draftOf(state), slotOfId: new Map(), changes: new Map(), present: new Map() }
  const { draft, changes } = work
  draft.trees.forEach((tree, slot) => tree !== undefined && work.slotOfId.set(tree.id, slot))
  let { sequence } = state
  let count = 0
  let failure: PannierError | undefined
  for (const commit of commits) {
    failure = whyUnfit(work, commit, sequence)
    if (failure !== undefined) break
    applyCommit(work, commit)
    sequence = commit.sequence
    count++
  }
  for (const [slot, batch] of changes) changeTree(draftTree(draft, slot), batch)
  return { state: finishDraft(state, draft, sequence), count, failure }
}

/** Why the commit can't have been made on what is there; undefined if it can. A log has thousands: nothing is made in vain. */
function whyUnfit(work: Replay, { sequence, body }: LoggedCommit, before: CommitSequence): PannierError | undefined {
  const { draft, slotOfId } = work
  if (sequence !== before + 1) return corruptBytes(`the log goes from commit ${before} to ${sequence}`)
  const { created, dropped, trees } = body
  for (let i = 0; i < created.length; i++) {
    const { id } = created[i]!
    if (id < draft.nextTreeId || created.findIndex((tree) => tree.id === id) < i)
      return corruptBytes(`commit ${sequence} makes tree ${id}, which was made before`)
  }
  const isMissing = (id: number): boolean => !slotOfId.has(id) && !created.some((tree) => tree.id === id)
  const gone = dropped.find(isMissing) ?? trees.find(({ tree }) => isMissing(tree))?.tree
  if (gone !== undefined) return corruptBytes(`commit ${sequence} changes a tree that does not exist (${gone})`)
  for (const operations of trees) {
    const what = whyTreeUnfit(work, operations)
    if (what !== undefined) return corruptBytes(`commit ${sequence} ${what}`)
  }
  return undefined
}

function whyTreeUnfit(
  { draft, slotOfId, present }: Replay,
  { tree: id, operations, keys }: TreeOperations,
): string | undefined {
  let entries = present.get(id)
  if (entries === undefined) present.set(id, (entries = new Map()))
  const slot = slotOfId.get(id)
  const tree = slot === undefined ? undefined : draft.trees[slot]
  for (let i = 0; i < operations.length; i++) {
    const key = keys[i]!
    const isInsertion = operations[i] === OPERATION_INSERT
    if ((entries.get(key) ?? isPresent(tree, key)) === isInsertion) {
      const what = isInsertion ? 'adds an entry that is there' : 'changes an entry that is not there'
      return `${what} (${tree?.name ?? 'a new tree'})`
    }
    entries.set(key, operations[i] !== OPERATION_REMOVE)
  }
  return undefined
}

/** Whether the tree holds the key, before what is being replayed; undefined if only its pages know. */
function isPresent(tree: TreeState | undefined, key: Key): boolean | undefined {
  const change = tree && overlayGet(tree.overlay, key)
  if (change !== undefined) return typeof change !== 'number'
  return tree?.tree === undefined ? false : undefined
}

function applyCommit({ draft, slotOfId, changes }: Replay, { body }: LoggedCommit): void {
  for (const created of body.created) slotOfId.set(created.id, createTree(draft, created))
  for (const operations of body.trees) {
    const slot = slotOfId.get(operations.tree)!
    if (!changes.get(slot)?.push(operations)) changes.set(slot, [operations])
  }
  for (const id of body.dropped) {
    const slot = slotOfId.get(id)!
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
