/**
 * The revisions of one document and their ancestry: a forest, because only the newest part of a long history is known.
 * Pure: it does not know where revisions are stored.
 *
 * A revision is one node, whatever its source. The first parent that is named counts: revisions named by their content
 * have only one. Generations fall by one from child to parent, so nothing can be its own ancestor.
 */
import { compareLeaves, revisionText, type Revision } from './revision.ts'

export interface RevisionNode<Body> extends Revision {
  parent: RevisionNode<Body> | undefined
  /** How many name it as their parent; 0: it is a leaf. */
  children: number
  /** Known of leaves, and of others while their body is. */
  deleted: boolean
  body: Body | undefined
}

/** Whether the content of a revision is still stored: 'available', 'missing' or 'deleted'. */
export type RevisionStatus = 'available' | 'deleted' | 'missing'

export class RevisionTree<Body> {
  /** Nodes by name, `N-suffix`. */
  readonly nodes: Map<string, RevisionNode<Body>> = new Map()

  get(rev: string): RevisionNode<Body> | undefined {
    return this.nodes.get(rev)
  }

  /** The node of a revision, made if it is new. */
  node(revision: Revision): RevisionNode<Body> {
    const rev = revisionText(revision)
    let node = this.nodes.get(rev)
    if (node === undefined) {
      const { generation, suffix } = revision
      node = { generation, suffix, parent: undefined, children: 0, deleted: false, body: undefined }
      this.nodes.set(rev, node)
    }
    return node
  }

  /**
   * Takes up a revision with its ancestors, newest first; ancestors that are known already may learn of their own. Returns the
   * revision's node.
   */
  merge(path: readonly Revision[]): RevisionNode<Body> {
    const first = this.node(path[0]!)
    let node = first
    for (let at = 1; at < path.length; at++) {
      const told = path[at]!
      if (node.parent === undefined) {
        node.parent = this.node(told)
        node.parent.children++
      } else if (node.parent.suffix !== told.suffix) break
      node = node.parent
    }
    return first
  }

  /** The winner first, then the others as they would win without those before. */
  leaves(): RevisionNode<Body>[] {
    const leaves: RevisionNode<Body>[] = []
    for (const node of this.nodes.values()) if (node.children === 0) leaves.push(node)
    return leaves.sort(compareLeaves)
  }

  /** Undefined if there are no revisions. */
  winner(): RevisionNode<Body> | undefined {
    let winner: RevisionNode<Body> | undefined
    for (const node of this.nodes.values()) {
      if (node.children === 0 && (winner === undefined || compareLeaves(node, winner) < 0)) winner = node
    }
    return winner
  }

  /** Forgets every ancestor that no leaf has among its newest `limit` revisions, itself included. Returns what is forgotten. */
  stem(limit: number): RevisionNode<Body>[] {
    if (this.nodes.size <= limit) return []
    /** How many revisions, from the node up, are kept. */
    const kept = new Map<RevisionNode<Body>, number>()
    for (const leaf of this.nodes.values()) {
      if (leaf.children > 0) continue
      let count = limit
      for (let node: RevisionNode<Body> | undefined = leaf; node !== undefined && count > 0; node = node.parent) {
        if ((kept.get(node) ?? 0) >= count) break
        kept.set(node, count--)
      }
    }
    const forgotten = [...this.nodes.values()].filter((node) => !kept.has(node))
    for (const node of kept.keys()) if (node.parent !== undefined && !kept.has(node.parent)) node.parent = undefined
    for (const node of forgotten) {
      this.nodes.delete(revisionText(node))
      if (node.parent !== undefined) node.parent.children--
    }
    return forgotten
  }

  /** Forgets a leaf and its ancestors, up to the one that has other children. Returns what is forgotten, newest first. */
  remove(leaf: RevisionNode<Body>): RevisionNode<Body>[] {
    const removed: RevisionNode<Body>[] = []
    for (
      let node: RevisionNode<Body> | undefined = leaf;
      node !== undefined && node.children === 0;
      node = node.parent
    ) {
      removed.push(node)
      this.nodes.delete(revisionText(node))
      if (node.parent !== undefined) node.parent.children--
    }
    return removed
  }

  /** The winner among the leaves that descend from a revision. */
  latest(node: RevisionNode<Body>): RevisionNode<Body> {
    return node.children === 0 ? node : this.leaves().find((leaf) => pathOf(leaf).includes(node))!
  }
}

/** The node and its known ancestors, newest first. */
export function pathOf<Body>(node: RevisionNode<Body>): RevisionNode<Body>[] {
  const path: RevisionNode<Body>[] = []
  for (let at: RevisionNode<Body> | undefined = node; at !== undefined; at = at.parent) path.push(at)
  return path
}

export function statusOf<Body>({ body, deleted }: RevisionNode<Body>): RevisionStatus {
  return body === undefined ? 'missing' : deleted ? 'deleted' : 'available'
}

/** The leaves that one of the missing revisions may descend from: of an older generation than one of them. */
export function possibleAncestors(leaves: readonly Revision[], missing: readonly Revision[]): string[] {
  const newest = missing.reduce((most, { generation }) => Math.max(most, generation), 0)
  return leaves.filter(({ generation }) => generation < newest).map(revisionText)
}
