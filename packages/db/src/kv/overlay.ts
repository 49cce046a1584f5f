/**
 * The recent changes to one tree, in memory: an immutable sorted map from keys to changes that also knows by how much each
 * change alters the count of entries. Laid over the pages of the tree it gives the tree's newest state. A B-tree.
 *
 * Changes copy the path to them. An `Edit` owns the nodes that it makes, and changes them in place, so a batch copies each
 * node once. `Overlay` values are immutable nevertheless: an edit never touches a node that it did not make, and is
 * dropped at its end.
 */
import { firstWhere } from '../base/binary-search.ts'
import { assert } from '../base/errors.ts'
import type { Key } from '../base/brand.ts'
import type { Bytes } from '../codec/bytes.ts'

/** The operation on an entry. The log has these numbers (commit-record.ts). */
export type Operation = 0 | 1 | 2
export const OPERATION_INSERT = 0
export const OPERATION_REPLACE = 1
export const OPERATION_REMOVE = 2

/** A new value, or the removal of an entry of the pages: then the length of its value, as far as it is known. */
export type Change = Bytes | number

/** How a change alters the count of the entries in the pages below: added, overwritten or removed. */
export type Delta = 1 | 0 | -1

/** Marks the nodes that belong to a batch of changes. */
export type Edit = object

const NODE_ENTRIES_MAX = 32

/** Has up to NODE_ENTRIES_MAX entries; or any number as the root: a _run_, all of them additions, cut up by the next change. */
interface OverlayLeaf {
  readonly owner: Edit
  readonly keys: Key[]
  readonly changes: Change[]
  readonly deltas: Delta[]
  /** Sum of `deltas`. */
  delta: number
}

interface OverlayBranch {
  readonly owner: Edit
  readonly children: OverlayNode[]
  /** The lowest key that may be below each child; the first one's is not looked at. */
  readonly keys: Key[]
  delta: number
  size: number
}

export type OverlayNode = OverlayLeaf | OverlayBranch

export interface Overlay {
  readonly root: OverlayNode | undefined
}

export const EMPTY_OVERLAY: Overlay = { root: undefined }

export function overlaySize(overlay: Overlay): number {
  return overlay.root === undefined ? 0 : sizeOf(overlay.root)
}

/** By how much the overlay alters the count of the whole tree. */
export function overlayDelta(overlay: Overlay): number {
  return overlay.root?.delta ?? 0
}

/** By how much it alters the count of the entries with a lower key. */
export function overlayDeltaBefore({ root }: Overlay, key: string): number {
  return root === undefined ? 0 : deltaBefore(root, key)
}

/** By how much it alters the count of the entries with `gte <= key < lt`. */
export function overlayDeltaBetween({ root }: Overlay, gte: string, lt: string): number {
  let node = root
  while (node !== undefined && 'children' in node) {
    const index = childIndex(node, gte)
    if (index < node.keys.length - 1 && lt > node.keys[index + 1]!)
      return deltaBefore(node, lt) - deltaBefore(node, gte)
    node = node.children[index]
  }
  return node === undefined ? 0 : deltaOf(node, lowerBound(node.keys, gte), lowerBound(node.keys, lt))
}

function deltaBefore(node: OverlayNode, key: string): number {
  let delta = 0
  while ('children' in node) {
    const index = childIndex(node, key)
    for (let i = 0; i < index; i++) delta += node.children[i]!.delta
    node = node.children[index]!
  }
  return delta + deltaOf(node, 0, lowerBound(node.keys, key))
}

function deltaOf({ keys, deltas }: OverlayLeaf, from: number, to: number): number {
  // A run, which has additions only.
  if (keys.length > NODE_ENTRIES_MAX) return to - from
  let delta = 0
  for (let i = from; i < to; i++) delta += deltas[i]!
  return delta
}

/** The change to that key, or undefined. */
export function overlayGet(overlay: Overlay, key: Key): Change | undefined {
  let node = overlay.root
  while (node !== undefined && 'children' in node) node = node.children[childIndex(node, key)]
  if (node === undefined) return undefined
  const index = lowerBound(node.keys, key)
  return node.keys[index] === key ? node.changes[index] : undefined
}

