/**
 * The recent changes to one tree, in memory: an immutable sorted map from keys to changes that also knows by how much each
 * change alters the count of entries. Laid over the pages of the tree it gives the tree's newest state. A B-tree;
 * overlay-edit.ts makes the next one.
 */
import type { Key } from '../base/brand.ts'
import type { Bytes } from '../codec/bytes.ts'

/** A new value, or the removal of an entry of the pages: then the length of its value, as far as it is known. */
export type Change = Bytes | number

/** How a change alters the count of the entries in the pages below: added, overwritten or removed. */
export type Delta = 1 | 0 | -1

/** Marks the nodes that belong to a batch of changes. */
export type Edit = object

export const NODE_ENTRIES_MAX = 32

/** Has up to NODE_ENTRIES_MAX entries; or any number as the root: a _run_, all of them additions, cut up by the next change. */
export interface OverlayLeaf {
  readonly owner: Edit
  readonly keys: Key[]
  readonly changes: Change[]
  readonly deltas: Delta[]
  /** Sum of `deltas`. */
  delta: number
}

export interface OverlayBranch {
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
export function overlayDeltaBefore(overlay: Overlay, key: string): number {
  let node = overlay.root
  let delta = 0
  while (node !== undefined) {
    if ('children' in node) {
      const index = childIndex(node, key)
      for (let i = 0; i < index; i++) delta += node.children[i]!.delta
      node = node.children[index]
    } else {
      const index = lowerBound(node.keys, key)
      if (node.keys.length > NODE_ENTRIES_MAX) return delta + index
      for (let i = 0; i < index; i++) delta += node.deltas[i]!
      return delta
    }
  }
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

/** All changes in key order, in columns: not to be changed. */
export function overlayColumns({ root }: Overlay): {
  readonly keys: readonly Key[]
  readonly changes: readonly Change[]
  readonly deltas: readonly Delta[]
} {
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

export function sizeOf(node: OverlayNode): number {
  return 'children' in node ? node.size : node.keys.length
}

export function childIndex(branch: OverlayBranch, key: string): number {
  const { keys } = branch
  const last = keys.length - 1
  if (keys[last]! <= key) return last
  let low = 1
  let high = last
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keys[middle]! <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}

export function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}
