/** The state of a database as one handle sees it: immutable. A snapshot refers to one; a commit makes the next. */
import type { ReducerId } from '../btree/reducer.ts'
import type { CommitSequence, Generation, Key, PageId } from '../base/brand.ts'
import { keyNumber } from '../codec/key-encoding.ts'
import type { Root, Tree } from '../btree/node.ts'
import type { ReclaimList } from '../pager/reclaim.ts'
import type { CreatedTree } from './commit-record.ts'
import type { TreeKind } from './key-value-store.ts'
import { EMPTY_OVERLAY, type Edit, type Overlay } from './overlay.ts'

export interface TreeState {
  readonly id: number
  readonly name: string
  readonly kind: TreeKind
  readonly reducer: ReducerId | undefined
  /** The pages, as of the last storage checkpoint. An inline tree has none. */
  readonly tree: Tree
  /** The changes after it. All of an inline tree. */
  readonly overlay: Overlay
  /** For a sequence tree: the next number of `append`. */
  readonly nextNumber: number
}

export interface State {
  readonly databaseId: string
  /** The generation of the meta page below. */
  readonly generation: Generation
  /** The sequence of the meta page's trees. */
  readonly baseSequence: CommitSequence
  readonly sequence: CommitSequence
  readonly nextPageId: PageId
  readonly reclaim: ReclaimList
  /** Roots of trees that were dropped since the last storage checkpoint. */
  readonly droppedRoots: readonly Root[]
  readonly nextTreeId: number
  /** A tree keeps its slot, its position here, while it exists. A new one takes the first that is free. */
  readonly trees: readonly (TreeState | undefined)[]
  readonly slotOfName: ReadonlyMap<string, number>
}

/** A tree that belongs to a draft and is changed in place. */
type DraftTree = { -readonly [Property in keyof TreeState]: TreeState[Property] }

/** A state while a batch of changes is made to it. What it was made from stays as it was. */
export interface Draft {
  edit: Edit
  /** Where the trees stand that belong to the draft. */
  owned: Set<number>
  trees: (TreeState | undefined)[]
  slotOfName: ReadonlyMap<string, number>
  nextTreeId: number
  droppedRoots: readonly Root[]
}

export function draftOf(state: State): Draft {
  const { trees, slotOfName, nextTreeId, droppedRoots } = state
  return { edit: {}, owned: new Set(), trees: trees.slice(), slotOfName, nextTreeId, droppedRoots }
}

export function createTree(draft: Draft, { id, name, kind, reducer }: CreatedTree): number {
  const slot = freeSlot(draft.trees)
  draft.trees[slot] = { id, name, kind, reducer, tree: undefined, overlay: EMPTY_OVERLAY, nextNumber: 1 }
  draft.owned.delete(slot)
  draft.slotOfName = new Map(draft.slotOfName).set(name, slot)
  draft.nextTreeId = Math.max(draft.nextTreeId, id + 1)
  return slot
}

export function dropTree(draft: Draft, slot: number): void {
  const { name, tree } = draft.trees[slot]!
  draft.trees[slot] = undefined
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
  const tree = draft.trees[slot]!
  if (draft.owned.has(slot)) return tree
  const own = { ...tree }
  draft.owned.add(slot)
  draft.trees[slot] = own
  return own
}

/** The next number of a sequence tree in which an entry was inserted. */
export function countUp(tree: DraftTree, key: Key): void {
  if (tree.kind === 'sequence') tree.nextNumber = Math.max(tree.nextNumber, keyNumber(key) + 1)
}

export function finishDraft(state: State, draft: Draft, sequence: CommitSequence): State {
  const { trees, slotOfName, nextTreeId, droppedRoots } = draft
  return { ...state, sequence, trees, slotOfName, nextTreeId, droppedRoots }
}

export function namesWithPrefix(names: ReadonlyMap<string, number>, prefix: string): string[] {
  return [...names.keys()].filter((name) => name.startsWith(prefix)).sort()
}

function freeSlot(trees: readonly (TreeState | undefined)[]): number {
  const free = trees.indexOf(undefined)
  return free < 0 ? trees.length : free
}
