/**
 * Sorts many items without holding the thread: sorts runs one by one, then merges them, with pauses between the steps.
 */
import type { Pause } from '../base/long-work.ts'

/** Items that are sorted, or merged, in one step. */
const RUN_ITEMS = 4096

/** A new array, sorted; equal items stay in their order. */
export async function sortInSlices<T>(
  items: readonly T[],
  compare: (left: T, right: T) => number,
  pause: Pause,
): Promise<T[]> {
  let runs: T[][] = []
  for (let from = 0; from < items.length; from += RUN_ITEMS) {
    runs.push(items.slice(from, from + RUN_ITEMS).sort(compare))
    await pause()
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      const right = runs[at + 1]
      merged.push(right === undefined ? runs[at]! : await merge(runs[at]!, right, compare, pause))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (left: T, right: T) => number,
  pause: Pause,
): Promise<T[]> {
  const merged: T[] = []
  let [leftAt, rightAt] = [0, 0]
  while (merged.length < left.length + right.length) {
    const end = Math.min(merged.length + RUN_ITEMS, left.length + right.length)
    while (merged.length < end) {
      const takesLeft =
        rightAt === right.length || (leftAt < left.length && compare(left[leftAt]!, right[rightAt]!) <= 0)
      merged.push(takesLeft ? left[leftAt++]! : right[rightAt++]!)
    }
    await pause()
  }
  return merged
}
