/**
 * Sorts byte strings, fast: by the four bytes that follow what all of them share, packed with their places into numbers
 * that the engine sorts natively; those with equal bytes are then sorted among themselves in the same way.
 */
import { sharedPrefixLength } from './bytes.ts'

/** Strings that one call takes: a place has 20 bits beside 32 bits of string in the 52 that a double holds exactly. */
export const SORTED_STRINGS_MAX: number = 2 ** 20

const PLACES: number = 2 ** 20
/** Fewer are compared one by one. */
const PACKED_MIN = 32

/** The places of the strings in ascending order, equal ones as they came; undefined: they are ascending as they are. */
export function stringOrder(strings: readonly string[]): Uint32Array | undefined {
  let at = 1
  while (at < strings.length && strings[at - 1]! <= strings[at]!) at++
  if (at >= strings.length) return undefined
  const order = new Uint32Array(strings.length)
  for (let place = 0; place < order.length; place++) order[place] = place
  sortPlaces(strings, order, -1)
  return order
}

/** The strings at these places are known to share more than `sharedBefore` bytes, unless they are equal there. */
function sortPlaces(strings: readonly string[], places: Uint32Array, sharedBefore: number): void {
  const { length } = places
  const first = strings[places[0]!]!
  let shared = first.length
  for (const place of places) shared = sharedPrefixLength(first, strings[place]!, shared)
  if (length < PACKED_MIN || shared <= sharedBefore) {
    places.sort((a, b) => compare(strings[a]!, strings[b]!) || a - b)
    return
  }
  const codes = new Float64Array(length)
  for (let i = 0; i < length; i++) codes[i] = fourBytes(strings[places[i]!]!, shared) * PLACES + i
  codes.sort()
  const before = places.slice()
  let from = 0
  for (let i = 0; i < length; i++) {
    places[i] = before[codes[i]! % PLACES]!
    if (i + 1 < length && Math.floor(codes[i]! / PLACES) === Math.floor(codes[i + 1]! / PLACES)) continue
    if (i > from) sortPlaces(strings, places.subarray(from, i + 1), shared)
    from = i + 1
  }
}

/** As a number; bytes beyond the end are 0. */
function fourBytes(string: string, from: number): number {
  let code = 0
  for (let i = from; i < from + 4; i++) code = code * 256 + (i < string.length ? string.charCodeAt(i) : 0)
  return code
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