/** Changes in key order, each key once. */
interface OverlayColumns {
  readonly keys: readonly Key[]
  readonly changes: readonly Change[]
  readonly deltas: readonly Delta[]
}

/** The overlay of these changes. */
export function overlayOf(columns: OverlayColumns): Overlay {
  return columns.keys.length === 0 ? EMPTY_OVERLAY : { root: cutUp(columns, {}) }
}

/** All changes in key order, in columns: not to be changed. */
export function overlayColumns({ root }: Overlay): OverlayColumns {
  if (root !== undefined && !('children' in root)) return root
  const columns = { keys: [], changes: [], deltas: [] }
  if (root !== undefined) addColumns(root, columns)
  return columns
}

function addColumns(node: OverlayNode, columns: { keys: Key[]; changes: Change[]; deltas: Delta[] }): void {
  if ('children' in node) {
    for (const child of node.children) addColumns(child, columns)
    return
  }
  const { keys, changes, deltas } = node
  for (let i = 0; i < keys.length; i++) {
    columns.keys.push(keys[i]!)
    columns.changes.push(changes[i]!)
    columns.deltas.push(deltas[i]!)
  }
}

/** Walks the changes with `lower <= key < upper`, either way. Starts before the first one. */
export class OverlayCursor {
  readonly #path: { node: OverlayBranch; index: number }[] = []
  readonly #lower: string | undefined
  readonly #upper: string | undefined
  readonly #reverse: boolean
  #leaf: OverlayLeaf | undefined
  #index = 0

  constructor(overlay: Overlay, lower: Key | undefined, upper: Key | undefined, reverse: boolean) {
    this.#lower = lower
    this.#upper = upper
    this.#reverse = reverse
    if (overlay.root !== undefined) this.#seek(overlay.root)
  }

