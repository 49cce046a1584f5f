/** Removed entries that still stand in leaves of sequence trees (branch.ts tells why). */
import type { Garbage } from './branch.ts'
import type { Leaf } from './leaf.ts'
import { keyNumber, numberKey } from '../codec/key-number.ts'
import type { Key } from '../base/brand.ts'

/** How many garbage numbers are lower. */
export function garbageBefore(garbage: Garbage, number: number): number {
  const { numbers } = garbage
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (numbers[middle]! < number) low = middle + 1
    else high = middle
  }
  return low
}

export function isGarbage(garbage: Garbage | undefined, key: Key): boolean {
  if (garbage === undefined) return false
  const number = keyNumber(key)
  return garbage.numbers[garbageBefore(garbage, number)] === number
}

/** The entries of a leaf that are not garbage, by index; undefined: all of them. */
export function liveEntries(leaf: Leaf, garbage: Garbage | undefined): Uint16Array | undefined {
  if (garbage === undefined) return undefined
  const live = new Uint16Array(leaf.count - garbage.numbers.length)
  let next = 0
  let from = 0
  for (const number of garbage.numbers) {
    const index = leaf.find(numberKey(number))
    for (let i = from; i < index; i++) live[next++] = i
    from = index + 1
  }
  for (let i = from; i < leaf.count; i++) live[next++] = i
  return live
}

/** Position among the entries that are not garbage (`liveEntries`) of the first one whose key is not lower. */
export function liveLowerBound(leaf: Leaf, live: Uint16Array | undefined, key: string): number {
  const index = leaf.search(key)
  if (live === undefined) return index
  let low = 0
  let high = live.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (live[middle]! < index) low = middle + 1
    else high = middle
  }
  return low
}

/** The garbage with more of it; numbers may come in any order. */
export function addGarbage(garbage: Garbage | undefined, numbers: readonly number[], bytes: number): Garbage {
  const all = garbage === undefined ? [...numbers] : [...garbage.numbers, ...numbers]
  all.sort((a, b) => a - b)
  return { numbers: all, bytes: bytes + (garbage?.bytes ?? 0) }
}
