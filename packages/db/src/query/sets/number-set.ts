/**
 * Immutable sets of document numbers (up to 2^48). Each 65,536 numbers are a chunk: a sorted list while they are few,
 * bits beyond. So a number takes at most two bytes, and a bit where numbers are dense.
 */
import { firstWhere } from '../../base/binary-search.ts'
import {
  addNumbers,
  bitsOfList,
  CHUNK_NUMBERS,
  chunkOfBits,
  hasBit,
  hasPlace,
  intersect,
  LIST_MAX,
  markedChunk,
  positionIn,
  rankOfPlace,
  subtract,
  unite,
  type Chunk,
  type ChunkOperation,
} from './chunk.ts'

let serial = 0

export class NumberSet {
  readonly count: number
  readonly #serial = ++serial
  /** The chunks, ascending, without empty ones. */
  readonly #chunks: readonly Chunk[]
  /** The ranks: for each chunk how many numbers are in those before it. */
  readonly #ranks: readonly number[]

  /** @internal Use `of` or a builder. */
  constructor(chunks: readonly Chunk[]) {
    let count = 0
    this.#chunks = chunks.filter((chunk) => chunk.count > 0)
    this.#ranks = this.#chunks.map((chunk) => (count += chunk.count) - chunk.count)
    this.count = count
  }

  /** Ascending numbers take the least time. */
  static of(numbers: Iterable<number>): NumberSet {
    const builder = new NumberSetBuilder()
    for (const number of numbers) builder.add(number)
    return builder.build()
  }

  /** The set of those ascending numbers that have the mark 1; the others have 0. */
  static marked(numbers: Float64Array, marks: Uint8Array): NumberSet {
    const chunks: Chunk[] = []
    for (let from = 0; from < marks.length;) {
      const at = Math.floor(numbers[from]! / CHUNK_NUMBERS)
      const to = firstWhere(0, marks.length, (position) => numbers[position]! >= (at + 1) * CHUNK_NUMBERS)
      chunks.push(markedChunk(at, numbers.subarray(from, to), marks.subarray(from, to)))
      from = to
    }
    return new NumberSet(chunks)
  }

  has(number: number): boolean {
    const at = Math.floor(number / CHUNK_NUMBERS)
    const chunk = this.#chunks[this.#positionOf(at)]
    return chunk?.at === at && hasPlace(chunk, placeOf(number))
  }

  /** How many numbers of the set are lower. */
  rank(number: number): number {
    const at = Math.floor(number / CHUNK_NUMBERS)
    const position = this.#positionOf(at)
    const chunk = this.#chunks[position]
    if (chunk === undefined) return this.count
    return this.#ranks[position]! + (chunk.at === at ? rankOfPlace(chunk, placeOf(number)) : 0)
  }

  /** The number with `rank` lower ones; undefined if the set has no more than these. */
  select(rank: number): number | undefined {
    return this.page(rank, 1)[0]
  }

  /** Other text than that of any other set: conditions are compared as text (`identityOf`). */
  toJSON(): string {
    return `${this.#serial} of ${this.count} numbers`
  }

