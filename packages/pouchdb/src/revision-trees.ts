/** The revisions of the library as PouchDB's trees. */
import type { RevisionDocument } from 'pannier/types'
import type { JsonObject } from 'pannier'
import type { RevisionTrees, TreeNode } from './pouch.ts'

/** A document that was read with `revs` and `revsInfo`. */
export type DocumentWithHistory = RevisionDocument<JsonObject>

interface Node {
  readonly pos: number
  readonly ids: TreeNode
  hasParent: boolean
}

export function generationOf(rev: string): number {
  return Number.parseInt(rev, 10)
}

export function suffixOf(rev: string): string {
  return rev.slice(rev.indexOf('-') + 1)
}

/** The trees of a document, from all its leaves. */
export function treesOf(leaves: readonly DocumentWithHistory[]): RevisionTrees {
  const nodes = new Map<string, Node>()
  for (const leaf of leaves) {
    let child: Node | undefined
    for (const { rev, facts } of lineOf(leaf)) {
      let node = nodes.get(rev)
      if (node === undefined) {
        node = { pos: generationOf(rev), ids: [suffixOf(rev), facts, []], hasParent: false }
        nodes.set(rev, node)
      }
      if (child !== undefined && !child.hasParent) {
        child.hasParent = true
        node.ids[2].push(child.ids)
      }
      child = node
    }
  }
  for (const { ids } of nodes.values()) ids[2].sort(([left], [right]) => (left < right ? -1 : 1))
  const roots = [...nodes.values()].filter(({ hasParent }) => !hasParent)
  return roots.map(({ pos, ids }) => ({ pos, ids })).sort((left, right) => left.pos - right.pos)
}

/** The line of the document's own revision, as far as it was read; without a history it is that revision alone. */
export function lineageOf(document: DocumentWithHistory): RevisionTrees {
  let pos = 0
  let ids: TreeNode | undefined
  for (const { rev, facts } of lineOf(document)) {
    pos = generationOf(rev)
    ids = [suffixOf(rev), facts, ids === undefined ? [] : [ids]]
  }
  return [{ pos, ids: ids! }]
}

/** The revisions of the line, newest first. */
function lineOf(document: DocumentWithHistory): { readonly rev: string; readonly facts: TreeNode[1] }[] {
  const { _rev, _deleted: deleted, _revsInfo: history } = document
  const line = history ?? [{ rev: _rev, status: 'available' }]
  return line.map(({ rev, status }, at) => {
    const isDeleted = at === 0 ? deleted === true : status === 'deleted'
    return {
      rev,
      facts: { status: status === 'missing' ? 'missing' : 'available', ...(isDeleted && { deleted: true }) },
    }
  })
}
