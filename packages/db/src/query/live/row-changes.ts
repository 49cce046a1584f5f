/** Finds the steps from one list of rows to another: as few as possible if that is cheap, and never more than needed. */
import { firstWhere } from '../../base/binary-search.ts'
import type { LiveChange, LiveView } from './live-types.ts'

/** More rows than this that change their places are taken out and put in again, which takes one pass. */
const MOVES_MAX = 1000

type Change = LiveChange<object>

export function rowChanges(from: LiveView, to: LiveView): Change[] {
  // Skips what both lists begin and end with.
  let start = 0
  let fromEnd = from.ids.length
  let toEnd = to.ids.length
  while (start < fromEnd && start < toEnd && from.ids[start] === to.ids[start]) start++
  while (fromEnd > start && toEnd > start && from.ids[fromEnd - 1] === to.ids[toEnd - 1]) {
    fromEnd--
    toEnd--
  }
  const oldIndex = new Map<string, number>()
  for (let at = start; at < fromEnd; at++) oldIndex.set(from.ids[at]!, at)
  const kept: string[] = []
  for (let at = start; at < toEnd; at++) if (oldIndex.has(to.ids[at]!)) kept.push(to.ids[at]!)
  let moved = leavingOrder(kept, oldIndex)
  const changes: Change[] = []
  const stays = new Set(kept)
  if (moved.size > MOVES_MAX) {
    for (const id of moved) stays.delete(id)
    moved = new Set()
  }
  const middle: string[] = []
  for (let at = fromEnd - 1; at >= start; at--) {
    const id = from.ids[at]!
    if (stays.has(id)) middle.push(id)
    else changes.push({ type: 'removed', id, index: at, row: from.rows[at]! })
  }
  middle.reverse()
  const rowBefore = (id: string): object => from.rows[oldIndex.get(id)!]!
  addMoves(
    changes,
    middle,
    kept.filter((id) => stays.has(id)),
    moved,
    start,
    rowBefore,
    rowsOf(to, start, toEnd),
  )
  for (let at = start; at < toEnd; at++) {
    const id = to.ids[at]!
    if (!stays.has(id)) changes.push({ type: 'added', id, index: at, row: to.rows[at]! })
  }
  const tail = from.ids.length - to.ids.length
  for (let at = 0; at < to.ids.length; at++) {
    const id = to.ids[at]!
    const inMiddle = at >= start && at < toEnd
    if (inMiddle && (!stays.has(id) || moved.has(id))) continue
    const before = inMiddle ? rowBefore(id) : from.rows[at < start ? at : at + tail]!
    const row = to.rows[at]!
    if (before !== row) changes.push({ type: 'changed', id, index: at, from: before, row })
  }
  return changes
}

function rowsOf({ ids, rows }: LiveView, start: number, end: number): (id: string) => object {
  let byId: Map<string, object> | undefined
  return (id) => {
    if (byId === undefined) {
      byId = new Map()
      for (let at = start; at < end; at++) byId.set(ids[at]!, rows[at]!)
    }
    return byId.get(id)!
  }
}

/** Puts each row that moves behind the one that it follows; those before it in `target` have their order by then. */
function addMoves(
  changes: Change[],
  list: string[],
  target: readonly string[],
  moved: Set<string>,
  start: number,
  rowBefore: (id: string) => object,
  rowAfter: (id: string) => object,
): void {
  if (moved.size === 0) return
  target.forEach((id, at) => {
    if (!moved.has(id)) return
    const fromIndex = list.indexOf(id)
    list.splice(fromIndex, 1)
    const index = at === 0 ? 0 : list.indexOf(target[at - 1]!) + 1
    list.splice(index, 0, id)
    // The moves before may have brought it to its place.
    if (index === fromIndex) moved.delete(id)
    else {
      const [from, row] = [rowBefore(id), rowAfter(id)]
      changes.push({ type: 'moved', id, fromIndex: start + fromIndex, index: start + index, from, row })
    }
  })
}

/** The fewest that have to be moved: all but a longest ascending run of former places. */
function leavingOrder(kept: readonly string[], oldIndex: ReadonlyMap<string, number>): Set<string> {
  const places = kept.map((id) => oldIndex.get(id)!)
  /** For each length the position at which the lowest run of that length ends. */
  const ends: number[] = []
  const before = new Array<number>(places.length)
  places.forEach((place, at) => {
    const length = firstWhere(0, ends.length, (shorter) => places[ends[shorter]!]! >= place)
    before[at] = length === 0 ? -1 : ends[length - 1]!
    ends[length] = at
  })
  const moved = new Set(kept)
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at]!) moved.delete(kept[at]!)
  return moved
}
