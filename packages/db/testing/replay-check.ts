/**
 * The invariant that ties log and memory: after each commit its log record, replayed on the state before, gives the state after.
 * Where it does not hold, what is acknowledged is lost with the next opening, or nothing can be opened any more.
 */
import type { Key } from '../src/base/brand.ts'
import { asArray, sameBytes } from '../src/codec/bytes.ts'
import { commitInspection } from '../src/kv/writer.ts'
import { decodeCommit, type CommitBody } from '../src/kv/commit-record.ts'
import { overlayColumns, overlayDelta, overlayGet, overlaySize, type Change, type Overlay } from '../src/kv/overlay.ts'
import { applyCommits } from '../src/kv/replay.ts'
import type { State, TreeState } from '../src/kv/state.ts'
import { assertEqual, assertTrue } from './check.ts'

/** Larger overlays are compared at the keys of the commit, and by their counts. */
const COMPARED_MAX = 300

/** From now on each commit of this process, on whatever storage, is checked. */
export function checkReplays(): void {
  commitInspection.inspect = (before, record, after) => {
    compareStates(applyCommits(before, [{ sequence: after.sequence, body: record }]), after, decodeCommit(record))
  }
}

export function compareStates(replayed: State, inMemory: State, body: CommitBody): void {
  assertEqual(shape(replayed), shape(inMemory), 'trees as replayed from the log and in memory')
  for (const [name, slot] of inMemory.slotOfName)
    compareTrees(replayed.trees[replayed.slotOfName.get(name)!]!, inMemory.trees[slot]!, body)
}

/** Without the places of trees, which are each handle's own. */
function shape({ slotOfName, droppedRoots, trees: bySlot, nextTreeId }: State): unknown {
  const trees = Array.from(slotOfName, ([name, slot]) => ({ ...bySlot[slot]!, name }))
  return {
    nextTreeId,
    dropped: droppedRoots.map(({ id }) => id),
    trees: trees
      .map(({ id, name, kind, reducer, nextNumber, tree }) => [id, name, kind, reducer, nextNumber, tree?.id])
      .sort(([a], [b]) => (a as number) - (b as number)),
  }
}

function compareTrees(replayed: TreeState, inMemory: TreeState, body: CommitBody): void {
  if (replayed === inMemory) return
  const [a, b] = [replayed.overlay, inMemory.overlay]
  const { name } = inMemory
  const sizes = (overlay: Overlay): number[] => [overlaySize(overlay), overlayDelta(overlay)]
  assertEqual(sizes(a), sizes(b), `entries of ${name}, as replayed from the log and in memory`)
  const keys = overlaySize(b) <= COMPARED_MAX ? overlayColumns(b).keys : keysOf(body, inMemory.id)
  for (const key of keys)
    assertTrue(
      sameChange(overlayGet(a, key), overlayGet(b, key)),
      `${name} at ${key}, as replayed and in memory, is the same`,
    )
}

function keysOf(body: CommitBody, id: number): readonly Key[] {
  return body.trees.find(({ tree }) => tree === id)?.keys ?? []
}

function sameChange(a: Change | undefined, b: Change | undefined): boolean {
  if (typeof a === 'number' || typeof b === 'number' || a === undefined || b === undefined) return a === b
  return sameBytes(asArray(a), asArray(b))
}
