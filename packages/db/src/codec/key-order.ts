/**
 * Sorts byte strings fast. It skips the prefix that all of them share. It packs as many of the following bytes as fit
 * into a number, together with the string's index, and sorts these numbers natively. Strings with equal bytes are
 * sorted among themselves in the same way.
 */

/** Strings that one call takes. A double holds the index exactly, with room for some bytes. */
export const SORTED_STRINGS_MAX: number = 2 ** 20

/** The fewest strings that are packed. Fewer are compared one by one. */
const PACKED_MIN = 32
/** Most bytes of a string that are packed. */
const PACKED_BYTES_MAX = 8
/** Whole numbers below this are exact. */
const EXACT_END: number = 2 ** 53

/** The places of the strings in ascending order, equal ones as they came; undefined: they are ascending as they are. */
export function stringOrder(strings: readonly string[]): Uint32Array | undefined {
  let at = 1
  while (at < strings.length && strings[at - 1]! <= strings[at]!) at++
  if (at >= strings.length) return undefined
  const order = new Uint32Array(strings.length)
  for (let place = 0; place < order.length; place++) order[place] = place
  sortPlaces(strings, order, 0, order.length)
  return order
}

/** Sorts the places from `start` to `end`, which are ascending, by the strings there; these are equal up to `known` bytes. */
export function sortPlaces(
  strings: readonly string[],
  places: Uint32Array,
  start: number,
  end: number,
  known: number = 0,
): void {
  if (end - start < PACKED_MIN) return sortFew(strings, places, start, end)
  const first = strings[places[start]!]!
  // All of them end before: they are equal.
  if (first.length < known) return
  let shared = first.length
  for (let i = start + 1; i < end; i++) {
    const string = strings[places[i]!]!
    if (string.length < shared) shared = string.length
    let at = known
    while (at < shared && string.charCodeAt(at) === first.charCodeAt(at)) at++
    shared = at
  }
  const { codes, scale, count } = packed(strings, places, start, end, shared)
  codes.sort()
  const before = places.slice(start, end)
  let from = start
  let current = -1
  for (let i = start; i < end; i++) {
    const code = codes[i - start]!
    const bytes = Math.floor(code / scale)
    places[i] = before[code - bytes * scale]!
    if (bytes === current) continue
    if (i - from > 1) sortPlaces(strings, places, from, i, shared + count)
    from = i
    current = bytes
  }
  if (end - from > 1) sortPlaces(strings, places, from, end, shared + count)
}

/**
 * For each place `count` bytes from `shared` on, as a number, times `scale`, and which of them it is. The narrower the alphabet the
 * more bytes.
 */
function packed(
  strings: readonly string[],
  places: Uint32Array,
  start: number,
  end: number,
  shared: number,
): { readonly codes: Float64Array; readonly scale: number; readonly count: number } {
  let lowest = 255
  let highest = 0
  for (let i = start; i < end; i++) {
    const string = strings[places[i]!]!
    const stop = Math.min(string.length, shared + PACKED_BYTES_MAX)
    for (let at = shared; at < stop; at++) {
      const byte = string.charCodeAt(at)
      if (byte < lowest) lowest = byte
      if (byte > highest) highest = byte
    }
  }
  const scale = 2 ** Math.ceil(Math.log2(end - start))
  // 0 is for the end of a string; there may be nothing else.
  const digits = Math.max(2, highest - lowest + 2)
  let count = 0
  for (let range = scale * digits; count < PACKED_BYTES_MAX && range <= EXACT_END; range *= digits) count++
  const codes = new Float64Array(end - start)
  for (let i = start; i < end; i++) {
    const string = strings[places[i]!]!
    let code = 0
    for (let at = shared; at < shared + count; at++)
      code = code * digits + (at < string.length ? string.charCodeAt(at) - lowest + 1 : 0)
    codes[i - start] = code * scale + (i - start)
  }
  return { codes, scale, count }
}

/** Sorts few strings by insertion. */
function sortFew(strings: readonly string[], places: Uint32Array, start: number, end: number): void {
  for (let i = start + 1; i < end; i++) {
    const place = places[i]!
    const string = strings[place]!
    let at = i
    for (; at > start; at--) {
      const other = places[at - 1]!
      const order = compare(strings[other]!, string)
      if (order < 0 || (order === 0 && other < place)) break
      places[at] = other
    }
    places[at] = place
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
