/**
 * Changes an overlay by path copying. An `Edit` owns the nodes that it makes, and changes them in place, so a batch
 * copies each node once. `Overlay` values are immutable nevertheless: an edit never touches a node that it did not
 * make, and is dropped at its end.
 */
import { assert } from '../base/errors.ts'
import type { Key } from '../base/brand.ts'
import type { Bytes } from '../codec/bytes.ts'
import type { Operation } from './commit-record.ts'
import { childIndex, EMPTY_OVERLAY, lowerBound, NODE_ENTRIES_MAX, sizeOf } from './overlay.ts'
import type { Change, Delta, Edit, Overlay, OverlayBranch, OverlayLeaf, OverlayNode } from './overlay.ts'

/** One operation: `change` is the new value, or for a removal the length of what was there. */
export function overlayApply(overlay: Overlay, edit: Edit, operation: Operation, key: Key, change: Change): Overlay {
  // Insert 0, replace 1, remove 2.
  return put(overlay, edit, key, change, (1 - operation) as Delta)
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

/** A run as nodes of the usual size. */
function cutUp({ keys, changes, deltas }: OverlayLeaf, edit: Edit): OverlayNode {
  let level: OverlayNode[] = []
  for (let from = 0; from < keys.length; from += NODE_ENTRIES_MAX) {
    const to = Math.min(keys.length, from + NODE_ENTRIES_MAX)
    level.push({
      owner: edit,
      keys: keys.slice(from, to),
      changes: changes.slice(from, to),
      deltas: deltas.slice(from, to),
      delta: to - from,
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

function sumOf(children: readonly OverlayNode[], of: (child: OverlayNode) => number): number {
  let sum = 0
  for (const child of children) sum += of(child)
  return sum
}

function lowestKey(node: OverlayNode): Key {
  return node.keys[0]!
}