  /** In order, at most `limit` numbers behind the first `skip`. */
  page(skip: number, limit: number, descending = false): number[] {
    if (descending) {
      const end = Math.max(0, this.count - skip)
      const start = Math.max(0, end - limit)
      return this.page(start, end - start).reverse()
    }
    const found: number[] = []
    let position = Math.max(0, firstWhere(0, this.#ranks.length, (at) => this.#ranks[at]! > skip) - 1)
    for (; position < this.#chunks.length && found.length < limit; position++) {
      addNumbers(this.#chunks[position]!, Math.max(0, skip - this.#ranks[position]!), limit, found)
    }
    return found
  }

  /** The greater numbers. */
  above(number: number): NumberSet {
    const at = Math.floor(number / CHUNK_NUMBERS)
    const position = this.#positionOf(at)
    const chunks = this.#chunks.slice(position)
    if (chunks[0]?.at !== at) return new NumberSet(chunks)
    const end = this.#ranks[position]! + chunks[0].count
    const skip = this.rank(number + 1)
    return new NumberSet(chunks.slice(1)).or(NumberSet.of(this.page(skip, end - skip)))
  }

  /** All values in order. */
  *values(descending = false): Generator<number, void, undefined> {
    for (let at = 0; at < this.count; at += LIST_MAX) yield* this.page(at, LIST_MAX, descending)
  }

  or(other: NumberSet): NumberSet {
    return this.#merged(other, unite, true, true)
  }

  and(other: NumberSet): NumberSet {
    return this.#merged(other, intersect, false, false)
  }

  andNot(other: NumberSet): NumberSet {
    return this.#merged(other, subtract, true, false)
  }

  /** Chunks of numbers that only one set has are kept as it says. */
  #merged(other: NumberSet, operation: ChunkOperation, keepsOwn: boolean, keepsOther: boolean): NumberSet {
    const [own, others] = [this.#chunks, other.#chunks]
    const chunks: Chunk[] = []
    for (let i = 0, j = 0; i < own.length || j < others.length;) {
      const [left, right] = [own[i], others[j]]
      const order = (left?.at ?? Infinity) - (right?.at ?? Infinity)
      if (order === 0) chunks.push(operation(left!, right!))
      else if (order < 0 ? keepsOwn : keepsOther) chunks.push((order < 0 ? left : right)!)
      if (order <= 0) i++
      if (order >= 0) j++
    }
    return new NumberSet(chunks)
  }

  /** The position of the first chunk at `at` or behind it. */
  #positionOf(at: number): number {
    return firstWhere(0, this.#chunks.length, (position) => this.#chunks[position]!.at >= at)
  }
}

/** A list that grows becomes bits beyond: from then on an addition moves nothing. */
const GROWING_LIST_MAX = 256
const GROWING_LIST_MIN = 8

interface GrowingChunk extends Chunk {
  count: number
  list: Uint16Array | undefined
  bits: Uint32Array | undefined
}

/** Collects the numbers of a set. */
export class NumberSetBuilder {
  readonly #chunks = new Map<number, GrowingChunk>()
  #latest: GrowingChunk | undefined

  /** Adds a number. False if it was there already. */
  add(number: number): boolean {
    const at = Math.floor(number / CHUNK_NUMBERS)
    const chunk = this.#latest?.at === at ? this.#latest : this.#chunkAt(at)
    const place = placeOf(number)
    return chunk.bits === undefined ? addToList(chunk, place) : addToBits(chunk, chunk.bits, place)
  }

  has(number: number): boolean {
    const chunk = this.#chunks.get(Math.floor(number / CHUNK_NUMBERS))
    return chunk !== undefined && hasPlace(chunk, placeOf(number))
  }

  /** The set. The builder must not be used afterwards. */
  build(): NumberSet {
    const chunks = Array.from(this.#chunks.values(), (chunk): Chunk => {
      const { at, count, list, bits } = chunk
      return bits === undefined ? { at, count, list: list!.slice(0, count), bits } : chunkOfBits(at, count, bits)
    })
    return new NumberSet(chunks.sort((left, right) => left.at - right.at))
  }

  #chunkAt(at: number): GrowingChunk {
    let chunk = this.#chunks.get(at)
    if (chunk === undefined) {
      chunk = { at, count: 0, list: new Uint16Array(GROWING_LIST_MIN), bits: undefined }
      this.#chunks.set(at, chunk)
    }
    return (this.#latest = chunk)
  }
}

function addToBits(chunk: GrowingChunk, bits: Uint32Array, place: number): boolean {
  if (hasBit(bits, place)) return false
  bits[place >>> 5]! |= 1 << (place & 31)
  chunk.count++
  return true
}

function addToList(chunk: GrowingChunk, place: number): boolean {
  const { count } = chunk
  let list = chunk.list!
  const isLast = count === 0 || list[count - 1]! < place
  const position = isLast ? count : positionIn(list, count, place)
  if (!isLast && list[position] === place) return false
  if (count === GROWING_LIST_MAX) {
    chunk.bits = bitsOfList(list, count)
    chunk.list = undefined
    return addToBits(chunk, chunk.bits, place)
  }
  if (count === list.length) {
    list = new Uint16Array(count * 2)
    list.set(chunk.list!)
    chunk.list = list
  }
  list.copyWithin(position + 1, position, count)
  list[position] = place
  chunk.count++
  return true
}

/** The place of a number in its chunk. */
function placeOf(number: number): number {
  return number & (CHUNK_NUMBERS - 1)
}
