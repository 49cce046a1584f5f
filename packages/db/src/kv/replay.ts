/**
 * Applies commits to a state that has not seen them: for recovery, for the commits of others, and after a storage
 * checkpoint.
 *
 * Overlays are made on first use: the first reads after opening need only some of the log's trees. Keys alone show at
 * once whether a commit fits. A commit that does not fit never belonged to the database, and is not shown.
 */
import type { CommitSequence, Key } from '../base/brand.ts'
import { isPannierError, type PannierError } from '../base/errors.ts'
import { corruptBytes } from '../codec/bytes.ts'
import {
  readCommit,
  type CommitBody,
  type CommitReader,
  type CreatedTree,
  type OperationReader,
} from './commit-record.ts'
import {
  overlayApply,
  overlayGet,
  overlayOf,
  type Change,
  type Delta,
  type Edit,
  type Operation,
  type Overlay,
  type OverlayNode,
  OPERATION_INSERT,
  OPERATION_REMOVE,
  OPERATION_REPLACE,
} from './overlay.ts'
import {
  countUp,
  createTree,
  draftOf,
  draftTree,
  dropTree,
  finishDraft,
  type Draft,
  type State,
  type TreeState,
} from './state.ts'

/** A commit as the log holds it. */
export interface LoggedCommit {
  readonly sequence: CommitSequence
  /** Or its log record, which was verified. */
  readonly body: CommitBody | Uint8Array
}

/** How far a log could be replayed. */
interface Replayed {
  readonly state: State
  /** How many of the commits are in the state. */
  readonly count: number
  /** The failure: why the next one is not. */
  readonly failure: PannierError | undefined
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
  const work = new Replay(state)
  for (let count = 0; count < commits.length; count++) {
    try {
      work.apply(commits[count]!)
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
      // It may have been applied in part.
      return { ...replay(state, commits.slice(0, count)), failure: error }
    }
  }
  return { state: work.finish(), count: commits.length, failure: undefined }
}

/** A log has thousands of commits: nothing is made in vain. */
class Replay implements CommitReader {
  readonly #state: State
  readonly #draft: Draft
  readonly #slotOfId = new Map<number, number>()
  /** By the id of the tree. */
  readonly #changes = new Map<number, TreeChanges>()
  #sequence: CommitSequence
  #dropped: number[] = []

  constructor(state: State) {
    this.#state = state
    this.#sequence = state.sequence
    this.#draft = draftOf(state)
    state.trees.forEach((tree, slot) => tree !== undefined && this.#slotOfId.set(tree.id, slot))
  }

  /** @throws PANNIER_CORRUPT if it can't have been made on what is there. */
  apply({ sequence, body }: LoggedCommit): void {
    if (sequence !== this.#sequence + 1) throw corruptBytes(`the log goes from commit ${this.#sequence} to ${sequence}`)
    this.#sequence = sequence
    readCommit(body, this)
    for (const id of this.#dropped) {
      dropTree(this.#draft, this.#slotOf(id))
      this.#slotOfId.delete(id)
      this.#changes.delete(id)
    }
    this.#dropped = []
  }

  finish(): State {
    for (const [id, changes] of this.#changes) {
      const tree = draftTree(this.#draft, this.#slotOf(id))
      tree.overlay = new ReplayedOverlay(tree.overlay, changes)
      if (changes.highestInserted !== '') countUp(tree, changes.highestInserted as Key)
    }
    return finishDraft(this.#state, this.#draft, this.#sequence)
  }

  create(tree: CreatedTree): void {
    if (tree.id < this.#draft.nextTreeId) throw corruptBytes(`a commit makes tree ${tree.id}, which was made before`)
    this.#slotOfId.set(tree.id, createTree(this.#draft, tree))
  }

  drop(id: number): void {
    this.#slotOf(id)
    this.#dropped.push(id)
  }

  change(id: number): TreeChanges {
    let changes = this.#changes.get(id)
    if (changes === undefined) {
      changes = new TreeChanges(this.#draft.trees[this.#slotOf(id)]!)
      this.#changes.set(id, changes)
    }
    return changes
  }

  #slotOf(id: number): number {
    const slot = this.#slotOfId.get(id)
    if (slot === undefined) throw corruptBytes(`a commit changes a tree that does not exist (${id})`)
    return slot
  }
}

/** The changes of commits in one tree, in their order. */
class TreeChanges implements OperationReader {
  /** The tree as it was before. */
  readonly tree: TreeState
  highestInserted = ''
  private readonly operations: Operation[] = []
  private readonly keys: Key[] = []
  private readonly changes: Change[] = []
  /** By how much the operations up to each one on the same key alter the count. */
  private readonly deltas: Delta[] = []
  /** The last operation on each key. */
  private readonly last = new Map<Key, number>()

  constructor(tree: TreeState) {
    this.tree = tree
  }

  /** @throws PANNIER_CORRUPT if there is an entry to be inserted, or none to be changed. */
  add(operation: Operation, key: Key, change: Change): void {
    const before = this.last.get(key)
    const isThere = before === undefined ? isPresent(this.tree, key) : this.operations[before] !== OPERATION_REMOVE
    if (isThere === (operation === OPERATION_INSERT))
      throw corruptBytes(
        `a commit ${isThere ? 'adds an entry that is' : 'changes an entry that is not'} there (${this.tree.name})`,
      )
    if (operation === OPERATION_INSERT && key > this.highestInserted) this.highestInserted = key
    this.last.set(key, this.operations.length)
    this.deltas.push(((before === undefined ? 0 : this.deltas[before]!) + OPERATION_REPLACE - operation) as Delta)
    this.operations.push(operation)
    this.keys.push(key)
    this.changes.push(change)
  }

  /** The overlay with these changes. Sorting them takes a third of the time of one put after another, if it is empty. */
  applyTo(overlay: Overlay): Overlay {
    if (overlay.root === undefined) return this.sorted()
    const edit: Edit = {}
    for (let i = 0; i < this.keys.length; i++)
      overlay = overlayApply(overlay, edit, this.operations[i]!, this.keys[i]!, this.changes[i]!)
    return overlay
  }

  private sorted(): Overlay {
    const columns = { keys: [] as Key[], changes: [] as Change[], deltas: [] as Delta[] }
    for (const key of [...this.last.keys()].sort()) {
      const last = this.last.get(key)!
      const [change, delta] = [this.changes[last]!, this.deltas[last]!]
      // Neither the pages nor the newest state hold it.
      if (typeof change === 'number' && delta === 0) continue
      columns.keys.push(key)
      columns.changes.push(change)
      columns.deltas.push(delta)
    }
    return overlayOf(columns)
  }
}

/** Whether the tree holds the key, before what is being replayed; undefined if only its pages know. */
function isPresent({ overlay, tree }: TreeState, key: Key): boolean | undefined {
  const change = overlayGet(overlay, key)
  if (change !== undefined) return typeof change !== 'number'
  return tree === undefined ? false : undefined
}

class ReplayedOverlay implements Overlay {
  #made: Overlay
  #changes: TreeChanges | undefined

  /** Looks at the overlay before, so that no chain of them grows. */
  constructor({ root }: Overlay, changes: TreeChanges) {
    this.#made = { root }
    this.#changes = changes
  }

  get root(): OverlayNode | undefined {
    if (this.#changes !== undefined) {
      this.#made = this.#changes.applyTo(this.#made)
      this.#changes = undefined
    }
    return this.#made.root
  }
}
