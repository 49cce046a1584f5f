/** The integrity check of revisions: the trees `revisions`, `extra` and `conflicts` against the winners in `bodies`. */
import type { Key } from '../../base/brand.ts'
import { numberKey } from '../../codec/key-encoding.ts'
import { BodyView, readNumber } from '../../document/body.ts'
import { documentNumberOf, readRevision, type RevisionEntry } from '../../document/revision-entry.ts'
import { RevisionTree } from '../../document/revision-tree.ts'
import { revisionText } from '../../document/revision.ts'

type Entries = ReadonlyMap<Key, Uint8Array>

interface RevisionTrees {
  readonly revisions: Entries
  readonly extra: Entries
  readonly conflicts: Entries
}

/** A winner, with its bytes copied out of the view that walks over them all. */
export interface CheckedWinner {
  readonly id: string
  readonly key: Key
  readonly number: number
  readonly generation: number
  readonly suffix: string
  readonly deleted: boolean
  readonly otherLeaves: boolean
}

/** The problems; empty if all is well. */
export function checkRevisions(
  winners: Iterable<CheckedWinner>,
  { revisions, extra, conflicts }: RevisionTrees,
): string[] {
  const problems: string[] = []
  const entriesOf = new Map<number, RevisionEntry[]>()
  for (const [key, value] of revisions) {
    const number = documentNumberOf(key)
    const entries = entriesOf.get(number)
    if (entries === undefined) entriesOf.set(number, [readRevision(key, value)])
    else entries.push(readRevision(key, value))
  }
  const unnamed = new Set(extra.keys())
  let inConflict = 0
  for (const winner of winners) {
    const report = (what: string): void => void problems.push(`the document '${winner.id}': ${what}`)
    const tree = checkTree(winner, entriesOf.get(winner.number) ?? [], report)
    entriesOf.delete(winner.number)
    for (const node of tree.nodes.values()) {
      if (node.body === undefined) continue
      const key = numberKey(node.body)
      if (!unnamed.delete(key)) report('the content of a revision is missing or shared')
      const body = extra.get(key) && new BodyView().load(extra.get(key)!, node.body)
      const matches =
        body?.revision === revisionText(node) &&
        body.id === winner.id &&
        body.deleted === node.deleted &&
        !body.otherLeaves
      if (!matches) report('a revision has the content of another')
    }
    const live = tree.leaves().filter(({ deleted }) => !deleted).length
    const listed = conflicts.get(winner.key)
    if (live > 1) inConflict++
    if (live > 1 ? listed === undefined || readNumber(listed) !== winner.number : listed !== undefined)
      report(live > 1 ? 'it is not listed as in conflict' : 'it is listed as in conflict')
  }
  if (entriesOf.size > 0) problems.push(`${entriesOf.size} documents have revisions but no content`)
  if (unnamed.size > 0) problems.push(`${unnamed.size} bodies belong to no revision`)
  if (inConflict !== conflicts.size)
    problems.push(`${conflicts.size} documents are listed as in conflict, not ${inConflict}`)
  return problems
}

/** The revisions of one document, each with the number of its body in `extra`. */
function checkTree(
  winner: CheckedWinner,
  entries: readonly RevisionEntry[],
  report: (what: string) => void,
): RevisionTree<number> {
  const tree = new RevisionTree<number>()
  const winnerNode = tree.node(winner)
  for (const entry of entries) {
    const { generation, parent, body, deleted } = entry
    const node = tree.node(entry)
    if (parent !== undefined) tree.merge([entry, { generation: generation - 1, suffix: parent }])
    node.body = body
    node.deleted = deleted
  }
  for (const entry of entries) {
    const { parent, leaf, deleted, body, generation } = entry
    const node = tree.node(entry)
    if (parent !== undefined && generation < 2) report('a first revision has a parent')
    if (parent === undefined && body === undefined) report('a revision has an entry that says nothing')
    if (leaf !== (node.children === 0 && node !== winnerNode)) report('a leaf is not marked as one, or another is')
    if (leaf && body === undefined) report('a leaf has no content')
    if (deleted && body === undefined) report('an ancestor without content is marked as deleted')
    if (node === winnerNode && (leaf || body !== undefined)) report('the winner has its content twice')
  }
  winnerNode.deleted = winner.deleted
  const leaves = tree.leaves()
  if (leaves[0] !== winnerNode) report('another revision should win')
  if (winner.otherLeaves !== leaves.length > 1) report('its winner says otherwise about other leaves')
  return tree
}
