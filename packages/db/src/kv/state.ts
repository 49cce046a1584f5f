/**
 * The state of a database as one handle sees it: immutable. A snapshot is a reference to one; a commit makes the next.
 */
import type { CommitSequence, Generation, Key, PageId } from '../base/brand.ts'
import { corruptBytes } from '../codec/bytes.ts'
import { keyNumber } from '../codec/key-number.ts'
import type { Root, Tree } from '../btree/node.ts'
import type { ReclaimList } from '../pager/reclaim.ts'
import {
  OPERATION_INSERT,
  type CommitBody,
  type CreatedTree,
  type Operation,
  type TreeOperations,
} from './commit-record.ts'
import type { ReducerName, TreeKind } from './key-value-store.ts'
import { EMPTY_OVERLAY, type Change, type Edit, type Overlay } from './overlay.ts'
import { overlayInsert, overlayRemove, overlayReplace } from './overlay-edit.ts'

export interface TreeState {
  readonly id: number
  readonly name: string
  readonly kind: TreeKind
  readonly reducer: ReducerName | undefined
  /** The pages, as of the last storage checkpoint. An inline tree has none. */
  readonly tree: Tree
  /** What came after it. All of an inline tree. */
  readonly overlay: Overlay
  /** Of a sequence tree: the number that `append` will give next. */
  readonly nextNumber: number
}

export interface State {
  readonly databaseId: string
  /** Of the meta page below. */
  readonly generation: Generation
  /** What the meta page's trees hold. */
  readonly baseSequence: CommitSequence
  readonly sequence: CommitSequence
  readonly nextPageId: PageId
  readonly reclaim: ReclaimList
  /** Roots of trees that were dropped since the last storage checkpoint. */
  readonly droppedRoots: readonly Root[]
  readonly nextTreeId: number
  /** Trees by slot; a name's slot does not change while the tree exists. */
  readonly slots: readonly (TreeState | undefined)[]
  readonly slotOfName: ReadonlyMap<string, number>
}

/** A tree that belongs to a draft and is changed in place. */
export type DraftTree = { -readonly [Property in keyof TreeState]: TreeState[Property] }

/** A state while a batch of changes is made to it. What it was made from stays as it was. */
export interface Draft {
  edit: Edit
  /** The slots whose trees belong to the draft. */
  owned: Set<number>
  slots: (TreeState | undefined)[]
  slotOfName: ReadonlyMap<string, number>
  nextTreeId: number
  droppedRoots: readonly Root[]
}

export function draftOf(state: State): Draft {
  const { slots, slotOfName, nextTreeId, droppedRoots } = state
  return { edit: {}, owned: new Set(), slots: slots.slice(), slotOfName, nextTreeId, droppedRoots }
}

export function createTree(draft: Draft, { id, name, kind, reducer }: CreatedTree): number {
  const slot = freeSlot(draft.slots)
  draft.slots[slot] = { id, name, kind, reducer, tree: undefined, overlay: EMPTY_OVERLAY, nextNumber: 1 }
  draft.owned.delete(slot)
  draft.slotOfName = new Map(draft.slotOfName).set(name, slot)
  draft.nextTreeId = Math.max(draft.nextTreeId, id + 1)
  return slot
}

export function dropTree(draft: Draft, slot: number): void {
  const { name, tree } = draft.slots[slot]!
  draft.slots[slot] = undefined
  // When a log is replayed, a new tree of the same name may exist already.
  if (draft.slotOfName.get(name) === slot) {
    const names = new Map(draft.slotOfName)
    names.delete(name)
    draft.slotOfName = names
  }
  if (tree !== undefined) draft.droppedRoots = [...draft.droppedRoots, tree]
}

/** The tree in a slot, to be changed. */
export function draftTree(draft: Draft, slot: number): DraftTree {
  const tree = draft.slots[slot]!
  if (draft.owned.has(slot)) return tree
  const own = { ...tree }
  draft.owned.add(slot)
  draft.slots[slot] = own
  return own
}

/** A commit as the log holds it. */
export interface LoggedCommit {
  readonly sequence: CommitSequence
  readonly body: CommitBody
}

/** The state with the changes of commits: for recovery, for the commits of others, and after a storage checkpoint. */
export function applyCommits(state: State, commits: readonly LoggedCommit[]): State {
  if (commits.length === 0) return state
  const draft = draftOf(state)
  const slotOfId = new Map<number, number>()
  draft.slots.forEach((tree, slot) => tree !== undefined && slotOfId.set(tree.id, slot))
  let { sequence } = state
  for (const commit of commits) {
    if (commit.sequence !== sequence + 1)
      throw corruptBytes(`the log goes from commit ${sequence} to ${commit.sequence}`)
    sequence = commit.sequence
    applyCommit(draft, slotOfId, commit)
  }
  return finishDraft(state, draft, sequence)
}

function applyCommit(draft: Draft, slotOfId: Map<number, number>, { sequence, body }: LoggedCommit): void {
  const slotOf = (id: number): number => {
    const slot = slotOfId.get(id)
    if (slot === undefined) throw corruptBytes(`commit ${sequence} changes a tree that does not exist`)
    return slot
  }
  for (const created of body.created) slotOfId.set(created.id, createTree(draft, created))
  for (const operations of body.trees)
    applyOperations(draftTree(draft, slotOf(operations.tree)), draft.edit, operations)
  for (const id of body.dropped) {
    dropTree(draft, slotOf(id))
    slotOfId.delete(id)
  }
}

export function finishDraft(state: State, draft: Draft, sequence: CommitSequence): State {
  const { slots, slotOfName, nextTreeId, droppedRoots } = draft
  return { ...state, sequence, slots, slotOfName, nextTreeId, droppedRoots }
}

function applyOperations(tree: DraftTree, edit: Edit, { operations, keys, changes }: TreeOperations): void {
  for (let i = 0; i < operations.length; i++) applyOperation(tree, edit, operations[i]!, keys[i]!, changes[i]!)
}

export function applyOperation(tree: DraftTree, edit: Edit, operation: Operation, key: Key, change: Change): void {
  if (typeof change === 'number') {
    tree.overlay = overlayRemove(tree.overlay, edit, key, change)
  } else if (operation === OPERATION_INSERT) {
    tree.overlay = overlayInsert(tree.overlay, edit, key, change)
    if (tree.kind === 'sequence') tree.nextNumber = Math.max(tree.nextNumber, keyNumber(key) + 1)
  } else {
    tree.overlay = overlayReplace(tree.overlay, edit, key, change)
  }
}

export function namesWithPrefix(names: ReadonlyMap<string, number>, prefix: string): string[] {
  return [...names.keys()].filter((name) => name.startsWith(prefix)).sort()
}

function freeSlot(slots: readonly (TreeState | undefined)[]): number {
  const free = slots.indexOf(undefined)
  return free < 0 ? slots.length : free
}
