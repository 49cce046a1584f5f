/**
 * Chunks of a set of numbers: the numbers from `at * 65,536` on, as places from 0 to 65,535. A chunk has a sorted list
 * of its places or, if a list took more memory, a bit for each.
 */

/** Numbers in one chunk. */
export const CHUNK_NUMBERS: number = 2 ** 16
/** A longer list would take more memory than bits. */
export const LIST_MAX: number = CHUNK_NUMBERS / 16
const WORDS = CHUNK_NUMBERS / 32
/** For fewer places a look-up in the other list is cheaper than bits of it. */
const LOOKED_UP_MAX = 64

export interface Chunk {
  readonly at: number
  readonly count: number
  /** The places of the chunk: the first `count` of the list. */
  readonly list: Uint16Array | undefined
  /** Undefined if there is a list. */
  readonly bits: Uint32Array | undefined
}

export function hasPlace({ list, bits, count }: Chunk, place: number): boolean {
  if (bits !== undefined) return hasBit(bits, place)
  const position = positionIn(list!, count, place)
  return position < count && list![position] === place
}

export function hasBit(bits: Uint32Array, place: number): boolean {
  return (bits[place >>> 5]! & (1 << (place & 31))) !== 0
}

/** How many of the first `count` places of a sorted list are lower. */
export function positionIn(list: Uint16Array, count: number, place: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]! < place) low = middle + 1
    else high = middle
  }
  return low
}

/** How many places of the chunk are lower. */
export function rankOfPlace({ list, bits, count }: Chunk, place: number): number {
  if (bits === undefined) return positionIn(list!, count, place)
  const word = place >>> 5
  return countBits(bits, word) + bitCount(bits[word]! & ((1 << (place & 31)) - 1))
}

/** Adds the numbers of the chunk, without its first `skip`, to `found`, until that has `limit`. */
export function addNumbers({ at, list, bits, count }: Chunk, skip: number, limit: number, found: number[]): void {
  const base = at * CHUNK_NUMBERS
  if (bits === undefined) {
    const end = Math.min(count, skip + limit - found.length)
    for (let position = skip; position < end; position++) found.push(base + list![position]!)
    return
  }
  let skipped = 0
  for (let word = 0; word < WORDS && found.length < limit; word++) {
    let rest = bits[word]!
    if (skipped < skip) {
      const here = bitCount(rest)
      if (skipped + here <= skip) {
        skipped += here
        continue
      }
      for (; skipped < skip; skipped++) rest &= rest - 1
    }
    for (; rest !== 0 && found.length < limit; rest &= rest - 1) {
      found.push(base + word * 32 + 31 - Math.clz32(rest & -rest))
    }
  }
}

/** These operations give a chunk for the same numbers, perhaps an empty one. */
export type ChunkOperation = (left: Chunk, right: Chunk) => Chunk

export function unite(left: Chunk, right: Chunk): Chunk {
  return eachWord(left, right, (one, other) => one | other)
}

export function intersect(left: Chunk, right: Chunk): Chunk {
  if (left.list !== undefined) return filterList(left, right, true)
  if (right.list !== undefined) return filterList(right, left, true)
  return eachWord(left, right, (one, other) => one & other)
}

export function subtract(left: Chunk, right: Chunk): Chunk {
  if (left.list !== undefined) return filterList(left, right, false)
  return eachWord(left, right, (one, other) => one & ~other)
}

/** A chunk of bits in the form that takes less memory. Takes the bits. */
export function chunkOfBits(at: number, count: number, bits: Uint32Array): Chunk {
  if (count > LIST_MAX) return { at, count, list: undefined, bits }
  const list = new Uint16Array(count)
  let position = 0
  for (let word = 0; word < WORDS; word++) {
    for (let rest = bits[word]!; rest !== 0; rest &= rest - 1) {
      list[position++] = word * 32 + 31 - Math.clz32(rest & -rest)
    }
  }
  return { at, count, list, bits: undefined }
}

/** The chunk of those ascending numbers that have the mark 1; the others have 0. */
export function markedChunk(at: number, numbers: Float64Array, marks: Uint8Array): Chunk {
  const bits = new Uint32Array(WORDS)
  const { length } = marks
  const first = numbers[0]! - at * CHUNK_NUMBERS
  if (numbers[length - 1]! - numbers[0]! === length - 1) {
    for (let position = 0, place = first; position < length;) {
      const word = place >>> 5
      const end = Math.min(length, position + 32 - (place & 31))
      let found = 0
      for (; position < end; position++, place++) found |= marks[position]! << (place & 31)
      bits[word] = found
    }
  } else {
    for (let position = 0; position < length; position++) {
      const place = numbers[position]! - at * CHUNK_NUMBERS
      bits[place >>> 5]! |= marks[position]! << (place & 31)
    }
  }
  return chunkOfBits(at, countBits(bits, WORDS), bits)
}

/** The bits of a list. */
export function bitsOfList(list: Uint16Array, count: number): Uint32Array {
  const bits = new Uint32Array(WORDS)
  for (let position = 0; position < count; position++) {
    const place = list[position]!
    bits[place >>> 5]! |= 1 << (place & 31)
  }
  return bits
}

function bitsOf({ list, bits, count }: Chunk): Uint32Array {
  return bits ?? bitsOfList(list!, count)
}

function eachWord(left: Chunk, right: Chunk, operation: (one: number, other: number) => number): Chunk {
  const [ones, others] = [bitsOf(left), bitsOf(right)]
  const bits = new Uint32Array(WORDS)
  for (let word = 0; word < WORDS; word++) bits[word] = operation(ones[word]!, others[word]!)
  return chunkOfBits(left.at, countBits(bits, WORDS), bits)
}

/** The places of a list that another chunk has or, if not `wanted`, lacks. */
function filterList({ at, list, count }: Chunk, other: Chunk, wanted: boolean): Chunk {
  const bits = count > LOOKED_UP_MAX ? bitsOf(other) : other.bits
  const kept = new Uint16Array(count)
  let position = 0
  for (let index = 0; index < count; index++) {
    const place = list![index]!
    const isThere = bits === undefined ? hasPlace(other, place) : hasBit(bits, place)
    if (isThere === wanted) kept[position++] = place
  }
  return { at, count: position, list: kept.slice(0, position), bits: undefined }
}

/** How many bits the first words have. */
function countBits(bits: Uint32Array, words: number): number {
  let count = 0
  for (let word = 0; word < words; word++) count += bitCount(bits[word]!)
  return count
}

function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return (((fours + (fours >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
}