  next(): boolean {
    if (this.#leaf === undefined) return false
    this.#index += this.#reverse ? -1 : 1
    if (this.#index < 0 || this.#index >= this.#leaf.keys.length) this.#nextLeaf()
    if (this.#leaf === undefined) return false
    const key = this.#leaf.keys[this.#index]!
    if (
      this.#reverse ? this.#lower !== undefined && key < this.#lower : this.#upper !== undefined && key >= this.#upper
    ) {
      this.#leaf = undefined
      return false
    }
    return true
  }

  get key(): Key {
    return this.#leaf!.keys[this.#index]!
  }

  get change(): Change {
    return this.#leaf!.changes[this.#index]!
  }

  get delta(): Delta {
    return this.#leaf!.deltas[this.#index]!
  }

  /** Stands just before the first entry of the walk. */
  #seek(root: OverlayNode): void {
    const bound = this.#reverse ? this.#upper : this.#lower
    let node = root
    while ('children' in node) {
      const index = bound === undefined ? (this.#reverse ? node.children.length - 1 : 0) : childIndex(node, bound)
      this.#path.push({ node, index })
      node = node.children[index]!
    }
    this.#leaf = node
    if (this.#reverse) this.#index = bound === undefined ? node.keys.length : lowerBound(node.keys, bound)
    else this.#index = (bound === undefined ? 0 : lowerBound(node.keys, bound)) - 1
  }

  #nextLeaf(): void {
    this.#leaf = undefined
    for (let step = this.#path.pop(); step !== undefined; step = this.#path.pop()) {
      const index = step.index + (this.#reverse ? -1 : 1)
      if (index < 0 || index >= step.node.children.length) continue
      this.#path.push({ node: step.node, index })
      let node = step.node.children[index]!
      while ('children' in node) {
        const edge = this.#reverse ? node.children.length - 1 : 0
        this.#path.push({ node, index: edge })
        node = node.children[edge]!
      }
      this.#leaf = node
      this.#index = this.#reverse ? node.keys.length - 1 : 0
      return
    }
  }
}

function sizeOf(node: OverlayNode): number {
  return 'children' in node ? node.size : node.keys.length
}

function childIndex(branch: OverlayBranch, key: string): number {
  const { keys } = branch
  const last = keys.length - 1
  if (keys[last]! <= key) return last
  return firstWhere(1, last, (at) => keys[at]! > key) - 1
}

function lowerBound(keys: readonly string[], key: string): number {
  return firstWhere(0, keys.length, (at) => keys[at]! >= key)
}

/** One operation: `change` is the new value, or for a removal the length of what was there. */
export function overlayApply(overlay: Overlay, edit: Edit, operation: Operation, key: Key, change: Change): Overlay {
  return put(overlay, edit, key, change, (OPERATION_REPLACE - operation) as Delta)
}

/** Inserts many, in ascending order. Takes the arrays. */
export function overlayInsertMany(
  overlay: Overlay,
  edit: Edit,
  keys: readonly Key[],
  values: readonly Bytes[],
): Overlay {
  if (overlay.root === undefined && keys.length > NODE_ENTRIES_MAX) {
    const deltas = new Array<Delta>(keys.length).fill(1)
    return { root: { owner: edit, keys: keys as Key[], changes: values as Bytes[], deltas, delta: keys.length } }
  }
  for (let i = 0; i < keys.length; i++) overlay = put(overlay, edit, keys[i]!, values[i]!, 1)
  return overlay
}

/**
 * The delta of an entry is counted from the pages, so it is the sum of the deltas of the changes made to
 * it; an entry that neither the pages nor the newest state hold is dropped.
 */
function put(overlay: Overlay, edit: Edit, key: Key, change: Change, delta: Delta): Overlay {
  const { root: before = emptyLeaf(edit) } = overlay
  const root = !('children' in before) && before.keys.length > NODE_ENTRIES_MAX ? cutUp(before, edit) : before
  const put = putIn(root, edit, key, change, delta)
  if (put === undefined) return EMPTY_OVERLAY
  if (Array.isArray(put)) {
    const [left, right] = put
    return { root: branchOf(edit, [left, right], [lowestKey(left), lowestKey(right)]) }
  }
  return put === overlay.root ? overlay : { root: put }
}

/** The node with the change in it; two nodes when it had to be split, undefined when nothing is left in it. */
function putIn(
  node: OverlayNode,
  edit: Edit,
  key: Key,
  change: Change,
  delta: Delta,
): OverlayNode | [OverlayNode, OverlayNode] | undefined {
  return 'children' in node ? putInBranch(node, edit, key, change, delta) : putInLeaf(node, edit, key, change, delta)
}

function putInBranch(
  node: OverlayBranch,
  edit: Edit,
  key: Key,
  change: Change,
  delta: Delta,
): OverlayNode | [OverlayNode, OverlayNode] | undefined {
  const index = childIndex(node, key)
  const before = node.children[index]!
  const deltaBefore = before.delta
  const sizeBefore = sizeOf(before)
  const put = putIn(before, edit, key, change, delta)
  const branch = node.owner === edit ? node : copyBranch(node, edit)
  if (put === undefined) {
    branch.children.splice(index, 1)
    branch.keys.splice(index, 1)
    branch.delta = sumOf(branch.children, (child) => child.delta)
    branch.size = sumOf(branch.children, sizeOf)
    return branch.children.length === 0 ? undefined : branch
  }
  if (!Array.isArray(put)) {
    branch.children[index] = put
    // A child that belongs to the edit was changed in place: count from what it was before.
    branch.delta += put.delta - deltaBefore
    branch.size += sizeOf(put) - sizeBefore
    return branch
  }
  branch.children.splice(index, 1, put[0], put[1])
  branch.keys.splice(index + 1, 0, lowestKey(put[1]))
  branch.delta = sumOf(branch.children, (child) => child.delta)
  branch.size = sumOf(branch.children, sizeOf)
  if (branch.children.length <= NODE_ENTRIES_MAX) return branch
  const at = index >= NODE_ENTRIES_MAX - 1 ? NODE_ENTRIES_MAX - 1 : NODE_ENTRIES_MAX / 2
  const right = branchOf(edit, branch.children.splice(at), branch.keys.splice(at))
  return [branchOf(edit, branch.children, branch.keys), right]
}

function putInLeaf(
  node: OverlayLeaf,
  edit: Edit,
  key: Key,
  change: Change,
  delta: Delta,
): OverlayNode | [OverlayNode, OverlayNode] | undefined {
  const leaf = node.owner === edit ? node : copyLeaf(node, edit)
  const { keys, changes, deltas } = leaf
  const last = keys.length - 1
  const index = last >= 0 && keys[last]! < key ? last + 1 : lowerBound(keys, key)
  if (keys[index] === key) {
    const sum = deltas[index]! + delta
    assert(
      sum >= -1 && sum <= 1 && (typeof changes[index] === 'number') === (delta === 1),
      'change does not fit the entry',
    )
    if (typeof change === 'number' && sum === 0) {
      keys.splice(index, 1)
      changes.splice(index, 1)
      deltas.splice(index, 1)
    } else {
      changes[index] = change
      deltas[index] = sum as Delta
    }
    leaf.delta += delta
    return keys.length === 0 ? undefined : leaf
  }
  if (index === keys.length) {
    keys.push(key)
    changes.push(change)
    deltas.push(delta)
  } else {
    keys.splice(index, 0, key)
    changes.splice(index, 0, change)
    deltas.splice(index, 0, delta)
  }
  leaf.delta += delta
  if (keys.length <= NODE_ENTRIES_MAX) return leaf
  return splitLeaf(leaf, edit, index === keys.length - 1 ? NODE_ENTRIES_MAX : NODE_ENTRIES_MAX / 2)
}

/** Columns in ascending order as nodes of the usual size. */
function cutUp({ keys, changes, deltas }: OverlayColumns, edit: Edit): OverlayNode {
  let level: OverlayNode[] = []
  for (let from = 0; from < keys.length; from += NODE_ENTRIES_MAX) {
    const to = Math.min(keys.length, from + NODE_ENTRIES_MAX)
    const leafDeltas = deltas.slice(from, to)
    level.push({
      owner: edit,
      keys: keys.slice(from, to),
      changes: changes.slice(from, to),
      deltas: leafDeltas,
      delta: sumOf(leafDeltas, (delta) => delta),
    })
  }
  while (level.length > 1) {
    const above: OverlayNode[] = []
    for (let from = 0; from < level.length; from += NODE_ENTRIES_MAX) {
      const children = level.slice(from, from + NODE_ENTRIES_MAX)
      above.push(branchOf(edit, children, children.map(lowestKey)))
    }
    level = above
  }
  return level[0]!
}

/** An entry added at the right edge leaves a full node behind, so that ascending batches pack tightly. */
function splitLeaf(leaf: OverlayLeaf, edit: Edit, at: number): [OverlayLeaf, OverlayLeaf] {
  const right: OverlayLeaf = {
    owner: edit,
    keys: leaf.keys.splice(at),
    changes: leaf.changes.splice(at),
    deltas: leaf.deltas.splice(at),
    delta: 0,
  }
  for (const delta of right.deltas) right.delta += delta
  leaf.delta -= right.delta
  return [leaf, right]
}

function emptyLeaf(edit: Edit): OverlayLeaf {
  return { owner: edit, keys: [], changes: [], deltas: [], delta: 0 }
}

function copyLeaf(leaf: OverlayLeaf, edit: Edit): OverlayLeaf {
  return {
    owner: edit,
    keys: leaf.keys.slice(),
    changes: leaf.changes.slice(),
    deltas: leaf.deltas.slice(),
    delta: leaf.delta,
  }
}

function copyBranch({ children, keys, delta, size }: OverlayBranch, edit: Edit): OverlayBranch {
  return { owner: edit, children: children.slice(), keys: keys.slice(), delta, size }
}

function branchOf(edit: Edit, children: OverlayNode[], keys: Key[]): OverlayBranch {
  return { owner: edit, children, keys, delta: sumOf(children, (child) => child.delta), size: sumOf(children, sizeOf) }
}

function sumOf<T>(parts: readonly T[], of: (part: T) => number): number {
  let sum = 0
  for (const part of parts) sum += of(part)
  return sum
}

function lowestKey(node: OverlayNode): Key {
  return node.keys[0]!
}
